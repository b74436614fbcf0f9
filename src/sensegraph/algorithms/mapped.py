"""Arrays in a temporary file: what is read now and then takes no memory from what works beside it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)
_LARGE = 1 << 24  # bytes
_ALIGNED = 64  # bytes: where arrays begin in a file


def map_large(array: NDArray[T]) -> NDArray[T]:
    """The same array, mapped read-only from a file that is gone with it; one of less than 16 MB is given as it is."""
    return map_together([array])[0]


def map_together(arrays: Iterable[NDArray[T]]) -> list[NDArray[T]]:
    """The same arrays, mapped read-only from one file; those of less than 16 MB together are given as they are.

    They are taken one by one, so that they need not all be in memory.
    """
    few, size, every = list[NDArray[T]](), 0, iter(arrays)
    for array in every:
        few.append(array)
        if (size := size + array.nbytes) >= _LARGE:
            break
    else:
        return few
    spans: list[tuple[int, np.dtype[T], tuple[int, ...]]] = []
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        with (place := Path(folder) / "arrays").open("wb") as file:
            for some in (few, every):
                for array in some:
                    file.seek(-(-file.tell() // _ALIGNED) * _ALIGNED)
                    spans.append((file.tell(), array.dtype, array.shape))
                    array.tofile(file)
        del few
        held = np.memmap(place, np.uint8, "r")
    return [np.ndarray(shape, kind, held, begin) for begin, kind, shape in spans]
