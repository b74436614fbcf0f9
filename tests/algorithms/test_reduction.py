"""Principal components: against the full decomposition, and the same for every order and number of threads (L05)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from points import digest_with

from sensegraph.algorithms import reduction
from sensegraph.algorithms.reduction import _find_eigenvectors, fit_projection, reduce_dimensions


def falling(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Unit vectors that vary in every direction, less from one to the next."""
    rows = np.random.default_rng(seed).standard_normal((n, d)) * 0.7 ** np.arange(d)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_the_columns_are_the_principal_components() -> None:
    rows = falling(400, 24)
    centred = rows - rows.astype(np.float64).mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    wanted = centred @ axes[:10].T
    found = reduce_dimensions(rows, 10)
    assert found.shape == (400, 10)
    np.testing.assert_allclose(np.abs(found), np.abs(wanted), atol=1e-4)


def test_most_of_the_variance_is_kept_even_where_it_hardly_falls() -> None:
    rows = np.random.default_rng(1).standard_normal((1500, 128)) * np.linspace(2, 1, 128)
    values = np.linalg.eigvalsh(np.cov(rows.T))[::-1]
    assert reduce_dimensions(rows.astype(np.float32)).var(axis=0).sum() > 0.995 * values[:32].sum()


@settings(max_examples=30)
@given(st.integers(1, 60), st.integers(1, 20), st.integers(1, 40), st.integers(0, 10**6))
def test_rows_in_another_order_give_the_same_bits(n: int, d: int, dims: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = random.standard_normal((n, d)).astype(np.float32) * 10.0 ** random.integers(-3, 4)
    order = random.permutation(n)
    assert reduce_dimensions(rows[order], dims).tobytes() == reduce_dimensions(rows, dims)[order].tobytes()


@settings(max_examples=30)
@given(st.integers(2, 30), st.integers(1, 20), st.integers(0, 10**6))
def test_a_projection_gives_each_row_by_itself_what_it_gives_all(n: int, d: int, seed: int) -> None:
    rows = falling(n, d, seed)
    found = fit_projection(rows)
    assert found(rows[3:]).tobytes() == found(rows)[3:].tobytes() == reduce_dimensions(rows)[3:].tobytes()


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 50), st.integers(0, 10**6))
def test_no_more_columns_than_there_are_directions(n: int, d: int, dims: int, seed: int) -> None:
    found = reduce_dimensions(falling(n, d, seed), dims)
    assert found.shape[0] == n
    assert 1 <= found.shape[1] <= min(dims, d, n)
    assert np.isfinite(found).all()


@pytest.mark.parametrize(("n", "dims"), [(2, 32), (30, 32), (40, 32), (41, 33), (60, 60)])
def test_few_rows_of_many_columns_keep_their_distances(n: int, dims: int) -> None:
    rows = np.random.default_rng(n).standard_normal((n, 300)) * np.linspace(3, 1, 300)
    found = reduce_dimensions(rows, dims)
    assert found.shape == (n, min(dims, n - 1))
    wanted, kept = (((x[:, None] - x[None]) ** 2).sum(axis=2) for x in (rows, found))
    assert kept.sum() > (0.99999 if dims >= n - 1 else 0.8) * wanted.sum()
    assert (kept <= wanted * (1 + 1e-5)).all()


def test_columns_of_zeros_change_nothing_and_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def find(matrix: np.ndarray, *given: int) -> tuple[np.ndarray, np.ndarray]:
        sizes.append(len(matrix))
        return _find_eigenvectors(matrix, *given)

    monkeypatch.setattr(reduction, "_find_eigenvectors", find)
    rows = falling(200, 60)
    wide = np.zeros((200, 500), np.float32)
    places = np.sort(np.random.default_rng(0).permutation(500)[:60])
    wide[:, places] = rows
    one, other = fit_projection(rows, 6), fit_projection(wide, 6)
    assert (other.axes[places] == one.axes).all()
    assert np.abs(other.axes).sum() == np.abs(one.axes).sum() > 0
    np.testing.assert_allclose(other(wide), one(rows), atol=1e-12)
    assert sizes[0] == sizes[1] <= 60


@pytest.mark.parametrize("value", [0.0, 0.1, -3e6])
def test_equal_rows_vary_in_no_direction(value: float) -> None:
    assert reduce_dimensions(np.full((7, 5), value, np.float32)).tolist() == [[0.0]] * 7


def test_a_single_row_varies_in_no_direction() -> None:
    assert reduce_dimensions(np.array([[3.0, 4.0]], np.float32)).tolist() == [[0.0]]


@pytest.mark.parametrize(("share", "directions"), [(1e-6, 2), (1e-8, 2), (1e-10, 2), (1e-12, 1)])
def test_a_direction_of_a_small_share_is_kept_down_to_what_rounding_leaves(share: float, directions: int) -> None:
    random = np.random.default_rng(0)
    rows = np.zeros((4000, 5))
    rows[:, 0], rows[:, 3] = random.choice([-1, 1], 4000), random.choice([-1, 1], 4000) * np.sqrt(share)
    assert fit_projection(rows).axes.shape == (5, directions)


def test_rows_of_zeros_are_rows_like_others() -> None:
    rows = falling(50, 8)
    rows[10:20] = 0
    found = reduce_dimensions(rows, 4)
    assert len(np.unique(found[10:20], axis=0)) == 1
    assert len(np.unique(found, axis=0)) == 41


def test_no_rows_give_no_rows() -> None:
    assert reduce_dimensions(np.zeros((0, 5), np.float32)).shape == (0, 1)
    assert reduce_dimensions(np.zeros((0, 0), np.float32)).shape == (0, 1)


def test_the_largest_entry_of_each_axis_is_positive() -> None:
    axes = fit_projection(falling(200, 16), 6).axes
    assert (axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])] > 0).all()


def test_a_row_that_is_not_finite_is_named() -> None:
    rows = falling(30, 4)
    rows[17, 2] = np.nan
    with pytest.raises(ValueError, match="row 17"):
        reduce_dimensions(rows)
    with pytest.raises(ValueError, match="matrix"):
        reduce_dimensions(np.zeros(3, np.float32))


THREADS = """
import hashlib, numpy as np
from sensegraph.algorithms.meaning import cluster_rows
from sensegraph.algorithms.mixtures import fit_mixture
from sensegraph.algorithms.reduction import reduce_dimensions
rows = np.random.default_rng(0).standard_normal((6000, 300)).astype(np.float32)
x = reduce_dimensions(rows)
labels = cluster_rows(x).labels
print(*(hashlib.sha256(a.tobytes()).hexdigest() for a in (x, labels, fit_mixture(x[:2000], 70, starts=1).means)))
"""


@pytest.mark.slow
def test_one_thread_and_several_give_the_same_bits() -> None:
    assert digest_with(1, THREADS) == digest_with(2, THREADS) == digest_with(4, THREADS)


def test_vectors_that_hardly_differ_keep_the_direction_in_which_they_do() -> None:
    """Also where the variance along it is a hundred millionth of the length of the vectors."""
    random = np.random.default_rng(3)
    along, shift = random.standard_normal(64), random.standard_normal(50) * 1e-4
    rows = 0.9 + np.outer(shift, along / np.linalg.norm(along))
    (first, *_) = reduce_dimensions(rows, 2).T
    assert abs(np.corrcoef(first, shift)[0, 1]) > 0.999
    assert first.std() == pytest.approx(shift.std(), rel=0.01)
