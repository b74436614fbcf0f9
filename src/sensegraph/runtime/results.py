"""Steps and what they leave behind: how results are named by a step, encoded, stored, and read back when asked for.

A step is a pure function over a batch of values. Its results are stored as one value, as tables of records that are
read lazily, or as arrays that are mapped.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache, cached_property, partial
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from sensegraph.errors import ResultGone, StoreError
from sensegraph.protocols import Rows, Store, Task
from sensegraph.runtime.keys import NamedKeys, pack_keys

if TYPE_CHECKING:
    from sensegraph.runtime.joined_rows import JoinedRows, Joint

A = TypeVar("A")
B = TypeVar("B")
Form = Literal["value", "tables", "array", "arrays"]
Tool = Literal["", "engine", "embedder", "reranker", "chunker"]
# of a store and the keys of what the records of all tables share: what opens a table, given its kind and its parts
Opens = Callable[[Store, Sequence[str]], Callable[[Any, "Sequence[Joint]"], "JoinedRows"]]

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
    key. `opens` opens tables that are made of others: see `Opens`.
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
    opens: Opens | None = None

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
        return decode_value(self.result) if self._holds_bytes else msgspec.json.Decoder(self.result).decode

    @cached_property
    def encode(self) -> Callable[[B], bytes]:
        """A result to bytes: bytes as they are, MessagePack where fields of it are such, else JSON."""
        if self.result is bytes:
            return typing.cast(Callable[[B], bytes], bytes)
        return msgspec.msgpack.Encoder().encode if self._holds_bytes else _ENCODE

    @cached_property
    def _holds_bytes(self) -> bool:
        return is_dataclass(self.result) and any("bytes" in str(f.type) for f in fields(self.result))


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
    opens: Opens | None = None,
) -> Callable[[Callable[..., list[B]]], Step[Any, B]]:
    """Make a module-level function a step called `name`: the name stands in every key, so it never changes."""
    return lambda fn: Step(name, fn, version, uses, task, form, batch, sees, doubts, opens)


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
        self._store, self.step = store, step
        self.keys = pack_keys(keys)

    def __len__(self) -> int:
        return len(self.keys)

    @overload
    def __getitem__(self, index: int) -> B: ...
    @overload
    def __getitem__(self, index: slice) -> list[B]: ...
    def __getitem__(self, index: int | slice) -> B | list[B]:
        if isinstance(index, slice):
            return self._read(self.keys[index], self.step.decode)
        return self._read([self.keys[index]], self.step.decode)[0]

    def at(self, positions: Sequence[int]) -> list[B]:
        """The results at these positions, read at once, in the order asked for."""
        return self._read([self.keys[i] for i in positions], self.step.decode)

    def tell_run(self, run: range) -> Sequence[str]:
        """What stands for the results of a run: what their keys are made of, or these where any was replaced.

        It changes when a result is replaced and when it is found again, for all runs: they are made anew then.
        """
        if isinstance(self.keys, NamedKeys):
            return (self.keys.first, *self.keys.names[run.start : run.stop])
        return self.keys[run.start : run.stop]

    def reader(self, positions: Sequence[int]) -> Callable[[Store], list[B]]:
        """What reads the results at these positions in another process."""
        return partial(read_results, self.step, [self.keys[i] for i in positions])

    def __iter__(self) -> Iterator[B]:
        return self.scan(self.step.decode)

    def scan(self, decode: Callable[[bytes], A]) -> Iterator[A]:
        """All results in order, as `decode` reads what is stored of them."""
        for start in range(0, len(self.keys), 256):
            yield from self._read(self.keys[start : start + 256], decode)

    def _read(self, keys: Sequence[str], decode: Callable[[bytes], A]) -> list[A]:
        found = self._store.read(keys)
        if missing := [k for k in keys if k not in found]:
            raise ResultGone(f"{len(missing)} results of {self.step.name} are gone from the store; run index again.")
        return [decode(found[k]) for k in keys]


def read_results(step: Step[Any, B], keys: Sequence[str], store: Store) -> list[B]:
    """The results of a step under these keys."""
    return Results(store, step, keys)[:]


class Table(Sequence[B]):
    """Records in the store, decoded when they are asked for; found by position or by id."""

    def __init__(self, rows: Rows, kind: Any) -> None:
        self._rows = rows
        self.joined: tuple[Joint, ...] = getattr(rows, "parts", ())  # as `JoinedRows` has them
        self.shared: tuple[str, ...] = getattr(rows, "shared", ())
        self.finder: str = getattr(rows, "finder", "")
        self.kept: dict[str, Any] = {}  # what was found out about the records
        self.decode: Callable[[bytes], B] = getattr(rows, "decode", None) or msgspec.json.Decoder(kind).decode
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
            return self.decode(self._rows.at([positions])[0])
        return self.at(positions)

    def __iter__(self) -> Iterator[B]:
        return map(self.decode, self._rows.scan())

    def at(self, positions: Sequence[int]) -> list[B]:
        """The records at these positions, in the order asked for."""
        return [self.decode(r) for r in self._rows.at(positions)]

    def read_briefly(self, positions: Sequence[int]) -> list[B]:
        """The records at these positions; what is said of them may be missing where they have a description of it."""
        decode = getattr(self._rows, "decode_briefly", self.decode)
        return [decode(r) for r in self._rows.at(positions)]

    def raw(self, positions: Sequence[int] | None = None) -> Iterator[bytes]:
        """All records in order, or those at `positions`, as they are stored: what `decode` reads."""
        return self._rows.scan() if positions is None else iter(self._rows.at(positions))

    def scan_json(self) -> Iterator[bytes]:
        """All records in order as JSON."""
        found: Iterator[bytes] = getattr(self._rows, "scan_json", self._rows.scan)()
        return found

    def find(self, ids: Sequence[str]) -> dict[str, B]:
        """The records with these ids; one that does not exist is absent."""
        return {name: self.decode(r) for name, r in self._rows.find(ids).items()}

    def stored(self, ids: Sequence[str]) -> dict[str, bytes]:
        """What is stored of the records with these ids; one that does not exist is absent."""
        return self._rows.find(ids)

    def ids(self) -> list[str]:
        """All ids in order."""
        return list(self._rows.ids())

    def lightly(self, kind: type[A]) -> Iterator[A]:
        """All records with the fields of `kind` alone."""
        if hasattr(self._rows, "scan_lightly"):
            found: Iterator[A] = self._rows.scan_lightly(kind)
            return found
        return map(msgspec.json.Decoder(kind).decode, self._rows.scan())

    def heads(self, places: Sequence[int] | None = None) -> list[bytes]:
        """The stored form of the results whose tables this one is made of, without their records; none of a whole.

        Of those at some places alone where these are given.
        """
        found: list[bytes] = self._rows.heads(places) if hasattr(self._rows, "heads") else []
        return found


# ── how results are stored ──


def recall_result(store: Store, step: Step[Any, B], k: str) -> B:
    """The result of `step` that was stored under the key `k`. Raises ResultGone when it is."""
    if not store.has([k]):
        raise ResultGone(f"The result {k} of {step.name} is gone from the store; run `sensegraph index` again.")
    return load_result(store, step, k)


def save_result(
    store: Store, step: Step[Any, Any], k: str, result: Any, beside: Mapping[str, bytes] = MappingProxyType({})
) -> bytes:
    """Store `result` of `step` under the key `k`, whole or not at all, and objects `beside` it.

    Returns what is stored under the key; of an array, which is a file, nothing.
    """
    raw = b""
    if step.form == "array":
        store.write_array(k, np.asarray(result))
        if beside:
            store.write(beside, step.name)
    elif step.form == "arrays":
        for f in fields(result):
            store.write_array(f"{k}.{f.name}", np.asarray(getattr(result, f.name)))
        raw = b"arrays"
        store.write({k: raw, **beside}, step.name)  # last: it says "complete"
    elif step.form == "tables":
        columns = {name: getattr(result, name) for name in list_record_fields(step.result)}
        joined = {name: found.joined for name, found in columns.items() if isinstance(found, Table) and found.joined}
        for name in columns.keys() - joined.keys():
            store.write_rows(f"{k}.{name}", store_records(columns[name]))
        head = replace(result, **dict.fromkeys(columns, ()))
        shared = next((found.shared for found in columns.values() if isinstance(found, Table) and found.shared), ())
        made_of = _Joined(joined, shared, {name: columns[name].finder for name in joined if columns[name].finder})
        raw = _ENCODE({**msgspec.to_builtins(head), **msgspec.to_builtins(made_of)}) if joined else step.encode(head)
        store.write({k: raw, **beside}, step.name)  # last: it says "complete"
    else:
        raw = step.encode(result)
        store.write({k: raw, **beside}, step.name)
    return raw


@dataclass(frozen=True)
class Encoded(Sequence[B]):
    """Records that are stored as `encode` gives them."""

    records: Sequence[B]
    encode: Callable[[B], bytes]

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, index: Any) -> Any:
        return self.records[index]


def store_records(records: Iterable[Any]) -> Iterator[tuple[str, bytes]]:
    """The id of each record, and what is stored of it: of a table it is known."""
    if isinstance(records, Table):
        return zip(records.ids(), records.scan_json(), strict=True)
    if isinstance(records, Encoded):
        return ((r.id, records.encode(r)) for r in records)
    return ((r.id, _ENCODE(r)) for r in records)


def settle_result(store: Store, step: Step[Any, B], k: str, result: B, beside: Mapping[str, bytes]) -> B:
    """`save_result`, and the result as it is read from now on."""
    raw = save_result(store, step, k, result, beside)
    if step.form == "value":
        return step.decode(raw)
    return result if step.form == "arrays" else load_result(store, step, k, raw)


def load_result(store: Store, step: Step[Any, B], k: str, raw: bytes = b"") -> B:
    """The stored result of `step` under the key `k`, which must be there. Raises StoreError for one of another form.

    `raw` is what is stored under the key, where that is known.
    """
    if step.form == "array":
        return typing.cast(B, _open_array(store, k))
    if step.form == "arrays":
        arrays = {f.name: np.asarray(_open_array(store, f"{k}.{f.name}")) for f in fields(step.result)}
        return typing.cast(B, step.result(**arrays))
    raw = raw or store.read([k])[k]
    try:
        value, made_of = step.decode(raw), _read_joined(raw) if step.form == "tables" else _Joined()
    except msgspec.DecodeError as e:
        raise StoreError(f"The result {k} of {step.name} is of another version; run `sensegraph index` again.") from e
    if step.form == "tables":
        from sensegraph.runtime.joined_rows import JoinedRows

        tables = dict[str, Table[Any]]()
        opened = step.opens(store, made_of.shared) if step.opens and made_of.shared else None
        for name, kind in list_record_fields(step.result).items():
            joined, finder = made_of.joined.get(name), made_of.finders.get(name, "")
            if joined is None:
                rows, gone = store.rows(own := f"{k}.{name}"), [own]
            else:
                wanted = [part for part, *_ in joined]
                if finder:  # which needs more than the tables
                    wanted += [*(part.partition(".")[0] for part in wanted), finder]
                gone = sorted(set(wanted) - store.has(wanted))
                rows = None if gone else opened(kind, joined) if opened else JoinedRows(store, joined, finder=finder)
            if rows is None:
                raise ResultGone(f"The table {gone[0]} is gone from the store; run `sensegraph index` again.")
            tables[name] = Table(rows, kind)
        return replace(value, **tables)  # type: ignore[type-var]
    return value


@dataclass(frozen=True, slots=True)
class _Joined:
    """What a result says of tables that are made of others."""

    joined: dict[str, tuple[tuple[str, int, str], ...]] = field(default_factory=dict)
    shared: tuple[str, ...] = ()
    finders: dict[str, str] = field(default_factory=dict)


def decode_value(kind: Any) -> Callable[[bytes], Any]:
    """What reads stored values of this type, as MessagePack, or as JSON, whose first byte is below 128."""
    plain, packed = msgspec.json.Decoder(kind).decode, msgspec.msgpack.Decoder(kind).decode
    return lambda raw: packed(raw) if raw[:1] > b"\x7f" else plain(raw)


_read_joined = decode_value(_Joined)


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
