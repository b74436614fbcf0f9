"""The images in documents: found, measured by their first bytes, and written into a text once a model has told of them.

Nothing here decodes an image. Of a PDF, whose images have to be unpacked, it is counted first what that would take.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from sensegraph.documents.document_files import DocumentSettings
from sensegraph.extractions import CitedFigure, Document, PlacedFigure

NO_MODEL = "no model that sees is set; name one as endpoint.vision_model"
FORM = "models take PNG, JPEG, GIF and WebP alone; save them as one of these"
LARGE = "they are larger than documents.max_image_bytes or documents.max_image_pixels"
MANY = "their document holds more than documents.max_images"
ELSEWHERE = "they are not in the folder that is read; nothing is fetched from elsewhere"
MASKED = "personal data is masked here, and no image can be; endpoint.vision_unmasked = true sends them all the same"
NO_REPLY = "the model gave no description that can be used; index again to ask it once more"
MOST_LINKS = 1_000  # images of one text that are looked at
MOST_CAPTION = 500  # characters of what a file says of an image
_ON_MANY_PAGES = 3  # pages from which an image that is on half of them is no figure: a logo
_MOST_PIXELS = 1_000_000_000  # of all images of a PDF
_STREAM = re.compile(rb"(?<!end)stream\r?\n?")
_HEAD = 8_000  # bytes before a stream in which its facts are looked for
_FACT = re.compile(rb"/(Width|Height)\s+(\d{1,9})(?![\d\s]+R\b)")
_ESCAPED = re.compile(rb"#([0-9A-Fa-f]{2})")
_BLOCK = 1 << 20
_FRAMES = frozenset((*range(0xC0, 0xD0),)) - {0xC4, 0xC8, 0xCC}  # segments of a JPEG that tell its size
_TILE, _TILE_TOKENS, _IMAGE_TOKENS = 512, 170, 85  # how models count an image: by tiles, after it was made to fit
_LONG, _SHORT = 2048, 768
_DATA_URL = re.compile(r"data:image/[\w.+-]{1,40}(?:;[\w=.+-]{1,40}){0,5};base64,", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FoundImage:
    """An image as a file holds it, with its page and what the file says of it."""

    data: bytes
    page: int | None = None
    caption: str = ""


@dataclass(frozen=True, slots=True)
class ImageLink:
    """An image that a text shows: where it is, and what the text says of it."""

    target: str
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Illustrated(Document):
    """A document with the images that its file holds or leads to; `unseen` counts those that were not taken out."""

    images: tuple[FoundImage, ...] = ()
    links: tuple[ImageLink, ...] = ()
    unseen: int = 0
    reason: str = ""
    path: str = ""


@dataclass(frozen=True)
class Figure:
    """An image of a document that may be shown to a model; `number` counts those of the document, from 1."""

    number: int
    page: int | None
    caption: str
    data: bytes = field(repr=False)
    kind: str
    width: int
    height: int

    @cached_property
    def digest(self) -> str:
        """What stands for the image, wherever it is: 40 hex digits."""
        return hashlib.blake2b(self.data, digest_size=20).hexdigest()

    @property
    def url(self) -> str:
        """The image as an address that holds it."""
        return f"data:image/{self.kind};base64,{base64.b64encode(self.data).decode()}"

    @property
    def tokens(self) -> int:
        """About how many tokens a model counts for it: by tiles of what is left when it was made to fit."""
        shrunk = min(1.0, _LONG / max(self.width, self.height), _SHORT / min(self.width, self.height))
        wide, high = (-(-round(side * shrunk) // _TILE) for side in (self.width, self.height))
        return _IMAGE_TOKENS + _TILE_TOKENS * wide * high


@dataclass(frozen=True, slots=True)
class UnreadImages:
    """Images of a file that nobody described, and why."""

    path: str
    images: int
    reason: str


@dataclass(frozen=True, slots=True)
class FiguresRead:
    """What became of images: how many were described, by the digests of each document's, and those that were not."""

    described: int = 0
    unread: tuple[UnreadImages, ...] = ()
    digests: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)


class Vision(Protocol):
    """Who describes figures: `name` is that of the model."""

    @property
    def name(self) -> str:
        """What descriptions are said to be by."""
        ...

    def tell(self, figures: Sequence[Figure]) -> Sequence[str | None]:
        """What each figure shows: nothing for decoration, None where the model gave no reply that can be used."""
        ...


# ── which images are figures ──


