"""Archives of our own test data, on every Python: before 3.11.4 `extractall` knows no filter, later it asks for one."""

from __future__ import annotations

import tarfile
from pathlib import Path


def unpacked(archive: Path, folder: Path) -> Path:
    """`folder` with the files of `archive`."""
    with tarfile.open(archive) as packed:
        for member in packed.getmembers():
            if (held := packed.extractfile(member)) is not None:
                place = folder / member.name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(held.read())
    return folder
