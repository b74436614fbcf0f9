"""PDF and office files, through the library of the extra `docs`."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sensegraph.documents.decoding import clean_text
from sensegraph.documents.document_files import DEFAULTS, DocumentSettings
from sensegraph.documents.images import FORM, LARGE, MOST_CAPTION, FoundImage, Illustrated, count_pdf_images
from sensegraph.documents.metadata import flatten_fields, read_iso_date
from sensegraph.errors import InputError
from sensegraph.language.blocks import count_compounds, drops_hyphen
from sensegraph.types import Document

_MIME = {
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".rtf": "application/rtf",
}
_MOST_PACKED = 200  # bytes from one; text of one repeated row packs to some eighty
_SMALL = 20_000_000  # bytes that a file may unpack to in any case
_MOST_PARTS = 20_000  # of an archive
_BLOCK = 1 << 20  # bytes unpacked at a time
_EDGE = 2  # lines at the top and at the bottom of a page that may be header or footer
_MIN_PAGES = 3
_NUMBER = re.compile(r"\b[0-9]{1,6}\b")
_FILE_NAME = re.compile(r"\.\w{3,4}$|^(?:Picture|Image|Grafik|Bild) ?\d*$")
# when the templates of python-docx and python-pptx were made and changed
_TEMPLATES = ("2013-12-23T23:15:00", "2013-01-27T09:14:16", "2013-01-27T09:15:58")
_UNSET = ("python-docx", "(anonymous)", "(unspecified)")  # what libraries write where nothing was said
_PARTED = "\x02"  # stands in the text of a PDF for a hyphen at a line's end
_SLIDE = "\ufdd0"  # stands before each slide while a file is read: a character that no text may hold


def parse_office(
    name: str, extension: str, data: bytes, settings: DocumentSettings = DEFAULTS, *, look: bool = False
) -> Document:
    """The text of a PDF or office file, repeated headers and footers of pages left out; and its images.

    A form feed begins each page of a PDF and each slide but the first, so that they can be counted in the text. The
    images of a PDF, which have to be unpacked, are only counted unless somebody is to `look` at them.

    Raises InputError where the extra is not installed, or the file is damaged, locked or holds images alone that nobody
    looks at, unpacks to more than the settings allow, or takes longer.
    """
    if data.startswith(b"PK"):
        check_packed(data, settings.max_bytes)
    try:
        import kreuzberg
    except ImportError as e:
        raise InputError(f'needs the extra for {extension} files: pip install "sensegraph[docs]".') from e
    by_page = kreuzberg.PageConfig(extract_pages=True) if extension == ".pdf" else None
    if extension == ".pptx":
        by_page = kreuzberg.PageConfig(insert_page_markers=True, marker_format=_SLIDE)
    unseen, within = count_pdf_images(data, settings) if extension == ".pdf" and b"/Image" in data else (0, True)
    shown = kreuzberg.ImageExtractionConfig(extract_images=extension != ".pdf" or (look and within))
    options: dict[str, Any] = {"use_cache": False, "disable_ocr": True, "output_format": "plain", "pages": by_page}
    options["images"] = shown
    options["extraction_timeout_secs"] = settings.max_seconds
    try:
        result: Any = kreuzberg.extract_bytes_sync(data, _MIME[extension], config=kreuzberg.ExtractionConfig(**options))
    except kreuzberg.ExtractionTimeoutError as e:
        took = f"takes longer than {settings.max_seconds:,} s to read"
        raise InputError(f"{took}; save its text, or raise documents.max_seconds.") from e
    except (kreuzberg.KreuzbergError, RuntimeError, ValueError, OSError) as e:
        reason = str(e).split("\n", 1)[0][:160]
        raise InputError(f"cannot be read as {extension} ({reason}); check that it opens and has no password.") from e
    parts = [page["content"] for page in result.pages or ()] if extension == ".pdf" else []
    # the library marks the hyphen of a word that goes on in the next line, and joins its two parts around the mark
    raw = join_parted_words(parts) if parts else [result.content]
    texts = [clean_text(re.sub(r"\r(?!\n)", "", part) if parts else part) for part in raw]
    texts = [re.sub(r"[\f\v\r\x85]", "\n", text) for text in texts]
    pages = strip_page_edges(texts) if extension == ".pdf" else [s.strip() for s in texts[0].split(_SLIDE)[1:]]
    images = _list_images(result, extension, len(pages))
    if extension == ".pptx":  # the library tells their alternative texts apart from the slides' text
        for image in (i for i in images if i.caption and len(pages) >= (i.page or 1)):
            at = (image.page or 1) - 1
            pages[at] = f"{pages[at]}\n[Image: {image.caption}]".strip()
    text = "\n\f".join(pages).rstrip("\n\f") if pages else "".join(texts)
    if not text.strip() and not (look and images):
        raise InputError("holds no text (scanned pages?); run text recognition on it first.")
    core = {**result.metadata, **(result.metadata.get("core_properties") or {})}
    title = re.sub(r"^Microsoft \w+ - ", "", str(core.get("title") or "")).strip()
    created, changed = (read_iso_date(core.get(f"{name}_at") or core.get(name)) for name in ("created", "modified"))
    time = next((t for t in (created, changed) if not t.startswith(_TEMPLATES)), "") if created else ""
    author = core.get("authors") or core.get("author") or core.get("creator")
    facts = {"author": author, "subject": core.get("subject"), "keywords": core.get("keywords"), "pages": len(pages)}
    kept = {k: ", ".join(map(str, v)) if isinstance(v, list | tuple) else v for k, v in facts.items() if v}
    kept = {k: v for k, v in kept.items() if v not in _UNSET}
    plain = (name, text, title, flatten_fields(kept), time)
    unseen = 0 if images else unseen
    if not images and not unseen:
        return Document(*plain)
    return Illustrated(*plain, images=tuple(images), unseen=unseen, reason=FORM if within else LARGE)


def join_parted_words(pages: Sequence[str]) -> list[str]:
    """`pages` with words that a line's end parted whole again; a hyphen stays where the text writes it elsewhere."""
    if not any(_PARTED in page for page in pages):
        return list(pages)
    words = count_compounds("\n".join(pages).replace(_PARTED, " "))

    def join(parted: re.Match[str]) -> str:
        before, behind = f"{parted[1]}-", parted[2]
        return (parted[1] if behind and drops_hyphen(before, behind, words) else before) + behind

    return [re.sub(rf"(\S*){_PARTED}(\w*)", join, page) for page in pages]


