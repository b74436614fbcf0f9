"""Groups of similar things, named and described with no model (LeanRAG, Eq. 4; HiRAG §4.1).

The name says who is in a group, the description and the findings are sentences of the sources, word for word.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from sensegraph.engines.offline.reports.general_sentences import rate_generality
from sensegraph.engines.offline.reports.group_lines import (
    Gathered,
    Line,
    Member,
    count_length,
    gather_group,
    rate_line,
    split_group_name,
    state_line,
)
from sensegraph.engines.offline.reports.headlines import find_headline
from sensegraph.engines.offline.reports.quotes import split_relation_title
from sensegraph.engines.offline.reports.sentence_choice import general_stems, is_repeat
from sensegraph.engines.offline.reports.sentence_quality import stem_text
from sensegraph.engines.offline.reports.shown_names import (
    capitalise,
    choose_distinct_names,
    join_title_names,
    join_with_and,
    names_nothing,
    show_natural_case,
)
from sensegraph.language.noun_phrases import find_commonest_type, pluralize
from sensegraph.language.text import fold, take_within
from sensegraph.types import Brief, Finding, Membership, Passage, Report, Statement, SummaryEntity

DESCRIBED = 3  # sentences of a description
FINDINGS = 5
QUOTED = 2  # sentences of a finding
AMONG = 8  # members that a description lists
KINDS = 3  # types that it counts
NAMED, MOST = 2, 6  # members in a name, and where shorter names are taken
TRIED = 40  # relations and members looked at for findings, strongest first
HUBS = 2  # findings that may be on one and the same member
LEAST = 0.12  # soundness below which a sentence is shown only where there is no other
HEADED = 1.5  # merit from which a clause makes a headline
GENERAL = 0.5  # generality from which a clause makes one
STRENGTH = 10.0  # of the most central member


def aggregate_groups(briefs: Sequence[Brief]) -> list[Report]:
    """Name, description and findings of each group; the findings are its strongest inner relations, then members."""
    reports = []
    for brief in briefs:
        writer = _GroupWriter(gather_group(brief))
        summary = writer.description(brief.words)
        title = writer.name() or brief.context.title
        reports.append(Report(title, summary, writer.findings()))
    return reports


def abstract_groups(briefs: Sequence[Brief]) -> list[tuple[SummaryEntity, ...]]:
    """One summary entity for each group, with all its members; none where there is no member."""
    entities: list[tuple[SummaryEntity, ...]] = []
    for brief in briefs:
        found = gather_group(brief)
        if not found.members:
            entities.append(())
            continue
        writer = _GroupWriter(found)
        name = writer.name()
        said = f"member of {name}" if found.code == "en" else name
        members = {m.id: Membership(m.id, said, round(max(1.0, STRENGTH * m.strength), 1)) for m in found.members}
        given = tuple(members[p.id] for p in brief.context.passages if p.id in members)
        kind = find_commonest_type(Counter(m.kind for m in found.members if m.kind))
        entities.append((SummaryEntity(name, kind, writer.description(brief.words), given),))
    return entities


class _GroupWriter:
    """Writes about one group; knows the lines that it has shown, and how often it wrote of each name."""

    def __init__(self, found: Gathered) -> None:
        self.of = found
        self.shown: list[Line] = []
        self.times: Counter[str] = Counter()
        self.headlines: set[str] = set()
        self.nouns = {m.id: pluralize(m.kind) for m in found.members}
        self.ranked = sorted(found.members, key=lambda m: (self.empty(m.names[0]), -m.strength, m.title, m.id))

    # ── the name ──

    def name(self) -> str:
        """The most central names and what kind of things they are among; never that of a member."""
        noun, members = self.kind()
        names = choose_distinct_names([m.names[0] for m in members], MOST, self.of.code)
        taken = {fold(m.title) for m in self.of.members}
        for count in range(min(NAMED, len(names)), len(names) + 1):
            if fold(name := self.called(names[:count], noun)) not in taken:
                return name
        return f"{self.called(names, noun)} ({len(self.of.members)})"

    def kind(self) -> tuple[str, list[Member]]:
        """The noun for most of the members where it is also that of the first, and those that it names; else all."""
        noun = find_commonest_type(Counter(n for n in self.nouns.values() if n))
        own = [m for m in self.ranked if self.nouns[m.id] == noun]
        most = bool(noun) and own[0] is self.ranked[0] and len(own) > NAMED and 2 * len(own) > len(self.ranked)
        return (noun, own) if most else ("", self.ranked)

    def called(self, names: Sequence[str], noun: str) -> str:
        """Names in one line, with what else there is; in groups there always is something."""
        rest = len(self.of.members) - len(names)
        shown = [self.cased(name) for name in names]
        if rest <= 0 and not self.of.reports:
            return join_title_names(shown, self.of.code)
        if self.of.code == "en":
            return capitalise(f"{', '.join(shown)} and other{f' {noun}' if noun else 's'}")
        marks = ("（", "）") if self.of.code == "zh" else (" (", ")")
        return f"{join_title_names(shown, self.of.code)}{marks[0]}{f'+{rest}' if rest > 0 else '…'}{marks[1]}"

    def empty(self, name: str) -> bool:
        """Whether a name says little of a group: a number, a span of time, a general word."""
        own = stem_text(name, self.of.code)
        return names_nothing(name) or not own or (self.of.code == "en" and set(own) <= general_stems())

    def cased(self, name: str) -> str:
        """A name as the group's sentences have it."""
        own = set(stem_text(name, self.of.code))
        return show_natural_case(name, [line.text for line in self.of.lines if own and own <= set(line.terms)][:20])

    # ── the description ──

    def description(self, words: int) -> tuple[Statement, ...]:
        """Who is in the group, and sentences near its centre; at most `words` words, where that is not 0.

        The sentences come first where there is no room for both.
        """
        among = [self.among()] if len(self.of.members) > NAMED else []
        room = words or sys.maxsize
        picked = take_within(self.of.picked(DESCRIBED), room, lambda line: count_length(line.shown))[0]
        self.shown += picked
        used = sum(count_length(line.shown) for line in picked)
        fits = all(count_length(s.text) <= room - used for s in among)
        return (*(among if fits else ()), *(state_line(line) for line in picked))

    def among(self) -> Statement:
        """How many things of which kinds are in the group, and the names of the first.

        It cites nothing: it is a count, and no passage's own words.
        """
        few = len(self.of.members) <= AMONG and not self.of.omitted
        every = list(dict.fromkeys(m.names[0] for m in self.ranked))
        names = every if few else choose_distinct_names(every, AMONG, self.of.code)
        names = [self.cased(name) for name in names] if self.of.reports else names  # a group's name begins large
        if self.of.code != "en":
            return Statement(f"{join_title_names(names, self.of.code)} ")
        least = "At least " if self.of.omitted else ""
        return Statement(f"{least}{self.kinds()}{':' if few else ', among them'} {join_with_and(names)}. ")

    def kinds(self) -> str:
        """How many members there are of the commonest types: "8 concepts, 3 places and 2 others"."""
        counts = Counter(n for n in self.nouns.values() if n)
        top = sorted((n for n in counts if counts[n] > 1), key=lambda n: (-counts[n], n))[:KINDS]
        rest = len(self.nouns) - sum(counts[n] for n in top)
        parts = [f"{counts[n]} {n}" for n in top]
        if rest:
            parts.append(f"{rest} {'other' if top else 'member'}{'s' if rest > 1 else ''}")
        return join_with_and(parts)

    # ── findings ──

    def findings(self) -> tuple[Finding, ...]:
        """What is said of the strongest inner relations, then of the most central members; sound sentences first."""
        strength = {m.title: m.strength for m in self.of.members}

        def weight(relation: Passage) -> float:
            one, other = (strength.get(name, 0.0) for name in split_relation_title(relation))
            return (1 + relation.score) * (0.1 + one) * (0.1 + other)

        ranked = sorted(self.of.relations, key=lambda r: (-weight(r), r.id))
        found: list[Finding] = []
        for least in (LEAST, 0.0):
            for relation in ranked[:TRIED]:
                found += self.on_relation(relation, least) if len(found) < FINDINGS else []
            for member in self.ranked[:TRIED]:
                found += self.on_member(member, least) if len(found) < FINDINGS else []
        return tuple(found)

    def on_relation(self, relation: Passage, least: float) -> list[Finding]:
        """A finding on a relation of which no end is worn out, on sentences that hold a name of either end."""
        groups = [split_group_name(end)[0] for end in split_relation_title(relation) if end]
        good = [line for line in self.of.own[relation.id] if all(self.held(names, line) for names in groups)]
        for line in sorted(good, key=self.rank)[:1]:
            names = [self.held(names, line) for names in groups]
            if all(self.times[name] < HUBS for name in names):
                return self.finding(relation.id, names, [line], 1, least)
        return []

    def held(self, names: Sequence[str], line: Line) -> str:
        """The first of an end's names that the line holds; "" where it holds none."""
        terms = set(line.terms)
        return next((name for name in names if terms.issuperset(stem_text(name, self.of.code))), "")

    def rank(self, line: Line) -> tuple[float, str, str]:
        """What puts lines in the order of their worth."""
        return -self.of.worth(line), line.text, line.speaker

    def on_member(self, member: Member, least: float) -> list[Finding]:
        """A finding on a member that none has been written on."""
        name = member.title if member.id in self.of.reports else member.names[0]
        if self.times[name] or self.empty(member.names[0]):
            return []
        count = QUOTED if member.id in self.of.reports else 1
        return self.finding(member.id, [name], self.of.own[member.id], count, least)

    def finding(
        self, passage: str, names: Sequence[str], lines: Sequence[Line], count: int, least: float
    ) -> list[Finding]:
        """The finding with the best of some lines; none where these have been shown or are less sound than `least`."""
        picked: list[Line] = []
        for line in sorted((x for x in lines if rate_line(x.text, self.of.code) >= least), key=self.rank):
            new = not any(is_repeat(line.terms, other.terms) for other in (*self.shown, *picked))
            picked += [line] if new and len(picked) < count else []
        if not picked or (headline := self.headline(picked[0], names)) in self.headlines:
            return []
        self.shown += picked
        self.times.update(names)
        self.headlines.add(headline)
        return [Finding(headline, tuple(state_line(line, passage) for line in picked))]

    def headline(self, line: Line, names: Sequence[str]) -> str:
        """What the sentence says of the names in a clause, else the names."""
        merit, said = find_headline(line.text, names, self.of.code)
        if said and merit >= HEADED and rate_generality(said, self.of.code) >= GENERAL:
            return said
        return join_title_names([self.cased(name) for name in names], self.of.code)
