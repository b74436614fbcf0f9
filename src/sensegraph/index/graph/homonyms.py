"""Names of a graph that are another thing in some documents.

What each name is where is decided in `resolution/senses.py`; here its uses are gathered from the graph and the chunks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import chain, starmap

import msgspec
import numpy as np

from sensegraph.algorithms.ranking import hash_words
from sensegraph.algorithms.segments import cut_hashes
from sensegraph.index.graph.seen_names import NameGraph
from sensegraph.index.graph.told_names import Core, Texts, index_persons, list_cores
from sensegraph.language import naming_words
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import find_whole, fold
from sensegraph.language.word_lists import read_lexicon
from sensegraph.resolution.aliases import Aliases, Name
from sensegraph.resolution.comparison.likeness import compare_persons
from sensegraph.resolution.comparison.name_reading import read_name
from sensegraph.resolution.comparison.scoring import kind_of_type
from sensegraph.resolution.senses import Owner, Senses, Use, find_owners, join_senses, tell_senses_apart
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk

_SHORT_FOR = frozenset(("surname", "given", "initial", "nickname"))
_MOST = 200  # chunks of one name that are read: a name of more is one thing
_COMPARED, _SETTLED = 32, 8  # names of a run that are compared with persons, and that are settled, on the average


@step("duplicates.senses", version=1)
def keep_senses(runs: Sequence[Sequence[Senses]]) -> list[Senses]:
    """The senses of a run of names together."""
    return list(map(join_senses, runs))


@step("duplicates.owners", version=1)
def find_short_names(parts: Sequence[Sequence[tuple[str, Sequence[str]]]]) -> list[list[list[int]]]:
    """Of each name of a part, given with names of persons, the places of those that it may be short for."""

    def may_mean(name: str, person: str) -> bool:
        judged = compare_persons(read_name(name, True), read_name(person, True))
        return judged.kind in _SHORT_FOR and not judged.veto

    return [[[i for i, p in enumerate(persons) if may_mean(name, p)] for name, persons in part] for part in parts]


@dataclass(frozen=True, slots=True)
class MentionedName:
    """A name, its type, and the chunks that mention it."""

    name: str
    type: str
    chunks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A name that may have several senses, or be short for the names of some persons."""

    named: MentionedName
    owners: tuple[MentionedName, ...] = ()

    def place(self, chunks: Sequence[str]) -> Candidate:
        """The same, with the ids of chunks for their numbers."""
        every = (self.named, *self.owners)
        named, *owners = (replace(one, chunks=tuple(chunks[int(c)] for c in one.chunks)) for one in every)
        return Candidate(named, tuple(owners))


@step("duplicates.candidates", version=1)
def keep_candidates(found: Sequence[tuple[Candidate, ...]]) -> list[tuple[Candidate, ...]]:
    """The names of a graph that may have several senses, with the numbers of chunks for their ids."""
    return list(found)


def list_candidates(graph: NameGraph, known: Mapping[str, tuple[Name, ...]], rt: Runtime) -> tuple[Candidate, ...]:
    """The names that may have several senses; `known` are the names by id that a log has settled, and stay."""
    persons, kinds = _Persons(graph, list_cores(graph, rt)), {kind: kind_of_type(kind) for kind in set(graph.types)}
    many = np.diff(graph.start).tolist()
    rows = [
        row
        for row, name in enumerate(graph.names)
        if name[:1].isupper() and many[row] <= _MOST and len(name.split()) < 3 and graph.ids[row] not in known
    ]
    owned = persons.list_owners([row for row in rows if kinds[graph.types[row]] in ("", "person", "place")], rt)

    def show(row: int) -> MentionedName:
        return MentionedName(graph.names[row], graph.types[row], tuple(graph.places_of(row)))

    found = list[Candidate]()
    for row in rows:
        name, kind, owners = graph.names[row], kinds[graph.types[row]], owned.get(row, ())
        alone = kind in ("", "person") and len(name.split()) == 1
        if owners or (many[row] > 1 and (alone or _is_place(name, kind))):
            found.append(Candidate(show(row), tuple(map(show, owners))))
    return tuple(found)


def find_senses(asked: Sequence[Candidate], texts: Texts, rt: Runtime) -> Senses:
    """Which mentions of names are another thing.

    Names are settled in runs: a run whose names, owners and chunks are as they were is not looked through again.
    """

    def settle(run: slice) -> list[Senses]:
        return [senses for one in asked[run] for senses in _settle_name(one.named, one.owners, reader)]

    # the id of a chunk stands for its text and its document
    keys = [key(*((x.name, x.type, x.chunks) for x in (one.named, *one.owners))) for one in asked]
    runs = list(starmap(slice, cut_hashes(np.array([int(k[:16], 16) for k in keys], np.uint64), _SETTLED)))
    stored = rt.keys(keep_senses, runs, [key(*keys[run]) for run in runs])
    there, each = rt.recall(keep_senses, stored), list(zip(stored, runs, strict=True))
    new = [x for k, run in each if k not in there for one in asked[run] for x in (one.named, *one.owners)]
    reader = _Reader(texts(sorted({c for one in new for c in one.chunks})) if new else {})
    kept = [there.get(k) or rt.once(keep_senses, partial(settle, run), names=keys[run]) for k, run in each]
    return join_senses([senses.value for senses in kept])


