"""Arrays as files in a folder, each under its key: sealed, mapped read-only, and put in their place by one renaming.

Those that machines share lie in a table of a database in pieces, or in a bucket; files are copies of them then.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from zlib import crc32

from numpy.typing import NDArray

from sensegraph.errors import SettingsError, StoreError
from sensegraph.runtime.stores.sealing import Damaged, is_sealed_array, map_array, write_sealed_array

if TYPE_CHECKING:
    from sensegraph.runtime.stores.postgres_wire import Session

_PIECE = 1 << 21  # bytes of an array in one row
_LEFT = timedelta(days=1)  # after which an object that no row names was left behind by a process that was killed
_DISK = "Check the disk, the permissions, and how many files may be open (`ulimit -n`)."
_PLAIN = re.compile(r"[0-9A-Za-z_-][0-9A-Za-z_.-]{0,199}")  # keys that are names of files
_CHECKED = 1 << 24  # bytes of an array up to which its checksum is read where it is opened; a build reads all of them


class ArrayFiles:
    """The arrays in one folder. What is written under a key that is there changes nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._seen: set[str] = set()  # arrays whose checksum was right

    def path(self, key: str) -> Path:
        """The file of the array under `key`; whatever a damaged store takes for a key, it lies in the same folder."""
        name = key if _PLAIN.fullmatch(key) else f"{crc32(key.encode('utf-8', 'replace')):08x}"
        return self.folder / f"{name}.npy"

    def names(self) -> list[str]:
        """The keys of the arrays that are there, sorted."""
        return sorted(path.stem for path in self.folder.glob("*.npy"))

    def write(self, key: str, array: NDArray[Any]) -> None:
        """Write an array. Raises OSError where it cannot be."""
        self.fill(key, lambda file: write_sealed_array(file, array))

    def fill(self, key: str, fill: Callable[[BinaryIO], None]) -> None:
        """Make the file of the array under `key` as `fill` does; nothing happens when it is there already."""
        path = self.path(key)
        if path.exists():
            return
        unfinished = path.with_name(f"{path.stem}.{os.getpid()}.part")
        try:
            with unfinished.open("w+b") as file:
                fill(file)
                file.flush()
                os.fsync(file.fileno())  # the name must not outlive the content when the power fails
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)

    def open(self, key: str) -> NDArray[Any] | None:
        """The array under `key`, mapped; None where it is not there. Raises Damaged, ValueError or StoreError."""
        path = self.path(key)
        try:
            if path.stat().st_size <= _CHECKED and key not in self._seen and not is_sealed_array(path):
                raise Damaged(key)
            found = map_array(path)
        except FileNotFoundError:
            return None
        except OSError as e:
            raise StoreError(f"{path} cannot be read ({e}). {_DISK}") from e
        self._seen.add(key)
        return found


class Absent(Exception):
    """There is no such array."""


class PieceTable:
    """Arrays in the rows of a table, 2 MB each; with a bucket a row without bytes says that it is an object there.

    `files` are the copies on this machine, `session` gives a connection for a while.
    """

    def __init__(
        self, files: ArrayFiles, session: Callable[[], AbstractContextManager[Session]], bucket: ArrayBucket | None
    ) -> None:
        self._files, self._session, self._bucket = files, session, bucket

    def write(self, key: str, array: NDArray[Any]) -> None:
        """Store an array: its bytes first, and what says that they are there."""
        self._files.write(key, array)
        path, query = self._files.path(key), "INSERT INTO piece VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
        if self._bucket:
            self._bucket.put(path)
        with path.open("rb") as file, self._session() as session, session.transaction():
            pieces = [b""] if self._bucket else iter(lambda: file.read(_PIECE), b"")
            for number, piece in enumerate(pieces):
                session.execute(query, key, number, piece)

    def fetch(self, key: str, file: BinaryIO) -> None:
        """Write an array into a file, all of it as it is at one moment. Raises Absent for none."""
        number, query = 0, "SELECT value FROM piece WHERE key = $1 AND number = $2"
        with self._session() as session, session.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY"):
            while (piece := session.value(query, key, number)) is not None:
                if not piece and self._bucket:
                    self._bucket.fetch(self._files.path(key).name, file)
                file.write(piece)
                number += 1
        if not number:
            raise Absent

    def remove(self, keys: Collection[str], names: Callable[[], Collection[str]]) -> None:
        """Remove the objects of arrays whose rows are gone, and of a bucket what was left behind: all but `names`."""
        if self._bucket:
            self._bucket.remove([self._files.path(key).name for key in keys])
            left = self._bucket.list_older(datetime.now(UTC) - _LEFT)
            self._bucket.remove(sorted(left - {self._files.path(key).name for key in names()}))


class ArrayBucket:
    """Objects in a bucket, or in a folder that machines share: `s3://…`, `gs://…`, `az://…`, `file:///…`.

    Who may write there is said by the environment, as the vendor's own tools read it (AWS_ACCESS_KEY_ID …). Raises
    SettingsError for an address that is none, StoreError without the extra `bucket`.
    """

    def __init__(self, url: str) -> None:
        try:
            import obstore
            from obstore.store import from_url
        except ImportError as e:
            raise StoreError('store.arrays needs the extra "bucket": pip install "sensegraph[bucket]".') from e
        self.url, self._library = url, obstore
        own: dict[str, Any] = {"mkdir": True} if url.startswith("file:") else {}
        try:
            self._bucket = from_url(url, **own)
        except (obstore.exceptions.BaseError, ValueError) as e:
            raise SettingsError(
                f"store.arrays = {url!r} is no place for arrays ({_say(e)}): write s3://BUCKET/FOLDER or file:///FOLDER."
            ) from e

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except (self._library.exceptions.BaseError, OSError) as e:
            raise StoreError(
                f"{self.url} cannot be used ({_say(e)}). Check store.arrays, and the key for it in the environment, "
                "then run this again: what was computed is kept."
            ) from e

    def put(self, path: Path) -> None:
        """Send a file, under its name."""
        with self._explaining():
            self._library.put(self._bucket, path.name, path)

    def fetch(self, name: str, file: BinaryIO) -> None:
        """Write an object into a file. Raises Damaged where it is gone."""
        with self._explaining():
            try:
                for piece in self._library.get(self._bucket, name).stream():
                    file.write(piece)
            except (self._library.exceptions.NotFoundError, FileNotFoundError) as e:
                raise Damaged(name) from e

    def remove(self, names: Collection[str]) -> None:
        """Remove objects; one that is not there is none."""
        with self._explaining():
            for name in names:
                with suppress(self._library.exceptions.NotFoundError, FileNotFoundError):
                    self._library.delete(self._bucket, name)

    def list_older(self, moment: datetime) -> set[str]:
        """The names of the objects that were last written before then."""
        with self._explaining():
            listed = [found for some in self._library.list(self._bucket) for found in some]
        return {str(found["path"]) for found in listed if found["last_modified"] < moment}


def _say(e: BaseException) -> str:
    return " ".join(str(e).split())[:200].rstrip(".")
