"""Pairs of two lists, each of which names a thing once: what has no likelier partner is surer to be the partner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sensegraph.resolution.resolution_types import Judged, Mentioned

Pair = tuple[int, int]
_LEAD = 0.15  # by which it must be likelier than any other of the list
_SURE = 0.87


def raise_matches(items: Sequence[Mentioned], scores: Mapping[Pair, Judged], least: float) -> dict[Pair, Judged]:
    """Those pairs of items of two lists that are, from either side, likelier than all others by far; judged anew.

    `least` is the score from which such a pair may be one thing.
    """
    best: dict[tuple[int, str], list[float]] = {}
    lists = [(a, b) for a, b in scores if items[a].listed and items[b].listed and items[a].listed != items[b].listed]
    for a, b in lists:
        for row, other in ((a, b), (b, a)):
            best.setdefault((row, items[other].listed), []).append(scores[a, b].score)
    tops = {place: sorted(found, reverse=True)[:2] for place, found in best.items()}
    raised = {}
    for a, b in lists:
        judged = scores[a, b]
        if judged.veto or not least <= judged.score < _SURE:
            continue
        both = (tops[a, items[b].listed], tops[b, items[a].listed])
        if all(judged.score >= top[0] and (len(top) == 1 or judged.score >= top[1] + _LEAD) for top in both):
            raised[a, b] = replace(judged, score=_SURE, why=f"{judged.why}; neither list has a likelier one")
    return raised
