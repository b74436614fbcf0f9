"""Arrays as files in a folder, each under its key: sealed, mapped read-only, and put in their place by one renaming."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from numpy.typing import NDArray

from sensegraph.errors import StoreError
from sensegraph.runtime.stores.sealing import Damaged, is_sealed_array, map_array, seal, write_sealed_array

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
        name = key if _PLAIN.fullmatch(key) else seal("", key.encode("utf-8", "replace"))[:4].hex()
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
