"""Descriptions and community reports with no model: sentences of the text, chosen, trimmed and put in order.

A report is a digest of evidence, not a synthesis: every statement is a sentence of the corpus with its exact span.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from msgspec.structs import replace

from sensegraph.engines.offline.reports import report_parts, sentence_quality
from sensegraph.engines.offline.reports.community import (
    CORE,
    LIMIT,
    SHOWN,
    Community,
    Member,
    Quote,
    raise_bar,
    read_community,
    split_relation_title,
)
from sensegraph.engines.offline.reports.sentence_choice import Candidate, choose_sentences
from sensegraph.engines.offline.stemming import measure_words
from sensegraph.language.sentences import split_sentences
from sensegraph.language.speakers import split_spoken
from sensegraph.language.text import HAN, detect_language
from sensegraph.language.word_lists import read_list
from sensegraph.types import Context, Finding, Passage, Report, Statement

SUMMARY = 3  # sentences of a summary
FINDINGS, FEWEST = 5, 3
MENTIONED = 12  # pieces of a community that falls into pieces which its report speaks of
QUOTED, PARENTS = 3, 2  # sentences of a finding at most; of one on a sub-report
TRIED = 60  # relations, entities and claims looked at for findings, strongest first
HUBS = 3  # findings that may be on one and the same member
REFERENCES = 5  # ids a statement cites at most
HEADED = 1.5  # merit from which a clause makes a headline
STATED = 1.9  # merit from which a clause makes a title
GENERAL = 0.5  # generality from which a clause makes either
STRONG = 0.7  # soundness from which a sentence on one member alone makes a finding
WEAKEST = 0.35  # strength, as a share of the strongest member's, from which a member stands in the title
_DOCUMENTS, _WEIGHT, _MEMBERS = 20.0, 40.0, 15.0  # what makes half of a share, when rating
_PARENT = 0.985
_NEXT = re.compile(r" ([^\W\d_][\w’'-]*)")
_MOST = 0.55  # share of a name's uses with one and the same word after it that makes that word part of it
_USES = 4  # uses from which that share counts
_DEFINES = re.compile(  # behind a name (English)
    r"(?:\s+(?:is|was|are|were|means|refers to)\s+|,\s+)(?:an?|the|one of|when|how)\b", re.IGNORECASE
)


# ── descriptions ─────────────────────────────────────────────────────────────────────────────────────────────────────


def summarise_contexts(contexts: Sequence[Context]) -> list[str]:
    """One description from several of the thing that each context's title names: at most 3 tidied sentences.

    Sentences that say what it is come first, then those that cover most of what the others say.
    """
    described = []
    for context in contexts:
        name = context.title
        sizes = (p.sources[0].end - p.sources[0].start if p.sources else 0 for p in context.passages[:LIMIT])
        bare = [split_spoken(p.text, size)[1] for p, size in zip(context.passages[:LIMIT], sizes, strict=True)]
        said = (text[a:b] for text in bare for a, b in split_sentences(text))
        shown = map(sentence_quality.tidy_sentence, said)
        texts = list(dict.fromkeys(shown))[:LIMIT]
        if not texts:
            described.append(name)
            continue
        code = detect_language(" ".join(texts[:20]))
        terms = [sentence_quality.recall_stems(text, code) for text in texts]
        told = [" — " not in name and _says_what_is(name, text) for text in texts]
        worths = [
            sentence_quality.rate_quality(t) * (3.0 if defines else 1.0) for t, defines in zip(texts, told, strict=True)
        ]
        lengths = map(measure_words, texts)
        candidates = [Candidate(*given) for given in zip(terms, lengths, worths, strict=True)]
        best = max(range(len(candidates)), key=lambda i: (candidates[i].worth, -i))
        good = [
            i for i, c in enumerate(candidates) if sentence_quality.rate_quality(texts[i]) >= SHOWN and c.terms
        ] or [best]
        pool, weights = [candidates[i] for i in good], sentence_quality.weigh_stems(terms)
        picked = [good[i] for i in choose_sentences(pool, weights, 3)] or good[:1]
        described.append(" ".join(texts[i] for i in sorted(picked, key=lambda i: not told[i])))
    return described


def _says_what_is(name: str, text: str) -> bool:
    """Whether a sentence says of a name what it is."""
    return any(_DEFINES.match(text, at + len(name)) for at in report_parts.find_places(text, name))


# ── reports ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def report_communities(contexts: Sequence[Context]) -> list[Report]:
    """A report on each community: title, summary, findings and rating from its passages alone.

    Every statement is a sentence behind the passages, with its span and the ids of the passages it supports.
    """
    reports = []
    for context in contexts:
        found = read_community(context)
        writer = _ReportWriter(found)
        rating, why = rate_community(found)
        pieces = writer.pieces()
        summary = writer.one_each(pieces[:SUMMARY]) if len(pieces) > 1 else writer.summary()
        shown = tuple(_state_quote(quote) for quote in summary)
        title = writer.title(summary if len(pieces) == 1 else ()) or context.title
        findings = writer.on_pieces(pieces[SUMMARY:MENTIONED]) if len(pieces) > 1 else writer.findings(summary)
        reports.append(Report(title, shown, findings, rating, why))
    return reports


def _state_quote(quote: Quote, first: str = "") -> Statement:
    """The quote as a statement; of its owners, the passage `first` is cited first."""
    owners = [i for i in (first,) if i in quote.owners] + [i for i in quote.owners if i != first]
    text = f"{quote.speaker}: “{quote.text}” " if quote.speaker else f"{quote.text} "
    return Statement(text, tuple(owners[:REFERENCES]), quote.sources)


def extend_name(name: str, texts: Sequence[str]) -> str:
    """`name` with the word that mostly follows it: "machine" → "machine learning" where that is what is meant."""
    if " " in name or HAN.search(name):
        return name
    after: Counter[str] = Counter()
    uses = 0
    for text in texts:
        for at in report_parts.find_places(text, name):
            uses += 1
            match = _NEXT.match(text, at + len(name))
            if match and match[1].casefold() not in read_list("en"):
                after[match[1].casefold().removesuffix("'s").removesuffix("’s")] += 1
    if uses < _USES or not after:
        return name
    ((word, count),) = after.most_common(1)  # one of several never has the share
    fits = count > _MOST * uses and word not in read_list("general") | read_list("verbs")
    return f"{name} {word}" if fits else name


class _ReportWriter:
    """Writes the report on one community.

    Knows what it has used: sentences shown, stems that findings are on, headlines. `told` are the sentences that
    findings choose from, `by_stem` those of them that hold a stem.
    """

    def __init__(self, found: Community) -> None:
        self.of = found
        self.code = found.code
        self.lowered = [(quote.text, quote.text.lower()) for quote in found.quotes]
        self.told = found.told()
        sound = sum(quote.worth >= SHOWN for quote in found.quotes)
        self.most = min(QUOTED, 1 + sound // 9)  # sentences of a finding: fewer where a community has few
        self.by_stem = defaultdict[str, list[Quote]](list)
        for quote in self.told:
            for stem in quote.stems:
                self.by_stem[stem].append(quote)
        self.names: dict[str, str] = {}
        self.shown: list[Quote] = []
        self.stems: Counter[str] = Counter()
        self.headlines: set[str] = set()

    # ── sentences ──

    def summary(self) -> list[Quote]:
        """The sentences that say most about the centre: each of another chunk, or of another sub-report in a parent.

        Each names two strong members, or one and two other themes. Fewer rather than others, but one at least.
        """
        least = raise_bar(self.of.quotes, SHOWN)
        good = [quote for quote in self.of.quotes if quote.worth >= least]
        strong = [self.of.strong(quote) for quote in good]
        linking = [quote for quote, held in zip(good, strong, strict=True) if len(held) >= 2]
        central = [quote for quote, held in zip(good, strong, strict=True) if held and self.of.central(quote)]
        count = min(SUMMARY, max(1, len(good) // 2))
        picked = self.gist(linking, count, ())
        picked += self.gist(central, count - len(picked), picked)
        picked = picked or self.gist([q for q, held in zip(good, strong, strict=True) if held] or good, 1, ())
        self.shown = picked or sorted(self.of.quotes, key=lambda q: (-q.worth, q.text))[:1]
        return self.shown.copy()

    def holding(self, name: set[str]) -> list[Quote]:
        """The sentences that are good enough for a finding and hold all of these stems."""
        told = min((self.by_stem.get(term, []) for term in sorted(name)), key=len, default=self.told)
        return [quote for quote in told if name <= quote.stems]

    def gist(self, pool: Sequence[Quote], count: int, used: Sequence[Quote]) -> list[Quote]:
        """The best of `pool`, each from a place of its own: a chunk, in a parent a sub-report."""
        parent = bool(self.of.reports)
        taken = [replace(q.candidate, place=q.owners[0] if parent else q.chunk) for q in used]
        candidates = [replace(q.candidate, place=q.owners[0] if parent else q.chunk) for q in pool]
        return [pool[i] for i in choose_sentences(candidates, self.of.weights, count, taken)]

    def pick(self, quotes: Sequence[Quote], count: int) -> list[Quote]:
        """The best of `quotes`, none alike to each other or to those used."""
        if not quotes:
            return []
        used = [replace(quote.candidate, place="") for quote in self.shown]
        own = [quote.candidate for quote in quotes]
        return [quotes[i] for i in choose_sentences(own, self.of.weights, count, used)]

    # ── findings ──

    def findings(self, summary: Sequence[Quote]) -> tuple[Finding, ...]:
        """Findings from sub-reports and relations, then from entities and claims: alone while fewer than three."""
        found: list[Finding] = []
        for passage in self.of.reports:
            if len(found) < FINDINGS:
                found += self.on_report(passage)
        for relation in self.of.relations[:TRIED]:
            if len(found) < FINDINGS:
                found += self.on_relation(relation)
        for alone in (False, True):
            for passage in (*self.of.entities[: CORE if alone else TRIED], *self.of.claims[:TRIED]):
                if len(found) < (FEWEST if alone else FINDINGS):
                    found += self.on_name(passage, alone=alone)
        return tuple(found)

    def on_report(self, passage: Passage) -> list[Finding]:
        """A finding on a sub-report: the sentences of its report that hold most of its title."""
        mark = set(sentence_quality.stem_text(passage.title, self.code))
        near = [q for q in self.told if passage.id in q.owners and not mark.isdisjoint(q.stems)]
        own = [(q, len(mark & q.stems) / len(mark)) for q in near]
        # worth as much as it is sound and holds of the title
        told = [replace(q, candidate=replace(q.candidate, worth=q.worth * (0.1 + held))) for q, held in own]
        return self.finding(passage.title, self.pick(told, PARENTS), passage, mark)

    def on_relation(self, relation: Passage) -> list[Finding]:
        """A finding on a relation of which one end is new and the other not worn out: its first sentence holds both.

        Each further sentence holds both ends, or one end and another term of the headline or the first sentence.
        """
        names = split_relation_title(relation)
        one, other = (set(sentence_quality.stem_text(name, self.code)) or {name} for name in names)
        used = sorted(max(self.stems[s] for s in sorted(end)) for end in (one, other))
        if one & other or used[0] or used[1] >= HUBS:
            return []
        both = self.holding(one | other)
        if not both or any(report_parts.says_little(name, self.code) for name in names):
            return []
        picked = self.pick(both, 1)
        if not picked:
            return []
        headline = self.headline(picked[0], names)
        topic = (set(sentence_quality.stem_text(headline, self.code)) - one - other) | (one | other)

        def fits(quote: Quote) -> bool:
            ends = (one <= quote.stems) + (other <= quote.stems)
            return ends == 2 or (ends == 1 and 2 * len(topic & quote.stems) > len(topic))

        near = [*self.holding(one), *self.holding(other)]
        rest = [quote for quote in {id(q): q for q in (*both, *near)}.values() if fits(quote)]
        self.shown += picked
        more = self.pick([q for q in rest if q not in picked], self.most - 1)
        self.shown.pop()
        return self.finding(headline, [*picked, *more], relation, one | other)

    def on_name(self, passage: Passage, *, alone: bool) -> list[Finding]:
        """A finding on one entity or claim not written of before: its best sentence that holds another member too.

        `alone` takes one that holds no other, if it is strong or there is no finding yet.
        """
        mark = set(sentence_quality.stem_text(passage.title, self.code))
        told = self.holding(mark) if mark.isdisjoint(self.stems) else []
        own = [q for q in told if passage.kind == "entity" or passage.id in q.owners]
        if not own or report_parts.says_little(passage.title, self.code):
            return []
        others = {id(q): self.beside(q, mark) for q in own}
        good = [q for q in own if others[id(q)] or (alone and (q.worth >= STRONG or not self.headlines))]
        for quote in self.pick(good, 1):
            names = [passage.title, *([other.name] if (other := others[id(quote)]) else [])]
            return self.finding(self.headline(quote, names), [quote], passage, mark)
        return []

    def beside(self, quote: Quote, mark: set[str]) -> Member | None:
        """The strongest member in a sentence besides the one with the stems `mark`, if it tells something."""
        terms = quote.stems - mark
        held = (m for m in self.of.members if m.stems and m.stems <= terms)
        held = (m for m in held if not report_parts.says_little(m.name, self.code))
        return next(held, None)

    def finding(self, headline: str, picked: Sequence[Quote], passage: Passage, mark: set[str]) -> list[Finding]:
        """The finding, noted as used; none where there is no sentence or the headline is taken."""
        if not picked or sentence_quality.capitalise(headline) in self.headlines:
            return []
        self.shown += picked
        self.stems.update(sorted(mark))
        self.headlines.add(sentence_quality.capitalise(headline))
        return [
            Finding(sentence_quality.capitalise(headline), tuple(_state_quote(quote, passage.id) for quote in picked))
        ]

    # ── a community that falls into pieces: each is told of by itself ──

    def pieces(self) -> list[list[Passage]]:
        """The entities in groups that relations join, that of the strongest first.

        All are one group where relations join more than half of them, or sub-reports speak of them.
        """
        home = {entity.title: entity.title for entity in self.of.entities}
        for relation in self.of.relations:
            one, other = (home.get(name) for name in split_relation_title(relation))
            if one is not None and other is not None and one != other:
                home = {name: one if at == other else at for name, at in home.items()}
        groups: dict[str, list[Passage]] = {}
        for entity in self.of.entities:
            groups.setdefault(home[entity.title], []).append(entity)
        joined = 2 * max(map(len, groups.values()), default=0) > len(self.of.entities)
        return [list(self.of.entities)] if joined or self.of.reports else list(groups.values())

    def one_each(self, pieces: Sequence[Sequence[Passage]]) -> list[Quote]:
        """The soundest sentence of each piece that is not shown yet: of two entities one that is about both."""
        found = []
        for piece in pieces:
            ids = {entity.id for entity in piece}
            own = [quote for quote in self.of.quotes if ids.intersection(quote.owners) and quote not in self.shown]
            best = sorted(own, key=lambda q: (-len(ids.intersection(q.owners)), -q.worth, q.text))[:1]
            self.shown += best
            found += best
        return found

    def on_pieces(self, pieces: Sequence[Sequence[Passage]]) -> tuple[Finding, ...]:
        """A finding on each piece, under the names of its first two entities."""
        found = list[Finding]()
        for piece in pieces:
            names = [self.cased(entity.title) for entity in piece[:2]]
            for quote in self.one_each([piece]):
                headline = report_parts.join_title_names(names, self.code)
                found += self.finding(headline, [quote], piece[0], set())
        return tuple(found)

    # ── headlines and title ──

    def cased(self, name: str) -> str:
        """The name as the community's sentences have it, with the word that mostly completes it."""
        if name not in self.names:
            sought = name.lower()
            held = [text for text, low in self.lowered if sought in low]  # no other can have a place of it
            longer = extend_name(name, held) if self.code == "en" else name
            self.names[name] = report_parts.show_natural_case(longer, held)
        return self.names[name]

    def headline(self, quote: Quote, names: Sequence[str]) -> str:
        """What the sentence says of the names: a clause, else subject, verb and object, else the names."""
        merit, shown = report_parts.find_headline(quote.text, names, self.code)
        told = sum(report_parts.mentions_name(shown, name) for name in names)
        general = sentence_quality.rate_generality(shown, self.code) >= GENERAL
        if told and merit >= (HEADED if told == len(names) else STATED) and general:
            return shown
        if len(names) == 2 and self.code == "en":
            said = report_parts.find_link_clause(quote.text, names[0], names[1])
            if said and sentence_quality.rate_generality(said) >= GENERAL:
                return said
        rank = {member.name: i for i, member in enumerate(self.of.members)}
        ordered = sorted(names, key=lambda name: rank.get(name, len(rank)))
        return report_parts.join_title_names([self.cased(name) for name in ordered], self.code)

    def title(self, summary: Sequence[Quote]) -> str:
        """The two or three strongest names; a clause of the summary instead that states what two of them do."""
        first = report_parts.choose_distinct_names([m.name for m in self.of.members[: 3 * CORE]], 3, self.code)
        strong = {m.name for m in self.of.members if m.strength >= WEAKEST}
        names = [self.cased(name) for i, name in enumerate(first) if i < 2 or name in strong]
        for quote in summary if not self.of.reports else ():
            merit, shown = report_parts.find_headline(quote.text, names, self.code, longest=9)
            two = sum(report_parts.mentions_name(shown, name) for name in names) >= 2
            if two and merit >= STATED and sentence_quality.rate_generality(shown, self.code) >= GENERAL:
                return shown
        return report_parts.join_title_names(names, self.code)


