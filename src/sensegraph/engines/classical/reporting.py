"""Descriptions and community reports with no model: sentences of the text, chosen, trimmed and put in order.

A report is a digest of evidence, not a synthesis: every statement is a sentence of the corpus with its exact span.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sensegraph.engines.classical.choosing import Candidate, choose, general_stems, weigh
from sensegraph.engines.classical.prose import language, quality, stems, tidy, unlabelled
from sensegraph.engines.classical.words_quotes import LIMIT, Quote, ends, gather, salience
from sensegraph.engines.classical.words_titles import (
    between,
    capital,
    clause,
    distinct,
    listing,
    mentions,
    natural,
)
from sensegraph.text import WORD, sentences
from sensegraph.types import Context, Finding, Passage, Report, Statement

SUMMARY = 3  # sentences of a summary
FINDINGS, FEWEST = 5, 3
QUOTED = 3  # sentences of a finding, fewer where a community has few
CORE = 8  # members of which a summary's sentences name two
SHOWN = 0.3  # quality below which a sentence is shown only where there is no other
READABLE = 28  # words from which a sentence counts for less
REFERENCES = 5  # ids a statement cites at most
HEADED = 1.5  # merit from which a clause makes a headline
STATED = 1.9  # merit from which a clause makes a title
_DOCUMENTS, _WEIGHT, _MEMBERS = 50.0, 200.0, 100.0  # what counts as a great deal, when rating


# ── descriptions ─────────────────────────────────────────────────────────────────────────────────────────────────────


def summarise(contexts: Sequence[Context]) -> list[str]:
    """One description from several of the thing that each context's title names: at most 3 tidied sentences.

    Sentences that say what it is come first, then those that cover most of what the others say.
    """
    return [_described(context) for context in contexts]


def _described(context: Context) -> str:
    texts = list(dict.fromkeys(s for p in context.passages[:LIMIT] for s in _sentences(p.text)))[:LIMIT]
    if not texts:
        return context.title
    code = language(" ".join(texts[:20]))
    terms = [tuple(stems(text, code)) for text in texts]
    defining = _definition(context.title)
    told = [defining is not None and defining.search(text) is not None for text in texts]
    candidates = [
        Candidate(own, max(1, len(WORD.findall(text))), quality(text) * (3.0 if defines else 1.0))
        for text, own, defines in zip(texts, terms, told, strict=True)
    ]
    good = [i for i, c in enumerate(candidates) if quality(texts[i]) >= SHOWN and c.terms] or [_best(candidates)]
    picked = [good[i] for i in choose([candidates[i] for i in good], weigh(terms), 3)] or good[:1]
    picked.sort(key=lambda i: not told[i])
    return " ".join(texts[i] for i in picked)


def _sentences(text: str) -> list[str]:
    """The tidied sentences of a description, without speakers' labels."""
    return [tidy(unlabelled(text[a:b])[1]) for a, b in sentences(text)]


def _best(candidates: Sequence[Candidate]) -> int:
    return max(range(len(candidates)), key=lambda i: (candidates[i].worth, -i))


def _definition(name: str) -> re.Pattern[str] | None:
    """What finds sentences that say what `name` is: "name is a …", or "name, a …" (English)."""
    if not name or " — " in name:
        return None
    said = rf"(?<!\w){re.escape(name)}(?:\s+(?:is|was|are|were|means|refers to)\s+|,\s+)(?:an?|the|one of|when|how)\b"
    return re.compile(said, re.IGNORECASE)


# ── reports ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Community:
    """A context in the order in which it is written about."""

    code: str
    entities: tuple[Passage, ...]
    relations: tuple[Passage, ...]
    reports: tuple[Passage, ...]
    claims: tuple[Passage, ...]
    quotes: tuple[Quote, ...]
    owned: Mapping[str, Sequence[Quote]]
    quoted: int
    weights: Mapping[str, float]


