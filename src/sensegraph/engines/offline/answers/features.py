"""What tells that a sentence answers a question of fact: its words, its passage, the kind of thing, what leads to it.

Words weigh by how rare they are in the corpus. The share of a question that some texts hold together is the weight of
its words in them, of the weight of all its words; what says how to answer or names a piece of the corpus weighs little.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sensegraph.engines.offline.answers.asked import list_led_commands
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.engines.offline.reports.sentence_quality import is_heading
from sensegraph.language.asking import sentence_cues
from sensegraph.language.asking.answer_types import AnswerType, find_answer_type, find_candidates, find_names
from sensegraph.language.asking.question_words import asks_whether, stem_asking_words
from sensegraph.language.asking.related_words import find_phrases, find_related
from sensegraph.language.dates.moments import find_atoms
from sensegraph.language.text import (
    WORD,
    fold,
    known_form,
    name_stemmer,
    part_camel_case,
    split_runs,
    stem_run,
    tag_words,
)
from sensegraph.language.word_lists import ENGLISH
from sensegraph.runtime.keys import document_part
from sensegraph.types import Passage, WordCounts

Floats = NDArray[np.float64]
Stems = frozenset[str]

ASKING = 0.3  # weight of a word that says how to answer, or names a piece of the corpus, where it stands in the corpus
PHRASED = 0.8  # what a word counts that says what a phrase of the question says
TITLED, SHARED = 0.75, 0.5  # how surely a name leads to where the title holds it, and where a word of it stands
FEWEST = 50  # texts that a corpus is taken to have at least: in a few, what all of them hold may still be rare
FEATURES = (
    "own", "union gain", "title", "passage", "rank", "score", "first", "typed", "typed new", "typed count",
    "own typed", "length", "short", "bridge", "bridge gain", "title named", "asks", "new names", "speaker",
    "headed", "rest", "rules", "way", "version", "literal", "signs", "goes on", "maker", "code", "instructs",
    "chain", "typed chain",
)  # fmt: skip
GATE = ("bias", "union", "own", "relative", "genitive", "bridge", "bridge gain")
_RELATIVE = re.compile(r"(?<!^)\b(?:that|which|who|whose|where|whom)\b", re.IGNORECASE)
_GENITIVE = re.compile(r"['’]s\b|\bof\b", re.IGNORECASE)
_ASIDE = re.compile(r"\s*\([^()]*\)$")
_ADDRESS = re.compile(r"https?://\S+|<\w+ [^<>]*=[^<>]*>")  # what stands in one is not said
_FILE = re.compile(r"(?:\S*/)?([^\W\d_]+)\S*\.\w{1,8}(?!\S)")  # what its name begins with
_BEFORE_NOUNS = ("in", "of", "for", "with", "by")
_YEAR = re.compile(r"\d{4}")


@dataclass(frozen=True, slots=True)
class Read:
    """A question with the sentences that may answer it, and what tells how well each does.

    `features` has a row for each sentence and a column for each of `FEATURES`, `gate` the values of `GATE`. `union` is
    the share of the question that a sentence holds with its title, its speaker and the sentence before it; `headings`
    says which sentences only name something; `outside` which are of other documents than that whose file's name
    begins with a word of the question; `because` is the sentence of another passage that leads to it, or −1.
    `second` is the score of the second passage as a share of the best. `missing` are the question's words, as it writes
    them, that stand nowhere in the corpus; `unnamed` that one of them is a name. `unlisted` says that no words
    that say the same are known in its language.
    """

    kind: AnswerType
    sentences: tuple[SourceSentence, ...]
    features: Floats
    gate: Floats
    union: Floats
    headings: NDArray[np.bool_]
    because: tuple[int, ...]
    stems: Stems
    second: float
    missing: tuple[str, ...]
    unnamed: bool = False
    unlisted: bool = False
    outside: NDArray[np.bool_] | bool = False


def read_evidence(
    question: str,
    passages: Sequence[Passage],
    sentences: Sequence[SourceSentence],
    counted: WordCounts | None,
    kind: AnswerType | None = None,
) -> Read | None:
    """The sentences of the passages with their features; None where the question or the passages hold no word.

    `kind` is what is asked for, where the question alone does not tell.
    """
    question = question.lower() if question.isupper() else question  # capitals would all be abbreviations
    shown = {p.id: p for p in passages}
    kept = _drop_repeated([s for s in sentences if s.reference in shown])
    spoken = name_stemmer(question)
    wanted = list(dict.fromkeys(stem_units(question, spoken)))
    if not kept or not wanted:
        return None
    return _Comparison(question, wanted, kind or find_answer_type(question), shown, kept, spoken, counted).read()


def _drop_repeated(sentences: Sequence[SourceSentence]) -> list[SourceSentence]:
    """The sentences without those that chunks which overlap both have, whole or from a place within."""
    kept: list[SourceSentence] = []
    seen: dict[str, set[str]] = {}
    before = ""
    for one in sentences:
        known = seen.setdefault(one.origin, set())
        cut = one.reference != before and any(text.endswith(one.raw) for text in known)
        before = one.reference
        if one.raw not in known and not cut:
            known.add(one.raw)
            kept.append(one)
    return kept


def stem_units(text: str, spoken: str) -> list[str]:
    """The stems of a text as search has them; names in camel case are parted, and a date is also one word."""
    stems = [t for word in split_runs(part_camel_case(text)) for t in stem_run(word, spoken)]
    dated = find_atoms(text) if _YEAR.search(text) else []
    return stems + [atom.first for atom in dated if atom.first and atom.first == atom.last]


class _Comparison:
    """A question beside sentences: `stems` of each, `titles` and all `texts` of each passage, the `names` in them."""

    def __init__(
        self,
        question: str,
        wanted: Sequence[str],
        kind: AnswerType,
        shown: Mapping[str, Passage],
        kept: Sequence[SourceSentence],
        spoken: str,
        counted: WordCounts | None,
    ) -> None:
        self.question, self.kind, self.shown, self.kept, self.spoken = question, kind, shown, kept, spoken
        self.asked = frozenset(wanted)
        self.whether, self.literals = asks_whether(question), sentence_cues.list_literals(question)
        self.way, self.version = sentence_cues.asks_for_way(question), sentence_cues.asks_for_version(question)
        # a command is read with the line that leads in to it
        self.led = [list_led_commands(kept, i) if self.way else [] for i in range(len(kept))]
        texts = (_ADDRESS.sub(" ", " ".join(x.text for x in (s, *led))) for s, led in zip(kept, self.led, strict=True))
        self.stems = [self._stem(text) for text in texts]
        heads = dict(counted.heads) if counted else {}
        # the title of a record names it, and is no title of the texts that it quotes
        self.titles = {
            name: self._stem(f"{p.title} {heads.get(document_part(p.id), '')}") if p.kind == "chunk" else frozenset()
            for name, p in shown.items()
        }
        files = {name: _FILE.match(heads.get(document_part(name), "")) for name in shown}
        self.called = {name: self._stem(match[1]) for name, match in files.items() if match}
        self.texts = dict(self.titles)
        for sentence, held in zip(kept, self.stems, strict=True):
            self.texts[sentence.reference] |= held | self._stem(sentence.speaker)
        self.counted = counted
        self.weights = _weigh_stems(wanted, spoken, list(self.texts.values()), counted)
        for phrase, _ in find_phrases(question, spoken):  # one of function words alone is asked for too
            if self.weights.keys().isdisjoint(stem_units(phrase, spoken)):
                self.weights[phrase] = max(self.weights.values()) / 2
        self.total = sum(self.weights.values()) or 1.0
        self.related = self._find_related()
        # a line that only names something may be what is asked for, where that is who made it
        self.signed = [kind == "person" and sentence_cues.tells_maker(s.raw) for s in kept]
        named = zip(kept, self.signed, strict=True)
        self.headings = [not s.speaker and not signed and is_heading(s.text) for s, signed in named]
        # what stands in a heading or a line of code is written with capitals there for another reason
        self.names = [[] if heading else find_names(s.text) for s, heading in zip(kept, self.headings, strict=True)]
        self.spelt = [{n.text: self._stem(n.text) for n in found} for found in self.names]
        self.said_by = [self._stem(s.speaker) if s.speaker else frozenset[str]() for s in kept]
        # who says it is part of what a sentence tells
        self.own = [self._share(w | by) for w, by in zip(self.stems, self.said_by, strict=True)]
        self.titled = [self._share(w | self.titles[s.reference]) for s, w in zip(kept, self.stems, strict=True)]
        self.above = self._find_headings()
        chunks = [p for p in shown.values() if p.kind == "chunk"] or list(shown.values())
        self.best = max(p.score for p in chunks) or 1.0

    def _stem(self, text: str) -> Stems:
        return frozenset(stem_units(text, self.spoken))

    def _find_related(self) -> dict[str, list[tuple[str, float]]]:
        """By stem of the passages the stems of the question that it stands for, with what it counts for them."""
        found: dict[str, list[tuple[str, float]]] = {}
        held = frozenset[str]().union(*self.texts.values())
        for stem in sorted(self.asked):
            for other, near in find_related(stem, held, self.spoken).items():
                found.setdefault(other, []).append((stem, near * self.weights[stem]))
        for word in WORD.findall(self.question):  # a text may write as one word what has a capital inside elsewhere
            parts = stem_units(word, self.spoken)
            for whole in stem_run(word, self.spoken) if len(parts) > 1 or word != part_camel_case(word) else ():
                found.setdefault(whole, []).extend((part, self.weights[part]) for part in parts)
        for phrase, meant in find_phrases(self.question, self.spoken):
            own = [stem for stem in (phrase, *stem_units(phrase, self.spoken)) if stem in self.weights]
            for other in meant:
                found.setdefault(other, []).extend((stem, PHRASED * self.weights[stem]) for stem in own)
        return found

    def _share(self, held: Stems) -> float:
        """The share of the question that these stems hold, in its own words or in related ones."""
        whole = self.asked & held
        best: dict[str, float] = {}
        for other in self.related.keys() & held:
            for stem, weight in self.related[other]:
                if stem not in whole:
                    best[stem] = max(weight, best.get(stem, 0.0))
        # fsum: these sets have another order in every process, and a sum of numbers in another order is another one
        return math.fsum((*(self.weights[t] for t in whole), *best.values())) / self.total

    def _find_headings(self) -> list[int]:
        """For each sentence the heading or the question above it in its passage, or −1."""
        found, last = [], -1
        for i, one in enumerate(self.kept):
            last = -1 if i and self.kept[i - 1].reference != one.reference else last
            found.append(last)
            if self.headings[i] or (not one.speaker and one.text.endswith("?")):
                last = i
        return found

    @cached_property
    def naming(self) -> dict[str, list[int]]:
        """By passage the sentences that name its title; what stands in brackets behind a title need not be said."""
        folded = [fold(s.text) for s in self.kept]
        found: dict[str, list[int]] = {}
        for reference, passage in self.shown.items():
            name = fold(_ASIDE.sub("", passage.title)) if passage.kind == "chunk" else ""
            whole = re.compile(rf"\b{re.escape(name)}\b")
            found[reference] = [j for j, text in enumerate(folded) if name and name in text and whole.search(text)]
        return found

    @cached_property
    def bearing(self) -> dict[str, list[int]]:
        """By word of a name the sentences that hold it; none of the question's, and none that most of the passages
        hold, where these are more than two.
        """
        found: dict[str, list[int]] = {}
        for j, spelt in enumerate(self.spelt):
            for stem in sorted(frozenset[str]().union(*spelt.values()) - self.asked):
                found.setdefault(stem, []).append(j)
        many = Counter(stem for text in self.texts.values() for stem in text)
        return {stem: held for stem, held in found.items() if 2 * many[stem] <= max(4, len(self.texts))}

    @cached_property
    def titling(self) -> dict[str, list[int]]:
        """By passage the sentences with a name that its title holds, names in the question left out."""
        spelt = [[p for p in names.values() if p and not p <= self.asked] for names in self.spelt]
        return {
            reference: [j for j, names in enumerate(spelt) if any(parts <= title for parts in names)]
            for reference, title in self.titles.items()
        }

    def read(self) -> Read:
        """All sentences with their features."""
        rows, union, because = [], [], []
        for i in range(len(self.kept)):
            row, together, lead = self._describe(i)
            rows.append(row)
            union.append(together)
            because.append(lead)
        features = np.array(rows)
        column = dict(zip(FEATURES, features.T, strict=True))
        gate = np.array([
            1.0, max(union), column["own"].max(), float(bool(_RELATIVE.search(self.question))),
            float(bool(_GENITIVE.search(self.question))), column["bridge"].max(), column["bridge gain"].max(),
        ])  # fmt: skip
        behind = {id(one) for led in self.led for one in led}
        # a command names nothing: it may be what is asked for, where nothing leads in to it
        headings = np.array([
            id(s) in behind or (is_one and not led and not (self.way and sentence_cues.is_command(s.raw)))
            for is_one, s, led in zip(self.headings, self.kept, self.led, strict=True)
        ])  # fmt: skip
        missing = self._find_missing()
        named = self.asked & frozenset().union(*self.called.values())
        outside = np.array([bool(named) and named.isdisjoint(self.titles[s.reference]) for s in self.kept])
        scores = [min(1.0, p.score / self.best) for p in self.shown.values()]
        return Read(
            self.kind, tuple(self.kept), features, gate, np.array(union), headings, tuple(because), self.asked,
            scores[1] if len(scores) > 1 else 0.0, missing, self.spoken == ENGLISH and any(
                word[0].isupper() and not self.question.startswith(word) for word in missing
            ), self.spoken != ENGLISH, outside,
        )  # fmt: skip

    def _describe(self, i: int) -> tuple[list[float], float, int]:
        """The features of one sentence, its union with what stands around it, and the sentence that leads to it."""
        one, held, own = self.kept[i], self.stems[i], self.own[i]
        passage, title, text = self.shown[one.reference], self.titles[one.reference], self.texts[one.reference]
        begins = i == 0 or self.kept[i - 1].reference != one.reference
        said_by = self.said_by[i]
        dated = {t for t in text if _YEAR.match(t)}
        together = self._share(held | title | said_by | dated | (frozenset() if begins else self.stems[i - 1]))
        things = find_candidates(self.kind, one.text, self.names[i])
        if self.kind in ("reason", "thing"):
            fresh = len(things)
        else:
            fresh = sum(not self._stem(c.text) <= self.asked for c in things)
        bridge, gain, lead = self._bridge(i)
        words = sum(len(WORD.findall(s.text)) for s in (one, *self.led[i]))
        chain = max(own, bridge) + gain  # what the sentence holds with what leads to it
        elsewhere = any(self.kept[j].reference != one.reference for j in self.naming[one.reference])
        row = [
            own, together - own, self._share(title), self._share(text), list(self.shown).index(one.reference),
            min(1.0, passage.score / self.best), begins, bool(things), bool(fresh), min(3, fresh), own * bool(fresh),
            math.log1p(words), words < 5, bridge, gain, elsewhere, one.text.endswith(("?", "？")),
            min(4, sum(not parts <= self.asked for parts in self.spelt[i].values())), self._share(said_by - held),
            *self._describe_place(i), chain, chain * bool(fresh),
        ]  # fmt: skip
        return [float(value) for value in row], together, lead

    def _describe_place(self, i: int) -> tuple[float, ...]:
        """What the heading above and the title add, and what marks the sentence as one of documentation."""
        one, above = self.kept[i], self.above[i]
        heading = self.kept[above].raw if above >= 0 else ""
        held = self.stems[i] | self.said_by[i]
        headed = self._share(held | self.stems[above]) - self.own[i] if above >= 0 else 0.0
        # what the title holds, all sentences of the passage are about
        known = self._share(self.titles[one.reference])
        rest = (self.titled[i] - known) / (1 - known) if known < 1 else 0.0
        near = self.literals & sentence_cues.list_literals(f"{heading} {one.raw}") if self.literals else ()
        return (
            headed, rest,
            self.whether and sentence_cues.rules_something(one.text),
            self.way and any(sentence_cues.tells_way(s.raw) for s in (one, *self.led[i])),
            self.version and sentence_cues.tells_version(f"{heading} {one.raw}"),
            len(near) / len(self.literals) if self.literals else 0.0,
            sentence_cues.measure_syntax(one.raw), sentence_cues.goes_on(one.raw),
            self.signed[i],
            self.way and (bool(self.led[i]) or sentence_cues.holds_code(one.raw) or sentence_cues.is_command(one.raw)),
            self.way and sentence_cues.instructs(one.raw),
        )  # fmt: skip

    def _bridge(self, i: int) -> tuple[float, float, int]:
        """How much of the question the best sentence holds that leads to this one, what both add, and which it is.

        A sentence of another document leads here that names this one's title or, with less weight, that has a name
        which the title holds, or a word of a name in this one.
        """
        one = self.kept[i]
        here = self.stems[i] | self.titles[one.reference]
        mine = self._share(here)
        share, gain, lead, most = 0.0, 0.0, -1, 0.0
        sharing = {j for parts in self.spelt[i].values() for stem in parts for j in self.bearing.get(stem, ())}
        leading = dict.fromkeys(sorted(sharing), SHARED)
        leading |= dict.fromkeys(self.titling[one.reference], TITLED) | dict.fromkeys(self.naming[one.reference], 1.0)
        for j, weight in leading.items():
            other = self.kept[j]
            if other.reference == one.reference or (one.document and other.document == one.document):
                continue
            both = self._share(here | self.stems[j] | self.titles[other.reference]) - max(mine, self.titled[j])
            share, gain = max(share, self.titled[j] * (weight == 1.0)), max(gain, weight * both)
            worth = weight * (self.titled[j] + both)
            if worth > most and (weight == 1.0 or both > 0):
                most, lead = worth, j
        return share, gain, lead

    def _find_missing(self) -> tuple[str, ...]:
        known, named = (self.counted.words, self.counted.named) if self.counted else ((), ())
        there = {t for t, n in known if n}.union(named, stem_asking_words(self.spoken), *self.texts.values())
        there.update(stem for listed in self.related.values() for stem, _ in listed)
        words = WORD.findall(self.question)
        letters = tag_words([word if i else word.lower() for i, word in enumerate(words)])
        tagged = zip(words, letters, ["", *words], strict=False)
        verbs = {
            word for word, letter, before in tagged
            if letter in "vbpmo" and word.islower() and known_form(word) and before not in _BEFORE_NOUNS
        }  # fmt: skip
        stems = {word: stem_units(word, self.spoken) for word in words if self.spoken != ENGLISH or word not in verbs}
        return tuple(word for word, own in stems.items() if own and there.isdisjoint(own))


def _weigh_stems(
    wanted: Sequence[str], spoken: str, texts: Sequence[Stems], counted: WordCounts | None
) -> dict[str, float]:
    """The rarity of each stem in the corpus, or in the passages where it was not counted."""
    known = dict(counted.words) if counted else {}
    weights, asking = {}, stem_asking_words(spoken)
    for stem in wanted:
        n, size = sum(stem in text for text in texts), len(texts)
        if counted and (known.get(stem, 0) or not n):
            n, size = known.get(stem, 0), counted.chunks
        own = (ASKING if n else 0.0) if stem in asking else 1.0
        weights[stem] = own * rate_rarity(n, size)
    return weights


def rate_rarity(n: int, size: int) -> float:
    """ln(1 + (N − n + ½) / (n + ½)) of what `n` of `size` texts hold, as if there were at least `FEWEST`."""
    return math.log1p((max(size, FEWEST) - n + 0.5) / (n + 0.5))
