"""Files to documents.

A folder gives one document for each readable file, whose id is its POSIX path relative to that folder; a single file
has its name as id. Each record of a `.jsonl`, `.json`, `.csv` or `.tsv` file is a document of its own, under its own
id. A text is what the file holds, decoded, without its byte order mark, with \\r\\n as \\n and without control
characters, and nothing else, so that spans count the characters that the reader of the file sees. HTML, PDF and office
files, tables, mails, subtitles and reStructuredText become readable text, and their spans count in that.

What cannot be read is named with its reason as `Skipped`, and the rest goes on. Equal files give equal documents in
equal order: by path, as Python compares strings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from stat import S_ISREG
from urllib.parse import unquote

from sensegraph.documents import document_files, mails, markup, office, record_files, restructured, subtitles
from sensegraph.documents.decoding import decode_text
from sensegraph.documents.document_files import (
    DEFAULTS,
    DocumentSettings,
    File,
    Skipped,
    explain_name,
    explain_place,
    printable_path,
)
from sensegraph.documents.images import (
    ELSEWHERE,
    NO_MODEL,
    FiguresRead,
    FigureWriter,
    FoundImage,
    Illustrated,
    Vision,
    read_data_url,
    strip_images,
)
from sensegraph.errors import InputError
from sensegraph.types import Document

__all__ = ["DocumentSettings", "Loaded", "Skipped", "load", "stream"]

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//|/|\\\\")  # what leads out of the folder of a text
_NAMED = 20  # unreadable records of one file that are named one by one; the rest is counted


@dataclass(frozen=True, slots=True)
class Loaded:
    """The documents in the order in which they were read, all that was left out, and what became of their images."""

    documents: tuple[Document, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    figures: FiguresRead = field(default_factory=FiguresRead)


def load(
    paths: Sequence[str | Path],
    *,
    settings: DocumentSettings = DEFAULTS,
    base: str | Path = "",
    vision: Vision | None = None,
    reason: str = NO_MODEL,
) -> Loaded:
    """All documents of these files and folders, in the order given.

    They are named as if the folder `base`, which holds all of these paths, were read whole, where one is given. A
    document whose id is there already is left out and named. What `vision` tells of their figures stands at the end of
    their texts; without one, their images are counted, with the `reason`. Raises InputError for a path that does not
    exist.
    """
    names = [os.fspath(path) for path in paths]
    for name in names:
        _check_exists(name)
    seen = _Seen()
    writer, skipped = FigureWriter(settings, vision, reason), list[Skipped]()
    for item in (i for name in names for i in _stream_new(name, settings, seen, os.fspath(base), vision is not None)):
        if isinstance(item, Document):
            writer.take(item)
        else:
            skipped.append(item)
    figures = writer.finish()
    return Loaded(tuple(writer.documents), tuple(skipped), figures)


def stream(path: str | Path, *, settings: DocumentSettings = DEFAULTS) -> Iterator[Document | Skipped]:
    """The documents of a file or folder one by one, and what was skipped, holding one file at a time in memory.

    Nobody looks at their images. Raises InputError at once when `path` does not exist.
    """
    _check_exists(os.fspath(path))
    found = _stream_new(os.fspath(path), settings, _Seen())
    return (strip_images(item) if isinstance(item, Document) else item for item in found)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was read so far: real paths and ids, each with the path that it was read from."""

    files: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)


def _check_exists(path: str) -> None:
    if not os.path.exists(path):
        what = "is a link that leads nowhere" if os.path.islink(path) else "does not exist"
        raise InputError(f"{printable_path(path)} {what}; check the spelling and the current folder.")


def _stream_new(
    path: str, settings: DocumentSettings, seen: _Seen, base: str = "", look: bool = False
) -> Iterator[Document | Skipped]:
    """The items of `path`, without the files and the ids that were seen before."""
    inside = os.path.realpath(base or (path if os.path.isdir(path) else os.path.dirname(path) or "."))
    if os.path.isdir(path):
        found, left = document_files.list_document_files(path, settings, base)
        yield from left
    else:  # a pattern of the shell names links too, which its user has not looked at
        name, top = os.path.basename(path), os.path.realpath(os.path.dirname(path) if os.path.islink(path) else path)
        if reason := explain_place(path, top, settings) or explain_name(name):
            yield Skipped(printable_path(path), reason)
            return
        found = [File(path, document_files.name_inside(path, base) or name)]
    for file in found:
        reasons = 0
        for item in _read_file(file, settings, seen, look):
            reasons += isinstance(item, str)
            if isinstance(item, Illustrated):
                yield _with_linked_images(replace(item, path=printable_path(file.path)), file, inside, settings)
            elif isinstance(item, Document):
                yield item
            elif reasons <= _NAMED:
                yield Skipped(printable_path(file.path), item)
        if reasons > _NAMED:
            more = f"holds {reasons - _NAMED} more records that cannot be used, like those named."
            yield Skipped(printable_path(file.path), more)


