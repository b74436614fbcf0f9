"""Mails: files of one (`.eml`) and of many (`.mbox`), and the header fields with which a plain text may begin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from sensegraph.documents.decoding import clean_text, decode_text
from sensegraph.documents.markup import parse_html, split_front_matter
from sensegraph.documents.metadata import flatten_fields, read_iso_date
from sensegraph.errors import InputError
from sensegraph.language.blocks import find_header
from sensegraph.runtime.keys import key
from sensegraph.types import Document

if TYPE_CHECKING:
    from email.message import Message
    from email.policy import EmailPolicy

    from sensegraph.types import Scalar

_KEPT = ("from", "to", "cc")
_FIELDS = frozenset((*_KEPT, "subject", "date"))
_LONG_FIELD = 1_000
_LONG_TYPE = 200
_LONG_WORD = 200  # an encoded word has at most 75
_MOST_MAILS = 1_000_000  # of one file
_MOST_FIELDS = 100_000  # lines of one mail that look like header fields; each takes up to a thousand bytes
_MOST_PARTS = 10_000  # lines of one mail that may part it; each takes some thousand bytes
_FIELD_LINE = re.compile(rb"^[!-9;-~]{1,76}:", re.M)
_PART_LINE = re.compile(rb"^--", re.M)
_BEGIN = re.compile(rb"^From [^\r\n]*\r?\n", re.M)
_BLANK = re.compile(rb"\r?\n\r?\n")
_QUOTED = re.compile(rb"^>(>*From )", re.M)


def parse_plain(name: str, text: str) -> Document:
    """A plain text; the header of a mail or the front matter with which it begins gives title, time and metadata.

    The text stays whole.
    """
    end = find_header(text)
    if not end:
        return Document(name, text)
    front, _ = split_front_matter(text)
    if not front:
        from email.parser import HeaderParser

        header = HeaderParser(policy=make_policy()).parsestr(text[:end].strip() + "\n")
        return Document(name, text, *_read_fields(header))
    known = {key.casefold(): value for key, value in front.items()}
    time = next(filter(None, map(read_iso_date, (known.get(k) for k in ("date", "time", "published")))), "")
    rest = {k: v for k, v in front.items() if k.casefold() not in ("title", "date")}
    return Document(name, text, str(known.get("title") or ""), flatten_fields(rest), time)


def read_mail(name: str, data: bytes) -> Iterator[tuple[str, Document | str]]:
    """The one mail of a file: its text, and a note on each attachment, which is not read."""
    yield from _read_message(name, data, name)


def read_mailbox(name: str, data: bytes) -> Iterator[tuple[str, Document | str]]:
    """The mails of an mbox file, each named by the file and its content, so that it keeps its name when others come.

    Raises InputError where no line begins with "From ", as the first line of each mail does there.
    """
    begins = ((m, m.start()) for m in _BEGIN.finditer(data))
    kept = (m.span() for m, at in begins if not at or data[max(0, at - 3) : at].endswith((b"\n\n", b"\n\r\n")))
    starts = list(islice(kept, _MOST_MAILS + 1))
    if len(starts) > _MOST_MAILS:
        raise InputError(f"holds more than {_MOST_MAILS:,} mails; split it.")
    if not starts:
        raise InputError('holds no mails: none of its lines begins one with "From "; save single mails as .eml.')
    ends = [start for start, _ in starts[1:]] + [len(data)]
    for number, ((_, begin), end) in enumerate(zip(starts, ends, strict=True), 1):
        mail = _QUOTED.sub(rb"\1", data[begin:end])
        try:
            for where, item in _read_message(name, mail, ""):
                yield f"mail {number}{where and ', '}{where}", item
        except InputError as e:
            yield f"mail {number}", str(e)
        except RecursionError:
            yield f"mail {number}", "is nested too deeply to be read; save it as a file with fewer parts."


def _read_message(name: str, data: bytes, ident: str) -> Iterator[tuple[str, Document | str]]:
    from email import message_from_bytes, message_from_string

    for what, line, most in (("fields", _FIELD_LINE, _MOST_FIELDS), ("parts", _PART_LINE, _MOST_PARTS)):
        if sum(1 for _ in line.finditer(data)) > most:
            raise InputError(f"holds more than {most:,} lines that may begin {what} of a mail; save its text.")
    end = blank.start() if (blank := _BLANK.search(data)) else len(data)
    mail = message_from_bytes(data, policy=make_policy())
    if not data[:end].isascii():  # fields in letters of an encoding that they do not name
        with suppress(InputError):
            text = decode_text(data[:end])[0] + data[end:].decode("ascii", "surrogateescape")
            mail = message_from_string(text, policy=make_policy())
    if not mail.keys():
        raise InputError("has no header fields and is no mail; name it .txt to read it as text.")
    plain, page = mail.get_body(("plain",)), mail.get_body(("html",))
    text = clean_text(_decode_part(plain)) if plain is not None else ""
    if not text.strip() and page is not None:
        text = parse_html(name, _decode_part(page)).text
    for part in mail.iter_attachments() if mail.is_multipart() else ():
        if part not in (plain, page):
            named, kind = part.get_filename(), part.get_content_type()
            what = f"the attachment {clean_text(named)!r}" if named else "an attachment without a name"
            yield "", f"holds {what} ({kind}), which was not read; save it as a file to read it."
    if not text.strip():
        raise InputError("is a mail without text; save what is attached as files to read it.")
    title, metadata, time = _read_fields(mail)
    yield "", Document(ident or f"{name}#{key(text, title, metadata, time)[:12]}", text, title, metadata, time)


@cache
def make_policy() -> EmailPolicy[Any]:
    """How header fields are read: as the standard library does, which takes the square of their length, if short.

    Of a long one only the encoded words are decoded; one that says how a part is to be read is cut.
    """
    from email.headerregistry import HeaderRegistry
    from email.policy import EmailPolicy, default

    class BoundedPolicy(EmailPolicy):
        def header_fetch_parse(self, name: str, value: str) -> Any:
            kind = name.casefold()
            if kind in _FIELDS and len(value) > _LONG_FIELD:
                return " ".join(map(_decode_word, value.split()))
            if kind == "content-type" and len(value) > _LONG_TYPE:
                return value[:_LONG_FIELD]
            return default.header_fetch_parse(name, value if kind in _FIELDS else value[:_LONG_TYPE])

    return BoundedPolicy(header_factory=HeaderRegistry())


def _decode_word(word: str) -> str:
    """A word of a field; one that is written in another encoding (`=?utf-8?q?…?=`) as what it says."""
    from email.errors import HeaderParseError
    from email.header import decode_header, make_header

    if not (word.startswith("=?") and "?=" in word and len(word) <= _LONG_WORD):
        return word
    try:
        return str(make_header(decode_header(word)))
    except (HeaderParseError, LookupError, ValueError):
        return word


def _decode_part(part: Message) -> str:
    """The text of a part; in the encoding that it names, else in the one that its bytes show."""
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    try:
        return payload.decode(part.get_content_charset() or "utf-8")
    except (LookupError, ValueError):
        return decode_text(payload)[0]


def _read_fields(mail: Message) -> tuple[str, tuple[tuple[str, Scalar], ...], str]:
    """Title, metadata and time, from the header fields of a mail."""
    found: dict[str, str] = {}
    for field in (*_KEPT, "subject", "date"):
        try:
            found[field] = clean_text(" ".join(str(mail.get(field) or "").split()))
        except (
            ValueError,
            IndexError,
            AttributeError,
            TypeError,
            RecursionError,
        ):  # fields that the library itself cannot take apart
            found[field] = ""
    metadata = flatten_fields({field: found[field] for field in _KEPT if found[field]})
    return found["subject"], metadata, read_iso_date(found["date"])
