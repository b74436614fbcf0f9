"""Texts to vectors, one row a record, in segments that are memory-mapped; and the rows of an index nearest to a query.

Up to `index.exact_below` vectors of a kind all are compared. From there on a build leaves graphs beside them, by which
candidates are found and then compared exactly; where that takes more than reading all of them, all are read. Inside a
filter all that is left is compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Longs
from sensegraph.algorithms.ranking import PackedRows, Ranked, Stack, nearest_each, unpack_rows
from sensegraph.algorithms.walks import run_offsets
from sensegraph.errors import ItemFailed, NotIndexed, StoreError
from sensegraph.index.manifest import read_manifest
from sensegraph.protocols import Embedder, Numbers, Store, Vectors
from sensegraph.runtime.batches import ReadItems
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Result, Results, Table, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk, Graph, Hierarchy, Question

if TYPE_CHECKING:
    from sensegraph.index.index import Index

A = TypeVar("A")
_BLOCK = 512  # texts that are embedded at once
_SEGMENTS = 64  # in about so many segments vectors are cut, but
_SHORT, _LONG = 256, 8192  # none has fewer or many more rows
_READ = 32  # runs of texts that stay read, some 100 kB each: what changed in them is named first, then embedded
_FEW = 64  # texts that are embedded anew rather than looked for in all vectors
_PACKED = b"\1"  # how a stored vector begins; those of before 2026-12 have an even number of bytes


@step("vectors.embed", version=1, uses="embedder")
def embed_texts(texts: Sequence[str], *, embedder: Embedder) -> list[bytes]:
    """The unit vector of each text, for `read_vectors`."""
    rows = pack_rows(embedder.embed(texts, "document"))[["scale", "values"]]
    return [_PACKED + np.asarray(row["scale"]).tobytes() + row["values"].tobytes() for row in rows]


def read_vectors(found: Iterable[bytes]) -> Vectors:
    """The vectors that `embed_texts` made, shape (n, dim); those that it made before 2026-12 are float32."""
    rows = []
    for raw in found:
        if raw[:1] == _PACKED and len(raw) % 2:
            rows.append(np.frombuffer(raw, "<f4", 1, 1) * np.frombuffer(raw, "<i2", offset=5).astype(np.float32))
        else:
            rows.append(unpack_rows(pack_rows(np.frombuffer(raw, np.float32)[None, :]))[0])
    return np.stack(rows) if rows else np.zeros((0, 0), np.float32)


def embed_here(texts: Sequence[str], rt: Runtime) -> Vectors:
    """The vectors of texts, shape (n, dim), as they would be stored, by an embedder that costs nothing."""
    return unpack_rows(pack_rows(rt.embedder.embed(texts, "document")))


def pack_rows(rows: NDArray[Any], numbers: Numbers = "int16") -> NDArray[Any]:
    """Rows of shape (n, dim) as records of a `Stack`.

    The largest number of a row takes the largest whole number, so that each is true to half of 1/32,767 of it (of
    1/127 as `int8`). The field `text`, shape (2,), tells what a row is of; it is 0 here. Raises ItemFailed for numbers
    that are not finite.
    """
    exact = np.asarray(rows, np.float64)
    most, whole = np.iinfo(numbers).max, np.dtype(numbers).newbyteorder("<")
    packed = np.zeros(len(exact), [("text", "<u8", (2,)), ("scale", "<f4"), ("values", whole, (exact.shape[1],))])
    found = np.abs(exact)  # one array for all steps: they are many numbers
    largest = found.max(axis=1, initial=0.0)
    if not np.isfinite(largest).all():
        raise ItemFailed("the embedder gave a vector with numbers that are not finite")
    packed["scale"] = largest / most
    scale = packed["scale"].astype(np.float64)[:, None]
    found.fill(0.0)
    np.divide(exact, scale, out=found, where=scale > 0)
    np.rint(found, out=found)
    packed["values"] = np.clip(found, -most, most, out=found)
    return packed


# ── segments ──


@dataclass(frozen=True)
class TextRuns(Sequence[list[str]]):
    """The texts of records in runs, which are read when they are asked for: `keys` stand for them, `read` gives one."""

    keys: Sequence[str]
    read: Callable[[int], list[str]]

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, index: Any) -> Any:
        return self.read(range(len(self.keys))[index])


@step("vectors.names", version=1)
def name_texts(runs: Sequence[Sequence[str]]) -> list[bytes]:
    """What stands for each text of each run, 16 bytes each."""
    return [_name_texts(texts).tobytes() for texts in runs]


@dataclass(frozen=True, slots=True)
class Run:
    """What stands for each of n texts that follow one another, shape (n, 2), and the rows that are known of some.

    `places` are the positions of these, `known` their records; `texts` are the others, in order.
    """

    texts: Sequence[str]
    names: NDArray[np.uint64]
    places: Longs
    known: NDArray[Any]


@step("vectors.segment", version=3, uses="embedder", form="array")
def embed_segment(runs: Sequence[Run], *, embedder: Embedder, numbers: Numbers) -> list[NDArray[Any]]:
    """The vectors of each run as a segment of a `Stack`, without their zeros where these are most of them.

    Texts whose rows are known are not embedded.
    """
    from sensegraph.algorithms.sparse_rows import pack_sparse

    segments: list[NDArray[Any]] = []
    for run in runs:
        unknown = np.delete(np.arange(len(run.names)), run.places)
        blocks = (run.texts[at : at + _BLOCK] for at in range(0, len(run.texts), _BLOCK))
        rows = [
            *([run.known] if len(run.known) else []),
            *(pack_rows(embedder.embed(b, "document"), numbers) for b in blocks),
        ]
        segment = np.zeros(len(run.names), rows[0].dtype)
        segment[np.concatenate((run.places, unknown))] = np.concatenate(rows)
        segment["text"] = run.names
        segments.append(pack_sparse(segment))
    return segments


@step("vectors.segments", version=1)
def list_segments(wholes: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The keys of the segments of each stack of vectors."""
    return list(wholes)


