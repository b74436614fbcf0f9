"""Answers to who held what when: the holder at a time, all in order, and who came before or after whom.

Claims become terms of office: each from its beginning until its stated end, or until the next holder's term. The answer
names the holder first, then the sentences that show it. A time that no claim covers is said to be unknown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from sensegraph.engines.offline.answers.asked import Asked, Written, show_sentence
from sensegraph.engines.offline.answers.office_claims import Claim, OfficeReader, find_people
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, differs_from
from sensegraph.engines.offline.reports.sentence_quality import join_with_and
from sensegraph.language.dates.intervals import Span, span_through
from sensegraph.language.dates.moments import (
    FIRST,
    LAST,
    Instant,
    are_same_moment,
    first_instant,
    instant_after,
)
from sensegraph.language.dates.office_questions import OfficeQuestion, read_office_question
from sensegraph.language.text import fold
from sensegraph.language.word_lists import ENGLISH_MONTHS
from sensegraph.types import Statement

MOST = 3  # sentences shown


@dataclass(slots=True)
class Term:
    """One time in office of `holder`: `first` and `last` as stated, empty where nothing states them; `seen` in between."""

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


def answer_office(asked: Asked) -> Written | None:
    """The answer to who held an office; None where the question is another, or the context says nothing of it."""
    question = read_office_question(asked.question)
    if question is None:
        return None
    reader = OfficeReader(question, asked.chunks, asked.sentences)
    claims = prefer_thing(reader.read(), question, asked.sentences, reader.elsewhere)
    told = [
        (thing, written)
        for thing, group in group_by_thing(claims, question, asked.sentences)
        if (written := _answer_group(question, group, asked))
    ]
    sure = [(thing, written) for thing, written in told if not written.abstained] or told[:1]
    if len(sure) < 2:
        return sure[0][1] if sure else None
    statements: list[Statement] = []
    for thing, written in sure:
        first, *rest = written.statements
        lead = "\n\n" if statements else ""
        statements += [replace(first, text=f"{lead}{thing}: {first.text}" if thing else lead + first.text), *rest]
    return Written(tuple(statements))


def _answer_group(question: OfficeQuestion, claims: Sequence[Claim], asked: Asked) -> Written | None:
    """The answer from the claims on the office of one thing."""
    terms = settle_terms(claims)
    undated = [c for c in claims if c.kind == "holds" and not (c.first or c.last) and not c.loose]
    if not terms and not undated:
        return None
    if question.relation != "holder":
        return _answer_relation(question, terms, asked)
    if question.kind == "order":
        return _list_terms(question, terms, undated)
    if question.kind == "now":
        return _answer_now(question, terms, undated)
    return _answer_time(question, terms, undated)


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


# ── terms of office ───────────────────────────────────────────────────────────────────────────────────────────────────


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
    return [t for i, t in enumerate(terms) if t.earliest < span[1] and span[0] < _end_instant(terms, i)]


def _end_instant(terms: Sequence[Term], i: int) -> Instant:
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


# ── answers ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _answer_time(question: OfficeQuestion, terms: Sequence[Term], undated: Sequence[Claim]) -> Written:
    first, last = question.first, question.last
    if question.kind == "since":
        begun = [t for t in terms if t.first and are_same_moment(t.first, first)]
        at = [t for t in find_holders(terms, span_through(first, first)) if _end_instant(terms, terms.index(t)) == LAST]
        holders = begun or at
    elif question.kind in ("before", "after"):
        moment = last or first
        holders = find_holders(terms, span_through(moment, moment))
        holders = holders[-1:] if question.kind == "before" else holders[:1]
    else:
        holders = find_holders(terms, span_through(first, last))
    if holders:
        return _name_holders(holders, first or last)
    return _tell_unknown(question, terms, undated)


def _answer_now(question: OfficeQuestion, terms: Sequence[Term], undated: Sequence[Claim]) -> Written:
    if not terms:
        names = list(dict.fromkeys(c.holder for c in undated))
        if len(names) > 1:
            return _show("This is disputed: " + " or ".join(f"**{n}**" for n in names) + ".", undated)
        return _show(f"**{names[0]}**.", undated)
    latest = max(terms, key=lambda t: (t.earliest, t.latest))
    rivals = [t for t in terms if t.earliest == latest.earliest and t.first == latest.first]
    if latest.last:
        return _show(f"The sources name nobody after **{latest.holder}**{_say_time(latest)}.", latest.claims, True)
    return _name_holders(rivals, "")


def _answer_relation(question: OfficeQuestion, terms: Sequence[Term], asked: Asked) -> Written | None:
    """Who came right before or after the person that the question names."""
    wanted = set(fold(question.person).split())
    own = [i for i, t in enumerate(terms) if wanted <= set(fold(t.holder).split())]
    if not own:
        return None
    step = 1 if question.relation == "successor" else -1
    found: list[Term] = []
    for i in own:
        ahead = terms[i + 1 :] if step > 0 else terms[:i][::-1]
        other = next((t for t in ahead if t.holder != terms[i].holder), None)
        if other is not None and other.holder not in [t.holder for t in found]:
            found.append(other)
    if not found:
        side = "after" if step > 0 else "before"
        return _show(f"The sources name nobody {side} **{terms[own[-1]].holder}**.", terms[own[-1]].claims, True)
    lines = [f"**{t.holder}**{_say_manner(t)}{_say_time(t)}" for t in found]
    text, extra = "; ".join(lines), []
    if question.earlier and (before := find_earlier_role(found[0], asked.sentences, question)):
        text, extra = f"{text}; before that {before[0]}", [before[1]]
    return _show(f"{text}.", [c for t in found for c in t.claims], extra=extra)


def find_earlier_role(
    term: Term, sentences: Sequence[SourceSentence], question: OfficeQuestion
) -> tuple[str, SourceSentence] | None:
    """What the holder was before, as a sentence puts it behind the name: in brackets, or after a verb of becoming."""
    name = re.escape(term.holder)
    told = rf"{name}\s*\((?P<a>[^()\d,;]{{2,40}})\)|{name}\s+(?:becomes|became|is|was|has been|had been)\s+(?:the\s+|an?\s+)?(?P<b>[^\W\d][\w-]*(?:\s(?!of|at|on|in|since|until|from)[\w-]+){{0,3}})(?=\s(?:of|at|on|in|since|until|from)\b|[.,;])"
    asked = {w for w in fold(question.office).split()}
    mine = {c.sentence.order for c in term.claims}
    found: list[tuple[int, str, SourceSentence]] = []
    for one in sentences:
        for match in re.finditer(told, one.raw):
            role = (match["a"] or match["b"]).strip()
            if asked.isdisjoint(fold(role).split()) and one.order not in mine and not find_people(role):
                found.append((0 if match["b"] else 1, role, one))
    if not found:
        return None
    _, role, one = min(found, key=lambda f: (f[0], f[2].raw, f[2].source.chunk))
    return role, one


def _list_terms(question: OfficeQuestion, terms: Sequence[Term], undated: Sequence[Claim]) -> Written:
    """All holders, a line each; one alone as a holder is named."""
    if question.first or question.last:
        terms = find_holders(terms, span_through(question.first, question.last)) or terms
    if not terms:
        return _answer_now(question, terms, undated)
    if len(terms) == 1:
        return _name_holders(terms, "")
    statements = [Statement("In order of time:")]
    for number, term in enumerate(terms, 1):
        shown = _choose_sentences(term.claims)[:2]
        text = f"{chr(10) * (1 + (number == 1))}{number}. **{term.holder}**{_say_manner(term)}{_say_time(term)}"
        references = tuple(dict.fromkeys(s.reference for s in shown))
        statements.append(Statement(text, references, tuple(s.source for s in shown)))
    return Written(tuple(statements))


def _name_holders(holders: Sequence[Term], moment: str) -> Written:
    """One holder, several one after another, or two of whom the sources say the same."""
    named = [f"**{t.holder}**{_say_manner(t)}{_say_time(t)}" for t in holders]
    claims = [c for t in holders for c in t.claims]
    people = list(dict.fromkeys(t.holder for t in holders))
    if len(people) > 1 and any(_contradict(a, b) for i, a in enumerate(holders) for b in holders[i + 1 :]):
        chosen = [s for t in holders for s in _choose_sentences(t.claims)[:1]]
        return _show(f"This is disputed, the sources disagree: {', or '.join(named)}.", (), extra=chosen)
    if len(people) > 1:
        chosen = [s for t in holders for s in _choose_sentences(t.claims)[:1]]
        return _show(f"{', then '.join(named)}.", (), extra=chosen)
    return _show(f"{named[0]}.", claims)


def _contradict(a: Term, b: Term) -> bool:
    """Whether two holders are said to hold it at once: begun or seen at the same moment, or one within the other's term."""
    if a.holder == b.holder:
        return False
    if (a.first and b.first and are_same_moment(a.first, b.first)) or set(a.seen) & set(b.seen):
        return not (a.last and b.first and are_same_moment(a.last, b.first))
    early, late = sorted((a, b), key=lambda t: t.earliest)
    return bool(early.last) and late.earliest < first_instant(early.last)


