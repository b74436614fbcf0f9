"""Bytes made shorter and read again, of this version and of those before, and what is refused."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.runtime.shortening import Unreadable, lengthen, shorten

TEXT = b"The boat is in the harbour. " * 40


@given(st.binary(max_size=3000), st.integers(1, 12), st.binary(max_size=300))
def test_what_was_made_shorter_is_read_as_it_was(content: bytes, level: int, start: bytes) -> None:
    assert lengthen(shorten(content, level, start), start) == content


@given(st.binary(max_size=3000), st.binary(max_size=300))
def test_what_zlib_made_shorter_is_read(content: bytes, start: bytes) -> None:
    made = zlib.compressobj(5, zdict=start) if start else zlib.compressobj(5)
    assert lengthen(made.compress(content) + made.flush(), start) == content


def test_a_beginning_that_it_resembles_makes_it_shorter() -> None:
    said = TEXT[:400].upper()
    assert len(shorten(b"It is told: " + said, 5, said)) < len(shorten(b"It is told: " + said, 5)) - 10


@pytest.mark.parametrize("made", [shorten(TEXT, 5), zlib.compress(TEXT)])
def test_what_is_cut_or_goes_on_or_is_longer_than_is_allowed_is_unreadable(made: bytes) -> None:
    assert lengthen(made, most=len(TEXT)) == TEXT
    for most in (0, 1, len(TEXT) - 1):
        with pytest.raises(Unreadable):
            lengthen(made, most=most)
    for other in (made[:-9], made[:4], b"", made + b"x", b"x" + made):
        with pytest.raises(Unreadable):
            lengthen(other)
