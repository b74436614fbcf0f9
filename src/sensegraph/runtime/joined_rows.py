"""Stored tables, one after the other, as one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache, partial
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import order_numbers
from sensegraph.algorithms.ranking import hash_words
from sensegraph.errors import TABLE_GONE, ResultGone
from sensegraph.protocols import Rows, Store

Joint = tuple[str, int, str]  # a stored table that is a part of another: its name, its records, the first of their ids
_OPENED = 128  # parts of a joined table that stay open


def order_hashes(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Where the records are whose ids have these hashes, shape (2, n): the hashes ascending, and the place of each."""
    order = order_numbers(hashes)
    return np.stack((hashes[order], order.astype(np.uint64)))


def find_positions(ordered: NDArray[np.uint64], ids: Sequence[str]) -> dict[str, int]:
    """The positions of the records with these ids by what `order_hashes` gave; one that does not exist is absent."""
    wanted, (hashes, places) = hash_words(ids), ordered
    at = np.minimum(np.searchsorted(hashes, wanted), max(len(hashes) - 1, 0))
    there = hashes[at] == wanted if len(hashes) else np.zeros(len(wanted), np.bool_)
    return {name: int(places[i]) for name, i, known in zip(ids, at, there, strict=True) if known}


def open_table(store: Store, name: str) -> Rows:
    """The stored table of this name. Raises ResultGone."""
    if (rows := store.rows(name)) is None:
        raise ResultGone(TABLE_GONE)
    return rows


class JoinedRows:
    """Stored tables one after the other as one: each is opened when something of it is asked for.

    `shared` are the keys of what the records share. Their ids ascend, unless the array under the key `finder` says
    where each is: see `order_hashes`.
    """

    def __init__(self, store: Store, parts: Sequence[Joint], shared: Sequence[str] = (), finder: str = "") -> None:
        self._store, self.parts, self.shared, self.finder = store, tuple(parts), tuple(shared), finder
        self._starts = [0, *accumulate(count for _, count, _ in parts)]
        self._firsts = [first for *_, first in parts]
        # a reader keeps of each part what it has read; nothing of it leads back to this, so that files close with it
        self._open_table = lru_cache(_OPENED)(partial(open_table, store))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._store, self.parts, self.shared, self.finder)

    def __len__(self) -> int:
        return self._starts[-1]

    def heads(self, places: Sequence[int] | None = None) -> list[bytes]:
        """The stored form of the results that the tables belong to, or those at some places."""
        parts = self.parts if places is None else [self.parts[place] for place in places]
        keys = [name.partition(".")[0] for name, *_ in parts]
        found = self._store.read(keys)
        if gone := [k for k in keys if k not in found]:
            raise ResultGone(f"The result {gone[0]} is gone from the store; run `sensegraph index` again.")
        return [found[k] for k in keys]

    @cached_property
    def _ordered(self) -> NDArray[np.uint64]:
        if (found := self._store.array(self.finder)) is None:
            raise ResultGone(TABLE_GONE)
        return found

    def _open(self, part: int) -> Rows:
        return self._open_table(self.parts[part][0])

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
            places = find_positions(self._ordered, ids)
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
