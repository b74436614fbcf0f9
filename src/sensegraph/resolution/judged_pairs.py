"""Pairs that are compared: which these are, how surely each is one, and what rivals say against it.

All pairs stand in arrays; a judgement is read word by word only of those that may be one thing, or that rivals concern.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats, Ints, keep_distinct, order_numbers
from sensegraph.algorithms.linkage import connect_rows
from sensegraph.algorithms.partners import add_pairs
from sensegraph.algorithms.similar import Candidates, KeyGroups, Pairs, group_by_keys, similar_rows
from sensegraph.resolution.comparison.likeness import KINDS, SHORT, VETOES, WEIGHED
from sensegraph.resolution.comparison.scoring import Collection, Scores, weigh_rival
from sensegraph.resolution.comparison.weighing import list_leads, weigh_leads
from sensegraph.resolution.resolution_types import Judged

Pair = tuple[int, int]
_SURE, _TIED = 0.87, 0.8
_LIKELY = 0.5  # a longer name from which on it may be the one that a short name stands for
_ROUNDED = 1e-6  # linkage rounds scores


def block_pairs(found: Collection, keyed: Candidates | None = None) -> Candidates:
    """Pairs of positions to compare, each once, smaller first, in order; `keyed` share a key, where that is known.

    Keys are the whole name, its words, neighbouring words, codes without their endings, first letters, and bands of
    trigrams; vectors add the nearest of each. Of every thing the best
    `settings.near` are kept, and so many nearest. Equal names are compared, each with the next, however many they are.
    """
    settings, count = found.settings, len(found.items)
    near = settings.near
    paired = keyed or _group_names(found).pair(near)
    order = order_numbers(found.columns.whole)
    equal = found.columns.whole[order][1:] == found.columns.whole[order][:-1]
    ends: list[tuple[NDArray[Any], NDArray[Any]]] = [(order[:-1][equal], order[1:][equal])]
    if found.vectors is not None:
        meant = similar_rows(found.vectors, settings.least, near)
        ends.append((meant.one, meant.other))
    more = keep_distinct(np.concatenate([a.astype(np.int64) * count + b for a, b in ends]))
    one, other = add_pairs(paired.pairs.one, paired.pairs.other, more, count)
    return Candidates(Pairs(one, other, np.broadcast_to(1.0, len(one))), paired.passed_over, paired.crowded)


def _group_names(found: Collection) -> KeyGroups:
    """The names that share a key; when they are paired, the keys themselves are gone from memory."""
    keys, rows, units = found.columns.list_keys(found.words)
    return group_by_keys(keys.view(np.int64), rows, units, count=len(found.items), most=found.settings.rare)


class JudgedPairs:
    """The pairs that were compared, in order, and those that are when they are asked for."""

    def __init__(self, found: Collection, one: Ints, other: Ints, scores: Scores) -> None:
        self.found, self.one, self.other, self.scores = found, one, other, scores
        self.score: Floats = scores.score  # written over: it is held once
        self.large = 0  # sets of likely names that were compared in part only
        self._free = ~scores.are(VETOES)
        self._before: dict[int, float] = {}  # what the scores of pairs were that have others now
        self._long: Mapping[int, Sequence[int]] = {}
        self._judged: dict[Pair, Judged] = {}
        self._more: dict[Pair, Judged] = {}  # pairs within likely groups
        self._raised: set[Pair] = set()

    @property
    def compared(self) -> int:
        """How many pairs were compared."""
        return len(self.one) + len(self._more)

    def judge(self, a: int, b: int) -> Judged:
        """The judgement of a pair before rivals are looked at."""
        pair = (a, b) if a < b else (b, a)
        if pair not in self._judged:
            self._judged[pair] = self.found.judge(*pair)
        return self._judged[pair]

    def weigh_rivals(self, pair: Pair) -> Judged:
        """The judgement of a pair once the longer names are looked at that its shorter one may be short for."""
        judged = self.judge(*pair)
        return self._weigh_short(judged, pair) if judged.kind in SHORT else judged

    def _weigh_short(self, judged: Judged, pair: Pair) -> Judged:
        short, other = self._shorter(pair)
        context = self.found.context(*pair)
        rival = self._find_rival(short, other, self._long.get(short, ()), context == "shared")
        return weigh_rival(judged, rival, context)

    def settle(self, together: Sequence[Pair]) -> None:
        """Give each pair its final score; pairs within likely groups are compared too, `together` are by rules."""
        short = np.flatnonzero(self.scores.are(SHORT)).tolist()
        long: dict[int, list[int]] = defaultdict(list)
        for i in short:
            if self.score[i] >= _LIKELY:
                one, other = self._shorter(self._pair(i))
                long[one].append(other)
        self._long = long
        for i in short:
            judged = Judged(float(self.score[i]), "", KINDS[self.scores.kind[i]])
            self._score_again(i, self._weigh_short(judged, self._pair(i)).score)
        self._weigh_matches()
        likely = np.flatnonzero(self._free & (self.score >= self.found.settings.accept)).tolist()
        sure = [*map(self._pair, likely), *together]
        rows = sorted({row for pair in sure for row in pair})
        at = {row: place for place, row in enumerate(rows)}
        for places in connect_rows(len(rows), [(at[a], at[b]) for a, b in sure]):
            if len(places) > self.found.settings.largest:
                self.large += 1
                continue
            for pair in combinations([rows[place] for place in places], 2):
                if self._place(pair) < 0:
                    self._more[pair] = self.weigh_rivals(pair)

    def list_edges(self) -> list[tuple[int, int, float]]:
        """The pairs that may be one thing, with their scores."""
        least = self.found.settings.reject - _ROUNDED
        kept = np.flatnonzero(self._free & (self.score >= least))
        edges = zip(self.one[kept].tolist(), self.other[kept].tolist(), self.score[kept].tolist(), strict=True)
        more = ((*pair, one.score) for pair, one in self._more.items() if not one.veto and one.score >= least)
        return [*edges, *more]

    def list_vetoes(self, rows: set[int]) -> Iterator[Pair]:
        """The pairs of one of these rows that are two things."""
        near = self._touch(np.array(sorted(rows), np.int32))
        yield from map(self._pair, np.flatnonzero(near & ~self._free).tolist())
        yield from (pair for pair, judged in self._more.items() if judged.veto and not rows.isdisjoint(pair))

    def explain(self, pair: Pair) -> str:
        """Why a pair has its score."""
        why = (self._more[pair] if pair in self._more else self.weigh_rivals(pair)).why
        return f"{why}; no other is likelier" if pair in self._raised else why

    def _touch(self, rows: Ints) -> NDArray[np.bool_]:
        """Which pairs are of one of these rows."""
        asked = np.zeros(len(self.found.items), np.bool_)
        asked[rows] = True
        touched: NDArray[np.bool_] = asked[self.one] | asked[self.other]
        return touched

    def _score_again(self, i: int, score: float) -> None:
        """Give a pair another score, and remember its first."""
        if score != self.score[i]:
            self._before.setdefault(i, float(self.score[i]))
            self.score[i] = score

    def _pair(self, i: int) -> Pair:
        return int(self.one[i]), int(self.other[i])

    def _place(self, pair: Pair) -> int:
        """The position of a pair among those that were compared; −1 where it was not."""
        row, partner = np.array([pair[0], pair[0] + 1], np.int32), np.array(pair[1], np.int32)
        begin, end = np.searchsorted(self.one, row).tolist()
        i = begin + int(np.searchsorted(self.other[begin:end], partner))
        return i if i < end and self.other[i] == partner else -1

    def _weigh_matches(self) -> None:
        """Judge pairs anew by how far they are ahead of any other partner of either.

        These are names that were weighed, names of which only one has something beside it, and of two lists that name a
        thing once all that are not sure. Where a lead says nothing, the lack of one does.
        """
        score, kept = self.score, self._free
        listed = (self.found.traits.listed[self.one] > 0) & (self.found.traits.listed[self.other] > 0)
        weighed, tells = self.scores.are(WEIGHED), self.found.tell_leads(self.one, self.other)
        least = self.found.settings.reject
        asked = weighed & ((score >= least - _ROUNDED) | tells)  # others are below the bound, and stay there
        asked |= (listed | self.scores.are(("bare",))) & (score >= least) & (score < _SURE)
        places = np.flatnonzero(kept & asked)
        rows = keep_distinct(np.concatenate((self.one[places], self.other[places])))
        near = np.flatnonzero(kept & self._touch(rows))
        around = dict(zip(map(self._pair, near.tolist()), score[near].tolist(), strict=True))
        equal = set(map(self._pair, near[~weighed[near] & (score[near] >= _SURE)].tolist()))
        leads = list_leads(around, equal)
        for i in places.tolist():
            pair, own = self._pair(i), float(score[i])
            bounded = listed[i] or not weighed[i]
            if not weighed[i] and not least <= own < _SURE:
                continue
            new = weigh_leads(own, leads[pair], bool(listed[i]))
            if bounded and min(leads[pair]) <= 0:  # another of its list is as likely
                new = min(new, own, _TIED)
            if new > own and tells[i]:
                self._score_again(i, new)
                self._raised.add(pair)
            elif new < own and weighed[i]:
                self._score_again(i, new)

    def _shorter(self, pair: Pair) -> Pair:
        """The one whose name says less, and the other."""
        a, b = pair
        says = self.found.columns.says
        return (a, b) if says[a] <= says[b] else (b, a)

    def _find_rival(self, short: int, other: int, long: Iterable[int], shared: bool) -> str:
        """Another thing that a name may be short for, and that is not the one that it is compared with."""
        for third in long:
            if third == other or (shared and self.found.context(short, third) != "shared"):
                continue
            i = self._place((other, third) if other < third else (third, other))
            between = self.judge(other, third) if i < 0 else None
            first = self._before.get(i, self.score[i])  # before rivals are looked at
            score, veto = (between.score, between.veto) if between else (first, not self._free[i])
            if veto or score < self.found.settings.reject:
                return self.found.items[third].name
        return ""
