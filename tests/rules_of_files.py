"""Rules of files and of personal data, given values of their own, in a form that stands in a line of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sensegraph.documents import decoding, mails, markup, record_files, restructured, subtitles
from sensegraph.documents.document_files import DocumentSettings
from sensegraph.errors import InputError
from sensegraph.extractions import Document
from sensegraph.personal.finding import build_finder, find_named_people, find_possible_names
from sensegraph.personal.personal_settings import RULED, PersonalSettings

READERS = {
    "md": markup.parse_markdown, "html": markup.parse_html, "rst": restructured.parse_restructured_text,
    "srt": subtitles.parse_subtitles, "txt": mails.parse_plain,
}  # fmt: skip
RECORDS = {
    "jsonl": record_files.read_json_lines, "json": record_files.read_json_records, "csv": record_files.read_csv_rows,
}  # fmt: skip


def parse(extension: str, *lines: str) -> Any:
    """The document that a text is; why it is none."""
    try:
        return READERS[extension](f"a-file.{extension}", "\n".join(lines))
    except InputError as e:
        return str(e)


def read_records(extension: str, *lines: str) -> Any:
    """The documents of the records of a text, and why those are none that stand elsewhere; why the file is none."""
    try:
        return list(RECORDS[extension](f"a-file.{extension}", "\n".join(lines), DocumentSettings()))
    except InputError as e:
        return str(e)


def read_mail(*lines: str, box: bool = False) -> Any:
    """The mails of a file, without the ids that their content gives."""
    data = "\n".join(lines).encode("latin-1")
    try:
        found = list((mails.read_mailbox if lines[0].startswith("From ") else mails.read_mail)("a.eml", data))
    except InputError as e:
        return str(e)
    return [
        [where, [one.title, one.text, one.metadata, one.time] if isinstance(one, Document) else one]
        for where, one in found
    ]


def decode(data: str, declared: str = "") -> Any:
    """The text of bytes, written in hexadecimal, and the note on those that were damaged."""
    try:
        return decoding.decode_text(bytes.fromhex(data), declared)
    except InputError as e:
        return str(e)


def find_personal(text: str, regions: Sequence[str] = ("US", "DE", "GB")) -> list[Any]:
    """The personal data that a text holds: the kind of each, and how it is written."""
    found = build_finder(PersonalSettings(kinds=RULED, regions=tuple(regions))).find(text)
    return [[s.kind, text[s.start : s.end], s.value] for s in found]


def find_people(text: str) -> list[Any]:
    """Names of persons that a text marks as such, and those that may be ones."""
    return [[[text[n.start : n.end], n.name] for n in find(text)] for find in (find_named_people, find_possible_names)]
