"""Steps, and the runtime that remembers them.

A step is a pure function over a batch of values. `each` runs it per item, `once` over a whole; both look in the store
first, so that a second run computes nothing and an interrupted run goes on where it stopped. The key of a result
hashes the step's name and version, the fingerprint of the tool that it uses, its settings, and the item.
"""

from __future__ import annotations

import re
import threading
import typing
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from sensegraph.errors import BudgetExceeded, EndpointDown, StepFailed, StoreError, UnsupportedTask
from sensegraph.keys import key
from sensegraph.protocols import Embedder, Executor, LanguageEngine, Rows, Store, Task
from sensegraph.types import Usage
from sensegraph.work import Call, Encoded, Stoppable, Work, cut

A = TypeVar("A")
B = TypeVar("B")
Form = Literal["value", "tables", "array"]
Progress = Callable[[str, int, int], None]

_ENCODE = msgspec.json.Encoder().encode
_NAMES = re.compile(r"\b[0-9a-f]{12,}\b|(?<!\w)'[^']*'|\b\d+(?= records\b)")  # of items, in messages
_SHARES = 16  # batches at least, where there are items enough
_FATAL = (EndpointDown, BudgetExceeded)


def _itself(item: Any) -> Any:
    return item


@dataclass(frozen=True)
class Step(Generic[A, B]):
    """`fn(batch, [engine=… | embedder=…], **settings) -> list`, one result per item, in order.

    Raise `version` whenever results change. `form` says how a result is stored: as one `value`, as `tables` (a
    dataclass whose sequences of records are read lazily) or as an `array` (memory-mapped). `sees` is the part of an
    item that can change its result; two items that look alike are computed once.
    """

    fn: Callable[..., list[B]]
    version: int
    uses: Literal["", "engine", "embedder"] = ""
    task: Task | None = None
    form: Form = "value"
    batch: int = 64
    sees: Callable[[Any], Any] = _itself

    @property
    def name(self) -> str:
        """The step's name in keys, progress and the ledger."""
        return f"{self.fn.__module__.rpartition('.')[2]}.{self.fn.__name__}"

    @cached_property
    def result(self) -> Any:
        """The type of one result, from the annotation of the function."""
        return typing.get_args(typing.get_type_hints(self.fn)["return"])[0]

    @cached_property
    def decode(self) -> Callable[[bytes], B]:
        """Bytes to a result."""
        if self.result is bytes:
            return typing.cast(Callable[[bytes], B], bytes)
        return msgspec.json.Decoder(self.result).decode

    def encode(self, result: B) -> bytes:
        """A result to bytes: JSON, or bytes as they are."""
        return result if isinstance(result, bytes) else _ENCODE(result)


def step(
    version: int,
    *,
    uses: Literal["", "engine", "embedder"] = "",
    task: Task | None = None,
    form: Form = "value",
    batch: int = 64,
    sees: Callable[[Any], Any] = _itself,
) -> Callable[[Callable[..., list[B]]], Step[Any, B]]:
    """Make a module-level function a step."""
    return lambda fn: Step(fn, version, uses, task, form, batch, sees)


@dataclass(frozen=True, slots=True)
class Result(Generic[B]):
    """The result of `once`, with its key."""

    key: str
    value: B


class Results(Sequence[B]):
    """The results of `each`, with their keys; values are read from the store when they are asked for."""

    def __init__(self, store: Store, step: Step[Any, B], keys: Sequence[str]) -> None:
        self._store, self._step, self.keys = store, step, tuple(keys)

    def __len__(self) -> int:
        return len(self.keys)

    @overload
    def __getitem__(self, index: int) -> B: ...
    @overload
    def __getitem__(self, index: slice) -> list[B]: ...
    def __getitem__(self, index: int | slice) -> B | list[B]:
        if isinstance(index, slice):
            return self._read(self.keys[index])
        return self._read([self.keys[index]])[0]

    def __iter__(self) -> Iterator[B]:
        for start in range(0, len(self.keys), 256):
            yield from self._read(self.keys[start : start + 256])

    def _read(self, keys: Sequence[str]) -> list[B]:
        found = self._store.read(keys)
        if missing := [k for k in keys if k not in found]:
            raise StoreError(f"{len(missing)} results of {self._step.name} are gone from the store; run index again.")
        return [self._step.decode(found[k]) for k in keys]


