"""From candidates to things: which names stand, which of them are one, and where each is mentioned.

The second pass (counting pairs) and the third (reading) must agree on this, so both use `resolved`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from sensegraph.engines.offline.extraction import person_names
from sensegraph.engines.offline.extraction.boilerplate import find_body, find_notes
from sensegraph.engines.offline.extraction.name_candidates import strip_possessive
from sensegraph.engines.offline.extraction.observations import Candidate, Lexicon, Observation, Phrase
from sensegraph.engines.offline.stemming import load_stemmer
from sensegraph.language.speakers import write_label
from sensegraph.language.text import fold
from sensegraph.language.word_lists import english_words

LONGEST_UNIT = 4
_LONGEST_TERM = 6
_EARLY, _LIKE = 12, 0.3  # among the first things of a document, one that shares words with its title
_folded = lru_cache(maxsize=1 << 14)(fold)  # names and concepts come back
_HYPHEN = re.compile(r" ?([-–/]) ?")


class Spot(msgspec.Struct, frozen=True, gc=False):
    """One mention: sentence, span in the document, and the key of its thing."""

    sentence: int
    start: int
    end: int
    key: str


class Thing(msgspec.Struct, frozen=True, gc=False):
    """What is mentioned: `key` is its folded name."""

    key: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Scene:
    """The things of one document and their mentions, in order of place."""

    things: Mapping[str, Thing]
    spots: Sequence[Spot]

    def key_of_title(self, title: str) -> str:
        """The key of the thing that the document's title names, if the text mentions it."""
        key = make_name_key(title.split(" (")[0])
        if key in self.things:
            return key
        short = make_name_key(title.split(" (")[0].split(", ")[0])
        if not short or short in self.things:
            return short
        words, likeness = set(short.split()) - english_words("stop"), {}
        for order, (k, thing) in enumerate(self.things.items()):
            shared = words & set(k.split())
            if shared and thing.kind != "c" and order < _EARLY:
                likeness[k] = len(shared) / len(words | set(k.split())) + (k.split()[-1] == short.split()[-1])
        best = max(likeness, key=lambda k: (likeness[k], k), default="")
        return best if likeness.get(best, 0) >= _LIKE else ""


class Named(msgspec.Struct, frozen=True, gc=False):
    """A candidate that stands as a name."""

    candidate: Candidate
    start: int
    surface: str
    key: str


@lru_cache(maxsize=1 << 14)
def make_name_key(surface: str) -> str:
    """The form in which names are one: folded, without article, quotation blanks and possessive."""
    folded = _HYPHEN.sub(r"\1", fold(surface))
    for article in ("the ", "a ", "an "):
        folded = folded.removeprefix(article) if len(folded) > len(article) + 2 else folded
    return folded


def select_standing_names(seen: Observation, lexicon: Lexicon) -> list[Named]:
    """The candidates that are names in this corpus, cut where their first word is none."""
    out = []
    begin, end = find_body(seen, lexicon)
    speakers = lexicon.speakers
    for c in seen.names:
        start, surface = c.start, c.surface
        if start < begin or c.end > end:
            continue
        label = _folded(surface) if "s" in c.marks else ""
        if label and label not in speakers and any(k.endswith(label) for k in speakers):
            continue  # what a border left of another label ("vin scott")
        if c.first and (
            c.first in lexicon.refused_runs or (not c.more and strip_possessive(c.first) in lexicon.refused)
        ):
            if c.inner < 0:
                continue
            start, surface = c.inner, c.surface[c.inner - c.start :]
        key = make_name_key(surface)
        if f"{c.before} {key}" not in lexicon.series:  # else the tail of a series' name, which says nothing
            out.append(Named(c, start, surface, key))
    return out


def link_same_person(names: Sequence[Named], kinds: Mapping[str, str]) -> dict[str, str]:
    """One-word keys of a document that stand for a longer name of a person in it."""
    spoken = {n.key for n in names if "s" in n.candidate.marks}
    return person_names.link_document_names(Counter(n.key for n in names), spoken, kinds)


@lru_cache(maxsize=100_000)
def stem_english(word: str) -> str:
    """The English stem of a folded word."""
    return str(load_stemmer("english").stemWord(word))


def stem_unit(words: Sequence[str]) -> str:
    """The stems of a phrase, by which its forms are one."""
    return " ".join(map(stem_english, words))


