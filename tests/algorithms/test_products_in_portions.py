"""Products of matrices whose shapes end at, just before and just behind the bounds of portions."""

from __future__ import annotations

import numpy as np
import pytest

from sensegraph.algorithms import products
from sensegraph.algorithms.products import inner_product, matrix_product
from sensegraph.algorithms.ranking import slice_rows

SHAPES = [(1, 1, 1), (7, 3, 2), (64, 8, 4), (65, 8, 4), (63, 9, 5), (130, 16, 33), (3, 17, 40), (0, 4, 3), (5, 0, 3),
          (9, 24, 1)]  # fmt: skip


def whole_numbers(rows: int, columns: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9, 9, (rows, columns)).astype(np.float64)


@pytest.mark.parametrize(("n", "m", "c"), SHAPES)
@pytest.mark.parametrize("most", [64 * 8, 64 * 16, 1 << 18])
def test_products_are_whole_however_they_are_cut(
    monkeypatch: pytest.MonkeyPatch, n: int, m: int, c: int, most: int
) -> None:
    monkeypatch.setattr(products, "_MOST", most)
    monkeypatch.setattr(products, "_DEEP", 8)
    left, right = whole_numbers(n, m, 1), whole_numbers(m, c, 2)
    found = matrix_product(left, right)
    assert (found.shape, found.tolist()) == ((n, c), (left @ right).tolist())
    other = whole_numbers(n, c, 3)
    inner = inner_product(left, other)
    assert (inner.shape, inner.tolist()) == ((m, c), (left.T @ other).tolist())


def test_no_portion_takes_more_multiplications_than_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[int, int, int]] = []
    multiply = np.matmul

    def note(one: np.ndarray, other: np.ndarray, **given: np.ndarray) -> np.ndarray:
        if one.size and other.size:
            taken.append((one.shape[-2], one.shape[-1], other.shape[-1]))
        return multiply(one, other, **given)

    monkeypatch.setattr(products.np, "matmul", note)
    matrix_product(whole_numbers(700, 1_030, 1), whole_numbers(1_030, 20, 2))
    assert taken
    assert max(a * b * c for a, b, c in taken) <= 1 << 18
    assert {b for _, b, _ in taken} == {512, 6}
    assert {c for _, b, c in taken if b == 512} == {8, 4}
    assert {c for _, b, c in taken if b == 6} == {20}
    assert sorted({a for a, b, _ in taken if b == 512}) == [60, 64, 128]
    taken.clear()
    inner_product(whole_numbers(700, 300, 1), whole_numbers(700, 20, 2))
    assert {(a, c) for a, _, c in taken} == {(204, 20), (96, 20)}
    assert sorted({b for _, b, _ in taken}) == [64, 136]


@pytest.mark.parametrize(
    ("count", "width", "most", "wanted"),
    [
        (0, 3, 60, []), (1, 3, 60, [(0, 1)]), (20, 3, 60, [(0, 20)]), (21, 3, 60, [(0, 20), (20, 21)]),
        (3, 61, 60, [(0, 1), (1, 2), (2, 3)]), (61, 1, 60, [(0, 60), (60, 61)]), (60, 1, 60, [(0, 60)]),
        (5, 0, 2, [(0, 2), (2, 4), (4, 5)]),
    ],
)  # fmt: skip
def test_rows_are_taken_in_slices_of_so_many_numbers(
    count: int, width: int, most: int, wanted: list[tuple[int, int]]
) -> None:
    assert [(s.start, s.stop) for s in slice_rows(count, width, most)] == wanted
