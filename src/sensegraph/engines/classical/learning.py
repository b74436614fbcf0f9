"""The second pass: what the corpus shows, from all observations in any order."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from sensegraph.engines.classical import concepts, kinds, links
from sensegraph.engines.classical.records import Lexicon, Observation, observation
from sensegraph.engines.classical.resolving import Scene, key_of, resolved, same_person, standing, unit_of
from sensegraph.engines.classical.tagging import known_word

T = TypeVar("T")
_REPEATED_SHARE, _REPEATED_WORKS = 0.1, 10
_HOST_SHARE, _HOST_WORKS = 0.25, 8


@dataclass(frozen=True, slots=True)
class _Tally:
    """Counts of the first look at the corpus. A work is all documents of one title."""

    capitals: Counter[str] = field(default_factory=Counter)
    lowers: Counter[str] = field(default_factory=Counter)
    openers: set[str] = field(default_factory=set)
    prints: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    labels: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    chunks: list[int] = field(default_factory=list)


def learned(observations: Iterable[bytes]) -> Lexicon:
    """The lexicon of the corpus; every look decodes the observations again, so that memory stays small."""
    blobs = sorted(observations)
    lexicon = _first_look(_seen(blobs))
    lexicon = _second_look(_seen(blobs), lexicon)
    return _third_look(_seen(blobs), lexicon)


def _seen(blobs: Sequence[bytes]) -> Iterator[Observation]:
    return map(observation, blobs)


# ── words, show notes, hosts ─────────────────────────────────────────────────────────────────────────────────────────


def _first_look(seen: Iterable[Observation]) -> Lexicon:
    tally = _Tally()
    for one in seen:
        tally.capitals.update(one.capitals)
        tally.lowers.update(one.lowers)
        tally.openers.update(c.first for c in one.names if c.first)
        tally.prints[one.work].update(one.prints)
        tally.labels[one.work].update(one.labels)
        tally.chunks.append(len(one.bounds) // 2)
    return Lexicon(
        chunks=sum(tally.chunks),
        refused=frozenset(w for w in tally.openers if _refused(w, tally)),
        refused_runs=frozenset(w for w in tally.openers if tally.lowers[w] >= 5 * tally.capitals[w] + 3),
        boilerplate=_shared(tally.prints, _REPEATED_SHARE, _REPEATED_WORKS, least=3) - {0},
        hidden=frozenset(key_of(h) for h in _shared(tally.labels, _HOST_SHARE, _HOST_WORKS, least=3)),
    )


def _refused(word: str, tally: _Tally) -> bool:
    """Whether a word that opens a sentence is no name by itself; unseen inside sentences, a common word is none."""
    upper, lower = tally.capitals[word], tally.lowers[word]
    return upper <= lower if upper or lower else known_word(word)


def _shared(held: Mapping[str, set[T]], share: float, works: int, least: int) -> frozenset[T]:
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
    singles: Counter[str] = Counter()
    for one in seen:
        uses += _uses(one, lexicon)
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
    return msgspec.structs.replace(
        lexicon, kinds=dict(sorted(typed.items())), units=dict.fromkeys(sorted(units), ""), terms=concepts.terms(runs)
    )


def _uses(one: Observation, lexicon: Lexicon) -> list[kinds.Use]:
    """The mentions of the names of a document; last names count for the person."""
    names = standing(one, lexicon)
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
    for phrase in one.phrases:
        if phrase.sentence not in notes:
            yield bisect_right(starts, phrase.spans[0]), phrase.words


def notes_of(one: Observation, lexicon: Lexicon) -> frozenset[int]:
    """The sentences of a document that most works of the corpus repeat (show notes), unless they are half of it."""
    known = lexicon.boilerplate
    if not known:
        return frozenset()
    notes = frozenset(i // 3 for i, p in enumerate(one.prints) if p in known)
    return notes if 6 * len(notes) < len(one.prints) else frozenset()  # a copy of a document is no show note


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
    held = list(seen)
    lexicon = msgspec.structs.replace(lexicon, units=_displayed(held, lexicon))
    found, total = links.Evidence(), 0
    names: set[str] = set()
    for one in held:
        scene = resolved(one, lexicon)
        names.update(k for k, t in scene.things.items() if t.kind != "c")
        links.add(found, sentence_keys(one, scene, notes_of(one, lexicon)))
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
    for first in range(len(words)):
        for last in range(first + 1, len(words) + 1):
            unit = unit_of(words[first:last])
            if unit in forms:
                forms[unit][" ".join(words[first:last])] += 1


def sentence_keys(one: Observation, scene: Scene, notes: frozenset[int]) -> list[list[str]]:
    """The distinct keys of each sentence in order of place; show notes hold none."""
    keys: list[list[str]] = [[] for _ in range(len(one.sentences) // 2)]
    for spot in scene.spots:
        if spot.sentence not in notes and spot.key not in keys[spot.sentence]:
            keys[spot.sentence].append(spot.key)
    return keys