class Table(Sequence[B]):
    """Records in the store, decoded when they are asked for; found by position or by id."""

    def __init__(self, rows: Rows, kind: Any) -> None:
        self._rows = rows
        self.decode: Callable[[bytes], B] = msgspec.json.Decoder(kind).decode

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> B: ...
    @overload
    def __getitem__(self, index: slice) -> list[B]: ...
    def __getitem__(self, index: int | slice) -> B | list[B]:
        positions = range(len(self))[index]
        if isinstance(positions, int):
            record: B = self.decode(self._rows.at([positions])[0])
            return record
        records: list[B] = [self.decode(r) for r in self._rows.at(positions)]
        return records

    def __iter__(self) -> Iterator[B]:
        return map(self.decode, self._rows.scan())

    def raw(self) -> Iterator[bytes]:
        """All records in order as they are stored (JSON), for a search that decodes only what it finds."""
        return self._rows.scan()

    def find(self, ids: Sequence[str]) -> dict[str, B]:
        """The records with these ids; one that does not exist is absent."""
        return {name: self.decode(r) for name, r in self._rows.find(ids).items()}

    def ids(self) -> list[str]:
        """All ids in order."""
        return list(self._rows.ids())


@dataclass(frozen=True, slots=True)
class Runtime:
    """The tools and the memory, passed as one value; nothing is global.

    `computed` counts the items that each step computed in this run (not those found in the store).
    """

    engine: LanguageEngine
    embedder: Embedder
    store: Store
    executor: Executor
    progress: Progress = lambda step, done, total: None
    computed: Counter[str] = field(default_factory=Counter)

    def check(self, name: str, requires: frozenset[Task]) -> None:
        """Raise UnsupportedTask, before any work, when the engine lacks a task that `name` needs."""
        if missing := frozenset(requires) - self.engine.tasks:
            raise UnsupportedTask(name, self.engine.name, missing)

    def keys(
        self, step: Step[A, B], items: Sequence[A], names: Sequence[str] | None = None, **settings: Any
    ) -> list[str]:
        """The key of each item's result; `names` are keys that already stand for the items."""
        recipe = key(step.name, step.version, self._fingerprint(step), {k: _named(v) for k, v in settings.items()})
        names = names if names is not None else items.keys if isinstance(items, Results) else None
        if names is not None:
            return [key(recipe, name) for name in names]
        return [key(recipe, step.sees(item)) for item in items]

    def missing(
        self, step: Step[A, B], items: Sequence[A], *, names: Sequence[str] | None = None, **settings: Any
    ) -> list[int]:
        """Positions of the items that `each` would have to compute: the ground of an estimate."""
        keys = self.keys(step, items, names, **settings)
        present = self.store.has(keys)
        first = {k: i for i, k in reversed(list(enumerate(keys))) if k not in present}
        return sorted(first.values())

    def each(
        self, step: Step[A, B], items: Sequence[A], *, names: Sequence[str] | None = None, **settings: Any
    ) -> Results[B]:
        """`step` on every item; what was computed before comes from the store.

        Raises StepFailed when items failed, after all others are stored; EndpointDown and BudgetExceeded at once,
        after what had finished is stored.
        """
        keys = self.keys(step, items, names, **settings)
        present = self.store.has(keys)
        todo: dict[str, int] = {}
        for position, k in enumerate(keys):
            if k not in present:
                todo.setdefault(k, position)
        if todo:
            self._compute(step, items, todo, settings)
        return Results(self.store, step, keys)

    def once(
        self, step: Step[A, B], whole: A | Callable[[], A], *, names: Sequence[str] = (), **settings: Any
    ) -> Result[B]:
        """`step` on the whole input as one item.

        `names` (the keys of its parts) stand for it in the key; then `whole` may be a function that makes it, called
        only when the result is missing.
        """
        settings_key: list[str] | None = [key(*names)] if names else None
        (k,) = self.keys(step, typing.cast(Sequence[A], [whole]), settings_key, **settings)
        if not self.store.has([k]):
            tool = self._tool(step)
            item = whole() if callable(whole) else whole
            before = tool.usage() if tool else Usage()
            self.progress(step.name, 0, 1)
            try:
                (result,) = self._call(step, settings)([item])
            finally:
                if tool and (spent := tool.usage() - before) != Usage():
                    self.store.spend(step.name, spent)
            _save(self.store, step, k, result)
            self.computed[step.name] += 1
            self.progress(step.name, 1, 1)
        return Result(k, _load(self.store, step, k))

    # ── computing ──

    def _compute(self, step: Step[A, B], items: Sequence[A], todo: dict[str, int], settings: dict[str, Any]) -> None:
        tool = self._tool(step)
        size = tool.batch if tool else step.batch
        keys = list(todo)
        if not (tool and tool.waits):
            size = max(1, min(size, -(-len(keys) // _SHARES)))  # few large items are shared among workers too
        failures = self._run(step, items, todo, cut(keys, size), settings)
        if size > 1 and failures:  # find out which items of a failed batch are to blame
            failures = self._run(step, items, todo, [[k] for k in failures], settings)
        if failures:
            raise StepFailed(step.name, len(failures), len(items), _reasons(failures.values())) from next(
                iter(failures.values())
            )

    def _run(
        self,
        step: Step[A, B],
        items: Sequence[A],
        todo: dict[str, int],
        batches: list[list[str]],
        settings: dict[str, Any],
    ) -> dict[str, BaseException]:
        """Compute and store batch by batch; the keys that failed, with the reason.

        After an error that no other call can escape nothing new begins; what is running ends, and is stored.
        """
        tool, failures, done = self._tool(step), dict[str, BaseException](), 0
        total, fatal = sum(map(len, batches)), None
        spent = tool.usage() if tool else Usage()
        self.progress(step.name, 0, total)
        for position, result in self._results(step, items, todo, batches, settings, stopped := threading.Event()):
            batch = batches[position]
            if isinstance(result, BaseException):
                failures.update(dict.fromkeys(batch, result))
            else:
                self.store.write(dict(zip(batch, result, strict=True)), step.name)
                self.computed[step.name] += len(batch)
            if tool and (now := tool.usage()) != spent:
                self.store.spend(step.name, now - spent)
                spent = now
            if isinstance(result, _FATAL):
                fatal = fatal or result
                stopped.set()
            done += len(batch)
            self.progress(step.name, done, total)
        if fatal:
            raise fatal
        return failures

    def _results(
        self,
        step: Step[Any, Any],
        items: Sequence[Any],
        todo: Mapping[str, int],
        batches: list[list[str]],
        settings: Mapping[str, Any],
        stopped: threading.Event,
    ) -> Iterator[tuple[int, Any]]:
        """Position and stored form of every batch, or what went wrong with it, as the executor finishes it."""
        tool, call = self._tool(step), Encoded(self._call(step, settings))
        waits = bool(tool and tool.waits)
        work = Work(items, todo, batches, stopped)
        return self.executor.map(Stoppable(call, stopped) if waits else call, work, waits=waits)

    def _tool(self, step: Step[Any, Any]) -> LanguageEngine | Embedder | None:
        return {"engine": self.engine, "embedder": self.embedder}.get(step.uses)  # type: ignore[return-value]

    def _fingerprint(self, step: Step[Any, Any]) -> str:
        if step.uses == "engine":
            return self.engine.fingerprint(step.task or "extract")
        return self.embedder.fingerprint() if step.uses == "embedder" else ""

    def _call(self, step: Step[Any, Any], settings: Mapping[str, Any]) -> Call:
        tool: dict[str, Any] = {step.uses: self._tool(step)} if step.uses else {}
        plain = {k: v.value if isinstance(v, Result) else v for k, v in settings.items()}
        return Call(step.fn.__module__, step.fn.__name__, tool, plain)


def _named(value: Any) -> Any:
    """What stands for a setting in a key: results by their own key."""
    return value.key if isinstance(value, Result) else list(value.keys) if isinstance(value, Results) else value


def _reasons(errors: Collection[BaseException]) -> dict[str, int]:
    """How often each reason occurs; reasons that differ only in the item that they name are one."""
    alike: dict[str, list[str]] = {}
    for reason in map(_reason, errors):
        alike.setdefault(_NAMES.sub("…", reason), []).append(reason)
    return {name if len(same) > 1 else same[0]: len(same) for name, same in alike.items()}


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


# ── how results are stored ──


def recall(store: Store, step: Step[Any, B], k: str) -> B:
    """The result of `step` that was stored under the key `k`. Raises StoreError when it is gone."""
    if not store.has([k]):
        raise StoreError(f"The result {k} of {step.name} is gone from the store; run `sensegraph index` again.")
    return _load(store, step, k)


def _save(store: Store, step: Step[Any, Any], k: str, result: Any) -> None:
    if step.form == "array":
        store.write_array(k, np.asarray(result))
    elif step.form == "tables":
        columns = _columns(step.result)
        for name in columns:
            store.write_rows(f"{k}.{name}", ((r.id, _ENCODE(r)) for r in getattr(result, name)))
        store.write({k: _ENCODE(replace(result, **dict.fromkeys(columns, ())))}, step.name)  # last: it says "complete"
    else:
        store.write({k: step.encode(result)}, step.name)


def _load(store: Store, step: Step[Any, B], k: str) -> B:
    if step.form == "array":
        return typing.cast(B, _array(store, k))
    value = step.decode(store.read([k])[k])
    if step.form == "tables":
        tables = {name: Table[Any](_rows(store, f"{k}.{name}"), kind) for name, kind in _columns(step.result).items()}
        return replace(value, **tables)  # type: ignore[type-var]
    return value


def _columns(kind: Any) -> dict[str, Any]:
    """The fields of a dataclass that are sequences of records, with the records' type."""
    hints = typing.get_type_hints(kind)
    found = {f.name: typing.get_args(hints[f.name]) for f in fields(kind)}
    return {name: args[0] for name, args in found.items() if args and is_dataclass(args[0])}


def _rows(store: Store, k: str) -> Rows:
    if (rows := store.rows(k)) is None:
        raise StoreError(f"The table {k} is gone from the store; run `sensegraph index` again.")
    return rows


def _array(store: Store, k: str) -> NDArray[Any]:
    if (array := store.array(k)) is None:
        raise StoreError(f"The array {k} is gone from the store; run `sensegraph index` again.")
    return array
