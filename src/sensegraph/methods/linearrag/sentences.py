"""Sentences with the entities they name: the graph of LinearRAG, which needs no relation (Zhuang et al. 2025).

Names are looked up in the text at the borders of words, the longest first. No engine is asked. LinearRAG reads them as
the part `sentences` of an index.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats, Ints, Longs
from sensegraph.algorithms.tfidf import Tfidf
from sensegraph.algorithms.walks import Moves, build_moves, gather_entries, renumber_kept, run_offsets
from sensegraph.index.index import Index
from sensegraph.index.manifest import MadePart, PartEntry
from sensegraph.index.parts import Building, NoSettings, Part, PartEstimate
from sensegraph.index.vectors import beyond_words, embed_records
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import HAN, WORD, list_stems
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import recall_result, step
from sensegraph.types import Chunk, Graph

if TYPE_CHECKING:
    from sensegraph.index.estimate import Foresight
    from sensegraph.index.restricted.scope import ScopedIndex


_LONGEST = 12  # characters of a name in a script without blanks


@dataclass(frozen=True, eq=False)
class Sentences:
    """Entities (n) are numbered as in the graph, chunks (c) as in the catalogue, sentences (s) as they come, each text
    once and only if it names an entity.

    Sentence i names the entities `held[start[i]:start[i + 1]]`, ascending, and stands, for k from `spots[i]` to
    `spots[i + 1]`, in the chunk `place[k]` from `begin[k]` to `end[k]`. Entity j is named `times[k]` times by the chunk
    `chunks[k]`, for k from `first[j]` to `first[j + 1]`. `document` (c) numbers the documents. `words`, `terms`, `rows`
    and `share` are the `Tfidf` of the sentences of the whole index, of which sentence i is `number[i]` and `many`
    holds the count. `leaves`, `comes` and `chance` are the moves of a walk over chunks and entities.
    """

    start: Longs
    held: Ints
    spots: Longs
    place: Ints
    begin: Ints
    end: Ints
    number: Ints
    first: Longs
    chunks: Ints
    times: Ints
    document: Ints
    words: NDArray[np.uint64]
    terms: Longs
    rows: Ints
    share: NDArray[np.float32]
    many: Longs
    leaves: Ints
    comes: Ints
    chance: Floats

    def __len__(self) -> int:
        return len(self.number)

    @property
    def entities(self) -> int:
        """The number of entities."""
        return len(self.first) - 1

    def score(self, question: str) -> Floats:
        """The TF-IDF cosine of every sentence to a question, shape (s,)."""
        index = Tfidf(self.words, self.terms, self.rows, self.share, int(self.many[0]))
        return index.score(list_stems(question))[self.number]

    @cached_property
    def naming(self) -> tuple[Longs, Ints]:
        """The sentences of every entity: those of entity j are `second[first[j]:first[j + 1]]`."""
        rows = _row_numbers(self.start)[np.argsort(self.held, kind="stable")]
        return run_offsets(np.bincount(self.held, minlength=self.entities)), rows.astype(np.int32)

    @property
    def walk(self) -> Moves:
        """The moves of a walk over chunks (0…c−1) and entities (c…c+n−1)."""
        return Moves(self.leaves, self.comes, self.chance)

    def within(self, entities: Sequence[int], chunks: Sequence[int]) -> Sentences:
        """What these chunks say of these entities, both ascending, which are numbered anew."""
        who, where = renumber_kept(entities, self.entities), renumber_kept(chunks, len(self.document))
        stands = np.bincount(_row_numbers(self.spots)[where[self.place] >= 0], minlength=len(self)) > 0
        kept = (who[self.held] >= 0) & stands[_row_numbers(self.start)]
        names = np.bincount(_row_numbers(self.start)[kept], minlength=len(self))
        some = names > 0
        spots = (where[self.place] >= 0) & some[_row_numbers(self.spots)]
        rows, sizes = gather_entries(self.first, entities)
        mentioned = where[self.chunks[rows]]
        inside = mentioned >= 0
        found = replace(
            self,
            start=run_offsets(names[some]),
            held=who[self.held[kept]],
            spots=run_offsets(np.bincount(_row_numbers(self.spots)[spots], minlength=len(self))[some]),
            place=where[self.place[spots]],
            begin=np.asarray(self.begin)[spots],
            end=np.asarray(self.end)[spots],
            number=np.asarray(self.number)[some],
            first=run_offsets(np.bincount(np.repeat(np.arange(len(entities)), sizes)[inside], minlength=len(entities))),
            chunks=mentioned[inside],
            times=np.asarray(self.times)[rows][inside],
            document=np.asarray(self.document)[np.asarray(chunks, np.int64)],
        )
        return _with_sentence_walk(found)


@step("sentences.sentence_graph", version=7, form="arrays")
def sentence_graph(wholes: Sequence[tuple[Graph, Iterable[Chunk]]]) -> list[Sentences]:
    """The sentences of chunks, in the order of the catalogue, with the entities of a graph that they name."""
    results: list[Sentences] = []
    for graph, chunks in wholes:
        lexicon = Lexicon()
        for entity in graph.entities:
            lexicon.add(entity.name, entity.chunks)
        noted = _Noted()
        for chunk in chunks:
            noted.take(chunk, lexicon)
        results.append(noted.made(len(lexicon.chunks)))
    return results


def sentence_texts(found: Sentences, chunks: Iterable[Chunk]) -> list[str]:
    """What is embedded of sentences, in their order."""
    texts, first = [""] * len(found), found.spots[:-1]
    here = defaultdict[int, list[int]](list)
    for i, place in enumerate(found.place[first].tolist()):
        here[place].append(i)
    for place, chunk in enumerate(chunks):
        for i in here[place]:
            texts[i] = chunk.text[found.begin[first[i]] : found.end[first[i]]]
    return texts


# ── finding names ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Names to look up: `called` by folded words, `longest` the most words of a name by its first, `lower` the names
    that are written without capitals, `homes` the chunks of every entity whose name others bear too.
    """

    called: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    longest: Counter[str] = field(default_factory=Counter)
    lower: set[str] = field(default_factory=set)
    chunks: list[frozenset[str]] = field(default_factory=list)

    def add(self, name: str, chunks: Sequence[str]) -> None:
        """Take in the name of the next entity, which these chunks mention."""
        words = WORD.findall(name)
        folded = " ".join(w.casefold() for w in words)
        if words and len(folded) > 1:
            self.called[folded].append(len(self.chunks))
            head = folded.partition(" ")[0]
            self.longest[head] = max(self.longest[head], len(words))
            if name == name.lower():
                self.lower.add(folded)
        self.chunks.append(frozenset(chunks))

    def found(self, text: str, chunk: str) -> Iterator[tuple[int, int]]:
        """Where a name begins in the text of a chunk, and which entity it is: the longest name, from left to right."""
        spans = [(m.start(), m[0]) for m in WORD.finditer(text)]
        words = [w.casefold() for _, w in spans]
        i = 0
        while i < len(words):
            size, name = self._longest(words, i)
            if not size and HAN.search(words[i]):
                yield from self._unspaced(words[i], spans[i][0], chunk)
            elif size and (size > 1 or spans[i][1] != words[i] or name in self.lower):
                yield spans[i][0], self._meant(name, chunk)
            i += size or 1

    def _longest(self, words: list[str], i: int) -> tuple[int, str]:
        for size in range(min(self.longest.get(words[i], 0), len(words) - i), 0, -1):
            if (name := " ".join(words[i : i + size])) in self.called:
                return size, name
        return 0, ""

    def _unspaced(self, run: str, at: int, chunk: str) -> Iterator[tuple[int, int]]:
        """Names inside a run of a script that writes no blanks."""
        i = 0
        while i < len(run):
            for j in range(min(len(run), i + _LONGEST), i + 1, -1):
                if run[i:j] in self.called:
                    yield at + i, self._meant(run[i:j], chunk)
                    i = j - 1
                    break
            i += 1

    def _meant(self, name: str, chunk: str) -> int:
        """Of entities with one name that which the graph finds in the chunk, else that of the most chunks."""
        bearers = self.called[name]
        here = [e for e in bearers if chunk in self.chunks[e]] if len(bearers) > 1 else bearers
        return min(here or bearers, key=lambda e: (-len(self.chunks[e]), e))


