"""Verdicts with order effects, made by rule to the counts of a published set (both orders, no ties).

Eight comparisons of 100 pairs of verdicts each: of 1,600 verdicts the first answer wins 1,162 (72.6 %), of 800 pairs
430 (53.8 %) name the same winner in both orders; in the first comparison it wins 96 % and 8 of 100 pairs agree.
"""

from __future__ import annotations

from dataclasses import replace

from sensegraph.lab.judging.criteria import choose_rules
from sensegraph.lab.judging.judgements import Judged, Judgements

PAIRS = (("ours", "earlier"), ("ours", "plain"))
QUESTIONS = 100
CELLS = (  # same winner in both orders and it is the pair's first, or its second; the answer shown first; shown second
    (4, 4, 92, 0),
    (42, 30, 27, 1),
    (36, 30, 34, 0),
    (34, 28, 37, 1),
    (33, 27, 40, 0),
    (30, 28, 41, 1),
    (29, 25, 46, 0),
    (20, 30, 49, 1),
)


def published() -> Judgements:
    """The verdicts, four criteria of each pair."""
    how = replace(choose_rules("zhang2025"), both_orders=True, replicates=1)
    cells = [(c.name, pair) for pair in PAIRS for c in how.criteria]
    verdicts = [
        Judged(question, criterion, *shown, 0, winner)
        for (criterion, pair), counts in zip(cells, CELLS, strict=True)
        for question, places in enumerate(_places(counts))
        for shown, winner in zip((pair, (pair[1], pair[0])), places, strict=True)
    ]
    return Judgements(how, QUESTIONS, PAIRS, tuple(verdicts), {})


def _places(counts: tuple[int, int, int, int]) -> list[tuple[int, int]]:
    """The winning places of each pair of verdicts, in the order (pair) and turned."""
    kinds = ((1, 2), (2, 1), (1, 1), (2, 2))
    return [kind for kind, count in zip(kinds, counts, strict=True) for _ in range(count)]
