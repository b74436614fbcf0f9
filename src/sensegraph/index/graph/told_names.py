"""What texts say outright of names: which short forms they define, and what persons were called before.

Each thing that is looked for names the chunks that may say it, so that only those are read in which something changed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from sensegraph.algorithms.segments import cut_keys
from sensegraph.index.graph.elements import fold_name
from sensegraph.language.text import fold
from sensegraph.resolution import Rule
from sensegraph.resolution.comparison.name_reading import read_name
from sensegraph.resolution.comparison.scoring import kind_of_type
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk, Entity, Graph

Texts = Callable[[Sequence[str]], Mapping[str, Chunk]]
_SEARCHED = 20  # chunks of a short form that are searched for its definition
_SHORT = re.compile(r"[A-Z][A-Z0-9&]{1,6}")
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


def find_told_names(graph: Graph, texts: Texts, rt: Runtime) -> list[Rule]:
    """What the texts themselves say of the names of a graph."""

    def look(run: Sequence[ShortForm | FormerName]) -> list[Rule]:
        known = texts(sorted({c for sought in run for c in sought.chunks}))
        return [rule for sought in run for rule in sought.find_rules(known)]

    rules: list[Rule] = []
    for every in (list(list_short_forms(graph)), list(list_former_names(graph))):
        keys = [key(sought) for sought in every]
        for run in cut_keys(keys):
            looked = partial(look, every[run.start : run.stop])
            rules += rt.once(keep_told, looked, names=keys[run.start : run.stop]).value
    return rules


def list_short_forms(graph: Graph) -> Iterator[ShortForm]:
    """The names of a graph in capitals, which may be defined in the first chunks that mention them."""
    short = [e for e in graph.entities if _SHORT.fullmatch(e.name)]
    wanted = {(c, fold_name(e.name)[:1]) for e in short for c in e.chunks[:_SEARCHED]}
    chunks, letters = {c for c, _ in wanted}, {letter for _, letter in wanted}
    named: dict[tuple[str, str], list[Entity]] = defaultdict(list)  # by chunk and first letter
    for e in graph.entities if short else ():
        if (letter := fold_name(e.name)[:1]) in letters:
            for c in chunks.intersection(e.chunks):
                named[c, letter].append(e)
    for e in short:
        places, letter = e.chunks[:_SEARCHED], fold_name(e.name)[:1]
        near = {x.id: x for c in places for x in named[c, letter]}
        yield ShortForm(_show(e), tuple(map(_show, near.values())), tuple(places))


def list_former_names(graph: Graph) -> Iterator[FormerName]:
    """The pairs of persons of a graph who may be one under an earlier and a later name."""
    for given, persons in index_persons(graph).items():
        for a, b in combinations([e for e in persons if read_name(e.name, True).core[0] == given], 2):
            if (shared := set(a.chunks) & set(b.chunks)) and a.name.split()[-1] != b.name.split()[-1]:
                yield FormerName(_show(a), _show(b), tuple(sorted(shared)))


def _show(e: Entity) -> _Shown:
    return e.id, e.name, e.type


def index_persons(graph: Graph) -> dict[str, list[Entity]]:
    """Persons with a given and a family name, by each word of their names."""
    found: dict[str, list[Entity]] = defaultdict(list)
    for e in graph.entities:
        if kind_of_type(e.type) == "person" and len(core := read_name(e.name, True).core) > 1:
            for word in dict.fromkeys(core):
                found[word].append(e)
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
