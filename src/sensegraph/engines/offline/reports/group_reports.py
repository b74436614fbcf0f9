"""Groups of similar things with no model: their names and reports (LeanRAG, Eq. 4; HiRAG §4.1), and what links two.

The name says who is in a group; the description and the findings are sentences of the sources, word for word. What
links two groups is how many relations, which verbs stand in them, and their best sentence.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Sequence

from sensegraph.engines.offline.extraction.sentence_words import TOKEN
from sensegraph.engines.offline.reports import report_parts, sentence_quality
from sensegraph.engines.offline.reports.community import READABLE, Centre, find_centre, split_relation_title
from sensegraph.engines.offline.reports.sentence_choice import is_repeat
from sensegraph.engines.offline.reports.source_lines import (
    Gathered,
    Line,
    Member,
    collect_lines,
    count_length,
    gather_group,
    is_odd,
    rate_line,
    split_group_name,
    state_line,
)
from sensegraph.language.noun_phrases import find_commonest_type, pluralize
from sensegraph.language.text import fold, tag_words, take_within
from sensegraph.language.word_lists import read_lexicon
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
        self.ranked = sorted(
            found.members, key=lambda m: (report_parts.says_little(m.names[0], found.code), -m.strength, m.title, m.id)
        )

    # ── the name ──

    def name(self) -> str:
        """The most central names and what kind of things they are among; never that of a member."""
        noun, members = self.kind()
        names = report_parts.choose_distinct_names([m.names[0] for m in members], MOST, self.of.code)
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
            return report_parts.join_title_names(shown, self.of.code)
        if self.of.code == "en":
            return sentence_quality.capitalise(f"{', '.join(shown)} and other{f' {noun}' if noun else 's'}")
        marks = ("（", "）") if self.of.code == "zh" else (" (", ")")
        return (
            f"{report_parts.join_title_names(shown, self.of.code)}{marks[0]}{f'+{rest}' if rest > 0 else '…'}{marks[1]}"
        )

    def cased(self, name: str) -> str:
        """A name as the group's sentences have it."""
        own = set(sentence_quality.stem_text(name, self.of.code))
        return report_parts.show_natural_case(
            name, [line.text for line in self.of.lines if own and own <= set(line.terms)][:20]
        )

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
        fits = sum(count_length(s.text) for s in among) <= room - used
        return (*(among if fits else ()), *(state_line(line) for line in picked))

    def among(self) -> Statement:
        """How many things of which kinds are in the group, and the names of the first.

        It cites nothing: it is a count, and no passage's own words.
        """
        few = len(self.of.members) <= AMONG and not self.of.omitted
        every = list(dict.fromkeys(m.names[0] for m in self.ranked))
        names = every if few else report_parts.choose_distinct_names(every, AMONG, self.of.code)
        names = [self.cased(name) for name in names] if self.of.reports else names  # a group's name begins large
        if self.of.code != "en":
            return Statement(f"{report_parts.join_title_names(names, self.of.code)} ")
        least = "At least " if self.of.omitted else ""
        return Statement(
            f"{least}{self.kinds()}{':' if few else ', among them'} {sentence_quality.join_with_and(names)}. "
        )

    def kinds(self) -> str:
        """How many members there are of the commonest types: "8 concepts, 3 places and 2 others"."""
        counts = Counter(n for n in self.nouns.values() if n)
        top = sorted((n for n in counts if counts[n] > 1), key=lambda n: (-counts[n], n))[:KINDS]
        rest = len(self.nouns) - sum(counts[n] for n in top)
        parts = [f"{counts[n]} {n}" for n in top]
        if rest:
            parts.append(f"{rest} {'other' if top else 'member'}{'s' if rest > 1 else ''}")
        return sentence_quality.join_with_and(parts)

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
        return next((name for name in names if terms.issuperset(sentence_quality.stem_text(name, self.of.code))), "")

    def rank(self, line: Line) -> tuple[float, str, str]:
        """What puts lines in the order of their worth."""
        return -self.of.worth(line), line.text, line.speaker

    def on_member(self, member: Member, least: float) -> list[Finding]:
        """A finding on a member that none has been written on."""
        name = member.title if member.id in self.of.reports else member.names[0]
        if self.times[name] or report_parts.says_little(member.names[0], self.of.code):
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
        merit, said = report_parts.find_headline(line.text, names, self.of.code)
        if said and merit >= HEADED and sentence_quality.rate_generality(said, self.of.code) >= GENERAL:
            return said
        return report_parts.join_title_names([self.cased(name) for name in names], self.of.code)


# ── what links two groups ─────────────────────────────────────────────────────────────────────────────────────────────

WORDS = 80  # at most, where the brief sets no limit: (1 + 1) · 40, the paper's for the first level
GAP = 80  # characters between two names in which a verb is looked for
READ = 4  # quotes of a relation in which it is
TWICE = 2  # relations from which a verb is one that they have in common
VERBS = 2  # verbs that are told
REFERENCES = 20  # relations that the count cites at most
CLOSE = 6  # sentences, the nearest to the centre, that are read closely
_LIGHT = read_lexicon("headlines")["light-verbs"]
_JARGON = "community"


