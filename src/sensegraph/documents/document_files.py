"""Files to read: the settings and results of reading, and which files of a folder are documents.

The walk through a folder is sorted, ends, and says what it left out.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from sensegraph.types import Document

TEXT = frozenset({".txt", ".text", ".md", ".markdown", ".rst"})
MARKUP = frozenset({".html", ".htm", ".xhtml"})
RECORDS = frozenset({".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".mbox"})
OFFICE = frozenset({".pdf", ".docx", ".pptx", ".xlsx", ".odt", ".rtf"})
SUBTITLES = frozenset({".srt", ".vtt"})
KNOWN = TEXT | MARKUP | RECORDS | OFFICE | SUBTITLES | {".eml"}


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
    any case; where `id_column` is empty, `_id` and then `id` are looked for. A csv file without a column `text` is read
    as a table, a sentence a row, unless `text_column` names another. `include` and `exclude` are patterns
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


def list_document_files(root: str, settings: DocumentSettings) -> tuple[list[File], list[Skipped]]:
    """The files under `root` that are to be read, by their names, and what was left out.

    Hidden files and folders are no candidates. Links to files are followed; links to folders are followed when the
    folder is not read anyway, each folder once.
    """
    visited, links, top = set[str](), list[File](), os.path.realpath(root)
    found = list(_walk_folder(root, "", visited, links))
    while links:
        link = links.pop(0)
        real = os.path.realpath(link.path)
        if real in visited or top.startswith(os.path.join(real, "")):
            reason = "is a link to a folder that is read anyway, or that holds this one."
            found.append(Skipped(printable_path(link.path), reason))
        else:
            found += _walk_folder(link.path, link.name + "/", visited, links)
    wanted = [
        f
        for f in found
        if isinstance(f, File)
        and (not settings.include or any(fnmatchcase(f.name, p) for p in settings.include))
        and not any(fnmatchcase(f.name, p) for p in settings.exclude)
    ]
    chosen = sorted(wanted, key=lambda f: f.name)
    left = [s for s in found if isinstance(s, Skipped)]
    # one summary for each extension that is not known; none where the caller has said what to include
    unknown = () if settings.include else (f.extension for f in chosen if f.extension not in KNOWN)
    for extension, n in sorted(Counter(unknown).items()):
        what = f"{printable_path(extension)} file" if extension else "file without an extension"
        many = what if n == 1 else what.replace("file", "files", 1)
        verb = "is no text document" if n == 1 else "are not text documents"
        reason = f"{n} {many} {verb}; name one as a path, or in an include pattern, to read it as text."
        left.append(Skipped(printable_path(root), reason))
    if not chosen and not left:
        left = [Skipped(printable_path(root), "holds no document; put text files into it, or name another folder.")]
    return [f for f in chosen if f.extension in KNOWN or settings.include], left


def _walk_folder(top: str, prefix: str, visited: set[str], links: list[File]) -> Iterator[File | Skipped]:
    """Everything below `top`, without recursion; links to folders are put into `links` for later."""
    pending = [(top, prefix)]
    while pending:
        folder, prefix = pending.pop()
        real = os.path.realpath(folder)
        if real in visited:
            continue
        visited.add(real)
        try:
            names = sorted(n for n in os.listdir(folder) if not n.startswith("."))
        except OSError as e:
            reason = f"cannot be listed ({e.strerror}); check that it exists and may be read."
            yield Skipped(printable_path(folder), reason)
            continue
        for item in (File(os.path.join(folder, n), prefix + n) for n in names):
            if os.path.isdir(item.path):
                if os.path.islink(item.path):
                    links.append(item)
                else:
                    pending.append((item.path, item.name + "/"))
            elif item.name != printable_path(item.name):
                reason = "has a name that is no UTF-8, which no id can hold; rename it."
                yield Skipped(printable_path(item.path), reason)
            elif os.path.isfile(item.path):
                yield item
            elif os.path.islink(item.path):
                yield Skipped(item.path, "is a link that leads nowhere; mend or remove it.")
            else:
                reason = "is not a regular file, or has just gone; add files and folders only."
                yield Skipped(item.path, reason)
