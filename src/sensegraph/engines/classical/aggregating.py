"""Groups of similar things, named and described with no model (LeanRAG, Eq. 4; HiRAG §4.1).

The name says who is in a group, the description and the findings are sentences of the sources, word for word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sensegraph.engines.classical.choosing import general_stems
from sensegraph.engines.classical.gathering import Gathered, Line, Member, gathered, length, opened, sound, statement
from sensegraph.engines.classical.plurals import majority, plural
from sensegraph.engines.classical.prose import stems
from sensegraph.engines.classical.words_general import generality
from sensegraph.engines.classical.words_names import capital, distinct, listing, natural, unnamed
from sensegraph.engines.classical.words_quotes import ends
from sensegraph.engines.classical.words_titles import between, clause
from sensegraph.text import fold
from sensegraph.types import Brief, Finding, Membership, Passage, Report, Statement, SummaryEntity

DESCRIBED = 3  # sentences of a description
FINDINGS = 5
QUOTED = 2  # sentences of a finding
AMONG = 8  # members that a description lists
NAMED = 2  # members in a name
TRIED = 40  # relations and members looked at for findings, strongest first
HUBS = 2  # findings that may be on one and the same member
LEAST = 0.12  # soundness below which a sentence is shown only where there is no other
HEADED = 1.5  # merit from which a clause makes a headline
GENERAL = 0.5  # generality from which a clause makes one
STRENGTH = 10.0  # of the most central member


def aggregate(briefs: Sequence[Brief]) -> list[Report]:
    """Name, description and findings of each group; the findings are its strongest inner relations, then members."""
    return [_aggregate(brief) for brief in briefs]


def abstract(briefs: Sequence[Brief]) -> list[tuple[SummaryEntity, ...]]:
    """One summary entity for each group, with all its members; none where there is no member."""
    return [_abstract(brief) for brief in briefs]


def _aggregate(brief: Brief) -> Report:
    found = gathered(brief)
    writer = _Writer(found)
    summary = writer.description(brief.words)
    title = writer.name() or brief.context.title
    return Report(title, summary, writer.findings())


def _abstract(brief: Brief) -> tuple[SummaryEntity, ...]:
    found = gathered(brief)
    if not found.members:
        return ()
    writer = _Writer(found)
    name = writer.name()
    said = f"member of {name}" if found.code == "en" else name
    members = {m.id: Membership(m.id, said, round(max(1.0, STRENGTH * m.strength), 1)) for m in found.members}
    given = tuple(members[p.id] for p in brief.context.passages if p.id in members)
    kind = majority(Counter(m.kind for m in found.members if m.kind))
    return (SummaryEntity(name, kind, writer.description(brief.words), given),)


class _Writer:
    """Writes about one group; knows the lines that it has shown, and how often it wrote of each name."""

    def __init__(self, found: Gathered) -> None:
        self.of = found
        self.shown: list[Line] = []
        self.times: Counter[str] = Counter()
        self.headlines: set[str] = set()
        self.good = [line for line in found.lines if length(line.text) > 3]
        self.ranked = sorted(found.members, key=lambda m: (self.empty(m.names[0]), -m.strength, m.title, m.id))

    # ── the name ──

    def name(self) -> str:
        """The most central names and what kind of things they are among; never that of a member."""
        noun, members = self.kind()
        names = distinct([self.cased(m.names[0]) for m in members], len(members), self.of.code)
        taken = {fold(m.title) for m in self.of.members}
        for count in range(min(NAMED, len(names)), len(names) + 1):
            if fold(name := self.called(names[:count], noun)) not in taken:
                return name
        return f"{self.called(names, noun)} ({len(self.of.members)})"

    def kind(self) -> tuple[str, list[Member]]:
        """The noun for most of the members, and those that it names; "" and all where no type is that of most."""
        nouns = {m.id: plural(m.kind) for m in self.ranked}
        noun = majority(Counter(n for n in nouns.values() if n))
        own = [m for m in self.ranked if nouns[m.id] == noun]
        most = bool(noun) and len(own) > NAMED and 2 * len(own) > len(self.ranked)
        return (noun, own) if most else ("", self.ranked)

    def called(self, names: Sequence[str], noun: str) -> str:
        """Names in one line, with what else there is."""
        rest = len(self.of.members) - len(names)
        if self.of.code == "en" and rest > 0:
            return opened(f"{', '.join(names)} and other{f' {noun}' if noun else 's'}")
        marks = ("（", "）") if self.of.code == "zh" else (" (", ")")
        return listing(names, self.of.code) + (f"{marks[0]}+{rest}{marks[1]}" if rest > 0 else "")

    def empty(self, name: str) -> bool:
        """Whether a name says little of a group: a number, a span of time, a general word."""
        own = stems(name, self.of.code)
        return unnamed(name) or not own or (self.of.code == "en" and set(own) <= general_stems())

    def cased(self, name: str) -> str:
        """A name as the group's sentences have it."""
        own = set(stems(name, self.of.code))
        return natural(name, [line.text for line in self.good if own and own <= set(line.terms)][:20])

    # ── the description ──

    def description(self, words: int) -> tuple[Statement, ...]:
        """Who is in the group, and sentences near its centre; at most `words` words, where that is not 0."""
        said = [self.among()] if len(self.of.members) > NAMED else []
        room = words - sum(length(s.text) for s in said)
        for line in self.of.picked(self.sound(), DESCRIBED):
            if not words or length(line.shown) <= room:
                room -= length(line.shown)
                self.shown.append(line)
        fitting = not words or room >= 0
        return (*(said if fitting or not self.shown else ()), *(statement(line) for line in self.shown))

    def among(self) -> Statement:
        """A statement that names the first members."""
        noun, _ = self.kind()
        named = self.ranked[:AMONG]
        names = list(dict.fromkeys(m.names[0] for m in named))
        text = listing(names, self.of.code)
        if self.of.code == "en":
            count = len(self.of.members)
            rest = f"{len(names)} of " if len(names) < count else ""
            text = f"{text}: {rest}{count} {noun or 'members'}."
        return Statement(f"{text} ", tuple(m.id for m in named))

    def sound(self) -> list[Line]:
        """The sentences that can be shown; the others where there are none."""
        return self.good

    # ── findings ──

    def findings(self) -> tuple[Finding, ...]:
        """What is said of the strongest inner relations, then of the most central members."""
        found: list[Finding] = []
        strength = {m.title: m.strength for m in self.of.members}
        ranked = sorted(self.of.relations, key=lambda r: (-_weight(r, strength), r.id))
        for relation in ranked[:TRIED]:
            if len(found) < FINDINGS:
                found += self.on_relation(relation)
        for member in self.ranked[:TRIED]:
            if len(found) < FINDINGS:
                found += self.on_member(member)
        return tuple(found)

    def on_relation(self, relation: Passage) -> list[Finding]:
        """A finding on a relation of which no end is worn out."""
        names = [spoken for end in ends(relation) if (spoken := end)]
        if any(self.times[name] >= HUBS for name in names):
            return []
        return self.finding(relation.id, names, 1)

    def on_member(self, member: Member) -> list[Finding]:
        """A finding on a member that none has been written on."""
        group = self.of.passages[member.id].kind == "report"
        if self.times[member.title] or self.empty(member.names[0]):
            return []
        return self.finding(member.id, [member.title], QUOTED if group else 1)

    def finding(self, passage: str, names: Sequence[str], count: int) -> list[Finding]:
        """The finding on what a passage quotes; none where that has been shown or has no sentence."""
        picked = self.of.picked([line for line in self.of.of(passage) if line in self.good], count, self.shown)
        picked = [line for line in picked if sound(line.text, self.of.code) >= LEAST]
        if not picked or (headline := self.headline(picked[0], names)) in self.headlines:
            return []
        self.shown += picked
        self.times.update(names)
        self.headlines.add(headline)
        return [Finding(headline, tuple(statement(line, passage) for line in picked))]

    def headline(self, line: Line, names: Sequence[str]) -> str:
        """What the sentence says of the names: a clause, else subject, verb and object, else the names."""
        merit, said = clause(line.text, names, self.of.code)
        if said and merit >= HEADED and generality(said, self.of.code) >= GENERAL:
            return said
        if len(names) == 2 and self.of.code == "en" and (said := between(line.text, *names)):
            return said
        return capital(listing([self.cased(name) for name in names], self.of.code))


def _weight(relation: Passage, strength: dict[str, float]) -> float:
    one, other = (strength.get(name, 0.0) for name in ends(relation))
    return (1 + relation.score) * (0.1 + one) * (0.1 + other)
