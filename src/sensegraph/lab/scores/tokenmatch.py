"""Two texts compared token by token through vectors: greedy matching, rescaling, and token-match F1.

    precision   the mean over the answer's tokens of the nearest token of the gold answer
    recall      the mean over the gold answer's tokens of the nearest token of the answer
    rescaled    (x − b) / (1 − b), with a baseline b of its own for precision, recall and F1

With the token vectors of a BERT this is BERTScore (`bertscore`); with those of any embedder, word by word, it is
**token-match F1**, another figure under its own name: vectors of words know nothing of the words beside them.

source: Zhang et al. 2020, BERTScore, §3; GRAFT, section 5 (R16, R23)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from sensegraph.errors import InputError
from sensegraph.index.vectors import embed_all
from sensegraph.lab.scores.word_overlap import Floats, split_words
from sensegraph.language.text import split_sentences
from sensegraph.runtime.runtime import Runtime

Rarity = Callable[[int], float]

LABEL = "token-match F1"
PAIRS = 1_000  # random pairs of sentences behind a baseline


@dataclass(frozen=True, slots=True)
class Match:
    """How well two texts match: `precision`, `recall` and `f1`; raw at most 1, rescaled below 0 where chance is better.

    `empty` says that one of the texts has no token: then the three are 0, raw or rescaled.
    """

    precision: float = 0.0
    recall: float = 0.0
    f1: float = 0.0
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Baseline:
    """What texts that have nothing to do with each other reach: below 1, for precision, recall and F1 apart.

    `source` says where it comes from. Raises InputError for values that nothing can be rescaled by.
    """

    precision: float
    recall: float
    f1: float
    source: str = ""

    def __post_init__(self) -> None:
        if not all(-1 <= b < 1 for b in (self.precision, self.recall, self.f1)):
            raise InputError(f"The baseline {self.source or self} must lie from -1 to below 1 to rescale by; mend it.")

    def rescaled(self, match: Match) -> Match:
        """`match` on a scale where the baseline is 0 and equal texts are 1."""
        if match.empty:
            return match
        return Match(
            rescale_score(match.precision, self.precision),
            rescale_score(match.recall, self.recall),
            rescale_score(match.f1, self.f1),
        )


def rescale_score(value: float, baseline: float) -> float:
    """(x − b) / (1 − b)."""
    return (value - baseline) / (1 - baseline)


def match_tokens(
    ours: Floats, theirs: Floats, weights: Floats | None = None, their_weights: Floats | None = None
) -> Match:
    """Greedy matching of the unit vectors of an answer's tokens, shape (n, d), with those of a gold answer's, (m, d).

    Weights (n,) and (m,) say how much a token counts in the mean; one of weight 0 may still be what another is nearest
    to, as in BERTScore. Without weights all count alike. Texts without a token that counts do not match at all.
    """
    a = np.ones(len(ours)) if weights is None else weights
    b = np.ones(len(theirs)) if their_weights is None else their_weights
    if not a.sum() or not b.sum():
        return Match(empty=True)
    near = ours.astype(np.float64) @ theirs.astype(np.float64).T
    precision = float(near.max(axis=1) @ a / a.sum())
    recall = float(near.max(axis=0) @ b / b.sum())
    return Match(precision, recall, harmonic_mean(precision, recall))


def harmonic_mean(precision: float, recall: float) -> float:
    """The harmonic mean; 0 where the sum is 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def token_rarity(gold: Sequence[Sequence[int]]) -> Rarity:
    """How much a token counts by how few of the gold answers (token numbers) hold it: ln((1 + all) / (1 + those))."""
    held = Counter(n for tokens in gold for n in sorted(set(tokens)))
    return lambda token: log((len(gold) + 1) / (held[token] + 1))


def token_match(pairs: Sequence[tuple[str, str]], rt: Runtime, baseline: Baseline | None = None) -> tuple[Match, ...]:
    """Each answer matched with its gold answer by the vectors of their words; rescaled where a baseline is given.

    Every different word is embedded once, by the embedder of `rt`, and stored.
    """
    listed = [(split_words(answer), split_words(gold)) for answer, gold in pairs]
    known = sorted({w for both in listed for side in both for w in side})
    rows = np.asarray(embed_all(known, rt).value, np.float64) if known else np.zeros((0, 0))
    place = {w: i for i, w in enumerate(known)}
    found = (match_tokens(rows[_rows_of(ours, place)], rows[_rows_of(theirs, place)]) for ours, theirs in listed)
    return tuple(baseline.rescaled(m) if baseline else m for m in found)


def _rows_of(listed: Sequence[str], place: dict[str, int]) -> list[int]:
    return [place[w] for w in listed]


def corpus_baseline(texts: Sequence[str], rt: Runtime, pairs: int = PAIRS, seed: int = 0) -> Baseline:
    """The baseline of token-match F1: the mean over random pairs of sentences of `texts`, drawn by `seed`.

    Raises InputError where there are fewer than two different sentences.
    """
    listed = sorted({t[a:b] for t in texts for a, b in split_sentences(t) if split_words(t[a:b])})
    if len(listed) < 2:
        raise InputError("A baseline needs two different sentences at least; give more text.")
    random = np.random.default_rng(seed)
    first = random.integers(0, len(listed), pairs)
    second = (first + random.integers(1, len(listed), pairs)) % len(listed)  # never the same one
    found = token_match([(listed[i], listed[j]) for i, j in zip(first, second, strict=True)], rt)
    precision, recall, both = np.mean([(m.precision, m.recall, m.f1) for m in found], axis=0).tolist()
    told = f"{pairs:,} random pairs of {len(listed):,} sentences, vectors of {rt.embedder.name}, seed {seed}"
    return Baseline(precision, recall, both, told)
