"""Pairs that are nearly the same are all found, though few are looked at."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.algorithms import similar
from sensegraph.algorithms.similar import Pairs, among_best, similar_rows, similar_words

names = st.lists(
    st.lists(st.sampled_from("port ellery harbour council of the new old".split()), max_size=4), max_size=9
)


def cosines(rows: list[list[str]]) -> np.ndarray:
    vocabulary = sorted({w for row in rows for w in row})
    counts = np.array([[row.count(w) for w in vocabulary] for row in rows], float).reshape(len(rows), len(vocabulary))
    weight = counts * np.log1p(len(rows) / np.maximum((counts > 0).sum(0), 1))
    unit = weight / np.maximum(np.linalg.norm(weight, axis=1, keepdims=True), 1e-300)
    return unit @ unit.T


@given(names, st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_no_pair_of_similar_names_is_missed(rows: list[list[str]], least: float) -> None:
    found = similar_words(rows, least, 100)
    all_pairs = cosines(rows)
    wanted = {(a, b) for a in range(len(rows)) for b in range(a + 1, len(rows)) if all_pairs[a, b] >= least - 1e-9}
    assert list(zip(found.one.tolist(), found.other.tolist(), strict=True)) == sorted(wanted)
    assert found.similarity.tolist() == pytest.approx([all_pairs[pair] for pair in sorted(wanted)])


def test_a_pair_that_rounding_put_below_the_least_counts_and_one_further_below_does_not() -> None:
    rows = [["a", "b"], ["a", "c"]]
    (cosine,) = similar_words(rows, 0.1, 5).similarity
    for short, count in ((0.0, 1), (0.5e-9, 1), (2e-9, 0)):
        assert len(similar_words(rows, cosine + short, 5)) == count
    edge = cosine + 1e-9
    assert len(similar_words(rows, edge, 5)) == (cosine >= edge - 1e-9)


def test_only_the_nearest_of_every_name_are_kept() -> None:
    rows = [["a"], ["a"], ["a"], ["a"]]
    found = similar_words(rows, 0.8, 1)
    assert set(zip(found.one.tolist(), found.other.tolist(), strict=True)) == {(0, 1), (0, 2), (0, 3)}


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.4]))
def test_similar_vectors_are_those_of_the_full_matrix(seed: int, least: float) -> None:
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(12, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    product = vectors.astype(float) @ vectors.T.astype(float)
    found = similar_rows(vectors, least, 12)
    wanted = [(a, b) for a in range(12) for b in range(a + 1, 12) if product[a, b] >= least]
    assert list(zip(found.one.tolist(), found.other.tolist(), strict=True)) == wanted
    assert found.similarity.tolist() == pytest.approx([product[pair] for pair in wanted])


def test_of_nothing_no_pair_is_similar() -> None:
    assert len(similar_words([], 0.8, 10)) == len(similar_rows(np.zeros((0, 4), np.float32), 0.8, 10)) == 0


@given(names, st.sampled_from([0.3, 0.8]), st.integers(1, 5))
def test_pairs_of_names_do_not_depend_on_how_many_are_compared_at_once(
    rows: list[list[str]], least: float, at_once: int
) -> None:
    whole = similar_words(rows, least, 3)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(similar, "_PAIRS", at_once)
        cut = similar_words(rows, least, 3)
    assert (cut.one.tolist(), cut.other.tolist()) == (whole.one.tolist(), whole.other.tolist())
    assert cut.similarity.tolist() == pytest.approx(whole.similarity.tolist())


@pytest.mark.parametrize("block", [1, 3, 11, 12, 13])
def test_pairs_of_vectors_do_not_depend_on_how_many_are_looked_at_at_once(
    monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    vectors = np.random.default_rng(3).normal(size=(12, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    whole = similar_rows(vectors, 0.2, 4)
    assert len(whole) > 12
    monkeypatch.setattr(similar, "_BLOCK", block)
    cut = similar_rows(vectors, 0.2, 4)
    assert (cut.one.tolist(), cut.other.tolist()) == (whole.one.tolist(), whole.other.tolist())
    assert cut.similarity.tolist() == pytest.approx(whole.similarity.tolist())


@pytest.mark.parametrize(
    ("top", "pairs"),
    [
        (0, []),
        (1, [(0, 1), (2, 3)]),
        (2, [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]),
        (3, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]),
    ],
)
def test_of_every_vector_so_many_nearest_are_looked_at_besides_itself(top: int, pairs: list[tuple[int, int]]) -> None:
    angles = np.radians([0.0, 10.0, 50.0, 55.0])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    found = similar_rows(vectors, 0.0, top)
    assert list(zip(found.one.tolist(), found.other.tolist(), strict=True)) == pairs


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 3)), max_size=20), st.integers(1, 4))
def test_the_best_pairs_of_either_row_are_kept_and_ties_go_to_the_smaller_row(
    drawn: list[tuple[int, int, int]], near: int
) -> None:
    weight = {(min(a, b), max(a, b)): float(w) for a, b, w in drawn if a != b}
    pairs = sorted(weight)
    given_pairs = Pairs(
        np.array([a for a, _ in pairs], np.int32), np.array([b for _, b in pairs], np.int32),
        np.array([weight[pair] for pair in pairs]),
    )  # fmt: skip
    best: set[tuple[int, int]] = set()
    for row in range(7):
        own = [pair for pair in pairs if row in pair]
        best |= set(sorted(own, key=lambda pair: (-weight[pair], sum(pair) - row))[:near])
    assert among_best(given_pairs, 7, near).tolist() == [pair in best for pair in pairs]
