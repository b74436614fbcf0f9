from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from scripted import Script, ScriptedServer
from sensegraph.errors import EndpointError
from sensegraph.index.vectors import embed_texts
from sensegraph.runtime.background import run_in_background
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from wired import runtime


@step("test_beside.whole", version=1)
def whole_text(items: Sequence[str]) -> list[str]:
    return list(items)


TEXTS = [f"text number {i}" for i in range(64 * 12)]


def embedding(rt: Runtime) -> int:
    return len(rt.each(embed_texts, TEXTS))


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(tmp_path)


def test_the_work_is_done_while_other_work_goes_on(store: SqliteStore) -> None:
    with (
        ScriptedServer(Script(latency_s=0.05)) as server,
        run_in_background(embedding, runtime(store, server)) as embedded,
    ):
        deadline = time.monotonic() + 200
        while len(server.done("embedding")) < 12 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(server.done("embedding")) == 12  # and nobody has asked for the result yet
        assert embedded() == len(TEXTS)


def test_its_error_is_raised_where_its_result_is_asked_for(store: SqliteStore) -> None:
    with (
        ScriptedServer(Script(fail_rate=1, fail_status=401)) as server,
        run_in_background(embedding, runtime(store, server)) as embedded,
        pytest.raises(EndpointError, match="API key"),
    ):
        embedded()


def test_leaving_early_ends_what_runs_and_begins_nothing_new(store: SqliteStore) -> None:
    def leave(server: ScriptedServer, rt: Runtime) -> None:
        with run_in_background(embedding, rt):
            while not server.calls:
                time.sleep(0.005)
            raise KeyboardInterrupt

    with ScriptedServer(Script(latency_s=0.2)) as server:
        rt = runtime(store, server)
        with pytest.raises(KeyboardInterrupt):
            leave(server, rt)
        asked = len(server.calls)
        time.sleep(0.4)
        assert 0 < asked < 12
        assert len(server.calls) <= asked + 4  # those in flight
        assert "beside_0" not in [t.name for t in threading.enumerate()]


def test_an_embedder_that_works_here_is_asked_only_for_its_result(store: SqliteStore) -> None:
    class Here:
        waits = False

    begun: list[str] = []
    work: Callable[[Runtime], None] = lambda rt: begun.append("work")  # noqa: E731
    rt = Runtime(None, Here(), store, None)  # type: ignore[arg-type]
    with run_in_background(work, rt) as done:
        assert begun == []
        done()
    assert begun == ["work"]


def test_what_is_lacking_in_one_work_gives_no_other_key_to_the_other(store: SqliteStore) -> None:
    """A key says what a result was made without: the other thread's failures are none of its own."""
    begun, ended = threading.Event(), threading.Event()

    def wait() -> str:
        begun.set()
        assert ended.wait(60)
        return "whole"

    def work(rt: Runtime) -> str:
        (k,) = rt.keys(whole_text, ["?"], [key("name")])
        assert rt.once(whole_text, wait, names=("name",)).key == k
        rt.lacking.append("mine")
        return k

    with ScriptedServer() as server:
        rt = runtime(store, server)
        with run_in_background(work, rt) as done:
            assert begun.wait(60)
            rt.lacking.append("other")
            ended.set()
            assert store.has([done()])
        assert rt.lacking == ["other", "mine"]
