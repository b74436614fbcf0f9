"""A community as a report sees it: its members by strength, and the sentences behind it as quotes, by worth."""

from __future__ import annotations

import heapq
import math
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat
from operator import itemgetter

import msgspec
from msgspec.structs import replace

from sensegraph.engines.offline.reports import sentence_quality
from sensegraph.engines.offline.reports.report_parts import names_nothing, show_natural_case, split_title
from sensegraph.engines.offline.reports.sentence_choice import Candidate, TermWeights
from sensegraph.engines.offline.stemming import measure_words
from sensegraph.language.speakers import split_spoken
from sensegraph.language.text import detect_language
from sensegraph.types import Context, Description, Passage, Source

PLACES = 3  # spans kept for a text that stands in several
LIMIT = 240  # quotes looked at for one report: what follows is quadratic in them at worst


class Quote(msgspec.Struct, frozen=True):
    """A tidied sentence of the text, with its span, the ids of the passages it supports, and how it may be used.

    `stems` are the terms of its candidate, each once.
    """

    text: str
    speaker: str
    sources: tuple[Source, ...]
    owners: tuple[str, ...]
    worth: float
    candidate: Candidate
    stems: frozenset[str]

    @property
    def chunk(self) -> str:
        """The chunk it stands in, "" when its place is not known."""
        return self.sources[0].chunk if self.sources else ""


def list_quotes(passage: Passage) -> tuple[Description, ...]:
    """The passage's quotes; where it has none, its text with its first source."""
    if passage.quotes or not passage.text.strip():
        return passage.quotes
    source = passage.sources[0] if passage.sources else Source("", 0, 0)
    return (Description(passage.text, source),)


def split_relation_title(relation: Passage) -> tuple[str, str]:
    """The two names of a relation's title ("A — B")."""
    first, _, second = relation.title.partition(" — ")
    return first.strip(), second.strip()


def gather_quotes(context: Context, code: str) -> list[Quote]:
    """The quotes of all passages, each text once, at most LIMIT: first those that support most passages.

    Those of odd length, questions and what speakers say of themselves come last. Ties are broken by a hash of the
    place, so that no document is preferred for coming first.
    """
    owners = defaultdict[str, dict[str, None]](dict)
    sources = defaultdict[str, dict[Source, None]](dict)
    for passage in context.passages:
        for quote in list_quotes(passage):
            owners[quote.text][passage.id] = None
            sources[quote.text][quote.source] = None
    hashed = {text: [(hash_place(source), source) for source in found] for text, found in sources.items()}
    places = {text: sorted(found, key=itemgetter(0)) for text, found in hashed.items()}

    def rank(text: str) -> tuple[bool, int, tuple[int, str, int], str]:
        return _is_odd(text), -len(owners[text]), places[text][0][0], text

    order = sorted(owners, key=rank)[:LIMIT]
    return [
        _make_quote(text, [source for _, source in places[text][:PLACES]], tuple(owners[text]), code) for text in order
    ]


def _is_odd(text: str) -> bool:
    """Whether a sentence is short or long, a question, or what a speaker says of themselves."""
    odd = not 40 <= len(text) <= 280 or text.rstrip().endswith("?")
    return odd or sentence_quality.FIRST_PERSON.search(text) is not None


def hash_place(source: Source) -> tuple[int, str, int]:
    """What orders places so that no document is preferred for coming first."""
    return zlib.crc32(f"{source.chunk}\0{source.start}".encode()), source.chunk, source.start


def _make_quote(raw: str, places: Sequence[Source], owners: tuple[str, ...], code: str) -> Quote:
    text, speaker, soundness, candidate = read_quote(raw, places[0].end - places[0].start, code)
    known = tuple([place for place in places if place.chunk])
    return Quote(text, speaker, known, owners, soundness, candidate, frozenset(candidate.terms))


