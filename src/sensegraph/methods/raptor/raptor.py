"""RAPTOR: a tree of summaries over the text; a question is matched against leaves and summaries of every level.

paper: Sarthi et al. 2024, RAPTOR: Recursive Abstractive Processing for Tree-Organized Retrieval, ICLR, arXiv 2401.18059
index: chunk → leaves → embed → mixtures of mixtures → condense, layer by layer (part `tree`)
query: all nodes at once (collapsed tree), or from the top down (tree traversal); then one call
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sensegraph.algorithms.graphs import Floats
from sensegraph.algorithms.ranking import Ranking, select_best
from sensegraph.answering.asking import conclude_answer
from sensegraph.errors import SettingsError
from sensegraph.index.hierarchy.packing import report_passage
from sensegraph.index.index import Index
from sensegraph.index.passages import documents_behind
from sensegraph.index.vectors import asked_vector, nearest_to
from sensegraph.language.text import count_tokens
from sensegraph.methods.raptor.tree import Nodes, leaf_passage
from sensegraph.methods.raptor.tree_part import TREE
from sensegraph.protocols import PartName, Task
from sensegraph.retrieval.arms import Comparing, by_meaning
from sensegraph.runtime.results import take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Evidence, Question

Search = Literal["collapsed", "traverse"]


@dataclass(frozen=True)
class RAPTOR:
    """`search` collapsed ranks all nodes at once; traverse takes the `k` best of the top, then of their children, down
    to the leaves. Nodes are read whole, as many as `context_tokens` hold: one that does not fit is passed over.

    `no_overlap` drops a summary of whose leaves half are read themselves. `comparing` tells how nodes are compared
    with the question: by vectors, or by words where vectors see words only. `top` nodes at most are ranked.
    """

    search: Search = "collapsed"
    k: int = 5
    no_overlap: bool = False
    comparing: Comparing = "auto"
    top: int = 200
    context_tokens: int = 2_000  # §3, the best of the collapsed tree
    name: str = "raptor"
    requires: frozenset[Task] = frozenset({"answer"})
    reads: frozenset[PartName] = frozenset({"tree"})

    def __post_init__(self) -> None:
        for field in ("k", "top", "context_tokens"):
            if getattr(self, field) < 1:
                raise SettingsError(f"raptor: {field} ({getattr(self, field)}) must be at least 1.")

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """The best nodes that the context holds: leaves as chunks with their spans, summaries as reports."""
        tree = index.part(TREE)
        found = self.rank(question, index, rt)
        kept = fit_nodes(found.positions.tolist(), tree.nodes, self.context_tokens, no_overlap=self.no_overlap)
        scores = dict(zip(found.positions.tolist(), found.scores.tolist(), strict=True))
        # leaves of one chunk keep their own ids, so that each is cited exactly
        count = tree.nodes.leaves
        low, high = [i for i in kept if i < count], [i for i in kept if i >= count]
        cut = dict(zip(low, take_records(tree.leaves, low), strict=True))
        summed = dict(zip(high, take_records(tree.summaries, [i - count for i in high]), strict=True))
        chunks = index.chunks([leaf.chunk for leaf in cut.values()])
        made = {i: leaf_passage(leaf, chunks[leaf.chunk], scores[i]) for i, leaf in cut.items()}
        made |= {i: replace(report_passage(cluster), score=scores[i]) for i, cluster in summed.items()}
        passages = tuple(made[i] for i in kept)
        size = sum(count_tokens(p.text) for p in passages)
        # the documents of the leaves that were found, best first, then those that only summaries lead to
        places = tree.nodes.chunk[found.positions[found.positions < count]].tolist()
        named = dict.fromkeys(e.document for e in take_records(index.catalogue.chunks, places))
        documents = tuple(named | dict.fromkeys(documents_behind(passages, index)))
        total = tree.hidden + len(tree.summaries)
        hidden = f"{tree.hidden} of {total} summaries rest on documents outside the filter and were left out"
        return Evidence(passages, documents, size, len(found) - len(kept), (hidden,) if tree.hidden else ())

    def answer(self, question: Question, index: Index, rt: Runtime) -> Answer:
        """One answer from these nodes."""
        rt.check(self.name, self.requires)
        return conclude_answer(question, self.retrieve(question, index, rt), index, rt)

    def rank(self, question: Question, index: Index, rt: Runtime) -> Ranking:
        """The nodes that were found, by position, in the order in which they are read."""
        if self.search == "traverse":
            return self._traversed(question, index, rt)
        if by_meaning(self.comparing, rt):
            # the `top` nodes nearest by cosine, of leaves and summaries together
            nodes, asked = index.part(TREE).nodes, asked_vector(question, rt)
            found = [nearest_to(asked, index, rt, self.top, "leaf")]
            if len(nodes) > nodes.leaves:
                places, near = nearest_to(asked, index, rt, self.top, "summary")
                own = nodes.promoted[places + nodes.leaves] == 0
                found.append((places[own] + nodes.leaves, near[own]))
            places, near = (np.concatenate(part) for part in zip(*found, strict=True))
            order = np.lexsort((places, -near))[: self.top]
            order = order[near[order] > 0]
            return Ranking("collapsed", places[order], near[order])
        scores = np.where(index.part(TREE).nodes.promoted > 0, 0.0, index.part(TREE).score(question.sought))
        return Ranking("collapsed", *select_best(scores, self.top))

    def _traversed(self, question: Question, index: Index, rt: Runtime) -> Ranking:
        """The `k` best of the top, then the `k` best of their children, and so on; of what was promoted its child."""
        nodes, scores = index.part(TREE).nodes, self._scores(question, index, rt)
        layer, taken = nodes.tops(), list[int]()
        while layer:
            here = np.asarray(layer, np.int64)
            chosen, _ = select_best(scores[here], self.k)
            taken += here[chosen].tolist()
            layer = nodes.children(here[chosen].tolist())
        read = np.asarray([i for i in dict.fromkeys(taken) if not nodes.promoted[i]], np.int64)
        return Ranking("traverse", read, scores[read])

    def _scores(self, question: Question, index: Index, rt: Runtime) -> Floats:
        """How near every node is to the question, shape (n,)."""
        if not by_meaning(self.comparing, rt):
            return index.part(TREE).score(question.sought)
        asked = asked_vector(question, rt).astype(np.float64)
        kinds = [index.vectors_of(rt.embedder, "leaf")]
        if len(index.part(TREE).nodes) > index.part(TREE).nodes.leaves:
            kinds.append(index.vectors_of(rt.embedder, "summary"))
        return np.concatenate([(np.asarray(v, np.float64) * asked).sum(axis=1) for v in kinds])


def fit_nodes(ranked: Sequence[int], nodes: Nodes, budget: int, *, no_overlap: bool = False) -> list[int]:
    """Of nodes in this order as many as `budget` tokens hold; one that does not fit is passed over.

    With `no_overlap` a summary goes as soon as half of its leaves are in, and what was passed over gets its room.
    """
    gone = set[int]()
    while True:
        kept, room = list[int](), budget
        for i in ranked:
            if i not in gone and (size := int(nodes.tokens[i])) <= room:
                room -= size
                kept.append(i)
        if not no_overlap:
            return kept
        said = frozenset(kept)
        shown = [i for i in kept if i >= nodes.leaves and 2 * len(said & nodes.below(i)) >= len(nodes.below(i))]
        if not shown:
            return kept
        gone.update(shown)
