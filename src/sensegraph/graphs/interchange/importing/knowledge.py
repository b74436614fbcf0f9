"""Entities, relationships and covariates to our graph; what they name that is not there is counted and named."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sensegraph.documents.metadata import read_iso_date
from sensegraph.graphs.interchange.importing.spans import SentenceFinder
from sensegraph.graphs.interchange.importing.texts import Texts, finish_texts, list_few_names
from sensegraph.graphs.interchange.tables import ClaimRow, EntityRow, RelationRow, Tables
from sensegraph.language.text import fold
from sensegraph.runtime.keys import key
from sensegraph.types import Claim, Entity, Graph, Relation

_STATUS = ("TRUE", "FALSE", "SUSPECTED")
_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class _BoundRows:
    """The rows with what they name found: entity ids for ends and subjects, chunk ids for text units."""

    entities: dict[str, EntityRow] = field(default_factory=dict)
    relations: list[tuple[RelationRow, str, str]] = field(default_factory=list)
    claims: list[tuple[ClaimRow, str]] = field(default_factory=list)
    chunks: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by the id of the entity, relation or claim
    made: dict[str, EntityRow] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A graph from tables; `made` are ids of entities that no row of theirs describes, `number` those of rows."""

    graph: Graph
    made: tuple[str, ...]
    sayings: SentenceFinder
    notes: tuple[str, ...]


def build_graph(tables: Tables, texts: Texts, *, orphans: Literal["create", "drop"]) -> Knowledge:
    """The graph of the tables, on the chunks of `texts`, which are finished by this.

    A relation's end or a claim's subject that no entity bears is made an entity of type unknown, or its row is left
    out, as `orphans` says (§3.5 of the specification). Rows that say nothing are left out. Two rows between the same
    two entities stay two relations: their ids are the caller's.
    """
    notes: list[str] = []
    bound = _bind_rows(tables, _Names(tables.entities), orphans, notes)
    _find_chunks(bound, texts, notes)
    finish_texts(texts)
    sayings = SentenceFinder(texts.all_chunks())
    every = {**bound.entities, **bound.made}
    relations = list[Relation]()
    for relation, a, b in bound.relations:
        chunks = bound.chunks[relation.id]
        said = sayings.about([every[a].name, every[b].name], chunks, relation.description)
        source, target = sorted((a, b))
        weight = relation.weight
        relations.append(Relation(relation.id, source, target, relation.description, said, weight, chunks))
    degree = Counter(end for pair in {(r.source, r.target) for r in relations} for end in pair)  # distinct neighbours
    entities = list[Entity]()
    for entity in every.values():
        chunks = bound.chunks[entity.id]
        said = sayings.about([entity.name], chunks, entity.description or entity.name)
        kind, frequency = fold(entity.type) or _UNKNOWN, entity.frequency or len(chunks)
        entities.append(
            Entity(entity.id, entity.name, kind, entity.description, said, chunks, frequency, degree[entity.id])
        )
    claims = list[Claim]()
    for c, subject in bound.claims:
        (chunk,) = bound.chunks[c.id]
        status = c.status.strip().upper() if c.status.strip().upper() in _STATUS else "SUSPECTED"
        quote = sayings.quoted(c.quote, chunk)
        starts, ends = read_iso_date(c.starts), read_iso_date(c.ends)
        claims.append(Claim(c.id, subject, c.object, c.type, status, c.description, starts, ends, quote))
    graph = Graph(
        tuple(sorted(entities, key=lambda e: e.id)),
        tuple(sorted(relations, key=lambda r: r.id)),
        tuple(sorted(claims, key=lambda c: c.id)),
    )
    return Knowledge(graph, tuple(bound.made), sayings, tuple(notes))


