"""Approximate neighbours against exact ones (the extra `ann`)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensegraph.algorithms import approximate
from sensegraph.algorithms.approximate import Navigator, build_navigation, is_installed
from sensegraph.algorithms.ranking import Stack, find_nearest_rows, unpack_rows

needs_ann = pytest.mark.skipif(not is_installed(), reason="needs the extra ann")


def units(n: int, dim: int = 16, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((n, dim)).astype(np.float32)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def whole(rows: np.ndarray) -> Navigator:
    return Navigator(rows, [(0, build_navigation(rows))])


def in_segments(rows: np.ndarray, *begins: int) -> Navigator:
    return Navigator(rows, [(a, build_navigation(rows[a:b])) for a, b in pairwise([*begins, len(rows)])])


@needs_ann
@pytest.mark.parametrize("begins", [(0,), (0, 700, 900)])
def test_nearly_all_true_neighbours_are_found_with_their_exact_scores(begins: tuple[int, ...]) -> None:
    rows, asked = units(1500), units(40, seed=1)
    navigator, found, wanted = in_segments(rows, *begins), 0, 0
    for query in asked:
        places, values = navigator.nearest(query, 10)
        positions, scores = find_nearest_rows(rows, query, 10)
        exact = dict(zip(*(a.tolist() for a in find_nearest_rows(rows, query, len(rows))), strict=True))
        assert values.tolist() == [exact[p] for p in places.tolist()]
        assert values.tolist() == sorted(values.tolist(), reverse=True)
        found += len(set(places.tolist()) & set(positions.tolist()))
        wanted += len(scores)
    assert found / wanted > 0.97


@needs_ann
def test_reading_all_vectors_is_preferred_where_it_takes_less() -> None:
    rows = units(6000)
    one, three = whole(rows), in_segments(rows, 0, 2000, 4000)
    assert one.helps(10)
    assert not one.helps(3000)
    assert not three.helps(10)
    assert not whole(units(20)).helps(1)


@needs_ann
@settings(max_examples=20, deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 10**6))
def test_where_every_row_is_a_candidate_the_search_is_exact(n: int, top: int, seed: int) -> None:
    rows, query = units(n, 8, seed), units(1, 8, seed + 1)[0]
    rows[:: max(2, n // 3)] = 0  # rows of zeros are found by nobody
    places, values = in_segments(rows, *sorted({0, n // 2})).nearest(query, max(top, n))
    positions, scores = find_nearest_rows(rows, query, max(top, n))
    assert places.tolist() == positions.tolist()
    assert values.tolist() == scores.tolist()


@needs_ann
def test_equal_vectors_give_equal_graphs_that_work_memory_mapped(tmp_path: Path) -> None:
    rows = units(300)
    graph = build_navigation(rows)
    assert graph.tobytes() == build_navigation(rows).tobytes()
    np.save(tmp_path / "graph.npy", graph)
    np.save(tmp_path / "rows.npy", rows)
    there = np.load(tmp_path / "graph.npy", mmap_mode="r"), np.load(tmp_path / "rows.npy", mmap_mode="r")
    mapped, kept = Navigator(there[1], [(0, there[0])]).nearest(rows[3], 5), whole(rows).nearest(rows[3], 5)
    assert mapped[0].tolist() == kept[0].tolist()
    assert mapped[0][0] == 3


@needs_ann
def test_nothing_is_found_by_nothing_or_in_nothing() -> None:
    rows = units(20)
    navigator = whole(rows)
    assert not len(navigator.nearest(np.zeros(16), 5)[0])
    assert not len(navigator.nearest(rows[0], 0)[0])
    empty = np.zeros((3, 16), np.float32)
    assert not len(whole(empty).nearest(rows[0], 5)[0])


@needs_ann
def test_a_graph_of_other_vectors_is_refused() -> None:
    with pytest.raises(ValueError, match="this graph is not of"):
        Navigator(units(20, 8), [(0, build_navigation(units(20, 16)))]).nearest(np.ones(8), 3)
    with pytest.raises(ValueError, match="this graph is not of"):
        Navigator(units(20), [(0, build_navigation(units(21)))]).nearest(np.ones(16), 3)
    with pytest.raises(ValueError, match="fits no vectors"):
        whole(units(20)).nearest(np.ones(8), 3)
    with pytest.raises(ValueError, match="finite"):
        build_navigation(np.full((2, 2), np.nan))


@needs_ann
def test_a_graph_is_built_of_rows_in_portions_as_of_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, read = units(90), list[int]()
    rows[[0, 44]] = 0
    whole = build_navigation(rows).tobytes()

    def reading(packed: Any) -> Any:
        read.append(len(packed))
        return unpack_rows(packed)

    monkeypatch.setattr("sensegraph.algorithms.ranking.unpack_rows", reading)
    monkeypatch.setattr("sensegraph.algorithms.approximate._AT_ONCE", 16)
    assert build_navigation(Stack([rows[:50], rows[50:]])).tobytes() == whole
    assert (max(read), sum(read)) == (16, 90)
    with pytest.raises(ValueError, match="must be a matrix"):
        build_navigation(np.ones(4))
    with pytest.raises(ValueError, match="row 20 of the vectors is not finite"):
        build_navigation(np.where(np.arange(40)[:, None] == 20, np.inf, 1.0))


@needs_ann
def test_many_threads_find_what_one_finds() -> None:
    rows, asked = units(800), units(60, seed=2)
    navigator = whole(rows)
    alone = [navigator.nearest(q, 7)[0].tolist() for q in asked]
    assert [len(found) for found in alone] == [7] * 60
    with ThreadPoolExecutor(4) as pool:
        assert [f[0].tolist() for f in pool.map(lambda q: navigator.nearest(q, 7), asked)] == alone


@pytest.mark.parametrize(("spec", "wanted"), [(None, False), ("a specification", True)])
def test_the_library_is_looked_for_by_its_name(monkeypatch: pytest.MonkeyPatch, spec: object, wanted: bool) -> None:
    monkeypatch.setattr(approximate, "find_spec", {"usearch": spec}.get)
    assert is_installed() is wanted


def test_the_lock_of_a_navigator_is_its_own() -> None:
    rows = units(2)
    assert "lock" not in repr(Navigator(rows, ()))
    with pytest.raises(TypeError):
        Navigator(rows, (), None)  # type: ignore[call-arg]


def test_of_each_graph_twice_as_many_are_compared_as_are_wanted_and_64_at_least(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def note(self: Navigator, query: np.ndarray, wanted: int) -> np.ndarray:
        asked.append(wanted)
        return np.array([2, 1])

    monkeypatch.setattr(Navigator, "_candidates", note)
    navigator = Navigator(np.eye(4, dtype=np.float32), ())
    for top in (1, 31, 32, 33, 100):
        places, scores = navigator.nearest(np.array([0.1, 0.2, 0.3, 0.9], np.float32), top)
        assert (places.tolist(), len(scores)) == ([2, 1][:top], min(top, 2))
    assert asked == [64, 64, 64, 66, 200]
    for query, top in ((np.ones(4, np.float32), 0), (np.zeros(4, np.float32), 3)):
        places, scores = navigator.nearest(query, top)
        assert (places.tolist(), scores.tolist()) == ([], [])
