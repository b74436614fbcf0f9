"""Arrays in a safetensors file: eight bytes that give the length of a JSON header, the header, and the bytes."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

_TYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "<i1",
    "U8": "<u1",
}


class _Entry(msgspec.Struct, frozen=True):
    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file by name, mapped and not read (those of bfloat16 are read, as float32).

    Raises ValueError for a file that is cut off or none of this form.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        begin = 8 + int.from_bytes(file.read(8), "little")
        if not 8 < begin <= size:
            raise ValueError("it is no safetensors file, or it was cut off")
        raw = file.read(begin - 8)
    try:
        header = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        header.pop("__metadata__", None)
        entries = {name: msgspec.json.decode(text, type=_Entry) for name, text in header.items()}
    except (msgspec.MsgspecError, UnicodeDecodeError) as e:
        raise ValueError("it is no safetensors file, or it was cut off") from e
    return {name: map_array(path, entry, begin, size) for name, entry in entries.items()}


def map_array(path: Path, entry: _Entry, begin: int, size: int) -> NDArray[Any]:
    """The array of an entry, whose bytes stand behind `begin`. Raises ValueError where they cannot be its own."""
    if entry.dtype not in _TYPES:
        raise ValueError(f"it holds numbers of the kind {entry.dtype}, which cannot be read here")
    kind, (start, end) = np.dtype(_TYPES[entry.dtype]), entry.data_offsets
    if min(entry.shape, default=0) < 0 or prod(entry.shape) * kind.itemsize != end - start or begin + end > size:
        raise ValueError("it is shorter than its header says: it was cut off")
    if start == end:
        return np.zeros(entry.shape, kind)
    found = np.memmap(path, kind, "r", begin + start, tuple(entry.shape))
    return (found.astype(np.uint32) << 16).view(np.float32) if entry.dtype == "BF16" else found
