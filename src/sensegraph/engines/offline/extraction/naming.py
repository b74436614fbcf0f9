"""The third and the fourth look at the corpus: names and concepts, then how concepts are written."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from sensegraph.algorithms.rounding import round_down
from sensegraph.engines.offline.extraction import kinds, mentions
from sensegraph.engines.offline.extraction.german_names import is_noun
from sensegraph.engines.offline.extraction.names import link_corpus_names
from sensegraph.engines.offline.extraction.observations import (
    Candidate,
    Entry,
    Lexicon,
    Mentioned,
    Phrase,
    pack_list,
)
from sensegraph.language import speakers
from sensegraph.language.text import fold


class NameCount(msgspec.Struct, frozen=True, array_like=True):
    """What one document names. A work is all documents of one title.

    `place` orders documents by nothing but what they say; `spelt` counts how names of several words are written,
    `singles` are common nouns that German writes like names; `runs` is text without blanks. `units` are phrases with
    how often they stand there, and in how many chunks, `heads` the last words of phrases; `tagged` says that they are
    nouns and adjectives.
    """

    place: bytes
    work: str
    chunks: int
    names: dict[str, int]
    spelt: Mapping[str, Mapping[str, int]]
    singles: tuple[str, ...]
    uses: tuple[kinds.NameUses, ...]
    runs: tuple[str, ...]
    tagged: bool
    units: dict[str, tuple[int, int]]
    heads: dict[str, int]


def count_names(one: Mentioned, lexicon: Lexicon, place: bytes) -> tuple[set[str], NameCount]:
    """The names and phrases of one document, and what its reading asks of them."""
    named = mentions.select_standing_names(one, lexicon)
    spelt: dict[str, Counter[str]] = defaultdict(Counter)
    for n in named:
        if " " in n.key:
            spelt[n.key][" ".join(n.surface.split())] += 1
    nouns = [n for n in named if one.language == "de" and is_noun(n.key, lexicon.nouns, alone=True)]
    singles = {n.key for n in nouns}
    surely = [n for n in named if n.key not in singles]
    same = mentions.link_same_person(surely, None)  # last names count for the person
    uses: dict[str, list[tuple[str, Candidate]]] = defaultdict(list)
    for n in surely:
        uses[same.get(n.key, n.key)].append((n.surface, n.candidate))
    counts, runs, left = kinds.Counts(), list[str](), list[Phrase]()
    if one.language == "zh":
        runs = [p.words[0] for p in one.phrases]
    else:
        own, left = _part_phrases(one, lexicon)
        # the capitals of German are nouns and names alike: judged as concepts too
        kinds.count_units(counts, own + [(bisect_right(one.bounds[::2], n.start), (n.key,)) for n in nouns])
    names = Counter(n.key for n in named)
    count = NameCount(
        place,
        one.work,
        len(one.bounds) // 2,
        names,
        spelt,
        tuple(sorted(singles)),
        tuple(kinds.count_uses(key, held) for key, held in uses.items()),
        tuple(runs),
        one.language == "en",
        {unit: (n, counts.chunks[unit]) for unit, n in counts.all.items()},
        counts.heads,
    )
    terms = {kind + key for key in names for kind in (Entry.KIND, Entry.SAME, Entry.FULL)}
    terms.update(f"{Entry.SAME_HERE}{one.work}\t{key}" for key in names)
    terms.update(Entry.PERSON + k for k in names if not names.keys().isdisjoint(k.split()[:: k.count(" ") or 1]))
    terms.update(Entry.TERM + run[i : i + 2] for run in runs for i in range(len(run) - 1))
    others = one if one.language == "de" else msgspec.structs.replace(one, phrases=tuple(left))
    units = {unit for unit, _ in list_units(others, named)}
    terms.update(map(Entry.KEPT.__add__, units if one.language == "de" else units.union(counts.all)))
    return terms, count


def _part_phrases(one: Mentioned, lexicon: Lexicon) -> tuple[list[tuple[int, Sequence[str]]], list[Phrase]]:
    """The phrases of the document's own text, each with the number of its chunk, and those of what surrounds it."""
    starts, notes = one.bounds[::2], mentions.find_notes(one, lexicon)
    begin, end = mentions.find_body(one, lexicon)
    own, left = list[tuple[int, Sequence[str]]](), list[Phrase]()
    for p in one.phrases:
        if p.sentence not in notes and begin <= p.spans[0] and p.spans[-1] <= end:
            own.append((bisect_right(starts, p.spans[0]), p.words))
        else:
            left.append(p)
    return own, left


def list_units(one: Mentioned, named: Sequence[mentions.Named]) -> Iterator[tuple[str, str]]:
    """The stems of all that may be a concept in a document, each time with how it is written there."""
    if one.language == "zh":
        return
    for words in (p.words for p in one.phrases):
        if len(words) == 1:  # most are one word
            yield mentions.stem_english(words[0]), words[0]
            continue
        stems = [mentions.stem_english(w) for w in words]
        for first in range(len(words)):
            for last in range(first + 1, len(words) + 1):
                yield " ".join(stems[first:last]), " ".join(words[first:last])
    if one.language == "de":
        yield from ((mentions.stem_unit([n.key]), n.surface) for n in named if " " not in n.key)


