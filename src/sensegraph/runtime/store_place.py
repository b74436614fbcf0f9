"""From an address to a store: the one place that tells a folder of this machine from a database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sensegraph.runtime.stores.corpus_store import CorpusStore
    from sensegraph.runtime.stores.postgres_wire import Database


@dataclass(frozen=True, slots=True)
class StorePlace:
    """Where a store is: in `folder`, or in the database at `url`; then `cache` holds copies of its arrays.

    These lie in the database too, or in the bucket at `arrays`. What questions read comes from the database at
    `replica`, where one is named.

    `password` is asked for that of the database whenever a connection is opened.
    """

    folder: Path
    url: str = ""
    cache: Path = Path()
    password: Callable[[], str] = str
    arrays: str = ""
    replica: str = ""

    def open(self, *, readonly: bool = False, mend: bool = False) -> CorpusStore:
        """The store, made where there is none unless `readonly`; with `mend` a file beyond reading is moved aside.

        Raises StoreError where it cannot be used, SettingsError for an address that is none.
        """
        if self.url:
            if not readonly:
                self.folder.mkdir(parents=True, exist_ok=True)  # for what a database does not hold
            given: dict[str, Any] = {"readonly": readonly, "password": self.password, "arrays": self.arrays}
            if self.replica:
                from sensegraph.runtime.stores.postgres_replica import ReplicatedStore

                return ReplicatedStore(self.url, self.folder, self.cache, replica=self.replica, **given)
            from sensegraph.runtime.stores.postgres import PostgresStore

            return PostgresStore(self.url, self.folder, self.cache, **given)
        from sensegraph.runtime.stores.sqlite import SqliteStore

        return SqliteStore(self.folder, readonly=readonly, mend=mend)

    def exists(self) -> bool:
        """Whether there is a store. Raises StoreError where the database cannot be asked."""
        if not self.url:
            return (self.folder / "store.sqlite").exists()
        from contextlib import closing

        from sensegraph.runtime.stores.postgres_schema import has_schema

        with closing(self._database()) as database, database.session() as session:
            return has_schema(session, database.address)

    def _database(self) -> Database:
        from sensegraph.runtime.database_address import DatabaseAddress
        from sensegraph.runtime.stores.postgres_wire import Database

        return Database(DatabaseAddress.parse(self.url), self.password)
