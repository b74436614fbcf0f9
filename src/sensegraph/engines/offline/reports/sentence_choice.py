"""Sentences chosen to cover their terms: greedily by weighted terms, damped where covered, without near-repeats."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

DAMPING = 0.4  # what a term still counts for each time it has been covered
TOLERANCE = 0.5  # cosine to a chosen sentence above which the gain falls


class Candidate(msgspec.Struct, frozen=True):  # made anew for every merit that it is given
    """A sentence that may be chosen: its stems in order, its length in words, and its worth (quality × extras).

    Of several with the same `place`, unless that is empty, one is chosen.
    """

    terms: tuple[str, ...]
    words: int
    worth: float = 1.0
    place: str = ""


@cache
def load_subsequences() -> Any:
    """What finds how long a subsequence two sequences share."""
    from rapidfuzz.distance import LCSseq  # an extension module: loaded on first use

    return LCSseq


REPEAT = 0.6  # share of a common subsequence above which a sentence repeats a chosen one


def is_repeat(one: Sequence[str], other: Sequence[str], limit: float = REPEAT) -> bool:
    """Whether two sequences of stems say the same.

    Their longest common subsequence is more than `limit` of the longer one, or nearly all of the shorter one (which
    is then a sentence cut short at a chunk's border).
    """
    short, long = sorted((len(one), len(other)))
    if not short:
        return not long
    common = load_subsequences().similarity(one, other)
    return common > limit * long or (short >= 4 and common > 0.85 * short)


class TermWeights(dict[str, float]):
    """The weights of terms; those of the terms of a sentence are worked out once, whatever it is compared with."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        super().__init__(weights)
        self._own: dict[tuple[str, ...], dict[str, float]] = {}
        self._squared: dict[tuple[str, ...], tuple[dict[str, float], float]] = {}

    def weigh(self, terms: tuple[str, ...]) -> dict[str, float]:
        """Each term once with its weight."""
        if (own := self._own.get(terms)) is None:
            own = self._own[terms] = {t: self.get(t, 0.0) for t in terms}
        return own

    def square(self, terms: tuple[str, ...]) -> tuple[dict[str, float], float]:
        """Each term once with the square of its weight, and the root of the sum of these."""
        if (found := self._squared.get(terms)) is None:
            squares = {t: w**2 for t, w in self.weigh(terms).items()}
            found = self._squared[terms] = squares, math.sqrt(math.fsum(squares.values()))
        return found


class _Cover:
    """What has been chosen so far, and the gain of a candidate given that."""

    def __init__(self, weights: TermWeights, chosen: Iterable[Candidate]) -> None:
        self.weights = weights
        self.chosen: list[Candidate] = []
        self.covered: dict[str, int] = {}
        self._closest: dict[tuple[str, ...], tuple[int, float]] = {}
        for candidate in chosen:
            self.take(candidate)

    def take(self, candidate: Candidate) -> None:
        self.chosen.append(candidate)
        covered = self.covered
        for term in self.weights.weigh(candidate.terms):
            covered[term] = covered.get(term, 0) + 1

    def gain(self, candidate: Candidate) -> float:
        times = self.covered.get
        own = self.weights.weigh(candidate.terms)
        total = sum([w * DAMPING**n if (n := times(t)) else w for t, w in own.items()])
        close = self._close(candidate.terms)
        return total / (math.sqrt(candidate.words) + 2) * candidate.worth * (1 - max(0.0, close - TOLERANCE))

    def repeated(self, candidate: Candidate) -> bool:
        for other in self.chosen:
            if candidate.place and candidate.place == other.place:
                return True
            if is_repeat(candidate.terms, other.terms):
                return True
        return False

    def _close(self, terms: tuple[str, ...]) -> float:
        """The highest cosine to what has been chosen; those that were compared before are not compared again."""
        seen, close = self._closest.get(terms, (0, 0.0))
        a, norm = self.weights.square(terms)
        for one in self.chosen[seen:]:
            b, other = self.weights.square(one.terms)
            if norm and other and (both := a.keys() & b.keys()):
                shared = math.fsum([a[t] for t in both])  # exact, so the order of a set does not matter
                close = max(close, shared / (norm * other))
        self._closest[terms] = len(self.chosen), close
        return close


def choose_sentences(
    candidates: Sequence[Candidate], weights: Mapping[str, float], count: int, used: Iterable[Candidate] = ()
) -> list[int]:
    """Positions of at most `count` candidates, best first, none a near-repeat of another or of one in `used`.

    gain = Σ w(t) · 0.4^(times covered) / (√words + 2) · worth · (1 − max(0, cosine to the chosen − 0.5)). Gains only
    fall as sentences are chosen, so each is worked out again only when it comes to the top (lazy greedy, exact).
    """
    if not candidates or not count:
        return []
    own = weights if isinstance(weights, TermWeights) else TermWeights(weights)
    heap = [
        (-sum(own.weigh(c.terms).values()) / (math.sqrt(c.words) + 2) * c.worth, i) for i, c in enumerate(candidates)
    ]
    heapq.heapify(heap)
    cover = _Cover(own, used)
    picked: list[int] = []
    while heap and len(picked) < count:
        most, i = heapq.heappop(heap)
        if heap:
            gain = cover.gain(candidates[i])
            if gain > 0 and (-gain, i) > heap[0]:
                heapq.heappush(heap, (-gain, i))
                continue
        # the last one has but to be worth something, and weights and worth stay what they are
        if (gain if heap else -most) > 0 and not cover.repeated(candidates[i]):
            picked.append(i)
            cover.take(candidates[i])
    return picked
