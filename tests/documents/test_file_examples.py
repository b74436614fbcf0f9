"""Files that are read: bytes, subtitles, tables, dates, reStructuredText and mails, in small worked examples."""

from __future__ import annotations

import pytest

from sensegraph.documents.decoding import decode_text
from sensegraph.documents.document_files import DocumentSettings, File
from sensegraph.documents.mails import parse_plain, read_mail, read_mailbox
from sensegraph.documents.metadata import read_iso_date, to_scalar
from sensegraph.documents.restructured import parse_restructured_text
from sensegraph.documents.subtitles import parse_subtitles
from sensegraph.documents.tables import tell_table
from sensegraph.types import Document


def decode(data: bytes, declared: str) -> tuple[str, str]:
    return decode_text(data, declared)


def show(document: Document) -> tuple[str, str, tuple[object, ...], str]:
    return document.text, document.title, document.metadata, document.time


def read_subtitles(text: str) -> tuple[object, ...]:
    return show(parse_subtitles("a.srt", text))


def read_table(name: str, text: str) -> list[object]:
    settings = DocumentSettings(time_column="Date")
    return [
        item.partition(",")[0] if isinstance(item, str) else show(item) for _, item in tell_table(name, text, settings)
    ]


def read_restructured(text: str) -> tuple[object, ...]:
    return show(parse_restructured_text("a.rst", text))


def read_plain(text: str) -> tuple[object, ...]:
    return show(parse_plain("a.txt", text))


def read_mails(data: bytes, many: bool) -> list[tuple[str, object]]:
    found = read_mailbox("a.mbox", data) if many else read_mail("a.eml", data)
    return [(where, item.partition(",")[0] if isinstance(item, str) else show(item)) for where, item in found]


def find_extension(name: str) -> str:
    return File(name, name).extension


