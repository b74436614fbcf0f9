"""Solving a plan step by step: exactly in the graph, then freely around it, then in the chunks.

paper: Liang et al. 2024 (KAG), the logical form solver and its hybrid reasoning; the thresholds are those of the
authors' implementation
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property, partial
from itertools import product
from typing import Literal

import numpy as np

from sensegraph.algorithms.ranking import Ranking, by_scores, near_best
from sensegraph.answering.asking import for_writing, leads_of, make_inquiry, point_passage, written_text
from sensegraph.index.graph.lookups import ties_of
from sensegraph.index.index import Index
from sensegraph.index.passages import chunk_passage, passage_tokens, relation_passage
from sensegraph.index.vectors import nearest_to
from sensegraph.language.text import fold, list_stems, take_within
from sensegraph.methods.kag.calculation import (
    Unknown,
    Value,
    calculate_expression,
    calculate_words,
    order_of_value,
    read_scalar,
    write_value,
)
from sensegraph.methods.kag.forms import MARK, Deduce, Form, Math, Output, Plan, Retrieval, Sort, Term
from sensegraph.methods.kag.logical_forms import target_of, terms_of
from sensegraph.methods.kag.question_steps import Candidate, find_values, split_passages
from sensegraph.retrieval.arms import Walk, rank_by_vectors, rank_by_walk, rank_by_words
from sensegraph.retrieval.signals import entities_named_in
from sensegraph.runtime.results import take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Lead, Passage, Point, Question, Relation, Statement

Layer = Literal["exact", "graph", "chunks", "worked out", "none"]
MOST_VALUES = 50
NOTHING = Unknown("nothing was found")
NOWHERE = Ranking("step", np.zeros(0, np.int64), np.zeros(0))
_FIRST = 10  # chunks of each text ranking that a walk starts from
_LIKELY = 0.7  # of the share of the best candidate, from which another belongs to the value too
_READ = 5  # chunks whose sentences may bind a variable
_TEXT = (0.1, 1.0)  # the weights of vectors and words in the prior of a walk, as in hybrid retrieval
_HOPS = 200  # relations of one entity that are looked at, where a model chooses
_RELATION_TOKENS = 1_000
_LONGEST = 100  # characters of a value that is no name
_NAMES = 20  # entities near a name that may be written alike


@dataclass(frozen=True, slots=True)
class Solving:
    """How a step is solved.

    `exact` and `free` are the likenesses of names from which an entity is linked, `chunks` how many each layer
    brings, `share` that of the graph in what the last layer reads and `rank_share` that in the evidence, `enough` the
    usefulness (0–100) at which a layer ends the search, `branches` how many values of a variable are followed,
    `relations` how many a model is shown, `step_tokens` what is read for one step.
    """

    exact: float = 0.9
    free: float = 0.8
    chunks: int = 20
    share: float = 0.5
    rank_share: float = 1.0
    enough: float = 50.0
    branches: int = 2
    relations: int = 5
    step_tokens: int = 4_000
    damping: float = 0.7


@dataclass(frozen=True, slots=True)
class Solved:
    """What a step came to: its question with the values put in, what it binds, the layer, and what it rests on."""

    step: Form
    question: str
    found: tuple[Candidate, ...] = ()
    value: Value = NOTHING
    layer: Layer = "none"
    ranking: Ranking = NOWHERE
    read: tuple[Passage, ...] = ()
    said: tuple[Statement, ...] = ()
    score: float = 0.0

    @property
    def passage(self) -> Passage:
        """The sub-answer as a point that can be cited: the memory of the solver."""
        told = (Statement(f"{write_value(self.value)}. "),) if self.layer == "worked out" or not self.said else ()
        return point_passage(Point((*told, *self.said), self.score, self.question), self.read)


@dataclass(frozen=True, slots=True)
class _Hop:
    """A relation, at its position in the graph, that leads from the entity at `place` to the one at `other`."""

    place: int
    other: int
    position: int
    relation: Relation


class Solver:
    """Solves the steps of plans for one question; what a variable is bound to is remembered from step to step."""

    def __init__(self, question: Question, index: Index, rt: Runtime, settings: Solving) -> None:
        self.question, self.index, self.rt, self.settings = question, index, rt, settings
        self.calls = 0
        self.failures = Counter[str]()
        self.searched: dict[Question, Ranking] = {}

    def solve(self, plan: Plan, given: Mapping[str, str] | None = None) -> list[Solved]:
        """Every step in its order; `given` fixes values by alias (a gold standard, to measure the rest)."""
        memory: dict[str, Solved] = {}
        done: list[Solved] = []
        for step in plan.steps:
            if isinstance(step, Output):
                continue
            solved = self._retrieved(step, memory) if isinstance(step, Retrieval) else self._worked(step, memory)
            target = target_of(step, memory)
            if given and target in given:
                solved = replace(solved, found=(Candidate(given[target], 1.0),), value=(given[target],))
            memory[target] = solved
            done.append(solved)
        return done

    def around(self, question: Question) -> Ranking:
        """The chunks by a walk from the entities that a question names, and weakly from its words."""
        if question not in self.searched:
            index, rt = self.index, self.rt
            lists = [rank_by_vectors(question, index, rt, 2 * _FIRST), rank_by_words(question, index, _FIRST)]
            walk = Walk(damping=self.settings.damping)
            found = rank_by_walk(question, near_best(lists, _TEXT), index, rt, walk)
            count = 5 * self.settings.chunks
            self.searched[question] = Ranking(found.name, found.positions[:count], found.scores[:count])
        return self.searched[question]

    # ── retrieval ──

    def _retrieved(self, step: Retrieval, memory: Mapping[str, Solved]) -> Solved:
        readings = self._readings(step, memory)
        best = readings[0][0]
        if exact := self._exact(step, memory, best):
            return exact
        shares = [share for _, share in readings]
        graph = by_scores([self.around(self._asked(q)) for q, _ in readings], shares)
        solved = self._answered(step, best, graph, "graph", memory)
        if solved.score >= self.settings.enough:
            return solved
        text = by_scores([self._text(q) for q, _ in readings], shares)
        read, ranked = (by_scores([graph, text], [s, 1 - s]) for s in (self.settings.share, self.settings.rank_share))
        return replace(self._answered(step, best, read, "chunks", memory), ranking=ranked)

    def _readings(self, step: Retrieval, memory: Mapping[str, Solved]) -> list[tuple[str, float]]:
        """The sub-question with the likeliest values in the place of its variables, each with its share."""
        text = step.text or " ".join(_write_term(t) for t in terms_of(step) if _write_term(t))
        text = " ".join([text, *(f"{c.field} {c.operator} {c.value}" for c in step.where)])
        marks = [m for m in dict.fromkeys(MARK.findall(text)) if m in memory]
        options = [memory[m].found[: self.settings.branches] or (Candidate("", 1.0),) for m in marks]
        made = []
        for chosen in product(*options):
            values = {m: c.value for m, c in zip(marks, chosen, strict=True)}
            filled = MARK.sub(lambda m, v=values: v.get(m[1], m[0]), text)  # type: ignore[misc]
            made.append((" ".join(filled.split()), float(np.prod([c.score for c in chosen]))))
        made.sort(key=lambda pair: -pair[1])
        return made[: self.settings.branches]

    def _asked(self, text: str) -> Question:
        """A sub-question; the user's own with the conversation before it."""
        return self.question if text == self.question.text else Question(text)

    def _exact(self, step: Retrieval, memory: Mapping[str, Solved], question: str) -> Solved | None:
        """One hop along relations that are called just what the predicate is, from entities of just this name."""
        predicate = fold(step.predicate.type or step.predicate.name)
        start, end = (step.subject, step.object) if _is_bound(step.subject, memory) else (step.object, step.subject)
        if not predicate or not _is_bound(start, memory) or end.name:
            return None
        forward, mutual = start is step.subject, predicate.endswith(" with")  # who competes with me: I with them
        found: dict[str, float] = {}
        used: list[_Hop] = []
        for name, share in self._names(start, memory):
            for place in self._linked(name, self.settings.exact):
                for hop in self._hops(place):
                    called = fold(hop.relation.label) == predicate and self._typed(hop.other, end.type)
                    if called and (mutual or self._leads(hop, forward)):
                        own = self.index.lookups.name(hop.other)
                        found[own] = found.get(own, 0.0) + share
                        used.append(hop)
        if not found:
            return None
        ranked = sorted(found.items(), key=lambda x: (-x[1], x[0]))[:MOST_VALUES]
        whole = sum(share for _, share in ranked)
        values = tuple(Candidate(v, s / whole) for v, s in ranked)
        read = tuple(self._passage(h) for h in used[: self.settings.relations])
        said = tuple(Statement(f"{p.text} ", (p.id,)) for p in read)
        stated = self._stating([h.position for h in used])
        names = tuple(v.value for v in values)
        return Solved(step, question, values, names, "exact", stated, read, said, 100.0)

    def _leads(self, hop: _Hop, forward: bool) -> bool:
        """Whether a relation leads from (`forward`: else to) the entity where the hop begins, or has no direction."""
        (begin,) = take_records(self.index.graph.entities, [hop.place])
        return not hop.relation.directed or (hop.relation.source == begin.id) == forward

    def _hops(self, place: int, most: int = 0) -> list[_Hop]:
        """The relations of an entity; the `most` of highest weight where there are more (0: all)."""
        others, relations = self.index.lookups.around(place)
        if 0 < most < len(relations):
            chosen = np.sort(np.argsort(-ties_of(self.index, self.rt).weight[relations], kind="stable")[:most])
            others, relations = others[chosen], relations[chosen]
        records = take_records(self.index.graph.relations, relations.tolist())
        return [_Hop(place, *row) for row in zip(others.tolist(), relations.tolist(), records, strict=True)]

    def _passage(self, hop: _Hop) -> Passage:
        name = self.index.lookups.name
        return relation_passage(hop.relation, name(hop.place), name(hop.other), hop.relation.weight)

    def _typed(self, place: int, wanted: str) -> bool:
        """Whether an entity is of the type that is asked for; any is where none is, or one that no schema knows."""
        (entity,) = take_records(self.index.graph.entities, [place])
        return not wanted or fold(entity.type) == fold(wanted) or fold(wanted) not in self._types

    @cached_property
    def _types(self) -> frozenset[str]:
        """The types of all entities."""
        return frozenset(fold(e.type) for e in self.index.graph.entities)

    def _names(self, term: Term, memory: Mapping[str, Solved]) -> list[tuple[str, float]]:
        if term.name and not MARK.search(term.name):
            return [(term.name, 1.0)]
        alias = term.alias if term.alias in memory else next(iter(MARK.findall(term.name)), "")
        bound = memory[alias].found[:MOST_VALUES] if alias in memory else ()
        filled = [(MARK.sub(lambda _, v=c.value: v, term.name) if term.name else c.value, c.score) for c in bound]  # type: ignore[misc]
        return [(name, share) for name, share in filled if name]

    def _linked(self, name: str, least: float) -> list[int]:
        """The entities of this name; where there are none, those whose names are at least so like it."""
        if same := self.index.lookups.called(name):
            return same
        query = np.asarray(self.rt.embedder.embed([name], "query")[0], np.float32)
        places, _ = nearest_to(query, self.index, self.rt, _NAMES, "entity")
        like = [(name_likeness(name, self.index.lookups.name(p)), p) for p in places.tolist()]
        return [p for score, p in sorted(like, key=lambda x: (-x[0], x[1])) if score >= least]

    def _stating(self, relations: Sequence[int]) -> Ranking:
        """The chunks that state these relations, those of most statements first."""
        tied = ties_of(self.index, self.rt)
        chunks = np.concatenate([np.zeros(0, np.int64), *(tied.stating(r) for r in relations)]).astype(np.int64)
        positions, counts = np.unique(chunks, return_counts=True)
        order = np.lexsort((positions, -counts))[: self.settings.chunks]
        return Ranking("exact", positions[order], counts[order].astype(np.float64))

    def _text(self, question: str) -> Ranking:
        asked, s = self._asked(question), self.settings
        lists = [rank_by_vectors(asked, self.index, self.rt, s.chunks), rank_by_words(asked, self.index, s.chunks)]
        return near_best(lists, _TEXT, 1.0)

    # ── sub-answers ──

    def _answered(
        self, step: Retrieval, question: str, ranking: Ranking, layer: Layer, memory: Mapping[str, Solved]
    ) -> Solved:
        """The sub-answer from the first chunks of a ranking and the relations that fit, and what it binds."""
        entries = take_records(self.index.catalogue.chunks, ranking.positions[: self.settings.chunks].tolist())
        kept, _ = take_within(entries, self.settings.step_tokens, lambda e: e.tokens)
        chunks = self.index.chunks([e.id for e in kept])
        scores = ranking.scores.tolist()
        best = scores[0] if scores else 1.0
        passages = [chunk_passage(chunks[e.id], x / best) for e, x in zip(kept, scores[: len(kept)], strict=True)]
        read = (*for_writing(self.rt, partial(self._relations, step, question, memory)), *passages)
        if not passages:
            return Solved(step, question, ranking=ranking)
        lead = self.ask_lead(self._asked(question), read) or Lead()
        told = written_text(lead.statements, self.rt)
        texts = [("", told, 1.0)] if told is not None else [(p.title, p.text, p.score) for p in passages[:_READ]]
        bound = tuple(find_values(question, split_passages(texts), self.index, told=told is not None))
        if not bound and told and lead.score > 0:  # it holds nothing that the graph knows by name: a value by itself
            whole = " ".join(told.split())[:_LONGEST]
            bound = (Candidate(whole, 1.0),) if whole else ()
        likely = tuple(c.value for c in bound if c.score >= _LIKELY * bound[0].score)
        value: Value = likely or Unknown("no passage says it")
        score = lead.score if bound or lead.statements else 0.0
        return Solved(step, question, bound, value, layer, ranking, read, lead.statements, score)

    def ask_lead(self, question: Question, read: Sequence[Passage]) -> Lead | None:
        """What the engine says of a question from these passages; None where it failed."""
        self.calls += 1
        (lead,), reasons = leads_of([make_inquiry(question, read, self.index)], self.rt)
        self.failures.update(reasons)
        return lead

    def _relations(self, step: Retrieval, question: str, memory: Mapping[str, Solved]) -> list[Passage]:
        """The relations around the entities of a sub-question whose words fit it best: the free choice of the graph."""
        named = entities_named_in(question, self.index)
        linked = [p for n, _ in self._names(step.subject, memory)[:1] for p in self._linked(n, self.settings.free)]
        own = frozenset(list_stems(question))
        hops = [h for place in dict.fromkeys([*named, *linked]) for h in self._hops(place, _HOPS)]
        shared = {
            h.position: len(own.intersection(list_stems(f"{h.relation.label} {h.relation.description}"))) for h in hops
        }
        fitting = {h.position: h for h in hops if shared[h.position]}
        ranked = sorted(fitting, key=lambda p: (-shared[p], -fitting[p].relation.weight, p))[: self.settings.relations]
        return take_within([self._passage(fitting[p]) for p in ranked], _RELATION_TOKENS, passage_tokens)[0]

    # ── calculation and decision ──

    def _worked(self, step: Sort | Math | Deduce, memory: Mapping[str, Solved]) -> Solved:
        """A step that reads no text."""
        if isinstance(step, Sort):
            return self._sorted(step, memory)
        inputs = [memory[a] for a in step.inputs]
        quantities: list[Value] = []
        for solved in inputs:  # a value as the number or the date that it names first; a set of names as it is
            value = solved.value
            first = read_scalar(value[0]) if isinstance(value, tuple) and value else ""
            quantities.append(value if isinstance(first, str) else first)
        if isinstance(step, Deduce):
            value = _decide_step(step, quantities, [s.value for s in inputs])
        else:
            value = calculate_expression(step.content, dict(zip(step.inputs, quantities, strict=False)))
            told = calculate_words(step.content, quantities) if isinstance(value, Unknown) else value
            value = value if isinstance(told, Unknown) else told
        return _keep_calculation(step, value, inputs)

    def _sorted(self, step: Sort, memory: Mapping[str, Solved]) -> Solved:
        """The values of a variable by the number or the date that they are."""
        known = memory.get(step.alias)
        values = known.value if known and isinstance(known.value, tuple) else ()
        keyed = [(read_scalar(v), v) for v in values]
        if not known or any(isinstance(k, str) for k, _ in keyed) or len({type(k) for k, _ in keyed}) > 1:
            return _keep_calculation(step, Unknown("what is to be sorted are not all numbers, nor all dates"), [])
        ranked = sorted(keyed, key=lambda x: order_of_value(x[0]), reverse=step.descending)
        return _keep_calculation(step, tuple(v for _, v in ranked)[: step.limit or len(ranked)], [known])


