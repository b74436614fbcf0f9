"""The documentation holds: its examples run, its commands exist, its links lead somewhere, its tables are fresh."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import types
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import typer

import harbour
import office_files
from sensegraph import Corpus
from sensegraph.cli import app
from sensegraph.cli.old_names import COMMANDS, replace_old_names
from sensegraph.corpus.settings import Settings, convert_settings

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
EXECUTED = (
    "README.md",
    "docs/troubleshooting.md",
    "docs/asking.md",
    "docs/updating.md",
    "docs/match.md",
    "docs/time.md",
    "docs/personal-data.md",
    "docs/judging.md",
    "docs/checking.md",
    "docs/questions.md",
    "docs/finetuning.md",
)
PREPARED = (
    "docs/documents.md",
    "docs/evaluation.md",
    "docs/browse.md",
    "docs/resolution.md",
    "docs/methods/kag.md",
    "docs/plugins.md",
)
"""Pages whose programs read what is there already: an index of notes, a PDF, a set of judged documents."""
OLD = re.compile(r"^CHANGELOG|^docs/design/")  # pages that tell of commands by the names that they had
NAMES = [p.relative_to(ROOT).as_posix() for p in PAGES]


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a page in this language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[str]:
    """Every `sensegraph …` line of a page's shell blocks, and in its tables and sentences."""
    text = page.read_text(encoding="utf-8")
    lines = [part for block in blocks(page, "sh") for line in block.splitlines() for part in line.split("&&")]
    lines = [line.split("#")[0].strip() for line in lines]
    inline = re.findall(r"`(sensegraph [a-z][^`]*)`", text)
    return [c for c in (*lines, *inline) if c.startswith("sensegraph ")]


@pytest.fixture(autouse=True, scope="module")
def pages_are_read() -> None:
    """What is read on the pages is found there: a pattern that matches nothing would let every page pass."""
    assert len(PAGES) > 30
    assert sum(len(blocks(page, "python")) for page in PAGES) > 20
    assert sum(len(commands(page)) for page in PAGES) > 50
    assert sum(len(links(page)) for page in PAGES) > 100


