"""The best partners of rows that share keys are found again only where that may be another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.algorithms.minhash import mix_hashes
from sensegraph.algorithms.partners import KeyedRows, PairedRows, add_pairs, pair_again
from sensegraph.algorithms.similar import GRID


def paired(ids: list[int], keys: list[tuple[int, int]], earlier: PairedRows | None = None) -> PairedRows:
    """The pairs of rows with these ids, of pairs of a key and a row."""
    key, rows = (
        np.array([mix_hashes(np.array([k], np.uint64))[0] for k, _ in keys], np.uint64),
        [row for _, row in keys],
    )
    keyed = KeyedRows.of(key, np.array(rows, np.int32), np.full(len(keys), GRID, np.int32), count=len(ids), most=3)
    hashes = np.array(ids, np.uint64)
    return pair_again(keyed, hashes, mix_hashes(hashes), 2, earlier)


def listed(found: PairedRows) -> list[tuple[int, int, int]]:
    return list(zip(found.one.tolist(), found.other.tolist(), found.by.tolist(), strict=True))


def test_each_pair_says_whose_best_it_is_among() -> None:
    found = paired([7, 8, 9, 10], [(1, 0), (1, 1), (2, 0), (2, 2), (3, 0), (3, 3)])
    assert listed(found) == [(0, 1, 3), (0, 2, 3), (0, 3, 2)]
    assert (found.sharing.tolist(), found.passed_over) == ([3, 1, 1, 1], 0)


def test_keys_of_too_many_rows_are_counted_and_bring_none_together() -> None:
    found = paired([7, 8, 9, 10], [*((1, row) for row in range(4)), (2, 0), (2, 1)])
    assert (listed(found), found.crowded.tolist()) == ([(0, 1, 3)], [1])


def test_rows_of_one_id_are_not_taken_for_one_another() -> None:
    before = paired([7, 7, 9], [(1, 0), (1, 2), (2, 1)])
    assert listed(before) == [(0, 2, 3)]
    assert listed(paired([7, 7, 9], [(1, 1), (1, 2), (2, 0)], before)) == [(1, 2, 3)]


def test_many_keys_are_mixed_and_paired_in_portions_as_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def gather(lighter: int = 0) -> KeyedRows:
        drawn = np.random.default_rng(5)
        keys, rows = mix_hashes(drawn.integers(0, 60, 400).astype(np.uint64)), drawn.integers(0, 50, 400)
        units = drawn.integers(1, 50 << 20, 400) - lighter
        return KeyedRows.of(keys, rows.astype(np.int32), units.astype(np.int32), count=50, most=9)

    def pair() -> list[list[int]]:
        found = pair_again(gather(), ids, ids, 3, None)
        columns = (found.signs, found.sharing, found.one, found.other, found.by, found.crowded)
        return [column.tolist() for column in columns]

    ids = mix_hashes(np.arange(50, dtype=np.uint64))
    whole, signs = pair(), gather().sign(ids).tolist()
    assert (len(set(signs)), whole[0], len(whole[2])) == (50, signs, 104)
    assert signs[:3] == [0x6867881A6130DA87, 0x917DFEAC8FD84E13, 0x4714D49843C18F14]  # else all would be paired again
    assert [*zip(*(column[:4] for column in whole[2:5]), strict=True)] == [
        (0, 1, 3),
        (0, 13, 3),
        (0, 45, 3),
        (1, 10, 3),
    ]
    codes = [one * 50 + other for one, other in zip(whole[2], whole[3], strict=True)]
    assert codes == sorted(set(codes))
    assert set(gather(1).sign(ids).tolist()).isdisjoint(signs[row] for row in gather().rows.tolist())
    for most in (1, 7, 64):
        monkeypatch.setattr("sensegraph.algorithms.partners._AT_ONCE", most)
        assert pair() == whole


pairs = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)))


@given(pairs, pairs)
def test_pairs_that_are_added_stand_in_order_each_once(some: set[tuple[int, int]], more: set[tuple[int, int]]) -> None:
    one, other = (np.array([pair[i] for pair in sorted(some)], np.int32) for i in range(2))
    found = add_pairs(one, other, np.array(sorted(a * 7 + b for a, b in more), np.int64), 7)
    assert [*zip(found[0].tolist(), found[1].tolist(), strict=True)] == sorted(some | more)
    assert found[0].dtype == found[1].dtype == np.int32


def test_of_no_rows_there_are_no_pairs() -> None:
    assert listed(paired([], [])) == []
    assert listed(paired([7], [(1, 0)], paired([], []))) == []
