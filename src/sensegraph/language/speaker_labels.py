"""Who speaks: labels such as "KEVIN SCOTT:" in transcripts, and how to write them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from sensegraph.language.text import HAN, fold

_NAME = r"[^\W\d_][\w’'.\-]*"
_LINE = re.compile(
    rf"(?:(?<=\n)|^)[ \t\ufeff]*((?:{_NAME})(?:[ \t/&]+(?:{_NAME}|\([A-Z]+\))){{0,4}})[ \t]*[:：]"
    rf"(?=\s|[{HAN.pattern[1:-1]}“\"])"
)
_SHOUT = re.compile(r"(?<=[.!?…”\"’)\]\s])([A-Z][A-Z’'.\-]+(?:[ /][A-ZÀ-Þ][A-ZÀ-Þ’'.\-]*){1,3})[ \t]*:(?=\s)")
_PARTICLES = frozenset("de del della der den di da dos du el al la le van von zu bin ibn ben y e".split())
_KEPT = frozenset("II III IV AM MP PhD MD CEO CTO TV".split())
_MARK = re.compile(r"\s*\([A-Z]+\)$")


@dataclass(frozen=True, slots=True)
class Label:
    """A speaker's label in a text: `text[start:end]` is the label with its colon; `sure` unless it may be a heading."""

    name: str
    start: int
    end: int
    sure: bool


def labels(text: str, known: Collection[str] = ()) -> list[Label]:
    """What looks like a speaker's label in `text`, in order.

    Sure are: names in `known` (in any case), two or more words in capitals, and line openings that recur in the text.
    """
    if ":" not in text and "：" not in text:
        return []
    names = {fold(name) for name in known}
    spans = {m.start(1): m for pattern in (_SHOUT, _LINE) for m in pattern.finditer(text)}
    found = [spans[at] for at in sorted(spans) if not _sentence(spans[at][1])]
    often = Counter(fold(m[1]) for m in found)
    return [Label(recase(m[1]), m.start(1), m.end(), _sure(m[1], often[fold(m[1])], names)) for m in found]


def _sentence(label: str) -> bool:
    """Whether the words before a colon begin a sentence rather than name someone."""
    words = label.split()
    small = sum(w[0].islower() and w not in _PARTICLES for w in words)
    return len(words) > 3 and small > 1


def _sure(label: str, times: int, known: set[str]) -> bool:
    if fold(label) in known or times >= 2:
        return True
    return label.upper() == label and len(label.split()) >= 2 and not HAN.search(label)


def speaker(text: str, start: int, known: Collection[str] = ()) -> str:
    """Who says what begins at `start` of a chunk's text, from the label that governs it; "" when that is not sure.

    A chunk that begins inside a turn, or with a label that may be cut, has no speaker until its next label. What
    follows a line opening that may be a heading or a name has none either. `known` are speakers' names learnt from the
    whole document.
    """
    found = labels(text, known)
    before = [label for label in found if label.start <= start]
    if not before or not before[-1].sure:
        return ""
    name = before[-1].name
    cut = before[-1].start == 0 and sum(label.name == name for label in found) < 2  # "VIN SCOTT:" at a chunk's border
    return "" if cut and fold(name) not in {fold(one) for one in known} else name


def opening(sentence: str, known: Collection[str] = ()) -> Label | None:
    """The label that a sentence opens with, sure or not."""
    if ":" not in sentence[:60] and "：" not in sentence[:20]:
        return None
    return _opening(sentence, tuple(known))


@lru_cache(maxsize=1 << 14)
def _opening(sentence: str, known: tuple[str, ...]) -> Label | None:
    first = next(iter(labels(sentence, known)), None)
    return first if first and not sentence[: first.start].strip() else None


def unlabelled(sentence: str, known: Collection[str] = ()) -> tuple[str, str]:
    """(speaker, what is said) of a sentence that opens with a label; ("", sentence) where none is sure."""
    label = opening(sentence, known)
    return (label.name, sentence[label.end :].strip()) if label and label.sure else ("", sentence)


@lru_cache(maxsize=1 << 12)
def recase(label: str) -> str:
    """A label as a name is written: words in capitals become capitalised ("FEI-FEI LI" → "Fei-Fei Li")."""
    words = _MARK.sub("", label.strip()).split()
    return " ".join(_recased(word, i, len(words)) for i, word in enumerate(words))


def _recased(word: str, place: int, count: int) -> str:
    """One word of a label; initials, numerals and two consonants in front ("JJ", "TJ") stay as they are."""
    letters = word.replace(".", "").replace("'", "").replace("’", "")
    if word in _KEPT or len(letters) < 2 or letters.upper() != letters or "." in word[:-1]:
        return word
    if 0 < place < count - 1 and word.casefold() in _PARTICLES:
        return word.casefold()
    if len(letters) == 2 and place < count - 1 and not set(letters) & set("AEIOUY"):
        return word
    return re.sub(r"[^\W_]+", lambda m: _capitalised(m[0], m.start()), word)


def _capitalised(part: str, at: int) -> str:
    if at > 0 and len(part) == 1:  # "KEVIN'S"
        return part.casefold()
    if part.startswith("MC") and len(part) > 3:
        return f"Mc{part[2:].capitalize()}"
    return part.capitalize()
