"""Files to read: the settings and results of reading, and which files of a folder are documents.

The walk through a folder is sorted, ends, and says what it left out.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

Seen = tuple[tuple[str, int, int, int], ...]
TEXT = frozenset({".txt", ".text", ".md", ".markdown", ".rst"})
MARKUP = frozenset({".html", ".htm", ".xhtml"})
RECORDS = frozenset({".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".mbox"})
OFFICE = frozenset({".pdf", ".docx", ".pptx", ".xlsx", ".odt", ".rtf"})
SUBTITLES = frozenset({".srt", ".vtt"})
PARTED = RECORDS | OFFICE | {".eml"}  # files that hold more than the text of one document
KNOWN = TEXT | MARKUP | RECORDS | OFFICE | SUBTITLES | {".eml"}
_SYSTEM = ("/proc", "/sys", "/dev")  # where a system shows processes (with their secrets) and devices as files
_MEMORY_DISK = "/dev/shm"  # the one place of these with files of people
_NAMED = 5  # files of one extension that are named
_DEEPEST = 100  # folders in one another; people's trees have some twenty
_STEERING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was not read: `path` names it, `reason` says in one sentence what, why and what to do."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class PartlyRead(Skipped):
    """A folder, or a link to one, of which something was not read: what is not found in it may still be there."""


@dataclass(frozen=True, slots=True)
class DocumentSettings:
    """How files are chosen and read.

    `max_bytes` is the largest file that is read, packed and unpacked, `max_characters` the longest text of one
    document, `max_seconds` the longest that a PDF or office file is worked on, `max_files` the most files of a folder.
    `max_images` of a document are shown to a model that sees, each of at most `max_image_bytes` and `max_image_pixels`,
    and none with a side of less than `min_image_side` pixels.
    With `follow_links` a link may lead out of the folder that is read, though never to where the system keeps processes
    and devices. The columns name the fields of a record in csv and json files, in any case; where `id_column` is empty,
    `_id` and then `id` are looked for. A csv file without a column `text` is read as a table, a sentence a row, unless
    `text_column` names another. `include` and `exclude` are patterns (`*.md`, `drafts/*`) over paths relative to the
    folder, where `*` also stands for `/`; without `include`, every file with a known extension is read.
    """

    max_bytes: int = 200_000_000
    max_characters: int = 20_000_000
    max_seconds: int = 300
    max_files: int = 1_000_000
    max_images: int = 100
    max_image_bytes: int = 5_000_000
    max_image_pixels: int = 40_000_000
    min_image_side: int = 64
    follow_links: bool = False
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


def name_inside(path: str, base: str) -> str:
    """The name of a file or folder in the folder `base`; nothing without one, or for itself."""
    name = os.path.relpath(os.path.realpath(path), os.path.realpath(base)) if base else "."
    return "" if name == "." else name.replace(os.sep, "/")


def explain_place(path: str, top: str, settings: DocumentSettings) -> str:
    """Why a file or folder is not to be read where it lies, or nothing; `top` is the real path of what is read."""
    real = os.path.realpath(path)
    if any(_lies_in(real, place) for place in _SYSTEM) and not _lies_in(real, _MEMORY_DISK):
        return f"lies in {printable_path(real)}, where the system shows itself and no documents; it is never read."
    if not settings.follow_links and not _lies_in(real, top):
        where = printable_path(real)
        return f"leads out of the folder, to {where}; name that as a path, or set documents.follow_links = true."
    return ""


def _lies_in(real: str, folder: str) -> bool:
    return real == folder or real.startswith(os.path.join(folder, ""))


def explain_name(name: str) -> str:
    """Why a name can be no id, or nothing."""
    if name != printable_path(name):
        return "has a name that is no UTF-8, which no id can hold; rename it."
    if _STEERING.search(name):
        return "has a name with line ends or other control characters, which no id can hold; rename it."
    return ""


def list_document_files(root: str, settings: DocumentSettings, base: str = "") -> tuple[list[File], list[Skipped]]:
    """The files under `root` that are to be read, by their names, and what was left out.

    Names are relative to `root`, or to the folder `base`, which holds it.
    Hidden files and folders are no candidates. A link is followed where what it leads to lies below `root` too, or
    the settings allow any; to a folder only when that is not read anyway, each folder once.
    """
    top = os.path.realpath(root)
    if reason := explain_place(root, top, settings):
        return [], [PartlyRead(printable_path(root), reason)]
    walk = _Walk(top, settings)
    found: list[File | Skipped] = []
    for item in walk.items(root, name_inside(root, base)):
        if isinstance(item, File) and len(found) >= settings.max_files:
            reason = (
                f"holds more than {settings.max_files:,} files, and the rest was not read; name its folders one by "
            )
            found.append(PartlyRead(printable_path(root), f"{reason}one, or raise documents.max_files."))
            break
        found.append(item)
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
    unknown = defaultdict[str, list[str]](list)
    for f in () if settings.include else (f for f in chosen if f.extension not in KNOWN):
        unknown[f.extension].append(printable_path(f.name))
    for extension, names in sorted(unknown.items()):
        what = f"{printable_path(extension)} file" if extension else "file without an extension"
        many = f"1 {what}" if len(names) == 1 else f"{len(names):,} {what.replace('file', 'files', 1)}"
        verb = "is no text document" if len(names) == 1 else "are not text documents"
        named = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else "")
        reason = f"{many} {verb} ({named}); name one as a path, or in an include pattern, to read it as text."
        left.append(Skipped(printable_path(root), reason))
    if not chosen and not left:
        left = [Skipped(printable_path(root), "holds no document; put text files into it, or name another folder.")]
    return [f for f in chosen if f.extension in KNOWN or settings.include], left


@dataclass(frozen=True, slots=True)
class _Walk:
    """A walk below the real path `top`, without recursion: which folders were seen, and links to folders for later."""

    top: str
    settings: DocumentSettings
    visited: set[str] = field(default_factory=set)
    links: list[File] = field(default_factory=list)

    def items(self, root: str, prefix: str) -> Iterator[File | Skipped]:
        """All files below `root`, in an order that is always the same, and what is none that can be read."""
        yield from self._folder(root, f"{prefix}/" if prefix else "")
        for link in self.links:  # grows meanwhile
            real = os.path.realpath(link.path)
            if real in self.visited or _lies_in(self.top, real):
                reason = "is a link to a folder that is read anyway, or that holds this one."
                yield Skipped(printable_path(link.path), reason)
            elif reason := explain_place(link.path, self.top, self.settings):
                yield PartlyRead(printable_path(link.path), reason)
            else:
                yield from self._folder(link.path, link.name + "/")

    def _folder(self, top: str, prefix: str) -> Iterator[File | Skipped]:
        """Everything below a folder; links to folders are put aside."""
        pending = [(top, prefix)]
        while pending:
            folder, prefix = pending.pop()
            real = os.path.realpath(folder)
            if real in self.visited:
                continue
            self.visited.add(real)
            try:
                names = sorted(n for n in os.listdir(folder) if not n.startswith("."))
            except OSError as e:
                reason = f"cannot be listed ({e.strerror}); check that it exists and may be read."
                yield Skipped(printable_path(folder), reason)
                continue
            for item in (File(os.path.join(folder, n), prefix + n) for n in names):
                if not os.path.isdir(item.path):
                    yield self._check_file(item)
                elif reason := explain_name(os.path.basename(item.path)):
                    yield PartlyRead(printable_path(item.path), reason)
                elif os.path.islink(item.path):
                    self.links.append(item)
                elif item.name.count("/") >= _DEEPEST:
                    reason = f"lies {_DEEPEST} folders deep and is not read; name it as a path of its own."
                    yield PartlyRead(printable_path(item.path), reason)
                else:
                    pending.append((item.path, item.name + "/"))

    def _check_file(self, file: File) -> File | Skipped:
        reason = explain_name(os.path.basename(file.path))
        if not reason and os.path.islink(file.path):
            dangling = not os.path.exists(file.path)
            reason = "is a link that leads nowhere; fix or remove it." if dangling else ""
            reason = reason or explain_place(file.path, self.top, self.settings)
        if not reason and not os.path.isfile(file.path):
            reason = "is not a regular file, or has just gone; add files and folders only."
        return Skipped(printable_path(file.path), reason) if reason else file


def take_snapshot(paths: Sequence[str | Path], settings: DocumentSettings) -> Seen:
    """Path, size, time of the last change (ns) and inode of every file that would be read; a missing path has none."""
    found: list[str] = []
    for path in map(str, paths):
        found += [f.path for f in list_document_files(path, settings)[0]] if os.path.isdir(path) else [path]
    seen: list[tuple[str, int, int, int]] = []
    for name in sorted(found):
        with suppress(OSError):  # it has just gone
            is_ = os.stat(name)
            seen.append((name, is_.st_size, is_.st_mtime_ns, is_.st_ino))
    return tuple(seen)
