"""Names of people by the names that people have: what stands behind a given name, before a family name, behind a title.

The offline engine finds those whom sentences introduce. These rules need no sentence, and no capitals: `made by priya
raman` is enough. What is a common word in English or German is no name but beside one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

from sensegraph.language.naming_words import LEGAL, PARTICLES
from sensegraph.language.text import known_form, make_stemmer, stem_run
from sensegraph.language.word_lists import ENGLISH, MONTHS, read_lexicon, stop_words
from sensegraph.personal.contacts import read_pattern

_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_GAP = re.compile(r"[ \t]+(?:\n[ \t>]*)?|[ \t]*\n[ \t>]*|(?<=[^\W\d_])\. ?")
_TURNED = re.compile(r", (?:\n[ \t]*)?|,\n[ \t]*")
_END_OF_TURNED = re.compile(r"[ \t]*(?:$|[\n;.)|])")
_TITLE = re.compile(read_pattern("any_title"), re.IGNORECASE)
_CUE = re.compile(read_pattern("person_cue"), re.IGNORECASE)
_VERBAL = re.compile(r"(?:t|te|ten|en|em|es|s|ing|ed|ly)$")  # as names in small letters seldom end
_ADJECTIVAL = ("ische", "ischen", "ischer", "isches", "liche", "lichen", "licher", "liches", "igen", "iger")
_ARTICLE = re.compile(read_pattern("article"), re.IGNORECASE)
_SAINTS = frozenset("san santa sankt são saint st new port lake mount fort los las el la city of".split())
_MOST = 3  # words behind a given name


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: where, folded, and how it is written: `Cap`, `UPPER` or `lower`."""

    start: int
    end: int
    folded: str
    case: str


@cache
def read_names(section: str) -> frozenset[str]:
    """A list of `data/names.txt`: `given` (with those of the offline engine), `family`, `document` and so on."""
    found, lists = "", dict[str, list[str]]()
    text = (files("sensegraph") / "personal" / "data" / "names.txt").read_text("utf-8")
    for line in (line for line in text.splitlines() if not line.startswith("#")):
        if line.startswith("["):
            found = line.strip("[]")
        else:
            lists.setdefault(found, []).extend(line.split())
    return frozenset(lists[section]) | (read_lexicon("people")["first"] if section == "given" else frozenset())


@cache
def _german_words() -> tuple[frozenset[str], tuple[str, ...]]:
    lists = read_lexicon("german")
    nouns = lists["nouns"] | lists["named-tails"]
    return nouns | lists["indefinite"] | stop_words("de"), tuple(n for n in nouns if len(n) > 3)


@cache
def _name_endings() -> tuple[str, ...]:
    return (*(" ".join(read_lexicon("german")["name-endings"]).split()), "baum", "holz", "land", "born", "horst")


@cache
def _places() -> frozenset[str]:
    return read_lexicon("places")["places"] | read_lexicon("german")["places"] | frozenset().union(*MONTHS.values())


@cache
def _other_heads() -> frozenset[str]:
    """Words that no name of a person ends with."""
    lists, german = read_lexicon("english"), read_lexicon("german")
    sections = ("organisation-heads", "weak-heads", "event-heads", "work-nouns", "organisations")
    return frozenset().union(*(lists.get(s, frozenset()) for s in sections), german["named-tails"], LEGAL)


@cache
def _heads() -> frozenset[str]:
    """Words that end names of other things than people."""
    lists, german = read_lexicon("english"), read_lexicon("german")
    sections = ("organisation-heads", "weak-heads", "place-heads", "event-heads", "other-heads", "work-nouns")
    return frozenset().union(*(lists[s] for s in sections), german["named-tails"], LEGAL)


@lru_cache(1 << 16)
def is_common_word(word: str) -> bool:
    """Whether a folded word is a common one of English or German, or a German compound of a common noun."""
    words, nouns = _german_words()
    american = "".join(stem_run(word, ENGLISH))
    respelt = american != make_stemmer(ENGLISH).stemWord(word) and known_form(american)
    if known_form(word) or respelt or word in words:
        return True
    return len(word) > 7 and not word.endswith(_name_endings()) and word.endswith((*nouns, *_ADJECTIVAL))


