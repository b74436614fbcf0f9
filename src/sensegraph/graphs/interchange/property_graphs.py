"""A property graph as CSV for Neo4j's bulk import, GraphML, Cypher, or node-link JSON; written as it is read (N59)."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Literal
from xml.sax.saxutils import escape, quoteattr

from sensegraph.documents.cells import write_cell
from sensegraph.graphs.interchange.exporting import Exported, prepare_folder, write_whole_file
from sensegraph.graphs.interchange.listing import PairFile, find_records, hierarchy_or_empty, split_blocks
from sensegraph.index.index import Index
from sensegraph.types import Description

Kind = Literal["text", "integer", "number", "truth", "list"]
Column = tuple[str, Kind]

_NODE: tuple[Column, ...] = (
    ("name", "text"), ("type", "text"), ("description", "text"), ("descriptions", "list"), ("frequency", "integer"),
    ("degree", "integer"), ("claims", "list"), ("chunks", "list"),
)  # fmt: skip
_EDGE: tuple[Column, ...] = (
    ("label", "text"), ("description", "text"), ("descriptions", "list"), ("weight", "number"), ("directed", "truth"),
    ("chunks", "list"),
)  # fmt: skip
GraphForm = Literal["csv", "graphml", "cypher", "json"]
_TYPES: Mapping[Kind, str] = {
    "text": "string",
    "integer": "long",
    "number": "double",
    "truth": "boolean",
    "list": "string",
}
_STATEMENT = 200  # elements of one Cypher statement
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BREAKS = re.compile("[\x7f-\x9f\u2028\u2029]")  # what JSON leaves as it is and some readers take for a line's end
_GRAPHML = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">\n'
)
Written = tuple[tuple[Path, ...], tuple[str, ...]]


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
        communities = [f"community_{d}{end}" for end in ("", "_title") for d in depths]
        self.node_columns: tuple[Column, ...] = (*_NODE, *((name, "text") for name in communities))
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
        """All relations, in the order of the index, from subject to object where they are `directed`."""
        for r in self.index.graph.relations:
            values = (r.label, r.description, _distinct_texts(r.descriptions), r.weight, r.directed, list(r.chunks))
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


def export_graph(index: Index, folder: str | Path, form: GraphForm, *, force: bool = False) -> Exported:
    """Write the entities and relations of `index` with all their attributes, and their communities by depth.

    Lists are JSON texts where a format has no lists. Raises InputError for a folder that is not empty, unless `force`
    is given, and NotIndexed for an index without a graph.
    """
    graph = index.graph  # before a folder is made: an index may have none
    place = prepare_folder(folder, force=force)
    with PairFile() as pairs:
        files, notes = _WRITERS[form](place, Elements(index, pairs))
    return Exported(files, {"entities": len(graph.entities), "relations": len(graph.relations)}, notes)


# ── CSV ──


def _write_csv_files(place: Path, elements: Elements) -> Written:
    """`nodes.csv` and `edges.csv` with typed headers, as Neo4j's bulk import reads them (with multi-line fields).

    A text that a spreadsheet would take for a formula stands behind an apostrophe.
    """
    nodes, edges = place / "nodes.csv", place / "edges.csv"
    with write_whole_file(nodes) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id:ID", *_typed_headers(elements.node_columns), ":LABEL"])
        writer.writerows([*map(write_cell, (n.id, *_flatten_lists(n.values))), "Entity"] for n in elements.nodes())
    with write_whole_file(edges) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([":START_ID", ":END_ID", "id", *_typed_headers(elements.edge_columns), ":TYPE"])
        writer.writerows(
            [*map(write_cell, (*e.ends, e.id, *_flatten_lists(e.values))), "RELATED"] for e in elements.edges()
        )
    return (nodes, edges), ()


def _typed_headers(columns: Sequence[Column]) -> list[str]:
    return [f"{name}:{_TYPES[kind]}" for name, kind in columns]


def _flatten_lists(values: Iterable[Any]) -> list[Any]:
    return [_dump_json(v) if isinstance(v, list | bool) else v for v in values]


def _dump_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# ── GraphML ──


class _Xml:
    """Writes XML; characters that XML cannot hold become U+FFFD, and are counted."""

    def __init__(self, file: IO[str]) -> None:
        self.file, self.replaced = file, 0

    def clean(self, text: str) -> str:
        """The text without what XML has no way to write."""
        cleaned, count = _NOT_XML.subn("\ufffd", text)
        self.replaced += count
        return cleaned

    def element(self, tag: str, attributes: str, columns: Sequence[Column], element: Element) -> None:
        """A node or an edge with its data; empty texts are left out."""
        self.file.write(f"<{tag} id={quoteattr(self.clean(element.id))}{attributes}>")
        for (name, _), value in zip(columns, _flatten_lists(element.values), strict=True):
            if value != "":
                text = escape(self.clean(str(value)), {"\r": "&#13;"})
                self.file.write(f'<data key="{tag}_{name}">{text}</data>')
        self.file.write(f"</{tag}>\n")


def _write_graphml(place: Path, elements: Elements) -> Written:
    path = place / "graph.graphml"
    with write_whole_file(path) as file:
        xml = _Xml(file)
        file.write(_GRAPHML)
        for tag, columns in (("node", elements.node_columns), ("edge", elements.edge_columns)):
            for name, kind in columns:
                file.write(f'<key id="{tag}_{name}" for="{tag}" attr.name="{name}" attr.type="{_TYPES[kind]}"/>\n')
        file.write('<graph edgedefault="directed">\n')
        for node in elements.nodes():
            xml.element("node", "", elements.node_columns, node)
        for edge in elements.edges():
            source, target = (quoteattr(xml.clean(end)) for end in edge.ends)
            xml.element("edge", f" source={source} target={target}", elements.edge_columns, edge)
        file.write("</graph>\n</graphml>\n")
    note = f"{xml.replaced} characters that XML cannot hold were replaced by U+FFFD"
    return (path,), (note,) if xml.replaced else ()


# ── Cypher ──


def _write_cypher(place: Path, elements: Elements) -> Written:
    """One statement a line; running it twice changes nothing (MERGE)."""
    path = place / "graph.cypher"
    with write_whole_file(path) as file:
        file.write("CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE;\n")
        for block in split_blocks(elements.nodes(), _STATEMENT):
            rows = ", ".join(_cypher_map([("id", n.id), *_pair_columns(elements.node_columns, n)]) for n in block)
            file.write(f"UNWIND [{rows}] AS row MERGE (n:Entity {{id: row.id}}) SET n += row;\n")
        for block in split_blocks(elements.edges(), _STATEMENT):
            ties = [
                f"{{source: {cypher_literal(e.ends[0])}, target: {cypher_literal(e.ends[1])}, "
                f"set: {_cypher_map([('id', e.id), *_pair_columns(elements.edge_columns, e)])}}}"
                for e in block
            ]
            file.write(
                f"UNWIND [{', '.join(ties)}] AS row MATCH (a:Entity {{id: row.source}}), (b:Entity {{id: row.target}}) "
                "MERGE (a)-[r:RELATED {id: row.set.id}]->(b) SET r += row.set;\n"
            )
    return (path,), ()


def _pair_columns(columns: Sequence[Column], element: Element) -> Iterator[tuple[str, Any]]:
    return ((name, value) for (name, _), value in zip(columns, element.values, strict=True))


def _cypher_map(pairs: Iterable[tuple[str, Any]]) -> str:
    return "{" + ", ".join(f"{name}: {cypher_literal(value)}" for name, value in pairs) + "}"


def cypher_literal(value: Any) -> str:
    """A value in Cypher's syntax. A property can be a list of texts, not of maps: those become JSON texts.

    Servers differ in whether `\\u…` is resolved before strings are told apart, so a backslash before a `u` ends its
    string: both read the same text, and no text can end its string early.
    """
    if isinstance(value, list):
        return "[" + ", ".join(cypher_literal(v if isinstance(v, str) else _dump_json(v)) for v in value) + "]"
    if not isinstance(value, str):
        return _dump_json(value) if isinstance(value, bool) else repr(value)
    parts = '\\\\" + "u'.join(_dump_json(part)[1:-1] for part in value.split("\\u"))
    return _BREAKS.sub(lambda m: f"\\u{ord(m[0]):04x}", f'"{parts}"')


# ── node-link JSON ──


def _write_node_link(place: Path, elements: Elements) -> Written:
    """As networkx reads it: `node_link_graph(data, edges="edges")`; one element a line."""
    path = place / "graph.json"
    head = {"directed": True, "multigraph": True, "graph": {"documents": elements.index.manifest.counts["documents"]}}
    with write_whole_file(path) as file:
        file.write(f'{_dump_json(head)[:-1]}, "nodes": [')
        for i, n in enumerate(elements.nodes()):
            node = {"id": n.id, **dict(_pair_columns(elements.node_columns, n))}
            file.write(f"{',' if i else ''}\n{_dump_json(node)}")
        file.write('], "edges": [')
        for i, e in enumerate(elements.edges()):
            ends = dict(zip(("source", "target"), e.ends, strict=True))
            edge = {**ends, "key": e.id, **dict(_pair_columns(elements.edge_columns, e))}
            file.write(f"{',' if i else ''}\n{_dump_json(edge)}")
        file.write("]}\n")
    return (path,), ()


_WRITERS: Mapping[GraphForm, Callable[[Path, Elements], Written]] = {
    "csv": _write_csv_files, "graphml": _write_graphml, "cypher": _write_cypher, "json": _write_node_link,
}  # fmt: skip
