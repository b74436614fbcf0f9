"""Labels before a colon that name who speaks, such as "ANN LEE:": where they stand, and how to write their names.

Whether a text is a transcript, so that its labels are those of speakers, says `transcripts`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import msgspec

from sensegraph.language.text import HAN, find_whole, fold, known_word, remember
from sensegraph.language.word_lists import (
    LANGUAGES,
    Patterns,
    english_words,
    lower_case,
    name_connectors,
    read_lexicon,
    read_sections,
    stop_words,
)

_MARKS = Patterns("speakers", HAN=HAN.pattern)
_LOUD = "".join(c for c in map(chr, range(0xDF)) if "A" <= c <= "Z" or c >= "À") + "’'.- \t"  # of labels in capitals
_COLON = re.compile(r":(?=\s)")
_SHORT = 4  # words of a label, at most
_SHORT_HAN = 6  # characters of one in Chinese or Japanese, at most
KEPT_SIZES = range(400, 1 << 14)  # characters of a text of which it is kept what labels there are
_LONGEST = 60  # characters of a speaker's name, at most
_QUOTED = re.compile(r"[“\"„«「].*[”\"“»」](?: …)?\s*", re.DOTALL)
_CAMEL = re.compile(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])")  # "AnnLee"
_HONOURS = frozenset("hon hon. right am mp ms mla msp qc kc phd md".split())
_ARTICLES = frozenset("the der die das le la l' el il de het o a".split())
_NUMBERS = frozenset("first second third last other".split())


class Label(msgspec.Struct, frozen=True, gc=False):
    """A label in a text: `text[start:name_end]` is what it names, the colon ends at `end`, `key` is its fold.

    `named` says that it can name someone, `sure` that it does so by itself (`judge_label`); `loud` that it does so in
    several words in capitals.
    """

    start: int
    name_end: int
    end: int
    key: str
    named: bool
    sure: bool
    loud: bool


def find_labels(text: str) -> tuple[Label, ...]:
    """The labels of a text in order: at the start of a line, or several words in capitals behind a stop.

    Those of a text of some length are kept for a while, as several steps of a build look for them.
    """
    if ":" not in text and "：" not in text:
        return ()
    return (_find_once if len(text) in KEPT_SIZES else _find_labels)(text)


def _find_labels(text: str) -> tuple[Label, ...]:
    found: dict[int, tuple[str, int]] = {}
    behind = 0
    for colon in _COLON.finditer(text):  # which is found sooner than a capital
        first = behind + len(text[behind : colon.start()].rstrip(_LOUD))
        if m := _MARKS["shout"].search(text, first, colon.end() + 1):
            found[m.start(1)] = m[1], m.end()
        behind = colon.end()
    # behind a line end each, which is found sooner than the beginning of a line
    found.update({m.start(1) - 1: (m[1], m.end() - 1) for m in _MARKS["line"].finditer("\n" + text)})
    read: list[Label] = []
    for start, (name, end) in sorted(found.items()):
        name = name.rstrip()
        if len(name.split()) <= _SHORT:
            named, sure = judge_label(name)
            loud = sure and name.isupper() and " " in name
            read.append(Label(start, start + len(name), end, fold(name), named, sure, loud))
    return tuple(read)


_find_once = remember(1 << 12)(_find_labels)


@lru_cache(maxsize=1 << 14)
def judge_label(name: str) -> tuple[bool, bool]:
    """(whether a label can name someone, whether it does so by itself).

    It can where each word is in capitals or Title Case, and is no function word, and the label is no field of a form.
    It does by itself where a word is no common English word, or is a first name, a title or a role.
    """
    if HAN.search(name):
        named = len(name) <= _SHORT_HAN and name not in _field_names() and not any(map(str.isascii, name))
        return named, named
    words = _CAMEL.sub(" ", name).split() or [" "]
    folded = [fold(word).strip(".") for word in words]
    connectors = name_connectors("en") | name_connectors("de")
    written = all(word[0].isupper() or word[0].isdigit() or word in connectors for word in words)
    if not written or not words[0][0].isupper() or _MARKS["code"].search(name) or not all(folded):
        return False, False
    if folded[0] in _ARTICLES and len(words) > 1:
        folded = folded[1:]
    fields = _field_names()
    if fold(name) in fields or (len(folded[-1]) > 1 and folded[-1] in fields):
        return False, False
    first, roles = read_lexicon("people")["first"], english_words("speaker-roles") | english_words("titles")
    known = [word in first or word in roles for word in folded]
    barred = (stop_words("en") - _HONOURS - _NUMBERS - connectors) | (
        frozenset() if any(known) else english_words("general")
    )
    parts = [part for word, sure in zip(folded, known, strict=True) if not sure for part in word.split("-")]
    if not barred.isdisjoint(parts):
        return False, False
    return True, any(known) or not all(known_word(part) or part.isdigit() for part in parts)


@cache
def _field_names() -> frozenset[str]:
    """What fields of forms, mails, minutes and manuals are called in the languages that lists are known of."""
    lines = (line for code in LANGUAGES for line in read_sections(f"languages/{code}")["fields"])
    return frozenset(" ".join(lines).split()) | english_words("headings") | read_lexicon("chinese")["fields"]


def names_role(key: str) -> bool:
    """Whether a label names a role ("the chair", "professor e", "speaker 1") that many people may have."""
    words = [w for w in key.split() if len(w) > 1 and not w.isdigit() and w not in stop_words("en")]
    if not words:
        return True
    roles = english_words("speaker-roles")
    if len(words) < len(key.split()) and all(w in roles or known_word(w) for w in words):
        return words[0] not in read_lexicon("people")["first"] or len(words) == 1
    return words[-1] in roles or (len(words) == 1 and known_word(key) and key not in read_lexicon("people")["first"])


def find_name_span(text: str, label: Label) -> tuple[int, int]:
    """The span of a label's name without titles before it and honours behind it ("Hon. Bob Ray", "Ann Lee AM")."""
    words = [(m.start() + label.start, m[0]) for m in re.finditer(r"\S+", text[label.start : label.name_end])]
    if len(words) < 3 or names_role(label.key):
        return label.start, label.name_end
    titles = english_words("titles") | _HONOURS
    while len(words) > 2 and words[0][1].lower() in titles:
        words = words[1:]
    while len(words) > 2 and words[-1][1].lower() in _HONOURS:
        words = words[:-1]
    return words[0][0], words[-1][0] + len(words[-1][1])


