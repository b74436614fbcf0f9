"""Rows of a matrix that are nearly all zeros, as those of words are: only the other numbers are held."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Longs
from sensegraph.algorithms.ranking import PackedRows

_HEAD = 32  # bytes: rows, columns, numbers that are not 0, bytes of each, as four whole numbers
_OPENED = 1 << 21  # bytes up to which columns are held as steps: more is mapped, and read where it lies
_PAYS = 2  # times as many bytes take rows that are worth it
_SPARSE = 16  # columns for each that a query is not 0 in, from which only those are looked at


@dataclass(frozen=True, eq=False)
class SparseRows(PackedRows):
    """Records of a `Stack`, packed into bytes by `pack_sparse`: rows `begin` to `end` (−1: all) of what lies there.

    It is indexed as the records would be: by a slice, which copies nothing, by positions, or by the name of a field.
    """

    packed: NDArray[np.uint8]
    begin: int = 0
    end: int = -1

    @cached_property
    def _sizes(self) -> tuple[int, int, int, int]:
        rows, dim, numbers, size = np.frombuffer(self.packed[:_HEAD].tobytes(), "<i8").tolist()
        return rows, dim, numbers, abs(size)

    @cached_property
    def _columns(self) -> dict[str, NDArray[Any]]:
        """The parts that were packed: texts, starts and scales of all rows; columns and values of all numbers."""
        rows, _, numbers, size = self._sizes
        kinds = {"text": ("<u8", 2 * rows), "start": ("<u4", rows + 1), "scale": ("<f4", rows)}
        kinds |= {"column": ("<u2", numbers), "value": (f"<i{size}", numbers)}
        raw, at, found = np.asarray(self.packed), _HEAD, dict[str, NDArray[Any]]()
        for name, (kind, count) in kinds.items():
            until = at + count * np.dtype(kind).itemsize
            found[name] = raw[at:until].view(kind)
            at = until
        if self.packed[_HEAD - 1] >> 7:  # the number of bytes is below 0
            steps = np.ascontiguousarray(found["column"].view(np.uint8).reshape(2, -1).T).view("<u2")[:, 0]
            found["column"] = np.cumsum(steps, dtype=np.uint16)
        return found

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the records."""
        _, dim, _, size = self._sizes
        return np.dtype([("text", "<u8", (2,)), ("scale", "<f4"), ("values", f"<i{size}", (dim,))])

    def __len__(self) -> int:
        return (self._sizes[0] if self.end < 0 else self.end) - self.begin

    def __getitem__(self, where: Any) -> Any:
        if isinstance(where, slice):
            begin, end, _ = where.indices(len(self))
            if (begin, end) == (0, len(self)):
                return self
            return SparseRows(self.packed, self.begin + begin, self.begin + max(begin, end))
        if isinstance(where, str):
            rows = slice(self.begin, self.begin + len(self))
            return self._columns["text"].reshape(-1, 2)[rows] if where == "text" else self._columns[where][rows]
        return self._read(np.asarray(where, np.int64) + self.begin)

    def records(self) -> NDArray[Any]:
        """All of them, with their zeros."""
        return self._read(np.arange(self.begin, self.begin + len(self)))

    def _read(self, rows: Longs) -> NDArray[Any]:
        held, made = self._columns, np.zeros(len(rows), self.dtype)
        begins = held["start"][rows].astype(np.int64)
        counts = held["start"][rows + 1].astype(np.int64) - begins
        whose = np.repeat(np.arange(len(rows)), counts)
        places = np.arange(len(whose)) + np.repeat(begins - np.cumsum(counts) + counts, counts)
        made["values"][whose, held["column"][places]] = held["value"][places]
        made["text"], made["scale"] = held["text"].reshape(-1, 2)[rows], held["scale"][rows]
        return made

    def multiply(self, queries: NDArray[np.float32]) -> NDArray[np.float32]:
        """The inner products of `queries`, shape (q, dim), with all rows, shape (q, rows), up to rounding."""
        start = self._columns["start"][self.begin : self.begin + len(self) + 1].astype(np.int64)
        first, last = (int(start[0]), int(start[-1])) if len(start) else (0, 0)
        column, value = (self._columns[name][first:last] for name in ("column", "value"))
        found = np.zeros((len(queries), len(self)), np.float32)
        for query, scores in zip(queries, found, strict=True):
            asked = query != 0
            if _SPARSE * np.count_nonzero(asked) <= len(query):
                places = np.flatnonzero(asked[column])
                rows = np.searchsorted(start, places + first, "right") - 1
                parts = value[places] * query[column[places]]
                scores += np.bincount(rows, weights=parts, minlength=len(self)).astype(np.float32)
            elif len(value):
                there = np.flatnonzero(np.diff(start))
                scores[there] = np.add.reduceat(value * query[column], start[there] - first)
        products: NDArray[np.float32] = found * self["scale"]
        return products


def pack_sparse(records: NDArray[Any]) -> NDArray[Any]:
    """Records of a `Stack` as bytes for `SparseRows`, shape (bytes,), where that takes at most half of them.

    Columns of few numbers are the steps between them, first the low byte of each: these can be shortened more.
    """
    values = records["values"]
    rows, columns = np.divmod(np.flatnonzero(values != 0), values.shape[1])
    size = values.dtype.itemsize
    if values.shape[1] > 1 << 16 or _PAYS * len(rows) * (2 + size) > values.nbytes:
        return records
    start = np.searchsorted(rows, np.arange(len(records) + 1)).astype("<u4")
    column: NDArray[Any] = columns.astype("<u2")
    if stepped := len(rows) * (2 + size) <= _OPENED:
        column = np.diff(column, prepend=np.uint16(0)).view(np.uint8).reshape(-1, 2).T
    head = np.array([len(records), values.shape[1], len(rows), -size if stepped else size], "<i8")
    parts = (head, records["text"].astype("<u8"), start, records["scale"].astype("<f4"), column)
    packed = b"".join(part.tobytes() for part in (*parts, values[rows, columns].astype(f"<i{size}")))
    return np.frombuffer(packed, np.uint8)