@lru_cache(maxsize=1 << 14)  # a sentence stands in several communities, and in those above them
def read_quote(raw: str, size: int, code: str) -> tuple[str, str, float, Candidate]:
    """What is said in a sentence that rests on a span of `size` characters, tidied; who says it; its soundness.

    That is how well it stands alone, how general it is, whether it presents people, whether it is long.
    """
    speaker, said = split_spoken(raw, size)
    text = sentence_quality.tidy_sentence(said)
    words = measure_words(text)
    value = sentence_quality.rate_quality(text) * (0.6 if sentence_quality.is_hanging(text) else 1.0)
    value *= sentence_quality.rate_generality(text, code)
    value *= min(1.0, READABLE / words)
    value *= (_PRESENTED if sentence_quality.introduces_person(text) else 1.0) * (1.0 if _ENDED.search(text) else _CUT)
    return text, speaker, value, Candidate(sentence_quality.recall_stems(text, code), words)


def weigh_salience(quotes: Iterable[Quote], names: Sequence[str], code: str) -> dict[str, float]:
    """Term weights of a community: by the chunks that hold a term, and more for words of its strongest names."""
    chunks = defaultdict[str, list[str]](list)
    for quote in quotes:
        chunks[quote.chunk] += quote.candidate.terms
    counts = sentence_quality.weigh_stems(chunks.values(), once=0.15)
    for i, name in enumerate(names):
        for stem in sentence_quality.stem_text(name, code):
            if stem in counts:
                counts[stem] = max(counts[stem], 0.7) * (1 + 1.5 / (1 + i / 2))
    return counts


# ── the community ─────────────────────────────────────────────────────────────────────────────────────────────────────

CORE = 8  # members that count as strong
THEMES = 20  # terms of the centre that count as its own
READABLE = 28  # words from which a sentence counts for less
SHOWN = 0.2  # soundness below which a sentence is shown only where there is no other
TOLD = 0.22  # the same for sentences of findings, which may be left out
PLENTY = 30  # where so many sentences are sounder than the bar, it rises
_HIGHEST = {SHOWN: 0.6, TOLD: 0.32}  # and how far
_CUT = 0.4  # what the lack of an end leaves of a sentence's soundness
_ENDED = re.compile(r"[.!?…。！？؟।]['\"”’»)」』]*$")
_PRESENTED = 0.1  # what presenting a person by office or career leaves of a sentence's soundness
_BROAD, _EMPTY, _PERSON, _COMPOUND = 0.55, 0.1, 0.35, 1.2  # what the kind of a name makes of its strength
_ABOUT = 0.4  # share of the sentences that name a person in a community which is about that person
_HUMAN = re.compile(r"\b(?:he|she|his|her|him|hers|Dr|Mr|Mrs|Ms|Professor|who)\b")
_find_human = lru_cache(maxsize=1 << 9)(_HUMAN.search)  # several names stand in a sentence
_HUMAN_SHARE = 0.34  # share of a capitalised name's sentences with such a word from which it names a person
_HEAD = (1.0, 0.7, 0.5)  # what the first, second and third name of a sub-report's title count


@dataclass(frozen=True, slots=True)
class Member:
    """A name with its stems and its strength inside the community: the strongest has 1."""

    name: str
    stems: frozenset[str]
    strength: float


@dataclass(frozen=True, slots=True)
class Centre:
    """What a community is about, as terms: the weight of each, the unit vector of its sentences' centroid, its themes.

    `themes` are the terms with the largest share in the centroid.
    """

    weights: Mapping[str, float]
    vector: Mapping[str, float]
    themes: frozenset[str]
    squares: Mapping[str, float]  # of the weights
    shares: Mapping[str, float]  # the products of weights and vector

    def closeness(self, terms: Iterable[str]) -> float:
        """Cosine of a sentence with the centroid, 0–1."""
        own = frozenset(terms)  # sums are exact, so the order of a set does not matter
        norm = math.sqrt(math.fsum(map(self.squares.get, own, repeat(0.0))))
        return math.fsum(map(self.shares.get, own, repeat(0.0))) / norm if norm else 0.0


