import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sensegraph.algorithms.walks import build_moves, build_paths, order_moves, order_paths, pagerank

Columns = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]
edges = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.floats(0.1, 9)), max_size=30)
resets = st.lists(st.floats(0, 5), min_size=8, max_size=8).filter(lambda r: sum(r) > 0.1)


def columns(some: list[tuple[int, int, float]]) -> Columns:
    """Edges as their sources, targets and weights."""
    source, target = (np.array([edge[i] for edge in some], np.int32) for i in range(2))
    return source, target, np.array([w for _, _, w in some], np.float64)


@given(edges, resets, st.floats(0, 0.95))
def test_a_long_walk_solves_the_equations_of_pagerank(
    edges: list[tuple[int, int, float]], reset: list[float], damping: float
) -> None:
    walk = build_moves([a for a, _, _ in edges], [b for _, b, _ in edges], [w for _, _, w in edges], 8)
    start = np.asarray(reset) / sum(reset)
    matrix = np.zeros((8, 8))
    np.add.at(matrix, (walk.target, walk.source), walk.share)
    matrix[:, matrix.sum(0) == 0] = start[:, None]
    solved = np.linalg.solve(np.eye(8) - damping * matrix, (1 - damping) * start)
    assert np.allclose(pagerank(walk, np.asarray(reset), damping, 600), solved, atol=1e-9)


@given(edges, st.integers(1, 12), st.integers(0, 30))
def test_many_edges_are_put_in_order_in_portions_as_all_at_once(
    edges: list[tuple[int, int, float]], most: int, cut: int
) -> None:
    whole = order_moves([columns(edges)], 8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sensegraph.algorithms.walks._AT_ONCE", most)
        found = order_moves([columns(edges[:cut]), columns(edges[cut:])], 8)
    assert [(a.tolist(), a.dtype) for a in found] == [(a.tolist(), a.dtype) for a in whole]
    assert [*zip(*(found[i].tolist() for i in (1, 0, 2)), strict=True)] == sorted((b, a, w) for a, b, w in edges)
    assert whole[3].tolist() == np.bincount([a for a, _, _ in edges], [w for _, _, w in edges], 8).tolist()


@given(edges, st.integers(1, 12), st.integers(0, 30))
def test_the_paths_of_many_edges_are_found_in_portions_as_all_at_once(
    edges: list[tuple[int, int, float]], most: int, cut: int
) -> None:
    whole = build_paths(*columns(edges), 8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sensegraph.algorithms.walks._AT_ONCE", most)
        found = order_paths([columns(edges[:cut]), columns(edges[cut:])], 8)
    assert [(a.tolist(), a.dtype) for a in (found.start, found.to, found.share)] == [
        (a.tolist(), a.dtype) for a in (whole.start, whole.to, whole.share)
    ]
    sources = np.repeat(np.arange(8), np.diff(found.start))
    assert [*zip(sources.tolist(), found.to.tolist(), strict=True)] == sorted((a, b) for a, b, _ in edges)
    left = np.bincount(sources, found.share, 8)
    assert np.allclose(left[left > 0], 1)


@given(edges, resets, st.integers(0, 12))
def test_a_walk_keeps_its_mass(edges: list[tuple[int, int, float]], reset: list[float], steps: int) -> None:
    walk = build_moves([a for a, _, _ in edges], [b for _, b, _ in edges], [w for _, _, w in edges], 8)
    there = pagerank(walk, np.asarray(reset), 0.7, steps)
    assert there.min() >= 0
    assert there.sum() == pytest.approx(1)


def test_the_first_step_goes_by_the_weights() -> None:
    walk = build_moves([0, 0], [1, 2], [3, 1], 3)
    assert pagerank(walk, np.array([1.0, 0, 0]), 1.0, 1).tolist() == [0, 0.75, 0.25]


def test_what_cannot_be_walked_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        build_moves([0], [1], [0.0], 2)
    with pytest.raises(ValueError, match="outside"):
        build_moves([0], [2], [1.0], 2)
    with pytest.raises(ValueError, match="start"):
        pagerank(build_moves([0], [1], [1.0], 2), np.zeros(2))
