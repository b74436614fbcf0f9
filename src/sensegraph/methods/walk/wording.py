"""What chunks say, word by word: the stems of every chunk in their order, sentence by sentence, and what comes next.

A first ordering needs to know which chunk has which word. To put the best of them in a better order takes more: which
words stand together, who speaks, when a document was written and what is told of it, and which chunks are neighbours.
The walk reads it as the part `wording` of an index.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats, Ints, Longs, keep_distinct
from sensegraph.algorithms.ranking import hash_words
from sensegraph.algorithms.walks import gather_entries, run_offsets
from sensegraph.index.index import Index
from sensegraph.index.manifest import DocumentEntry, MadePart, PartEntry
from sensegraph.index.parts import Building, NoSettings, Part
from sensegraph.index.restricted.scope import ScopedIndex
from sensegraph.language.dates.date_words import asked_date_words, find_own_date, list_date_words
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import blank_others, list_stems, name_stemmer, part_camel_case, split_runs, stem_runs
from sensegraph.protocols import Store
from sensegraph.runtime.batches import ReadItems
from sensegraph.runtime.results import recall_result, step
from sensegraph.types import Chunk

_OPENING = 60  # characters of a text in which the day that it was written may stand
_MOST = 6  # words of a field of metadata that is asked by
_ENDED = -1  # stands behind each sentence
_LINES_OF_TERMS = bytes(i if chr(i).isalnum() or chr(i) == "\n" else 32 for i in range(128)).ljust(256)  # else blanks


@dataclass(frozen=True, slots=True)
class Worded:
    """The stems of each chunk of a document, parted by blanks: a line for what heads it, and one a sentence.

    `date` is the day on which the document was written, as far as its title or first line tell.
    """

    chunks: tuple[str, ...] = ()
    date: str = ""


@step("wording.worded", version=3, batch=32)
def word_documents(documents: Sequence[tuple[Chunk, ...]]) -> list[Worded]:
    """What each document, given as its chunks, says word by word."""
    results = []
    for chunks in documents:
        worded = []
        for chunk in chunks:
            spoken = name_stemmer(chunk.text, chunk.heading)
            lines = (line for line in chunk.text.split("\n") if line)
            said = (line[begin:end] for line in lines for begin, end in split_sentences(line, keep=False))
            parted = part_camel_case("\n".join(said))
            blanked = blank_others(parted, _LINES_OF_TERMS)
            runs = map(split_runs, parted.split("\n")) if blanked is None else map(str.split, blanked.split("\n"))
            stemmed = (" ".join(stem_runs(some, spoken)) for some in runs)
            worded.append("\n".join([" ".join(stem_written(chunk.heading, spoken)), *filter(None, stemmed)]))
        texts = [part for chunk in chunks[:1] for part in (chunk.heading, chunk.text[:_OPENING])]
        results.append(Worded(tuple(worded), find_own_date(texts)))
    return results


def stem_written(text: str, spoken: str) -> list[str]:
    """The stems of a text; names that are written together count as their words."""
    return stem_runs(split_runs(part_camel_case(text)), spoken)


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


@dataclass(frozen=True, slots=True, eq=False)
class WordedRun:
    """What a run of documents says: `keys` (v) and `held` (v) as `Wording` has them, `said` by their numbers here.

    `sizes` (n) counts what is said of each chunk, `lengths` (n) its stems; `first` (n) is the document that a chunk
    begins, −1 for one that continues the one before it. `series` has three numbers of each document: `mark_series`.
    """

    keys: NDArray[np.uint64]
    held: Ints
    said: Ints
    sizes: Ints
    lengths: Ints
    first: Ints
    series: NDArray[np.uint64]


@step("wording.run", version=3)
def word_runs(runs: Sequence[tuple[Sequence[Worded], Sequence[DocumentEntry]]]) -> list[bytes]:
    """The columns of what each run of documents says, with what the catalogue tells of each."""
    from sensegraph.runtime.columns import pack_columns

    return [pack_columns(_word_run(documents, entries)) for documents, entries in runs]


@step("wording.wording", version=3, form="arrays")
def make_wording(wholes: Sequence[Sequence[bytes]]) -> list[Wording]:
    """The wording of all runs of documents, given by their columns, in the order of the catalogue."""
    from sensegraph.runtime.columns import unpack_columns

    return [_join_worded_runs([WordedRun(*unpack_columns(run)) for run in runs]) for runs in wholes]


def _word_run(documents: Sequence[Worded], entries: Sequence[DocumentEntry]) -> WordedRun:
    numbers: dict[str, int] = {}
    said, sizes, lengths, first = array("i"), array("i"), array("i"), array("i")
    for number, (worded, entry) in enumerate(zip(documents, entries, strict=True)):
        told = " ".join(_told_words(entry, worded.date))
        for place, chunk in enumerate(worded.chunks):
            before = len(said)
            for line, text in enumerate(chunk.split("\n")):
                words = f"{text} {told}".split() if line == 0 else text.split(" ")
                said.extend([numbers.setdefault(word, len(numbers)) for word in words])
                said.append(_ENDED)
            lengths.append(len(said) - before - chunk.count("\n") - 1)
            sizes.append(len(said) - before)
            first.append(_ENDED if place else number)
    keys = hash_words(numbers)
    rank = np.append(np.argsort(np.argsort(keys)), _ENDED).astype(_number_type(len(keys)))  # the last: no stem
    terms, long = rank[np.asarray(said, np.int32)], np.asarray(sizes, np.int32)
    rows = np.repeat(np.arange(len(long)), long)
    pairs = keep_distinct(rows[terms >= 0] * max(len(keys), 1) + terms[terms >= 0])
    held = np.bincount(pairs % max(len(keys), 1), minlength=len(keys)).astype(np.int32)
    firsts = np.asarray(first, np.int32)
    return WordedRun(
        np.sort(keys), held, terms, long, np.asarray(lengths, np.int32), firsts, mark_series(entries).ravel()
    )


def _number_type(stems: int) -> type[np.signedinteger[Any]]:
    """The smallest type of the numbers of so many stems, and of what stands behind sentences."""
    return np.int16 if stems <= np.iinfo(np.int16).max else np.int32


def _join_worded_runs(runs: Sequence[WordedRun]) -> Wording:
    keys = keep_distinct(np.concatenate([run.keys for run in runs]))
    held, said = np.zeros(len(keys), np.int64), list[Ints]()
    for run in runs:
        rank = np.append(np.searchsorted(keys, run.keys), _ENDED).astype(_number_type(len(keys)))
        held[rank[:-1]] += run.held
        said.append(rank[run.said])
    starts = np.cumsum([0, *(len(run.series) // 3 for run in runs)])[:-1]
    firsts = np.concatenate([np.where(run.first < 0, -1, run.first + at) for run, at in zip(runs, starts, strict=True)])
    later = follow_series(np.concatenate([run.series for run in runs]).reshape(-1, 3))
    follows = np.where(firsts < 0, 1, 2 * later[firsts] if len(later) else 0).astype(np.uint8)
    long = np.concatenate([run.lengths for run in runs]).astype(np.int32)
    at = run_offsets(np.concatenate([run.sizes for run in runs]))
    facts = np.array([len(long), max(float(long.mean()), 1.0) if len(long) else 1.0])
    return Wording(keys, held.astype(np.int32), at, np.concatenate(said), long, follows, facts)


def _told_words(entry: DocumentEntry, date: str) -> list[str]:
    """The words of what is told of a document: its day, and short fields of its metadata."""
    texts = [value for _, value in entry.metadata if isinstance(value, str)]
    days = list_date_words(find_own_date([entry.time, *texts]) or date)
    short = (text for text in texts if "://" not in text and len(text.split()) <= _MOST and not find_own_date([text]))
    return [*days, *(stem for text in short for stem in list_stems(part_camel_case(text)))]


_NUMBERED = re.compile(r"(.+[-_./ #:])(\d+)")


def mark_series(entries: Sequence[DocumentEntry]) -> NDArray[np.uint64]:
    """What tells which documents are a series, shape (n, 3): hashes of what is counted, of the number and of the next.

    They are 0 for a document whose id ends without a number.
    """
    ids = [_NUMBERED.fullmatch(entry.id) for entry in entries]
    texts = [(f"^{m[1]}", str(int(m[2])), str(int(m[2]) + 1)) if m else () for m in ids]
    marks = np.zeros((len(entries), 3), np.uint64)
    marks[[bool(m) for m in ids]] = hash_words([text for row in texts for text in row]).reshape(-1, 3)
    return marks


def follow_series(marks: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Whether each document, given its marks, is the next of a series after the one before it.

    Their ids count on, and what is counted has a name of its own, one of several ("2-07" after "2-06"): mere numbers of
    a whole corpus tell nothing, for its documents may come from anywhere.
    """
    found = np.zeros(len(marks), np.bool_)
    counted = marks[:, 0]
    if len(keep_distinct(counted[counted > 0])) > 1:
        found[1:] = (counted[1:] > 0) & (counted[1:] == counted[:-1]) & (marks[1:, 1] == marks[:-1, 2])
    return found


