"""The index of names: which chunk mentions, and which bears, which name, and the paths that a walk takes between them.

A name that a document bears (its title, a heading, another name of its first sentences) is identity: a passage that
mentions it leads there. No engine is asked. The walk reads it as the part `names` of an index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import (
    Floats,
    Ints,
    Longs,
    keep_distinct,
    locate_numbers,
    number_distinct,
    order_pairs,
)
from sensegraph.algorithms.ranking import hash_words
from sensegraph.algorithms.walks import Paths, gather_entries, order_paths, renumber_kept, run_offsets, turn_back
from sensegraph.errors import SettingsError
from sensegraph.index.index import Index
from sensegraph.index.manifest import MadePart, PartEntry
from sensegraph.index.parts import Building, Part
from sensegraph.methods import check_fields
from sensegraph.methods.walk.name_words import Hashes, NamedDocuments, spell_documents
from sensegraph.runtime.results import Results, recall_result, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk

if TYPE_CHECKING:
    from sensegraph.index.restricted.scope import ScopedIndex


_EVERYWHERE = 0.02  # share of the chunks from which a name that is in them is a hub
_LOOKED = 1 << 18  # chunks that are looked through at once


@dataclass(frozen=True, slots=True)
class NameSettings:
    """How names become a graph.

    A name leads somewhere unless more than `owners` documents bear it; chunks and names are linked unless more than
    the share `common` of the chunks mention the name. `bears` is the weight of bearing a name beside mentioning it;
    `forward` and `backward` weigh the links between a chunk that mentions a name and one that bears it.
    """

    owners: int = 5
    common: float = 0.05
    bears: float = 2.0
    forward: float = 2.0
    backward: float = 0.4

    def __post_init__(self) -> None:
        if self.owners < 1 or not 0 < self.common <= 1:
            raise SettingsError(
                f"index.names: owners ({self.owners}) must be at least 1, common ({self.common}) above 0 and at most 1."
            )
        check_fields(self, "bears forward backward", "be 0 or more", "index.names.{field} is {value}; it must {bound}.")


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """Names (e) in the order of the hashes of their folded words, chunks (n) in that of the catalogue; all mapped.

    `keys` are the hashes, `salience` (e) is the idf of a name over the largest, `chunks_of` (e) the number of chunks
    with it, `bearers` (e) that of documents that bear it; `proper` (e) is 0 for a single word that is no name where
    it has no capital. Chunk i holds the names `held[start[i]:start[i + 1]]`, ascending, each in `times` sentences, and
    `bears` them or not; name e is held by `holders[begin[e]:begin[e + 1]]`, which `borne` tells likewise. All words of
    the name e stand in the title of `hints[hint[e]:hint[e + 1]]`, which do not bear it. The title of chunk i has the
    stems `stems[title[i]:title[i + 1]]`, and in parenthesis `asides[aside[i]:aside[i + 1]]`, both hashes.
    `document` (n) numbers the documents. `way`, `to`, `share` are the `Paths` of a walk over chunks, then names.
    `facts`: most words of a name; settings of the graph (owners, common, bears, forward, backward); `hubs`, `links`.
    """

    keys: Hashes
    salience: NDArray[np.float32]
    chunks_of: Ints
    bearers: Ints
    proper: NDArray[np.uint8]
    start: Longs
    held: Ints
    times: Ints
    bears: NDArray[np.uint8]
    begin: Longs
    holders: Ints
    borne: NDArray[np.uint8]
    hint: Longs
    hints: Ints
    title: Longs
    stems: Hashes
    aside: Longs
    asides: Hashes
    document: Ints
    way: Longs
    to: Ints
    share: NDArray[np.float32]
    facts: Floats

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def chunks(self) -> int:
        """The number of chunks."""
        return len(self.document)

    @property
    def paths(self) -> Paths:
        """The paths between chunks, numbered first, and names."""
        return Paths(self.way, self.to, self.share)

    @property
    def longest(self) -> int:
        """The most words of a name."""
        return int(self.facts[0])

    @property
    def owners(self) -> int:
        """The most documents that bear a name which leads to them."""
        return int(self.facts[1])

    @property
    def hubs(self) -> float:
        """The share of all pairs of chunk and name whose name is in more than 2 % of the chunks, and more than 3."""
        return float(self.facts[6])

    @property
    def links(self) -> float:
        """How many chunks of other documents one leads to, in the mean of the whole corpus; a link counts at most 1."""
        return float(self.facts[7])

    def find(self, names: Sequence[str]) -> Longs:
        """The position of each of these folded names, −1 where there is none."""
        wanted = hash_words(names)
        at = np.minimum(np.searchsorted(self.keys, wanted), max(len(self) - 1, 0))
        return np.where(self.keys[at] == wanted, at, -1) if len(self) else np.full(len(names), -1)

    def holding(self, name: int) -> tuple[Ints, NDArray[np.bool_]]:
        """The chunks with a name, ascending, and which of them bear it."""
        part = slice(int(self.begin[name]), int(self.begin[name + 1]))
        return self.holders[part], np.asarray(self.borne[part], bool)

    def of(self, chunk: int) -> tuple[Ints, NDArray[np.bool_]]:
        """The names of a chunk, ascending, and which of them it bears."""
        part = slice(int(self.start[chunk]), int(self.start[chunk + 1]))
        return self.held[part], np.asarray(self.bears[part], bool)

    def within(self, chunks: NDArray[Any]) -> Names:
        """The same names over these chunks alone, ascending positions, which are numbered anew.

        Salience stays that of the whole; names that no chunk holds keep their numbers, but lead nowhere.
        """
        places, sizes = gather_entries(self.start, chunks)
        row = np.repeat(np.arange(len(sizes)), sizes)
        hints = renumber_kept(chunks.tolist(), self.chunks)[self.hints]
        whose = np.repeat(np.arange(len(self)), np.diff(self.hint))[hints >= 0]
        _, document = np.unique(np.asarray(self.document)[chunks], return_inverse=True)
        cut = replace(
            self,
            document=document.astype(np.int32),
            hint=run_offsets(np.bincount(whose, minlength=len(self))),
            hints=hints[hints >= 0],
            **_take_rows("title", "stems", self.title, self.stems, chunks),
            **_take_rows("aside", "asides", self.aside, self.asides, chunks),
        )
        return _link_pairs(cut, row, self.held[places], self.times[places], self.bears[places])


@step("naming.names", version=5, form="arrays")
def make_names(wholes: Sequence[NamedDocuments], *, settings: NameSettings) -> list[Names]:
    """The index of names of all documents, in the order of the catalogue."""
    return [_join_runs(whole, settings) for whole in wholes]


def name_graph(chunks: Results[tuple[Chunk, ...]], rt: Runtime, settings: NameSettings) -> str:
    """The key of the index of names of `chunks` (one item a document, in the order of the catalogue).

    Where a text changed that mentions the names that it did, the index stays.
    """
    from sensegraph.methods.walk.name_runs import name_documents
    from sensegraph.runtime.delegating import once_by_content

    def read() -> NamedDocuments:
        return name_documents(noted, rt)

    noted, digest = rt.each(spell_documents, chunks), attrgetter("digest")
    given = (rt, make_names, read, digest, lambda found: found)
    return once_by_content(*given, names=noted.tell_run(range(len(noted))), settings=settings)


def _join_runs(whole: NamedDocuments, settings: NameSettings) -> Names:
    """The index of names of the documents of all runs."""

    def joined(name: str, kind: Any, offsets: Longs | None = None) -> NDArray[Any]:
        columns = [getattr(run, name) for run in whole.runs]
        found = np.concatenate([np.zeros(0, kind), *columns], dtype=kind, casting="unsafe")
        if offsets is not None:
            found += np.repeat(offsets[:-1].astype(kind), list(map(len, columns)))
        return found

    known = whole.known
    keys, first, rank = number_distinct(joined("keys", np.uint64))
    every = list(chain.from_iterable(whole.names))
    names = [every[i] for i in first.tolist()]
    blanks = [name.count(" ") for name in names]
    stems, titles = _Lists(joined("stems", np.uint64), joined("stemmed", np.int64)), joined("titles", np.uint64)
    titled = _Lists(titles, joined("titled", np.int64))
    hint, hints = _find_hints(titled, stems.take(first))
    facts = [max(blanks, default=-1) + 1, settings.owners, settings.common]
    # the types of the arrays of an index of no names
    kinds: dict[str, Any] = dict.fromkeys((f.name for f in fields(Names)), np.int32)
    kinds |= dict.fromkeys(("keys", "stems", "asides"), np.uint64)
    kinds |= dict.fromkeys(("salience", "share"), np.float32)
    kinds |= dict.fromkeys(("start", "begin", "hint", "title", "aside", "way"), np.int64)
    kinds |= dict.fromkeys(("proper", "bears", "borne"), np.uint8) | {"facts": np.float64}
    made = replace(
        Names(**{name: np.zeros(0, kind) for name, kind in kinds.items()}),
        keys=keys,
        proper=np.asarray([many > 0 or known.proper(name) for name, many in zip(names, blanks, strict=True)], np.uint8),
        hint=hint,
        hints=hints,
        title=titled.start,
        stems=titles,
        aside=run_offsets(joined("aside", np.int64)),
        asides=joined("asides", np.uint64),
        document=joined("document", np.int32, run_offsets(whole.sizes)),
        facts=np.array([*facts, settings.bears, settings.forward, settings.backward, 0.0, 0.0]),
    )
    return _link_pairs(  # nobody else holds these columns
        made,
        joined("chunk", np.int32, run_offsets([len(run.document) for run in whole.runs])),
        rank.astype(np.int32)[joined("name", np.int32, run_offsets(list(map(len, whole.names))))],
        joined("times", np.int32),
        joined("bears", np.uint8),
    )


class _Lists:
    """Lists of values one after the other, so many in each."""

    def __init__(self, values: Hashes, sizes: Longs) -> None:
        self.values, self.sizes, self.start = values, sizes, run_offsets(sizes)

    def take(self, rows: Longs) -> _Lists:
        """Some of the lists."""
        places, sizes = gather_entries(self.start, rows)
        return _Lists(self.values[places], sizes)


def _find_hints(titles: _Lists, names: _Lists) -> tuple[Longs, Ints]:
    """For each name, given as its stems, the chunks whose title has all of them; those that bear it are left in.

    The chunks with its rarest stem are looked through, unless they are too many.
    """
    chunks = len(titles.sizes)
    known, _, stem = number_distinct(titles.values)
    held = keep_distinct(stem * chunks + np.repeat(np.arange(chunks), titles.sizes))  # by stem, then by chunk
    start = np.searchsorted(held, np.arange(len(known) + 1) * chunks)
    at = np.minimum(locate_numbers(names.values, known), max(len(known) - 1, 0))
    there = known[at] == names.values if len(known) else np.zeros(len(at), np.bool_)
    many = np.where(there, np.diff(start)[at], 0) if len(known) else np.zeros(len(at), np.int64)
    whose = np.repeat(np.arange(len(names.sizes)), names.sizes)
    order = order_pairs(whose, many)  # of each name its rarest stem first
    first = names.start[:-1][names.sizes > 0]
    others, begin = at[np.delete(order, first)], run_offsets(np.maximum(names.sizes - 1, 0))
    rarest = order[first]
    rarest = rarest[(many[rarest] > 0) & (many[rarest] <= max(3, chunks // 20))]
    found = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    reached = np.cumsum(many[rarest])  # some names at once: they may have many chunks to look through
    for some in np.split(rarest, np.searchsorted(reached, np.arange(_LOOKED, reached[-1:].sum(), _LOOKED))):
        places, sizes = gather_entries(start, at[some])
        name, chunk = np.repeat(whose[some], sizes), held[places] % max(chunks, 1)
        stems, each = gather_entries(begin, name)
        wanted = others[stems] * chunks + np.repeat(chunk, each)
        missed = held[np.minimum(locate_numbers(wanted, held), len(held) - 1)] != wanted
        kept = np.ones(len(name), np.bool_)
        kept[np.repeat(np.arange(len(name)), each)[missed]] = False
        found.append((name[kept], chunk[kept]))
    name, chunk = (np.concatenate(column) for column in zip(*found, strict=True))
    return run_offsets(np.bincount(name, minlength=len(names.sizes))), chunk.astype(np.int32)


def _take_rows(start: str, values: str, at: NDArray[Any], of: NDArray[Any], rows: NDArray[Any]) -> dict[str, Any]:
    """The entries of some rows, under the names of their two arrays."""
    places, sizes = gather_entries(at, rows)
    return {start: run_offsets(sizes), values: of[places]}


def _link_pairs(base: Names, row: NDArray[Any], held: NDArray[Any], times: NDArray[Any], bears: NDArray[Any]) -> Names:
    """`base` with these pairs of chunk and name, and what follows from them."""
    count, chunks = len(base), base.chunks
    order = order_pairs(row, held)
    row, held = row[order].astype(np.int32), np.asarray(held)[order].astype(np.int32)
    times, bears = times[order].astype(np.int32), bears[order].astype(np.uint8)
    order = order_pairs(held, row)
    many = np.bincount(held, minlength=count)
    borne = bears > 0
    own = keep_distinct(
        held[borne].astype(np.int64) * max(chunks, 1) + base.document[row[borne]]
    )  # of name and document
    salience = base.salience
    if len(salience) != count:  # the idf of names that so many chunks hold, over the largest
        idf = np.log1p((chunks - many + 0.5) / (many + 0.5))
        salience = (idf / max(float(idf.max(initial=0)), 1e-12)).astype(np.float32)
    cut = replace(
        base,
        chunks_of=many.astype(np.int32),
        bearers=np.bincount(own // max(chunks, 1), minlength=count).astype(np.int32),
        start=run_offsets(np.bincount(row, minlength=chunks)),
        held=held,
        times=times,
        bears=bears,
        begin=run_offsets(many),
        holders=row[order],
        borne=bears[order],
        salience=salience,
    )
    del order, own, borne
    (path, links), hubs = _walk_paths(cut, row), many[many > max(3, _EVERYWHERE * chunks)].sum() / max(len(held), 1)
    links = base.links if len(base.salience) == count else links  # what is known of a part is known of the whole
    return replace(cut, way=path.start, to=path.to, share=path.share, facts=np.array([*base.facts[:6], hubs, links]))


def _walk_paths(found: Names, row: Ints) -> tuple[Paths, float]:
    """The graph of the walk: chunks and names that they hold, chunks and those that bear what they mention.

    And how much each chunk is linked to others by such names, in the mean.
    """
    common, bears = found.facts[2:4].tolist()
    chunks, held = found.chunks, found.held
    rare = found.chunks_of[held] <= max(3, common * chunks)
    weight = (1 + np.log(np.maximum(found.times, 1)) + bears * found.bears) * found.salience[held]
    rare &= (weight > 0) & (found.chunks_of[held] > 1)  # from a name of one chunk the only path leads back
    a, b, w = row[rare], chunks + held[rare], weight[rare]
    del weight, rare
    here, there, link = _link_bearers(found, row)
    forward, backward = found.facts[4:6].tolist()
    ends = [(a, b, w), turn_back(a, b, w)]
    ends += [(here, there, forward * link)] if forward else []
    ends += [turn_back(here, there, backward * link)] if backward else []
    return order_paths(ends, chunks + len(found)), float(link.sum()) / max(chunks, 1)


def _link_bearers(found: Names, row: Ints) -> tuple[Ints, Ints, Floats]:
    """Chunks that mention a name, chunks of other documents that bear it, and how much they are linked, at most 1.

    A name is shared among the documents that bear it, and in a document among its chunks that do.
    """
    owners = int(found.facts[1])
    led = (found.bearers[found.held] > 0) & (found.bearers[found.held] <= owners) & (found.bears == 0)
    here, name = row[led].astype(np.int64), found.held[led].astype(np.int64)
    borne = np.flatnonzero(found.borne)
    owner = found.holders[borne].astype(np.int64)
    whose = np.searchsorted(found.begin, borne, side="right") - 1
    at = run_offsets(np.bincount(whose, minlength=len(found)))
    places, sizes = gather_entries(at, name)
    source, target = np.repeat(here, sizes), owner[places]
    share = np.repeat(found.salience[name] / np.maximum(sizes, 1), sizes)
    other = found.document[source] != found.document[target]
    pair, _, where = number_distinct(source[other] * max(found.chunks, 1) + target[other])
    total = np.minimum(1.0, np.bincount(where, weights=share[other], minlength=len(pair)))
    keep = total > 0
    one, other = (ends.astype(np.int32) for ends in np.divmod(pair[keep], max(found.chunks, 1)))
    return one, other, total[keep]


class NamesPart(Part[Names, NameSettings]):
    """Which chunk mentions, and which bears, which name."""

    name = "names"
    reader = "walk"
    stage = "beside"
    settings = NameSettings

    def build(self, building: Building, settings: NameSettings) -> MadePart:
        """The names of all chunks; no engine is asked."""
        return MadePart(PartEntry(name_graph(building.spine.by_document, building.rt, settings)))

    def read(self, index: Index) -> Names:
        """The names, mapped."""
        return recall_result(index.store, make_names, index.manifest.parts[self.name].key)

    def restrict_to_scope(self, value: Names, index: ScopedIndex) -> Names:
        """The names of the chunks inside."""
        return value.within(np.asarray(index.places, np.int64))


NAMES = NamesPart()
