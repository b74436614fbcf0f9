"""A store: the usual one, which counts what is written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sensegraph.runtime.stores.sqlite import SqliteStore


class CountingStore(SqliteStore):
    """Made with the folder of the corpus's store, and whether it may only be read."""

    def __init__(self, folder: Path, *, readonly: bool = False) -> None:
        super().__init__(folder, readonly=readonly)
        self.written = 0

    def write(self, objects: Mapping[str, bytes], step: str = "") -> None:
        """Store all of `objects` or none."""
        super().write(objects, step)
        self.written += len(objects)
