"""Times and numbers that a text states, by patterns (English; years, dates with digits and amounts in any language)."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from functools import cache

from sensegraph.language.calendar_words import ABBREVIATED_MONTHS, ENGLISH_MONTHS, SHORT_MONTHS

_NAMES = tuple(map(str.title, ENGLISH_MONTHS))
_MONTH = "(?:" + "|".join([*_NAMES, *(short.title() + r"\.?" for short in ABBREVIATED_MONTHS)]) + ")"
_DAY = r"(?:[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?:1\d{3}|20\d{2})"
_DASH = r"\s?[-–—]\s?"
_UNIT = r"(?:year|month|week|day|hour|minute|second|decade|century|centurie)s?"
_ONES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion"
).split()
_WORDNUM = rf"(?:{'|'.join(_ONES)})"
_ERA = r"(?:BCE|BC|CE|AD|B\.C\.|A\.D\.)"
_SEASON = r"(?:spring|summer|autumn|fall|winter|Spring|Summer|Autumn|Fall|Winter)"
_ORDINAL = r"(?:\d{1,2}(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\w+teenth)"

_CENTURY = rf"\b{_ORDINAL}[ -](?:century|millennium|Century(?! [A-Z]))(?:\s{_ERA})?\b"
_SPAN = rf"(?:\b(?:{_WORDNUM}|\d{{1,3}}|several|few)(?:\s-\s|[- ])(?:{_WORDNUM}[- ])?{_UNIT}\b(?![ -]+old))"
_ALONE = rf"\b(?:{'|'.join(_NAMES)})\b(?=\s*(?:$|[,.;)]|and|or|to|when|in))"
_WEEKDAY = r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b"
_TIMES = "|".join(
    [
        rf"\b{_DAY}(?:{_DASH}{_DAY})?\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}\b",
        rf"\b{_MONTH}\s+{_DAY}(?:{_DASH}{_DAY})?,?\s+{_YEAR}\b",
        rf"\b(?:{_SEASON}|[Ee]arly|[Ll]ate|[Mm]id)[- ](?:of\s+)?{_MONTH}\s+{_YEAR}\b",
        rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b",
        rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}\b",
        rf"\b{_MONTH}\s+{_DAY}\b",
        rf"\b(?:{_SEASON})(?:\s+of)?\s+{_YEAR}\b",
        _CENTURY,
        rf"\b\d{{1,4}}(?:{_DASH}\d{{1,4}})?\s{_ERA}(?!\w)",
        r"\b(?:AD|A\.D\.)\s\d{1,4}\b",
        rf"\b(?:(?:[Ee]arly|[Ll]ate|[Mm]id)-)?{_YEAR}s\b",
        rf"\b{_YEAR}-[01]\d-[0-3]\d\b",
        rf"\b{_YEAR}\s?[-–—/]\s?\d{{1,2}}\b(?![-\d])",
        _SPAN,
        rf"(?<![\d,.$€£]){_YEAR}\b(?![,.]\d|\s?(?:%|percent|km|m\b|ft|feet|miles|people|residents|inhabitants|metres|meters))",
        _ALONE,
        _WEEKDAY,
    ]
)
_CURRENCY = r"(?:US|A|C|AU|CA|HK|NZ)?[$€£¥₹]\s?\d[\d,.]*\d?(?:\s?(?:million|billion|thousand|trillion|[mbk]\b))?"
_MEASURE = (
    r"(?:%|percent|per\s?cent|million|billion|thousand|trillion|hundred|km2?²?|kilometres?|kilometers?|miles?|mi|metres?|"
    r"meters?|m|cm|mm|ft|feet|foot|inch(?:es)?|acres?|hectares?|ha|kg|kilograms?|pounds?|lbs?|tons?|tonnes?|mph|km/h|"
    r"dollars|euros|cents|copies|°C|°F|degrees|volumes?|people|MW|kW|GHz|MHz|GB|MB)"
)
_SPELT = rf"(?i:\b{_WORDNUM}(?:[ -](?:and )?{_WORDNUM})*\b)"
_NUMBERS = "|".join(
    [
        _CURRENCY,
        rf"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?:\s?[\xa0\s-]\s?)?{_MEASURE}(?:\s(?:people|kilometers|metres|meters|miles|acres|pounds))?(?!\w)",
        r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?!\w)",
        r"(?<![\w.,])\d+\.\d+(?!\w)",
        _SPELT,
        r"(?<![\w.,:/$#–-])(?<!- )(?<!– )\d{1,3}(?![\w:/–-]|[.,]\d| [-–])",
    ]
)
_NOT_NUMBERS = frozenset({"one", "second"})


_DIGIT = re.compile(r"\d")
# Most sentences state no time and no number. What follows finds the same as _TIMES and _NUMBERS alone, in a fifth of
# the time: a time without a digit holds one of these words, and nothing begins with another letter than those below.
_TIME_WORDS = (*"entur millennium year month week day hour minute second decade".split(), *_NAMES)
_ENDLESS = "teenth"  # what ends so may begin with any letter
_TIME_AHEAD = r"(?=[\dabefhlmnostwADEFJLMNOSTW])(?:\b|(?=\d))"
_WORDS_AHEAD = r"\b(?=[befhmnostADFJMNOSTW])"
_NUMBER_AHEAD = r"(?=[\d$€£¥₹ACHNUbefhmnostBEFHMNOSTſ])"
_SPELT_AHEAD = r"(?=[befhmnostBEFHMNOSTſ])"


_WORDY_TIMES = f"{_WORDS_AHEAD}(?:{'|'.join((_CENTURY, _SPAN, _ALONE, _WEEKDAY))})"  # for text without digits
_TIMES_AHEAD = f"{_TIME_AHEAD}(?:{_TIMES})"
_NUMBERS_AHEAD = f"{_NUMBER_AHEAD}(?:{_NUMBERS})"
_WORDY_NUMBERS = _SPELT_AHEAD + _SPELT
_compile = cache(re.compile)  # on first use


def find_times(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of the times in `text[start:end]`."""
    sentence = text[start:end]
    wordy = not _DIGIT.search(sentence)
    if wordy and not any(word in sentence for word in _TIME_WORDS):
        return
    pattern = _TIMES if _ENDLESS in sentence else _WORDY_TIMES if wordy else _TIMES_AHEAD
    for match in _compile(pattern).finditer(text, start, end):
        yield match.span()


