"""What resolution reads of a graph, by runs: what names are called, where they are mentioned, what they are related to.

Texts and descriptions take most of the work of merging, and resolution needs none of them. What each run of documents
says of its names is a result of its own, in columns: so one document more reads one run, and all runs are put together
in arrays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import chain, count
from typing import Any, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Longs, keep_distinct, number_distinct, order_pairs
from sensegraph.algorithms.ranking import hash_words
from sensegraph.algorithms.walks import gather_entries, run_offsets
from sensegraph.index.extraction import Extracted
from sensegraph.index.graph.elements import entity_id
from sensegraph.index.graph.graph_settings import GraphSettings
from sensegraph.index.graph.merged_parts import number_id
from sensegraph.index.graph.part_inputs import Runs, tell_names
from sensegraph.index.graph.slicing import (
    Pairs,
    Rows,
    Told,
    Uses,
    count_entity_uses,
    name_apart,
    read_run_rows,
)
from sensegraph.resolution import Mentioned
from sensegraph.resolution.aliases import Aliases, Name
from sensegraph.runtime.columns import digest_columns
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Entity, Graph

_REMEMBERED = 1 << 13  # names
_ID = 10  # bytes of an id
_encode = msgspec.msgpack.Encoder().encode


@dataclass(frozen=True, slots=True)
class SeenRun:
    """What the chunks of a run say of its names, packed: a digest tells whether it is another, and seldom it is."""

    chunks: tuple[str, ...]
    said: bytes


@dataclass(frozen=True, slots=True)
class RunNames:
    """The names of a run, each with its id and type; how they are `written`, `forms` each, so many `times`; the places
    among its chunks of those that mention them, `held` each, first those that list them: of others, in which only a
    relation or a claim names them, the place is negative, −1 for the first. `related` are pairs of places of names,
    one after the other, `uses` those of names that are called otherwise. Numbers are four bytes each, ids ten.
    """

    ids: bytes
    types: tuple[str, ...]
    written: tuple[str, ...]
    forms: bytes
    times: bytes
    held: bytes
    places: bytes
    related: bytes
    uses: tuple[Uses, ...]


_decode = msgspec.msgpack.Decoder(SeenRun).decode
_decode_names = msgspec.msgpack.Decoder(RunNames).decode


@dataclass(frozen=True, slots=True)
class _Name:
    """A name of one run while it is gathered."""

    written: dict[str, int] = field(default_factory=dict)
    listed: dict[str, None] = field(default_factory=dict)
    bound: dict[str, None] = field(default_factory=dict)


@step("graph.seen", version=4, batch=1)
def see_names(runs: Sequence[tuple[Pairs, Told]]) -> list[bytes]:
    """What each run says of its names."""
    return [_encode(_see_run(pairs, told)) for pairs, told in runs]


def _see_run(pairs: Pairs, told: Told) -> SeenRun:
    rows: Rows[Any] = read_run_rows(pairs, told, None)
    nodes: dict[Name, _Name] = {}
    for listed, some in ((True, rows.mentions), (False, rows.bound)):
        for row in some:
            if (node := nodes.get(row.whose)) is None:
                node = nodes[row.whose] = _Name()
            if row.times:
                node.written[row.name] = node.written.get(row.name, 0) + row.times
                (node.listed if listed else node.bound)[row.chunk] = None
    chunks = list(dict.fromkeys(chunk for node in nodes.values() for chunk in (*node.listed, *node.bound)))
    at = {chunk: place for place, chunk in enumerate(chunks)}
    ids = [entity_id(whose) for whose in nodes]
    place = {name: number for number, name in enumerate(ids)}
    related = dict.fromkeys((place[row.first], place[row.second]) for row in rows.links)
    kept = list(nodes.values())
    names = RunNames(
        bytes.fromhex("".join(ids)),
        tuple(kind for _, kind in nodes),
        tuple(name for node in kept for name in node.written),
        _pack([len(node.written) for node in kept]),
        _pack([times for node in kept for times in node.written.values()]),
        _pack([len(node.listed) + len(node.bound) for node in kept]),
        _pack([p for node in kept for p in (*(at[c] for c in node.listed), *(-1 - at[c] for c in node.bound))]),
        _pack([end for pair in related for end in pair]),
        tuple(count_entity_uses(rows, frozenset(told.apart))),
    )
    return SeenRun(tuple(chunks), _encode(names))


def _pack(numbers: Sequence[int]) -> bytes:
    return np.array(numbers, "<i4").tobytes()


def _unpack(packed: Iterable[bytes]) -> Longs:
    return np.frombuffer(b"".join(packed), "<i4").astype(np.int64)


@dataclass(frozen=True, eq=False)
class NameGraph:
    """The names of a graph, in the order of its entities: ids, how they are shown, types, and how often each is
    mentioned; `places[start[i]:start[i + 1]]` are the chunks that mention it, by their places in `chunks`, and
    `near[begin[i]:begin[i + 1]]` the names to which it is related, ascending.
    """

    ids: Sequence[str]
    names: Sequence[str]
    types: Sequence[str]
    counts: Longs
    chunks: Sequence[str]
    start: Longs
    places: Longs
    begin: Longs
    near: Longs

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, graph: Graph) -> NameGraph:
        """The names of a graph that was merged."""
        entities, relations = list(graph.entities), list(graph.relations)
        at = {e.id: row for row, e in enumerate(entities)}
        chunks = list(dict.fromkeys(c for e in entities for c in e.chunks))
        place = {c: i for i, c in enumerate(chunks)}
        ends = np.array([(at[r.source], at[r.target]) for r in relations], np.int64).reshape(-1, 2)
        return cls(
            [e.id for e in entities],
            [e.name for e in entities],
            [e.type for e in entities],
            np.array([e.frequency for e in entities], np.int64),
            chunks,
            run_offsets([len(e.chunks) for e in entities]),
            np.array([place[c] for e in entities for c in e.chunks], np.int64),
            *_list_neighbours(ends, len(entities)),
        )

    def places_of(self, row: int) -> list[str]:
        """The chunks that mention a name."""
        return [self.chunks[i] for i in self.places[self.start[row] : self.start[row + 1]].tolist()]

    def entity(self, row: int) -> Entity:
        """An entity that has what is known of a name."""
        count = int(self.begin[row + 1] - self.begin[row])
        places, mentioned = tuple(self.places_of(row)), int(self.counts[row])
        return Entity(self.ids[row], self.names[row], self.types[row], "", (), places, mentioned, count)

    def mentioned(self, row: int) -> Mentioned:
        """A name as a thing to be compared, with its neighbours and the chunks that mention it."""
        near = sorted(self.ids[i] for i in self.near[self.begin[row] : self.begin[row + 1]].tolist())
        named, count = (self.ids[row], self.names[row], self.types[row]), int(self.counts[row])
        return Mentioned(*named, count, neighbours=tuple(near), places=tuple(self.places_of(row)))

    def digest(self) -> str:
        """What stands for all but the ids of chunks: how names are written, and which stand beside which."""
        columns = (self.counts, self.start, self.places, self.begin, self.near)
        return digest_columns(columns, _encode((self.ids, self.names, self.types)))

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """The hashes of the ids."""
        return hash_words(self.ids)

    @cached_property
    def mentioning(self) -> NDArray[np.bool_]:
        """Of which names it is known where texts mention them."""
        found: NDArray[np.bool_] = (np.diff(self.start) > 0) | (np.diff(self.begin) > 0)
        return found


class MentionedNames(Sequence[Mentioned]):
    """The names of a graph as things to be compared, each made when it is asked for."""

    def __init__(self, graph: NameGraph, rows: Sequence[int]) -> None:
        self._rows, self._make = rows, lru_cache(_REMEMBERED)(graph.mentioned)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Mentioned: ...
    @overload
    def __getitem__(self, index: slice) -> list[Mentioned]: ...
    def __getitem__(self, index: int | slice) -> Mentioned | list[Mentioned]:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        return self._make(self._rows[index])


@dataclass(frozen=True, slots=True)
class Places(Sequence[str]):
    """The places 0 to `size` − 1 as texts, each made when it is asked for."""

    size: int

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        found = range(self.size)[index]
        return list(map(str, found)) if isinstance(found, range) else str(found)


@dataclass(frozen=True, eq=False)
class SeenNames:
    """The names of the graph of extractions merged with some aliases, as all runs show them."""

    runs: Sequence[SeenRun]
    aliases: Aliases

    @cached_property
    def chunks(self) -> list[str]:
        """The ids of the chunks that the runs are made of."""
        return [chunk for run in self.runs for chunk in run.chunks]

    @cached_property
    def digest(self) -> str:
        """What stands for all but the ids of chunks."""
        found = blake2b(self.aliases.key.encode(), digest_size=20)
        for run in self.runs:
            found.update(f" {len(run.chunks)} {len(run.said)} ".encode() + run.said)
        return found.hexdigest()

    @cached_property
    def graph(self) -> NameGraph:
        """The names in the order of their ids."""
        return join_seen(self.runs, self.aliases)

    @cached_property
    def numbered(self) -> NameGraph:
        """The same, with the places of chunks in `chunks` for ids: all of it follows from the digest."""
        return replace(self.graph, chunks=Places(len(self.chunks)))


def see_graph(extracted: Extracted, rt: Runtime, settings: GraphSettings, aliases: Aliases) -> SeenNames:
    """The names of the graph of extractions merged with these aliases."""
    names, told = extracted.run_names, tell_names(extracted, rt, settings, aliases)
    every = range(len(names))
    runs = Runs(extracted, every, told)
    found = rt.each(see_names, runs, names=[key(names[i], key(told[i])) for i in every])
    return SeenNames(list(map(_decode, found)), aliases)


def join_seen(seen: Sequence[SeenRun], aliases: Aliases) -> NameGraph:
    """The names of all runs together, which were `seen`."""
    forms, kinds = (defaultdict[str, int](count().__next__) for _ in range(2))  # each text is in memory once
    runs, written, typed = list[RunNames](), [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for run in seen:
        found = _decode_names(run.said)
        for numbers, known, texts in ((written, forms, found.written), (typed, kinds, found.types)):
            numbers.append(np.fromiter(map(known.__getitem__, texts), np.int64, len(texts)))
        runs.append(replace(found, written=(), types=()))
    packed = np.frombuffer(b"".join(run.ids for run in runs), np.uint8).reshape(-1, _ID)
    ids, first, whose = number_distinct(np.ascontiguousarray(packed[:, :8]).view(">u8")[:, 0].astype(np.uint64))
    digits, size = packed[first].tobytes().hex(), len(first)
    named = [digits[at : at + 2 * _ID] for at in range(0, len(digits), 2 * _ID)]
    types = list(map(list(kinds).__getitem__, np.concatenate(typed)[first].tolist()))
    shown, counts = _find_shown(runs, list(forms), np.concatenate(written), whose, size)
    start, places, chunks = _join_places(runs, [run.chunks for run in seen], whose, size)
    offsets = run_offsets([len(run.ids) // _ID for run in runs]).tolist()
    related = [_unpack([run.related]) + offset for run, offset in zip(runs, offsets, strict=False)]
    ends = whose[np.concatenate([np.zeros(0, np.int64), *related])].reshape(-1, 2)
    called = name_apart((uses for run in runs for uses in run.uses), aliases)
    for own, by in called.items():
        row = int(np.searchsorted(ids, np.uint64(number_id(entity_id(own)))))
        named[row], shown[row], types[row] = entity_id(by.name), by.shown, by.type
    if called:  # else they are in order
        order = np.argsort(np.array(named, "S20"), kind="stable")
        named, shown, types = ([of[i] for i in order.tolist()] for of in (named, shown, types))
        moved, held = gather_entries(start, order)
        counts, start, places, rank = counts[order], run_offsets(held), places[moved], np.empty(size, np.int64)
        rank[order] = np.arange(size)
        ends = rank[ends]
    return NameGraph(named, shown, types, counts, chunks, start, places, *_list_neighbours(ends, size))


def _find_shown(
    runs: Sequence[RunNames], forms: Sequence[str], written: Longs, whose: Longs, size: int
) -> tuple[list[str], Longs]:
    """How each name is written most often, of equal ones the first in order; and how often it is mentioned."""
    times = _unpack(run.times for run in runs)
    owner = np.repeat(whose, _unpack(run.forms for run in runs))
    only, several = np.full(size, len(forms)), np.zeros(size, np.bool_)
    only[owner] = written
    several[owner[only[owner] != written]] = True
    shown = list(map([*forms, ""].__getitem__, only.tolist()))
    some = np.flatnonzero(several[owner])
    code, _, where = number_distinct(owner[some] * len(forms) + written[some])
    often = np.bincount(where, weights=times[some], minlength=len(code)).astype(np.int64)
    best: dict[int, tuple[int, str]] = {}
    for row, form, many in zip(*(of.tolist() for of in (*np.divmod(code, max(1, len(forms))), often)), strict=True):
        best[row] = min(best.get(row, (0, "")), (-many, forms[form]))
    for row, (_, form) in best.items():
        shown[row] = form
    return shown, np.bincount(owner, weights=times, minlength=size).astype(np.int64)


def _join_places(
    runs: Sequence[RunNames], held: Sequence[Sequence[str]], whose: Longs, size: int
) -> tuple[Longs, Longs, list[str]]:
    """The chunks that mention each name, of those that runs `held`: those that list it first, in the order of runs."""
    chunks = list(chain.from_iterable(held))
    sizes = [len(run.places) // 4 for run in runs]
    places = _unpack(run.places for run in runs)
    bound = places < 0
    places = np.where(bound, -1 - places, places) + np.repeat(run_offsets(list(map(len, held)))[:-1], sizes)
    owner = np.repeat(whose, _unpack(run.held for run in runs))
    order = order_pairs(owner, bound)  # of each name those that list it, then the others
    owner, places = owner[order], places[order]
    if bound.any():  # what lists a name may say more of it
        _, first, _ = number_distinct(owner * len(chunks) + places)
        first.sort()
        owner, places = owner[first], places[first]
    return run_offsets(np.bincount(owner, minlength=size)), places, chunks


def _list_neighbours(ends: Longs, count: int) -> tuple[Longs, Longs]:
    """The neighbours of each name, ascending, each once: where they begin, and all of them."""
    one, other = ends[:, 0], ends[:, 1]
    source, target = np.divmod(keep_distinct(np.concatenate((one * count + other, other * count + one))), count)
    return run_offsets(np.bincount(source, minlength=count)), target.astype(np.int64)
