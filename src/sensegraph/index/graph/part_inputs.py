"""What the parts of a graph are made from: runs of documents, and the slices of them that a partition gets.

All is read when a part is missing: here, or in another process, which gets the keys of what it reads.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any, Protocol, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import count_distinct
from sensegraph.algorithms.segments import join_sums
from sensegraph.errors import ResultGone
from sensegraph.index.extraction import Extracted
from sensegraph.index.graph.graph_settings import GraphSettings
from sensegraph.index.graph.merged_parts import EntitySlices, RelationSlices, say_names
from sensegraph.index.graph.slicing import Told, tell_runs
from sensegraph.index.graph.stored.chunk_texts import ChunkTexts
from sensegraph.index.graph.stored.slices import KINDS, ROWS, PartSlices, Slices
from sensegraph.protocols import Store
from sensegraph.resolution.aliases import Aliases, Called, Name
from sensegraph.runtime.batches import read_each
from sensegraph.runtime.keys import key
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk, Extraction

T = TypeVar("T")
_KEPT = 1 << 23  # bytes of the shortened slices of partitions up to which all stay open
_KEPT_OF_MORE = 1 << 20  # of those that stay open where there are more: enough for what an update opens


@dataclass(frozen=True)
class Runs(Sequence[Any]):
    """Runs of documents by their numbers, each with what it is `told`, if any is: read when they are asked for."""

    extracted: Extracted
    numbers: Sequence[int]
    told: Sequence[Told] = ()

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: Any) -> Any:
        number = self.numbers[index]
        return tell_run(self.extracted.read_run(number), self.told[number] if self.told else None)

    def reader(self, positions: Sequence[int]) -> Callable[[Store], list[Any]]:
        """What reads the runs at these positions in another process."""
        numbers = [self.numbers[i] for i in positions]
        told = [self.told[n] if self.told else None for n in numbers]
        return partial(read_runs, [self.extracted.run_reader(n) for n in numbers], told)


@dataclass(frozen=True, slots=True)
class SaidEnds:
    """Of what a run says the ends alone: what it lists is not read."""

    ends: tuple[str, ...] = ()


_read_ends = msgspec.json.Decoder(SaidEnds).decode


def tell_names(extracted: Extracted, rt: Runtime, settings: GraphSettings, aliases: Aliases) -> list[Told]:
    """`tell_runs` of all runs; where neither aliases nor ends that are not listed tell anything, no name is read."""
    names = extracted.run_names
    said = rt.each(say_names, Runs(extracted, range(len(names))), names=names)
    if not aliases.key and not any(run.ends for run in said.scan(_read_ends)):
        return [Told()] * len(names)
    return tell_runs(list(said), aliases, settings)


class Cut:
    """All runs, cut into slices for so many partitions, with the keys of these, and the texts of their chunks."""

    def __init__(self, keys: Sequence[str], packed: Iterable[NDArray[np.uint8]], parts: int, texts: ChunkTexts) -> None:
        from sensegraph.algorithms.mapped import map_together

        self.keys, self.parts, self.texts = keys, parts, texts
        self.slices = [Slices(found, parts) for found in map_together(packed)]
        said = [run.sums() for run in self.slices]
        sums, counts = join_sums(said)
        self._sums, self._counts = sums.reshape(len(ROWS), parts, 2), counts.reshape(len(ROWS), parts)
        rows = np.array([more for _, more in said]).reshape(len(said), len(ROWS), parts) > 0
        self._there = np.stack([rows[:, np.array(ROWS) == kind].any(axis=1) for kind in range(len(KINDS))], axis=1)
        sizes = [run.sizes() for run in self.slices]
        self._sizes = np.sum(sizes, axis=0).reshape(len(KINDS), parts)
        self._opened, self._held = dict[tuple[int, int], Any](), 0
        self._room = _KEPT if self._sizes.sum() <= _KEPT else _KEPT_OF_MORE

    def keep(self, kind: int, part: int, read: Callable[[PartSlices], T]) -> T:
        """What `read` makes of the slices of a partition; of the first ones: where much is said it is wanted thrice."""
        if (found := self._opened.get((kind, part))) is None:
            found = read(self.read(kind, part))
            self._held += int(self._sizes[kind, part])
            if self._held <= self._room:
                self._opened[kind, part] = found
        return typing.cast(T, found)

    def held(self, kind: int) -> list[int]:
        """The partitions of which some run says something."""
        found: list[int] = np.flatnonzero(self._there[:, kind].any(axis=0)).tolist()
        return found

    def name(self, kind: int, part: int) -> str:
        """What stands for all that is said of a partition, however documents are cut into runs."""
        rows = np.array(ROWS) == kind
        told = self._sums[rows, part].astype("<u8").tobytes() + self._counts[rows, part].astype("<u8").tobytes()
        return blake2b(told, digest_size=20).hexdigest()

    def read(self, kind: int, part: int) -> PartSlices:
        """What the runs say of a partition, in their order."""
        runs = [self.slices[i] for i in self._list_runs(kind, part)]
        return PartSlices(lambda: (run.read(kind, part) for run in runs), self.texts)

    def list_wanted(self, kind: int) -> list[SliceInput]:
        """The inputs of the partitions of which some run says something."""
        return [SliceInput(self, kind, part) for part in self.held(kind)]

    def _list_runs(self, kind: int, part: int) -> list[int]:
        found: list[int] = np.flatnonzero(self._there[:, kind, part]).tolist()
        return found

    def reader(self, kind: int, part: int) -> Callable[[Store], PartSlices]:
        """What reads the same in another process."""
        keys = [self.keys[i] for i in self._list_runs(kind, part)]
        return partial(read_slices, keys, self.texts.keys, self.parts, kind, part)


class Degrees:
    """How many relations each entity has, by partition."""

    def __init__(self, ends: NDArray[Any], parts: int) -> None:
        every = np.concatenate((ends["source"], ends["target"]))
        self._ids, self._counts = count_distinct(every)
        home = (self._ids >> np.uint64(32)) * np.uint64(parts) >> np.uint64(32)
        self._starts = np.searchsorted(home, np.arange(parts + 1, dtype=np.uint64)).tolist()

    def name(self, part: int) -> str:
        """What stands for the degrees in a partition."""
        rows = slice(self._starts[part], self._starts[part + 1])
        return blake2b(self._ids[rows].tobytes() + self._counts[rows].tobytes(), digest_size=20).hexdigest()

    def of(self, part: int) -> dict[int, int]:
        """The degrees in a partition, by the numbers of ids."""
        rows = slice(self._starts[part], self._starts[part + 1])
        return dict(zip(self._ids[rows].tolist(), self._counts[rows].tolist(), strict=True))


class PartInput(Protocol):
    """What a part is made of."""

    @property
    def names(self) -> tuple[str, ...]:
        """What stands for it."""
        ...

    def read(self) -> Any:
        """It itself."""
        ...

    def find(self) -> Callable[[Store], Any]:
        """What reads it in another process."""
        ...


@dataclass(frozen=True, slots=True)
class SliceInput:
    """The slices of a partition."""

    cut: Cut
    kind: int
    part: int

    @property
    def names(self) -> tuple[str, ...]:
        """What stands for them."""
        return (self.cut.name(self.kind, self.part),)

    def read(self) -> PartSlices:
        """The slices."""
        return self.cut.read(self.kind, self.part)

    def find(self) -> Callable[[Store], PartSlices]:
        """What reads them in another process."""
        return self.cut.reader(self.kind, self.part)


@dataclass(frozen=True, slots=True)
class RelationInput:
    """The slices of a partition with links."""

    slices: SliceInput

    @property
    def names(self) -> tuple[str, ...]:
        """What stands for them."""
        return self.slices.names

    def read(self) -> RelationSlices:
        """All of it."""
        return self.slices.cut.keep(self.slices.kind, self.slices.part, RelationSlices)

    def find(self) -> Callable[[Store], RelationSlices]:
        """What reads it in another process."""
        return partial(read_relation_slices, self.slices.find())


@dataclass(frozen=True, slots=True)
class EntityInput:
    """The slices of a partition with mentions, the degrees of its entities, and what some of them are called."""

    slices: SliceInput
    degrees: Degrees
    called: Mapping[Name, Called]

    @property
    def names(self) -> tuple[str, ...]:
        """What stands for them."""
        part = self.slices.part
        return (key(*self.slices.names, self.degrees.name(part), sorted(self.called.items())),)

    def read(self) -> EntitySlices:
        """All of it."""
        kind, part = self.slices.kind, self.slices.part
        return self.slices.cut.keep(kind, part, lambda held: EntitySlices(held, self.degrees.of(part), self.called))

    def find(self) -> Callable[[Store], EntitySlices]:
        """What reads it in another process."""
        return partial(read_entity_slices, self.slices.find(), self.degrees.of(self.slices.part), self.called)


@dataclass(frozen=True, slots=True)
class SummarisedInput:
    """What a part is made of, with summaries of its crowded elements by their ids."""

    key: str
    part: PartInput
    told: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """What stands for it: the part without summaries, and these."""
        return self.key, key(sorted(self.told.items()))

    def read(self) -> tuple[Any, Mapping[str, str]]:
        """All of it."""
        return self.part.read(), self.told

    def find(self) -> Callable[[Store], tuple[Any, Mapping[str, str]]]:
        """What reads it in another process."""
        return partial(read_summarised, self.part.find(), self.told)


class PartInputs(Sequence[Any]):
    """The inputs of several parts, read when they are asked for."""

    def __init__(self, inputs: Sequence[PartInput]) -> None:
        self._inputs = inputs

    def __len__(self) -> int:
        return len(self._inputs)

    def __getitem__(self, index: Any) -> Any:
        return self._inputs[index].read()

    def reader(self, positions: Sequence[int]) -> Callable[[Store], list[Any]]:
        """What reads those at these positions in another process."""
        return partial(read_each, [self._inputs[i].find() for i in positions])


# ── what is called in other processes ──


def read_runs(
    readers: Sequence[Callable[[Store], list[tuple[Chunk, Extraction]]]], told: Sequence[Told | None], store: Store
) -> list[Any]:
    """Runs that are told something, as the steps of runs are given them."""
    return [tell_run(read(store), one) for read, one in zip(readers, told, strict=True)]


def tell_run(found: Sequence[tuple[Chunk, Extraction]], told: Told | None) -> Any:
    """What the steps of runs are given: the extractions with their chunks, and what the run is told, if it is."""
    pairs = [(c.id, c.document, c.text, x) for c, x in found]
    return pairs if told is None else (pairs, told)


def read_slices(
    keys: Sequence[str], texts: Sequence[str], parts: int, kind: int, part: int, store: Store
) -> PartSlices:
    """What the runs whose slices lie under these keys say of a partition; the texts of chunks lie under `texts`."""
    found = []
    for k in keys:
        if (packed := store.array(k)) is None:
            raise ResultGone(f"The slices {k} are gone from the store; run `sensegraph index` again.")
        found.append(Slices(np.asarray(packed), parts).read(kind, part))
    return PartSlices(lambda: found, ChunkTexts(store, texts))


def read_entity_slices(
    read: Callable[[Store], PartSlices], degrees: Mapping[int, int], called: Mapping[Name, Called], store: Store
) -> EntitySlices:
    """The slices of a partition, with these degrees of its entities and what some of them are called."""
    return EntitySlices(read(store), degrees, called)


def read_relation_slices(read: Callable[[Store], PartSlices], store: Store) -> RelationSlices:
    """The slices of a partition, to be gathered."""
    return RelationSlices(read(store))


def read_summarised(
    read: Callable[[Store], Any], told: Mapping[str, str], store: Store
) -> tuple[Any, Mapping[str, str]]:
    """What a part is made of, with these summaries."""
    return read(store), told
