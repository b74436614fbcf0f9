"""Pairs of rows that are nearly the same, and pairs that share rare keys; never a full matrix of all with all.

Rows are vectors, compared by blocks, or words, compared by those that are rare enough to decide. Equal input
gives equal pairs, in the order of (one, other).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats, Ints, Longs, keep_distinct, number_distinct, order_numbers, order_pairs
from sensegraph.algorithms.ranking import Stack, nearest_each
from sensegraph.algorithms.walks import gather_entries, run_offsets

_BLOCK = 1024  # rows whose neighbours are looked for at once
_PAIRS = 1 << 20  # candidates that are compared at once
_PARTNERS = 1 << 17  # of rows that are looked at at once
GRID = 1 << 20  # of this fraction weights of keys are whole numbers: their sums are exact in any order
_SLACK = 1e-9  # rounding: a pair of equal rows is one of similarity 1


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs `one` < `other`, each once, with their similarity; int32, int32 and float64 of shape (m,)."""

    one: Ints
    other: Ints
    similarity: Floats

    def __len__(self) -> int:
        return len(self.one)


def similar_rows(vectors: NDArray[Any] | Stack, least: float, top: int) -> Pairs:
    """Pairs of rows of `vectors`, unit length, shape (n, dim), whose inner product is at least `least`.

    Of every row only the `top` nearest are looked at.
    """
    found: list[tuple[Longs, Longs, Floats]] = []
    for begin in range(0, len(vectors), _BLOCK):
        block = np.asarray(vectors[begin : begin + _BLOCK])
        for i, (near, score) in enumerate(nearest_each(vectors, block, top + 1), begin):
            kept = (near != i) & (score >= least)
            found.append((np.full(int(kept.sum()), i), near[kept], score[kept]))
    return _order_pairs(found, len(vectors))


def similar_words(rows: Sequence[Sequence[str]], least: float, top: int) -> Pairs:
    """Pairs of texts, given as their words, whose TF-IDF vectors have a cosine of at least `least`, 0 < `least` ≤ 1.

    Two such texts share one of the words that are rarest in each: those without which the rest is shorter than `least`
    (prefix filtering; Bayardo, Ma and Srikant 2007, Scaling Up All Pairs Similarity Search, §4). Only these are looked
    up. Of every text the `top` most similar are kept.
    """
    table = _Table.build(rows)
    pairs = _order_pairs((table.score(one, other, least) for one, other in table.candidates(least)), len(rows))
    kept = among_best(pairs, len(rows), top)
    return Pairs(pairs.one[kept], pairs.other[kept], pairs.similarity[kept])


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Unit vectors by rows: `words[start[i]:start[i + 1]]` ascend from the rarest, with their `weight`."""

    start: Longs
    words: Longs
    weight: Floats
    distinct: int

    @classmethod
    def build(cls, texts: Sequence[Sequence[str]]) -> _Table:
        counts = [Counter(words) for words in texts]
        frequency = Counter(word for count in counts for word in count)
        number = {word: i for i, word in enumerate(sorted(frequency, key=lambda w: (frequency[w], w)))}
        idf = np.log1p(len(texts) / np.array([frequency[w] for w in number], np.float64))
        start = np.concatenate(([0], np.cumsum([len(c) for c in counts], dtype=np.int64))).astype(np.int64)
        words = np.array([n for count in counts for n in sorted(number[w] for w in count)], np.int64)
        named = list(number)
        times = np.array([count[named[n]] for count in counts for n in sorted(number[w] for w in count)], np.float64)
        weight = times * idf[words]
        row = np.repeat(np.arange(len(texts)), np.diff(start))
        length = np.sqrt(np.bincount(row, weights=weight**2, minlength=len(texts)))
        return cls(start, words, weight / length[row], len(number))

    def rows(self) -> Longs:
        """The row of every word."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def candidates(self, least: float) -> Iterator[tuple[Longs, Longs]]:
        """Pairs of rows that share one of their rarest words, in portions."""
        squares = self.weight**2
        after = np.concatenate((np.cumsum(squares[::-1])[::-1], [0.0]))
        rest = after[:-1] - after[self.start[1:]][self.rows()]  # of the word itself and those behind it
        rare = np.flatnonzero(rest >= least**2 - _SLACK)
        word, row = self.words[rare], self.rows()[rare]
        order = order_numbers(word)
        groups = np.split(row[order], np.flatnonzero(np.diff(word[order])) + 1)
        ones, others, held = list[Longs](), list[Longs](), 0
        for group in groups:
            a, b = np.triu_indices(len(group), 1)
            ones.append(group[a])
            others.append(group[b])
            held += len(a)
            if held > _PAIRS:
                yield np.concatenate(ones), np.concatenate(others)
                ones, others, held = [], [], 0
        if held:
            yield np.concatenate(ones), np.concatenate(others)

    def score(self, one: Longs, other: Longs, least: float) -> tuple[Longs, Longs, Floats]:
        """The pairs whose cosine is at least `least`, each once, and that cosine."""
        width = len(self.start) - 1
        one, other = np.divmod(keep_distinct(one * width + other), width)
        keys = self.rows() * self.distinct + self.words
        sizes = np.diff(self.start)[one]
        first = np.cumsum(sizes) - sizes
        place = np.arange(int(sizes.sum())) + np.repeat(self.start[one] - first, sizes)
        wanted = np.repeat(other, sizes) * self.distinct + self.words[place]
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        product = np.where(keys[at] == wanted, self.weight[place] * self.weight[at], 0.0)
        cosine = np.minimum(
            np.bincount(np.repeat(np.arange(len(one)), sizes), weights=product, minlength=len(one)), 1.0
        )
        kept = cosine >= least - _SLACK
        return one[kept], other[kept], cosine[kept]


