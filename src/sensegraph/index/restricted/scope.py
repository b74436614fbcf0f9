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
from typing import Any, TypeVar

from sensegraph.algorithms.graphs import Floats
from sensegraph.algorithms.ranking import Stack
from sensegraph.errors import InputError
from sensegraph.index.graph.lookups import Lookups, build_lookups
from sensegraph.index.index import Index
from sensegraph.index.manifest import Catalogue, DocumentEntry
from sensegraph.index.parts import Part
from sensegraph.language.text import count_tokens, take_within
from sensegraph.protocols import Embedder
from sensegraph.questions import Condition, Scope
from sensegraph.runtime.keys import document_part
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

T = TypeVar("T")
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


def check_scope(scope: object) -> None:
    """Raise InputError for what is no scope, and for a moment of it that is no date, naming its field."""
    if not isinstance(scope, Scope):
        raise InputError(f'scope is a value such as Scope(documents=("letters/*",)), not {scope!r}.')
    if scope == Scope():
        return
    from sensegraph.language.dates.moments import is_readable  # only where something is filtered

    for name in ("since", "until", "as_of", "between", "known_at"):
        given = getattr(scope, name)
        for moment in given if name == "between" else (given,):
            signed = name in ("since", "until") and moment[:1] in "+-"  # these are compared as texts
            if moment and (signed or not is_readable(moment)):
                raise InputError(
                    f"{name} of the scope is {moment!r}, which is no date of ISO 8601 such as 2023, 2023-05 or "
                    "2023-05-17."
                )


def restrict_to_scope(index: Index, scope: Scope) -> Index:
    """`index` as `scope` leaves it. Raises InputError when no document is inside, saying which test fails."""
    check_scope(scope)
    if scope == Scope():
        return index
    entries = index.catalogue.documents
    inside = frozenset(d.id for d in entries if scope_holds(scope, d))
    fields = {"id", "title", "time"}.union(*({name for name, _ in d.metadata} for d in entries))
    if missing := sorted({c.field for c in scope.where} - fields):
        raise InputError(f"No document has the field {missing[0]!r}; there are {', '.join(sorted(fields))}.")
    if not inside:
        parts = [f"document {' or '.join(scope.documents)}"] if scope.documents else []
        parts += [f"{c.field} {c.operator} {c.value!r}" for c in scope.where]
        parts += [f"since {scope.since}"] if scope.since else []
        parts += [f"until {scope.until}"] if scope.until else []
        raise InputError(
            f"The filter leaves none of the {len(entries)} documents: {', '.join(parts)}. "
            "`sensegraph documents list` shows their ids (in Python: `corpus.document_keys()`)."
        )
    return ScopedIndex(index, inside)


def scope_holds(scope: Scope, document: DocumentEntry) -> bool:
    """Whether a document is inside; a day includes all its hours, a year all its days."""
    named = not scope.documents or any(document.id == p or fnmatchcase(document.id, p) for p in scope.documents)
    if (scope.since or scope.until) and not document.time:
        return False
    timely = document.time >= scope.since and (not scope.until or document.time[: len(scope.until)] <= scope.until)
    return named and timely and all(_meets_condition(c, document) for c in scope.where)


def _meets_condition(condition: Condition, document: DocumentEntry) -> bool:
    known = {"id": document.id, "title": document.title, "time": document.time, **dict(document.metadata)}
    value: Any = known.get(condition.field)
    wanted: Any = condition.value
    if value is None:
        return False
    if isinstance(value, bool | str) or isinstance(wanted, bool | str):
        value, wanted = str(value).casefold(), str(wanted).casefold()
    return bool(_COMPARE[condition.operator](value, wanted))


