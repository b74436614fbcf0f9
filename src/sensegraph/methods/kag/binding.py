"""What a sub-question is answered by: names, dates and numbers in the sentences that speak of it, best first.

paper: Liang et al. 2024 (KAG) lets a model write the value of a variable; here it is a name that the graph knows, so
that the next step can start from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sensegraph.index.index import Index
from sensegraph.language.text import fold, list_stems, split_sentences
from sensegraph.language.word_lists import ENGLISH_MONTHS, ENGLISH_WEEKDAYS
from sensegraph.methods.kag.quantities import read_date, read_number, write_value
from sensegraph.retrieval.named_entities import entities_named_in
from sensegraph.runtime.results import take_records

_WANTED = (
    ("when", re.compile(r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|time)\b|\b(?:date|year) of\b", re.I)),
    ("number", re.compile(r"\bhow (?:many|much|long|far|tall|high|big|large)\b|\bpercentage\b|\bpopulation\b", re.I)),
    ("place", re.compile(
        r"\bwhere\b|\b(?:country|state|city|town|county|province|district|region|continent|river|mountain|lake|island"
        r"|capital|birthplace|hometown|place|location|located|territor\w+|citizen\w*|headquarters|village|municipality"
        r"|born in|mountains|airport|area|body of water)\b", re.I)),
    ("person", re.compile(
        r"\bwho(?:m|se)?\b|\b(?:performer|director|author|writer|composer|producer|founder|spouse|wife|husband|father"
        r"|mother|child|son|daughter|sibling|brother|sister|president|singer|person|actor|actress|creator|editor|king"
        r"|queen|manufacturer|inventor)\b", re.I)),
    ("organization", re.compile(
        r"\b(?:compan(?:y|ies)|organi[sz]ation|association|team|club|band|group|school|university|college|party|label"
        r"|publisher|record label|agency|institution|church|employer|educated)\b", re.I)),
    ("work", re.compile(r"\b(?:film|movie|book|novel|song|album|series|show|play|poem|work|opera)\b", re.I)),
)  # fmt: skip
_FITS = {
    "person": ("person", "organization"),
    "place": ("place", "organization"),
    "organization": ("organization", "place"),
}
_CUES = {
    "performer": "by sung singer perform album band single record artist",
    "director": "direct by film",
    "author": "by written wrote novel book writer author",
    "composer": "compos by music opera written",
    "producer": "produc by",
    "spouse": "marri wife husband wed spouse",
    "sibling": "brother sister sibl",
    "child": "son daughter child father mother",
    "country": "in of",
    "citizenship": "born american",
    "located": "in locat counti district state",
    "birth": "born in",
    "death": "die in",
    "border": "border adjac",
    "educated": "attend graduat studi univers",
    "member": "play member for join team",
    "part": "part of",
    "capital": "capit",
    "broadcast": "licens",
    "location": "in at held took place locat",
}


_HEAD_WORDS = frozenset(
    "county river university college party district province mountains range lake island school museum company street "
    "road highway route park church legislature congress".split()
)
_WIDE = frozenset(("country", "state", "continent", "nation"))
_BRACKET = re.compile(r"\s*\([^()]*\)\s*$")
_HEADS = re.compile(rf"\b(?:{'|'.join(sorted(_HEAD_WORDS | _WIDE))})\b")
_MONTH = re.compile(
    rf"(?:{'|'.join((*ENGLISH_MONTHS, *ENGLISH_WEEKDAYS))}|north|south|east|west|central|upper|lower|northwest|eastern"
    r"|western)$",
    re.I,
)
_ADJECTIVE = re.compile(r"\w+(?:[^g]ian|can|ean|ish|ese|ench|utch)s?$")


@dataclass(frozen=True, slots=True)
class SaidSentence:
    """A sentence with how well its passage fits, 0–1, and the title that it stands under."""

    text: str
    weight: float
    title: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value that may answer, with its share of all that may."""

    value: str
    score: float


def kind_wanted(question: str) -> str:
    """The kind of thing that a sub-question asks for: when, number, place, person, organization, work, or nothing."""
    found = [(m.start(), i, kind) for i, (kind, rule) in enumerate(_WANTED) if (m := rule.search(question))]
    return min(found)[2] if found else ""


