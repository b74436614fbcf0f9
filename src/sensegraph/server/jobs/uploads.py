"""Files that are sent: each is written into the folder `input` of its corpus, or refused by name."""

from __future__ import annotations

import re
import stat
import unicodedata
import zipfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from sensegraph.errors import InputError
from sensegraph.server.http.access import Limits
from sensegraph.server.http.failures import Refused

_PART = re.compile(r"[^\W_][\w .,()&'+=@-]{0,150}")
_DEEPEST, _LONGEST = 8, 400
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # names that a system keeps to itself
_BEGINS = {".pdf": b"%PDF", ".rtf": b"{\\rtf"}
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_HEAD = 8192
_BLOCK = 1 << 18


@dataclass(frozen=True, slots=True)
class Stored:
    """A file that stands in `input` now."""

    name: str
    bytes: int
    new: bool


def check_name(name: str) -> str:
    """The name of a file below `input`, in one form. Raises InputError for one that is not safe everywhere."""
    from sensegraph.documents.document_files import KNOWN

    tidy = unicodedata.normalize("NFC", name)
    parts = tidy.split("/")
    shown = repr(tidy[:80])
    if len(tidy) > _LONGEST or len(parts) > _DEEPEST:
        raise InputError(f"{shown} is too long a name, or too deep a folder.")
    for part in parts:
        if not _PART.fullmatch(part) or part[-1] in " ." or _DEVICES.fullmatch(part):
            raise InputError(f"{shown} is no name for a document: use letters, digits, and . - _ inside of a name.")
    suffix = Path(tidy).suffix.lower()
    if suffix not in KNOWN:
        raise InputError(f"{shown} is of no kind that is read; those are: {' '.join(sorted(KNOWN))}.")
    return tidy


def check_begin(name: str, begin: bytes) -> None:
    """Raise InputError for a file whose bytes are not what its name says."""
    from sensegraph.documents.document_files import OFFICE

    suffix = Path(name).suffix.lower()
    wanted = _BEGINS.get(suffix, b"PK" if suffix in OFFICE else b"")
    text = suffix not in OFFICE
    if not begin.startswith(wanted) or (text and b"\0" in begin and not begin.startswith(_UTF16)):
        raise InputError(f"{name} does not hold what a file that ends in {suffix} holds.")


class InputFolder:
    """The folder of documents of a corpus. What is written into it stays inside, within the limits."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._folder, self._limits = folder, limits

    async def store(self, name: str, pieces: AsyncIterator[bytes]) -> Stored:
        """Write a file that comes in pieces. Raises InputError and Refused; then the folder is as it was."""
        safe = check_name(name)
        with self._replacing(safe) as (file, room):
            size, begin = 0, b""
            async for piece in pieces:
                size += len(piece)
                if size > room:
                    raise Refused(413, f"The folder of documents may hold {self._limits.stored:,} bytes at most.")
                begin += piece[: _HEAD - len(begin)]
                file.write(piece)
            check_begin(safe, begin)
            new = not (self._folder / safe).exists()
        return Stored(safe, size, new)

    def unpack(self, archive: BinaryIO) -> tuple[list[Stored], list[tuple[str, str]]]:
        """Write the files of an archive; those written, and those refused with the reason."""
        stored, refused = list[Stored](), list[tuple[str, str]]()
        left = self._limits.unpacked
        try:
            with zipfile.ZipFile(archive) as packed:
                members = [m for m in packed.infolist() if not m.is_dir()]
                if len(members) > self._limits.files:
                    raise InputError(f"The archive holds more than {self._limits.files:,} files.")
                for member in members:
                    try:
                        done = self._unpack_member(packed, member, left)
                    except InputError as e:
                        refused.append((member.filename[:200], str(e)))
                    else:
                        stored.append(done)
                        left -= done.bytes
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as e:
            raise InputError(f"The archive is damaged, or locked ({e}).") from e
        return stored, refused

    def _unpack_member(self, packed: zipfile.ZipFile, member: zipfile.ZipInfo, left: int) -> Stored:
        if stat.S_ISLNK(member.external_attr >> 16):
            raise InputError(f"{member.filename[:80]!r} is a link.")
        if member.flag_bits & 1:
            raise InputError(f"{member.filename[:80]!r} is locked with a password.")
        safe = check_name(member.filename)
        with self._replacing(safe) as (file, room), packed.open(member) as source:
            size, begin = 0, b""
            while piece := source.read(_BLOCK):  # what an archive says of sizes may be false
                size += len(piece)
                if size > min(left, self._limits.upload, room):
                    raise InputError(f"{safe} unpacks to too many bytes.")
                begin += piece[: _HEAD - len(begin)]
                file.write(piece)
            check_begin(safe, begin)
            new = not (self._folder / safe).exists()
        return Stored(safe, size, new)

    def remove(self, name: str) -> bool:
        """Take a file away; whether there was one."""
        place = self._folder / check_name(name)
        self._check_inside(place)
        if not place.is_file():
            return False
        place.unlink()
        return True

    @contextmanager
    def _replacing(self, name: str) -> Iterator[tuple[BinaryIO, int]]:
        """A file beside the one of this name, which takes its place when all went well; and the room there is."""
        place = self._folder / name
        self._check_inside(place)
        sizes = [p.stat().st_size for p in self._folder.rglob("*") if p.is_file()] if self._folder.exists() else []
        if len(sizes) >= self._limits.files:
            raise Refused(413, f"The folder of documents may hold {self._limits.files:,} files at most.")
        place.parent.mkdir(parents=True, exist_ok=True)
        beside = self._folder / f".{token_hex(8)}.part"
        try:
            with beside.open("xb") as file:
                yield file, self._limits.stored - sum(sizes)
            beside.replace(place)
        finally:
            beside.unlink(missing_ok=True)

    def _check_inside(self, place: Path) -> None:
        """Raise InputError where a link leads out of the folder, or a folder has this name."""
        folder = self._folder.resolve()
        if not folder.is_relative_to(self._folder.parent.resolve()):
            raise InputError(f"{self._folder.name} is a link that leads out of the corpus; nothing is written there.")
        if place.is_symlink() or not place.resolve().is_relative_to(folder) or place.is_dir():
            raise InputError(f"{place.name} is a link or a folder; nothing is written there.")
        if any(parent.is_file() for parent in place.parents):
            raise InputError(f"A folder of {place.name} is a file already; take another name.")
