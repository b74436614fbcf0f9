"""Candidate pairs from shared keys, and from trigrams."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.algorithms import similar
from sensegraph.algorithms.minhash import hash_bands
from sensegraph.algorithms.similar import group_by_keys

shared = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), max_size=40)


def found(pairs: list[tuple[int, int]], most: int = 32, near: int = 50, weight: dict[int, float] | None = None):
    keys, rows = np.array([k for k, _ in pairs], np.int64), np.array([row for _, row in pairs], np.int32)
    units = np.array([(weight or {}).get(k, 1.0) * similar.GRID for k, _ in pairs], np.int32)
    return group_by_keys(keys, rows, units, count=10, most=most).pair(near)


def listed(of) -> list[tuple[int, int]]:
    return list(zip(of.pairs.one.tolist(), of.pairs.other.tolist(), strict=True))


@given(shared)
def test_pairs_are_those_that_share_a_key_each_once(pairs: list[tuple[int, int]]):
    of = {k: {row for key, row in pairs if key == k} for k, _ in pairs}
    wanted = {(a, b) for rows in of.values() for a in rows for b in rows if a < b}
    assert listed(found(pairs)) == sorted(wanted)


def test_keys_of_too_many_rows_bring_none_together_and_are_counted():
    crowd = [(1, row) for row in range(6)]
    of = found([*crowd, (2, 0), (2, 1)], most=5)
    assert (listed(of), of.crowded) == ([(0, 1)], 1)


def test_only_the_best_partners_of_either_are_kept():
    of = found(
        [(1, 0), (1, 1), (2, 0), (2, 2), (3, 0), (3, 3), (4, 2), (4, 3)], near=1, weight={1: 5.0, 2: 2.0, 4: 3.0}
    )
    assert (listed(of), of.passed_over) == ([(0, 1), (2, 3)], 2)


def test_weights_of_several_keys_add_up():
    of = found([(1, 0), (1, 1), (2, 0), (2, 1), (2, 1)], weight={1: 2.0, 2: 0.5})
    assert of.pairs.similarity.tolist() == [2.5]


hashed = st.lists(
    st.tuples(st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(0, 3), st.integers(0, 9), st.integers(1, 4)),
    max_size=60,
)


@given(hashed, st.integers(1, 40), st.integers(1, 4))
def test_pairs_do_not_depend_on_how_many_are_looked_at_at_once(
    given_keys: list[tuple[int, int, int]], at_once: int, near: int
):
    every = [(k, row) for k, row, _ in given_keys]
    weight = {k: float(w) for k, _, w in given_keys}
    whole = found(every, near=near, weight=weight)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(similar, "_PARTNERS", at_once)
        cut = found(every, near=near, weight=weight)
    assert (listed(cut), cut.passed_over, cut.crowded) == (listed(whole), whole.passed_over, whole.crowded)
    assert cut.pairs.similarity.tolist() == whole.pairs.similarity.tolist()


@given(hashed, st.integers(1, 4))
def test_of_every_row_the_partners_are_kept_with_which_it_shares_most(
    given_keys: list[tuple[int, int, int]], near: int
):
    weight = {k: w for k, _, w in given_keys}
    rows: dict[int, set[int]] = {}
    for k, row, _ in given_keys:
        rows.setdefault(k, set()).add(row)
    shared = {
        (a, b): total
        for a in range(10)
        for b in range(10)
        if a != b and (total := sum(weight[k] for k, of in rows.items() if {a, b} <= of))
    }
    best = {
        (min(a, b), max(a, b))
        for a in range(10)
        for b in sorted((b for x, b in shared if x == a), key=lambda b: (-shared[a, b], b))[:near]
    }
    of = found([(k, row) for k, row, _ in given_keys], near=near, weight={k: float(w) for k, w in weight.items()})
    assert listed(of) == sorted(best)
    assert of.pairs.similarity.tolist() == [shared[pair] for pair in sorted(best)]
    assert of.passed_over == len(shared) // 2 - len(best)


def test_no_keys_are_no_pairs():
    assert listed(found([])) == []


def bands_shared(one: str, other: str) -> int:
    made = hash_bands([one, other])
    return int((made[0] == made[1]).sum())


def test_texts_of_many_common_trigrams_share_a_band_and_others_do_not():
    title = "estimating page fetches for index scans"
    assert bands_shared(title, title) == 12
    assert bands_shared(title, title.replace("fetches", "fetchs")) > 0
    assert bands_shared(title, "a versatile tool for physical data independence") == 0
    assert bands_shared("", "") == 12


@given(st.lists(st.text(max_size=12), max_size=6))
def test_the_bands_of_a_text_do_not_depend_on_the_others(texts: list[str]):
    whole = hash_bands(texts)
    assert whole.shape == (len(texts), 12)
    for text, row in zip(texts, whole, strict=True):
        assert (hash_bands([text])[0] == row).all()


def test_the_share_of_candidates_follows_the_formula():
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    hits, expected = 0, 0.0
    for _ in range(300):
        one = "".join(rng.choice(letters, 30))
        other = one[:22] + "".join(rng.choice(letters, 8))
        grams = [{f"  {t} "[i : i + 3] for i in range(len(t) + 1)} for t in (one, other)]
        s = len(grams[0] & grams[1]) / len(grams[0] | grams[1])
        expected += 1 - (1 - s**3) ** 12
        hits += bands_shared(one, other) > 0
    assert hits / 300 == pytest.approx(expected / 300, abs=0.08)
