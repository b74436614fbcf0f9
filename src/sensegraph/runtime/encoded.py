"""Records as they are stored, before they are: they take less memory, and what was stored goes on as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")
encode = msgspec.json.Encoder().encode


class Encoded(Sequence[T]):
    """Records of a kind, given as their ids and what is stored of them, each decoded when it is asked for."""

    def __init__(self, kind: type[T], pairs: Sequence[tuple[str, bytes]]) -> None:
        self._decode, self._pairs = msgspec.json.Decoder(kind).decode, pairs

    def __len__(self) -> int:
        return len(self._pairs)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self._decode(raw) for _, raw in self._pairs[index]]
        return self._decode(self._pairs[index][1])

    def pairs(self) -> Iterator[tuple[str, bytes]]:
        """The id of each record, and what is stored of it."""
        return iter(self._pairs)


def encode_records(records: Iterable[Any]) -> Iterator[tuple[str, bytes]]:
    """The id of each record, and what is stored of it."""
    return records.pairs() if isinstance(records, Encoded) else ((r.id, encode(r)) for r in records)