def _order_pairs(found: Iterable[tuple[Longs | Ints, Longs | Ints, Floats]], rows: int) -> Pairs:
    """Pairs in order, each once."""
    columns = list(zip(*found, strict=True)) or [(), (), ()]
    a, b, score = (np.concatenate([np.zeros(0), *column]) for column in columns)
    low, high = np.minimum(a, b).astype(np.int64), np.maximum(a, b).astype(np.int64)
    _, first, _ = number_distinct(low * rows + high)
    return Pairs(low[first].astype(np.int32), high[first].astype(np.int32), score[first])


def among_best(pairs: Pairs, count: int, near: int) -> NDArray[np.bool_]:
    """Which pairs of `count` rows are among the `near` most similar of either row; ties go to the smaller row."""
    both = np.concatenate((pairs.one, pairs.other)).astype(np.int64)
    partner = np.concatenate((pairs.other, pairs.one))
    order = np.lexsort((partner, -np.tile(pairs.similarity, 2), both))
    starts = np.searchsorted(both[order], np.arange(count))
    rank = np.arange(len(both)) - starts[both[order]]
    kept = np.zeros(len(pairs), np.bool_)
    kept[order[rank < near] % len(pairs)] = True
    return kept


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Pairs of rows with the weight of the keys that they share, in the order of (one, other).

    `passed_over` counts pairs that share a key but are not among the best of either row, `crowded` the keys that too
    many rows share.
    """

    pairs: Pairs
    passed_over: int
    crowded: int


@dataclass(frozen=True, slots=True, eq=False)
class KeyGroups:
    """Groups of `rows`, one after the other: group i begins at `start[i]`. `units` are what a row weighs in its group,
    in parts of 1 / `GRID`.

    `own` are the places of each row, row by row, which `begin` parts, `group` is that of each place. `crowded` counts
    the keys that too many rows share.
    """

    rows: Ints
    units: Ints
    start: Longs
    group: Ints
    own: Ints
    begin: Longs
    crowded: int

    def pair(self, near: int) -> Candidates:
        """Pairs of rows of a group. Of every row the `near` partners of greatest weight are kept.

        At most `near` × number of rows pairs remain.
        """
        count = len(self.begin) - 1
        code, shared, sharing = map(np.concatenate, zip(*self._best_in_blocks(near, np.arange(count)), strict=True))
        one, other = (ends.astype(np.int32) for ends in np.divmod(code, count))
        code, first, _ = number_distinct(np.minimum(one, other).astype(np.int64) * count + np.maximum(one, other))
        one, other = (ends.astype(np.int32) for ends in np.divmod(code, count))
        pairs = Pairs(one, other, shared[first] / GRID)
        return Candidates(pairs, int(sharing.sum()) // 2 - len(code), self.crowded)

    def list_best(self, near: int, rows: Longs) -> tuple[Longs, Longs]:
        """The `near` partners of greatest weight of each of these rows, which ascend, of equal ones the first.

        As row × number of rows + other, row by row; and with how many others each row shares a key.
        """
        codes, sharing = [], []
        for code, _, others in self._best_in_blocks(near, rows):
            codes.append(code)
            sharing.append(others)
        return np.concatenate(codes), np.concatenate(sharing)

    def _best_in_blocks(self, near: int, rows: Longs) -> Iterator[tuple[Longs, Longs, Longs]]:
        """`list_best` of some rows after the other, with what each pair shares."""
        count, none = len(self.begin) - 1, np.zeros(0, np.int64)
        yield none, none, none
        for block in self.cut_rows(rows, _PARTNERS):
            code, shared = self.list_partners(block)
            sharing = np.diff(np.searchsorted(code, np.append(block, block[-1] + 1) * count))
            yield *_keep_best(code, shared, count, near), sharing

    def cut_rows(self, rows: Longs, most: int) -> Iterator[Longs]:
        """These rows, so many at once that they have about `most` partners in all their groups."""
        reached = run_offsets(np.diff(self.start)[self.group[self.own]])[self.begin]
        reached = run_offsets(np.diff(reached)[rows])
        first = 0
        while first < len(rows):
            last = int(np.searchsorted(reached, reached[first] + most, side="right")) - 1
            yield rows[first : (last := max(last, first + 1))]
            first = last

    def list_partners(self, rows: Longs) -> tuple[Longs, Longs]:
        """The others of all groups of these rows, as row × number of rows + other, ascending, and what they share."""
        held = self.own[gather_entries(self.begin, rows)[0]]
        places, sizes = gather_entries(self.start, self.group[held])
        one, other = np.repeat(self.rows[held], sizes), self.rows[places]
        shared = np.minimum(np.repeat(self.units[held], sizes), self.units[places])
        apart = one != other
        code = one[apart].astype(np.int64) * (len(self.begin) - 1) + other[apart]
        order = order_numbers(code)
        code, shared = code[order], shared[apart][order].astype(np.int64)
        begun = np.flatnonzero(np.diff(code, prepend=-1))
        return code[begun], np.add.reduceat(shared, begun) if len(begun) else shared


def group_by_keys(keys: Longs, rows: Ints, units: Ints, *, count: int, most: int) -> KeyGroups:
    """The groups of the `count` rows that share a key: `keys` are int64, `rows` and `units` int32, of shape (m,).

    A key of more than `most` rows brings none together. A key weighs so many `units` of 1 / `GRID`.
    """
    home = (keys >> 60).astype(np.int8)  # of hashes about as many in each, which takes less memory than all at once
    parts = (np.flatnonzero(home == part) for part in keep_distinct(home).tolist() or [0])
    listed = zip(*(_list_groups(keys[at], rows[at], units[at], most) for at in parts), strict=True)
    *columns, crowded = listed
    members, units, sizes = map(np.concatenate, columns)
    group = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    own = order_numbers(members).astype(np.int32)
    begin = run_offsets(np.bincount(members, minlength=count))
    return KeyGroups(members, units, run_offsets(sizes), group, own, begin, sum(crowded))


def _list_groups(keys: Longs, rows: Ints, units: Ints, most: int) -> tuple[Ints, Ints, Longs, int]:
    """The rows of each key that 2 to `most` rows share, their units, how many each has, and how many have more."""
    order = order_pairs(number_distinct(keys)[2], rows)
    keys, rows = keys[order], rows[order]
    fresh = np.ones(len(keys), np.bool_)
    fresh[1:] = (keys[1:] != keys[:-1]) | (rows[1:] != rows[:-1])
    keys, rows, units = keys[fresh], rows[fresh], units[order[fresh]]
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    sizes = np.diff(np.concatenate((starts, [len(keys)]))).astype(np.int64)
    fits = (sizes > 1) & (sizes <= most)
    inside = np.repeat(fits, sizes)
    return rows[inside], units[inside], sizes[fits], int((sizes > most).sum())


def _keep_best(code: Longs, shared: Longs, width: int, near: int) -> tuple[Longs, Longs]:
    """The `near` partners of each row with which it shares most, of equal ones the first."""
    one = code // width
    order = order_pairs(one - one.min(initial=width), shared.max(initial=0) - shared)  # equal ones stay in order
    ranked = one[order]
    places, fresh = np.arange(len(ranked)), np.ones(len(ranked), np.bool_)
    fresh[1:] = ranked[1:] != ranked[:-1]
    kept = order[places - np.maximum.accumulate(np.where(fresh, places, 0)) < near]
    return code[kept], shared[kept]
