"""From when until when a sentence says that something was so: its dates, what stands before them, and its verb.

"since 2015" begins, "until 2018" ends, "from 2011 to 2018" does both; a verb of beginning ("became") makes of a date a
beginning, a verb of ending ("resigned") an end; of any other sentence a date is when it was so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sensegraph.language.dates.atoms import Atom, find_atoms
from sensegraph.language.dates.moments import first_instant, instant_after, moment_after, moment_before

_SINCE = re.compile(
    r"(?:\b(?:since|starting(?: in| on| from)?|beginning(?: in| on)?|as from|effective|from|seit|ab|seit dem|ab dem|"
    r"from the|since the)(?: (?:the )?(?:year|early|mid|late|beginning of|start of|anfang|ende|mitte|jahr|dem jahr))?"
    r"|自从?|从)\s*-?$",
    re.IGNORECASE,
)
_UNTIL = re.compile(
    r"(?:\b(?:until|till|up to|through|bis|bis zum|bis ins|bis ende|bis anfang)"
    r"(?: (?:the )?(?:year|early|mid|late|end of|beginning of|jahr|ende|anfang|mitte))?|直到|至|到)\s*$",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"\b(?:before|prior to|earlier than|vor|vor dem)(?: (?:the year|jahr|dem jahr))?\s*$", re.IGNORECASE
)
_AFTER = re.compile(r"\b(?:after|later than|nach|nach dem)(?: (?:the year|jahr|dem jahr))?\s*$", re.IGNORECASE)
_BETWEEN = re.compile(r"(?:\b(?:between|zwischen)|从|自)(?: (?:the years?|den jahren|dem))?\s*$", re.IGNORECASE)
_FROM = re.compile(r"(?:\b(?:from|von|vom)|从|自)(?: (?:the|early|late|mid|dem))?\s*$", re.IGNORECASE)
_TO = re.compile(
    r"\s*(?:[-–—]|to|until|till|through|bis|bis zum|から|到|至)(?: (?:the|early|late|mid|end of))?\s*", re.IGNORECASE
)
_AND = re.compile(r"\s*(?:and|und|和)\s*(?:the\s+)?", re.IGNORECASE)
_STRETCHES = ("short_span", "months", "days", "month_days")  # two dates written as one
_SINCE_BEHIND = re.compile(r"\s*(?:以来|起|から|onwards?\b|on\b(?=[,.])|以降)", re.IGNORECASE)
_UNTIL_BEHIND = re.compile(r"\s*(?:まで|为止|為止)")

_BEGINS = re.compile(
    r"\b(?:becam?e|becoming|began|begun|starte?d|start(?:s|ing)|took over|takes over|took office|takes office|sworn in|"
    r"appointed|named|elected|founded|established|created|joined|joins|opened|launched|introduced|moved|acquired|bought|"
    r"purchased|merged|married|succeeded|succeeds|replaced|inaugurated|hired|promoted|adopted|crowned|signed|renamed|"
    r"raised|lowered|born|wurde|wurden|begann|übernahm|gegründet|ernannt|gewählt|eröffnet|eingeführt|trat(?!.{0,60}(?:zurück|aus)\b)|beigetreten|"
    r"heiratete|geboren|zog|erwarb|kaufte|verlegt|verlegte|umbenannt|就任|成立|上任|加入|成为|設立)",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"\b(?:left|leaves|resigned|resigns|retired|retires|stepped down|steps down|died|dissolved|closed|ended|abolished|"
    r"withdrew|quit|sold|expired|ceased|fired|dismissed|verließ|starb|gestorben|aufgelöst|geschlossen|"
    r"beendet|endete|austrat|trat\b.{0,60}\b(?:zurück|aus)\b|zurückgetreten|abgeschafft|辞任|退出|解散|去世)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Expression:
    """What a stretch of a text says of time: from `first` through `last`, either may be open (empty).

    `kind` is at, since, until or span; `unread` says that it names a date which could not be read.
    """

    start: int
    end: int
    kind: str
    first: str
    last: str
    unread: bool = False


@dataclass(frozen=True, slots=True)
class Stated:
    """From `first` through `last`, as a sentence says it; `unread` counts its dates that could not be read."""

    first: str = ""
    last: str = ""
    unread: int = 0


def stated_in(sentence: str, reference: str = "") -> Stated:
    """From when until when a sentence says that something was so; `reference` is when it was written (ISO or empty)."""
    found = find_expressions(sentence, reference)
    if not found:
        return Stated()
    unread = sum(e.unread for e in found)
    read = [e for e in found if not e.unread]
    spans = [e for e in read if e.kind == "span"]
    if spans:
        return Stated(spans[0].first, spans[0].last, unread)
    # Dates without a span say together: "since" and "until" first, else the verb's date, else all of them.
    since = next((e.first for e in read if e.kind == "since"), "")
    until = next((e.last for e in reversed(read) if e.kind == "until"), "")
    at = [e for e in read if e.kind == "at"]
    begins, ends = _find_nearest_date(sentence, at, _BEGINS), _find_nearest_date(sentence, at, _ENDS)
    if begins is ends and begins:
        # One date for both verbs is that of the first of them: "died in 2015 and was succeeded".
        ending, beginning = _ENDS.search(sentence), _BEGINS.search(sentence)
        if len(at) == 1 and ending and beginning and ending.start() < beginning.start():
            begins = None
        else:
            ends = None
    if not (since or until or begins or ends) and at:
        return Stated(
            min((e.first for e in at), key=first_instant), max((e.last for e in at), key=instant_after), unread
        )
    first, last = since or (begins.first if begins else ""), until or (ends.last if ends else "")
    return Stated(first, "" if first and last and first_instant(last) < first_instant(first) else last, unread)


def _find_nearest_date(sentence: str, at: Sequence[Expression], verbs: re.Pattern[str]) -> Expression | None:
    """The date next to a verb of this kind, sooner one behind the verb than one before it."""
    places = [m.start() for m in verbs.finditer(sentence)]
    far = [(e.start - p if e.start > p else 12 + p - e.start, e) for p in places for e in at]
    pairs = [(distance, e.start, e) for distance, e in far]
    return min(pairs, key=lambda p: p[:2])[2] if pairs else None


def find_expressions(text: str, reference: str = "") -> list[Expression]:
    """What a text says of time, in its order; two dates that are one stretch ("from … to") are one."""
    found, waiting = [], find_atoms(text, reference)
    while waiting:
        here = waiting.pop(0)
        between = text[here.end : waiting[0].start] if waiting else ""
        if _AND.fullmatch(between):
            one_stretch = bool(_BETWEEN.search(text[max(0, here.start - 32) : here.start]))
        else:
            one_stretch = bool(waiting and _TO.fullmatch(between))
        if not one_stretch:
            found.append(_read_single(text, here))
            continue
        there = waiting.pop(0)
        lead = _FROM.search(text[: here.start]) or _BETWEEN.search(text[: here.start])
        unread = not (here.first and there.last) or first_instant(there.last) < first_instant(here.first)
        first, last = ("", "") if unread else (here.first, there.last)
        closing = _UNTIL_BEHIND.match(text, there.end)
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
    for pattern, kind in ((_BEFORE, "before"), (_AFTER, "after"), (_UNTIL, "until"), (_SINCE, "since")):
        if (cue := pattern.search(ahead)) and not (a.kind == "ago" and kind == "before"):
            return _bound_expression(a, kind, shift + cue.start(), a.end)
    for pattern, kind in ((_SINCE_BEHIND, "since"), (_UNTIL_BEHIND, "until")):
        if behind := pattern.match(text, a.end):
            return _bound_expression(a, kind, a.start, behind.end())
    return Expression(a.start, a.end, "at", a.first, a.last)


def _bound_expression(a: Atom, kind: str, start: int, end: int) -> Expression:
    if kind == "before":
        return Expression(start, end, "until", "", moment_before(a.first))
    if kind == "after":
        return Expression(start, end, "since", moment_after(a.last), "")
    return Expression(start, end, kind, a.first if kind == "since" else "", a.last if kind == "until" else "")