def choose_figures(document: Illustrated, settings: DocumentSettings) -> tuple[list[Figure], Counter[str]]:
    """The images of a document that may be shown to a model, and how many others there are, by reason.

    What is small, and what is on half of the pages, is no figure; an image that is there twice is one.
    """
    found, left = list[Figure](), Counter[str]()
    same: dict[bytes, list[FoundImage]] = {}
    for image in document.images:
        same.setdefault(image.data, []).append(image)
    for data, (first, *others) in same.items():
        if len({first.page, *(o.page for o in others)}) >= max(_ON_MANY_PAGES, len(document.pages) / 2):
            continue
        measured = measure_image(data)
        if measured is None:
            left[FORM] += 1
            continue
        kind, width, height = measured
        if min(width, height) < settings.min_image_side:
            continue
        if len(data) > settings.max_image_bytes or width * height > settings.max_image_pixels:
            left[LARGE] += 1
        elif len(found) >= settings.max_images:
            left[MANY] += 1
        else:
            found.append(Figure(len(found) + 1, first.page, first.caption[:MOST_CAPTION], data, kind, width, height))
    if document.unseen:
        left[document.reason] += document.unseen
    return found, left


def measure_image(data: bytes) -> tuple[str, int, int] | None:
    """The kind, the width and the height of an image, told by its first bytes; None where it is of another kind."""
    sizes: tuple[int, ...] = ()
    kind = ""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
            kind, sizes = "png", struct.unpack(">II", data[16:24])
        elif data.startswith((b"GIF87a", b"GIF89a")):
            kind, sizes = "gif", struct.unpack("<HH", data[6:10])
        elif data.startswith(b"RIFF") and data[8:12] == b"WEBP":
            kind, sizes = "webp", _measure_webp(data)
        elif data.startswith(b"\xff\xd8"):
            kind, sizes = "jpeg", _measure_jpeg(data)
    except struct.error:
        return None
    return (kind, sizes[0], sizes[1]) if len(sizes) == 2 and min(sizes) > 0 else None


def _measure_webp(data: bytes) -> tuple[int, ...]:
    if data[12:16] == b"VP8 ":
        return tuple(side & 0x3FFF for side in struct.unpack("<HH", data[26:30]))
    if data[12:16] == b"VP8L":
        (bits,) = struct.unpack("<I", data[21:25])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if data[12:16] == b"VP8X" and len(data) >= 30:
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    return ()


def _measure_jpeg(data: bytes) -> tuple[int, ...]:
    at = 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        mark = data[at + 1]
        if mark in _FRAMES:
            return struct.unpack(">HH", data[at + 5 : at + 9])[::-1]
        if mark == 0xFF or 0xD0 <= mark <= 0xD7 or mark == 0x01:
            at += 1 if mark == 0xFF else 2
        else:
            at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    return ()


def read_data_url(target: str, limit: int) -> bytes | None:
    """The image in an address that holds it; None in another, or where it is longer than `limit`."""
    match = _DATA_URL.match(target)
    if not match or len(target) > match.end() + 2 * limit:
        return None
    try:
        return base64.b64decode("".join(target[match.end() :].split()), validate=True)
    except (binascii.Error, ValueError):
        return None


# ── images of a PDF ──


def count_pdf_images(data: bytes, settings: DocumentSettings) -> tuple[int, bool]:
    """How many images of a PDF are no small ones, and whether it takes no more than is allowed to take them out.

    Their facts are read where they stand: before the stream of each, which is never packed with others.
    """
    count, pixels, within = 0, 0, True
    for match in _STREAM.finditer(data):
        head = data[max(0, match.start() - _HEAD) : match.start()]
        head = head[head.rfind(b"obj") + 3 :]
        if b"#" in head:
            head = _ESCAPED.sub(lambda m: bytes([int(m[1], 16)]), head)
        if not re.search(rb"/Image\b", head):
            continue
        facts = {name: int(value) for name, value in _FACT.findall(head)}
        width, height = facts.get(b"Width", 0), facts.get(b"Height", 0)
        packed = re.findall(rb"/(FlateDecode|Fl|LZWDecode|LZW)\b", head)
        count += min(width, height) >= settings.min_image_side
        pixels += width * height if packed or b"/DCTDecode" not in head else 0
        within = within and 0 < width * height <= settings.max_image_pixels and len(packed) < 2
        within = within and b"LZWDecode" not in packed and b"LZW" not in packed and pixels <= _MOST_PIXELS
        if within and packed:  # no more than sixteen bits of five colours each, and a byte a row
            within = unpacks_within(data, match.end(), height * (10 * width + 1) + _BLOCK)
    return count, within


