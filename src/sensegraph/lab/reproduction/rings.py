"""The resolution limit of modularity on rings of cliques, which the constant Potts model has not (traag2011; N36)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import get_args

import numpy as np

from sensegraph.algorithms.clustering import Quality, leiden
from sensegraph.algorithms.graphs import Edges, canonical_edges

SIZE = 5
JOINED = SIZE * (SIZE - 1) + 3
"""With n cliques of s nodes, m = n (s(s−1)/2 + 1); joining two gains 1/m − 2 (1/n)² of modularity: n > s(s−1) + 2."""


def count_communities(counts: Sequence[int], rule: str) -> list[float]:
    """How many communities rings of so many cliques have; a rule is a quality and its resolution, as in `cpm 0.1`."""
    quality, _, resolution = rule.partition(" ")
    known = {name: name for name in get_args(Quality)}
    found = (leiden(link_cliques(n), quality=known[quality], resolution=float(resolution)) for n in counts)
    return [float(len(np.unique(labels))) for labels in found]


def link_cliques(count: int) -> Edges:
    """A ring of cliques of five nodes, each joined to the next by one edge."""
    inner = [(c * SIZE + a, c * SIZE + b) for c in range(count) for a, b in combinations(range(SIZE), 2)]
    between = [(c * SIZE, ((c + 1) * SIZE + 1) % (count * SIZE)) for c in range(count)]
    ends = np.array(inner + between, np.int64)
    return canonical_edges(ends[:, 0], ends[:, 1], np.ones(len(ends)), count * SIZE)
