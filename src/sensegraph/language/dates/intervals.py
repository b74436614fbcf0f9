"""When facts hold: half-open intervals with unknown ends, three-valued; and how a fact ends where the next begins.

Unknown is neither the beginning nor the end of time: a fact without dates holds "perhaps", and is told apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from sensegraph.language.dates.moments import (
    FIRST,
    LAST,
    Instant,
    are_same_moment,
    count_parts,
    first_instant,
    instant_after,
    is_readable,
    moment_after,
)

Span = tuple[Instant, Instant]
"""A stretch that is asked about: from its first instant until before its second."""


@dataclass(frozen=True, slots=True)
class Interval:
    """From `starts` until before `ends`; either may be unknown (empty). `flagged`: what was stated cannot be."""

    starts: str = ""
    ends: str = ""
    flagged: bool = False


def make_interval(first: str, last: str) -> Interval:
    """The interval of a fact stated to hold from `first` through `last`: "until 2020" is until the end of 2020.

    What cannot be read is unknown; where the end is not after the beginning both are. Either is flagged.
    """
    starts, ends = (first if is_readable(first) else ""), (moment_after(last) if is_readable(last) else "")
    flagged = starts != first or (bool(last) and not ends)
    if starts and ends and first_instant(ends) <= first_instant(starts):
        return Interval(flagged=True)
    return Interval(starts, ends, flagged)


def span_through(first: str, last: str) -> Span:
    """The stretch from `first` through `last`, either of which may be open (empty); of one moment, both are it."""
    return (first_instant(first) if first else FIRST, instant_after(last) if last else LAST)


def holds_during(interval: Interval, span: Span) -> bool | None:
    """Whether a fact holds at some instant of `span`: yes, no, or None where that is not known.

    A fact that has begun and whose end nobody states still holds. One whose beginning is unknown may not have begun.
    """
    if interval.starts and first_instant(interval.starts) >= span[1]:
        return False
    if interval.ends and span[0] >= first_instant(interval.ends):
        return False
    return True if interval.starts else None


# ── facts that close others ──


@dataclass(frozen=True, slots=True)
class Assertion:
    """That `holder` is what the functional type `slot` names, as stated: from `first` through `last`.

    `slot` holds the type and the thing ("CEO of", Nordwind), which has one holder at a time. `order` breaks ties that
    no date breaks.
    """

    id: str
    slot: tuple[str, str]
    holder: str
    first: str = ""
    last: str = ""
    order: str = ""


@dataclass(frozen=True, slots=True)
class Settled:
    """When an asserted fact holds. `superseded_by` is the assertion that ended it, `reason` the rule."""

    interval: Interval
    disputed: bool = False
    superseded_by: str = ""
    reason: str = ""


def settle_assertions(assertions: Iterable[Assertion]) -> dict[str, Settled]:
    """Every assertion by id with its interval: each ends where the next of another holder begins.

    The order in which they are given makes no difference. Several holders that begin at once, at the coarser precision,
    are disputed; so is an end that is stated later than the next begins, which stands.
    """
    ordered = sorted(assertions, key=lambda a: (a.slot, a.order, a.id))
    found: dict[str, Settled] = {}
    for _, group in groupby(ordered, key=lambda a: a.slot):
        slot = list(group)
        own = {a.id: Settled(make_interval(a.first, a.last)) for a in slot}
        begun = [a for a in slot if own[a.id].interval.starts]
        begun.sort(key=lambda a: (first_instant(a.first), count_parts(a.first), a.order, a.id))
        # Those begin at once that the first of them, the coarsest, cannot be told from.
        together: list[list[Assertion]] = []
        for a in begun:
            if together and are_same_moment(together[-1][0].first, a.first):
                together[-1].append(a)
            else:
                together.append([a])
        for number, holders in enumerate(together):
            disputed = len({a.holder for a in holders}) > 1
            for a in holders:
                closed = _close_interval(a, own[a.id], slot, together[number + 1 :])
                own[a.id] = replace(closed, disputed=disputed)
        # What only an end is stated of began when the same holder did, where that ended just then.
        known: dict[str, Settled] = {}
        for b in slot:
            interval = own[b.id].interval
            ended = [a for a in begun if a.holder == b.holder and own[a.id].interval.ends == interval.ends]
            if ended and interval.ends and not interval.starts:
                since = replace(interval, starts=own[ended[0].id].interval.starts)
                known[b.id] = replace(own[b.id], interval=since, reason="stated")
        found |= _mark_overlaps(begun, own | known)
    return found


def _close_interval(
    a: Assertion, own: Settled, known: Sequence[Assertion], later: Sequence[Sequence[Assertion]]
) -> Settled:
    """The interval of one assertion: its stated end, else one stated of the same holder, else the next beginning."""
    if own.interval.ends:
        return own
    follower = next((g[0] for g in later if a.holder not in {b.holder for b in g}), None)
    elsewhere = [make_interval(b.first, b.last) for b in known if b.holder == a.holder and b.last]
    running = [i for i in elsewhere if i.ends and first_instant(a.first) < first_instant(i.ends)]
    around = [i for i in running if not i.starts or first_instant(i.starts) <= first_instant(a.first)]
    told = min(around, key=lambda i: first_instant(i.ends), default=None)
    if told and (follower is None or first_instant(told.ends) <= first_instant(follower.first)):
        return Settled(replace(own.interval, ends=told.ends), reason="stated")
    if follower is None:
        return own
    return Settled(replace(own.interval, ends=follower.first), superseded_by=follower.id, reason="functional")


def _mark_overlaps(begun: Sequence[Assertion], found: dict[str, Settled]) -> dict[str, Settled]:
    """Marks what is stated to go on when another holder has begun; within one unit they hand over and agree."""
    marked = dict(found)
    for a in begun:
        if not (a.last and found[a.id].interval.ends):
            continue
        for b in begun:
            overlap = b.holder != a.holder and first_instant(a.first) < first_instant(b.first) < first_instant(
                found[a.id].interval.ends
            )
            if overlap and not are_same_moment(a.last, b.first):
                marked[a.id] = replace(marked[a.id], disputed=True)
                marked[b.id] = replace(marked[b.id], disputed=True)
    return marked
