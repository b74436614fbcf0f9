"""Walks near their start: a stochastic step, the same for any order of edges, and hardly changed where cut short."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.algorithms import walks
from sensegraph.algorithms.walks import (
    Paths,
    build_paths,
    gather_entries,
    neighbourhood,
    restrict_paths,
    run_offsets,
    walk_with_restart,
)


def random_paths(seed: int, nodes: int = 60, edges: int = 300) -> Paths:
    random = np.random.default_rng(seed)
    ends = random.integers(0, nodes, (2, edges))
    return build_paths(ends[0], ends[1], random.uniform(0.1, 2, edges), nodes)


def dense(way: Paths) -> np.ndarray:
    found = np.zeros((way.nodes, way.nodes))
    source = np.repeat(np.arange(way.nodes), np.diff(way.start))
    np.add.at(found, (way.to, source), way.share)
    return found


@given(st.integers(0, 10**6))
def test_a_walk_is_that_of_the_dense_matrix(seed: int) -> None:
    way = random_paths(seed)
    start = np.zeros(60)
    start[[3, 17]] = 0.25, 0.75
    expected = start
    for _ in range(5):
        expected = 0.7 * dense(way) @ expected + 0.3 * start
    here, mass = walk_with_restart(way, np.array([3, 17]), np.array([0.25, 0.75]), 0.7, 5)
    assert here.tolist() == list(range(60))
    assert np.allclose(mass, expected)


@given(st.integers(0, 10**6))
def test_paths_do_not_depend_on_the_order_of_edges_and_shares_sum_to_one(seed: int) -> None:
    random = np.random.default_rng(seed)
    source, target = np.divmod(random.choice(400, 90, replace=False), 20)
    weight, order = random.uniform(0.1, 2, 90), random.permutation(90)
    one, other = build_paths(source, target, weight, 20), build_paths(source[order], target[order], weight[order], 20)
    assert one.to.tolist() == other.to.tolist()
    assert np.allclose(one.share, other.share)
    sums = np.add.reduceat(np.append(one.share, 0), one.start[:-1])[np.diff(one.start) > 0]
    assert np.allclose(sums, 1, atol=1e-6)


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan")])
def test_an_edge_needs_a_weight_above_nothing(weight: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        build_paths([0], [1], [weight], 2)


@given(st.integers(0, 10**6))
def test_a_walk_over_the_part_around_its_start_loses_only_the_mass_that_left(seed: int) -> None:
    way, nodes, mass = random_paths(seed, 400, 1200), np.array([1, 5]), np.array([0.5, 0.5])
    whole = walk_with_restart(way, nodes, mass, 0.5, 8)[1]
    part = neighbourhood(way, nodes, mass, 0.5, limit=120)
    here, cut = walk_with_restart(restrict_paths(way, part), np.searchsorted(part, nodes), mass, 0.5, 8)
    at_part = np.zeros(400)
    at_part[part[here]] = cut
    assert len(part) <= 120 + len(nodes) + 10  # nodes of equal mass at the limit come together
    assert (at_part <= whole + 1e-9).all()
    left_out = np.setdiff1d(np.arange(400), part)
    assert (whole - at_part).sum() < 0.25
    assert whole[left_out].max(initial=0) < whole[nodes].min()


def test_a_large_graph_is_walked_around_the_start_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    way, nodes, mass = random_paths(0, 400, 1200), np.array([1, 5]), np.array([0.5, 0.5])
    whole = walk_with_restart(way, nodes, mass, 0.5, 8)[1]
    monkeypatch.setattr(walks, "_SMALL", 0)
    here, near = walk_with_restart(way, nodes, mass, 0.5, 8)
    assert np.abs(whole[here] - near).sum() < 0.05
    chain = build_paths(range(99), range(1, 100), np.ones(99), 100)
    assert walk_with_restart(chain, np.array([0]), np.array([1.0]), 0.5, 8)[0].tolist() == [0, 1, 2, 3]


def test_rows_are_gathered_in_the_order_asked_for() -> None:
    start = run_offsets([2, 0, 3])
    places, sizes = gather_entries(start, [2, 1, 0])
    assert places.tolist() == [2, 3, 4, 0, 1]
    assert sizes.tolist() == [3, 0, 2]
