"""Arrays as columns in the store: they come back as they were, and take few bytes where they hold little."""

from __future__ import annotations

import weakref
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from sensegraph.runtime.columns import digest_columns, join_columns, pack_columns, unpack_columns
from sensegraph.runtime.shortening import shorten

DRAWN = np.random.default_rng(5).integers(0, 1 << 62, 1000)
ARRAYS = [
    (np.zeros(0, np.int64), "<i8"),
    (np.arange(15, dtype=np.int64), "<i8"),  # too short
    (np.arange(1000, dtype=np.int64), "s<i8"),
    (-np.arange(1000, dtype=np.int32) % 7, "s<i4"),
    (DRAWN.astype(np.uint64), "<u8"),
    (DRAWN.astype(np.uint64) >> np.uint64(24) << np.uint64(24), "s<u8"),
    (np.tile(DRAWN[:50], 20), "<i8"),  # no byte is the same in all
    (np.ones(1000), "<f8"),
    (np.arange(1000) % 3 == 0, "|b1"),
    (np.full(1003, 7, np.uint8), "|u1"),
]


@dataclass(frozen=True, slots=True)
class Two:
    one: NDArray[Any]
    other: NDArray[Any]


@pytest.mark.parametrize(("array", "kind"), ARRAYS)
def test_arrays_come_back_as_they_were_and_are_marked_by_how_they_are_kept(array: NDArray[Any], kind: str) -> None:
    packed = pack_columns(Two(array, array[:3]))
    listed, _ = msgspec.msgpack.decode(packed)
    assert listed == [[kind, array.nbytes], [kind.lstrip("s"), array[:3].nbytes]]
    found = unpack_columns(packed)
    assert all(a.flags.aligned for a in found)
    assert [a.dtype for a in found] == [array.dtype] * 2
    assert [a.tolist() for a in found] == [array.tolist(), array[:3].tolist()]
    both = join_columns([Two(*found), Two(*found[::-1])])
    assert both.one.tolist() == [*array.tolist(), *array[:3].tolist()]
    apart = join_columns([Two(array[::-2], array), Two(array, array[::-1])])
    assert (apart.one.tolist(), apart.other.tolist()) == (
        [*array[::-2].tolist(), *array.tolist()],
        [*array.tolist(), *array[::-1].tolist()],
    )
    assert apart.one.flags.writeable


def test_parts_that_are_made_when_they_are_asked_for_are_not_all_held_at_once() -> None:
    held = list[weakref.ref[Two]]()

    def make() -> Iterator[Two]:
        for number in range(4):
            part = Two(np.arange(number), np.full(1, number, np.int8))
            held.append(weakref.ref(part.one))
            yield part
            del part
            assert sum(of() is not None for of in held) <= 1

    both = join_columns(make())
    assert (both.one.tolist(), both.other.tolist()) == ([0, 0, 1, 0, 1, 2], [0, 1, 2, 3])


def test_numbers_that_do_not_fit_the_first_part_are_not_joined() -> None:
    small, large = np.zeros(1, np.int32), np.zeros(1, np.int64)
    assert join_columns([Two(large, large), Two(small, small)]).one.dtype == np.int64
    with pytest.raises(TypeError, match="int64"):
        join_columns([Two(small, small), Two(large, large)])


def test_columns_that_a_former_version_shortened_one_by_one_are_read() -> None:
    raw = np.arange(100, dtype="<i8").tobytes()
    split = np.frombuffer(raw, np.uint8).reshape(100, 8).T.tobytes()
    packed = msgspec.msgpack.encode([("z<i8", zlib.compress(raw)), ("<i8", raw), ("s<i8", shorten(split, 5))])
    assert [a.tolist() for a in unpack_columns(packed)] == [[*range(100)]] * 3


def test_columns_together_take_less_than_each_by_itself_and_never_more_than_their_numbers() -> None:
    several = Two(np.arange(5000, dtype=np.int64), np.arange(5000, dtype=np.int32) * 3)
    assert len(pack_columns(several)) < sum(len(pack_columns(Two(a, a[:0]))) for a in (several.one, several.other))
    assert len(pack_columns(Two(DRAWN, DRAWN[:1]))) < DRAWN.nbytes + 100


def test_columns_that_are_too_large_together_to_be_shortened_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sensegraph.runtime.shortening.LONGEST", 1 << 12)
    arrays = np.zeros(400), np.arange(300, dtype=np.int64)
    assert [a.tolist() for a in unpack_columns(pack_columns(Two(*arrays)))] == [a.tolist() for a in arrays]


def test_a_small_array_does_not_keep_the_bytes_of_large_ones() -> None:
    large, small = unpack_columns(pack_columns(Two(np.ones(10_000), np.ones(10))))
    assert (large.base is None, small.base is None) == (False, True)


def test_columns_are_told_apart_by_their_numbers_lengths_and_start() -> None:
    one, two = np.array([1, 2], np.int32), np.array([3], np.int32)
    assert digest_columns([one, two]) == digest_columns([one.astype(">i4"), two])
    others = ([two, one], [np.concatenate((one, two))], [one, two, two[:0]], [one.astype(np.int64), two])
    assert len({digest_columns([one, two]), digest_columns([one, two], b"x"), *map(digest_columns, others)}) == 6
