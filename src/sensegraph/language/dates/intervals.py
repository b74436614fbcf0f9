"""When facts hold, and who holds what only one can hold at a time.

Intervals are half-open with unknown ends, three-valued, and a fact ends where the next begins. Unknown is neither the
beginning nor the end of time: a fact without dates holds "perhaps", and is told apart.

"Anna Berg became CEO of Nordwind": a functional type ("CEO of", "capital of", "price of") is declared in the settings;
what follows it, owns it or appoints to it is the thing, and the other name of the sentence the holder (valid time
§3.4). A holder may be a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from sensegraph.language.dates.stated_dates import find_expressions
from sensegraph.language.text import WORD, fold
from sensegraph.language.word_lists import Patterns

Span = tuple[Instant, Instant]
"""A stretch that is asked about: from its first instant until before its second."""


@dataclass(frozen=True, slots=True)
class Interval:
    """From `starts` until before `ends`; either may be unknown (empty). `flagged`: what was stated cannot be.

    `earliest` bounds a beginning that nobody states: it is not before that.
    """

    starts: str = ""
    ends: str = ""
    flagged: bool = False
    earliest: str = ""


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
    begins = interval.starts or interval.earliest
    if begins and first_instant(begins) >= span[1]:
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


# ── who or what holds what only one can hold at a time ────────────────────────────────────────────────────────────────

_LONGEST = 6  # words of a name
_SIGNS = Patterns("holding")


@dataclass(frozen=True, slots=True)
class Held:
    """That `holder` is `type` of `thing`: ids of entities, or folded names where the graph has none."""

    type: str
    thing: str
    holder: str


@dataclass(frozen=True, slots=True)
class _Name:
    start: int
    end: int
    id: str


def held_in(sentence: str, types: Sequence[str], known: Mapping[str, str]) -> Held | None:
    """What a sentence says of the first functional type that it names; `known` has the ids of folded names."""
    for type in types:
        # The type's own words, without the preposition at its end.
        words = _SIGNS["last_word"].sub("", type.strip()).split()
        pattern = r"\b" + r"\s+".join(map(re.escape, words)) + r"\b"
        for match in re.finditer(pattern, sentence, re.IGNORECASE):
            head, names = match.span(), list(_find_names(sentence, known, match.span()))
            thing = _find_thing(sentence, head, names)
            if thing is None:
                continue
            if holder := _find_holder(sentence, head, thing, [n for n in names if n.id != thing.id]):
                return Held(type, thing.id, holder)
    return None


def _find_thing(text: str, head: tuple[int, int], names: Sequence[_Name]) -> _Name | None:
    """The name right behind the type, or that owns it, or appoints to it."""
    behind = next((n for n in names if n.start >= head[1]), None)
    if behind and _SIGNS["of"].fullmatch(text[head[1] : behind.start]) and behind.start > head[1] + 1:
        return behind
    ahead = [n for n in names if n.end <= head[0]]
    if ahead and _SIGNS["owns"].fullmatch(text[ahead[-1].end : head[0]]):
        return ahead[-1]
    if ahead and _SIGNS["own"].search(text[: head[0]]):
        return ahead[0]
    if len(ahead) > 1 and _SIGNS["appoints"].search(text[ahead[0].end : ahead[1].start]):
        return ahead[0]
    return None


def _find_holder(text: str, head: tuple[int, int], thing: _Name, others: Sequence[_Name]) -> str:
    """Who yields is no holder: the next is. Of an owner's type what stands behind it; else who stands first."""
    ahead = [n for n in others if n.end <= head[0]]
    if len(ahead) > 1 and _SIGNS["yields"].search(text[ahead[0].end : ahead[1].start]):
        return ahead[1].id
    behind = [n for n in others if n.start >= head[1]]
    goes = [n for n in behind if _SIGNS["goes"].search(text[: n.start])]
    if thing.end <= head[0] and goes:
        return goes[0].id
    ranked = [*ahead, *goes, *behind]
    if ranked and not (ahead == [] and _find_value(text)):
        return ranked[0].id
    return _find_value(text)


def _find_value(text: str) -> str:
    """The first amount that is no date; empty where there is none."""
    dates = find_expressions(text)
    values = (m for m in _SIGNS["value"].finditer(text) if all(m.end() <= d.start or d.end <= m.start() for d in dates))
    return next((fold(m[0].strip(" .,")) for m in values), "")


def _find_names(text: str, known: Mapping[str, str], head: tuple[int, int]) -> Iterator[_Name]:
    """The names of a sentence in their order, the longest first where they overlap; the type's own words are none.

    A run of capitalised words that the graph does not know stands for itself.
    """
    words = [m for m in WORD.finditer(text) if m.end() <= head[0] or head[1] <= m.start()]
    at = 0
    while at < len(words):
        for size in range(min(_LONGEST, len(words) - at), 0, -1):
            run = words[at : at + size]
            name = text[run[0].start() : run[-1].end()]
            if name[:1].isupper() and not (run[0].start() < head[0] < run[-1].end()):
                plain = re.sub(r"['’]s?$", "", name)
                # By its capitals alone a run is a name where every word has one, and it is no first word of a sentence.
                parts = plain.split()
                capital = all(w[:1].isupper() for w in parts) and (len(parts) > 1 or run[0].start() > 0)
                if found := known.get(fold(plain), fold(plain) if capital else ""):
                    yield _Name(run[0].start(), run[0].start() + len(plain), found)
                    at += size
                    break
        else:
            at += 1
