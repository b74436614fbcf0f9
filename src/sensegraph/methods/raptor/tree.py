"""The part `tree` of an index: the leaves, the summaries above them, and what a search needs of both (RAPTOR)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sensegraph.algorithms.graphs import Floats
from sensegraph.algorithms.ranking import Bm25
from sensegraph.errors import SettingsError
from sensegraph.language.text import list_stems
from sensegraph.methods.raptor.leaves import Leaf, make_leaves
from sensegraph.methods.raptor.nodes import Nodes, index_node_words, make_nodes
from sensegraph.protocols import Store
from sensegraph.runtime.results import recall_result, step, take_records
from sensegraph.types import Cluster, Hierarchy


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """How the tree of RAPTOR grows; the defaults are those of sarthi2024 or of its authors' code.

    `leaf_tokens` bounds a leaf, `summary_tokens` a summary, `input_tokens` what a summary is written from: a group of
    more is parted again, `depth` times at most, as is one of more than twice `children` nodes (0: of any number).
    Vectors are reduced to `dims` columns. A node belongs to every cluster whose posterior is above `threshold`, with
    `membership` = argmax to one alone. A layer of at most `stop` nodes is the last, as is number `layers`; so many
    nodes are not parted inside a cluster either.
    """

    leaf_tokens: int = 100
    summary_tokens: int = 100
    input_tokens: int = 3_500
    children: int = 7  # on average 6.7 in the paper
    depth: int = 5
    layers: int = 5
    stop: int = 11
    dims: int = 16
    membership: Literal["soft", "argmax"] = "soft"
    threshold: float = 0.1
    seed: int = 224

    def __post_init__(self) -> None:
        for name in ("leaf_tokens", "summary_tokens", "input_tokens", "layers", "stop", "dims"):
            if getattr(self, name) < 1:
                raise SettingsError(f"index.tree.{name} is {getattr(self, name)}; it must be at least 1.")
        for name in ("children", "depth"):
            if getattr(self, name) < 0:
                raise SettingsError(f"index.tree.{name} is {getattr(self, name)}; it must be at least 0.")
        if not 0 < self.threshold < 1:
            raise SettingsError(f"index.tree.threshold is {self.threshold}; it must lie between 0 and 1.")


@dataclass(frozen=True, slots=True)
class TreeKeys:
    """The keys of what a tree is made of."""

    leaves: str
    summaries: str
    nodes: str
    words: str


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
        return np.asarray(self.words.score(list_stems(text))[self.nodes.number])

    def within(self, places: Sequence[int]) -> Tree:
        """The leaves of the chunks at these positions, ascending, and the summaries that rest on no other chunk."""
        found = self.nodes.within(places)
        kept, summed = split_positions(found, self.nodes.leaves)
        hidden = self.nodes.touching(places) - len(summed)
        return Tree(
            tuple(take_records(self.leaves, kept)),
            tuple(take_records(self.summaries, summed)),
            found,
            self.words,
            hidden,
        )


@step("growing.summaries", version=1, form="tables")
def keep_summaries(wholes: Sequence[Hierarchy], *, settings: TreeSettings, writer: str) -> list[Hierarchy]:
    """The finished summaries; `writer` is who wrote them."""
    return list(wholes)


@step("tree.planted", version=1)
def keep_tree_keys(wholes: Sequence[TreeKeys]) -> list[TreeKeys]:
    """What a tree is made of."""
    return list(wholes)


def read_tree(store: Store, name: str) -> Tree:
    """The tree that was planted under this key."""
    made = recall_result(store, keep_tree_keys, name)
    return Tree(
        recall_result(store, make_leaves, made.leaves).leaves,
        recall_result(store, keep_summaries, made.summaries).clusters,
        recall_result(store, make_nodes, made.nodes),
        recall_result(store, index_node_words, made.words),
    )


def split_positions(found: Nodes, leaves: int) -> tuple[list[int], list[int]]:
    """The positions of nodes among the leaves, of which the whole index has so many, and among its summaries."""
    number = [int(i) for i in found.number]
    return [i for i in number if i < leaves], [i - leaves for i in number if i >= leaves]
