"""HippoRAG: a walk over facts, entities and chunks, from the few facts that a question is about.

paper: Gutiérrez et al. 2025, From RAG to Memory (HippoRAG 2), §3; `version` 1: Gutiérrez et al. 2024 (HippoRAG), §2
index: chunk → extract → merge → facts, synonyms (part `facts`)
query: facts by similarity → which of them help → their entities, and weakly all chunks → personalised PageRank
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from sensegraph.algorithms.graphs import Floats, Longs
from sensegraph.algorithms.ranking import Ranking, select_best
from sensegraph.algorithms.walks import pagerank
from sensegraph.answering.asking import AnswersOnce, make_inquiry, settle_asking
from sensegraph.answering.asking import test_contexts as helps
from sensegraph.errors import SettingsError, StepFailed
from sensegraph.index.index import Index
from sensegraph.index.vectors import asked_vector, nearest_to
from sensegraph.methods import check_fields
from sensegraph.methods.hipporag.facts import FACTS, Facts
from sensegraph.methods.hipporag.tasks import filter_facts
from sensegraph.protocols import PartName, Task
from sensegraph.retrieval.arms import Comparing, by_meaning, by_text, evidence_of, nearness_of, seeds_of
from sensegraph.runtime.keys import key
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Evidence, Passage, Question

GUTIERREZ2025 = MappingProxyType({"passage_factor": 0.05, "parallel": 2.0})
"""The settings of the authors' code where ours differ."""

Start = tuple[Floats, tuple[str, ...]]
"""Where a walk starts: mass of every entity, shape (n,), and what has to be said of how it was found."""


_FACT = 20  # tokens of a fact, about


