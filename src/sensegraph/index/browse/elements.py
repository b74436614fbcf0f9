"""An index read without a question: reports from the coarsest down, entities with all that is known of them.

A report leads down to its parts (edge2024 §3.1.5; N18, N76, G17): its children, then entities, relations, claims and
the chunks that they were read from, each with its place in a document. Records are fetched by id or by position; only a
title, and a name that is not found as it is written, are searched for in the stored bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from sensegraph.errors import InputError
from sensegraph.index.browse.pages import (
    ChunkRow,
    ClaimRow,
    EntityPage,
    EntityRow,
    Headline,
    Neighbour,
    Place,
    RelationRow,
    ReportPage,
    ReportRow,
    Said,
    place_span,
)
from sensegraph.index.index import Index
from sensegraph.index.passages import cite_statements
from sensegraph.language.defining import AskedName, rate_mention
from sensegraph.language.text import fold
from sensegraph.runtime.results import Table, take_records
from sensegraph.types import Chunk, Citation, Cluster, Entity, Relation, Source, Statement

_NEAR = 5  # names that are offered for one that is unknown
_ALIKE = 80  # of 100: how much alike two spellings are of which one was meant for the other
_BREAK = "\0"  # stands between the parts of a report while they are cited together; no text keeps one
_TYPED = re.compile(r"(.*\S)\s*\(([^()]+)\)")
_HEX = re.compile(r"[0-9a-f]+")

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class _Outline:
    """What a list shows of a cluster: decoding the rest of its record would cost ten times as much."""

    id: str
    level: int
    depth: int
    members: tuple[str, ...]
    entities: tuple[str, ...]
    title: str = ""
    rating: float = 0.0
    documents: int = 0


@dataclass(frozen=True, slots=True)
class _Called:
    """The name of an entity, its type, and its neighbours."""

    name: str
    type: str
    degree: int


# ── reports ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def list_reports(index: Index, depth: int = 0) -> list[ReportRow]:
    """The reports of a depth (of the deepest, where there are not so many), best rating first.

    They cover every entity once: a community that is not divided further stands for itself at the depths below it.
    """
    upper = islice(read_fields(index.hierarchy.clusters, _Outline), sum(index.manifest.clusters[: depth + 1]))
    rows = [_report_row(c) for c in upper if c.depth == depth or c.level == 0]
    return sorted(rows, key=lambda r: (-r.rating, -r.documents, -r.entities, r.id))


def find_report(index: Index, name: str) -> Cluster:
    """The report with this id, this beginning of an id, or this title (in any case).

    Raises InputError where there is none, naming the nearest titles, or several, naming their ids.
    """
    if found := index.clusters([name]):
        return found[name]
    clusters = index.hierarchy.clusters
    hits: list[str] = []
    if _HEX.fullmatch(name):
        ids = clusters.ids() if isinstance(clusters, Table) else [c.id for c in clusters]
        hits = [i for i in ids if i.startswith(name)]
    if not hits:
        titles = [(c.id, c.title) for c in read_fields(clusters, _Outline)]
        hits = [i for i, title in titles if fold(title) == fold(name)]
        if not hits:
            near = suggest_names(name, [title for _, title in titles])
            raise InputError(f"There is no report {name!r}{near} `sensegraph show reports` lists all.")
    first = index.clusters(hits[:_NEAR])
    if len(hits) > 1:
        many = ", ".join(f"{i} ({first[i].title}, depth {first[i].depth})" for i in hits[:_NEAR])
        raise InputError(f"{name!r} may be any of {len(hits)} reports; give the id of one: {many}.")
    return first[hits[0]]


def read_report(index: Index, name: str, chunks: int | None = None) -> ReportPage:
    """The report `name` (see `find_report`) with its parts; of its chunks at most that many."""
    cluster = find_report(index, name)
    members = index.entities(cluster.entities)
    names = {e.id: e.name for e in members.values()}
    summary, findings, citations, unresolved = _cite_report(cluster, index)
    # the community's entities are those that share the home of one of them
    homes = index.lookups.homes[:, cluster.depth]
    home = homes[_entity_position(next(iter(members.values())), index)]
    positions: list[int] = np.flatnonzero(homes == home).tolist()
    held = Counter(c for e in members.values() for c in e.chunks)
    children = index.clusters(cluster.members) if cluster.level else {}
    # the chunks that mention most of the entities, in the order of their documents where they mention as many
    ranked = sorted(held, key=lambda c: (-held[c], c))[:chunks]
    read = index.chunks(ranked)
    rows = [
        ChunkRow(c, place, held[c], read[c].text)
        for c in ranked
        if c in read and (place := source_place(Source(c, 0, len(read[c].text)), read, index))
    ]
    return ReportPage(
        report=_report_row(cluster),
        rating_explanation=cluster.rating_explanation,
        summary=summary,
        findings=findings,
        citations=citations,
        unresolved=unresolved,
        parent=next(map(_report_row, index.clusters([cluster.parent]).values()), None),
        children=tuple(sorted(map(_report_row, children.values()), key=lambda r: (-r.rating, r.id))),
        entities=tuple(sorted(map(entity_row, members.values()), key=lambda e: (-e.degree, e.name, e.id))),
        relations=tuple(_relation_row(r, members) for r in _inner_relations(positions, index)),
        claims=_claim_rows(index, positions, names),
        chunks=tuple(sorted(rows, key=lambda r: (-r.entities, r.place.document, r.place.start))),
        chunks_in_all=len(held),
    )


def _cite_report(cluster: Cluster, index: Index) -> tuple[str, tuple[Headline, ...], tuple[Citation, ...], int]:
    """The summary and the findings with one row of numbers through both, the citations, and how many are lost."""
    parts = [cluster.summary, *(f.statements for f in cluster.findings)]
    told = list[Statement]()
    for part in parts:
        told += (replace(s, text=s.text.replace(_BREAK, " ")) for s in part)
        told.append(Statement(_BREAK))
    text, citations, unresolved = cite_statements(told, index)
    summary, *texts = (part.strip() for part in text.split(_BREAK)[: len(parts)])
    findings = [Headline(f.summary, said) for f, said in zip(cluster.findings, texts, strict=True)]
    return summary, tuple(findings), citations, unresolved


def _inner_relations(positions: Sequence[int], index: Index) -> list[Relation]:
    """The relations with both ends among the entities at these positions, heaviest first."""
    inside = np.zeros(len(index.lookups.homes), np.bool_)
    inside[positions] = True
    found = set[int]()
    for position in positions:
        neighbours, relations = index.lookups.around(position)
        found.update(relations[inside[neighbours]].tolist())
    return sorted(take_records(index.graph.relations, sorted(found)), key=lambda r: (-r.weight, r.id))


# ── entities ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def find_entities(index: Index, name: str, kind: str = "") -> list[Entity]:
    """The entities of this name (in any case), or with this id, of the type `kind` if given; best known first.

    Raises InputError where there is none, naming the nearest names, or the types that there are.
    """
    found = take_records(index.graph.entities, index.lookups.called(name)) or list(index.entities([name]).values())
    named = sorted(found, key=lambda e: (-e.degree, -len(e.chunks), e.id))
    if not named:
        every = [e.name for e in read_fields(index.graph.entities, _Called)]
        near = suggest_names(name, every)
        raise InputError(f"There is no entity {name!r}{near} `sensegraph entities list` shows all.")
    chosen = [e for e in named if kind in ("", e.type) or fold(kind) == fold(e.type)]
    if not chosen:
        types = ", ".join(sorted({e.type for e in named}))
        raise InputError(f"There is no entity {name!r} of the type {kind!r}; there is one of: {types}.")
    return chosen


def entities_called(index: Index, name: str) -> list[Entity]:
    """The entities with this name or, where none has it, this alias; `name (type)` says which of several.

    Raises InputError where there is none, naming the nearest names.
    """
    typed = _TYPED.fullmatch(name)
    try:
        return find_entities(index, name)
    except InputError:
        if typed and index.lookups.called(typed[1]):
            return find_entities(index, typed[1], typed[2])
        raise


def rank_entities(index: Index) -> list[tuple[str, str, int]]:
    """Name and type of every entity in the form to compare, and its position: those with most neighbours first."""
    rows = [(-e.degree, e.name, e.type, n) for n, e in enumerate(read_fields(index.graph.entities, _Called))]
    return [(fold(name), fold(kind), n) for _, name, kind, n in sorted(rows)]


def read_entity(index: Index, entity: Entity) -> EntityPage:
    """All that is known of an entity of the index."""
    position = _entity_position(entity, index)
    spans = index.chunks(sorted({d.source.chunk for d in entity.descriptions}))
    name = AskedName(entity.name)
    told = sorted(entity.descriptions, key=lambda d: -rate_mention(name, d.text))  # of equal ones the earlier first
    said = (Said(d.text, d.source.chunk, source_place(d.source, spans, index)) for d in told)
    homes = [h for h in dict.fromkeys(index.lookups.homes[position].tolist()) if h >= 0]
    others, links = index.lookups.around(position)
    near = take_records(index.graph.entities, others.tolist())
    entities = {e.id: e for e in [*near, entity]}
    relations = take_records(index.graph.relations, links.tolist())
    rows = [Neighbour(entity_row(e), _relation_row(r, entities)) for e, r in zip(near, relations, strict=True)]
    return EntityPage(
        entity=entity_row(entity),
        frequency=entity.frequency,
        descriptions=tuple(said),
        neighbours=tuple(sorted(rows, key=lambda n: (-n.relation.weight, n.entity.name, n.entity.id))),
        claims=_claim_rows(index, [position], {entity.id: entity.name}),
        communities=tuple(_report_row(c) for c in take_records(index.hierarchy.clusters, homes)) if homes else (),
    )


def _entity_position(entity: Entity, index: Index) -> int:
    """Where an entity stands in the graph."""
    places = index.lookups.called(entity.name)
    records = take_records(index.graph.entities, places)
    return next(p for p, e in zip(places, records, strict=True) if e.id == entity.id)


# ── what both need ───────────────────────────────────────────────────────────────────────────────────────────────────


def _claim_rows(index: Index, positions: Sequence[int], names: dict[str, str]) -> tuple[ClaimRow, ...]:
    """The claims about the entities at these positions, by subject and place; what two chunks share is told once."""
    told = sorted({int(claim) for p in positions for claim in index.lookups.told(p)})
    found = [c for c in take_records(index.graph.claims, told) if c.subject in names]
    spans = index.chunks(sorted({c.source.chunk for c in found}))
    rows = {}
    for c in found:
        said = (c.object, c.type, c.status, c.description, c.starts, c.ends)
        row = ClaimRow(c.id, names[c.subject], *said, source_place(c.source, spans, index))
        rows[replace(row, id="")] = row
    return tuple(
        sorted(rows.values(), key=lambda r: (r.subject, r.place.document if r.place else "", r.description, r.id))
    )


def read_fields(records: Sequence[Any], kind: type[R]) -> Iterator[R]:
    """All records in order; of stored ones only the fields of `kind` are decoded."""
    if isinstance(records, Table):
        return records.lightly(kind)
    return iter(records)


def suggest_names(name: str, known: Sequence[str]) -> str:
    """`; did you mean …?` for a name that is nearly so, else `; the nearest: ….`; where there is nothing at all, that.

    Names that share a word follow the one that is written most alike.
    """
    from rapidfuzz import fuzz, process

    every = list(dict.fromkeys(known))
    if not every:
        return ": the index holds none."
    alike = process.extract(name, every, scorer=fuzz.ratio, processor=fold, limit=1, score_cutoff=_ALIKE)
    near = process.extract(name, every, scorer=fuzz.token_ratio, processor=fold, limit=_NEAR)
    others = ", ".join(repr(n) for n, _, _ in near if n not in {a for a, _, _ in alike})
    if not alike:
        return f"; the nearest: {others}."
    return f"; did you mean {alike[0][0]!r}?" + (f" Others that are near: {others}." if others else "")


def _report_row(c: Cluster | _Outline) -> ReportRow:
    children = len(c.members) if c.level else 0
    return ReportRow(c.id, c.title, c.rating, c.depth, len(c.entities), c.documents, children)


def entity_row(e: Entity) -> EntityRow:
    """An entity as lists show it."""
    return EntityRow(e.id, e.name, e.type, e.degree, len(e.chunks), e.description)


def _relation_row(r: Relation, entities: Mapping[str, Entity]) -> RelationRow:
    """A relation between these entities, its subject first."""
    source, target = (entities[name].name if name in entities else name for name in (r.source, r.target))
    return RelationRow(r.id, source, target, r.label, r.description, r.weight)


def source_place(source: Source, spans: dict[str, Chunk], index: Index) -> Place | None:
    """Where a span of a chunk is in its document; None where the chunk is gone."""
    chunk = spans.get(source.chunk)
    if chunk is None:
        return None
    start, end = chunk.start + source.start, chunk.start + source.end
    return place_span(index, chunk.document, start, end)
