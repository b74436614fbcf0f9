"""Clusters of what is alike, with pairs that must and pairs that must not be together; no chains.

Average linkage, best first: two clusters join while the mean score over all pairs between them is at least `accept`,
no pair of them is below `reject` (or unknown), and none is forbidden. So one good link does not pull in what the rest
of the cluster is unlike. Average linkage never rises when clusters join (Murtagh 1983), so a higher `accept` cuts the
same sequence of joins earlier: it never joins more.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

_UNIT = 1 << 20  # scores are counted in this fraction: their sums are exact in any order


def connect_rows(count: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Rows that pairs connect, directly or not: each list ascends, and so do their first rows."""
    root = list(range(count))
    for a, b in pairs:
        a, b = find_root(root, a), find_root(root, b)
        root[max(a, b)] = min(a, b)
    groups: dict[int, list[int]] = {}
    for row in range(count):
        groups.setdefault(find_root(root, row), []).append(row)
    return list(groups.values())


def cluster_by_linkage(
    count: int,
    scores: Iterable[tuple[int, int, float]],
    *,
    accept: float,
    reject: float,
    together: Sequence[tuple[int, int]] = (),
    joined: Sequence[tuple[int, int]] = (),
    apart: Sequence[tuple[int, int]] = (),
) -> list[list[int]]:
    """A partition of `count` rows: each list ascends, and so do their first rows.

    `scores` are pairs with a score from 0 to 1, each once; of a pair without one nothing is known, and it keeps two
    clusters apart. Rows that are `together` count as one, which is as alike to another as the likest of them. Rows that
    are `joined` begin in one cluster, as if they had been joined here before: given back what this function joined, it
    joins nothing more. `apart` holds always, also against both: the caller settles contradictions before.
    """
    units = connect_rows(count, together)
    unit = {row: number for number, rows in enumerate(units) for row in rows}
    best: dict[tuple[int, int], int] = {}
    for a, b, score in scores:
        pair = _order_pair(unit[a], unit[b])
        best[pair] = max(best.get(pair, 0), round(score * _UNIT))
    forbidden = {_order_pair(unit[a], unit[b]) for a, b in apart}
    least = round(reject * _UNIT)
    links: list[dict[int, int]] = [{} for _ in units]
    for (a, b), score in best.items():
        if a != b and score >= least and (a, b) not in forbidden:
            links[a][b] = links[b][a] = score
    sizes = [1] * len(units)
    begun = connect_rows(len(units), [_order_pair(unit[a], unit[b]) for a, b in joined])
    for first, *others in begun:
        for other in others:
            _absorb_links(links, first, other)
            units[first], sizes[first], sizes[other] = sorted(units[first] + units[other]), sizes[first] + 1, 0
    return _join_best(units, links, sizes, round(accept * _UNIT) - 1)  # a mean of rounded scores may be a unit less


def _join_best(units: list[list[int]], links: list[dict[int, int]], sizes: list[int], accept: int) -> list[list[int]]:
    """Units joined best first; `links` are the sums of scores between units of which all pairs may be together.

    `sizes` are the numbers of units in each, 0 for one that has been joined to another.
    """
    alive = [size > 0 for size in sizes]
    near_enough = (
        (a, b, s, sizes[a] * sizes[b])
        for a, near in enumerate(links)
        for b, s in near.items()
        if a < b and s >= accept * sizes[a] * sizes[b]
    )
    heap = [(-s / size, a, b, size) for a, b, s, size in near_enough]
    heapq.heapify(heap)
    while heap:
        _, a, b, size = heapq.heappop(heap)
        if not (alive[a] and alive[b]) or size != sizes[a] * sizes[b]:  # one of them has joined another meanwhile
            continue
        near = _absorb_links(links, a, b)
        alive[b] = False
        sizes[a] += sizes[b]
        units[a] = sorted(units[a] + units[b])
        for c, s in near.items():
            size = sizes[a] * sizes[c]
            if s >= accept * size:
                heapq.heappush(heap, (-s / size, min(a, c), max(a, c), size))
    return sorted(rows for rows, here in zip(units, alive, strict=True) if here)


def _absorb_links(links: list[dict[int, int]], a: int, b: int) -> dict[int, int]:
    """The links of a and b as one: only to those that both may be together with."""
    one, other = links[a], links[b]
    near = {c: s + other[c] for c, s in one.items() if c in other}
    for c in (*one, *other):
        links[c].pop(a, None)
        links[c].pop(b, None)
    links[a], links[b] = near, {}
    for c, s in near.items():
        links[c][a] = s
    return near


def _order_pair(a: int, b: int) -> tuple[int, int]:
    return min(a, b), max(a, b)


def find_root(root: list[int], row: int) -> int:
    """What stands for the group of a row: the end of the chain `root`, which is made shorter on the way."""
    while root[row] != row:
        root[row] = root[root[row]]
        row = root[row]
    return row
