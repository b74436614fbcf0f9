"""Replies in a file: what is kept, what was cut off, and when the file goes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.runtime.stores import mending
from sensegraph.runtime.stores.mending import _copy_readable
from sensegraph.runtime.stores.replies import ReplyFile
from sensegraph.runtime.stores.sealing import is_sealed_array, seal_array


def test_replies_come_back_but_for_one_that_was_cut_off(tmp_path: Path) -> None:
    replies = ReplyFile(tmp_path / "replies")
    assert (replies.any(), replies.read(), replies.place) == (False, {}, str(tmp_path / "replies"))
    replies.keep("a", b'{"x":\r\n 1}')
    replies.keep("b", b"2")
    replies.keep("a", b"3")
    assert replies.any()
    assert replies.read() == {"a": b"3", "b": b"2"}
    assert (tmp_path / "replies").read_bytes().count(b"\n") == 3
    replies.rest()
    replies.rest()
    whole = (tmp_path / "replies").read_bytes()
    (tmp_path / "replies").write_bytes(whole[:-4])
    again = ReplyFile(tmp_path / "replies")
    assert again.read() == {"a": b'{"x":   1}', "b": b"2"}
    again.keep("c", b"4")
    assert again.read()["b"] == b"2"
    again.clear()
    assert (again.any(), (tmp_path / "replies").exists()) == (False, False)
    again.clear()


@pytest.mark.parametrize(("content", "some"), [(b"", False), (b"x", True)])
def test_a_file_that_holds_a_byte_holds_replies(tmp_path: Path, content: bytes, some: bool) -> None:
    (tmp_path / "replies").write_bytes(content)
    assert ReplyFile(tmp_path / "replies").any() is some
    path = tmp_path / "a.npy"
    path.write_bytes(content)
    seal_array(path)
    assert is_sealed_array(path) is some


@pytest.mark.parametrize(("counts", "lost"), [({}, 1), ({"pack": 1}, 1), ({"pack": 2, "object": 1, "ledger": 3}, 6)])
def test_rows_that_cannot_be_copied_are_counted_and_the_file_alone_is_one_thing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counts: dict[str, int], lost: int
) -> None:
    prepared, replaced = list[Any](), list[Path]()
    store: Any = SimpleNamespace(
        path=tmp_path / "store.sqlite", lay_out=prepared.append, prepare=prepared.append, replace_file=replaced.append,
    )  # fmt: skip
    (tmp_path / "store.mended.sqlite").write_bytes(b"of an earlier time")
    monkeypatch.setattr(mending, "_copy_table", lambda path, made, table: counts.get(table, 0))
    monkeypatch.setattr(mending, "_copy_keys", lambda path, made: counts.get("object", 0))
    assert _copy_readable(store) == lost
    assert replaced == [tmp_path / "store.mended.sqlite"]
    assert len(prepared) == 2
