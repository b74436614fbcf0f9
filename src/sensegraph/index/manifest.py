"""The manifest: the one small object that says what an index is made of. Everything else is reached by its keys."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.ranking import hash_words
from sensegraph.built_in_parts import BUILT_IN
from sensegraph.errors import NotIndexed, StoreError
from sensegraph.language.text import fold
from sensegraph.protocols import Store
from sensegraph.runtime.keys import WholeName, key
from sensegraph.runtime.results import Result, Results, Table, recall_result, step
from sensegraph.types import Chunk, Document, Scalar

if TYPE_CHECKING:
    from sensegraph.runtime.runtime import Runtime

T = TypeVar("T")
_BRACKET = re.compile(r"(?:(?<!\s)\s++)?[(（][^()（）]*[)）]\s*$")
REF = "index"
Stretch = tuple[int, str]  # where a segment of vectors begins, and the key of the graph through it


@dataclass(frozen=True, slots=True)
class PartEntry:
    """A part of an index: its key, the keys of the vectors of the kinds that it brings, and the parts it stands on."""

    key: str
    vectors: dict[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MadePart:
    """A part that was built: its entry, what the index's counts and notes say of it."""

    entry: PartEntry
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A chunk that could not be read, or a text that could not be written, for good: of what kind the failure was, why.

    `what` is "chunk", or the task that failed: then the index quotes the sources instead, `name` is what the text would
    have been about, and the span is the first of those that it would have rested on. With `partial` a reply was cut
    off, and what came of it is in the index.
    """

    document: str
    start: int
    end: int
    kind: str
    why: str
    what: str = "chunk"
    name: str = ""
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Manifest:
    """The keys of an index's parts, what it was built with, and its counts. `clusters` counts by depth.

    `clustering` is the key of the settings of clustering: an update starts only from communities made by the same.
    `vectors_by` is the fingerprint of the embedder: vectors of two embedders cannot be compared. Without a graph or
    reports their keys are empty; `parts` are the others that were built. `ways` are graphs through the vectors of a
    kind that are very many: for each segment its first row and the graph's key. `quoted` says that descriptions and
    reports are the sources' own words. `left_out` is what the engine failed to read or to write. `copies` is the key of
    the groups of documents with the same text.
    """

    documents: str
    chunks: str
    words: str
    vectors: str
    engine: str
    embedder: str
    vectors_by: str
    settings: str
    counts: dict[str, int]
    structure: str = ""
    graph: str = ""
    communities: str = ""
    clustering: str = ""
    hierarchy: str = ""
    lookups: str = ""
    entity_vectors: str = ""
    report_vectors: str = ""
    dates: str = ""
    parts: dict[str, PartEntry] = field(default_factory=dict)
    ways: dict[str, tuple[Stretch, ...]] = field(default_factory=dict)
    quoted: bool = False
    clusters: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    copies: str = ""

    @property
    def part_names(self) -> frozenset[str]:
        """The parts that were built, the graph and the reports among them."""
        spine = {"graph": self.graph, "reports": self.hierarchy}
        return frozenset([*(name for name, key in spine.items() if key), *self.parts])

    @property
    def stacks(self) -> dict[str, str]:
        """The key of the vectors of every kind; empty where there are none."""
        spine = {"chunk": self.vectors, "entity": self.entity_vectors, "report": self.report_vectors}
        return spine | {kind: key for part in self.parts.values() for kind, key in part.vectors.items()}

    def with_part(self, name: str, made: MadePart) -> Manifest:
        """The manifest with one part more."""
        parts, counts = {**self.parts, name: made.entry}, {**self.counts, **made.counts}
        return replace(self, parts=parts, counts=counts, notes=(*self.notes, *made.notes))


_NAMED = 5  # things left out that a note names


def note_left_out(left: Sequence[LeftOut]) -> tuple[str, ...]:
    """Notes that name the first chunks that could not be read, and texts not written; none where all could."""
    cut = [c for c in left if c.partial]
    chunks = [c for c in left if c.what == "chunk" and not c.partial]
    texts = [c for c in left if c.what != "chunk" and not c.partial]
    said = []
    if chunks:
        named = _name_some([f"{c.document} {c.start}–{c.end} ({c.why[:160]})" for c in chunks])
        what = "1 chunk is" if len(chunks) == 1 else f"{len(chunks):,} chunks are"
        said.append(f"{what} missing from the graph because reading failed: {named}")
    if texts:
        named = _name_some([f"{c.what} of {c.name} ({c.why[:160]})" for c in texts])
        what = "1 text quotes its" if len(texts) == 1 else f"{len(texts):,} texts quote their"
        said.append(f"{what} sources because writing failed: {named}")
    if cut:
        of = [c.name if c.what != "chunk" else f"{c.document} {c.start}–{c.end}" for c in cut]
        named = _name_some([f"{c.what} {name} ({c.why[:160]})" for c, name in zip(cut, of, strict=True)])
        what = "1 reply was" if len(cut) == 1 else f"{len(cut):,} replies were"
        said.append(f"{what} cut off and used as far as they go, of: {named}")
    return tuple(f"{text}. `sensegraph index --retry` asks again; `sensegraph status` lists all" for text in said)


def _name_some(names: Sequence[str]) -> str:
    more = f"; and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{'; '.join(names[:_NAMED])}{more}"


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """What a list of documents shows; the text stays in the object with this `key`."""

    id: str
    key: str
    title: str
    time: str
    metadata: tuple[tuple[str, Scalar], ...]


@dataclass(frozen=True, slots=True)
class ChunkEntry:
    """Where a chunk is: item `position` of the chunks of a document, in the object `key`."""

    id: str
    document: str
    key: str
    position: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All documents by id, and all chunks in the order of their documents; of a run of them, also `columns`."""

    documents: Sequence[DocumentEntry] = ()
    chunks: Sequence[ChunkEntry] = ()
    columns: bytes = b""


