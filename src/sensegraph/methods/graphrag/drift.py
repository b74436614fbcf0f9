"""DRIFT: from the reports nearest to a question to follow-up questions, each answered by a local search.

paper: none; the search is that of the GraphRAG authors' implementation, release 3.3.0
index: chunk → extract → merge → communities → reports
query: reports → first answers and follow-up questions → rounds of local searches, which may ask further → one answer
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from random import Random
from typing import Literal

import numpy as np

from sensegraph.algorithms.ranking import Stack, find_nearest_rows
from sensegraph.answering.asking import (
    conclude_answer,
    gather_evidence,
    leads_of,
    make_inquiry,
    refine_questions,
    settle_asking,
)
from sensegraph.errors import NotIndexed, SettingsError, StepFailed
from sensegraph.index.hierarchy.packing import report_passage
from sensegraph.index.index import Index
from sensegraph.index.passages import passage_tokens
from sensegraph.language.text import take_within
from sensegraph.methods.graphrag.actions import Action, Actions, Asked, points_of, settle_action
from sensegraph.methods.graphrag.details import report_passages
from sensegraph.methods.graphrag.local_search import Shares, read_around, skip_nested_clusters
from sensegraph.protocols import PartName, Task, Vectors
from sensegraph.retrieval.assembling import read_in_turn
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Cluster, Evidence, Inquiry, Lead, Passage, Question


def report_vectors(depth: int, index: Index, rt: Runtime, method: str) -> Stack:
    """The vectors of the reports at `depth` or above it, shape (reports, dim), in the order of the clusters.

    Raises NotIndexed where `method` finds none, or where another embedder made them.
    """
    count = bisect_right(index.hierarchy.clusters, depth, key=lambda c: c.depth)
    if not count:
        raise NotIndexed(
            f"{method} reads reports, and this index has none: no entity was found in the documents that are read. "
            "Ask with --method naive, which reads passages, or add documents and run `sensegraph index` (in Python: "
            '`method="naive"`, or `corpus.add(PATH)` and `corpus.build()`).'
        )
    return index.vectors_of(rt.embedder, "report").head(count)


def nearest_reports(query: Vectors, vectors: Stack, most: int, index: Index) -> list[Cluster]:
    """At most `most` reports by falling cosine of their `vectors` with `query`, shape (dim,).

    Never one and another above or below it: they tell the same twice.
    """
    places, _ = find_nearest_rows(vectors, query, len(vectors))
    ranked = (cluster for _, cluster in read_in_turn(index.hierarchy.clusters, places.tolist()))
    return list(islice(skip_nested_clusters(ranked), most))


def share_out_reports(
    question: Question, reports: Sequence[Cluster], batches: int, budget: int, index: Index, rt: Runtime
) -> tuple[list[list[Passage]], int]:
    """The reports as passages shared out by rank, each batch within `budget` tokens, and how many had no room.

    There are at most as many batches as reports.
    """
    passages = report_passages(question.text, index, reports, rt) if reports else []
    count = min(batches, len(reports))
    fitted = [take_within(passages[i::count], budget, passage_tokens) for i in range(count)]
    return [kept for kept, _ in fitted if kept], sum(left for _, left in fitted)


@dataclass(frozen=True)
class Drift:
    """DRIFT search. `rounds` of `width` questions after a primer that reads `primer_reports` in `primer_folds`.

    `depth` is that of the deepest reports that the primer reads (0 is the coarsest). `context_tokens` with the shares
    `text` and `reports` bound each local search, and each fold of the primer; `reduce_tokens` bounds the last call.
    `hyde` seeks the reports by an imagined answer: `auto` does so where the engine is a model. Two questions of cosine
    `same_question` are one. The search stops when a round's best score is below `stop_score` (0: never), and before
    `max_calls` (0: no bound), the last call included; asking again for a reply that cannot be used is not counted.

    The reference implementation is `Drift(width=20, max_calls=0)` but for three things: it takes the open questions in
    a random order, it gives a local search no room for entities and relations (text 0.9, reports 0.1), and it packs
    all answers into the last call, however long they are. With ours a search makes at most 22 calls, with its 67.
    """

    primer_reports: int = 20
    primer_folds: int = 5
    rounds: int = 3
    width: int = 5
    depth: int = 2
    hyde: Literal["auto", "on", "off"] = "auto"
    context_tokens: int = 12_000
    text: float = 0.5
    reports: float = 0.1
    top_entities: int = 10
    top_relations: int = 10
    same_question: float = 0.95
    stop_score: float = 0.0
    reduce_tokens: int = 8_000
    max_calls: int = 40
    seed: int = 0  # of the draw of the report that shows how to imagine an answer
    name: str = "drift"
    requires: frozenset[Task] = frozenset({"ask", "answer"})
    reads: frozenset[PartName] = frozenset({"graph", "reports"})

    def __post_init__(self) -> None:
        self.shares.check(self.name)
        least = dict.fromkeys(("primer_reports", "primer_folds", "width", "reduce_tokens"), 1)
        least |= dict.fromkeys(("rounds", "depth", "max_calls"), 0)
        bad = [f"{n} ({getattr(self, n)}) must be at least {low}" for n, low in least.items() if getattr(self, n) < low]
        if bad:
            raise SettingsError(f"drift: {', '.join(bad)}.")
        if not 0 < self.same_question <= 1 or not 0 <= self.stop_score <= 100:
            raise SettingsError(
                f"drift: same_question ({self.same_question}) must be above 0 and at most 1, stop_score "
                f"({self.stop_score}) from 0 to 100."
            )
        self.check_calls(self.hyde == "on")

    @property
    def shares(self) -> Shares:
        """What a local search may read: no conversation, so that the graph gets what text and reports leave."""
        return Shares(self.context_tokens, self.text, self.reports, 0.0, self.top_entities, self.top_relations)

    def usual_calls(self, chunks: int) -> Mapping[Task, tuple[int, int]]:
        """Calls besides the last one, by task, with the tokens that each reads: all rounds, however many `chunks`."""
        imagined, asked = int(self.hyde != "off"), self.primer_folds + self.rounds * self.width
        allowed = self.max_calls - imagined - 1 if self.max_calls else asked
        return {"refine": (imagined, self.reduce_tokens // 10), "ask": (min(asked, allowed), self.context_tokens)}

    def check_calls(self, hyde: bool) -> None:
        """Raise SettingsError where `max_calls` is not enough for the primer and the last call."""
        least = hyde + self.primer_folds + 1
        if 0 < self.max_calls < least:
            raise SettingsError(
                f"drift: max_calls ({self.max_calls}) must be at least {least}: {int(hyde)} to imagine an answer, "
                f"{self.primer_folds} for the folds of the primer (primer_folds), 1 for the answer. 0 is no bound."
            )

    def actions(self, question: Question, index: Index, rt: Runtime) -> tuple[Action, ...]:
        """All questions of the search with their answers, the user's first: how the answer came about.

        After `retrieve` or `answer` this costs no call, but for those that failed: they are tried again.
        """
        return self._searched(question, index, rt).actions.known

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """The answers that help (score above 0), best for the user's question first, whole, within `reduce_tokens`."""
        return self._searched(question, index, rt).evidence(last=False)

    def answer(self, question: Question, index: Index, rt: Runtime) -> Answer:
        """Reduce: one answer from the partial answers; none when none of them helps."""
        return conclude_answer(question, self._searched(question, index, rt).evidence(last=True), index, rt)

    def _searched(self, question: Question, index: Index, rt: Runtime) -> _Search:
        hyde = settle_asking(self.hyde, rt, model="on", rules="off") == "on"
        rt.check(self.name, self.requires | ({"refine"} if hyde else frozenset()))
        self.check_calls(hyde)
        search = _Search(self, question, index, rt)
        search.prime(hyde)
        search.deepen()
        return search


