"""What a question will cost, foreseen: by the methods' own settings and the size of what they read."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from scripted_replies import task_of
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.question_costs import QuestionEstimate, Readable, foresee_questions, read_bound, read_room
from sensegraph.methods import METHODS, load_method
from sensegraph.types import Cluster, Document, Usage
from wired import corpus, settings, stories


class Priced:
    """An engine whose prompts take 100 tokens besides what they read."""

    def prompt_tokens(self, task: str, item: Any) -> int:
        return 100

    def price(self, prompt_tokens: int, completion_tokens: int) -> float:
        return (prompt_tokens + 10 * completion_tokens) / 1e6


REPORTS = tuple(
    Cluster(f"c-{depth}-{i}", 1 - depth, depth, "", (), (), tokens=1_000)
    for depth, n in ((0, 4), (1, 20))
    for i in range(n)
)
READABLE = Readable(50_000, 30_000, REPORTS)


def foresee(method: Any, readable: Readable = READABLE, **paid: Usage) -> QuestionEstimate:
    (found,) = foresee_questions([method], readable, Priced(), {f"language.{k}": u for k, u in paid.items()})
    return found


@dataclass(frozen=True)
class Bounded:
    """A method that reads reports within a bound."""

    report_tokens: int | None = 0
    depth: int = 1
    context_tokens: int = 4_000
    name: str = "bounded"
    requires: frozenset[str] = frozenset({"rate", "answer"})
    reads: frozenset[str] = frozenset({"graph", "reports"})


# ── by hand ──


def test_a_question_that_is_answered_at_once_fills_the_context_of_its_method() -> None:
    for room in (2_000, 7_000):
        assert foresee(load_method("local", context_tokens=room)) == QuestionEstimate(
            "local", True, 1, room + 100, 400, (room + 100 + 4_000) / 1e6
        )
    small = Readable(1_000, 500)
    assert foresee(load_method("local"), small).prompt_tokens == 1_600
    assert foresee(load_method("walk"), small).prompt_tokens == 1_100  # it reads no graph


def test_a_question_about_the_whole_reads_the_reports_of_its_depth_in_windows() -> None:
    shallow, deep = (foresee(Bounded(depth=depth)) for depth in (0, 1))
    assert (shallow.calls, shallow.prompt_tokens) == (2, 4_000 + 100 + 300 + 100)
    assert (deep.calls, deep.prompt_tokens) == (6, 20_000 + 500 + 1_500 + 100)
    assert deep.completion_tokens == 5 * 300 + 400


def test_a_bound_of_the_method_is_kept_and_where_it_is_left_open_it_is_a_window_a_depth() -> None:
    assert [read_bound(Bounded(bound)) for bound in (0, 6_000, None)] == [0, 6_000, 8_000]
    assert foresee(Bounded(6_000)).prompt_tokens == 6_000 + 200 + 600 + 100
    assert foresee(Bounded(None)).calls == 3
    assert foresee(replace(Bounded(6_000), depth=0)).prompt_tokens == foresee(Bounded(depth=0)).prompt_tokens


def test_a_method_without_reports_that_maps_reads_all_chunks() -> None:
    found = foresee(load_method("ts"))
    assert (found.calls, found.prompt_tokens) == (8, 50_000 + 700 + 2_100 + 100)


def test_replies_are_as_long_as_those_that_were_paid_for() -> None:
    assert foresee(Bounded(), rate=Usage(20, 0, 2_000)).completion_tokens == 5 * 100 + 400
    assert foresee(Bounded(), rate=Usage(19, 0, 1_900)).completion_tokens == 5 * 300 + 400


def test_methods_that_ask_on_say_how_many_calls_that_usually_takes() -> None:
    assert not [name for name in METHODS if foresee(load_method(name)).at_least]
    readable = replace(READABLE, chunks=80)
    drift = foresee(load_method("drift", primer_folds=2, rounds=2, width=3, hyde="off", context_tokens=4_000), readable)
    assert (drift.calls, drift.prompt_tokens) == (2 + 2 * 3 + 1, 9 * 4_100)
    assert foresee(load_method("drift", primer_folds=2, max_calls=7), readable).calls == 7
    assert foresee(load_method("lazygraphrag", refined=False), readable).calls == 100 + 3 + 1
    assert foresee(load_method("lazygraphrag"), replace(readable, chunks=20)).calls == 1 + 60 + 1 + 1
    assert foresee(load_method("kag"), readable).calls == 7
    assert foresee(load_method("kag", plan="rules"), readable).calls == 6
    for method, setting in (("hipporag", {"filter": "none"}), ("lightrag", {"refined": False})):
        assert foresee(load_method(method), readable).calls == 2
        assert foresee(load_method(method, **setting), readable).calls == 1
    assert foresee(load_method("hipporag", version=1), readable).calls == 1
    assert foresee(load_method("fastgraphrag"), readable).calls == 2


def test_of_a_method_that_asks_on_and_does_not_say_how_often_the_least_is_foreseen() -> None:
    found = foresee(replace(Bounded(), requires=frozenset({"ask", "rate", "answer"})))
    assert found == replace(foresee(Bounded()), at_least=True)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_says_how_much_it_reads(name: str) -> None:
    assert read_room(load_method(name)) >= 1_000
    assert foresee(load_method(name)).prompt_tokens > 1_000


def test_where_there_is_nothing_to_read_no_question_is_foreseen() -> None:
    assert foresee_questions([Bounded()], Readable(0), Priced(), {}) == ()  # type: ignore[list-item]


# ── beside what is asked ──

PRICED = {"price_prompt": 1.0, "price_completion": 2.0}


def asked(made: Corpus, server: ScriptedServer, method: str) -> tuple[int, int]:
    """Calls and prompt tokens of a question."""
    before = made.store.ledger()
    made.query("What do the letters of the harbour tell about the people who wrote them?", method=method)
    paid = [u - before.get(step, Usage()) for step, u in made.store.ledger().items() if step.startswith("language.")]
    return sum(u.calls for u in paid), sum(u.prompt_tokens for u in paid)


@pytest.mark.slow
def test_questions_are_foreseen_before_and_after_a_build_near_to_what_they_take(tmp_path: Path) -> None:
    methods = {"graphrag": {"context_tokens": 2_000, "depth": 0}, "local": {"context_tokens": 3_000}}
    given = {"context_tokens": 1_500}
    with ScriptedServer() as server:
        tables = {"methods": {**methods, "walk": given}, "index": {"parts": ["graph", "reports", "names", "wording"]}}
        with corpus(tmp_path, server, endpoint=PRICED, **tables) as made:
            made.add(stories(40))
            before = {q.method: q for q in made.estimate().questions}
            made.build()
            after = {q.method: q for q in made.estimate().questions}
            assert list(before) == list(after) == ["walk", "local", "graphrag"]
            for name in before:
                calls, tokens = asked(made, server, name)
                assert tokens > 1_000
                assert tokens / 1.6 < before[name].prompt_tokens < tokens * 1.6
                assert tokens / 1.3 < after[name].prompt_tokens < tokens * 1.3
                assert abs(after[name].calls - calls) <= 1
            assert all(q.cost_usd == (q.prompt_tokens + 2 * q.completion_tokens) / 1e6 for q in after.values())
            assert [q.usual for q in after.values()] == [True, False, False]


def test_the_method_of_the_settings_is_the_usual_one_and_only_what_the_index_serves_is_told(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        for method, parts, told in (
            ("bm25", ["graph", "reports"], ["bm25", "local", "graphrag"]),
            ("graphrag", ["graph", "reports"], ["graphrag", "local"]),
            ("naive", ["graph"], ["naive", "local"]),
            ("naive", [], ["naive"]),
        ):
            folder = tmp_path / f"{method}{len(parts)}"
            given = {**settings(server, index={"parts": parts}), "method": method}
            with Corpus.open(folder, settings=given) as made:
                found = made.estimate(stories(2)[0]).questions
                assert [(q.method, q.usual) for q in found] == [(m, m == method) for m in told]
                assert made.estimate().questions == ()
        assert not server.calls


def test_without_a_model_a_question_costs_nothing_and_none_is_foreseen(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as made:
        made.add(stories(2))
        assert made.estimate().questions == ()


def _two_forms(body: dict[str, Any]) -> str | None:
    """An organization by its name and by its initials, and others of the passage."""
    if task_of(body) != "extraction":
        return None
    names = ("Apple Trust", "AT", "Harbour Board", "HB")
    listed = [{"name": n, "type": "organization", "description": f"{n} met."} for n in names]
    linked = [{"source": a, "target": b, "description": f"{a} and {b} met.", "strength": 5} for a, b in pairwise(names)]
    return json.dumps({"entities": listed, "relations": linked})


def test_what_the_last_build_merged_by_itself_is_not_foreseen_again(tmp_path: Path) -> None:
    said = "The Apple Trust (AT) paid. AT left. The Harbour Board (HB) met. HB and AT met."
    with ScriptedServer(Script(reply=_two_forms)) as server, corpus(tmp_path, server) as made:
        made.add([Document(f"minutes-{i}", f"{said} It was meeting {i}.") for i in range(3)])
        assert any("merged into others" in note for note in made.build().notes)
        assert made.estimate().calls == 0
