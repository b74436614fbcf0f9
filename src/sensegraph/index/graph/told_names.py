"""What texts say outright of names: which short forms they define, and what persons were called before.

Each thing that is looked for names the chunks that may say it, so that only those are read in which something changed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from itertools import combinations

import msgspec
import numpy as np

from sensegraph.algorithms.segments import cut_hashes, cut_keys
from sensegraph.index.graph.compared_names import NAMES
from sensegraph.index.graph.elements import fold_name
from sensegraph.index.graph.seen_names import NameGraph
from sensegraph.language.text import fold
from sensegraph.resolution import Rule
from sensegraph.resolution.comparison.name_reading import read_name
from sensegraph.resolution.comparison.scoring import kind_of_type
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk

Texts = Callable[[Sequence[str]], Mapping[str, Chunk]]
_SEARCHED = 20  # chunks of a short form that are searched for its definition
_LONGEST = 7  # letters of a short form
_SHORT = re.compile(rf"[A-Z][A-Z0-9&]{{1,{_LONGEST - 1}}}")
Core = tuple[str, ...]
_Shown = tuple[str, str, str]  # the id of an entity, its name, its type


@dataclass(frozen=True, slots=True)
class ShortForm:
    """A name that may be defined in `chunks`, as in `Apple Inc. (AAPL)`, and the names of its first letter there.

    A definition stands in parentheses behind a name of the same type, where both have one. Any other parenthesis may
    say where, when or what kind.
    """

    short: _Shown
    near: tuple[_Shown, ...]
    chunks: tuple[str, ...]

    def find_rules(self, texts: Mapping[str, Chunk]) -> list[Rule]:
        """The names that it is short for, as these chunks say."""
        own, shown, kind = self.short
        sign = f" ({fold_name(shown)})"
        said = [text for c in self.chunks if c in texts and sign in (text := fold(texts[c].text))]
        return [
            Rule("merge", name, own, "text", f"a text says {long} ({shown})")
            for name, long, type in self.near
            if (type in (kind, "other") or kind == "other") and name != own
            if any(f"{fold_name(long)}{sign}" in text for text in said)
        ]


@dataclass(frozen=True, slots=True)
class FormerName:
    """Two persons of one given name and different family names, which `chunks` mention both."""

    one: _Shown
    other: _Shown
    chunks: tuple[str, ...]

    def find_rules(self, texts: Mapping[str, Chunk]) -> list[Rule]:
        """That they are one person, where a text says so: born, formerly, married and took the name."""
        (a, first, _), (b, second, _) = self.one, self.other
        said = [texts[c].text for c in self.chunks if c in texts]
        if any(_says_new_name(text, *names) for text in said for names in ((first, second), (second, first))):
            return [Rule("merge", a, b, "text", f"a text says that {first} and {second} are one person")]
        return []


@step("duplicates.told", version=1)
def keep_told(runs: Sequence[Iterable[Rule]]) -> list[tuple[Rule, ...]]:
    """What texts say of a run of names."""
    return list(map(tuple, runs))


@dataclass(frozen=True, slots=True)
class Sought:
    """What is looked for in texts about the names of a graph, for which the digest stands."""

    digest: str
    short: tuple[ShortForm, ...] = ()
    former: tuple[FormerName, ...] = ()

    @classmethod
    def of(cls, graph: NameGraph, rt: Runtime) -> Sought:
        """What is looked for about the names of a graph."""
        former = list_former_names(graph, list_cores(graph, rt))
        return cls(graph.digest(), tuple(list_short_forms(graph)), tuple(former))

    def place(self, chunks: Sequence[str]) -> Sought:
        """The same, with the ids of chunks for their numbers."""
        short = (replace(form, chunks=tuple(chunks[int(c)] for c in form.chunks)) for form in self.short)
        former = (replace(pair, chunks=tuple(sorted(chunks[int(c)] for c in pair.chunks))) for pair in self.former)
        return Sought(self.digest, tuple(short), tuple(former))

    def find_rules(self, texts: Texts, rt: Runtime) -> list[Rule]:
        """What the texts themselves say of the names."""

        def look(run: Sequence[ShortForm | FormerName]) -> list[Rule]:
            known = texts(sorted({c for sought in run for c in sought.chunks}))
            return [rule for sought in run for rule in sought.find_rules(known)]

        rules: list[Rule] = []
        every: Sequence[ShortForm | FormerName]
        for every in (self.short, self.former):
            keys = [key(sought) for sought in every]
            for run in cut_keys(keys):
                looked = partial(look, every[run.start : run.stop])
                rules += rt.once(keep_told, looked, names=keys[run.start : run.stop]).value
        return rules


@step("duplicates.sought", version=1)
def keep_sought(found: Sequence[Sought]) -> list[Sought]:
    """What is looked for about the names of a graph, with the numbers of chunks for their ids."""
    return list(found)


def list_short_forms(graph: NameGraph) -> Iterator[ShortForm]:
    """The names of a graph in capitals, which may be defined in the first chunks that mention them."""
    short = [
        row
        for row, name in enumerate(graph.names)
        if len(name) <= _LONGEST and name.isupper() and _SHORT.fullmatch(name)
    ]
    first = {row: graph.places[graph.start[row] : graph.start[row + 1]][:_SEARCHED].tolist() for row in short}
    wanted = {(c, fold_name(graph.names[row])[:1]) for row, places in first.items() for c in places}
    searched = np.zeros(len(graph.chunks), np.bool_)
    searched[[c for c, _ in wanted]] = True
    near = np.flatnonzero(searched[graph.places])  # mentions of any name in a chunk that is searched
    owners = np.searchsorted(graph.start, near, side="right") - 1
    named: dict[tuple[int, str], list[int]] = defaultdict(list)  # by chunk and first letter
    for row, c in zip(owners.tolist(), graph.places[near].tolist(), strict=True):
        if (place := (c, fold_name(graph.names[row])[:1])) in wanted:
            named[place].append(row)
    for row, places in first.items():
        letter = fold_name(graph.names[row])[:1]
        others = dict.fromkeys(other for c in places for other in named[c, letter])
        yield ShortForm(
            _show(graph, row), tuple(_show(graph, x) for x in others), tuple(graph.chunks[c] for c in places)
        )


def list_former_names(graph: NameGraph, cores: Sequence[Core]) -> Iterator[FormerName]:
    """The pairs of persons of a graph who may be one under an earlier and a later name."""
    for given, persons in index_persons(graph, cores).items():
        some = [row for row in persons if cores[row][0] == given]
        if len(some) < 2:
            continue
        family = {row: graph.names[row].split()[-1] for row in some}
        held = {row: set(graph.places[graph.start[row] : graph.start[row + 1]].tolist()) for row in some}
        for a, b in combinations(some, 2):
            if family[a] != family[b] and (shared := held[a] & held[b]):
                yield FormerName(_show(graph, a), _show(graph, b), tuple(sorted(graph.chunks[c] for c in shared)))


def _show(graph: NameGraph, row: int) -> _Shown:
    return graph.ids[row], graph.names[row], graph.types[row]


@step("duplicates.cores", version=1, batch=1)
def read_cores(parts: Sequence[Sequence[str]]) -> list[tuple[Core, ...]]:
    """The words of the names of each partition, without titles, as if they were persons'."""
    return [tuple(read_name(name, True).core for name in part) for part in parts]


