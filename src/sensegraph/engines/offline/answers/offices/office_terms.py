"""Terms of office: what claims on one office say together, in the order of time, and who held it when."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from sensegraph.engines.offline.answers.offices.office_sentences import Claim
from sensegraph.engines.offline.answers.offices.office_words import find_people
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.language.dates.intervals import Span
from sensegraph.language.dates.moments import FIRST, LAST, Instant, are_same_moment, first_instant, instant_after
from sensegraph.language.dates.office_questions import OfficeQuestion
from sensegraph.language.text import fold


@dataclass(frozen=True, slots=True)
class Term:
    """One time in office of `holder`: `first` and `last` as stated, empty where they are not; `seen` in between."""

    holder: str
    first: str = ""
    last: str = ""
    temporary: bool = False
    seen: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()

    @property
    def earliest(self) -> Instant:
        """From when it is known; an end alone is known for its own year."""
        known = [first_instant(m) for m in (self.first, *self.seen) if m]
        return min(known) if known else first_instant(self.last[:4]) if self.last else FIRST

    @property
    def latest(self) -> Instant:
        """Until when it is known."""
        return instant_after(self.last) if self.last else max(instant_after(m) for m in (self.first, *self.seen) if m)

    def add(self, claim: Claim) -> Term:
        """The term with what a claim tells beside it."""
        claims, first, seen = (*self.claims, claim), self.first, self.seen
        if claim.seen:
            return replace(self, claims=claims, seen=(*seen, claim.first))
        # of beginnings at the same moment the most precise stands; a later one ("re-elected") changes nothing
        if not first and all(_count_months(claim.first) - _count_months(s) <= 1 for s in seen):
            first = claim.first
            seen = tuple(s for s in seen if first_instant(s) >= first_instant(first))
        elif first and are_same_moment(first, claim.first) and len(claim.first) > len(first):
            first = claim.first
        temporary = self.temporary or (claim.temporary and claim.first == first)
        return Term(self.holder, first, self.last or claim.last, temporary, seen, claims)

    def contradicts(self, other: Term) -> bool:
        """Whether two are said to hold it at once: begun or seen at the same moment, or one within the other's term."""
        if self.holder == other.holder:
            return False
        if (self.first and other.first and are_same_moment(self.first, other.first)) or set(self.seen) & set(
            other.seen
        ):
            return not (self.last and other.first and are_same_moment(self.last, other.first))
        early, late = sorted((self, other), key=lambda t: t.earliest)
        return bool(early.last) and late.earliest < first_instant(early.last)


def settle_terms(claims: Sequence[Claim]) -> list[Term]:
    """The terms that dated claims make, in the order of time; the order of the claims makes no difference."""
    place = {"ends": 0, "begins": 1, "holds": 1}
    about = {c.holder for c in claims if not c.loose}
    known = [
        c
        for c in claims
        if (c.first or c.last)
        and (not c.loose or c.kind == "begins" or c.holder in about)
        and not (c.kind == "begins" and c.seen and any(c.announces(other) for other in claims))
    ]

    def order(c: Claim) -> tuple[object, ...]:
        at = first_instant(c.first) if c.first else instant_after(c.last)
        return (at, place[c.kind], c.seen, -len(c.first or c.last), c.holder, c.sentence.raw, c.sentence.source.chunk)

    settling = _Settling([c for c in known if c.kind == "ends"])
    for claim in sorted((c for c in known if c.kind != "ends"), key=order):
        settling.add(claim)
    for claim in sorted(settling.ends, key=order):
        settling.end(claim)
    # of what is known from the same moment, whoever is only known to end comes first
    return sorted(settling.terms, key=lambda t: (t.earliest, bool(t.first or t.seen), t.latest, t.holder))