def _settle_name(e: MentionedName, owners: Sequence[MentionedName], reader: _Reader) -> Iterator[Senses]:
    """What one name means in its documents: its senses first, then whose short name each of them is."""
    name = (fold(e.name), fold(e.type))
    uses = [Use(d, said) for d, said in reader.sentences(e, owners).items()]
    found = tell_senses_apart(name, e.name, uses, place=_is_place(e.name, kind_of_type(e.type)))
    yield found
    if not owners:
        return
    new = {document: to for _, document, to in found.moved}
    full = [Owner((fold(o.name), fold(o.type)), o.name, reader.sentences(o, ())) for o in owners]
    for own in dict.fromkeys(new.get(use.document, name) for use in uses):
        some = [use for use in uses if new.get(use.document, name) == own]
        if kind_of_type(own[1]) == "place" and found.moved:
            continue
        belongs = find_owners(own, e.name, some, full)
        yield belongs if len(full) > 1 else replace(belongs, open=())


def _is_place(name: str, kind: str) -> bool:
    return kind == "place" or fold(name) in read_lexicon("places")["places"]


def with_senses(aliases: Aliases, senses: Senses) -> Aliases:
    """The table with these senses; what a user has moved stays."""
    fixed = {(name, document) for name, document, _ in aliases.moved}
    moved = [m for m in senses.moved if m[:2] not in fixed]
    made = {**dict(senses.made), **dict(aliases.made)}
    used = {to for _, _, to in (*moved, *aliases.moved)}
    return replace(
        aliases,
        moved=tuple(sorted((*aliases.moved, *moved))),
        made=tuple(sorted((n, shown) for n, shown in made.items() if n in used)),
    )


def may_be_short_for(core: Core, long: Core) -> bool:
    """Whether a person's name may be short for another as far as the ends of both tell: most that share a word are not.

    It is a family name or the first given name of the other, or both have one family and the one given name is an
    initial or may be short for the other. Where more than the last word may be the family this says nothing.
    """
    if not core or len(long) < 2:
        return True
    nicknames, generations, own, its = naming_words.NICKNAMES, naming_words.GENERATIONS, core[-1], long[-1]
    if own in generations or its in generations or own.isdecimal() or its.isdecimal():
        return True
    if len(core) < 2:
        return own in (long[0], its) or long[0] in nicknames.get(own, ())
    if core[-2] in naming_words.PARTICLES or long[-2] in naming_words.PARTICLES:
        return True
    given = (core[0], long[0])
    return own == its and any(len(name) == 1 or name in nicknames for name in given)


class _Persons:
    """The persons of a graph by the words of their names."""

    def __init__(self, graph: NameGraph, cores: Sequence[Core]) -> None:
        self.graph, self.cores, self.named = graph, cores, index_persons(graph, cores)
        self.letters = [sum(map(len, core)) for core in cores]

    def list_owners(self, rows: Sequence[int], rt: Runtime) -> dict[int, list[int]]:
        """The persons whose names each of these names may be short for, in the order of their ids; none have no entry.

        Names are compared in runs: those of a run that stand beside the same persons as before are not compared again.
        """
        graph = self.graph
        likely = {row: found for row in rows if (found := self.list_likely(row))} if self.named else {}
        named = [(graph.names[row], [graph.names[o] for o in persons]) for row, persons in likely.items()]
        runs = [
            named[begin:end] for begin, end in cut_hashes(hash_words(map(graph.ids.__getitem__, likely)), _COMPARED)
        ]
        keys = [blake2b(msgspec.msgpack.encode(run), digest_size=20).hexdigest() for run in runs]
        owners = rt.each(find_short_names, runs, names=keys)
        each = zip(likely.items(), chain.from_iterable(owners), strict=True)
        return {row: [persons[i] for i in places] for (row, persons), places in each if places}

    def list_likely(self, row: int) -> list[int]:
        """The persons of longer names for which a name may be short by the ends of both, in the order of their ids."""
        core, letters, size = self.cores[row], self.letters, self.letters[row]
        words = {*core, *(given for w in core if w in naming_words.NICKNAMES for given in naming_words.NICKNAMES[w])}
        longer = {o for w in words for o in self.named.get(w, ()) if letters[o] > size}
        return sorted([o for o in longer if may_be_short_for(core, self.cores[o])], key=self.graph.ids.__getitem__)


@dataclass(frozen=True)
class _Reader:
    """The sentences of chunks."""

    chunks: Mapping[str, Chunk]
    split: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def sentences(self, e: MentionedName, longer: Sequence[MentionedName]) -> dict[str, tuple[str, ...]]:
        """The sentences that name an entity, by document; a longer name that holds its name does not."""
        found: dict[str, list[str]] = defaultdict(list)
        sign = e.name.partition(" ")[0]  # blanks in the place of longer names make no such word
        for chunk in (self.chunks[c] for c in e.chunks if c in self.chunks):
            held = found[chunk.document]
            if find_whole(chunk.text, e.name) >= 0:
                for bare in [said for said in self._sentences_of(chunk) if sign in said]:
                    for other in longer:
                        bare = _blank_name(bare, other.name)
                    if find_whole(bare, e.name) >= 0:
                        held.append(bare)
        return {document: tuple(said) for document, said in found.items()}

    def _sentences_of(self, chunk: Chunk) -> tuple[str, ...]:
        if chunk.id not in self.split:
            self.split[chunk.id] = tuple(chunk.text[start:end] for start, end in split_sentences(chunk.text))
        return self.split[chunk.id]


def _blank_name(text: str, name: str) -> str:
    """`text` with a blank for each place where `name` stands in it as whole words."""
    at = find_whole(text, name)
    while at >= 0:
        text = f"{text[:at]} {text[at + len(name) :]}"
        at = find_whole(text, name, at + 1)
    return text
