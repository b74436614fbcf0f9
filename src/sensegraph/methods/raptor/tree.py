"""The part `tree` of an index: the leaves, the summaries above them, and what a search needs of both (RAPTOR)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sensegraph.algorithms.graphs import Floats
from sensegraph.algorithms.ranking import Bm25
from sensegraph.index.vectors import embed_records
from sensegraph.language.stems import stems
from sensegraph.methods.raptor.gathering import TreeSettings
from sensegraph.methods.raptor.growing import grow, summaries, summary_texts
from sensegraph.methods.raptor.leaves import Leaf, find_leaves, leaf_texts, leaves
from sensegraph.methods.raptor.nodes import Nodes, node_words, nodes
from sensegraph.protocols import Store
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import at, recall, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk, Cluster


@dataclass(frozen=True, slots=True)
class TreeKeys:
    """The keys of what a tree is made of."""

    leaves: str
    summaries: str
    nodes: str
    words: str


@dataclass(frozen=True, slots=True)
class Planted:
    """A tree that was built: its key, those of the vectors of its leaves and summaries, how many of both there are, and
    what has to be said.
    """

    tree: str
    leaf_vectors: str
    summary_vectors: str
    leaves: int
    summaries: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """Leaves and summaries, each in its order; `nodes` numbers the leaves first.

    `words` is the word index of the nodes of the whole index. `hidden` counts the summaries above these leaves that a
    filter left out, because they rest on what is outside.
    """

    leaves: Sequence[Leaf]
    summaries: Sequence[Cluster]
    nodes: Nodes
    words: Bm25
    hidden: int = 0

    def score(self, text: str) -> Floats:
        """The BM25 score of every node for `text`, shape (n,)."""
        return np.asarray(self.words.score(stems(text))[self.nodes.number])

    def within(self, places: Sequence[int]) -> Tree:
        """The leaves of the chunks at these positions, ascending, and the summaries that rest on no other chunk."""
        found = self.nodes.within(places)
        kept, summed = positions(found, self.nodes.leaves)
        hidden = self.nodes.touching(places) - len(summed)
        return Tree(tuple(at(self.leaves, kept)), tuple(at(self.summaries, summed)), found, self.words, hidden)


@step("tree.planted", version=1)
def planted(wholes: Sequence[TreeKeys]) -> list[TreeKeys]:
    """What a tree is made of."""
    return list(wholes)


def plant(
    chunks: Callable[[], Iterable[Chunk]], name: str, ids: Sequence[str], rt: Runtime, settings: TreeSettings
) -> Planted:
    """The tree over chunks, whose key is `name`, and whose `ids` are those of the catalogue; what is there is kept.

    Raises UnsupportedTask where the engine does not condense.
    """
    rt.check("the tree of raptor", frozenset({"condense"}))
    cut = find_leaves(chunks, name, rt, settings.leaf_tokens)
    said = embed_records(lambda: leaf_texts(cut.value, chunks()), rt, name=key("leaves", cut.key))
    grown = grow(cut, said, chunks, rt, settings)
    summed = embed_records(lambda: summary_texts(grown.value), rt, name=key("summaries", grown.key))
    names = (cut.key, grown.key, name)
    shape = rt.once(nodes, lambda: (cut.value, grown.value, ids), names=names)
    words = rt.once(node_words, lambda: (cut.value, grown.value, chunks()), names=names)
    made = rt.once(planted, TreeKeys(cut.key, grown.key, shape.key, words.key))
    sizes = (len(cut.value.leaves), len(grown.value.clusters))
    return Planted(made.key, said.key, summed.key, *sizes, grown.value.notes)


def tree(store: Store, name: str) -> Tree:
    """The tree that was planted under this key."""
    made = recall(store, planted, name)
    return Tree(
        recall(store, leaves, made.leaves).leaves,
        recall(store, summaries, made.summaries).clusters,
        recall(store, nodes, made.nodes),
        recall(store, node_words, made.words),
    )


def positions(found: Nodes, leaves: int) -> tuple[list[int], list[int]]:
    """The positions of nodes among the leaves, of which the whole index has so many, and among its summaries."""
    number = [int(i) for i in found.number]
    return [i for i in number if i < leaves], [i - leaves for i in number if i >= leaves]