@dataclass(frozen=True)
class HippoRAG(AnswersOnce):
    """`facts` are linked to the question, `phrases` entities at most start the walk.

    `linking` compares facts and chunks with the question by vectors or by words; `auto` by vectors unless they see
    words only. `filter` asks the engine which linked facts help, in one call (recognition memory); `auto` where a model
    answers. The walk starts with `phrase_share` at entities whose weights sum to 1, with more or less as they do, and
    with the rest at the chunks that are near; with a `passage_factor` above 0 every chunk weighs its nearness times it
    instead, as published. `damping` is the share of the walk that goes on, `tolerance` the mass left unsettled, and
    `parallel` edges stand for one fact. `top` chunks are ranked, `read` of them are read. With `version` 1 the walk
    starts at the entities of the question, takes no step to a chunk, and chunks get what their entities have.
    """

    version: int = 2
    linking: Comparing = "auto"
    filter: Literal["auto", "engine", "none"] = "auto"
    facts: int = 5
    phrases: int = 5
    phrase_share: float = 0.3  # measured: bench/hipporag.py
    passage_factor: float = 0.0  # the paper's is 0.05
    damping: float = 0.5
    tolerance: float = 1e-6
    parallel: float = 1.0  # the authors' code has 2
    synonyms: bool = True
    seed_floor: float = 0.5
    top: int = 200
    read: int = 5
    context_tokens: int = 8_000
    name: str = "hipporag"
    requires: frozenset[Task] = frozenset({"answer"})
    reads: frozenset[PartName] = frozenset({"graph", "facts"})

    def __post_init__(self) -> None:
        check_fields(self, "facts phrases top read context_tokens", "be at least 1")
        if self.version not in (1, 2):
            raise SettingsError(f"hipporag: there is no version {self.version}; there are 1 and 2.")
        check_fields(self, "damping tolerance", "lie between 0 and 1")
        if not 0 < self.phrase_share <= 1 or self.passage_factor < 0 or self.parallel <= 0:
            raise SettingsError(
                f"hipporag: phrase_share ({self.phrase_share}) must lie above 0 and up to 1, passage_factor "
                f"({self.passage_factor}) must not be negative, and parallel ({self.parallel}) must be above 0."
            )

    def usual_calls(self, chunks: int) -> Mapping[Task, tuple[int, int]]:
        """Calls besides the last one, by task, with the tokens that each reads: the choice among the linked facts."""
        asked = self.version == 2 and self.filter != "none"
        return {"filter": (1, _FACT * self.facts)} if asked else {}

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """The chunks that the walk comes to most, best first, within the context."""
        ranking, notes = self.rank(question, index, rt)
        return evidence_of(ranking, index, self.read, self.context_tokens, notes)

    def rank(self, question: Question, index: Index, rt: Runtime) -> tuple[Ranking, tuple[str, ...]]:
        """The `top` chunks, and what has to be said of how they were found; without a start, by text alone (§3.2)."""
        mass, notes = self._named(question, index, rt) if self.version == 1 else self._linked(question, index, rt)
        if not mass.any():
            plain = by_text(question, index, rt, self.linking, self.top)
            return plain, (*notes, f"nothing in the graph fits the question: chunks were ranked by {plain.name}")
        scores = self._first(mass, index) if self.version == 1 else self._second(mass, question, index, rt)
        return Ranking("hipporag", *select_best(scores, self.top)), notes

    # ── version 2 ──

    def _linked(self, question: Question, index: Index, rt: Runtime) -> Start:
        """The entities of the facts that the question is about (§3.2, query to triple and recognition memory)."""
        found, scores = self._facts(question, index, rt)
        try:
            kept, notes = self._recognised(question, found, index, rt), list[str]()
        except StepFailed as e:
            kept, why = np.ones(len(found), np.bool_), "; ".join(sorted(e.reasons))
            notes = [f"recognition memory: the engine could not choose among {len(found)} facts, all stay ({why})"]
        dropped = len(found) - int(kept.sum())
        notes += [f"recognition memory: {dropped} of {len(found)} facts were dropped"] if dropped else []
        return phrase_mass(index.part(FACTS), found[kept], scores[kept], self.phrases), tuple(notes)

    def _facts(self, question: Question, index: Index, rt: Runtime) -> tuple[Longs, Floats]:
        """The facts nearest to the question, and their nearness as a share of the nearest's."""
        if not by_meaning(self.linking, rt):
            found, scores = select_best(index.part(FACTS).score(question.sought), self.facts)
        elif not by_meaning("auto", rt):
            raise SettingsError(
                "hipporag.linking is vectors, but the embedder compares words alone, so that facts have no vectors; "
                "name an embedding model (endpoint.embedding_model), or set linking to auto."
            )
        else:
            found, scores = nearest_to(asked_vector(question, rt), index, rt, self.facts, "fact")
            found, scores = found[scores > 0], scores[scores > 0]
        return found, scores / max(scores.max(initial=0.0), 1e-300)

    def _recognised(self, question: Question, found: Longs, index: Index, rt: Runtime) -> np.ndarray:
        """Which facts the engine says help; all of them where it is not asked."""
        if settle_asking(self.filter, rt, model="engine", rules="none") != "engine" or not len(found):
            return np.ones(len(found), np.bool_)
        own = "filter" in rt.engine.tasks
        rt.check(self.name, frozenset({"filter" if own else "test"}))
        texts = [index.part(FACTS).text(i) for i in found.tolist()]
        facts = [Passage("relation", key("fact", text)[:20], text) for text in texts]
        if own:
            chosen = rt.each(filter_facts, [make_inquiry(question, facts, index)])[0]
            return np.fromiter((fact.id in chosen for fact in facts), np.bool_, len(facts))
        asked = [make_inquiry(question, [fact], index) for fact in facts]
        return np.fromiter(rt.each(helps, asked), np.bool_, len(asked))

    def _second(self, mass: Floats, question: Question, index: Index, rt: Runtime) -> Floats:
        """The probability of every chunk, from entities and weakly from all chunks (§3.2, personalised PageRank)."""
        near = nearness_of(question, index, rt, self.linking)
        if self.passage_factor:
            reset = np.concatenate((self.passage_factor * near, mass))
        else:
            scale = (1 - self.phrase_share) / max(float(near.sum()), 1e-300)
            reset = np.concatenate((scale * near, self.phrase_share * mass))
        known = index.part(FACTS)
        usual = self.parallel == 1 and self.synonyms
        walk = known.walk if usual else known.moves(self.parallel, synonyms=self.synonyms)
        return pagerank(walk, reset, self.damping, self.steps)[: len(near)]

    @property
    def steps(self) -> int:
        """The steps of the walk after which at most `tolerance` of its mass is not where it stays."""
        return math.ceil(math.log(self.tolerance) / math.log(self.damping))

    # ── version 1 ──

    def _named(self, question: Question, index: Index, rt: Runtime) -> Start:
        """The entities of the question, each by its specificity 1 / |P_i| (HippoRAG §2.3, node specificity)."""
        known, mass = index.part(FACTS), np.zeros(index.part(FACTS).entities)
        for seed in seeds_of(question, index, rt, self.seed_floor):
            mass[seed] = 1 / max(int(known.start[seed + 1] - known.start[seed]), 1)
        return mass, ()

    def _first(self, mass: Floats, index: Index) -> Floats:
        """Σ of the probability of the entities of every chunk; chunks are no nodes of the walk (HippoRAG §2.3)."""
        known, chunks = index.part(FACTS), len(index.catalogue.chunks)
        walk = known.moves(self.parallel, synonyms=self.synonyms, context=False)
        there = pagerank(walk, np.concatenate((np.zeros(chunks), mass)), self.damping, self.steps)[chunks:]
        mentions = np.repeat(there, np.diff(known.start))
        return np.asarray(np.bincount(known.held, weights=mentions, minlength=chunks), np.float64)


def phrase_mass(known: Facts, linked: Sequence[int] | Longs, scores: Floats, most: int) -> Floats:
    """The mass of every entity, shape (n,): Σ score / |P_i| over the linked facts with it, divided by their number.

    |P_i| is the number of chunks that mention it; only the `most` heaviest keep theirs (§3.2, seed nodes).
    """
    facts = np.asarray(linked, np.int64)
    ends = np.concatenate((known.source[facts], known.target[facts])).astype(np.int64)
    chunks = np.maximum(known.start[ends + 1] - known.start[ends], 1)
    total = np.bincount(ends, weights=np.tile(scores, 2) / chunks, minlength=known.entities)
    count = np.bincount(ends, minlength=known.entities)
    kept, mass = select_best(total / np.maximum(count, 1), most)
    heaviest = np.zeros(known.entities)
    heaviest[kept] = mass
    return heaviest