def relate_groups(briefs: Sequence[Brief]) -> list[tuple[Statement, ...]]:
    """What links the two groups that come first in each brief; nothing where no relation does."""
    related: list[tuple[Statement, ...]] = []
    for brief in briefs:
        groups = brief.context.passages[:2]
        relations = sorted(brief.context.passages[2:], key=lambda p: (-p.score, p.id))
        if not relations:
            related.append(())
            continue
        lines, code = collect_lines(relations)
        middle = find_centre([line.terms for line in lines], code)
        words = brief.words or WORDS
        count = len(relations) + brief.context.omitted
        # ways to say how much links the groups, the longest first: the first that fits, or the last cut
        plain = any(_JARGON in g.title.casefold() for g in groups)
        texts = [*([] if plain else [f"{' — '.join(g.title for g in groups)}: {count}"]), str(count)]
        if code == "en":
            link = sentence_quality.capitalise(
                f"{sentence_quality.spell_number(count)} relation{' links' if count == 1 else 's link'}"
            )
            often = " and ".join(f"“{verb}” ({n})" for verb, n in count_linking_verbs(relations))
            texts = []
            for end in [*([] if plain else [" with ".join(g.title for g in groups)]), "the two groups"]:
                texts += [f"{link} {end}, most often {often}."] if often else []
                texts.append(f"{link} {end}.")
            texts.append(f"{count} relations.")
        counted = next((text for text in texts if count_length(text) <= words), "") or " ".join(
            texts[-1].split()[:words]
        )
        said = Statement(f"{counted} ", tuple(r.id for r in relations[:REFERENCES]))
        pool = [line for line in lines if count_length(line.shown) <= words - count_length(counted)]
        related.append((said, *(state_line(line) for line in _choose_best(pool, relations, middle, code))))
    return related


# ── verbs ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def count_linking_verbs(relations: Sequence[Passage]) -> list[tuple[str, int]]:
    """The verbs that stand between the two names in the quotes of several relations, each with how many.

    They stand between the first mentions of the names, or in the label that the relation's text begins with
    ("founded: Ann founded Acme.").
    """
    times: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    for relation in relations:
        found: dict[str, str] = {}
        label, _, rest = relation.text.partition(": ")
        if any(rest == quote.text for quote in relation.quotes):
            found.update(_find_telling_verbs(TOKEN.findall(label)))
        names = [name for name in split_relation_title(relation) if name]
        for text in (quote.text for quote in relation.quotes[:READ]):
            firsts = ((next(report_parts.find_places(text, name), -1), len(name)) for name in names)
            spots = sorted((at, at + size) for at, size in firsts if at >= 0)
            if len(spots) == 2 and 0 < spots[1][0] - spots[0][1] <= GAP:
                found.update(_find_telling_verbs(TOKEN.findall(text, spots[0][1], spots[1][0])))
        times.update(found.keys())
        for stem, verb in found.items():
            forms.setdefault(stem, Counter())[verb] += 1
    top = sorted((s for s in times if times[s] >= TWICE), key=lambda s: (-times[s], s))[:VERBS]
    return [(min(forms[s], key=lambda f: (-forms[s][f], f)), times[s]) for s in top]


def _find_telling_verbs(words: Sequence[str]) -> list[tuple[str, str]]:
    """The verbs among words that say more than that something is or is done: (stem, word)."""
    folded = [word.casefold() for word in words]
    light = {stem for verb in _LIGHT for stem in sentence_quality.stem_word(verb, "en")}
    found = []
    for word, letter in zip(folded, tag_words(folded), strict=True):
        own = sentence_quality.stem_word(word, "en") if letter in "bvp" and word.isalpha() else ()
        if own and light.isdisjoint(own):
            found.append((own[0], word))
    return found


def _choose_best(pool: Sequence[Line], relations: Sequence[Passage], middle: Centre, code: str) -> list[Line]:
    """The sentence that stands alone best of those nearest to the centre of all; first those that hold both ends."""
    names = {r.id: [set(sentence_quality.stem_text(end, code)) for end in split_relation_title(r)] for r in relations}
    near: dict[Line, float] = {}  # more where several relations quote it, less where it leaves an end unnamed
    for line in (line for line in pool if _JARGON not in line.shown.casefold()):
        terms = set(line.terms)
        both = any(all(end <= terms for end in names[owner]) for owner in line.owners)
        fits = min(1.0, READABLE / count_length(line.text))
        value = middle.closeness(line.terms) * math.log1p(1 + len(line.owners)) * fits * (1.0 if both else 0.3)
        odd = is_odd(line.text) or sentence_quality.introduces_person(line.text)
        near[line] = value * (0.5 if odd else 1.0)
    close = sorted(near, key=lambda line: (-near[line], line.text, line.speaker))[:CLOSE]
    return sorted(close, key=lambda line: (-near[line] * rate_line(line.text, code), line.text, line.speaker))[:1]
