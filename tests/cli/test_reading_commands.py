"""Commands that read an index where there is none, and what is printed of what goes and of what is personal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from sensegraph.cli import app
from sensegraph.cli.maintenance import _format_freed, _format_size
from sensegraph.corpus.corpus import Corpus
from sensegraph.runtime.stores.sweeping import Freed
from sensegraph.types import Document

OFFLINE = {"engine": "offline", "embedder": "offline"}
Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    return lambda *words: CliRunner().invoke(app, [str(w) for w in words])


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus whose one document waits for its first build."""
    folder = tmp_path_factory.mktemp("waiting")
    with Corpus.open(folder, settings=OFFLINE) as made:
        made.add(Document("ada", "Ada Finch met Tom Reeve in Lowmouth."))
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ("reports",),
        ("entity", "Ada"),
        ("timeline", "Ada"),
        ("changes", "2019", "2020"),
        ("match", "(a)"),
        ("query", "Who?"),
        ("search", "Who?"),
        ("draw", "--out", "picture.svg"),
        ("export", "tables"),
        ("resolve",),
        ("merge", "Ada", "Tom"),
        ("split", "Ada", "Tom"),
        ("rename", "Ada", "Eda"),
        ("forbid", "Ada", "Tom"),
        ("undo",),
    ],
)
def test_a_command_that_reads_says_what_waits_for_the_first_build(
    run: Run, waiting: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    said = run(*words, "--root", waiting)
    assert said.exit_code == 1
    assert (
        f"1 document waits to be indexed: no build has finished; run: sensegraph index --root {waiting}" in said.output
    )
    assert list(tmp_path.iterdir()) == []


def test_no_operation_has_been_done_where_nothing_was_built(run: Run, waiting: Path) -> None:
    said = run("entities", "log", "--root", waiting, "--json")
    assert (said.exit_code, json.loads(said.output)) == (0, {"schema": 1, "operations": []})


# ── what goes ──


@pytest.mark.parametrize(
    ("size", "said"), [(0, "0.0 kB"), (99_949, "99.9 kB"), (100_000, "0.1 MB"), (1_234_567_890, "1,234.6 MB")]
)
def test_a_size_is_said_in_kilobytes_below_a_tenth_of_a_megabyte(size: int, said: str) -> None:
    assert _format_size(size) == said


def test_what_goes_is_said_by_its_kinds() -> None:
    assert _format_freed(Freed(1, 0, 2, 500)) == "1 object, 2 arrays; 0.5 kB"
    assert _format_freed(Freed(0, 3, 0, 0)) == "3 tables; 0.0 kB"
    assert _format_freed(Freed(0, 0, 0, 0)) == "nothing; 0.0 kB"


def test_a_dry_run_lists_what_would_go_by_step_most_bytes_first_and_removes_nothing(run: Run, tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={**OFFLINE, "index": {"parts": ["graph"]}}) as made:
        made.add(Document("ada", "Ada Finch met Tom Reeve in Lowmouth. " * 9), Document("bo", "Bo Lind left Ostby."))
        made.build()
        made.remove("bo")
        made.build()
        steps = made.collect(dry=True).by_step
    flags = ("--set", "engine=offline", "--set", "embedder=offline", "--set", 'index.parts=["graph"]')
    lines = run("documents", "purge", "--dry-run", "--root", tmp_path, *flags).output.splitlines()
    assert lines[0].startswith("would remove ")
    rows = [line for line in lines[1:] if line.startswith("  ")]
    assert len(rows) == len(steps) > 2
    sizes = sorted((freed.bytes for freed in steps.values()), reverse=True)
    assert [row.rpartition("; ")[2] for row in rows] == [_format_size(size) for size in sizes]
    starts = [re.search(r"(?<=  )\d", row) for row in rows]
    assert len({found.start() for found in starts if found}) == 1  # one column


# ── what is personal ──


def test_personal_reads_the_corpus_else_its_input_else_says_what_to_name(
    run: Run, waiting: Path, tmp_path: Path
) -> None:
    assert run("documents", "pii", "--root", waiting).output.startswith("0 found in 0 of 1 document\n")
    nothing = run("documents", "pii", "--root", tmp_path)
    assert (nothing.exit_code, "Nothing can be read from" in nothing.output) == (1, True)
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "a.txt").write_text("Write to ada@example.org.\n")
    assert run("documents", "pii", "--root", tmp_path).output.startswith("1 found in 1 of 1 document\n")
