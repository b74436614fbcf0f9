"""Checkable facts: a sentence with a finite verb, a name, and a date, a number or a second name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sensegraph.engines.offline.extraction.page_text import TOKEN
from sensegraph.engines.offline.extraction.readability import has_finite_verb, rate_readability
from sensegraph.language.dates.stated_dates import read_iso_span
from sensegraph.language.word_lists import english_words
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
class StatedSentence:
    """A sentence with what it names: the names in order of place, its times, and how many numbers it holds."""

    text: str
    start: int
    end: int
    names: Sequence[str]
    times: Sequence[str]
    numbers: int


def select_claims(sentences: Sequence[StatedSentence]) -> tuple[ExtractedClaim, ...]:
    """The claims of one chunk, in order of place: the sentences that state most, at most `MOST`.

    A claim is FALSE when the sentence denies, SUSPECTED when it hedges ("may" only in lower case), else TRUE.
    """
    scored = []
    for s in sentences:
        good, asks = rate_readability(s.text, True), s.text.rstrip('"”’) ').endswith("?")
        checkable = s.names and (s.times or s.numbers or len(s.names) > 1)
        if checkable and good >= _LEAST_QUALITY and not asks and has_finite_verb(_lower_words(s.text)):
            scored.append((good * (1 + bool(s.times) + 0.5 * (len(s.names) > 1) + 0.3 * bool(s.numbers)), s))
    best = sorted(scored, key=lambda x: (-x[0], x[1].start))[:MOST]
    hedges, negations = english_words("hedges"), english_words("negations")
    claims = []
    for _, s in sorted(best, key=lambda x: x[1].start):
        words, lower = _lower_words(s.text), s.text.lower()
        denied = any(w.replace("’", "'").endswith("n't") or w in negations for w in words)
        hedged = any(w in hedges for w in words if w != "may") or any(h in lower for h in hedges if " " in h)
        dates = [d for t in s.times if (d := read_iso_span(t))[0]]
        claim = ExtractedClaim(
            subject=s.names[0],
            object=s.names[1] if len(s.names) > 1 else "NONE",
            type=next((_TYPES[w] for w in words if w in _TYPES), "FACT"),
            status="FALSE" if denied else "SUSPECTED" if hedged or " may " in s.text else "TRUE",
            description=" ".join(s.text.split()),
            starts=min((d[0] for d in dates), default=""),
            ends=max((d[1] for d in dates), default=""),
            start=s.start,
            end=s.end,
        )
        claims.append(claim)
    return tuple(claims)


def _lower_words(text: str) -> list[str]:
    return [w.lower() for w in TOKEN.findall(text)]
