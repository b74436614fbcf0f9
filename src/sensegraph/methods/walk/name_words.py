"""Texts as the words and names that they write: what the index of names needs to know of one document by itself.

Words become letters, and a name is a pattern of letters: C capital · I initial · A abbreviation before a name ·
K connector · F capital function word · D number of up to four digits · x any other word. Between two of them stands how
they are parted: `_` by a blank, `-` by a hyphen or an apostrophe, `.` by a full stop, `|` by anything else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sensegraph.language.noun_phrases import find_aliases, find_headings, find_lead_name, list_title_names
from sensegraph.language.text import ENGLISH, split_sentences
from sensegraph.language.word_lists import STOP
from sensegraph.runtime.results import step
from sensegraph.types import Chunk

MARK = "^"  # before a word that may begin a name: a capital, a number, a character of a script without blanks
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff"
_WORD = re.compile(rf"([{_HAN}]|[^\W_{_HAN}]+)(['’`´][sS]\b)?([^\w]*_*[^\w]*)")
_UNSPACED = re.compile(f"[{_HAN}]")
_NAME = re.compile(r"(?:(?:C[_-]|[IA][_.\-])(?:[KF][_-]){0,2})*C(?:_D)*")
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


@step("namewords.spelt", version=1, batch=32)
def spell_documents(documents: Sequence[tuple[Chunk, ...]]) -> list[Noted]:
    """What each document, given as its chunks, shows of names by itself."""
    return [_note_names(chunks) for chunks in documents]


def _note_names(chunks: tuple[Chunk, ...]) -> Noted:
    if not chunks:
        return Noted()
    first = chunks[0]
    opening = " ".join(first.text[a:b] for a, b in split_sentences(first.text[:900])[:2])
    shown = [find_headings(chunk.text) for chunk in chunks]
    titled = list_title_names(first.title)
    bears = [*(titled or shown[0][:1] or [find_lead_name(opening)]), *find_aliases(opening)]
    quoted = sorted(
        {fold_written_name(m[1]) for c in chunks if _UNSPACED.search(c.text) for m in _QUOTED.finditer(c.text)}
    )
    return Noted(
        tuple(_spell_chunk(c, over) for c, over in zip(chunks, _headings_above(shown), strict=True)),
        tuple(dict.fromkeys(k for name in bears if (k := fold_written_name(name)))),
        tuple(fold_words(first.title.partition("(")[2])),
        tuple(q for q in quoted if q),
    )


def _headings_above(shown: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """The headings over each chunk: its own, and the last of those before."""
    last = ""
    for found in shown:
        over = [last, *found] if last else list(found)
        yield tuple(dict.fromkeys(k for name in over if (k := fold_written_name(name))))
        last = found[-1] if found else last


def _spell_chunk(chunk: Chunk, bears: tuple[str, ...]) -> Spelt:
    lines: list[str] = []
    runs: list[int] = []
    for begin, end in split_sentences(chunk.text):
        words, letters = write_letters(chunk.text[begin:end])
        for first, last in find_name_spans(letters):
            runs += (len(lines), first, last)
        kinds = zip(words, letters[::2], strict=True)
        lines.append(" ".join(word if kind in "xK" else f"{MARK}{word}" for word, kind in kinds))
    return Spelt("\n".join(lines), tuple(runs), bears)


def write_letters(sentence: str) -> tuple[list[str], str]:
    """The folded words of a sentence, and its letters: two for each word, what it is and how it is parted from the
    next.
    """
    words: list[str] = []
    letters: list[str] = []
    for word, _, gap in _WORD.findall(sentence):
        form, letter = _fold_word(word)
        words.append(form)
        letters.append(letter + _JOINS.get(gap, "|"))
    return words, "".join(letters)


def find_name_spans(letters: str) -> Iterator[tuple[int, int]]:
    """Where the names of a sentence begin and end, in words, from its letters."""
    at = 0
    while found := _NAME.search(letters, at):
        begin, end = found.span()
        if begin % 2:  # between two words there is no beginning
            at = begin + 1
            continue
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


@lru_cache(maxsize=1 << 17)
def _fold_word(word: str) -> tuple[str, str]:
    """The folded form of a word, and its letter."""
    form = word.casefold()
    if not form.isascii():
        form = "".join(c for c in unicodedata.normalize("NFKD", form) if not unicodedata.combining(c)) or form
    return form, _classify_word(word, form)


def _classify_word(word: str, form: str) -> str:
    first = word[0]
    if first.isdigit():
        return "D" if len(word) <= 4 else "H"
    if _UNSPACED.match(first):
        return "Z"
    if not first.isupper():
        return "K" if word in _CONNECTORS else "x"
    if len(word) == 1:
        return "I"
    if form in _BEFORE:
        return "A"
    return "F" if form in STOP[ENGLISH] and not (word.isupper() and len(word) > 1) else "C"
