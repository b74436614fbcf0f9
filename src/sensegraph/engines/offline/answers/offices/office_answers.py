"""Answers to who held what when: the holder at a time, all in order, and who came before or after whom.

Claims become terms of office: each from its beginning until its stated end, or until the next holder's term. The answer
names the holder first, then the sentences that show it. A time that no claim covers is said to be unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from sensegraph.engines.offline.answers.asked import Asked, Written, show_sentence, write_date
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
from sensegraph.types import Statement

MOST = 3  # sentences shown


def answer_office(asked: Asked) -> Written | None:
    """The answer to who held an office; None where the question is another, or the context says nothing of it."""
    question = read_office_question(asked.question)
    if question is None:
        return None
    reader = OfficeReader(question, asked.chunks, asked.sentences)
    claims = prefer_thing(reader.read(), question, asked.sentences, reader.elsewhere)
    told = []
    for thing, group in group_by_thing(claims, question, asked.sentences):
        undated = [c for c in group if c.kind == "holds" and not (c.first or c.last) and not c.loose]
        if written := _Record(question, asked.sentences, settle_terms(group), undated).answer():
            told.append((thing, written))
    sure = [(thing, written) for thing, written in told if not written.abstained] or told[:1]
    if len(sure) < 2:
        return sure[0][1] if sure else None
    statements: list[Statement] = []
    for thing, written in sure:
        first, *rest = written.statements
        lead = "\n\n" if statements else ""
        statements += [replace(first, text=f"{lead}{thing}: {first.text}" if thing else lead + first.text), *rest]
    return Written(tuple(statements))


@dataclass(frozen=True, slots=True)
class _Record:
    """What is known of the office of one thing: the terms in order, and the claims that have no date."""

    question: OfficeQuestion
    sentences: Sequence[SourceSentence]
    terms: Sequence[Term]
    undated: Sequence[Claim]

    def answer(self) -> Written | None:
        """The answer; None where nothing is known, or nothing of the person that the question names."""
        if not self.terms and not self.undated:
            return None
        if self.question.relation != "holder":
            return self._answer_relation()
        if self.question.kind == "order":
            return self._list_terms()
        return self._answer_now() if self.question.kind == "now" else self._answer_time()

    def _answer_time(self) -> Written:
        first, last = self.question.first, self.question.last
        if self.question.kind == "since":
            begun = [t for t in self.terms if t.first and are_same_moment(t.first, first)]
            at = find_holders(self.terms, span_through(first, first))
            holders = begun or [t for t in at if end_instant(self.terms, self.terms.index(t)) == LAST]
        elif self.question.kind in ("before", "after"):
            moment = last or first
            holders = find_holders(self.terms, span_through(moment, moment))
            holders = holders[-1:] if self.question.kind == "before" else holders[:1]
        else:
            holders = find_holders(self.terms, span_through(first, last))
        return _name_holders(holders) if holders else self._tell_unknown()

    def _answer_now(self) -> Written:
        if not self.terms:
            names = list(dict.fromkeys(c.holder for c in self.undated))
            if len(names) > 1:
                return _show("This is disputed: " + " or ".join(f"**{n}**" for n in names) + ".", self.undated)
            return _show(f"**{names[0]}**.", self.undated)
        latest = max(self.terms, key=lambda t: (t.earliest, t.latest))
        rivals = [t for t in self.terms if t.earliest == latest.earliest and t.first == latest.first]
        if latest.last:
            return _show(f"The sources name nobody after **{latest.holder}**{_say_time(latest)}.", latest.claims, True)
        return _name_holders(rivals)

    def _answer_relation(self) -> Written | None:
        """Who came right before or after the person that the question names."""
        wanted = set(fold(self.question.person).split())
        own = [i for i, t in enumerate(self.terms) if wanted <= set(fold(t.holder).split())]
        if not own:
            return None
        later = self.question.relation == "successor"
        found: list[Term] = []
        for i in own:
            ahead = self.terms[i + 1 :] if later else self.terms[:i][::-1]
            other = next((t for t in ahead if t.holder != self.terms[i].holder), None)
            if other is not None and other.holder not in [t.holder for t in found]:
                found.append(other)
        if not found:
            side = "after" if later else "before"
            last = self.terms[own[-1]]
            return _show(f"The sources name nobody {side} **{last.holder}**.", last.claims, True)
        text, extra = "; ".join(map(_name_term, found)), []
        if self.question.earlier and (before := self._find_earlier_role(found[0])):
            text, extra = f"{text}; before that {before[0]}", [before[1]]
        return _show(f"{text}.", [c for t in found for c in t.claims], extra=extra)

    def _find_earlier_role(self, term: Term) -> tuple[str, SourceSentence] | None:
        """What the holder was before, as a sentence puts it behind the name: in brackets, or after “became”."""
        name = re.escape(term.holder)
        stop = r"of|at|on|in|since|until|from"
        told = (
            rf"{name}\s*\((?P<a>[^()\d,;]{{2,40}})\)|"
            rf"{name}\s+(?:becomes|became|is|was|has been|had been)\s+(?:the\s+|an?\s+)?"
            rf"(?P<b>[^\W\d][\w-]*(?:\s(?!{stop})[\w-]+){{0,3}})(?=\s(?:{stop})\b|[.,;])"
        )
        asked = set(fold(self.question.office).split())
        mine = {c.sentence.order for c in term.claims}
        found: list[tuple[int, str, SourceSentence]] = []
        for one in self.sentences:
            for match in re.finditer(told, one.raw):
                role = (match["a"] or match["b"]).strip()
                if asked.isdisjoint(fold(role).split()) and one.order not in mine and not find_people(role):
                    found.append((0 if match["b"] else 1, role, one))
        if not found:
            return None
        _, role, one = min(found, key=lambda f: (f[0], f[2].raw, f[2].source.chunk))
        return role, one

    def _list_terms(self) -> Written:
        """All holders, a line each; one alone as a holder is named."""
        if not self.terms:
            return self._answer_now()
        terms = self.terms
        if self.question.first:
            terms = find_holders(terms, span_through(self.question.first, self.question.last)) or terms
        if len(terms) == 1:
            return _name_holders(terms)
        statements = [Statement("In order of time:")]
        for number, term in enumerate(terms, 1):
            shown = _choose_sentences(term.claims)[:2]
            text = f"{chr(10) * (1 + (number == 1))}{number}. {_name_term(term)}"
            references = tuple(dict.fromkeys(s.reference for s in shown))
            statements.append(Statement(text, references, tuple(s.source for s in shown)))
        return Written(tuple(statements))

    def _tell_unknown(self) -> Written:
        """That nobody is known for the time asked about, and who is known nearest to it."""
        span = span_through(self.question.first, self.question.last)
        office = f"{self.question.office} {self.question.thing}" if self.question.verb else self.question.office
        first, last = write_date(self.question.first), write_date(self.question.last)
        words = (f"from {first}" if first else "", f"until {last}" if last else "")
        stretch = first if first == last else " ".join(filter(None, words))
        statements = [Statement(f"The sources do not say who it was at that time ({office}, {stretch}).")]
        before = [t for t in self.terms if t.latest <= span[0]]
        after = [t for t in self.terms if t.earliest >= span[1]]
        nearest = [("Last known before", t) for t in before[-1:]] + [("First known after", t) for t in after[:1]]
        for number, (label, term) in enumerate(nearest):
            one = _choose_sentences(term.claims)[0]
            statements.append(one.cite(f"{_begin(number)}{label}: {_name_term(term)}: {show_sentence(one)}"))
        if not nearest:
            for number, one in enumerate(_choose_sentences(self.undated)[:MOST]):
                statements.append(one.cite(f"{_begin(number)}Without a date: {show_sentence(one)}"))
        return Written(tuple(statements), True)


def _name_holders(holders: Sequence[Term]) -> Written:
    """One holder, several one after another, or two of whom the sources say the same."""
    named = [_name_term(t) for t in holders]
    if len({t.holder for t in holders}) == 1:
        return _show(f"{named[0]}.", [c for t in holders for c in t.claims])
    chosen = [s for t in holders for s in _choose_sentences(t.claims)[:1]]
    if any(a.contradicts(b) for a, b in combinations(holders, 2)):
        return _show(f"This is disputed, the sources disagree: {', or '.join(named)}.", (), extra=chosen)
    return _show(f"{', then '.join(named)}.", (), extra=chosen)


def _show(text: str, claims: Sequence[Claim], abstained: bool = False, extra: Sequence[SourceSentence] = ()) -> Written:
    """The answer, and the sentences that show it."""
    own = _choose_sentences(claims)[: MOST - len(extra)]
    shown = list(dict.fromkeys((*own, *extra)))
    listed = [one.cite(_begin(number) + show_sentence(one)) for number, one in enumerate(shown)]
    base = () if abstained else tuple(shown)  # what is said of nobody rests on no sentence
    head = Statement(text, tuple(dict.fromkeys(s.reference for s in base)), tuple(s.source for s in base))
    return Written((head, *listed), abstained)


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


def _name_term(term: Term) -> str:
    return f"**{term.holder}**{' (interim)' if term.temporary else ''}{_say_time(term)}"


def _say_time(term: Term) -> str:
    first, last = (write_date(m) for m in (term.first, term.last))
    if first and last:
        return f", from {first} until {last}"
    if first or last:
        return f", from {first}" if first else f", until {last}"
    seen = sorted(set(term.seen), key=first_instant)
    listed = [write_date(m) for m in (seen[0], seen[-1])] if len(seen) > 1 else [write_date(m) for m in seen]
    return f", named {'on' if len(seen[-1]) > 7 else 'in'} {join_with_and(listed)}" if listed else ""
