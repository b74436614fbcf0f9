"""How each command opens its corpus, and what questions, moments and JSON are taken for before one is opened."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from sensegraph.cli import app, asking, options
from sensegraph.cli.asking import _is_calendar_date, _read_questions
from sensegraph.cli.options import CommandRun, parse_value
from sensegraph.errors import NotIndexed

INDEX, QUIET, MADE = {"indexed": True}, {"silent": True}, {"create": True}
OPENED: dict[str, dict[str, bool]] = {
    "index": MADE,
    "query x": INDEX | {"silent": False},
    "query x --stream": INDEX | QUIET,
    "ask x": INDEX | {"silent": False},
    "search x": INDEX,
    "status": QUIET,
    "show reports": INDEX | QUIET,
    "show report": INDEX | QUIET,
    "show entity x": INDEX | QUIET,
    "show timeline x": INDEX | QUIET,
    "show changes 2020 2021": INDEX | QUIET,
    "entities list": INDEX | QUIET,
    "entities show x": INDEX | QUIET,
    "entities duplicates": INDEX,
    "entities merge a b": INDEX,
    "entities split a": INDEX,
    "entities rename a b": INDEX,
    "entities keep-apart a b": INDEX,
    "entities undo 1": INDEX,
    "entities log": QUIET,
    "documents list": QUIET,
    "documents show x": INDEX | QUIET,
    "documents remove x": {},
    "documents pii --text x": QUIET,
    "documents purge": {},
    "graph query (a)": INDEX | QUIET,
    "graph draw": INDEX | QUIET,
    "graph export out": INDEX | QUIET,
    "graph push bolt://h --password p": INDEX | QUIET,
}


class Opened(Exception):
    """A corpus would be opened."""


@pytest.mark.parametrize("words", OPENED)
def test_a_command_needs_an_index_and_shows_progress_where_it_should(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: str
) -> None:
    seen: list[Any] = []

    def open_corpus(self: CommandRun, **given: bool) -> None:
        seen.append(given)
        raise Opened

    monkeypatch.setattr(CommandRun, "corpus", open_corpus)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, words.split())
    assert isinstance(done.exception, Opened)
    assert seen == [OPENED[words]]


@pytest.mark.parametrize(("quiet", "silent", "shown"), [(0, 0, True), (1, 0, False), (0, 1, False), (1, 1, False)])
def test_a_corpus_is_opened_with_progress_unless_it_is_to_be_silent(
    monkeypatch: pytest.MonkeyPatch, quiet: bool, silent: bool, shown: bool
) -> None:
    told, corpus = list[Any](), SimpleNamespace(wait=0.0)

    @contextmanager
    def show(silent: bool) -> Iterator[str]:
        yield "hidden" if silent else "shown"

    @contextmanager
    def open_corpus(root: Path, given: Any, *, progress: str, create: bool) -> Iterator[Any]:
        told.append((root, given, progress, create))
        yield corpus

    monkeypatch.setattr(options, "show_progress", show)
    monkeypatch.setattr(options, "open_corpus", open_corpus)
    monkeypatch.setattr(options, "require_index", lambda corpus, root: told.append(f"index of {root}"))
    run = CommandRun(root=Path("r"), wait=3.0, quiet=bool(quiet), engine="offline")
    with run.corpus(silent=bool(silent)) as opened:
        assert (opened.wait, opened) == (3.0, corpus)
    bars = "shown" if shown else "hidden"
    assert told == [(Path("r"), {"engine": "offline"}, bars, False)]
    with run.corpus(silent=bool(silent), create=True, indexed=True):
        assert told[1:] == [(Path("r"), {"engine": "offline"}, bars, True), "index of r"]


def test_what_was_found_is_printed_for_programs_or_people_or_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    for given, out in (
        ({"as_json": True}, '{"schema": 1, "a": 1}\n'),
        ({}, "text\n"),
        ({"quiet": True}, ""),
        ({"quiet": True, "as_json": True}, '{"schema": 1, "a": 1}\n'),
    ):
        CommandRun(**given).print_result(lambda: {"a": 1}, lambda: "text")
        assert capsys.readouterr().out == out


# ── what is typed ──


@pytest.mark.parametrize(("terminal", "shown"), [(True, "> > > > "), (False, "")])
def test_questions_are_read_a_line_each_until_the_input_ends(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: bool, shown: str
) -> None:
    typed = io.StringIO(" one? \n\n  \ntwo?")
    monkeypatch.setattr(typed, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(sys, "stdin", typed)
    assert list(_read_questions()) == ["one?", "two?"]
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", shown + "> " * terminal)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("2024", True), ("2024-02", True), ("2024-02-29", True), ("2023-02-29", False), ("2023-13", False),
        ("2023-00", False), ("2023-04-31", False), ("2023-04-30T10:00", True), ("23", False), ("yesterday", False),
    ],
)  # fmt: skip
def test_a_moment_is_one_whose_day_the_calendar_has(text: str, holds: bool) -> None:
    assert _is_calendar_date(text) is holds


def ask(*words: str) -> str:
    done = CliRunner().invoke(app, ["search", "x", *words])
    return done.stderr.replace("\n", " ") if done.exit_code == 2 else str(done.exit_code)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--as-of", "2023", "--during", "2020/2021"), "--as-of asks for one moment and --during for a stretch"),
        (("--unknown", "exclude"), "--unknown says what to do with facts without a date"),
        (("--during", "2020"), "--during '2020' is no stretch"),
        (("--during", "/"), "--during '/' is no stretch"),
        (("--during", "2021/2020"), "--during '2021/2020' ends before it begins"),
        (("--during", "often/2020"), "--during 'often' is no ISO date"),
        (("--during", "2020/often"), "--during 'often' is no ISO date"),
        (("--as-of", "often"), "--as-of 'often' is no ISO date"),
        (("--known-at", "often"), "--known-at 'often' is no ISO date"),
    ],
)
def test_a_time_that_says_nothing_is_refused(words: tuple[str, ...], said: str) -> None:
    assert said in " ".join(ask(*words).split())


@pytest.mark.parametrize(
    "words",
    [
        ("--during", "2020/"), ("--during", "/2020"), ("--during", "2020/2020"), ("--as-of", "2023-05"),
        ("--known-at", "2023", "--unknown", "exclude"), ("--during", "2020/", "--unknown", "exclude"),
    ],
)  # fmt: skip
def test_a_time_that_says_something_is_taken(monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    scopes: list[Any] = []

    def open_corpus(self: CommandRun, **given: bool) -> Any:
        @contextmanager
        def opened() -> Iterator[Any]:
            yield SimpleNamespace(search=lambda *args, scope, **given: scopes.append(scope) or refuse())

        return opened()

    def refuse() -> None:
        raise NotIndexed("seen")

    monkeypatch.setattr(CommandRun, "corpus", open_corpus)
    monkeypatch.setattr(asking, "build_missing_parts", lambda corpus, name: None)
    assert CliRunner().invoke(app, ["search", "x", *words]).exit_code == 1
    (scope,) = scopes
    given = dict(zip(words[::2], words[1::2], strict=True))
    first, _, last = given.get("--during", "/").partition("/")
    assert (scope.as_of, scope.between, scope.known_at) == (
        given.get("--as-of", ""), (first, last), given.get("--known-at", ""),
    )  # fmt: skip
    assert scope.unknown == given.get("--unknown", "include")


@pytest.mark.parametrize(("words", "said"), [(["x", "--query", "y"], "given twice"), ([], "question is missing")])
def test_a_question_is_given_once(words: list[str], said: str) -> None:
    for command in ("query", "search"):
        done = CliRunner().invoke(app, [command, *words])
        assert (done.exit_code, said in done.stderr) == (2, True)


# ── values ──


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3), ("1_000", 1000), ("2.5", 2.5), ("true", True), ("false", False), ("inf", float("inf")),
        ("word", "word"), ("two/parts:9@x-y.z", "two/parts:9@x-y.z"), ('"3"', "3"), ("[1, 2]", [1, 2]),
        ("{a = 1}", {"a": 1}), ("2024-01-05", date(2024, 1, 5)),
    ],
)  # fmt: skip
def test_a_value_is_toml_or_a_bare_word(text: str, value: Any) -> None:
    assert parse_value(text) == value
    assert isinstance(parse_value(text), type(value))


@pytest.mark.parametrize("text", ["two words", "1\nb = 2", "", "[1", "a b"])
def test_what_is_no_value_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_value(text)


def test_rows_beyond_the_limit_are_counted() -> None:
    rows = ["a", "b", "c"]
    assert options.limit_rows(rows, 3) == rows
    assert options.limit_rows(rows, 4) == rows
    assert options.limit_rows(rows, 2) == ["a", "b", "… and 1 more (--limit, --json)"]
    assert options.limit_rows(["a"] * 2001, 1) == ["a", "… and 2,000 more (--limit, --json)"]
    assert options.format_root_flag(Path(".")) == ""
    assert options.format_root_flag(Path("a b")) == " --root 'a b'"


def test_paths_that_are_not_named_are_those_of_the_folder(tmp_path: Path) -> None:
    named = [tmp_path / "x"]
    assert options.choose_paths(named, tmp_path) == named
    (tmp_path / "input").mkdir()
    assert list(options.choose_paths(None, tmp_path)) == [tmp_path / "input"]
