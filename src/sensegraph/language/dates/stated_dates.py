"""What a sentence or a question states of time: from when until when, at which time it asks, and times and numbers.

"since 2015" begins, "until 2018" ends, "from 2011 to 2018" does both; a verb of beginning ("became") makes of a date a
beginning, a verb of ending ("resigned") an end; of any other sentence a date is when it was so.

"Who was CEO of Nordwind in 2015?" asks what held then (N90, §4). Read are dates at the beginning or the end of a
question about how things were; not those that tell which thing is meant ("the film released in 1995"), nor those of a
question for the date itself.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Literal

from sensegraph.language.dates.moments import (
    Atom,
    find_atoms,
    first_instant,
    instant_after,
    moment_after,
    moment_before,
)
from sensegraph.language.text import split_small_letters
from sensegraph.language.word_lists import (
    ABBREVIATED_MONTHS,
    ENGLISH_MONTHS,
    ENGLISH_WEEKDAYS,
    SHORT_MONTHS,
    Patterns,
    read_patterns,
)

_CUES = Patterns("time_cues", re.IGNORECASE)
_END = re.compile(r"\b(?:end of|ende)\b", re.IGNORECASE)
_OPEN = ("before", "after")  # what was so at some time on one side of a date
_STRETCHES = ("short_span", "months", "days", "month_days")  # two dates written as one


@dataclass(frozen=True, slots=True)
class Expression:
    """What a stretch of a text says of time: from `first` through `last`, either may be open (empty).

    `kind` is at, since, until or span, or bound for a date before or after which something was at some time ("no later
    than June 2022"); of what is since or until, `bound` says that it begins or ends at some time behind or before.
    `unread` says that it names a date which could not be read.
    """

    start: int
    end: int
    kind: str
    first: str
    last: str
    unread: bool = False
    bound: bool = False


@dataclass(frozen=True, slots=True)
class Stated:
    """From `first` through `last`, as a sentence says it; `unread` counts its dates that could not be read.

    `earliest` is a bound, and no beginning: it was so at some time, and not before that.
    """

    first: str = ""
    last: str = ""
    unread: int = 0
    earliest: str = ""


def stated_in(sentence: str, reference: str = "") -> Stated:
    """From when until when a sentence says that something was so; `reference` is when it was written (ISO or empty)."""
    found = find_expressions(sentence, reference)
    if not found:
        return Stated()
    unread = sum(e.unread for e in found)
    read = [e for e in found if not e.unread]
    if not read:
        return Stated(unread=unread)
    spans = [e for e in read if e.kind == "span"]
    if spans:
        return Stated(spans[0].first, spans[0].last, unread)
    # Dates without a span say together: "since" and "until" first, else the verb's date, else all of them.
    since = next((e.first for e in read if e.kind == "since" and not e.bound), "")
    earliest = next((e.first for e in read if e.kind == "since" and e.bound), "")
    # "appointed before 2010"
    event = any(e.bound for e in read) and _CUES["begins"].search(sentence) and not _CUES["ends"].search(sentence)
    until = next((e.last for e in reversed(read) if e.kind == "until" and not (e.bound and event)), "")
    at = [e for e in read if e.kind == "at"]
    begins, ends = _find_nearest_date(sentence, at, _CUES["begins"]), _find_nearest_date(sentence, at, _CUES["ends"])
    if begins is ends and begins:
        # One date for both verbs is that of the first of them: "died in 2015 and was succeeded".
        ending, beginning = _CUES["ends"].search(sentence), _CUES["begins"].search(sentence)
        if len(at) == 1 and ending and beginning and ending.start() < beginning.start():
            begins = None
        else:
            ends = None
    if not (since or until or begins or ends) and at:
        first, last = min((e.first for e in at), key=first_instant), max((e.last for e in at), key=instant_after)
        return Stated(first, last, unread, earliest)
    first, last = since or (begins.first if begins else ""), until or (ends.last if ends else "")
    reverse = first and last and first_instant(last) < first_instant(first)
    return Stated(first, "" if reverse else last, unread, "" if first else earliest)


def _find_nearest_date(sentence: str, at: Sequence[Expression], verbs: re.Pattern[str]) -> Expression | None:
    """The date next to a verb of this kind, sooner one behind the verb than one before it."""
    places = [m.start() for m in verbs.finditer(sentence)] if at else []
    far = [(e.start - p if e.start > p else 12 + p - e.start, e) for p in places for e in at]
    pairs = [(distance, e.start, e) for distance, e in far]
    return min(pairs, key=lambda p: p[:2])[2] if pairs else None


def find_expressions(text: str, reference: str = "") -> list[Expression]:
    """What a text says of time, in its order; two dates that are one stretch ("from … to") are one."""
    found, waiting = [], find_atoms(text, reference)
    while waiting:
        here = waiting.pop(0)
        between = text[here.end : waiting[0].start] if waiting else ""
        if _CUES["and"].fullmatch(between):
            one_stretch = bool(_CUES["between"].search(text[max(0, here.start - 32) : here.start]))
        else:
            one_stretch = bool(waiting and _CUES["to"].fullmatch(between))
        if not one_stretch:
            found.append(_read_single(text, here))
            continue
        there = waiting.pop(0)
        lead = _CUES["from"].search(text[: here.start]) or _CUES["between"].search(text[: here.start])
        unread = not (here.first and there.last) or first_instant(there.last) < first_instant(here.first)
        first, last = ("", "") if unread else (here.first, there.last)
        closing = _CUES["until_behind"].match(text, there.end)
        start, stop = lead.start() if lead else here.start, closing.end() if closing else there.end
        found.append(Expression(start, stop, "span", first, last, unread))
    return found


def _read_single(text: str, a: Atom) -> Expression:
    """A date with what stands right before or behind it."""
    ahead = text[max(0, a.start - 40) : a.start]
    shift = a.start - len(ahead)
    if not a.first:
        return Expression(a.start, a.end, "at", "", "", True)
    if a.first != a.last and a.kind in _STRETCHES:
        return Expression(a.start, a.end, "span", a.first, a.last)
    if (cue := _CUES["bound"].search(ahead)) or (cue := _CUES["compared"].search(ahead)):
        return Expression(shift + cue.start(), a.end, "bound", a.first, a.last)
    if behind := _CUES["bound_behind"].match(text, a.end):
        return Expression(a.start, behind.end(), "bound", a.first, a.last)
    for kind in ("before", "after", "until", "since"):
        if (cue := _CUES[kind].search(ahead)) and not (a.kind == "ago" and kind == "before"):
            whole = kind == "before" and _END.search(cue[0])  # before the end of July
            return replace(
                _bound_expression(a, "until" if whole else kind, shift + cue.start(), a.end), bound=kind in _OPEN
            )
    for kind in ("since", "until"):
        if behind := _CUES[f"{kind}_behind"].match(text, a.end):
            return _bound_expression(a, kind, a.start, behind.end())
    return Expression(a.start, a.end, "at", a.first, a.last)


def _bound_expression(a: Atom, kind: str, start: int, end: int) -> Expression:
    if kind == "before":
        return Expression(start, end, "until", "", moment_before(a.first))
    if kind == "after":
        return Expression(start, end, "since", moment_after(a.last), "")
    return Expression(start, end, kind, a.first if kind == "since" else "", a.last if kind == "until" else "")


# ── at which time a question asks ─────────────────────────────────────────────────────────────────────────────────────

_CLOSING_MARKS = " ?？.!。！,，;:"


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
    if (found := _find_date(question, today)) is None:
        return None
    start, end, when = found
    return When(when.first, when.last, phrase=question[start:end].strip(_CLOSING_MARKS))


def without_date(question: str, today: str = "") -> str:
    """The question without the date that `when_asked` reads: what is to be looked for in texts of that time."""
    if (found := _find_date(question, today)) is None:
        return question
    start, end, _ = found
    rest = f"{question[:start].rstrip(' ,，')} {question[end:].lstrip(' ,，')}".strip()
    mark = "?" if question.rstrip().endswith("?") else ""
    plain = re.sub(r"\s+([?？.!。！])", r"\1", rest)
    return plain[:1].upper() + plain[1:] if plain.strip(_CLOSING_MARKS) else question.rstrip(mark) + mark


def _find_date(question: str, today: str) -> tuple[int, int, When] | None:
    """Where a question says its time, with what stands before the date, and which."""
    if _CUES["when"].search(question) or not _CUES["state"].search(question):
        return None
    read = find_expressions(question, today)
    if not read:
        match = _CUES["now"].search(question)
        return (match.start(), match.end(), When(today, today)) if match and today else None
    if len(read) > 1 or read[0].unread:
        return None
    one = read[0]
    lead = _CUES["lead"].search(question[: one.start])
    start = lead.start() if lead else one.start
    outer = not question[one.end :].strip(_CLOSING_MARKS) or not question[:start].strip(_CLOSING_MARKS)
    # "last year", "yesterday" and "2015年" need no preposition; a bare number does.
    bare = not question[one.start : one.end].strip().isdigit()
    if not outer or _CUES["picks"].search(question[: one.start]) or not (lead or one.kind != "at" or bare):
        return None
    return start, one.end, When(one.first, one.last)


# ── times and numbers, by patterns (English; years, dates with digits and amounts in any language) ────────────────────

_NAMES = tuple(map(str.title, ENGLISH_MONTHS))
_MONTH = "(?:" + "|".join([*_NAMES, *(short.title() + r"\.?" for short in ABBREVIATED_MONTHS)]) + ")"
_PATTERNS = read_patterns("times", MONTH=_MONTH, NAMES="|".join(_NAMES))
_TIMES, _NUMBERS = "|".join(_PATTERNS["times"]), "|".join(_PATTERNS["numbers"])
_CENTURY, _SPAN, _ALONE, _WEEKDAY, _SPELT, _YEAR = (
    "".join(_PATTERNS[part]) for part in ("CENTURY", "SPAN", "ALONE", "WEEKDAY", "SPELT", "YEAR")
)
_NOT_NUMBERS = frozenset({"one", "second"})
_DIGIT = re.compile(r"\d")
# Most sentences state no time and no number. What follows finds the same as _TIMES and _NUMBERS alone, in a tenth of
# the time: a sentence without a digit needs one of these words, and none begins with another letter than those below.
_UNITS = "year month week day hour minute second decade century centurie".split()
_TIME_WORDS = frozenset(
    ("millennium", *ENGLISH_MONTHS, *(w + end for w in (*_UNITS, *ENGLISH_WEEKDAYS) for end in ("", "s")))
)
_NUMBER_WORDS = frozenset("".join(_PATTERNS["WORDNUM"]).strip("(?:)").split("|"))
_STATING = _TIME_WORDS | _NUMBER_WORDS
_DATE_WORDS = _TIME_WORDS.union(  # one of which stands in each time that begins with a letter, where there are digits
    SHORT_MONTHS, "sept century spring summer autumn fall winter early late mid ad".split()
)
_CASELESS = frozenset("ſıİ")  # which stand for small letters of English where case does not count
_CURRENCIES = frozenset("$€£¥₹")
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


@lru_cache(maxsize=4)  # times are looked for, then numbers
def _list_words(sentence: str) -> tuple[list[str], bool]:
    """The runs of letters of a sentence, in lower case, and whether it has a digit."""
    return split_small_letters(sentence), _DIGIT.search(sentence) is not None


def _match_at_digits(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """What a pattern finds where nothing of it begins with another character than a digit."""
    while digit := _DIGIT.search(text, start, end):
        if match := pattern.match(text, digit.start(), end):
            yield match
        start = (match or digit).end()


def may_state_value(sentence: str, letters: Sequence[str]) -> bool:
    """Whether a sentence with these runs of letters, in lower case, may state a time or a number: most cannot."""
    if _DIGIT.search(sentence) or not (sentence.isascii() or _CASELESS.isdisjoint(sentence)):
        return True
    if _STATING.isdisjoint(letters):
        return False
    return letters.count("one") != 1 or _STATING.intersection(letters) != {"one"}  # of which find_numbers makes none


def find_times(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of the times in `text[start:end]`."""
    sentence = text[start:end]
    words, digits = _list_words(sentence)
    if not digits and _TIME_WORDS.isdisjoint(words):
        return
    if digits and _DATE_WORDS.isdisjoint(words) and _ENDLESS not in sentence and "A.D." not in sentence:
        found = _match_at_digits(_compile(_TIMES), text, start, end)
    else:
        pattern = _TIMES if _ENDLESS in sentence else _TIMES_AHEAD if digits else _WORDY_TIMES
        found = _compile(pattern).finditer(text, start, end)
    for match in found:
        yield match.span()


def find_numbers(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of the amounts, measures and counts in `text[start:end]`; a bare "one" is none."""
    sentence = text[start:end]
    words, digits = _list_words(sentence)
    doubtful = not (sentence.isascii() or _CASELESS.isdisjoint(sentence))
    said = _NUMBER_WORDS.intersection(words)
    if not digits and not doubtful and (not said or (said == {"one"} and words.count("one") == 1)):
        return
    if digits and not doubtful and not said and _CURRENCIES.isdisjoint(sentence):
        found = _match_at_digits(_compile(_NUMBERS), text, start, end)
    else:
        found = _compile(_NUMBERS_AHEAD if digits else _WORDY_NUMBERS).finditer(text, start, end)
    for match in found:
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
