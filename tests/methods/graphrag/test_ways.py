"""How far an answer to a further question helps with the user's, and which question is asked next."""

from __future__ import annotations

import numpy as np
import pytest

from sensegraph.methods.graphrag.actions import Action, Actions
from sensegraph.types import Statement

SAID = (Statement("It is so. "),)


def done(name: str, score: float | None, *parents: str, depth: int = 1, said: bool = True) -> Action:
    return Action(name, name, depth, parents, 0.0, "done", SAID if said else (), score)


def actions(*given: Action) -> Actions:
    return Actions(given, np.zeros((len(given), 1), np.float32), 0.9)


def best(*given: Action) -> list[tuple[str, float]]:
    return [(a.id, pytest.approx(a.score)) for a in actions(*given).best()]


def test_an_answer_counts_as_far_as_those_that_led_to_it() -> None:
    root, a, b = done("root", 50.0, depth=0), done("a", 80.0, "root"), done("b", 10.0, "root")
    assert best(root, a, b) == [("root", 50.0), ("a", 40.0), ("b", 5.0)]
    assert best(root, a, b, done("c", 90.0, "b", "a", depth=2)) == [
        ("root", 50.0), ("a", 40.0), ("c", 90.0 * 0.8 * 0.5), ("b", 5.0),
    ]  # fmt: skip
    assert best(root, b, done("c", 90.0, "b", depth=2))[1:] == [("b", 5.0), ("c", 90.0 * 0.1 * 0.5)]


@pytest.mark.parametrize("score", [None, 0.0, 0.5, 1.0])
def test_what_led_to_it_counts_a_hundredth_at_least(score: float | None) -> None:
    assert dict(best(done("root", score, depth=0), done("a", 80.0, "root")))["a"] == 0.8


def test_only_answers_that_say_something_and_help_are_taken_of_equal_ones_the_nearer() -> None:
    root = done("root", 100.0, depth=0)
    waiting = Action("open", "open", 1, ("root",), 0.0, "open", SAID, 50.0)
    found = best(root, done("none", 0.0, "root"), done("silent", 50.0, "root", said=False), waiting)
    assert found == [("root", 100.0)]
    equal = best(root, done("z", 50.0, "root"), done("y", 50.0, "root", depth=2), done("a", 50.0, "root"))
    assert [name for name, _ in equal] == ["root", "a", "z", "y"]


def test_the_most_urgent_open_questions_come_first() -> None:
    asked = [Action(name, name, 1, ("root",), urgency) for name, urgency in (("b", 2.0), ("a", 2.0), ("c", 9.0))]
    given = actions(done("root", 1.0, depth=0), *asked)
    assert [a.id for a in given.open(2)] == ["c", "a"]
    assert [a.id for a in given.open(9)] == ["c", "a", "b"]
    assert given.open(0) == given.open(-1) == []
    assert given.root.id == "root"


@pytest.mark.parametrize(("score", "helps"), [(0.0, False), (0.01, True), (1.0, True)])
def test_an_answer_of_any_score_above_nothing_helps(score: float, helps: bool) -> None:
    assert best(done("root", score, depth=0)) == ([("root", score)] if helps else [])


@pytest.mark.parametrize(("cosine", "same"), [(0.875, True), (0.874, False)])
def test_questions_are_one_from_just_so_near_on(cosine: float, same: bool) -> None:
    known = Actions((done("root", 1.0, depth=0),), np.array([[1.0, 0.0]], np.float32), 0.875)
    found = known._like("Another?", np.array([cosine, 0.5], np.float32))
    assert (found is known.root) == same
