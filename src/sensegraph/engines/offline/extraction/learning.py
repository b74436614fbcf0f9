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

from sensegraph.engines.offline.extraction import concepts, kinds, links, people
from sensegraph.engines.offline.extraction.records import Lexicon, Observation, ends, observation
from sensegraph.engines.offline.extraction.resolving import (
    Named,
    Scene,
    key_of,
    resolved,
    same_person,
    standing,
    stem,
    unit_of,
)
from sensegraph.engines.offline.extraction.wrapping import body, notes_of, outside, wrappers
from sensegraph.language import speakers
from sensegraph.language.tagging import known_form

T = TypeVar("T")
_REPEATED_SHARE, _REPEATED_WORKS = 0.1, 10
_RUNNING_SHARE, _RUNNING_DOCUMENTS = 0.25, 12
_SERIES_SHARE = 0.5
_TITLE_WORD = re.compile(r"[^\W_]+")
_HOST_SHARE, _HOST_WORKS = 0.25, 8


@dataclass(frozen=True, slots=True)
class _Tally:
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


def learned(observations: Iterable[bytes]) -> Lexicon:
    """The lexicon of the corpus, from observations in any order.

    A sequence is read several times, one observation at a time, so that memory does not grow with their number; of
    anything else the bytes are kept.
    """
    held = observations if isinstance(observations, Sequence) else list(observations)
    order = [i for _, i in sorted((blake2b(data, digest_size=16).digest(), i) for i, data in enumerate(held))]

    def seen() -> Iterator[Observation]:
        return (observation(held[i]) for i in order)

    fronts, backs = wrappers(ends(data) for data in held)
    lexicon = _first_look(seen(), Lexicon(fronts=fronts, backs=backs))
    lexicon = _second_look(seen(), lexicon)
    lexicon = msgspec.structs.replace(lexicon, units=_displayed(seen(), lexicon))
    return _third_look(seen(), lexicon)


# ── words, show notes, hosts ─────────────────────────────────────────────────────────────────────────────────────────


def _first_look(seen: Iterable[Observation], lexicon: Lexicon) -> Lexicon:
    tally = _Tally()
    for one in seen:
        _tell(one, lexicon, tally)
    spoken = speakers.known(tally.labels)
    hosts = _shared({w: spoken & held.keys() for w, held in tally.labels.items()}, _HOST_SHARE, _HOST_WORKS, least=3)
    return msgspec.structs.replace(
        lexicon,
        chunks=sum(tally.chunks),
        refused=frozenset(w for w in tally.openers if _refused(w, tally)),
        refused_runs=frozenset(w for w in tally.openers if tally.lowers[w] >= 5 * tally.capitals[w] + 3),
        boilerplate=_shared(tally.prints, _REPEATED_SHARE, _REPEATED_WORKS, least=3) - {0} | _running(tally),
        series=_shared(tally.titles, _SERIES_SHARE, _REPEATED_WORKS, least=3),
        hidden=frozenset(key_of(h) for h in hosts),
        speakers=speakers.names(spoken, tally.shown, tally.spellings),
        roles=frozenset(key_of(k) for k in spoken if speakers.role(k)),
    )