# ── making them ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Noted:
    """Chunks while they are read: of each distinct sentence its number, words, names and places; of each chunk its
    document and how often it names which entity.
    """

    seen: dict[str, int] = field(default_factory=dict)
    words: list[list[str]] = field(default_factory=list)
    named: list[list[int]] = field(default_factory=list)
    where: list[tuple[int, int, int, int]] = field(default_factory=list)  # sentence, chunk, begin, end
    counts: list[tuple[int, int, int]] = field(default_factory=list)  # entity, chunk, times
    documents: list[int] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)

    def take(self, chunk: Chunk, lexicon: Lexicon) -> None:
        """Read one chunk."""
        place = len(self.documents)
        self.documents.append(self.numbers.setdefault(chunk.document, len(self.numbers)))
        found = list(lexicon.found(chunk.text, chunk.id))
        self.counts.extend((e, place, n) for e, n in Counter(e for _, e in found).items())
        rest = iter([*found, (len(chunk.text), -1)])
        at, entity = next(rest)
        for begin, end in split_sentences(chunk.text):
            here = set[int]()
            while at < end:
                here.add(entity)
                at, entity = next(rest)
            if here:
                self._note(chunk.text[begin:end], sorted(here), (place, begin, end))

    def _note(self, text: str, named: list[int], where: tuple[int, int, int]) -> None:
        number = self.seen.setdefault(text, len(self.seen))
        self.where.append((number, *where))
        if number == len(self.words):
            self.words.append(list_stems(text))
            self.named.append(named)

    def made(self, entities: int) -> Sentences:
        """All of it as arrays."""
        counts = np.asarray(sorted(self.counts), np.int64).reshape(-1, 3)
        where = np.asarray(sorted(self.where), np.int64).reshape(-1, 4)
        index = Tfidf.build(self.words)
        found = Sentences(
            start=run_offsets([len(n) for n in self.named]),
            held=np.fromiter(chain.from_iterable(self.named), np.int32),
            spots=run_offsets(np.bincount(where[:, 0], minlength=len(self.words))),
            place=where[:, 1].astype(np.int32),
            begin=where[:, 2].astype(np.int32),
            end=where[:, 3].astype(np.int32),
            number=np.arange(len(self.words), dtype=np.int32),
            first=run_offsets(np.bincount(counts[:, 0], minlength=entities)),
            chunks=counts[:, 1].astype(np.int32),
            times=counts[:, 2].astype(np.int32),
            document=np.asarray(self.documents, np.int32),
            words=index.words,
            terms=index.start,
            rows=index.rows,
            share=index.share,
            many=np.array([index.texts]),
            leaves=np.zeros(0, np.int32),
            comes=np.zeros(0, np.int32),
            chance=np.zeros(0),
        )
        return _with_sentence_walk(found)