def learn_names(
    counts: Iterable[bytes], known: Mapping[str, str], given: Mapping[str, str], guesses: bool
) -> dict[str, str]:
    """The types of names, the user's own first, the concepts, and which names are one person.

    `known` is what was learned before, `given` the types by name that the user lists. `guesses` tells
    guessed types too, where reading makes no difference between them and none.
    """
    decoder = msgspec.msgpack.Decoder(NameCount)
    held = sorted((decoder.decode(data) for data in counts), key=lambda one: one.place)
    tagged, untagged, chunks = kinds.Counts(), kinds.Counts(), round_down(sum(one.chunks for one in held), 4)
    works: dict[str, Counter[str]] = defaultdict(Counter)
    for one in held:
        counted = tagged if one.tagged else untagged
        often, within = counted.all, counted.chunks
        for unit, (n, chunks_held) in one.units.items():
            often[unit] = often.get(unit, 0) + n
            within[unit] = within.get(unit, 0) + chunks_held
        counted.heads.update(one.heads)
        works[one.work].update(one.names)
    concepts = kinds.select_concepts(tagged, chunks)
    units = set(concepts | kinds.select_concepts(untagged, chunks, tagged=False))
    uses = [use for one in held for use in one.uses]
    typed = kinds.learn_name_types(uses)
    # what is written both as a name and as a concept gets one type: that of the more frequent writing
    written: Counter[str] = Counter()
    for use in uses:
        written[use.key] += use.mentions
    dropped = set()
    for key, n in written.items():
        unit = mentions.stem_unit(key.split())
        if unit in units and tagged.all[unit] + untagged.all[unit] >= n:
            typed[key] = "c"
        elif unit in units:
            dropped.add(unit)
    units -= dropped
    singles = {w for one in held for w in one.singles}
    typed.update((w, "c" if mentions.stem_unit([w]) in units else "-") for w in singles)
    listed = {mentions.make_name_key(name): kinds.kind_of_type(type) for name, type in sorted(given.items())}
    units -= {mentions.stem_unit(k.split()) for k in listed}
    typed.update(listed)
    terms: dict[str, list[str]] = defaultdict(list)
    for term in sorted(kinds.find_terms([run for one in held for run in one.runs])):
        terms[f"{Entry.TERM}{term[:2]}"].append(term)
    return {
        **{f"{Entry.KIND}{key}": kind for key, kind in typed.items() if guesses or kind not in "mLOP"},
        **{f"{Entry.PERSON}{key}": "" for key, kind in typed.items() if kind == "P" and " " in key},
        **{f"{Entry.KEPT}{unit}": "" for unit in units},
        **_write_same(works, typed, [one.spelt for one in held], known),
        **{start: pack_list(found) for start, found in terms.items()},
    }


def _write_same(
    works: Mapping[str, Counter[str]],
    typed: Mapping[str, str],
    spelt: Sequence[Mapping[str, Mapping[str, int]]],
    known: Mapping[str, str],
) -> dict[str, str]:
    """Which names are one person, and how the full ones are written."""
    same = link_corpus_names(works, {k: kinds.guess_of_kind(kind) for k, kind in typed.items()})
    table: dict[str, str] = {}
    written: dict[str, Counter[str]] = {}
    for key in {key for found in same.values() for key in found.values()}:
        written[key] = sum((Counter(one[key]) for one in spelt if key in one), Counter())
    for work, found in same.items():
        for short, key in found.items():
            often = written[key]
            best = min(often, key=lambda s: (s.isupper(), -often[s], s))
            name = known.get(f"{Entry.SPEAKER}{key}") or speakers.write_label(best)
            table[f"{Entry.FULL}{key}"] = name
            entry = pack_list((key, typed.get(key, "m"), name))
            table[f"{Entry.SAME_HERE}{work}\t{short}" if work else f"{Entry.SAME}{short}"] = entry
    return table


def count_forms(one: Mentioned, lexicon: Lexicon) -> tuple[set[str], dict[str, dict[str, int]]]:
    """How one document writes the kept concepts, and what its reading asks of these and of the things it names."""
    grouped = mentions.group_names(one, lexicon)
    things = (mentions.make_named_thing(key, members, lexicon) for key, members in grouped.items())
    terms = {kind + t.key for t in things if t for kind in (Entry.HIDDEN, Entry.ROLE)}
    terms.update(f"{Entry.UNIT}{mentions.stem_unit(k.split())}" for k in grouped if lexicon.kinds.get(k) == "c")
    named = mentions.select_standing_names(one, lexicon) if one.language == "de" else ()
    forms: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for unit, written in list_units(one, named):
        if unit in lexicon.kept:
            forms[unit][written] += 1
    terms.update(map(Entry.UNIT.__add__, forms))
    return terms, forms


def learn_forms(counts: Iterable[bytes], known: Mapping[str, str]) -> dict[str, str]:
    """The most frequent written form of every concept; `known` is what was learned before."""
    decoder = msgspec.msgpack.Decoder(dict[str, dict[str, int]])
    forms: dict[str, Counter[str]] = {t[1:]: Counter() for t in known if t[0] == Entry.KEPT}
    for data in counts:
        for unit, held in decoder.decode(data).items():
            forms[unit].update(held)
    table = {}
    for unit, held in forms.items():
        name = min(held, key=lambda w: (-held[w], w)) if held else unit
        flags = ("x" if f"{kind}{fold(name)}" in known else "" for kind in (Entry.HIDDEN, Entry.ROLE))
        table[f"{Entry.UNIT}{unit}"] = pack_list((name, *flags))
    return table