def is_given_name(word: str) -> bool:
    """Whether people are called so by their given names: each part, where a hyphen joins two."""
    given = read_names("given")
    return word in given or all(part in given for part in word.split("-"))


def is_family_name(word: str) -> bool:
    """Whether a folded word, or the last part of it, is a common family name."""
    family = read_names("family")
    return word.removesuffix("'s").removesuffix("’s") in family or word.rpartition("-")[2] in family


def is_surely_given(word: str) -> bool:
    """Whether a folded word is a given name and nothing else: neither a common word nor a place."""
    return is_given_name(word) and not is_common_word(word) and word not in _places()


def is_no_persons_name(name: str) -> bool:
    """Whether what was taken for a person's name is a number, an abbreviation, common words or the name of a place."""
    words = [m[0] for m in _WORD.finditer(name)]
    folded = [w.casefold() for w in words]
    if not words or re.search(r"\d", name) or " ".join(folded) in _places() or folded[0] in _SAINTS:
        return True
    if folded[0] == "the":
        return True
    if len(words) > 1 and not is_surely_given(folded[0]):
        common = is_common_word(folded[-1]) and not is_family_name(folded[-1])
        if common or folded[-1] in _heads() or all(map(is_common_word, folded)):
            return True
    if any(is_given_name(w) or is_family_name(w) for w in folded):
        return False
    return all(is_common_word(w) or w in _places() for w in folded) or (
        len(words) == 1 and (len(words[0]) < 4 or (words[0].isupper() and len(words[0]) < 6))
    )


def is_part_of_place(text: str, start: int) -> bool:
    """Whether the word before makes what begins there a place: San Francisco."""
    before = _WORD.findall(text[max(0, start - 12) : start])
    return bool(before) and before[-1].casefold() in _SAINTS and before[-1][0].isupper()


def split_words(text: str) -> list[Word]:
    """The words of a text."""
    found = []
    for m in _WORD.finditer(text):
        word = m[0]
        upper = word.isupper() and len(word) > 1
        found.append(Word(*m.span(), word.casefold(), "UPPER" if upper else "Cap" if word[0].isupper() else "lower"))
    return found


def find_people_by_names(text: str) -> Iterator[tuple[int, int]]:
    """Where persons are named, by lists of names, titles and what stands before: places of names, maybe overlapping.

    Behind a person of several words, the family name alone is found again.
    """
    words = split_words(text)
    found = list(
        dict.fromkeys(
            (
                *find_behind_given_names(text, words),
                *find_before_family_names(text, words),
                *find_behind_cues(text, words),
            )
        )
    )
    yield from found
    again = dict[str, None]()
    for start, end in found:
        parts = [m[0] for m in _WORD.finditer(text, start, end)]
        if len(parts) > 1 and len(parts[-1]) > 2 and parts[-1][0].isupper():
            again[parts[-1]] = None
    for word in words:
        said = text[word.start : word.end]
        if said in again and (
            not is_common_word(word.folded) or _TITLE.search(text, max(0, word.start - 12), word.start)
        ):
            yield word.start, word.end


def _follows(text: str, first: Word, second: Word) -> bool:
    """Whether two words may be parts of one name: a blank or an end of line is between them, a point after initials."""
    gap = _GAP.fullmatch(text, first.end, second.start)
    return bool(gap) and (text[first.end] != "." or first.end - first.start == 1)


def _is_name_after(word: Word, first: Word) -> bool:
    """Whether a word behind a given name can be the family name: written alike, and no other word of a sentence."""
    if word.case not in (first.case, "Cap" if first.case == "UPPER" else "UPPER") or word.folded in stop_words("en"):
        return False
    if is_family_name(word.folded):
        return True
    if len(word.folded) < 3 or word.folded in _other_heads() or word.folded in _german_words()[0]:
        return False
    if first.case == "lower" or not is_surely_given(first.folded):
        return not (is_common_word(word.folded) or word.folded in _heads() or word.folded in read_names("verb"))
    return True