class ScopedIndex(Index):
    """The part of an index that the documents `inside` make."""

    whole: Index

    def __init__(self, whole: Index, inside: frozenset[str]) -> None:
        self.whole, self.inside, self.given = whole, inside, whole.given
        self.store = whole.store
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
    def chunk_ids(self) -> frozenset[str]:
        """The ids of the chunks inside."""
        return frozenset(c.id for c in self.catalogue.chunks)

    @cached_property
    def graph(self) -> Graph:
        """What the chunks inside say of entities, relations and claims."""
        return graph_inside(self.whole.graph, self.chunk_ids)

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """Reports that draw on nothing outside; for every other what is known of its community inside."""
        clusters = tuple(c for c in map(self.cluster_inside, self.whole.hierarchy.clusters) if c)
        return replace(self.whole.hierarchy, clusters=clusters, notes=())

    @cached_property
    def _outside(self) -> frozenset[str]:
        """Entities of which something outside speaks."""
        whole, chunks = self.whole.graph, self.chunk_ids
        found = {e.id for e in whole.entities if not chunks.issuperset(e.chunks)}
        for relation in whole.relations:
            if not chunks.issuperset(relation.chunks):
                found |= {relation.source, relation.target}
        return frozenset(found | {c.subject for c in whole.claims if c.source.chunk not in chunks})

    @cached_property
    def lookups(self) -> Lookups:
        """Neighbours, communities and names inside."""
        shown = self.hierarchy if self.manifest.hierarchy else Hierarchy()
        return build_lookups.fn([(self.graph, shown)])[0]

    def _read_part(self, part: Part[T, Any]) -> T:
        """What is left of a part."""
        return part.restrict_to_scope(self.whole.part(part), self)

    def cluster_inside(self, cluster: Cluster) -> Cluster | None:
        """The cluster where nothing outside went into it; else what is known inside; None where that is nothing."""
        members = tuple(e for e in cluster.entities if e in self._entities)
        if not members:
            return None
        if self._outside.isdisjoint(cluster.entities):
            return cluster
        ranked = sorted((self._entities[e] for e in members), key=lambda e: (-e.degree, -e.frequency, e.id))
        said = {d.text.strip(): d for e in ranked for d in e.descriptions}  # one statement a span: each is a quotation
        texts = [Statement(f"{text}\n", (), (d.source,)) for text, d in said.items() if text]
        kept = tuple(take_within(texts, _COMMUNITY, lambda s: count_tokens(s.text))[0]) or tuple(
            replace(s, text=" ".join(s.text.split()[: _COMMUNITY // 2])) for s in texts[:1]
        )
        return replace(
            cluster,
            members=members if cluster.level == 0 else cluster.members,
            entities=members,
            title=", ".join(e.name for e in ranked[:3]),
            summary=kept,
            findings=(),
            rating_explanation="",
            documents=len({document_part(c) for e in ranked for c in e.chunks}),
            tokens=sum(count_tokens(s.text) for s in kept),
            omitted=len(texts) - len(kept),
        )

    @cached_property
    def _entities(self) -> dict[str, Entity]:
        return {e.id: e for e in self.graph.entities}

    def vectors_of(self, embedder: Embedder, kind: str = "chunk") -> Stack:
        """The vectors of the records inside, in their order."""
        return self.whole.vectors_of(embedder, kind).take(self.positions(kind))

    def navigator(self, kind: str) -> None:
        """None: a way through the vectors of the whole may pass by the few that are inside."""

    def positions(self, kind: str) -> Sequence[int]:
        """The positions of the records inside among those of the whole that vectors of this kind are of."""
        if kind == "chunk":
            return self.places
        if part := self.whole.part_with(kind):
            return part.positions(kind, self)
        if kind == "report":
            return positions_among(self.whole.hierarchy.clusters, self.hierarchy.clusters)
        return positions_among(self.whole.graph.entities, self.graph.entities)

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
        return self.whole.chunks([name for name in ids if name in self.chunk_ids])

    def clusters_at(self, depth: int) -> list[Cluster]:
        """The reports at a depth, or what stands for them."""
        kept = {c.id: c for c in self.hierarchy.clusters}
        return [kept[c.id] for c in self.whole.clusters_at(depth) if c.id in kept]

    def notes(self) -> tuple[str, ...]:
        """How many documents are read, and how many reports had to be left out."""
        said = f"the filter leaves {len(self.inside)} of {self.whole.manifest.counts['documents']} documents"
        return (said, *self.whole.notes(), *self._lost_reports())

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


def positions_among(whole: Iterable[Any], inside: Iterable[Any]) -> list[int]:
    """The positions of the records inside among those of the whole, by id."""
    kept = {record.id for record in inside}
    return [i for i, record in enumerate(whole) if record.id in kept]


def graph_inside(whole: Graph, chunks: frozenset[str]) -> Graph:
    """What these chunks say of the entities, relations and claims of a graph."""
    links = [r for r in (_relation_inside(r, chunks) for r in whole.relations) if r]
    degree = Counter(end for r in links for end in (r.source, r.target))
    linked: dict[str, dict[str, None]] = defaultdict(dict)  # ends that a chunk only links
    for link in links:
        for end in (link.source, link.target):
            linked[end] |= dict.fromkeys(link.chunks)
    entities = (_entity_inside(e, chunks, degree[e.id], linked.get(e.id, {})) for e in whole.entities)
    claims = tuple(c for c in whole.claims if c.source.chunk in chunks)
    return Graph(tuple(e for e in entities if e), tuple(links), claims)


def _said_inside(descriptions: Iterable[Description], chunks: frozenset[str]) -> tuple[Description, ...]:
    return tuple(d for d in descriptions if d.source.chunk in chunks)


def join_texts(descriptions: Sequence[Description]) -> str:
    """One description from those of a few chunks: each text once, as many as fit."""
    texts = list(dict.fromkeys(d.text.strip() for d in descriptions if d.text.strip()))
    return " ".join(take_within(texts, _DESCRIPTION, count_tokens)[0] or texts[:1])


def _entity_inside(entity: Entity, chunks: frozenset[str], degree: int, linked: Iterable[str]) -> Entity | None:
    """The entity as the chunks inside show it, those of its relations (`linked`) too; None where none mentions it."""
    own = tuple(c for c in entity.chunks if c in chunks)
    if own and own == entity.chunks:
        return replace(entity, degree=degree)
    said, kept = _said_inside(entity.descriptions, chunks), own or tuple(linked)
    share = len(own) / len(entity.chunks) if own else 0.0
    frequency = max(len(kept), round(entity.frequency * share))
    inside = replace(entity, description=join_texts(said), descriptions=said, chunks=kept, aliases=())
    return replace(inside, frequency=frequency, degree=degree) if kept else None


def _relation_inside(relation: Relation, chunks: frozenset[str]) -> Relation | None:
    kept = tuple(c for c in relation.chunks if c in chunks)
    if not kept or kept == relation.chunks:
        return relation if kept else None
    said = _said_inside(relation.descriptions, chunks)
    weight = relation.weight * len(kept) / len(relation.chunks)
    return replace(relation, description=join_texts(said), descriptions=said, weight=weight, chunks=kept, label="")
