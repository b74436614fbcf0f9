"""Cutting a long list into segments by what stands in it, so that a change leaves most segments as they were.

A cut at every so many rows would move all later cuts when one row is added. Here a row's own bytes say whether a
segment ends with it (content-defined chunking; Muthitacharoen, Chen and Mazières 2001, §3.1), so that cuts stay where
they are, and what was made of a segment serves again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Longs
from sensegraph.algorithms.ranking import Stack, slice_rows

LEAST, USUAL, MOST = 65_536, 65_536, 262_144
_BLOCK = 1 << 23  # numbers that are read at once: 32 MB
_SPREAD = 0x9E3779B97F4A7C15  # 2⁶⁴ over the golden ratio: spreads neighbouring numbers
_BASES = np.array([0x9E3779B97F4A7C13, 0xBF58476D1CE4E5BB], np.uint64)  # 3 modulo 4: what changes places is told best


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows `begin` to `end` (not included) of a matrix, and a digest of their bytes."""

    begin: int
    end: int
    digest: str


def cut_segments(
    rows: NDArray[np.float32] | Stack, least: int = LEAST, usual: int = USUAL, most: int = MOST
) -> list[Segment]:
    """The segments of `rows`, shape (n, dim) float32, in order: all rows, each once.

    A segment ends with the first row after `least` that one in `usual` rows is like, and holds `most` rows at most;
    only the last may be shorter than `least`. Equal rows give equal segments on every machine.
    """
    found_ends = [np.zeros(0, np.bool_)]
    for block in _read_blocks(rows, 0, len(rows)):  # of rows one in `usual` has a hash low enough
        words = np.ascontiguousarray(block, "<f4").view("<u4").astype(np.uint64)
        factors = np.arange(1, 2 * words.shape[1], 2, dtype=np.uint64) * np.uint64(_SPREAD)
        mixed = (words * factors).sum(axis=1, dtype=np.uint64)
        mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(_SPREAD)
        found_ends.append((mixed >> np.uint64(32)) < np.uint64((1 << 32) // max(usual, 1)))
    found: list[Segment] = []
    for begin, end in cut_runs(np.concatenate(found_ends), least, most):
        digest = hashlib.blake2b(repr((end - begin, rows.shape[1])).encode(), digest_size=20)  # of the shape, the bytes
        for block in _read_blocks(rows, begin, end):
            digest.update(np.ascontiguousarray(block, "<f4").tobytes())
        found.append(Segment(begin, end, digest.hexdigest()))
    return found


def cut_runs(ends: NDArray[np.bool_], least: int, most: int) -> list[tuple[int, int]]:
    """Where the runs of a sequence begin and end (not included), given which items may end one.

    A run ends with the first such item after `least`, and holds `most` at most; only the last may be shorter.
    """
    places = np.flatnonzero(ends) + 1
    found: list[tuple[int, int]] = []
    begin = 0
    while begin < len(ends):
        after = int(np.searchsorted(places, begin + least))
        wanted = int(places[after]) if after < len(places) else len(ends)
        end = min(wanted, begin + most, len(ends))
        found.append((begin, end))
        begin = end
    return found


def _read_blocks(rows: NDArray[np.float32] | Stack, begin: int, end: int) -> Iterator[NDArray[np.float32]]:
    """Rows `begin` to `end`, 32 MB at a time."""
    return (rows[begin + part.start : begin + part.stop] for part in slice_rows(end - begin, rows.shape[1], _BLOCK))


def cut_hashes(hashes: NDArray[np.uint64], usual: int) -> list[tuple[int, int]]:
    """Where runs of things with these hashes begin and end (not included), of so many, a power of two, on the average.

    The hash of a thing says whether a run ends with it.
    """
    last = np.flatnonzero(hashes & np.uint64(usual - 1) == 0) + 1
    return list(pairwise(dict.fromkeys([0, *last.tolist(), len(hashes)])))


def cut_keys(keys: Sequence[str], size: int = 0) -> list[range]:
    """Runs of neighbours among things that have these keys, hashes of what they are, in hexadecimal: all, in order.

    A run ends after a key of which one in 2ᵏ is like. Of n things there are about as many runs as a run has things,
    2ᵏ is between √n and 2 √n, up to the usual number of 64 to 128 runs; from there on runs are longer. So a change
    concerns one run or two, unless n passes a power of two. From 2ᵏ things on one key in 2ᵏ⁻² is enough, so that few
    runs are much longer than others. Where the things are made of `size` smaller ones, these count: of few large things
    each is a run.
    """
    bits, inner = (max(0, n - 1).bit_length() for n in (len(keys), max(size, len(keys))))
    low = (1 << max(0, max((inner + 1) // 2, inner - 7) - (inner - bits))) - 1
    ends, width, joined = [0], len(keys[0]) if keys else 0, "\n".join(keys)
    likely: Iterator[int] = iter(range(1, len(keys) + 1))
    if low >> 2 >= 15 and joined[width :: width + 1] == "\n" * (len(keys) - 1):  # all are of one width
        # no key ends a run of which the last digit is not 0
        likely = (found.end() for found in re.finditer("0", joined[width - 1 :: width + 1]))
    for end in likely:
        if not int(keys[end - 1][-8:], 16) & (low if end - ends[-1] <= low else low >> 2):
            ends.append(end)
    return [range(*pair) for pair in pairwise(dict.fromkeys([*ends, len(keys)]))]


def sum_sequences(digests: bytes, counts: NDArray[Any]) -> NDArray[np.uint64]:
    """What stands for each of several sequences, shape (sequences, 2): of so many digests of 16 bytes, in order.

    These are polynomials modulo 2⁶⁴ with the halves of digests as coefficients, so that `join_sums` tells from those of
    the pieces what stands for a whole, however it was cut. The digests of a sequence must differ: two that alternate
    (Thue and Morse) can be put in two orders with the same sums.
    """
    halves, ends = np.frombuffer(digests, "<u8").reshape(-1, 2), np.cumsum(counts, dtype=np.int64)
    behind = np.repeat(ends, counts) - 1 - np.arange(len(halves))
    terms = halves * _list_powers(counts)[behind]
    sums, there = np.zeros((len(counts), 2), np.uint64), counts > 0
    if len(terms):
        sums[there] = np.add.reduceat(terms, (ends - counts)[there])
    return sums


def join_sums(pieces: Sequence[tuple[NDArray[np.uint64], NDArray[Any]]]) -> tuple[NDArray[np.uint64], Longs]:
    """What stands for sequences, and their lengths, from the sums and counts of the pieces of each, in order."""
    sums, counts = np.zeros_like(pieces[0][0]), np.zeros(len(pieces[0][1]), np.int64)
    powers = _list_powers(np.concatenate([more for _, more in pieces]))
    for piece, more in pieces:
        sums = sums * powers[more] + piece
        counts += more
    return sums, counts


def _list_powers(counts: NDArray[Any]) -> NDArray[np.uint64]:
    """The powers of both bases from 0 to the largest of these counts."""
    powers = np.tile(_BASES, (int(counts.max(initial=0)) + 1, 1))
    powers[0] = 1
    return np.cumprod(powers, axis=0, dtype=np.uint64)
