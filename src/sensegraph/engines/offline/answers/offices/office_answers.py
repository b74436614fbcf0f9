"""Answers to who held what when: the holder at a time, all in order, and who came before or after whom.

Claims become terms of office: each from its beginning until its stated end, or until the next holder's term. The answer
names the holder first, then the sentences that show it. A time that no claim covers is said to be unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sensegraph.engines.offline.answers.asked import Asked, Written, show_sentence
from sensegraph.engines.offline.answers.offices.office_claims import OfficeReader
from sensegraph.engines.offline.answers.offices.office_sentences import Claim
from sensegraph.engines.offline.answers.offices.office_terms import (
    Term,
    end_instant,
    find_holders,
    group_by_thing,
    prefer_thing,
    settle_terms,
)
from sensegraph.engines.offline.answers.offices.office_words import find_people
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, differs_from
from sensegraph.engines.offline.reports.sentence_quality import join_with_and
from sensegraph.language.dates.intervals import span_through
from sensegraph.language.dates.moments import LAST, are_same_moment, first_instant
from sensegraph.language.dates.office_questions import OfficeQuestion, read_office_question
from sensegraph.language.text import fold
from sensegraph.language.word_lists import ENGLISH_MONTHS
from sensegraph.types import Statement

MOST = 3  # sentences shown


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


# ── answers ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _answer_time(question: OfficeQuestion, terms: Sequence[Term], undated: Sequence[Claim]) -> Written:
    first, last = question.first, question.last
    if question.kind == "since":
        begun = [t for t in terms if t.first and are_same_moment(t.first, first)]
        at = [t for t in find_holders(terms, span_through(first, first)) if end_instant(terms, terms.index(t)) == LAST]
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
    stop = r"of|at|on|in|since|until|from"
    told = (
        rf"{name}\s*\((?P<a>[^()\d,;]{{2,40}})\)|"
        rf"{name}\s+(?:becomes|became|is|was|has been|had been)\s+(?:the\s+|an?\s+)?"
        rf"(?P<b>[^\W\d][\w-]*(?:\s(?!{stop})[\w-]+){{0,3}})(?=\s(?:{stop})\b|[.,;])"
    )
    asked = set(fold(question.office).split())
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
    """Whether two are said to hold it at once: begun or seen at the same moment, or one within the other's term."""
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
