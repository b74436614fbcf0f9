"""What is known of words and sentences: their measures, their language, their stems and their parts of speech."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache, partial
from importlib.resources import files
from itertools import chain, pairwise
from math import fsum
from typing import Any, TypeVar, cast

from sensegraph.language.word_lists import (
    ENGLISH,
    LANGUAGES,
    SNOWBALL,
    STOP,
    languages_by_word,
    read_lines,
    read_patterns,
    read_sections,
    words_of_english,
    words_of_others,
)

T = TypeVar("T")


def remember(most: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Keep what a function finds in long texts by their hashes of 64 bits, not by the texts: of `most` at most."""

    def keep(find: Callable[[str], T]) -> Callable[[str], T]:
        known: dict[int, T] = {}

        def find_once(text: str) -> T:
            mark = hash(text)  # which the text itself keeps
            if (found := known.get(mark)) is None:
                found = find(text)
                if len(known) >= most:
                    known.clear()
                known[mark] = found
            return found

        return find_once

    return keep


WORD = re.compile(r"\w+(?:[’'\-]\w+)*")
HAN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


@cache
def _load_tokenizer() -> Any:
    from rs_bpe.bpe import openai  # 40 MB of tables: loaded on first use

    return openai.cl100k_base()


def count_tokens(text: str) -> int:
    """The number of cl100k tokens of `text`."""
    return int(_load_tokenizer().count(text))


def encode_tokens(text: str) -> list[int]:
    """The cl100k token numbers of `text`."""
    return list(_load_tokenizer().encode(text))


def decode_tokens(numbers: list[int]) -> str | None:
    """The text of these tokens, or None when they begin or end inside a character."""
    return cast("str | None", _load_tokenizer().decode(numbers))