@pytest.mark.parametrize(
    ("data", "declared", "expected"),
    [
        (b"h\xe4user und g\xe4rten sind sch\xf6n", "", ("häuser und gärten sind schön", "")),
        (b"\xd0\xd2\xc9\xd7\xc5\xd4", "koi8-r", ("привет", "")),
        (
            (
                b"\xa4\xb3\xa4\xec\xa4\xcf\xa5\xda\xa5\xf3\xa4\xc7\xa4\xb9\xa1\xa3\xc5\xec\xb5\xfe\xa4\xd8\xb9\xd4\xa4\xad\xa4\xde\xa4\xb7\xa4\xbf\xa1\xa3"
            ),
            "",
            ("これはペンです。東京へ行きました。", ""),
        ),
        (b"\x00a\x00b\x00c\x00 \x00d\x00e\x00f\x00 \x00g\x00h", "", ("abc def gh", "")),
        (b"qg\xacN \x00h0 \x00'Y*\x96\x010", "", ("東京 と 大阪、", "")),
        (b"\xef\xbb\xbfabc", "", ("abc", "")),
        (b"a\x00b c d e f", "", ("ab c d e f", "")),
    ],
)
def test_bytes_are_decoded(data: bytes, declared: str, expected: object | tuple[object, ...]) -> None:
    assert decode(data, declared) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "00:00:01,000 --> 00:00:02,000\nHello\n\n00:00:06,000 --> 00:00:07,000\nthere\n\n",
            ("Hello\n\nthere", "", (), ""),
        ),
        (
            "00:00:01,000 --> 00:00:02,000\nHello\n\n00:00:05,900 --> 00:00:07,000\nthere\n\n",
            ("Hello there", "", (), ""),
        ),
        (
            (
                "1\n00:00:01,000 --> 00:00:02,000\nx\n2\n00:00:02,000 --> 00:00:03,000\ny\n3\n"
                "00:00:08,000 --> 00:00:09,000\n7\n"
            ),
            ("x y\n\n7", "", (), ""),
        ),
        (
            ("00:00:01,000 --> 00:00:02,000\n<v Ann>One\ntwo\n\n00:00:07,000 --> 00:00:08,000\nthree\n"),
            ("Ann: One two\n\nthree", "", (), ""),
        ),
        ("59:59.000 --> 1:00:00.000\nx\n\n1:00:03.500 --> 1:00:05.000\ny", ("x y", "", (), "")),
    ],
)
def test_subtitles_are_joined(text: str, expected: tuple[object, ...]) -> None:
    assert read_subtitles(text) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "a.csv",
            "Name\tBorn\nAda\t1815\n",
            [("Name: Ada; Born: 1815.", "a", (("columns", "Name, Born"), ("rows", 1)), "")],
        ),
        (
            "a.csv",
            "# remark\nName,Born\n# more\n# still\nAda,1815\n# end\n",
            [
                (
                    "remark\nmore\nstill\n\nName: Ada; Born: 1815.\n\nend",
                    "a",
                    (("columns", "Name, Born"), ("rows", 1)),
                    "",
                )
            ],
        ),
        (
            "a.csv",
            "#Name,Born\nAda,1815\n",
            [("Name: Ada; Born: 1815.", "a", (("columns", "Name, Born"), ("rows", 1)), "")],
        ),
        ("a.csv", "Name\nAda\nTom\n", [("Name: Ada.\n\nName: Tom.", "a", (("columns", "Name"), ("rows", 2)), "")]),
        (
            "a.csv",
            "Name,Date\nAda,2020-05-03\nTom,2021-05-03\n",
            [
                (
                    "Name: Ada; Date: 2020-05-03.\n\nName: Tom; Date: 2021-05-03.",
                    "a",
                    (("columns", "Name, Date"), ("rows", 2)),
                    "",
                )
            ],
        ),
        (
            "a.csv",
            "Name,Date\nAda,1589000000\n",
            [
                (
                    "Name: Ada; Date: 2020-05-09T04:53:20+00:00.",
                    "a",
                    (("columns", "Name, Date"), ("rows", 1)),
                    "2020-05-09T04:53:20+00:00",
                )
            ],
        ),
        (
            "a.csv",
            "Name,Date\nAda,5 May 2020\nTom\n",
            [("Name: Ada; Date: 2020-05-05.\n\nTom", "a", (("columns", "Name, Date"), ("rows", 1)), "2020-05-05")],
        ),
        (
            "a.csv",
            "'Name','Born'\n'A, B','1815'\n",
            [("Name: A, B; Born: 1815.", "a", (("columns", "Name, Born"), ("rows", 1)), "")],
        ),
        ("a.csv", "Name,Born\n,\n\nAda,\n", [("Name: Ada.", "a", (("columns", "Name, Born"), ("rows", 1)), "")]),
    ],
)
def test_a_table_is_told(name: str, text: str, expected: list[tuple[object, ...]] | object) -> None:
    assert read_table(name, text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2020/5/3", "2020-05-03"),
        ("2024-05-03T10:00", "2024-05-03T10:00:00"),
        (100000000, "1973-03-03T09:46:40+00:00"),
        (100000000000, "1973-03-03T09:46:40+00:00"),
        (100000000000000, ""),
    ],
)
def test_a_date_is_read(value: int | str, expected: str) -> None:
    assert read_iso_date(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (9223372036854775807, 9223372036854775807),
        (9223372036854775808, "9223372036854775808"),
        (1.5, 1.5),
        ([1, {"b": 2}], '[1,{"b":2}]'),
    ],
)
def test_a_value_is_a_scalar(value: float | int | list[dict[str, int] | int], expected: float | int | str) -> None:
    assert to_scalar(value) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            (
                "Title\n=====\n\n:Date: 2020-05-03\n:Author: Ada\n\nText *weak* and **strong** and "
                "``lit`` and :ref:`words <x>` and link_.\n"
            ),
            (
                "Title\n=====\n\nText weak and strong and lit and words and link.",
                "Title",
                (("author", "Ada"),),
                "2020-05-03",
            ),
        ),
        (
            (".. comment\n   more\n\nText.\n\n.. note:: Take care\n   and more\n   :opt: x\n\n   second\n\nAfter.\n"),
            ("Text.\n\nTake care\n   and more\n   opt: x\n\n   second\n\nAfter.", "", (), ""),
        ),
        (
            (".. code:: py\n   :number: 1\n\n   x = *a*\n\n   y\n\nText::\n\n   lit *x*\n\nEnd ::\n\n  q\nz\n"),
            ("   x = *a*\n\n   y\n\nText:\n\n   lit *x*\n\nEnd :\n\n  q\nz", "", (), ""),
        ),
        (
            ":title: Mine\n:date: soon\n  later\n\nText\n\n:field: value here\n",
            ("Text\n\nfield: value here", "Mine", (("date", "soon later"),), ""),
        ),
    ],
)
def test_restructured_text_is_read(text: str, expected: tuple[object, ...]) -> None:
    assert read_restructured(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            ("From: Ada <a@b.c>\nTo: t@b.c\nSubject: Pier\nDate: Sun, 5 May 2024 10:00:00 +0200\n\nDear Tom\n"),
            (
                ("From: Ada <a@b.c>\nTo: t@b.c\nSubject: Pier\nDate: Sun, 5 May 2024 10:00:00 +0200\n\nDear Tom\n"),
                "Pier",
                (("from", "Ada <a@b.c>"), ("to", "t@b.c")),
                "2024-05-05T10:00:00+02:00",
            ),
        ),
        (
            "---\ntime: 2020\npublished: 2021\nTitle: X\n---\nText\n",
            ("---\ntime: 2020\npublished: 2021\nTitle: X\n---\nText\n", "X", (("published", 2021), ("time", 2020)), ""),
        ),
    ],
)
def test_the_header_of_a_plain_text_is_read(text: str, expected: tuple[object, ...]) -> None:
    assert read_plain(text) == expected


