"""What two things have in common beside their names: neighbours, places in the texts, vectors of their descriptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sensegraph.resolution.resolution_types import Mentioned

Context = Literal["shared", "none", "strange", "unknown"]
"""Something in common; nothing; nothing although much is known of both; nothing is known."""
_NEIGHBOURS = 0.1  # Jaccard of neighbours, each weighing by how few have it, from which two have them in common
_MANY = 5  # neighbours of each from which having none in common is strange
_CLOSE, _FAR = 0.6, 0.2  # cosines of descriptions


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """The contexts of all things of a collection; `vectors`, unit length, shape (n, dim), in their order, or None."""

    degree: Mapping[str, int]
    vectors: NDArray[Any] | None = None

    def of(self, a: tuple[int, Mentioned], b: tuple[int, Mentioned]) -> Context:
        """What two things, given with their positions, have in common."""
        cosine = self._cosine(a[0], b[0])
        one, other = set(a[1].neighbours), set(b[1].neighbours)
        places = bool(a[1].places) and bool(b[1].places)
        if places and not set(a[1].places).isdisjoint(b[1].places):
            return "shared"
        if b[1].id in one or a[1].id in other or self._jaccard(one, other) >= _NEIGHBOURS:
            return "shared"
        if cosine is not None and cosine >= _CLOSE:
            return "shared"
        apart = one.isdisjoint(other) and (cosine is None or cosine < _FAR)
        if apart and min(len(one), len(other)) >= (_MANY if cosine is None else _MANY - 2):
            return "strange"
        return "none" if places or (one and other) or cosine is not None else "unknown"

    def _jaccard(self, one: set[str], other: set[str]) -> float:
        return self._weight(one & other) / max(self._weight(one | other), 1e-9)

    def _weight(self, neighbours: Iterable[str]) -> float:
        return sum(1 / self.degree.get(n, 1) for n in sorted(neighbours))

    def _cosine(self, a: int, b: int) -> float | None:
        if self.vectors is None or not self.vectors[a].any() or not self.vectors[b].any():
            return None
        return float(np.dot(self.vectors[a], self.vectors[b]))


def collect_surroundings(items: Sequence[Mentioned], vectors: NDArray[Any] | None = None) -> Surroundings:
    """How many things have each neighbour, and the vectors of descriptions where there are any."""
    return Surroundings(MappingProxyType(Counter(n for item in items for n in sorted(set(item.neighbours)))), vectors)