def _tell_unknown(question: OfficeQuestion, terms: Sequence[Term], undated: Sequence[Claim]) -> Written:
    """That nobody is known for the time asked about, and who is known nearest to it."""
    span = span_through(question.first, question.last)
    office = f"{question.office} {question.thing}" if question.verb else question.office
    statements = [Statement(f"The sources do not say who it was at that time ({office}, {_write_stretch(question)}).")]
    before = [t for t in terms if t.latest <= span[0]]
    after = [t for t in terms if t.earliest >= span[1]]
    nearest = [("Last known before", t) for t in before[-1:]] + [("First known after", t) for t in after[:1]]
    for number, (label, term) in enumerate(nearest):
        shown = _choose_sentences(term.claims)[:1]
        text = (
            f"{_begin(number)}{label}: **{term.holder}**{_say_manner(term)}{_say_time(term)}: {show_sentence(shown[0])}"
        )
        statements.append(shown[0].cite(text))
    if not nearest:
        for number, one in enumerate(_choose_sentences(undated)[:MOST]):
            statements.append(one.cite(f"{_begin(number)}Without a date: {show_sentence(one)}"))
    return Written(tuple(statements), True)


def _show(text: str, claims: Sequence[Claim], abstained: bool = False, extra: Sequence[SourceSentence] = ()) -> Written:
    """The answer, and the sentences that show it."""
    own = _choose_sentences(claims)[: MOST - len(extra)]
    shown = list(dict.fromkeys((*own, *extra)))
    listed = [one.cite(_begin(number) + show_sentence(one)) for number, one in enumerate(shown)]
    return Written((Statement(text), *listed), abstained)


