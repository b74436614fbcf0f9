"""What a store that came from somebody else may not be: links that lead out of it, and programs in its database.

What stands in a store is read as data. A link in place of one of its files would have another file written or removed,
and a trigger or a view is a program in SQL that runs when a table is written or read, for as long as it likes.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from sensegraph.errors import StoreError


def check_links(root: Path) -> None:
    """Raise StoreError where the folder of a store, or anything that lies in it, is a link that leads out of it."""
    top = os.path.join(os.path.realpath(root.parent), root.name)
    places = [root, *root.iterdir(), *root.glob("arrays/*.npy")] if root.is_dir() else [root]
    for place in places:
        if place.is_symlink() and not os.path.realpath(place).startswith(os.path.join(top, "")):
            where = f"{place} is a link that leads out of its folder, to {os.path.realpath(place)}"
            raise StoreError(f"{where}. Put what it leads to in its place, or delete it.")


def check_inert(db: sqlite3.Connection) -> None:
    """Raise DatabaseError for triggers, views and virtual tables, which no store has, and damaged definitions."""
    db.execute("PRAGMA trusted_schema = OFF")
    query = "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL%'"
    try:
        found = db.execute(query).fetchone()
    except UnicodeDecodeError as e:  # SQLite says what is wrong in words of the file, which are damaged
        raise sqlite3.DatabaseError("the definition of a table is damaged") from e
    if found:
        raise sqlite3.DatabaseError(f"it holds the {found[0]} {str(found[1])[:40]!r}, as no store does")
