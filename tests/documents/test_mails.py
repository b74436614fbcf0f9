"""Mails, alone and in mailboxes, and texts that begin with header fields."""

from __future__ import annotations

from contextlib import suppress
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.documents import Loaded, load
from sensegraph.documents.mails import parse_plain, read_mail, read_mailbox
from sensegraph.errors import InputError
from sensegraph.language.blocks import find_header, read_blocks
from sensegraph.types import Document

FIELDS = (
    "From: Ada Finch <ada@wren.example>\nTo: bob@wren.example\nSubject: The bridge\n"
    "Date: Tue, 05 Mar 2024 06:07:08 +0000\n"
)
KNOWN = (("from", "Ada Finch <ada@wren.example>"), ("to", "bob@wren.example"))


def read(folder: Path, name: str, data: str | bytes) -> Loaded:
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return load([folder / name])


def test_a_mail_has_its_subject_as_title_and_its_date_as_time(tmp_path):
    body = "The bridge is open.\n\n> Is it open?\n"
    assert read(tmp_path, "x.eml", FIELDS + "\n" + body) == Loaded(
        (Document("x.eml", body, "The bridge", KNOWN, "2024-03-05T06:07:08+00:00"),)
    )


def test_the_plain_part_of_a_mail_is_read_and_attachments_are_named(tmp_path):
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "Zoë <zoe@wren.example>", "Größe"
    mail.set_content("Plain: größer\n", charset="iso-8859-1")
    mail.add_alternative("<p>Page</p>", subtype="html")
    mail.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="plan.pdf")
    loaded = read(tmp_path, "x.eml", mail.as_bytes())
    (document,) = loaded.documents
    assert (document.text, document.title) == ("Plain: größer\n", "Größe")
    assert document.metadata == (("from", "Zoë <zoe@wren.example>"),)
    (skipped,) = loaded.skipped
    assert skipped.reason.startswith("holds the attachment 'plan.pdf' (application/pdf), which was not read")


def test_a_mail_that_is_a_page_is_read_as_one(tmp_path):
    page = "<p>One</p><table><tr><th>Town<th>People<tr><td>Oslo<td>5</table>"
    (document,) = read(tmp_path, "x.eml", f"Subject: T\nContent-Type: text/html\n\n{page}").documents
    assert document.text == "One\n\nTown: Oslo; People: 5."


def test_a_mail_in_an_unknown_encoding_is_read_by_its_bytes(tmp_path):
    head = b"Subject: T\nContent-Type: text/plain; charset=no-such-thing\nContent-Transfer-Encoding: 8bit\n\n"
    (document,) = read(tmp_path, "x.eml", head + "Müller fährt nach Köln.\n".encode()).documents
    assert document.text == "Müller fährt nach Köln.\n"


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_header_fields_in_plain_letters_are_read_in_the_encoding_that_they_show(tmp_path, encoding):
    fields = "From: Zoë Müller <zoe@wren.example>\nSubject: Größe der Brücke über den Fluß für alle Züge\n\n"
    (mail,) = read(tmp_path, "x.eml", (fields + "So it stands.\n").encode(encoding)).documents
    assert (mail.title, mail.text) == ("Größe der Brücke über den Fluß für alle Züge", "So it stands.\n")
    assert mail.metadata == (("from", "Zoë Müller <zoe@wren.example>"),)


def test_a_mail_without_text_or_header_is_named(tmp_path):
    assert "is a mail without text" in read(tmp_path, "x.eml", FIELDS + "\n\n").skipped[0].reason
    assert "is no mail" in read(tmp_path, "y.eml", "Dear Bob,\nHi\n").skipped[0].reason


def test_mails_of_a_mailbox_keep_their_names_when_others_come(tmp_path):
    one = f"From ada Tue Mar  5 06:07:08 2024\n{FIELDS}\nFirst.\n>From here on it rains.\n\n"
    two = "From bob Tue Mar  5 07:07:08 2024\nSubject: Re\n\nSecond.\nFrom now on too.\n\n"
    both, later = read(tmp_path, "x.mbox", one + two).documents, read(tmp_path, "x.mbox", two + one).documents
    assert [d.text for d in both] == ["First.\nFrom here on it rains.\n\n", "Second.\nFrom now on too.\n\n"]
    assert both == later[::-1]
    assert both[0].id.startswith("x.mbox#")


def test_a_mailbox_without_mails_is_named(tmp_path):
    assert "holds no mails" in read(tmp_path, "x.mbox", "Hello\n").skipped[0].reason


def test_a_plain_text_that_begins_with_header_fields_has_their_title_and_time_and_stays_whole(tmp_path):
    text = FIELDS + "\nThe bridge is open. It is long.\n"
    document = Document("x.txt", text, "The bridge", KNOWN, "2024-03-05T06:07:08+00:00")
    assert read(tmp_path, "x.txt", text).documents == (document,)
    assert "Subject" not in read_blocks(text).text


def test_a_plain_text_that_begins_with_front_matter_has_its_title_and_time():
    text = "---\nTitle: Bridges\ndate: 2024-03-05\nauthor: Ada\n---\nThe bridge is open.\n"
    assert parse_plain("x.txt", text) == Document("x.txt", text, "Bridges", (("author", "Ada"),), "2024-03-05")


@given(st.binary(max_size=200))
def test_any_bytes_are_a_mail_or_a_reason(data):
    for reader in (read_mail, read_mailbox):
        with suppress(InputError):
            assert list(reader("x.eml", FIELDS.encode() + data))


FOUND = st.sampled_from(["From: a\n", "Subject: =?utf-8?q?x=\n", "Date: x\n", "To: ,;<\n", " more\n", "\n", "Hi\n"])


@given(st.lists(FOUND))
def test_any_header_fields_leave_a_plain_text_whole(lines):
    text = "From: b\n" + "".join(lines)
    document = parse_plain("x.txt", text)
    assert document.text == text
    assert bool(document.metadata) <= bool(find_header(text))
