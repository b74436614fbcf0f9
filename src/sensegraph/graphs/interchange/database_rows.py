"""The graph of an index as rows for graph databases: entities, relations, claims, and what ties claims to entities.

Columns have the names that queries over the index know (docs/match.md). An empty text is None, as in those queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from sensegraph.graphs.interchange.listing import hierarchy_or_empty, split_blocks
from sensegraph.index.index import Index
from sensegraph.types import Description

ColumnKind = Literal["text", "integer", "number", "truth", "texts"]
Row = dict[str, Any]

ENTITY: Mapping[str, ColumnKind] = {
    "id": "text", "name": "text", "type": "text", "description": "text", "descriptions": "texts", "aliases": "texts",
    "frequency": "integer", "degree": "integer", "documents": "texts", "chunks": "texts",
}  # fmt: skip
RELATION: Mapping[str, ColumnKind] = {
    "id": "text", "label": "text", "description": "text", "descriptions": "texts", "weight": "number",
    "directed": "truth", "source": "text", "starts": "text", "ends": "text", "documents": "texts", "chunks": "texts",
}  # fmt: skip
CLAIM: Mapping[str, ColumnKind] = {
    "id": "text", "type": "text", "status": "text", "description": "text", "object": "text", "starts": "text",
    "ends": "text", "documents": "texts", "chunks": "texts",
}  # fmt: skip
TIES = ("ABOUT", "OBJECT")
"""What leads from a claim to the entity that it is about, and to each entity that its object names."""


class GraphRows:
    """The rows of an index, read in blocks. Raises NotIndexed for an index without a graph."""

    def __init__(self, index: Index) -> None:
        self.index, self.graph = index, index.graph
        self._clusters = [(c.id, c.title) for c in hierarchy_or_empty(index).clusters]
        depths = range(index.depth if self._clusters else 0)
        homes: dict[str, ColumnKind] = {f"community_{d}{end}": "text" for d in depths for end in ("", "_title")}
        self.entity_columns: Mapping[str, ColumnKind] = {**ENTITY, **homes}

    def entities(self) -> Iterator[Row]:
        """All entities in the order of the index, each with its communities by depth."""
        position = 0
        for block in split_blocks(self.graph.entities):
            documents = self._documents([e.chunks for e in block])
            homes = self._homes(position, len(block))
            position += len(block)
            for e, named, home in zip(block, documents, homes, strict=True):
                own = (e.id, e.name, e.type, e.description, _distinct_texts(e.descriptions), list(e.aliases))
                counted = (e.frequency, e.degree, named, list(e.chunks))
                yield _make_row(self.entity_columns, (*own, *counted, *home))

    def relations(self) -> Iterator[tuple[str, str, Row]]:
        """All relations in the order of the index: the entities that each leads from and to, and its columns.

        Where `directed` is false the texts tell no one direction, and from and to are as the index has them.
        """
        for block in split_blocks(self.graph.relations):
            documents = self._documents([r.chunks for r in block])
            for r, named in zip(block, documents, strict=True):
                starts = [d.starts for d in r.descriptions if d.starts]
                ends = [d.ends for d in r.descriptions if d.ends]
                own = (r.id, r.label, r.description, _distinct_texts(r.descriptions), r.weight, r.directed, r.source)
                dates = (min(starts, default=""), max(ends, default=""))
                yield r.source, r.target, _make_row(RELATION, (*own, *dates, named, list(r.chunks)))

    def claims(self) -> Iterator[Row]:
        """All claims in the order of the index."""
        for block in split_blocks(self.graph.claims):
            chunks = [(c.source.chunk,) for c in block]
            for c, named, of in zip(block, self._documents(chunks), chunks, strict=True):
                aimed = c.object if _is_given(c.object) else ""
                own = (c.id, c.type, c.status, c.description, aimed, c.starts, c.ends, named, list(of))
                yield _make_row(CLAIM, own)

    def ties(self, kind: str) -> Iterator[tuple[str, str]]:
        """The ids of claim and entity of every tie of a kind of `TIES`."""
        for block in split_blocks(self.graph.claims):
            if kind == "ABOUT":
                yield from ((c.id, c.subject) for c in block)
                continue
            aimed = [c for c in block if _is_given(c.object)]
            places = self.index.lookups.called_each([c.object for c in aimed])
            wanted = sorted({p for found in places for p in found})
            named = dict(zip(wanted, self._entity_ids(wanted), strict=True))
            yield from ((c.id, named[p]) for c, found in zip(aimed, places, strict=True) for p in found)

    def _entity_ids(self, positions: Sequence[int]) -> list[str]:
        from sensegraph.runtime.results import take_records

        return [e.id for e in take_records(self.graph.entities, positions)]

    def _documents(self, chunks: Sequence[Sequence[str]]) -> list[list[str]]:
        """The documents of these lists of chunks, each once."""
        every = self.index.documents_of(sorted({c for found in chunks for c in found}))
        return [list(dict.fromkeys(every[c] for c in found if c in every)) for found in chunks]

    def _homes(self, start: int, count: int) -> list[tuple[str, ...]]:
        """For each of `count` entities the id and the title of its community at each depth, from the root on."""
        if not self._clusters:
            return [()] * count
        rows = self.index.lookups.homes[start : start + count]
        return [tuple(t for i in row.tolist() for t in (self._clusters[i] if i >= 0 else ("", ""))) for row in rows]


def _distinct_texts(descriptions: Sequence[Description]) -> list[str]:
    return list(dict.fromkeys(d.text for d in descriptions if d.text))


def _make_row(columns: Mapping[str, ColumnKind], values: Sequence[Any]) -> Row:
    return {name: None if value == "" else value for name, value in zip(columns, values, strict=True)}


def _is_given(text: str) -> bool:
    """Whether the object of a claim can be a name."""
    return bool(text.strip()) and text.strip().upper() != "NONE"
