"""Facts as arrays, over three entities and three chunks: texts, statements, scores, and what a filter leaves."""

from __future__ import annotations

import numpy as np
import pytest

from sensegraph.algorithms.ranking import Stack
from sensegraph.algorithms.walks import Moves
from sensegraph.methods.hipporag.facts import Facts, FactSettings, _write_fact, make_facts
from sensegraph.types import Description, Entity, Graph, Relation, Source

ENTITIES = tuple(
    Entity(n, name, "name", "", (), tuple(chunks), 1, 1)
    for n, name, chunks in (("a", "Ada", "pq"), ("b", "Bo", "qx"), ("c", "Cy", "r"))
)


def said(chunk: str, text: str) -> Description:
    return Description(text, Source(chunk, 0, 1))


RELATIONS = (
    Relation("ab", "a", "b", "", (said("p", "Ada met Bo."), said("q", "Ada met Bo.")), 1.0, ("p", "q", "r"), "met"),
    Relation("bc", "b", "c", "", (said("q", "Bo paid Cy."),), 1.0, ("q",), "paid"),
)


@pytest.fixture(scope="module")
def facts() -> Facts:
    (made,) = make_facts.fn([(Graph(ENTITIES, RELATIONS), ["p", "q", "r"], None)], settings=FactSettings())
    return made


def test_each_text_of_a_relation_is_a_fact_with_the_chunks_that_state_it(facts: Facts) -> None:
    assert (len(facts), facts.entities) == (3, 3)
    told = [(facts.text(i), facts.stating(i).tolist(), facts.source[i], facts.target[i]) for i in range(3)]
    assert told == [
        ("Ada met Bo.", [0, 1], 0, 1),
        ("Ada met Bo", [2], 0, 1),  # chunk r states the relation and says nothing of it
        ("Bo paid Cy.", [1], 1, 2),
    ]
    mentions = [facts.held[facts.start[i] : facts.start[i + 1]].tolist() for i in range(3)]
    assert mentions == [[0, 1], [1], [2]]


def shares(way: Moves) -> dict[tuple[int, int], float]:
    """What leaves each node for each other, over all edges between the two."""
    found: dict[tuple[int, int], float] = {}
    for a, b, share in zip(way.source.tolist(), way.target.tolist(), way.share.tolist(), strict=True):
        found[a, b] = found.get((a, b), 0.0) + share
    return found


def test_a_walk_leaves_along_statements_and_mentions_by_their_number(facts: Facts) -> None:
    """Ada — Bo three statements, Bo — Cy one; mentions 1 each; chunks are 0 to 2, entities 3 to 5."""
    weights = {(3, 4): 3.0, (4, 5): 1.0, (3, 0): 1.0, (3, 1): 1.0, (4, 1): 1.0, (5, 2): 1.0}
    weights |= {(b, a): w for (a, b), w in weights.items()}
    out = {a: sum(w for (first, _), w in weights.items() if first == a) for a, _ in weights}
    assert shares(facts.walk) == pytest.approx({(a, b): w / out[a] for (a, b), w in weights.items()})
    alone = {(3, 4): 1.0, (4, 3): 0.75, (4, 5): 0.25, (5, 4): 1.0}
    assert shares(facts.moves(2.0, context=False)) == pytest.approx(alone)
    doubled = shares(facts.moves(2.0))
    assert (doubled[3, 4], doubled[3, 0]) == pytest.approx((6 / 8, 1 / 8))


def test_a_fact_scores_by_the_words_that_it_shares(facts: Facts) -> None:
    scores = facts.score("Who paid Cy?")
    assert scores.shape == (3,)
    assert scores.argmax() == 2
    assert scores[0] == scores[1] == 0.0
    assert facts.score("Bo paid Cy.")[2] == pytest.approx(1.0)


def test_a_filter_leaves_the_facts_that_chunks_inside_state_of_entities_inside(facts: Facts) -> None:
    inside = facts.within([0, 1], [1, 2])
    assert [(inside.text(i), inside.stating(i).tolist()) for i in range(len(inside))] == [
        ("Ada met Bo.", [0]),
        ("Ada met Bo", [1]),
    ]
    assert (inside.entities, inside.chunks.tolist(), inside.number.tolist()) == (2, [2], [0, 1])
    assert [inside.held[inside.start[i] : inside.start[i + 1]].tolist() for i in range(2)] == [[0], [0]]
    assert inside.score("Ada met Bo").tolist() == facts.score("Ada met Bo")[:2].tolist()
    last = facts.within([1, 2], [1])
    assert [(last.text(i), last.source[i], last.target[i]) for i in range(len(last))] == [("Bo paid Cy.", 0, 1)]
    assert len(facts.within([0, 2], [0, 1, 2])) == 0


def test_synonyms_are_names_of_three_letters_or_more_and_a_filter_cuts_them() -> None:
    names = ("Ada Finch Lowe", "Ada Finch Lowe", "A-1", "A-1", "B12", "B12")
    things = tuple(Entity(str(i), n, "name", "", (), ("p",), 1, 1) for i, n in enumerate(names))
    (made,) = make_facts.fn([(Graph(things), ["p"], None)], settings=FactSettings())
    assert list(zip(made.one.tolist(), made.other.tolist(), strict=True)) == [(0, 1), (4, 5)]
    assert made.near.tolist() == pytest.approx([1.0, 1.0])
    cut = made.within([1, 4, 5], [0])
    assert list(zip(cut.one.tolist(), cut.other.tolist(), strict=True)) == [(1, 2)]
    vectors = Stack([np.array([[1, 0], [0, 1], [1, 0], [1, 0], [0.8, 0.6], [1, 0]], np.float32)])
    (near,) = make_facts.fn([(Graph(things), ["p"], vectors)], settings=FactSettings(synonym=0.75))
    assert list(zip(near.one.tolist(), near.other.tolist(), strict=True)) == [(0, 4), (0, 5), (4, 5)]
    assert near.near.tolist() == pytest.approx([0.8, 1.0, 0.8])


@pytest.mark.parametrize(
    ("said", "label", "settings", "written"),
    [
        ("Ada met Bo.", "met", FactSettings(), "Ada met Bo."),
        ("Ada met Bo " + "again " * 9, "met", FactSettings(), "Ada met Bo " + "again " * 9),
        ("Ada met Bo " + "again " * 10, "met", FactSettings(), "Ada met Bo"),
        ("Ada saw Bo " + "again " * 10, "met", FactSettings(), "Ada Bo"),
        ("Bo was met by Ada.", "met", FactSettings(text="triple"), "Bo met Ada"),
        ("Bo came.", "met", FactSettings(text="triple"), "Ada Bo"),
        ("Ada came.", "came", FactSettings(text="triple"), "Ada came Bo"),
        ("Ada met Bo " + "again " * 10, "met", FactSettings(text="description"), "Ada met Bo " + "again " * 10),
        ("", "met", FactSettings(), "Ada met Bo"),
        ("", "", FactSettings(text="description"), "Ada Bo"),
        ("One two.", "", FactSettings(words=1), "Ada Bo"),
    ],
)
def test_a_fact_is_a_short_description_or_names_with_a_label_that_the_text_holds(
    said: str, label: str, settings: FactSettings, written: str
) -> None:
    assert _write_fact(said, label, "Ada", "Bo", settings) == written
