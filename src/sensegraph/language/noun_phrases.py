"""Noun phrases by cheap rules: words become letters, and a phrase is a pattern of letters (lazygraphrag §2).

No model and no tagger reads the text, so that an index costs no more than one of vectors. English is told best; of
other languages in Latin letters the runs between function words are taken (in German nouns show themselves), of other
scripts with blanks the pairs of long words, of Chinese and Japanese the runs between particles.

Letters of a word: P capital · Q capital that a sentence may account for · A the same, but names begin so too · N other
word of content · J adjective by its ending · g in -ing · p in -ed · d determiner or possessive · o of another script ·
, break · . break at a sentence's end
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

from sensegraph.language.common_words import STOP
from sensegraph.language.phrase_words import (
    BREAKING,
    GERMAN_LITTLE,
    NAMING,
    NEVER,
    NOUNS_IN_ED,
    NOUNS_IN_ING,
    NOUNS_IN_LY,
    SAYING_LITTLE,
)
from sensegraph.language.stems import ENGLISH, language
from sensegraph.runtime.results import step
from sensegraph.types import Chunk

OneWord = Literal["none", "proper"]

_TOKEN = re.compile(r"[^\W_]+(?:[-'’&](?!s\b)[^\W_]+)*|['’]s\b|\n(?=\s*[^a-z\s])|[^\w\s]|_")
_ENDING = frozenset('.!?:;\n"“”…•·')
_POSSESSIVE = ("'s", "’s")
_OTHER = re.compile(r"[^\u0000-\u024f\u1e00-\u1eff’]")
_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff]")
_MOST = 4  # words of a phrase: what is longer is a list, a heading, or no phrase at all
_RUN = re.compile(r"(?:(?<=d)[gp])?[NJP]+")
_NAME = re.compile(r"P{2,}")
_OPENING = re.compile(r"(^|\.)(?:Q|A(?!P))")
_ALONE = re.compile(r"(?<=[^.NJPgp])P(?![NJPgp])")
_PAIR = re.compile(r"(?=oo)")
_GERMAN = re.compile(r"N?P+")
_DETERMINERS = frozenset("a an the this that these those my your his her its our their whose each every some".split())
_ADJECTIVE = re.compile(r"(?:ous|ful|less|able|ible|ive|ical|ish|est|ary)$")
_INFLECTED = re.compile(r"(?:e|en|er|es|em)$")
_COMPOUND = 10  # letters from which a German noun is taken to be made of two
# Particles, pronouns and the commonest verbs of Chinese, and the letters that Japanese writes its endings in.
_PARTICLE = re.compile(
    r"[\u3040-\u309f的了是在和与與及或也都就而但被把从從对對于於以为為等这這那有他她它们們我你您一不个個之其所并並由将將使让讓"
    r"到给給向很还還又再只没沒说說年月日后後前中上下着過过来來去如若因则則且即每各某该該此何谁誰什么麼吗嗎呢吧啊]"
)
_HAN = re.compile(r"[\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_HAN_LENGTHS = range(3, 9)  # characters: two are mostly one word


@dataclass(frozen=True, slots=True)
class Noted:
    """What a chunk speaks of: its noun phrases, folded, in the order of the text, and a hash of the text itself."""

    text: str
    phrases: tuple[str, ...]


@step("nounphrases.note", version=2)
def note(documents: Sequence[tuple[Chunk, ...]], *, one_word: OneWord) -> list[tuple[Noted, ...]]:
    """The noun phrases of every chunk of each document."""
    reader = Reader(one_word)
    return [tuple(Noted(_hash(c.text), reader.phrases(c.text)) for c in chunks) for chunks in documents]


def _hash(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class Reader:
    """Reads noun phrases; the letters of the words that it has met are kept by language."""

    def __init__(self, one_word: OneWord = "none") -> None:
        self._proper = one_word == "proper"
        self._letters = {spoken: _Letters(spoken) for spoken in STOP}

    def phrases(self, text: str) -> tuple[str, ...]:
        """The distinct noun phrases of `text`, folded, in the order of their first places."""
        plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
        words = _TOKEN.findall(plain)
        spoken = language(words[:120:2] if plain.isascii() else words)
        letters = "".join(map(self._letters[spoken].__getitem__, words))
        found = list(self._read(words, _OPENING.sub(r"\1,", letters).replace("Q", "P").replace("A", "P"), spoken))
        if not plain.isascii():
            found += _spaceless(plain)
        return tuple(dict.fromkeys(phrase.casefold() for phrase in found))

    def _read(self, words: list[str], letters: str, spoken: str) -> Iterator[str]:
        german = spoken == "german"
        for match in (_GERMAN if german else _RUN).finditer(letters):
            for begin, end in _parts(match.start(), match[0], german):
                if _enough(words, begin, end, letters, german):
                    yield " ".join(words[begin:end])
        if self._proper:
            yield from (words[m.start()] for m in _ALONE.finditer(letters))
        if "oo" in letters:
            yield from (" ".join(words[m.start() : m.start() + 2]) for m in _PAIR.finditer(letters))


def _parts(start: int, run: str, german: bool) -> Iterator[tuple[int, int]]:
    """The phrases of a run of words: each name in it, and what stands between names."""
    begin = 0
    for name in () if german else _NAME.finditer(run):
        yield start + begin, start + name.start()
        yield start + name.start(), start + name.end()
        begin = name.end()
    yield start + begin, start + len(run)


def _enough(words: list[str], begin: int, end: int, letters: str, german: bool) -> bool:
    """Whether these words are a phrase: two at least, the last one a noun."""
    if german and end - begin == 1:
        return len(words[begin]) >= _COMPOUND and begin > 0 and letters[begin - 1] != "."
    return 2 <= end - begin <= _MOST and letters[end - 1] not in "Jgp"


def _spaceless(text: str) -> Iterator[str]:
    """Runs of Chinese or Japanese between particles, as long as two words or three."""
    for piece in _PARTICLE.split(text):
        yield from (run for run in _HAN.findall(piece) if len(run) in _HAN_LENGTHS)


# ── letters ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Letters(dict[str, str]):
    """Word → letter, in one language; decided when a word is first met."""

    def __init__(self, spoken: str) -> None:
        super().__init__()
        self._spoken, self._stop = spoken, STOP[spoken]

    def __missing__(self, word: str) -> str:
        letter = self[word] = self._letter(word)
        return letter

    def _letter(self, word: str) -> str:
        lower = word.casefold()
        if not word[0].isalpha():
            return (
                "d"
                if word in _POSSESSIVE
                else "."
                if word in _ENDING
                else "N"
                if word[0].isdigit() and word[1:].isupper()
                else ","
            )
        if lower in self._stop or len(word) == 1:
            return "d" if lower in _DETERMINERS else ","
        if _OTHER.search(word):
            return "," if _SPACELESS.search(word) or len(word) < 4 else "o"
        if self._spoken == ENGLISH:
            return _english(word, lower)
        if self._spoken == "german":
            noun = word[0].isupper() and lower not in GERMAN_LITTLE
            return "P" if noun else "N" if _INFLECTED.search(word) and lower not in GERMAN_LITTLE else ","
        return "P" if word[0].isupper() else "," if "'" in word or "’" in word else "N"


def _english(word: str, lower: str) -> str:
    """The letter of an English word that is no function word."""
    if "'" in lower or "’" in lower or lower in BREAKING or lower in NEVER:
        return ","
    letter = _ending(lower)
    if word.islower():
        return letter
    return "P" if letter in "NJ" else "A" if lower in NAMING else "Q"


def _ending(word: str) -> str:
    """The letter of a lower-case English word, by its ending where no list holds it."""
    if word in SAYING_LITTLE or (word.endswith("ly") and word not in NOUNS_IN_LY):
        return ","
    if "-" in word:
        return "N"
    if word.endswith("ing") and word not in NOUNS_IN_ING:
        return "g"
    if word.endswith("ed") and word not in NOUNS_IN_ED:
        return "p"
    return "J" if _ADJECTIVE.search(word) else "N"
