"""Replies as they come in pieces: lines, lengths and packings, each bound on both sides."""

from __future__ import annotations

import gzip
import zlib
from io import BytesIO
from typing import Any

import pytest

from sensegraph.models.endpoint import calls, incoming
from sensegraph.models.endpoint.calls import Calls
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.incoming import Broken, Incoming, Oversized, Response, unpack
from sensegraph.models.endpoint.outcomes import Kind, Outcome


def come(*pieces: bytes, packed: str | None = None) -> Incoming:
    return Incoming(200, {} if packed is None else {"content-encoding": packed}, iter(pieces))


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        ((), []),
        ((b"a",), [b"a"]),
        ((b"a\n",), [b"a"]),
        ((b"a\r\nb",), [b"a", b"b"]),
        ((b"a\r", b"\nb\r\r\n"), [b"a", b"b\r"]),
        ((b"a", b"b\nc", b"d\n\ne\n"), [b"ab", b"cd", b"", b"e"]),
        ((b"\n\n",), [b"", b""]),
        ((b"end\r",), [b"end\r"]),
    ],
)
def test_lines_are_given_without_their_ends_however_they_come(pieces: tuple[bytes, ...], lines: list[bytes]) -> None:
    assert list(come(*pieces)) == lines


@pytest.mark.parametrize(
    ("bound", "value", "pieces", "said"),
    [
        ("STREAM", 6, (b"abc\n", b"de"), None),
        ("STREAM", 5, (b"abc\n", b"de"), "a stream of more than 0 MB or 500,000 lines"),
        ("EVENTS", 3, (b"a\nb\n", b"c\n"), None),
        ("EVENTS", 2, (b"a\nb\n", b"c\n"), "a stream of more than 128 MB or 2 lines"),
        ("WHOLE", 3, (b"ab", b"c\n", b"abc"), None),
        ("WHOLE", 3, (b"ab", b"cd\n"), "an event of more than 0 MB"),
    ],
)
def test_a_stream_and_each_of_its_events_may_be_so_long(
    monkeypatch: pytest.MonkeyPatch, bound: str, value: int, pieces: tuple[bytes, ...], said: str | None
) -> None:
    monkeypatch.setattr(incoming, bound, value)
    if said is None:
        assert b"".join(list(come(*pieces))) == b"".join(pieces).replace(b"\n", b"")
    else:
        with pytest.raises(Oversized, match=f"^{said}$"):
            list(come(*pieces))


@pytest.mark.parametrize(
    ("pieces", "whole", "most", "grown"),
    [
        ((b"abc", b"d"), 4, 4, 0),
        ((b"abc", b"de"), 4, 5, 1),
        ((b"abc", b"de"), 4, 4, -1),
        ((b"abcde", b"f", b"g"), 4, 9, 1),
        ((b"abcd", b"e", b"f"), 4, 9, 1),
        ((), 4, 0, 0),
    ],
)
def test_a_long_reply_says_once_that_it_is_long(
    monkeypatch: pytest.MonkeyPatch, pieces: tuple[bytes, ...], whole: int, most: int, grown: int
) -> None:
    monkeypatch.setattr(incoming, "WHOLE", whole)
    told: list[str] = []
    if grown < 0:
        with pytest.raises(Oversized, match=r"^a reply of more than 0 MB$"):
            come(*pieces).read_whole(most, lambda: told.append("grown"))
    else:
        assert come(*pieces).read_whole(most, lambda: told.append("grown")) == Response(200, {}, b"".join(pieces))
        assert len(told) == grown


@pytest.mark.parametrize(("most", "fits"), [(5, True), (4, False)])
def test_a_file_is_written_anew_up_to_a_length(monkeypatch: pytest.MonkeyPatch, most: int, fits: bool) -> None:
    monkeypatch.setattr(incoming, "DOWNLOAD", most)
    file = BytesIO(b"what was there before")
    file.read(5)
    if fits:
        assert come(b"abc", b"de").write_into(file) == Response(200, {}, b"")
        assert file.getvalue() == b"abcde"
    else:
        with pytest.raises(Oversized, match=r"^a file of more than 0 MB$"):
            come(b"abc", b"de").write_into(file)


TEXT = b"some words " * 20_000


@pytest.mark.parametrize(
    ("packed", "content"),
    [
        ("", TEXT), ("identity", TEXT), (" UTF-8 ", TEXT), ("gzip", gzip.compress(TEXT)), 
        ("X-GZIP", gzip.compress(TEXT)),
        (" Deflate", zlib.compress(TEXT)), ("gzip", zlib.compress(TEXT)), ("deflate", gzip.compress(TEXT)),
        ("gzip", gzip.compress(TEXT) + b"what follows"),
    ],
)  # fmt: skip
def test_what_is_packed_is_unpacked_in_pieces(packed: str, content: bytes) -> None:
    for pieces in ([content], [content[:20], content[20:]], [bytes([b]) for b in content[:30]] + [content[30:]]):
        found = list(unpack({"content-encoding": packed}, iter(pieces)))
        assert b"".join(found) == TEXT
        if packed.strip().casefold() in ("gzip", "x-gzip", "deflate"):
            assert max(map(len, found)) <= 65_536


@pytest.mark.parametrize(
    ("packed", "content", "said"),
    [
        ("br", b"x", "the reply is packed as 'br', which was not asked for"),
        ("y" * 41, b"x", f"the reply is packed as '{'y' * 40}', which was not asked for"),
        ("gzip", b"no gzip", "the reply is not packed as gzip, as it says"),
        ("deflate", zlib.compress(TEXT)[:-1], "the packed reply ended before its end"),
    ],
)
def test_what_cannot_be_unpacked_is_broken(packed: str, content: bytes, said: str) -> None:
    with pytest.raises(Broken) as told:
        come(content, packed=packed).read_whole()
    assert str(told.value) == said


@pytest.mark.parametrize(
    ("before", "asked", "waits"),
    [
        (0, None, 2.0), (1, None, 4.0), (3, None, 16.0), (4, None, 30.0), (0, 7.0, 7.0), (2, 7.0, 7.0),
        (3, 7.0, 7.0), (4, 7.0, 8.0), (5, 7.0, 16.0), (4, 9.0, 9.0), (9, 7.0, 30.0), (0, 0.0, 0.0), (3, 0.0, 4.0),
    ],
)  # fmt: skip
def test_a_pause_is_as_asked_and_longer_where_that_did_not_help(
    monkeypatch: pytest.MonkeyPatch, before: int, asked: float | None, waits: float
) -> None:
    settings = EndpointSettings(base_url="http://h/v1", model="m", max_retries=2, backoff_s=2.0)
    made = Calls(settings, "http://h/v1", None, "")
    monkeypatch.setattr(
        calls, "choose_pause", lambda n, after, first: min(30.0, first * 2**n) if after is None else after
    )
    outcome: Any = Outcome(Kind.DOWN, "why", wait=asked)
    assert made._choose_pause(before, calls._Failure(outcome, ValueError(), True)) == waits