def links(page: Path) -> list[str]:
    """Where the links of a page lead that are none into the web."""
    found = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
    return [link for link in found if "://" not in link]


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the examples expect: a current folder with notes/input and texts in it."""
    folder = tmp_path / "notes" / "input"
    folder.mkdir(parents=True)
    source = files("sensegraph") / "data" / "carol" / "stave-5-the-end-of-it.txt"
    (folder / "carol.txt").write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", EXECUTED)
def test_the_python_examples_run(name: str, notes: Path, capsys: pytest.CaptureFixture[str]):
    found = blocks(ROOT / name, "python")
    assert found
    for code in found:
        exec(compile(code, name, "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out
    assert printed.strip()
    if name == "README.md":  # what it asks is answered from the text, and what it looks for is found
        assert all(part in printed for part in ("[1]", "Citation(", "Passage(", "carol.txt"))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an index of notes, a PDF, and a set of judged documents."""
    folder = tmp_path_factory.mktemp("prepared")
    (folder / "notes" / "input").mkdir(parents=True)
    for name, text in harbour.TEXTS.items():
        (folder / "notes" / "input" / f"{name}.txt").write_text(text, encoding="utf-8")
    with Corpus.open(folder / "notes") as corpus:
        corpus.add(folder / "notes" / "input")
        corpus.build()
    (folder / "report.pdf").write_bytes(office_files.pdf([["The lamp of Skerry Point was repaired in June."]]))
    towns = folder / "sets" / "towns"
    (towns / "qrels").mkdir(parents=True)
    rows = [
        {"_id": n, "title": n, "text": f"{n} is a town on the river {r}."}
        for n, r in (("Oslo", "Aker"), ("Bonn", "Rhine"))
    ]
    (towns / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (towns / "queries.jsonl").write_text('{"_id": "q1", "text": "Which town is on the Rhine?"}', encoding="utf-8")
    (towns / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tBonn\t1\n", encoding="utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", PREPARED)
def test_programs_that_read_what_is_there_run(name: str, prepared: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(prepared)
    found = blocks(ROOT / name, "python")
    if name == "docs/plugins.md":  # which shows what uses the classes first, and then each of them
        found = [*found[1:], found[0]]
        assert len(found) > 5
    names: dict[str, Any] = {"__name__": "examples"}
    monkeypatch.setitem(sys.modules, "examples", types.ModuleType("examples"))  # where dataclasses look for types
    assert found
    for code in found:
        exec(compile(code, name, "exec"), names)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in (*EXECUTED, *PREPARED)])
def test_python_on_other_pages_compiles(name: str):
    for code in blocks(ROOT / name, "python"):
        compile(code, name, "exec")


@pytest.mark.slow
@pytest.mark.parametrize("example", sorted(p.name for p in (ROOT / "examples").glob("*.py")))
def test_the_programs_under_examples_run(example: str, tmp_path: Path):
    program = [sys.executable, str(ROOT / "examples" / example)]
    run = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip()


@cache
def parsed_commands() -> Any:
    return typer.main.get_command(app)


@pytest.mark.parametrize("name", NAMES)
def test_every_command_that_is_shown_can_be_parsed(name: str):
    for line in commands(ROOT / name):
        words = shlex.split(line.replace("…", ""))[1:]
        if words[0] == "COMMAND":
            continue
        found, told = replace_old_names(words)
        assert found == words or OLD.search(name), line
        assert bool(told) == (found != words)
        command = find_command(found)
        options = {o for p in command.params for o in p.opts} | {"--help"}
        assert {w for w in found if w.startswith("--")} <= options, line


def test_every_old_command_line_of_the_documentation_is_still_understood():
    """Those that stood there before the commands were put into groups."""
    lines = (ROOT / "tests" / "data" / "old-command-lines.txt").read_text(encoding="utf-8").splitlines()
    firsts = set()
    for line in lines:
        words, told = replace_old_names(shlex.split(line.replace("…", ""))[1:])
        assert told, line
        command = find_command(words)
        options = {o for p in command.params for o in p.opts}
        assert {w for w in words if w.startswith("--")} <= options, line
        firsts.add(line.removeprefix("sensegraph "))
    assert {old for old in COMMANDS if not any(f"{line} ".startswith(f"{old} ") for line in firsts)} == set()
    assert [replace_old_names(new.split())[1] for new in COMMANDS.values() if replace_old_names(new.split())[1]] == []


def find_command(words: list[str]) -> Any:
    """The command that these words call; of a group without one, the group."""
    command = parsed_commands().commands[words[0]]
    if words[0] == "eval" and words[1:2] and words[1].endswith(".toml"):
        return command.commands["run"]
    named = len(words) > 1 and hasattr(command, "commands")
    return command.commands[words[1]] if named and not words[1].startswith("-") else command


def test_commands_are_found_on_the_pages():
    assert len(commands(ROOT / "README.md")) > 5


def test_the_settings_that_the_readme_shows_are_settings():
    (shown,) = blocks(ROOT / "README.md", "toml")
    assert convert_settings(tomllib.loads(shown), Settings, "README").endpoint.model


@pytest.mark.parametrize("name", NAMES)
def test_every_link_leads_to_a_file(name: str):
    page = ROOT / name
    assert [link for link in links(page) if not (page.parent / link).exists()] == []


def test_every_page_is_listed_in_the_index():
    listed = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = [p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")]
    assert len(pages) > 20
    assert [p for p in pages if p != "index.md" and not p.startswith("methods/") and f"({p})" not in listed] == []


@cache
def generated() -> dict[str, str]:
    """The generated pages as they should be; made once."""
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pages()  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", ["settings.md", "methods.md", "where-is-what.md"])
def test_a_generated_page_is_fresh(name: str):
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == generated()[name], "run `make docs`"


def test_the_page_of_errors_lists_all_of_them():
    from sensegraph import errors

    kinds = [k for k, v in vars(errors).items() if isinstance(v, type) and issubclass(v, errors.SensegraphError)]
    assert len(kinds) > 10
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    assert [k for k in kinds if f"`{k}`" not in page] == []


def test_the_readme_names_the_two_commands_near_the_top():
    top = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:25]
    assert any(line.startswith("python3 -m venv") and line.endswith("sensegraph demo") for line in top)
    assert "make test" in top


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_alone_prints_every_task():
    run = subprocess.run(["make", "-s", "-C", str(ROOT)], capture_output=True, text=True)
    assert run.returncode == 0
    for task in re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE):
        assert f"make {task}" in run.stdout


def test_ci_runs_the_command_that_the_readme_gives():
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    text = script.read_text(encoding="utf-8")
    assert "\nmake explore MINUTES=" in text
    assert text.rstrip().endswith("\nmake test")
