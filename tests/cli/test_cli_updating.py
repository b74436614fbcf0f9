"""The command line that keeps an index up to date: index --sync, --plan, --wait, collect, reports by earlier ids."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from sensegraph.cli import app
from sensegraph.cli.maintenance import _format_size
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.hierarchy.communities import read_lineage
from sensegraph.runtime.stores.sqlite import SqliteStore
from wired import story

OFFLINE = ["--engine", "offline", "--set", "processes=1", "--set", 'index.parts=["graph","reports"]']


def run(root: Path, *words: str, code: int = 0) -> Result:
    found = CliRunner().invoke(app, [*words, "--root", str(root)])
    assert found.exit_code == code, found.output
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "input").mkdir()
    for i in range(3):
        (tmp_path / "input" / f"{i}.txt").write_text(story(i, i))
    run(tmp_path, "index", *OFFLINE)
    return tmp_path


def edited(root: Path) -> None:
    (root / "input" / "0.txt").unlink()
    (root / "input" / "1.txt").rename(root / "input" / "one.txt")
    (root / "input" / "2.txt").write_text(story(2, 50))
    (root / "input" / "3.txt").write_text(story(3, 3))


def test_a_plan_is_shown_and_then_carried_out(root: Path) -> None:
    edited(root)
    planned = run(root, "index", "--sync", "--dry-run", *OFFLINE).stdout
    head = "1 added, 1 edited, 1 renamed, 1 removed, 0 as they were\n+ 3.txt\n~ 2.txt\n> 1.txt → one.txt\n- 0.txt\n"
    assert planned.startswith(head)
    assert "no calls to a model, no cost" in planned
    listed = run(root, "status", "--documents").stdout.split()
    assert listed == ["0.txt", "1.txt", "2.txt"]
    done = run(root, "index", "--sync", *OFFLINE).stdout
    assert done.startswith(head)
    assert "since the last build" in done
    assert run(root, "status", "--documents").stdout.split() == ["2.txt", "3.txt", "one.txt"]


def test_an_empty_input_folder_is_silent_where_the_documents_came_from_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(story(1, 1))
    (tmp_path / "c" / "input").mkdir(parents=True)
    (tmp_path / "c" / "input" / ".gitkeep").touch()
    assert "holds no document" in run(tmp_path / "c", "index", *OFFLINE, code=1).stderr
    run(tmp_path / "c", "index", str(tmp_path / "a.txt"), *OFFLINE)
    again = run(tmp_path / "c", "index", *OFFLINE)
    assert "skipped" not in again.stderr
    assert "0 skipped" in again.stdout
    (tmp_path / "c" / "input" / "picture.png").touch()
    assert "1 .png file is no text document" in run(tmp_path / "c", "index", *OFFLINE).stderr


def test_an_input_folder_that_was_emptied_is_told_of(root: Path) -> None:
    for path in (root / "input").iterdir():
        path.unlink()
    told = run(root, "index", *OFFLINE).stderr
    assert "3 documents that were read from" in told
    assert "can no longer be read there, and stay indexed until: sensegraph documents remove 0.txt 1.txt 2.txt" in told
    assert "holds no document" in told


def test_a_plan_of_following_files_for_ever_is_refused(root: Path) -> None:
    assert "--dry-run" in run(root, "index", "--watch", "--dry-run", *OFFLINE, code=2).stderr


def test_a_plan_as_an_object(root: Path) -> None:
    edited(root)
    plan = json.loads(run(root, "index", "--sync", "--dry-run", "--json", *OFFLINE).stdout)
    assert (plan["added"], plan["renamed"], plan["removed"]) == (["3.txt"], [["1.txt", "one.txt"]], ["0.txt"])
    assert plan["estimate"]["calls"] == 0


def test_what_could_not_be_read_is_named_and_not_removed(root: Path) -> None:
    (root / "input" / "0.txt").write_text("x" * 5000)
    found = run(root, "index", "--sync", "--json", *OFFLINE, "--set", "documents.max_bytes=4000")
    assert json.loads(found.stdout)["gone"] == ["0.txt"]
    assert "0.txt" in found.stderr
    assert "not removed" in found.stderr


def test_without_sync_what_is_gone_stays_and_is_named(root: Path) -> None:
    edited(root)
    assert "sensegraph documents remove" in run(root, "index", *OFFLINE).stderr
    assert "0.txt" in run(root, "status", "--documents").stdout.split()


def test_collect_says_what_would_go_and_what_went(root: Path) -> None:
    edited(root)
    run(root, "index", "--sync", *OFFLINE)
    told = json.loads(run(root, "documents", "purge", "--dry-run", "--json", *OFFLINE).stdout)
    assert told["dry_run"]
    assert told["objects"] > 0
    shown = run(root, "documents", "purge", "--dry-run", *OFFLINE).stdout.splitlines()
    assert re.fullmatch(r"would remove \d+ objects?, .*; \d+\.\d [kM]B", shown[0])
    assert len(shown) == 1 + len(told["by_step"])
    assert all(re.fullmatch(r"  \w.*; \d+\.\d [kM]B", line) for line in shown[1:])
    done = run(root, "documents", "purge", *OFFLINE).stdout.splitlines()
    assert done[0] == shown[0].replace("would remove", "removed")
    assert [line.split()[:2] for line in done[1:]] == [["on", "disk"]]
    again = json.loads(run(root, "documents", "purge", "--json", *OFFLINE).stdout)
    assert (again["objects"], again["tables"], again["arrays"], again["by_step"]) == (0, 0, 0, {})


def test_a_size_is_told_in_a_unit_that_fits_it():
    assert [_format_size(n) for n in (0, 480, 99_999, 100_000, 12_345_678)] == [
        "0.0 kB",
        "0.5 kB",
        "100.0 kB",
        "0.1 MB",
        "12.3 MB",
    ]


def test_collecting_with_the_settings_of_another_index_is_refused(root: Path) -> None:
    other = ["--set", "index.chunk_tokens=300"]
    assert "sensegraph index" in run(root, "documents", "purge", *OFFLINE, *other, code=1).stderr


def test_a_report_is_found_under_an_id_of_before(root: Path) -> None:
    (root / "input" / "0.txt").write_text(story(0, 50))
    run(root, "index", *OFFLINE)
    with Corpus.open(root, create=False) as corpus:
        early, late = next(iter(read_lineage(corpus.store).now.items()))
    assert run(root, "show", "reports", early).stdout == run(root, "show", "reports", late).stdout


def test_a_second_build_is_told_to_wait(root: Path) -> None:
    store = SqliteStore(root / ".sensegraph")
    with store.exclusive():
        assert "--wait" in run(root, "index", "--fresh", "--wait", "0.1", *OFFLINE, code=1).stderr
        run(root, "index", *OFFLINE)  # there is nothing to do, and nothing to wait for
        assert "--wait" in run(root, "documents", "purge", "--wait", "0.1", *OFFLINE, code=1).stderr
    store.close()
