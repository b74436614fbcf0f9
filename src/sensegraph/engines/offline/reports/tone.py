"""The sign of a sentence: does it speak of the bad or the good of a thing? Plain lexical rules (English)."""

from __future__ import annotations

import re

from sensegraph.language.word_lists import read_alternatives

_CUES = read_alternatives("cues")
_BAD = re.compile(rf"\b(?:{_CUES['harm']})\b", re.IGNORECASE)
_GOOD = re.compile(rf"\b(?:{_CUES['benefit']})\b", re.IGNORECASE)
_NOT = re.compile(r"(?:\bnot|n['’]t|\bnever|\bno|\bwithout|\bneither|\bnor|\bhardly|\bless)(?:\s+\w+){0,2}\s*$", re.I)


def balance_tone(text: str) -> int:
    """Words of good minus words of harm; a negation up to three words before turns a word round ("not a danger")."""
    bad, turned_bad = _count_hits(_BAD, text)
    good, turned_good = _count_hits(_GOOD, text)
    return good + turned_bad - bad - turned_good


def _count_hits(words: re.Pattern[str], text: str) -> tuple[int, int]:
    """How many hits stand as they are, and how many are negated."""
    negated = [bool(_NOT.search(text[max(0, m.start() - 40) : m.start()])) for m in words.finditer(text)]
    return negated.count(False), negated.count(True)
