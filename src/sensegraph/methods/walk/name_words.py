"""Texts as the words and names that they write: what the index of names needs to know of one document by itself.

Words become letters, and a name is a pattern of letters: C capital · I initial · A abbreviation before a name ·
K connector · F capital function word · D number of up to four digits · x any other word. Between two of them stands how
they are parted: `_` by a blank, `-` by a hyphen or an apostrophe, `.` by a full stop, `|` by anything else.

Names are then found in texts: those that documents bear, wherever they are written, and those that capitals show. A
word at the beginning of a sentence is a name only if inside of sentences it has a capital more often than not.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Ints
from sensegraph.language.noun_phrases import find_aliases, find_headings, find_lead_name, list_title_names
from sensegraph.language.sentences import split_sentences
from sensegraph.language.word_lists import ENGLISH, STOP
from sensegraph.runtime.results import step
from sensegraph.types import Chunk

MARK = "^"  # before a word that may begin a name: a capital, a number, a character of a script without blanks
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff"
_WORD = re.compile(rf"([{_HAN}]|[^\W_{_HAN}]+)(['’`´][sS]\b)?([^\w]*_*[^\w]*)")
_UNSPACED = re.compile(f"[{_HAN}]")
_APART = "~"  # before how a piece of a sentence that no word begins parts others
_PARTING = re.compile(f"{_APART}.(?:{_APART}.)*")
# a name: letters of which any may begin it, as only then a search is quick, and the last is a capital
_NAME = re.compile(r"[CIA](?:(?:(?<=C)[_-]|(?<=[IA])[_.\-])(?:[KF][_-]){0,2}[CIA])*(?<=C)(?:_D)*")
_ENDED = re.compile(r"(?:(?:C[_-]|[IA][_.\-])(?:[KF][_-]){0,2})+I(?:_D)*")
_CONNECTORS = frozenset(
    "of de von van der den del la las los le les da do di du des das dos al el bin ibn zu zum zur af av the y e".split()
)
_BEFORE = frozenset("dr mr mrs ms st prof sir gen col lt capt sgt rev hon sen gov jr sr mt ft no vs".split())
_JOINS = {" ": "_", "-": "-", "–": "-", "‐": "-", "'": "-", "’": "-", ". ": ".", ".": ".", " - ": "-", "": "-"}
_QUOTED = re.compile(r"[《「『“〈]([^《》「」『』“”〈〉]{2,16})[》」』”〉]")


@dataclass(frozen=True, slots=True)
class Spelt:
    """The words of one chunk: folded, parted by blanks, sentences by line breaks, `MARK` before what may begin a name.

    `runs` are its names by their capitals, three numbers each: the sentence, the first word, and the word after the
    last. `bears` are the headings that stand over its text.
    """

    words: str
    runs: tuple[int, ...] = ()
    bears: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Noted:
    """A document's chunks, the names that it bears, the words in the parenthesis of its title, and names in quotes."""

    chunks: tuple[Spelt, ...] = ()
    bears: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()
    quoted: tuple[str, ...] = ()


Hashes = NDArray[np.uint64]


@step("namewords.spelt", version=5, batch=32)
def spell_documents(documents: Sequence[tuple[Chunk, ...]]) -> list[Noted]:
    """What each document, given as its chunks, shows of names by itself."""
    return [_note_names(chunks) for chunks in documents]


def _note_names(chunks: tuple[Chunk, ...]) -> Noted:
    if not chunks:
        return Noted()
    first = chunks[0]
    opening = " ".join(first.text[a:b] for a, b in split_sentences(first.text[:900], most=2))
    shown = [find_headings(chunk.text) for chunk in chunks]
    titled = list_title_names(first.title)
    bears = [*(titled or shown[0][:1] or [find_lead_name(opening)]), *find_aliases(opening)]
    spelt, last, quoted = list[Spelt](), "", set[str]()
    for chunk, found in zip(chunks, shown, strict=True):  # over a chunk stand its headings, and the last before
        if unspaced := _UNSPACED.search(chunk.text) is not None:
            quoted.update(fold_written_name(m[1]) for m in _QUOTED.finditer(chunk.text))
        spelt.append(_spell_chunk(chunk.text, unspaced, _fold_names([last, *found])))
        last = found[-1] if found else last
    aside = tuple(fold_words(first.title.partition("(")[2]))
    return Noted(tuple(spelt), _fold_names(bears), aside, tuple(sorted(quoted - {""})))


