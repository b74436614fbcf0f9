"""Reading without a model, in three passes: what a document shows, what the corpus shows, what each chunk says.

Entities are names (runs of capitals, typed by self-training), speakers, and concepts (noun phrases that the corpus
comes back to). Relations are pairs of things in one sentence or two neighbouring ones that the corpus holds to be
related, and links to the thing that a document's title names. Claims are sentences that state a checkable fact.
Times and numbers are found too, but are no entities by default: they would tie everything of one year together.

Which pairs stay: the weight of a pair is the sentences that hold both, plus half of the neighbouring sentences that
hold one each; its strength is max(0, NPMI) · ln(1 + weight), with normalised pointwise mutual information after Bouma
(2009). Counts alone make a hairball; the union of every thing's five strongest pairs gives communities that read as
themes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from types import MappingProxyType
from typing import TypeVar

import msgspec
import numpy as np

from sensegraph.engines.offline.extraction import kinds, mentions
from sensegraph.engines.offline.extraction.document_reader import DocumentReader
from sensegraph.engines.offline.extraction.german_names import NounTally, is_noun
from sensegraph.engines.offline.extraction.names import link_corpus_names
from sensegraph.engines.offline.extraction.observations import CROWD, Ends, Lexicon, Observation
from sensegraph.engines.offline.extraction.page_reader import observe_document
from sensegraph.language import speakers, transcripts
from sensegraph.language.text import known_form
from sensegraph.types import Chunk, Extraction

TOP = 5
LEAST_NPMI = 0.1
NAMES_NPMI = 0.3  # two names of one sentence stay beyond the top
LEAST_WEIGHT = 1.0
_BITS = 32


@dataclass(frozen=True, slots=True)
class Evidence:
    """Counted evidence: sentences of each node, and the weight of each pair (`low << 32 | high`)."""

    nodes: dict[str, int] = field(default_factory=dict)
    seen: Counter[int] = field(default_factory=Counter)
    weights: Counter[int] = field(default_factory=Counter)


def pack_pair(a: int, b: int) -> int:
    """Two node numbers as one, in either order."""
    return a << _BITS | b if a < b else b << _BITS | a


def count_pairs(found: Evidence, sentences: Sequence[Sequence[str]]) -> None:
    """Counts one document, given as the distinct keys of each of its sentences (empty where it holds none)."""
    number = found.nodes
    coded = [[number.setdefault(k, len(number)) for k in keys[:CROWD]] for keys in sentences]
    found.seen.update([n for here in coded for n in here])
    weights = found.weights
    for here in coded:
        for i, a in enumerate(here):
            for b in here[i + 1 :]:
                weights[pack_pair(a, b)] += 2
    for here, there in pairwise(coded):
        if here and there:
            only = [b for b in there if b not in here]
            for a in here:
                if a not in there:
                    for b in only:
                        weights[pack_pair(a, b)] += 1


def select_pairs(found: Evidence, sentences: int, names: Iterable[int] = ()) -> dict[int, float]:
    """The pairs that stay, each with the strength of one unit of weight; `sentences` counts the corpus's.

    `names` are the numbers of nodes that are names: what a sentence says of two names stays beyond the top.
    """
    if not found.weights:
        return {}
    codes = np.fromiter(sorted(found.weights), dtype=np.int64, count=len(found.weights))
    weight = np.array([found.weights[c] for c in codes.tolist()], dtype=np.float64) / 2
    low, high = codes >> _BITS, codes & ((1 << _BITS) - 1)
    seen = np.array([found.seen[i] for i in range(len(found.nodes))], dtype=np.float64)
    total = max(sentences, 2) * 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.log(weight * total / (seen[low] * seen[high])) / -np.log(np.minimum(weight / total, 0.999999))
    npmi = np.minimum(npmi, 1.0)
    strength = np.maximum(npmi, 0.0) * np.log1p(weight)
    named = np.zeros(len(found.nodes), dtype=bool)
    named[np.fromiter(names, dtype=np.int64)] = True
    likely = (npmi > LEAST_NPMI) & (weight >= LEAST_WEIGHT)
    sure = named[low] & named[high] & (npmi > NAMES_NPMI)
    # the strongest `TOP` pairs of either end (ties by position)
    both = np.concatenate([low, high])
    order = np.lexsort((np.tile(np.arange(len(low)), 2), -np.tile(np.where(likely, strength, -1.0), 2), both))
    starts = np.searchsorted(both[order], np.arange(len(found.nodes)))
    rank = np.arange(len(both)) - starts[both[order]]
    top = np.zeros(len(low), dtype=bool)
    top[(order[rank < TOP]) % len(low)] = True
    stays = likely & (sure | top)
    return {int(c): float(s / w) for c, s, w in zip(codes[stays], strength[stays], weight[stays], strict=True)}


def renumber_pairs(found: Evidence, pairs: Mapping[int, float]) -> tuple[dict[str, int], dict[int, float]]:
    """Nodes and pairs renumbered so that only the ends of kept pairs remain, in the order of their keys."""
    used = {i for c in pairs for i in (c >> _BITS, c & ((1 << _BITS) - 1))}
    names = sorted(k for k, i in found.nodes.items() if i in used)
    again = {found.nodes[k]: n for n, k in enumerate(names)}
    coded = {pack_pair(again[c >> _BITS], again[c & ((1 << _BITS) - 1)]): s for c, s in pairs.items()}
    return {k: n for n, k in enumerate(names)}, dict(sorted(coded.items()))


_encoder = msgspec.msgpack.Encoder(order="deterministic")
_decoder = msgspec.msgpack.Decoder(Observation)
_ends_decoder = msgspec.msgpack.Decoder(Ends)


def encode_record(record: Observation | Lexicon) -> bytes:
    """The bytes of a record: equal records, equal bytes."""
    return _encoder.encode(record)


@lru_cache(maxsize=1)
def decode_lexicon(data: bytes) -> Lexicon:
    """The lexicon in these bytes; the last one is kept, because every batch of a run comes with the same."""
    return msgspec.msgpack.decode(data, type=Lexicon)


T = TypeVar("T")
_REPEATED_SHARE, _REPEATED_WORKS = 0.1, 10
_RUNNING_SHARE, _RUNNING_DOCUMENTS = 0.25, 12
_SERIES_SHARE = 0.5
_TITLE_WORD = re.compile(r"[^\W_]+")
_HOST_SHARE, _HOST_WORKS = 0.25, 8


@dataclass(frozen=True, slots=True)
class _WordTally:
    """Counts of the first look at the corpus. A work is all documents of one title."""

    capitals: Counter[str] = field(default_factory=Counter)
    lowers: Counter[str] = field(default_factory=Counter)
    openers: set[str] = field(default_factory=set)
    prints: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    titles: dict[str, frozenset[str]] = field(default_factory=dict)
    lines: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    documents: Counter[str] = field(default_factory=Counter)
    talks: dict[str, transcripts.Talk] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)
    spellings: Counter[str] = field(default_factory=Counter)
    chunks: list[int] = field(default_factory=list)
    nouns: NounTally = field(default_factory=NounTally)

    def add(self, one: Observation, lexicon: Lexicon) -> None:
        """Count one document, without what surrounds it."""
        self.capitals.update(one.capitals)
        self.lowers.update(one.lowers)
        upper, lower = mentions.count_outside_words(one, lexicon)
        self.capitals.subtract(upper)
        self.lowers.subtract(lower)
        words = _TITLE_WORD.findall(one.title.casefold())
        self.titles[one.work] = frozenset(map(" ".join, zip(words, words[1:], words[2:], strict=False)))
        self.openers.update(c.first for c in one.names if c.first)
        self.prints[one.work].update(one.prints)
        self.lines[one.work].update(set(one.prints[::3]))
        self.documents[one.work] += 1
        before = self.talks.get(one.work)
        self.talks[one.work] = transcripts.add_talks((before, one.talk)) if before else one.talk
        for key, label in one.shown.items():
            self.shown[key] = min(label, self.shown.get(key, label))
        self.spellings.update(one.spellings)
        self.chunks.append(len(one.bounds) // 2)
        if one.language == "de":
            self.nouns.add(one.names)

    def refuses(self, word: str) -> bool:
        """Whether a word that opens a sentence is no name by itself; unseen inside sentences, a common word is none."""
        upper, lower = self.capitals[word], self.lowers[word]
        return upper <= lower if upper or lower else known_form(word)

    def running_headers(self) -> frozenset[int]:
        """Sentences that a quarter of the documents of one work repeat, where it has many."""
        found: set[int] = set()
        for work, n in self.documents.items():
            if n >= _RUNNING_DOCUMENTS:
                found.update(p for p, held in self.lines[work].items() if p and held >= _RUNNING_SHARE * n)
        return frozenset(found)

    def learn(self, lexicon: Lexicon) -> Lexicon:
        """The lexicon with the words that open sentences and are no names, what documents repeat, and who speaks."""
        spoken, talks = transcripts.find_corpus_speakers(self.talks)
        heard = {w: spoken & talk.counts.keys() if w in talks else () for w, talk in self.talks.items()}
        hosts = _find_shared(heard, _HOST_SHARE, _HOST_WORKS, least=3)
        repeated = _find_shared(self.prints, _REPEATED_SHARE, _REPEATED_WORKS, least=3)
        return msgspec.structs.replace(
            lexicon,
            chunks=sum(self.chunks),
            refused=frozenset(w for w in self.openers if self.refuses(w)),
            refused_runs=frozenset(w for w in self.openers if self.lowers[w] >= 5 * self.capitals[w] + 3),
            boilerplate=(repeated - {0}) | self.running_headers(),
            series=_find_shared(self.titles, _SERIES_SHARE, _REPEATED_WORKS, least=3),
            hidden=frozenset(mentions.make_name_key(h) for h in hosts),
            speakers=speakers.name_speakers(spoken, self.shown, self.spellings),
            roles=frozenset(mentions.make_name_key(k) for k in spoken if speakers.names_role(k)),
            talks=talks,
            nouns=self.nouns.learn(self.lowers),
        )


@dataclass(frozen=True, slots=True)
class _NameTally:
    """What the second look at the corpus collects: uses and writings of names, and phrases that may be concepts."""

    uses: list[kinds.Use] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    counts: kinds.Counts = field(default_factory=kinds.Counts)
    untagged: kinds.Counts = field(default_factory=kinds.Counts)
    works: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    spelt: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    singles: set[str] = field(default_factory=set)
    given: Mapping[str, str] = field(default_factory=dict)  # kinds by key, from the user's own list

    def add(self, one: Observation, lexicon: Lexicon) -> None:
        """Count one document: its names for its work, how those of several words are written, and its phrases."""
        named = mentions.select_standing_names(one, lexicon)
        for n in named:
            self.works[one.work][n.key] += 1
            if " " in n.key:
                self.spelt[n.key][" ".join(n.surface.split())] += 1
        nouns = [n for n in named if one.language == "de" and is_noun(n.key, lexicon.nouns, alone=True)]
        singles = {n.key for n in nouns}
        surely = [n for n in named if n.key not in singles]
        same = mentions.link_same_person(surely, {})  # last names count for the person
        self.uses.extend(kinds.Use(same.get(n.key, n.key), n.surface, n.candidate) for n in surely)
        if one.language == "zh":
            self.runs.extend(p.words[0] for p in one.phrases)
            return
        starts, notes = one.bounds[::2], mentions.find_notes(one, lexicon)
        begin, end = mentions.find_body(one, lexicon)
        phrases: list[tuple[int, Sequence[str]]] = [
            (bisect_right(starts, p.spans[0]), p.words)
            for p in one.phrases
            if p.sentence not in notes and begin <= p.spans[0] and p.spans[-1] <= end
        ]
        if one.language == "de":  # its capitals are nouns and names alike: judged as concepts too
            self.singles.update(n.key for n in nouns)
            phrases += [(bisect_right(starts, n.start), (n.key,)) for n in nouns]
        kinds.count_units(self.counts if one.language == "en" else self.untagged, phrases)

    def learn(self, lexicon: Lexicon) -> Lexicon:
        """The lexicon with the types of names, the user's own first, the concepts, and which names are one person."""
        counts, untagged, spelt = self.counts, self.untagged, self.spelt
        tagged = kinds.select_concepts(counts, lexicon.chunks)
        units = set(tagged | kinds.select_concepts(untagged, lexicon.chunks, tagged=False))
        typed = kinds.learn_name_types(self.uses)
        # what is written both as a name and as a concept gets one type: that of the more frequent writing
        phrased = counts.all + untagged.all
        dropped = set()
        for key, n in Counter(u.key for u in self.uses).items():
            unit = mentions.stem_unit(key.split())
            if unit in units and phrased[unit] >= n:
                typed[key] = "c"
            elif unit in units:
                dropped.add(unit)
        units -= dropped
        typed.update((w, "c" if mentions.stem_unit([w]) in units else "-") for w in self.singles)
        units -= {mentions.stem_unit(k.split()) for k in self.given}
        typed.update(self.given)
        same = link_corpus_names(self.works, {k: kinds.guess_of_kind(kind) for k, kind in typed.items()})
        full = sorted({f for held in same.values() for f in held.values()})
        best = {k: min(spelt[k], key=lambda s: (s.isupper(), -spelt[k][s], s)) for k in full}
        return msgspec.structs.replace(
            lexicon,
            same=same,
            full={k: lexicon.speakers.get(k) or speakers.write_label(s) for k, s in best.items()},
            kinds=dict(sorted(typed.items())),
            units=dict.fromkeys(sorted(units), ""),
            terms=kinds.find_terms(self.runs),
        )