def embed_all(texts: Sequence[str], rt: Runtime) -> Result[Stack]:
    """The matrix of the vectors of `texts`, shape (n, dim), in order; see `embed_records`."""
    return embed_records(lambda: texts, rt, name=_hash_names(_name_texts(texts)))


def embed_records(texts: Callable[[], Sequence[str] | TextRuns], rt: Runtime, *, name: str) -> Result[Stack]:
    """The matrix of the vectors of the texts of records, whose key is `name`, in segments, opened.

    Vectors that were waited for are stored one by one too, as they come. An embedder that works on this machine is
    asked for those that the index of now lacks.
    """
    found = embed_unopened(texts, rt, name=name)
    try:
        return Result(found, open_stack(rt.store, found))
    except StoreError:  # a segment is damaged
        _embed_segments(texts(), rt)
        return Result(found, open_stack(rt.store, found))


def embed_unopened(texts: Callable[[], Sequence[str] | TextRuns], rt: Runtime, *, name: str) -> str:
    """The key of what `embed_records` gives; no segment is opened that is there."""
    from sensegraph.runtime.delegating import once_on_worker

    def make() -> tuple[str, ...]:
        return _embed_segments(texts(), rt)

    names = ("records", name, rt.embedder.fingerprint(), rt.numbers)
    found = once_on_worker(rt, list_segments, make, names=names, asks="embedder")
    if len(rt.store.has(found.value)) < len(set(found.value)):
        make()
    return found.key


def list_stack(store: Store, name: str) -> tuple[str, ...]:
    """The keys of the segments of the vectors under the key `name`."""
    found = store.read([name])
    return list_segments.decode(found[name]) if name in found else (name,)  # before 2026-12 it was one array


def open_stack(store: Store, name: str) -> Stack:
    """The vectors under the key `name`. Raises StoreError where any are gone."""
    keys = list_stack(store, name)
    segments = [open_rows(array) for k in keys if (array := store.array(k)) is not None]
    if len(segments) < len(keys):
        raise StoreError(f"Vectors of {name} are gone from the store; run `sensegraph index` again.")
    return Stack(segments)


def open_rows(segment: NDArray[Any]) -> NDArray[Any] | PackedRows:
    """A segment as it was stored: records, a matrix, or records without their zeros."""
    if segment.dtype != np.uint8:
        return segment
    from sensegraph.algorithms.sparse_rows import SparseRows

    return SparseRows(segment)


def unembedded(texts: Sequence[str], rt: Runtime) -> list[int]:
    """Positions of texts that a build would have to embed."""
    if rt.embedder.waits:
        return rt.missing(embed_texts, texts)
    names = _name_texts(texts)
    _, first = np.unique(names, axis=0, return_index=True)
    left: list[int] = np.setdiff1d(first, _Earlier(rt).find(names)[0]).tolist()
    return left


