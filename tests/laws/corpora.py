"""Three small corpora of different nature, and what the laws do to their documents."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import harbour
from sensegraph.types import Document


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents, a question about them, and a document that comes and goes."""

    documents: tuple[Document, ...]
    question: str
    guest: Document


def _read(folder: str) -> tuple[Document, ...]:
    """The texts of a folder; a line of theirs is a paragraph, a heading, an item or a turn."""
    files = sorted((Path(__file__).parent / "texts" / folder).glob("*.txt"))
    return tuple(Document(f.stem, f.read_text(encoding="utf-8"), f.stem.replace("-", " ")) for f in files)


CORPORA = {
    "harbour": Collection(
        tuple(harbour.papers()),
        harbour.QUESTIONS["multi-hop"],
        Document(
            "letter-2022",
            "Ivo Marsh wrote to Tom Reeve in May 2022. Ivo Marsh asked whether the fishing fleet needs oak. Tom Reeve "
            "thanked Ivo Marsh and named the Fishery Office at Lowmouth.",
            "letter 2022",
        ),
    ),
    "office": Collection(
        _read("office"),
        "Who found the worn cable in the motor?",
        Document(
            "mail-drill",
            "Lena Fisk wrote to Marta Oduya about the drill. Marta Oduya will come to Hall Two with Hugo Stam. The "
            "Safety Board wants to see the switch.",
            "mail drill",
        ),
    ),
    "rathaus": Collection(
        _read("rathaus"),
        "Was sagte Otto Brandt über den Antrag von Klara Winter?",
        Document(
            "brief-birkfeld",
            "Emil Tessmann schreibt an Anton Reuss. Die Firma Tessmann baut auch in Birkfeld einen Radweg. Judith Mohr "
            "lobt die Firma Tessmann.",
            "brief birkfeld",
        ),
    ),
}
_STRANGERS = {"harbour": "rathaus", "office": "harbour", "rathaus": "office"}

# ── what is done to documents ──

Change = Callable[[Sequence[Document]], list[Document]]


def wrap_text(text: str, width: int) -> str:
    """`text` with its long lines broken; the lines of an item or an indented paragraph keep its indent."""
    return "\n".join(_wrap_line(line, width) for line in text.split("\n"))


def _wrap_line(line: str, width: int) -> str:
    words = line.lstrip()
    indent = line[: len(line) - len(words)]
    mark, _, rest = words.partition(" ")
    item = mark in ("-", "*") or mark.rstrip(".").isdigit() or mark.startswith("--")
    inner = indent + " " * (len(words) - len(rest.lstrip())) if item else indent
    return textwrap.fill(
        words,
        width,
        initial_indent=indent,
        subsequent_indent=inner,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
        replace_whitespace=False,
        expand_tabs=False,
    )


def as_they_are(documents: Sequence[Document]) -> list[Document]:
    """The documents."""
    return list(documents)


def in_another_order(documents: Sequence[Document]) -> list[Document]:
    """The last first."""
    return list(reversed(documents))


def wrapped_at_40(documents: Sequence[Document]) -> list[Document]:
    """The documents as an editor of 40 columns saves them."""
    return [replace(d, text=wrap_text(d.text, 40)) for d in documents]


def wrapped_at_72(documents: Sequence[Document]) -> list[Document]:
    """The documents as a mail program of 72 columns sends them."""
    return [replace(d, text=wrap_text(d.text, 72)) for d in documents]


def with_crlf(documents: Sequence[Document]) -> list[Document]:
    """The documents with the line ends of Windows."""
    return [replace(d, text=d.text.replace("\n", "\r\n")) for d in documents]


def new_names(documents: Sequence[Document]) -> dict[str, str]:
    """Another id for each document, so that the ids sort in the opposite order."""
    names = sorted((d.id for d in documents), reverse=True)
    return {name: f"{place:02}-{len(name)}" for place, name in enumerate(names)}


def renamed(documents: Sequence[Document]) -> list[Document]:
    """The documents under their new ids."""
    names = new_names(documents)
    return [replace(d, id=names[d.id]) for d in documents]


COPY = "~again"  # ends the id of a second copy


def doubled(documents: Sequence[Document]) -> list[Document]:
    """Every document twice."""
    return [d for one in documents for d in (one, replace(one, id=one.id + COPY))]


def with_strangers(documents: Sequence[Document]) -> list[Document]:
    """The documents, and three of another corpus, which names nothing that they name."""
    name = next(name for name, one in CORPORA.items() if {d.id for d in one.documents} == {d.id for d in documents})
    return [*documents, *CORPORA[_STRANGERS[name]].documents[:3]]
