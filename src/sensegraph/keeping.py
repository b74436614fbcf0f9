"""The seams of keeping and running: stores, the tables in them, and executors. They are part of `protocols`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
