"""The thresholds of telling text from what is none, each from both sides."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from sensegraph.documents.decoding import SAMPLE, _sample_lines, decode_text
from sensegraph.documents.metadata import read_iso_date
from sensegraph.errors import InputError


def refuses(data: bytes) -> bool:
    try:
        return not decode_text(data)[0]
    except InputError:
        return True


def test_nuls_are_strays_up_to_a_fifth_of_a_file():
    words = b"the mill stands " * 5  # NULs on both sides of the pairs, so that it is no UTF-16
    assert len(words) == 80
    assert decode_text(words + b"\0" * 20) == (words.decode(), "")
    assert refuses(words + b"\0" * 21)


@pytest.mark.parametrize(("rare", "read"), [("Ā", True), ("ĀĀ", False)])
def test_utf_16_without_a_mark_has_a_tenth_of_its_nuls_on_the_other_side_at_most(rare: str, read: bool):
    text = ("millstand"[: 10 - len(rare)] + rare) * 4
    data = text.encode("utf-16-le")
    assert data.decode("ascii")  # so that only where the NULs lie tells what it is
    assert (decode_text(data) == (text, "")) if read else refuses(data)


def test_other_control_bytes_are_left_out_as_strays_up_to_a_hundredth_of_a_file():
    words = b"the mill stands still" * 10
    assert decode_text(words[:198] + b"\1\2") == (words[:198].decode(), "")
    assert refuses(words[:197] + b"\1\2\3")


def test_what_a_mark_promises_may_be_damaged_up_to_a_fifth():
    mark = b"\xef\xbb\xbf"
    text, note = decode_text(mark + b"word" * 4 + b"\xff a" * 4)
    assert text == "word" * 4 + "\ufffd a" * 4
    assert note.startswith("4 damaged places are no UTF-8 (first in line 1)")
    assert decode_text(mark + b"one\ntwo\xff more")[1].startswith("1 damaged place is no UTF-8 (first in line 2)")
    assert decode_text(mark + b"word" * 3 + b"\xff a" * 6)[1].startswith("6 damaged places")
    assert refuses(mark + b"word" * 2 + b"wor" + b"\xff a" * 6)


def test_three_damaged_places_of_a_short_text_are_replaced_where_five_times_as_many_are_whole():
    whole = "Schöne Grüße: müde Füße, nasse Bärte, böse Köche, süße Öle, Ärger, Übermut, zwölf Körbe, kühle Flüsse. "
    assert sum(not c.isascii() for c in whole) == 18
    for count in (1, 2, 3):
        text, note = decode_text(whole.encode() + b"\xfc, " * count)
        assert text.startswith(whole)
        assert (text.count("\ufffd"), note.split()[0]) == (count, str(count))
    assert "\ufffd" not in decode_text(whole.encode() + b"\xfc, " * 4)[0]


def test_the_sample_of_a_long_line_ends_between_characters():
    """From 200 bytes before what is not ASCII to the end of its line, or to the last blank of the sample."""
    assert _sample_lines(b"plain\n" * 9) == b""
    assert _sample_lines(b"plain\n" * 100 + b"caf\xe9 noir\nplain\n") == (b"plain\n" * 100)[-197:] + b"caf\xe9 noir\n"
    for blank, taken in ((SAMPLE * 2 // 5, SAMPLE), (SAMPLE * 3 // 5, SAMPLE * 3 // 5 + 1 + SAMPLE)):
        line = b"\xe9" * blank + b" " + b"\xe9" * SAMPLE * 2  # cut at the blank where more than half lies before it
        assert len(_sample_lines(line)) == taken
        assert line.startswith(_sample_lines(line))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (10**8 - 1, ""),
        (10**8, "1973-03-03T09:46:40+00:00"),
        (10**11 - 1, "5138-11-16T09:46:39+00:00"),
        (10**11, "1973-03-03T09:46:40+00:00"),
        (10**14 - 1000, "5138-11-16T09:46:39+00:00"),
        (10**13, "2286-11-20T17:46:40+00:00"),
        (10**14, ""),
        (date(2024, 3, 5), "2024-03-05"),
        (datetime(2024, 3, 5, 6, 7), "2024-03-05T06:07:00"),
        ("2024-03-05T06:07:08." + "0" * 44, "2024-03-05T06:07:08"),
        ("2024-03-05T06:07:08." + "0" * 45, ""),
        ("  2024-3  ", ""),
        ("2024-03-05" + " " * 60, "2024-03-05"),
        ("1 Jan 2024", "2024-01-01"),
        ("December 31, 2024", "2024-12-31"),
        ("31.12.2024", "2024-12-31"),
        ("2024/3/5 06:07", "2024-03-05T06:07:00"),
        ("2024.03.05", "2024-03-05"),
        (1.7e9, "2023-11-14T22:13:20+00:00"),
        (False, ""),
    ],
)
def test_times_are_read_up_to_their_bounds(value: object, expected: str):
    assert read_iso_date(value) == expected