@dataclass(frozen=True, slots=True, eq=False)
class CatalogueColumns:
    """What of a catalogue is read without its entries: hashes of the ids of documents and of chunks, the position of
    the document of each chunk, and a hash of each title, without what a bracket at its end holds; 0 for none.
    """

    documents: NDArray[np.uint64]
    chunks: NDArray[np.uint64]
    held_by: NDArray[np.int32]
    titles: NDArray[np.uint64]

    @classmethod
    def of(cls, documents: Sequence[DocumentEntry], chunks: Sequence[ChunkEntry]) -> CatalogueColumns:
        """The columns of these entries."""
        places = {d.id: place for place, d in enumerate(documents)}
        held_by = np.array([places.get(c.document, -1) for c in chunks], np.int32)
        titles = hash_words(fold(_BRACKET.sub("", d.title)) for d in documents)
        titles[[not d.title for d in documents]] = 0
        return cls(hash_words(d.id for d in documents), hash_words(c.id for c in chunks), held_by, titles)


def columns_of_catalogue(catalogue: Catalogue) -> CatalogueColumns:
    """The columns of a catalogue: those of its runs one after the other, or else made of its entries; read once."""
    from sensegraph.runtime.columns import join_columns, unpack_columns

    stored = catalogue.chunks
    kept = stored.kept if isinstance(stored, Table) else {}
    if "columns" not in kept:
        heads = list(map(list_run.decode, stored.heads())) if isinstance(stored, Table) else []
        runs = [CatalogueColumns(*unpack_columns(head.columns)) for head in heads]
        if runs:
            starts = [0, *accumulate(len(run.documents) for run in runs)]
            runs = [replace(run, held_by=run.held_by + by) for run, by in zip(runs, starts, strict=False)]
        kept["columns"] = join_columns(runs) if runs else CatalogueColumns.of(catalogue.documents, stored)
    found: CatalogueColumns = kept["columns"]
    return found


@step("index.run", version=1, form="tables")
def list_run(parts: Sequence[Catalogue]) -> list[Catalogue]:
    """The entries of a run of documents and of their chunks, and their columns."""
    from sensegraph.runtime.columns import pack_columns

    return [replace(part, columns=pack_columns(CatalogueColumns.of(part.documents, part.chunks))) for part in parts]


@step("index.finder", version=1, form="array")
def keep_finder(hashes: Sequence[NDArray[np.uint64]]) -> list[NDArray[np.uint64]]:
    """Where the records are whose ids have these hashes."""
    from sensegraph.runtime.joined_rows import order_hashes

    return list(map(order_hashes, hashes))


@step("index.catalogue", version=2, form="tables")
def list_catalogue(parts: Sequence[Catalogue]) -> list[Catalogue]:
    """The lists of documents and chunks."""
    return list(parts)


