"""Pace and budget of an endpoint as rows of a database, so that they hold over all processes that use it.

A place in the minute is a row with the moment at which its call may start, by the clock of the database. Money is held
by a row before a call. A process that holds some keeps a lock while it lives: what a process held that is gone counts
as spent, since nobody knows whether its call was answered.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter
from secrets import randbits
from typing import Any

from sensegraph.runtime.stores.corpus_store import CorpusStore, Spent
from sensegraph.runtime.stores.postgres_wire import Database, Session

LIMIT_TABLES = (
    'CREATE TABLE admission (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL, '
    "start timestamptz NOT NULL, tokens bigint NOT NULL)",
    "CREATE INDEX admission_start ON admission (name, start DESC, number DESC)",
    'CREATE TABLE budget (name text COLLATE "C" PRIMARY KEY, tokens bigint NOT NULL, usd double precision NOT NULL)',
    "CREATE TABLE reservation (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
    'name text COLLATE "C" NOT NULL, holder bigint NOT NULL, tokens bigint NOT NULL, usd double precision NOT NULL)',
)
_CLEARED = 256  # places after which those that have passed are removed
_PLACE = """
    WITH seen AS (
      SELECT start, sum(tokens) OVER newest AS total, row_number() OVER newest AS place
      FROM admission WHERE name = $1 AND start > clock_timestamp() - $5 * interval '1 second'
      WINDOW newest AS (ORDER BY start DESC, number DESC)
    )
    INSERT INTO admission (name, start, tokens)
    SELECT $1, greatest(
      clock_timestamp(), max(start),
      max(start) FILTER (WHERE $3::bigint > 0 AND place >= $3) + $5 * interval '1 second',
      max(start) FILTER (WHERE $4::bigint > 0 AND total + $2 > $4) + $5 * interval '1 second'
    ), $2 FROM seen
    RETURNING number, extract(epoch FROM start - clock_timestamp())::double precision
"""
_DEAD = """
    DELETE FROM reservation r WHERE name = $1 AND NOT EXISTS (
      SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
      AND (l.classid::bigint << 32) | l.objid::bigint = r.holder
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    ) RETURNING tokens, usd
"""
_SPEND = """
    INSERT INTO budget VALUES ($1, $2, $3)
    ON CONFLICT (name) DO UPDATE SET tokens = budget.tokens + excluded.tokens, usd = budget.usd + excluded.usd
"""


class LimitTable:
    """Pace and budget by name, for all processes that use one store."""

    def __init__(self, owner: CorpusStore, database: Database) -> None:
        self._owner, self._database, self._lock = owner, database, threading.Lock()
        self._alive: Session | None = None
        self._holder = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return attrgetter("limits"), (self._owner,)

    @contextmanager
    def _alone(self, name: str) -> Iterator[Session]:
        """A transaction that nobody else is in for this name."""
        with self._database.session() as session, session.transaction():
            session.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"sensegraph limits {name}")
            yield session

    def admit(self, name: str, need: int, requests: int, tokens: int, window: float) -> tuple[int, float]:
        """A place for a call of `need` tokens, and the seconds until it may start.

        In any `window` seconds are at most so many requests and tokens; 0 means no limit.
        """
        with self._alone(name) as session:
            ((number, seconds),) = session.fetch(_PLACE, name, need, requests, tokens, float(window))
            if number % _CLEARED == 0:
                query = "DELETE FROM admission WHERE name = $1 AND start < clock_timestamp() - $2 * interval '1 second'"
                session.execute(query, name, 2.0 * window)
        return int(number), max(0.0, float(seconds))

    def settle_place(self, number: int, tokens: int) -> None:
        """Say what the call in a place really took."""
        with self._database.session() as session:
            session.execute("UPDATE admission SET tokens = $2 WHERE number = $1", number, tokens)

    def reserve(self, name: str, most: tuple[int, float], limit: tuple[int, float]) -> tuple[int, Spent]:
        """Hold tokens and dollars, and say what is spent: the number of what is held, or 0 where there is no room now.

        A limit of 0 is none.
        """
        holder = self._live()
        with self._alone(name) as session:
            dead = session.fetch(_DEAD, name)
            if dead:
                session.execute(_SPEND, name, sum(t for t, _ in dead), float(sum(usd for _, usd in dead)))
            query = (
                "SELECT coalesce((SELECT tokens FROM budget WHERE name = $1), 0)::bigint, "
                "coalesce((SELECT usd FROM budget WHERE name = $1), 0)::double precision, "
                "coalesce(sum(tokens), 0)::bigint, coalesce(sum(usd), 0)::double precision "
                "FROM reservation WHERE name = $1"
            )
            ((tokens, usd, held_tokens, held_usd),) = session.fetch(query, name)
            spent = Spent(int(tokens), float(usd))
            if spent.leaves_no_room(limit, most[0] + int(held_tokens), most[1] + float(held_usd)):
                return 0, spent
            query = "INSERT INTO reservation (name, holder, tokens, usd) VALUES ($1, $2, $3, $4) RETURNING number"
            return int(session.value(query, name, holder, most[0], float(most[1]))), spent

    def settle(self, name: str, number: int, most: tuple[int, float], used: tuple[int, float]) -> None:
        """Give back what is held, and count what was used."""
        with self._alone(name) as session:
            there = session.fetch("DELETE FROM reservation WHERE number = $1 RETURNING number", number)
            less = (0, 0.0) if there else most  # it was counted as spent, because this process had seemed to be gone
            session.execute(_SPEND, name, used[0] - less[0], float(used[1] - less[1]))

    def _live(self) -> int:
        """The number of this process, whose lock says that it lives."""
        with self._lock:
            if self._alive is None or self._alive.lost:
                self._alive = self._database.connect()
                self._holder = randbits(62)
                self._alive.execute("SELECT pg_advisory_lock($1)", self._holder)
            return self._holder
