"""The questions of a search that asks further, as a graph: one node a question, however many ask it (DRIFT).

Edges lead from the question that asked to the one that is asked, and never back: the graph has no cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sensegraph.answering.asking import for_writing, point_passage
from sensegraph.index.index import Index
from sensegraph.index.passages import documents_behind, ground_statements, passage_tokens
from sensegraph.language.text import count_tokens, fold, take_within
from sensegraph.protocols import Embedder, Vectors
from sensegraph.runtime.keys import document_part, key
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Lead, Passage, Point, Statement

Status = Literal["open", "done", "failed"]

_MARKS = " ?？.!。！¿¡"  # at the ends of a question; they make no other question of it


@dataclass(frozen=True, slots=True)
class Action:
    """A question of the search and what came of it.

    `depth` counts from the user's question (0), `parents` are the ids of the actions that asked it, `priority` is the
    best of their scores. Of what is done, `answer` holds statements with their sources, `score` their usefulness
    0–100, `evidence` the ids of the passages that were read, `documents` those behind them, `tokens` their size.
    """

    id: str
    question: str
    depth: int = 0
    parents: tuple[str, ...] = ()
    priority: float = 0.0
    status: Status = "open"
    answer: tuple[Statement, ...] = ()
    score: float | None = None
    evidence: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    tokens: int = 0

    @property
    def text(self) -> str:
        """The answer as one text, without references."""
        return "".join(s.text for s in self.answer).strip()


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that the action `parent` asks, which is as urgent as `priority` says (0–100)."""

    parent: str
    priority: float
    question: str


@dataclass(frozen=True, slots=True, eq=False)
class Actions:
    """All questions so far, the user's first, each in the order in which it was first asked.

    Two questions are one where their texts differ only in case, spacing and marks at the ends, or where the cosine of
    their vectors is at least `same`. `vectors` has one row an action, shape (actions, dim).
    """

    known: tuple[Action, ...]
    vectors: Vectors
    same: float

    @classmethod
    def begin(cls, question: str, embedder: Embedder, same: float) -> Actions:
        """The user's question alone."""
        return cls((Action(_action_id(question), question),), _embed_questions([question], embedder), same)

    @property
    def root(self) -> Action:
        """The user's question."""
        return self.known[0]

    def open(self, most: int) -> list[Action]:
        """The open actions with the highest priority, `most` of them; equal ones by id."""
        waiting = [a for a in self.known if a.status == "open"]
        return sorted(waiting, key=lambda a: (-a.priority, a.id))[: max(0, most)]

    def best(self) -> list[Action]:
        """The answers that help (score above 0), each with its score for the user's question, best first.

        An engine scores an answer for the question that was asked. For the user's question it helps as far as the way
        there does: its score times the shares (of 100, at least 1) of those that led to it, on the best way. Without
        that the search drifts: what answers a far question perfectly would come before all that was asked for. Equal
        ones by depth, then id.
        """
        ways: dict[str, float] = {}
        helping = [a for a in self.known if a.status == "done" and a.text and (a.score or 0) > 0]
        scored = [replace(a, score=(a.score or 0) * self._way(a, ways)) for a in helping]
        return sorted(scored, key=lambda a: (-(a.score or 0), a.depth, a.id))

    def _way(self, action: Action, ways: dict[str, float]) -> float:
        """The product of the shares of those that led to `action`, on the best way: 0 … 1, for the root 1."""
        if action.id not in ways:
            above = [self._called(name) for name in action.parents]
            ways[action.id] = max((max(1, a.score or 0) / 100 * self._way(a, ways) for a in above), default=1.0)
        return ways[action.id]

    def put(self, changed: Sequence[Action]) -> Actions:
        """With these actions in the place of those with their ids."""
        new = {a.id: a for a in changed}
        return replace(self, known=tuple(new.get(a.id, a) for a in self.known))

    def ask(self, asked: Sequence[Asked], embedder: Embedder) -> Actions:
        """With these questions: new ones open, those that are known with one more parent.

        A parent is not added where the question is that parent itself or one that led to it: an edge never leads back.
        """
        asked = [a for a in asked if _plain_question(a.question)]
        now = self
        for one, vector in zip(asked, _embed_questions([a.question for a in asked], embedder), strict=True):
            now = now._with(one, vector)
        return now

    def _with(self, asked: Asked, vector: Vectors) -> Actions:
        found = self._like(asked.question, vector)
        if found is None:
            depth = self._called(asked.parent).depth + 1
            new = Action(_action_id(asked.question), asked.question, depth, (asked.parent,), asked.priority)
            return replace(self, known=(*self.known, new), vectors=np.vstack([self.vectors, vector]))
        if found.id in self._above(asked.parent):
            return self
        parents = tuple(dict.fromkeys([*found.parents, asked.parent]))
        return self.put([replace(found, parents=parents, priority=max(found.priority, asked.priority))])

    def _like(self, question: str, vector: Vectors) -> Action | None:
        """The known action that asks the same: in the same words, else the nearest of those near enough."""
        name = _action_id(question)
        if same := next((a for a in self.known if a.id == name), None):
            return same
        near = self.vectors @ vector
        best = int(np.argmax(near))
        return self.known[best] if near[best] >= self.same else None

    def _above(self, name: str) -> frozenset[str]:
        """The action of this id and all that led to it."""
        found: dict[str, None] = {}
        waiting = [name]
        while waiting:
            if (one := waiting.pop()) not in found:
                found[one] = None
                waiting += self._called(one).parents
        return frozenset(found)

    def _called(self, name: str) -> Action:
        return next(a for a in self.known if a.id == name)


