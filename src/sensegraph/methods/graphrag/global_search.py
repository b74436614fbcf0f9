"""GraphRAG with global search: an answer about the whole corpus from the reports on its communities.

paper: Edge et al. 2024, From Local to Global, arXiv:2404.16130
index: chunk → extract → merge → communities → reports (§3.1.1–3.1.5), shared with every method
query: map-reduce over the reports of one depth (§3.1.6)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import ClassVar, Literal, Protocol, runtime_checkable

from sensegraph.answering.asking import conclude_answer, for_writing, make_inquiry, map_reduce
from sensegraph.errors import SettingsError
from sensegraph.index.hierarchy.packing import report_passage
from sensegraph.index.index import Index
from sensegraph.index.vectors import asked_vector, nearest_to
from sensegraph.language.text import take_within
from sensegraph.methods.graphrag.details import report_passages
from sensegraph.methods.graphrag.told_reports import answer_from_told_reports
from sensegraph.protocols import LanguageEngine, PartName, Task
from sensegraph.retrieval.outline.evidence import find_outline_evidence
from sensegraph.runtime.results import step, take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Cluster, Evidence, Inquiry, Question


@runtime_checkable
class GradingEngine(LanguageEngine, Protocol):
    """An engine that can grade passages (task `grade`)."""

    def grade(self, inquiries: Sequence[Inquiry]) -> list[int]:
        """How relevant the passages of each inquiry are to its question, 0 (not at all) to 5."""
        ...


@step("language.grade", version=1, uses="engine", task="grade")
def grade(inquiries: Sequence[Inquiry], *, engine: GradingEngine, vote: int = 0) -> list[int]:
    """How relevant each context is, 0 to 5; another `vote` asks again."""
    return engine.grade(inquiries)


_BEST = 5  # the highest grade


@dataclass(frozen=True)
class GraphRAG:
    """Global search. `depth` counts from the root: 0 is the paper's C0 (fewest, broadest reports), §3.1.5.

    `select` says which reports are read. `score`: all of the depth, and points above 0 count (the paper). `threshold`:
    those that the engine grades at `threshold` of the best grade or better, at most `top` (0: all).
    `nearest`: the `top` nearest to the question by their vectors. `dynamic`: from depth 0 down to `depth`, only below
    reports graded `least_grade` (0–5) or better, by the majority of `votes`; a report whose child is read is not read
    itself unless `keep_parents` (the reference implementation).

    `report_tokens` bounds the tokens of the reports that are read, 0 for no bound. None stands for one window of
    `context_tokens` at depth 0 and one more for each depth below it, where an engine writes; where it quotes, for no
    bound. A depth that is larger is read as far as there is room for it (see `fit_reports`).
    """

    depth: int = 2  # §4.1.1 compares C0 … C3
    context_tokens: int = 8_000  # §4.1.2: the smallest window did best
    seed: int = 0  # of the shuffle, §3.1.6
    report_tokens: int | None = None
    select: Literal["score", "threshold", "nearest", "dynamic"] = "score"
    threshold: float = 0.7
    top: int = 0
    least_grade: int = 1
    votes: int = 1
    keep_parents: bool = False
    name: str = "graphrag"
    requires: frozenset[Task] = frozenset({"rate", "answer"})
    reads: frozenset[PartName] = frozenset({"graph", "reports", "outline"})
    can_miss: ClassVar[frozenset[PartName]] = frozenset({"outline"})

    def __post_init__(self) -> None:
        if self.depth < 0 or self.context_tokens < 1:
            raise SettingsError(
                f"graphrag: depth ({self.depth}) must be at least 0, context_tokens ({self.context_tokens}) at least 1."
            )
        if (self.report_tokens or 0) < 0:
            raise SettingsError(f"graphrag: report_tokens ({self.report_tokens}) must be at least 0 (all are read).")
        if not 0 <= self.threshold <= 1 or self.top < 0 or not 0 <= self.least_grade <= _BEST or self.votes < 1:
            raise SettingsError(
                f"graphrag: threshold ({self.threshold}) must be from 0 to 1, top ({self.top}) at least 0, least_grade "
                f"({self.least_grade}) from 0 to {_BEST}, votes ({self.votes}) at least 1."
            )

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """Map: points from every batch of reports; those above 0, best first, within the context (§3.1.6).

        An engine that quotes answers a question about the whole from the outline of the corpus, where there is one.
        """
        if found := find_outline_evidence(question, index, rt):
            return found
        selected, said = self._selected(question, index, rt)
        clusters, left, note = self._within_bound(question, selected, index, rt)
        depth = min(self.depth, index.depth - 1)
        place = f"reports {said or (f'down to depth {depth}' if note and depth else f'at depth {depth}')}"
        reports = report_passages(question.text, index, clusters, rt, speaking=True)
        found = map_reduce(question, reports, index, rt, budget=self.context_tokens, seed=self.seed, place=place)
        silent = len(clusters) - sum(p.kind == "report" for p in reports)
        notes = [f"{silent} reports have no word of the question and were not read"] if silent else []
        notes += [note] if note else []
        return replace(found, omitted=found.omitted + left, notes=(*found.notes, *notes)) if notes else found

    def answer(self, question: Question, index: Index, rt: Runtime) -> Answer:
        """Reduce: one answer from the points; none when no point is above 0.

        An engine that quotes tells reports that are another's prose as they stand (see `told_reports`).
        """
        rt.check(self.name, self.requires | ({"grade"} if self.select in ("threshold", "dynamic") else frozenset()))
        if told := answer_from_told_reports(question, index.clusters_at(self.depth), index, rt):
            return told
        return conclude_answer(question, self.retrieve(question, index, rt), index, rt)

    def _selected(self, question: Question, index: Index, rt: Runtime) -> tuple[list[Cluster], str]:
        """The reports to read, and how they were chosen."""
        if self.select == "dynamic":
            return self._dynamic(question, index, rt)
        clusters = index.clusters_at(self.depth)
        if self.select == "nearest":
            return self._nearest(question, index, rt, clusters), "nearest to the question"
        if self.select == "threshold":
            grades = self._grades(question, clusters, index, rt)
            order = sorted(zip(grades, clusters, strict=True), key=lambda pair: (-pair[0], -pair[1].rating, pair[1].id))
            good = [c for value, c in order if value >= self.threshold * _BEST][: self.top or None]
            return good, f"graded {self.threshold:g} or better, of {len(clusters)} graded"
        return clusters, ""

    def _within_bound(
        self, question: Question, selected: list[Cluster], index: Index, rt: Runtime
    ) -> tuple[list[Cluster], int, str]:
        """What there is room for of the selected reports, how many were left out for others, and what is said of it."""
        usual = for_writing(rt, lambda: [(self.depth + 1) * self.context_tokens])
        bound = sum(usual) if self.report_tokens is None else self.report_tokens
        size = sum(c.tokens for c in selected) if bound else 0
        if size <= bound:
            return selected, 0, ""
        if self.select != "score":
            read, left = take_within(selected, bound, lambda c: c.tokens)
            coarser = 0
        else:
            rank = {c.id: i for i, c in enumerate(self._by_nearness(question, index, rt))}
            levels = [index.clusters_at(depth) for depth in range(self.depth)]
            read = fit_reports([*levels, selected], rank, bound)
            wanted = {c.id for c in selected}
            coarser = sum(c.id not in wanted for c in read)
            covered = {e for c in read for e in c.entities}
            left = sum(c.id not in {r.id for r in read} and covered.isdisjoint(c.entities) for c in selected)
        finer = len(read) - coarser
        instead = f", and {coarser} coarser ones in place of {len(selected) - finer - left}" if coarser else ""
        out = f", and {left} were left out" if left else ""
        note = (
            f"{finer} of {len(selected)} reports were read, those nearest to the question{instead}{out}: all have "
            f"{size:,} tokens, and a question reads {bound:,} (--budget 0: all)"
        )
        return read, left, note

    def _by_nearness(self, question: Question, index: Index, rt: Runtime) -> list[Cluster]:
        """All reports, nearest to the question first."""
        positions, _ = nearest_to(asked_vector(question, rt), index, rt, len(index.hierarchy.clusters), "report")
        return take_records(index.hierarchy.clusters, [int(i) for i in positions])

    def _nearest(self, question: Question, index: Index, rt: Runtime, clusters: Sequence[Cluster]) -> list[Cluster]:
        """The `top` nearest of these clusters (1 where it is 0), nearest first."""
        ids = {c.id for c in clusters}
        return [c for c in self._by_nearness(question, index, rt) if c.id in ids][: self.top or 1]

    def _dynamic(self, question: Question, index: Index, rt: Runtime) -> tuple[list[Cluster], str]:
        """From the root down, below what is relevant; where nothing was at a depth, the next depth is tried."""
        kept: dict[str, Cluster] = {}
        asked, frontier, depth = 0, index.clusters_at(0), 0
        while frontier:
            grades = self._grades(question, frontier, index, rt)
            asked += len(frontier)
            good = [c for value, c in zip(grades, frontier, strict=True) if value >= self.least_grade]
            for cluster in good:
                kept[cluster.id] = cluster
                if not self.keep_parents:
                    kept.pop(cluster.parent, None)
            depth += 1
            if depth > self.depth:
                break
            wanted = {m for c in good if c.level > 0 for m in c.members}
            below = index.clusters(sorted(wanted))
            frontier = [below[m] for m in sorted(below)]
            if not frontier and not kept:
                frontier = [c for c in index.clusters_at(depth) if c.depth == depth]
        return list(kept.values()), f"chosen by {asked * self.votes} grades"

    def _grades(self, question: Question, clusters: Sequence[Cluster], index: Index, rt: Runtime) -> list[int]:
        """The grade of every cluster's report: what most votes say, of equally many the lower."""
        asked = [make_inquiry(question, [report_passage(c)], index) for c in clusters]
        votes = [list(rt.each(grade, asked, vote=vote)) for vote in range(self.votes)]
        counts = (Counter(given) for given in zip(*votes, strict=True))
        return [min(count.items(), key=lambda item: (-item[1], item[0]))[0] for count in counts]