def _begin(number: int) -> str:
    return "\n- " if number else "\n\n- "


def _choose_sentences(claims: Sequence[Claim]) -> list[SourceSentence]:
    """The sentences of claims: what tells a beginning or end, then what only shows the holder, once; headings last."""

    def rank(claim: Claim) -> tuple[object, ...]:
        one = claim.sentence
        return (claim.seen, one.raw.startswith("#"), claim.first or claim.last, one.raw, one.source.chunk)

    chosen: list[SourceSentence] = []
    for claim in sorted(claims, key=rank):
        if claim.seen and len(chosen) > 1:
            break
        if claim.sentence not in chosen and differs_from(claim.sentence, chosen):
            chosen.append(claim.sentence)
    return chosen


def _say_manner(term: Term) -> str:
    return " (interim)" if term.temporary else ""


def _say_time(term: Term) -> str:
    first, last = (_write_date(m) for m in (term.first, term.last))
    if first and last:
        return f", from {first} until {last}"
    if first or last:
        return f", from {first}" if first else f", until {last}"
    seen = sorted(set(term.seen), key=first_instant)
    listed = [_write_date(m) for m in (seen[0], seen[-1])] if len(seen) > 1 else [_write_date(m) for m in seen]
    return f", named on {join_with_and(listed)}" if listed else ""


def _write_date(moment: str) -> str:
    """A day, month or year in words: 30 June 2023."""
    parts = moment.split("-")
    if not moment or len(parts) > 3 or not parts[0]:
        return moment
    words = [str(int(parts[2][:2]))] if len(parts) > 2 else []
    words += [ENGLISH_MONTHS[int(parts[1]) - 1].title()] if len(parts) > 1 else []
    return " ".join([*words, str(int(parts[0]))])


def _write_stretch(question: OfficeQuestion) -> str:
    first, last = _write_date(question.first), _write_date(question.last)
    return (
        first
        if first == last
        else " ".join(w for w in (f"from {first}" if first else "", f"until {last}" if last else "") if w)
    )
