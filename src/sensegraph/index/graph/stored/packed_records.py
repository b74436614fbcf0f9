"""Entities and relations as the parts of a graph hold them: what is said of them is where their chunks say it.

They are read as the records that they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any

import msgspec

from sensegraph.index.graph.stored.chunk_texts import SAME, ChunkTexts, Forms, Texts, shorten_said
from sensegraph.protocols import Store
from sensegraph.runtime.joined_rows import JoinedRows, Joint
from sensegraph.types import Description, Entity, Relation

_ID, _CHUNK = 20, 24  # hexadecimal digits of the ids of elements and of chunks
_MILLION = 1_000_000
_LEFT_OUT = (0, 0, SAME, "", "")  # what is said by a span alone has no more
_HEXADECIMAL = frozenset("0123456789abcdef")
_SAID = frozenset(("description", "descriptions"))  # fields that need the texts
_encode = msgspec.msgpack.Encoder().encode
_decode: Callable[[bytes], list[Any]] = msgspec.msgpack.Decoder(list[Any]).decode
_encode_whole = msgspec.json.Encoder().encode


class _Head(msgspec.Struct, array_like=True, gc=False):
    """What begins a record as it is stored: its chunks, how many are its own, what is said of it, and its id."""

    packed: bytes | list[str]
    held: int
    said: msgspec.Raw
    description: msgspec.Raw
    id: str


_decode_head = msgspec.msgpack.Decoder(_Head).decode


def join_descriptions(descriptions: Iterable[Description]) -> str:
    """What is said of an element as one text, each once."""
    return " ".join(dict.fromkeys(d.text for d in descriptions))


def pack_entity(e: Entity, forms: Forms) -> bytes:
    """An entity as it is stored."""
    return _encode((*_pack_said(e, forms), e.id, e.name, e.type, e.frequency, e.degree, e.aliases, e.level))


def pack_relation(r: Relation, forms: Forms) -> bytes:
    """A relation as it is stored; its weight as a whole number where it is one of millionths."""
    ends, millionths = bytes.fromhex(r.source + r.target), round(r.weight * _MILLION)
    weight = millionths if millionths / _MILLION == r.weight else r.weight
    return _encode((*_pack_said(r, forms), r.id, ends, weight, r.label, r.directed))


def _pack_said(element: Entity | Relation, forms: Forms) -> tuple[bytes | list[str], int, list[Any], str | None]:
    """Chunks: those of the element, so many, and others that say something; what is said; a description of its own."""
    places = {chunk: place for place, chunk in enumerate(element.chunks)}
    said: list[tuple[Any, ...]] = []
    for d in element.descriptions:
        place = places.setdefault(d.source.chunk, len(places))
        start, length, text, starts, ends = shorten_said(d, forms)
        row = (place, start, length) if text == SAME else (place, start, length, text)
        said.append((place, start, length, text, starts, ends) if starts or ends else row)
    digits = "".join(places)
    chunks: bytes | list[str] = list(places)
    if all(len(chunk) == _CHUNK for chunk in places) and _HEXADECIMAL.issuperset(digits):
        chunks = bytes.fromhex(digits)
    description = None if element.description == join_descriptions(element.descriptions) else element.description
    return chunks, len(element.chunks), said, description


def _unpack_chunks(packed: bytes | list[str]) -> list[str]:
    return packed if isinstance(packed, list) else packed.hex(" ", _CHUNK // 2).split()


def _open_said(
    chunks: bytes | list[str], held: int, said: list[Any], description: str | None, texts: Texts | None
) -> tuple[tuple[str, ...], tuple[Description, ...], str]:
    """The chunks of an element, what is said of it where there are texts, and its description."""
    chunks = _unpack_chunks(chunks)
    told = []
    if texts is not None:
        for place, *row in said:
            whole: Any = (*row, *_LEFT_OUT[len(row) :])
            told.append(texts.describe(chunks[place], *whole))
    return tuple(chunks[:held]), tuple(told), join_descriptions(told) if description is None else description


def open_entity(raw: bytes, texts: Texts | None, *, briefly: bool = False) -> Entity:
    """An entity, from what was stored of it; without `texts` nothing of what is said of it.

    `briefly` leaves that out where it is no part of the description, which is a summary then.
    """
    packed, held, told, own, name, shown, kind, frequency, degree, aliases, level = _decode(raw)
    chunks, said, description = _open_said(packed, held, told, own, None if briefly and own is not None else texts)
    return Entity(name, shown, kind, description, said, chunks, frequency, degree, tuple(aliases), level)


def open_relation(raw: bytes, texts: Texts | None) -> Relation:
    """A relation, from what was stored of it; without `texts` nothing of what is said of it."""
    packed, held, told, own, name, ends, weight, label, directed = _decode(raw)
    chunks, said, description = _open_said(packed, held, told, own, texts)
    weight = weight / _MILLION if isinstance(weight, int) else weight
    both = ends.hex()
    return Relation(name, both[:_ID], both[_ID:], description, said, weight, chunks, label, directed)


class PackedRows(JoinedRows):
    """The records of parts as they are stored, and what opens them with the texts that they refer to."""

    def __init__(
        self, texts: ChunkTexts, open_one: Callable[[bytes, Texts | None], Any], store: Store, parts: Sequence[Joint]
    ) -> None:
        super().__init__(store, parts, texts.keys)
        self._texts, self._open_one = texts, open_one

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._texts, self._open_one, self._store, self.parts)

    def decode(self, raw: bytes) -> Any:
        """A record, from what is stored of it."""
        return self._open_one(raw, self._texts)

    def decode_briefly(self, raw: bytes) -> Any:
        """A record of which no more is wanted than its description tells."""
        return open_entity(raw, self._texts, briefly=True) if self._open_one is open_entity else self.decode(raw)

    def scan_json(self) -> Iterator[bytes]:
        """All records in order as JSON."""
        return map(_encode_whole, map(self.decode, self.scan()))

    def scan_lightly(self, kind: Any) -> Iterator[Any]:
        """All records in order with the fields of `kind` alone."""
        names = [f.name for f in fields(kind)]
        if set(names) == {"id", "chunks"}:
            heads = map(_decode_head, self.scan())
            return (kind(id=head.id, chunks=tuple(_unpack_chunks(head.packed)[: head.held])) for head in heads)
        texts = self._texts if _SAID.intersection(names) else None
        whole = (_encode_whole(self._open_one(record, texts)) for record in self.scan())
        return map(msgspec.json.Decoder(kind).decode, whole)


def open_graph_rows(store: Store, shared: Sequence[str]) -> Callable[[Any, Sequence[Joint]], JoinedRows]:
    """What opens the tables of a graph over parts, whose texts are in runs under the keys `shared`, by their kind."""
    texts = ChunkTexts(store, shared)
    opened: dict[Any, Callable[[bytes, Texts | None], Any]] = {Entity: open_entity, Relation: open_relation}

    def open_rows(kind: Any, parts: Sequence[Joint]) -> JoinedRows:
        return PackedRows(texts, opened[kind], store, parts) if kind in opened else JoinedRows(store, parts)

    return open_rows
