"""What tables say that our values do not hold, kept beside an imported index and given back on export.

A row is kept as its place, its number, and its differences from the row that we would write. A difference holds as
long as what we would write is what it was at the import: whatever has changed since is exported as it is now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from sensegraph.graphs.interchange.tables import COLUMNS, Raw
from sensegraph.protocols import Rows, Store
from sensegraph.runtime.keys import key

Row = dict[str, Any]
Late = Callable[[Row], Row]  # columns that are made of others

_REF = "interchange/"
_READ_AS_OTHERS: Mapping[str, tuple[str, ...]] = {  # columns that have another name now
    "documents": ("raw_content", "text_units", "metadata", "attributes"),
    "text_units": ("chunk", "document_ids"),
    "entities": ("name", "node_frequency"),
    "relationships": ("rank",),
    "community_reports": ("rating", "rank_explanation"),
}


@dataclass(frozen=True, slots=True)
class Difference:
    """`value` stands at `path` where we would write something whose mark is `mark`.

    Of a text only the part that differs is kept: `value` stands between its first `head` and last `tail` characters
    (−1: the value is whole). An empty mark says that we would write nothing.
    """

    path: tuple[str | int, ...]
    mark: str
    value: Any = None
    head: int = -1
    tail: int = 0


@dataclass(frozen=True, slots=True)
class Extra:
    """A row of a table: `id` of the record it became, its `number` and `name` (id) in the table, its differences.

    `whole` is a row that became no record, kept as it is; `made` says that the record stands in no table.
    """

    id: str
    number: int = -1
    name: str = ""
    differences: tuple[Difference, ...] = ()
    whole: dict[str, Any] | None = None
    made: bool = False


class Extras:
    """The extras of the import behind an index, if there was one. Reads rows by id or in order."""

    def __init__(self, store: Store, chunks: str) -> None:
        """`chunks` is the key of an index's chunks: an index that was built anew from documents has no extras."""
        self._store, self._key = store, store.ref(_REF + chunks)

    def find(self, table: str, ids: Sequence[str]) -> dict[str, Extra]:
        """The extras of these records."""
        rows = self._rows(table)
        return {name: _decode(r) for name, r in rows.find(ids).items()} if rows else {}

    def scan(self, table: str) -> Iterator[Extra]:
        """All extras of a table in the order of its rows."""
        rows = self._rows(table)
        return map(_decode, rows.scan()) if rows else iter(())

    def _rows(self, table: str) -> Rows | None:
        return self._store.rows(f"{self._key}.{table}") if self._key else None


def store_extras(store: Store, name: str, chunks: str, tables: Mapping[str, Iterable[Extra]]) -> None:
    """Store the extras of an import under its key `name`, then let the index with these `chunks` find them."""
    for table, extras in tables.items():
        store.write_rows(f"{name}.{table}", ((e.id, _encode(e)) for e in extras))
    store.set_refs({_REF + chunks: name})


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Extra).decode


# ── differences ──


def find_differences(table: str, original: Raw, derived: Row, late: Late) -> tuple[Difference, ...]:
    """How the row that was read differs from the one that we would write, column by column."""
    before = {**derived, **{c: original[c] for c in derived if c in original}}
    whole = {**derived, **late(before)}
    found = [d for c in whole if c in original for d in _compare_values(original[c], whole[c], (c,))]
    more = [c for c in original if c not in COLUMNS[table] and c not in _READ_AS_OTHERS.get(table, ())]
    return tuple(found) + tuple(Difference((c,), "", original[c]) for c in more)


def merge_row(derived: Row, extra: Extra | None, late: Late) -> Row:
    """The row to write: what we would write, with the differences that still hold."""
    waiting = extra.differences if extra else ()
    row = _patch_row(derived, waiting)
    row = {**row, **_patch_row(late(row), waiting)}
    return {**row, **{str(d.path[0]): d.value for d in waiting if not d.mark}}


def _patch_row(row: Row, waiting: Sequence[Difference]) -> Row:
    patched = dict(row)
    for difference in waiting:
        if difference.mark and difference.path[0] in patched:
            column = str(difference.path[0])
            patched[column] = _patch_value(patched[column], difference.path[1:], difference)
    return patched


def _patch_value(value: Any, path: tuple[str | int, ...], difference: Difference) -> Any:
    """`value` with the difference at `path` put in, where what stands there is unchanged."""
    if not path:
        if _mark_value(value) != difference.mark:
            return value
        if difference.head < 0:
            return difference.value
        return value[: difference.head] + difference.value + value[len(value) - difference.tail :]
    step, rest = path[0], path[1:]
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return [_patch_value(v, rest, difference) if i == step else v for i, v in enumerate(value)]
    if isinstance(value, dict) and step in value:
        return {k: _patch_value(v, rest, difference) if k == step else v for k, v in value.items()}
    return value


def _mark_value(value: Any) -> str:
    return key(value)[:12]


def _compare_values(original: Any, derived: Any, path: tuple[str | int, ...]) -> Iterator[Difference]:
    if type(original) is type(derived) and original == derived and key(original) == key(derived):
        return  # equal, and of one kind: 1 is not 1.0 in a table
    if isinstance(original, str) and isinstance(derived, str):
        # how many first and last characters both share, each character counted once
        most = min(len(original), len(derived))
        head = next((i for i in range(most) if original[i] != derived[i]), most)
        tail = next((i for i in range(most - head) if original[-1 - i] != derived[-1 - i]), most - head)
        yield Difference(path, _mark_value(derived), original[head : len(original) - tail], head, tail)
    elif isinstance(original, list) and isinstance(derived, list) and len(original) == len(derived):
        for i, (o, d) in enumerate(zip(original, derived, strict=True)):
            yield from _compare_values(o, d, (*path, i))
    elif isinstance(original, dict) and isinstance(derived, dict) and set(original) == set(derived):
        for name in original:
            yield from _compare_values(original[name], derived[name], (*path, name))
    else:
        yield Difference(path, _mark_value(derived), original)
