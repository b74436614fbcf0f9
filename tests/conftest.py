"""Shared by all tests: hypothesis without deadlines, a store, and a scripted server at the wire."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.runtime.stores.sqlite import SqliteStore
from wired import corpus, stories

# A first call may import or compile: no deadlines. Examples are the same in every run, so that a change is blamed
# only for what it broke; `make explore` draws new ones.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("exploring", deadline=None, max_examples=500)
settings.load_profile("repeatable")

# A shell that runs the tests in the background lets them ignore Ctrl-C, and programs that they start inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(tmp_path / "store")
    yield made
    made.close()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """A finished corpus over a scripted server, for tests that only read it."""
    with ScriptedServer() as running, corpus(tmp_path_factory.mktemp("built"), running) as made:
        made.add(stories(8))
        made.build()
        yield made
