"""Chunks to extractions: what each chunk says, by whichever engine (edge2024 §3.1.2)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import accumulate
from operator import attrgetter
from typing import Any, cast

import msgspec

from sensegraph.algorithms.segments import cut_keys
from sensegraph.errors import ResultGone
from sensegraph.protocols import LanguageEngine, Store, SurveyingEngine
from sensegraph.runtime.batches import ReadItems
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Results, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk, Extraction

_KINDS = 8  # kinds of records that a note names
_EMPTY = b'{"entities":[],"relations":[],"claims":[],'  # how the stored form begins
_NOTHING = b'"nothing":true}'  # how it ends where it is certain
_KEPT, _RECORDS = 2048, 100_000  # chunks, and what was found in them, that are kept once they were read
_DIGITS = 40  # of a key
_SECTION = 256  # chunks of a document that an engine that surveys is given at once


def _may_be_unread(stored: bytes) -> bool:
    """Whether an extraction was stored as empty when replies that could not be read still gave empty ones."""
    return stored.startswith(_EMPTY) and not stored.endswith(_NOTHING)


@step(
    "extraction.extract",
    version=1,
    uses="engine",
    task="extract",
    sees=attrgetter("text", "title"),
    doubts=_may_be_unread,
)
def extract_records(chunks: Sequence[Chunk], *, engine: LanguageEngine) -> list[Extraction]:
    """Entities, relations and claims of each chunk, from its text alone."""
    found = engine.extract(chunks)
    return [x if x.entities or x.relations or x.claims else replace(x, nothing=True) for x in found]


@step("extraction.observe", version=1, uses="engine", task="survey")
def observe_documents(documents: Sequence[tuple[Chunk, ...]], *, engine: SurveyingEngine) -> list[bytes]:
    """What each document shows by itself."""
    return engine.observe(documents)


@step("extraction.read", version=2, uses="engine", task="survey")
def read_documents(
    documents: Sequence[tuple[tuple[Chunk, ...], bytes, Mapping[str, str]]], *, engine: SurveyingEngine
) -> list[tuple[Extraction, ...]]:
    """The extractions of each document, given what it is told of the corpus."""
    return engine.read(documents)


@dataclass(frozen=True)
class Extracted:
    """Every chunk with its extraction, in order; `keys` stand for all of it.

    `counts` are the numbers of extraction results of the documents, `size` that of all chunks.
    """

    chunks: Results[tuple[Chunk, ...]]
    extractions: Results[Any]
    by_document: bool
    counts: Sequence[int] = ()
    size: int = 0
    kept: dict[int, list[tuple[Chunk, Extraction]]] = field(default_factory=dict, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.chunks, self.extractions, self.by_document, self.counts, self.size)

    @property
    def keys(self) -> tuple[str, ...]:
        """What this depends on."""
        return (*self.chunks.keys, *self.extractions.keys)

    @cached_property
    def runs(self) -> list[tuple[range, range]]:
        """Runs of neighbouring documents: these documents, and their extraction results."""
        ends = [0, *accumulate(self.counts)]
        return [(run, range(ends[run.start], ends[run.stop])) for run in cut_keys(self.chunks.keys, self.size)]

    @cached_property
    def run_names(self) -> list[str]:
        """What stands for each run."""
        chunks, found = self.chunks.keys, self.extractions.keys
        return [key(chunks[a.start : a.stop], found[b.start : b.stop]) for a, b in self.runs]

    def read_run(self, run: int) -> list[tuple[Chunk, Extraction]]:
        """The chunks of a run with their extractions; those read first, and last, are kept for the next look."""
        if (found := self.kept.get(run)) is None:
            documents, results = self.runs[run]
            chunks = (c for held in self.chunks[documents.start : documents.stop] for c in held)
            found = list(zip(chunks, self.read(results), strict=True))
            while self.kept and _is_much([x for pairs in (*self.kept.values(), found) for _, x in pairs]):
                self.kept.popitem()
            self.kept[run] = found
        return found

    def read(self, run: range) -> Iterator[Extraction]:
        """The extractions of these results of the engine, in order."""
        found = self.extractions[run.start : run.stop]
        return (x for section in found for x in section) if self.by_document else iter(found)

    def reader(self, run: range) -> Callable[[Store], Iterable[Extraction]]:
        """What reads these results of the engine in another process."""
        return partial(read_extractions, self.extractions.reader(run), self.by_document)

    def run_reader(self, run: int) -> Callable[[Store], list[tuple[Chunk, Extraction]]]:
        """What reads a run, as `read_run` does, in another process."""
        documents, results = self.runs[run]
        return partial(read_chunk_pairs, self.chunks.reader(documents), self.reader(results))

    def __iter__(self) -> Iterator[tuple[Chunk, Extraction]]:
        found = (x for section in self.extractions for x in section) if self.by_document else iter(self.extractions)
        yield from zip((c for chunks in self.chunks for c in chunks), found, strict=True)


def _is_much(extractions: Sequence[Extraction]) -> bool:
    return len(extractions) > _KEPT or sum(len(x.entities) + len(x.relations) for x in extractions) > _RECORDS


def read_extractions(read: Callable[[Store], Sequence[Any]], by_document: bool, store: Store) -> Iterable[Extraction]:
    """The extractions that `read` finds in a store."""
    found = read(store)
    return (x for section in found for x in section) if by_document else found


def read_chunk_pairs(
    chunks: Callable[[Store], Sequence[tuple[Chunk, ...]]],
    extractions: Callable[[Store], Iterable[Extraction]],
    store: Store,
) -> list[tuple[Chunk, Extraction]]:
    """The chunks of a run with their extractions."""
    return list(zip((c for held in chunks(store) for c in held), extractions(store), strict=True))


@dataclass(frozen=True, slots=True)
class Counted:
    """What of an extraction is counted: no more of it is decoded for that."""

    rejected: tuple[tuple[str, int], ...] = ()
    outside: tuple[tuple[str, int], ...] = ()
    rounds: tuple[int, ...] = ()


_read_counted = msgspec.json.Decoder(Counted).decode
_read_all_counted = msgspec.json.Decoder(list[Counted]).decode


def read_counted(keys: Sequence[str], by_document: bool, store: Store) -> list[Counted]:
    """What is counted of the extractions under these keys. Raises ResultGone where one is not there."""
    found = store.read(keys)
    if gone := [k for k in keys if k not in found]:
        raise ResultGone(f"{len(gone)} results of extraction are gone from the store; run index again.")
    if by_document:
        return [x for k in keys for x in _read_all_counted(found[k])]
    return [_read_counted(found[k]) for k in keys]


@dataclass(frozen=True, slots=True)
class Tally:
    """What extraction counted besides what it found: see `Extraction`; `asked` chunks were asked about again."""

    rejected: tuple[tuple[str, int], ...] = ()
    outside: tuple[tuple[str, int], ...] = ()
    asked: int = 0
    rounds: int = 0
    gleaned: int = 0

    @classmethod
    def of(cls, extractions: Iterable[Extraction | Counted]) -> Tally:
        """The counts of these extractions together."""
        rejected, outside, rounds = Counter[str](), Counter[str](), list[tuple[int, ...]]()
        for x in extractions:
            rejected.update(dict(x.rejected))
            outside.update(dict(x.outside))
            if x.rounds:
                rounds.append(x.rounds)
        gleaned = sum(map(sum, rounds))
        kinds = tuple(sorted(rejected.items())), tuple(sorted(outside.items()))
        return cls(*kinds, len(rounds), sum(map(len, rounds)), gleaned)

    def __add__(self, other: Tally) -> Tally:
        rejected = Counter(dict(self.rejected)) + Counter(dict(other.rejected))
        outside = Counter(dict(self.outside)) + Counter(dict(other.outside))
        numbers = self.asked + other.asked, self.rounds + other.rounds, self.gleaned + other.gleaned
        return Tally(tuple(sorted(rejected.items())), tuple(sorted(outside.items())), *numbers)


@step("extraction.tally", version=2)
def tally_extractions(runs: Sequence[Iterable[Extraction | Counted]]) -> list[Tally]:
    """The counts of the extractions of each run."""
    return [Tally.of(run) for run in runs]


def what_was_rejected(extracted: Extracted, rt: Runtime) -> tuple[str, ...]:
    """Notes on the records that extraction could not use or that are of other types, and on what gleaning brought."""
    keys = extracted.extractions.keys
    runs = cut_keys(keys, extracted.size)
    names = [keys[run.start : run.stop] for run in runs]
    items = ReadItems(rt.store, len(runs), lambda i: partial(read_counted, names[i], extracted.by_document))
    counts = rt.once_each(tally_extractions, items, names)
    found = sum((count.value for count in counts), Tally())
    notes = []
    if found.rejected:
        notes.append(_count_kinds("records of extraction could not be used", found.rejected))
    if found.outside:
        notes.append(_count_kinds("records of extraction are of a type outside the schema", found.outside))
    if found.rounds:
        notes.append(
            f"gleaning: {found.rounds} rounds over {found.asked} chunks found {found.gleaned} entities that were missed"
        )
    return tuple(notes)


def _count_kinds(what: str, counts: Sequence[tuple[str, int]]) -> str:
    """How many, and the most frequent kinds of them."""
    most = sorted(counts, key=lambda c: (-c[1], c[0]))
    kinds = "; ".join(f"{n} × {kind}" for kind, n in most[:_KINDS])
    more = f"; and {len(most) - _KINDS} other kinds" if len(most) > _KINDS else ""
    return f"{sum(n for _, n in counts)} {what}: {kinds}{more}"


def extract_all(chunks: Results[tuple[Chunk, ...]], rt: Runtime, sizes: Sequence[int] | None = None) -> Extracted:
    """Run the engine's way of reading over all documents, which have so many chunks each (else they are counted)."""
    from sensegraph.index.surveying import Survey, Told

    if "survey" not in rt.engine.tasks:
        counts = [len(document) for document in chunks] if sizes is None else sizes
        found = rt.each(extract_records, AllChunks(chunks, counts, rt), without=lambda _: Extraction())
        return Extracted(chunks, found, by_document=False, counts=counts, size=sum(counts))
    sections = Sections.of(chunks, sizes)
    observations = rt.each(observe_documents, sections, names=sections.keys)
    engine = cast(SurveyingEngine, rt.engine)
    survey = Survey(rt, engine, observations)
    names = [key(*pair) for pair in zip(sections.keys, survey.names, strict=True)]
    items = Told(survey, (sections, observations), engine.looks)
    counted = Counter(document for document, _ in sections.places)
    counts = [counted[document] for document in range(len(chunks))]
    read = rt.each(read_documents, items, names=names)
    return Extracted(chunks, read, by_document=True, counts=counts, size=sections.size)


