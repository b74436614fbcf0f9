"""What questions of a method have to read, worked out by hand for methods that say little of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from sensegraph.index.question_costs import (
    QuestionEstimate,
    Readable,
    foresee_calls,
    foresee_question,
    foresee_questions,
    list_mapped_sizes,
    read_bound,
    read_room,
    read_usual_calls,
)
from sensegraph.types import Cluster, Inquiry, Usage


class Framed:
    """An engine whose prompts take 10 tokens, and 1 for each passage that is shown."""

    def prompt_tokens(self, task: str, item: Inquiry) -> int:
        return 10 + len(item.context.passages) + (1_000 if task == "rate" else 0)

    def price(self, prompt_tokens: int, completion_tokens: int) -> float:
        return float(prompt_tokens + 1_000 * completion_tokens)


ENGINE: Any = Framed()


@dataclass(frozen=True)
class Windowed:
    """A method whose rooms are several settings of tokens."""

    graph_tokens: int = 300
    chunk_tokens: int | None = 50
    more_tokens: int | None = None
    tokens: int = 7
    name: str = "windowed"
    requires: frozenset[str] = frozenset({"answer"})
    reads: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Windows(Windowed):
    """A method that rates what it reads in windows of 100 tokens."""

    context_tokens: int = 100
    depth: int = 1
    report_tokens: int | None = 0
    name: str = "mapping"
    requires: frozenset[str] = frozenset({"answer", "rate"})
    reads: frozenset[str] = frozenset({"reports"})


class Plain:
    """A method that is no dataclass and says nothing of its size."""

    name = "plain"
    requires = frozenset({"answer", "ask"})
    reads = frozenset({"graph"})


class Asking(Plain):
    """A method that says what it asks besides."""

    context_tokens = 40

    def usual_calls(self, chunks: int) -> Mapping[str, tuple[int, int]]:
        return {"ask": (2, 500), "test": (chunks, 0), "filter": (1, 30)}


PLAIN: Any = Plain()
ASKING: Any = Asking()


def report(depth: int, tokens: int, level: int = 1, title: str = "") -> Cluster:
    return Cluster(f"{depth}{tokens}{level}", level, depth, title, (), (), title, tokens=tokens)


def test_a_room_is_the_context_of_a_method_else_all_its_settings_of_tokens() -> None:
    rooms: list[Any] = [Windowed(), Windowed(0, None), Windows(), Windows(context_tokens=0), PLAIN, ASKING]
    assert [read_room(method) for method in rooms] == [350, 0, 100, 350, 0, 40]


def test_a_bound_is_what_the_method_says_else_a_room_for_each_depth() -> None:
    bounds: list[Any] = [Windowed(), PLAIN, Windows(), Windows(report_tokens=70), Windows(report_tokens=None),
                         Windows(report_tokens=None, depth=0), Windows(report_tokens=None, depth=3)]  # fmt: skip
    assert [read_bound(method) for method in bounds] == [0, 0, 0, 70, 200, 100, 400]


REPORTS = (report(0, 10), report(1, 20), report(0, 30, level=0), report(1, 40, level=0), report(2, 50),
           report(2, 60, 0), report(1, 90, title="a title"), report(1, 100), report(1, 101))  # fmt: skip


@pytest.mark.parametrize(
    ("depth", "bound", "sizes"),
    [
        (0, 0, [10, 30]),
        (0, 40, [10, 30]),
        (0, 39, [20]),
        (0, 20, [20]),
        (0, 19, [20]),
        (1, 0, [20, 30, 40, 92, 100, 100]),
        (1, 382, [20, 30, 40, 92, 100, 100]),
        (1, 381, [63] * 6),
        (1, 126, [63, 63]),
        (1, 125, [63]),
        (1, 5, [63]),
        (2, 0, [30, 40, 50, 60]),
        (3, 0, [30, 40, 60]),
    ],
)
def test_reports_of_a_depth_and_those_that_end_above_it_are_read_within_the_bound(
    depth: int, bound: int, sizes: list[int]
) -> None:
    readable = Readable(1_000, 0, REPORTS)
    assert list_mapped_sizes(Windows(depth=depth, report_tokens=bound), readable) == sizes  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("tokens", "sizes"), [(1, [1]), (99, [99]), (100, [100]), (101, [100, 1]), (250, [100, 100, 50])]
)
def test_without_reports_all_chunks_are_read_in_windows(tokens: int, sizes: list[int]) -> None:
    method: Any = Windows(reads=frozenset({"graph"}))
    assert list_mapped_sizes(method, Readable(tokens, 77)) == sizes


def test_a_method_asks_besides_what_it_says_by_the_number_of_chunks() -> None:
    readable = Readable(200, 90, chunks=3)
    assert read_usual_calls(PLAIN, readable) == {}
    assert read_usual_calls(ASKING, readable) == {"ask": (2, 500), "test": (3, 0), "filter": (1, 30)}
    assert foresee_calls(PLAIN, readable, ENGINE, {}) == Usage()
    prompts, replies = (2 * 211, 3 * 10, 41), (2 * 400, 3 * 1, 12)
    costs = sum(float(prompt + 1_000 * reply) for prompt, reply in zip(prompts, replies, strict=True))
    assert foresee_calls(ASKING, readable, ENGINE, {}) == Usage(6, sum(prompts), sum(replies), cost_usd=costs)


@pytest.mark.parametrize(
    ("calls", "completion", "reply"), [(19, 190, 400), (20, 200, 10), (20, 210, 10), (20, 211, 11), (40, 1_000, 25)]
)
def test_replies_are_as_long_as_twenty_that_were_paid_for(calls: int, completion: int, reply: int) -> None:
    paid = {"language.answer": Usage(calls, 7, completion), "language.rate": Usage(100, 7, 100)}
    found = foresee_question(Windowed(), True, Readable(1_000), ENGINE, paid)  # type: ignore[arg-type]
    assert found == QuestionEstimate("windowed", True, 1, 361, reply, float(361 + 1_000 * reply))


def test_what_is_asked_at_once_reads_no_more_than_there_is_and_what_is_not_said_is_the_least() -> None:
    readable = Readable(30, 5, chunks=2)
    plain = foresee_question(PLAIN, False, readable, ENGINE, {})
    assert plain == QuestionEstimate("plain", False, 1, 11, 400, float(11 + 400_000), True)
    asking = foresee_question(ASKING, False, readable, ENGINE, {})
    prompt, completion = 35 + 11 + 2 * 41 + 2 * 10 + 41, 400 + 800 + 2 + 12
    assert asking == QuestionEstimate("plain", False, 6, prompt, completion, float(prompt + 1_000 * completion))
    assert foresee_question(Windowed(), False, readable, ENGINE, {}).prompt_tokens == 30 + 11  # type: ignore[arg-type]


def test_windows_are_rated_and_the_answer_reads_their_replies() -> None:
    method: Any = Windows(depth=0)
    found = foresee_question(method, False, Readable(1_000, 0, REPORTS), ENGINE, {})
    assert (found.calls, found.prompt_tokens, found.completion_tokens) == (2, 40 + 1_011 + 100 + 11, 300 + 400)
    paid = {"language.rate": Usage(20, 0, 400)}
    found = foresee_question(method, False, Readable(1_000, 0, REPORTS), ENGINE, paid)
    assert (found.calls, found.prompt_tokens, found.completion_tokens) == (2, 40 + 1_011 + 20 + 11, 20 + 400)
    found = foresee_question(method, False, Readable(1_000), ENGINE, {})
    assert (found.calls, found.prompt_tokens, found.completion_tokens) == (1, 11, 400)


def test_each_method_has_a_row_the_first_is_the_usual_and_of_nothing_there_is_none() -> None:
    methods: Any = [Windowed(), PLAIN]
    found = foresee_questions(methods, Readable(1), ENGINE, {})
    assert [(row.method, row.usual) for row in found] == [("windowed", True), ("plain", False)]
    assert foresee_questions(methods, Readable(0, 50), ENGINE, {}) == ()
