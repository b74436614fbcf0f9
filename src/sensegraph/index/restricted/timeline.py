"""What the texts say of an entity, by time; and what began, ended or changed between two moments (N90, §4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sensegraph.errors import InputError
from sensegraph.extractions import CitedFigure
from sensegraph.index.index import Index
from sensegraph.index.restricted.dates import Fact
from sensegraph.index.restricted.moment import check_order, dates_of
from sensegraph.language.dates.intervals import holds_during, span_through
from sensegraph.language.dates.moments import LAST, first_instant, instant_after, is_readable
from sensegraph.language.text import fold
from sensegraph.types import Entity

What = Literal["began", "ended", "changed", "passed"]


@dataclass(frozen=True, slots=True)
class Event:
    """One dated statement: `text` is `document.text[start:end]`, `when` tells its interval, `page` where it begins.

    `starts` and `ends` are ISO 8601 and half-open, empty where unknown; `ended_by` is the sentence of the fact that
    ended it by the rule `reason`. In a `figure` a model's description of it states this.
    """

    when: str
    starts: str
    ends: str
    text: str
    document: str
    start: int
    end: int
    type: str = ""
    disputed: bool = False
    ended_by: str = ""
    reason: str = ""
    page: int | None = None
    figure: CitedFigure | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What happened between two moments: a fact began, ended, did both (passed), or another took its place (changed).

    Of a change `before` is the fact that ended and `after` the one that began.
    """

    what: What
    before: Event | None = None
    after: Event | None = None


def entity_timeline(index: Index, entity: Entity, since: str = "", until: str = "") -> list[Event]:
    """The dated statements that name an entity and may hold between two moments, by beginning, then end.

    Raises InputError for a moment that cannot be read or where `until` is before `since`, NotIndexed for an index
    without dates.
    """
    _check_moments(since, until)
    check_order(since, until)
    facts = dates_of(index).facts
    span, by_id = span_through(since, until), {f.id: f for f in facts if f.type}
    named = [f for f in _facts_naming(facts, entity) if holds_during(f.interval, span) is not False]
    return [_make_event(f, by_id.get(f.superseded_by), index) for f in sorted(named, key=_time_place)]


def changes_between(index: Index, first: str, last: str) -> list[Change]:
    """What began, ended, passed or changed after `first` and through `last`; nothing where they are the same.

    Raises InputError where `last` is before `first`, or one cannot be read; NotIndexed for an index without dates.
    """
    _check_moments(first, last)
    if first_instant(last) < first_instant(first):
        raise InputError(f"{last} is before {first}; give the earlier moment first.")
    facts = sorted(dates_of(index).facts, key=_time_place)
    began = {
        f.id: f for f in facts if f.starts and instant_after(first) <= first_instant(f.starts) < instant_after(last)
    }
    ended = {f.id: f for f in facts if f.ends and first_instant(first) < first_instant(f.ends) <= first_instant(last)}
    # in the order of beginnings; a fact that another took the place of is told once, with that one
    after = {f.superseded_by: f for f in ended.values() if f.superseded_by in began}
    told = {f.id for f in after.values()}
    listed = list[Change]()
    for f in facts:
        if f.id in after:
            listed.append(Change("changed", _make_event(after[f.id], f, index), _make_event(f, None, index)))
        elif f.id in began and f.id in ended and f.id not in told:
            listed.append(Change("passed", _make_event(f, None, index), _make_event(f, None, index)))
        elif f.id in began and f.id not in told:
            listed.append(Change("began", after=_make_event(f, None, index)))
        elif f.id in ended and f.id not in told:
            listed.append(Change("ended", before=_make_event(f, None, index)))
    return listed


def _check_moments(*moments: str) -> None:
    for moment in moments:
        if moment and not is_readable(moment):
            raise InputError(f"{moment!r} is no ISO date such as 2023, 2023-05 or 2023-05-17.")


def _facts_naming(facts: Sequence[Fact], entity: Entity) -> Iterator[Fact]:
    """The facts of chunks that mention the entity whose sentence names it."""
    chunks = frozenset(entity.chunks)
    names = sorted({fold(n) for n in (entity.name, *entity.aliases)}, key=lambda n: (-len(n), n))
    called = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, names)) + r")(?!\w)")
    for f in facts:
        if entity.id in (f.thing, f.holder) or (
            any(s.chunk in chunks for s in f.sources) and called.search(fold(f.text))
        ):
            yield f


def _time_place(f: Fact) -> tuple[object, ...]:
    known = f.starts or f.ends or f.earliest
    starts = first_instant(known) if known else LAST
    return starts, first_instant(f.ends) if f.ends else LAST, f.document, f.start


def _make_event(f: Fact, by: Fact | None, index: Index) -> Event:
    ended_by = by.text if by else ""
    return Event(
        describe_interval(f), f.starts, f.ends, " ".join(f.text.split()), f.document, f.start, f.end, f.type,
        f.disputed, " ".join(ended_by.split()), f.reason, index.page(f.document, f.start),
        index.figure(f.document, f.start),
    )  # fmt: skip


def describe_interval(f: Fact) -> str:
    """An interval for people: `2011 – 2018`, `since 2011`, `until 2018`, `2011 – before 2018-09`, `not before 2025`."""
    if f.flagged:
        return "unclear"
    if f.earliest and not (f.starts or f.ends):
        return f"not before {f.earliest}"
    ends = f"before {f.ends}" if f.ends and f.reason else f.last
    if f.starts and f.starts == ends:
        return f.starts
    if f.starts and ends:
        return f"{f.starts} – {ends}"
    return f"since {f.starts}" if f.starts else f"until {ends}"


__all__ = ["Change", "Event", "changes_between", "describe_interval", "entity_timeline"]