@step("extraction.keys", version=1)
def list_extraction_keys(runs: Sequence[Iterable[tuple[Chunk, ...]]], *, recipe: str) -> list[bytes]:
    """The keys of the extractions of the chunks of each run of documents, one after the other."""
    seen = ([extract_records.sees(c) for chunks in run for c in chunks] for run in runs)
    return [b"".join(bytes.fromhex(key(recipe, view)) for view in views) for views in seen]


@dataclass(frozen=True)
class AllChunks(Sequence[Chunk]):
    """The chunks of documents that have so many each, which are read when they are extracted.

    What they look like, on which the keys of extractions rest, is told by runs of documents.
    """

    chunks: Results[tuple[Chunk, ...]]
    counts: Sequence[int]
    rt: Runtime

    def list_keys(self, recipe: str) -> list[str]:
        """The key of the extraction of each chunk."""
        runs = cut_keys(self.chunks.keys, len(self))
        items = ReadItems(self.rt.store, len(runs), lambda i: self.chunks.reader(runs[i]))
        names = [self.chunks.keys[run.start : run.stop] for run in runs]
        listed = (made.value.hex() for made in self.rt.once_each(list_extraction_keys, items, names, recipe=recipe))
        return [keys[at : at + _DIGITS] for keys in listed for at in range(0, len(keys), _DIGITS)]

    @cached_property
    def ends(self) -> list[int]:
        """How many chunks there are up to the end of each document."""
        return list(accumulate(self.counts))

    def __len__(self) -> int:
        return self.ends[-1] if self.ends else 0

    def __getitem__(self, index: Any) -> Any:
        return self.at([range(len(self))[index]])[0]

    def at(self, positions: Sequence[int]) -> list[Chunk]:
        """The chunks at these positions."""
        documents, inside = self._find(positions)
        return [chunks[i] for chunks, i in zip(self.chunks.at(documents), inside, strict=True)]

    def reader(self, positions: Sequence[int]) -> Callable[[Store], list[Chunk]]:
        """What reads the chunks at these positions in another process."""
        documents, inside = self._find(positions)
        return partial(read_chunks, self.chunks.reader(documents), inside)

    def _find(self, positions: Sequence[int]) -> tuple[list[int], list[int]]:
        """The document of each chunk, and its place there."""
        documents = [bisect_right(self.ends, position) for position in positions]
        firsts = (self.ends[d] - self.counts[d] for d in documents)
        return documents, [position - first for position, first in zip(positions, firsts, strict=True)]


