"""Changed functions put in place of those that are loaded, each in a process of its own, for bench/mutants.py.

All tests are collected once. Then a copy of this process is made (`fork`) in which every statement that a mutant
changes tells when it runs, and all tests run in it: so it is known which tests run which mutant, and how many CPU
seconds each takes. Then for each mutant a copy is made, in which the one function that differs gets the code of the
changed text, and its tests run until one fails. Nothing is imported or collected again, which takes longer than most
tests. A test that starts a program of its own sees no mutant: it notices none. What runs when a module is imported is
not tried here.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import gc
import importlib
import inspect
import json
import os
import pkgutil
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Protocol

import pytest

FAILED, PASSED, UNTRIED = 1, 0, 3
FUNCTIONS = ast.FunctionDef, ast.AsyncFunctionDef
SPARE, PATIENCE = 10.0, 4.0  # CPU seconds; a mutant whose tests take longer than so many times the usual is noticed
SEARCHED = 0.6  # share of the time that may go into finding out which tests run which change
MARK = "mutant_runs_here"  # what a marked statement calls: a name that no module of the package has for something else
NOTICED_BY = "noticed-by"  # the file in which a copy leaves the name of the test that failed


@dataclass(frozen=True, slots=True)
class Change:
    """A module, its changed text, and where the change begins and ends: line, column, line, column.

    Without a place, what is changed runs in no function: all functions of the module count as changed.
    """

    path: Path
    text: str
    span: tuple[int, int, int, int] | None


@dataclass(frozen=True, slots=True)
class Reached:
    """Which tests run which change, by its number, and the CPU seconds of each test; `whole` if all tests were run."""

    tests: Mapping[int, Sequence[str]]
    seconds: Mapping[str, float]
    whole: bool = True


Choose = Callable[[int, Reached], Sequence[str]]
"""The tests for a change, by its number."""


class Told(Protocol):
    """What hears of a change when its tests have run: its number, what became of it, seconds, the test that failed."""

    def __call__(self, number: int, fate: int, seconds: float, by: str) -> None: ...


def list_functions_of(code: CodeType, above: str = "") -> dict[str, CodeType]:
    """The functions of a module and of its classes, lambdas too, by name and number: not those within functions."""
    found: dict[str, CodeType] = {}
    for number, inner in enumerate(c for c in code.co_consts if isinstance(c, CodeType)):
        name = f"{above}{number}.{inner.co_name}"
        if inner.co_flags & inspect.CO_NEWLOCALS:  # a function, no body of a class
            found[name] = inner
        else:
            found |= list_functions_of(inner, f"{name}/")
    return found


def find_changed(path: Path, changed: str | ast.Module) -> list[tuple[CodeType, CodeType]]:
    """The functions of a module that differ when it is changed: as they are, and as they become."""
    codes = [compile(m, str(path), "exec", dont_inherit=True) for m in (path.read_text(encoding="utf-8"), changed)]
    before, after = map(list_functions_of, codes)
    if before.keys() != after.keys():
        return []
    return [(before[name], after[name]) for name in before if before[name] != after[name]]


def mark_statements(path: Path, places: Mapping[int, tuple[int, int, int, int] | None]) -> ast.Module:
    """A module in which a call of `MARK` with its number stands before the statement around each place.

    Without a place, before the last statement of all functions. Lambdas outside functions tell it before their value.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    within = {id(node) for f in ast.walk(tree) if isinstance(f, FUNCTIONS) for node in ast.walk(f)}
    for one in [n for n in ast.walk(tree) if isinstance(n, ast.Lambda) and id(n) not in within]:
        first, last = (one.body.lineno, one.body.col_offset), (one.body.end_lineno, one.body.end_col_offset)
        told = [n for n, place in places.items() if not place or (first <= place[:2] and place[2:] <= last)]
        listed = ast.Tuple([*(call_tell_run(number) for number in told), one.body], ast.Load())
        one.body = ast.fix_missing_locations(
            ast.copy_location(ast.Subscript(listed, ast.Constant(-1), ast.Load()), one.body)
        )
    bodies: list[list[ast.stmt]] = []
    for function in (n for n in ast.walk(tree) if isinstance(n, FUNCTIONS)):
        for node in ast.walk(function):
            bodies += [b for f in ("body", "orelse", "finalbody") if isinstance(b := getattr(node, f, None), list)]
    bodies = list({id(body): body for body in bodies if body}.values())
    marks: dict[int, list[tuple[ast.stmt, int]]] = defaultdict(list)
    for number, place in places.items():
        if place is None:
            for function in (n for n in ast.walk(tree) if isinstance(n, FUNCTIONS)):
                marks[id(function.body)].append((function.body[-1], number))
            continue
        line, column, end_line, end_column = place
        around = [
            (statement.lineno, statement.col_offset, body, statement)
            for body in bodies
            for statement in body
            if (statement.lineno, statement.col_offset) <= (line, column)
            and (end_line, end_column) <= (statement.end_lineno or 0, statement.end_col_offset or 0)
        ]
        if around:
            _, _, body, statement = max(around, key=lambda found: found[:2])
            marks[id(body)].append((statement, number))
    for body in bodies:
        for statement, number in marks.get(id(body), ()):
            call = ast.copy_location(ast.Expr(call_tell_run(number)), statement)
            body.insert(body.index(statement), ast.fix_missing_locations(call))
    return tree


