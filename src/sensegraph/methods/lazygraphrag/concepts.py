"""The concept graph: noun phrases that occur together, and their communities, without a model (lazygraphrag §2).

It stands on the chunks of the index, which all methods share, and is their part `concepts`. With overlapping chunks
(the default) a phrase in the overlap counts in both of its chunks; `index.chunk_tokens = 500`,
`index.chunk_overlap = 0` are the method's own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.cooccurrence import Extent, Pruned, Pruning, keep_concepts, prune_concepts
from sensegraph.algorithms.graphs import Edges, Ints, Longs, canonical_edges, number_distinct, order_pairs
from sensegraph.algorithms.ranking import hash_words
from sensegraph.algorithms.trees import project
from sensegraph.algorithms.walks import gather_entries, run_offsets
from sensegraph.errors import SettingsError
from sensegraph.index.index import Index
from sensegraph.index.manifest import MadePart, PartEntry
from sensegraph.index.parts import Building, Part
from sensegraph.language.noun_phrases import OneWord, Reader
from sensegraph.methods import check_fields
from sensegraph.runtime.columns import digest_columns, join_columns, pack_columns, unpack_columns
from sensegraph.runtime.results import Result, Results, load_result, recall_result, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk

if TYPE_CHECKING:
    from sensegraph.index.restricted.scope import ScopedIndex


@dataclass(frozen=True, slots=True)
class Noted:
    """What a chunk speaks of: its noun phrases, folded, in the order of the text, and a hash of the text itself."""

    text: str
    phrases: tuple[str, ...]


@step("nounphrases.note", version=4)
def note(documents: Sequence[tuple[Chunk, ...]], *, one_word: OneWord) -> list[tuple[Noted, ...]]:
    """The noun phrases of every chunk of each document."""
    reader = Reader(one_word)
    return [
        tuple(
            Noted(
                blake2b(chunk.text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest(),
                reader.phrases(chunk.text),
            )
            for chunk in chunks
        )
        for chunks in documents
    ]


_EXTENTS: tuple[Extent, ...] = ("full", "weak", "none")
_SWEEPS = 6  # over all concepts: where they stand together by chance some move later too, for less than 1 % of quality


@dataclass(frozen=True, slots=True)
class ConceptSettings:
    """How concepts are found, pruned and clustered; the defaults are those of LazyGraphRAG's predecessor.

    `one_word` = proper keeps proper nouns of a single word too. Dropped are concepts of a degree above mean +
    `hub_deviations` σ, edges of less than `min_weight` chunks (2 at least), and concepts with fewer than `min_degree`
    edges left. Where less than `cover` of the chunks would keep a concept - a corpus that is small, or of short texts -
    only hubs and concepts of a single chunk are dropped, and where that leaves no edge, nothing is.
    """

    one_word: OneWord = "none"
    hub_deviations: float = 3.0
    min_weight: int = 2
    min_degree: int = 2
    cover: float = 0.5
    max_cluster_size: int = 25
    resolution: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("hub_deviations", 0), ("min_weight", 2), ("min_degree", 1), ("seed", 0)):
            if not least <= getattr(self, name) < float("inf"):
                raise SettingsError(f"index.concepts.{name} is {getattr(self, name)}; it must be at least {least}.")
        if not 0 <= self.cover <= 1:
            raise SettingsError(f"index.concepts.cover is {self.cover}; it must be from 0 to 1.")
        check_fields(
            self, "max_cluster_size resolution", "be above 0", "index.concepts.{field} is {value}; it must {bound}."
        )


@dataclass(frozen=True, slots=True, eq=False)
class Concepts:
    """The concept graph as arrays that are mapped. Concepts (c) are in the order of their names, chunks (n) in that of
    the catalogue, communities (g) in the order of (depth, smallest member).

    `letters` are the names in UTF-8, one after the other, that of concept i ending at `ends[i]`. `degree` (c) counts
    neighbours. Edges (m): `source` < `target`, and `weight`, the number of chunks that hold both. Chunk i holds the
    concepts `held[start[i]:start[i + 1]]`. `parent` (g) is −1 at depth 0; `homes[i, d]` is the community of concept i
    at depth d, its deepest where its branch ends above. `document` (n) numbers the documents; `same` (n) is the first
    chunk with the same text. `dropped` counts what was pruned - hubs, light edges, sparse concepts - and says how far:
    0 in full, 1 hubs and concepts of a single chunk only, 2 not at all.
    """

    letters: NDArray[np.uint8]
    ends: Longs
    degree: Ints
    source: Ints
    target: Ints
    weight: NDArray[np.float64]
    start: Longs
    held: Ints
    parent: Ints
    homes: Ints
    document: Ints
    same: Ints
    dropped: Longs

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def chunks(self) -> int:
        """The number of chunks."""
        return len(self.document)

    @property
    def depths(self) -> int:
        """The number of depths of the communities."""
        return int(self.homes.shape[1])

    def names(self, concepts: Iterable[int]) -> list[str]:
        """The names of these concepts."""
        spans = [(int(self.ends[i - 1]) if i else 0, int(self.ends[i])) for i in concepts]
        return [bytes(self.letters[begin:end]).decode() for begin, end in spans]

    def leading(self, top: int) -> list[str]:
        """The names of the `top` concepts of the largest degrees above 0, largest first."""
        order = np.lexsort((np.arange(len(self)), -self.degree.astype(np.int64)))
        return self.names(order[self.degree[order] > 0][:top].tolist())

    def find(self, name: str) -> int | None:
        """The concept of this folded name, if there is one."""
        place = bisect_left(range(len(self)), name, key=lambda i: self.names([i])[0])
        return place if place < len(self) and self.names([place])[0] == name else None

    def around(self, concept: int) -> Ints:
        """The neighbours of a concept, those first with which it shares most chunks."""
        near = np.flatnonzero((self.source == concept) | (self.target == concept))
        other = np.where(self.source[near] == concept, self.target[near], self.source[near])
        return other[np.lexsort((other, -self.weight[near]))]

    def of(self, chunk: int) -> Ints:
        """The concepts of one chunk, ascending."""
        return self.held[self.start[chunk] : self.start[chunk + 1]]

    def within(self, chunks: NDArray[Any]) -> Concepts:
        """The same communities over these chunks alone, ascending positions, which are numbered anew.

        Concepts that none of them holds keep their numbers, but have no degree and no edge.
        """
        chosen = np.asarray(chunks, np.int64)
        places, sizes = gather_entries(self.start, chosen)
        held = np.asarray(self.held[places], np.int32)
        there = np.bincount(held, minlength=len(self)) > 0
        edges = there[self.source] & there[self.target]
        # of chunks with the same text the first position
        _, first, where = np.unique(np.asarray(self.same)[chosen], return_index=True, return_inverse=True)
        return replace(
            self,
            degree=np.where(there, self.degree, 0).astype(np.int32),
            source=self.source[edges],
            target=self.target[edges],
            weight=self.weight[edges],
            start=run_offsets(sizes),
            held=held,
            document=np.asarray(self.document[chosen], np.int32),
            same=first[where].astype(np.int32),
        )


@dataclass(frozen=True, slots=True, eq=False)
class NotedRun:
    """What the chunks of a run of documents speak of. `phrases` are the hashes of the noun phrases, `letters` these in
    UTF-8, so many bytes each (`lengths`); chunk i holds `sizes[i]` of them, by their numbers in `held`; `document` are
    the numbers of documents in the run, `texts` the hashes of texts.
    """

    phrases: NDArray[np.uint64]
    letters: NDArray[np.uint8]
    lengths: Ints
    held: Ints
    sizes: Ints
    document: Ints
    texts: NDArray[np.uint64]


@step("concepts.run", version=1)
def keep_runs(runs: Sequence[Sequence[tuple[Noted, ...]]]) -> list[bytes]:
    """What the chunks of each run of documents speak of, as columns."""
    return [pack_columns(note_run(documents)) for documents in runs]


def note_run(documents: Iterable[tuple[Noted, ...]]) -> NotedRun:
    """The columns of what these documents speak of."""
    numbers: dict[str, int] = {}
    chunks = [(place, chunk) for place, noted in enumerate(documents) for chunk in noted]
    held = [numbers.setdefault(phrase, len(numbers)) for _, chunk in chunks for phrase in chunk.phrases]
    names = [phrase.encode("utf-8", "surrogatepass") for phrase in numbers]
    return NotedRun(
        hash_words(numbers),
        np.frombuffer(b"".join(names), np.uint8),
        np.array([len(name) for name in names], np.int32),
        np.array(held, np.int32),
        np.array([len(chunk.phrases) for _, chunk in chunks], np.int32),
        np.array([place for place, _ in chunks], np.int32),
        np.array([int(chunk.text, 16) for _, chunk in chunks], np.uint64),
    )


@dataclass(frozen=True, slots=True, eq=False)
class PhraseGraph:
    """The phrases of all chunks, with the document at which each chunk's run `begun`, and what was kept of their graph.

    Chunk i holds the phrases `held[start[i]:start[i + 1]]`. `names` are those of the concepts in order, `number` gives
    the place of a phrase among them; `pruned.kept` is of all phrases, `pruned.edges` are on these places.
    """

    noted: NotedRun
    begun: NDArray[Any]
    start: Longs
    held: Longs
    pruned: Pruned
    names: list[bytes]
    number: Longs

    @property
    def key(self) -> str:
        """What stands for the graph of the concepts: their number and their edges."""
        edges = self.pruned.edges
        return digest_columns((edges.source, edges.target, edges.weight), f"{len(self.names)} ".encode())


def prune_phrases(noted: NotedRun, begun: NDArray[Any], settings: ConceptSettings) -> PhraseGraph:
    """The graph of the phrases of all chunks, pruned."""
    found, first, number = number_distinct(noted.phrases)
    start = run_offsets(noted.sizes)
    held = number[noted.held]
    held = held[order_pairs(np.repeat(np.arange(len(noted.sizes)), noted.sizes), held)]
    rule = Pruning(settings.hub_deviations, settings.min_weight, settings.min_degree, settings.cover)
    pruned = prune_concepts(start, held, len(found), rule)
    names, order = _name_kept(noted, first[pruned.kept])
    number = np.zeros(len(found), np.int64)  # concepts are numbered in the order of their names
    number[np.flatnonzero(pruned.kept)[order]] = np.arange(len(order))
    kept = pruned.edges
    edges = canonical_edges(number[kept.source], number[kept.target], kept.weight, len(names))
    return PhraseGraph(noted, begun, start, held, replace(pruned, edges=edges), names, number)


@dataclass(frozen=True, slots=True, eq=False)
class ConceptCommunities:
    """The communities of concepts: `parent` (g), and of each concept its community at each depth, in `homes`."""

    parent: Ints
    homes: Ints


@step("concepts.homes", version=2)
def cluster_concepts(graphs: Sequence[Edges], *, settings: ConceptSettings) -> list[bytes]:
    """The communities of each graph, as columns."""
    from sensegraph.algorithms.clustering import hierarchical_leiden

    packed = []
    for edges in graphs:
        size, resolution, seed = settings.max_cluster_size, settings.resolution, settings.seed
        tree = hierarchical_leiden(edges, max_cluster_size=size, resolution=resolution, seed=seed, sweeps=_SWEEPS)
        homes = [project(tree, depth) for depth in range(tree.depths)]
        columns = np.array(homes, np.int32).reshape(len(homes), edges.nodes).T
        packed.append(pack_columns(ConceptCommunities(tree.parent, columns.ravel())))
    return packed


@step("concepts.concepts", version=1, form="arrays")
def make_concepts(wholes: Sequence[tuple[PhraseGraph, bytes]], *, settings: ConceptSettings) -> list[Concepts]:
    """The concept graph of each corpus, given the graph of its phrases and its communities."""
    results: list[Concepts] = []
    for graph, homes in wholes:
        noted, pruned, edges, names = graph.noted, graph.pruned, graph.pruned.edges, graph.names
        found = ConceptCommunities(*unpack_columns(homes))
        start, held = keep_concepts(graph.start, graph.held, pruned.kept)
        held = graph.number[held]
        held = held[order_pairs(np.repeat(np.arange(len(start) - 1), np.diff(start)), held)]
        _, early, same = number_distinct(noted.texts)
        results.append(
            Concepts(
                letters=np.frombuffer(b"".join(names), np.uint8),
                ends=np.cumsum([len(name) for name in names], dtype=np.int64),
                degree=np.bincount(np.concatenate((edges.source, edges.target)), minlength=len(names)).astype(np.int32),
                source=edges.source,
                target=edges.target,
                weight=edges.weight,
                start=start,
                held=held.astype(np.int32),
                parent=found.parent,
                homes=found.homes.reshape(len(names), -1) if names else found.homes.reshape(0, 0),
                document=(noted.document + graph.begun).astype(np.int32),
                same=early[same].astype(np.int32),
                dropped=np.array([pruned.hubs, pruned.light, pruned.sparse, _EXTENTS.index(pruned.extent)], np.int64),
            )
        )
    return results


def _name_kept(noted: NotedRun, places: Longs) -> tuple[list[bytes], Longs]:
    """The names of the phrases at these places in their order, and the order of the places."""
    ends, letters = np.cumsum(noted.lengths, dtype=np.int64), noted.letters.tobytes()
    spans = zip((ends - noted.lengths)[places].tolist(), ends[places].tolist(), strict=True)
    names = [letters[begin:end].decode("utf-8", "surrogatepass") for begin, end in spans]
    order = sorted(range(len(names)), key=names.__getitem__)
    return [names[i].encode("utf-8", "replace") for i in order], np.array(order, np.int64)


def concept_graph(chunks: Results[tuple[Chunk, ...]], rt: Runtime, settings: ConceptSettings) -> Result[Concepts]:
    """The concept graph of `chunks` (one item a document, in the order of the catalogue); no engine is asked.

    Stored by the step `concepts.concepts`; it stays where a text changed that speaks of what it did.
    """
    from sensegraph.algorithms.segments import cut_keys
    from sensegraph.runtime.delegating import once_by_content, once_on_worker, return_free_memory

    noted = rt.each(note, chunks, one_word=settings.one_word)

    def read() -> tuple[NotedRun, NDArray[Any]]:
        runs, found = cut_keys(chunks.keys), list[NotedRun]()
        for run in runs:
            documents = partial(noted.__getitem__, slice(run.start, run.stop))
            found.append(NotedRun(*unpack_columns(rt.once(keep_runs, documents, names=noted.tell_run(run)).value)))
        before = run_offsets([len(run.phrases) for run in found])
        moved = [replace(run, held=run.held + at) for run, at in zip(found, before, strict=False)]
        begun = np.repeat([run.start for run in runs], [len(run.sizes) for run in found])
        return join_columns(moved) if moved else note_run(()), begun

    def make(found: tuple[NotedRun, NDArray[Any]]) -> tuple[PhraseGraph, bytes]:
        graph = prune_phrases(*found, settings)
        return_free_memory(rt)
        # a document more or less often leaves the graph of what is kept as it was
        edges = graph.pruned.edges
        return graph, once_on_worker(rt, cluster_concepts, lambda: edges, names=(graph.key,), settings=settings).value

    given = (rt, make_concepts, read, _digest_runs, make)
    k = once_by_content(*given, names=noted.tell_run(range(len(noted))), settings=settings)
    return Result(k, load_result(rt.store, make_concepts, k))


def _digest_runs(found: tuple[NotedRun, NDArray[Any]]) -> str:
    noted, begun = found
    _, early, same = number_distinct(noted.texts)
    columns = (noted.phrases, noted.letters, noted.lengths, noted.held, noted.sizes, noted.document)
    return digest_columns((*columns, begun, early[same]))


def pruning_notes(found: Concepts) -> tuple[str, ...]:
    """What the notes of a build say of a graph that could not be pruned as asked for; what was dropped stands in it."""
    extent = _EXTENTS[int(found.dropped[-1])]
    if extent == "full":
        return ()
    why = "too few chunks would have kept a concept" if extent == "weak" else "no edge would have been left"
    how = "less than asked for" if extent == "weak" else "not at all"
    return (f"the concept graph was pruned {how}: {why}",)


class ConceptsPart(Part[Concepts, ConceptSettings]):
    """Noun phrases that occur together, and their communities."""

    name = "concepts"
    reader = "lazygraphrag"
    stage = "beside"
    settings = ConceptSettings

    def build(self, building: Building, settings: ConceptSettings) -> MadePart:
        """The concept graph of all chunks; no engine is asked."""
        found = concept_graph(building.spine.by_document, building.rt, settings)
        return MadePart(PartEntry(found.key), notes=pruning_notes(found.value))

    def read(self, index: Index) -> Concepts:
        """The concept graph, mapped."""
        return recall_result(index.store, make_concepts, index.manifest.parts[self.name].key)

    def restrict_to_scope(self, value: Concepts, index: ScopedIndex) -> Concepts:
        """The concepts of the chunks inside."""
        return value.within(np.asarray(index.places, np.int64))


CONCEPTS = ConceptsPart()
