"""Shared by all tests: hypothesis without deadlines, a store, and a scripted server at the wire."""

from __future__ import annotations

import gc
import importlib
import os
import shutil
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

# Two processes share two cores: more threads for products of small matrices wait for one another longer than they work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
import typer.testing
from hypothesis import settings

import budgets
from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.runtime.stores.sqlite import SqliteStore
from wired import corpus, stories

if TYPE_CHECKING:
    pass

# A first call may import or compile: no deadlines. Examples are the same in every run, so that a change is blamed
# only for what it broke; `make explore` draws new ones, twenty times as many.
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("exploring", deadline=None, derandomize=False, max_examples=500, print_blob=True)
settings.load_profile("repeatable")

# A shell that runs the tests in the background lets them ignore Ctrl-C, and programs that they start inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test cuts the power, and waiting for the disk takes longer than all that is computed. That the store waits for it
# is tested where it writes (tests/runtime/stores/test_sqlite.py).
os.fsync = lambda file: None  # type: ignore[assignment]

# Folders of tests lie in memory where there is room: SQLite waits for the disk whenever a store is closed.
MEMORY = "/dev/shm"
if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4 << 30:
    os.environ["TMPDIR"] = tempfile.tempdir = MEMORY

# The commands are put together once, not for each command line that a test gives: that takes longer than most commands.
typer.testing._get_command = cache(typer.testing._get_command)  # type: ignore[attr-defined]

# What is imported and collected stays until the end: looking for rubbish in it takes a quarter of that time.
gc.disable()

COUNTED = 2  # of the examples of a test function: those after them hardly reach a line that these do not
NOT_REACHED = "not reached in time"
STARTED = time.monotonic()


UNCOUNTED = (
    *("tests/laws/", "tests/references/", "tests/methods/hirag/", "tests/methods/raptor/"),
    *(f"tests/{folder}/test_whole_runs.py" for folder in ("corpus", "engines", "graphs", "index", "methods")),
    *("tests/test_budgets.py", "tests/test_docs.py", "tests/test_messages.py"),
    *("tests/test_nothing_passes_on_nothing.py", "tests/engines/test_seam.py"),
    *("tests/test_defects.py", "tests/test_unreadable.py", "tests/test_all_retrieval.py"),
    *("tests/methods/leanrag/test_aggregates.py", "tests/methods/test_hirag.py"),
    *("tests/methods/test_drift.py", "tests/methods/test_graphrag.py", "tests/methods/test_walk.py"),
    *("tests/corpus/test_lifecycle.py", "tests/index/hierarchy/test_lineage.py"),
    *("tests/graphs/interchange/test_round_trip.py", "tests/runtime/executors/test_local.py"),
    *("tests/models/endpoint/test_faults.py", "tests/models/endpoint/test_journal.py"),
)
"""Tests that run whole methods again and again, or read the files of the project: other tests reach their lines."""


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "run those tests alone that draw examples, in an order drawn by the seed; begin none after this time"
    parser.addoption("--minutes", type=float, default=0.0, help=text)


def draws(item: pytest.Item) -> bool:
    """Whether a test draws examples."""
    return getattr(getattr(item, "obj", None), "is_hypothesis_test", False) or bool(item.get_closest_marker("drawn"))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Count the lines that importing the package reaches, and none while tests are collected: they reach no others.

    The process that hands tests out counts none. In those that run them pytest-cov begins to count twice, and keeps the
    second count: while that one is stopped, the first would go on, and each test would take as long as if counted.
    """
    from coverage import Coverage

    if (counting := Coverage.current()) is None:
        return (yield)
    hands_out = session.config.pluginmanager.hasplugin("dsession")
    for name in () if hands_out else budgets.importable_modules():
        importlib.import_module(name)
    while (running := Coverage.current()) is not None:
        running.stop()
    try:
        return (yield)
    finally:
        if not hands_out:
            counting.start()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Count the lines of the first examples of quick tests alone: counting them takes as long as running them."""
    seen = Counter[str]()
    for item in items:
        function = item.nodeid.partition("[")[0]
        seen[function] += 1
        reached = seen[function] > COUNTED or item.get_closest_marker("slow") or item.nodeid.startswith(UNCOUNTED)
        if reached or draws(item):
            item.add_marker("uncounted")
    if config.getoption("--minutes"):
        config.hook.pytest_deselected(items=[item for item in items if not draws(item)])
        items[:] = filter(draws, items)
        Random(config.getoption("--hypothesis-seed")).shuffle(items)  # each has its turn in some run


def pytest_collection_finish() -> None:
    """Look for rubbish again, among what the tests make, and less often: it is little beside what they keep."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin no test after the time that is given."""
    minutes = item.config.getoption("--minutes")
    if minutes and time.monotonic() - STARTED > 60 * minutes:
        pytest.skip(NOT_REACHED)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Tell how to draw the same examples again."""
    if config.getoption("--minutes"):
        left = sum(NOT_REACHED in str(report.longrepr) for report in terminalreporter.stats.get("skipped", ()))
        seed = config.getoption("--hypothesis-seed")
        terminalreporter.write_line(f"The same examples again: make explore SEED={seed}; {left} tests {NOT_REACHED}.")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Count no lines of a test that is `uncounted`, unless those of each test are asked for."""
    from coverage import Coverage

    counting = None if item.config.getoption("--cov-context", None) else Coverage.current()
    if counting is None:
        return (yield)
    if not item.get_closest_marker("uncounted"):
        return (yield)
    counting.stop()
    try:
        return (yield)
    finally:
        counting.start()


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
