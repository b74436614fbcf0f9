"""Facts: what the relations of the graph state, chunk by chunk, as texts that a question can be linked to.

The graph of HippoRAG 2 (Gutiérrez et al. 2025, §3.1) over the entities that all methods share: fact edges between two
entities, context edges between an entity and the chunks that mention it, and synonym edges between entities whose names
are nearly the same. No engine is asked. HippoRAG reads them as the part `facts` of an index. Where the index has the
part `triples`, its triples are the facts, and their phrases stand as entities behind those of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats, Ints, Longs
from sensegraph.algorithms.ranking import Stack
from sensegraph.algorithms.similar import Pairs, similar_rows, similar_words
from sensegraph.algorithms.tfidf import Tfidf
from sensegraph.algorithms.walks import Moves, build_moves, gather_entries, renumber_kept, run_offsets
from sensegraph.errors import SettingsError
from sensegraph.index.index import Index
from sensegraph.index.manifest import MadePart, PartEntry
from sensegraph.index.parts import Building, Part, PartEstimate
from sensegraph.index.vectors import beyond_words, embed_all, embed_records
from sensegraph.language.text import fold, list_stems
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import recall_result, step
from sensegraph.types import Graph, Relation

if TYPE_CHECKING:
    from sensegraph.index.estimate import Foresight
    from sensegraph.index.restricted.scope import ScopedIndex


FactText = Literal["auto", "triple", "description"]
_Edges = tuple[NDArray[np.int64], NDArray[np.int64], Floats]


@dataclass(frozen=True, slots=True)
class FactSettings:
    """How facts are written, and which names are synonyms.

    `text`: a fact is told as a `triple` (name, label, name) or by the `description` that its chunk gives of the
    relation; `auto` takes the description where it has at most `words` words, else the triple. Two names are synonyms
    from a similarity of `synonym` on, each with its `neighbours` nearest at most (HippoRAG 2: 0.8, 100).
    """

    text: FactText = "auto"
    words: int = 12
    synonym: float = 0.8
    neighbours: int = 100

    def __post_init__(self) -> None:
        if not 0 < self.synonym <= 1:
            raise SettingsError(f"index.facts.synonym is {self.synonym}; it must be above 0 and at most 1.")
        if self.words < 0 or self.neighbours < 1:
            raise SettingsError(
                f"index.facts.words ({self.words}) must be at least 0, neighbours ({self.neighbours}) at least 1."
            )


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Entities (n) are numbered as in the graph, then phrases of triples where there are any, chunks (c) as in the
    catalogue, facts (f) by relation and text.

    Fact i links the entities `source[i]` and `target[i]`, is stated by the chunks `told[tells[i]:tells[i + 1]]`, and is
    fact `number[i]` of the whole index, whose facts read `letters[ends[k]:ends[k + 1]]` in UTF-8. Entity j is mentioned
    by the chunks `held[start[j]:start[j + 1]]`. `one`, `other` and `near` are synonym edges with their similarity.
    `words`, `first`, `rows` and `share` are the `Tfidf` of the facts of the whole; `chunks` holds c. `leaves`, `comes`
    and `chance` are the moves of a walk over chunks and entities.
    """

    source: Ints
    target: Ints
    tells: Longs
    told: Ints
    number: Ints
    letters: NDArray[np.uint8]
    ends: Longs
    start: Longs
    held: Ints
    one: Ints
    other: Ints
    near: Floats
    words: NDArray[np.uint64]
    first: Longs
    rows: Ints
    share: NDArray[np.float32]
    chunks: Longs
    leaves: Ints
    comes: Ints
    chance: Floats

    def __len__(self) -> int:
        return len(self.source)

    @property
    def entities(self) -> int:
        """The number of entities."""
        return len(self.start) - 1

    def text(self, fact: int) -> str:
        """What a fact says."""
        k = int(self.number[fact])
        return self.letters[int(self.ends[k]) : int(self.ends[k + 1])].tobytes().decode()

    def stating(self, fact: int) -> Ints:
        """The chunks that state a fact."""
        return self.told[int(self.tells[fact]) : int(self.tells[fact + 1])]

    def score(self, question: str) -> Floats:
        """The TF-IDF cosine of every fact to a question, shape (f,)."""
        index = Tfidf(self.words, self.first, self.rows, self.share, len(self.ends) - 1)
        return index.score(list_stems(question))[self.number]

    @property
    def walk(self) -> Moves:
        """The moves of a walk over chunks (0…c−1) and entities (c…c+n−1)."""
        return Moves(self.leaves, self.comes, self.chance)

    def moves(self, parallel: float, *, synonyms: bool = True, context: bool = True) -> Moves:
        """The moves of a walk with `parallel` edges for each fact, with or without those of synonyms and of chunks.

        Facts and synonyms of one pair add up.
        """
        n = int(self.chunks[0])
        edges = [_typed_edges(self.source + n, self.target + n, parallel * np.diff(self.tells))]
        edges += [self._context()] if context else []
        edges += [_typed_edges(self.one + n, self.other + n, self.near)] if synonyms else []
        a, b, weight = (np.concatenate(column) for column in zip(*edges, strict=True))
        return build_moves(np.concatenate((a, b)), np.concatenate((b, a)), np.tile(weight, 2), n + self.entities)

    def _context(self) -> _Edges:
        """An edge of weight 1 between every entity and every chunk that mentions it."""
        entity = np.repeat(np.arange(self.entities), np.diff(self.start))
        return _typed_edges(entity + int(self.chunks[0]), self.held, np.ones(len(self.held)))

    def phrases_in(self, chunks: Sequence[int], first: int) -> list[int]:
        """The phrases of triples, which are numbered from `first` on behind the entities, that these chunks hold."""
        inside = np.isin(self.held, np.asarray(chunks, np.int64))
        owner = np.repeat(np.arange(self.entities), np.diff(self.start))
        found: list[int] = np.unique(owner[inside & (owner >= first)]).tolist()
        return found

    def within(self, entities: Sequence[int], chunks: Sequence[int]) -> Facts:
        """The facts that these chunks state of these entities, both ascending, which are numbered anew."""
        who, where = renumber_kept(entities, self.entities), renumber_kept(chunks, int(self.chunks[0]))
        # rows without the values below 0
        values = where[self.told]
        row = np.repeat(np.arange(len(self.tells) - 1), np.diff(self.tells))[values >= 0]
        tells, told = run_offsets(np.bincount(row, minlength=len(self.tells) - 1)), values[values >= 0]
        inside = (who[self.source] >= 0) & (who[self.target] >= 0) & (np.diff(tells) > 0)
        places, sizes = gather_entries(tells, np.flatnonzero(inside))
        rows, row_sizes = gather_entries(self.start, entities)
        mentioned = where[self.held[rows]]
        owner = np.repeat(np.arange(len(entities)), row_sizes)[mentioned >= 0]
        near = (who[self.one] >= 0) & (who[self.other] >= 0)
        found = replace(
            self,
            source=who[self.source[inside]],
            target=who[self.target[inside]],
            tells=run_offsets(sizes),
            told=told[places],
            number=np.asarray(self.number)[inside],
            start=run_offsets(np.bincount(owner, minlength=len(entities))),
            held=mentioned[mentioned >= 0],
            one=who[self.one[near]],
            other=who[self.other[near]],
            near=np.asarray(self.near)[near],
            chunks=np.array([len(chunks)]),
        )
        return _with_fact_moves(found)