def find_numbers(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of the amounts, measures and counts in `text[start:end]`; a bare "one" is none."""
    pattern = _NUMBERS_AHEAD if _DIGIT.search(text, start, end) else _WORDY_NUMBERS
    for match in _compile(pattern).finditer(text, start, end):
        if match[0].lower() not in _NOT_NUMBERS:
            yield match.span()


def read_iso_span(stated: str) -> tuple[str, str]:
    """The first and last day of a stated date, month, year or decade in ISO 8601; empty where it says none."""
    years = re.findall(rf"(?<!\d){_YEAR}(?!\d)", stated)
    if not years:
        return "", ""
    if stated.rstrip().endswith("s") and len(years) == 1:
        return f"{years[0]}-01-01", f"{int(years[0]) + 9}-12-31"
    if len(years) == 2 and years[0] <= years[1]:
        return f"{years[0]}-01-01", f"{years[1]}-12-31"
    year = years[0]
    if re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", stated.strip()):
        return stated.strip(), stated.strip()
    rest = stated.replace(year, " ")
    month = re.search(r"[A-Z][a-z]{2}", rest)
    number = SHORT_MONTHS.index(month[0].lower()) + 1 if month and month[0].lower() in SHORT_MONTHS else 0
    days = [int(d) for d in re.findall(r"(?<!\d)\d{1,2}(?!\d)", rest)]
    if not number:
        return ("", "") if days else (f"{year}-01-01", f"{year}-12-31")
    first, last = (min(days), max(days)) if days else (1, monthrange(int(year), number)[1])
    return (f"{year}-{number:02}-{first:02}", f"{year}-{number:02}-{last:02}") if 0 < last <= 31 else ("", "")