def learn_lexicon(observations: Iterable[bytes], given: Mapping[str, str] = MappingProxyType({})) -> Lexicon:
    """The lexicon of the corpus, from observations in any order; `given` are the types of names that the user lists.

    A sequence is read several times, one observation at a time, so that memory does not grow with their number; of
    anything else the bytes are kept.
    """
    held = observations if isinstance(observations, Sequence) else list(observations)
    order = [i for _, i in sorted((blake2b(data, digest_size=16).digest(), i) for i, data in enumerate(held))]

    def seen() -> Iterator[Observation]:
        return (_decoder.decode(held[i]) for i in order)

    fronts, backs = mentions.find_wrappers(_ends_decoder.decode(data) for data in held)
    lexicon = Lexicon(fronts=fronts, backs=backs)
    lexicon = _look_through(seen(), _WordTally(), lexicon)
    listed = {mentions.make_name_key(name): kinds.kind_of_type(type) for name, type in sorted(given.items())}
    lexicon = _look_through(seen(), _NameTally(given=listed), lexicon)
    lexicon = msgspec.structs.replace(lexicon, units=_choose_unit_names(seen(), lexicon))
    # the last look: which pairs of things are related
    found, total = Evidence(), 0
    names: set[str] = set()
    for one in seen():
        scene = mentions.resolve_mentions(one, lexicon)
        names.update(k for k, t in scene.things.items() if t.kind != "c")
        count_pairs(found, list_sentence_keys(one, scene, lexicon))
        total += len(one.sentences) // 2
    numbers = [found.nodes[k] for k in sorted(names & found.nodes.keys())]
    nodes, pairs = renumber_pairs(found, select_pairs(found, total, numbers))
    return msgspec.structs.replace(lexicon, nodes=nodes, pairs=tuple(pairs), strengths=tuple(pairs.values()))


