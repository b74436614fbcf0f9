"""What chunks say, word by word: the stems of every chunk in their order, sentence by sentence, and what comes next.

A first ordering needs to know which chunk has which word. To put the best of them in a better order takes more: which
words stand together, who speaks, when a document was written and what is told of it, and which chunks are neighbours.
The walk reads it as the part `wording` of an index.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats, Ints, Longs
from sensegraph.algorithms.ranking import hash_words
from sensegraph.algorithms.walks import gather_entries, run_offsets
from sensegraph.index.index import Index
from sensegraph.index.manifest import DocumentEntry, MadePart, PartEntry
from sensegraph.index.parts import Building, NoSettings, Part
from sensegraph.index.restricted.scope import ScopedIndex
from sensegraph.language.dates.date_words import asked_date_words, find_own_date, list_date_words
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import list_stems, name_stemmer, part_camel_case, split_runs, stem_run
from sensegraph.runtime.results import recall_result, step
from sensegraph.types import Chunk

_OPENING = 60  # characters of a text in which the day that it was written may stand
_MOST = 6  # words of a field of metadata that is asked by
_ENDED = -1  # stands behind each sentence


@dataclass(frozen=True, slots=True)
class Worded:
    """The stems of each chunk of a document, parted by blanks: a line for what heads it, and one a sentence.

    `date` is the day on which the document was written, as far as its title or first line tell.
    """

    chunks: tuple[str, ...] = ()
    date: str = ""


@step("wording.worded", version=1, batch=32)
def word_documents(documents: Sequence[tuple[Chunk, ...]]) -> list[Worded]:
    """What each document, given as its chunks, says word by word."""
    results = []
    for chunks in documents:
        texts = [part for chunk in chunks[:1] for part in (chunk.heading, chunk.text[:_OPENING])]
        results.append(Worded(tuple(_word_chunk(chunk) for chunk in chunks), find_own_date(texts)))
    return results


def _word_chunk(chunk: Chunk) -> str:
    spoken = name_stemmer(f"{chunk.heading}\n{chunk.text}")
    lines = [" ".join(stem_written(chunk.heading, spoken))]
    for line in chunk.text.split("\n"):
        for begin, end in split_sentences(line):
            lines.append(" ".join(stem_written(line[begin:end], spoken)))
    return "\n".join([lines[0], *filter(None, lines[1:])])


def stem_written(text: str, spoken: str) -> list[str]:
    """The stems of a text; names that are written together count as their words."""
    return [stem for run in split_runs(part_camel_case(text)) for stem in stem_run(run, spoken)]


@dataclass(frozen=True, slots=True, eq=False)
class Wording:
    """What chunks (n) say, in the order of the catalogue; all mapped.

    `keys` are the hashes of the distinct stems (v), ascending, `held` (v) the number of chunks with each. Chunk i says
    `said[at[i]:at[i + 1]]`, numbers of stems, −1 behind each sentence; the first one is what heads it: its title, when
    it was written, what is told of its document. `lengths` (n) counts its stems. `follows` (n) is 1 where a chunk
    continues the one before it, 2 where its document is the next of a series after that of the one before, else 0.
    `facts`: the number of chunks, and their mean length, of the whole corpus.
    """

    keys: NDArray[np.uint64]
    held: Ints
    at: Longs
    said: Ints
    lengths: Ints
    follows: NDArray[np.uint8]
    facts: Floats

    def find(self, words: Sequence[str]) -> tuple[Longs, Floats]:
        """The number of each stem, −1 where no chunk has it, and its idf."""
        wanted = hash_words(words)
        at = np.minimum(np.searchsorted(self.keys, wanted), max(len(self.keys) - 1, 0))
        known = self.keys[at] == wanted if len(self.keys) else np.zeros(len(words), bool)
        return np.where(known, at, -1), self.idf(np.where(known, self.held[at], 0) if len(self.keys) else known)

    def idf(self, held: NDArray[Any]) -> Floats:
        """ln(1 + (N − df + ½) / (df + ½)), as `Bm25` has it."""
        weight: Floats = np.log1p((self.facts[0] - held + 0.5) / (held + 0.5))
        return weight

    def within(self, chunks: NDArray[Any]) -> Wording:
        """What these chunks alone say, ascending positions, which are numbered anew; how rare words are stays."""
        places, sizes = gather_entries(self.at, chunks)
        after = np.diff(chunks, prepend=-1) == 1
        return replace(
            self,
            at=run_offsets(sizes),
            said=self.said[places],
            lengths=self.lengths[chunks],
            follows=np.where(after, self.follows[chunks], 0).astype(np.uint8),
        )


@step("wording.wording", version=1, form="arrays")
def make_wording(wholes: Sequence[tuple[Iterable[Worded], Sequence[DocumentEntry]]]) -> list[Wording]:
    """The wording of all documents, with what the catalogue tells of each, in its order."""
    return [_join_documents(list(documents), entries) for documents, entries in wholes]


def _join_documents(documents: Sequence[Worded], entries: Sequence[DocumentEntry]) -> Wording:
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    said, at, lengths, follows = array("i"), array("q", [0]), array("i"), array("B")
    next_of = find_series(entries)
    for worded, entry, is_next in zip(documents, entries, next_of, strict=True):
        told = " ".join(_told_words(entry, worded.date))
        for place, chunk in enumerate(worded.chunks):
            before = len(said)
            for line, text in enumerate(chunk.split("\n")):
                words = f"{text} {told}".split() if line == 0 else text.split(" ")
                said.extend(map(numbers.__getitem__, words))
                said.append(_ENDED)
            lengths.append(len(said) - before - chunk.count("\n") - 1)
            follows.append(1 if place else 2 * is_next)
            at.append(len(said))
    keys = hash_words(list(numbers))
    rank = np.append(np.argsort(np.argsort(keys)), _ENDED).astype(np.int32)  # the last for what no stem is
    terms, long, starts = rank[np.asarray(said, np.int32)], np.asarray(lengths, np.int32), np.asarray(at, np.int64)
    _, sizes = gather_entries(starts, np.arange(len(long)))
    rows = np.repeat(np.arange(len(long)), sizes)
    pairs = np.unique(rows[terms >= 0] * max(len(keys), 1) + terms[terms >= 0])
    held = np.bincount(pairs % max(len(keys), 1), minlength=len(keys)).astype(np.int32)
    facts = np.array([len(long), max(float(long.mean()), 1.0) if len(long) else 1.0])
    return Wording(np.sort(keys), held, starts, terms, long, np.asarray(follows, np.uint8), facts)


def _told_words(entry: DocumentEntry, date: str) -> list[str]:
    """The words of what is told of a document: its day, and short fields of its metadata."""
    texts = [value for _, value in entry.metadata if isinstance(value, str)]
    days = list_date_words(find_own_date([entry.time, *texts]) or date)
    short = (text for text in texts if "://" not in text and len(text.split()) <= _MOST and not find_own_date([text]))
    return [*days, *(stem for text in short for stem in list_stems(part_camel_case(text)))]


_NUMBERED = re.compile(r"(.+[-_./ #:])(\d+)")


def find_series(entries: Sequence[DocumentEntry]) -> list[bool]:
    """Whether each document is the next of a series after the one before it.

    Their ids count on, and what is counted has a name of its own, one of several ("2-07" after "2-06"): mere numbers of
    a whole corpus tell nothing, for its documents may come from anywhere.
    """
    ids = [_NUMBERED.fullmatch(entry.id) for entry in entries]
    several = len({m[1] for m in ids if m}) > 1
    return [
        bool(several and one and other and one[1] == other[1] and int(other[2]) == int(one[2]) + 1)
        for one, other in pairwise([None, *ids])
    ]


def ask_words(text: str) -> tuple[list[str], list[str]]:
    """The stems of a question, names that are written together as their words; and the words of its dates."""
    return list_stems(part_camel_case(text)), asked_date_words(text)


class WordingPart(Part[Wording, NoSettings]):
    """What every chunk says, word by word."""

    name = "wording"
    reader = "walk"
    stage = "beside"
    settings = NoSettings

    def build(self, building: Building, settings: NoSettings) -> MadePart:
        """The wording of all chunks; no engine is asked."""
        rt, catalogue = building.rt, building.spine.catalogue
        worded = rt.each(word_documents, building.spine.by_document)
        names = (*worded.keys, catalogue.key)
        return MadePart(PartEntry(rt.once(make_wording, (worded, catalogue.value.documents), names=names).key))

    def read(self, index: Index) -> Wording:
        """The wording, mapped."""
        return recall_result(index.store, make_wording, index.manifest.parts[self.name].key)

    def restrict_to_scope(self, value: Wording, index: ScopedIndex) -> Wording:
        """What the chunks inside say."""
        return value.within(np.asarray(index.places, np.int64))


WORDING = WordingPart()
