"""Removing from a store what nothing needs any more, so that no byte of it stays in any file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sensegraph.errors import StoreError
from sensegraph.runtime.stores.corpus_store import Freed, Needed, Swept
from sensegraph.runtime.stores.packs import delete_objects, list_objects, name_key, store_key
from sensegraph.runtime.stores.rows import cut_blocks, delete_tables, size_tables

if TYPE_CHECKING:
    from sensegraph.runtime.stores.sqlite import SqliteStore

_BLOCK = 500
_OBJECTS = "object LEFT JOIN pack USING (number)"
_TOMB = "-"  # the key of the last part that was ever made, where it is gone: its number is never given again


def sweep_store(store: SqliteStore, needed: Needed, *, dry: bool = False, spare: Collection[str] = ()) -> Swept:
    """Remove every object, table and array whose key is not `needed`; with `dry` only count them.

    Where `needed` is a function, what comes while it finds out stays. A table `KEY.name` and an array `KEY.name` belong
    to KEY. What goes is overwritten, the file is written anew without free pages, and its log is emptied. Hold
    `store.exclusive()` meanwhile. Raises StoreError for a read-only store.
    """
    if store.readonly:
        raise StoreError(f"{store.path} can only be read here; collect where it can be written.")
    before = store.size()
    there, begun = _list_there(store), list(store.root.glob("arrays/*.part"))
    keep = set(needed() if callable(needed) else needed)
    for step in spare:
        keep.update(name_key(k) for (k,) in store.select(f"SELECT key FROM {_OBJECTS} WHERE step = ?", (step,)))
    gone = _find_unneeded(store, keep, there)
    counted = _count_freed(store, gone)
    if dry:
        return Swept(counted, before, before)
    _delete_rows(store, [k for k, _, _ in gone.objects], [number for _, number, _ in gone.parts])
    for path in (*gone.arrays, *begun):
        path.unlink(missing_ok=True)
    store.select("VACUUM")
    ((busy, _, _),) = store.select("PRAGMA wal_checkpoint(TRUNCATE)")  # readers may keep the log from being emptied
    return Swept(counted, before, store.size(), bool(busy))


def drop_keys(store: SqliteStore, keys: Collection[str], spare: Collection[str]) -> None:
    """Remove the objects, tables and arrays under these keys, but for the steps in `spare` and what a ref names."""
    if store.readonly or not keys:
        return
    steps: list[tuple[str, str]] = []
    named = set[str]()
    for block in cut_blocks(keys, _BLOCK):
        marks = ",".join("?" * len(block))
        query = f"SELECT key, step FROM {_OBJECTS} WHERE key IN ({marks})"
        steps += ((name_key(k), step) for k, step in store.select(query, [store_key(k) for k in block]))
        named.update(k for (k,) in store.select(f"SELECT value FROM ref WHERE value IN ({marks})", block))
    every = set(keys) - named - {key for key, step in steps if step in spare}
    numbers = [n for k, n in store.select("SELECT key, number FROM part") if k.partition(".")[0] in every]
    arrays = [path for path in store.root.glob("arrays/*.npy") if path.name.partition(".")[0] in every]
    _delete_rows(store, [key for key, _ in steps if key in every], numbers)
    for path in arrays:
        path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class _Gone:
    objects: tuple[tuple[str, str, int], ...]  # key, step, bytes
    parts: tuple[tuple[str, int, int], ...]  # key, number, bytes
    arrays: tuple[Path, ...]


def _list_there(store: SqliteStore) -> tuple[int, int, list[Path]]:
    """The last pack of objects and the last table that are there, and the arrays."""
    ((packs, parts),) = store.select("SELECT (SELECT max(number) FROM pack), (SELECT max(number) FROM part)")
    return packs or 0, parts or 0, sorted(store.root.glob("arrays/*.npy"))


def _find_unneeded(store: SqliteStore, keep: set[str], there: tuple[int, int, list[Path]]) -> _Gone:
    def unwanted(key: str) -> bool:
        return key.partition(".")[0] not in keep

    last, part, arrays = there
    objects = list_objects(store, last)
    sizes = size_tables(store)
    parts = store.select("SELECT key, number FROM part WHERE number <= ? ORDER BY number", (part,))
    return _Gone(
        tuple((k, step, n) for k, step, n in objects if unwanted(k)),
        tuple((k, number, sizes.get(number, 0)) for k, number in parts if k != _TOMB and unwanted(k)),
        tuple(p for p in arrays if unwanted(p.name)),
    )


def _count_freed(store: SqliteStore, gone: _Gone) -> dict[str, Freed]:
    steps = {k: step for k, step, _ in gone.objects}
    found: dict[str, Freed] = {}

    def count(key: str, freed: Freed, other: str) -> None:
        step = steps.get(key.partition(".")[0], other)
        found[step] = found.get(step, Freed()) + freed

    for k, _, n in gone.objects:
        count(k, Freed(objects=1, bytes=n), "")
    for k, _, n in gone.parts:
        count(k, Freed(tables=1, bytes=n), "tables")
    for path in gone.arrays:
        count(path.name, Freed(arrays=1, bytes=path.stat().st_size), "arrays")
    return dict(sorted(found.items()))


def _delete_rows(store: SqliteStore, keys: Sequence[str], numbers: Sequence[int]) -> None:
    """Delete objects and tables in one transaction; what is deleted is overwritten with zeros."""
    last = store.select("SELECT max(number) FROM part")[0][0]
    store.select("PRAGMA secure_delete = ON")
    with store.writing() as db:
        delete_tables(db, numbers)
        if last in numbers:  # a reader may hold the number of a table that went: no other may ever have it
            db.execute("DELETE FROM part WHERE key = ?", (_TOMB,))
            db.execute("UPDATE part SET key = ?, head = '' WHERE number = ?", (_TOMB, last))
        db.executemany("DELETE FROM part WHERE number = ? AND key <> ?", [(n, _TOMB) for n in numbers])
        delete_objects(db, keys)
