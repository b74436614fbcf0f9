"""What patterns ask of every entity and relation, as arrays that are mapped: types, labels, weights, directions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sensegraph.runtime.results import step
from sensegraph.types import Graph

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Facets:
    """Positions are those of the graph's entities (n) and relations (m).

    `kinds` (n) number the entities' types, `labels` (m) the relations' labels, as `kinds_called` and `labels_called`
    (JSON) list them. `sources` (m) are the positions of the entities that relations lead from; `directed` (m) whether
    texts tell them one way.
    """

    kinds: Ints
    degrees: Ints
    frequencies: Ints
    labels: Ints
    weights: NDArray[np.float64]
    sources: Ints
    directed: NDArray[np.bool_]
    kinds_called: NDArray[np.uint8]
    labels_called: NDArray[np.uint8]

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types of entities, in the alphabet's order."""
        return tuple(json.loads(self.kinds_called.tobytes()))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The labels of relations, in the alphabet's order; the first is empty where some have none."""
        return tuple(json.loads(self.labels_called.tobytes()))


@step("facets.facets", version=2, form="arrays")
def collect_facets(graphs: Sequence[Graph]) -> list[Facets]:
    """The facets of graphs."""
    found = list[Facets]()
    for graph in graphs:  # each record is decoded once
        position, kinds, counts = dict[str, int](), list[str](), list[tuple[int, int]]()
        for e in graph.entities:
            position[e.id] = len(position)
            kinds.append(e.type)
            counts.append((e.degree, e.frequency))
        labels, weights = list[str](), list[float]()
        sources, directed = list[int](), list[bool]()
        for r in graph.relations:
            labels.append(r.label)
            weights.append(r.weight)
            sources.append(position[r.source])
            directed.append(r.directed)
        degrees, frequencies = np.asarray(counts, np.int32).reshape(-1, 2).T
        types, kind = _number_texts(kinds)
        names, label = _number_texts(labels)
        encoded = (np.frombuffer(json.dumps(texts).encode(), np.uint8) for texts in (types, names))
        measured = (np.asarray(weights, np.float64), np.asarray(sources, np.int32), np.asarray(directed, np.bool_))
        found.append(Facets(kind, degrees.copy(), frequencies.copy(), label, *measured, *encoded))
    return found


def _number_texts(texts: Sequence[str]) -> tuple[list[str], Ints]:
    listed = sorted(set(texts))
    number = {text: i for i, text in enumerate(listed)}
    return listed, np.asarray([number[text] for text in texts], np.int32)
