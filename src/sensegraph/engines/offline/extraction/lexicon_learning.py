"""The second pass: what the corpus shows, from all observations in any order."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TypeVar

import msgspec

from sensegraph.engines.offline.extraction import concept_units, name_types, pair_strength, person_names
from sensegraph.engines.offline.extraction.boilerplate import count_outside_words, find_body, find_notes, find_wrappers
from sensegraph.engines.offline.extraction.mentions import (
    Scene,
    link_same_person,
    make_name_key,
    resolve_mentions,
    select_standing_names,
    stem_english,
    stem_unit,
)
from sensegraph.engines.offline.extraction.observations import Lexicon, Observation, decode_ends, decode_observation
from sensegraph.language import speakers
from sensegraph.language.text import known_form

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
    labels: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    shown: dict[str, str] = field(default_factory=dict)
    spellings: Counter[str] = field(default_factory=Counter)
    chunks: list[int] = field(default_factory=list)

    def add(self, one: Observation, lexicon: Lexicon) -> None:
        """Count one document, without what surrounds it."""
        self.capitals.update(one.capitals)
        self.lowers.update(one.lowers)
        upper, lower = count_outside_words(one, lexicon)
        self.capitals.subtract(upper)
        self.lowers.subtract(lower)
        words = _TITLE_WORD.findall(one.title.casefold())
        self.titles[one.work] = frozenset(map(" ".join, zip(words, words[1:], words[2:], strict=False)))
        self.openers.update(c.first for c in one.names if c.first)
        self.prints[one.work].update(one.prints)
        self.lines[one.work].update(set(one.prints[::3]))
        self.documents[one.work] += 1
        self.labels[one.work].update(one.labels)
        for key, label in one.shown.items():
            self.shown[key] = min(label, self.shown.get(key, label))
        self.spellings.update(one.spellings)
        self.chunks.append(len(one.bounds) // 2)

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
        spoken = speakers.find_known_speakers(self.labels)
        hosts = _find_shared(
            {w: spoken & held.keys() for w, held in self.labels.items()}, _HOST_SHARE, _HOST_WORKS, least=3
        )
        return msgspec.structs.replace(
            lexicon,
            chunks=sum(self.chunks),
            refused=frozenset(w for w in self.openers if self.refuses(w)),
            refused_runs=frozenset(w for w in self.openers if self.lowers[w] >= 5 * self.capitals[w] + 3),
            boilerplate=_find_shared(self.prints, _REPEATED_SHARE, _REPEATED_WORKS, least=3) - {0}
            | self.running_headers(),
            series=_find_shared(self.titles, _SERIES_SHARE, _REPEATED_WORKS, least=3),
            hidden=frozenset(make_name_key(h) for h in hosts),
            speakers=speakers.name_speakers(spoken, self.shown, self.spellings),
            roles=frozenset(make_name_key(k) for k in spoken if speakers.names_role(k)),
        )


@dataclass(frozen=True, slots=True)
class _NameTally:
    """What the second look at the corpus collects: uses and writings of names, and phrases that may be concepts."""

    uses: list[name_types.Use] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    counts: concept_units.Counts = field(default_factory=concept_units.start_counts)
    untagged: concept_units.Counts = field(default_factory=concept_units.start_counts)
    works: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    spelt: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    singles: set[str] = field(default_factory=set)

    def add(self, one: Observation, lexicon: Lexicon) -> None:
        """Count one document: its names for its work, how those of several words are written, and its phrases."""
        named = select_standing_names(one, lexicon)
        for n in named:
            self.works[one.work][n.key] += 1
            if " " in n.key:
                self.spelt[n.key][" ".join(n.surface.split())] += 1
        surely = [n for n in named if " " in n.key] if one.language == "de" else named
        same = link_same_person(surely, {})  # last names count for the person
        self.uses.extend(name_types.Use(same.get(n.key, n.key), n.surface, n.candidate) for n in surely)
        if one.language == "zh":
            self.runs.extend(p.words[0] for p in one.phrases)
            return
        starts, notes, (begin, end) = one.bounds[::2], find_notes(one, lexicon), find_body(one, lexicon)
        phrases: list[tuple[int, Sequence[str]]] = [
            (bisect_right(starts, p.spans[0]), p.words)
            for p in one.phrases
            if p.sentence not in notes and begin <= p.spans[0] and p.spans[-1] <= end
        ]
        if one.language == "de":  # its capitals are nouns and names alike: judged as concepts too
            nouns = [n for n in named if " " not in n.key]
            self.singles.update(n.key for n in nouns)
            phrases += [(bisect_right(starts, n.start), (n.key,)) for n in nouns]
        concept_units.count_units(self.counts if one.language == "en" else self.untagged, phrases)

    def learn(self, lexicon: Lexicon) -> Lexicon:
        """The lexicon with the types of names, the concepts, and which names are one person."""
        counts, untagged, spelt = self.counts, self.untagged, self.spelt
        units = set(
            concept_units.select_concepts(counts, lexicon.chunks)
            | concept_units.select_concepts(untagged, lexicon.chunks, tagged=False)
        )
        typed = name_types.learn_name_types(self.uses)
        # what is written both as a name and as a concept gets one type: that of the more frequent writing
        phrased = counts.all + untagged.all
        dropped = set()
        for key, n in Counter(u.key for u in self.uses).items():
            unit = stem_unit(key.split())
            if unit in units and phrased[unit] >= n:
                typed[key] = "c"
            elif unit in units:
                dropped.add(unit)
        units -= dropped
        typed.update((w, "c" if stem_unit([w]) in units else "-") for w in self.singles)
        same = person_names.link_corpus_names(self.works, typed)
        full = sorted({f for held in same.values() for f in held.values()})
        best = {k: min(spelt[k], key=lambda s: (s.isupper(), -spelt[k][s], s)) for k in full}
        return msgspec.structs.replace(
            lexicon,
            same=same,
            full={k: lexicon.speakers.get(k) or speakers.write_label(s) for k, s in best.items()},
            kinds=dict(sorted(typed.items())),
            units=dict.fromkeys(sorted(units), ""),
            terms=concept_units.find_terms(self.runs),
        )


def learn_lexicon(observations: Iterable[bytes]) -> Lexicon:
    """The lexicon of the corpus, from observations in any order.

    A sequence is read several times, one observation at a time, so that memory does not grow with their number; of
    anything else the bytes are kept.
    """
    held = observations if isinstance(observations, Sequence) else list(observations)
    order = [i for _, i in sorted((blake2b(data, digest_size=16).digest(), i) for i, data in enumerate(held))]

    def seen() -> Iterator[Observation]:
        return (decode_observation(held[i]) for i in order)

    fronts, backs = find_wrappers(decode_ends(data) for data in held)
    lexicon = Lexicon(fronts=fronts, backs=backs)
    lexicon = _look_through(seen(), _WordTally(), lexicon)
    lexicon = _look_through(seen(), _NameTally(), lexicon)
    lexicon = msgspec.structs.replace(lexicon, units=_choose_unit_names(seen(), lexicon))
    # the last look: which pairs of things are related
    found, total = pair_strength.Evidence(), 0
    names: set[str] = set()
    for one in seen():
        scene = resolve_mentions(one, lexicon)
        names.update(k for k, t in scene.things.items() if t.kind != "c")
        pair_strength.count_pairs(found, list_sentence_keys(one, scene, lexicon))
        total += len(one.sentences) // 2
    numbers = [found.nodes[k] for k in sorted(names & found.nodes.keys())]
    nodes, pairs = pair_strength.renumber_pairs(found, pair_strength.select_pairs(found, total, numbers))
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
            stems = [stem_english(w) for w in words]
            for first in range(len(words)):
                for last in range(first + 1, len(words) + 1):
                    unit = " ".join(stems[first:last])
                    if unit in forms:
                        forms[unit][" ".join(words[first:last])] += 1
        if one.language == "de":
            for n in select_standing_names(one, lexicon):
                if " " not in n.key and stem_unit([n.key]) in forms:
                    forms[stem_unit([n.key])][n.surface] += 1
    return {u: min(f, key=lambda w: (-f[w], w)) if f else u for u, f in forms.items()}


def list_sentence_keys(one: Observation, scene: Scene, lexicon: Lexicon) -> list[list[str]]:
    """The distinct keys of each sentence in order of place; roles are left out, because they are anyone."""
    keys: list[list[str]] = [[] for _ in range(len(one.sentences) // 2)]
    for spot in scene.spots:
        if spot.key not in lexicon.roles and spot.key not in keys[spot.sentence]:
            keys[spot.sentence].append(spot.key)
    return keys