def _fold_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names as they are compared, each once."""
    return tuple(dict.fromkeys(folded for name in names if (folded := fold_written_name(name))))


def _spell_chunk(text: str, unspaced: bool, bears: tuple[str, ...]) -> Spelt:
    sentences = [text[begin:end] for begin, end in split_sentences(text)]
    if unspaced:  # characters of which some are no letters, and then belong to what parts words
        spelt = [_spell_words(sentence) for sentence in sentences]
        letters, words = "\n\n".join([kinds for kinds, _ in spelt]), "\n".join([marked for _, marked in spelt])
    else:
        spelt = list(map(_spell_piece, " \n ".join(sentences).split(" ")))
        letters = part_words("".join([kinds for kinds, _ in spelt]))
        words = "".join([marked for _, marked in spelt]).replace(" \n", "\n").removesuffix(" ")
    runs: list[int] = []
    ends = list(accumulate(len(line) // 2 + 1 for line in letters.split("\n\n")))
    for first, last in find_name_spans(letters):
        sentence = bisect_right(ends, first)
        begin = ends[sentence - 1] if sentence else 0
        runs += (sentence, first - begin, last - begin)
    return Spelt(words, tuple(runs), bears)


def part_words(letters: str) -> str:
    """The letters of a text, given with what parts words besides single blanks, in the place of these blanks."""
    parts, at = list[str](), 0
    for found in _PARTING.finditer(letters):
        begin, end = found.span()
        if begin == 0 or letters[begin - 1] == "\n":  # nothing stands before the first word of a sentence
            parts.append(letters[at:begin])
        else:
            parts += letters[at : begin - 1], "-" if letters[begin - 1 : end] == f"_{_APART}-" else "|"
        at = end
    return "".join(parts) + letters[at:]


def write_letters(sentence: str) -> tuple[list[str], str]:
    """The folded words of a sentence, and its letters: two a word, what it is and how it is parted from the next."""
    words, letters = list[str](), list[str]()
    for word, _, gap in _WORD.findall(sentence):
        form, letter = _fold_word(word)
        words.append(form)
        letters.append(letter + _JOINS.get(gap, "|"))
    return words, "".join(letters)


@lru_cache(maxsize=1 << 15)
def _spell_piece(piece: str) -> tuple[str, str]:
    """The letters and the marked words of a piece of a text between two blanks, each word with a blank behind it.

    Where no word begins it, the letters begin with `_APART` and how it parts the word before it from the next.
    """
    if piece == "\n":  # between two sentences
        return "\n\n", "\n"
    word = piece.rstrip(",.?!")
    if word.isascii() and word.isalpha() and word.islower():  # as most are
        return ("K" if word in _CONNECTORS else "x") + _JOINS.get(f"{piece[len(word) :]} ", "|"), f"{word} "
    letters, words = _spell_words(f"{piece} ")
    if not piece[:1].isalnum():
        letters = f"{_APART}{'-' if piece == '-' else '|'}{letters}"
    return letters, f"{words} " if words else ""


def _spell_words(text: str) -> tuple[str, str]:
    """The letters of a text, and its folded words, with `MARK` before what may begin a name."""
    words, letters = write_letters(text)
    return letters, " ".join([w if kind in "xK" else f"{MARK}{w}" for w, kind in zip(words, letters[::2], strict=True)])


def find_name_spans(letters: str) -> Iterator[tuple[int, int]]:
    """Where the names of a text begin and end, in words, from its letters; between two sentences stands one more."""
    at = 0
    while found := _NAME.search(letters, at):
        begin, end = found.span()
        ended = _ENDED.match(letters, begin)
        end = max(end, ended.end()) if ended else end
        yield begin // 2, end // 2 + 1
        at = end + 1


def fold_words(text: str) -> list[str]:
    """The folded words of a text, in order."""
    return [_fold_word(word)[0] for word, _, _ in _WORD.findall(text)]


def fold_written_name(name: str) -> str:
    """A name as it is compared: its folded words, without an article before them."""
    words = fold_words(name)
    while len(words) > 1 and words[0] in ("the", "a", "an"):
        words = words[1:]
    return " ".join(words)


@lru_cache(maxsize=1 << 15)
def _fold_word(word: str) -> tuple[str, str]:
    """The folded form of a word, and its letter."""
    form = word.casefold()
    if not form.isascii():
        form = "".join(c for c in unicodedata.normalize("NFKD", form) if not unicodedata.combining(c)) or form
    first = word[0]
    if first.isdigit():
        return form, "D" if len(word) <= 4 else "H"
    if _UNSPACED.match(first):
        return form, "Z"
    if not first.isupper():
        return form, "K" if word in _CONNECTORS else "x"
    if len(word) == 1:
        return form, "I"
    if form in _BEFORE:
        return form, "A"
    return form, "F" if form in STOP[ENGLISH] and not (word.isupper() and len(word) > 1) else "C"


_LONG = 3  # words from which a name is recognised without a capital


@dataclass(frozen=True)
class Gazetteer:
    """The names that documents bear, to be found in texts: the longest at each word, from left to right.

    `capitals` counts how often a word has a capital inside a sentence, less how often it has none.
    """

    names: frozenset[str]
    capitals: dict[str, int]

    def proper(self, word: str) -> bool:
        """Whether a word by itself is a name, as the corpus writes it."""
        return self.capitals.get(word, 0) > 0

    @cached_property
    def begun(self) -> dict[str, list[str]]:
        """The names by the word that they begin with."""
        begun: dict[str, list[str]] = defaultdict(list)
        for name in self.names:
            begun[name.partition(" ")[0]].append(name)
        return dict(begun)

    @cached_property
    def lengths(self) -> dict[str, tuple[int, ...]]:
        """The numbers of words of the names that begin with a word, longest first."""
        sizes = ((word, {name.count(" ") + 1 for name in names}) for word, names in self.begun.items())
        return {word: tuple(sorted(several, reverse=True)) for word, several in sizes}

    def within(self, words: Collection[str]) -> Gazetteer:
        """What is known of these words alone."""
        begun, capitals = self.begun, self.capitals
        names = frozenset([name for word in begun.keys() & words for name in begun[word]])
        return Gazetteer(names, {w: capitals[w] for w in capitals.keys() & words})

    def found(self, marked: Sequence[str], words: Sequence[str], *, asked: bool = False) -> Iterator[tuple[int, int]]:
        """Spans of the names in a sentence; in a question (`asked`) they need no capital."""
        lengths, count, end = self.lengths, len(words), 0
        for at in [place for place, word in enumerate(words) if word in lengths]:
            if at < end:
                continue
            for size in lengths[words[at]]:
                if at + size > count or not (asked or marked[at][0] == MARK or size >= _LONG):
                    continue
                if " ".join(words[at : at + size]) in self.names and self._stands(marked, at, size):
                    end = at + size
                    yield at, end
                    break

    def _stands(self, marked: Sequence[str], at: int, size: int) -> bool:
        """Whether a match is a name where it stands: one word at the beginning of a sentence may be none."""
        return size > 1 or at > 0 or len(marked[0]) == 2 or self.proper(marked[at].removeprefix(MARK))


@dataclass(frozen=True, slots=True, eq=False)
class NamedRun:
    """The names that a run of documents mentions or bears, as columns; chunks are numbered in the run, and documents.

    Of v names: `keys` are hashes, `stems` those of their stems, `stemmed` (v) of each. Of its pairs of chunk and name:
    `chunk`, `name`, in how many sentences (`times`), and whether it is borne (`bears`). Of n chunks: `document`, hashes
    of the stems of the names that it bears, `titled` of each, and of the words in the parenthesis of its title.
    """

    keys: Hashes
    stems: Hashes
    stemmed: Ints
    chunk: Ints
    name: Ints
    times: Ints
    bears: Ints
    document: Ints
    titles: Hashes
    titled: Ints
    asides: Hashes
    aside: Ints


@dataclass(frozen=True, slots=True)
class NamedDocuments:
    """Runs of documents in their order: their columns, their names, how many documents each has; and what is known.

    `digest` stands for all that the index of names is made of.
    """

    runs: Sequence[NamedRun]
    names: Sequence[Sequence[str]]
    sizes: Sequence[int]
    known: Gazetteer
    digest: str = ""
