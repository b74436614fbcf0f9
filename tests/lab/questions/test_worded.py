"""Questions by template, to the letter; groups of vectors, turns, and what is asked about too often."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sensegraph.lab.questions.grounded_questions import (
    Grounds,
    GroundSettings,
    _cosine_distance,
    cluster_vectors,
    has_template,
    take_turns,
    word_question,
)
from sensegraph.lab.questions.grounds import Ground
from sensegraph.lab.questions.stated_facts import GAP, Told
from sensegraph.runtime.keys import key
from sensegraph.types import Claim, Entity, Source


def thing(name: str, kind: str = "place") -> Entity:
    return Entity(name, name, kind, "", (), (), 1, 1)


ADA, BO, ARLE, LAMP = thing("Ada", "Person"), thing("Bo", "person"), thing("Arle"), thing("great lamp", "thing")


def told(subject: Entity, rest: str, target: Entity = ARLE, head: str = "", after: str = "") -> Told:
    return Told(subject, target, f"{subject.name} {rest}.", rest, "c", head, after)


def claim(text: str, when: str) -> Claim:
    return Claim(text, "a", "o", "t", "TRUE", text, when, when, Source("c", 0, 1))


FIRST, LATER = claim("Ada left Arle in 1901", "1901"), claim("Bo came to Arle in 1902", "1902")


@pytest.mark.parametrize(
    ("ground", "text"),
    [
        (Ground("local", ("c",), (ARLE,), (told(ADA, "left Arle"),)), "Who left Arle?"),
        (Ground("local", ("c",), (ARLE,), (told(LAMP, "shone on Arle"),)), "What shone on Arle?"),
        (
            Ground("local", ("c",), (ARLE,), (told(ADA, f"left {GAP} at dawn"),)),
            f"Which name is missing here: “left {GAP} at dawn”?",
        ),
        (Ground("bridge", ("c",), (ARLE, ADA, LAMP), (), other="x"), "What links Ada with the great lamp?"),
        (
            Ground("bridge", ("c",), (ADA,), (told(ADA, "met Bo", BO, "met"), told(BO, "left Arle"))),
            "Who met the one that left Arle?",
        ),
        (
            Ground(
                "bridge",
                ("c",),
                (ADA,),
                (told(LAMP, "", ADA, "fell on", "at night"), told(ADA, "", BO, "met", "in May"), told(BO, "left Arle")),
            ),
            "What fell on the one that met the one that left Arle, in May, at night?",
        ),
        (
            Ground("intersection", ("c",), (ADA,), (told(ADA, "left Arle"), told(ADA, "met Bo"))),
            "Who left Arle, and also met Bo?",
        ),
        (
            Ground("intersection", ("c",), (ADA,), (told(LAMP, "left Arle"), told(LAMP, "also met Bo"))),
            "What left Arle, and also met Bo?",
        ),
        (
            Ground("comparison", ("c",), (ADA, BO, LAMP)),
            "How do Ada and Bo differ in what they have to do with the great lamp?",
        ),
        (
            Ground("temporal", ("c",), (ADA,), claims=(LATER, FIRST)),
            "Which came first: “Ada left Arle”, or “Bo came to Arle”?",
        ),
        (
            Ground("temporal", ("c",), (LAMP,), times=("1901", "1905")),
            "What changed in what is said of the great lamp between 1901 and 1905?",
        ),
        (
            Ground("disambiguation", ("c",), (ADA, LAMP), other="keeper of Arle"),
            "What is said of the Keeper Of Arle that has to do with the great lamp?",
        ),
        (
            Ground("disambiguation", ("c",), (ADA, ARLE, thing("ADA", "Ship")), other="x"),
            "What is said of Ada, the person that has to do with Arle?",
        ),
        (
            Ground("disambiguation", ("c",), (ADA, ARLE, thing("ADA", "PERSON")), other="keeper"),
            "What is said of the Keeper that has to do with Arle?",
        ),
        (
            Ground("global", ("c",), (ADA, BO, LAMP)),
            "What are the main themes in all that is said of Ada, Bo and the great lamp, "
            "and how do they hang together?",
        ),
        (
            Ground(
                "adversarial", ("c",), (ADA,), (told(ADA, "left Arle at dawn", ARLE, "left", "at dawn"),), other="Brun"
            ),
            "Who left Brun at dawn?",
        ),
        (
            Ground("adversarial", ("c",), (ADA,), (told(LAMP, "left Arle", ARLE, "left"),), other="Brun"),
            "What left Brun?",
        ),
    ],
)
def test_a_template_makes_one_question_of_a_ground(ground: Ground, text: str) -> None:
    assert word_question(ground, ["d"]).text == text


def test_what_a_question_needs_and_its_answer_stand_beside_it() -> None:
    local = word_question(Ground("local", ("c", "e"), (ARLE, BO), (told(ADA, "left Arle"),)), ["d", "f", "d"])
    assert (local.chunks, local.documents, local.answers) == (("c", "e"), ("d", "f"), ("Arle",))
    assert (local.names, local.hops, local.kind) == (("Arle", "Bo"), 1, "local")
    joined = Ground("intersection", ("c",), (ADA,), (told(ADA, "left Arle"), told(ADA, "met Bo")))
    assert word_question(joined, ["d"]).hops == 2
    assert word_question(Ground("bridge", ("c",), (ARLE, ADA, BO), (), other="x"), ["d"]).hops == 1
    made_up = Ground("adversarial", ("c",), (ADA,), (told(ADA, "left Arle", ARLE, "left"),), other="Brun")
    nothing = word_question(made_up, ["d"])
    assert (nothing.chunks, nothing.documents, nothing.answers, nothing.hops) == ((), (), (), 1)
    sooner = word_question(Ground("temporal", ("c",), (ADA,), claims=(FIRST, LATER)), ["d"])
    assert sooner.answers == ("Ada left Arle",)


def test_in_another_language_a_gap_stands_for_the_name() -> None:
    one = Ground("local", ("c",), (ARLE,), (told(ADA, "verließ Arle"),))
    assert word_question(one, ["d"], english=False).text == f"{GAP} verließ Arle?"
    gapped = Ground("local", ("c",), (ARLE,), (told(ADA, f"{GAP} verließ Arle"),))
    assert word_question(gapped, ["d"], english=False).text == f"{GAP} verließ Arle"
    two = Ground("intersection", ("c",), (ADA,), (told(ADA, "ging"), told(ADA, "kam")))
    assert word_question(two, ["d"], english=False).text == f"{GAP} ging … {GAP} kam?"
    assert [has_template(k, english=False) for k in ("local", "intersection", "bridge")] == [True, True, False]
    assert has_template("bridge", english=True)


# ── groups and turns ──


def test_vectors_are_grouped_by_direction() -> None:
    east, north, west = np.eye(3, dtype=np.float32)
    near = np.array([0.995, 0.0999, 0.0], np.float32)
    found = cluster_vectors(np.array([east, north, near, west, north]), 3)
    assert found[0] == found[2]
    assert found[1] == found[4]
    assert len(set(found.tolist())) == 3
    assert set(cluster_vectors(np.array([east, near, east]), 2).tolist()) == {0, 1}
    assert set(cluster_vectors(np.array([east, north, west]), 1).tolist()) == {0}
    assert len(cluster_vectors(np.zeros((0, 3), np.float32))) == 0


def test_rows_are_as_far_apart_as_their_cosine_says() -> None:
    rows = np.array([[1.0, 0.0], [0.6, 0.8], [-1.0, 0.0], [1.0, 1e-12]])
    assert _cosine_distance(rows, rows[0]).tolist() == pytest.approx([0.0, 0.4, 2.0, 0.0])


def test_groups_take_turns_in_the_order_of_hashes() -> None:
    items = ["a1", "a2", "a3", "b1", "c1", "c2"]
    turned = take_turns(items, lambda s: ord(s[0]), lambda s: s, 7)
    inside = {g: sorted((i for i in items if i[0] == g), key=lambda s: key(7, s)) for g in "abc"}
    order = sorted("abc", key=lambda g: key(7, ord(g)))
    expected = [inside[g][n] for n in range(3) for g in order if n < len(inside[g])]
    assert turned == expected
    assert take_turns([], lambda s: 0, str) == []


def test_after_three_questions_on_one_thing_all_others_come_first() -> None:
    grounds = [Ground("local", (f"c{i}",), (ADA,)) for i in range(7)] + [Ground("local", ("c9",), (BO,))]
    made = Grounds(SimpleNamespace(), GroundSettings())  # type: ignore[arg-type]
    given: Any = {f"c{i}": 0 for i in range(10)}
    made.__dict__["_group"] = given
    turned = [g.entities[0].name for g in made._turned(grounds)]
    assert sorted(turned[:4]) == ["Ada", "Ada", "Ada", "Bo"]
    assert turned[4:] == ["Ada"] * 4
    bare = [Ground("local", ("c1",)), Ground("local", ("c2",))]
    assert sorted(g.chunks for g in made._turned(bare)) == [("c1",), ("c2",)]
    index: Any = SimpleNamespace(chunks=lambda ids: {i: SimpleNamespace(text=i * 2) for i in ids})
    shown = Grounds(index, GroundSettings())
    assert shown.texts(Ground("local", ("x", "y"))) == ("xx", "yy")
    assert shown.texts(Ground("global", ("x",), texts=("report",))) == ("report",)
