"""The contracts of tools, methods and executors let through what keeps a rule, and find out what breaks one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from canned import holds
from sensegraph.runtime.executors.processes import LocalExecutor, SerialExecutor, attempt
from sensegraph.testing import ChunkerContract, EmbedderContract, ExecutorContract, MethodContract, RerankerContract
from sensegraph.testing.samples import (
    SAMPLE,
    sample_brief,
    sample_chunks,
    sample_context,
    sample_inquiry,
    sample_link,
)
from sensegraph.types import Answer, Citation, Document, Evidence, Passage, Source

# ── what is handed over ──


def test_the_sample_is_chunks_passages_and_groups_of_one_small_story() -> None:
    chunks = sample_chunks()
    assert [(c.id, c.document, c.start, c.end, c.tokens) for c in chunks] == [
        ("keeper-0", "keeper", 0, 88, 16),
        ("board-0", "board", 0, 89, 17),
        ("storm-0", "storm", 0, 89, 17),
    ]
    passages = sample_context().passages
    assert [(p.kind, p.score, p.documents, p.sources) for p in passages] == [
        ("chunk", 1.0, 1, (Source(c.id, 0, len(c.text)),)) for c in chunks
    ]
    assert sample_inquiry().corpus == 3


def test_the_members_of_the_sample_come_by_degree_then_by_name_then_their_relations() -> None:
    brief = sample_brief()
    assert (brief.words, sample_brief(7).words) == (0, 7)
    assert [(p.title, p.score, kind) for p, kind in zip(brief.context.passages, brief.types, strict=True)] == [
        ("Harbour Board", 3.0, "organization"),
        ("Ada Finch", 2.0, "person"),
        ("Port Ellery", 2.0, "place"),
        ("Tom Reeve", 2.0, "person"),
        ("Ada Finch — Harbour Board", 1.0, ""),
        ("Ada Finch — Tom Reeve", 1.0, ""),
        ("Harbour Board — Port Ellery", 1.0, ""),
        ("Harbour Board — Tom Reeve", 1.0, ""),
        ("Port Ellery — Tom Reeve", 1.0, ""),
    ]
    first = brief.context.passages[4]
    assert [q.text for q in first.quotes] == [first.text]
    assert "Ada Finch" in first.text
    assert "Harbour Board" in first.text


def test_a_link_of_the_sample_is_two_groups_and_what_crosses_between_them() -> None:
    link = sample_link()
    assert (link.words, sample_link(9).words, link.types) == (40, 9, ("",) * len(link.context.passages))
    groups, relations = link.context.passages[:2], link.context.passages[2:]
    assert [(g.title, g.score, len(g.quotes)) for g in groups] == [
        ("Those who ask", 1.0, 4),
        ("Those who are asked", 1.0, 5),
    ]
    assert [p.title for p in relations] == [
        "Ada Finch — Harbour Board",
        "Harbour Board — Tom Reeve",
        "Port Ellery — Tom Reeve",
    ]


# ── chunkers ──


@dataclass(frozen=True)
class Cutter:
    """Cuts as `by` says, which is given the document and all of them."""

    by: Callable[[Document, Sequence[Document]], list[tuple[int, int]]]

    def fingerprint(self) -> str:
        return "cutter"

    def chunk(self, documents: Sequence[Document]) -> list[list[tuple[int, int]]]:
        return [self.by(d, documents) for d in documents]


def halves(d: Document, _: Sequence[Document]) -> list[tuple[int, int]]:
    cut = len(d.text) // 2
    return [s for s in ((0, cut), (cut, len(d.text))) if s[0] < s[1]]


SPANS, WORDS, ALONE = (
    "test_spans_lie_inside_their_documents_in_order",
    "test_every_word_is_in_a_span",
    "test_a_document_never_changes_the_spans_of_another",
)


@pytest.mark.parametrize("test", [SPANS, WORDS, ALONE, "test_a_chunker_satisfies_the_protocol"])
def test_a_chunker_that_cuts_in_halves_keeps_its_contract(test: str) -> None:
    assert holds(test, lambda: Cutter(halves), of=ChunkerContract)


@pytest.mark.parametrize(
    ("test", "by"),
    [
        (SPANS, lambda d, _: halves(d, _)[::-1]),
        (SPANS, lambda d, _: [(0, len(d.text) + 1)] if d.text else []),
        (SPANS, lambda d, _: [*halves(d, _), (len(d.text), len(d.text))] if d.text else []),
        (SPANS, lambda d, _: [(-1, 1), *halves(d, _)] if d.text else []),
        (SPANS, lambda d, _: halves(d, _) if len(d.text) > 1 else []),
        (SPANS, lambda d, _: halves(d, _) or [(0, 0)]),
        (WORDS, lambda d, _: halves(d, _)[:1]),
        (WORDS, lambda d, _: [(0, len(d.text) - 1)]),
        (WORDS, lambda d, _: halves(d, _) if d != SAMPLE[1] else [(1, len(d.text))]),
        (ALONE, lambda d, all_: halves(d, all_)[: len(all_)]),
        (ALONE, lambda d, all_: halves(d, all_) if d == all_[0] or len(all_) < 3 else [(0, len(d.text))]),
    ],
)
def test_a_chunker_that_breaks_a_rule_is_found_out(test: str, by: Callable[..., list[tuple[int, int]]]) -> None:
    assert not holds(test, lambda: Cutter(by), of=ChunkerContract)


def test_what_is_no_word_may_be_in_no_span() -> None:
    def words(d: Document, _: Sequence[Document]) -> list[tuple[int, int]]:
        ends = [i for i, c in enumerate(d.text) if c == " "]
        return list(zip([0, *(e + 1 for e in ends)], [*ends, len(d.text)], strict=True)) if d.text else []

    assert all(holds(test, lambda: Cutter(words), of=ChunkerContract) for test in (SPANS, WORDS, ALONE))


# ── embedders and rerankers ──


@dataclass(frozen=True)
class Axes:
    """Embeds each text of the sample on an axis of its own; `by` may spoil the rows."""

    by: Callable[[Any, Sequence[str], str], Any] = lambda rows, texts, kind: rows
    dim: int = 3

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        known = [c.text for c in sample_chunks()]
        rows = np.array([[float(t == k) for k in known] for t in texts], np.float32).reshape(len(texts), 3)
        return self.by(rows, texts, kind)


def longer(by: float) -> Callable[..., Any]:
    return lambda rows, texts, kind: rows * np.float32(1 + by)


UNIT, NEIGHBOURS, NEAREST = (
    "test_vectors_have_length_one_and_one_row_a_text",
    "test_a_vector_does_not_depend_on_its_neighbours",
    "test_a_text_is_nearest_to_itself",
)


@pytest.mark.parametrize(
    ("test", "by", "right"),
    [
        *((test, longer(0.0), True) for test in (UNIT, NEIGHBOURS, NEAREST)),
        (UNIT, longer(0.00005), True),
        (UNIT, longer(0.0005), False),
        (UNIT, lambda rows, texts, kind: rows.astype(np.float64), False),
        (UNIT, lambda rows, texts, kind: rows[:-1], False),
        (UNIT, lambda rows, texts, kind: np.where(rows.any(axis=1)[:, None], rows, np.float32(1)), False),
        (UNIT, lambda rows, texts, kind: rows * (np.arange(len(rows)) != 1)[:, None].astype(np.float32), False),
        (UNIT, lambda rows, texts, kind: rows * (np.arange(len(rows)) != 2)[:, None].astype(np.float32), False),
        (UNIT, lambda rows, texts, kind: rows * (np.arange(len(rows)) != 0)[:, None].astype(np.float32), False),
        (NEIGHBOURS, lambda rows, texts, kind: rows + np.float32(0.000004 * (len(texts) > 1)), True),
        (NEIGHBOURS, lambda rows, texts, kind: rows + np.float32(0.00006 * (len(texts) > 1)), False),
        (NEIGHBOURS, lambda rows, texts, kind: rows + np.float32(0.00006 * (texts[0] == SAMPLE[2].text)), False),
        (NEIGHBOURS, lambda rows, texts, kind: rows * 0, False),
        (NEAREST, lambda rows, texts, kind: rows[:, ::-1] if kind == "query" else rows, False),
        (NEAREST, lambda rows, texts, kind: np.roll(rows, 1, axis=1) if kind == "document" else rows, False),
    ],
)
def test_vectors_may_differ_by_rounding_alone(test: str, by: Callable[..., Any], right: bool) -> None:
    assert holds(test, lambda: Axes(by), of=EmbedderContract) is right


def reranker(by: Callable[[Sequence[str]], Any] = lambda texts: [float(len(t)) for t in texts], **more: Any) -> Any:
    flags = {"name": "lengths", "top": 1, "waits": False} | more
    methods = {"fingerprint": lambda self: "r", "usage": lambda self: None}
    return type("Lengths", (), flags | methods | {"scores": lambda self, question, texts: by(texts)})()


FINITE, MOVING = "test_there_is_one_finite_score_a_text", "test_scores_move_with_their_texts"


@pytest.mark.parametrize(
    ("test", "by", "right"),
    [
        (FINITE, lambda texts: [0.5] * len(texts), True),
        (FINITE, lambda texts: [0.5] * 4, False),
        (FINITE, lambda texts: [0.5] * min(3, len(texts)), False),
        (FINITE, lambda texts: [0.5, *[1] * (len(texts) - 1)][: len(texts)], False),
        (FINITE, lambda texts: [0.5, *[float("nan")] * (len(texts) - 1)][: len(texts)], False),
        (MOVING, lambda texts: [float(len(t)) for t in texts], True),
        (MOVING, lambda texts: [len(t) + 0.00002 * i for i, t in enumerate(texts)], True),
        (MOVING, lambda texts: [len(t) + 0.0004 * i for i, t in enumerate(texts)], False),
        (MOVING, lambda texts: [0.0005 * (t == texts[0]) for t in texts], False),
        (MOVING, lambda texts: [float(len(t)) for t in texts][1:], False),
        (MOVING, lambda texts: [], False),
    ],
)
def test_scores_are_one_for_each_text_and_move_with_it(test: str, by: Callable[..., Any], right: bool) -> None:
    assert holds(test, lambda: reranker(by), of=RerankerContract) is right


@pytest.mark.parametrize(("more", "right"), [({}, True), ({"name": ""}, False), ({"top": 0}, False)])
def test_a_reranker_has_a_name_and_reads_one_text_at_least(more: dict[str, Any], right: bool) -> None:
    test = "test_a_reranker_satisfies_the_protocol"
    assert holds(test, lambda: reranker(**more), of=RerankerContract) is right


def test_fingerprints_of_tools_are_stable_and_another_tool_has_another() -> None:
    counted = iter("abcdef")
    test = "test_fingerprints_are_stable_and_sensitive"
    assert holds(test, reranker, of=RerankerContract)
    assert not holds(test, lambda: SimpleNamespace(fingerprint=lambda: next(counted)), of=RerankerContract)
    for other, right in (("r", False), ("s", True)):
        made = SimpleNamespace(fingerprint=lambda other=other: other)
        contract = type("Other", (RerankerContract,), {"make_other": lambda self, made=made: made})
        assert holds(test, reranker, of=contract) is right


# ── methods ──


@dataclass(frozen=True)
class Fixed:
    """A method that finds what it is given, one after the other."""

    found: Any
    name: str = "fixed"
    requires: frozenset[str] = frozenset({"answer"})
    reads: frozenset[str] = frozenset()

    def retrieve(self, question: Any, index: Any, rt: Any) -> Any:
        return next(self.found) if isinstance(self.found, Iterator) else self.found

    def answer(self, question: Any, index: Any, rt: Any) -> Any:
        return self.retrieve(question, index, rt)


def evidence(*documents: str, chunk: str = "keeper-0") -> Evidence:
    return Evidence((Passage("chunk", "p", "", sources=(Source(chunk, 0, 1),)),), documents)


@pytest.mark.parametrize(
    ("found", "right"),
    [
        (evidence("keeper", "storm"), True),
        (evidence("keeper", "storm", "board"), True),
        (evidence("keeper", "keeper"), False),
        (evidence("keeper", "other"), False),
        (evidence("keeper", chunk="other-0"), False),
    ],
)
def test_evidence_is_of_the_sample_and_the_same_again(found: Evidence, right: bool, tmp_path: Path) -> None:
    test = "test_evidence_names_documents_of_the_corpus"
    known = {c.id: c for c in sample_chunks()}
    index = SimpleNamespace(chunks=lambda ids: {i: known[i] for i in ids if i in known})
    contract = type("Own", (MethodContract,), {"build": lambda self, folder: (None, index)})
    assert holds(test, lambda: Fixed(found), tmp_path, of=contract) is right
    changing = iter([evidence("keeper"), evidence("storm")])
    assert not holds(test, lambda: Fixed(changing), tmp_path, of=contract)


@pytest.mark.parametrize(
    ("citation", "right"),
    [
        (Citation(1, "keeper", 0, 9, "Ada Finch"), True),
        (Citation(1, "storm", 0, 9, "Ada Finch"), False),
        (Citation(1, "keeper", 0, 8, "Ada Finch"), False),
        (Citation(2, "keeper", 0, 9, "Ada Finch"), False),
    ],
)
def test_an_answer_cites_what_stands_in_the_sample(citation: Citation, right: bool, tmp_path: Path) -> None:
    test = "test_every_citation_is_a_quote_from_its_document"
    contract = type("Own", (MethodContract,), {"build": lambda self, folder: (None, None)})
    assert holds(test, lambda: Fixed(Answer("She does. [1]", (citation,))), tmp_path, of=contract) is right
    assert not holds(test, lambda: Fixed(Answer("Nobody says it.")), tmp_path, of=contract)


@pytest.mark.parametrize(
    ("more", "right"), [({}, True), ({"name": ""}, False), ({"requires": frozenset({"answer", "no task"})}, False)]
)
def test_a_method_has_a_name_and_names_its_tasks(more: dict[str, Any], right: bool) -> None:
    test = "test_a_method_satisfies_the_protocol"
    assert holds(test, lambda: Fixed(None, **more), of=MethodContract) is right
    assert not holds(test, lambda: SimpleNamespace(**vars(Fixed(None))), of=MethodContract)


# ── executors ──


class Executing(SerialExecutor):
    """Runs in order, as `by` says, which is given the batches and whether they wait."""

    def __init__(self, by: Callable[[Callable[..., Any], Sequence[Any], bool], Iterator[Any]]) -> None:
        self.by = by

    def map(self, call: Callable[[Any], Any], batches: Sequence[Any], *, waits: bool) -> Iterator[tuple[int, Any]]:
        return self.by(call, batches, waits)


def run(call: Callable[..., Any], batches: Sequence[Any], most: int = 10**9, bad: Any = None) -> Iterator[Any]:
    for i in range(min(len(batches), most)):
        found = attempt(call, batches[i])
        yield i, found if bad is None or not isinstance(found, Exception) else bad


EACH, ERROR, CLOSED = (
    "test_every_position_comes_once_with_its_own_result",
    "test_an_exception_is_a_value_that_stops_no_other_batch",
    "test_closing_stops_what_has_not_begun",
)


@pytest.mark.parametrize("test", [EACH, ERROR, CLOSED])
def test_an_executor_of_one_after_another_or_of_many_at_once_keeps_its_contract(test: str) -> None:
    assert holds(test, lambda: Executing(lambda call, batches, waits: run(call, batches)), of=ExecutorContract)
    assert holds(test, lambda: LocalExecutor(threads=3, processes=1), of=ExecutorContract)


@pytest.mark.parametrize("kind", [True, False])
@pytest.mark.parametrize(
    ("test", "by"),
    [
        (EACH, lambda call, batches: run(call, batches, most=39)),
        (EACH, lambda call, batches: iter([*run(call, batches), *run(call, batches, most=1)])),
        (EACH, lambda call, batches: iter([*run(call, batches)] or [(0, [])])),
        (EACH, lambda call, batches: iter([(i, found) if i != 39 else (i, [0]) for i, found in run(call, batches)])),
        (EACH, lambda call, batches: run(call, batches) if len(batches) != 1 else iter(())),
        (ERROR, lambda call, batches: run(call, batches, bad="none")),
        (ERROR, lambda call, batches: run(call, batches, most=29)),
    ],
)
def test_an_executor_that_breaks_a_rule_where_it_waits_or_where_it_works_is_found_out(
    test: str, by: Callable[..., Iterator[Any]], kind: bool
) -> None:
    made = Executing(lambda call, batches, waits: by(call, batches) if waits is kind else run(call, batches))
    assert not holds(test, lambda: made, of=ExecutorContract)


@pytest.mark.parametrize(("ahead", "right"), [(1, True), (249, True), (250, False), (499, False)])
def test_up_to_half_of_the_batches_may_have_begun_when_an_executor_is_closed(ahead: int, right: bool) -> None:
    def eager(call: Callable[..., Any], batches: Sequence[Any], waits: bool) -> Iterator[Any]:
        found = list(run(call, batches, most=ahead + 1))
        assert waits
        assert found[0] == (0, [])
        yield from found
        yield from run(call, batches)

    assert holds(CLOSED, lambda: Executing(eager), of=ExecutorContract) is right


def test_an_executor_that_goes_on_when_it_is_closed_is_found_out() -> None:
    def stubborn(call: Callable[..., Any], batches: Sequence[Any], waits: bool) -> Iterator[Any]:
        try:
            yield from run(call, batches)
        finally:
            list(run(call, batches))

    assert not holds(CLOSED, lambda: Executing(stubborn), of=ExecutorContract)
