"""Measures of one ranking against the judgements of one question; every one lies between 0 and 1.

`ranked` holds document ids, best first; ranks are their places, so ties cannot occur. `gold` holds the grade of every
document that was judged relevant, each above 0; it is never empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log2

Gold = Mapping[str, int]
NDCG = 10  # the depth of nDCG


def recall_at_k(ranked: Sequence[str], gold: Gold, k: int) -> float:
    """The share of the relevant documents that the first `k` hold."""
    return len(gold.keys() & set(ranked[:k])) / len(gold)


def all_gold(ranked: Sequence[str], gold: Gold, k: int) -> float:
    """1 where the first `k` hold every relevant document, as a question of several hops needs; else 0."""
    return float(gold.keys() <= set(ranked[:k]))


def precision_at_k(ranked: Sequence[str], gold: Gold, k: int) -> float:
    """The share of the first `k` places that hold a relevant document; an empty place holds none."""
    return len(gold.keys() & set(ranked[:k])) / k


def reciprocal_rank(ranked: Sequence[str], gold: Gold) -> float:
    """1 / rank of the first relevant document; 0 where there is none."""
    return next((1 / rank for rank, name in enumerate(ranked, 1) if name in gold), 0.0)


def ndcg(ranked: Sequence[str], gold: Gold, k: int = NDCG) -> float:
    """Σ grade / log2(1 + rank) over the first `k`, divided by that of the best order (Järvelin and Kekäläinen 2002).

    The gain is the grade itself, as in trec_eval, so that figures on BEIR's sets can be compared.
    """
    ideal = sorted(gold.values(), reverse=True)
    return _discounted_gain(gold.get(name, 0) for name in ranked[:k]) / _discounted_gain(ideal[:k])


def _discounted_gain(gains: Iterable[int]) -> float:
    return sum(gain / log2(1 + rank) for rank, gain in enumerate(gains, 1))


def list_metrics(cuts: Sequence[int]) -> tuple[str, ...]:
    """The measures that `measure_ranking` gives, in its order."""
    at_cuts = (f"{kind}@{k}" for kind in ("recall", "all", "precision") for k in cuts)
    return (*at_cuts, f"ndcg@{NDCG}", "mrr")


def measure_ranking(ranked: Sequence[str], gold: Gold, cuts: Sequence[int]) -> tuple[float, ...]:
    """Every measure of one ranking: recall, all-gold and precision at each of `cuts`, nDCG@10, reciprocal rank.

    A document that a ranking names twice counts at its first place.
    """
    ranked = tuple(dict.fromkeys(ranked))
    at_cuts = (f(ranked, gold, k) for f in (recall_at_k, all_gold, precision_at_k) for k in cuts)
    return (*at_cuts, ndcg(ranked, gold), reciprocal_rank(ranked, gold))