@step("facts.facts", version=4, form="arrays")
def make_facts(wholes: Sequence[tuple[Graph, Sequence[str], Stack | None]], *, settings: FactSettings) -> list[Facts]:
    """The facts of a graph over the chunks with these ids; the vectors are those of the entities' names."""
    results: list[Facts] = []
    for graph, chunks, vectors in wholes:
        place = {name: i for i, name in enumerate(chunks)}
        position, names, mentions = {}, [], []
        for i, entity in enumerate(graph.entities):
            position[entity.id] = i
            names.append(entity.name)
            mentions.append(sorted({place[c] for c in entity.chunks if c in place}))
        ends, texts, statements = list[tuple[int, int]](), list[str](), list[list[int]]()
        for relation, told in _texts_of_relations(graph, settings):
            for text, stating in told.items():
                ends.append((position[relation.source], position[relation.target]))
                texts.append(text)
                statements.append(sorted({place[c] for c in stating if c in place}))
        synonyms = _find_synonyms(names, vectors, settings)
        words = Tfidf.build(map(list_stems, texts))
        both = np.asarray(ends, np.int32).reshape(len(ends), 2)
        encoded = [t.encode("utf-8", "replace") for t in texts]
        found = Facts(
            source=both[:, 0].copy(),
            target=both[:, 1].copy(),
            tells=run_offsets([len(s) for s in statements]),
            told=_chain_rows(statements),
            number=np.arange(len(texts), dtype=np.int32),
            letters=np.frombuffer(b"".join(encoded), np.uint8),
            ends=run_offsets([len(e) for e in encoded]),
            start=run_offsets([len(m) for m in mentions]),
            held=_chain_rows(mentions),
            one=synonyms.one,
            other=synonyms.other,
            near=synonyms.similarity,
            words=words.words,
            first=words.start,
            rows=words.rows,
            share=words.share,
            chunks=np.array([len(place)]),
            leaves=np.zeros(0, np.int32),
            comes=np.zeros(0, np.int32),
            chance=np.zeros(0),
        )
        results.append(_with_fact_moves(found))
    return results


def name_texts(graph: Graph) -> list[str]:
    """What is embedded of names, to tell which are synonyms."""
    return [e.name for e in graph.entities]


def fact_texts(graph: Graph, settings: FactSettings) -> list[str]:
    """What is embedded of facts, in their order."""
    return [text for _, told in _texts_of_relations(graph, settings) for text in told]


# ── making them ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _with_fact_moves(found: Facts) -> Facts:
    """The facts with the moves of the walk over them."""
    walk = found.moves(1.0)
    return replace(found, leaves=walk.source, comes=walk.target, chance=walk.share)