def ask_words(text: str) -> tuple[list[str], list[str]]:
    """The stems of a question, names that are written together as their words; and the words of its dates."""
    return list_stems(part_camel_case(text)), asked_date_words(text)


def read_worded(
    read: Callable[[Store], Sequence[Worded]], entries: Sequence[DocumentEntry], store: Store
) -> tuple[Sequence[Worded], Sequence[DocumentEntry]]:
    """What the documents of a run say, and their entries."""
    return read(store), entries


class WordingPart(Part[Wording, NoSettings]):
    """What every chunk says, word by word."""

    name = "wording"
    reader = "walk"
    stage = "beside"
    settings = NoSettings

    def build(self, building: Building, settings: NoSettings) -> MadePart:
        """The wording of all chunks; no engine is asked."""
        from sensegraph.algorithms.segments import cut_keys
        from sensegraph.runtime.delegating import once_on_worker

        rt, chunks, catalogue = building.rt, building.spine.by_document, building.spine.catalogue.value
        entries = catalogue.documents
        worded = rt.each(word_documents, chunks)

        runs = cut_keys(chunks.keys, len(catalogue.chunks))

        def find(i: int) -> Callable[[Store], tuple[Sequence[Worded], Sequence[DocumentEntry]]]:
            return partial(read_worded, worded.reader(runs[i]), entries[runs[i].start : runs[i].stop])

        named = [(*worded.tell_run(run), *chunks.keys[run.start : run.stop]) for run in runs]
        made = rt.once_each(word_runs, ReadItems(rt.store, len(runs), find), named)
        names = tuple(run.key for run in made)
        joined = once_on_worker(rt, make_wording, lambda: [run.value for run in made], names=names)
        return MadePart(PartEntry(joined.key))

    def read(self, index: Index) -> Wording:
        """The wording, mapped."""
        return recall_result(index.store, make_wording, index.manifest.parts[self.name].key)

    def restrict_to_scope(self, value: Wording, index: ScopedIndex) -> Wording:
        """What the chunks inside say."""
        return value.within(np.asarray(index.places, np.int64))


WORDING = WordingPart()
