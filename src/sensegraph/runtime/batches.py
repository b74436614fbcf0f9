"""A step on its way to an executor: batches that any process can run, and that can be stopped without loss.

What fails for good in one is listed; reasons that are alike are counted as one. Runs of results that were found whole
are remembered.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar, overload, runtime_checkable

import msgspec

from sensegraph.errors import ItemFailed, StoreError
from sensegraph.protocols import Executor, Store
from sensegraph.runtime.activity import check_stop
from sensegraph.runtime.keys import NamedKeys, key
from sensegraph.runtime.results import Result, Step, find_step, load_result, save_result

A = TypeVar("A")
B = TypeVar("B")
_MANY = 1024  # results from which runs of them are remembered
_BLOCK = 256  # stored results that are looked through at once
_GATHERED = 1 << 19  # bytes of results that are written together
_NAMES = re.compile(r"\b[0-9a-f]{12,}\b|(?<!\w)'[^']*'|\b\d+(?= records\b)")  # of items, in messages


@runtime_checkable
class Shelved(Protocol):
    """Items that lie in a store: several are sooner read at once than one by one."""

    def at(self, positions: Sequence[int], /) -> Sequence[Any]:
        """The items at these positions, in the order asked for."""
        ...


@runtime_checkable
class Readable(Protocol):
    """Items that another process can read itself, from a store that both use: then only what names them travels."""

    def reader(self, positions: Sequence[int], /) -> Callable[[Store], Sequence[Any]]:
        """What reads the items at these positions, in the order asked for."""
        ...


class ReadItems(Sequence[B]):
    """Items that are read when they are asked for, here or in another process: `find` gives a function of the store."""

    def __init__(self, store: Store, count: int, find: Callable[[int], Callable[[Store], B]]) -> None:
        self._store, self._count, self._find = store, count, find

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> B: ...
    @overload
    def __getitem__(self, index: slice) -> list[B]: ...
    def __getitem__(self, index: int | slice) -> B | list[B]:
        if isinstance(index, slice):
            return [self[i] for i in range(self._count)[index]]
        return self._find(index)(self._store)

    def reader(self, positions: Sequence[int]) -> Callable[[Store], list[B]]:
        """What reads the items at these positions in another process."""
        return partial(read_each, [self._find(i) for i in positions])


def read_each(readers: Sequence[Callable[[Store], B]], store: Store) -> list[B]:
    """What each of these functions of a store reads."""
    return [read(store) for read in readers]


@runtime_checkable
class Keyed(Protocol):
    """Items whose results' keys are known without that the items are read."""

    def list_keys(self, recipe: str, /) -> list[str]:
        """The key of the result of each item, by a recipe: the key of the step, its tool and its settings."""
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
        return find_step(self.module, self.name)

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


Order = tuple[list[str], Sequence[Any] | Callable[[Store], Sequence[Any]]]  # keys of results; items, or what reads them


class Doubts(list[bool]):
    """Which results of a batch are doubted, where its worker stored them."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A call whose worker stores the results itself, of whatever form, in a store that processes share."""

    call: Call
    store: Store

    def __call__(self, order: Order) -> Doubts:
        """Whether each stored result is doubted. Raises ResultGone where an item is gone from the store."""
        (keys, given), step = order, self.call.step
        results = self.call(given(self.store) if callable(given) else given)
        if step.form != "value":
            for k, result in zip(keys, results, strict=True):
                save_result(self.store, step, k, result)
            return Doubts([False] * len(keys))
        stored = list(map(step.encode, results))
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
        self._items: Any = items
        self._todo, self.batches, self.stopped = todo, batches, stopped
        self._begun, self._shelved = 0, isinstance(items, Shelved)

    def __len__(self) -> int:
        return self._begun if self.stopped.is_set() else len(self.batches)

    def __getitem__(self, index: Any) -> Any:
        wanted = self._begin(index)
        return list(self._items.at(wanted)) if self._shelved else [self._items[i] for i in wanted]

    def order(self, index: int) -> Order:
        """A batch for a worker that stores what it computes."""
        if not isinstance(self._items, Readable):
            return self.batches[index], self[index]
        return self.batches[index], self._items.reader(self._begin(index))

    def _begin(self, index: int) -> list[int]:
        """The positions of the items of a batch, which begins."""
        if index >= len(self):
            raise IndexError(index)
        self._begun = max(self._begun, index + 1)
        return [self._todo[k] for k in self.batches[index]]


