"""Steps and what they leave behind: how results are named by a step, encoded, stored, and read back when asked for.

A step is a pure function over a batch of values. Its results are stored as one value, as tables of records that are
read lazily, or as arrays that are mapped.
"""

from __future__ import annotations

import typing
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache, cached_property, lru_cache, partial
from importlib import import_module
from itertools import accumulate
from typing import Any, Generic, Literal, TypeVar, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.ranking import hash_words
from sensegraph.errors import TABLE_GONE, ResultGone, StoreError
from sensegraph.protocols import Rows, Store, Task

A = TypeVar("A")
B = TypeVar("B")
Form = Literal["value", "tables", "array", "arrays"]
Tool = Literal["", "engine", "embedder", "reranker", "chunker"]

_ENCODE = msgspec.json.Encoder().encode


def _see_all(item: Any) -> Any:
    return item


@dataclass(frozen=True)
class Step(Generic[A, B]):
    """`fn(batch, [engine=… | embedder=… | reranker=… | chunker=…], **settings) -> list`, one result per item, in order.

    `name` stands in keys, progress and the ledger: it outlives the module that the function stands in. Raise `version`
    whenever results change. `form` says how a result is stored: as one `value`, as `tables` (a dataclass whose
    sequences of records are read lazily), as an `array` (memory-mapped) or as `arrays` (a dataclass of such). `sees` is
    the part of an item that can change its result; two items that look alike are computed once. `doubts` says
    of which stored results it is not certain that they are true: they are computed once more, and stored under another
    key.
    """

    name: str
    fn: Callable[..., list[B]]
    version: int
    uses: Tool = ""
    task: Task | None = None
    form: Form = "value"
    batch: int = 64
    sees: Callable[[Any], Any] = _see_all
    doubts: Callable[[bytes], bool] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return find_step, (self.fn.__module__, self.fn.__name__)

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
    name: str,
    version: int,
    *,
    uses: Tool = "",
    task: Task | None = None,
    form: Form = "value",
    batch: int = 64,
    sees: Callable[[Any], Any] = _see_all,
    doubts: Callable[[bytes], bool] | None = None,
) -> Callable[[Callable[..., list[B]]], Step[Any, B]]:
    """Make a module-level function a step called `name`: the name stands in every key, so it never changes."""
    return lambda fn: Step(name, fn, version, uses, task, form, batch, sees, doubts)


def find_step(module: str, name: str) -> Step[Any, Any]:
    """The step that is the function of this name in a module: so it travels to other processes."""
    found: Step[Any, Any] = getattr(import_module(module), name)
    return found


@dataclass(frozen=True, slots=True)
class Result(Generic[B]):
    """The result of `once`, with its key."""

    key: str
    value: B


class Results(Sequence[B]):
    """The results of `each`, with their keys; values are read from the store when they are asked for."""

    def __init__(self, store: Store, step: Step[Any, B], keys: Sequence[str]) -> None:
        self._store, self.step, self.keys = store, step, tuple(keys)

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

    def at(self, positions: Sequence[int]) -> list[B]:
        """The results at these positions, read at once, in the order asked for."""
        return self._read([self.keys[i] for i in positions])

    def reader(self, positions: Sequence[int]) -> Callable[[Store], list[B]]:
        """What reads the results at these positions in another process."""
        return partial(read_results, self.step, [self.keys[i] for i in positions])

    def __iter__(self) -> Iterator[B]:
        for start in range(0, len(self.keys), 256):
            yield from self._read(self.keys[start : start + 256])

    def _read(self, keys: Sequence[str]) -> list[B]:
        found = self._store.read(keys)
        if missing := [k for k in keys if k not in found]:
            raise ResultGone(f"{len(missing)} results of {self.step.name} are gone from the store; run index again.")
        return [self.step.decode(found[k]) for k in keys]


def read_results(step: Step[Any, B], keys: Sequence[str], store: Store) -> list[B]:
    """The results of a step under these keys."""
    return Results(store, step, keys)[:]


