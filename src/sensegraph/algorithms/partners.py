"""The best partners of rows that share keys, found again only for rows whose groups have changed.

What stands for the groups of a row follows from who shares its keys and what these weigh, so that it stays while they
do, wherever the row stands by then. The result is that of all rows looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import (
    Flags,
    Ints,
    Longs,
    cut_ranges,
    keep_distinct,
    locate_numbers,
    number_distinct,
    order_numbers,
)
from sensegraph.algorithms.minhash import Hashes, mix_hashes
from sensegraph.algorithms.similar import KeyGroups, group_by_keys

_OF_ONE, _OF_OTHER = 1, 2
_AT_ONCE = 1 << 20  # keys that are mixed, or pairs that are put in order, at once


@dataclass(frozen=True, slots=True, eq=False)
class PairedRows:
    """Pairs `one` < `other` of n rows that share keys, ascending.

    `by` says whether they are among the best of the one (1), of the other (2), or of both (3). `ids` (n) tells rows
    apart, `signs` (n) stands for the groups of each, `sharing` (n) is with how many others it shares a key. `crowded`
    (1) counts the keys that too many rows share.
    """

    ids: Hashes
    signs: Hashes
    sharing: Ints
    one: Ints
    other: Ints
    by: NDArray[np.uint8]
    crowded: Longs

    @property
    def passed_over(self) -> int:
        """How many pairs share a key but are not among the best of either row."""
        return int(self.sharing.sum(dtype=np.int64)) // 2 - len(self.one)


@dataclass(frozen=True, slots=True, eq=False)
class KeyedRows:
    """What brings `count` rows together: `keys`, whose they are, and how many times 1 / `GRID` each weighs.

    Keys of more than `most` rows are left out; `crowded` counts them. The first `bits` of keys tell most of them apart.
    """

    keys: Hashes
    rows: Ints
    units: Ints
    bits: int
    count: int
    most: int
    crowded: int

    @classmethod
    def of(cls, keys: Hashes, rows: Ints, units: Ints, *, count: int, most: int) -> KeyedRows:
        """These keys, shape (m,), hashes for the most part: of others that begin alike all rows are looked at.

        What is given is overwritten, so that many are in memory once.
        """
        bits = max(len(keys).bit_length() - 1, 1)
        heads = _read_first_bits(keys, bits)
        full = np.flatnonzero((np.bincount(heads) > most)[heads])  # few, among them all keys of too many rows
        del heads
        listed, _, which = number_distinct(keys[full])
        many = np.bincount(keep_distinct(which * count + rows[full]) // count, minlength=len(listed))
        kept = np.ones(len(keys), np.bool_)
        kept[full] = many[which] <= most
        size = int(kept.sum())
        for column in (keys, rows, units) if size < len(keys) else ():
            column[:size] = column[kept]
        return cls(keys[:size], rows[:size], units[:size], bits, count, most, int((many > most).sum()))

    def sign(self, ids: Hashes) -> Hashes:
        """What stands for the groups of each row: `ids` stand for the rows and for all that they say."""
        sums, found, mixed = np.zeros(1 << self.bits, np.uint64), ids.copy(), list[Hashes]()
        blocks = [slice(at, at + _AT_ONCE) for at in range(0, len(self.keys), _AT_ONCE)]
        for block in blocks:
            keys = self.keys[block]
            held = mix_hashes(ids[self.rows[block]] + mix_hashes(keys ^ self.units[block].astype(np.uint64)))
            np.add.at(sums, _read_first_bits(keys, self.bits), held)
            mixed.append(held)
        for block, held in zip(blocks, mixed, strict=True):
            held ^= sums[_read_first_bits(self.keys[block], self.bits)]
            np.add.at(found, self.rows[block], mix_hashes(held))
        return mix_hashes(found)

    def group(self, rows: Longs) -> KeyGroups:
        """The groups of these rows, and of others some."""
        held: Longs | slice = slice(None)
        if len(rows) < self.count:
            asked = np.zeros(self.count, np.bool_)
            asked[rows] = True
            wanted, heads = np.zeros(1 << self.bits, np.bool_), _read_first_bits(self.keys, self.bits)
            wanted[heads[asked[self.rows]]] = True
            held = np.flatnonzero(wanted[heads])
        keys = self.keys[held].view(np.int64)
        return group_by_keys(keys, self.rows[held], self.units[held], count=self.count, most=self.most)


def _read_first_bits(keys: Hashes, bits: int) -> Ints:
    return (keys >> np.uint64(64 - bits)).astype(np.int32)


def pair_again(keyed: KeyedRows, ids: Hashes, told: Hashes, near: int, earlier: PairedRows | None) -> PairedRows:
    """Pairs of rows that share a key, of which each is among the `near` best of either.

    `ids` tell rows apart, `told` stand for all that they say. Rows whose groups are as they were `earlier` are not
    looked at: those that are still there stand in the order of then.
    """
    count, signs = keyed.count, keyed.sign(told)
    sharing, known = np.zeros(count, np.int32), np.zeros(count, np.bool_)
    code, by = np.zeros(0, np.int64), np.zeros(0, np.uint8)
    order = order_numbers(ids)
    if earlier is not None and count and (np.diff(ids[order]) > 0).all():  # else a row could be taken for another
        at = locate_numbers(earlier.ids, ids[order])
        now = order[np.minimum(at, count - 1)]
        stands = (ids[now] == earlier.ids) & (signs[now] == earlier.signs)
        known[now[stands]], sharing[now[stands]] = True, earlier.sharing[stands]
        by = earlier.by & (stands[earlier.one] * np.uint8(_OF_ONE) | stands[earlier.other] * np.uint8(_OF_OTHER))
        left = np.flatnonzero(by)
        code, by = now[earlier.one[left]] * count + now[earlier.other[left]], by[left]
    rows = np.flatnonzero(~known)
    groups, crowded = keyed.group(rows), np.array([keyed.crowded], np.int64)
    del keyed  # of many rows keys take much room
    found, sharing[rows] = groups.list_best(near, rows)
    del groups
    one, other = _split_codes(found, count)
    del found
    code, by = _join_pairs(code, by, *_pair_ends(one, other, count))
    return PairedRows(ids, signs, sharing, *_split_codes(code, count), by, crowded)


def _split_codes(code: Longs, count: int) -> tuple[Ints, Ints]:
    """The two rows of codes, which are one × number of rows + other."""
    one, other = np.empty(len(code), np.int32), np.empty(len(code), np.int32)
    for at in range(0, len(code), _AT_ONCE):
        one[at : at + _AT_ONCE], other[at : at + _AT_ONCE] = np.divmod(code[at : at + _AT_ONCE], count)
    return one, other


def _pair_ends(rows: Ints, partners: Ints, count: int) -> tuple[Longs, NDArray[np.uint8]]:
    """Pairs as codes, from rows and a partner of each: ascending, each once, and whose best they are among."""
    low = np.minimum(rows, partners)
    codes, by = [np.zeros(0, np.int64)], [np.zeros(0, np.uint8)]
    ranges = cut_ranges(np.bincount(low, minlength=count), _AT_ONCE)
    for first, last in ranges:
        held = np.flatnonzero((first <= low) & (low < last)) if len(ranges) > 1 else slice(None)
        one, other = rows[held], partners[held]
        says = np.where(one < other, np.uint8(_OF_ONE), np.uint8(_OF_OTHER))
        code = low[held].astype(np.int64) * count + np.maximum(one, other)
        places = order_numbers(code)
        code, says = code[places], says[places]
        if len(begun := np.flatnonzero(np.diff(code, prepend=-1))):
            codes.append(code[begun])
            by.append(np.bitwise_or.reduceat(says, begun))
    return np.concatenate(codes), np.concatenate(by)


def add_pairs(one: Ints, other: Ints, more: Longs, count: int) -> tuple[Ints, Ints]:
    """Pairs of `count` rows, ascending, each once, and `more` of them, as codes: one × `count` + other."""
    if not len(more):
        return one, other
    code = one.astype(np.int64)
    code *= count
    code += other
    at, there = _locate_codes(code, more)
    return (one, other) if there.all() else _split_codes(np.insert(code, at[~there], more[~there]), count)


def _locate_codes(code: Longs, more: Longs) -> tuple[Longs, Flags]:
    """Where each of `more` stands or would stand among codes, and which are there."""
    at, there = np.searchsorted(code, more), np.zeros(len(more), np.bool_)
    inside = np.flatnonzero(at < len(code))
    there[inside] = code[at[inside]] == more[inside]
    return at, there


def _join_pairs(
    code: Longs, by: NDArray[np.uint8], more: Longs, says: NDArray[np.uint8]
) -> tuple[Longs, NDArray[np.uint8]]:
    """Two lists of pairs, each ascending, as one, and whose best each is among by either list."""
    if not len(code):
        return more, says
    at, there = _locate_codes(code, more)
    by[at[there]] |= says[there]
    return np.insert(code, at[~there], more[~there]), np.insert(by, at[~there], says[~there])