def follow_caches(caches: Iterable[Any], run: set[int]) -> None:
    """See to it that a cached function tells again what its body told, whenever its result is taken from the cache."""
    follow = {id(cache): follow_cache(cache, run) for cache in caches}
    for module in [m for m in sys.modules.values() if isinstance(m, ModuleType)]:
        for name, value in list(vars(module).items()):
            if isinstance(value, functools._lru_cache_wrapper) and id(value) in follow:
                setattr(module, name, follow[id(value)])


def follow_cache(cache: Any, run: set[int]) -> Any:
    """A cached function, with an empty cache, that adds to `run` whatever its body has told so far."""
    held: set[int] = set()

    @functools.lru_cache(**cache.cache_parameters())  # type: ignore[untyped-decorator]
    def compute(*given: Any, **named: Any) -> Any:
        before = set(run)
        run.clear()
        try:
            return cache.__wrapped__(*given, **named)
        finally:
            held.update(run)
            run.update(before)

    @functools.wraps(cache)
    def take(*given: Any, **named: Any) -> Any:
        try:
            return compute(*given, **named)
        finally:
            run.update(held)

    for name in ("cache_clear", "cache_info", "cache_parameters"):
        setattr(take, name, getattr(compute, name))
    return take


def call_tell_run(number: int) -> ast.Call:
    """The call by which a changed statement tells that it runs."""
    return ast.Call(ast.Name(MARK, ast.Load()), [ast.Constant(number)], [])