def _with_linked_images(document: Illustrated, file: File, inside: str, settings: DocumentSettings) -> Illustrated:
    """A document with the images that its text shows, as far as they are in it or in the folder that is read."""
    found, lost, within = list(document.images), 0, replace(settings, follow_links=False)
    links = {link.target: link for link in reversed(document.links)}  # of several, the first
    for link in reversed(links.values()):
        data = read_data_url(link.target, settings.max_image_bytes)
        path = os.path.join(os.path.dirname(file.path), unquote(link.target.split("#")[0].split("?")[0]))
        plain = data is None and not _ADDRESS.match(link.target) and "\0" not in path
        if plain and not os.path.basename(path).startswith(".") and not explain_place(path, inside, within):
            with suppress(InputError, OSError):
                data = _read_bytes(path, settings.max_image_bytes, "max_image_bytes")
        if data is None or sum(len(image.data) for image in found) > settings.max_bytes:
            lost += 1
        else:
            found.append(FoundImage(data, None, link.caption))
    found_and_lost = replace(document, images=tuple(found), links=(), unseen=document.unseen + lost)
    return replace(found_and_lost, reason=ELSEWHERE) if lost else found_and_lost


def _read_file(file: File, settings: DocumentSettings, seen: _Seen, look: bool) -> Iterator[Document | str]:
    """The documents of one file, and reasons for what there is not."""
    real = os.path.realpath(file.path)
    if real in seen.files:
        yield f"is the same file as {printable_path(seen.files[real])}, which was read; nothing is lost."
        return
    seen.files[real] = file.path
    try:
        for where, item in _parse_file(file, settings, look):
            if isinstance(item, str):
                yield f"{where} {item}".strip()
            elif len(item.text) > settings.max_characters:
                size = f"{len(item.text):,} characters, more than the limit of {settings.max_characters:,}"
                yield f"{where} has {size}; split it, or raise documents.max_characters.".strip()
            elif item.id in seen.ids:
                there = seen.ids[item.id]
                first = "earlier in this file" if there == file.path else f"in {printable_path(there)}"
                reason = f"has the id {item.id!r}, which was given {first}; the first was kept"
                yield f"{where} {reason}, give this one another id.".strip()
            else:
                seen.ids[item.id] = file.path
                yield item
    except InputError as e:
        yield str(e)
    except RecursionError:
        yield "is nested too deeply to be read; simplify it."
    except OSError as e:
        yield f"cannot be read ({e.strerror}); check that it is still there and may be read."


def _parse_file(file: File, settings: DocumentSettings, look: bool) -> Iterator[record_files.Item]:
    """What a file holds, by its extension; one that is not known is read as text.

    Raises InputError for what is no file or too large, OSError for what cannot be read.
    """
    if file.extension in document_files.PARTED:
        data = _read_bytes(file.path, settings.max_bytes, "max_bytes")
    else:  # the file is one text: no encoding takes more than four bytes for a character or its mark
        limits = (settings.max_bytes, "max_bytes"), (4 * settings.max_characters + 4, "max_characters")
        data = _read_bytes(file.path, *min(limits))
    if file.extension in document_files.OFFICE and data:
        yield "", office.parse_office(file.name, file.extension, data, settings, look=look)
        return
    if file.extension in _MAILS:
        yield from _MAILS[file.extension](file.name, data)
        return
    text, damage = decode_text(data, markup.declared_encoding(data) if file.extension in document_files.MARKUP else "")
    if damage:
        yield "", damage
    if reader := _RECORDS.get(file.extension):
        count = 0
        for count, item in enumerate(reader(file.name, text, settings), start=1):  # noqa: B007
            yield item
        if not count:
            raise InputError("holds no records; there is nothing to read in it.")
    else:
        yield "", _TEXTS.get(file.extension, mails.parse_plain)(file.name, text)


def _read_bytes(path: str, limit: int, setting: str) -> bytes:
    """What a file holds. Raises InputError for what is no file, or larger than `limit`, which `setting` raises."""
    unlike = "is not a regular file; give a file or a folder."
    if not S_ISREG(os.stat(path).st_mode):  # opening a pipe would wait for its writer, and a device may act
        raise InputError(unlike)
    with open(path, "rb", opener=open_at_once) as f:
        if not S_ISREG(os.fstat(f.fileno()).st_mode):
            raise InputError(unlike)
        data = b"" if os.fstat(f.fileno()).st_size > limit else f.read(limit + 1)
        size = max(os.fstat(f.fileno()).st_size, len(data))
    if size > limit:
        raise InputError(
            f"has {size:,} bytes, more than the limit of {limit:,}; split it, or raise documents.{setting}."
        )
    return data


def open_at_once(path: str, flags: int) -> int:
    """Open a file; one that has become a pipe meanwhile is not waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


_RecordReader = Callable[[str, str, DocumentSettings], Iterator[record_files.Item]]
_RECORDS: Mapping[str, _RecordReader] = {
    **dict.fromkeys((".jsonl", ".ndjson"), record_files.read_json_lines),
    **dict.fromkeys((".csv", ".tsv"), record_files.read_csv_rows),
    ".json": record_files.read_json_records,
}
_MAILS: Mapping[str, Callable[[str, bytes], Iterator[record_files.Item]]] = {
    ".eml": mails.read_mail,
    ".mbox": mails.read_mailbox,
}
_TEXTS: Mapping[str, Callable[[str, str], Document]] = {
    **dict.fromkeys((".md", ".markdown"), markup.parse_markdown),
    **dict.fromkeys(document_files.MARKUP, markup.parse_html),
    **dict.fromkeys(document_files.SUBTITLES, subtitles.parse_subtitles),
    ".rst": restructured.parse_restructured_text,
}