def _with_sentence_walk(found: Sentences) -> Sentences:
    """The sentences with the moves of the walk.

    Between an entity and a chunk by its share of the names in it, between neighbours in a document by 1.
    """
    n, owner = len(found.document), _row_numbers(found.first)
    named = np.bincount(found.chunks, weights=found.times, minlength=n)
    beside = np.flatnonzero(found.document[1:] == found.document[:-1])
    a = np.concatenate((owner + n, beside))
    b = np.concatenate((found.chunks, beside + 1)).astype(np.int64)
    weight = np.concatenate((found.times / named[found.chunks], np.ones(len(beside))))
    walk = build_moves(np.concatenate((a, b)), np.concatenate((b, a)), np.tile(weight, 2), n + found.entities)
    return replace(found, leaves=walk.source, comes=walk.target, chance=walk.share)


def _row_numbers(start: Longs) -> Longs:
    """The row of every entry."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


class SentencesPart(Part[Sentences, NoSettings]):
    """Sentences that name an entity, and their vectors."""

    name = "sentences"
    needs = ("graph",)
    reader = "linearrag"
    kinds = ("sentence",)
    settings = NoSettings

    def build(self, building: Building, settings: NoSettings) -> MadePart:
        """The sentences of all chunks, and their vectors unless the embedder sees words only; no engine is asked."""
        known, chunks, rt = building.graph, building.chunks, building.rt
        names = (known.key, building.chunks_key)
        found = rt.once(sentence_graph, lambda: (known.value, chunks()), names=names)
        name = key("sentences", found.key)
        made = beyond_words(rt, lambda: embed_records(lambda: sentence_texts(found.value, chunks()), rt, name=name))
        return MadePart(PartEntry(found.key, {"sentence": made.key} if made else {}))

    def estimate(self, foresight: Foresight, settings: NoSettings) -> PartEstimate:
        """The texts of the sentences."""
        chunks = foresight.chunks
        return PartEstimate(texts=sentence_texts(sentence_graph.fn([(foresight.graph, chunks)])[0], chunks))

    def read(self, index: Index) -> Sentences:
        """The sentences, mapped."""
        return recall_result(index.store, sentence_graph, index.manifest.parts[self.name].key)

    def restrict_to_scope(self, value: Sentences, index: ScopedIndex) -> Sentences:
        """The sentences of the chunks inside."""
        return value.within(index.positions("entity"), index.places)

    def positions(self, kind: str, index: ScopedIndex) -> Sequence[int]:
        """The numbers of the sentences inside."""
        return [int(i) for i in index.part(self).number]


SENTENCES = SentencesPart()