# ── rating ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def rate_community(found: Community) -> tuple[float, str]:
    """Importance 0–10 from the context alone, and the numbers it comes from.

    10 · cube root of the product of three shares x / (x + half): documents that mention each of the strongest eight
    members, weight of the relations, members. A community of sub-reports has at least the rating r of the strongest,
    and 10 − (10 − r) · 0.985^(sum of the other ratings). Formula: our own.
    """
    strongest = [e.documents for e in found.entities[:CORE]]
    documents = sum(strongest) / max(len(strongest), 1)
    weight = sum(relation.score for relation in found.relations)
    measured = ((documents, _DOCUMENTS), (weight, _WEIGHT), (len(found.entities), _MEMBERS))
    own = 10 * math.prod(value / (value + half) for value, half in measured) ** (1 / 3)
    rated = sorted((report.score for report in found.reports), reverse=True)
    if rated:
        own = max(own, 10 - (10 - rated[0]) * _PARENT ** sum(rated[1:]))
    counts = [(len(found.entities), "entities"), (len(found.relations), f"relations (weight {weight:.1f})")]
    counts += [(len(found.claims), "claims"), (len(found.reports), "sub-reports")]
    why = ", ".join(f"{count} {what}" for count, what in counts if count)
    why += f"; {documents:.1f} documents for each of the strongest entities" if documents else ""
    return round(min(10.0, own), 1), why
