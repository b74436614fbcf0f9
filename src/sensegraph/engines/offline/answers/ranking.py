"""Which sentences of the retrieved passages answer a question of fact: features, two linear rankers, and a gate.

One ranker reads questions that a single sentence answers; the other questions whose answer stands in one passage, and
what leads there in another. The gate tells how much to trust the second. All weights are data: bench/answers.py trains
them, and prints what they are worth.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from sensegraph.engines.offline.answers.answer_types import AnswerType, find_answer_type, find_candidates, find_names
from sensegraph.engines.offline.answers.questions import FRAME
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.engines.offline.reports.sentence_quality import is_heading
from sensegraph.language.dates.moments import find_atoms
from sensegraph.language.text import WORD, fold, name_stemmer, part_camel_case, split_runs, stem_run
from sensegraph.language.word_lists import ENGLISH
from sensegraph.types import Passage, WordCounts

Floats = NDArray[np.float64]

READ = 5  # passages that are read
HEADING = 2.0  # what a heading loses: it says nothing, whatever words it holds (training texts have none)
ASKING = 0.3  # weight of a word that says how to answer, or names a piece of the corpus
FEATURES = (
    "own", "union gain", "title", "passage", "rank", "score", "first", "typed", "typed new", "typed count",
    "own typed", "length", "short", "bridge", "bridge gain", "title named", "asks", "new names", "speaker",
)  # fmt: skip
GATE = ("bias", "union", "own", "relative", "genitive", "bridge", "bridge gain")  # fmt: skip
_RELATIVE = re.compile(r"\b(?:that|which|who|whose|where|whom)\b")
_GENITIVE = re.compile(r"['’]s\b|\bof the\b|\bof (?=[A-Z])")
_ASIDE = re.compile(r"\s*\([^()]*\)$")
_YEAR = re.compile(r"\d{4}")


HOLDING = ("bias", "union", "best", "title", "gate", "missing name", "missing share", "long")


class Weights(msgspec.Struct, frozen=True):
    """The trained weights: of the features, for each of the two rankers, of the gate, and of whether all holds an answer."""

    single: tuple[float, ...]
    bridged: tuple[float, ...]
    gate: tuple[float, ...]
    holding: tuple[float, ...]


@cache
def load_weights() -> Weights:
    """The weights as they were trained last."""
    from importlib.resources import files

    text = files(__package__).joinpath("weights.json").read_bytes()
    return msgspec.json.decode(text, type=Weights)


def stem_units(text: str, spoken: str) -> list[str]:
    """The stems of a text as search has them; names in camel case are parted, and dates are also one word each."""
    dated = find_atoms(text) if _YEAR.search(text) else []
    plain = part_camel_case(text)
    return [t for word in split_runs(plain) for t in stem_run(word, spoken)] + [
        atom.first for atom in dated if atom.first and atom.first == atom.last
    ]


@dataclass(frozen=True, slots=True)
class Read:
    """A question with the sentences that may answer it: how well each does, and why.

    `features` has a row for each sentence; `union` is the share of the question's weight that a sentence holds with
    its title and the sentence before it; `because` is the sentence of another passage that leads to it, or −1;
    `missing` are the words of the question that stand nowhere in the corpus.
    """

    kind: AnswerType
    sentences: tuple[SourceSentence, ...]
    features: Floats
    gate: Floats
    union: Floats
    because: tuple[int, ...]
    stems: frozenset[str]
    headings: NDArray[np.bool_]
    missing: tuple[str, ...] = ()


def read_evidence(
    question: str,
    passages: Sequence[Passage],
    sentences: Sequence[SourceSentence],
    counted: WordCounts | None,
    kind: AnswerType | None = None,
) -> Read | None:
    """The sentences of the passages with their features; None where question or passages hold no word.

    `kind` is what is asked for, where the question alone does not tell.
    """
    spoken = name_stemmer(question)
    shown = {p.id: (rank, p) for rank, p in enumerate(passages)}
    kept = [s for s in sentences if s.reference in shown]
    wanted = list(dict.fromkeys(stem_units(question, spoken)))
    if not kept or not wanted:
        return None
    stems = [frozenset(stem_units(s.text, spoken)) for s in kept]
    titles = {name: frozenset(stem_units(p.title, spoken)) for name, (_, p) in shown.items()}
    texts = {
        name: titles[name].union(*(w for s, w in zip(kept, stems, strict=True) if s.reference == name))
        for name in shown
    }
    dated = {name: frozenset(t for t in held if len(t) > 3 and t[:4].isdigit()) for name, held in texts.items()}
    weigh = _weigh_stems(wanted, list(texts.values()), counted)
    asked = frozenset(wanted)
    kind = kind or find_answer_type(question)
    names = [find_names(s.text) for s in kept]
    spelt = [{n.text: frozenset(stem_units(n.text, spoken)) for n in found} for found in names]
    total = sum(weigh.values()) or 1.0

    def cover(held: frozenset[str]) -> float:
        return sum(weigh[t] for t in asked & held) / total

    own = [cover(w) for w in stems]
    titled = [cover(w | titles[s.reference]) for s, w in zip(kept, stems, strict=True)]
    best = max((p.score for _, p in shown.values()), default=0.0) or 1.0
    rows: list[list[float]] = []
    union: list[float] = []
    because: list[int] = []
    folded = [fold(s.text) for s in kept]
    held_by = {name: _find_title(p.title, folded) for name, (_, p) in shown.items()}
    by_name: dict[str, list[int]] = {}
    for j, found in enumerate(spelt):
        for name, parts in found.items():
            if parts and not parts <= asked:
                by_name.setdefault(name, []).append(j)
    for i, (one, held) in enumerate(zip(kept, stems, strict=True)):
        rank, passage = shown[one.reference]
        title = titles[one.reference]
        begins = i == 0 or kept[i - 1].reference != one.reference
        said_by = frozenset(stem_units(one.speaker, spoken)) if one.speaker else frozenset()
        together = cover(held | title | said_by | dated[one.reference] | (frozenset() if begins else stems[i - 1]))
        things = find_candidates(kind, one.text, names[i])
        fresh = [c for c in things if kind in ("reason", "thing") or not frozenset(stem_units(c.text, spoken)) <= asked]
        bridge, gain, lead = _bridge(i, kept, titles, held_by, by_name, spelt[i], stems, titled, cover)
        words = len(WORD.findall(one.text))
        rows.append([
            own[i], together - own[i], cover(title), cover(texts[one.reference]), float(rank), passage.score / best,
            float(begins), float(bool(things)), float(bool(fresh)), float(min(3, len(fresh))), own[i] * bool(fresh),
            math.log1p(words), float(words < 5), bridge, gain,
            float(bool(held_by[one.reference]) and any(kept[j].reference != one.reference for j in held_by[one.reference])),
            float(one.text.endswith("?")), float(min(4, sum(not w <= asked for w in spelt[i].values()))),
            cover(said_by - held),
        ])  # fmt: skip
        union.append(together)
        because.append(lead)
    features = np.array(rows)
    column = dict(zip(FEATURES, features.T, strict=True))
    gate = np.array([
        1.0, max(union), column["own"].max(), float(bool(_RELATIVE.search(question[5:]))),
        float(bool(_GENITIVE.search(question))), column["bridge"].max(), column["bridge gain"].max(),
    ])  # fmt: skip
    headings = np.array([not s.speaker and is_heading(s.text) for s in kept])
    missing = _find_missing(question, counted, texts, spoken)
    return Read(kind, tuple(kept), features, gate, np.array(union), tuple(because), asked, headings, missing)


def _bridge(i, kept, titles, held_by, by_name, names, stems, titled, cover):  # type: ignore[no-untyped-def]
    """How well a sentence of another passage leads to this one: its share, what both hold together, and which it is."""
    one, me = kept[i], stems[i] | titles[kept[i].reference]
    mine = cover(me)
    bridge, gain, lead, most = 0.0, 0.0, -1, 0.0
    for j in held_by[one.reference]:
        if kept[j].reference == one.reference or (one.document and kept[j].document == one.document):
            continue
        both = cover(me | stems[j] | titles[kept[j].reference]) - max(mine, titled[j])
        bridge, gain = max(bridge, titled[j]), max(gain, both)
        if titled[j] + both > most:
            most, lead = titled[j] + both, j
    shared = {j for name in names for j in by_name.get(name, ())}
    for j in sorted(shared):
        if kept[j].reference == one.reference or (one.document and kept[j].document == one.document):
            continue
        both = cover(me | stems[j] | titles[kept[j].reference]) - max(mine, titled[j])
        gain = max(gain, both / 2)
        if both > 0 and lead < 0 and (titled[j] + both) / 2 > most:
            most, lead = (titled[j] + both) / 2, j
    return bridge, gain, lead


def _find_title(title: str, folded: Sequence[str]) -> list[int]:
    """The sentences, given in folded form, that name a title; what stands in brackets behind it need not be said."""
    name = fold(_ASIDE.sub("", title))
    return (
        [j for j, text in enumerate(folded) if name in text and re.search(rf"\b{re.escape(name)}\b", text)]
        if name
        else []
    )


def _weigh_stems(
    wanted: Sequence[str], texts: Sequence[frozenset[str]], counted: WordCounts | None
) -> Mapping[str, float]:
    """ln(1 + (N − n + ½) / (n + ½)) of each stem over the corpus, or over the passages where it was not counted."""
    known = dict(counted.words) if counted else {}
    weights, asking = {}, _stem_asking_words()
    for stem in wanted:
        n, size = sum(stem in text for text in texts), len(texts)
        if counted and (known.get(stem, 0) or not n):
            n, size = known.get(stem, 0), counted.chunks
        own = (ASKING if n else 0.0) if stem in asking else 1.0
        weights[stem] = own * math.log1p((size - n + 0.5) / (n + 0.5))
    return weights


@cache
def _stem_asking_words() -> frozenset[str]:
    return frozenset(stem for word in FRAME for stem in stem_run(word, ENGLISH))


def _find_missing(
    question: str, counted: WordCounts | None, texts: Mapping[str, frozenset[str]], spoken: str
) -> tuple[str, ...]:
    """The words of the question, as it writes them, that stand nowhere in the corpus, or else in the texts."""
    known = counted.words if counted else ()
    there = {t for t, n in known if n}.union(_stem_asking_words(), *texts.values())
    found = []
    for word in WORD.findall(question):
        stems = stem_units(word, spoken)
        if stems and there.isdisjoint(stems):
            found.append(word)
    return tuple(dict.fromkeys(found))


def rate_sentences(read: Read, weights: Weights) -> tuple[Floats, float]:
    """The chance that each sentence holds the answer, which add up to 1, and how far the question is one of two hops."""
    gate = _squash(read.gate, weights.gate)
    fall = HEADING * read.headings
    single, bridged = (_softmax(read.features @ np.array(w) - fall) for w in (weights.single, weights.bridged))
    return (1 - gate) * single + gate * bridged, gate


def rate_holding(read: Read, weights: Weights) -> float:
    """How likely it is, from 0 to 1, that the passages hold an answer at all."""
    return _squash(describe_holding(read, weights), weights.holding)


def describe_holding(read: Read, weights: Weights) -> Floats:
    """What tells whether the passages hold an answer: the values of `HOLDING`."""
    scores, gate = rate_sentences(read, weights)
    named = any(word[0].isupper() or word[0].isdigit() for word in read.missing)
    share, long = len(read.missing) / max(1, len(read.stems)), max(0, len(read.stems) - 6) / 10
    best, title = float(read.union[scores.argmax()]), float(read.features[:, FEATURES.index("title")].max())
    return np.array([1.0, float(read.union.max()), best, title, gate, float(named), share, long])


def _squash(values: Floats, weights: Sequence[float]) -> float:
    return float(1 / (1 + np.exp(-np.clip(values @ np.array(weights), -30, 30))))


def _softmax(values: Floats) -> Floats:
    grown = np.exp(values - values.max())
    return np.asarray(grown / grown.sum())