def count_spellings(text: str, names: Collection[str]) -> dict[str, int]:
    """How often a text writes the shouted names in another way than in capitals."""
    counts: Counter[str] = Counter()
    low = lower_case(text) if names else ""
    for name in names:
        if not name.isascii() or len(low) != len(text):
            counts.update(m[0] for m in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE))
            continue
        at = find_whole(low, name.lower())  # sooner than a pattern that looks at each letter in both cases
        while at >= 0:
            end = at + len(name)
            counts[text[at:end]] += 1
            at = find_whole(low, name.lower(), end)
    return {form: n for form, n in sorted(counts.items()) if not form.isupper()}


def write_label(label: str) -> str:
    """A label in all capitals as a name is written: "MAY-LI KAY" → "May-Li Kay"; other labels as they are."""
    return recase_label(label) if label.isupper() else label


def name_speakers(keys: Collection[str], labels: Mapping[str, str], forms: Mapping[str, int]) -> dict[str, str]:
    """How each speaker is written: as the corpus writes the name most often, else as the label, capitals undone."""
    best: dict[str, tuple[int, str]] = {}
    for form, n in sorted(forms.items()):
        key = fold(form)
        if n > best.get(key, (0, ""))[0]:
            best[key] = n, form
    return {k: best[k][1] if k in best else write_label(labels.get(k, k)) for k in sorted(keys)}


# ── who says what ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Turns:
    """Who speaks from where on in a text: rising starts, where the label ends, and the name ("" for nobody known)."""

    starts: Sequence[int]
    ends: Sequence[int]
    names: Sequence[str]

    def at(self, place: int) -> str:
        """Who speaks at this place; "" when no known label governs it."""
        turn = bisect_right(self.starts, place) - 1
        return self.names[turn] if turn >= 0 else ""

    def behind(self, place: int) -> int:
        """This place, moved behind the label that stands there."""
        turn = bisect_right(self.starts, place) - 1
        return max(place, self.ends[turn]) if turn >= 0 else place


def read_turns(text: str, speakers: Mapping[str, str], breaks: Sequence[int] = ()) -> Turns:
    """The turns of a text whose `speakers` are known (key → name); nobody is known to speak behind a break.

    A line that opens like a label of someone unknown ends the turn before it: what follows may be anyone's.
    """
    marks = [(at, at, "") for at in breaks]
    if speakers:
        for label in find_labels(text):
            name = speakers.get(label.key, "") if label.named else ""
            if name or text[label.start].isupper() or HAN.match(text, label.start):
                marks.append((label.start, label.end if name else label.start, name))
    marks.sort()
    return Turns([a for a, _, _ in marks], [b for _, b, _ in marks], [n for _, _, n in marks])


def split_spoken(text: str, size: int) -> tuple[str, str]:
    """(speaker, what is said) of a text that rests on a span of `size` characters; ("", text) where it names nobody.

    A text names its speaker before the words of its span ("Name: words"), or before words in quotation marks. A label
    that the span itself begins with is a part of the text like any other.
    """
    head, mark, said = text.partition(": ")
    if not mark or not head or len(head) > _LONGEST:
        return "", text
    quoted = _QUOTED.fullmatch(said) is not None and judge_label(head.partition(" (")[0])[0]
    return (head, said) if quoted or len(said) <= size < len(text) else ("", text)


_PARTICLES = frozenset("de del della der den di da dos du el al la le van von zu bin ibn ben y e".split())
_KEPT = frozenset("II III IV AM MP PhD MD CEO CTO TV".split())


@lru_cache(maxsize=1 << 12)
def recase_label(label: str) -> str:
    """A label as a name is written: words in capitals become capitalised ("MAY-LI KAY" → "May-Li Kay").

    Initials, numerals and two consonants in front ("JJ", "TJ") stay as they are, but for titles ("MR. LEE").
    """

    def capitalise(match: re.Match[str]) -> str:
        part = match[0]
        if match.start() > 0 and len(part) == 1:  # "ANN'S"
            return part.casefold()
        return f"Mc{part[2:].capitalize()}" if part.startswith("MC") and len(part) > 3 else part.capitalize()

    words, titles = _MARKS["mark"].sub("", label.strip()).split(), english_words("titles")
    last = len(words) - 1
    for place, word in enumerate(words):
        letters = word.replace(".", "").replace("'", "").replace("’", "")
        if word in _KEPT or len(letters) < 2 or letters.upper() != letters or "." in word[:-1]:
            continue
        if 0 < place < last and word.casefold() in _PARTICLES:
            words[place] = word.casefold()
        elif len(letters) > 2 or place == last or letters.casefold() in titles or set(letters) & set("AEIOUY"):
            words[place] = re.sub(r"[^\W_]+", capitalise, word)
    return " ".join(words)
