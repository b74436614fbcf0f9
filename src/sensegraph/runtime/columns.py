"""Columns: dataclasses with slots whose fields are arrays of equal length, as bytes in the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

A = TypeVar("A")


def pack_columns(columns: Any) -> bytes:
    """The arrays of a dataclass with slots as bytes."""
    arrays = [getattr(columns, name) for name in type(columns).__slots__]
    return msgspec.msgpack.encode([(a.dtype.newbyteorder("<").str, a.tobytes()) for a in arrays])


_unpack = msgspec.msgpack.Decoder(list[tuple[str, bytes]]).decode


def unpack_columns(packed: bytes) -> list[NDArray[Any]]:
    """The arrays that were packed."""
    return [np.frombuffer(raw, dtype) for dtype, raw in _unpack(packed)]


def join_columns(parts: Sequence[A]) -> A:
    """The columns of several parts, one after the other."""
    kind: Any = type(parts[0])
    joined: A = kind(*(np.concatenate([getattr(part, name) for part in parts]) for name in kind.__slots__))
    return joined
