"""Products in portions are the products."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.algorithms.products import inner_product, matrix_product


@given(st.integers(0, 80), st.integers(0, 20), st.integers(1, 20), st.integers(0, 10**6))
def test_portions_give_the_product_and_the_inner_product(n: int, m: int, c: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    left, right, other = (random.standard_normal(shape) for shape in ((n, m), (m, c), (n, c)))
    np.testing.assert_allclose(matrix_product(left, right), left @ right, atol=1e-12)
    np.testing.assert_allclose(inner_product(left, other), left.T @ other, atol=1e-12)


@pytest.mark.parametrize(("n", "m", "c"), [(5000, 64, 16), (700, 64, 600), (300, 1300, 40), (3, 4000, 3)])
def test_wide_deep_and_long_matrices_too(n: int, m: int, c: int) -> None:
    random = np.random.default_rng(0)
    left, right, other = (random.standard_normal(shape) for shape in ((n, m), (m, c), (n, c)))
    np.testing.assert_allclose(matrix_product(left, right), left @ right, atol=1e-9)
    np.testing.assert_allclose(inner_product(left, other), left.T @ other, atol=1e-9)