class Table(Sequence[B]):
    """Records in the store, decoded when they are asked for; found by position or by id."""

    def __init__(self, rows: Rows, kind: Any) -> None:
        self._rows = rows
        self.joined, self.finder = (rows.parts, rows.finder) if isinstance(rows, JoinedRows) else ((), "")
        self.kept: dict[str, Any] = {}  # what was found out about the records
        self.decode: Callable[[bytes], B] = msgspec.json.Decoder(kind).decode
        self._kind = kind

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._rows, self._kind)

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

    def at(self, positions: Sequence[int]) -> list[B]:
        """The records at these positions, in the order asked for."""
        return [self.decode(r) for r in self._rows.at(positions)]

    def raw(self) -> Iterator[bytes]:
        """All records in order as they are stored (JSON), for a search that decodes only what it finds."""
        return self._rows.scan()

    def find(self, ids: Sequence[str]) -> dict[str, B]:
        """The records with these ids; one that does not exist is absent."""
        return {name: self.decode(r) for name, r in self._rows.find(ids).items()}

    def stored(self, ids: Sequence[str]) -> dict[str, bytes]:
        """What is stored (JSON) of the records with these ids; one that does not exist is absent."""
        return self._rows.find(ids)

    def ids(self) -> list[str]:
        """All ids in order."""
        return list(self._rows.ids())

    def lightly(self, kind: type[A]) -> Iterator[A]:
        """All records with the fields of `kind` alone: no more of them is decoded."""
        return map(msgspec.json.Decoder(kind).decode, self._rows.scan())

    def heads(self) -> list[bytes]:
        """The stored form of the results whose tables this one is made of, without their records; none of a whole."""
        return self._rows.heads() if isinstance(self._rows, JoinedRows) else []


_OPENED = 128  # parts of a joined table that stay open
Joint = tuple[str, int, str]  # a stored table that is a part of another: its name, its records, the first of their ids


@dataclass(frozen=True, slots=True, eq=False)
class Finder:
    """Where the records of a joined table are whose ids do not ascend: hashes of the ids, ascending, and places."""

    hashes: NDArray[np.uint64]
    places: NDArray[np.int32]

    @classmethod
    def of(cls, hashes: NDArray[np.uint64]) -> Finder:
        """The places of records whose ids have these hashes."""
        order = np.argsort(hashes, kind="stable")
        return cls(hashes[order], order.astype(np.int32))

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        """The places of these ids; one that does not exist is absent."""
        wanted = hash_words(ids)
        at = np.minimum(np.searchsorted(self.hashes, wanted), max(len(self.hashes) - 1, 0))
        there = self.hashes[at] == wanted if len(self.hashes) else np.zeros(len(wanted), np.bool_)
        return {name: int(self.places[i]) for name, i, known in zip(ids, at, there, strict=True) if known}


class JoinedRows:
    """Stored tables one after the other as one: each is opened when something of it is asked for.

    Their ids ascend, unless the arrays under the key `finder` say where each is.
    """

    def __init__(self, store: Store, parts: Sequence[Joint], finder: str = "") -> None:
        self._store, self.parts, self.finder = store, tuple(parts), finder
        self._starts = [0, *accumulate(count for _, count, _ in parts)]
        self._firsts = [first for *_, first in parts]
        self._open = lru_cache(_OPENED)(self._find_rows)  # a reader keeps of each part what it has read

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._store, self.parts, self.finder)

    def __len__(self) -> int:
        return self._starts[-1]

    def heads(self) -> list[bytes]:
        """The stored form of the results that the tables belong to."""
        keys = [name.partition(".")[0] for name, *_ in self.parts]
        found = self._store.read(keys)
        if gone := [k for k in keys if k not in found]:
            raise ResultGone(f"The result {gone[0]} is gone from the store; run `sensegraph index` again.")
        return [found[k] for k in keys]

    @cached_property
    def _finder(self) -> Finder:
        return Finder(*(_open_array(self._store, f"{self.finder}.{f.name}") for f in fields(Finder)))

    def _find_rows(self, part: int) -> Rows:
        if (rows := self._store.rows(self.parts[part][0])) is None:
            raise ResultGone(TABLE_GONE)
        return rows

    def at(self, positions: Sequence[int]) -> list[bytes]:
        """The records at these positions, in the order asked for."""
        wanted: dict[int, list[int]] = {}
        for position in positions:
            wanted.setdefault(bisect_right(self._starts, position) - 1, []).append(position)
        found: dict[int, bytes] = {}
        for part, places in wanted.items():
            start = self._starts[part]
            found.update(zip(places, self._open(part).at([p - start for p in places]), strict=True))
        return [found[position] for position in positions]

    def find(self, ids: Sequence[str]) -> dict[str, bytes]:
        """The records with these ids; one that does not exist is absent."""
        if self.finder:
            places = self._finder.find(ids)
            return dict(zip(sorted(places), self.at([places[name] for name in sorted(places)]), strict=True))
        wanted: dict[int, list[str]] = {}
        for name in ids:
            if (part := bisect_right(self._firsts, name) - 1) >= 0:
                wanted.setdefault(part, []).append(name)
        found: dict[str, bytes] = {}
        for part, names in wanted.items():
            found |= self._open(part).find(names)
        return {name: found[name] for name in sorted(found)}

    def scan(self) -> Iterator[bytes]:
        """All records in order."""
        return (record for part in range(len(self.parts)) for record in self._open(part).scan())

    def ids(self) -> Iterator[str]:
        """All ids in order."""
        return (name for part in range(len(self.parts)) for name in self._open(part).ids())


