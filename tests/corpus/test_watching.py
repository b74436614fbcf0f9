"""Waiting for changes: debounced, one round at a time, failures tried again; ended cleanly by a signal (N92)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.sources import Pace, follow_changes
from sensegraph.documents.document_files import DEFAULTS, take_snapshot

PACE = Pace(every=1.0, settle=2.0, again=10.0, most=25.0)


class World:
    """A clock that moves when somebody waits, files as a list of states by second, and rounds that may fail."""

    def __init__(self, states: str, fails: int = 0) -> None:
        self.states, self.fails, self.time = states, fails, 100.0
        self.acts: list[tuple[int, str]] = []

    def look(self) -> str:
        return self.states[min(int(self.time - 100), len(self.states) - 1)]

    def act(self) -> bool:
        self.acts.append((int(self.time - 100), self.look()))
        self.fails -= 1
        return self.fails < 0

    def run(self, rounds: int) -> list[tuple[int, str]]:
        follow_changes(self.look, self.act, PACE, pause=self.pause, now=lambda: self.time, rounds=rounds)
        return self.acts

    def pause(self, seconds: float) -> None:
        self.time += seconds


def test_the_files_are_indexed_at_first_and_after_each_change() -> None:
    assert World("aaaabbbbbbb").run(12) == [(0, "a"), (6, "b")]


def test_a_file_that_is_being_written_is_left_alone_until_it_is_done() -> None:
    assert World("abcdefgggggg").run(12) == [(0, "a"), (8, "g")]


def test_what_changes_back_in_time_needs_nothing() -> None:
    assert World("abaaaaaaaa").run(10) == [(0, "a")]


def test_a_round_that_failed_is_tried_again_after_a_while_and_then_later_and_later() -> None:
    acts = World("a", fails=4).run(100)
    assert [at for at, _ in acts] == [0, 10, 30, 55, 80]  # 10, 20, then 25 at most


def test_after_many_failures_it_is_still_tried_again_as_seldom_as_at_most() -> None:
    world = World("a", fails=1_100)
    acts = [at for at, _ in world.run(27_500)]
    assert len(acts) > 1_099
    assert acts[-1] - acts[-2] == 25


def test_a_success_begins_the_waiting_after_failures_anew() -> None:
    world, worked, at = World("a" * 40 + "b"), iter([False, False, True, False, False, True]), list[int]()

    def act() -> bool:
        at.append(int(world.time - 100))
        return next(worked)

    world.act = act  # type: ignore[method-assign]
    world.run(100)
    assert at == [0, 10, 30, 42, 52, 72]


def test_a_change_ends_the_waiting_after_a_failure() -> None:
    assert World("aaaabbbbbb", fails=1).run(20) == [(0, "a"), (6, "b")]


def test_a_snapshot_sees_what_would_be_read_and_every_kind_of_change(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")
    (tmp_path / "picture.png").write_bytes(b"x")
    (tmp_path / ".hidden.txt").write_text("x")
    seen = take_snapshot([tmp_path, tmp_path / "missing.txt"], DEFAULTS)
    assert [Path(name).name for name, *_ in seen] == ["a.txt"]
    stat = (tmp_path / "a.txt").stat()
    (tmp_path / "new").write_text("two")  # of equal size, moved into place with the time of before
    os.utime(tmp_path / "new", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    (tmp_path / "new").replace(tmp_path / "a.txt")
    assert take_snapshot([tmp_path], DEFAULTS) != seen


def test_a_path_that_never_was_is_an_error_and_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sensegraph.corpus.sources.follow_changes", lambda *_, **__: pytest.fail("it is waited for"))
    (tmp_path / "a.txt").write_text("Ada Harrow paid Bram Fenwick in Delft.")
    for given, said in (((tmp_path / "a.txt", tmp_path / "nosuch"), "nosuch does not"), ((), "input does not")):
        result = CliRunner().invoke(app, ["index", "--watch", *map(str, given), "--root", str(tmp_path / "c")])
        assert result.exit_code == 1
        assert f"{said} exist" in " ".join(result.stderr.split())
        assert not (tmp_path / "c").exists()


# ── as a process ──

OFFLINE = ["--engine", "offline", "--set", "processes=1", "--set", 'index.parts=["graph"]']


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "a.txt").write_text("Ada Harrow paid Bram Fenwick in Delft.")
    program = "from sensegraph.cli import main; main()"
    flags = ["watch", "--root", str(tmp_path), "--every", "0.1", "--settle", "0.2", *OFFLINE]
    running = subprocess.Popen(
        [sys.executable, "-c", program, *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    yield running
    if running.poll() is None:
        running.kill()
    running.communicate()


def indexed(root: Path, wanted: set[str], seconds: float = 200.0) -> set[str]:
    """The documents of the index, once they are those that are wanted."""
    until, found = time.monotonic() + seconds, set[str]()
    while found != wanted and time.monotonic() < until:
        time.sleep(0.1)
        if (root / ".sensegraph" / "store.sqlite").exists():
            with Corpus.open(root, create=False) as made:
                if made.manifest():
                    found = {d.id for d in made.index().catalogue.documents}
    return found


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_folder_is_followed_until_a_signal_ends_it(
    tmp_path: Path, watching: subprocess.Popen[str], number: signal.Signals
) -> None:
    assert indexed(tmp_path, {"a.txt"}) == {"a.txt"}
    (tmp_path / "input" / "b.txt").write_text("Cora Stone paid Dirk Millar in Gouda.")
    assert indexed(tmp_path, {"a.txt", "b.txt"}) == {"a.txt", "b.txt"}
    (tmp_path / "input" / "a.txt").rename(tmp_path / "input" / "c.txt")
    assert indexed(tmp_path, {"b.txt", "c.txt"}) == {"b.txt", "c.txt"}
    watching.send_signal(number)
    _, err = watching.communicate(timeout=200)
    assert (watching.returncode, "stopped" in err) == (0, True)


@pytest.mark.slow
def test_an_error_is_told_and_survived(tmp_path: Path, watching: subprocess.Popen[str]) -> None:
    assert indexed(tmp_path, {"a.txt"}) == {"a.txt"}
    (tmp_path / "input" / "a.txt").rename(tmp_path / "away.txt")  # a folder without a document is an error
    assert watching.stderr is not None
    assert any("Nothing could be read" in line for line in watching.stderr)
    (tmp_path / "away.txt").rename(tmp_path / "input" / "b.txt")
    assert indexed(tmp_path, {"b.txt"}) == {"b.txt"}
    watching.send_signal(signal.SIGTERM)
    watching.communicate(timeout=200)
    assert watching.returncode == 0
