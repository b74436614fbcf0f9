"""An index as nodes and edges with attributes, one after the other: what property-graph formats are written from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sensegraph.graphs.interchange.exporting.listing import find_records, hierarchy_or_empty
from sensegraph.graphs.interchange.pair_file import PairFile, split_blocks
from sensegraph.index.index import Index
from sensegraph.types import Description

Kind = Literal["text", "integer", "number", "list"]
Column = tuple[str, Kind]

_NODE: tuple[Column, ...] = (
    ("name", "text"),
    ("type", "text"),
    ("description", "text"),
    ("descriptions", "list"),
    ("frequency", "integer"),
    ("degree", "integer"),
    ("claims", "list"),
    ("chunks", "list"),
)
_EDGE: tuple[Column, ...] = (
    ("label", "text"),
    ("description", "text"),
    ("descriptions", "list"),
    ("weight", "number"),
    ("chunks", "list"),
)


@dataclass(frozen=True, slots=True)
class Element:
    """A node, or an edge with two `ends`; `values` stand in the order of its columns."""

    id: str
    values: tuple[Any, ...]
    ends: tuple[str, ...] = ()


class Elements:
    """The nodes and edges of an index, read in blocks. The columns of nodes end with the communities by depth."""

    def __init__(self, index: Index, pairs: PairFile) -> None:
        self.index, self._pairs = index, pairs
        self._clusters = [(c.id, c.title) for c in hierarchy_or_empty(index).clusters]
        depths = range(index.depth if self._clusters else 0)
        self.node_columns: tuple[Column, ...] = (
            *_NODE,
            *((f"community_{d}", "text") for d in depths),
            *((f"community_{d}_title", "text") for d in depths),
        )
        self.edge_columns = _EDGE
        pairs.put("claims", ((c.subject, c.id) for c in index.graph.claims))

    def nodes(self) -> Iterator[Element]:
        """All entities, in the order of the index."""
        position = 0
        for block in split_blocks(self.index.graph.entities):
            claims = self._claims([e.id for e in block])
            homes = self._homes(position, len(block))
            for e, home in zip(block, homes, strict=True):
                texts = _distinct_texts(e.descriptions)
                own = (e.name, e.type, e.description, texts, e.frequency, e.degree, claims[e.id], list(e.chunks))
                yield Element(e.id, (*own, *home))
            position += len(block)

    def edges(self) -> Iterator[Element]:
        """All relations, in the order of the index; they have no direction."""
        for r in self.index.graph.relations:
            values = (r.label, r.description, _distinct_texts(r.descriptions), r.weight, list(r.chunks))
            yield Element(r.id, values, (r.source, r.target))

    def _claims(self, entities: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
        """The claims about each of these entities, without their subject, which is the node that bears them."""
        ids = self._pairs.find("claims", entities)
        records = find_records(self.index.graph.claims, [c for name in entities for c in ids[name]])
        shown = {c: {**asdict(claim), "chunk": claim.source.chunk} for c, claim in records.items()}
        plain = {c: {k: v for k, v in values.items() if k not in ("subject", "source")} for c, values in shown.items()}
        return {name: [plain[c] for c in ids[name]] for name in entities}

    def _homes(self, start: int, count: int) -> list[tuple[str, ...]]:
        """For each of `count` entities the ids of its communities from the root on, then their titles."""
        if not self._clusters:
            return [()] * count
        rows = self.index.lookups.homes[start : start + count]
        homes = [[self._clusters[i] if i >= 0 else ("", "") for i in row.tolist()] for row in rows]
        return [(*(c for c, _ in home), *(title for _, title in home)) for home in homes]


def _distinct_texts(descriptions: Sequence[Description]) -> list[str]:
    return list(dict.fromkeys(d.text for d in descriptions if d.text))
