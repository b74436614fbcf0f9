"""Questions with a date: "Who was CEO of Nordwind in 2015?" asks what held then (N90, §4).

Read are dates at the beginning or the end of a question about how things were; not those that tell which thing is
meant ("the film released in 1995"), nor those of a question for the date itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from sensegraph.language.dates.stated_dates import find_expressions

_STATE = re.compile(
    r"\b(?:is|are|was|were|did|does|do|had|has|have|held|led|ran|hold|cost|belonged?|ist|sind|war|waren|hatte[n]?|hat|"
    r"kostete|gehörte|leitete|regierte|heißt|hieß|who|what|which|where|wer|was|welche[rs]?|wo|wie)\b|[谁谁什哪多何誰]",
    re.IGNORECASE,
)
_WHEN = re.compile(r"^\W*(?:when|since when|until when|how long|how old|wann|seit wann|bis wann|wie lange|何时|什么时候|いつ)\b", re.IGNORECASE)  # fmt: skip # noqa: E501
_PICKS = re.compile(
    r"\b(?:\w+ed|born|held|made|won|written|built|sung|shot|begun|drawn|set|film|movie|album|song|book|novel|election|"
    r"season|edition|war|battle|treaty|act|cup|olympics|championship|geboren|\w+te[nr]?|ge\w+t)\s+"
    r"(?:in|on|of|during|from|since|im|am|von)?\s*(?:the )?$",
    re.IGNORECASE,
)
_LEAD = re.compile(r"(?:\b(?:in|on|at|as of|during|by|around|back in|im|am|um|zum|stand)(?: (?:the )?(?:year|jahre?|spring|early|mid|late))?|在)\s*$", re.IGNORECASE)  # fmt: skip # noqa: E501
_NOW = re.compile(
    r"\b(?:now|currently|today|at present|nowadays|jetzt|heute|derzeit|aktuell)\b|现在|目前|現在", re.IGNORECASE
)
_ENDS = " ?？.!。！,，;:"


@dataclass(frozen=True, slots=True)
class When:
    """What is asked about: from `first` through `last`, ISO 8601; `phrase` is what said so in a question."""

    first: str = ""
    last: str = ""
    unknown: Literal["include", "exclude"] = "include"
    phrase: str = ""


def describe_when(when: When) -> str:
    """The filter as an answer names it."""
    if when.first == when.last:
        stretch = f"as of {when.first}"
    elif when.first and when.last:
        stretch = f"from {when.first} through {when.last}"
    else:
        stretch = f"from {when.first} on" if when.first else f"until the end of {when.last}"
    read = f", read from “{when.phrase}” in the question" if when.phrase else ""
    left = "; what states no date is left out" if when.unknown == "exclude" else ""
    return f"facts {stretch}{read}{left}"


def when_asked(question: str, today: str = "") -> When | None:
    """The time that a question asks about; None where it names none, or several, or as a mark of something else.

    `today` (a day, ISO) is what "now" and "last year" mean; without it they are not read.
    """
    found = _find_date(question, today)
    if found is None:
        return None
    start, end, when = found
    return When(when.first, when.last, phrase=question[start:end].strip(_ENDS))


def without_date(question: str, today: str = "") -> str:
    """The question without the date that `when_asked` reads: what is to be looked for in texts of that time."""
    found = _find_date(question, today)
    if found is None:
        return question
    start, end, _ = found
    rest = f"{question[:start].rstrip(' ,，')} {question[end:].lstrip(' ,，')}".strip()
    tail = rest.rstrip(" ")
    mark = "?" if question.rstrip().endswith("?") else ""
    plain = re.sub(r"\s+([?？.!。！])", r"\1", tail)
    return plain[:1].upper() + plain[1:] if plain.strip(_ENDS) else question.rstrip(mark) + mark


def _find_date(question: str, today: str) -> tuple[int, int, When] | None:
    """Where a question says its time, with what stands before the date, and which."""
    if _WHEN.search(question) or not _STATE.search(question):
        return None
    read = find_expressions(question, today)
    if not read:
        match = _NOW.search(question)
        return (match.start(), match.end(), When(today, today)) if match and today else None
    if len(read) > 1 or read[0].unread:
        return None
    one = read[0]
    lead = _LEAD.search(question[: one.start])
    start = lead.start() if lead else one.start
    outer = not question[one.end :].strip(_ENDS) or not question[:start].strip(_ENDS)
    # "last year", "yesterday" and "2015年" need no preposition; a bare number does.
    bare = not question[one.start : one.end].strip().isdigit()
    if not outer or _PICKS.search(question[: one.start]) or not (lead or one.kind != "at" or bare):
        return None
    return start, one.end, When(one.first, one.last)
