"""GRAFT: the community summary nearest to the question stands before it, for a model that was tuned to read past noise.

paper: GRAFT: Graph Retrieval Augmented Fine-Tuning, undated (2024 by its contents)
index: chunk → extract → merge → communities → reports of every depth, each embedded; shared with graphrag
query: the nearest report by cosine → one call (section 4.2); the engine may be the tuned model
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import log1p

import numpy as np

from sensegraph.answering.asking import AnswersOnce, for_quoting
from sensegraph.errors import SettingsError
from sensegraph.index.hierarchy.packing import report_passage
from sensegraph.index.index import Index
from sensegraph.index.passages import documents_behind, entity_passage, passage_tokens, relation_passage
from sensegraph.index.vectors import asked_vector, nearest_to
from sensegraph.language.text import list_stems, take_within
from sensegraph.protocols import PartName, Task
from sensegraph.runtime.results import take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Cluster, Description, Evidence, Passage, Question

_QUOTES = 40  # sentences beside one summary


@dataclass(frozen=True)
class Graft(AnswersOnce):
    """Retrieval of community summaries. The `top` nearest by cosine are read (the paper's k), of equal ones by id.

    `explain` puts beside each that many of its entities, those with most neighbours, and as many relations among its
    entities, the heaviest, so that an answer can cite nodes and relations. Summaries come before these; what has
    no room in `context_tokens` is left out.
    """

    top: int = 1  # section 4.2, query processing
    explain: int = 0
    context_tokens: int = 8_000
    name: str = "graft"
    requires: frozenset[Task] = frozenset({"answer"})
    reads: frozenset[PartName] = frozenset({"graph", "reports"})

    def __post_init__(self) -> None:
        if self.top < 1 or self.explain < 0 or self.context_tokens < 1:
            raise SettingsError(
                f"graft: top ({self.top}) and context_tokens ({self.context_tokens}) must be at least 1, explain "
                f"({self.explain}) at least 0."
            )

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """The nearest summaries, nearest first, then nodes and relations behind them."""
        near = self._nearest(question, index, rt)
        if not near:
            return Evidence(notes=("no community summary shares anything with the question",))
        reports: list[Passage] = []
        for _, cluster, score in near:  # an engine that quotes gets sentences of their communities beside them
            quotes = for_quoting(rt, partial(_quote_sources, question, cluster, index))
            reports.append(replace(report_passage(cluster, quotes), score=score))
        nodes = [p for place, cluster, _ in near for p in _elements_behind(place, cluster, index, self.explain)]
        first = {(p.kind, p.id): p for p in reversed(nodes)}  # communities of several depths share their entities
        kept, omitted = take_within([*reports, *reversed(first.values())], self.context_tokens, passage_tokens)
        said = ", ".join(f"{cluster.title!r} at depth {cluster.depth} ({score:.3f})" for _, cluster, score in near)
        notes = (f"nearest of {len(index.hierarchy.clusters)} community summaries: {said}",)
        return Evidence(tuple(kept), documents_behind(kept, index), sum(map(passage_tokens, kept)), omitted, notes)

    def _nearest(self, question: Question, index: Index, rt: Runtime) -> list[tuple[int, Cluster, float]]:
        """The place, the cluster and the cosine of the `top` nearest summaries that share anything with the question.

        All are compared, so that of those equally near the smaller ids are taken.
        """
        clusters = index.hierarchy.clusters
        places, scores = nearest_to(asked_vector(question, rt), index, rt, len(clusters), "report")
        sharing = int((scores > 0).sum())
        last = sharing if sharing <= self.top else int((scores >= scores[self.top - 1]).sum())
        found = zip(places.tolist(), take_records(clusters, places[:last].tolist()), scores.tolist(), strict=False)
        return sorted(found, key=lambda one: (-one[2], one[1].id))[: self.top]


def _quote_sources(question: Question, cluster: Cluster, index: Index) -> list[Description]:
    """What the sources say of a community's entities in words of the question, those with most and rarest words first.

    A model reads a summary and understands what it stands for; an engine that quotes can only show what it is given.
    """
    wanted = frozenset(list_stems(question.text))
    found = {d.source: d for e in index.entities(cluster.entities).values() for d in e.descriptions}
    shared = {source: wanted.intersection(list_stems(d.text)) for source, d in found.items()}
    count = Counter(word for words in shared.values() for word in words)
    weight = {s: sum(log1p(len(found) / count[w]) for w in sorted(words)) for s, words in shared.items() if words}
    ranked = sorted(weight, key=lambda s: (-weight[s], s.chunk, s.start, s.end))
    return list({found[s].text: found[s] for s in reversed(ranked)}.values())[::-1][:_QUOTES]


def _elements_behind(place: int, cluster: Cluster, index: Index, most: int) -> Iterator[Passage]:
    """`most` entities of a community, those with most neighbours, and `most` relations inside it, the heaviest."""
    if not most:
        return
    lookups = index.lookups
    members = np.flatnonzero(lookups.homes[:, cluster.depth] == place)
    first = members[np.lexsort((members, -lookups.degree[members]))][:most].tolist()
    yield from (entity_passage(e) for e in take_records(index.graph.entities, first))
    inside = np.isin(np.arange(len(lookups.homes)), members)
    links: dict[int, tuple[int, int]] = {}
    for member in members.tolist():
        neighbours, relations = lookups.around(member)
        links |= {r: (member, n) for n, r in zip(neighbours.tolist(), relations.tolist(), strict=True) if inside[n]}
    listed = sorted(links)
    pairs = zip(take_records(index.graph.relations, listed), listed, strict=True)
    for relation, number in sorted(pairs, key=lambda p: (-p[0].weight, p[0].id))[:most]:
        one, other = sorted(links[number])
        yield relation_passage(relation, lookups.name(one), lookups.name(other), relation.weight)
