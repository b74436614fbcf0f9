"""Columns: dataclasses with slots whose fields are arrays, as bytes in the store, shortened together."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from itertools import accumulate
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

A = TypeVar("A")
_SHORT, _SPLIT = "z", "s"  # of former versions, and of now: first one byte of each number, then the next
_LEVEL, _LEAST, _PAYS = 3, 128, 0.9  # how much is shortened, from how many bytes, where it pays
_ALIGNED = 8  # bytes at whose multiples arrays begin, so that their numbers lie as in memory


def pack_columns(columns: Any) -> bytes:
    """The arrays of a dataclass with slots as bytes.

    The type of each with its bytes, marked where they are split, then all numbers, which are shortened where that pays.
    """
    from sensegraph.runtime.shortening import LONGEST, shorten_each  # a method is imported without it

    split = [_split_array(getattr(columns, name)) for name in type(columns).__slots__]
    parts = [raw.ljust(-(-len(raw) // _ALIGNED) * _ALIGNED, b"\0") for _, raw in split]
    whole = sum(map(len, parts))
    shorter = shorten_each(parts, _LEVEL) if _LEAST <= whole <= LONGEST else b""
    numbers = shorter if 0 < len(shorter) < _PAYS * whole else b"".join(parts)
    return msgspec.msgpack.encode(([(kind, len(raw)) for kind, raw in split], numbers))


def _split_array(array: NDArray[Any]) -> tuple[str, bytes]:
    """The type of the numbers of an array, and these; whole numbers of which a byte is the same in all are split."""
    kind, raw = array.dtype.newbyteorder("<").str, array.tobytes()
    if len(raw) < _LEAST or array.dtype.kind not in "iu" or array.itemsize == 1:
        return kind, raw
    numbers = np.frombuffer(raw, f"<u{array.itemsize}")
    differ = int(np.bitwise_or.reduce(numbers ^ numbers[0]))
    if all(differ.to_bytes(array.itemsize, "little")):
        return kind, raw
    return _SPLIT + kind, np.frombuffer(raw, np.uint8).reshape(-1, array.itemsize).T.tobytes()


_unpack = msgspec.msgpack.Decoder(tuple[list[tuple[str, int]], bytes]).decode
_unpack_former = msgspec.msgpack.Decoder(list[tuple[str, bytes]]).decode


def unpack_columns(packed: bytes) -> list[NDArray[Any]]:
    """The arrays that were packed."""
    from sensegraph.runtime.shortening import lengthen

    try:
        listed, numbers = _unpack(packed)
    except msgspec.ValidationError:  # a former version shortened each array by itself
        former = [(kind, lengthen(raw) if kind[0] in (_SHORT, _SPLIT) else raw) for kind, raw in _unpack_former(packed)]
        return [_join_array(kind.removeprefix(_SHORT), raw, len(raw)) for kind, raw in former]
    begins = [0, *accumulate(-(-size // _ALIGNED) * _ALIGNED for _, size in listed)]
    if len(numbers) < begins[-1]:
        numbers = lengthen(numbers)
    return [_join_array(kind, numbers, size, at) for (kind, size), at in zip(listed, begins, strict=False)]


def _join_array(kind: str, raw: bytes, size: int, at: int = 0) -> NDArray[Any]:
    """An array of so many bytes, which begin at a place."""
    numbers = np.dtype(kind.removeprefix(_SPLIT))
    if kind[0] != _SPLIT:
        found = np.frombuffer(raw, numbers, size // numbers.itemsize, at)
        return found.copy() if 2 * size < len(raw) else found  # else all of it would stay with a little
    split = np.frombuffer(raw, np.uint8, size, at).reshape(numbers.itemsize, -1)
    return np.frombuffer(split.T.tobytes(), numbers)


def digest_columns(columns: Iterable[NDArray[Any]], start: bytes = b"") -> str:
    """What stands for these columns, on every machine, after what they `start` with."""
    found = blake2b(start, digest_size=20)
    for column in columns:
        found.update(f"{len(column)} ".encode())
        found.update(np.ascontiguousarray(column, column.dtype.newbyteorder("<")).view(np.uint8).data)
    return found.hexdigest()


def join_columns(parts: Iterable[A]) -> A:
    """The columns of several parts, shape (n,), one after the other.

    Parts that are made on demand are held one at a time. Raises TypeError where the numbers of a later part do not fit
    the type of the first.
    """
    joined = dict[str, tuple[np.dtype[Any], bytearray]]()
    kind: Any = None
    for part in parts:
        kind = type(part)
        for name in kind.__slots__:
            column = getattr(part, name)
            numbers, raw = joined.setdefault(name, (column.dtype, bytearray()))
            raw.extend(column.astype(numbers, "C", "safe", copy=False).view(np.uint8))
    found: A = kind(*(np.frombuffer(raw, numbers) for numbers, raw in joined.values()))
    return found