def _find_shared(held: Mapping[str, Collection[T]], share: float, works: int, least: int) -> frozenset[T]:
    """What at least `share` of the works hold; nothing when there are fewer than `works`."""
    if len(held) < works:
        return frozenset()
    counts = Counter(x for things in held.values() for x in things)
    return frozenset(x for x, n in counts.items() if n >= max(share * len(held), least))


def _look_through(seen: Iterable[Observation], tally: _WordTally | _NameTally, lexicon: Lexicon) -> Lexicon:
    for one in seen:
        tally.add(one, lexicon)
    return tally.learn(lexicon)


def _choose_unit_names(seen: Iterable[Observation], lexicon: Lexicon) -> dict[str, str]:
    """The most frequent written form of every concept."""
    forms: dict[str, Counter[str]] = {u: Counter() for u in lexicon.units}
    for one in seen:
        if one.language == "zh":
            continue
        for words in (p.words for p in one.phrases):
            stems = [mentions.stem_english(w) for w in words]
            for first in range(len(words)):
                for last in range(first + 1, len(words) + 1):
                    unit = " ".join(stems[first:last])
                    if unit in forms:
                        forms[unit][" ".join(words[first:last])] += 1
        if one.language == "de":
            for n in mentions.select_standing_names(one, lexicon):
                if " " not in n.key and mentions.stem_unit([n.key]) in forms:
                    forms[mentions.stem_unit([n.key])][n.surface] += 1
    return {u: min(f, key=lambda w: (-f[w], w)) if f else u for u, f in forms.items()}


