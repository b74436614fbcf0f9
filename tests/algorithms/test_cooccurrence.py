"""Graphs of what occurs together, against a count by hand (lazygraphrag §2)."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any
from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sensegraph.algorithms import cooccurrence
from sensegraph.algorithms.cooccurrence import Pruned, Pruning, keep_concepts, prune_concepts

CONCEPTS = 12
groups = st.lists(st.sets(st.integers(0, CONCEPTS - 1), max_size=6).map(sorted), max_size=15)


def flat(of: list[list[int]]) -> tuple[NDArray[Any], NDArray[Any]]:
    start = np.concatenate(([0], np.cumsum([len(g) for g in of]))).astype(np.int64)
    return start, np.array([c for g in of for c in g], np.int64)


def made(of: list[list[int]], rule: Pruning, concepts: int = CONCEPTS) -> Pruned:
    return prune_concepts(*flat(of), concepts, rule)


def told(found: Pruned) -> dict[tuple[int, int], float]:
    edges = found.edges
    return {(a, b): w for a, b, w in zip(edges.source.tolist(), edges.target.tolist(), edges.weight, strict=True)}


def by_hand(of: list[list[int]], rule: Pruning) -> tuple[dict[tuple[int, int], int], int, int, int]:
    """The edges in full pruning, and how many hubs, light edges and sparse concepts were dropped."""
    weight = Counter(pair for g in of for pair in combinations(g, 2))
    degree = np.bincount([c for pair in weight for c in pair], minlength=CONCEPTS)
    hubs = {c for c in range(CONCEPTS) if degree[c] > degree.mean() + rule.deviations * degree.std()}
    apart = {pair: w for pair, w in weight.items() if not hubs & set(pair)}
    heavy = {pair: w for pair, w in apart.items() if w >= rule.min_weight}
    left = Counter(c for pair in heavy for c in pair)
    kept = {pair: w for pair, w in heavy.items() if all(left[c] >= rule.min_degree for c in pair)}
    return kept, len(hubs), len(apart) - len(heavy), sum(n < rule.min_degree for n in left.values())


@given(groups, st.floats(0.5, 3), st.integers(2, 3), st.integers(1, 3))
def test_full_pruning_leaves_what_a_count_by_hand_does(
    of: list[list[int]], sigma: float, weight: int, least: int
) -> None:
    rule = Pruning(sigma, weight, least, cover=0)
    found = made(of, rule)
    kept, hubs, light, sparse = by_hand(of, rule)
    if kept:
        assert found.extent == "full"
        assert told(found) == kept
        assert (found.hubs, found.light, found.sparse) == (hubs, light, sparse)
    else:
        assert found.extent in ("weak", "none")


@given(groups)
def test_where_nothing_would_be_left_nothing_is_dropped(of: list[list[int]]) -> None:
    found = made(of, Pruning(min_weight=99))
    if found.extent == "none":
        assert told(found) == Counter(pair for g in of for pair in combinations(g, 2))
        assert found.kept.all()
        assert (found.hubs, found.light, found.sparse) == (0, 0, 0)
    else:
        assert found.extent == "weak"
        assert len(found.edges.source)


@given(groups, st.integers(1, 4))
def test_blocks_change_nothing(of: list[list[int]], block: int) -> None:
    whole = made(of, Pruning(cover=0))
    with mock.patch.object(cooccurrence, "_BLOCK", block):
        assert told(made(of, Pruning(cover=0))) == told(whole)


def test_too_few_covered_groups_weaken_the_pruning() -> None:
    tight = [[0, 1, 2], [0, 1, 2], *([c, c + 1] for c in range(3, 10))]
    assert made(tight, Pruning(cover=0)).extent == "full"
    found = made(tight, Pruning(cover=0.5))
    assert found.extent == "weak"
    assert found.kept[4:10].all()


def test_a_hub_is_dropped_and_counted() -> None:
    of = [[0, 2 * i + 1, 2 * i + 2] for i in range(20)] * 2
    found = made(of, Pruning(min_degree=1), concepts=41)
    assert found.hubs == 1
    assert not found.kept[0]
    assert len(found.edges.source) == 20


@given(groups, st.lists(st.booleans(), min_size=CONCEPTS, max_size=CONCEPTS))
def test_groups_keep_only_the_concepts_that_stay(of: list[list[int]], flags: list[bool]) -> None:
    start, held = keep_concepts(*flat(of), np.array(flags))
    cut = [held[start[i] : start[i + 1]].tolist() for i in range(len(of))]
    assert cut == [[c for c in g if flags[c]] for g in of]


def test_no_concept_at_all_is_no_graph() -> None:
    found = made([[], []], Pruning(), concepts=0)
    assert (len(found.kept), len(found.edges.source), found.extent) == (0, 0, "none")
