"""Choosing sentences: greedy coverage of weighted terms, damped where covered, without near-repeats."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from sensegraph.engines.offline.reports.sentence_quality import stem_word_lists

DAMPING = 0.4  # what a term still counts for each time it has been covered
TOLERANCE = 0.5  # cosine to a chosen sentence above which the gain falls
REPEAT = 0.6  # share of a common subsequence above which a sentence repeats a chosen one


class Candidate(msgspec.Struct, frozen=True):  # made anew for every merit that it is given
    """A sentence that may be chosen: its stems in order, its length in words, and its worth (quality × extras).

    Of several with the same `place`, unless that is empty, one is chosen.
    """

    terms: tuple[str, ...]
    words: int
    worth: float = 1.0
    place: str = ""


def weigh_stems(sentences: Iterable[Sequence[str]], once: float = 0.7) -> dict[str, float]:
    """The weight of each stem: `once` plus the logarithm of how many sentences hold it.

    A quarter of that for words that name no topic. A stand-in, where the rest of the corpus is not at hand, for share
    here against share in the corpus.
    """
    counts = Counter(term for terms in sentences for term in dict.fromkeys(terms))
    general = general_stems()
    return {t: (once + math.log(n)) * (0.25 if t in general else 1.0) for t, n in counts.items()}


def general_stems() -> frozenset[str]:
    """Stems of English words that name no topic."""
    return stem_word_lists("general", "verbs")


def is_repeat(one: Sequence[str], other: Sequence[str], limit: float = REPEAT) -> bool:
    """Whether two sequences of stems say the same.

    Their longest common subsequence is more than `limit` of the longer one, or nearly all of the shorter one (which
    is then a sentence cut short at a chunk's border).
    """
    from rapidfuzz.distance import LCSseq  # an extension module: loaded on first use

    short, long = sorted((len(one), len(other)))
    if not short:
        return not long
    common = LCSseq.similarity(one, other)
    return common > limit * long or (short >= 4 and common > 0.85 * short)


class _Cover:
    """What has been chosen so far, and the gain of a candidate given that."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weights = weights
        self.chosen: list[Candidate] = []
        self.covered: Counter[str] = Counter()
        self._squares: dict[tuple[str, ...], tuple[dict[str, float], float]] = {}
        self._worths: dict[tuple[str, ...], list[tuple[str, float]]] = {}
        self._closest: dict[tuple[str, ...], tuple[int, float]] = {}

    def take(self, candidate: Candidate) -> None:
        self.chosen.append(candidate)
        self.covered.update(dict.fromkeys(candidate.terms, 1))

    def gain(self, candidate: Candidate) -> float:
        times = self.covered.get
        total = sum([w * DAMPING**n if (n := times(t)) else w for t, w in self._weighed(candidate.terms)])
        close = self._close(candidate.terms)
        return total / (math.sqrt(candidate.words) + 2) * candidate.worth * (1 - max(0.0, close - TOLERANCE))

    def repeated(self, candidate: Candidate) -> bool:
        return any(
            (candidate.place and candidate.place == other.place) or is_repeat(candidate.terms, other.terms)
            for other in self.chosen
        )

    def _close(self, terms: tuple[str, ...]) -> float:
        """The highest cosine to what has been chosen; those that were compared before are not compared again."""
        seen, close = self._closest.get(terms, (0, 0.0))
        for other in self.chosen[seen:]:
            close = max(close, self._cosine(terms, other.terms))
        self._closest[terms] = len(self.chosen), close
        return close

    def _cosine(self, one: tuple[str, ...], other: tuple[str, ...]) -> float:
        (a, norm_a), (b, norm_b) = self._squared(one), self._squared(other)
        if a.keys().isdisjoint(b):
            return 0.0
        shared = math.fsum(a[t] for t in a.keys() & b.keys())  # exact, so the order of a set does not matter
        return shared / (norm_a * norm_b) if norm_a and norm_b else 0.0

    def _weighed(self, terms: tuple[str, ...]) -> list[tuple[str, float]]:
        """Each term once, with its weight."""
        if terms not in self._worths:
            self._worths[terms] = [(t, self.weights.get(t, 0.0)) for t in dict.fromkeys(terms)]
        return self._worths[terms]

    def _squared(self, terms: tuple[str, ...]) -> tuple[dict[str, float], float]:
        """Each term with its squared weight, and the root of their sum."""
        if terms not in self._squares:
            squares = {t: self.weights.get(t, 0.0) ** 2 for t in terms}
            self._squares[terms] = squares, math.sqrt(math.fsum(squares.values()))
        return self._squares[terms]


def choose_sentences(
    candidates: Sequence[Candidate], weights: Mapping[str, float], count: int, used: Iterable[Candidate] = ()
) -> list[int]:
    """Positions of at most `count` candidates, best first, none a near-repeat of another or of one in `used`.

    gain = Σ w(t) · 0.4^(times covered) / (√words + 2) · worth · (1 − max(0, cosine to the chosen − 0.5)). Gains only
    fall as sentences are chosen, so each is worked out again only when it comes to the top (lazy greedy, exact).
    """
    cover = _Cover(weights)
    for candidate in used:
        cover.take(candidate)
    heap = [(-cover.gain(c), i) for i, c in enumerate(candidates)]
    heapq.heapify(heap)
    picked: list[int] = []
    while heap and len(picked) < count:
        _, i = heapq.heappop(heap)
        gain = cover.gain(candidates[i])
        if gain <= 0 or cover.repeated(candidates[i]):
            continue
        if heap and (-gain, i) > heap[0]:
            heapq.heappush(heap, (-gain, i))
            continue
        picked.append(i)
        cover.take(candidates[i])
    return picked
