"""Names in German, which writes every noun with a capital: what is none of them, by lists, form and use."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

import msgspec

from sensegraph.engines.offline.extraction.observations import Candidate
from sensegraph.language.word_lists import english_words, read_lexicon, read_sections

_ENDINGS = ("", "s", "es", "e", "en", "n", "er", "ern", "in", "innen", "se", "sen")
_NOUN = re.compile(
    r".{3,}(?:ung|heit|keit|schaft|tion|tät|nis|ismus|ling|tum|ment|istik|logie|grafie|graphie|ität|anz|enz|eur|iker|ler|ologe|ist|age|chen|lein)"
    r"(?:s|es|e|en|n|er|ern|in|innen|se|sen)?"
)
_INFLECTED = re.compile(r"[a-zäöüß]{3,}(?:e|en|er|em|es)")
_PART = re.compile(r"[^\s]+")
_PLURALS = ("e", "en", "n", "er", "ern", "es")
_SHARE, _TAIL = 0.4, 4  # of the uses of a word; letters of a compound's last part


@cache
def _determiners() -> frozenset[str]:
    return frozenset(" ".join(read_sections("languages/de")["determiners"]).split())


@lru_cache(maxsize=1 << 15)
def is_listed_noun(word: str) -> bool:
    """Whether a lower-case word is a common noun by its form, or ends with a listed one that does not end names too."""
    nouns, of_names = read_lexicon("german")["nouns"], read_lexicon("german")["name-endings"]
    for ending in _ENDINGS:
        stem = word.removesuffix(ending) if ending else word
        if ending and stem == word:
            continue
        tails = (stem[cut:] for cut in range(3, len(stem) - _TAIL + 1))
        if stem in nouns or any(tail in nouns and tail not in of_names for tail in tails):
            return True
    return _NOUN.fullmatch(word) is not None


@lru_cache(maxsize=1 << 15)
def is_listed_name(word: str) -> bool:
    """Whether a lower-case word is a listed place or first name, or the genitive of one."""
    listed = read_lexicon("german")["places"], read_lexicon("places")["places"], read_lexicon("people")["first"]
    return is_foreign_head(word) or any(w in names for w in (word, word.removesuffix("s")) for names in listed)


def is_foreign_head(word: str) -> bool:
    """Whether English names end with a word that German does not have ("House", "Airport", "League")."""
    heads = english_words("organisation-heads") | english_words("place-heads")
    return word in heads and not is_listed_noun(word)


def weigh_noun_use(one: Candidate) -> int:
    """How much one mention speaks for a common noun: what stands before its first word."""
    left = one.left
    if left in read_lexicon("german")["indefinite"]:
        return 2
    described = _INFLECTED.fullmatch(left) and one.before.split(" ")[0] in _determiners()  # "der alte Turm"
    return 1 if left in _determiners() or described else 0


@dataclass(frozen=True, slots=True)
class NounTally:
    """How the German documents of a corpus use the words that have a capital."""

    uses: Counter[str] = field(default_factory=Counter)
    inside: Counter[str] = field(default_factory=Counter)
    weights: Counter[str] = field(default_factory=Counter)

    def add(self, names: Sequence[Candidate]) -> None:
        """Count one document."""
        for one in names:
            words = one.surface.lower().split()
            self.uses.update(words)
            self.inside.update(words[1:] if one.first else words)
            if len(words) == 1 or not is_foreign_head(words[-1]):  # "das Tarnwick House" says nothing of Tarnwick
                self.weights[words[0]] += weigh_noun_use(one)

    def learn(self, lowers: Counter[str]) -> frozenset[str]:
        """The common nouns: listed, used like one, written without capital too, or inflected (names only take an s)."""
        return frozenset(
            w
            for w, n in self.uses.items()
            if not is_listed_name(w)
            and (
                is_listed_noun(w)
                or self.weights[w] >= _SHARE * n
                or lowers[w] >= n
                or not self.inside[w]
                or any(w + ending in self.uses for ending in _PLURALS)
                or any(w.endswith(ending) and w.removesuffix(ending) in self.uses for ending in _PLURALS)
            )
        )


def cut_at_nouns(one: Candidate, nouns: frozenset[str]) -> Iterator[Candidate]:
    """The parts of a run of capitals between its common nouns; connectors at an edge are dropped."""
    if "q" in one.marks or "s" in one.marks:
        yield one
        return
    small = read_lexicon("german")["connectors"]
    parts = [(m.start(), m.end(), m[0].lower()) for m in _PART.finditer(one.surface)]
    run: list[tuple[int, int, str]] = []
    if len(parts) == 1:
        yield one  # the corpus decides whether it is a name, a concept or nothing
        return
    for part in [*parts, None]:
        family = bool(run) and run[-1][2] in read_lexicon("people")["first"]  # "Anna Berg"
        if part is not None and (family or not is_noun(part[2], nouns)):
            run.append(part)
            continue
        while run and run[0][2] in small:
            run = run[1:]
        while run and run[-1][2] in small:
            run = run[:-1]
        if run:
            yield _take_part(one, run[0][0], run[-1][1])
        run = []


def is_noun(word: str, nouns: frozenset[str], *, alone: bool = False) -> bool:
    """Whether a lower-case word is a common noun of the corpus; of a compound with a hyphen its last part counts."""
    if "-" in word:  # "Tarnwick-Museum" is a name by itself, "Chor-Leiterin Anna Berg" holds one
        first, last = word.split("-")[0], word.split("-")[-1]
        common = first in nouns or is_listed_noun(first)
        named = alone and not common and last in read_lexicon("german")["named-tails"]
        return is_listed_noun(last) and not named
    return word in nouns


def _take_part(one: Candidate, first: int, last: int) -> Candidate:
    made = msgspec.structs.replace(one, start=one.start + first, end=one.start + last, surface=one.surface[first:last])
    if first == 0:
        return made if made.inner < made.end else msgspec.structs.replace(made, inner=-1, more=False)
    return msgspec.structs.replace(made, first="", inner=-1, more=False, left="", before="")
