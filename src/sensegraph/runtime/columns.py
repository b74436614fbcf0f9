"""Columns: dataclasses with slots whose fields are arrays, as bytes in the store: each shortened by itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

A = TypeVar("A")
_SHORT, _SPLIT = "z", "s"  # mark what is shortened: as it is, or first one byte of each number, then the next
_LEVEL, _LEAST, _PAYS = 5, 128, 0.9  # how much is shortened, from how many bytes, where it pays


def pack_columns(columns: Any) -> bytes:
    """The arrays of a dataclass with slots as bytes."""
    return msgspec.msgpack.encode([_pack_array(getattr(columns, name)) for name in type(columns).__slots__])


def _pack_array(array: NDArray[Any]) -> tuple[str, bytes]:
    """The type of the numbers of an array, marked where they are shortened, and the numbers.

    Whole numbers of which a byte is the same in all are split.
    """
    from sensegraph.runtime.shortening import shorten  # a method is imported without it

    kind, raw = array.dtype.newbyteorder("<").str, array.tobytes()
    if len(raw) < _LEAST:
        return kind, raw
    numbers = np.frombuffer(raw, np.uint8).reshape(-1, array.itemsize)
    split = array.dtype.kind in "iu" and array.itemsize > 1 and bool((numbers == numbers[0]).all(axis=0).any())
    shorter = shorten(numbers.T.tobytes() if split else raw, _LEVEL)
    return (f"{_SPLIT if split else _SHORT}{kind}", shorter) if len(shorter) < _PAYS * len(raw) else (kind, raw)


_unpack = msgspec.msgpack.Decoder(list[tuple[str, bytes]]).decode


def unpack_columns(packed: bytes) -> list[NDArray[Any]]:
    """The arrays that were packed."""
    return [_unpack_array(kind, raw) for kind, raw in _unpack(packed)]


def _unpack_array(kind: str, raw: bytes) -> NDArray[Any]:
    from sensegraph.runtime.shortening import lengthen

    if kind[:1] not in (_SHORT, _SPLIT):
        return np.frombuffer(raw, kind)
    split, numbers = kind.startswith(_SPLIT), np.dtype(kind[1:])
    raw = lengthen(raw)
    if split:
        raw = np.frombuffer(raw, np.uint8).reshape(numbers.itemsize, -1).T.tobytes()
    return np.frombuffer(raw, numbers)


def digest_columns(columns: Iterable[NDArray[Any]], start: bytes = b"") -> str:
    """What stands for these columns, on every machine, after what they `start` with."""
    found = blake2b(start, digest_size=20)
    for column in columns:
        found.update(f"{len(column)} ".encode() + column.astype(column.dtype.newbyteorder("<")).tobytes())
    return found.hexdigest()


def join_columns(parts: Sequence[A]) -> A:
    """The columns of several parts, one after the other."""
    kind: Any = type(parts[0])
    joined: A = kind(*(np.concatenate([getattr(part, name) for part in parts]) for name in kind.__slots__))
    return joined
