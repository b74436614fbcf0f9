"""What a sentence says of somebody in an office, as a claim: who holds, begins or ends it, and at which dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.language.dates.office_questions import OFFICE_PATTERNS as CUES
from sensegraph.language.dates.stated_dates import Expression, find_expressions

Kind = Literal["holds", "begins", "ends"]


@dataclass(frozen=True, slots=True)
class Claim:
    """That `holder` holds, begins or ends the office: from `first` through `last`; both may be one moment.

    `seen` says that the date is only one at which it is so; `loose` that the sentence does not name the office.
    """

    holder: str
    kind: Kind
    first: str
    last: str
    sentence: SourceSentence
    seen: bool = False
    temporary: bool = False
    loose: bool = False
    thing: str = ""


@dataclass(frozen=True, slots=True)
class OfficeLine:
    """A sentence made ready to be read: with the years that it leaves out, its names, and when it was written."""

    text: str
    names: tuple[tuple[int, int, str], ...]
    written: str
    sentence: SourceSentence


def date_claims(
    line: OfficeLine, holder: str, begin: int, stop: int, manner: str, apposed: bool, head: int = -1
) -> Iterator[Claim]:
    """That somebody holds the office: from and until when `text[begin:stop]` says, or when it was written."""
    found = [_read_event(line.text, e) for e in _find_dates(line, begin, stop)]
    first, last = (
        next((e.first for e in found if e.kind in ("since", "span")), ""),
        next((e.last for e in reversed(found) if e.kind in ("until", "span")), ""),
    )
    temporary = manner == "temporary"
    here = line.text[max(0, head if head >= 0 else begin) : stop]
    if first or last:
        kind: Kind = "holds" if first and last else "begins" if first else "ends"
        yield Claim(holder, kind, first, last, line.sentence, temporary=temporary)
    elif manner == "past":
        yield Claim(holder, "holds", "", "", line.sentence, temporary=temporary)
    elif found and not apposed:
        one = found[0]
        if CUES["begins"].search(here):
            yield Claim(holder, "begins", one.first, "", line.sentence, temporary=temporary)
        else:
            yield Claim(holder, "holds", one.first, one.last, line.sentence, True, temporary)
    else:
        was = not apposed and re.search(
            r"\b(?:was|were|had been|war|waren|led|headed|ran|chaired|held|served|acted)\b", here
        )
        moment = "" if was else line.written
        yield Claim(holder, "holds", moment, moment, line.sentence, bool(moment), temporary)


def make_change_claims(
    line: OfficeLine, holder: str, kind: Kind, begin: int, stop: int, temporary: bool, loose: bool = False, at: int = 0
) -> Iterator[Claim]:
    """That somebody begins or ends at the date of the clause; without one, that it is so when it was written."""
    found = _find_dates(line, begin, stop)
    found = [e for e in found if e.start >= at] or found  # sooner a date behind the verb
    if not found and not loose and len(whole := _find_dates(line, 0, len(line.text))) == 1:
        found = whole  # the one date of the sentence is that of all its clauses
    if kind == "begins":
        since = next((e for e in found if e.kind in ("since", "span")), None) or next(
            (e for e in found if e.kind == "at"), None
        )
        last = next((e.last for e in found if e.kind in ("until", "span")), "")
        if since and since.first:
            yield Claim(
                holder, "holds" if last else "begins", since.first, last, line.sentence, False, temporary, loose
            )
        elif not loose:
            kept: Kind = "begins" if line.written else "holds"
            yield Claim(holder, kept, line.written, line.written, line.sentence, bool(line.written), temporary)
    else:
        until = next((e.last for e in reversed(found) if e.kind in ("until", "at", "span") and e.last), "")
        since = next((e for e in found if e.kind == "since"), None)
        if until or not loose:
            yield Claim(holder, "ends", "", until or (since.first if since else ""), line.sentence, False, False, loose)


def _read_event(text: str, one: Expression) -> Expression:
    """A date of what ended or began it: "until his death in 2011", "since her election in May 2011"."""
    ahead = re.search(r"\b(?P<way>until|till|bis|since|seit)\s+(?:\w+\s+){1,4}$", text[: one.start], re.IGNORECASE)
    if one.kind != "at" or not ahead:
        return one
    if ahead["way"].lower() in ("since", "seit"):
        return replace(one, kind="since", last="")
    return replace(one, kind="until", first="")


def _find_dates(line: OfficeLine, begin: int, stop: int) -> list[Expression]:
    return [
        e for e in find_expressions(line.text, line.written) if begin <= e.start and e.end <= stop + 1 and not e.unread
    ]


def find_clause_start(text: str, at: int) -> int:
    """Where the clause around a place of a sentence begins."""
    return max((m.end() for m in CUES["joins"].finditer(text) if m.end() <= at), default=0)


def find_clause_end(text: str, at: int) -> int:
    """Where the clause around a place of a sentence ends."""
    return next((m.start() for m in CUES["joins"].finditer(text) if m.start() >= at), len(text))


def read_list_entry(line: OfficeLine) -> Iterator[Claim]:
    """A line of a list: a name with nothing but the dates of its time."""
    found = find_expressions(line.text)
    if len(line.names) != 1 or not found:
        return
    rest = line.text
    for start, end in sorted([line.names[0][:2], *((e.start, e.end) for e in found)], reverse=True):
        rest = rest[:start] + rest[end:]
    if not re.fullmatch(r"[\s\d.,:;()|•–—-]*(?:interim|acting)?[\s.,:;()|–—-]*", rest):
        return
    one = found[0]
    temporary = bool(CUES["temporary"].search(line.text))
    if one.kind in ("since", "until", "span"):
        kind: Kind = "holds" if one.first and one.last else "begins" if one.first else "ends"
        yield Claim(line.names[0][2], kind, one.first, one.last, line.sentence, temporary=temporary)


def read_bracketed_list(line: OfficeLine) -> Iterator[Claim]:
    """Two or more names in one sentence, each with nothing but its dates in brackets behind it."""
    found = []
    for _, end, name in line.names:
        bracket = re.match(r"\s*\(([^()]*)\)", line.text[end:])
        read = find_expressions(bracket[1]) if bracket else []
        if (
            bracket
            and len(read) == 1
            and not bracket[1][: read[0].start].strip()
            and not bracket[1][read[0].end :].strip()
        ):
            found.append((name, read[0]))
    if len(found) > 1:
        for name, one in found:
            if one.kind != "at" and one.first:
                yield Claim(name, "holds" if one.last else "begins", one.first, one.last, line.sentence)
