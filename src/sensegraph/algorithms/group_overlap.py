"""Which groups of one partition are those of another: matched by overlap, and what became of the rest.

paper: Greene, Doyle, Cunningham 2010, "Tracking the evolution of communities in dynamic social networks" (ASONAM), §3
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

LEAST = 0.3  # Jaccard coefficient from which a group is another's successor (the paper's θ, §4)
_MOST = 0.5  # share of a group's members that must be in another for it to be a part of that


@dataclass(frozen=True, slots=True)
class Followed:
    """By position: `successor` pairs (old, new); `parts` of old groups that split and `sources` of those that merged,
    pairs (old, new) each without a successor of their own."""

    successor: tuple[tuple[int, int], ...] = ()
    parts: tuple[tuple[int, int], ...] = ()
    sources: tuple[tuple[int, int], ...] = ()


def match_groups(
    old: Sequence[frozenset[str]], new: Sequence[frozenset[str]], apart: Sequence[Sequence[int]] = ((), ())
) -> Followed:
    """Match each new group with at most one old, best overlap first; ties go to the same depth, then to the first.

    `apart` are the depths of the old and of the new groups: groups of different depths are matched only where no group
    of the same depth is as alike, and neither split nor merge into one another.
    """
    depths = (apart[0] or [0] * len(old), apart[1] or [0] * len(new))
    homes: dict[str, list[int]] = {}
    for a, members in enumerate(old):
        for m in members:
            homes.setdefault(m, []).append(a)
    shared = Counter((a, b) for b, members in enumerate(new) for m in members for a in homes.get(m, ()))
    ranked = sorted(
        (-n / (len(old[a]) + len(new[b]) - n), abs(depths[0][a] - depths[1][b]), a, b) for (a, b), n in shared.items()
    )
    after: dict[int, int] = {}
    before: dict[int, int] = {}
    for distance, _, a, b in ranked:
        if -distance >= LEAST and a not in after and b not in before:
            after[a], before[b] = b, a
    level = {pair: n for pair, n in shared.items() if depths[0][pair[0]] == depths[1][pair[1]]}
    known = Counter[int]()
    for (_, b), n in level.items():
        known[b] += n
    parts = [(a, b) for (a, b), n in level.items() if a in after and b not in before and n > _MOST * known[b]]
    sources = [(a, b) for (a, b), n in level.items() if a not in after and b in before and n > _MOST * len(old[a])]
    return Followed(tuple(sorted(after.items())), tuple(sorted(parts)), tuple(sorted(sources)))
