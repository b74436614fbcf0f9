"""GraphRAG with global search: an answer about the whole corpus from the reports on its communities.

paper: Edge et al. 2024, From Local to Global, arXiv:2404.16130
index: chunk → extract → merge → communities → reports (§3.1.1–3.1.5), shared with every method
query: map-reduce over the reports of one depth (§3.1.6)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from sensegraph.errors import SettingsError
from sensegraph.keys import key
from sensegraph.protocols import Task
from sensegraph.runtime import Runtime
from sensegraph.steps.citing import answered, documents_of, ground
from sensegraph.steps.details import detailed
from sensegraph.steps.index import Index
from sensegraph.steps.language import answer, rate
from sensegraph.steps.packing import report_passage
from sensegraph.text import packed, tokens, within
from sensegraph.types import Answer, Context, Description, Evidence, Inquiry, Passage, Point, Statement

NOTHING = "Nothing in this corpus helps to answer the question."


@dataclass(frozen=True)
class GraphRAG:
    """Global search. `depth` counts from the root: 0 is the paper's C0 (fewest, broadest reports), §3.1.5."""

    depth: int = 2  # §4.1.1 compares C0 … C3
    context_tokens: int = 8_000  # §4.1.2: the smallest window did best
    seed: int = 0  # of the shuffle, §3.1.6
    name: str = "graphrag"
    requires: frozenset[Task] = frozenset({"extract", "summarise", "report", "rate", "answer"})

    def __post_init__(self) -> None:
        if self.depth < 0 or self.context_tokens < 1:
            raise SettingsError(
                f"graphrag: depth ({self.depth}) must be at least 0, context_tokens ({self.context_tokens}) at least 1."
            )

    def retrieve(self, question: str, index: Index, rt: Runtime) -> Evidence:
        """Map: points from every batch of reports; those above 0, best first, within the context (§3.1.6)."""
        reports = self._reports(question, index, rt)
        Random(self.seed).shuffle(reports)
        batches = packed(reports, self.context_tokens, lambda p: tokens(p.title) + tokens(p.text))
        mapped = rt.each(rate, [self._inquiry(question, batch, index) for batch in batches])
        rated = [
            _passage(p, batch) for batch, points in zip(batches, mapped, strict=True) for p in points if p.score > 0
        ]
        kept, omitted = within(
            sorted(rated, key=lambda p: -p.score), self.context_tokens, lambda p: tokens(p.title) + tokens(p.text)
        )
        notes = (f"{len(rated)} points from {len(reports)} reports at depth {min(self.depth, index.depth - 1)}",)
        return Evidence(tuple(kept), documents_of(kept, index), sum(tokens(p.text) for p in kept), omitted, notes)

    def answer(self, question: str, index: Index, rt: Runtime) -> Answer:
        """Reduce: one answer from the points; none when no point is above 0."""
        rt.check(self.name, self.requires)
        evidence = self.retrieve(question, index, rt)
        if not evidence.passages:
            return Answer(NOTHING, evidence=evidence, notes=evidence.notes)
        draft = rt.each(answer, [self._inquiry(question, evidence.passages, index)])[0]
        return answered(draft, evidence, index)

    def _reports(self, question: str, index: Index, rt: Runtime) -> list[Passage]:
        """The reports of the depth; for an engine that quotes, with what the sources say beside them."""
        clusters = index.clusters_at(self.depth)
        return detailed(question, index, clusters) if rt.engine.quotes else [report_passage(c) for c in clusters]

    def _inquiry(self, question: str, passages: Sequence[Passage], index: Index) -> Inquiry:
        return Inquiry(question, Context(tuple(passages)), index.manifest.counts["documents"])


def _passage(point: Point, batch: Sequence[Passage]) -> Passage:
    """A point as a passage that the final answer can cite, with the sentences it rests on."""
    statements = ground(point.statements, batch)
    text = "".join(s.text for s in statements).strip()
    quotes = tuple(Description(_said(s), source) for s in statements for source in s.sources)
    return Passage("point", key(point)[:20], text, point.score, point.title, quotes=quotes, documents=point.documents)


def _said(statement: Statement) -> str:
    return statement.text.strip()
