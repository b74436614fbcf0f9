"""Terms of office: what claims on one office say together, in the order of time, and who held it when."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from sensegraph.engines.offline.answers.offices.office_sentences import Claim
from sensegraph.engines.offline.answers.offices.office_words import find_people
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.language.dates.intervals import Span
from sensegraph.language.dates.moments import FIRST, LAST, Instant, are_same_moment, first_instant, instant_after
from sensegraph.language.dates.office_questions import OfficeQuestion
from sensegraph.language.text import fold


@dataclass(slots=True)
class Term:
    """One time in office of `holder`: `first` and `last` as stated, empty where they are not; `seen` in between."""

    holder: str
    first: str = ""
    last: str = ""
    temporary: bool = False
    seen: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    @property
    def earliest(self) -> Instant:
        """From when it is known; an end alone is known for its own year."""
        known = [first_instant(m) for m in (self.first, *self.seen) if m]
        return min(known) if known else first_instant(self.last[:4]) if self.last else FIRST

    @property
    def latest(self) -> Instant:
        """Until when it is known."""
        return instant_after(self.last) if self.last else max(instant_after(m) for m in (self.first, *self.seen) if m)


def settle_terms(claims: Sequence[Claim]) -> list[Term]:
    """The terms that dated claims make, in the order of time; the order of the claims makes no difference."""
    place = {"ends": 0, "begins": 1, "holds": 1}
    dated = [c for c in claims if (c.first or c.last) and not _is_announced(c, claims)]
    about = {c.holder for c in claims if not c.loose}
    known = [c for c in dated if not c.loose or c.kind == "begins" or c.holder in about]

    def order(c: Claim) -> tuple[object, ...]:
        at = first_instant(c.first) if c.first else instant_after(c.last)
        return (at, place[c.kind], c.seen, -len(c.first or c.last), c.holder, c.sentence.raw, c.sentence.source.chunk)

    terms: list[Term] = []
    ends = [c for c in known if c.kind == "ends"]
    for claim in sorted((c for c in known if c.kind != "ends"), key=order):
        found = _find_term(claim, terms, ends)
        if found is None:
            found = Term(claim.holder, temporary=claim.temporary)
            terms.append(found)
        _add_claim(found, claim)
    for claim in sorted(ends, key=order):
        _end_term(claim, terms)
    return sorted(terms, key=lambda t: (t.earliest, t.latest, t.holder))


def _is_announced(claim: Claim, claims: Sequence[Claim]) -> bool:
    """Whether a beginning without a date is told with one elsewhere: in the same document, or for soon after."""
    if claim.kind != "begins" or not claim.seen:
        return False
    begun = [c for c in claims if c.kind != "ends" and c.first and not c.seen and c.holder == claim.holder]
    year = first_instant(claim.first)[0]
    return any(c.sentence.origin == claim.sentence.origin or 0 <= first_instant(c.first)[0] - year <= 1 for c in begun)


def _find_term(claim: Claim, terms: Sequence[Term], ends: Sequence[Claim]) -> Term | None:
    """The term that a claim goes on with: the last one, if it is the same holder's and nothing ended it in between."""
    own = [t for t in terms if t.holder == claim.holder]
    if not own:
        return None
    last = own[-1]
    at = first_instant(claim.first)
    inside = bool(last.last) and at < instant_after(last.last)
    stopped = any(
        c.holder == claim.holder and not c.loose and last.earliest < instant_after(c.last) <= at for c in ends
    )
    same_begin = bool(last.first) and not claim.seen and are_same_moment(last.first, claim.first)
    between = any(t.holder != claim.holder and last.earliest < t.earliest <= at for t in terms)
    if same_begin or inside:
        return last
    if stopped or between or last.last:
        return None
    return last if claim.seen or last.temporary == claim.temporary else None


def _add_claim(term: Term, claim: Claim) -> None:
    term.claims.append(claim)
    if claim.seen:
        term.seen.append(claim.first)
        return
    # of beginnings at the same moment the most precise stands; a later one ("re-elected") changes nothing
    if not term.first and all(_count_months(claim.first) - _count_months(s) <= 1 for s in term.seen):
        term.first, term.seen = claim.first, [s for s in term.seen if first_instant(s) >= first_instant(claim.first)]
    elif term.first and are_same_moment(term.first, claim.first) and len(claim.first) > len(term.first):
        term.first = claim.first
    if claim.last and not term.last:
        term.last = claim.last
    term.temporary = term.temporary or (claim.temporary and claim.first == term.first)


def _count_months(moment: str) -> int:
    year, month, *_ = first_instant(moment)
    return 12 * year + month


def _end_term(claim: Claim, terms: list[Term]) -> None:
    """Ends the holder's last term that began before; one of its own where none did and the claim names the office."""
    after = instant_after(claim.last)
    begun = [t for t in terms if t.holder == claim.holder and t.earliest < after]
    if not begun:
        if not any(t.holder == claim.holder for t in terms):
            terms.append(Term(claim.holder, last=claim.last, claims=[claim]))
        return
    term = max(begun, key=lambda t: t.earliest)
    others = [t for t in terms if t.holder != claim.holder and term.earliest < t.earliest and t.first]
    followed = min((first_instant(t.first) for t in others), default=LAST)
    if claim.loose and (
        term.last or followed < first_instant(claim.last) or any(first_instant(s) > after for s in term.seen)
    ):
        return
    if not term.last or are_same_moment(term.last, claim.last):
        term.last = max(term.last, claim.last, key=len)
        term.claims.append(claim)


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
    texts: dict[str, str] = {}
    for s in sentences:
        texts[s.origin] = f"{texts.get(s.origin, s.document)} {s.raw}"
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
    texts: dict[str, str] = {}
    for s in sentences:
        texts[s.origin] = f"{texts.get(s.origin, s.document)} {s.raw}"
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
