"""A step on its way to an executor: batches that any process can run, and that can be stopped without loss.

What fails for good in one is listed; reasons that are alike are counted as one.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from sensegraph.errors import ItemFailed
from sensegraph.protocols import Executor, Store
from sensegraph.runtime.activity import check_stop
from sensegraph.runtime.results import Results, Step

_NAMES = re.compile(r"\b[0-9a-f]{12,}\b|(?<!\w)'[^']*'|\b\d+(?= records\b)")  # of items, in messages


@runtime_checkable
class Shelved(Protocol):
    """Items that lie in a store: several are sooner read at once than one by one."""

    def at(self, positions: Sequence[int], /) -> Sequence[Any]:
        """The items at these positions, in the order asked for."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """A step with its tool and settings, ready for a batch; travels to other processes by the step's name."""

    module: str
    name: str
    tool: Mapping[str, Any]
    settings: Mapping[str, Any]

    @property
    def step(self) -> Step[Any, Any]:
        """The step that is called."""
        found: Step[Any, Any] = getattr(import_module(self.module), self.name)
        return found

    def __call__(self, batch: Sequence[Any]) -> list[Any]:
        """One result for each item of `batch`. Raises ItemFailed when the tool gave more or fewer."""
        results = self.step.fn(batch, **self.tool, **self.settings)
        if len(results) != len(batch):
            raise ItemFailed(
                f"{len(results)} results for {len(batch)} items; this is a defect of the engine or embedder"
            )
        return results


@dataclass(frozen=True, slots=True)
class Encoded:
    """A call whose results become bytes where they are computed: what cannot be stored fails its own item alone."""

    call: Call

    def __call__(self, batch: Sequence[Any]) -> list[bytes]:
        """The stored form of each result."""
        return list(map(self.call.step.encode, self.call(batch)))


Order = tuple[list[str], Sequence[Any]]  # the keys of a batch's results, and its items or the keys they lie under


class Doubts(list[bool]):
    """Which results of a batch are doubted, where its worker stored them."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A call whose worker stores the results itself, in a store that processes share.

    `items` is the call of the step whose results the items are: then they are read there too, and only keys travel.
    """

    call: Encoded
    store: Store
    items: Call | None

    def __call__(self, order: Order) -> Doubts:
        """Whether each stored result is doubted. Raises ResultGone where an item is gone from the store."""
        (keys, given), step = order, self.call.call.step
        stored = self.call(Results(self.store, self.items.step, given)[:] if self.items else given)
        self.store.write(dict(zip(keys, stored, strict=True)), step.name)
        return Doubts(bool(step.doubts and step.doubts(value)) for value in stored)


@dataclass(frozen=True, slots=True)
class Stoppable:
    """A call that gives up before it begins once `stopped` is set; for threads only."""

    call: Encoded
    stopped: threading.Event

    def __call__(self, batch: Sequence[Any]) -> list[bytes]:
        """The stored form of each result. Raises ItemFailed when the run was stopped first, or Stopped."""
        check_stop()
        if self.stopped.is_set():
            raise ItemFailed("the run was stopped before this was begun")
        return self.call(batch)


class Work(Sequence[list[Any]]):
    """The items of each batch, fetched only when the batch is about to run; none after `stopped` is set.

    So an executor runs out of work, and what is running can end and be stored: a call that was paid for is never
    thrown away.
    """

    def __init__(
        self, items: Sequence[Any], todo: Mapping[str, int], batches: Sequence[list[str]], stopped: threading.Event
    ) -> None:
        self._items, self._todo, self.batches, self.stopped = items, todo, batches, stopped
        self._begun = 0

    def __len__(self) -> int:
        return self._begun if self.stopped.is_set() else len(self.batches)

    def __getitem__(self, index: Any) -> Any:
        wanted = self._begin(index)
        return list(self._items.at(wanted)) if isinstance(self._items, Shelved) else [self._items[i] for i in wanted]

    @property
    def step(self) -> Step[Any, Any] | None:
        """The step whose results the items are; None where they are something else."""
        return self._items.step if isinstance(self._items, Results) else None

    def list_keys(self, index: int) -> list[str]:
        """The keys of the items of a batch, which are results, instead of the items."""
        assert isinstance(self._items, Results)
        return [self._items.keys[i] for i in self._begin(index)]

    def _begin(self, index: int) -> list[int]:
        """The positions of the items of a batch, which begins."""
        if index >= len(self):
            raise IndexError(index)
        self._begun = max(self._begun, index + 1)
        return [self._todo[k] for k in self.batches[index]]


class Orders(Sequence[Order]):
    """The batches of `work` as orders for workers that store what they compute."""

    def __init__(self, work: Work, keyed: bool) -> None:
        self._work, self._keyed = work, keyed

    def __len__(self) -> int:
        return len(self._work)

    def __getitem__(self, index: Any) -> Any:
        items = self._work.list_keys(index) if self._keyed else self._work[index]
        return self._work.batches[index], items


def run_batches(
    call: Encoded, work: Work, store: Store, executor: Executor, *, waits: bool
) -> Iterator[tuple[int, Any]]:
    """Position and stored form of the results of every batch, or what went wrong with it; where workers store them
    themselves, because other processes write to the store too, which of them are doubted.
    """
    if waits:
        return executor.map(Stoppable(call, work.stopped), work, waits=True)
    if not getattr(store, "shared", False):
        return executor.map(call, work, waits=False)
    items = Call(work.step.fn.__module__, work.step.fn.__name__, {}, {}) if work.step else None
    return executor.map(Kept(call, store, items), Orders(work, items is not None), waits=False)


def doubts_any(step: Step[Any, Any], found: Sequence[Any]) -> bool:
    """Whether one of a batch's results is doubted."""
    return any(found) if isinstance(found, Doubts) else bool(step.doubts and any(map(step.doubts, found)))


def cut_batches(keys: Sequence[str], size: int) -> list[list[str]]:
    """`keys` in batches of `size`."""
    return [list(keys[i : i + size]) for i in range(0, len(keys), size)]


@dataclass(frozen=True, slots=True)
class SetAside:
    """An item that failed for good: the task that it was for, of what kind the failure was, and why.

    `key` is that of what stands in its place: where it is `partial`, of what came of a reply that was cut off.
    """

    key: str
    task: str
    item: Any
    kind: str
    why: str
    partial: bool = False


def count_reasons(errors: Collection[BaseException]) -> dict[str, int]:
    """How often each reason occurs; reasons that differ only in the item that they name are one."""
    alike: dict[str, list[str]] = {}
    for error in errors:
        text = " ".join(str(error).split())
        reason = f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
        alike.setdefault(_NAMES.sub("…", reason), []).append(reason)
    return {name if len(set(same)) > 1 else same[0]: len(same) for name, same in alike.items()}