def catalogue_of(documents: Results[Document], chunks: Results[tuple[Chunk, ...]], rt: Runtime) -> Result[Catalogue]:
    """The lists of these documents and of their chunks: tables over those of runs of documents.

    What the index of now lists already is not read again.
    """
    from sensegraph.algorithms.segments import cut_keys
    from sensegraph.runtime.columns import unpack_columns
    from sensegraph.runtime.delegating import once_on_worker
    from sensegraph.runtime.joined_rows import JoinedRows

    def make() -> Catalogue:
        runs = cut_keys(documents.keys)
        told = ((*documents.keys[run.start : run.stop], *chunks.keys[run.start : run.stop]) for run in runs)
        names = [WholeName(key(*name)) for name in told]
        keys = rt.keys(list_run, [Catalogue()], names)
        rt.rely_on(keys)
        known, there = _Earlier(rt, {*keys}), rt.recall(list_run, keys)
        made = [
            there.get(k) or rt.once(list_run, partial(known.read_run, documents, chunks, run), names=name)
            for k, run, name in zip(keys, runs, names, strict=True)
        ]
        columns = [CatalogueColumns(*unpack_columns(run.value.columns)) for run in made]
        found = [run.key for run in made]

        def join(kind: str, entry: type[T]) -> Table[T]:
            hashes = partial(np.concatenate, [getattr(own, kind) for own in columns] or [np.zeros(0, np.uint64)])
            finder = rt.once(keep_finder, hashes, names=(kind, *found)).key
            sizes = (len(getattr(own, kind)) for own in columns)
            joints = [(f"{k}.{kind}", size, "") for k, size in zip(found, sizes, strict=True)]
            return Table(JoinedRows(rt.store, joints, finder=finder), entry)

        return Catalogue(join("documents", DocumentEntry), join("chunks", ChunkEntry))

    return once_on_worker(rt, list_catalogue, make, names=(*documents.keys, *chunks.keys))


class _Earlier:
    """What the index of now lists, by the keys of documents and of their chunks, but for the runs that stay."""

    def __init__(self, rt: Runtime, stay: Collection[str]) -> None:
        self._store, self._stay = rt.store, stay

    @cached_property
    def entries(self) -> tuple[dict[str, DocumentEntry], dict[str, list[ChunkEntry]]]:
        """The entry of each document, and those of its chunks."""
        try:
            found = recall_result(self._store, list_catalogue, read_manifest(self._store).documents)
            listed, cut = self._read(found.documents), self._read(found.chunks)
        except (NotIndexed, StoreError):
            return {}, {}
        by_key = dict[str, list[ChunkEntry]]()
        for entry in cut:
            by_key.setdefault(entry.key, []).append(entry)
        return {d.key: d for d in listed}, by_key

    def read_run(self, documents: Results[Document], chunks: Results[tuple[Chunk, ...]], run: range) -> Catalogue:
        """The entries of a run of documents; those that are not listed yet are read."""
        listed, cut = self.entries
        new = [i for i in run if documents.keys[i] not in listed]
        for i, d in zip(new, documents.at(new), strict=True):
            k = documents.keys[i]
            listed[k] = DocumentEntry(d.id, k, d.title, d.time, d.metadata)
        new = [i for i in run if chunks.keys[i] not in cut]
        for i, found in zip(new, chunks.at(new), strict=True):
            k = chunks.keys[i]
            cut[k] = [ChunkEntry(c.id, c.document, k, place, c.tokens) for place, c in enumerate(found)]
        own = tuple(listed.pop(documents.keys[i]) for i in run)  # what was entered is needed no more
        return Catalogue(own, tuple(entry for i in run for entry in cut.pop(chunks.keys[i])))

    def _read(self, entries: Sequence[T]) -> Sequence[T]:
        """All entries, but of a joined table those of the runs that stay."""
        if not isinstance(entries, Table) or not entries.joined:
            return entries
        ends = list(accumulate(size for _, size, _ in entries.joined))
        gone = [
            range(end - size, end)
            for end, (name, size, _) in zip(ends, entries.joined, strict=True)
            if name.partition(".")[0] not in self._stay
        ]
        return entries.at([place for run in gone for place in run])


def read_manifest(store: Store) -> Manifest:
    """What the store's index is made of. Raises NotIndexed when there is none."""
    name = store.ref(REF)
    if name is None:
        raise NotIndexed(
            "There is no index here yet; run `sensegraph index PATH` first (in Python: `corpus.add(PATH)`, then "
            "`corpus.build()`)."
        )
    found = store.read([name])
    if name not in found:
        raise StoreError("The index's list of parts is gone from the store; run `sensegraph index` again.")
    try:
        fields: dict[str, Any] = msgspec.json.decode(found[name], type=dict[str, Any])
        return msgspec.convert(fields if "parts" in fields else _with_part_entries(fields), Manifest)
    except msgspec.DecodeError as e:
        raise StoreError(f"The index was made by another version ({e}); run `sensegraph index` again.") from e


def _with_part_entries(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a manifest of before 2026-11, which had one for every key of every part, with entries instead."""
    entries = {
        name: {
            "key": fields[name],
            "vectors": {kind: fields[field] for kind, field in part.old_fields.items() if fields.get(field)},
            "needs": part.needs,
        }
        for name, part in BUILT_IN.items()
        if fields.get(name)
    }
    return {**fields, "parts": entries}