@dataclass(frozen=True, slots=True)
class Community:
    """A context in the order in which it is written about.

    `members` come by falling strength, `quotes` with their soundness as `worth` and their merit as their candidate's;
    `weights` are those that coverage is counted by.
    """

    code: str
    members: tuple[Member, ...]
    entities: tuple[Passage, ...]
    relations: tuple[Passage, ...]
    reports: tuple[Passage, ...]
    claims: tuple[Passage, ...]
    quotes: tuple[Quote, ...]
    centre: Centre
    weights: Mapping[str, float]

    def told(self) -> list[Quote]:
        """The sentences sound enough for a finding."""
        least = raise_bar(self.quotes, TOLD)
        return [quote for quote in self.quotes if quote.worth >= least]

    def strong(self, quote: Quote) -> list[Member]:
        """The strong members in a sentence."""
        return [m for m in self.members[:CORE] if m.stems and m.stems <= quote.stems]

    def central(self, quote: Quote) -> bool:
        """Whether a sentence holds two strong members, or one and two other themes of the community."""
        strong = self.strong(quote)
        named = set().union(*(m.stems for m in strong))
        return len(strong) >= 2 or (bool(strong) and len((self.centre.themes & quote.stems) - named) >= 2)


def read_community(context: Context) -> Community:
    """The community behind a context, in the language of the first words of up to 40 of its quotes."""
    texts = [quote.text for passage in context.passages for quote in passage.quotes[:2]][:40]
    code = detect_language(" ".join(text[:200] for text in texts or [p.text for p in context.passages]))
    quotes = gather_quotes(context, code)
    kinds: dict[str, list[Passage]] = defaultdict(list)
    for passage in context.passages:
        kinds[passage.kind].append(passage)
    reports = sorted(kinds["report"], key=lambda r: (-weigh_report(r), r.id))
    members = _rank_members(kinds["entity"], kinds["relation"], reports, quotes, code)
    strength = {member.name: member.strength for member in members}
    strong = [member for member in members[:CORE] if member.stems]
    whole = find_centre([quote.stems for quote in quotes], code)
    ranked = []
    for quote in quotes:
        # the merit of a quote: soundness, closeness to the centre, and the strong members in it
        own = quote.candidate
        held = math.fsum([m.strength for m in strong if m.stems <= quote.stems])
        merit = quote.worth**1.2 * whole.closeness(quote.stems) ** 1.5 * (0.3 + min(1.6, held))
        ranked.append(replace(quote, candidate=Candidate(own.terms, own.words, merit, quote.chunk)))

    def importance(relation: Passage) -> float:
        one, other = (strength.get(name, 0.0) for name in split_relation_title(relation))
        return math.log1p(relation.score) * (0.05 + one) * (0.05 + other)

    entities = tuple(sorted(kinds["entity"], key=lambda e: (-strength[e.title], -e.score, e.id)))
    relations = tuple(sorted(kinds["relation"], key=lambda r: (-importance(r), r.id)))
    salience = TermWeights(weigh_salience(ranked, [m.name for m in members[:CORE]], code))
    claims = tuple(kinds["claim"])
    return Community(code, members, entities, relations, tuple(reports), claims, tuple(ranked), whole, salience)


def weigh_report(report: Passage) -> float:
    """How much a sub-report counts in its parent: its rating times the logarithm of its documents."""
    return (0.5 + report.score) * math.log1p(1 + report.documents)


def raise_bar(quotes: Sequence[Quote], least: float) -> float:
    """The soundness from which sentences are shown: `least`, and more where there are plenty."""
    worths = sorted((quote.worth for quote in quotes), reverse=True)
    return max(least, min(_HIGHEST[least], worths[PLENTY])) if len(worths) > PLENTY else least


def find_centre(sentences: Iterable[Iterable[str]], code: str) -> Centre:
    """The centroid of the tf-idf vectors of sentences, given as their stems.

    Words that name no topic count a quarter.
    """
    bags = list(map(frozenset, sentences))
    counts = Counter(chain.from_iterable(bags))
    general = sentence_quality.general_stems() if code == "en" else frozenset()
    often = {n: math.log1p(len(bags) / n) for n in set(counts.values())}
    weights = {t: often[n] for t, n in counts.items()}
    weights.update({t: weights[t] * 0.25 for t in general & counts.keys()})
    powers = {t: w**2 for t, w in weights.items()}
    total = dict.fromkeys(weights, 0.0)
    for bag in bags:
        norm = math.sqrt(math.fsum(map(powers.__getitem__, bag))) or 1.0
        for t in bag:
            total[t] += weights[t] / norm
    norm = math.sqrt(math.fsum(v * v for v in total.values())) or 1.0
    vector = {t: v / norm for t, v in total.items()}
    top = heapq.nsmallest(THEMES, ((-share, t) for t, share in vector.items() if t not in general))
    squares = {t: w * w for t, w in weights.items()}
    shares = {t: w * vector[t] for t, w in weights.items()}
    return Centre(weights, vector, frozenset(t for _, t in top), squares, shares)