class InPlace:
    """A plug-in of pytest that tries changes instead of running the tests that were collected."""

    def __init__(self, changes: Sequence[Change], processes: int, ends: float, choose: Choose, told: Told) -> None:
        self.changes, self.processes, self.ends, self.choose, self.told = changes, processes, ends, choose, told

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Find out which tests run which change; then try each in a copy of this process, so many at once."""
        for module in pkgutil.walk_packages(importlib.import_module("sensegraph").__path__, "sensegraph."):
            with contextlib.suppress(ImportError):  # it needs an extra that is not installed
                importlib.import_module(module.name)
        self.items = {item.nodeid: item for item in session.items}
        self.functions: dict[tuple[str, str, int], list[FunctionType]] = defaultdict(list)
        self.caches: list[Any] = []
        gc.unfreeze()
        for thing in gc.get_objects():
            if isinstance(thing, FunctionType) and str(thing.__module__).startswith("sensegraph"):
                self.functions[name_code(thing.__code__)].append(thing)
            elif isinstance(thing, functools._lru_cache_wrapper):
                self.caches.append(thing)
        gc.freeze()
        reached = self.find_reached(session)
        running: dict[int, tuple[int, float, float, Path]] = {}
        waiting = list(range(len(self.changes)))[::-1]
        while waiting or running:
            while waiting and len(running) < self.processes and time.monotonic() < self.ends:
                number = waiting.pop()
                tests = self.choose(number, reached)
                usual = sum(reached.seconds[test] for test in tests)
                scratch = Path(tempfile.mkdtemp(prefix="mutant"))
                process = os.fork()
                if not process:
                    self.run_changed(session, number, tests, usual, scratch)
                running[process] = (number, time.monotonic(), 10 * (SPARE + PATIENCE * usual), scratch)
            if not running:
                break
            for process, (number, began, limit, scratch) in list(running.items()):
                ended, status = os.waitpid(process, os.WNOHANG)
                late = not ended and time.monotonic() - began > limit
                if late:
                    os.killpg(process, signal.SIGKILL)
                    os.waitpid(process, 0)
                if ended or late:
                    del running[process]
                    by = (scratch / NOTICED_BY).read_text("utf-8") if (scratch / NOTICED_BY).exists() else ""
                    shutil.rmtree(scratch, ignore_errors=True)
                    code = FAILED if late else os.waitstatus_to_exitcode(status)
                    self.told(number, FAILED if code < 0 else code, time.monotonic() - began, by)
            time.sleep(0.005)
        return True

    def find_reached(self, session: pytest.Session) -> Reached:
        """Run all tests in a copy of this process in which the statements that are changed tell that they run."""
        scratch = Path(tempfile.mkdtemp(prefix="mutant"))
        process = os.fork()
        if not process:
            self.run_marked(session, scratch)
        os.waitpid(process, 0)
        kept = scratch / "reached.json"
        nothing: dict[str, Any] = {"tests": {}, "seconds": {}, "whole": False}
        found = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else nothing
        shutil.rmtree(scratch, ignore_errors=True)
        return Reached(
            {int(number): tests for number, tests in found["tests"].items()}, found["seconds"], found["whole"]
        )

    def run_marked(self, session: pytest.Session, scratch: Path) -> None:
        """In the copy: run all tests, and leave what they ran and what they took; those that fail are left out."""
        try:
            enter_copy(session, scratch)
            by_path: dict[Path, dict[int, tuple[int, int, int, int] | None]] = defaultdict(dict)
            for number, change in enumerate(self.changes):
                by_path[change.path][number] = change.span
            for path, places in by_path.items():
                self.swap(find_changed(path, mark_statements(path, places)))
            run: set[int] = set()
            setattr(builtins, MARK, run.add)
            follow_caches(self.caches, run)
            tests: dict[int, list[str]] = defaultdict(list)
            seconds: dict[str, float] = {}
            session.config.option.maxfail = 0
            ends = time.monotonic() + SEARCHED * (self.ends - time.monotonic())
            for item, following in zip(session.items, [*session.items[1:], None], strict=True):
                run.clear()
                failed, began = session.testsfailed, time.process_time()
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if session.testsfailed == failed:
                    seconds[item.nodeid] = time.process_time() - began
                    for number in sorted(run):
                        tests[number].append(item.nodeid)
                if time.monotonic() > ends:
                    break
            found = {"tests": tests, "seconds": seconds, "whole": item is session.items[-1]}
            (scratch / "reached.json").write_text(json.dumps(found), encoding="utf-8")
        finally:
            os._exit(0)

    def run_changed(
        self, session: pytest.Session, number: int, tests: Sequence[str], usual: float, scratch: Path
    ) -> None:
        """In the copy: change the function, run the tests until one fails, and end with what came of it."""
        status = UNTRIED
        try:
            enter_copy(session, scratch)
            most = round(time.process_time() + SPARE + PATIENCE * usual)
            resource.setrlimit(resource.RLIMIT_CPU, (most, most))
            change = self.changes[number]
            swapped = change.span is not None and self.swap(find_changed(change.path, change.text))
            chosen = [self.items[test] for test in tests if test in self.items] if swapped else []
            for item, following in zip(chosen, [*chosen[1:], None][: len(chosen)], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if session.testsfailed:
                    (scratch / NOTICED_BY).write_text(item.nodeid, encoding="utf-8")
                    os._exit(FAILED)
            status = PASSED if chosen else UNTRIED
        finally:
            os._exit(status)

    def swap(self, changed: Sequence[tuple[CodeType, CodeType]]) -> int:
        """Give functions another code, and forget what they remember; how many did."""
        swapped = 0
        for before, after in changed:
            for function in self.functions.get(name_code(before), ()):
                if before.co_freevars == after.co_freevars:
                    function.__code__ = after
                    swapped += 1
        for cache in self.caches:
            cache.cache_clear()
        return swapped


def name_code(code: CodeType) -> tuple[str, str, int]:
    """What the code of a function is found by."""
    return code.co_filename, code.co_name, code.co_firstlineno


def enter_copy(session: pytest.Session, scratch: Path) -> None:
    """Make a copy of a process quiet, its children killable with it, and its files those of one folder."""
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.environ["TMPDIR"] = tempfile.tempdir = str(scratch)
    base = scratch / "base"
    base.mkdir()
    session.config._tmp_path_factory._basetemp = base  # type: ignore[attr-defined]


def try_in_place(
    tests: Sequence[str],
    marked: str,
    changes: Sequence[Change],
    processes: int,
    ends: float,
    choose: Choose,
    told: Told,
) -> None:
    """Collect the tests that are so marked, and try the changes: `told` hears of each."""
    plugin = InPlace(changes, processes, ends, choose, told)
    pytest.main(
        ["-q", "-s", "--no-header", "-m", marked, "-p", "no:cacheprovider", "-p", "no:xdist", *tests], plugins=[plugin]
    )
