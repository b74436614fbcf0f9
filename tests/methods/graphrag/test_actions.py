"""The graph of questions: no cycle, no question twice, whoever asks (drift spec §2, §3 steps 4–5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.engines.llm.llm import LLMEngine
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.index.passages import passage_tokens
from sensegraph.methods.graphrag.actions import Action, Actions, Asked, points_of
from sensegraph.models.embedders import HashedTerms
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.protocols import LanguageEngine
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Source, Statement

EMBEDDER = HashedTerms()
QUOTES = ClassicalEngine()
WRITES = LLMEngine(Endpoint(EndpointSettings("http://localhost", model="m")))  # nobody asks it
WORDS = "harbour lantern orchard violin glacier compass".split()


def made_with(engine: LanguageEngine) -> Runtime:
    """A runtime that stores and runs nothing."""
    return Runtime(engine, EMBEDDER, store=cast(Any, None), executor=cast(Any, None))


def begin(same: float = 0.95) -> Actions:
    return Actions.begin("Who keeps the lamp?", EMBEDDER, same)


def asks(actions: Actions, parent: Action, *questions: str, priority: float = 50) -> Actions:
    return actions.ask([Asked(parent.id, priority, q) for q in questions], EMBEDDER)


def called(actions: Actions, question: str) -> Action:
    return next(a for a in actions.known if a.question == question)


def done(action: Action, score: float, text: str = "So it is.") -> Action:
    said = (Statement(text, ("r",), (Source("chunk-of-a-document", 0, 5),)),) if text else ()
    return replace(action, status="done", score=score, answer=said)


@given(st.lists(st.tuples(st.integers(0, 20), st.sampled_from(WORDS), st.integers(0, 100)), max_size=30))
def test_an_edge_never_leads_back_and_no_question_comes_twice(steps: list[tuple[int, str, int]]) -> None:
    actions = begin()
    for who, word, priority in steps:
        parent = actions.known[who % len(actions.known)]
        actions = asks(actions, parent, f"Where is the {word}?", priority=priority)
    assert len({a.id for a in actions.known}) == len(actions.known) == len(actions.vectors)
    assert len({a.question for a in actions.known}) == len(actions.known)
    assert actions.root.parents == ()
    assert all(a.parents for a in actions.known[1:])
    assert acyclic(actions.known)


def acyclic(actions: Iterable[Action]) -> bool:
    """Whether all can be taken off, those without parents first."""
    parents = {a.id: set(a.parents) for a in actions}
    while free := [name for name, above in parents.items() if not above]:
        for name in free:
            del parents[name]
        for above in parents.values():
            above.difference_update(free)
    return not parents


@pytest.mark.parametrize(
    "again", ["Where is the harbour?", "where  is the HARBOUR", "¿Where is the harbour??", "Ｗhere is the harbour?"]
)
def test_case_spacing_and_marks_make_no_other_question(again: str) -> None:
    actions = asks(begin(same=1.0), begin().root, "Where is the harbour?")
    assert len(asks(actions, actions.root, again).known) == 2


def test_questions_of_near_vectors_are_one_and_of_others_two() -> None:
    one, other = "Where is the old harbour?", "Where is the new harbour?"
    cosine = float(np.dot(*EMBEDDER.embed([one, other], "query")))
    assert 0.3 < cosine < 0.98
    actions = asks(begin(same=cosine - 0.01), begin().root, one, other)
    assert [a.question for a in actions.known[1:]] == [one]
    actions = asks(begin(same=cosine + 0.01), begin().root, one, other)
    assert [a.question for a in actions.known[1:]] == [one, other]


def test_a_question_asked_again_has_two_parents_and_the_higher_priority() -> None:
    actions = asks(begin(), begin().root, "Where is the harbour?", "Where is the violin?", priority=30)
    harbour, violin = actions.known[1:]
    actions = asks(actions, harbour, "Where is the glacier?", priority=20)
    actions = asks(actions, violin, "Where is the glacier?", priority=80)
    glacier = called(actions, "Where is the glacier?")
    assert (glacier.parents, glacier.priority, glacier.depth) == ((harbour.id, violin.id), 80, 2)


def test_a_question_does_not_become_its_own_ancestor() -> None:
    actions = asks(begin(), begin().root, "Where is the harbour?")
    harbour = actions.known[1]
    again = asks(actions, harbour, "Who keeps the lamp?", "Where is the harbour?", "  ", "?")
    assert again.known == actions.known


def test_the_most_urgent_are_open_first_and_equal_ones_by_id() -> None:
    actions = asks(begin(), begin().root, *(f"Where is the {w}?" for w in WORDS), priority=40)
    actions = asks(actions, actions.root, "Where is the violin?", priority=70)
    actions = actions.put([done(actions.root, 10)])
    first, *rest = actions.open(99)
    assert first.question == "Where is the violin?"
    assert [a.id for a in rest] == sorted(a.id for a in rest)
    assert actions.open(2) == [first, rest[0]]
    assert actions.open(-1) == []


def test_the_best_are_those_that_help_by_score() -> None:
    actions = asks(begin(), begin().root, *(f"Where is the {w}?" for w in WORDS[:4]))
    root, a, b, c, d = actions.known
    actions = actions.put([done(root, 50), done(a, 0), done(b, 90, text=""), done(c, 50), replace(d, status="failed")])
    assert [x.id for x in actions.best()] == [root.id, c.id]


def test_what_answers_a_far_question_well_is_worth_less_than_what_is_near() -> None:
    actions = asks(begin(), begin().root, "Where is the harbour?", "Where is the violin?")
    root, harbour, violin = actions.known
    actions = asks(asks(actions, harbour, "Where is the glacier?"), violin, "Where is the glacier?")
    far = done(actions.known[3], 100)
    actions = actions.put([done(root, 60), done(harbour, 20), done(violin, 50), far])
    best = [(a.question, round(a.score or 0, 6)) for a in actions.best()]
    assert best == [
        ("Who keeps the lamp?", 60),
        ("Where is the violin?", 30),
        ("Where is the glacier?", 30),
        ("Where is the harbour?", 12),
    ]  # the far one by its better way: 100 × 0.5 × 0.6


def test_a_root_that_knows_nothing_leaves_the_order_of_the_others() -> None:
    actions = asks(begin(), begin().root, "Where is the harbour?", "Where is the violin?")
    root, harbour, violin = actions.known
    best = actions.put([done(root, 0), done(harbour, 20), done(violin, 50)]).best()
    assert [(a.id, a.score) for a in best] == [(violin.id, 0.5), (harbour.id, 0.2)]


def test_points_carry_the_answer_its_sources_and_the_question() -> None:
    (point,), cut = points_of([done(begin().root, 42)], 100, made_with(WRITES))
    assert (point.kind, point.title, point.text, point.score, cut) == (
        "point",
        "Who keeps the lamp?",
        "So it is.",
        42,
        0,
    )
    assert [(q.text, q.source.end) for q in point.quotes] == [("So it is.", 5)]
    assert point.documents == 1
    (bare,), _ = points_of([done(begin().root, 42)], 100, made_with(QUOTES))
    assert bare.title == ""


@given(st.integers(1, 120), st.lists(st.integers(1, 30), min_size=1, max_size=8))
def test_a_point_that_is_too_large_is_cut_to_whole_statements(budget: int, lengths: list[int]) -> None:
    said = tuple(Statement(f"Number {i} " + "word " * n) for i, n in enumerate(lengths))
    action = replace(begin().root, status="done", score=9, answer=said)
    (point,), cut = points_of([action], budget, made_with(QUOTES))
    assert passage_tokens(point) <= budget or not point.text
    assert bool(cut) == (passage_tokens(points_of([action], 10_000, made_with(QUOTES))[0][0]) > budget)
    whole = "".join(s.text for s in said)
    assert whole.startswith(point.text)
