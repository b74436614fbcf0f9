"""What commands tell of themselves: a diagnosis, how far a step is, what was written, mistakes in settings."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sensegraph.cli import app
from sensegraph.cli.configuring import _load_checked
from sensegraph.cli.doctor import format_diagnosis
from sensegraph.cli.options import CommandRun
from sensegraph.cli.progress import show_progress
from sensegraph.corpus.diagnosis import Diagnosis
from sensegraph.errors import SettingsError
from sensegraph.models.endpoint.probes import Finding


def test_a_diagnosis_is_a_table_with_what_to_do_below_each_line_that_needs_it() -> None:
    lines = (Finding("engine", "offline"), Finding("a longer one", "not there", "set it"))
    assert format_diagnosis(Diagnosis(lines)).splitlines() == [
        "engine        offline",
        "a longer one  not there",
        "              → set it",
    ]
    failing = Diagnosis((Finding("model", "refused", "check the key", fails=True),), "http://h/v1", 1_200)
    assert format_diagnosis(failing).splitlines() == [
        "endpoint  http://h/v1  (1,200 tokens used)",
        "model  refused",
        "       → check the key",
        "Something that is used by default does not work: see the lines with →.",
    ]


def test_one_bar_is_shown_at_a_time_for_the_step_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    told = list[Any]()

    class Bars:
        def __init__(self, *columns: Any, console: Any, transient: bool) -> None:
            assert console.stderr
            assert transient

        def __enter__(self) -> Bars:
            return self

        def __exit__(self, *_: object) -> None:
            told.append("end")

        def add_task(self, label: str, total: int) -> str:
            told.append(("add", label, total))
            return label

        def remove_task(self, task: str) -> None:
            told.append(("remove", task))

        def update(self, task: str, completed: int, total: int) -> None:
            told.append((task, completed, total))

    monkeypatch.setattr("rich.progress.Progress", Bars)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with show_progress() as report:
        for step, done in (("graph.read_all", 1), ("graph.read_all", 5), ("reports.report", 0), ("graph.read_all", 6)):
            report(step, done, 9)
    assert told == [
        ("add", "read all", 9), ("read all", 1, 9), ("read all", 5, 9),
        ("remove", "read all"), ("add", "report", 9), ("report", 0, 9),
        ("remove", "report"), ("add", "read all", 9), ("read all", 6, 9), "end",
    ]  # fmt: skip


def test_what_init_wrote_is_told_for_people_and_for_programs(tmp_path: Path) -> None:
    def run(*words: str) -> Any:
        return CliRunner().invoke(app, ["init", str(tmp_path / "c"), *words])

    first = json.loads(run("--json").stdout)
    file = str(tmp_path / "c" / "sensegraph.toml")
    assert (first["root"], first["file"], first["new"], first["told"][0]) == (
        str(tmp_path / "c"), file, True, f"wrote {file}",
    )  # fmt: skip
    again = run("--set", "engine=offline")
    assert f"{file} exists and was left as it is, without what --set says" in again.stderr
    assert (
        again.stdout
        == f"put documents into {tmp_path / 'c' / 'input'}, then: sensegraph index --root {tmp_path / 'c'}\n"
    )
    assert json.loads(run("--json").stdout)["new"] is False


def test_a_mistake_in_the_settings_is_told_with_where_it_stands(tmp_path: Path) -> None:
    _load_checked(CommandRun(root=tmp_path))
    with pytest.raises(SettingsError, match="command line"):
        _load_checked(CommandRun(root=tmp_path, settings=["index.chunk_token=5"]))
    (tmp_path / "sensegraph.toml").write_text("[index]\nchunk_token = 5\n")
    with pytest.raises(SettingsError, match=r"sensegraph\.toml"):
        _load_checked(CommandRun(root=tmp_path))


def test_a_list_in_which_nothing_is_found_has_no_headings(tmp_path: Path) -> None:
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "a.txt").write_text(
        "Ada Finch keeps the lighthouse of Skerry Point. Tom Reeve met Ada Finch."
    )

    def run(*words: str) -> list[str]:
        done = CliRunner().invoke(app, [*words, "--root", str(tmp_path)])
        assert done.exit_code == 0, done.output
        return done.stdout.splitlines()

    run("index", "--quiet", "--engine", "offline")
    assert run("documents", "list", "zebra") == ["0 documents"]
    assert run("entities", "list", "zebra") == ["0 entities"]
    found = run("entities", "list", "finch")
    assert found[0] == "1 entity"
    assert found[1].split()[:4] == ["neighbours", "chunks", "type", "name"]
    assert found[2].split()[2:5] == ["person", "Ada", "Finch"]
    documents = run("documents", "list")
    assert documents[0] == "1 document"
    assert documents[1].split() == ["state", "date", "entities", "id", "title"]
    assert documents[2].split()[0] == "indexed"
    wrong = run("entities", "list", "--type", "persn")
    assert wrong[:2] == ["0 entities", "  No entity has the type 'persn'; did you mean person?"]
