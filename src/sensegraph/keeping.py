"""The seams of keeping and running: stores, the tables in them, and executors. They are part of `protocols`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from sensegraph.usage import Usage


class Rows(Protocol):
    """An immutable ordered table of encoded records, read by position or by id without loading it."""

    def __len__(self) -> int: ...

    def at(self, positions: Sequence[int]) -> list[bytes]:
        """The records at these positions, in the order asked for."""
        ...

    def find(self, ids: Sequence[str]) -> dict[str, bytes]:
        """The records with these ids; one that does not exist is absent."""
        ...

    def scan(self) -> Iterator[bytes]:
        """All records in order, read in blocks."""
        ...

    def ids(self) -> Iterator[str]:
        """All ids in order."""
        ...


@runtime_checkable
class Store(Protocol):
    """Immutable things under content keys (objects, tables, arrays), and a few mutable names for them (refs).

    Every write is atomic: a reader, or a run after a crash, finds all of it or nothing.
    """

    def read(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The objects present; a missing key is simply absent."""
        ...

    def has(self, keys: Sequence[str]) -> set[str]:
        """Which of these keys are present, as an object, a table or an array."""
        ...

    def write(self, objects: Mapping[str, bytes], step: str = "") -> None:
        """Store all of `objects` or none. Writing a key that exists changes nothing."""
        ...

    def write_rows(self, key: str, rows: Iterable[tuple[str, bytes]]) -> None:
        """Store a table of (id, record) in this order."""
        ...

    def rows(self, key: str) -> Rows | None:
        """The table under `key`, if it is there."""
        ...

    def write_array(self, key: str, array: NDArray[Any]) -> None:
        """Store an array; it is read back memory-mapped."""
        ...

    def array(self, key: str) -> NDArray[Any] | None:
        """The array under `key`, memory-mapped read-only, if it is there."""
        ...

    def ref(self, name: str) -> str | None:
        """The value that `name` stands for now."""
        ...

    def set_refs(self, refs: Mapping[str, str | None]) -> None:
        """Set (or, with None, delete) all of these names at once."""
        ...

    def refs(self, prefix: str = "") -> dict[str, str]:
        """All names that begin with `prefix`, sorted."""
        ...

    def spend(self, step: str, usage: Usage) -> None:
        """Add to the ledger of what each step has cost."""
        ...

    def ledger(self) -> dict[str, Usage]:
        """The sums of the ledger by step."""
        ...


@dataclass(frozen=True, slots=True)
class Freed:
    """How many objects, tables and arrays, and how many bytes of content in them."""

    objects: int = 0
    tables: int = 0
    arrays: int = 0
    bytes: int = 0

    def __add__(self, other: Freed) -> Freed:
        return Freed(
            self.objects + other.objects,
            self.tables + other.tables,
            self.arrays + other.arrays,
            self.bytes + other.bytes,
        )


@dataclass(frozen=True, slots=True)
class Swept:
    """What was, or would be, removed by step; the bytes of all files before and after; `busy` says that readers kept
    the log of the file from being emptied."""

    by_step: Mapping[str, Freed] = field(default_factory=dict)
    before: int = 0
    after: int = 0
    busy: bool = False

    @property
    def total(self) -> Freed:
        """All steps together."""
        return sum(self.by_step.values(), Freed())


@runtime_checkable
class CorpusStore(Store, Protocol):
    """The store of a corpus: it has a folder, one builder at a time, and can be swept of what nothing needs."""

    @property
    def root(self) -> Path:
        """The folder in which the store, and what a corpus keeps beside it, lies."""
        ...

    @property
    def readonly(self) -> bool:
        """Whether nothing is kept of what is written."""
        ...

    def exclusive(self, wait: float = 0.0) -> AbstractContextManager[None]:
        """Hold the right to build. Raises StoreError where another holds it for longer than `wait` seconds."""
        ...

    def sweep(self, needed: Collection[str], *, dry: bool = False) -> Swept:
        """Remove every object, table and array whose key is not `needed`; with `dry` only count them.

        A table `KEY.name` and an array `KEY.name` belong to KEY. Called inside `exclusive`.
        """
        ...

    def size(self) -> int:
        """The bytes that the store takes."""
        ...

    def close(self) -> None:
        """Give everything back; the store cannot be used afterwards."""
        ...


class Executor(Protocol):
    """Runs `call` on every batch: in this process, in threads, in processes, or on other machines.

    Yields `(position, result or exception)` as batches finish, in any order; never raises for a batch. Closing the
    iterator stops what has not begun.
    """

    def map(
        self, call: Callable[[Any], Any], batches: Sequence[Any], *, waits: bool
    ) -> Iterator[tuple[int, Any | BaseException]]:
        """`waits` says that a call waits (use threads) rather than works (use processes)."""
        ...