def find_longest_units(phrase: Phrase, units: Mapping[str, str]) -> Iterator[tuple[int, int, str]]:
    """Kept concepts in a phrase (first word, word after the last, unit), the longest at each place."""
    stems, at = [stem_english(w) for w in phrase.words], 0
    while at < len(stems):
        for size in range(min(LONGEST_UNIT, len(stems) - at), 0, -1):
            unit = " ".join(stems[at : at + size]) if size > 1 else stems[at]
            if unit in units:
                yield at, at + size, unit
                at += size
                break
        else:
            at += 1


def find_longest_terms(run: str, terms: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Kept terms in a run of characters, the longest at each place."""
    at = 0
    while at < len(run):
        size = next((n for n in range(min(_LONGEST_TERM, len(run) - at), 1, -1) if run[at : at + n] in terms), 0)
        if size:
            yield at, at + size
        at += size or 1


def resolve_mentions(seen: Observation, lexicon: Lexicon) -> Scene:
    """The things of a document and their mentions, hosts and concepts outside the corpus's list left out."""
    names = select_standing_names(seen, lexicon)
    # what stands for a longer name: as the document says, else its work, else the corpus
    here = {n.key for n in names}
    wider = {**lexicon.same.get("", {}), **lexicon.same.get(seen.work, {})}
    same = {k: wider[k] for k in sorted(here & wider.keys())}
    same |= {k: wider.get(v, v) for k, v in link_same_person(names, lexicon.kinds).items()}
    grouped: dict[str, list[Named]] = defaultdict(list)
    for n in names:
        grouped[same.get(n.key, n.key)].append(n)
    notes = find_notes(seen, lexicon)
    things: dict[str, Thing] = {}
    spots = []
    for key, members in grouped.items():
        told = [m for m in members if m.candidate.sentence not in notes]
        thing = _make_named_thing(key, members, lexicon) if told else None
        if thing is None or thing.key in lexicon.hidden:
            continue
        things.setdefault(thing.key, thing)
        spots += [Spot(m.candidate.sentence, m.start, m.candidate.end, thing.key) for m in told]
    spots += _find_concepts(seen, lexicon, spots, things, notes)
    return Scene(things, sorted(spots, key=lambda s: (s.start, s.end, s.key)))


def _make_named_thing(key: str, members: Sequence[Named], lexicon: Lexicon) -> Thing | None:
    """The thing that these names mention, under the name that is written most often; None where it is none."""
    kind = lexicon.kinds.get(key, "m")
    if kind == "-":
        return None
    if kind == "c":
        name = lexicon.units.get(stem_unit(key.split()), "")
        return Thing(fold(name), name, "c") if name else None
    if key in lexicon.full:
        name = lexicon.full[key]
        return Thing(fold(name), name, kind)
    surfaces: Counter[str] = Counter()
    for member in (m for m in members if m.key == key):
        surface = " ".join(member.surface.split())
        for article in ("The ", "the ", "A ", "An "):
            if surface.startswith(article) and make_name_key(surface) == fold(surface[len(article) :]):
                surface = surface[len(article) :]
        own = write_label(surface) if "s" in member.candidate.marks else surface
        surfaces[lexicon.speakers.get(_folded(surface), own)] += 1
    name = min(surfaces, key=lambda s: (s.isupper() and " " in s, -surfaces[s], s))
    return Thing(fold(name), name, kind)


def _find_concepts(
    seen: Observation, lexicon: Lexicon, names: Sequence[Spot], things: dict[str, Thing], notes: frozenset[int]
) -> list[Spot]:
    """Mentions of kept concepts that no name covers, show notes left out; adds the concepts to `things`."""
    begin, limit = find_body(seen, lexicon)
    taken = sorted((s.start, s.end) for s in names)
    starts = [a for a, _ in taken]
    spots = []
    for phrase in seen.phrases:
        if phrase.sentence in notes:
            continue
        places, words = phrase.spans, phrase.words
        if seen.language == "zh":
            terms = find_longest_terms(words[0], lexicon.terms)
            found = [(places[0] + a, places[0] + b, words[0][a:b]) for a, b in terms]
        else:
            units = find_longest_units(phrase, lexicon.units)
            found = [(places[2 * a], places[2 * b - 1], lexicon.units[unit]) for a, b, unit in units]
        for start, end, name in found:
            if start < begin or end > limit:
                continue
            before = bisect_right(starts, start)
            if (before and taken[before - 1][1] > start) or (before < len(taken) and taken[before][0] < end):
                continue
            key = _folded(name)
            if key not in things:
                things[key] = Thing(key, name, "c")
            spots.append(Spot(phrase.sentence, start, end, key))
    return spots
