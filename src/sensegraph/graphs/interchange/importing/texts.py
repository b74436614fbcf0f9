"""Text units to chunks: where each stands in its document, so that every citation leads to an exact span (N59)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from sensegraph.documents.metadata import read_iso_date
from sensegraph.graphs.interchange.tables import Tables, UnitRow
from sensegraph.index.chunks import chunk_documents
from sensegraph.language.text import count_tokens
from sensegraph.runtime.keys import key
from sensegraph.types import Chunk, Document

_HEAD = re.compile(r"[^\n:]{1,80}: [^\n]*\n")  # a field of the document, which may be put before the text of each unit
_HEADS = 12  # lines of it at most


@dataclass(frozen=True, slots=True)
class Texts:
    """Documents by id and their chunks in order; `chunk_of` leads from text units to chunks.

    `made` are ids of documents that no table holds. `lines` gathers what no text unit says (see `told`).
    """

    documents: dict[str, Document] = field(default_factory=dict)
    chunks: dict[str, list[Chunk]] = field(default_factory=lambda: defaultdict(list))
    chunk_of: dict[str, str] = field(default_factory=dict)
    made: dict[str, None] = field(default_factory=dict)
    lines: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    notes: list[str] = field(default_factory=list)

    def told(self, table: str, name: str, text: str) -> str:
        """The id of a chunk that says `text`: for what an element says where no text unit of the tables does."""
        self.lines[table].append((make_chunk_id(_descriptions_title(table), name), text.strip() or name))
        return self.lines[table][-1][0]

    def all_chunks(self) -> Iterable[Chunk]:
        """All chunks, by document, then place."""
        return (c for name in sorted(self.documents) for c in self.chunks[name])


def make_chunk_id(document: str, unit: str) -> str:
    """The id of a chunk: the mark that all chunks of its document share, then the text unit's own id."""
    return key("document", document)[:12] + unit


def place_text_units(tables: Tables, *, size: int, overlap: int) -> Texts:
    """Documents and chunks of the tables.

    A text unit is the span of its document that equals it, without the lines of metadata that may stand before it. One
    that is no span (the join of several documents, say) becomes a document of its own. Documents without any text unit
    are cut as an index cuts them, into `size` tokens with an `overlap`.
    """
    texts = Texts()
    for row in tables.documents:
        texts.documents[row.id] = Document(row.id, row.text, row.title, row.metadata, read_iso_date(row.created))
    owners: dict[str, list[str]] = defaultdict(list)  # the documents that list each text unit
    for row in tables.documents:
        for listed in row.units:
            owners[listed].append(row.id)
    reached: dict[str, int] = {}
    alone = [u for u in tables.text_units if not _place_text_unit(u, owners.get(u.id, ()), texts, reached)]
    for unit in alone:
        title = next((texts.documents[d].title for d in unit.documents if d in texts.documents), "")
        name = unit.id if unit.id not in texts.documents else f"text unit {unit.id}"
        texts.documents[name] = Document(name, unit.text, title)
        texts.made[name] = None
        _add_chunk(unit.id, texts.documents[name], 0, len(unit.text), texts)
    if alone and tables.documents:
        texts.notes.append(
            f"{len(alone)} text units are no span of their document and became documents of their own: "
            + list_few_names(u.id for u in alone)
        )
    if not tables.text_units:
        documents = list(texts.documents.values())
        for document, cut in zip(documents, chunk_documents.fn(documents, size=size, overlap=overlap), strict=True):
            texts.chunks[document.id].extend(cut)
    for chunks in texts.chunks.values():
        chunks.sort(key=lambda c: (c.start, c.end, c.id))
    return texts


def finish_texts(texts: Texts) -> Texts:
    """The texts with one document for each table whose elements said what no text unit does."""
    for table, lines in texts.lines.items():
        name = _descriptions_title(table)
        texts.documents[name] = Document(name, "\n".join(text for _, text in lines), name)
        texts.made[name] = None
        start = 0
        for chunk_id, text in lines:
            texts.chunks[name].append(_make_chunk(chunk_id, texts.documents[name], start, start + len(text)))
            start += len(text) + 1
        texts.notes.append(
            f"{len(lines)} {table} name no text unit; their own descriptions stand in as document {name!r}"
        )
    return texts


def list_few_names(names: Iterable[str], most: int = 3) -> str:
    """A few of many names, for a message."""
    listed = list(dict.fromkeys(names))
    return ", ".join(map(repr, listed[:most])) + (f" and {len(listed) - most} more" if len(listed) > most else "")


def _descriptions_title(table: str) -> str:
    return f"descriptions of {table}"


def _place_text_unit(unit: UnitRow, owners: Iterable[str], texts: Texts, reached: dict[str, int]) -> bool:
    """Make the chunk of a text unit that is a span of one of its documents; whether it is."""
    for name in dict.fromkeys((*unit.documents, *owners)):
        document = texts.documents.get(name)
        if document and (span := _find_span(unit.text, document.text, reached.get(name, 0))):
            reached[name] = span[0] + 1  # the next one begins later, where the same words come twice
            _add_chunk(unit.id, document, *span, texts)
            return True
    return False


def _find_span(text: str, whole: str, after: int) -> tuple[int, int] | None:
    """Where `text` stands in `whole`, first from `after` on; up to a dozen lines of metadata before it are left out."""
    begin = 0
    for _ in range(_HEADS):
        if begin >= len(text):
            return None
        rest = text[begin:]
        if (at := whole.find(rest, after)) >= 0 or (at := whole.find(rest)) >= 0:
            return at, at + len(rest)
        if not (head := _HEAD.match(text, begin)):
            return None
        begin = head.end()
    return None


def _add_chunk(unit: str, document: Document, start: int, end: int, texts: Texts) -> None:
    made = _make_chunk(make_chunk_id(document.id, unit), document, start, end)
    texts.chunks[document.id].append(made)
    texts.chunk_of[unit] = made.id


def _make_chunk(name: str, document: Document, start: int, end: int) -> Chunk:
    text = document.text[start:end]
    return Chunk(name, document.id, start, end, count_tokens(text), text, document.title)


__all__ = ["Texts", "finish_texts", "list_few_names", "make_chunk_id", "place_text_units"]
