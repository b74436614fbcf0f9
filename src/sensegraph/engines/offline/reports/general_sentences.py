"""How far an English sentence states something that holds, rather than tells what once happened to someone."""

from __future__ import annotations

import re
from functools import lru_cache

from sensegraph.engines.offline.reports.sentence_quality import FIRST_PERSON
from sensegraph.language.word_lists import read_alternatives

CUES = read_alternatives("cues")
_TOLD = re.compile(
    rf"\b(?:I|we|he|she|they|you)\s+(?:\w+ly\s+|just\s+|also\s+|never\s+|first\s+)?(?:{CUES['past-verbs']}|\w+[^e\W]ed)\b",
    re.IGNORECASE,
)
_HAPPENED = re.compile(r"\b(?:was|were|had|did|said|\w{3,}ed)\b", re.IGNORECASE)
_REMEMBERED = re.compile(CUES["remembered"], re.IGNORECASE)
# talk within the conversation: to the other, or about what will be said
_HERE = re.compile(rf"^(?:{CUES['openings-of-talk']})\b|\b(?:{CUES['talk']})\b", re.IGNORECASE)
_THIRD = re.compile(r"^(?:he|she|they|his|her|their|it|this|that|these|those|one of (?:them|these|those))\b", re.I)
_LEANING = re.compile(CUES["leaning"], re.IGNORECASE)
_RESTARTED = re.compile(CUES["restarted"], re.IGNORECASE)
_LOOSE = re.compile(CUES["loose"], re.IGNORECASE)
_HOLDS = re.compile(rf"\b(?:{CUES['holding']})\b", re.IGNORECASE)
_REASONS = re.compile(CUES["reasons"], re.IGNORECASE)
_NAMED = re.compile(r"(?<=[\w,] )[A-Z][a-z]\w+")
_FREE_NAMES = 2  # capitalised words inside a sentence before it counts as a list of names


@lru_cache(maxsize=1 << 15)
def rate_generality(sentence: str, code: str = "en") -> float:
    """How general and assertive a tidied sentence is, from 0.02 (a personal anecdote) to about 1.5 (a reasoned claim).

    A product of factors: present statements, comparisons, reasons and needs raise it; stories in the first person and
    the past, talk within the conversation, dates, open pronouns, loose speech and strings of names lower it. 1 in other
    languages than English, whose cues these are.
    """
    if code != "en":
        return 1.0
    value = 1.15 if _HOLDS.search(sentence) else 0.55 if _HAPPENED.search(sentence) else 0.9
    value *= 1.25 if _REASONS.search(sentence) else 1.0
    value *= 0.35 if _TOLD.search(sentence) else 1.0
    value *= 0.45 if _REMEMBERED.search(sentence) else 1.0
    value *= 0.3 if _HERE.search(sentence) else 1.0
    value *= 0.5 if FIRST_PERSON.search(sentence) else 1.0
    value *= 0.6 if _THIRD.search(sentence) else 1.0
    value *= 0.6 if _LEANING.search(sentence) else 1.0
    value *= 0.5 if _RESTARTED.search(sentence) else 1.0
    value *= 0.7 if _LOOSE.search(sentence) else 1.0
    spare = len(_NAMED.findall(sentence)) - _FREE_NAMES
    return max(0.02, value * 0.85 ** max(0, spare))
