"""Random walks with restart over a weighted graph, as arrays: personalised PageRank by power iteration.

Sums run in the order of the arrays, so that equal input gives equal bytes on every machine and in every run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensegraph.algorithms.graphs import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """The steps that a walk may take: from `source[i]` to `target[i]` with the probability `share[i]`.

    int32, int32 and float64 of shape (m,), by target and then source; the shares that leave a node sum to 1, a node
    without any is a dead end.
    """

    source: Ints
    target: Ints
    share: Floats


def build_moves(source: ArrayLike, target: ArrayLike, weight: ArrayLike, nodes: int) -> Moves:
    """The moves along weighted, directed edges, shape (m,), of a graph on `nodes` nodes; edges of one pair may repeat.

    Raises ValueError for a weight that is not positive and finite, and for a node outside 0…nodes−1.
    """
    a, b, w = np.asarray(source, np.int32), np.asarray(target, np.int32), np.asarray(weight, np.float64)
    if len(w) and not (np.isfinite(w).all() and w.min() > 0):
        raise ValueError("the weights of a walk must be positive and finite; leave out the edges that have none.")
    if len(w) and (min(a.min(), b.min()) < 0 or max(a.max(), b.max()) >= nodes):
        raise ValueError(f"an edge leads outside of nodes 0 to {nodes - 1}.")
    out = np.bincount(a, weights=w, minlength=nodes)
    order = np.lexsort((w, a, b))
    return Moves(a[order], b[order], (w / out[a])[order])


def pagerank(walk: Moves, reset: NDArray[Any], damping: float = 0.5, steps: int = 10) -> Floats:
    """The distribution of a walk after `steps` steps from `reset`, to which it returns with 1 − `damping` at each.

    `reset` has shape (n,), is not negative, and is scaled to sum 1; the mass of dead ends returns to it. Enough steps
    approach personalised PageRank (Haveliwala 2002). Raises ValueError for a reset without mass.
    """
    start = np.asarray(reset, np.float64)
    total = float(start.sum())
    if not np.isfinite(total) or total <= 0 or start.min() < 0:
        raise ValueError("a walk needs a start: `reset` must not be negative, and must have mass somewhere.")
    start = start / total
    source, share = walk.source.astype(np.intp), np.asarray(walk.share)  # converted once, not at every step
    first = np.flatnonzero(np.diff(walk.target, prepend=-1))
    reached = walk.target[first]
    dead = np.ones(len(start), bool)
    dead[source] = False
    here = start
    for _ in range(steps):
        moved = here[dead].sum() * start
        if len(first):
            moved[reached] += np.add.reduceat(share * here[source], first)
        here = damping * moved + (1 - damping) * start
    return here
