"""Approximate neighbours against exact ones. Without the extra `ann` only the fallback is tested."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensegraph.algorithms import approximate as module
from sensegraph.algorithms.approximate import Navigator, installed, navigation, nearest_of
from sensegraph.algorithms.ranking import nearest

needs_ann = pytest.mark.skipif(not installed(), reason="needs the extra ann")


def units(n: int, dim: int = 16, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((n, dim)).astype(np.float32)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def test_few_vectors_are_compared_exactly_and_without_a_note() -> None:
    rows = units(50)
    found = nearest_of(rows, rows[7], 5)
    positions, scores = nearest(rows, rows[7], 5)
    assert (found.positions.tolist(), found.scores.tolist(), found.note) == (positions.tolist(), scores.tolist(), "")


def test_many_vectors_without_a_graph_are_compared_exactly_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = units(50)
    monkeypatch.setattr(module, "installed", lambda: True)
    assert "no graph" in nearest_of(rows, rows[0], 5, exact_below=10).note
    monkeypatch.setattr(module, "installed", lambda: False)
    found = nearest_of(rows, rows[0], 5, exact_below=10, navigator=Navigator(rows, np.zeros(4, np.uint8)))
    assert "extra `ann` is not installed" in found.note
    assert found.positions.tolist() == nearest(rows, rows[0], 5)[0].tolist()


@needs_ann
def test_nearly_all_true_neighbours_are_found_with_their_exact_scores() -> None:
    rows, asked = units(1500), units(40, seed=1)
    navigator, found, wanted = Navigator(rows, navigation(rows)), 0, 0
    for query in asked:
        near = nearest_of(rows, query, 10, exact_below=1, navigator=navigator)
        positions, scores = nearest(rows, query, 10)
        exact = dict(zip(*(a.tolist() for a in nearest(rows, query, len(rows))), strict=True))
        assert near.note == ""
        assert near.scores.tolist() == [exact[p] for p in near.positions.tolist()]
        assert near.scores.tolist() == sorted(near.scores.tolist(), reverse=True)
        found += len(set(near.positions.tolist()) & set(positions.tolist()))
        wanted += len(scores)
    assert found / wanted > 0.95


@needs_ann
@settings(max_examples=20, deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 10**6))
def test_where_every_row_is_a_candidate_the_search_is_exact(n: int, top: int, seed: int) -> None:
    rows, query = units(n, 8, seed), units(1, 8, seed + 1)[0]
    rows[:: max(2, n // 3)] = 0  # rows of zeros are found by nobody
    found = Navigator(rows, navigation(rows)).nearest(query, max(top, n))
    positions, scores = nearest(rows, query, max(top, n))
    assert found.positions.tolist() == positions.tolist()
    assert found.scores.tolist() == scores.tolist()


@needs_ann
def test_equal_vectors_give_equal_graphs_that_work_memory_mapped(tmp_path: Path) -> None:
    rows = units(300)
    graph = navigation(rows)
    assert graph.tobytes() == navigation(rows).tobytes()
    np.save(tmp_path / "graph.npy", graph)
    np.save(tmp_path / "rows.npy", rows)
    there = np.load(tmp_path / "graph.npy", mmap_mode="r"), np.load(tmp_path / "rows.npy", mmap_mode="r")
    mapped, whole = Navigator(there[1], there[0]).nearest(rows[3], 5), Navigator(rows, graph).nearest(rows[3], 5)
    assert mapped.positions.tolist() == whole.positions.tolist()
    assert mapped.positions[0] == 3


@needs_ann
def test_nothing_is_found_by_nothing_or_in_nothing() -> None:
    rows = units(20)
    navigator = Navigator(rows, navigation(rows))
    assert not len(navigator.nearest(np.zeros(16), 5).positions)
    assert not len(navigator.nearest(rows[0], 0).positions)
    empty = np.zeros((3, 16), np.float32)
    assert not len(Navigator(empty, navigation(empty)).nearest(rows[0], 5).positions)


@needs_ann
def test_a_graph_of_other_vectors_is_refused() -> None:
    with pytest.raises(ValueError, match="not of vectors"):
        Navigator(units(20, 8), navigation(units(20, 16))).nearest(np.ones(8), 3)
    with pytest.raises(ValueError, match="not of vectors"):
        Navigator(units(20), navigation(units(21))).nearest(np.ones(16), 3)
    with pytest.raises(ValueError, match="fits no vectors"):
        Navigator(units(20), navigation(units(20))).nearest(np.ones(8), 3)
    with pytest.raises(ValueError, match="finite"):
        navigation(np.full((2, 2), np.nan))


@needs_ann
def test_many_threads_find_what_one_finds() -> None:
    rows, asked = units(800), units(60, seed=2)
    navigator = Navigator(rows, navigation(rows))
    alone = [navigator.nearest(q, 7).positions.tolist() for q in asked]
    with ThreadPoolExecutor(4) as pool:
        assert [f.positions.tolist() for f in pool.map(lambda q: navigator.nearest(q, 7), asked)] == alone
