"""Graphs whose entities fall into groups of alike vectors: what tests of hierarchies by meaning start from."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from sensegraph.runtime.results import Result
from sensegraph.types import Chunk, Description, Entity, Graph, Relation, Source

_TYPES = ("person", "place", "event")


@dataclass(frozen=True, slots=True)
class Planted:
    """A graph, the vectors of its entities, the group of each, and the chunks behind them."""

    graph: Graph
    vectors: NDArray[np.float32]
    group: tuple[int, ...]
    chunks: tuple[Chunk, ...]

    @property
    def named(self) -> Result[Graph]:
        """The graph under a key of its content."""
        return Result(f"graph {hash_of(self.graph)}", self.graph)

    @property
    def embedded(self) -> Result[NDArray[np.float32]]:
        """The vectors under a key of their content."""
        return Result(f"vectors {hash_of(self.vectors.tolist())}", self.vectors)


def hash_of(value: object) -> str:
    """What stands for a value."""
    from sensegraph.runtime.keys import key

    return key(value)


def planted(groups: int, size: int, links: int = 0, seed: int = 0, noise: float = 0.05, extra: int = 0) -> Planted:
    """`groups` groups of `size` entities whose vectors are near each other, and `links` relations between any two.

    `extra` more entities lie near the first groups. Entity i of group g is `g00-e00`, in the chunk and document of its
    group.
    """
    random, draw = Random(seed), np.random.default_rng(seed)
    centres = draw.standard_normal((max(groups, 1), 24))
    names = [(g, f"g{g:02}-e{i:02}") for g in range(groups) for i in range(size)]
    names += [(i % max(groups, 1), f"g{i % max(groups, 1):02}-x{i:02}") for i in range(extra)]
    noises = np.random.default_rng([seed, 1]).standard_normal((len(names), 24))
    rows = {name: centres[g] + noise * noises[i] for i, (g, name) in enumerate(names)}
    first = [name for _, name in names[: groups * size]]
    pairs = sorted({tuple(sorted(random.sample(first, 2))) for _ in range(links)})
    names.sort(key=lambda pair: pair[1])
    ids = [name for _, name in names]
    degree = {n: sum(n in pair for pair in pairs) for n in ids}
    entities = tuple(_entity(name, g, degree[name]) for g, name in names)
    relations = tuple(_relation(a, b) for a, b in pairs)
    matrix = np.array([rows[name] for name in ids], np.float32).reshape(len(ids), 24)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    chunks = tuple(Chunk(f"c{g:02}", f"d{g:02}", 0, 50, 10, "t" * 50) for g in range(max(groups, 1)))
    return Planted(Graph(entities, relations), matrix, tuple(g for g, _ in names), chunks)


def _entity(name: str, group: int, degree: int) -> Entity:
    chunk = f"c{group:02}"
    text = f"{name.title()} is the lamp of group {group}."
    return Entity(
        name, name.title(), _TYPES[group % 3], text, (Description(text, Source(chunk, 0, 9)),), (chunk,), 1, degree
    )


def _relation(a: str, b: str) -> Relation:
    chunk = f"c{a[1:3]}"
    text = f"{a.title()} lit {b.title()}."
    said = (Description(text, Source(chunk, 10, 19)),)
    return Relation(f"r {a} {b}", a, b, text, said, 1.0, (chunk,))