class _Names:
    """Entities by name: exactly as written first, then folded; of several the most frequent, ties by type."""

    def __init__(self, rows: Sequence[EntityRow]) -> None:
        ranked = sorted(rows, key=lambda e: (-max(e.frequency, len(e.units)), fold(e.type), e.id))
        self._ids = {e.id: e.id for e in rows}
        self._exact: dict[str, str] = {}
        self._folded: dict[str, str] = {}
        for e in ranked:
            self._exact.setdefault(e.name, e.id)
            self._folded.setdefault(fold(e.name), e.id)

    def find(self, name: str) -> str | None:
        """The id of the entity that is called so, if there is one."""
        return self._exact.get(name) or self._folded.get(fold(name)) or self._ids.get(name)


# ── binding ──


def _bind_rows(tables: Tables, names: _Names, orphans: str, notes: list[str]) -> _BoundRows:
    bound = _BoundRows({e.id: e for e in tables.entities})
    lost: list[str] = []

    def end(name: str) -> str | None:
        found = names.find(name)
        if found is None and fold(name):
            lost.append(name)
            if orphans == "create":
                found = key("imported", fold(name))[:20]
                bound.made.setdefault(found, EntityRow({}, found, -1, name, _UNKNOWN, "", (), 0))
        return found

    loops = 0
    for row in tables.relationships:
        a, b = end(row.source), end(row.target)
        if a and b and a != b:
            bound.relations.append((row, a, b))
        loops += bool(a and a == b)
    _note_orphans(notes, lost, orphans, "ends of relationships", "relations")
    _note_count(notes, loops, "relationships join an entity with itself and are kept beside the graph")
    lost.clear()
    silent = [c for c in tables.covariates if not (c.description or c.type)]
    for claim in tables.covariates:
        if (claim.description or claim.type) and (subject := end(claim.subject)):
            bound.claims.append((claim, subject))
    _note_orphans(notes, lost, orphans, "subjects of covariates", "claims")
    _note_count(notes, len(silent), "covariates have neither type nor description and are kept beside the graph")
    return bound


def _note_orphans(notes: list[str], lost: Sequence[str], orphans: str, what: str, dropped: str) -> None:
    if lost:
        fate = "became entities of type unknown" if orphans == "create" else f"were dropped with their {dropped}"
        distinct = len(dict.fromkeys(map(fold, lost)))
        notes.append(f"{distinct} {what} are no entity of the tables and {fate}: {list_few_names(lost)}")


def _note_count(notes: list[str], count: int, what: str) -> None:
    if count:
        notes.append(f"{count} {what}")


def _find_chunks(bound: _BoundRows, texts: Texts, notes: list[str]) -> None:
    """The chunks behind each element; one without gets a line of its own in a document of descriptions."""
    lost: list[str] = []

    def chunks(units: Iterable[str]) -> tuple[str, ...]:
        listed = tuple(dict.fromkeys(units))
        lost.extend(u for u in listed if u not in texts.chunk_of)
        return tuple(texts.chunk_of[u] for u in listed if u in texts.chunk_of)

    names = {e.id: e.name for e in (*bound.entities.values(), *bound.made.values())}
    through: dict[str, dict[str, None]] = defaultdict(dict)
    for relation, a, b in bound.relations:
        said = f"{names[a]} — {names[b]}: {relation.description}"
        found = chunks(relation.units) or (texts.told("relationships", relation.id, said),)
        bound.chunks[relation.id] = found
        for e in (a, b):
            through[e].update(dict.fromkeys(found))
    for claim, subject in bound.claims:
        said = f"{names[subject]}: {claim.description}"
        bound.chunks[claim.id] = chunks([claim.unit] if claim.unit else []) or (
            texts.told("covariates", claim.id, said),
        )
        through[subject].update(dict.fromkeys(bound.chunks[claim.id]))
    for row in bound.entities.values():
        bound.chunks[row.id] = chunks(row.units) or (texts.told("entities", row.id, f"{row.name}: {row.description}"),)
    for made in bound.made:
        bound.chunks[made] = tuple(through[made])
    if lost:
        notes.append(
            f"{len(dict.fromkeys(lost))} text units that elements name are not in the tables: {list_few_names(lost)}"
        )


__all__ = ["Knowledge", "build_graph"]