# ── answers ──


def settle_action(action: Action, found: Sequence[tuple[Lead, Sequence[Passage]]], index: Index) -> Action:
    """`action` with what was found: the answers that help (score above 0), best first, and the mean of all scores."""
    ranked = sorted(found, key=lambda pair: -pair[0].score)
    helping = [ground_statements(lead.statements, passages) for lead, passages in ranked if lead.score > 0]
    read = [p for _, passages in found for p in passages]
    # Each part is a paragraph of its own.
    parts = [statements for statements in helping if statements]
    first = [replace(part[0], text=("\n\n" if i else "") + part[0].text.lstrip()) for i, part in enumerate(parts)]
    return replace(
        action,
        status="done",
        answer=tuple(s for head, part in zip(first, parts, strict=True) for s in (head, *part[1:])),
        score=sum(lead.score for lead, _ in found) / max(1, len(found)),
        evidence=tuple(p.id for p in read),
        documents=documents_behind(read, index),
        tokens=sum(map(passage_tokens, read)),
    )


def points_of(actions: Sequence[Action], budget: int, rt: Runtime) -> tuple[list[Passage], int]:
    """The answers as passages that can be cited, and how many of them were cut.

    One that is larger than `budget` alone loses its last statements. They are called by their questions, but not for
    an engine that quotes: it takes titles for themes.
    """
    titles = for_writing(rt, lambda: [a.question for a in actions]) or [""] * len(actions)
    called = list(zip(actions, titles, strict=True))
    whole = [_action_point(a, title) for a, title in called]
    fitted = [
        p if passage_tokens(p) <= budget else _action_point(_cut_answer(a, budget - count_tokens(title)), title)
        for (a, title), p in zip(called, whole, strict=True)
    ]
    return fitted, sum(before is not after for before, after in zip(whole, fitted, strict=True))


def _action_point(action: Action, title: str) -> Passage:
    behind = {document_part(source.chunk) for s in action.answer for source in s.sources}
    return point_passage(Point(action.answer, action.score or 0.0, title, len(behind)), ())


def _cut_answer(action: Action, room: int) -> Action:
    kept, _ = take_within(action.answer, room, lambda s: count_tokens(s.text))
    return replace(action, answer=tuple(kept))


# ── what a question is called ──


def _plain_question(question: str) -> str:
    return fold(question).strip(_MARKS)


def _action_id(question: str) -> str:
    """The id of the action that asks this: a key of its plain words, so that the same question has the same id."""
    return key("action", _plain_question(question))[:20]


def _embed_questions(questions: Sequence[str], embedder: Embedder) -> Vectors:
    """The vectors of questions, one row each."""
    if not questions:
        return np.zeros((0, 0), np.float32)
    return np.asarray(embedder.embed(questions, "query"), np.float32)