def name_likeness(one: str, other: str) -> float:
    """How like two names are written, 0–1: shared runs of characters (Ratcliff and Obershelp), case aside."""
    return SequenceMatcher(None, fold(one), fold(other), autojunk=False).ratio()


def _is_bound(term: Term, memory: Mapping[str, Solved]) -> bool:
    return bool(term.name) or term.alias in memory


def _write_term(term: Term) -> str:
    return term.name or term.type or (f"#{term.alias}" if term.alias else "")


def _decide_step(step: Deduce, quantities: Sequence[Value], values: Sequence[Value]) -> Value:
    """A choice by which value is the least or the largest, a judgement by whether values are the same."""
    if step.operation in ("choice", "multiChoice"):
        words, _, options = step.content.partition(":")
        names = [o.strip() for o in options.split("|")]
        best = calculate_words(words, quantities)
        if isinstance(best, Unknown) or len(names) != len(quantities):
            return best if isinstance(best, Unknown) else Unknown("there is not one value for each choice")
        chosen = [n for n, q in zip(names, quantities, strict=True) if q == best]
        return tuple(chosen)
    return calculate_words(step.content, [v[0] if isinstance(v, tuple) and v else v for v in values])


def _keep_calculation(step: Form, value: Value, inputs: Sequence[Solved]) -> Solved:
    """A result with the evidence of what it was calculated from."""
    found = value if isinstance(value, tuple) else () if isinstance(value, Unknown) else (value,)
    shares = tuple(Candidate(write_value(v), 1 / len(found)) for v in found)
    read = tuple({p.id: p for s in inputs for p in s.read}.values())
    said = tuple(s for i in inputs for s in i.said)
    layer: Layer = "none" if isinstance(value, Unknown) else "worked out"
    score = 0.0 if isinstance(value, Unknown) else min((i.score for i in inputs), default=0.0)
    text = getattr(step, "text", "") or getattr(step, "content", "")
    return Solved(step, text, shares, value, layer, read=read, said=said, score=score)
