"""The index: what a build leaves behind, read by methods without loading it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats
from sensegraph.algorithms.ranking import Stack
from sensegraph.errors import NotIndexed, ResultGone
from sensegraph.extractions import CitedFigure, PlacedFigure
from sensegraph.index.chunks import chunk_documents
from sensegraph.index.graph.lookups import Lookups, build_lookups
from sensegraph.index.manifest import Catalogue, ChunkEntry, Manifest, list_catalogue, note_left_out, read_manifest
from sensegraph.index.parts import SPINE, Part, find_part, known_parts, part_of_kind
from sensegraph.index.vectors import open_stack
from sensegraph.language.text import list_stems
from sensegraph.protocols import Embedder, Store
from sensegraph.runtime.results import Table, load_result, read_results, recall_result, step
from sensegraph.types import Chunk, Cluster, Document, Entity, Graph, Hierarchy, Relation

if TYPE_CHECKING:
    from sensegraph.algorithms.approximate import Navigator
    from sensegraph.algorithms.full_text import Bm25
    from sensegraph.index.hierarchy.communities import Communities

T = TypeVar("T")
_PAGED = 10_000  # documents of which an open index remembers where their pages begin


@step("index.document", version=1)
def keep_documents(documents: Sequence[Document]) -> list[Document]:
    """Documents as they came: the objects that an index's catalogue points to."""
    return list(documents)


@step("words.run", version=1, form="array")
def index_words(runs: Sequence[Iterable[Chunk]]) -> list[NDArray[Any]]:
    """The postings of a run of chunks, packed; what heads a document counts as words of every chunk of it."""
    from sensegraph.algorithms.full_text import Postings

    return [Postings.build(list_stems(c.text, c.heading) for c in chunks).pack() for chunks in runs]


@dataclass(frozen=True, slots=True)
class WordRuns:
    """The keys of the postings of all runs of chunks, in the order of the catalogue."""

    keys: tuple[str, ...]


@step("words.words", version=4)
def list_words(runs: Sequence[Sequence[str]]) -> list[WordRuns]:
    """What the word index is made of."""
    return [WordRuns(tuple(keys)) for keys in runs]


R = TypeVar("R", ChunkEntry, Entity, Relation, Cluster)


