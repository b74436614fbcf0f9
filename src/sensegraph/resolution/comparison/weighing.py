"""How surely two names of several words are one: a logistic score of what they share and of what each has alone.

What a score is worth differs from list to list: where all names are alike, half of the words in common is nothing,
where they are not it is much. So a second logistic score weighs a pair against the next likely partner of either. The
weights are a file of numbers that `bench/resolution_weights.py` fits, each set of names weighing alike, and moved so
that pairs are best taken from 0.85 on.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from operator import mul

import msgspec
import numpy as np

from sensegraph.algorithms.graphs import mark_among
from sensegraph.resolution.comparison.aligned import Aligned, Lexis, is_article
from sensegraph.resolution.comparison.name_reading import Name

FEATURES = (
    "shared, of all", "shared, of the lesser", "shared", "a code", "first word", "one within the other",
    "ratio of sorted words", "beginning alike", "alone, the lesser", "alone, the greater", "rarest alone, the lesser",
    "rarest alone, the greater", "a number", "a number alone", "an article alone", "a code alone",
    "a code alone in each", "few words", "length",
)  # fmt: skip
_SCALE = 7.0  # the weight of a word that one name in a thousand has
_NO_RIVAL = -1.5  # what is less likely, as a logit, is no rival
_LEAD = 4.0  # a greater lead counts as this
_TOP = 4  # partners of a name among which its rival is sought


class Weights(msgspec.Struct, frozen=True):
    """`pair` weighs the features, in their order, and 1 last.

    `heap` and `lists` weigh the logit of a pair, its lesser and its greater lead over the rivals of either name, and
    1: in a heap of names, and between lists that name a thing once.
    """

    pair: tuple[float, ...]
    heap: tuple[float, float, float, float]
    lists: tuple[float, float, float, float]


@cache
def load_weights() -> Weights:
    """The weights as they were fitted last."""
    return msgspec.json.decode(files(__package__).joinpath("weights.json").read_bytes(), type=Weights)


@cache
def _load_measures() -> tuple[Callable[[str, str], float], Callable[[str, str], float]]:
    """How alike two names are, of whose words the order says nothing, and whose beginnings say more."""
    from rapidfuzz import fuzz
    from rapidfuzz.distance import JaroWinkler

    return fuzz.token_sort_ratio, JaroWinkler.similarity


def describe_pair(a: Name, b: Name, found: Aligned, code: str, words: Lexis) -> tuple[float, ...]:
    """The features of two names, whose words are aligned, and which have a `code` in common or none. Symmetric."""
    compare_sorted, compare_beginnings = _load_measures()
    some_number = some_article = both = False
    if a.numbers or b.numbers:
        one, other = Counter(a.numbers), Counter(b.numbers)
        articles, both = list(map(is_article, [*(one - other), *(other - one)])), bool(one & other)
        some_number, some_article = not all(articles), any(articles)
    codes = 0
    if a.codes or b.codes:
        codes = sum(any(w in name.codes for w in alone) for name, alone in ((a, found.one), (b, found.other)))
    first, second, (own, its) = a.plain, b.plain, found.alone
    less, more = (len(first), len(second)) if len(first) < len(second) else (len(second), len(first))
    lesser, greater = (own, its) if own < its else (its, own)
    own = own if len(found.one) < 2 else max(map(words.weight, found.one))
    its = its if len(found.other) < 2 else max(map(words.weight, found.other))
    rare, rarer = (own, its) if own < its else (its, own)
    most, x, y = words.most, a.with_qualifier, b.with_qualifier
    return (
        found.jaccard, found.contained, math.log1p(found.weight / _SCALE), float(bool(code)),
        float(first[:1] == second[:1]), float(not found.one or not found.other),
        compare_sorted(x, y) / 100, compare_beginnings(x, y),
        math.log1p(lesser / _SCALE), math.log1p(greater / _SCALE), rare / most, rarer / most,
        float(both), float(some_number), float(some_article), float(codes == 1),
        float(codes == 2), 1 / max(less, 1), less / max(more, 1),
    )  # fmt: skip


def weigh_pair(features: tuple[float, ...]) -> float:
    """How surely two names are one if nothing is known of others, 0 to 1."""
    weights = load_weights().pair
    return squash_logit(sum(map(mul, weights, features)) + weights[-1])


def weigh_leads(score: float, leads: tuple[float, float], listed: bool) -> float:
    """How surely a pair is one, of which the score alone is `score`, where it leads the rivals of either by `leads`."""
    own, less, more, bias = load_weights().lists if listed else load_weights().heap
    return squash_logit(own * find_logit(score) + less * min(leads) + more * max(leads) + bias)


def list_leads(
    scores: Mapping[tuple[int, int], float], equal: set[tuple[int, int]]
) -> dict[tuple[int, int], tuple[float, float]]:
    """How far, in logits, each pair is ahead of the likeliest other partner of its first, and of its second row.

    A partner that is `equal` to the one compared is no rival. Pairs have the smaller row first.
    """
    if not scores:
        return {}
    pairs = np.array(list(scores), np.int64)
    logits = np.fromiter(map(find_logit, scores.values()), np.float64, len(pairs))
    rows, partners = pairs.T.ravel(), pairs[:, ::-1].T.ravel()  # each pair from either side
    likely = np.concatenate((logits, logits))
    order = np.lexsort((partners, np.tile(np.fromiter(scores.values(), np.float64, len(pairs)), 2) * -1, rows))
    first = np.searchsorted(rows[order], np.arange(int(rows.max()) + 2))
    tops = np.arange(_TOP)[:, None] + first[rows]  # the likeliest partners of each row, beginning with the first
    there = tops < first[rows + 1]
    tops = order[np.where(there, tops, 0)]
    others = np.where(there, partners[tops], partners)  # one that is not there is taken for the one compared
    wide = int(rows.max()) + 1
    code = np.minimum(others, partners) * wide + np.maximum(others, partners)
    same = np.fromiter((a * wide + b for a, b in equal), np.int64, len(equal))
    rival = (others != partners) & ~mark_among(code, same)
    found = np.where(rival.any(axis=0), likely[np.take_along_axis(tops, rival.argmax(axis=0)[None], 0)[0]], _NO_RIVAL)
    leads = np.clip(likely - np.maximum(found, _NO_RIVAL), -_LEAD, _LEAD).reshape(2, -1)
    return dict(zip(scores, zip(*leads.tolist(), strict=True), strict=True))


def find_logit(score: float) -> float:
    """The logarithm of the odds of a score."""
    score = min(max(score, 1e-9), 1 - 1e-9)
    return math.log(score / (1 - score))


def squash_logit(logit: float) -> float:
    """The score of such odds."""
    return 1 / (1 + math.exp(-logit))
