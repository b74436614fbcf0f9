"""Rules of images, of the depth of pages and of packed files, given values that stand in a line of JSON."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

from sensegraph.documents import images, nesting, office, values
from sensegraph.documents.document_files import DocumentSettings
from sensegraph.errors import InputError
from sensegraph.types import Document


def _read_bytes(*parts: Sequence[Any]) -> bytes:
    """Bytes written as texts of Latin-1, each so many times; "packed" before them packs them."""
    found = b""
    for part in parts:
        packed, (text, times) = part[0] == "packed", part[-2:]
        piece = str(text).encode("latin-1") * times
        found += zlib.compress(piece) if packed else piece
    return found


def measure(*data: str) -> list[Any]:
    """The kind and the size of images, their first bytes written in hexadecimal."""
    return [images.measure_image(bytes.fromhex(one)) for one in data]


def choose(
    shown: Sequence[tuple[str, int | None, str]], pages: int, settings: dict[str, int], unseen: int = 0
) -> list[Any]:
    """Which images of a document are figures, and how many others there are by reason."""
    found = tuple(images.FoundImage(bytes.fromhex(data), page, caption) for data, page, caption in shown)
    text = "\f".join(["page"] * pages)
    document = images.Illustrated("d", text, images=found, unseen=unseen, reason="packed")
    figures, left = images.choose_figures(document, DocumentSettings(**settings))
    return [[[f.number, f.page, len(f.caption), f.kind, f.width, f.height] for f in figures], sorted(left.items())]


def count_tokens(*sizes: tuple[int, int]) -> list[int]:
    """How many tokens images of these sizes are counted for."""
    return [images.Figure(1, None, "", b"", "png", wide, high).tokens for wide, high in sizes]


def count_in_pdf(parts: Sequence[Sequence[Any]], settings: dict[str, int]) -> Any:
    """How many images of a PDF are no small ones, and whether they may be taken out."""
    return images.count_pdf_images(_read_bytes(*parts), DocumentSettings(**settings))


def unpacks(parts: Sequence[Sequence[Any]], start: int, limit: int) -> bool:
    """Whether a packed stream unpacks to so many bytes at most."""
    return images.unpacks_within(_read_bytes(*parts), start, limit)


def read_address(target: str, limit: int) -> str | None:
    """The image that an address holds, in hexadecimal."""
    found = images.read_data_url(target, limit)
    return None if found is None else found.hex()


def link(text: str) -> list[Any]:
    """The images that a Markdown text shows."""
    return list(images.list_markdown_images(text))


def write(text: str, told: Sequence[tuple[int, int | None, str, str]], by: str) -> str:
    """A text with what a model told of its figures."""
    shown = [(images.Figure(n, page, caption, b"", "png", 9, 9), said) for n, page, caption, said in told]
    return images.write_figures(Document("d", text), shown, by).text


def nest(*parts: Sequence[Any]) -> str:
    """Whether a page, written as texts each so many times, is too deep or too long."""
    try:
        nesting.check_nesting("".join(text * times for text, times in parts))
    except InputError as e:
        return str(e).split(";", maxsplit=1)[0]
    return "is read"


def join_parted(*pages: str) -> list[str]:
    """Pages whose words were parted at the end of a line, the mark of the hyphen written as ~."""
    return office.join_parted_words([page.replace("~", "\x02") for page in pages])


def take(kind: str, *given: Any) -> str:
    """What is said of a document that a program gives: its fields, in their order; or of several."""
    made = [Document(**fields) if isinstance(fields, dict) else fields for fields in given]
    try:
        if kind == "stored":
            values.check_storable(made)
        else:
            return f"{len(values.list_values(made))} documents"
    except InputError as e:
        return str(e)
    return "is taken"
