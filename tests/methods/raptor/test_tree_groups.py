"""Groups of a layer of the tree: they end, they hold every node, they are told by position (raptor §3, §7, §9.1–3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sensegraph.errors import SettingsError
from sensegraph.methods.raptor.growing import _fit_groups, group_nodes
from sensegraph.methods.raptor.tree import TreeSettings

PLAIN = TreeSettings()
CODE = TreeSettings(children=0)  # parted for their length alone, as in the authors' code


def drawn(n: int, dim: int = 16, seed: int = 0) -> NDArray[Any]:
    rows = np.random.default_rng(seed).standard_normal((n, dim))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def blobs(n: int, count: int, seed: int = 0, spread: float = 0.05) -> NDArray[Any]:
    """Unit vectors around `count` axes, in turn."""
    rows = np.eye(16)[np.arange(n) % count] + spread * np.random.default_rng(seed).standard_normal((n, 16))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def check(found: list[tuple[int, ...]], sizes: list[int], how: TreeSettings) -> None:
    assert sorted({i for g in found for i in g}) == list(range(len(sizes)))
    assert all(list(g) == sorted(set(g)) for g in found)
    assert found == sorted(set(found))
    assert all(sum(sizes[i] for i in g) <= how.input_tokens or len(g) == 1 for g in found)
    assert not how.children or all(len(g) <= 2 * how.children for g in found)


@settings(max_examples=15 if settings.default.derandomize else 40, deadline=None)
@given(
    st.integers(1, 40),
    st.sampled_from([1, 2, 5, 16]),
    st.integers(0, 5),
    st.sampled_from([1, 100, 1800, 4000]),
    st.sampled_from([PLAIN, CODE, replace(CODE, depth=0), replace(PLAIN, membership="argmax")]),
)
def test_grouping_ends_with_every_node_in_a_group_that_fits(
    n: int, kinds: int, seed: int, most: int, how: TreeSettings
) -> None:
    sizes = np.random.default_rng(seed).integers(1, most + 1, n).tolist()
    check(group_nodes(blobs(n, kinds, seed), sizes, how), sizes, how)


@pytest.mark.parametrize("how", [PLAIN, CODE])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 11, 12])
def test_few_nodes_of_4000_tokens_end_each_alone(n: int, how: TreeSettings) -> None:
    """The authors' code recurses for ever here, or asks for no dimension at all (n = 2)."""
    for vectors in (drawn(n), np.ones((n, 16), np.float32) / 4, np.zeros((n, 16), np.float32)):
        assert group_nodes(vectors, [4000] * n, how) == [(i,) for i in range(n)]


def test_equal_vectors_are_divided_by_length_and_stay_themselves() -> None:
    found = group_nodes(np.ones((40, 16), np.float32) / 4, [200] * 40, CODE)
    assert found == [tuple(range(i, min(i + 17, 40))) for i in range(0, 40, 17)]


def test_equal_texts_in_two_places_are_members_where_they_are() -> None:
    """The authors' code maps members back by their vectors, so that equal ones change places."""
    vectors = blobs(40, 2)
    vectors[[1, 3, 5]] = vectors[1]
    found = group_nodes(vectors, [50] * 40, replace(PLAIN, membership="argmax"))
    assert sorted(i for g in found for i in g) == list(range(40))
    assert all(len({i % 2 for i in g}) == 1 for g in found)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_up_to_three_nodes_are_one_group(n: int) -> None:
    assert group_nodes(drawn(n), [10] * n, PLAIN) == ([tuple(range(n))] if n else [])


def test_nodes_far_apart_are_in_groups_of_their_own_kind() -> None:
    found = group_nodes(blobs(60, 4), [50] * 60, PLAIN)
    assert len(found) > 3
    assert all(len({i % 4 for i in g}) == 1 for g in found)


def arc(n: int) -> NDArray[Any]:
    """Unit vectors from one axis to another, none far from the next: no cluster ends where another begins."""
    turn = np.linspace(0, np.pi / 2, n)[:, None]
    rows = np.cos(turn) * np.eye(16)[0] + np.sin(turn) * np.eye(16)[1]
    return (rows + 0.02 * np.random.default_rng(0).standard_normal((n, 16))).astype(np.float32)


def test_a_node_is_kept_where_its_share_is_above_the_threshold_and_never_below() -> None:
    """The authors' code has a selection by threshold that keeps what is farther; here a larger one keeps fewer."""
    how, sizes = replace(PLAIN, dims=2), [50] * 80
    kept = [sum(map(len, group_nodes(arc(80), sizes, replace(how, threshold=t)))) for t in (0.01, 0.1, 0.9)]
    assert kept[0] > kept[1] > kept[2] == 80
    assert sum(map(len, group_nodes(arc(80), sizes, replace(how, threshold=0.01, membership="argmax")))) == 80


def test_groups_have_about_as_many_nodes_as_in_the_paper() -> None:
    found = group_nodes(drawn(300), [80] * 300, PLAIN)
    assert 4 <= np.mean([len(g) for g in found]) <= 9


def test_two_runs_give_the_same_groups() -> None:
    vectors, sizes = drawn(120), [80] * 120
    assert group_nodes(vectors, sizes, PLAIN) == group_nodes(vectors.copy(), sizes, PLAIN)


@pytest.mark.parametrize(
    "bad",
    [{"leaf_tokens": 0}, {"summary_tokens": 0}, {"input_tokens": 0}, {"layers": 0}, {"stop": 0}, {"dims": 0},
     {"depth": -1}, {"children": -1}, {"threshold": 0.0}, {"threshold": 1.0}],
)  # fmt: skip
def test_settings_that_cannot_work_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=f"index.tree.{next(iter(bad))}"):
        TreeSettings(**bad)


@pytest.mark.parametrize(("count", "parted"), [(6, False), (7, True), (9, True)])
def test_more_than_twice_as_many_nodes_as_children_are_parted(count: int, parted: bool) -> None:
    how = replace(PLAIN, children=3, input_tokens=10_000)
    groups = _fit_groups(tuple(range(count)), drawn(count, 4).astype(float), [1] * count, how, 0)
    assert (len(list(groups)) > 1) is parted
