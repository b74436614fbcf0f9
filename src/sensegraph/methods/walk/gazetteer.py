"""Names found in texts: those that documents bear, wherever they are written, and those that capitals show.

A word at the beginning of a sentence is a name only if inside of sentences it has a capital more often than not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sensegraph.language.naming_words import COUNTRY
from sensegraph.methods.walk.name_words import MARK, Noted

_LONG = 3  # words from which a name is recognised without a capital


@dataclass(frozen=True, slots=True)
class Gazetteer:
    """The names that documents bear, to be found in texts: the longest at each word, from left to right.

    `lengths` are the numbers of words of the names that begin with a word, longest first; `capitals` counts how often
    a word has a capital inside a sentence, less how often it has none.
    """

    names: frozenset[str]
    lengths: dict[str, tuple[int, ...]]
    capitals: dict[str, int]

    def proper(self, word: str) -> bool:
        """Whether a word by itself is a name, as the corpus writes it."""
        return self.capitals.get(word, 0) > 0

    def found(self, marked: Sequence[str], words: Sequence[str], *, asked: bool = False) -> Iterator[tuple[int, int]]:
        """Spans of the names in a sentence; in a question (`asked`) they need no capital."""
        at, count = 0, len(words)
        while at < count:
            word = words[at]
            end = at + 1
            for size in self.lengths.get(word, ()):
                if at + size > count or not (asked or marked[at][0] == MARK or size >= _LONG):
                    continue
                if " ".join(words[at : at + size]) in self.names and self._stands(marked, at, size):
                    end = at + size
                    yield at, end
                    break
            at = end

    def _stands(self, marked: Sequence[str], at: int, size: int) -> bool:
        """Whether a match is a name where it stands: one word at the beginning of a sentence may be none."""
        return size > 1 or at > 0 or len(marked[0]) == 2 or self.proper(marked[at].removeprefix(MARK))


def make_gazetteer(documents: Iterable[Noted]) -> Gazetteer:
    """The names that `documents` bear, and how they write their words."""
    names: set[str] = set()
    counts: Counter[str] = Counter()
    for document in documents:
        names.update(document.bears, document.quoted, *(chunk.bears for chunk in document.chunks))
        for chunk in document.chunks:
            for line in chunk.words.split("\n"):
                counts.update(line.split(" ")[1:])
    capitals: dict[str, int] = defaultdict(int)
    for word, count in counts.items():
        if word.startswith(MARK):
            capitals[word[1:]] += count
    for word in list(capitals):
        capitals[word] -= counts.get(word, 0)
    lengths: dict[str, set[int]] = defaultdict(set)
    for name in names:
        parts = name.split(" ")
        lengths[parts[0]].add(len(parts))
    return Gazetteer(frozenset(names), {w: tuple(sorted(s, reverse=True)) for w, s in lengths.items()}, dict(capitals))


def count_mentions(document: Noted, known: Gazetteer) -> list[dict[str, int]]:
    """For each chunk of a document the names that it mentions, with the number of its sentences that do.

    A last name alone, which no document bears, stands for the longer name that was met last in this document. Where
    something is called Danish, or of the US, the country is mentioned too.
    """
    ending: dict[str, str] = {}  # the longer names met so far, by their last words
    results: list[dict[str, int]] = []
    for chunk in document.chunks:
        runs: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for place in range(0, len(chunk.runs), 3):
            sentence, begin, end = chunk.runs[place : place + 3]
            runs[sentence].append((begin, end))
        counts: dict[str, int] = defaultdict(int)
        for number, line in enumerate(chunk.words.split("\n")):
            marked, words = line.split(" "), line.replace(MARK, "").split(" ")
            here: dict[str, None] = {}
            for name in names_in_sentence(marked, words, runs.get(number, ()), known):
                _, blank, last = name.rpartition(" ")
                if blank:
                    ending[last] = name
                elif name not in known.names:
                    name = ending.get(name, name)
                here[name] = None
            here |= {COUNTRY[name]: None for name in list(here) if name in COUNTRY}
            for name in here:
                counts[name] += 1
        results.append(dict(counts))
    return results


def names_in_sentence(
    marked: Sequence[str], words: Sequence[str], runs: Sequence[tuple[int, int]], known: Gazetteer
) -> list[str]:
    """The names of one sentence in their order: those known, and runs of capitals that none at least as long covers."""
    borne = list(known.found(marked, words))
    spans = [*borne]
    for run in runs:
        begin, end = trim_run(run, words, known)
        if end > begin and not any(b < end and begin < e and e - b >= end - begin for b, e in borne):
            spans.append((begin, end))
    return [" ".join(words[b:e]) for b, e in sorted(spans)]


def trim_run(run: tuple[int, int], words: Sequence[str], known: Gazetteer) -> tuple[int, int]:
    """A run without a word at its beginning that has its capital from the sentence; empty where nothing is left."""
    begin, end = run
    if begin > 0:
        return run
    if end == 1:
        return (0, 1) if known.proper(words[0]) else (0, 0)
    if known.capitals.get(words[0], 0) >= 0:
        return run
    return (1, end)
