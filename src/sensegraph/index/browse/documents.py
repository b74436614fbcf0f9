"""The documents of an index, with the entities that each mentions, and where a text names them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from sensegraph.algorithms.graphs import Longs
from sensegraph.index.browse.elements import entity_row, read_fields
from sensegraph.index.browse.pages import DocumentRow, EntityRow, NamedSpan
from sensegraph.index.index import Index
from sensegraph.index.manifest import DocumentEntry
from sensegraph.runtime.results import take_records
from sensegraph.types import Chunk, Entity

_WORD = re.compile(r"\w+")
_SHORT = 4  # shorter names are known in the case that they are written in alone


@dataclass(frozen=True, slots=True)
class _InChunks:
    """Where an entity is mentioned."""

    chunks: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class DocumentTable:
    """The documents of an index: entity `entities[i]`, by position, is mentioned in chunk `chunks[i]`, by position.

    `first[d]` is the first chunk of document d, `first[-1]` the number of chunks. Both are in the order of the
    catalogue; an index without a graph mentions nothing.
    """

    entries: Sequence[DocumentEntry]
    names: Sequence[str]
    first: Longs
    chunks: Longs
    entities: Longs

    @classmethod
    def of(cls, index: Index) -> DocumentTable:
        """Read from an index: of every entity, where it is mentioned."""
        entries, listed = list(index.catalogue.documents), list(index.catalogue.chunks)
        number = {d.id: i for i, d in enumerate(entries)}
        place = {c.id: i for i, c in enumerate(listed)}
        sizes = np.bincount([number[c.document] for c in listed], minlength=len(entries))
        held = [] if not index.manifest.graph else [e.chunks for e in read_fields(index.graph.entities, _InChunks)]
        pairs = [(place[c], n) for n, chunks in enumerate(held) for c in chunks if c in place]
        where = np.asarray(sorted(pairs), np.int64).reshape(-1, 2)
        first = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        return cls(entries, [c.id for c in listed], first, where[:, 0], where[:, 1])

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Documents by id."""
        return {d.id: i for i, d in enumerate(self.entries)}

    @cached_property
    def mentioned(self) -> Longs:
        """How many entities each document mentions."""
        return np.asarray([len(self.entities_in(d)) for d in range(len(self.entries))], np.int64)

    def entities_in(self, document: int) -> Longs:
        """The entities that a document mentions, each once."""
        return self._between(int(self.first[document]), int(self.first[document + 1]))

    def chunks_in(self, document: int) -> Sequence[str]:
        """The chunks of a document."""
        return self.names[int(self.first[document]) : int(self.first[document + 1])]

    def entities_of_chunk(self, document: int, position: int) -> Longs:
        """The entities that a chunk of a document mentions."""
        chunk = int(self.first[document]) + position
        return self._between(chunk, chunk + 1)

    def _between(self, begin: int, end: int) -> Longs:
        low, high = np.searchsorted(self.chunks, [begin, end])
        return np.unique(self.entities[low:high])

    def row(self, number: int, state: str) -> DocumentRow:
        """A document as a list shows it."""
        d = self.entries[number]
        return DocumentRow(d.id, d.title, d.time, d.metadata, int(self.mentioned[number]), state)


def read_named_spans(
    index: Index, table: DocumentTable, document: str, text: str
) -> tuple[list[NamedSpan], list[EntityRow]]:
    """Where the text of a document names its entities, in order and apart from each other; and these entities."""
    number = table.numbers[document]
    found = take_records(index.graph.entities, table.entities_in(number).tolist()) if index.manifest.graph else []
    spans = find_named_spans(text, found)
    named = {span.entity for span in spans}
    return spans, [entity_row(e) for e in found if e.id in named]


def find_named_spans(text: str, entities: Sequence[Entity]) -> list[NamedSpan]:
    """Where a text names these entities as whole words, the longest name first; of equal names the better known.

    Letters may be in another case, but for short names. Names in scripts without spaces are found inside of words.
    """
    known = dict[str, list[tuple[str, str]]]()  # by their first word: names, and the entity of each
    inside = dict[str, str]()
    for e in sorted(entities, key=lambda e: (-e.frequency, e.id)):
        for name in (e.name, *e.aliases):
            if not (word := _WORD.search(name)):
                continue
            if not name.isascii() and not any(c.isupper() or c.islower() for c in name):
                inside.setdefault(name, e.id)
            else:
                known.setdefault(word[0].lower(), []).append((name[word.start() :], e.id))
    spans = list[NamedSpan]()
    for word in _WORD.finditer(text):
        begin, best = word.start(), 0
        if spans and begin < spans[-1].end:
            continue
        for name, entity in known.get(word[0].lower(), ()):
            end = begin + len(name)
            there = text[begin:end]
            same = there == name if len(name) < _SHORT else there.lower() == name.lower()
            if same and len(name) > best and not (text[end - 1 : end].isalnum() and text[end : end + 1].isalnum()):
                best, chosen = len(name), entity
        if best:
            spans.append(NamedSpan(begin, begin + best, chosen))
    if inside:
        listed = re.compile("|".join(map(re.escape, sorted(inside, key=len, reverse=True))))
        taken = {i for s in spans for i in range(s.start, s.end)}
        more = [m for m in listed.finditer(text) if taken.isdisjoint(range(m.start(), m.end()))]
        spans += [NamedSpan(m.start(), m.end(), inside[m[0]]) for m in more]
    return sorted(spans, key=lambda s: s.start)


def list_entities_at(index: Index, table: DocumentTable, places: Sequence[tuple[str, int, int]]) -> list[int]:
    """The entities, by position, that are mentioned in chunks that these spans of documents touch."""
    found = list[Longs]()
    wanted = dict[str, list[tuple[int, int]]]()
    for document, start, end in places:
        wanted.setdefault(document, []).append((start, end))
    for document, spans in wanted.items():
        if (number := table.numbers.get(document)) is None:
            continue
        ids = table.chunks_in(number)
        held: dict[str, Chunk] = index.chunks(ids)
        for position, name in enumerate(ids):
            c = held.get(name)
            if c and any(c.start < max(end, start + 1) and start < c.end for start, end in spans):
                found.append(table.entities_of_chunk(number, position))
    return sorted(set(chain.from_iterable(f.tolist() for f in found)))
