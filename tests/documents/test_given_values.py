"""Documents that are given as values, pages that are nested too deeply, and archives that unpack to too much."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from sensegraph.documents import office
from sensegraph.documents.document_files import DocumentSettings, take_snapshot
from sensegraph.documents.mails import _decode_word, read_mailbox
from sensegraph.documents.nesting import check_nesting
from sensegraph.documents.office import check_packed
from sensegraph.documents.values import check_storable, list_values
from sensegraph.errors import InputError
from sensegraph.types import Document

A, B = Document("a", "one"), Document("b", "two", "B", (("year", 2023), ("ok", True), ("none", None)), "2023-05")


def test_documents_are_taken_from_among_paths_and_iterables() -> None:
    assert list_values([A, "path", Path("other"), [B], iter([A])]) == [A, B, A]
    assert list_values([]) == []


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (3, "What is added is a path, a Document or an iterable"),
        (b"raw", "What is added is a path, a Document or an iterable"),
        (["a"], "An iterable that is added holds Documents, not 'a'"),
        (Document(3, "x"), "needs a text as its id, not int"),  # type: ignore[arg-type]
        (Document("a", None), "'a' needs a text as its text, not NoneType"),  # type: ignore[arg-type]
        (Document("a", "x", 3), "'a' needs a text as its title, not int"),  # type: ignore[arg-type]
        (Document("a", "x", time=3), "'a' needs a text as its time, not int"),  # type: ignore[arg-type]
        (Document("a", "x", time="soon"), "is 'soon', which is no date of ISO 8601"),
        (Document("a", "x", metadata=3), "are pairs such as .*, not a int"),  # type: ignore[arg-type]
        (Document("a", "x", metadata=(("a",),)), r"are pairs such as .*, not \('a',\)"),  # type: ignore[arg-type]
        (Document("a", "x", metadata=((1, 2),)), r"are pairs such as .*, not \(1, 2\)"),  # type: ignore[arg-type]
        (Document("a", "x", metadata=(("a", 1, 2),)), "are pairs such as"),  # type: ignore[arg-type]
        (Document("a", "x", metadata=("ab",)), "are pairs such as"),  # type: ignore[arg-type]
        (Document("a", "x", metadata=(("a", [1]),)), "metadata a of the document 'a' is a text, .* not a list"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_document_is_named(item: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        list_values([A, item])


def test_what_cannot_be_stored_is_named() -> None:
    check_storable([A, B])
    check_storable([])
    for documents, said in (
        ([A, Document("", "x"), Document("", "y")], "2 documents have no id"),
        ([A, B, A], "The id 'a' is given more than once"),
        ([Document("a", "\ud83d")], "'a' holds no valid Unicode"),
        ([Document("a", "x", metadata=(("k", object()),))], "'a' cannot be stored"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InputError, match=said):
            check_storable(documents)


# ── pages ──


def nests(page: str) -> bool:
    try:
        check_nesting(page)
    except InputError as e:
        return "nests more than 1000 elements" in str(e)
    return False


@pytest.mark.parametrize(
    ("page", "deep"),
    [
        ("<div>" * 1000, False),  # so few tags are not looked at
        ("<div>" * 1000 + "<br>", False),
        ("<div>" * 1001, True),
        ("<div>" * 1000 + "</div>" * 1000 + "<div>" * 1000, False),
        ("<div>" * 900 + "</p>" * 900 + "<div>" * 101, True),
        ("<div>" * 900 + "</div>" * 900 + "</div>" * 900 + "<div>" * 1000, False),
        ("<br>" * 5000, False),
        ("<p>" * 5000 + "<LI>" * 5000, False),
        ("<div/>" * 1001, True),  # which ends nothing in HTML
        ("<svg>" + "<g/>" * 3000, False),
        ("<math>" + "<g/>" * 3000, False),
        ("<svg></svg>" + "<g/>" * 1001, True),
        ("<!--" + "<div>" * 3000 + "-->", False),
        ("<!--" + "<div>" * 3000, False),
        ("<script>" + "<div>" * 3000 + "</script>", False),
        ("<textarea>" + "<div>" * 3000, False),
        ("<b><i>" * 10 + "<p>" * 3000, True),  # twenty marks are opened anew in each paragraph
        ("<b>" + "<p>" * 3000, False),
        ("<b>" * 9 + "</b>" * 9 + "<p>" * 3000, False),
        ("<span>" * 20 + "<p>" * 3000, False),
        ("<em>" * 8 + "<section></section>" * 3000, False),
    ],
)
def test_a_page_is_refused_where_it_nests_too_deeply(page: str, deep: bool) -> None:
    assert nests(page) is deep


def test_a_page_is_refused_where_it_is_too_long_or_has_too_many_tags() -> None:
    check_nesting("x" * 20_000_000)
    for page in ("x" * 20_000_001, "<" * 1_000_001):
        with pytest.raises(InputError, match="more than 20,000,000 characters or 1,000,000 tags"):
            check_nesting(page)


# ── archives ──


def pack(*parts: tuple[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", how) as archive:
        for name, content in parts:
            archive.writestr(name, content)
    return held.getvalue()


def test_what_an_archive_unpacks_to_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = os.urandom(5_000)
    data = pack(("a", noise), ("b", noise))
    check_packed(data, 10_000)
    with pytest.raises(InputError, match="unpacks to more than 9,999 bytes"):
        check_packed(data, 9_999)
    stored = pack(("a", noise), how=zipfile.ZIP_STORED)
    check_packed(stored, 5_000)
    with pytest.raises(InputError, match="unpacks to more than 4,999 bytes"):
        check_packed(stored, 4_999)
    with pytest.raises(InputError, match="packed in a way that office files are not"):
        check_packed(pack(("a", noise), how=zipfile.ZIP_LZMA), 10_000)
    broken = bytearray(pack(("a", b"The tide turns. " * 400)))
    broken[31:60] = b"\xff" * 29
    for damaged in (data[:-30], bytes(broken)):
        with pytest.raises(InputError, match="is a damaged archive"):
            check_packed(damaged, 10**9)
    bomb = pack(("a", bytes(office._SMALL + 1)))
    with pytest.raises(InputError, match="as no honest file does"):
        check_packed(bomb, 10**9)
    check_packed(pack(("a", bytes(office._SMALL))), 10**9)
    monkeypatch.setattr(office, "_MOST_PARTS", 2)
    check_packed(data, 10**6)
    with pytest.raises(InputError, match="holds more than 2 parts"):
        check_packed(pack(("a", b""), ("b", b""), ("c", b"")), 10**6)


# ── mails, and what was seen of files ──


def read(data: bytes) -> list[tuple[str, str]]:
    return [
        (where, item if isinstance(item, str) else f"{item.title}|{item.text.strip()}")
        for where, item in read_mailbox("m", data)
    ]


MAIL = b"From ann Mon\nSubject: %s\nDate: Mon, 2 Jan 2023 10:00:00 +0000\n\n%s\n"


def test_a_mailbox_is_parted_where_a_line_begins_a_mail_behind_a_blank_one() -> None:
    both = MAIL % (b"One", b"First.\nFrom here on.") + b"\n" + MAIL % (b"Two", b">From me.\n>>From you.")
    assert read(both) == [("mail 1", "One|First.\nFrom here on."), ("mail 2", "Two|From me.\n>From you.")]
    windows = both.replace(b"\n", b"\r\n")
    assert [where for where, _ in read(windows)] == ["mail 1", "mail 2"]
    with pytest.raises(InputError, match="holds no mails"):
        read(b"Subject: x\n\nNo From here.")
    bad = MAIL % (b"One", b"First.") + b"\nFrom bo Tue\n\nNo field.\n"
    assert [where for where, _ in read(bad)] == ["mail 1", "mail 2"]
    assert read(bad)[1][1].startswith("has no header fields")
    empty = MAIL % (b"One", b" ")
    assert read(empty) == [("mail 1", "is a mail without text; save what is attached as files to read it.")]


@pytest.mark.parametrize(
    ("word", "read_as"),
    [
        ("plain", "plain"), ("=?utf-8?q?=C3=A4?=", "ä"), ("=?utf-8?b?w6Q=?=", "ä"), ("=?none?q?x?=", "=?none?q?x?="),
        ("=?utf-8?b?w?=", "=?utf-8?b?w?="), ("=?utf-8", "=?utf-8"),
    ],
)  # fmt: skip
def test_a_word_in_another_encoding_is_read_as_what_it_says(word: str, read_as: str) -> None:
    assert _decode_word(word) == read_as


def test_files_are_seen_with_size_time_and_number(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("b.txt", "a.txt"):
        (tmp_path / "in" / name).write_text(name * 3)
    alone = tmp_path / "c.txt"
    alone.write_text("c")
    seen = take_snapshot([tmp_path / "in", alone, tmp_path / "none"], DocumentSettings())
    assert [(Path(path).name, size) for path, size, *_ in seen] == [("c.txt", 1), ("a.txt", 15), ("b.txt", 15)]
    assert all(path == str(Path(path)) and os.stat(path).st_ino == number for path, _, _, number in seen)
    os.utime(alone, ns=(5, 7))
    assert [time for _, _, time, _ in take_snapshot([alone], DocumentSettings())] == [7]