def split_passages(passages: Sequence[tuple[str, str, float]]) -> list[SaidSentence]:
    """The sentences of passages given as title, text and weight."""
    return [
        SaidSentence(text[a:b], weight, title) for title, text, weight in passages for a, b in split_sentences(text)
    ]


def find_values(
    question: str, said: Sequence[SaidSentence], index: Index, *, told: bool = False, most: int = 5
) -> list[Candidate]:
    """What the sentences offer as an answer, best first, with shares that sum to 1.

    `told` says that they are an answer already; else each counts as far as it holds the words of the question.
    """
    kind = kind_wanted(question)
    own = [s for s in dict.fromkeys(list_stems(question)) if s]
    idf = {s: index.words.idf(s) for s in own}
    cues = frozenset(c for word, text in _CUES.items() if word in question.casefold() for c in text.split())
    found: dict[str, float] = {}
    for sentence in said:
        titled = (
            2.0
            if sentence.title and _stands_in_question(_BRACKET.sub("", sentence.title), f" {_spaced_words(question)} ")
            else 1.0
        )
        fit = sentence.weight
        if not told:  # as far as it holds the words of the question
            there = frozenset(list_stems(f"{sentence.title} {sentence.text}"))
            fit = fit * titled * (sum(w for s, w in idf.items() if s in there) / (sum(idf.values()) or 1.0))
        if fit <= 0:
            continue
        for value, share in _offer_values(question, sentence, kind, cues, index):
            found[value] = max(found.get(value, 0.0), fit * share)
    ranked = sorted(found.items(), key=lambda x: (-x[1], x[0]))[:most]
    whole = sum(score for _, score in ranked) or 1.0
    return [Candidate(value, score / whole) for value, score in ranked]


def _offer_values(
    question: str, sentence: SaidSentence, kind: str, cues: frozenset[str], index: Index
) -> Iterator[tuple[str, float]]:
    if kind == "when":
        found = read_date(sentence.text)
        if found:
            yield write_value(found), 1.0
        return
    if kind == "number":
        number = read_number(sentence.text)
        if number:
            yield write_value(number), 1.0
        return
    asked = f" {_spaced_words(question)} "
    heads = frozenset(_HEADS.findall(question.casefold()))
    entities = [
        e
        for e in take_records(index.graph.entities, entities_named_in(sentence.text, index))
        if not _stands_in_question(e.name, asked)
    ]
    wide = [e for e in entities if e.type == "place" and not _MONTH.match(e.name)] if heads & _WIDE else []
    for i, entity in enumerate(entities):
        later = (1 + wide.index(entity)) / len(wide) if entity in wide else 1 / (1 + 0.1 * i)
        kinds = _FITS.get(kind, (kind,))
        if entity.type == "concept":
            fit = 0.05
        elif not kind:
            fit = 0.5
        else:
            fit = 1.0 if entity.type == kinds[0] else 0.4 if entity.type in kinds else 0.15
        fits = fit * _weigh_cue_distance(sentence.text, entity.name, cues) * later
        yield entity.name, fits * _weigh_name(entity.name, heads)


def _stands_in_question(name: str, question: str) -> bool:
    """Whether a name stands in the question, as words between blanks."""
    return f" {_spaced_words(name)} " in question


def _weigh_name(name: str, heads: frozenset[str]) -> float:
    """More where the name says what it is (`Avery County`, for a county), little for a month or an adjective."""
    if _MONTH.match(name) or _ADJECTIVE.match(name):
        return 0.15
    words = frozenset(_spaced_words(name).split())
    if heads & words:
        return 1.6
    return 0.4 if (_HEAD_WORDS & words) - heads and heads else 1.0


def _spaced_words(text: str) -> str:
    return " ".join(re.findall(r"\w+", fold(text)))


def _weigh_cue_distance(text: str, name: str, cues: frozenset[str]) -> float:
    """How near a name stands to a word that tells the relation: 1 beside it, at least ½."""
    if not cues:
        return 0.75
    start = text.find(name)
    before = [w.casefold() for w in re.findall(r"\w+", text[: max(start, 0)])][-6:]
    after = [w.casefold() for w in re.findall(r"\w+", text[start + len(name) :])][:3]
    for gap, word in enumerate(reversed(before)):
        if any(word.startswith(c) for c in cues):
            return 1.0 - 0.06 * gap
    return 0.65 if any(w.startswith(c) for w in after for c in cues) else 0.5
