"""The settings of reading files, and its results: documents, and what was skipped."""

from __future__ import annotations

from dataclasses import dataclass

from sensegraph.types import Document


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was not read: `path` names it, `reason` says in one sentence what, why and what to do."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """The documents in the order in which they were read, and all that was left out."""

    documents: tuple[Document, ...] = ()
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentSettings:
    """How files are chosen and read.

    `max_bytes` is the largest file that is read. The columns name the fields of a record in csv and json files, in
    any case; where `id_column` is empty, `_id` and then `id` are looked for. `include` and `exclude` are patterns
    (`*.md`, `drafts/*`) over paths relative to the folder, where `*` also stands for `/`; without `include`, every
    file with a known extension is read.
    """

    max_bytes: int = 200_000_000
    text_column: str = "text"
    id_column: str = ""
    title_column: str = "title"
    time_column: str = "time"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


DEFAULTS = DocumentSettings()


@dataclass(frozen=True, slots=True)
class File:
    """A file to read: where it is, and its name, which is its POSIX path relative to the root it was added from."""

    path: str
    name: str

    @property
    def extension(self) -> str:
        """The extension in lower case with its dot, or nothing."""
        base = self.name.rpartition("/")[2]
        stem, dot, last = base.rpartition(".")
        return f".{last.lower()}" if dot and stem else ""


def printable_path(path: str) -> str:
    """`path` as it can be printed and stored: bytes that are no UTF-8 are written as escapes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
