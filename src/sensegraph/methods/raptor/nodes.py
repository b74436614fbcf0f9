"""The nodes of RAPTOR's tree as arrays: what is above what, how long each is, which words it has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Ints, Longs
from sensegraph.algorithms.ranking import Bm25
from sensegraph.algorithms.walking import gather_entries, run_offsets
from sensegraph.language.text import list_stems
from sensegraph.methods.raptor.leaves import Leaves
from sensegraph.runtime.results import step
from sensegraph.types import Chunk, Hierarchy


@dataclass(frozen=True, eq=False)
class Nodes:
    """The leaves, in their order, and then the summaries in that of the tree: n nodes.

    `tokens` and `level` have shape (n,), `level` 0 for leaves and 1 or more for summaries; `promoted` (n,) marks
    those that only repeat their one child. The children of node i are `child[start[i]:start[i + 1]]`. `chunk` (leaves,)
    is the position of a leaf's chunk in the catalogue. `number` (n,) is the position in the whole index.
    """

    tokens: Ints
    level: Ints
    promoted: NDArray[np.int8]
    start: Longs
    child: Ints
    chunk: Ints
    number: Longs

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return len(self.chunk)

    def children(self, nodes: Sequence[int]) -> list[int]:
        """The children of nodes, each once, ascending."""
        places, _ = gather_entries(self.start, np.asarray(nodes, np.int64))
        return [int(i) for i in np.unique(np.asarray(self.child)[places])]

    def below(self, node: int) -> frozenset[int]:
        """The leaves below a node; of a leaf itself."""
        layer = [node]
        while layer and layer[0] >= self.leaves:
            layer = self.children(layer)
        return frozenset(layer)

    def tops(self) -> list[int]:
        """The nodes that no other is above, ascending."""
        return [int(i) for i in np.setdiff1d(np.arange(len(self)), self.child)]

    def within(self, places: Sequence[int]) -> Nodes:
        """What the chunks at these positions, ascending, make: their leaves, and summaries that rest on no other."""
        where = np.full(int(max(self.chunk.max(initial=-1), max(places, default=-1))) + 1, -1, np.int64)
        where[np.asarray(places, np.int64)] = np.arange(len(places))
        kept = self._raised(where[self.chunk] >= 0, np.logical_and)
        new = np.cumsum(kept) - 1
        rows, sizes = gather_entries(self.start, np.flatnonzero(kept))
        return Nodes(
            np.asarray(self.tokens)[kept],
            np.asarray(self.level)[kept],
            np.asarray(self.promoted)[kept],
            run_offsets(sizes),
            new[self.child[rows]].astype(np.int32),
            where[self.chunk[kept[: self.leaves]]].astype(np.int32),
            np.asarray(self.number)[kept],
        )

    def touching(self, places: Sequence[int]) -> int:
        """How many summaries rest on a chunk at these positions, whatever else they rest on."""
        inside = np.isin(self.chunk, np.asarray(places, np.int64))
        return int(self._raised(inside, np.logical_or)[self.leaves :].sum())

    def _raised(self, leaves: NDArray[np.bool_], join: np.ufunc) -> NDArray[np.bool_]:
        """What holds of every node, shape (n,): of a summary what `join` makes of its children."""
        kept = np.concatenate((leaves, np.zeros(len(self) - self.leaves, np.bool_)))
        for level in range(1, int(self.level.max(initial=0)) + 1):
            mine = np.flatnonzero(self.level == level)
            rows, sizes = gather_entries(self.start, mine)
            kept[mine] = join.reduceat(kept[self.child[rows]], run_offsets(sizes)[:-1])
        return kept


@step("nodes.nodes", version=1, form="arrays")
def make_nodes(wholes: Sequence[tuple[Leaves, Hierarchy, Sequence[str]]]) -> list[Nodes]:
    """The nodes of leaves and the tree above them; the ids of all chunks tell where each is in the catalogue."""
    results: list[Nodes] = []
    for leaves, tree, chunks in wholes:
        place = {name: i for i, name in enumerate(chunks)}
        cut, clusters = list(leaves.leaves), list(tree.clusters)
        node = {name: i for i, name in enumerate([*(leaf.id for leaf in cut), *(c.id for c in clusters)])}
        sizes = [0] * len(cut) + [len(c.members) for c in clusters]
        results.append(
            Nodes(
                np.array([*(leaf.tokens for leaf in cut), *(c.tokens for c in clusters)], np.int32),
                np.array([0] * len(cut) + [c.level + 1 for c in clusters], np.int32),
                np.array([0] * len(cut) + [bool(c.promoted) for c in clusters], np.int8),
                run_offsets(sizes),
                np.fromiter(chain.from_iterable((node[m] for m in c.members) for c in clusters), np.int32),
                np.array([place[leaf.chunk] for leaf in cut], np.int32),
                np.arange(len(node)),
            )
        )
    return results


@step("nodes.node_words", version=1, form="arrays")
def index_node_words(wholes: Sequence[tuple[Leaves, Hierarchy, Iterable[Chunk]]]) -> list[Bm25]:
    """The word index of the nodes, in their order; the title of its document counts as words of every leaf."""
    found: list[Bm25] = []
    for cut, tree, chunks in wholes:
        known = {c.id: c for c in chunks}
        said = [f"{(c := known[leaf.chunk]).title}\n{c.text[leaf.start : leaf.end]}" for leaf in cut.leaves]
        found.append(Bm25.build(list_stems(text) for text in chain(said, (c.text for c in tree.clusters))))
    return found
