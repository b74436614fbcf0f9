"""LeanRAG: seeds among the entities, and the paths from them up a hierarchy of aggregates to what they have in common.

paper: Zhang et al. 2025, *LeanRAG: Knowledge-Graph-Based Generation with Semantic Aggregation and Hierarchical
Retrieval*; L01–L30
index: chunk → extract → merge → cluster by meaning → aggregate → relate, level by level up to one root
query: nearest entities → chains up to their lowest common ancestor → relations on each level, chunks → one call
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sensegraph.answering.asking import conclude_answer
from sensegraph.errors import SettingsError
from sensegraph.index.citing import documents_behind
from sensegraph.index.index import Index
from sensegraph.index.passages import chunk_passage, passage_tokens
from sensegraph.language.text import take_within
from sensegraph.methods.leanrag.aggregates_part import AGGREGATES
from sensegraph.methods.leanrag.ancestor_paths import (
    AncestorPaths,
    Root,
    aggregate_passages,
    chunks_behind,
    climb_to_ancestors,
    entity_passages,
    find_entity_seeds,
    relation_passages,
)
from sensegraph.protocols import PartName, Task
from sensegraph.retrieval.assembling import Told
from sensegraph.retrieval.signals import Sought
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Evidence, Passage, Question

_RANKED = 100  # chunks whose documents are told
_SECTIONS = ("entities", "aggregates", "relations", "chunks")


@dataclass(frozen=True)
class LeanRAG:
    """`seeds` entities start (the paper's N), and `chunks` of those that they come from are read (C; 0 for none).

    `by` says how seeds are found: `vectors` as the paper does, by Eq. 6; `names` takes in those that the question
    names, unless many chunks mention them; `auto` does so where vectors compare words alone. `root` = auto leaves out a
    root that is less near to the question than the seeds are on average. `relations` and `findings` say whether these
    are read (Table 2). What has no room in `context_tokens` is left out: chunks first, then relations, then aggregates,
    each from its end.
    """

    seeds: int = 10
    chunks: int = 5
    by: Sought = "auto"
    root: Root = "auto"
    relations: bool = True
    findings: bool = False
    context_tokens: int = 12_000
    name: str = "leanrag"
    requires: frozenset[Task] = frozenset({"answer"})
    reads: frozenset[PartName] = frozenset({"graph", "aggregates"})

    def __post_init__(self) -> None:
        if self.seeds < 1 or self.chunks < 0 or self.context_tokens < 1:
            raise SettingsError(
                f"leanrag: seeds ({self.seeds}) and context_tokens ({self.context_tokens}) must be at least 1, chunks "
                f"({self.chunks}) at least 0."
            )

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """Seeds, aggregates, relations and chunks, in this order; documents by their best chunk."""
        query = np.asarray(rt.embedder.embed([question.sought], "query")[0], np.float32)
        seeds = find_entity_seeds(question, query, index, rt, self.seeds, self.by)
        if not seeds:
            return Evidence(notes=("no entity of this index fits the question", *index.part(AGGREGATES).notes))
        return self._read(climb_to_ancestors(seeds, query, self.root, index, rt), index)

    def answer(self, question: Question, index: Index, rt: Runtime) -> Answer:
        """One answer from these passages."""
        rt.check(self.name, self.requires)
        return conclude_answer(question, self.retrieve(question, index, rt), index, rt)

    def _read(self, found: AncestorPaths, index: Index) -> Evidence:
        """What is read of the paths (Eq. 8), within the budget, and the tokens of each section (L26)."""
        behind = index.documents_of(chunks_behind(found))
        ranked = list(behind)
        chunks = index.chunks(ranked[: self.chunks])
        offered: list[Iterable[Passage]] = [
            entity_passages(found),
            aggregate_passages(found, findings=self.findings),
            relation_passages(found, index) if self.relations else (),
            [chunk_passage(chunks[name]) for name in ranked[: self.chunks]],
        ]
        told, left, room = list[Told](), list[int](), self.context_tokens
        for part in offered:  # an earlier section is cut last
            kept, omitted = take_within(part, room, passage_tokens)
            told.append(Told(tuple(kept), sum(map(passage_tokens, kept))))
            left.append(omitted)
            room -= told[-1].tokens
        passages = tuple(p for part in told for p in part.passages)
        best = [behind[c] for c in ranked[:_RANKED]]
        documents = tuple(dict.fromkeys([*best, *documents_behind(passages, index)]))
        sizes = [f"{len(part)} {name} ({part.tokens} tokens)" for name, part in zip(_SECTIONS, told, strict=True)]
        notes = [f"read: {', '.join(sizes)}"]
        if cut := [f"{n} {name}" for name, n in zip(_SECTIONS, left, strict=True) if n]:
            notes.append(f"context_tokens ({self.context_tokens}) had no room for {', '.join(cut)}")
        notes += index.part(AGGREGATES).notes
        return Evidence(passages, documents, sum(part.tokens for part in told), sum(left), tuple(notes))
