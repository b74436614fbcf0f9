"""Arrays in a temporary file: what is read now and then takes no memory from what works beside it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)
_LARGE = 1 << 24  # bytes
_STEP = 64  # bytes: arrays begin at a multiple of them


def map_large(array: NDArray[T]) -> NDArray[T]:
    """The same array, mapped read-only from a file that is gone with it; one of less than 16 MB is given as it is."""
    return map_together([array])[0]


def map_together(arrays: Iterable[NDArray[T]]) -> list[NDArray[T]]:
    """The same arrays, mapped read-only from one file; those of less than 16 MB together are given as they are.

    They are taken one by one, so that they need not all be in memory. What the temporary folder has no room for is
    given as it is too.
    """
    first, size, others = deque[NDArray[T]](), 0, iter(arrays)
    for array in others:
        first.append(array)
        if (size := size + array.nbytes) >= _LARGE:
            break
    else:
        return list(first)
    del array
    every = chain((first.popleft() for _ in range(len(first))), others)  # the first are let go one by one
    try:
        folder = TemporaryDirectory(ignore_cleanup_errors=True)
    except OSError:
        return list(every)
    spans: list[tuple[int, np.dtype[T], tuple[int, ...]]] = []
    unwritten: list[NDArray[T]] = []
    with folder, (Path(folder.name) / "arrays").open("w+b") as file:
        for array in every:
            begin = -(-file.tell() // _STEP) * _STEP
            try:
                file.seek(begin)
                array.tofile(file)
            except OSError:
                unwritten = [array, *every]
                break
            spans.append((begin, array.dtype, array.shape))
        held = np.memmap(file, np.uint8, "r") if spans else None
    return [*(np.ndarray(shape, kind, held, begin) for begin, kind, shape in spans), *unwritten]
