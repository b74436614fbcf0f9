"""Pairs of two lists, each of which names a thing once: what has no likelier partner is surer to be the partner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sensegraph.resolution.values import Judged, Mentioned

Pair = tuple[int, int]
_LEAD = 0.15  # by which it must be likelier than any other of the list
_SURE = 0.87


def matched(items: Sequence[Mentioned], scores: Mapping[Pair, Judged], least: float) -> dict[Pair, Judged]:
    """Those pairs of items of two lists that are, from either side, likelier than all others by far; judged anew.

    `least` is the score from which such a pair may be one thing.
    """
    best: dict[tuple[int, str], list[float]] = {}
    lists = [pair for pair in scores if _two_lists(items[pair[0]], items[pair[1]])]
    for a, b in lists:
        for row, other in ((a, b), (b, a)):
            best.setdefault((row, items[other].listed), []).append(scores[a, b].score)
    tops = {place: sorted(found, reverse=True)[:2] for place, found in best.items()}
    raised = {}
    for a, b in lists:
        judged = scores[a, b]
        if judged.veto or not least <= judged.score < _SURE:
            continue
        if all(_leads(judged.score, tops[place]) for place in ((a, items[b].listed), (b, items[a].listed))):
            raised[a, b] = replace(judged, score=_SURE, why=f"{judged.why}; neither list has a likelier one")
    return raised


def _two_lists(a: Mentioned, b: Mentioned) -> bool:
    return bool(a.listed and b.listed) and a.listed != b.listed


def _leads(score: float, top: Sequence[float]) -> bool:
    return score >= top[0] and (len(top) == 1 or score >= top[1] + _LEAD)
