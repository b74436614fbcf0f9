"""Replies that came packed: what is empty, what ends too soon, and what comes without end and holds nothing."""

from __future__ import annotations

import gzip
import zlib

import pytest

from sensegraph.models.endpoint import incoming
from sensegraph.models.endpoint.incoming import Broken, Incoming, Oversized

GZIP, DEFLATE = {"content-encoding": "gzip"}, {"content-encoding": "deflate"}


def read(headers: dict[str, str], *pieces: bytes) -> bytes:
    return Incoming(200, headers, iter(pieces)).read_whole().body


def test_a_packed_reply_without_a_body_is_empty_and_one_that_ends_too_soon_is_broken() -> None:
    packed = gzip.compress(b"{}")
    assert read(GZIP, packed) == b"{}"
    assert read(DEFLATE, zlib.compress(b"{}")) == b"{}"
    assert read(GZIP) == b""
    with pytest.raises(Broken, match="ended before its end"):
        read(GZIP, packed[:-1])
    with pytest.raises(Broken, match="ended before its end"):
        read(GZIP, packed[:1])


def test_a_packed_reply_may_be_longer_than_what_it_holds_by_the_bound_of_a_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nothing, end = b"\x78\x9c" + 2 * b"\x00\x00\x00\xff\xff", b"\x01\x00\x00\xff\xff\x00\x00\x00\x01"
    monkeypatch.setattr(incoming, "STREAM", len(nothing))
    assert read(DEFLATE, nothing, end) == b""
    monkeypatch.setattr(incoming, "STREAM", len(nothing) - 1)
    with pytest.raises(Oversized, match="holds nothing"):
        read(DEFLATE, nothing, end)
