"""The manifest: the one small object that says what an index is made of. Everything else is reached by its keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from sensegraph.built_in_parts import BUILT_IN
from sensegraph.errors import NotIndexed, StoreError
from sensegraph.protocols import Store
from sensegraph.types import Scalar

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
    """All documents by id, and all chunks in the order of their documents."""

    documents: Sequence[DocumentEntry] = ()
    chunks: Sequence[ChunkEntry] = ()


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