def find_behind_given_names(text: str, words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Given names with what follows of the name; those that are nothing else also alone."""
    for i, word in enumerate(words):
        if not is_given_name(word.folded):
            continue
        sure, last, at = is_surely_given(word.folded), i, i
        while at + 1 < len(words) and at - i < _MOST and _follows(text, words[at], words[at + 1]):
            after = words[at + 1]
            initial = after.end - after.start == 1 and after.case == "Cap"
            if not initial and after.folded not in PARTICLES:
                named = _is_name_after(after, word)
                if not named or (not sure and (after.folded in _heads() or not _is_sure_family(after))):
                    break
                last = at + 1
                if not is_given_name(after.folded):
                    break
            at += 1
        if last > i:
            yield word.start, words[last].end
        elif sure and word.case == "Cap" and len(word.folded) > 2 and not _is_part_of_other(text, words, i):
            yield word.start, word.end
        if sure and i and _TURNED.fullmatch(text, words[i - 1].end, word.start):
            before = words[i - 1]
            whole = before.case != "lower" and _END_OF_TURNED.match(text, word.end)
            if (whole or before.case == "UPPER") and _is_sure_family(before):
                yield before.start, word.end


def _is_sure_family(word: Word) -> bool:
    """Whether a word is a family name, or none that anybody knows."""
    return is_family_name(word.folded) or not (is_common_word(word.folded) or word.folded in _places())


def _is_part_of_other(text: str, words: Sequence[Word], i: int) -> bool:
    """Whether a given name stands in the name of something else: San Francisco, Francis Street."""
    before = i and _follows(text, words[i - 1], words[i]) and words[i - 1].folded in _SAINTS
    after = i + 1 < len(words) and _follows(text, words[i], words[i + 1]) and words[i + 1]
    return bool(before) or bool(after and after.case != "lower" and after.folded in _heads())


def find_before_family_names(text: str, words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """A word that nobody knows before a family name: the given name, from wherever it comes."""
    for first, last in pairwise(words):
        if not is_family_name(last.folded) or is_common_word(last.folded) or not _follows(text, first, last):
            continue
        known = is_common_word(first.folded) or first.folded in _places() or first.folded in _heads()
        short = len(first.folded) < 3 or first.folded in stop_words("xx")
        verbal = first.case == "lower" and _VERBAL.search(first.folded)
        if first.case == last.case and not (known or short or verbal):
            yield first.start, last.end


def find_behind_cues(text: str, words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """What stands behind a title, in any case; and two words that nobody knows behind what is said of people."""
    starts = {word.start: i for i, word in enumerate(words)}
    for title in _TITLE.finditer(text):
        name = list[Word]()  # but particles
        first = starts.get(title.end(), len(words))
        for i in range(first, len(words)):
            word = words[i]
            if len(name) > _MOST or (i > first and not _follows(text, words[i - 1], word)):
                break
            if word.folded in PARTICLES:
                continue
            known = is_common_word(word.folded) and not (word.case != "lower" or is_family_name(word.folded))
            verbal = word.case == "lower" and _VERBAL.search(word.folded) and not is_family_name(word.folded)
            if known or verbal or (name and not _is_name_after(word, name[-1])):
                break
            name.append(word)
        if name:
            yield title.end(), name[-1].end
    behind = {cue.end() for cue in _CUE.finditer(text)}
    acts = read_lexicon("english")["person-verbs"] | read_names("verb")
    for i, pair in enumerate(pairwise(words)):
        third = words[i + 2] if i + 2 < len(words) and text[pair[1].end : words[i + 2].start].isspace() else None
        acting = third and (third.folded in acts or (third.case == "lower" and third.folded.endswith("te")))
        if not (acting or pair[0].start in behind) or not _follows(text, *pair):
            continue
        if _ARTICLE.search(text, max(0, pair[0].start - 12), pair[0].start):
            continue
        other = any(
            w.case != "Cap" or is_common_word(w.folded) or w.folded in _places() or w.folded in _heads() for w in pair
        )
        if not other and not (third and third.case != "lower" and third.folded in _heads()):
            yield pair[0].start, pair[1].end
