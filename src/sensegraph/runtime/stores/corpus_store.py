"""What a corpus needs of its store besides what steps need: one builder at a time, replies, pins, being swept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from sensegraph.protocols import Store
from sensegraph.runtime.stores.replies import Replies

Needed = Collection[str] | Callable[[], Collection[str]]
LOST = "lost"  # ref: another value whenever something was found damaged and was removed


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
    the log of the file from being emptied, `remains` where else what was removed may still stand."""

    by_step: Mapping[str, Freed] = field(default_factory=dict)
    before: int = 0
    after: int = 0
    busy: bool = False
    remains: str = ""

    @property
    def total(self) -> Freed:
        """All steps together."""
        return sum(self.by_step.values(), Freed())


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens and US dollars that a budget has spent."""

    tokens: int = 0
    usd: float = 0.0

    def leaves_no_room(self, limit: tuple[int, float], tokens: int, usd: float) -> bool:
        """Whether so much more would be over the limit, in which 0 is none."""
        over = limit[0] and self.tokens + tokens > limit[0]
        return bool(over or (limit[1] and self.usd + usd > limit[1] + 1e-12))


class SharedLimits(Protocol):
    """Pace and budget by name, for all processes that use one store."""

    def admit(self, name: str, need: int, requests: int, tokens: int, window: float) -> tuple[int, float]:
        """A place for a call of `need` tokens, and the seconds until it may start.

        In any `window` seconds are at most so many requests and tokens; 0 means no limit.
        """
        ...

    def settle_place(self, number: int, tokens: int) -> None:
        """Say what the call in a place really took."""
        ...

    def reserve(self, name: str, most: tuple[int, float], limit: tuple[int, float]) -> tuple[int, Spent]:
        """Hold tokens and dollars, and say what is spent: the number of what is held, or 0 where there is no room now.

        What a process held that is gone counts as spent. A limit of 0 is none.
        """
        ...

    def settle(self, name: str, number: int, most: tuple[int, float], used: tuple[int, float]) -> None:
        """Give back what is held, and count what was used."""
        ...


@runtime_checkable
class CorpusStore(Store, Protocol):
    """The store of a corpus: it has one builder at a time, and can be swept of what nothing needs."""

    @property
    def root(self) -> Path:
        """The folder on this machine in which the store, or at least what a corpus keeps beside it, lies."""
        ...

    @property
    def readonly(self) -> bool:
        """Whether nothing is kept of what is written."""
        ...

    @property
    def shared(self) -> bool:
        """Whether other processes may write to it while this one does: then workers store what they compute."""
        ...

    @property
    def replies(self) -> Replies:
        """The replies of a model that are paid for and not stored yet."""
        ...

    @property
    def limits(self) -> SharedLimits | None:
        """Pace and budget of endpoints over all processes that share the store; None where one process writes to it."""
        ...

    def exclusive(self, wait: float = 0.0) -> AbstractContextManager[None]:
        """Hold the right to build. Raises StoreError where another holds it for longer than `wait` seconds."""
        ...

    def sweep(self, needed: Needed, *, dry: bool = False, spare: Collection[str] = ()) -> Swept:
        """Remove every object, table and array whose key is not `needed`; with `dry` only count them.

        Where `needed` is a function, what comes while it finds out stays: somebody who asks a question may have just
        written it. Objects of the steps named in `spare` stay. A table `KEY.name` and an array `KEY.name` belong to
        KEY. Called inside `exclusive`.
        """
        ...

    def drop(self, keys: Collection[str], *, spare: Collection[str] = ()) -> None:
        """Remove what lies under these keys, but for the steps in `spare` and what a ref names; so that it is quick,
        nothing is looked for.

        The room goes to what is written next. A store that readers on other machines may have opened leaves all to
        `sweep`. Called inside `exclusive`.
        """
        ...

    def array_names(self) -> list[str]:
        """The keys of the arrays that are there, sorted."""
        ...

    def mend(self) -> int:
        """Remove what is damaged, so that a build computes it again; how many things. Called inside `exclusive`.

        Whenever something damaged is removed, here or where it is met, the ref `LOST` gets another value.
        """
        ...

    def pin(self, key: str, seconds: float) -> None:
        """Note that somebody reads the index with this key, and will for so long."""
        ...

    def pinned(self) -> set[str]:
        """The keys of indexes that somebody reads."""
        ...

    def settle(self) -> int:
        """Put everything that was written where it stays; the bytes that the store takes then."""
        ...

    def size(self) -> int:
        """The bytes that the store takes."""
        ...

    def close(self) -> None:
        """Give everything back; the store cannot be used afterwards."""
        ...