@pytest.mark.parametrize(
    ("data", "many", "expected"),
    [
        (
            (
                b"From: a@b.c\nTo: t@b.c\nSubject: Pier\nDate: Sun, 5 May 2024 10:00:00 +0200\n"
                b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=X\n\n--X\n"
                b"Content-Type: text/plain\n\nHello\n--X\nContent-Type: application/pdf\n"
                b"Content-Disposition: attachment; filename=a.pdf\n\nzz\n--X\nContent-Type: "
                b"application/pdf\nContent-Disposition: attachment\n\nzz\n--X--\n"
            ),
            False,
            [
                (
                    "",
                    "holds the attachment 'a.pdf' (application/pdf)",
                ),
                (
                    "",
                    "holds an attachment without a name (application/pdf)",
                ),
                ("", ("Hello", "Pier", (("from", "a@b.c"), ("to", "t@b.c")), "2024-05-05T10:00:00+02:00")),
            ],
        ),
        (
            (
                b"From: a@b.c\nTo: t@b.c\nSubject: Pier\nDate: Sun, 5 May 2024 10:00:00 +0200\n"
                b"Content-Type: text/plain; charset=nope\n\nh\xc3\xa9\n"
            ),
            False,
            [("", ("hé\n", "Pier", (("from", "a@b.c"), ("to", "t@b.c")), "2024-05-05T10:00:00+02:00"))],
        ),
        (b"Subject: Gr\xc3\xbc\xc3\x9fe an alle\n\n\xc3\xbcx\n", False, [("", ("üx\n", "Grüße an alle", (), ""))]),
        (
            (
                b"From x\r\nFrom: a@b.c\r\nTo: t@b.c\r\nSubject: Pier\r\nDate: Sun, 5 May 2024 "
                b"10:00:00 +0200\r\n\r\nOne\r\n\r\nFrom y\r\nSubject: s\r\n\r\n\r\n"
            ),
            True,
            [
                ("mail 1", ("One\n\n", "Pier", (("from", "a@b.c"), ("to", "t@b.c")), "2024-05-05T10:00:00+02:00")),
                ("mail 2", "is a mail without text; save what is attached as files to read it."),
            ],
        ),
    ],
)
def test_mails_are_read(data: bytes, many: bool, expected: list[tuple[object, ...]]) -> None:
    assert read_mails(data, many) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (".hidden", ""),
    ],
)
def test_an_extension_is_that_of_the_file(name: str, expected: str) -> None:
    assert find_extension(name) == expected