# ── how results are stored ──


def recall_result(store: Store, step: Step[Any, B], k: str) -> B:
    """The result of `step` that was stored under the key `k`. Raises ResultGone when it is."""
    if not store.has([k]):
        raise ResultGone(f"The result {k} of {step.name} is gone from the store; run `sensegraph index` again.")
    return load_result(store, step, k)


def save_result(store: Store, step: Step[Any, Any], k: str, result: Any) -> None:
    """Store `result` of `step` under the key `k`, whole or not at all."""
    if step.form == "array":
        store.write_array(k, np.asarray(result))
    elif step.form == "arrays":
        for f in fields(result):
            store.write_array(f"{k}.{f.name}", np.asarray(getattr(result, f.name)))
        store.write({k: b"arrays"}, step.name)  # last: it says "complete"
    elif step.form == "tables":
        columns = {name: getattr(result, name) for name in list_record_fields(step.result)}
        joined = {name: found.joined for name, found in columns.items() if isinstance(found, Table) and found.joined}
        for name in columns.keys() - joined.keys():
            store.write_rows(f"{k}.{name}", store_records(columns[name]))
        head = replace(result, **dict.fromkeys(columns, ()))
        made_of = _Joined(joined, {name: columns[name].finder for name in joined})
        told = {**msgspec.to_builtins(head), **msgspec.to_builtins(made_of)} if joined else head
        store.write({k: _ENCODE(told)}, step.name)  # last: it says "complete"
    else:
        store.write({k: step.encode(result)}, step.name)


def store_records(records: Iterable[Any]) -> Iterator[tuple[str, bytes]]:
    """The id of each record, and what is stored of it: of a table it is known."""
    if isinstance(records, Table):
        return zip(records.ids(), records.raw(), strict=True)
    return ((r.id, _ENCODE(r)) for r in records)


def load_result(store: Store, step: Step[Any, B], k: str) -> B:
    """The stored result of `step` under the key `k`, which must be there. Raises StoreError for one of another form."""
    if step.form == "array":
        return typing.cast(B, _open_array(store, k))
    if step.form == "arrays":
        arrays = {f.name: np.asarray(_open_array(store, f"{k}.{f.name}")) for f in fields(step.result)}
        return typing.cast(B, step.result(**arrays))
    raw = store.read([k])[k]
    try:
        value, made_of = step.decode(raw), _read_joined(raw) if step.form == "tables" else _Joined()
    except msgspec.DecodeError as e:
        raise StoreError(f"The result {k} of {step.name} is of another version; run `sensegraph index` again.") from e
    if step.form == "tables":
        tables: dict[str, Table[Any]] = {}
        for name, kind in list_record_fields(step.result).items():
            joined, finder = made_of.joined.get(name), made_of.finders.get(name, "")
            wanted = [f"{k}.{name}"] if joined is None else [part for part, *_ in joined]
            if finder:  # which needs more than the tables
                wanted += [
                    *(part.partition(".")[0] for part in wanted),
                    *(f"{finder}.{f.name}" for f in fields(Finder)),
                ]
            if gone := sorted(set(wanted) - store.has(wanted)):
                raise ResultGone(f"The table {gone[0]} is gone from the store; run `sensegraph index` again.")
            rows = store.rows(wanted[0]) if joined is None else JoinedRows(store, joined, finder)
            tables[name] = Table(typing.cast(Rows, rows), kind)
        return replace(value, **tables)  # type: ignore[type-var]
    return value


@dataclass(frozen=True, slots=True)
class _Joined:
    """What a result says of tables that are made of others."""

    joined: dict[str, tuple[Joint, ...]] = field(default_factory=dict)
    finders: dict[str, str] = field(default_factory=dict)


_read_joined = msgspec.json.Decoder(_Joined).decode


@cache
def list_record_fields(kind: Any) -> dict[str, Any]:
    """The fields of a dataclass that are sequences of records, with the records' type."""
    hints = typing.get_type_hints(kind)
    found = {f.name: typing.get_args(hints[f.name]) for f in fields(kind)}
    return {name: args[0] for name, args in found.items() if args and is_dataclass(args[0])}


def _open_array(store: Store, k: str) -> NDArray[Any]:
    if (array := store.array(k)) is None:
        raise ResultGone(f"The array {k} is gone from the store; run `sensegraph index` again.")
    return array


def take_records(records: Sequence[B], positions: Sequence[int]) -> list[B]:
    """The records at these positions: of a stored table in one read."""
    return records.at(positions) if isinstance(records, Table) else [records[i] for i in positions]
