"""Cutting a matrix, or a list, by what stands in it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.algorithms.segments import Segment, cut_keys, cut_segments, join_sums, sum_sequences
from sensegraph.runtime.keys import key

LEAST, USUAL, MOST = 20, 15, 80


def rows(n: int, seed: int = 0, dim: int = 6) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, dim)).astype(np.float32)


def cut(matrix: np.ndarray) -> list[Segment]:
    return cut_segments(matrix, LEAST, USUAL, MOST)


@given(st.integers(0, 400), st.integers(0, 10**6))
def test_every_row_is_in_one_segment_and_segments_are_neither_short_nor_long(n: int, seed: int) -> None:
    found = cut(rows(n, seed))
    assert [s.begin for s in found] == [0, *(s.end for s in found)][: len(found)]
    assert (found[-1].end if found else 0) == n
    sizes = [s.end - s.begin for s in found]
    assert all(LEAST <= size <= MOST for size in sizes[:-1])
    assert all(0 < size <= MOST for size in sizes)


@given(st.integers(0, 599), st.booleans())
def test_a_row_more_or_less_leaves_most_segments_as_they_were(place: int, more: bool) -> None:
    before = rows(600)
    after = np.insert(before, place, rows(1, 7)[0], axis=0) if more else np.delete(before, place, axis=0)
    old, new = ({s.digest for s in cut(matrix)} for matrix in (before, after))
    assert len(old) > 10
    assert len(new - old) <= 5


def test_equal_rows_have_equal_digests_wherever_they_lie() -> None:
    matrix = rows(500)
    assert cut(matrix) == cut(np.asfortranarray(matrix.copy()))
    one = cut(matrix)[2]
    assert one.digest == cut(matrix[one.begin : one.end])[0].digest


def test_rows_that_are_all_alike_are_cut_at_the_least_or_at_the_most() -> None:
    for alike in (np.zeros((200, 4), np.float32), np.ones((200, 4), np.float32)):
        assert [s.end - s.begin for s in cut(alike)] in ([20] * 10, [80, 80, 40])


def test_a_change_of_one_number_changes_one_segment_or_its_cut() -> None:
    matrix = rows(500)
    old = cut(matrix)
    middle = old[len(old) // 2]
    matrix[middle.begin + 3, 2] += 1
    new = cut(matrix)
    assert any(s.end <= middle.begin for s in new)
    assert [s for s in new if s.end <= middle.begin] == [s for s in old if s.end <= middle.begin]
    assert middle.digest not in {s.digest for s in new}


def keys(n: int) -> list[str]:
    return [key("thing", i) for i in range(n)]


@given(st.integers(0, 3_000))
def test_every_thing_is_in_one_run_and_runs_are_few(n: int) -> None:
    found = cut_keys(keys(n))
    assert [i for run in found for i in run] == list(range(n))
    assert all(len(run) > 0 for run in found)
    assert len(found) <= 2 * n**0.5 + 8


def test_there_are_about_a_hundred_runs_of_very_many_things() -> None:
    many = keys(70_000)
    assert 50 < len(cut_keys(many)) < 200


@given(st.integers(0, 2_000), st.booleans())
def test_a_thing_more_or_less_leaves_most_runs_as_they_were(place: int, more: bool) -> None:
    before = keys(2_001)
    after = [*before[:place], key("new"), *before[place:]] if more else before[:place] + before[place + 1 :]
    old, new = ({tuple(names[i] for i in run) for run in cut_keys(names)} for names in (before, after))
    assert len(old) > 20
    assert len(new - old) <= 2


@pytest.mark.parametrize(
    ("n", "length"),
    [(1, 1), (2, 1), (3, 2), (4, 2), (5, 4), (16, 4), (17, 8), (256, 16), (257, 32), (16_385, 256), (32_769, 512)],
)
def test_a_run_of_n_things_ends_behind_each_key_with_so_many_zeros(n: int, length: int) -> None:
    """2ᵏ with k half the bits of n − 1, rounded up: keys that count from 0 end runs at 0, 2ᵏ, 2 · 2ᵏ …"""
    ends = range(1, n + 1, length)
    assert [run.stop for run in cut_keys([f"aa{i:08x}" for i in range(n)])] == [*ends, *([n] if ends[-1] < n else [])]


@pytest.mark.parametrize(("n", "size", "length"), [(31, 1_700, 1), (31, 100, 4), (300, 600, 16), (300, 100_000, 4)])
def test_large_things_make_runs_of_about_as_many_small_ones(n: int, size: int, length: int) -> None:
    ends = range(1, n + 1, length)
    assert [r.stop for r in cut_keys([f"aa{i:08x}" for i in range(n)], size)] == [*ends, *([n] if ends[-1] < n else [])]


def test_few_runs_are_much_longer_than_others() -> None:
    lengths = [len(run) for run in cut_keys(keys(3_000))]
    assert max(lengths) < 2 * 64
    assert sum(n * n for n in lengths) < 64 * 3_000  # things in the run of a thing, on the average


def summed(sequences: list[list[bytes]]) -> tuple[np.ndarray, np.ndarray]:
    counts = np.array([len(of) for of in sequences], np.uint32)
    return sum_sequences(b"".join(digest for of in sequences for digest in of), counts), counts


def digest(thing: int) -> bytes:
    return bytes.fromhex(key(thing)[:32])


digests = st.lists(st.lists(st.integers(0, 20).map(digest), max_size=8), min_size=3, max_size=3)


@given(digests, st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 8)), max_size=4))
def test_what_stands_for_sequences_does_not_depend_on_how_they_are_cut(
    sequences: list[list[bytes]], cuts: list[tuple[int, ...]]
) -> None:
    places = [sorted((0, len(of), *(min(cut[i], len(of)) for cut in cuts))) for i, of in enumerate(sequences)]
    steps = [[*pairwise(at)] for at in places]
    pieces = [
        summed([of[slice(*at[n])] for of, at in zip(sequences, steps, strict=True)]) for n in range(len(cuts) + 1)
    ]
    sums, counts = join_sums(pieces)
    assert counts.tolist() == [len(of) for of in sequences]
    assert sums.tolist() == summed(sequences)[0].tolist()


@given(digests, st.data())
def test_sequences_in_another_order_or_with_another_thing_are_told_apart(
    sequences: list[list[bytes]], data: st.DataObject
) -> None:
    other = data.draw(st.permutations(sequences[0]))
    same = summed([other])[0].tolist() == summed([sequences[0]])[0].tolist()
    assert same == (other == sequences[0])
    more = [*sequences[0], digest(21)]
    assert summed([more])[0].tolist() != summed([sequences[0]])[0].tolist()


def test_what_changed_places_far_away_is_told_apart() -> None:
    things = [digest(i) for i in range(5000)]
    seen = set()
    for distance in (1, 2, 64, 1024, 4096):
        moved = things.copy()
        moved[0], moved[distance] = moved[distance], moved[0]
        seen.add(tuple(summed([moved])[0][0].tolist()))
    assert len(seen | {tuple(summed([things])[0][0].tolist())}) == 6