class Index:
    """A finished index in a store. Opening it reads one small object; everything else is fetched when it is asked for.

    `given` are parts that nobody but this program knows; `whole` is the index that this one is a restriction of, if it
    is one. Raises NotIndexed when the store holds no index.
    """

    whole: Index | None = None

    @property
    def root(self) -> Index:
        """The unrestricted index that this one was made from, or itself."""
        return self if self.whole is None else self.whole.root

    def __init__(self, store: Store, manifest: Manifest | None = None, given: Sequence[Part[Any, Any]] = ()) -> None:
        self.store = store
        self.manifest = manifest or read_manifest(store)
        self.given = given

    @cached_property
    def catalogue(self) -> Catalogue:
        """The lists of documents and chunks."""
        return recall_result(self.store, list_catalogue, self.manifest.documents)

    @cached_property
    def graph(self) -> Graph:
        """Entities, relations and claims. Raises NotIndexed where the index was built without."""
        from sensegraph.index.graph.merging import describe_graphs

        return recall_result(self.store, describe_graphs, self._part("graph", self.manifest.graph))

    @cached_property
    def communities(self) -> Communities:
        """The groups behind the hierarchy, without their reports."""
        from sensegraph.index.hierarchy.communities import cluster_graphs

        return recall_result(self.store, cluster_graphs, self._part("reports", self.manifest.communities)).whole()

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The clusters with their reports. Raises NotIndexed where the index was built without."""
        from sensegraph.index.hierarchy.reports import keep_hierarchy

        return recall_result(self.store, keep_hierarchy, self._part("reports", self.manifest.hierarchy))

    @cached_property
    def lookups(self) -> Lookups:
        """Neighbours, communities and names of the entities, by position."""
        return recall_result(self.store, build_lookups, self._part("graph", self.manifest.lookups))

    def part(self, part: Part[T, Any]) -> T:
        """A part that was built besides graph and reports. Raises NotIndexed where the index was built without it."""
        if part.name not in self._values:
            self._values[part.name] = self._read_part(part)
        found: T = self._values[part.name]
        return found

    def _read_part(self, part: Part[T, Any]) -> T:
        if part.name not in self.manifest.parts:
            raise missing_part(part.name, part.reader)
        return part.read(self)

    @cached_property
    def _values(self) -> dict[str, Any]:
        """The parts that were read, by name."""
        return {}

    @cached_property
    def words(self) -> Bm25:
        """The word index of the chunks, in the order of the catalogue."""
        from sensegraph.algorithms.full_text import Bm25, Postings

        runs = recall_result(self.store, list_words, self.manifest.words).keys
        return Bm25(tuple(Postings.unpack(np.asarray(load_result(self.store, index_words, k))) for k in runs))

    @cached_property
    def vectors(self) -> Stack:
        """The vectors of the chunks, shape (chunks, dim), in the order of the catalogue."""
        return open_stack(self.store, self.manifest.vectors)

    def vectors_of(self, embedder: Embedder, kind: str = "chunk") -> Stack:
        """The vectors of the records of a kind, in their order: of entities those of `name: description`.

        Raises NotIndexed where another embedder made them: a question's vector would not fit.
        """
        if embedder.fingerprint() != self.manifest.vectors_by:
            raise NotIndexed(
                f"The index has vectors of the embedder {self.manifest.embedder!r}, the settings name "
                f"{embedder.name!r}; run `sensegraph index` again (in Python: `corpus.build()`), or set the embedder "
                "as it was."
            )
        return self._vectors(kind)

    def _vectors(self, kind: str) -> Stack:
        if kind == "chunk":
            return self.vectors
        if name := self.manifest.stacks.get(kind):
            if name not in self._stacks:
                self._stacks[name] = open_stack(self.store, name)
            return self._stacks[name]
        if spine := {"entity": "graph", "report": "reports"}.get(kind):
            raise missing_part(spine)
        part = part_of_kind(kind, self.given)
        raise missing_part(part.name, part.reader) if part else NotIndexed(f"No index has vectors of kind {kind!r}.")

    @cached_property
    def _stacks(self) -> dict[str, Stack]:
        """The vectors that were opened, by their keys."""
        return {}

    def part_with(self, kind: str) -> Part[Any, Any] | None:
        """The part of this index whose vectors are of this kind; None for a kind of the graph or the reports."""
        name = next((name for name, made in self.manifest.parts.items() if kind in made.vectors), "")
        return find_part(name, self.given) if name else None

    def navigator(self, kind: str) -> Navigator | None:
        """The way through the vectors of a kind; None where all of them are compared."""
        if kind not in self._navigators and (ways := self.manifest.ways.get(kind)):
            from sensegraph.algorithms.approximate import Navigator
            from sensegraph.index.navigation import build_navigation

            graphs = [(begin, recall_result(self.store, build_navigation, name)) for begin, name in ways]
            self._navigators[kind] = Navigator(self._vectors(kind), graphs)
        return self._navigators.get(kind)

    @cached_property
    def _navigators(self) -> dict[str, Navigator]:
        """Those that were opened: opening one reads a little of every node."""
        return {}

    def check_parts(self, names: Iterable[str]) -> None:
        """Raise NotIndexed for the first of these parts that was not built, saying how to build it."""
        if missing := set(names) - self.manifest.part_names:
            known = known_parts(self.given)
            first = min(missing, key=lambda name: known.index(name) if name in known else len(known))
            brought = first in known and first not in SPINE
            raise missing_part(first, find_part(first, self.given).reader if brought else "")

    def _part(self, part: str, name: str) -> str:
        """The key of the graph or the reports. Raises NotIndexed where they were not built."""
        if not name:
            raise missing_part(part)
        return name

    def scores_of_words(self, text: str) -> Floats:
        """The BM25 score of every chunk for `text`, in the order of the catalogue."""
        return self.words.score(list_stems(text))

    def notes(self) -> tuple[str, ...]:
        """What an answer from this index has to say of a filter, or of chunks that could not be read."""
        return note_left_out(self.manifest.left_out)

    def document(self, name: str) -> Document:
        """One document with its text. Raises NotIndexed for an id that is not in the index."""
        entry = _stored_table(self.catalogue.documents).find([name]).get(name)
        if entry is None:
            near = get_close_matches(name, [d.id for d in self.catalogue.documents], 1)
            meant = f"did you mean {near[0]!r}? " if near else ""
            raise NotIndexed(
                f"No document {name!r} in this index; {meant}`sensegraph documents list` shows all (in Python: "
                "`corpus.document_keys()`)."
            )
        found = self.store.read([entry.key])
        if entry.key not in found:
            raise ResultGone(f"The text of {name!r} is gone from the store; run `sensegraph index` again.")
        return keep_documents.decode(found[entry.key])

    def page(self, name: str, place: int) -> int | None:
        """The page of a document, from 1, that holds the character at `place`; None where it has no pages.

        Raises NotIndexed for an id that is not in the index.
        """
        if inside := self._figure(name, place):
            return inside.page
        return bisect_right(self.root._places[name][0], place) or None

    def figure(self, name: str, place: int) -> CitedFigure | None:
        """The figure whose description by a model holds the character at `place`; None for the text of the source.

        Raises NotIndexed for an id that is not in the index.
        """
        inside = self._figure(name, place)
        return inside.figure if inside else None

    def _figure(self, name: str, place: int) -> PlacedFigure | None:
        known = self.root._places
        if name not in known:
            if len(known) >= _PAGED:
                known.clear()
            found = self.document(name)
            known[name] = found.pages, found.figures
        figures = known[name][1]
        at = bisect_right(figures, place, key=lambda f: f.head) - 1 if figures else -1
        return figures[at] if at >= 0 else None

    @cached_property
    def _places(self) -> dict[str, tuple[tuple[int, ...], tuple[PlacedFigure, ...]]]:
        """Where the pages and the figures of documents begin that were asked for."""
        return {}

    def chunks(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """The chunks with these ids; one that does not exist is absent. Raises ResultGone where one was collected."""
        places = _stored_table(self.catalogue.chunks).find(ids)
        keys = sorted({p.key for p in places.values()})
        read = dict(zip(keys, read_results(chunk_documents, keys, self.store), strict=True))
        return {name: read[p.key][p.position] for name, p in places.items()}

    def documents_of(self, chunks: Sequence[str]) -> dict[str, str]:
        """The document of each of these chunks; a chunk that does not exist is absent."""
        return {name: entry.document for name, entry in _find_records(self.catalogue.chunks, chunks).items()}

    def tokens_of(self, chunks: Sequence[str]) -> dict[str, int]:
        """The tokens of each of these chunks; a chunk that does not exist is absent."""
        return {name: entry.tokens for name, entry in _find_records(self.catalogue.chunks, chunks).items()}

    def entities(self, ids: Sequence[str]) -> dict[str, Entity]:
        """The entities with these ids; one that does not exist is absent."""
        return _find_records(self.graph.entities, ids)

    def relations(self, ids: Sequence[str]) -> dict[str, Relation]:
        """The relations with these ids; one that does not exist is absent."""
        return _find_records(self.graph.relations, ids)

    def clusters(self, ids: Sequence[str]) -> dict[str, Cluster]:
        """The clusters with these ids; one that does not exist is absent."""
        return _find_records(self.hierarchy.clusters, ids)

    def clusters_at(self, depth: int) -> list[Cluster]:
        """The reports that a question at `depth` reads: its clusters, and the leaf of a branch that ends above it.

        They cover every entity exactly once (projection; D3, D4).
        """
        first = sum(self.manifest.clusters[: depth + 1])
        upper = self.hierarchy.clusters[:first]
        return [c for c in upper if c.depth == depth or c.level == 0]

    @property
    def depth(self) -> int:
        """The number of depths."""
        return len(self.manifest.clusters)


def missing_part(part: str, reader: str = "") -> NotIndexed:
    """What is said of an index without a part; `reader` is a method that reads it."""
    return NotIndexed(
        f"This index was built without its part {part!r}, which is needed here; add {part!r} to index.parts "
        "and run `sensegraph index`, or build what one method reads: "
        f"`sensegraph index --method {reader or 'NAME'}` (in Python: `corpus.build(parts=[{part!r}])`)."
    )


def _find_records(records: Sequence[R], ids: Sequence[str]) -> dict[str, R]:
    """Records by id, in the order of `ids`: from a stored table, or from a few in memory."""
    wanted = set(ids)
    found = records.find(ids) if isinstance(records, Table) else {r.id: r for r in records if r.id in wanted}
    return {name: found[name] for name in dict.fromkeys(ids) if name in found}


def _stored_table(rows: Sequence[Any]) -> Table[Any]:
    if not isinstance(rows, Table):
        raise TypeError("this part of an index is always a stored table")
    return rows
