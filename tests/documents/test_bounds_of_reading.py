"""Both sides of bounds in reading files: damage, pauses over the hour, captions, lists in front matter, counts."""

from __future__ import annotations

import io
import random
import zipfile
import zlib
from pathlib import Path

import pytest

from sensegraph.documents import load
from sensegraph.documents.decoding import decode_text
from sensegraph.documents.document_files import DEFAULTS, DocumentSettings, list_document_files
from sensegraph.documents.images import unpacks_within
from sensegraph.documents.markup import split_front_matter
from sensegraph.documents.metadata import read_iso_date
from sensegraph.documents.office import check_packed, count_unpacked
from sensegraph.documents.subtitles import parse_subtitles
from sensegraph.documents.tables import tell_table
from sensegraph.errors import InputError
from sensegraph.types import Document


def make_damaged(umlauts: int) -> bytes:
    return ("x y " * 300 + "ä" * umlauts).encode() + b"\xff a \xff"


def test_damaged_utf8_has_five_good_characters_for_each_lost_one() -> None:
    text, note = decode_text(make_damaged(10))
    assert (text.count("ä"), text.count("\ufffd"), note.split()[0]) == (10, 2, "2")
    with pytest.raises(InputError):
        decode_text(make_damaged(9))


@pytest.mark.parametrize(
    ("ends", "begins", "paragraphs"),
    [
        ("00:59:59,000", "01:00:02,900", 1),
        ("00:59:59,000", "01:00:03,000", 2),
        ("00:00:59,000", "00:01:02,900", 1),
        ("00:00:59,000", "00:01:03,000", 2),
        ("01:00:00,000", "00:00:03,000", 1),
    ],
)
def test_a_pause_of_four_seconds_ends_a_paragraph_over_minutes_and_hours(
    ends: str, begins: str, paragraphs: int
) -> None:
    text = f"00:00:01,000 --> {ends}\nOne\n\n{begins} --> 02:00:00,000\ntwo\n"
    assert len(parse_subtitles("a.srt", text).text.split("\n\n")) == paragraphs


def test_a_caption_above_a_header_of_two_columns_stands_first() -> None:
    ((_, found),) = tell_table("a.csv", "A table\nName,Born\nAda,1815\n", DocumentSettings())
    assert isinstance(found, Document)
    assert found.text == "A table\n\nName: Ada; Born: 1815."


@pytest.mark.parametrize(
    ("value", "read"), [("[a, b]", ["a", "b"]), ("[a", "[a"), ("a]", "a]"), ("yes", "yes"), ("12", 12)]
)
def test_a_list_in_front_matter_has_both_brackets(value: str, read: object) -> None:
    assert split_front_matter(f"---\nkey: {value}\n---\nText\n")[0] == {"key": read}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Fri, 5 Apr 2024 10:00:00 +0200", "2024-04-05T10:00:00+02:00"),
        ("Fri, 5 Apr 2024", ""),
        ("5 Apr 2024", "2024-04-05"),
    ],
)
def test_the_date_of_a_mail_has_a_time(text: str, read: str) -> None:
    assert read_iso_date(text) == read


def test_files_of_one_unknown_kind_are_left_out_and_counted(tmp_path: Path) -> None:
    for name in ("a.txt", "b.zzz", "c.qqq", "d.qqq", "bare", ".hidden.txt", "sub/e.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("Text.")
    files, left = list_document_files(str(tmp_path), DEFAULTS)
    assert [f.name for f in files] == ["a.txt", "sub/e.md"]
    assert [s.reason.split(";")[0].split()[:3] for s in left] == [
        ["1", "file", "without"],
        ["2", ".qqq", "files"],
        ["1", ".zzz", "file"],
    ]
    files, left = list_document_files(str(tmp_path), DocumentSettings(include=("*.qqq", "*.txt"), exclude=("d*",)))
    assert ([f.name for f in files], left) == (["a.txt", "c.qqq"], [])


@pytest.mark.parametrize("deep", [20, 21, 40])
def test_lists_of_front_matter_are_read_twenty_deep_and_the_rest_is_text(deep: int) -> None:
    value: object = split_front_matter(f"---\nkey: {'[' * deep}x{']' * deep}\n---\nText\n")[0]["key"]
    for _ in range(20):
        assert isinstance(value, list)
        (value,) = value
    assert value == f"{'[' * (deep - 20)}x{']' * (deep - 20)}"


@pytest.mark.parametrize(("bad", "more"), [(20, ""), (21, "1 more records"), (24, "4 more records")])
def test_twenty_records_that_cannot_be_used_are_named_and_the_rest_is_counted(
    tmp_path: Path, bad: int, more: str
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"text": "It rained."}\n' + "no record\n" * bad)
    found = load([file])
    reasons = [skipped.reason for skipped in found.skipped]
    assert len(found.documents) == 1
    assert len([reason for reason in reasons if "more records" not in reason]) == 20
    assert [reason for reason in reasons if "more records" in reason] == (
        [f"holds {more} that cannot be used, like those named."] if more else []
    )


def test_a_header_of_toml_is_read_up_to_twenty_thousand_characters() -> None:
    longest = 'title = "T"\n# ' + "x" * (19_999 - len('title = "T"\n# '))  # and the end of the last line
    assert split_front_matter(f"+++\n{longest}\n+++\nText") == ({"title": "T"}, "\nText")
    assert split_front_matter(f"+++\n{longest}x\n+++\nText")[0] == {}


def test_many_damaged_places_are_mended_in_a_long_text_that_has_a_thousand_characters_for_each() -> None:
    damage = ("ä" * 60).encode() + b" \xff" * 9
    assert decode_text(("word " * 8000).encode() + damage)[1].startswith(
        "9 damaged places are no UTF-8 (first in line 1)"
    )
    with pytest.raises(InputError, match="save it as UTF-8"):
        decode_text(("word " * 600).encode() + damage)
    assert "line 2" in decode_text("\nä ö ü ä ö ü".encode() + b"\xff")[1]


def test_a_stream_that_is_packed_in_several_blocks_is_unpacked_to_its_end() -> None:
    packed = zlib.compress(random.Random(1).randbytes(2_500_000), 1)
    assert len(packed) > 2 * (1 << 20)
    assert unpacks_within(packed, 0, 2_500_000)
    assert not unpacks_within(packed, 0, 2_499_999)


def test_parts_of_an_archive_that_are_packed_in_several_blocks_are_counted_to_their_end() -> None:
    held, file = random.Random(2).randbytes(2_500_000), io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("a.bin", held)
        archive.writestr("b.txt", b"x" * 3_000_000)
        archive.writestr(zipfile.ZipInfo("c.txt"), b"stored")
    data = file.getvalue()
    counts = {part.filename: count_unpacked(data, part, 10_000_000) for part in archive.filelist}
    assert counts == {"a.bin": 2_500_000, "b.txt": 3_000_000, "c.txt": 6}
    check_packed(data, 5_500_006)
    with pytest.raises(InputError, match="unpacks to more than 5,500,005 bytes"):
        check_packed(data, 5_500_005)