def report(contexts: Sequence[Context]) -> list[Report]:
    """A report on each community: title, summary, findings and rating from its passages alone.

    Every statement is a sentence behind the passages, with its span and the ids of the passages it supports.
    """
    return [_report(context) for context in contexts]


def _report(context: Context) -> Report:
    community = _community(context)
    summary = _summary(community)
    rating, why = _rating(community)
    shown = tuple(_statement(quote) for quote in summary)
    return Report(_title(community, context.title), shown, _findings(community, summary), rating, why)


def _community(context: Context) -> _Community:
    code = _language(context)
    quotes = gather(context, code)
    kinds: dict[str, list[Passage]] = defaultdict(list)
    for passage in context.passages:
        kinds[passage.kind].append(passage)
    entities = _by_strength(kinds["entity"], kinds["relation"])
    return _Community(
        code,
        entities,
        tuple(sorted(kinds["relation"], key=lambda r: (-_importance(r, entities), r.id))),
        tuple(sorted(kinds["report"], key=lambda r: (-r.score, r.id))),
        tuple(kinds["claim"]),
        tuple(quotes),
        _owned(quotes),
        min(QUOTED, 1 + sum(quote.worth >= SHOWN for quote in quotes) // 9),
        salience(quotes, [e.title for e in entities[:8]], code),
    )


def _owned(quotes: Iterable[Quote]) -> dict[str, list[Quote]]:
    """The quotes good enough to show, by the passage that they support."""
    owned: dict[str, list[Quote]] = defaultdict(list)
    for quote in quotes:
        for owner in quote.owners if quote.worth >= SHOWN else ():
            owned[owner].append(quote)
    return owned


def _language(context: Context) -> str:
    """The language of a context, from the first words of up to 40 of its quotes."""
    texts = [quote.text for passage in context.passages for quote in passage.quotes[:2]][:40]
    return language(" ".join(text[:200] for text in texts or [p.text for p in context.passages]))


def _by_strength(entities: Iterable[Passage], relations: Iterable[Passage]) -> tuple[Passage, ...]:
    """Entities by the weight of their relations inside, then degree, then id."""
    inside: dict[str, float] = defaultdict(float)
    for relation in relations:
        for name in ends(relation):
            inside[name] += relation.score
    return tuple(sorted(entities, key=lambda e: (-inside[e.title], -e.score, e.id)))


def _importance(relation: Passage, entities: Sequence[Passage]) -> float:
    degrees = {entity.title: entity.score for entity in entities}
    return relation.score * math.log1p(sum(degrees.get(name, 1.0) for name in ends(relation)))


# ── statements ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _pick(
    community: _Community,
    quotes: Sequence[Quote],
    count: int,
    used: Sequence[Quote],
    personal: float = 1.0,
    stating: Sequence[str] = (),
) -> list[Quote]:
    """The best of `quotes` to show, none alike to each other or to those used.

    `personal` weighs sentences about their speaker; those with a clause on the names in `stating` gain.
    """
    candidates = [_weighed(quote, personal, _stated(quote, stating, community.code)) for quote in quotes]
    chosen = choose(candidates, community.weights, count, [quote.candidate for quote in used])
    return [quotes[i] for i in chosen]


def _stated(quote: Quote, names: Sequence[str], code: str) -> float:
    """The merit of the quote's best clause on `names`, 0 where it presents someone."""
    return clause(quote.text, names, code)[0] if names and not quote.introduces else 0.0


def _weighed(quote: Quote, personal: float, stated: float) -> Candidate:
    """A quote as a candidate for a report, in which presenting people and long sentences count for little."""
    own = quote.candidate
    worth = own.worth * (0.15 if quote.introduces else 1.0) * (personal if quote.personal else 1.0) * (1 + stated)
    return Candidate(own.terms, own.words, worth * min(1.0, READABLE / own.words) ** 2)


