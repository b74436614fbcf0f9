"""LazyGraphRAG: no model at index time; a budget of relevance tests when a question is asked.

paper: announcement by Microsoft Research, 2024-11-25, without a paper; where it is silent, its predecessor in the
       intelligence-toolkit (query_text_data) is followed
index: chunk → noun phrases → concept graph → communities (part `concepts`), and the chunks' vectors
query: refine → rank → best-first and breadth-first search with iterative deepening → map → reduce
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sensegraph.algorithms.deepening import Pace, Terrain, group_by_community, search_on_budget
from sensegraph.algorithms.graphs import Longs
from sensegraph.algorithms.ranking import select_best
from sensegraph.answering.asking import (
    conclude_answer,
    for_quoting,
    gather_evidence,
    make_inquiry,
    rate_batches,
    refine_questions,
    test_contexts,
)
from sensegraph.errors import InputError, SettingsError
from sensegraph.index.index import Index
from sensegraph.index.passages import chunk_passage, passage_tokens
from sensegraph.index.vectors import nearest_to_each
from sensegraph.language.noun_phrases import Reader
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import collect_terms, pack_batches, take_within
from sensegraph.methods import check_fields
from sensegraph.methods.lazygraphrag.concepts import CONCEPTS, Concepts
from sensegraph.protocols import PartName, Task
from sensegraph.retrieval.arms import settle_comparison
from sensegraph.runtime.results import take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Chunk, Context, Evidence, Inquiry, Passage, Question, Refinement

Unit = Literal["chunk", "sentence"]
_TESTED = 600  # tokens of a chunk, as a rule
_LINKED = 20  # concepts beside the question's that an engine which quotes is told


@dataclass(frozen=True, slots=True)
class Trial:
    """One relevance test: which chunk was tested for which (sub-)question, and the verdict."""

    chunk: str
    question: str
    relevant: bool


@dataclass(frozen=True)
class Tester:
    """Tests chunks for one question; what was tested before is remembered.

    With `unit` = sentence only the sentence of a chunk that shares most words with the question is shown.
    """

    question: Question
    unit: Unit
    index: Index
    rt: Runtime

    def __call__(self, positions: list[int]) -> list[bool]:
        """The verdicts on the chunks at these positions."""
        names = [entry.id for entry in take_records(self.index.catalogue.chunks, positions)]
        chunks = self.index.chunks(names)
        linked = for_quoting(self.rt, self._linked)
        return list(self.rt.each(test_contexts, [self._inquiry(chunks[name], linked) for name in names]))

    def _inquiry(self, chunk: Chunk, linked: Sequence[Passage]) -> Inquiry:
        """Nothing but the question and the passage, so that a verdict outlasts changes elsewhere in the corpus."""
        passage = chunk_passage(chunk)
        if self.unit == "sentence":
            wanted = collect_terms(self.question.text)
            spans: Sequence[tuple[int, int]] = split_sentences(chunk.text) or [(0, len(chunk.text))]
            first, last = max(spans, key=lambda span: len(wanted & collect_terms(chunk.text[slice(*span)])))
            passage = Passage("chunk", chunk.id, chunk.text[first:last], title=chunk.title)
        return Inquiry(self.question.text, Context((passage, *linked)), history=self.question.history)

    def _linked(self) -> list[Passage]:
        """The concepts beside those of the question, for an engine that compares words (lazygraphrag §6)."""
        concepts = self.index.part(CONCEPTS)
        own = [i for phrase in Reader("proper").phrases(self.question.text) if (i := concepts.find(phrase)) is not None]
        near = dict.fromkeys(j for i in own for j in concepts.around(i).tolist())
        names = concepts.names(list(near)[:_LINKED])
        return [Passage("concept", name, "", title=name) for name in names]


def terrain_of(known: Concepts) -> Terrain:
    """What a search for chunks sees of a concept graph."""
    return Terrain(known.start, known.held, known.homes, known.parent, known.document, known.same)


_REACH = 2_000  # chunks that are ranked at least


@dataclass(frozen=True, slots=True)
class _Found:
    """What the search found: the relevant chunks by position, best first, and all tests, in order."""

    asked: Refinement
    chunks: list[int]
    scores: list[float]
    trials: list[tuple[int, str, bool]]


@dataclass(frozen=True)
class LazyGraphRAG:
    """`budget` tests at most are made, in equal shares for the question and its parts, `questions` of them in all.

    Up to `tests` chunks of a community are tested at a time, in batches of `batch`; after `patience` communities
    without a relevant chunk in a row the search goes one depth down. A community's rank is the mean rank of its `best`
    chunks. Chunks up to `neighbours` away from a relevant one are tested last. `refined` asks the engine for the
    sub-questions, and shows it the `shown` concepts of the largest degrees; `hypothesis` ranks by its imagined answer
    too. `unit` = sentence tests only the sentence of a chunk that shares most words with the question. `ranking` says
    what ranks the chunks: the cosine of their vectors (the paper), BM25, or both, fused; `auto` takes the vectors, but
    BM25 where those compare words alone.
    """

    budget: int = 100
    questions: int = 3
    tests: int = 5
    batch: int = 5
    patience: int = 5
    best: int = 5
    neighbours: int = 1
    shown: int = 100
    refined: bool = True
    hypothesis: bool = False
    unit: Unit = "chunk"
    ranking: Literal["auto", "vectors", "words", "both"] = "auto"
    context_tokens: int = 8_000  # of a map call, and of the points that the answer is made from
    name: str = "lazygraphrag"
    requires: frozenset[Task] = frozenset({"refine", "test", "rate", "answer"})
    reads: frozenset[PartName] = frozenset({"concepts"})

    def __post_init__(self) -> None:
        check_fields(self, "budget questions tests batch patience best context_tokens", "be at least 1")
        if self.neighbours < 0 or self.shown < 0:
            raise SettingsError(
                f"lazygraphrag: neighbours ({self.neighbours}) and shown ({self.shown}) must not be negative."
            )

    def usual_calls(self, chunks: int) -> Mapping[Task, tuple[int, int]]:
        """Calls besides the last one, by task, with the tokens that each reads; half of the tests say yes."""
        tests = min(self.budget, self.questions * chunks)
        points = -(-min(tests, chunks) * _TESTED // (2 * self.context_tokens))
        return {
            "refine": (int(self.refined), _TESTED),
            "test": (tests, _TESTED),
            "rate": (points, self.context_tokens),
        }

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """The chunks relevant to any sub-question, in the order of their ranks for the question itself."""
        return self._evidence(self._found(question, index, rt), index)

    def answer(self, question: Question, index: Index, rt: Runtime) -> Answer:
        """Map: points from each group of relevant chunks; reduce: one answer from the best of them."""
        rt.check(self.name, self.requires - (frozenset() if self.refined else {"refine"}))
        found = self._found(question, index, rt)
        evidence = self._evidence(found, index)
        asked = Question(found.asked.question, question.history)
        return conclude_answer(asked, self._mapped(asked, found, evidence, index, rt), index, rt)

    def trials(self, question: Question, index: Index, rt: Runtime) -> tuple[Trial, ...]:
        """Every test that the question takes, in order, with its verdict: the budget, open to audit."""
        listed = self._found(question, index, rt).trials
        names = [entry.id for entry in take_records(index.catalogue.chunks, [i for i, _, _ in listed])]
        return tuple(Trial(name, text, verdict) for name, (_, text, verdict) in zip(names, listed, strict=True))

    # ── refine, rank, search ──

    def _found(self, question: Question, index: Index, rt: Runtime) -> _Found:
        """Search for each sub-question; what one does not spend, the next may."""
        if not question.text.strip():
            raise InputError("The question is empty; ask something.")
        asked = self._refined(question, index, rt)
        parts = list(dict.fromkeys((asked.question, *asked.questions)))[: self.questions]
        terrain, orders = terrain_of(index.part(CONCEPTS)), self._orders([question.sought, *parts], asked, index, rt)
        trials: list[tuple[int, str, bool]] = []
        relevant = np.zeros(len(terrain.same), np.bool_)
        for place, (text, order) in enumerate(zip(parts, orders[1:], strict=True)):
            share = -(-(self.budget - len(trials)) // (len(parts) - place))
            tester = Tester(question if text == question.text else Question(text), self.unit, index, rt)
            verdicts = search_on_budget(terrain, order, self._pace(share), tester)
            trials += [(chunk, text, verdict) for chunk, verdict in verdicts]
            relevant |= np.isin(terrain.same, [chunk for chunk, verdict in verdicts if verdict])
        ranks = np.flatnonzero(relevant[orders[0]])
        return _Found(asked, orders[0][ranks].tolist(), (1 / (ranks + 1)).tolist(), trials)

    def _refined(self, question: Question, index: Index, rt: Runtime) -> Refinement:
        """The question as the engine would ask it of this corpus, whose leading concepts it is shown (b: 100)."""
        if not self.refined:
            return Refinement(question.text)
        shown = [Passage("concept", name, "", title=name) for name in index.part(CONCEPTS).leading(self.shown)]
        return rt.each(refine_questions, [make_inquiry(question, shown, index)])[0]

    def _orders(self, texts: Sequence[str], asked: Refinement, index: Index, rt: Runtime) -> list[Longs]:
        """For each text all chunks: the best first, as far as a search can come; the others in their own order."""
        imagined = f"\n{asked.hypothesis}" if self.hypothesis and asked.hypothesis else ""
        searched = [f"{text}{imagined}" for text in texts]
        count = len(index.catalogue.chunks)
        reach = min(count, max(_REACH, 4 * self.budget))
        lists: list[list[Longs]] = [[] for _ in texts]
        ranking = settle_comparison(self.ranking, rt, vectors="vectors", words="words")
        if ranking != "words":
            queries = np.asarray(rt.embedder.embed(searched, "query"), np.float32)
            for found, (near, _) in zip(lists, nearest_to_each(queries, index, rt, reach), strict=True):
                found.append(near)
        if ranking != "vectors":
            for found, text in zip(lists, searched, strict=True):
                found.append(select_best(index.scores_of_words(text), reach)[0])
        orders: list[Longs] = []
        for found in lists:  # all positions by reciprocal rank fusion of rankings that may lack some
            score = np.zeros(count)
            for places in found:
                score[places] += 1 / (60 + np.arange(1, len(places) + 1))
            orders.append(np.argsort(-score, kind="stable"))
        return orders

    def _pace(self, budget: int) -> Pace:
        return Pace(budget, self.tests, self.batch, self.patience, self.best, self.neighbours)

    def _evidence(self, found: _Found, index: Index) -> Evidence:
        entries = take_records(index.catalogue.chunks, found.chunks)
        chunks = index.chunks([entry.id for entry in entries])
        passages = [chunk_passage(chunks[e.id], s) for e, s in zip(entries, found.scores, strict=True)]
        asked = len({text for _, text, _ in found.trials})
        yes = sum(verdict for _, _, verdict in found.trials)
        note = f"{len(found.trials)} of {self.budget} relevance tests made for {asked} questions: {yes} said yes"
        return gather_evidence(passages, index, notes=[f"{note}, of {len(passages)} chunks"])

    # ── map ──

    def _mapped(self, asked: Question, found: _Found, evidence: Evidence, index: Index, rt: Runtime) -> Evidence:
        """The points of every group of relevant chunks that are above 0, best first, within the context.

        Chunks of one community are read together, small communities in one call.
        """
        position = dict(zip(found.chunks, evidence.passages, strict=True))
        near = group_by_community(terrain_of(index.part(CONCEPTS)), found.chunks)
        groups = [[position[chunk] for chunk in group] for group in near]
        parts = [part for group in groups for part in pack_batches(group, self.context_tokens, passage_tokens)]
        batches = [
            [p for part in batch for p in part]
            for batch in pack_batches(parts, self.context_tokens, lambda part: sum(map(passage_tokens, part)))
        ]
        rated = rate_batches(asked, batches, index, rt)
        note = f"based on {len(groups)} communities: {len(rated)} points, read in {len(batches)} calls"
        if evidence.passages and not rated:
            note = "no statement was drawn from the relevant chunks: they were read themselves"
        kept, omitted = take_within(rated or evidence.passages, self.context_tokens, passage_tokens)
        return gather_evidence(kept, index, omitted=omitted, notes=(*evidence.notes, note))
