"""Clusters by meaning that an update leaves alone as far as it can."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import planted

from sensegraph.algorithms.meaning import cluster_rows, measure_scatter
from sensegraph.algorithms.reduction import reduce_dimensions
from sensegraph.index.hierarchy.similar_clusters import Grouping, group_vectors

SIZE = 5
NONE = np.zeros(0, np.int32)


def grouped(vectors: np.ndarray, start: np.ndarray = NONE, size: int = SIZE) -> Grouping:
    return group_vectors.fn([(vectors, start)], size=size, dims=8, seed=0)[0]


def parts(labels: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist())}


def test_without_earlier_labels_the_clusters_are_fresh_ones() -> None:
    made = planted(12, 5, noise=0.2)
    found = grouped(made.vectors)
    assert (found.labels == cluster_rows(reduce_dimensions(made.vectors, 8), SIZE).labels).all()
    assert found.note() == ""


def test_nothing_new_changes_nothing() -> None:
    made = planted(12, 5, noise=0.2)
    first = grouped(made.vectors).labels
    assert (grouped(made.vectors, first).labels == first).all()


def test_many_new_rows_on_new_things_leave_all_old_clusters_as_they_are() -> None:
    """One document tells of things that no other tells of: their clusters are new, all others stay."""
    made = planted(16, 5, noise=0.2)
    new = np.array(made.group) >= 12
    start = np.full(len(new), -1, np.int32)
    start[~new] = grouped(made.vectors[~new]).labels
    found = grouped(made.vectors, start)
    old = {frozenset(np.flatnonzero(start == label).tolist()) for label in set(start[~new].tolist())}
    assert old <= parts(found.labels)
    assert all(len({bool(new[i]) for i in part}) == 1 for part in parts(found.labels))


def test_new_rows_on_known_things_join_what_is_there() -> None:
    made = planted(12, 6, noise=0.05)
    new = np.array([i % 6 == 0 for i in range(len(made.group))])
    start = np.full(len(new), -1, np.int32)
    start[~new] = grouped(made.vectors[~new]).labels
    found = grouped(made.vectors, start)
    assert found.note() == ""
    assert all(len({made.group[i] for i in part}) == 1 for part in parts(found.labels))


def test_clusters_that_no_longer_fit_are_given_up_and_it_is_said() -> None:
    made = planted(12, 5, noise=0.05)
    start = (np.arange(len(made.group)) % 12).astype(np.int32)  # across all groups
    found = grouped(made.vectors, start)
    assert (found.labels == grouped(made.vectors).labels).all()
    assert "afresh" in found.note()
    assert "12 from before" in found.note()


def test_too_many_small_clusters_are_given_up() -> None:
    made = planted(12, 5, noise=0.05)
    start = np.arange(len(made.group), dtype=np.int32)
    assert "60 from before" in grouped(made.vectors, start).note()


@given(st.integers(0, 10**6), st.integers(0, 60))
@settings(max_examples=12 if settings.default.derandomize else 30, deadline=None)
def test_an_update_never_scatters_much_more_than_a_fresh_start(seed: int, known: int) -> None:
    made = planted(12, 5, seed=seed, noise=0.4)
    random = np.random.default_rng(seed)
    start = np.where(np.arange(60) < known, random.integers(0, 12, 60), -1).astype(np.int32)
    found = grouped(made.vectors, start if known else NONE)
    rows = reduce_dimensions(made.vectors, 8)
    best = measure_scatter(rows, cluster_rows(rows, SIZE).labels)
    assert measure_scatter(rows, found.labels) <= best + 0.1 * max(best, 0.1) + 1e-9
    assert max(map(len, parts(found.labels))) <= 2 * SIZE