def _list_images(result: Any, extension: str, pages: int) -> list[FoundImage]:
    """The images that were taken out of a file; on which page they stand is known of a PDF and of slides."""
    found = []
    for image in result.images or ():
        said = " ".join(clean_text(str(image.get("description") or "")).split())[:MOST_CAPTION]
        page = image.get("page_number") if extension in (".pdf", ".pptx") and pages > 1 else None
        if image["data"] and not image.get("is_mask"):
            found.append(FoundImage(bytes(image["data"]), page, "" if _FILE_NAME.search(said) else said))
    return found


def check_packed(data: bytes, limit: int) -> None:
    """Raise InputError for an archive whose parts unpack to more than `limit` bytes, or to very much from little.

    What is unpacked is counted: what an archive says of its sizes may be false.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if len(archive.filelist) > _MOST_PARTS:
                raise InputError(f"holds more than {_MOST_PARTS:,} parts; save its text.")
            whole = sum(count_unpacked(data, part, limit) for part in archive.filelist)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error, EOFError) as e:
        raise InputError(f"is a damaged archive ({e}); check that it opens.") from e
    if whole > limit:
        raise InputError(f"unpacks to more than {limit:,} bytes; save its text, or raise documents.max_bytes.")
    if whole > _SMALL and whole > len(data) * _MOST_PACKED:
        raise InputError(f"unpacks to {whole:,} bytes from {len(data):,}, as no honest file does; save its text.")


def count_unpacked(data: bytes, part: zipfile.ZipInfo, limit: int) -> int:
    """The bytes of one part of an archive, counted up to `limit`."""
    begin = part.header_offset
    names = sum(struct.unpack("<HH", data[begin + 26 : begin + 30]))
    packed = memoryview(data)[begin + 30 + names :]
    if part.compress_type == zipfile.ZIP_STORED:
        return part.compress_size
    if part.compress_type != zipfile.ZIP_DEFLATED:
        raise InputError("is packed in a way that office files are not; save it anew.")
    unpack, count, at = zlib.decompressobj(-15), 0, 0
    while not unpack.eof and count <= limit and (rest := unpack.unconsumed_tail or bytes(packed[at : at + _BLOCK])):
        at += 0 if unpack.unconsumed_tail else _BLOCK
        try:
            count += len(unpack.decompress(rest, _BLOCK))
        except zlib.error as e:
            raise InputError(f"is a damaged archive ({e}); check that it opens.") from e
    return count


def strip_page_edges(pages: Sequence[str]) -> list[str]:
    """`pages` without the lines that stand at the same edge of at least half of them.

    Lines count as the same when they are equal, or equal but for a number that counts with the pages. Only the
    outermost lines are looked at, only on three pages or more, and a page keeps at least one line.
    """
    lines = [[line for line in page.split("\n") if line.strip()] for page in pages]
    if len(pages) < _MIN_PAGES:
        return ["\n".join(page) for page in lines]
    top, bottom = _find_repeated_lines(lines), _find_repeated_lines([page[::-1] for page in lines])
    below = [_strip_repeated_lines(page, n, top) for n, page in enumerate(lines)]
    return ["\n".join(_strip_repeated_lines(page[::-1], n, bottom)[::-1]) for n, page in enumerate(below)]


def _find_repeated_lines(pages: Sequence[Sequence[str]]) -> frozenset[str]:
    """The shapes of the first lines of `pages` that repeat."""
    counts: Counter[str] = Counter()
    for number, page in enumerate(pages):
        counts.update(frozenset(shape for line in page[:_EDGE] for shape in _line_shapes(line, number)))
    enough = max(_MIN_PAGES, len(pages) / 2)
    return frozenset(shape for shape, n in counts.items() if n >= enough)


def _strip_repeated_lines(page: list[str], number: int, repeated: frozenset[str]) -> list[str]:
    n = 0
    while n < min(_EDGE, len(page) - 1) and not repeated.isdisjoint(_line_shapes(page[n], number)):
        n += 1
    return page[n:]


def _line_shapes(line: str, number: int) -> list[str]:
    """What `line` may repeat as: itself, or itself with one of its numbers taken relative to the page's."""
    line = " ".join(line.casefold().split())
    counted = (f"{line[: m.start()]}#{int(m[0]) - number:+}{line[m.end() :]}" for m in _NUMBER.finditer(line))
    return [line, *counted]
