"""Arrays as files: their names, what is left of one that could not be written, and what is read of one."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import numpy as np
import pytest

from sensegraph.errors import SettingsError, StoreError
from sensegraph.runtime.stores import array_files
from sensegraph.runtime.stores.array_files import Absent, ArrayBucket, ArrayFiles, PieceTable
from sensegraph.runtime.stores.sealing import Damaged


@pytest.fixture
def files(tmp_path: Path) -> ArrayFiles:
    return ArrayFiles(tmp_path)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("a", "a"),
        ("a.v-1_B", "a.v-1_B"),
        ("-a", "-a"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "b317db35"),
        (".a", "706b4a1d"),
        ("../a", "7bd30558"),
        ("a/b", "07f4401c"),
        ("", "00000000"),
        ("a\n", "ddeaa107"),
        ("é", "0e048d3e"),
    ],
)
def test_a_key_is_the_name_of_a_file_or_a_number_stands_for_it(files: ArrayFiles, key: str, name: str) -> None:
    assert files.path(key) == files.folder / f"{name}.npy"


def test_an_array_is_written_once_and_names_are_sorted(files: ArrayFiles) -> None:
    for key in ("b", "a", "c.v"):
        files.write(key, np.arange(3))
    files.write("a", np.arange(9))
    (files.folder / "d.part").touch()
    assert files.names() == ["a", "b", "c.v"]
    assert list(files.open("a")) == [0, 1, 2]  # type: ignore[arg-type]
    assert files.open("d") is None


def test_what_could_not_be_written_leaves_nothing_behind(files: ArrayFiles) -> None:
    begun: list[str] = []

    def fill(file: BinaryIO) -> None:
        begun.extend(path.name for path in files.folder.iterdir())
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        files.fill("a", fill)
    assert begun == [f"a.{os.getpid()}.part"]
    assert list(files.folder.iterdir()) == []
    files.write("a", np.arange(3))
    assert [path.name for path in files.folder.iterdir()] == ["a.npy"]


def test_a_file_that_cannot_be_read_is_named_with_what_to_look_at(
    files: ArrayFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.write("a", np.arange(3))

    def fail(path: Path) -> Any:
        raise PermissionError("not yours")

    monkeypatch.setattr(array_files, "map_array", fail)
    with pytest.raises(StoreError, match=r"a\.npy cannot be read \(not yours\)\. Check the disk"):
        files.open("a")
    monkeypatch.undo()
    files.path("a").write_bytes(b"x" * 200)
    with pytest.raises(Damaged):
        files.open("a")


class Table:
    """Pieces of arrays by their key and number, as a connection gives them."""

    def __init__(self, pieces: dict[tuple[str, int], bytes]) -> None:
        self.pieces, self.said = pieces, list[str]()

    def __call__(self) -> Any:
        return self

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *given: object) -> None:
        return None

    def transaction(self, kind: str = "") -> Any:
        self.said.append(kind)
        return self

    def value(self, query: str, key: str, number: int) -> bytes | None:
        return self.pieces.get((key, number))

    def execute(self, query: str, key: str, number: int, piece: bytes) -> None:
        self.pieces[key, number] = piece


class Bucket:
    """A bucket that holds one sentence under each name."""

    def __init__(self) -> None:
        self.put_there: list[str] = []

    def put(self, path: Path) -> None:
        self.put_there.append(path.name)

    def fetch(self, name: str, file: BinaryIO) -> None:
        file.write(f"<{name}>".encode())


@pytest.mark.parametrize(
    ("bucket", "key", "written"),
    [
        (False, "a", b"12"),
        (True, "a", b"12"),  # it was written before there was a bucket
        (True, "b", b"<b.npy>"),
        (False, "b", b""),
    ],
)
def test_pieces_are_joined_and_what_has_no_bytes_lies_in_the_bucket(
    files: ArrayFiles, bucket: bool, key: str, written: bytes
) -> None:
    rows = Table({("a", 0): b"1", ("a", 1): b"2", ("a", 3): b"4", ("b", 0): b""})
    given: Any = Bucket() if bucket else None
    pieces = PieceTable(files, rows, given)
    with (files.folder / "out").open("w+b") as file:
        pieces.fetch(key, file)
        file.seek(0)
        assert file.read() == written
        with pytest.raises(Absent):
            pieces.fetch("none", file)
    assert rows.said == ["ISOLATION LEVEL REPEATABLE READ READ ONLY"] * 2


@pytest.mark.parametrize("bucket", [True, False])
def test_an_array_is_cut_into_pieces_or_put_into_the_bucket(
    files: ArrayFiles, monkeypatch: pytest.MonkeyPatch, bucket: bool
) -> None:
    monkeypatch.setattr(array_files, "_PIECE", 100)
    rows, given = Table({}), Bucket() if bucket else None
    pieces: Any = PieceTable(files, rows, given)  # type: ignore[arg-type]
    pieces.write("a", np.zeros(100, np.uint8))
    stored = files.path("a").read_bytes()
    assert len(stored) == 244
    if given:
        assert (rows.pieces, given.put_there) == ({("a", 0): b""}, ["a.npy"])
    else:
        assert rows.pieces == {("a", 0): stored[:100], ("a", 1): stored[100:200], ("a", 2): stored[200:]}


def test_what_a_bucket_says_stands_in_one_line_of_two_hundred_characters() -> None:
    assert array_files._say(ValueError("it says\n  so.")) == "it says so"
    assert array_files._say(ValueError("x" * 199 + ".yz")) == "x" * 199
    assert array_files._say(ValueError("x" * 201)) == "x" * 200


def test_objects_are_listed_that_are_older_than_a_moment_and_what_is_gone_is_no_error(tmp_path: Path) -> None:
    pytest.importorskip("obstore", reason='obstore is not installed: pip install "sensegraph[bucket]"')
    bucket = ArrayBucket(f"file://{tmp_path}/deep/shared")
    (tmp_path / "a.npy").write_bytes(b"content")
    bucket.put(tmp_path / "a.npy")
    times = {5: "a.npy", 6: "b.npy", 7: "c.npy"}
    listed = [{"path": name, "last_modified": moment} for moment, name in times.items()]
    bucket.remove(["none.npy"])
    with (tmp_path / "out").open("w+b") as file:
        bucket.fetch("a.npy", file)
        with pytest.raises(Damaged):
            bucket.fetch("none.npy", file)
    assert (tmp_path / "out").read_bytes() == b"content"
    bucket._library = SimpleNamespace(  # type: ignore[assignment]
        list=lambda place: [listed[:2], listed[2:]], exceptions=bucket._library.exceptions
    )
    given: Any = bucket
    assert given.list_older(6) == {"a.npy"}
    assert given.list_older(8) == {"a.npy", "b.npy", "c.npy"}
    with pytest.raises(SettingsError, match=r"is no place for arrays"):
        ArrayBucket("nowhere")


@pytest.mark.parametrize(("more", "found"), [(0, False), (1, True)])
def test_the_checksum_of_an_array_of_up_to_16_mebibytes_is_read(files: ArrayFiles, more: int, found: bool) -> None:
    files.write("a", np.zeros((1 << 24) - 144 + more, np.uint8))
    path = files.path("a")
    assert path.stat().st_size == (1 << 24) + more
    with path.open("r+b") as file:
        file.seek(1000)
        file.write(b"damage")
    if found:
        assert files.open("a") is not None
    else:
        with pytest.raises(Damaged):
            files.open("a")
