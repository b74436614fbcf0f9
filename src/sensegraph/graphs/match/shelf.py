"""The graph of an index as patterns read it: who is near whom, and columns of properties by position.

Types, labels, weights and directions are mapped arrays; texts are decoded only of what a pattern has found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sensegraph.graphs.match.facets import Facets
from sensegraph.graphs.match.query_values import Kind, Value, fold_type
from sensegraph.index.index import Index
from sensegraph.runtime.results import Table, take_records
from sensegraph.types import Claim, Entity, Relation

Positions = NDArray[np.int64]
R = TypeVar("R", Entity, Relation, Claim)

_BLOCK = 4_096  # records that are read at once
_FEW = 8  # once one of so many records is asked for, descriptions are read in one run over all


@dataclass(frozen=True, slots=True)
class _Described:
    """The description of a record: decoding the rest would cost several times as much."""

    description: str


@dataclass(frozen=True, slots=True)
class Adjacency:
    """The neighbours of place i are `neighbours[start[i]:start[i + 1]]`, over the edges at the same places."""

    start: NDArray[np.int64]
    neighbours: NDArray[Any]
    edges: NDArray[Any]


class GraphReader:
    """One index, and what a query has read of it.

    `whole` are the facets of the whole graph, where a filter leaves a part: they say which types there are.
    """

    def __init__(self, index: Index, facets: Facets, whole: Facets) -> None:
        self.index, self.facets, self.whole = index, facets, whole
        self._read: dict[tuple[Kind, int], Any] = {}
        self._named: dict[str, frozenset[int]] = {}
        self._described: dict[Kind, list[str]] = {}
        self._asked = Counter[Kind]()
        self._tied: dict[tuple[str, bool], Adjacency] = {}

    # ── nodes and edges ──

    def count(self, kind: Kind) -> int:
        """How many there are."""
        if kind == "claim":
            return len(self.index.graph.claims)
        return len(self.facets.kinds) if kind == "entity" else len(self.facets.labels)

    def called(self, name: str) -> frozenset[int]:
        """The entities of this name or, where none has it, those that texts call so too."""
        if name not in self._named:
            self._named[name] = frozenset(self.index.lookups.called(name))
        return self._named[name]

    def of_type(self, names: Iterable[str]) -> NDArray[np.bool_]:
        """For every entity whether it has one of these types."""
        return np.isin(self.facets.kinds, _find_numbers(self.facets.types, names))

    def of_label(self, names: Iterable[str]) -> NDArray[np.bool_]:
        """For every relation whether it has one of these labels."""
        return np.isin(self.facets.labels, _find_numbers(self.facets.names, names))

    @cached_property
    def relations(self) -> Adjacency:
        """Entities over relations."""
        found = self.index.lookups
        return Adjacency(found.start, found.neighbours, found.relations)

    @cached_property
    def ends(self) -> tuple[Positions, Positions]:
        """The source and the target of every relation."""
        near, source = self.relations, self.facets.sources.astype(np.int64)
        owner = np.repeat(np.arange(len(near.start) - 1), np.diff(near.start))
        forth = owner == source[near.edges]
        target = np.empty_like(source)
        target[near.edges[forth]] = near.neighbours[forth]
        return source, target

    def across(self, relation: int, entity: int) -> int:
        """The other end of a relation."""
        source, target = self.ends
        return int(target[relation] if source[relation] == entity else source[relation])

    def tie(self, number: int) -> str:
        """What a tie is: `about` or `object`."""
        return "about" if number < int(self._ties[2]) else "object"

    @cached_property
    def _ties(self) -> tuple[Positions, Positions, Positions]:
        """The claim and the entity of every tie: first what each claim is about, then what it names as its object.

        Last the number of the first of the second kind.
        """
        found = self.index.lookups
        subject = np.repeat(np.arange(len(found.said) - 1), np.diff(found.said))
        claims = self.index.graph.claims
        objects = [c.object for c in claims]
        listed = sorted({o for o in objects if _is_name(o)})
        owners = dict(zip(listed, found.called_each(listed), strict=True))
        pairs = [(i, e) for i, o in enumerate(objects) for e in owners.get(o, ())]
        more = np.asarray(pairs, np.int64).reshape(-1, 2)
        claim = np.concatenate((np.asarray(found.claims, np.int64), more[:, 0]))
        return claim, np.concatenate((subject, more[:, 1])), np.asarray(len(subject))

    def ties(self, kind: str, backwards: bool) -> Adjacency:
        """Claims over ties (`about`, `object` or any) to entities, or backwards."""
        if (found := self._tied.get((kind, backwards))) is not None:
            return found
        claim, entity, border = self._ties
        edges = np.arange(len(claim))
        if kind:
            edges = edges[edges < border] if kind == "about" else edges[edges >= border]
        near, far = (entity, claim) if backwards else (claim, entity)
        order = edges[np.lexsort((far[edges], near[edges]))]
        n = self.count("entity" if backwards else "claim")
        start = np.concatenate(([0], np.cumsum(np.bincount(near[edges], minlength=n)))).astype(np.int64)
        found = self._tied[kind, backwards] = Adjacency(start, far[order], order)
        return found

    # ── records ──

    def records(self, kind: Kind, positions: Sequence[int]) -> Sequence[Entity | Relation | Claim]:
        """The records of a kind at these positions."""
        if kind == "claim":
            return self.claims(positions)
        return self.entities(positions) if kind == "entity" else self.links(positions)

    def entities(self, positions: Sequence[int]) -> list[Entity]:
        """The entities at these positions."""
        return self._records("entity", self.index.graph.entities, positions)

    def links(self, positions: Sequence[int]) -> list[Relation]:
        """The relations at these positions."""
        return self._records("relation", self.index.graph.relations, positions)

    def claims(self, positions: Sequence[int]) -> list[Claim]:
        """The claims at these positions."""
        return self._records("claim", self.index.graph.claims, positions)

    def descriptions(self, kind: Kind, positions: Sequence[int]) -> list[str]:
        """The descriptions of entities or relations; where they are many, nothing else of the records is decoded."""
        records = self.index.graph.entities if kind == "entity" else self.index.graph.relations
        self._asked[kind] += len(positions)
        if not isinstance(records, Table) or self._asked[kind] < len(records) // _FEW:
            return [r.description for r in self.records(kind, positions)]
        if kind not in self._described:
            self._described[kind] = [r.description for r in records.lightly(_Described)]
        return [self._described[kind][p] for p in positions]

    def _records(self, kind: Kind, records: Sequence[R], positions: Sequence[int]) -> list[R]:
        todo = sorted({p for p in positions if (kind, p) not in self._read})
        for begin in range(0, len(todo), _BLOCK):
            block = todo[begin : begin + _BLOCK]
            self._read.update(zip(((kind, p) for p in block), take_records(records, block), strict=True))
        return [self._read[kind, p] for p in positions]

    def name(self, entity: int) -> str:
        """The name of an entity."""
        return self.index.lookups.name(entity)


def _find_numbers(known_names: Sequence[str], wanted: Iterable[str]) -> list[int]:
    sought = {fold_type(w) for w in wanted}
    return [i for i, name in enumerate(known_names) if fold_type(name) in sought]


def _is_name(text: str) -> bool:
    """Whether the object of a claim can be a name."""
    return bool(text.strip()) and text.strip().upper() != "NONE"


# ── properties ───────────────────────────────────────────────────────────────────────────────────────────────────────

Column = Callable[[GraphReader, list[int]], list[Value]]


@dataclass(frozen=True, slots=True)
class Readable:
    """A property: what kind of value it has (`text`, `number`, `truth` or `list`), and how it is read."""

    kind: str
    read: Column


def _field_column(kind: Kind, field: str) -> Column:
    def read(shelf: GraphReader, positions: list[int]) -> list[Value]:
        records = shelf.records(kind, positions)
        return [None if (value := getattr(r, field)) == "" else value for r in records]

    return read


def _read_labels(shelf: GraphReader, positions: list[int]) -> list[Value]:
    numbers = shelf.facets.labels[positions].tolist()
    return [shelf.facets.names[n] or None for n in numbers]


def _date_column(field: str, choose: Callable[[list[str]], str]) -> Column:
    def read(shelf: GraphReader, positions: list[int]) -> list[Value]:
        told = [[date for d in r.descriptions if (date := getattr(d, field))] for r in shelf.links(positions)]
        return [choose(dates) if dates else None for dates in told]

    return read


def _end_column(first: bool) -> Column:
    def read(shelf: GraphReader, positions: list[int]) -> list[Value]:
        ends = shelf.ends[0 if first else 1][positions].tolist()
        directed = shelf.facets.directed[positions].tolist()
        return [shelf.name(end) if one_way else None for end, one_way in zip(ends, directed, strict=True)]

    return read


def _list_documents(shelf: GraphReader, chunks: Sequence[Sequence[str]]) -> list[Value]:
    every = shelf.index.documents_of(sorted({c for found in chunks for c in found}))
    return [tuple(dict.fromkeys(every[c] for c in found if c in every)) for found in chunks]


_ENTITY = {
    "name": Readable("text", lambda s, p: [s.name(i) for i in p]),  # what most texts call it
    "type": Readable("text", lambda s, p: [s.facets.types[n] or None for n in s.facets.kinds[p].tolist()]),
    # what the texts say of it
    "description": Readable("text", lambda s, p: [d or None for d in s.descriptions("entity", p)]),
    "degree": Readable("number", lambda s, p: s.facets.degrees[p].tolist()),  # its neighbours in the whole graph
    "frequency": Readable("number", lambda s, p: s.facets.frequencies[p].tolist()),  # how often it is mentioned
    "aliases": Readable("list", _field_column("entity", "aliases")),  # its other names
    "documents": Readable("list", lambda s, p: _list_documents(s, [e.chunks for e in s.entities(p)])),  # that name it
    "id": Readable("text", _field_column("entity", "id")),
}
_RELATION = {
    "label": Readable("text", _read_labels),  # where it has one
    "type": Readable("text", _read_labels),  # the same
    # what the texts say of it
    "description": Readable("text", lambda s, p: [d or None for d in s.descriptions("relation", p)]),
    "weight": Readable("number", lambda s, p: s.facets.weights[p].tolist()),  # how much the texts make of it
    # since when, where a model told: the earliest of its texts
    "starts": Readable("text", _date_column("starts", min)),
    "ends": Readable("text", _date_column("ends", max)),  # until when, where a model told: the latest of its texts
    "directed": Readable("truth", lambda s, p: s.facets.directed[p].tolist()),  # told one way
    "first": Readable("text", _end_column(True)),  # the subject of its label, where texts tell it one way
    "second": Readable("text", _end_column(False)),  # the other end
    "documents": Readable("list", lambda s, p: _list_documents(s, [r.chunks for r in s.links(p)])),  # that tell it
    "id": Readable("text", _field_column("relation", "id")),
}
_CLAIM = {
    "type": Readable("text", _field_column("claim", "type")),
    "status": Readable("text", _field_column("claim", "status")),  # TRUE, FALSE or SUSPECTED
    "description": Readable("text", _field_column("claim", "description")),  # what is claimed
    # what it names besides its subject
    "object": Readable("text", lambda s, p: [c.object if _is_name(c.object) else None for c in s.claims(p)]),
    "starts": Readable("text", _field_column("claim", "starts")),  # since when it held (ISO 8601)
    "ends": Readable("text", _field_column("claim", "ends")),  # until when (ISO 8601)
    "documents": Readable("list", lambda s, p: _list_documents(s, [(c.source.chunk,) for c in s.claims(p)])),
    "id": Readable("text", _field_column("claim", "id")),
}
PROPERTIES: Mapping[Kind, Mapping[str, Readable]] = {"entity": _ENTITY, "relation": _RELATION, "claim": _CLAIM}
"""The properties of each kind of element that has some, by their names in lower case."""
