"""What a sentence says of somebody in an office, as a claim: who holds, begins or ends it, and at which dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.language.dates.moments import first_instant
from sensegraph.language.dates.office_questions import OFFICE_PATTERNS as CUES
from sensegraph.language.dates.stated_dates import Expression, find_expressions

Kind = Literal["holds", "begins", "ends"]
_APPOSED = re.compile(r",\s+(?:the\s+)?")


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

    def announces(self, other: Claim) -> bool:
        """Whether another tells the same beginning with its date: in the same document, or for soon after."""
        if other.kind == "ends" or not other.first or other.seen or other.holder != self.holder:
            return False
        years = first_instant(other.first)[0] - first_instant(self.first)[0]
        return other.sentence.origin == self.sentence.origin or 0 <= years <= 1


@dataclass(frozen=True, slots=True)
class OfficeLine:
    """A sentence made ready to be read: with the years that it leaves out, its names, and when it was written."""

    text: str
    names: tuple[tuple[int, int, str], ...]
    written: str
    sentence: SourceSentence

    def date_claims(
        self, holder: str, begin: int, stop: int, manner: str, apposed: bool, head: int = -1
    ) -> Iterator[Claim]:
        """That somebody holds the office: from and until when `text[begin:stop]` says, or when it was written."""
        found = [self._read_event(e) for e in self._find_dates(begin, stop)]
        first, last = (
            next((e.first for e in found if e.kind in ("since", "span")), ""),
            next((e.last for e in reversed(found) if e.kind in ("until", "span")), ""),
        )
        temporary = manner == "temporary"
        here = self.text[max(0, head if head >= 0 else begin) : stop]
        if first or last:
            kind: Kind = "holds" if first and last else "begins" if first else "ends"
            yield Claim(holder, kind, first, last, self.sentence, temporary=temporary)
        elif manner == "past":
            yield Claim(holder, "holds", "", "", self.sentence, temporary=temporary)
        elif found and not apposed:
            one = found[0]
            if CUES["begins"].search(here):
                yield Claim(holder, "begins", one.first, "", self.sentence, temporary=temporary)
            else:
                yield Claim(holder, "holds", one.first, one.last, self.sentence, True, temporary)
        else:
            was = not apposed and re.search(
                r"\b(?:was|were|had been|war|waren|led|headed|ran|chaired|held|served|acted)\b", here
            )
            moment = "" if was else self.written
            yield Claim(holder, "holds", moment, moment, self.sentence, bool(moment), temporary)

    def make_change_claims(
        self, holder: str, kind: Kind, begin: int, stop: int, temporary: bool, loose: bool = False, at: int = 0
    ) -> Iterator[Claim]:
        """That somebody begins or ends at the date of the clause; without one, that it is so when it was written."""
        found = self._find_dates(begin, stop)
        found = [e for e in found if e.start >= at] or found  # sooner a date behind the verb
        if not found and not loose and len(whole := self._find_dates(0, len(self.text))) == 1:
            found = whole  # the one date of the sentence is that of all its clauses
        if kind == "begins":
            since = next((e for e in found if e.kind in ("since", "span")), None) or next(
                (e for e in found if e.kind == "at"), None
            )
            last = next((e.last for e in found if e.kind in ("until", "span")), "")
            if since and since.first:
                yield Claim(
                    holder, "holds" if last else "begins", since.first, last, self.sentence, False, temporary, loose
                )
            elif not loose:
                kept: Kind = "begins" if self.written else "holds"
                yield Claim(holder, kept, self.written, self.written, self.sentence, bool(self.written), temporary)
        else:
            until = next((e.last for e in reversed(found) if e.kind in ("until", "at", "span") and e.last), "")
            since = next((e for e in found if e.kind == "since"), None)
            if until or not loose:
                yield Claim(
                    holder, "ends", "", until or (since.first if since else ""), self.sentence, False, False, loose
                )

    def _read_event(self, one: Expression) -> Expression:
        """A date of what ended or began it: "until his death in 2011", "since her election in May 2011"."""
        ahead = re.search(
            r"\b(?P<way>until|till|bis|since|seit)\s+(?:\w+\s+){1,4}$", self.text[: one.start], re.IGNORECASE
        )
        if one.kind != "at" or not ahead:
            return one
        if ahead["way"].lower() in ("since", "seit"):
            return replace(one, kind="since", last="")
        return replace(one, kind="until", first="")

    def _find_dates(self, begin: int, stop: int) -> list[Expression]:
        return [
            e
            for e in find_expressions(self.text, self.written)
            if begin <= e.start and e.end <= stop + 1 and not e.unread
        ]

    def read_list_entry(self) -> Iterator[Claim]:
        """A line of a list: a name with nothing but the dates of its time."""
        found = find_expressions(self.text)
        if len(self.names) != 1 or not found:
            return
        rest = self.text
        for start, end in sorted([self.names[0][:2], *((e.start, e.end) for e in found)], reverse=True):
            rest = rest[:start] + rest[end:]
        if not re.fullmatch(r"[\s\d.,:;()|•–—-]*(?:interim|acting)?[\s.,:;()|–—-]*", rest):
            return
        one = found[0]
        temporary = bool(CUES["temporary"].search(self.text))
        if one.kind in ("since", "until", "span"):
            kind: Kind = "holds" if one.first and one.last else "begins" if one.first else "ends"
            yield Claim(self.names[0][2], kind, one.first, one.last, self.sentence, temporary=temporary)

    def read_bracketed_list(self) -> Iterator[Claim]:
        """Two or more names in one sentence, each with nothing but its dates in brackets behind it."""
        found = []
        for _, end, name in self.names:
            bracket = re.match(r"\s*\(([^()]*)\)", self.text[end:])
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
                    yield Claim(name, "holds" if one.last else "begins", one.first, one.last, self.sentence)

    def read_verb(self, begin: int, end: int, temporary: bool, manner: str, subject: str) -> Iterator[Claim]:
        """What the verb before the office says: who it is of, and whether it begins or ends."""
        text, names = self.text, self.names
        head = find_clause_start(text, begin)
        stop = find_clause_end(text, end)
        found = [
            (m.start(), m.end(), kind)
            for kind in ("yields", "hands", "ends", "begins", "appoints", "holds")
            for m in CUES[kind].finditer(text, head, begin)
        ]
        if not found:
            return
        at, after, kind = max(found, key=lambda f: (f[1], -f[0]))
        if CUES["doubt"].search(text[head:begin]):
            return
        ahead, between = self.find_subject(head, at, subject), [n for n in names if after <= n[0] and n[1] <= begin]
        spoken = text[head:stop]
        if kind == "yields":
            if ahead:
                yield from self.make_change_claims(ahead, "ends", head, stop, False)
            if between:
                yield from self.make_change_claims(between[0][2], "begins", head, stop, temporary, at=at)
            return
        if kind == "hands":
            if ahead:
                yield from self.make_change_claims(ahead, "begins", head, stop, temporary, at=at)
                yield from (self.make_change_claims(between[0][2], "ends", head, stop, False) if between else ())
            return
        if kind == "appoints" or (
            kind in ("holds", "begins") and between and not text[between[-1][1] : begin].strip(" ,") and not ahead
        ):
            if between and kind == "appoints":
                yield from self.make_change_claims(between[-1][2], "begins", head, stop, temporary)
            elif between:
                yield from self.date_claims(between[-1][2], head, stop, manner, False)
            return
        if not ahead:
            return
        if kind == "holds":
            yield from self.date_claims(ahead, head, stop, manner, False)
        elif not (kind == "ends" and re.search(r"\bas\b", spoken) is None and not between and "," in text[at:begin]):
            yield from self.make_change_claims(ahead, "ends" if kind == "ends" else "begins", head, stop, temporary)

    def find_subject(self, head: int, at: int, subject: str) -> str:
        """Who a verb at `at` is of: the last name before it in its clause that no other name or preposition governs."""
        ahead = [n for n in self.names if head <= n[0] and n[1] <= at] or [n for n in self.names if n[1] <= at][-1:]
        free = [
            n
            for n in ahead
            if not re.search(
                r"\b(?:of|by|for|at|from|with|to|after|before|von|nach|vor)\s+(?:the\s+)?$", self.text[: n[0]]
            )
        ]
        while (
            len(free) > 1
            and re.match(r"(?:\s+(?:of|for|at)\s[^,;.]*)?,", self.text[free[-1][1] :])
            and _APPOSED.fullmatch(self.text[free[-2][1] : free[-1][0]])
        ):
            free.pop()  # "Anna Berg, Head of Sales, is": what stands between commas is no other person
        if free:
            return free[-1][2]
        return subject if CUES["pronoun"].search(self.text[head:at].lstrip() or self.text) else ""

    def read_loose(self, subject: str, near: bool) -> Iterator[Claim]:
        """What a sentence without the office says: that somebody leaves on a day; where it was just named, follows."""
        text = self.text
        for start, _, name in self.names:
            if CUES["removes"].search(text[:start]):
                ended = self.make_change_claims(
                    name, "ends", find_clause_start(text, start), find_clause_end(text, start), False, loose=True
                )
                yield from (c for c in ended if c.last)
                return
        for kind in ("yields", "hands", "begins", "ends"):
            match = CUES[kind].search(text)
            if not match or (kind != "ends" and not near) or re.search(r"\b(?:as|als)\s", text[match.end() :]):
                continue
            head, stop = find_clause_start(text, match.start()), find_clause_end(text, match.end())
            if CUES["doubt"].search(text[head : match.start()]):
                continue
            who = self.find_subject(head, match.start(), subject)
            behind = text[match.end() :]
            if kind == "yields":
                after = next((n for n in self.names if n[0] >= match.end()), None)
                if who:
                    yield from self.make_change_claims(who, "ends", head, stop, False, loose=True)
                if after:
                    yield from self.make_change_claims(after[2], "begins", head, stop, False, loose=True)
                return
            whom = any(n[0] - match.end() < 2 for n in self.names if n[0] >= match.end())
            if who and (kind == "ends" or CUES["nothing"].match(behind) or (kind == "hands" and whom)):
                dated = list(
                    self.make_change_claims(who, "ends" if kind == "ends" else "begins", head, stop, False, loose=True)
                )
                yield from (c for c in dated if kind != "ends" or c.last)
                return


def find_clause_start(text: str, at: int) -> int:
    """Where the clause around a place of a sentence begins."""
    return max((m.end() for m in CUES["joins"].finditer(text) if m.end() <= at), default=0)


def find_clause_end(text: str, at: int) -> int:
    """Where the clause around a place of a sentence ends."""
    return next((m.start() for m in CUES["joins"].finditer(text) if m.start() >= at), len(text))
