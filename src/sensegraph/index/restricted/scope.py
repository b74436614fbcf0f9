"""An index as a filter leaves it: what is outside is not there, and shines through nothing that was merged.

Chunks, entities, relations and claims are cut down to what the documents inside say; a description that was merged
with another from outside is put together again from those inside; a report that drew on anything outside is left out,
and its community shows what is known of it inside. Names, ranks of vectors and weights of words are those of the whole.
"""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from sensegraph.algorithms.graphs import Floats
from sensegraph.errors import InputError
from sensegraph.filters import Condition, Scope
from sensegraph.index.graph.lookups import Lookups, lookups
from sensegraph.index.index import Catalogue, DocumentEntry, Index, Kind
from sensegraph.language.text import tokens, within
from sensegraph.methods.hipporag.facts import Facts
from sensegraph.methods.lazygraphrag.concepts import Concepts
from sensegraph.methods.leanrag.aggregated import Aggregates
from sensegraph.methods.linearrag.sentences import Sentences
from sensegraph.methods.raptor.tree import Tree, positions
from sensegraph.methods.walk.naming import Names
from sensegraph.protocols import Embedder, Vectors
from sensegraph.types import (
    Chunk,
    Cluster,
    Description,
    Document,
    Entity,
    Graph,
    Hierarchy,
    Relation,
    Statement,
)  # fmt: skip

_DESCRIPTION = 500  # tokens of a description put together again
_COMMUNITY = 600  # tokens of what stands for a report that was left out
_COMPARE = MappingProxyType(
    {
        "=": operator.eq,
        "!=": operator.ne,
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
    }
)


def scoped(index: Index, scope: Scope) -> Index:
    """`index` as `scope` leaves it. Raises InputError when no document is inside, saying which test fails."""
    if scope == Scope():
        return index
    entries = index.catalogue.documents
    inside = frozenset(d.id for d in entries if holds(scope, d))
    fields = {"id", "title", "time"}.union(*({name for name, _ in d.metadata} for d in entries))
    if missing := sorted({c.field for c in scope.where} - fields):
        raise InputError(f"No document has the field {missing[0]!r}; there are {', '.join(sorted(fields))}.")
    if not inside:
        raise InputError(
            f"The filter leaves none of the {len(entries)} documents: {_told(scope)}. "
            "`sensegraph status --documents` lists their ids."
        )
    return ScopedIndex(index, inside)


def notes_of(index: Index) -> tuple[str, ...]:
    """What an answer from this index has to say of the filter; nothing where there is none."""
    return index.notes() if isinstance(index, ScopedIndex) else ()


def holds(scope: Scope, document: DocumentEntry) -> bool:
    """Whether a document is inside."""
    named = not scope.documents or any(document.id == p or fnmatchcase(document.id, p) for p in scope.documents)
    return named and _in_time(scope, document.time) and all(_meets(c, document) for c in scope.where)


def _in_time(scope: Scope, time: str) -> bool:
    """Whether a time lies in the scope; a day includes all its hours, a year all its days."""
    if not scope.since and not scope.until:
        return True
    return bool(time) and time >= scope.since and (not scope.until or time[: len(scope.until)] <= scope.until)


def _meets(condition: Condition, document: DocumentEntry) -> bool:
    known = {"id": document.id, "title": document.title, "time": document.time, **dict(document.metadata)}
    value: Any = known.get(condition.field)
    wanted: Any = condition.value
    if value is None:
        return False
    if isinstance(value, bool | str) or isinstance(wanted, bool | str):
        value, wanted = str(value).casefold(), str(wanted).casefold()
    return bool(_COMPARE[condition.operator](value, wanted))


def _told(scope: Scope) -> str:
    parts = [f"document {' or '.join(scope.documents)}"] if scope.documents else []
    parts += [f"{c.field} {c.operator} {c.value!r}" for c in scope.where]
    parts += [f"since {scope.since}"] if scope.since else []
    return ", ".join(parts + ([f"until {scope.until}"] if scope.until else []))


