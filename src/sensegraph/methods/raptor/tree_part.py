"""The part `tree` of an index: leaves, and the summaries above them, which RAPTOR reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sensegraph.algorithms.full_text import Bm25
from sensegraph.index.index import Index
from sensegraph.index.manifest import MadePart
from sensegraph.index.parts import Building, Part, PartEstimate
from sensegraph.methods.raptor.tree import (
    Tree,
    TreeSettings,
    index_node_words,
    keep_summaries,
    keep_tree_keys,
    make_leaves,
    make_nodes,
    split_positions,
)
from sensegraph.runtime.results import recall_result

if TYPE_CHECKING:
    from sensegraph.index.estimate import Foresight
    from sensegraph.index.restricted.moment import TimedIndex
    from sensegraph.index.restricted.scope import ScopedIndex


class TreePart(Part[Tree, TreeSettings]):
    """The tree over the chunks, and the vectors of its leaves and summaries."""

    name = "tree"
    reader = "raptor"
    kinds = ("leaf", "summary")
    settings = TreeSettings

    def build(self, building: Building, settings: TreeSettings) -> MadePart:
        """Raises UnsupportedTask where the engine does not condense."""
        from sensegraph.methods.raptor.growing import plant_tree

        return plant_tree(building, settings)

    def estimate(self, foresight: Foresight, settings: TreeSettings) -> PartEstimate:
        """The summaries that nobody has written, and the texts of all nodes."""
        from sensegraph.methods.raptor.growing import foresee_tree

        return foresee_tree(foresight, settings)

    def read(self, index: Index) -> Tree:
        """The tree, its records read when they are asked for."""
        made = recall_result(index.store, keep_tree_keys, index.manifest.parts[self.name].key)
        return Tree(
            recall_result(index.store, make_leaves, made.leaves).leaves,
            recall_result(index.store, keep_summaries, made.summaries).clusters,
            recall_result(index.store, make_nodes, made.nodes),
            Bm25((recall_result(index.store, index_node_words, made.words),)),
        )

    def restrict_to_scope(self, value: Tree, index: ScopedIndex) -> Tree:
        """The leaves of the chunks inside, and the summaries that rest on nothing outside."""
        return value.within(index.places)

    def restrict_to_moment(self, value: Tree, index: TimedIndex) -> Tree:
        """The tree, its summaries without the statements that rest on another time alone."""
        return replace(value, summaries=tuple(map(index.statements_that_hold, value.summaries)))

    def positions(self, kind: str, index: ScopedIndex) -> Sequence[int]:
        """Where the leaves, or the summaries, inside are among all of them."""
        return split_positions(index.part(self).nodes, index.whole.part(self).nodes.leaves)[kind == "summary"]


TREE = TreePart()
