"""Commands that read an index where there is none, and what is printed of what goes and of what is personal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from sensegraph.cli import app
from sensegraph.cli.lab.tune import _parse_distractors
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
    said = run("operations", "--root", waiting, "--json")
    assert (said.exit_code, json.loads(said.output)) == (0, {"operations": []})


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
    flags = ("--root", tmp_path, "--set", "engine=offline", "--set", "embedder=offline")
    with Corpus.open(tmp_path, settings=OFFLINE) as made:
        made.add(Document("ada", "Ada Finch met Tom Reeve in Lowmouth. " * 9), Document("bo", "Bo Lind left Ostby."))
        made.build()
        made.remove("bo")
        made.build()
    told = json.loads(run("collect", "--dry-run", "--json", *flags).output)
    assert told["dry_run"] is True
    lines = run("collect", "--dry-run", *flags).output.splitlines()
    assert lines[0].startswith("would remove ")
    rows = [line for line in lines[1:] if line.startswith("  ")]
    assert len(rows) == len(told["by_step"]) > 2
    sizes = sorted((f["bytes"] for f in told["by_step"].values()), reverse=True)
    assert [row.rpartition("; ")[2] for row in rows] == [_format_size(size) for size in sizes]
    starts = [re.search(r"(?<=  )\d", row) for row in rows]
    assert len({found.start() for found in starts if found}) == 1  # one column
    done = run("collect", *flags).output.splitlines()
    assert done[0] == lines[0].replace("would remove", "removed")
    assert re.fullmatch(r"on disk [\d.,]+ .B before, [\d.,]+ .B now", done[1])


# ── what is personal ──


def test_personal_data_is_counted_by_kind_and_document_worst_first(run: Run, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    for i in range(23):
        text = " ".join(f"Write to n{i}x{k}@example.org." for k in range(1 + (i == 7)))
        (tmp_path / "files" / f"f{i:02}.txt").write_text(f"{text} Call +1 202 555 0143.\n" if i == 3 else f"{text}\n")
    lines = run("personal", tmp_path / "files", "--root", tmp_path).output.splitlines()
    assert lines[0] == "25 found in 23 of 23 documents"
    kinds = [line.split()[:2] for line in lines[1:3]]
    assert kinds == [["email", "24"], ["phone", "1"]]
    listed = [line for line in lines if ".txt" in line]
    assert [line.split()[0] for line in listed[:3]] == ["f03.txt", "f07.txt", "f00.txt"]
    assert listed[1].endswith("  2 email")
    assert len(listed) < 23
    assert f"and {23 - len(listed)} more documents; --json names all of them" in lines
    assert json.loads(run("personal", tmp_path / "files", "--root", tmp_path, "--json").output)["read"] == 23
    assert [p.name for p in tmp_path.iterdir()] == ["files"]


def test_personal_reads_the_corpus_else_its_input_else_says_what_to_name(
    run: Run, waiting: Path, tmp_path: Path
) -> None:
    assert run("personal", "--root", waiting).output.startswith("0 found in 0 of 1 document\n")
    nothing = run("personal", "--root", tmp_path)
    assert (nothing.exit_code, "Nothing can be read from" in nothing.output) == (1, True)
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "a.txt").write_text("Write to ada@example.org.\n")
    assert run("personal", "--root", tmp_path).output.startswith("1 found in 1 of 1 document\n")


# ── what flags hold ──


@pytest.mark.parametrize(("text", "pair"), [(None, None), ("3", (3, 3)), ("3,4", (3, 4)), (" 0 , 12 ", (0, 12))])
def test_a_number_of_distractors_is_one_or_a_least_and_a_most(text: str | None, pair: tuple[int, int] | None) -> None:
    assert _parse_distractors(text) == pair


@pytest.mark.parametrize("text", ["", "a", "3,b", "3,4,5", "-1", "3,"])
def test_what_is_no_number_of_distractors_is_refused(run: Run, tmp_path: Path, text: str) -> None:
    said = run("tune", "data", tmp_path, "--out", tmp_path / "out.jsonl", f"--distractors={text}")
    assert said.exit_code == 2
    assert "is no number and no pair of numbers" in " ".join(said.output.split())