class Orders(Sequence[Order]):
    """The batches of `work` as orders for workers that store what they compute."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def __len__(self) -> int:
        return len(self._work)

    def __getitem__(self, index: Any) -> Any:
        return self._work.order(index)


def run_batches(call: Call, work: Work, store: Store, executor: Executor, *, waits: bool) -> Iterator[tuple[int, Any]]:
    """Position and stored form of the results of every batch, or what went wrong with it; where workers store them
    themselves, because other processes write to the store too, which of them are doubted.
    """
    if waits:
        return executor.map(Stoppable(Encoded(call), work.stopped), work, waits=True)
    if not is_shared(store):
        return executor.map(Encoded(call), work, waits=False)
    return executor.map(Kept(call, store), Orders(work), waits=False)


class GatheredResults:
    """Results on their way into the store: several batches are written together, as each write has its price.

    Those wait that come within a second of the last write; none do with `at_once`, or when this ends, however it ends.
    """

    def __init__(self, store: Store, step: str, *, at_once: bool) -> None:
        self.store, self.step, self.at_once = store, step, at_once
        self._waiting, self._size, self._written = dict[str, bytes](), 0, time.monotonic()

    def __enter__(self) -> GatheredResults:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        with suppress(*([StoreError] if kind else [])):  # the error that is on its way says more
            self._write()

    def add(self, found: Mapping[str, bytes]) -> None:
        """Take these results, by their keys."""
        self._waiting.update(found)
        self._size += sum(map(len, found.values()))
        if self.at_once or self._size > _GATHERED or time.monotonic() - self._written > 1:
            self._write()

    def _write(self) -> None:
        if self._waiting:
            self.store.write(self._waiting, self.step)
        self._waiting, self._size, self._written = {}, 0, time.monotonic()


def is_shared(store: Store) -> bool:
    """Whether other processes may write to the store too: then workers store what they compute."""
    return bool(getattr(store, "shared", False))


def doubts_any(step: Step[Any, Any], found: Sequence[Any]) -> bool:
    """Whether one of a batch's results is doubted."""
    return any(found) if isinstance(found, Doubts) else bool(step.doubts and any(map(step.doubts, found)))


def replace_doubted(store: Store, step: Step[Any, Any], keys: list[str]) -> list[str]:
    """`keys`, with another in place of each whose stored result is doubted, or was when it was computed again."""
    assert step.doubts is not None
    doubted, missing = set[str](), set[str]()
    for at in range(0, len(keys), _BLOCK):
        block = keys[at : at + _BLOCK]
        stored = store.read(block)
        missing.update(k for k in block if k not in stored)
        doubted.update(k for k, raw in stored.items() if step.doubts(raw))
    again = {k: key(k, "again") for k in doubted | missing}
    known = store.has(list(again.values()))
    return [again[k] if k in doubted or again.get(k) in known else k for k in keys]


def cut_batches(keys: Sequence[str], size: int) -> list[list[str]]:
    """`keys` in batches of `size`."""
    return [list(keys[i : i + size]) for i in range(0, len(keys), size)]


def load_results(store: Store, step: Step[Any, B], keys: Sequence[str]) -> dict[str, Result[B]]:
    """The stored results of `step` under these keys, in their order, those that are there and whole.

    Values are read together.
    """
    found: dict[str, Result[B]] = {}
    stored = store.read(keys) if step.form == "value" else dict.fromkeys(store.has(keys))
    for k in dict.fromkeys(keys):
        if k in stored:
            with suppress(StoreError, msgspec.DecodeError):
                raw = stored[k]
                found[k] = Result(k, load_result(store, step, k) if raw is None else step.decode(raw))
    return found


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


def recall_aside(store: Store, keys: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Which of these results were set aside by an earlier run: of what kind the failure was, and why."""
    marks = {key(k, "aside", "why"): k for k in keys}
    return {
        marks[mark]: msgspec.json.decode(raw, type=tuple[str, str]) for mark, raw in store.read(list(marks)).items()
    }


def put_aside(
    store: Store,
    step: Step[A, B],
    items: Sequence[A],
    todo: Mapping[str, int],
    failed: Mapping[str, BaseException],
    without: Callable[[A], B],
) -> dict[str, tuple[str, str]]:
    """Store what stands in the place of items that failed, and why they did, by their keys."""
    why = {k: (str(getattr(e, "kind", "")), " ".join(str(e).split())) for k, e in failed.items()}
    found = {key(k, "aside"): step.encode(without(items[todo[k]])) for k in failed}
    reasons = {key(k, "aside", "why"): msgspec.json.encode(said) for k, said in why.items()}
    store.write(found | reasons, step.name)
    return why


@dataclass(frozen=True, slots=True)
class WholeRuns:
    """Digests of the keys of runs, or of what these are made of: of runs that the build `before` found whole, and of
    those that this one did.

    What is there of an index stays until another is built, unless it is damaged or collected: then nothing is known.
    """

    before: frozenset[str] = frozenset()
    now: set[str] = field(default_factory=set)

    def cut(self, keys: Sequence[str]) -> tuple[list[range], list[str]]:
        """The runs of these results that are not known to be whole, and the digests of these; the others are noted."""
        if len(keys) < _MANY:
            return [range(len(keys))], [""]
        from sensegraph.algorithms.segments import cut_keys

        first, names = (keys.first, keys.names) if isinstance(keys, NamedKeys) else ("", keys)
        runs, digests = [], []
        for run in cut_keys(names):
            digest = hashlib.blake2b(
                "".join([first, *names[run.start : run.stop]]).encode(), digest_size=10
            ).hexdigest()
            if digest in self.before:
                self.now.add(digest)
            else:
                runs.append(run)
                digests.append(digest)
        return runs, digests

    def note(self, runs: Sequence[range], digests: Sequence[str], others: Collection[int]) -> None:
        """These runs are whole, but where something else stands in the place of a result, at these positions."""
        self.now.update(d for run, d in zip(runs, digests, strict=True) if d and not any(i in run for i in others))


def count_reasons(errors: Collection[BaseException]) -> dict[str, int]:
    """How often each reason occurs; reasons that differ only in the item that they name are one."""
    alike: dict[str, list[str]] = {}
    for error in errors:
        text = " ".join(str(error).split())
        reason = f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
        alike.setdefault(_NAMES.sub("…", reason), []).append(reason)
    return {name if len(set(same)) > 1 else same[0]: len(same) for name, same in alike.items()}