def _tell(one: Observation, lexicon: Lexicon, tally: _Tally) -> None:
    """Adds one document to the tally, without what surrounds it."""
    tally.capitals.update(one.capitals)
    tally.lowers.update(one.lowers)
    upper, lower = outside(one, lexicon)
    tally.capitals.subtract(upper)
    tally.lowers.subtract(lower)
    tally.titles[one.work] = _threes(one.title)
    tally.openers.update(c.first for c in one.names if c.first)
    tally.prints[one.work].update(one.prints)
    tally.lines[one.work].update(set(one.prints[::3]))
    tally.documents[one.work] += 1
    tally.labels[one.work].update(one.labels)
    for key, label in one.shown.items():
        tally.shown[key] = min(label, tally.shown.get(key, label))
    tally.spellings.update(one.spellings)
    tally.chunks.append(len(one.bounds) // 2)


def _running(tally: _Tally) -> frozenset[int]:
    """Running headers: sentences that a quarter of the documents of one work repeat, where it has many."""
    found: set[int] = set()
    for work, n in tally.documents.items():
        if n >= _RUNNING_DOCUMENTS:
            found.update(p for p, held in tally.lines[work].items() if p and held >= _RUNNING_SHARE * n)
    return frozenset(found)


def _threes(title: str) -> frozenset[str]:
    """Every three words of a title."""
    words = _TITLE_WORD.findall(title.casefold())
    return frozenset(map(" ".join, zip(words, words[1:], words[2:], strict=False)))


def _refused(word: str, tally: _Tally) -> bool:
    """Whether a word that opens a sentence is no name by itself; unseen inside sentences, a common word is none."""
    upper, lower = tally.capitals[word], tally.lowers[word]
    return upper <= lower if upper or lower else known_form(word)


def _shared(held: Mapping[str, Collection[T]], share: float, works: int, least: int) -> frozenset[T]:
    """What at least `share` of the works hold; nothing when there are fewer than `works`."""
    if len(held) < works:
        return frozenset()
    counts = Counter(x for things in held.values() for x in things)
    return frozenset(x for x, n in counts.items() if n >= max(share * len(held), least))


# ── types and concepts ───────────────────────────────────────────────────────────────────────────────────────────────


def _second_look(seen: Iterable[Observation], lexicon: Lexicon) -> Lexicon:
    uses: list[kinds.Use] = []
    runs: list[str] = []
    counts, untagged = concepts.counted(), concepts.counted()
    works: dict[str, Counter[str]] = defaultdict(Counter)
    spelt: dict[str, Counter[str]] = defaultdict(Counter)
    singles: Counter[str] = Counter()
    for one in seen:
        named = standing(one, lexicon)
        _note_names(one, named, works, spelt)
        uses += _uses(one, named)
        if one.language == "zh":
            runs += [p.words[0] for p in one.phrases]
        else:
            german = _german_nouns(one, lexicon)
            singles.update(w for _, (w,) in german)
            concepts.add(counts if one.language == "en" else untagged, [*_phrases(one, lexicon), *german])
    units = concepts.kept(counts, lexicon.chunks) | concepts.kept(untagged, lexicon.chunks, tagged=False)
    typed = kinds.learned(uses)
    typed, units = _settled(typed, Counter(u.key for u in uses), units, counts.all + untagged.all)
    typed.update((w, "c" if unit_of([w]) in units else "-") for w in singles)
    same = people.in_corpus(works, typed)
    return msgspec.structs.replace(
        lexicon,
        same=same,
        full=_written({f for held in same.values() for f in held.values()}, spelt, lexicon),
        kinds=dict(sorted(typed.items())),
        units=dict.fromkeys(sorted(units), ""),
        terms=concepts.terms(runs),
    )


def _note_names(
    one: Observation, named: Sequence[Named], works: dict[str, Counter[str]], spelt: dict[str, Counter[str]]
) -> None:
    """Counts the names of a document for its work, and how names of several words are written."""
    for n in named:
        works[one.work][n.key] += 1
        if " " in n.key:
            spelt[n.key][" ".join(n.surface.split())] += 1


def _written(keys: Iterable[str], spelt: Mapping[str, Counter[str]], lexicon: Lexicon) -> dict[str, str]:
    """How full names are written: as speakers are, else most often, rather not in capitals."""
    best = {k: min(spelt[k], key=lambda s: (s.isupper(), -spelt[k][s], s)) for k in sorted(keys)}
    return {k: lexicon.speakers.get(k) or speakers.written(s) for k, s in best.items()}


def _uses(one: Observation, names: Sequence[Named]) -> list[kinds.Use]:
    """The mentions of the names of a document; last names count for the person."""
    if one.language == "de":
        names = [n for n in names if " " in n.key]
    same = same_person(names, {})
    return [kinds.Use(same.get(n.key, n.key), n.surface, n.candidate) for n in names]


def _german_nouns(one: Observation, lexicon: Lexicon) -> list[tuple[int, tuple[str]]]:
    """One-word capitals of a German text, with their chunks: nouns and names alike, to be judged as concepts."""
    if one.language != "de":
        return []
    starts = one.bounds[::2]
    return [(bisect_right(starts, n.start), (n.key,)) for n in standing(one, lexicon) if " " not in n.key]


def _phrases(one: Observation, lexicon: Lexicon) -> Iterator[tuple[int, Sequence[str]]]:
    """The phrases outside show notes, with the chunk that they are counted for."""
    starts, notes = one.bounds[::2], notes_of(one, lexicon)
    begin, end = body(one, lexicon)
    for phrase in one.phrases:
        if phrase.sentence not in notes and begin <= phrase.spans[0] and phrase.spans[-1] <= end:
            yield bisect_right(starts, phrase.spans[0]), phrase.words


def _settled(
    typed: dict[str, str], named: Mapping[str, int], units: frozenset[str], phrased: Mapping[str, int]
) -> tuple[dict[str, str], frozenset[str]]:
    """One type for what is written both ways: the more frequent writing decides, and the other joins it."""
    dropped = set()
    for key, n in named.items():
        unit = unit_of(key.split())
        if unit in units:
            if phrased[unit] >= n:
                typed[key] = "c"
            else:
                dropped.add(unit)
    return typed, units - dropped


# ── names of concepts, pairs ─────────────────────────────────────────────────────────────────────────────────────────


def _third_look(seen: Iterable[Observation], lexicon: Lexicon) -> Lexicon:
    found, total = links.Evidence(), 0
    names: set[str] = set()
    for one in seen:
        scene = resolved(one, lexicon)
        names.update(k for k, t in scene.things.items() if t.kind != "c")
        links.add(found, sentence_keys(one, scene, lexicon))
        total += len(one.sentences) // 2
    numbers = [found.nodes[k] for k in sorted(names & found.nodes.keys())]
    nodes, pairs = links.numbered(found, links.kept(found, total, numbers))
    return msgspec.structs.replace(lexicon, nodes=nodes, pairs=tuple(pairs), strengths=tuple(pairs.values()))


def _displayed(seen: Iterable[Observation], lexicon: Lexicon) -> dict[str, str]:
    """The most frequent written form of every concept."""
    forms: dict[str, Counter[str]] = {u: Counter() for u in lexicon.units}
    for one in seen:
        if one.language == "zh":
            continue
        for phrase in one.phrases:
            _add_forms(phrase.words, forms)
        if one.language == "de":
            for n in standing(one, lexicon):
                if " " not in n.key and unit_of([n.key]) in forms:
                    forms[unit_of([n.key])][n.surface] += 1
    best = ((u, min(f, key=lambda w: (-f[w], w)) if f else u) for u, f in forms.items())
    return dict(best)


def _add_forms(words: Sequence[str], forms: Mapping[str, Counter[str]]) -> None:
    stems = [stem(w) for w in words]
    for first in range(len(words)):
        for last in range(first + 1, len(words) + 1):
            unit = " ".join(stems[first:last])
            if unit in forms:
                forms[unit][" ".join(words[first:last])] += 1


def sentence_keys(one: Observation, scene: Scene, lexicon: Lexicon) -> list[list[str]]:
    """The distinct keys of each sentence in order of place; roles are left out, because they are anyone."""
    keys: list[list[str]] = [[] for _ in range(len(one.sentences) // 2)]
    for spot in scene.spots:
        if spot.key not in lexicon.roles and spot.key not in keys[spot.sentence]:
            keys[spot.sentence].append(spot.key)
    return keys