def _statement(quote: Quote, first: str = "") -> Statement:
    """The quote as a statement; of its owners, the passage `first` is cited first."""
    owners = [i for i in (first,) if i in quote.owners] + [i for i in quote.owners if i != first]
    text = f"{quote.speaker}: “{quote.text}” " if quote.speaker else f"{quote.text} "
    return Statement(text, tuple(owners[:REFERENCES]), quote.sources)


def _summary(community: _Community) -> list[Quote]:
    """The sentences that cover the community best: with two of its strongest members if there are enough, else one."""
    good = [quote for quote in community.quotes if quote.worth >= SHOWN]
    core = [set(stems(entity.title, community.code)) for entity in community.entities[:CORE]]
    held = [sum(bool(name & set(quote.candidate.terms)) for name in core) for quote in good]
    central = [quote for quote, count in zip(good, held, strict=True) if count >= 2]
    dense = [quote for quote, count in zip(good, held, strict=True) if count and quote.members >= 2]
    pool = next((quotes for quotes in (central, dense) if len(quotes) >= SUMMARY), good)
    picked = _pick(community, pool, min(SUMMARY, max(1, len(good) // 2)), (), personal=0.5)
    return picked or sorted(community.quotes, key=lambda q: (-q.worth, q.text))[:1]


# ── findings ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Desk:
    """What a report has used so far: sentences shown, stems that a finding is on, headlines."""

    def __init__(self, shown: Iterable[Quote]) -> None:
        self.shown = list(shown)
        self.stems: set[str] = set()
        self.headlines: set[str] = set()


def _findings(community: _Community, summary: Sequence[Quote]) -> tuple[Finding, ...]:
    """Findings from sub-reports, relations and, while there are fewer than three, single entities and claims."""
    desk = _Desk(summary)
    found: list[Finding] = []
    for passage in community.reports[:FINDINGS]:
        found += _on_passage(community, desk, passage)
    for relation in community.relations:
        if len(found) >= FINDINGS:
            break
        found += _on_relation(community, desk, relation)
    for fresh in (True, False):
        for passage in (*community.entities, *community.claims):
            if len(found) < FEWEST:
                found += _on_passage(community, desk, passage, fresh=fresh)
    return tuple(found)


def _on_passage(community: _Community, desk: _Desk, passage: Passage, *, fresh: bool = True) -> list[Finding]:
    """A finding on one sub-report, claim or entity, if it has a sentence that is not used yet.

    `fresh` asks for a name that shares no stem with the findings before.
    """
    named = passage.kind == "report"
    mark = set(stems(passage.title, community.code))
    if fresh and not named and mark & desk.stems:
        return []
    picked = _pick(community, community.owned.get(passage.id, ()), min(2, community.quoted), desk.shown)
    if not picked:
        return []
    headline = capital(passage.title if named else _headline(community, desk, picked, (passage.title,)))
    if headline in desk.headlines:
        return []
    desk.stems |= mark
    return [_finding(desk, headline, picked, passage)]


def _on_relation(community: _Community, desk: _Desk, relation: Passage) -> list[Finding]:
    """A finding on a relation whose ends are new and share no stem: a sentence with both ends, then two near it."""
    names = ends(relation)
    one, other = (set(stems(name, community.code)) or {name} for name in names)
    both = community.owned.get(relation.id, ())
    if one & other or desk.stems & (one | other) or not both:
        return []
    picked = _pick(community, both, 1, desk.shown, stating=names)
    if not picked:
        return []
    desk.stems |= one | other
    near = _near(community, names, set(picked[0].candidate.terms) - one - other - general_stems())
    rest = [quote for quote in dict.fromkeys([*both, *near]) if quote not in picked]
    picked += _pick(community, rest, community.quoted - 1, [*desk.shown, *picked])
    return [_finding(desk, _headline(community, desk, picked, names), picked, relation)]


def _near(community: _Community, names: Sequence[str], topic: set[str]) -> list[Quote]:
    """Quotes with one of `names` and another member that share a term with `topic`."""
    owners = [entity.id for entity in community.entities if entity.title in names]
    quotes = [quote for owner in owners for quote in community.owned.get(owner, ())]
    return [quote for quote in quotes if quote.members >= 2 and topic & set(quote.candidate.terms)]


def _finding(desk: _Desk, headline: str, picked: Sequence[Quote], passage: Passage) -> Finding:
    desk.shown += picked
    desk.headlines.add(headline)
    return Finding(headline, tuple(_statement(quote, passage.id) for quote in picked))


def _headline(community: _Community, desk: _Desk, picked: Sequence[Quote], names: Sequence[str]) -> str:
    """What the finding says: its best clause, else subject, verb and object, else the names."""
    others = [e.title for e in community.entities[:6] if e.title not in names]
    stating = [quote.text for quote in picked if not quote.introduces]
    clauses = [clause(text, [*names, *others], community.code) for text in stating]
    found = [shown for merit, shown in sorted(clauses, reverse=True) if merit >= HEADED]
    if len(names) == 2 and community.code == "en":
        found += [between(text, names[0], names[1]) for text in stating]
    order = {e.title: i for i, e in enumerate(community.entities)}
    ranked = sorted(names, key=lambda name: order.get(name, len(order)))
    found.append(listing([_cased(community, name) for name in ranked], community.code))
    return next((shown for shown in found if shown and shown not in desk.headlines), found[-1])


# ── title and rating ─────────────────────────────────────────────────────────────────────────────────────────────────


def _cased(community: _Community, name: str) -> str:
    return natural(name, [quote.text for quote in community.quotes])


def _title(community: _Community, given: str) -> str:
    """A clause that states what the strongest members do; else their names; of a group of reports, their heads."""
    names = [_cased(community, e.title) for e in community.entities[:12]]
    if community.reports:
        heads = [_cased(community, r.title.partition(":")[0]) for r in community.reports[:6]]
        short = [head for head in heads if len(head.split()) <= 4]
        return listing(distinct([*short, *names], 3, community.code), community.code) or heads[0]
    good = [q for q in community.quotes if q.worth >= SHOWN and q.members >= 2 and not q.introduces]
    clauses = [clause(q.text, names[:4], community.code, longest=9) for q in good]
    for merit, shown in sorted(clauses, reverse=True):
        if merit >= STATED and sum(mentions(shown, name) for name in names[:4]) >= 2:
            return shown
    return listing(distinct(names, 4, community.code), community.code) or given


def _rating(community: _Community) -> tuple[float, str]:
    """Importance 0–10 from the context alone, and the numbers it comes from.

    1 + 9 · mean of three logarithmic shares: documents that mention the strongest eight members (of 50), total weight
    of the relations (of 200), members (of 100). Never below the rating of a sub-report. Formula: our own.
    """
    strongest = [e.documents for e in community.entities[:8]]
    documents = sum(strongest) / max(len(strongest), 1)
    weight = sum(relation.score for relation in community.relations)
    shares = [
        min(1.0, math.log1p(value) / math.log1p(much))
        for value, much in ((documents, _DOCUMENTS), (weight, _WEIGHT), (len(community.entities), _MEMBERS))
    ]
    rating = max([1 + 3 * sum(shares), *(r.score for r in community.reports)])
    return round(min(10.0, rating), 1), _counted(community, documents, weight)


def _counted(community: _Community, documents: float, weight: float) -> str:
    """The numbers behind a rating."""
    counts = [(len(community.entities), "entities"), (len(community.relations), f"relations (weight {weight:.1f})")]
    counts += [(len(community.claims), "claims"), (len(community.reports), "sub-reports")]
    said = ", ".join(f"{count} {what}" for count, what in counts if count)
    return f"{said}; {documents:.1f} documents for each of the strongest entities" if documents else said
