"""What the files of a corpus hold, as somebody could read it: byte by byte, and with the values of the store opened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sensegraph.runtime.stores.packs import list_objects
from sensegraph.runtime.stores.sqlite import SqliteStore


def read_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The names and bytes of all files in a folder; of stores also every object and record, as it was written."""
    for path in sorted(f for f in folder.rglob("*") if f.is_file()):
        yield path.name, path.read_bytes()
        if path.name == "store.sqlite":
            yield path.name, b"\n".join(_read_store(path.parent))


def _read_store(root: Path) -> Iterator[bytes]:
    store = SqliteStore(root, readonly=True)
    try:
        yield from store.read([key for key, _, _ in list_objects(store)]).values()
        for (key,) in store.select("SELECT key FROM part WHERE key <> '-'"):
            if table := store.rows(key):
                yield from table.scan()
                yield from (name.encode() for name in table.ids())
    finally:
        store.close()
