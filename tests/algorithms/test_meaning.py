"""Clusters by meaning: partition, sizes, order, degenerate rows, and how little an update changes (L05, L06)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from points import agreement, around, groups

from sensegraph.algorithms import meaning
from sensegraph.algorithms.meaning import cluster_rows, measure_scatter, measure_sparsity
from sensegraph.algorithms.reduction import reduce_dimensions

rows_of_any_kind = st.builds(
    lambda n, k, m, copies, seed: np.repeat(around(n, k, m, spread=0.4, seed=seed)[0], copies, axis=0),
    st.integers(0, 60), st.integers(1, 6), st.integers(1, 4), st.integers(1, 5), st.integers(0, 10**6),
)  # fmt: skip


@settings(max_examples=60)
@given(rows_of_any_kind, st.integers(1, 12))
def test_every_row_is_in_one_cluster_and_none_is_too_large(x: np.ndarray, size: int) -> None:
    found = cluster_rows(x, size)
    sizes = np.bincount(found.labels, minlength=len(found))
    assert found.labels.shape == (len(x),)
    assert (sizes >= 1).all()
    assert sizes.max(initial=0) <= 2 * size
    firsts = [int(np.flatnonzero(found.labels == i)[0]) for i in range(len(found))]
    assert firsts == sorted(firsts)
    assert [rows.tolist() for rows in found.members()] == [
        np.flatnonzero(found.labels == i).tolist() for i in range(len(found))
    ]


@settings(max_examples=30)
@given(st.integers(1, 150), st.integers(2, 12), st.integers(0, 10**6))
def test_the_order_of_rows_does_not_matter(n: int, size: int, seed: int) -> None:
    x, _ = around(n, 5, 4, spread=0.5, seed=seed)
    order = np.random.default_rng(seed).permutation(n)
    shuffled = np.empty(n, np.int64)
    shuffled[order] = cluster_rows(x[order], size).labels
    assert groups(shuffled) == groups(cluster_rows(x, size).labels)


def test_two_runs_give_the_same_labels() -> None:
    x = reduce_dimensions(around(700, 30, 40, spread=0.5)[0].astype(np.float32))
    assert cluster_rows(x).labels.tobytes() == cluster_rows(x).labels.tobytes()


@pytest.mark.parametrize(("n", "wanted"), [(0, []), (1, [0]), (2, [0, 1])])
def test_hardly_any_rows(n: int, wanted: list[int]) -> None:
    assert cluster_rows(np.arange(float(n))[:, None]).labels.tolist() == wanted


def test_three_rows_are_two_clusters() -> None:
    assert cluster_rows(np.array([[0.0], [9.0], [0.1]])).labels.tolist() == [0, 1, 0]


@pytest.mark.parametrize(("n", "wanted"), [(40, [40]), (41, [14, 14, 13]), (100, [20] * 5)])
def test_equal_rows_are_divided_in_their_order_when_they_are_too_many(n: int, wanted: list[int]) -> None:
    for x in (np.zeros((n, 3)), np.ones((n, 1)), np.zeros((n, 0))):
        found = cluster_rows(x, 20).labels
        assert np.bincount(found).tolist() == wanted
        assert found.tolist() == sorted(found.tolist())


def test_one_far_row_at_a_time_does_not_go_on_for_ever() -> None:
    x = np.append(np.zeros(500), 10.0 ** np.arange(40))[:, None]
    assert np.bincount(cluster_rows(x, 10).labels).max() <= 20


def test_centres_that_are_far_apart_are_found() -> None:
    x, which = around(1000, 50, 16)
    assert agreement(cluster_rows(x).labels, which) > 0.99


def test_a_tree_of_mixtures_finds_nearly_what_one_mixture_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    x, which = around(3000, 150, 16, spread=0.2)
    whole = agreement(cluster_rows(x).labels, which)
    for name, value in {"_WHOLE": 32, "_BRANCH": 16, "_EACH": 4, "_LAST": 8}.items():
        monkeypatch.setattr(meaning, name, value)
    assert agreement(cluster_rows(x).labels, which) > max(0.9, whole - 0.05)


def test_no_row_moves_when_nothing_is_new() -> None:
    x, _ = around(600, 30, 8, spread=0.3)
    before = cluster_rows(x)
    after = cluster_rows(x, start=before.labels)
    assert (after.labels == before.labels).all()
    assert (after.kept, after.afresh, before.afresh) == (len(before), False, True)


@settings(max_examples=30)
@given(st.integers(2, 120), st.integers(0, 30), st.integers(1, 12), st.integers(0, 10**6))
def test_only_clusters_with_new_rows_change(old: int, new: int, size: int, seed: int) -> None:
    x, _ = around(old + new, 5, 4, spread=0.4, seed=seed)
    before = cluster_rows(x[:old], size)
    after = cluster_rows(x, size, start=np.append(before.labels, np.full(new, -1)))
    sizes = np.bincount(after.labels)
    here, there = groups(before.labels), groups(after.labels)
    assert sizes.max() <= 2 * size
    assert after.kept == len(here & there) >= len(before) - new
    for changed in there - here:  # grew by new rows, or is a part of one that did
        known = {int(before.labels[i]) for i in changed if i < old}
        assert len(known) <= 1


def test_one_document_more_leaves_four_fifths_of_the_clusters_as_they_were() -> None:
    x, _ = around(3000, 120, 16, spread=0.4)
    before = cluster_rows(x)
    random = np.random.default_rng(1)
    for spread in (0.1, 1.0):  # of one subject, of many
        new = x[random.integers(0, 3000)] + spread * random.standard_normal((30, 16))
        after = cluster_rows(np.concatenate((x, new)), start=np.append(before.labels, np.full(30, -1)))
        assert after.kept >= 0.8 * len(before)
        assert measure_scatter(np.concatenate((x, new)), after.labels) < 0.5


def test_a_start_that_fits_no_longer_is_given_up_and_that_is_said() -> None:
    x, _ = around(1000, 50, 8)
    start = np.append(np.arange(990) % 49, np.full(10, -1))  # what belongs together is apart
    taken, given_up = cluster_rows(x, start=start), cluster_rows(x, start=start, worst=1.25)
    assert (taken.afresh, given_up.afresh) == (False, True)
    assert (given_up.labels == cluster_rows(x).labels).all()
    assert measure_scatter(x, given_up.labels) < measure_scatter(x, taken.labels)


def test_rows_that_go_take_only_themselves() -> None:
    x, _ = around(400, 20, 6, spread=0.3)
    before = cluster_rows(x)
    gone = np.flatnonzero(before.labels == 3)
    rest = np.setdiff1d(np.arange(400), [*gone.tolist(), 7])
    after = cluster_rows(x[rest], start=before.labels[rest])
    assert len(after) == len(before) - 1
    assert groups(after.labels) == groups(before.labels[rest])


def test_a_start_without_any_label_is_none() -> None:
    x, _ = around(100, 5)
    assert (cluster_rows(x, start=np.full(100, -1)).labels == cluster_rows(x).labels).all()


def test_scatter_is_the_share_of_variance_inside_clusters() -> None:
    x = np.array([[0.0], [2.0], [10.0], [12.0]])
    assert measure_scatter(x, np.array([0, 0, 1, 1])) == pytest.approx(4 / 104)
    assert measure_scatter(x, np.zeros(4, int)) == pytest.approx(1.0)
    assert measure_scatter(x, np.arange(4)) == 0.0
    assert (
        measure_scatter(np.ones((3, 2)), np.zeros(3, int)) == measure_scatter(np.zeros((0, 2)), np.zeros(0, int)) == 0.0
    )


def test_sparsity_is_hirags() -> None:
    assert measure_sparsity([2, 3], 5) == pytest.approx(1 - (2 + 6) / 20)
    assert measure_sparsity([5], 5) == 0.0
    assert measure_sparsity([1] * 5, 5) == measure_sparsity([1], 1) == measure_sparsity([], 0) == 1.0


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="finite"):
        cluster_rows(np.array([[np.nan]]))
    with pytest.raises(ValueError, match="cluster_size is 0"):
        cluster_rows(np.zeros((3, 1)), 0)
    with pytest.raises(ValueError, match="2 labels"):
        cluster_rows(np.zeros((3, 1)), start=np.array([0, 1]))


def test_neighbours_are_the_nearest_means_and_nearly_so_among_very_many(monkeypatch: pytest.MonkeyPatch) -> None:
    means, _ = around(600, 40, 4, spread=0.3)
    means[590:] = means[0]  # equal means are neighbours of themselves all the same
    far = np.linalg.norm(means[:, None] - means[None], axis=2)
    exact = meaning._find_neighbours(means)
    assert all(i in near and len(near) == 16 for i, near in enumerate(exact))
    assert all(far[i][near].max() <= np.sort(far[i])[15] + 1e-9 for i, near in enumerate(exact))
    monkeypatch.setattr(meaning, "_EXACT", 128)
    found = meaning._find_neighbours(means)
    assert all(i in near for i, near in enumerate(found))
    assert np.mean([len(np.intersect1d(a, b)) for a, b in zip(found, exact, strict=True)]) > 12


def test_rows_do_not_move_between_equal_clusters() -> None:
    labels = np.repeat(np.arange(40), 5)
    assert (meaning._move_rows(np.zeros((200, 2)), labels) == labels).all()


def test_a_division_that_was_cut_apart_is_mended() -> None:
    x, which = around(400, 20, 8, spread=0.2)
    torn = meaning._divide_tree(x, 20, 0)
    random = np.random.default_rng(0)
    torn[random.integers(0, 400, 40)] = random.integers(0, torn.max() + 1, 40)
    torn = np.unique(torn, return_inverse=True)[1]
    assert agreement(meaning._move_rows(x, torn), which) > agreement(torn, which)