def _rank_members(
    entities: Sequence[Passage],
    relations: Sequence[Passage],
    reports: Sequence[Passage],
    quotes: Sequence[Quote],
    code: str,
) -> tuple[Member, ...]:
    """Names by strength: inner weight × share of the links inside × support by documents × how specific a name is.

    The inner weight is the root of a name's weight inside × (half + half the share of its links that lie inside).
    """
    inner: dict[str, float] = defaultdict(float)
    links: Counter[str] = Counter()
    for relation in relations:
        for name in split_relation_title(relation):
            inner[name] += relation.score
            links[name] += 1
    degree = {entity.title: entity.score for entity in entities}
    raw: dict[str, float] = {}
    for name in dict.fromkeys([*degree, *inner]):
        inside = min(1.0, links[name] / max(1.0, degree.get(name, links[name])))
        raw[name] = math.sqrt(inner[name] + 0.1) * (0.5 + 0.5 * inside)
    for report in reports:
        for factor, name in zip(_HEAD, split_title(report.title), strict=False):
            if len(name.split()) <= 4:
                raw[name] = max(raw.get(name, 0.0), factor * weigh_report(report))
    known = {entity.title: entity.documents for entity in entities}
    own = {n: frozenset(sentence_quality.recall_stems(n, code)) for n in raw}
    held: dict[str, list[str]] = {name: [] for name in raw}  # the sentences that hold all stems of a name
    by_stem: dict[str, list[str]] = defaultdict(list)
    for name in (n for n in raw if own[n]):
        by_stem[next(iter(own[name]))].append(name)  # any of its stems leads to it
    for quote in quotes:
        for name in chain.from_iterable(map(by_stem.__getitem__, by_stem.keys() & quote.stems)):
            if own[name] <= quote.stems:
                held[name].append(quote.text)
    weight = {n: raw[n] * math.log1p(max(known.get(n, 0), len(held[n]))) for n in raw}
    speakers = {quote.speaker.casefold() for quote in quotes if quote.speaker}
    people = frozenset(part for name in speakers for part in (name, *name.split()))
    some = sorted(weight, key=lambda n: (-weight[n], n))[: 3 * CORE]  # only what can become strong is looked at closely
    special = {n: rate_specificity(n, held[n], len(quotes), people, code) for n in some}
    strength = {n: weight[n] * special.get(n, _EMPTY) for n in raw}
    top = max(strength.values(), default=0.0) or 1.0
    ordered = sorted(strength, key=lambda n: (-strength[n], n))
    return tuple(Member(n, own[n], strength[n] / top) for n in ordered)


def rate_specificity(name: str, texts: Sequence[str], size: int, people: frozenset[str], code: str) -> float:
    """What the kind of a name makes of its strength: compounds most, broad words less, people unless it is on them.

    `texts` are those of the `size` sentences that hold it. A name is somebody's where a speaker has it, or where it is
    capitalised, with "he", "she", "Dr" … in many of its sentences.
    """
    own = sentence_quality.stem_text(name, code)
    if names_nothing(name) or not own:
        return _EMPTY
    if code != "en":
        return 1.0
    if sentence_quality.general_stems().issuperset(own):
        return _EMPTY
    person = name.casefold() in people
    if not person and all(word[:1].isupper() and not word.isupper() for word in show_natural_case(name, texts).split()):
        person = sum(_find_human(text) is not None for text in texts) > _HUMAN_SHARE * len(texts)
    if person:
        return 1.0 if len(texts) > _ABOUT * size else _PERSON
    return _COMPOUND if len(own) > 1 else _BROAD if own[0] in sentence_quality.stem_word_lists("vague") else 1.0
