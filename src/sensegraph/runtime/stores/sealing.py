"""Bytes as they are stored: shortened where that pays, and sealed, so that damage is found where they are read."""

from __future__ import annotations

import math
import zlib
from collections.abc import Collection, Sequence
from functools import lru_cache
from io import BytesIO
from os import SEEK_END
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from sensegraph.errors import StoreError
from sensegraph.runtime.shortening import LONGEST, Unreadable, lengthen, shorten

_WHOLE, _SHORTENED = b"\0", b"\1"
_LEAST = 128  # bytes from which shortening is tried
_PAYS = 0.9  # of the length, or what is shortened is kept whole
_LARGE, _LEVELS = 1 << 15, (3, 6)  # bytes from which more is tried
_END = b"sensegraph-1"  # how an array file ends, after its checksum
_HEAD = 10  # bytes of an array file that say how long its head is
_SHORT = b"SENSEGRAPH"  # how the file of a shortened array begins, before its head
_STEPS = b"SENSESTEPS"  # and that of one of numbers that ascend, of which the steps are shortened
_SHORT_ARRAYS = range(1 << 10, (1 << 21) + 1)  # bytes of arrays that are shortened: what is larger is mapped
_ARRAY_LEVEL, _ARRAY_PAYS = 3, 0.95
_READ = 1 << 22  # bytes of an array file that are read at once


class Damaged(Exception):
    """What was read is not what was written."""


def seal(name: str, content: bytes) -> bytes:
    """`content` as it is stored under `name`: a checksum over both, how it is kept, and the content."""
    body, size = _WHOLE + content, len(content)
    if _LEAST <= size <= LONGEST and len(shorter := shorten(content, _LEVELS[size >= _LARGE])) < _PAYS * size:
        body = _SHORTENED + shorter
    return _checksum(name, body) + body


def unseal(name: str, stored: bytes) -> bytes:
    """The content that was sealed under `name`. Raises Damaged."""
    if not isinstance(stored, bytes) or not isinstance(name, str):
        raise Damaged(name)
    if stored[:4] != _checksum(name, stored[4:]):
        raise Damaged(name)
    if stored[4:5] != _SHORTENED:
        return stored[5:]
    try:
        return lengthen(stored[5:])
    except Unreadable as e:
        raise Damaged(name) from e


def _checksum(name: str, body: bytes) -> bytes:
    return zlib.crc32(body, zlib.crc32(name.encode())).to_bytes(4, "little")


def decode_text(stored: bytes) -> str:
    """A text of the database; a damaged one is another text, which no checksum fits, instead of an error."""
    return stored.decode("utf-8", "replace")


def question_marks(values: Collection[Any]) -> str:
    """A question mark for each of these values, as a query names them."""
    return ",".join("?" * len(values))


def sum_ref(name: object, value: object) -> int:
    """The checksum of a ref; a damaged one may be no text."""
    return sum_ref_bytes(str(name).encode(), str(value).encode())


def sum_ref_bytes(name: bytes, value: bytes) -> int:
    """The checksum of a ref as it is stored, in UTF-8."""
    return zlib.crc32(value, zlib.crc32(name))


def check_refs(path: Path, rows: Sequence[tuple[bytes, bytes, int]], advice: str) -> dict[str, str]:
    """Refs by name. Raises StoreError, with this advice, for one that is not as it was written."""
    for name, value, total in rows:
        if sum_ref_bytes(name, value) != total:
            raise StoreError(f"{path} is damaged at the name {decode_text(name)!r}. {advice}")
    return {str(name, "utf-8", "replace"): str(value, "utf-8", "replace") for name, value, _ in rows}


def write_sealed_array(file: BinaryIO, array: NDArray[Any]) -> None:
    """Write an array in numpy's format into an empty file, and behind it a checksum of all that was written.

    A small one is shortened where that pays.
    """
    array, shorter, kind = np.ascontiguousarray(array), b"", _SHORT
    if array.nbytes in _SHORT_ARRAYS:
        stepped = array
        if array.ndim == 1 and _is_split(array.dtype) and (array[1:] >= array[:-1]).all():
            stepped, kind = np.diff(array, prepend=array.dtype.type(0)).astype(array.dtype), _STEPS
        raw = stepped.tobytes()
        if _is_split(array.dtype):
            raw = np.frombuffer(raw, np.uint8).reshape(-1, array.itemsize).T.tobytes()
        shorter = shorten(raw, _ARRAY_LEVEL)
    if 0 < len(shorter) < _ARRAY_PAYS * array.nbytes:
        file.write(kind)
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(shorter)
    else:
        np.save(file, array, allow_pickle=False)
    _seal_file(file)


def _is_split(kind: np.dtype[Any]) -> bool:
    """Whether of numbers first the lowest byte of each is written, then the next: whole ones get shorter so."""
    return kind.kind in "iu" and kind.itemsize > 2


def seal_array(path: Path) -> None:
    """Put a checksum behind an array that was written without one."""
    with path.open("r+b") as file:
        file.seek(0, SEEK_END)
        _seal_file(file)


def is_sealed_array(path: Path) -> bool:
    """Whether an array file is as it was written. Raises OSError where it cannot be read."""
    length = path.stat().st_size - 4 - len(_END)
    with path.open("rb") as file:
        return length > 0 and _sum_bytes(file, length) == file.read()


def map_array(path: Path) -> NDArray[Any]:
    """The array in a file, read-only: memory-mapped, or opened where it was shortened.

    Raises ValueError or OSError for what is none.
    """
    with path.open("rb") as file:  # what np.load does, which reads the head of the file anew each time
        start = file.read(_HEAD)
        stepped = start == _STEPS
        if shortened := stepped or start == _SHORT:
            start = file.read(_HEAD)
        shape, fortran, kind = _parse_head(start + file.read(int.from_bytes(start[8:], "little")))
        if not shortened:
            return np.memmap(file, kind, "r", file.tell(), shape, "F" if fortran else "C")
        size = math.prod(shape) * kind.itemsize
        try:
            raw = lengthen(file.read()[: -4 - len(_END)], most=size) if size in _SHORT_ARRAYS else b""
        except Unreadable as e:
            raise ValueError(f"a shortened array that cannot be read: {e}") from e
    if len(raw) != size:
        raise ValueError("a shortened array of another length")
    if _is_split(kind):
        raw = np.frombuffer(raw, np.uint8).reshape(kind.itemsize, -1).T.tobytes()
    found = np.frombuffer(raw, kind).reshape(shape)
    if stepped:
        found = np.cumsum(found, dtype=kind)
        found.flags.writeable = False
    return found


@lru_cache(1000)
def _parse_head(head: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """The shape, the order and the type of the numbers of an array file that begins so."""
    file = BytesIO(head)
    if (version := np.lib.format.read_magic(file)) != (1, 0):
        raise ValueError(f"version {version} of the format of arrays")
    shape, fortran, kind = np.lib.format.read_array_header_1_0(file)
    if kind.hasobject:
        raise ValueError("it holds objects of Python")
    return shape, fortran, kind


def _seal_file(file: BinaryIO) -> None:
    length = file.tell()
    file.seek(0)
    end = _sum_bytes(file, length)
    file.seek(length)
    file.write(end)


def _sum_bytes(file: BinaryIO, length: int) -> bytes:
    """What stands behind the next `length` bytes of a file."""
    found = 0
    for at in range(0, length, _READ):
        found = zlib.crc32(file.read(min(_READ, length - at)), found)
    return found.to_bytes(4, "little") + _END