def _texts_of_relations(graph: Graph, settings: FactSettings) -> Iterator[tuple[Relation, dict[str, list[str]]]]:
    """Every relation with its texts, each with the chunks that state it."""
    names = {e.id: e.name for e in graph.entities}
    for relation in graph.relations:
        source, target = names[relation.source], names[relation.target]
        found: dict[str, list[str]] = {}
        for said in relation.descriptions:
            text = _write_fact(said.text, relation.label, source, target, settings)
            found.setdefault(text, []).append(said.source.chunk)
        silent = [c for c in relation.chunks if all(c not in chunks for chunks in found.values())]
        if silent:
            found.setdefault(_write_fact("", relation.label, source, target, settings), []).extend(silent)
        yield relation, found


def _write_fact(said: str, label: str, source: str, target: str, settings: FactSettings) -> str:
    """One fact. A label counts where the chunk's own words hold it, or where it has none."""
    short = settings.text == "auto" and len(said.split()) <= settings.words
    if said and (settings.text == "description" or short):
        return said
    told = fold(said)
    if said and 0 <= told.find(fold(target)) < told.find(fold(source)):
        source, target = target, source  # a relation has no direction; its sentence has
    between = f" {label} " if label and (not said or fold(label) in told) else " "
    return f"{source}{between}{target}"


def _find_synonyms(names: Sequence[str], vectors: Stack | None, settings: FactSettings) -> Pairs:
    """Pairs of entities with nearly the same name, of more than two letters or digits."""
    long = np.array([sum(map(str.isalnum, name)) > 2 for name in names], np.bool_)
    chosen = np.flatnonzero(long)
    if vectors is None:
        found = similar_words([list_stems(names[i]) for i in chosen.tolist()], settings.synonym, settings.neighbours)
    else:
        found = similar_rows(vectors.take(chosen), settings.synonym, settings.neighbours)
    return Pairs(chosen[found.one].astype(np.int32), chosen[found.other].astype(np.int32), found.similarity)


def _typed_edges(one: NDArray[np.integer], other: NDArray[np.integer], weight: Floats) -> _Edges:
    return one.astype(np.int64), other.astype(np.int64), np.asarray(weight, np.float64)


def _chain_rows(lists: Sequence[Sequence[int]]) -> Ints:
    return np.fromiter(chain.from_iterable(lists), np.int32)


def _graph_of_facts(building: Building, chunks: Sequence[str]) -> tuple[Callable[[], Graph], tuple[str, ...]]:
    """The graph whose relations are the facts, and what it depends on beside the graph that all methods share."""
    entry = building.whole.parts.get("triples")
    if entry is None:
        return lambda: building.graph.value, ()
    from sensegraph.methods.hipporag.triples import join_triples, keep_triples

    @cache
    def joined() -> Graph:
        said = recall_result(building.rt.store, keep_triples, entry.key)
        return join_triples(building.graph.value, chunks, said)

    return joined, (entry.key,)


class FactsPart(Part[Facts, FactSettings]):
    """Facts, the synonyms among the entities' names, and the vectors of facts."""

    name = "facts"
    needs = ("graph",)
    reader = "hipporag"
    kinds = ("fact",)
    settings = FactSettings

    def build(self, building: Building, settings: FactSettings) -> MadePart:
        """The facts of the graph, and their vectors unless the embedder sees words only."""
        rt, chunks = building.rt, [c.id for c in building.chunks()]
        graph, own = _graph_of_facts(building, chunks)
        called = beyond_words(rt, lambda: embed_all(name_texts(graph()), rt))  # else their words tell synonyms

        def whole() -> tuple[Graph, Sequence[str], Stack | None]:
            return graph(), chunks, called.value if called else None

        names = (building.graph.key, building.chunks_key, called.key if called else "", *own)
        found = rt.once(make_facts, whole, names=names, settings=settings)
        name = key("facts", found.key)
        made = beyond_words(rt, lambda: embed_records(lambda: fact_texts(graph(), settings), rt, name=name))
        return MadePart(PartEntry(found.key, {"fact": made.key} if made else {}))

    def estimate(self, foresight: Foresight, settings: FactSettings) -> PartEstimate:
        """The texts of names and facts."""
        return PartEstimate(texts=[*name_texts(foresight.graph), *fact_texts(foresight.graph, settings)])

    def read(self, index: Index) -> Facts:
        """The facts, mapped."""
        return recall_result(index.store, make_facts, index.manifest.parts[self.name].key)

    def restrict_to_scope(self, value: Facts, index: ScopedIndex) -> Facts:
        """What the chunks inside state; of phrases that are no entities, those that they hold."""
        phrases = value.phrases_in(index.places, len(index.whole.graph.entities))
        return value.within([*index.positions("entity"), *phrases], index.places)

    def positions(self, kind: str, index: ScopedIndex) -> Sequence[int]:
        """The numbers of the facts inside."""
        return [int(i) for i in index.part(self).number]


FACTS = FactsPart()
