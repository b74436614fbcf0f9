"""A ranking that does not say the same thing twice: the same for every method that ranks chunks, before they are cut.

Only the first chunks of a ranking change places; what follows stays behind them. Scores stay those of the method.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from sensegraph.algorithms.diversity import rank_by_cover, rank_by_mmr
from sensegraph.algorithms.fusion import Ranking
from sensegraph.algorithms.walking import run_offsets
from sensegraph.errors import SettingsError
from sensegraph.index.index import Index
from sensegraph.index.restricted.scope import ScopedIndex
from sensegraph.language.text import list_stems
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Question

Diversify = Literal["none", "mmr", "cover"]
POOL = 100  # chunks that change places


def check_balance(method: str, balance: float) -> None:
    """Raise SettingsError for a `balance` of `method` that is not from 0 to 1."""
    if not 0 <= balance <= 1:
        raise SettingsError(f"{method}: balance is {balance}; it must be from 0 to 1.")


def diversify_ranking(
    question: Question, ranking: Ranking, index: Index, rt: Runtime, how: Diversify, balance: float
) -> Ranking:
    """`ranking`, whose first `POOL` chunks stand in an order in which each adds to those before it.

    `mmr`: the next fits best and is least like any before it, by vectors (Carbonell and Goldstein 1998, §2). `cover`:
    the next fits best and has most of the question's words that none before it has, by their rarity. `balance` is the
    share of fitting, a score from 0 for the last of these chunks to 1 for the first.
    """
    if how == "none" or len(ranking) < 2:
        return ranking
    head = ranking.positions[:POOL]
    top = ranking.scores[:POOL]
    low, high = float(top.min()), float(top.max())
    fit = (top - low) / (high - low) if high > low else np.ones(len(top))
    if how == "mmr":
        order, _ = rank_by_mmr(fit, np.asarray(index.vectors_of(rt.embedder)[head]), len(head), balance)
    else:
        asked = list_stems(question.sought)
        places = np.asarray(index.places, np.int64)[head] if isinstance(index, ScopedIndex) else head
        has = [np.isin(places, who) for _, (who, _) in index.words.hits(asked)]
        idf = [index.words.idf(word) for word in sorted(set(asked))]
        table = np.array(has, np.bool_).reshape(len(idf), len(head)).T
        # each chunk adds its words that none before it has, and its fitting, a word of its own
        own = np.eye(len(fit), dtype=np.bool_)
        rows, elements = np.nonzero(np.hstack((table, own)))
        there = np.array(idf, np.float64) * table.any(axis=0)  # what nobody has is nobody's to say
        weights = np.concatenate(((1 - balance) * there / max(float(there.sum()), 1e-300), balance * fit))
        starts = run_offsets(np.bincount(rows, minlength=len(fit)))
        order = rank_by_cover(starts, elements.astype(np.int64), weights)
    positions, scores = ranking.positions.copy(), ranking.scores.copy()
    positions[: len(head)], scores[: len(head)] = head[order], scores[order]
    return Ranking(ranking.name, positions, scores)