def read_chunks(
    read: Callable[[Store], Sequence[tuple[Chunk, ...]]], places: Sequence[int], store: Store
) -> list[Chunk]:
    """The chunk at a place of each of the documents that `read` finds in a store."""
    return [chunks[place] for chunks, place in zip(read(store), places, strict=True)]


@dataclass(frozen=True)
class Sections(Sequence[tuple[Chunk, ...]]):
    """Documents as an engine that surveys gets them: whole, or cut where they have more than `_SECTION` chunks.

    So what is held in memory at once, and what one worker does, stays bounded however long a document is.
    """

    chunks: Results[tuple[Chunk, ...]]
    places: tuple[tuple[int, int], ...]  # document, first chunk
    size: int = 0  # chunks of all of them

    @classmethod
    def of(cls, chunks: Results[tuple[Chunk, ...]], sizes: Sequence[int] | None = None) -> Sections:
        """The sections of these documents, of so many chunks each; one without chunks is one empty section."""
        sizes = [len(document) for document in chunks] if sizes is None else sizes
        places = ((d, at) for d, n in enumerate(sizes) for at in range(0, max(1, n), _SECTION))
        return cls(chunks, tuple(places), sum(sizes))

    @property
    def keys(self) -> tuple[str, ...]:
        """What stands for each section."""
        return tuple(key(self.chunks.keys[d], at) for d, at in self.places)

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: Any) -> Any:
        document, at = self.places[index]
        return self.chunks[document][at : at + _SECTION]

    def at(self, positions: Sequence[int]) -> list[tuple[Chunk, ...]]:
        """The sections at these positions."""
        places = [self.places[i] for i in positions]
        chunks = self.chunks.at([document for document, _ in places])
        return [held[at : at + _SECTION] for held, (_, at) in zip(chunks, places, strict=True)]

    def reader(self, positions: Sequence[int]) -> Callable[[Store], list[tuple[Chunk, ...]]]:
        """What reads the sections at these positions in another process."""
        places = [self.places[i] for i in positions]
        return partial(read_sections, self.chunks.reader([d for d, _ in places]), [at for _, at in places])


def read_sections(
    read: Callable[[Store], Sequence[tuple[Chunk, ...]]], starts: Sequence[int], store: Store
) -> list[tuple[Chunk, ...]]:
    """The sections that begin at these chunks of the documents that `read` finds in a store."""
    return [chunks[at : at + _SECTION] for chunks, at in zip(read(store), starts, strict=True)]
