"""How bytes are kept in a store, up to what length they are shortened and opened, and how arrays are sealed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sensegraph.runtime.stores.sealing import (
    Damaged,
    is_sealed_array,
    map_array,
    seal,
    seal_array,
    unseal,
    write_sealed_array,
)


@pytest.mark.parametrize(("length", "shortened"), [(127, 0), (128, 1), (4000, 1)])
def test_bytes_are_shortened_from_128_on(length: int, shortened: int) -> None:
    stored = seal("name", b"a" * length)
    assert stored[4] == shortened
    assert (len(stored) < length) == bool(shortened)
    assert unseal("name", stored) == b"a" * length


def test_bytes_are_kept_as_they_are_where_less_than_a_tenth_is_saved() -> None:
    noise = np.random.default_rng(1).bytes(2000)
    kept = [seal("name", noise + bytes(zeros))[4] for zeros in range(0, 600, 10)]
    assert kept == sorted(kept)
    first = kept.index(1) * 10
    assert 220 < first < 320  # of 2,000 bytes that cannot be shortened and so many that can, a tenth


@pytest.mark.parametrize(("name", "stored"), [("a", None), (None, b"abcdef"), ("a", b""), ("a", b"1234\0")])
def test_what_is_no_sealed_value_is_damaged(name: object, stored: object) -> None:
    with pytest.raises(Damaged):
        unseal(name, stored)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [0, 1, 100, 600_000])
def test_an_array_comes_back_and_any_byte_that_differs_is_found(tmp_path: Path, size: int) -> None:
    path, array = tmp_path / "a.npy", np.arange(size, dtype=np.float64)
    assert size < 1 << 7 or 8 * size > 1 << 21  # what lies between may be shortened
    with path.open("w+b") as file:
        write_sealed_array(file, array)
    assert is_sealed_array(path)
    assert np.array_equal(map_array(path), array)
    content = path.read_bytes()
    assert content.endswith(b"sensegraph-1")
    assert len(content) == 128 + 8 * size + 4 + 12
    places = {0, 90, len(content) // 2, len(content) - 17, len(content) - 14, len(content) - 1}
    for place in sorted(places):
        path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        assert not is_sealed_array(path)
    for rest in (content[:-1], content[-16:], content[-10:], b""):
        path.write_bytes(rest)
        assert not is_sealed_array(path)
    np.save(path, array)
    assert not is_sealed_array(path)
    seal_array(path)
    assert path.read_bytes() == content


SHORT = {
    "counts": np.arange(5000, dtype=np.int64) % 7,
    "places": np.arange(3000, dtype=np.uint32).reshape(3, 1000),
    "stems": np.arange(9000, dtype=np.int16) // 90,
    "ascending": np.arange(4000, dtype=np.int64) ** 2,
    "of the other order of bytes": np.arange(4000, dtype=">i4") * 3,
    "from the least to the largest": np.repeat(np.array([-(1 << 63), -1, 0, (1 << 63) - 1], np.int64), 99),
    "hashes": np.sort(np.random.default_rng(1).integers(0, 1 << 64, 50_000, np.uint64)),
    "weights": np.arange(4000, dtype=np.float64) // 100,
    "records": np.zeros(100, [("text", "<u8", (2,)), ("values", "<i2", (30,))]),
}


@pytest.mark.parametrize("name", SHORT)
def test_a_small_array_is_shortened_where_that_pays_and_comes_back_read_only(tmp_path: Path, name: str) -> None:
    path, array = tmp_path / "a.npy", SHORT[name]
    with path.open("w+b") as file:
        write_sealed_array(file, array)
    assert is_sealed_array(path)
    assert path.stat().st_size < 0.8 * array.nbytes + 160
    found = map_array(path)
    assert (found.dtype, found.shape, found.tobytes()) == (array.dtype, array.shape, array.tobytes())
    assert not found.flags.writeable
    content = path.read_bytes()
    for damaged in (content[:-40], content[:150], content[:10] + np.lib.format.MAGIC_PREFIX):
        path.write_bytes(damaged)
        assert not is_sealed_array(path)
        with pytest.raises(ValueError, match=r"."):
            map_array(path)


def test_of_numbers_that_ascend_the_steps_are_shortened(tmp_path: Path) -> None:
    ascending = np.arange(4000, dtype=np.int32) * 1000
    sizes = []
    for array in (ascending, ascending[::-1], ascending.reshape(2, -1), ascending.astype(np.float64)):
        path = tmp_path / f"{len(sizes)}.npy"
        with path.open("w+b") as file:
            write_sealed_array(file, array)
        assert np.array_equal(map_array(path), array)
        sizes.append(path.stat().st_size)
    assert sizes[0] < 300 < 4 * sizes[0] < min(sizes[1:])


def test_an_array_that_hardly_gets_shorter_or_is_large_is_mapped(tmp_path: Path) -> None:
    chance = np.random.default_rng(1).integers(0, 1 << 62, 5000)
    for array in (chance, np.zeros((1 << 21) + 1, np.uint8), np.zeros(1023, np.uint8), np.zeros(0, np.int64)):
        path = tmp_path / f"{array.nbytes}.npy"
        with path.open("w+b") as file:
            write_sealed_array(file, array)
        assert isinstance(map_array(path), np.memmap) or not array.nbytes
        assert path.stat().st_size == 128 + array.nbytes + 16


def test_arrays_by_columns_are_mapped_and_objects_and_later_formats_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    array = np.asfortranarray(np.arange(6).reshape(2, 3))
    np.save(path, array)
    assert np.array_equal(map_array(path), array)
    assert not map_array(path).flags.writeable
    np.save(path, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="objects of Python"):
        map_array(path)
    with path.open("wb") as file:
        np.lib.format.write_array(file, np.arange(3), version=(2, 0))
    with pytest.raises(ValueError, match="format of arrays"):
        map_array(path)
