"""Columns: dataclasses with slots whose fields are arrays, as bytes in the store: each shortened by itself."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

A = TypeVar("A")
_SHORT, _LEVEL, _LEAST, _PAYS = "z", 5, 128, 0.7  # what is shortened, how much, from how many bytes, where it pays


def pack_columns(columns: Any) -> bytes:
    """The arrays of a dataclass with slots as bytes."""
    return msgspec.msgpack.encode([_pack_array(getattr(columns, name)) for name in type(columns).__slots__])


def _pack_array(array: NDArray[Any]) -> tuple[str, bytes]:
    """The type of the numbers of an array, marked where they are shortened, and the numbers."""
    kind, raw = array.dtype.newbyteorder("<").str, array.tobytes()
    shorter = zlib.compress(raw, _LEVEL) if len(raw) >= _LEAST else raw
    return (f"{_SHORT}{kind}", shorter) if len(shorter) < _PAYS * len(raw) else (kind, raw)


_unpack = msgspec.msgpack.Decoder(list[tuple[str, bytes]]).decode


def unpack_columns(packed: bytes) -> list[NDArray[Any]]:
    """The arrays that were packed."""
    return [
        np.frombuffer(zlib.decompress(raw) if kind.startswith(_SHORT) else raw, kind.removeprefix(_SHORT))
        for kind, raw in _unpack(packed)
    ]


def join_columns(parts: Sequence[A]) -> A:
    """The columns of several parts, one after the other."""
    kind: Any = type(parts[0])
    joined: A = kind(*(np.concatenate([getattr(part, name) for part in parts]) for name in kind.__slots__))
    return joined