def fit_reports(levels: Sequence[Sequence[Cluster]], rank: Mapping[str, int], bound: int) -> list[Cluster]:
    """The reports to read within `bound` tokens, nearest first: coarse ones, in finer parts where the question is near.

    `levels` are the reports at each depth, each of them a partition of the entities; `rank` says how near each report
    is to the question, 0 for the nearest. Those of depth 0 are read, and as long as there is room, that with the
    nearest report in it gives way to its parts. So whatever the graph holds is read about, in more detail where it
    bears on the question. Where depth 0 is too large itself, its nearest reports are read.
    """
    known = {c.id: c for level in levels for c in level}
    near = {name: rank.get(name, len(rank)) for name in known}
    parts: dict[str, list[Cluster]] = defaultdict(list)
    for cluster in sorted(known.values(), key=lambda c: -c.depth):  # what is near makes all above it near
        if cluster.parent in known:
            parts[cluster.parent].append(cluster)
            near[cluster.parent] = min(near[cluster.parent], near[cluster.id])
    roots = sorted(levels[0], key=lambda c: (near[c.id], c.id))
    room = bound - sum(c.tokens for c in roots)
    if room < 0:
        return take_within(roots, bound, lambda c: c.tokens)[0] or roots[:1]
    read = {c.id: c for c in roots}
    waiting = [(near[name], name) for name in read if name in parts]
    heapify(waiting)
    while waiting:
        _, name = heappop(waiting)
        more = sum(part.tokens for part in parts[name]) - known[name].tokens
        if more > room:
            continue
        room -= more
        del read[name]
        for part in parts[name]:
            read[part.id] = part
            if part.id in parts:
                heappush(waiting, (near[part.id], part.id))
    return sorted(read.values(), key=lambda c: (near[c.id], c.id))
