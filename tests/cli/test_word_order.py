"""The words of a command line: commands behind options, what is completed, statuses, and terminals of few letters."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from sensegraph import cli
from sensegraph.cli import app, asking, move_command_first
from sensegraph.cli.curating import _format_applied
from sensegraph.cli.lab.question_sources import SourceRequest, _check_flags
from sensegraph.cli.old_names import replace_old_names
from sensegraph.cli.options import CommandRun, report_skipped
from sensegraph.documents.document_files import Skipped
from sensegraph.errors import InputError
from sensegraph.resolution.aliases import Operation
from sensegraph.types import Usage


def run(*words: object, **given: Any) -> Result:
    return CliRunner().invoke(app, list(map(str, words)), **given)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("words", "moved"),
    [
        ("purge --root x", "purge --root x"),
        ("--root x purge", "purge --root x"),
        ("--root=x purge --json", "purge --root=x --json"),
        ("--json purge", "purge --json"),
        ("--json --root x -q purge a", "purge --json --root x -q a"),
        ("-C x purge", "purge -C x"),
        ("--help purge", "--help purge"),
        ("-h", "-h"),
        ("--json", "--json"),
        ("--root x", "--root x"),
        ("--json -- purge", "--json -- purge"),
        ("", ""),
    ],
)
def test_a_command_is_moved_before_the_options_that_stand_before_it(words: str, moved: str) -> None:
    group: Any = typer.main.get_command(app).commands["documents"]  # type: ignore[attr-defined]
    context: Any = SimpleNamespace(help_option_names=["-h", "--help"])
    assert move_command_first(group, context, words.split()) == moved.split()


def test_a_group_lists_where_nothing_is_named_and_only_then(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    @contextmanager
    def opened(self: CommandRun, **given: bool) -> Iterator[Any]:
        asked.append((self.root, self.as_json))
        raise InputError("seen")
        yield

    monkeypatch.setattr(CommandRun, "corpus", opened)
    for words in (
        "documents",
        "documents --root x --json",
        "documents list --root x",
        "--root x documents",
        "entities",
    ):
        assert run(*words.split()).stderr == "seen\n"
    assert asked == [(Path("."), False), (Path("x"), True), (Path("x"), False), (Path("x"), False), (Path("."), False)]
    assert "Usage" in run("documents", "--help").stdout
    assert run("config").stdout == "every setting has its default\n"
    assert len(asked) == 5


def test_old_names_are_replaced_with_a_message_but_while_a_shell_completes() -> None:
    told = run("presets")
    assert told.stderr.startswith("`sensegraph presets` is now `sensegraph config presets`")
    words = "root presets --"
    asked = {"_ROOT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": "2"}
    assert "is now" not in run(env=asked).stderr


@pytest.mark.parametrize(
    ("cites", "fails", "asked", "status"),
    [(1, False, True, 0), (0, False, True, 3), (1, True, True, 4), (0, True, True, 3), (0, True, False, 0)],
)
def test_a_question_ends_with_a_status_where_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, cites: int, fails: bool, asked: bool, status: int
) -> None:
    seen: list[Any] = []

    @contextmanager
    def opened(self: CommandRun, **given: bool) -> Iterator[str]:
        yield "corpus"

    def answer(self: Any, corpus: str, question: str, within: Any, turns: Any) -> Any:
        seen.append((question, [(t.question, t.answer) for t in turns], self.bounds, self.stream, self.check))
        return SimpleNamespace(text=f"of {question}", citations=("c",) * cites), fails

    monkeypatch.setattr(CommandRun, "corpus", opened)
    monkeypatch.setattr(asking, "build_missing_parts", lambda corpus, method: None)
    monkeypatch.setattr(asking._Asking, "answer", answer)
    done = run("query", "one?", "--chat", *(["--exit-code"] if asked else []), "--check", input="two?\n")
    assert done.exit_code == status
    bounds = {"depth": None, "report_tokens": None}
    assert seen == [("one?", [], bounds, False, True), ("two?", [("one?", "of one?")], bounds, False, True)]
    seen.clear()
    assert run("query", "--chat", "--depth", 2, "--budget", 0, "--stream", input="two?\n").exit_code == 0
    assert seen == [("two?", [], {"depth": 2, "report_tokens": 0}, True, False)]
    clash = run("query", "x", "--stream", "--json")
    assert (clash.exit_code, "choose one" in clash.stderr) == (2, True)


def test_a_terminal_that_cannot_show_a_character_shows_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    able = SimpleNamespace(reconfigure=lambda **given: told.append(given))
    monkeypatch.setattr(cli, "app", lambda **given: told.append(given))
    monkeypatch.setattr(sys, "stdout", able)
    monkeypatch.setattr(sys, "stderr", SimpleNamespace())
    cli.main()
    monkeypatch.undo()
    assert told == [{"errors": "backslashreplace"}, {"prog_name": "sensegraph"}]


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (OSError(13, "Not permitted", "x.txt"), 1, "x.txt cannot be used (Not permitted); check that it may be read"),
        (OSError("odd"), 1, "A file cannot be used (odd); check that it may be read and written."),
        (KeyboardInterrupt(), 130, "stopped; run the same command to resume"),
        (InputError("It is wrong."), 1, "It is wrong."),
    ],
)
def test_an_error_is_told_in_a_sentence_and_ends_with_its_status(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int, said: str
) -> None:
    def refuse(self: CommandRun, **given: bool) -> None:
        raise error

    monkeypatch.setattr(CommandRun, "corpus", refuse)
    done = run("documents", "list")
    assert (done.exit_code, done.stdout) == (status, "")
    assert done.stderr.startswith(said)


# ── what is decided, what is skipped, what goes with what ──


def test_what_decisions_changed_is_counted_and_twenty_of_them_are_named() -> None:
    operations = [Operation(str(i), "merge", (("a", "t"), ("b", "t"))) for i in range(21)]
    built = SimpleNamespace(computed={"reports.report": 2}, usage=Usage(calls=1), notes=("a note",))
    done: Any = SimpleNamespace(operations=operations, entities=1, relations=2, reports=0, built=built)
    lines = _format_applied(done).splitlines()
    assert lines[0] == "   0 merge a (t) + b (t), by user"
    assert lines[19:] == [
        "  19 merge a (t) + b (t), by user",
        "… and 1 more",
        "new or changed: 1 entity, 2 relations, 0 reports; 2 reports written anew",
        "1 call, 0 tokens",
        "- a note",
    ]
    done.operations = operations[:20]
    assert "more" not in _format_applied(done)
    done.built = SimpleNamespace(computed={}, usage=Usage(), notes=())
    assert _format_applied(done).splitlines()[-2:] == [
        "new or changed: 1 entity, 2 relations, 0 reports; 0 reports written anew",
        "no calls to a model",
    ]


def test_the_log_is_shown_or_how_to_begin_one(monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[Operation] = []

    @contextmanager
    def opened(self: CommandRun, **given: bool) -> Iterator[Any]:
        yield SimpleNamespace(names=SimpleNamespace(operations=lambda: tuple(log)))

    monkeypatch.setattr(CommandRun, "corpus", opened)
    none = run("entities", "log", "--root", "x")
    assert (none.stdout, none.stderr) == (
        "",
        "no operation yet; to find some: sensegraph entities duplicates --root x\n",
    )
    log += [Operation(str(i), "merge", (("a", "t"), ("b", "t"))) for i in range(3)]
    lines = run("entities", "log", "--limit", 2).stdout.splitlines()
    assert lines[1:] == ["   1 merge a (t) + b (t), by user", "… and 1 more (--limit, --json)"]
    assert len(json.loads(run("entities", "log", "--json").stdout)["operations"]) == 3


def test_skipped_files_are_named_on_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    report_skipped([Skipped(f"f{i}", "is\nodd.") for i in range(22)])
    lines = capsys.readouterr().err.splitlines()
    assert (lines[0], len(lines)) == ("skipped f0: is\\nodd.", 21)
    assert lines[20] == "skipped 2 more; --json names all of them"
    report_skipped([Skipped("f", "x")] * 20)
    assert len(capsys.readouterr().err.splitlines()) == 20


def test_flags_of_training_data_go_with_the_kind_of_their_corpus(tmp_path: Path) -> None:
    (tmp_path / "judged").mkdir()
    (tmp_path / "judged" / "corpus.jsonl").touch()
    (tmp_path / "index" / ".sensegraph").mkdir(parents=True)
    (tmp_path / "bare").mkdir()
    (tmp_path / "file.json").touch()

    def check(name: str, questions: str = "", count: int = 0, near: str = "auto", **more: bool) -> str:
        place = SourceRequest(tmp_path / name, Path(questions) if questions else None, count, near, "", "", {}, **more)
        try:
            _check_flags(place)
        except (InputError, typer.BadParameter) as e:
            return str(e)
        return ""

    assert [check("judged"), check("index", "q"), check("index", count=3), check("file.json")] == ["", "", "", ""]
    assert [check("file.json", near="none"), check("judged", near="bm25")] == ["", ""]
    assert check("index", "q", write_answers=True) == ""
    assert "does not exist" in check("none")
    assert "no test collection" in check("bare", "q")
    for given in (check("index"), check("index", "q", 3)):
        assert given.startswith("an index has no questions: give either")
    for given in (check("judged", "q"), check("judged", count=1), check("file.json", "q")):
        assert given.startswith("--questions and --from-graph go with an index")
    assert check("index", count=3, write_answers=True).startswith("--write-answers goes with --questions")
    assert check("file.json", near="bm25").startswith("--near goes with a corpus")


@pytest.mark.parametrize(
    ("words", "now", "messages"),
    [
        ("presets x", "config presets x", 1),
        ("tune evaluate f", "tune eval f", 1),
        ("tune data f", "tune data f", 0),
        ("match evaluate", "graph query evaluate", 1),
        ("index --plan a", "index --dry-run a", 1),
        ("index a -- --plan", "index a -- --plan", 0),
        ("search q --top=3", "search q --limit=3", 1),
        ("show report --top 3", "show report --limit 3", 1),
        ("show --top 3", "show --top 3", 0),
        ("entity --top 3", "show entity --limit 3", 2),
        ("eval p.toml --estimate", "eval p.toml --dry-run", 1),
        ("eval run p.toml --estimate", "eval run p.toml --dry-run", 1),
        ("eval --estimate", "eval --estimate", 0),
        ("evaluate p.toml --estimate", "eval p.toml --dry-run", 2),
        ("", "", 0),
    ],
)
def test_old_words_and_options_stand_for_those_of_now(words: str, now: str, messages: int) -> None:
    found, told = replace_old_names(words.split())
    assert (found, len(told)) == (now.split(), messages)
    assert all("the old name goes with version 0.3" in line for line in told)
