"""A store in PostgreSQL with a read replica: what questions read comes from there, as far as it is there already."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from numpy.typing import NDArray

from sensegraph.errors import SettingsError, StoreError
from sensegraph.runtime.database_address import DatabaseAddress
from sensegraph.runtime.stores.postgres import PostgresStore
from sensegraph.runtime.stores.rows import StoredRows

T = TypeVar("T")
_AWAY_S = 30.0  # for which a replica that cannot be used is left alone


class ReplicatedStore(PostgresStore):
    """A store that reads results, tables and arrays from the database at `replica`, and from its own what lacks there.

    Keys stand for content, so what a replica has is right however far it lags. Names are read where they are set: a
    process finds what it wrote, and the newest index. Where the replica cannot be used, or has no store yet, it is left
    alone for half a minute. A build reads what was just written, and so reads nothing there; copies in workers neither.
    """

    def __init__(self, url: str, root: Path, cache: Path, *, replica: str, **given: Any) -> None:
        address, own = DatabaseAddress.parse(replica), DatabaseAddress.parse(url)
        if address.schema != own.schema:
            raise SettingsError(f"store.replica names the schema {address.schema}, store.url {own.schema}.")
        reading = {**given, "readonly": True}
        self._open: Callable[[], PostgresStore] = lambda: PostgresStore(replica, root, cache, **reading)
        self._replica: PostgresStore | None = None
        self._away = time.monotonic()  # since when it is left alone
        super().__init__(url, root, cache, **given)
        self._away = -_AWAY_S

    def _ask_replica(self, read: Callable[[PostgresStore], T], otherwise: T) -> T:
        """What `read` finds in the replica; `otherwise` where it is not asked, or cannot be used."""
        if self._gate is not None or time.monotonic() - self._away < _AWAY_S:
            return otherwise
        try:
            if self._replica is None or self._replica.closed:
                self._replica = self._open()
            return read(self._replica)
        except StoreError:
            self._away = time.monotonic()
            return otherwise

    def read(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The objects present; a missing key is simply absent."""
        found = self._ask_replica(lambda replica: replica.read(keys), dict[str, bytes]())
        missing = [k for k in keys if k not in found]
        return {**found, **super().read(missing)} if missing else found

    def has(self, keys: Sequence[str]) -> set[str]:
        """Which of these keys are present, as an object, a table or an array."""
        found = self._ask_replica(lambda replica: replica.has(keys), set[str]())
        missing = [k for k in keys if k not in found]
        return found | super().has(missing) if missing else found

    def rows(self, key: str) -> StoredRows | None:
        """The table under `key`, if it is there."""
        return self._ask_replica(lambda replica: replica.rows(key), None) or super().rows(key)

    def array(self, key: str) -> NDArray[Any] | None:
        """The array under `key`, memory-mapped read-only, if it is there: a copy of it on this machine."""
        found = self._ask_replica(lambda replica: replica.array(key), None)
        return super().array(key) if found is None else found

    def close(self) -> None:
        """Close the connections; the store cannot be used afterwards."""
        if self._replica is not None:
            self._replica.close()
        super().close()