class _Settling:
    """The terms that are made out of claims, one claim after another; `ends` are the claims that end some."""

    def __init__(self, ends: Sequence[Claim]) -> None:
        self.ends = ends
        self.terms: list[Term] = []

    def add(self, claim: Claim) -> None:
        """Puts a claim into the term that it goes on with, or into a new one."""
        at = self._find(claim)
        if at is None:
            self.terms.append(Term(claim.holder, temporary=claim.temporary).add(claim))
        else:
            self.terms[at] = self.terms[at].add(claim)

    def _find(self, claim: Claim) -> int | None:
        """The place of the term that a claim goes on with: the holder's last, if nothing ended it in between."""
        own = [i for i, t in enumerate(self.terms) if t.holder == claim.holder]
        if not own:
            return None
        last, at = self.terms[own[-1]], first_instant(claim.first)
        inside = bool(last.last) and at < instant_after(last.last)
        same_begin = bool(last.first) and not claim.seen and are_same_moment(last.first, claim.first)
        if same_begin or inside:
            return own[-1]
        ends = [c for c in self.ends if c.holder == claim.holder and not c.loose]
        stopped = any(last.earliest < instant_after(c.last) <= at for c in ends)
        between = any(t.holder != claim.holder and last.earliest < t.earliest <= at for t in self.terms)
        goes_on = claim.seen or last.temporary == claim.temporary
        return own[-1] if goes_on and not (stopped or between or last.last) else None

    def end(self, claim: Claim) -> None:
        """Ends the holder's last term that began before; a holder without a term gets one, known by its end."""
        own = [i for i, t in enumerate(self.terms) if t.holder == claim.holder]
        if not own:
            self.terms.append(Term(claim.holder, last=claim.last, claims=(claim,)))
        after = instant_after(claim.last)
        begun = [i for i in own if self.terms[i].earliest < after]
        if not begun:
            return
        at = max(begun, key=lambda i: self.terms[i].earliest)
        term = self.terms[at]
        others = [t for t in self.terms if t.holder != claim.holder and term.earliest < t.earliest and t.first]
        followed = min((first_instant(t.first) for t in others), default=LAST)
        if claim.loose and (
            term.last or followed < first_instant(claim.last) or any(first_instant(s) > after for s in term.seen)
        ):
            return
        if not term.last or are_same_moment(term.last, claim.last):
            last = max(term.last, claim.last, key=len)
            self.terms[at] = replace(term, last=last, claims=(*term.claims, claim))


def _count_months(moment: str) -> int:
    year, month, *_ = first_instant(moment)
    return 12 * year + month


def find_holders(terms: Sequence[Term], span: Span) -> list[Term]:
    """The terms that are known to hold at some instant of `span`, in their order."""
    return [t for i, t in enumerate(terms) if t.earliest < span[1] and span[0] < end_instant(terms, i)]


def end_instant(terms: Sequence[Term], i: int) -> Instant:
    """When a term ends: as stated, else where another's begins; what has begun and is not ended by anybody goes on."""
    term = terms[i]
    if term.last:
        return instant_after(term.last)
    later = [t for t in terms if t.holder != term.holder and t.earliest > term.earliest]
    following = min(later, key=lambda t: t.earliest, default=None)
    if following is None:
        return LAST if term.first else term.latest
    # where neither the beginning nor the next one's is told, it is not known when it changed
    return following.earliest if term.first or following.first else min(term.latest, following.earliest)


# ── offices of several things ──


def group_by_thing(
    claims: Sequence[Claim], question: OfficeQuestion, sentences: Sequence[SourceSentence]
) -> list[tuple[str, list[Claim]]]:
    """The claims by the thing whose office it is, where the question names none and the sentences name several.

    A claim that names none is on the thing that its document names, if it names only one.
    """
    things = sorted({c.thing for c in claims if c.thing}, key=lambda t: (len(t), t))
    own = [t for i, t in enumerate(things) if not any(u in t for u in things[:i])]
    if question.thing or len(own) < 2:
        return [("", list(claims))]
    texts = _join_documents(sentences)
    groups: dict[str, list[Claim]] = {}
    for claim in claims:
        said = claim.thing or texts[claim.sentence.origin]
        named = [t for t in own if t in said]
        groups.setdefault(named[0] if len(named) == 1 else "", []).append(claim)
    return sorted(groups.items())


def prefer_thing(
    claims: Sequence[Claim], question: OfficeQuestion, sentences: Sequence[SourceSentence], elsewhere: Collection[str]
) -> list[Claim]:
    """The claims of documents that name the thing asked about, and of those that share people with them; else all.

    What names only a thing `elsewhere`, which others hold the office of, is left out.
    """
    words = [w for w in fold(question.thing).split() if len(w) > 2]
    texts = _join_documents(sentences)
    naming = {o for o, text in texts.items() if any(w[:6] in fold(text) for w in words)}
    claiming = {c.sentence.origin for c in claims}
    if not claiming & naming:
        return list(claims)
    waiting = {o for o in claiming - naming if not any(name in texts[o] for name in elsewhere)}
    people = {o: {name for _, _, name in find_people(texts[o]) if " " in name} for o in claiming}
    linked, known = set(claiming & naming), set[str]()
    while linked:
        known |= {name for o in linked for name in people[o]}
        naming |= linked
        waiting -= linked
        linked = {o for o in waiting if not known.isdisjoint(people[o])}
    return [c for c in claims if c.sentence.origin in naming]


def _join_documents(sentences: Sequence[SourceSentence]) -> dict[str, str]:
    """The title and the sentences of each document as one text."""
    texts: dict[str, str] = {}
    for s in sentences:
        texts[s.origin] = f"{texts.get(s.origin, s.document)} {s.raw}"
    return texts
