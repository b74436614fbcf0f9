"""Dates as words: what a document of a day can be asked by, and what a question asks for.

A day has five words: its year, its month, itself, and month and day of any year. A question has one for each date that
it names, the one that says as much as it does, so that "in May" finds every document of a May.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from sensegraph.language.word_lists import ENGLISH_MONTHS, MONTHS

_PLAIN = re.compile(r"(?<!\d)([12]\d{3})([-/.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?!\d)")
_ORDINAL = r"(?:st|nd|rd|th|\.)?"
_DAY = rf"(?P<%s>[12]\d|3[01]|0?[1-9]){_ORDINAL}(?!\d)"

_LEADS = frozenset(
    "in of during since until till by last this next from through to and before after around im seit bis vor nach ende "
    "anfang en dans de depuis avant après desde durante hasta del a di nel da dal em no w we od do sinds tot".split()
)


def list_date_words(moment: str) -> list[str]:
    """The words of a day (2026-05-21), a month or a year; none of anything else."""
    year, _, rest = moment[:10].partition("-")
    month, _, day = rest.partition("-")
    if not year.isdigit():
        return []
    months = [_word(year, month), _word("", month)] if month else []
    days = [_word(year, month, day), _word("", month, day)] if day else []
    return [_word(year), *months, *days]


def find_own_date(texts: Iterable[str]) -> str:
    """The day that texts which tell of a whole document (its time, its title, its first line) begin with; else empty.

    The first that is written in digits, else the most precise one.
    """
    texts = list(texts)
    plain = next((m for m in map(_PLAIN.search, texts) if m), None)
    if plain:
        return f"{plain[1]}-{plain[3]}-{plain[4]}"
    from sensegraph.language.dates.moments import find_written  # read while an index is built, not for a question

    return find_written(texts)[:10]


def asked_date_words(question: str) -> list[str]:
    """The word of each date in a question: a day, a month with or without its year, a day of a month."""
    found = [_word(m[1], m[3], m[4]) for m in _PLAIN.finditer(question)]
    for match in _months().finditer(question):
        month = f"{_numbers()[match['month'].casefold()]:02}"
        day = match["before"] or match["behind"] or ""
        led = (match["lead"] or "").strip().casefold() in _LEADS and not question[match.end() :].lstrip()[:1].isupper()
        if day or match["year"] or (led and match["month"] not in ENGLISH_MONTHS):  # May may be a name, or a verb
            found.append(_word(match["year"] or "", month, *([f"{int(day):02}"] if day else [])))
    return list(dict.fromkeys(found))


def _word(*parts: str) -> str:
    return "@" + "-".join(parts)


@cache
def _numbers() -> dict[str, int]:
    return {name: number for names in MONTHS.values() for number, name in enumerate(names, 1)}


@cache
def _months() -> re.Pattern[str]:
    written = [form for name in _numbers() for form in (name, name.capitalize())]
    names = "|".join(sorted(map(re.escape, written), key=lambda name: (-len(name), name)))
    before, behind = _DAY % "before", _DAY % "behind"
    return re.compile(
        rf"(?P<lead>\b\w+\s+)?(?<![\w])(?:{before}\s+(?:of\s+|de\s+)?)?(?P<month>{names})(?!\w)"
        rf"(?:\s+{behind})?(?:(?:,|\s+de)?\s+(?P<year>[12]\d{{3}})(?!\d))?"
    )
