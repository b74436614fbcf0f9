"""Checkable facts: a sentence with a finite verb, a name, and a date, a number or a second name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sensegraph.engines.offline.extraction.describing import finite, quality
from sensegraph.engines.offline.extraction.scan import TOKEN
from sensegraph.language.times import iso
from sensegraph.language.word_lists import english
from sensegraph.types import ExtractedClaim

MOST = 4  # claims of one chunk
_LEAST_QUALITY = 0.6
_TYPES = {
    "born": "BIRTH", "died": "DEATH", "killed": "DEATH", "married": "MARRIAGE", "founded": "FOUNDATION",
    "established": "FOUNDATION", "formed": "FOUNDATION", "created": "CREATION", "written": "CREATION",
    "wrote": "CREATION", "directed": "CREATION", "produced": "CREATION", "released": "RELEASE",
    "published": "RELEASE", "won": "AWARD", "awarded": "AWARD", "received": "AWARD", "elected": "OFFICE",
    "appointed": "OFFICE", "became": "OFFICE", "joined": "MEMBERSHIP", "signed": "MEMBERSHIP",
    "acquired": "ACQUISITION", "bought": "ACQUISITION", "sold": "ACQUISITION", "invented": "CREATION",
    "graduated": "EDUCATION", "studied": "EDUCATION", "attended": "EDUCATION", "located": "LOCATION",
    "moved": "LOCATION", "built": "CONSTRUCTION", "opened": "CONSTRUCTION", "defeated": "CONTEST",
    "lost": "CONTEST", "said": "STATEMENT", "announced": "STATEMENT", "claimed": "STATEMENT",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stated:
    """A sentence with what it names: the names in order of place, its times, and how many numbers it holds."""

    text: str
    start: int
    end: int
    names: Sequence[str]
    times: Sequence[str]
    numbers: int


def claimed(sentences: Sequence[Stated]) -> tuple[ExtractedClaim, ...]:
    """The claims of one chunk, in order of place: the sentences that state most, at most `MOST`."""
    scored = [(worth, s) for s in sentences if (worth := _worth(s)) > 0]
    best = sorted(scored, key=lambda x: (-x[0], x[1].start))[:MOST]
    return tuple(_claim(s) for _, s in sorted(best, key=lambda x: x[1].start))


def _worth(s: Stated) -> float:
    if not s.names or not (s.times or s.numbers or len(s.names) > 1):
        return 0.0
    good = quality(s.text, True)
    if good < _LEAST_QUALITY or s.text.rstrip('"”’) ').endswith("?") or not finite(_words(s)):
        return 0.0
    return good * (1 + bool(s.times) + 0.5 * (len(s.names) > 1) + 0.3 * bool(s.numbers))


def _words(s: Stated) -> list[str]:
    return [w.lower() for w in TOKEN.findall(s.text)]


def _claim(s: Stated) -> ExtractedClaim:
    words = _words(s)
    dates = [d for t in s.times if (d := iso(t))[0]]
    return ExtractedClaim(
        subject=s.names[0],
        object=s.names[1] if len(s.names) > 1 else "NONE",
        type=next((_TYPES[w] for w in words if w in _TYPES), "FACT"),
        status=_status(s.text, words),
        description=" ".join(s.text.split()),
        starts=min((d[0] for d in dates), default=""),
        ends=max((d[1] for d in dates), default=""),
        start=s.start,
        end=s.end,
    )


def _status(text: str, words: Sequence[str]) -> str:
    """FALSE when the sentence denies, SUSPECTED when it hedges ("may" only in lower case), else TRUE."""
    hedges, lower = english("hedges"), text.lower()
    if any(w.replace("’", "'").endswith("n't") or w in english("negations") for w in words):
        return "FALSE"
    hedged = any(w in hedges for w in words if w != "may") or any(h in lower for h in hedges if " " in h)
    return "SUSPECTED" if hedged or " may " in text else "TRUE"