def unpacks_within(data: bytes, start: int, limit: int) -> bool:
    """Whether a stream unpacks to at most `limit` bytes."""
    unpack, count, at = zlib.decompressobj(), 0, start
    while not unpack.eof and at < len(data) + _BLOCK:
        piece = unpack.unconsumed_tail or data[at : at + _BLOCK]
        at += 0 if unpack.unconsumed_tail else _BLOCK
        if not piece:
            break
        try:
            count += len(unpack.decompress(piece, _BLOCK))
        except zlib.error:
            break
        if count > limit:
            return False
    return True


# ── figures in a text ──


def mark_no_figures(document: Document) -> Document:
    """The document of a file, without what would be taken for what a model told of a figure; spans stay."""
    if not document.figures:
        return document
    return replace(document, text=document.text.replace("\ufffc figure ", "\ufffd figure "))


def write_figures(document: Document, told: Sequence[tuple[Figure, str]], by: str) -> Document:
    """The document with what the model `by` told of figures at the end of its text, each behind a line that names it.

    What the source says stays as it is, so that all spans of it do.
    """
    parts = [document.text]
    for figure, text in told:
        placed = PlacedFigure(0, 0, figure.page, CitedFigure(figure.number, " ".join(by.split())[:200]))
        said = "\n".join(part for part in (figure.caption, text) if part)
        parts.append(placed.write_head() + re.sub("[\ufffc\f]", " ", said).strip())
    return replace(document, text="\n\n".join(parts))


class FigureWriter:
    """Takes the documents of files as they come, has their figures described some megabytes at a time, and writes them.

    Without a `vision` images are counted, with `reason` for why nobody saw them.
    """

    def __init__(self, settings: DocumentSettings, vision: Vision | None, reason: str = NO_MODEL) -> None:
        self._settings, self._vision, self._reason = settings, vision, reason
        self._waiting: list[tuple[int, Illustrated, list[Figure], Counter[str]]] = []
        self._size, self._described = 0, 0
        self.documents: list[Document] = []
        self._unread: list[UnreadImages] = []
        self._digests: dict[str, tuple[str, ...]] = {}

    def take(self, document: Document) -> None:
        """Take one document; one with figures is written when there are enough of them."""
        self.documents.append(strip_images(document))
        if not isinstance(document, Illustrated):
            return
        figures, left = choose_figures(document, self._settings)
        if self._vision is None:
            left = Counter({self._reason: len(figures) + left.total()} if figures or left else {})
            figures = []
        self._waiting.append((len(self.documents) - 1, replace(document, images=()), figures, left))
        self._size += sum(len(f.data) for f in figures)
        if self._size > 64 * _BLOCK:
            self._write()

    def finish(self) -> FiguresRead:
        """What became of all images."""
        self._write()
        return FiguresRead(self._described, tuple(self._unread), self._digests)

    def _write(self) -> None:
        every = [f for _, _, figures, _ in self._waiting for f in figures]
        texts = iter(self._vision.tell(every) if self._vision and every else ())
        for place, document, figures, left in self._waiting:
            told = [(figure, next(texts)) for figure in figures]
            left[NO_REPLY] += sum(text is None for _, text in told)
            shown = [(figure, text) for figure, text in told if text]
            if self._vision and shown:
                self.documents[place] = write_figures(self.documents[place], shown, self._vision.name)
            self._described += sum(text is not None for _, text in told)
            self._digests[document.id] = tuple(figure.digest for figure in figures)
            self._unread += [UnreadImages(document.path, n, why) for why, n in sorted(left.items()) if n]
        self._waiting, self._size = [], 0


def strip_images(document: Document) -> Document:
    """The document of a file as it is stored: its fields alone, and no figure that no model told of."""
    if isinstance(document, Illustrated):
        document = Document(document.id, document.text, document.title, document.metadata, document.time)
    return mark_no_figures(document)


def list_markdown_images(text: str) -> Iterator[ImageLink]:
    """The images that a Markdown text shows; those inside of code too, as few as they are."""
    for match in _MARKDOWN.finditer(text):
        yield ImageLink(match["target"] or "", match["alt"] or "")


_MARKDOWN = re.compile(
    r"!\[(?P<alt>[^\]\n]{0,500}+)\]\([ \t]{0,9}+<?(?P<target>[^)\s>]++)>?(?:[ \t]++[^)\n]{0,500}+)?\)"
)