def list_sentence_keys(one: Observation, scene: mentions.Scene, lexicon: Lexicon) -> list[list[str]]:
    """The distinct keys of each sentence in order of place; roles are left out, because they are anyone."""
    keys: list[list[str]] = [[] for _ in range(len(one.sentences) // 2)]
    for spot in scene.spots:
        if spot.key not in lexicon.roles and spot.key not in keys[spot.sentence]:
            keys[spot.sentence].append(spot.key)
    return keys


VALUE_TYPES = frozenset({"time", "number"})


def observe_documents(documents: Sequence[tuple[Chunk, ...]], segmenter: str = "rules") -> list[bytes]:
    """What each document shows by itself, one observation a document; text that its chunks share counts once."""
    return [encode_record(observe_document(chunks, segmenter)) for chunks in documents]


def learn_corpus(observations: Iterable[bytes], given: Mapping[str, str] = MappingProxyType({})) -> bytes:
    """The lexicon of the corpus: equal observations in any order give equal bytes; `given` are types by name.

    They are read several times: hand over a sequence that can be read again (a stored one), and one observation at a
    time is held; of an iterator all bytes are kept.
    """
    return encode_record(learn_lexicon(observations, given))


def read_documents(
    items: Sequence[tuple[tuple[Chunk, ...], bytes]], lexicon: bytes, *, values: bool = False, guesses: bool = False
) -> list[tuple[Extraction, ...]]:
    """The extractions of each document (chunks, observation), one per chunk, in order; spans count in the chunk.

    `values` tells times and numbers too; `guesses` the types that little speaks for, which are "other" else.
    """
    known = decode_lexicon(lexicon)
    if guesses:
        known = msgspec.structs.replace(known, kinds={k: kinds.guess_of_kind(kind) for k, kind in known.kinds.items()})
    return [DocumentReader(chunks, _decoder.decode(seen), known, values).read() for chunks, seen in items]
