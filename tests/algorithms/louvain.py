"""A tiny Louvain, to show what Leiden repairs (Blondel et al. 2008; Traag, Waltman and van Eck 2019, §"Louvain")."""

from __future__ import annotations

from sensegraph.algorithms.graphs import Edges

Links = list[dict[int, float]]


def louvain(edges: Edges) -> list[int]:
    """The community of every node; local moving in the order of the nodes, aggregation, until nothing moves."""
    links: Links = [{} for _ in range(edges.nodes)]
    for a, b, w in zip(edges.source.tolist(), edges.target.tolist(), edges.weight.tolist(), strict=True):
        links[a][b] = links[b][a] = w
    member, loops, twice = list(range(edges.nodes)), [0.0] * edges.nodes, 2 * float(edges.weight.sum())
    while True:
        labels = _local_moving(links, loops, twice)
        names = {label: i for i, label in enumerate(sorted(set(labels)))}
        if len(names) == len(labels):
            return member
        member = [names[labels[m]] for m in member]
        links, loops = _aggregated(links, loops, [names[label] for label in labels], len(names))


def _local_moving(links: Links, loops: list[float], twice: float) -> list[int]:
    strength = [sum(row.values()) + 2 * loop for row, loop in zip(links, loops, strict=True)]
    labels, totals, moved = list(range(len(links))), list(strength), True
    while moved:
        moved = False
        for v, row in enumerate(links):
            own, to = labels[v], {labels[v]: 0.0}
            for u, w in row.items():
                to[labels[u]] = to.get(labels[u], 0.0) + w
            totals[own] -= strength[v]
            gain = {c: to[c] - strength[v] * totals[c] / twice for c in sorted(to)}
            best = max(gain, key=lambda c: (gain[c], c == own))
            totals[best] += strength[v]
            labels[v], moved = best, moved or best != own
    return labels


def _aggregated(links: Links, loops: list[float], labels: list[int], count: int) -> tuple[Links, list[float]]:
    between: Links = [{} for _ in range(count)]
    within = [0.0] * count
    for v, row in enumerate(links):
        a = labels[v]
        within[a] += loops[v]
        for u, w in row.items():
            if a == labels[u]:
                within[a] += w / 2
            else:
                between[a][labels[u]] = between[a].get(labels[u], 0.0) + w
    return between, within