def list_cores(graph: NameGraph, rt: Runtime) -> list[Core]:
    """The words of all names, as if they were persons', where there are persons; names are read that are new."""
    if not any(kind_of_type(kind) == "person" for kind in set(graph.types)):
        return []
    parts = [graph.names[begin:end] for begin, end in cut_hashes(graph.hashes, NAMES)]
    keys = [blake2b(msgspec.msgpack.encode(part), digest_size=20).hexdigest() for part in parts]
    return [core for part in rt.each(read_cores, parts, names=keys) for core in part]


def index_persons(graph: NameGraph, cores: Sequence[Core]) -> dict[str, list[int]]:
    """Persons with a given and a family name, by each word of their names."""
    found: dict[str, list[int]] = defaultdict(list)
    persons = {kind for kind in set(graph.types) if kind_of_type(kind) == "person"}
    for row in [row for row, kind in enumerate(graph.types) if kind in persons] if persons else ():
        if len(core := cores[row]) > 1:
            for word in dict.fromkeys(core):
                found[word].append(row)
    return found


def _says_new_name(text: str, new: str, old: str) -> bool:
    """Whether a text says that `old` became `new`."""
    one, other = re.escape(new), re.escape(old)
    before = rf"(?:{other}|{re.escape(old.split()[-1])})\b"
    spouse = rf"{other}\b[^.]*\bmarried\b[^.]*\b{re.escape(new.split()[-1])}\b"
    ways = (
        rf"\b{one}\s*[(,]\s*(?:née|nee|né|born|formerly|previously)\s+{before}",
        rf"\b{other}\s*[(,]\s*(?:now|later|today)\s+{one}\b",
        rf"\b{other}\b[^.]*\b(?:changed|took)\s+(?:his|her|their)\s+name\s+to\s+{one}\b",
        rf"{spouse}[^.]*\btook\s+(?:his|her|their|the)\b[^.]*\bname\b",
    )
    return any(re.search(way, text) for way in ways)
