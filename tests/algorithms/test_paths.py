"""Shortest ways: against a search node by node, in either direction, and over several stops (hirag §4, step 5)."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.algorithms.graphs import build_adjacency, canonical_edges
from sensegraph.algorithms.paths import _Side, find_paths_through, shortest_path

PAIRS = st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=40)


def rows(pairs: list[tuple[int, int]], nodes: int = 20) -> tuple[np.ndarray, np.ndarray]:
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    found = build_adjacency(canonical_edges(ends[:, 0], ends[:, 1], np.ones(len(ends)), nodes))
    return found.indptr, found.indices


def distance(start: np.ndarray, neighbours: np.ndarray, source: int, target: int) -> int:
    """The number of edges between two nodes; −1 where there is no way."""
    far, waiting = {source: 0}, deque([source])
    while waiting:
        node = waiting.popleft()
        for other in neighbours[start[node] : start[node + 1]].tolist():
            if other not in far:
                far[other] = far[node] + 1
                waiting.append(other)
    return far.get(target, -1)


@given(PAIRS, st.integers(0, 19), st.integers(0, 19))
def test_a_way_is_as_short_as_can_be_and_goes_over_edges(
    pairs: list[tuple[int, int]], source: int, target: int
) -> None:
    start, neighbours = rows(pairs)
    way = shortest_path(start, neighbours, source, target)
    assert len(way) == distance(start, neighbours, source, target) + 1
    if way:
        assert (way[0], way[-1]) == (source, target)
        joined = {frozenset(pair) for pair in pairs}
        assert all(frozenset(edge) in joined for edge in pairwise(way))


@given(PAIRS, st.randoms(use_true_random=False), st.integers(0, 19), st.integers(0, 19))
def test_the_order_of_edges_does_not_choose_the_way(pairs, random, source, target) -> None:  # type: ignore[no-untyped-def]
    other = [random.choice([(a, b), (b, a)]) for a, b in pairs]
    random.shuffle(other)
    assert shortest_path(*rows(pairs), source, target) == shortest_path(*rows(other), source, target)


def test_a_node_is_its_own_way_and_what_is_apart_has_none() -> None:
    start, neighbours = rows([(0, 1), (2, 3)])
    assert shortest_path(start, neighbours, 7, 7) == [7]
    assert shortest_path(start, neighbours, 0, 3) == []
    assert shortest_path(start, neighbours, 0, 9) == []


def test_of_equally_short_ways_it_is_the_one_over_the_smallest_nodes() -> None:
    start, neighbours = rows([(0, 5), (5, 9), (0, 3), (3, 9), (0, 4), (4, 9)])
    assert shortest_path(start, neighbours, 0, 9) == [0, 3, 9]


def test_stops_are_visited_in_order_and_where_no_way_leads_the_next_begins() -> None:
    """The way goes on from the stop that was not reached, as in the authors' code."""
    start, neighbours = rows([(0, 1), (1, 2), (3, 4), (2, 6)])
    assert find_paths_through(start, neighbours, [0, 2, 3, 4, 6]) == [[0, 1, 2], [3, 4]]
    assert find_paths_through(start, neighbours, [0, 3, 1]) == []
    assert find_paths_through(start, neighbours, [6, 0]) == [[6, 2, 1, 0]]
    assert find_paths_through(start, neighbours, [5]) == find_paths_through(start, neighbours, []) == []


@given(PAIRS, st.lists(st.integers(0, 19), max_size=8))
def test_ways_lead_from_each_stop_to_the_next(pairs: list[tuple[int, int]], stops: list[int]) -> None:
    start, neighbours = rows(pairs)
    wanted = [pair for pair in pairwise(stops) if distance(start, neighbours, *pair) >= 0]
    assert [(way[0], way[-1]) for way in find_paths_through(start, neighbours, stops)] == wanted


def test_the_side_is_as_wide_as_its_outermost_nodes_have_edges() -> None:
    """0 is joined to 1, 2 and 3, and 3 to 4 and 5."""
    side = _Side(*rows([(0, 1), (0, 2), (0, 3), (3, 4), (3, 5)], 6), 0)
    assert (side.front.tolist(), side.width) == ([0], 3)
    assert side.grow()
    assert (side.front.tolist(), side.width) == ([1, 2, 3], 5)
    assert side.grow()
    assert (side.front.tolist(), side.width) == ([4, 5], 2)
    assert not side.grow()
    assert side.far.tolist() == [0, 1, 1, 1, 2, 2]
