"""Groups of vectors by k-means, and questions of one text that have one answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sensegraph.lab.questions.described_things import PlainFacts, Worded
from sensegraph.lab.questions.grounded_questions import Grounds, cluster_vectors


def unit_rows(count: int, seed: int, dimensions: int = 3) -> Any:
    rows = np.random.default_rng(seed).normal(size=(count, dimensions))
    return (rows / np.linalg.norm(rows, axis=1)[:, None]).astype(np.float32)


@pytest.mark.parametrize("seed", range(6))
def test_each_vector_is_in_the_group_whose_mean_it_is_nearest_to(seed: int) -> None:
    rows = unit_rows(60, seed)
    found = cluster_vectors(rows, 4, seed)
    assert set(found) == {0, 1, 2, 3}
    means = np.stack([rows[found == i].sum(axis=0) for i in range(4)])
    means /= np.linalg.norm(means, axis=1)[:, None]
    assert ((rows @ means.T).argmax(axis=1) == found).all()


def test_equal_vectors_are_in_one_group_and_groups_are_as_many_as_vectors_that_differ() -> None:
    rows = np.repeat(np.eye(3, dtype=np.float32), 5, axis=0)
    for groups, count in ((2, 2), (3, 3), (9, 3)):
        found = cluster_vectors(rows, groups)
        assert len(set(found)) == count
        assert all(len(set(found[i : i + 5])) == 1 for i in (0, 5, 10))
    assert cluster_vectors(rows[:0], 3).tolist() == []
    opposite = np.array([[1, 0], [-1, 0]], np.float32)  # whose mean has no direction
    assert cluster_vectors(opposite, 1).tolist() == [0, 0]


def test_far_groups_are_found_whatever_their_sizes() -> None:
    near = unit_rows(40, 1, 2) * np.float32(0.02)
    centres = np.array([[1, 0], [0, 1], [-1, 0]], np.float32)
    rows = np.concatenate([centres[[0] * 30], centres[[1] * 6], centres[[2] * 4]]) + near
    rows = (rows / np.linalg.norm(rows, axis=1)[:, None]).astype(np.float32)
    for seed in range(4):
        found = cluster_vectors(rows, 3, seed).tolist()
        assert [len(set(part)) for part in (found[:30], found[30:36], found[36:])] == [1, 1, 1]
        assert len(set(found)) == 3


def test_a_question_that_two_texts_answer_differently_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    worded = [
        Worded("What is Foo?", ("a tool",), ("a-0",)),
        Worded("What is Bar?", ("a ship",), ("b-0",)),
        Worded("What is Foo?", ("a ship",), ("b-0",)),
    ]
    monkeypatch.setattr(PlainFacts, "ask_local", lambda self: worded)
    monkeypatch.setattr(PlainFacts, "ask_bridges", lambda self: [Worded("Why?", ("so",), ("a-0", "b-0"))])
    grounds: Any = SimpleNamespace(
        english=True,
        _plain_facts=None,
        _group={"a-0": 0, "b-0": 1},
        how=SimpleNamespace(seed=0),
        index=SimpleNamespace(documents_of=lambda names: {name: name[0] for name in names}),
    )
    (one,) = Grounds.plain(grounds, "local")
    assert (one.text, one.documents, one.answers, one.hops) == ("What is Bar?", ("b",), ("a ship",), 1)
    (two,) = Grounds.plain(grounds, "bridge")
    assert (two.text, two.documents, two.hops) == ("Why?", ("a", "b"), 2)
    assert Grounds.plain(grounds, "global") == []
    grounds.english = False
    assert Grounds.plain(grounds, "local") == []
