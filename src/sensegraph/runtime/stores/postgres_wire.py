"""Connections to PostgreSQL: the one file that knows its client. Calls are synchronous, from any thread.

The client (asyncpg) is asynchronous: its connections live in a loop that a thread of its own turns, and a call waits
for what it asked for there. A password stands in no address, message or copy: it is asked for where a connection is
opened.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from sensegraph.errors import StoreError
from sensegraph.runtime.database_address import PASSWORD, DatabaseAddress

if TYPE_CHECKING:
    import asyncpg

T = TypeVar("T")

_CONNECT_S, _STATEMENT_S = 15.0, 600.0
LONG_S = 86_400.0  # for a statement that may take as long as it needs
_IDLE = 4  # connections that are kept open while nobody uses them
_KEEPALIVE = {"tcp_keepalives_idle": "20", "tcp_keepalives_interval": "10", "tcp_keepalives_count": "3"}
_AGAIN = "then run this again: what was computed is kept."


class Database:
    """Connections to one database, opened as threads need them. Raises StoreError, with what to do, in every call."""

    def __init__(self, address: DatabaseAddress, password: Callable[[], str]) -> None:
        try:
            import asyncpg
        except ImportError as e:
            raise StoreError('PostgreSQL needs the extra "postgres": pip install "sensegraph[postgres]".') from e
        self.address, self._client, self._password = address, asyncpg, password
        self._loop, self._idle = asyncio.new_event_loop(), deque[Any]()  # connections that nobody uses
        threading.Thread(target=self._loop.run_forever, name="postgres", daemon=True).start()
        self._end = weakref.finalize(self, _end_loop, self._loop, self._idle)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return not self._end.alive

    def close(self) -> None:
        """Close all connections that nobody uses."""
        self._end()

    def connect(self) -> Session:
        """A connection for the caller alone, who closes it."""
        self._check_open()
        settings = {"application_name": "sensegraph", "search_path": self.address.schema, **_KEEPALIVE}
        made = self._client.connect(
            self.address.url,
            password=self._password() or None,
            timeout=_CONNECT_S,
            command_timeout=_STATEMENT_S,
            server_settings=settings,
        )
        with self.explaining():
            return Session(self, asyncio.run_coroutine_threadsafe(made, self._loop).result())

    def _check_open(self) -> None:
        if self.closed:
            raise StoreError(f"The corpus in {self.address} was closed; open it again (`Corpus.open`).")

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A connection for a while; afterwards another thread may use it."""
        self._check_open()
        session: Session | None = None
        while session is None or session.lost:
            try:
                session = Session(self, self._idle.pop())
            except IndexError:
                session = self.connect()
        try:
            yield session
        finally:
            if len(self._idle) < _IDLE and self._end.alive and not session.lost:
                self._idle.append(session.connection)
            else:
                session.close()

    def wait_for(self, work: Coroutine[Any, Any, T], session: Session) -> T:
        """The result of `work`, done in the loop; the connection is given up where this is interrupted."""
        future, ended = asyncio.run_coroutine_threadsafe(work, self._loop), False
        try:
            with self.explaining():
                try:
                    found = future.result()
                except self._client.PostgresError:
                    ended = True  # the server has refused something, and is ready for more
                    raise
                ended = True
                return found
        finally:
            if not ended:
                future.cancel()
                session.close()

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Turn what the client says into one sentence that names the database, and one that says what to do."""
        errors = self._client.exceptions
        # of a connection that breaks in the middle the client may say no more than that it is in another state
        lost = errors.PostgresConnectionError, errors.OperatorInterventionError, errors.InternalClientError
        try:
            yield
        except (errors.InvalidPasswordError, errors.InvalidAuthorizationSpecificationError) as e:
            raise self._error(e, f"Check the user in store.url, and set the variable {PASSWORD}.") from e
        except errors.InvalidCatalogNameError as e:
            raise self._error(e, "Create the database first (createdb), or correct store.url.") from e
        except (errors.InsufficientPrivilegeError, errors.ReadOnlySQLTransactionError) as e:
            raise self._error(e, "Grant the user what it lacks, or use one that may write there.") from e
        except errors.InsufficientResourcesError as e:
            raise self._error(e, f"Give the database room, {_AGAIN}") from e
        except (*lost, OSError, TimeoutError) as e:
            raise self._error(e, f"Check that the database runs and can be reached from here, {_AGAIN}") from e
        except (errors.PostgresError, errors.InterfaceError, asyncio.IncompleteReadError) as e:
            raise self._error(e, "Look into the log of the database.") from e

    def _error(self, e: BaseException, advice: str) -> StoreError:
        said = " ".join(str(e).split()).rstrip(".") or type(e).__name__
        return StoreError(f"{self.address} cannot be used ({said}). {advice}")


class Session:
    """One connection; threads that share it wait for each other."""

    def __init__(self, database: Database, connection: asyncpg.Connection[Any]) -> None:
        self._database, self.connection, self._turn = database, connection, threading.RLock()

    @property
    def lost(self) -> bool:
        """Whether the connection is closed, by whichever side."""
        return bool(self.connection.is_closed())

    def close(self) -> None:
        """Close the connection at once; the server gives back what it held."""
        with suppress(RuntimeError):  # the loop has ended, and its connections with it
            self._database._loop.call_soon_threadsafe(self.connection.terminate)

    def fetch(self, query: str, *values: Any) -> list[Any]:
        """All rows of a query."""
        with self._turn:
            return self._database.wait_for(self.connection.fetch(query, *values), self)

    def value(self, query: str, *values: Any) -> Any:
        """The first column of the first row; None where there is none."""
        with self._turn:
            return self._database.wait_for(self.connection.fetchval(query, *values), self)

    def execute(self, query: str, *values: Any, timeout: float = _STATEMENT_S) -> str:
        """Run a statement, for `timeout` seconds at most; what the server says of it."""
        with self._turn:
            return str(self._database.wait_for(self.connection.execute(query, *values, timeout=timeout), self))

    def copy(self, table: str, columns: Sequence[str], records: Sequence[tuple[Any, ...]]) -> None:
        """Add rows to a table, the fast way."""
        with self._turn:
            work = self.connection.copy_records_to_table(table, columns=columns, records=records)
            self._database.wait_for(work, self)

    @contextmanager
    def transaction(self, kind: str = "") -> Iterator[Session]:
        """One change of the database: all of it, or nothing where it ends in an error."""
        with self._turn:
            self.execute(f"BEGIN {kind}")
            whole = False
            try:
                yield self
                whole = True
            finally:
                if whole:
                    self.execute("COMMIT")
                elif not self.lost:
                    with suppress(StoreError):  # what has gone wrong before is the news
                        self.execute("ROLLBACK")


def _end_loop(loop: asyncio.AbstractEventLoop, idle: deque[Any]) -> None:
    def end() -> None:
        for connection in idle:
            connection.terminate()
        loop.call_soon(loop.stop)

    with suppress(RuntimeError):
        loop.call_soon_threadsafe(end)
