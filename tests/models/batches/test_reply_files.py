"""Files of replies to a batch, of any size and form: read line by line, and never held."""

from __future__ import annotations

import io
import json
import tracemalloc
from pathlib import Path

import pytest

from sensegraph.errors import InputError
from sensegraph.models.batches import reply_files
from sensegraph.models.batches.reply_files import ReplyStore, decode_replies, read_given_replies


def line(key: str, text: str = "A text.", **more: object) -> bytes:
    return json.dumps({"custom_id": key, "response": {"body": {"said": text}, **more}}).encode() + b"\n"


def test_replies_are_found_again_and_a_line_that_was_cut_off_is_none(tmp_path: Path) -> None:
    path, store = tmp_path / "replies.jsonl", ReplyStore(tmp_path / "replies.jsonl")
    assert not list(store.keep(decode_replies(io.BytesIO(line("a", "one") + line("b", "two") + line("a", "three")))))
    with path.open("ab") as file:
        file.write(b'{"key": "c", "sta')
    for read in (store, ReplyStore(path)):
        assert not list(read.load())
        found = [read.read(key) for key in ("a", "b", "c")]
        assert [one and json.loads(bytes(one.reply))["said"] for one in found] == ["three", "two", None]
        list(read.keep(decode_replies(io.BytesIO(line("d", "four")))))
        assert "d" in read
        assert (kept := read.read("d")) is not None
        assert json.loads(bytes(kept.reply)) == {"said": "four"}
    again = ReplyStore(path)
    list(again.load())
    assert (four := again.read("d")) is not None
    assert b"four" in bytes(four.reply)


@pytest.mark.parametrize(
    "odd",
    [
        b"",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"custom_id": "x", "response": ' + b"[" * 1_000 + b"]" * 1_000 + b"}",
        b'{"custom_id": "x", "response": {"status_code": 200, "body": {"a": NaN, "b": "\\ud800"}}}',
        b'{"custom_id": "' + b"x" * 300 + b'", "response": {"body": {}}}',
        b'{"custom_id": 7, "response": {"body": {}}}',
        b'{"custom_id": "x", "response": [1]}',
        b'{"custom_id": "x", "response": {"body": {"said": "' + b"y" * 5_000_000 + b'"}}}',
        b'"x"',
        b"null",
    ],
    ids=range(11),
)
def test_a_line_that_is_no_reply_is_passed_over(odd: bytes) -> None:
    found = list(decode_replies(io.BytesIO(line("a") + odd + b"\n" + line("b"))))
    assert [one.key for one in found] == ["a", "b"]


@pytest.mark.parametrize("status", [-1, 99, 1000, True, 1.5, "200", 429, 500])
def test_a_status_that_is_none_is_no_reply(status: object) -> None:
    (found,) = decode_replies(io.BytesIO(line("a", status_code=status)))
    assert found.status == 0


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"error": {"message": "too large", "code": "big"}}, "too large"),
        ({"error": {"code": "big"}}, "big"),
        ({"error": "not now"}, "not now"),
        ({}, "status 500"),
        (["no"], "status 500"),
    ],
)
def test_why_there_is_no_reply_is_told_as_the_reply_tells_it(body: object, why: str) -> None:
    raw = json.dumps({"custom_id": "a", "response": {"status_code": 500, "body": body}}).encode()
    (found,) = decode_replies(io.BytesIO(raw))
    assert (found.status, json.loads(bytes(found.reply))) == (0, why)


def test_why_there_is_no_reply_is_kept_short() -> None:
    raw = json.dumps({"custom_id": "a", "error": {"message": "no " * 10_000}}).encode()
    (found,) = decode_replies(io.BytesIO(raw))
    assert len(bytes(found.reply)) <= 510


def test_a_large_file_takes_no_more_memory_than_one_of_its_lines(tmp_path: Path) -> None:
    """Thirty million bytes of replies, one of a line without end among them."""
    path = tmp_path / "answered.jsonl"
    with path.open("wb") as file:
        for number in range(300):
            file.write(line(f"key-{number}", "word " * 20_000))
        file.write(b"x" * 20_000_000)
    assert path.stat().st_size > 49_000_000
    store = ReplyStore(tmp_path / "replies.jsonl")
    tracemalloc.start()
    try:
        list(store.keep(read_given_replies(path)))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert all(f"key-{number}" in store for number in range(300))
    assert most < 13_000_000


def test_a_file_of_very_many_replies_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "answered.jsonl"
    path.write_bytes(line("a") * 3)
    assert len(list(read_given_replies(path))) == 3
    monkeypatch.setattr(reply_files, "_MOST_REPLIES", 2)
    with pytest.raises(InputError, match="more than 2 replies"):
        list(read_given_replies(path))
    path.write_bytes(b"{}\n")
    with pytest.raises(InputError, match="holds no reply"):
        list(read_given_replies(path))
    with pytest.raises(InputError, match="cannot be read"):
        list(read_given_replies(tmp_path))