def _embed_segments(given: Sequence[str] | TextRuns, rt: Runtime) -> tuple[str, ...]:
    """Embed texts; the keys of the segments. Where they are cut is said by the texts themselves and by their number."""
    from sensegraph.algorithms.segments import cut_runs

    if isinstance(given, TextRuns):  # of a run in which nothing changed no text is read
        given = replace(given, read=lru_cache(_READ)(given.read))  # by what names them, and by what embeds them
        named = list(rt.each(name_texts, given, names=given.keys))
        names = np.frombuffer(b"".join(named), "<u8").reshape(-1, 2)
        starts = run_offsets([len(run) // 16 for run in named])
    else:
        whole = given
        names, starts, given = _name_texts(whole), run_offsets([len(whole)]), TextRuns(("",), lambda _: list(whole))

    def read(places: Longs) -> list[str]:
        """The texts at these places, which ascend; a run that holds some of them is read once."""
        homes = np.searchsorted(starts, places, side="right") - 1
        runs = {run: given[run] for run in dict.fromkeys(homes.tolist())}
        return [runs[run][at] for run, at in zip(homes.tolist(), (places - starts[homes]).tolist(), strict=True)]

    usual = int(np.clip(1 << max(0, int(starts[-1]) // _SEGMENTS).bit_length() >> 1, _SHORT, _LONG))
    runs = cut_runs((names[:, 0] >> np.uint64(32)) < np.uint64((1 << 32) // usual), usual, 3 * usual)
    digests = [_hash_names(names[begin:end]) for begin, end in runs]
    stored = rt.each(embed_texts, read(np.arange(len(names)))) if rt.embedder.waits else None
    named_so = [key(d) for d in digests]
    keys = rt.keys(embed_segment, runs, named_so, numbers=rt.numbers)
    missing = rt.missing(embed_segment, runs, names=named_so, numbers=rt.numbers)
    earlier = _Earlier(rt, {*keys}.difference(keys[i] for i in missing))

    def take(i: int) -> Run:
        begin, end = runs[i]
        if stored is None:
            places, known = earlier.find(names[begin:end])
            rt.computed[embed_texts.name] += end - begin - len(places)
        else:
            places, known = np.arange(end - begin), pack_rows(read_vectors(stored[begin:end]), rt.numbers)
        return Run(read(np.delete(np.arange(begin, end), places)), names[begin:end], places, known)

    items = ReadItems(rt.store, len(missing), lambda i: partial(give_run, take(missing[i])))
    rt.once_each(embed_segment, items, [(digests[i],) for i in missing], numbers=rt.numbers)
    rt.rely_on(keys)
    return tuple(keys)


def give_run(run: Run, store: Store) -> Run:
    """What is sent to a worker as it is: its texts may come from anywhere."""
    return run


def _name_texts(texts: Sequence[str]) -> NDArray[np.uint64]:
    """What stands for each text, shape (n, 2): 128 bits of BLAKE2b."""
    raw = (hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts)
    return np.frombuffer(b"".join(raw), "<u8").reshape(-1, 2)


def _hash_names(names: NDArray[np.uint64]) -> str:
    return hashlib.blake2b(names.tobytes(), digest_size=20).hexdigest()


class _Earlier:
    """The vectors of the index as it is now, of every kind, to be found by their texts.

    `kept` are segments that stay: what stood beside them is looked through first, and all only where more texts are
    not found there than are soon embedded.
    """

    def __init__(self, rt: Runtime, kept: Collection[str] = ()) -> None:
        self._rt, self._kept, self._missed = rt, frozenset(kept), 0

    def find(self, names: NDArray[np.uint64]) -> tuple[Longs, NDArray[Any]]:
        """Which of these texts have a vector, as positions, and their records."""
        found = self._beside.find_texts(names)
        self._missed += len(names) - len(found[0])
        return self._all.find_texts(names) if self._missed > (_FEW if self._kept else 0) else found

    @cached_property
    def _stacks(self) -> list[tuple[str, ...]]:
        try:
            manifest = read_manifest(self._rt.store)
            keys = manifest.stacks.values() if manifest.vectors_by == self._rt.embedder.fingerprint() else ()
            return [list_stack(self._rt.store, k) for k in dict.fromkeys(keys) if k]
        except (NotIndexed, StoreError):
            return []

    @cached_property
    def _beside(self) -> Stack:
        return self._open(k for keys in self._stacks if self._kept & {*keys} for k in keys if k not in self._kept)

    @cached_property
    def _all(self) -> Stack:
        return self._open(k for keys in self._stacks for k in keys)

    def _open(self, keys: Iterable[str]) -> Stack:
        try:
            opened = [open_rows(array) for k in keys if (array := self._rt.store.array(k)) is not None]
        except StoreError:
            opened = []
        alike = [part for part in opened if part.dtype.names and part.dtype["values"].base == self._rt.numbers]
        return Stack([part for part in alike if part.dtype == alike[0].dtype])


def adds_meaning(embedder: Embedder) -> bool:
    """Whether vectors find what words do not: those that compare words alone find nothing that full text does not."""
    return not embedder.lexical


def beyond_words(rt: Runtime, make: Callable[[], Result[Stack]]) -> Result[Stack] | None:
    """The vectors that `make` makes; None, and nothing is embedded, where they would add nothing to full text."""
    return make() if adds_meaning(rt.embedder) else None


def chunk_texts(chunks: Iterable[Chunk]) -> list[str]:
    """What is embedded of chunks."""
    return [c.text for c in chunks]


def entity_texts(graph: Graph) -> list[str]:
    """What is embedded of entities: `name: description`."""
    return [f"{e.name}: {e.description}" for e in graph.entities]


def chunk_runs(chunks: Results[tuple[Chunk, ...]], size: int) -> TextRuns:
    """What is embedded of the chunks of documents, of which there are `size`, by runs of documents."""
    from sensegraph.algorithms.segments import cut_keys

    runs = cut_keys(chunks.keys, size)
    keys = [key("chunks", chunks.keys[run.start : run.stop]) for run in runs]
    return TextRuns(keys, lambda i: chunk_texts(c for found in chunks[runs[i].start : runs[i].stop] for c in found))


def entity_runs(graph: Graph) -> Sequence[str] | TextRuns:
    """What is embedded of entities, by the parts of a graph that has some."""
    return _text_runs(graph.entities, lambda some: entity_texts(Graph(some)), "entities")


def _text_runs(records: Sequence[A], texts: Callable[[Sequence[A]], list[str]], kind: str) -> Sequence[str] | TextRuns:
    """The `texts` of records, by the tables that their table is made of."""
    if not isinstance(records, Table) or not records.joined:
        return texts(records)
    starts = [0, *accumulate(count for _, count, _ in records.joined)]
    keys = [key(kind, name) for name, *_ in records.joined]
    return TextRuns(keys, lambda i: texts(records.read_briefly(range(starts[i], starts[i + 1]))))


def report_texts(hierarchy: Hierarchy) -> list[str]:
    """What is embedded of reports: title and text."""
    return [f"{c.title}\n{c.text}" for c in hierarchy.clusters]


def report_runs(hierarchy: Hierarchy) -> Sequence[str] | TextRuns:
    """What is embedded of reports, by the runs of a hierarchy that has some."""
    return _text_runs(hierarchy.clusters, lambda some: report_texts(Hierarchy(some)), "reports")


def asked_vector(question: Question, rt: Runtime) -> Vectors:
    """The vector of a question, shape (dim,)."""
    return np.asarray(rt.embedder.embed([question.sought], "query")[0], np.float32)


def nearest_to(query: Vectors, index: Index, rt: Runtime, top: int, kind: str = "chunk") -> Ranked:
    """Positions and cosines of the `top` rows of a kind nearest to `query`, shape (dim,), best first."""
    return nearest_to_each(query[None, :], index, rt, top, kind)[0]


def nearest_to_each(queries: Vectors, index: Index, rt: Runtime, top: int, kind: str = "chunk") -> list[Ranked]:
    """`nearest_to` for every row of `queries`, shape (q, dim). The runtime notes a search that is not the usual one."""
    vectors = index.vectors_of(rt.embedder, kind)
    navigator = index.navigator(kind)
    if navigator is None or not navigator.helps(top):
        return nearest_each(vectors, queries, top)
    from sensegraph.algorithms.approximate import NO_EXTRA, is_installed

    if not is_installed():
        rt.noted[f"all {len(vectors):,} vectors of kind {kind} were compared: {NO_EXTRA}"] += 1
        return nearest_each(vectors, queries, top)
    rt.noted[f"of {len(vectors):,} vectors of kind {kind} the nearest were sought approximately"] += 1
    return [navigator.nearest(query, top) for query in queries]