class _Search:
    """One search: its questions, what was asked of the engine, and what there is to say of it."""

    def __init__(self, settings: Drift, question: Question, index: Index, rt: Runtime) -> None:
        self.settings, self.question, self.index, self.rt = settings, question, index, rt
        self.vectors = report_vectors(settings.depth, index, rt, settings.name)
        self.actions = Actions.begin(question.text, rt.embedder, settings.same_question)
        self.calls, self.failures = Counter[str](), Counter[str]()
        self.notes: list[str] = []
        self.rounds = 0

    # ── the primer ──

    def prime(self, hyde: bool) -> None:
        """First answers and follow-up questions from the reports nearest to the question, in folds."""
        self._progress(0)
        s = self.settings
        near = nearest_reports(self._query(hyde), self.vectors, s.primer_reports, self.index)
        folds, left = share_out_reports(self.question, near, s.primer_folds, s.context_tokens, self.index, self.rt)
        self.notes.append(f"reports read for the first answer: {len(near)}, in {len(folds)} parts")
        if left:
            self.notes.append(f"of these, left out for want of room in context_tokens ({s.context_tokens}): {left}")
        found = self._asked([make_inquiry(self.question, fold, self.index) for fold in folds], folds)
        if folds and not any(lead for lead, _ in found):
            raise StepFailed("drift.primer", len(folds), len(folds), dict(self.failures))
        known = sorted(((lead, fold) for lead, fold in found if lead), key=lambda pair: -pair[0].score)
        root = settle_action(self.actions.root, known, self.index)
        asked = [Asked(root.id, lead.score, q) for lead, _ in known for q in lead.questions]
        self.actions = self.actions.put([root]).ask(asked, self.rt.embedder)

    def _query(self, hyde: bool) -> Vectors:
        """The vector that reports are sought by: of an imagined answer, or of the question; with earlier questions."""
        imagined = self._imagined() if hyde else ""
        sought = replace(self.question, text=imagined or self.question.text).sought
        return np.asarray(self.rt.embedder.embed([sought], "document" if imagined else "query")[0], np.float32)

    def _imagined(self) -> str:
        """A hypothetical answer in the outline of one report, drawn by the seed; none where the engine gives none."""
        place = Random(self.settings.seed).randrange(len(self.vectors))
        item = make_inquiry(self.question, [report_passage(self.index.hierarchy.clusters[place])], self.index)
        self.calls["refine"] += 1
        try:
            found = self.rt.each(refine_questions, [item])[0].hypothesis
        except StepFailed as e:
            self.failures.update(e.reasons)
            found = ""
        if not found:
            self.notes.append("no answer could be imagined: the reports were sought by the question itself")
        return found

    # ── the rounds ──

    def deepen(self) -> None:
        """Rounds of the most urgent open questions, until nothing is open, allowed, or worth while."""
        s = self.settings
        while self.rounds < s.rounds and (chosen := self.actions.open(min(s.width, self._left()))):
            self.rounds += 1
            self._progress(self.rounds)
            if self._round(chosen) < s.stop_score:
                self.notes.append(f"the best score of round {self.rounds} is below stop_score ({s.stop_score:g})")
                break
        self._progress(s.rounds + 1)

    def _left(self) -> int:
        """How many questions may still be asked, one call kept for the answer."""
        left = self.settings.max_calls - self.calls.total() - 1
        return left if self.settings.max_calls else self.settings.width

    def _round(self, chosen: Sequence[Action]) -> float:
        """Answer these questions by local searches and take up what those ask further; the best score."""
        read = [read_around(Question(a.question), self.index, self.rt, self.settings.shares).evidence for a in chosen]
        asked = [self._inquiry(a, e.passages) for a, e in zip(chosen, read, strict=True)]
        leads = self._asked(asked, [e.passages for e in read])
        results: list[Action] = []
        further: list[Asked] = []
        for action, (lead, passages) in zip(chosen, leads, strict=True):
            failed = replace(action, status="failed")
            results.append(settle_action(action, [(lead, passages)], self.index) if lead else failed)
            further += [Asked(action.id, lead.score, q) for q in lead.questions] if lead else []
        self.actions = self.actions.put(results).ask(further, self.rt.embedder)
        return max(a.score or 0.0 for a in results)

    def _inquiry(self, action: Action, passages: Sequence[Passage]) -> Inquiry:
        """A follow-up question, and what it is asked for."""
        made = make_inquiry(Question(action.question), passages, self.index)
        return replace(made, context=replace(made.context, title=self.question.text))

    def _asked(
        self, inquiries: Sequence[Inquiry], read: Sequence[Sequence[Passage]]
    ) -> list[tuple[Lead | None, Sequence[Passage]]]:
        """What each inquiry led to, with what it read; None for one that failed, which is not tried again.

        Where there is nothing to read, nothing is asked.
        """
        asked = [i for i, passages in enumerate(read) if passages]
        self.calls["ask"] += len(asked)
        leads, reasons = leads_of([inquiries[i] for i in asked], self.rt)
        self.failures.update(reasons)
        found = dict(zip(asked, leads, strict=True))
        return [(found.get(i, Lead()), passages) for i, passages in enumerate(read)]

    def _progress(self, done: int) -> None:
        self.rt.progress("drift", done, self.settings.rounds + 1)

    # ── the end ──

    def evidence(self, *, last: bool) -> Evidence:
        """The answers that help, best first, as many as the last call may read; `last` says that it follows."""
        best, budget = self.actions.best(), self.settings.reduce_tokens
        points, cut = points_of(best, budget, self.rt)
        kept, omitted = take_within(points, budget, passage_tokens)
        if cut:
            self.notes.append(f"answers cut because they are longer than reduce_tokens ({budget}): {cut}")
        self.calls["answer"] += last and bool(kept)
        found = gather_evidence(kept, self.index, omitted=omitted, notes=(*self._said(), *self.notes))
        behind = [d for a in best[: len(kept)] for d in a.documents]
        return replace(found, documents=tuple(dict.fromkeys([*found.documents, *behind])))

    def _said(self) -> Iterator[str]:
        """How many questions were asked, what became of them, and how often the engine was asked."""
        count = Counter(a.status for a in self.actions.known[1:])
        rounds = f"{self.rounds} round{'s' * (self.rounds != 1)}"
        last = ": no more calls are allowed" if count["open"] and self._left() < 1 else ""
        yield f"follow-up questions: {count['done']} answered in {rounds}, {count['open']} left open{last}"
        if self.failures:
            reason, _ = min(self.failures.items(), key=lambda item: (-item[1], item[0]))
            yield f"questions that failed and were not asked again: {self.failures.total()} ({reason})"
        parts = ", ".join(f"{n} × {task}" for task, n in self.calls.items() if n)
        bound = f"at most {self.settings.max_calls}" if self.settings.max_calls else "without a bound"
        yield f"the engine was asked {self.calls.total()} times, {bound}: {parts or 'nothing'}"
