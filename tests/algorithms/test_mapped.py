"""Large arrays are mapped from a file that nobody sees, and are what they were."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sensegraph.algorithms import mapped
from sensegraph.algorithms.mapped import map_large, map_together

LARGE = 1 << 24


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files are."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def is_mapped(array: NDArray[Any]) -> bool:
    """Whether a file holds what an array is."""
    while isinstance(array.base, np.ndarray) and not isinstance(array, np.memmap):
        array = array.base
    return isinstance(array, np.memmap)


def test_an_array_of_16_mb_is_mapped_and_a_smaller_one_is_itself(folder: Path) -> None:
    small, large = np.arange(LARGE // 8 - 1), np.arange(LARGE // 8)
    assert map_large(small) is small
    found = map_large(large)
    assert is_mapped(found)
    assert found.dtype == large.dtype
    assert np.array_equal(found, large)
    assert not found.flags.writeable
    assert list(folder.iterdir()) == [] or sys.platform == "win32"  # gone, though it is read


def test_arrays_that_are_large_together_are_mapped_together_each_as_it_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(0)
    kinds: list[Any] = [np.int8, np.int64, np.float64, np.uint16]
    arrays = [draw.integers(0, 100, (draw.integers(0, 40), 3)).astype(kinds[i % 4]) for i in range(40)]
    size = sum(array.nbytes for array in arrays)
    monkeypatch.setattr(mapped, "_LARGE", size + 1)
    assert all(found is array for found, array in zip(map_together(arrays), arrays, strict=True))
    for least in (size, size // 2, 1):
        monkeypatch.setattr(mapped, "_LARGE", least)
        found = map_together(arrays)
        assert all(map(is_mapped, found))
        assert [(f.dtype, f.shape, f.tolist()) for f in found] == [(a.dtype, a.shape, a.tolist()) for a in arrays]
    assert map_together([]) == []


def test_arrays_are_taken_one_by_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped, "_LARGE", 100)
    alive, most = [0], [0]

    class Counted(np.ndarray[Any, Any]):
        """An array that is counted while it is there."""

        def __del__(self) -> None:
            alive[0] -= 1

    def make() -> Iterator[NDArray[Any]]:
        for number in range(20):
            array = np.full(10, number).view(Counted)
            alive[0] += 1
            most[0] = max(most[0], alive[0])
            yield array
            del array

    assert [int(found[0]) for found in map_together(make())] == list(range(20))
    assert most[0] <= 5


@pytest.mark.parametrize("room", [0, 1, 3])
def test_what_there_is_no_room_for_stays_in_memory(room: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped, "_LARGE", 100)
    written: list[int] = []

    class Written(np.ndarray[Any, Any]):
        """An array that is written while there is room."""

        def tofile(self, *given: Any, **how: Any) -> None:
            if len(written) == room:
                raise OSError("no space left on device")
            written.append(int(self[0]))
            super().tofile(*given, **how)

    arrays = [np.full(10, number).view(Written) for number in range(6)]
    found = map_together(iter(arrays))
    assert [array.tolist() for array in found] == [array.tolist() for array in arrays]
    assert list(map(is_mapped, found)) == [number < room for number in range(6)]


def test_where_there_is_no_temporary_folder_all_stays_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    large = np.arange(LARGE // 8)
    assert map_large(large) is large