def fold(text: str) -> str:
    """The form in which names are compared: NFKC, case-folded, white space collapsed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def collect_terms(text: str) -> frozenset[str]:
    """The distinct folded words of `text`; of scripts written without spaces, the pairs of neighbouring characters."""
    found: set[str] = set()
    for match in WORD.finditer(text.casefold()):
        word = match[0]
        if HAN.search(word):
            found.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        else:
            found.add(word)
    return frozenset(found)


def is_word_character(character: str) -> bool:
    """Whether a character (or none) belongs to a word."""
    return character.isalnum() or character == "_"


def find_whole(text: str, name: str, start: int = 0) -> int:
    """Where `name` next stands in `text` with no letter or digit beside it; -1 where it does not."""
    at, size = text.find(name, start), len(name)
    while at >= 0 and (is_word_character(text[at - 1 : at]) or is_word_character(text[at + size : at + size + 1])):
        at = text.find(name, at + 1)
    return at


def take_within(items: Iterable[T], budget: int, size: Callable[[T], int]) -> tuple[list[T], int]:
    """The longest prefix of `items` whose sizes sum to at most `budget`, and how many items were left out."""
    kept, left = list[T](), 0
    for item in items:
        if left or size(item) > budget:
            left += 1
            continue
        budget -= size(item)
        kept.append(item)
    return kept, left


def pack_batches(items: Iterable[T], budget: int, size: Callable[[T], int]) -> list[list[T]]:
    """`items` in order, in batches whose sizes sum to at most `budget`; a larger one is alone in its own."""
    batches, room = list[list[T]](), -1
    for item in items:
        need = size(item)
        if need > room or not batches:
            batches.append([])
            room = budget
        batches[-1].append(item)
        room -= need
    return batches


# ── the language ──────────────────────────────────────────────────────────────────────────────────────────────────────

BEGINNING = 4000  # characters in which the language of a text is told
_SHORT = 400  # characters of a text that is kept with its language; of longer ones the hash is
_LETTER = re.compile(r"[^\W\d_]")
_LETTERS = re.compile(r"[^\W\d_]+")
_USUAL_MARKS = "’“”—–‘…\u00a0"  # nearly all that is not ASCII in most English texts
_FOREIGN = re.compile(r"[\u0370-\u1dff\u2c00-\ua6ff\ua720-\uabff\uac00-\ud7ff\uf900-\ufaff]")  # letters beyond Latin
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")


ONLY_LETTERS, _ONLY_TERMS = (  # tables that make blanks of all other characters of ASCII
    bytes(i if re.match(kept, chr(i)) else 32 for i in range(256)) for kept in ("[A-Za-z]", "[A-Za-z0-9]")
)
_SMALL_LETTERS = ONLY_LETTERS.lower()


def blank_others(text: str, kept: bytes = _SMALL_LETTERS) -> str | None:
    """Blanks in place of all but the characters that are kept, by default letters, which become small ones.

    None where not all is ASCII. It is sooner split than a pattern finds the runs.
    """
    for mark in () if text.isascii() else _USUAL_MARKS:
        text = text.replace(mark, " ")
    return text.encode().translate(kept).decode() if text.isascii() else None


def split_letters(text: str) -> list[str]:
    """The runs of letters of `text`, in order."""
    found = blank_others(text, ONLY_LETTERS)
    return _LETTERS.findall(text) if found is None else found.split()


def split_small_letters(text: str) -> list[str]:
    """The runs of letters of `text` in lower case, in order."""
    found = blank_others(text)
    return _LETTERS.findall(text.lower()) if found is None else found.split()


def detect_language(text: str) -> str:
    """The language that a text begins in: a code of LANGUAGES, "zh" (Han or kana), or "" for a script without lists.

    Latin text is English unless another language has at least two different small words in it, and more than English;
    of two that have as many, the one whose words fewer others share.
    """
    return found if isinstance(found := _weigh_languages(text), str) else "en"


def _weigh_languages(text: str) -> str | int:
    """The language, or by how many small words English leads, where no other has more."""
    text = text[:BEGINNING].strip()  # so that what several steps of a build read is kept once
    return (_weigh_short if len(text) <= _SHORT else _weigh_long)(text)


def _weigh_beginning(text: str) -> str | int:
    blanked = blank_others(text)
    if blanked is None and _FOREIGN.search(text):
        letters = len(_LETTER.findall(text))
        if 5 * len(HAN.findall(text)) > letters:
            return "zh"
        if 2 * len(_FOREIGN.findall(text)) > letters:
            return "ru" if 2 * len(_CYRILLIC.findall(text)) > letters else ""
    every = _LETTERS.findall(text.lower()) if blanked is None else blanked.split()
    if (lead := len(words_of_english().intersection(every)) - len(words_of_others().intersection(every))) >= 0:
        return lead
    languages = languages_by_word()
    words = languages.keys() & every
    counts = Counter(chain.from_iterable(map(languages.__getitem__, words)))
    most = max(counts.values(), default=0)
    if most < 2 or counts["en"] == most:
        return "en"
    best = (code for code in LANGUAGES if counts[code] == most)
    return max(best, key=lambda code: fsum(1 / len(languages[word]) for word in words if code in languages[word]))


_weigh_short = lru_cache(1 << 14)(_weigh_beginning)
_weigh_long = remember(1 << 14)(_weigh_beginning)


def name_stemmer(text: str, heading: str | None = None) -> str:
    """What Snowball calls the language of a text, or of a heading and it; English where search has no stop words."""
    if heading is not None:
        lead = _weigh_languages(text) if heading.isascii() and len(heading) + len(text) < BEGINNING else ""
        if isinstance(lead, int) and len(words_of_others().intersection(split_small_letters(heading))) <= lead:
            return ENGLISH  # whatever its words are: so the text alone tells it
        text = f"{heading}\n{text}"
    return SNOWBALL.get(detect_language(text), ENGLISH)


# ── stems ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

# Scripts that write no blanks between words, or join particles to them: Kana, Han, Hangul, Thai, Lao, Burmese, Khmer.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
# Vowel signs and accents that stand inside words but that `\w` leaves out: Latin, Hebrew, Arabic, Indian scripts.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_TERM = re.compile(rf"[{_UNSPACED}]+|(?:(?![_{_UNSPACED}])[\w{_MARKS}])+")
_RUN = re.compile(f"[{_UNSPACED}]")
_CAMEL = re.compile(r"[A-Z_](?:(?<=_)|(?<=[a-zß-öø-ÿ][A-Z]))")
_SCRIPTS = (("Ѐԯ", "russian"), ("ͰϿ", "greek"), ("؀ۿ", "arabic"), ("ऀॿ", "hindi"), ("԰֏", "armenian"))


def list_stems(text: str, heading: str | None = None) -> list[str]:
    """The terms of `text` in order: stems (Snowball), and pairs of characters where no blanks part words.

    Those of a heading stand before. Function words are left out unless there is nothing else (The Who).
    """
    found = split_runs(text if heading is None else f"{heading}\n{text}")
    spoken = name_stemmer(text, heading)
    return stem_runs(found, spoken) or stem_runs(found, "")


def part_camel_case(text: str) -> str:
    """`text` with the words of names in camel case and with underscores apart: "AdaFinch" → "Ada Finch"."""
    return _CAMEL.sub(lambda m: f" {m[0]}" if m[0] != "_" else " ", text)


def split_runs(text: str) -> list[str]:
    """The runs of letters and digits of `text`; one of a script without blanks is one run."""
    found = blank_others(text, _ONLY_TERMS)
    return _TERM.findall(unicodedata.normalize("NFC", text)) if found is None else found.split()


def stem_runs(words: Iterable[str], spoken: str) -> list[str]:
    """The terms of several runs in the language `spoken`, in order."""
    return list(chain.from_iterable(map(_remember_stems(spoken), words)))


def stem_run(word: str, spoken: str) -> tuple[str, ...]:
    """The terms of one run: none for a function word of the language `spoken`, several where no blanks part words."""
    return _remember_stems(spoken)(word)


@cache
def _remember_stems(spoken: str) -> Callable[[str], tuple[str, ...]]:
    return lru_cache(maxsize=1 << 18)(partial(find_stems, spoken))  # of one value, which is looked up twice as fast


def find_stems(spoken: str, word: str) -> tuple[str, ...]:
    """The same, not remembered; British spellings are compared as American ones."""
    if not (plain := word.isascii()) and is_unspaced(word):
        run = unicodedata.normalize("NFKC", word)
        return tuple(run[i : i + 2] for i in range(max(1, len(run) - 1)))
    folded = word.lower() if plain else unicodedata.normalize("NFKD", word.casefold())
    if not folded.isascii():
        folded = "".join(c for c in folded if not unicodedata.combining(c))
    abbreviation = len(word) > 1 and word.isupper()  # US, IT and WHO are no function words
    stop = STOP.get(spoken, frozenset())
    if not folded or (not abbreviation and (folded in stop or word.lower() in stop)):
        return ()
    of_script = "" if plain else next((name for span, name in _SCRIPTS if span[0] <= folded[0] <= span[1]), "")
    language = of_script or spoken or ENGLISH
    stem = make_stemmer(language).stemWord(folded)
    return (_read_spellings().get(stem, stem) if language == ENGLISH else stem,)


@cache
def _read_spellings() -> Mapping[str, str]:
    """The stems of British spellings, each with that of the American one."""
    stem = make_stemmer(ENGLISH).stemWord
    pairs = (line.split() for line in read_lines("spellings"))
    return {stem(british): stem(american) for british, american in pairs if stem(british) != stem(american)}


def is_unspaced(word: str) -> bool:
    """Whether a run is of a script that writes no blanks between words."""
    return _RUN.match(word) is not None


@cache
def make_stemmer(spoken: str) -> Any:
    """The Snowball stemmer of a language."""
    from Stemmer import Stemmer

    return Stemmer(spoken, 0)


# ── parts of speech ───────────────────────────────────────────────────────────────────────────────────────────────────

# A word gets its most frequent tag (`data/lexicons/brill.txt`), unknown words one by suffix; a few rules repair what
# matters for noun phrases and finite verbs (Brill's tagger applies 280 rules to each token, 8 s a megabyte).
# n noun · N noun that is no verb · J adjective · b base or present verb · v finite verb · p participle · g -ing form ·
# m modal or auxiliary · d determiner · o pronoun · s possessive · i preposition · t to · c conjunction · r adverb ·
# w wh-word · # number · u interjection · X name · . other

_SUFFIXES, _REPAIRS = (
    [(re.compile(pattern, re.MULTILINE), letter) for letter, pattern in (line.split(": ") for line in lines)]
    for lines in read_patterns("tags").values()
)


class _Letters(dict[str, str]):
    """Word → letter; unknown words are decided by form and remembered. `listed` are those of the lexicon."""

    listed: frozenset[str] = frozenset()

    def __missing__(self, word: str) -> str:
        letter = self[word] = self._guess(word)
        return letter

    def _guess(self, word: str) -> str:
        if not word[0].isalnum():
            return "."
        if word[0].isdigit():
            return "#"
        if "'" in word or "’" in word:
            stem, _, tail = word.replace("’", "'").lower().rpartition("'")
            if tail == "t":
                return "m"
            return "s" if tail == "s" and self.get(stem, "N") in "nNJX" else "v"
        lower = word.lower()
        if lower != word and lower in self:
            return self[lower]
        if "-" in word:
            return "N" if self[word.rsplit("-", 1)[1] or "-"] in "nN" else "J"
        return next((letter for pattern, letter in _SUFFIXES if pattern.search(lower)), "N")


@cache
def _load_letters() -> _Letters:
    """The lexicon's lower-case words, loaded on first use: 0.1 s, 15 MB."""
    tags, forced = (
        {word: letter for *words, letter in map(str.split, lines) for word in words}
        for lines in read_sections("lexicons/tags").values()
    )
    listed: dict[str, list[str]] = defaultdict(list)
    negated: list[str] = []
    for line in (files(__package__) / "data" / "lexicons" / "brill.txt").read_text("utf-8").splitlines():
        tag, *words = line.split(" ")
        if tag != ";;;":
            listed[tags.get(tag, ".")] += words
            negated += [word for word in words if word.endswith("n't")] if "n't" in line else []
    verbs = {word[:-3] for word in listed["g"] if word.endswith("ing")}
    verbs |= {word[:-2] for word in chain(listed["p"], listed["v"]) if word.endswith("ed")}
    letters = _Letters()
    for letter, words in listed.items():
        letters.update(dict.fromkeys(words, letter))
    letters.update({word: "n" for word in listed["N"] if word.removesuffix("e") in verbs})  # a verb too
    letters.update(dict.fromkeys(negated, "m"))
    letters.update(forced)
    letters.listed = frozenset(letters)
    return letters


def tag_words(words: Sequence[str], bounds: Sequence[int] = ()) -> str:
    """One letter a word of an English sentence (lower-case its first word), or of several, each between two bounds."""
    text = "".join(map(_load_letters().__getitem__, words))
    text = "\n".join([text[a:b] for a, b in pairwise(bounds)]) if bounds else text
    for pattern, letter in _REPAIRS:
        text = pattern.sub(letter, text)
    return text.replace("\n", "")


def known_word(word: str) -> bool:
    """Whether a folded word is a common word of English."""
    return word in _load_letters().listed


def known_form(word: str) -> bool:
    """Whether a folded word is a common word of English or a regular form of one ("foggier", "awaking")."""
    if known_word(word):
        return True
    for ending in ("ing", "ed", "er", "est", "ly", "s"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2:
            stems = (stem, f"{stem}e", f"{stem[:-1]}y" if stem.endswith("i") else stem)
            if any(map(known_word, stems)):
                return True
    return False
