"""Arrays as columns in the store: they come back as they were, and take few bytes where they hold little."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from sensegraph.runtime.columns import digest_columns, join_columns, pack_columns, unpack_columns

DRAWN = np.random.default_rng(5).integers(0, 1 << 62, 1000)
ARRAYS = [
    (np.zeros(0, np.int64), "<i8"),
    (np.arange(15, dtype=np.int64), "<i8"),  # too short
    (np.arange(1000, dtype=np.int64), "s<i8"),
    (-np.arange(1000, dtype=np.int32) % 7, "s<i4"),
    (DRAWN.astype(np.uint64), "<u8"),
    (DRAWN.astype(np.uint64) >> np.uint64(24) << np.uint64(24), "s<u8"),
    (np.tile(DRAWN[:50], 20), "z<i8"),  # no byte is the same in all
    (np.ones(1000), "z<f8"),
    (np.arange(1000) % 3 == 0, "z|b1"),
    (np.full(1000, 7, np.uint8), "z|u1"),
]


@dataclass(frozen=True, slots=True)
class Two:
    one: NDArray[Any]
    other: NDArray[Any]


@pytest.mark.parametrize(("array", "kind"), ARRAYS)
def test_arrays_come_back_as_they_were_and_are_marked_by_how_they_are_kept(array: NDArray[Any], kind: str) -> None:
    packed = pack_columns(Two(array, array[:3]))
    assert [mark for mark, _ in msgspec.msgpack.decode(packed)] == [kind, kind.lstrip("sz")]
    found = unpack_columns(packed)
    assert [a.dtype for a in found] == [array.dtype] * 2
    assert [a.tolist() for a in found] == [array.tolist(), array[:3].tolist()]
    both = join_columns([Two(*found), Two(*found[::-1])])
    assert both.one.tolist() == [*array.tolist(), *array[:3].tolist()]


def test_columns_that_were_shortened_without_being_split_are_read() -> None:
    raw = np.arange(100, dtype="<i8").tobytes()
    packed = msgspec.msgpack.encode([("z<i8", zlib.compress(raw)), ("<i8", raw)])
    assert [a.tolist() for a in unpack_columns(packed)] == [[*range(100)]] * 2


def test_columns_are_told_apart_by_their_numbers_lengths_and_start() -> None:
    one, two = np.array([1, 2], np.int32), np.array([3], np.int32)
    assert digest_columns([one, two]) == digest_columns([one.astype(">i4"), two])
    others = ([two, one], [np.concatenate((one, two))], [one, two, two[:0]], [one.astype(np.int64), two])
    assert len({digest_columns([one, two]), digest_columns([one, two], b"x"), *map(digest_columns, others)}) == 6