class ScopedIndex(Index):
    """The part of an index that the documents `inside` make."""

    def __init__(self, whole: Index, inside: frozenset[str]) -> None:
        self.whole, self.inside = whole, inside
        self._store = whole._store
        counts = {**whole.manifest.counts, "documents": len(inside)}
        self.manifest = replace(whole.manifest, counts=counts)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The documents and chunks inside."""
        whole = self.whole.catalogue
        documents = tuple(d for d in whole.documents if d.id in self.inside)
        return Catalogue(documents, tuple(whole.chunks[i] for i in self.places))

    @cached_property
    def places(self) -> list[int]:
        """The positions of the chunks inside among those of the whole."""
        return [i for i, c in enumerate(self.whole.catalogue.chunks) if c.document in self.inside]

    @cached_property
    def _chunks(self) -> frozenset[str]:
        return frozenset(c.id for c in self.catalogue.chunks)

    @cached_property
    def graph(self) -> Graph:
        """What the chunks inside say of entities, relations and claims."""
        return _said_inside(self.whole.graph, self._chunks)

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """Reports that draw on nothing outside; for every other what is known of its community inside."""
        known = {e.id: e for e in self.graph.entities}
        outside = self._outside
        clusters = tuple(c for c in (_cluster(c, known, outside) for c in self.whole.hierarchy.clusters) if c)
        return replace(self.whole.hierarchy, clusters=clusters, notes=())

    @cached_property
    def _outside(self) -> frozenset[str]:
        """Entities of which something outside speaks."""
        whole, chunks = self.whole.graph, self._chunks
        found = {e.id for e in whole.entities if not chunks.issuperset(e.chunks)}
        for relation in whole.relations:
            if not chunks.issuperset(relation.chunks):
                found |= {relation.source, relation.target}
        return frozenset(found | {c.subject for c in whole.claims if c.source.chunk not in chunks})

    @cached_property
    def lookups(self) -> Lookups:
        """Neighbours, communities and names inside."""
        shown = self.hierarchy if self.manifest.hierarchy else Hierarchy()
        return lookups.fn([(self.graph, shown)])[0]

    @cached_property
    def concepts(self) -> Concepts:
        """The concepts of the chunks inside."""
        return self.whole.concepts.within(np.asarray(self.places, np.int64))

    @cached_property
    def names(self) -> Names:
        """The names of the chunks inside."""
        return self.whole.names.within(np.asarray(self.places, np.int64))

    @cached_property
    def facts(self) -> Facts:
        """What the chunks inside state."""
        return self.whole.facts.within(self._positions("entity"), self.places)

    @cached_property
    def sentences(self) -> Sentences:
        """The sentences of the chunks inside."""
        return self.whole.sentences.within(self._positions("entity"), self.places)

    @cached_property
    def tree(self) -> Tree:
        """The leaves of the chunks inside, and the summaries that rest on nothing outside."""
        return self.whole.tree.within(self.places)

    @cached_property
    def aggregates(self) -> Aggregates:
        """Aggregates that draw on nothing outside; for every other what is known of its members inside."""
        known, outside, chunks = {e.id: e for e in self.graph.entities}, self._outside, self._chunks

        def cut(cluster: Cluster) -> Cluster | None:
            left = _cluster(cluster, known, outside)
            if left is None or left is cluster:
                return left
            return replace(left, type="", chunks=tuple(c for c in cluster.chunks if c in chunks))

        return self.whole.aggregates.within(list(known), cut)

    @cached_property
    def layered(self) -> Index:
        """What is inside, and the summary entities that rest on nothing outside."""
        return _ScopedLayers(self.whole.layered, self.inside)

    def vectors_of(self, embedder: Embedder, kind: Kind = "chunk") -> Vectors:
        """The vectors of the records inside, in their order."""
        whole = self.whole.vectors_of(embedder, kind)
        return np.asarray(whole[self._positions(kind)])

    def navigator(self, kind: Kind) -> None:
        """None: a way through the vectors of the whole may pass by the few that are inside."""

    def _positions(self, kind: Kind) -> list[int]:
        if kind == "chunk":
            return self.places
        if kind in ("fact", "sentence"):
            return [int(i) for i in (self.facts if kind == "fact" else self.sentences).number]
        if kind in ("leaf", "summary"):
            return positions(self.tree.nodes, self.whole.tree.nodes.leaves)[kind == "summary"]
        ids, mine = _records(self.whole, kind), _records(self, kind)
        kept = {r.id for r in mine}
        return [i for i, r in enumerate(ids) if r.id in kept]

    def scores_of_words(self, text: str) -> Floats:
        """The BM25 score of every chunk inside."""
        return self.whole.scores_of_words(text)[self.places]

    def document(self, name: str) -> Document:
        """One document inside. Raises InputError for one that is outside."""
        if name not in self.inside:
            raise InputError(f"The document {name!r} is outside the filter.")
        return self.whole.document(name)

    def chunks(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """The chunks inside with these ids."""
        return self.whole.chunks([name for name in ids if name in self._chunks])

    def clusters_at(self, depth: int) -> list[Cluster]:
        """The reports at a depth, or what stands for them."""
        kept = {c.id: c for c in self.hierarchy.clusters}
        return [kept[c.id] for c in self.whole.clusters_at(depth) if c.id in kept]

    def notes(self) -> tuple[str, ...]:
        """How many documents are read, and how many reports had to be left out."""
        said = f"the filter leaves {len(self.inside)} of {self.whole.manifest.counts['documents']} documents"
        return (said, *self._lost_reports())

    def _lost_reports(self) -> Iterator[str]:
        """How many reports had to be left out."""
        if self.manifest.hierarchy:
            known = {e.id for e in self.graph.entities}
            here = [c for c in self.whole.hierarchy.clusters if not known.isdisjoint(c.entities)]
            if left := sum(not self._outside.isdisjoint(c.entities) for c in here):
                yield (
                    f"{left} of {len(here)} reports drew on documents outside the filter and were left out; what is "
                    "known of their communities inside was read instead"
                )


class _ScopedLayers(ScopedIndex):
    """The part of an index with summary entities in its graph that the documents `inside` make."""

    @cached_property
    def graph(self) -> Graph:
        """What the chunks inside say, and the summary entities all of whose chunks are inside."""
        whole, lost = self.whole.graph, self._lost
        entities = tuple(e for e in whole.entities if e.id not in lost)
        relations = tuple(r for r in whole.relations if r.source not in lost and r.target not in lost)
        return _said_inside(Graph(entities, relations, whole.claims), self._chunks)

    @cached_property
    def _lost(self) -> frozenset[str]:
        """The summary entities that rest on something outside."""
        summaries = (e for e in self.whole.graph.entities if e.level)
        return frozenset(e.id for e in summaries if not self._chunks.issuperset(e.chunks))

    def notes(self) -> tuple[str, ...]:
        """How many summary entities and reports had to be left out."""
        summaries = [e for e in self.whole.graph.entities if e.level and not self._chunks.isdisjoint(e.chunks)]
        lost = sum(e.id in self._lost for e in summaries)
        said = f"{lost} of {len(summaries)} summary entities rest on documents outside the filter and were left out"
        return (*([said] if lost else []), *self._lost_reports())


def _records(index: Index, kind: Kind) -> Sequence[Any]:
    """The records that the vectors of `kind` are of."""
    if kind == "report":
        return index.hierarchy.clusters
    if kind == "aggregate":
        return index.aggregates.hierarchy.clusters
    return index.graph.relations if kind == "relation" else index.graph.entities


def _said_inside(whole: Graph, chunks: frozenset[str]) -> Graph:
    """What these chunks say of the entities, relations and claims of a graph."""
    links = [r for r in (_relation(r, chunks) for r in whole.relations) if r]
    degree = Counter(end for r in links for end in (r.source, r.target))
    linked: dict[str, dict[str, None]] = defaultdict(dict)  # ends that a chunk only links
    for link in links:
        for end in (link.source, link.target):
            linked[end] |= dict.fromkeys(link.chunks)
    entities = (_entity(e, chunks, degree[e.id], linked.get(e.id, {})) for e in whole.entities)
    claims = tuple(c for c in whole.claims if c.source.chunk in chunks)
    return Graph(tuple(e for e in entities if e), tuple(links), claims)


def _said(descriptions: Iterable[Description], chunks: frozenset[str]) -> tuple[Description, ...]:
    return tuple(d for d in descriptions if d.source.chunk in chunks)


def joined(descriptions: Sequence[Description]) -> str:
    """One description from those of a few chunks: each text once, as many as fit."""
    texts = list(dict.fromkeys(d.text.strip() for d in descriptions if d.text.strip()))
    return " ".join(within(texts, _DESCRIPTION, tokens)[0] or texts[:1])


def _entity(entity: Entity, chunks: frozenset[str], degree: int, linked: Iterable[str]) -> Entity | None:
    """The entity as the chunks inside show it, those of its relations (`linked`) too; None where none mentions it."""
    kept = tuple(c for c in entity.chunks if c in chunks) or tuple(linked)
    if len(kept) == len(entity.chunks):
        return replace(entity, degree=degree)
    said = _said(entity.descriptions, chunks)
    frequency = max(len(kept), round(entity.frequency * len(kept) / len(entity.chunks)))
    inside = replace(entity, description=joined(said), descriptions=said, chunks=kept, aliases=())
    return replace(inside, frequency=frequency, degree=degree) if kept else None


def _relation(relation: Relation, chunks: frozenset[str]) -> Relation | None:
    kept = tuple(c for c in relation.chunks if c in chunks)
    if len(kept) == len(relation.chunks):
        return relation
    said = _said(relation.descriptions, chunks)
    weight = relation.weight * len(kept) / len(relation.chunks)
    inside = replace(relation, description=joined(said), descriptions=said, weight=weight, chunks=kept, label="")
    return inside if kept else None


def _cluster(cluster: Cluster, known: dict[str, Entity], outside: frozenset[str]) -> Cluster | None:
    """The report where nothing outside went into it; else what is known inside; None where that is nothing."""
    members = tuple(e for e in cluster.entities if e in known)
    if not members:
        return None
    if outside.isdisjoint(cluster.entities):
        return cluster
    ranked = sorted((known[e] for e in members), key=lambda e: (-e.degree, -e.frequency, e.id))
    said = {d.text.strip(): d for e in ranked for d in e.descriptions}  # one statement a span: each is a quotation
    texts = [Statement(f"{text}\n", (), (d.source,)) for text, d in said.items() if text]
    kept = tuple(within(texts, _COMMUNITY, lambda s: tokens(s.text))[0]) or tuple(map(_cut, texts[:1]))
    return replace(
        cluster,
        members=members if cluster.level == 0 else cluster.members,
        entities=members,
        title=", ".join(e.name for e in ranked[:3]),
        summary=kept,
        findings=(),
        rating_explanation="",
        documents=len({c[:12] for e in ranked for c in e.chunks}),
        tokens=sum(tokens(s.text) for s in kept),
        omitted=len(texts) - len(kept),
    )


def _cut(statement: Statement) -> Statement:
    """A statement too long for the budget, by its first words."""
    words = statement.text.split()[: _COMMUNITY // 2]
    return replace(statement, text=" ".join(words))
