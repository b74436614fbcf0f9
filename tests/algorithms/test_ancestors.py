"""Chains and lowest common ancestors (L14, L15)."""

from __future__ import annotations

from itertools import combinations
from itertools import pairwise as following
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.algorithms.paths import find_meeting_level, list_ancestor_chains, list_paths_to_ancestor


def tree(seed: int, leaves: int) -> tuple[np.ndarray, int]:
    """Parents of a random tree whose leaves, its first nodes, are equally deep; and how many levels it has."""
    random = Random(seed)
    parent, level, levels = list[int](), list(range(leaves)), 1
    numbered = leaves
    while len(level) > 1 or levels == 1:
        above = max(1, random.randint(1, max(1, len(level) - 1)))
        homes = [random.randrange(above) for _ in level]
        used = sorted(set(homes))
        parent += [numbered + used.index(home) for home in homes]
        level, numbered, levels = list(range(numbered, numbered + len(used))), numbered + len(used), levels + 1
    return np.array([*parent, -1], np.int32), levels


def pairwise(parent: np.ndarray, seeds: list[int]) -> set[int]:
    """The union over all pairs of both chains up to their lowest shared node, by its definition (L15)."""

    def chain(node: int) -> list[int]:
        found = [node]
        while parent[found[-1]] >= 0:
            found.append(int(parent[found[-1]]))
        return found

    union: set[int] = set()
    for a, b in combinations(seeds, 2):
        one, other = chain(a), chain(b)
        lowest = next(node for node in one if node in other)
        union |= {*one[: one.index(lowest) + 1], *other[: other.index(lowest) + 1]}
    return union


@given(st.integers(0, 10**6), st.integers(2, 40), st.data())
def test_all_chains_up_to_the_ancestor_of_all_are_the_union_over_pairs(
    seed: int, leaves: int, data: st.DataObject
) -> None:
    parent, _ = tree(seed, leaves)
    seeds = data.draw(st.lists(st.integers(0, leaves - 1), min_size=2, max_size=8, unique=True))
    found = list_paths_to_ancestor(list_ancestor_chains(parent, seeds))
    assert {node for level in found for node in level} == pairwise(parent, seeds)


@given(st.integers(0, 10**6), st.integers(1, 40), st.data())
def test_every_chain_has_one_node_a_level_from_leaf_to_root(seed: int, leaves: int, data: st.DataObject) -> None:
    parent, levels = tree(seed, leaves)
    seeds = data.draw(st.lists(st.integers(0, leaves - 1), min_size=1, max_size=8))
    found = list_ancestor_chains(parent, seeds)
    assert found.shape == (len(seeds), levels)
    assert (found[:, 0] == seeds).all()
    assert (found[:, -1] == len(parent) - 1).all()
    assert (parent[found[:, :-1]] == found[:, 1:]).all()


@given(st.integers(0, 10**6), st.integers(2, 40), st.data())
def test_what_lies_on_a_way_is_closed_below_the_meeting(seed: int, leaves: int, data: st.DataObject) -> None:
    """A node on a way has its parent on it too, up to the common ancestor, which is one node."""
    parent, _ = tree(seed, leaves)
    seeds = data.draw(st.lists(st.integers(0, leaves - 1), min_size=2, max_size=8, unique=True))
    levels = list_paths_to_ancestor(list_ancestor_chains(parent, seeds))
    assert len(levels[-1]) == 1
    assert all({int(parent[node]) for node in below} == set(above) for below, above in following(levels))
    assert all(len(level) > 1 for level in levels[:-1])


# two pairs of leaves 0 1 | 2 3 under 4 and 5, under the root 6
SMALL = np.array([4, 4, 5, 5, 6, 6, -1], np.int32)


def test_seeds_of_one_cluster_meet_in_their_parent() -> None:
    assert list_paths_to_ancestor(list_ancestor_chains(SMALL, [0, 1])) == [[0, 1], [4]]


def test_seeds_of_two_clusters_meet_above_both() -> None:
    assert list_paths_to_ancestor(list_ancestor_chains(SMALL, [3, 0, 2])) == [[3, 0, 2], [5, 4], [6]]
    assert find_meeting_level(list_ancestor_chains(SMALL, [3, 0, 2])) == 2


def test_one_seed_goes_up_to_its_parent() -> None:
    assert list_paths_to_ancestor(list_ancestor_chains(SMALL, [2])) == [[2], [5]]
    assert list_paths_to_ancestor(list_ancestor_chains(SMALL, [2, 2])) == [[2], [5]]


def test_a_lone_leaf_without_a_parent_is_all_there_is() -> None:
    assert list_paths_to_ancestor(list_ancestor_chains(np.array([-1], np.int32), [0])) == [[0]]


def test_no_seeds_lead_nowhere() -> None:
    assert list_paths_to_ancestor(list_ancestor_chains(SMALL, [])) == []


def test_defect_1_a_node_that_is_its_own_parent_is_refused() -> None:
    with pytest.raises(ValueError, match="back to itself"):
        list_ancestor_chains(np.array([0], np.int32), [0])


def test_defect_2_chains_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in length"):
        list_ancestor_chains(SMALL, [0, 4])


@pytest.mark.parametrize(
    ("chains", "level"),
    [
        ([[0, 5, 7], [1, 5, 7]], 1), ([[0, 5, 7], [1, 6, 7]], 2), ([[0, 5], [1, 6]], 2), ([[0, 5], [0, 5]], 0),
        ([[0, 5, 7], [1, 5, 7], [2, 6, 7]], 2), ([[3, 4]], 0),
    ],
)  # fmt: skip
def test_chains_meet_on_the_lowest_level_where_all_have_one_node(chains: list[list[int]], level: int) -> None:
    assert find_meeting_level(np.array(chains, np.int32)) == level
