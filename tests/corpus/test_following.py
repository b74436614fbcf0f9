"""When a folder that is watched is read again, by a clock that is set; and what is said of settings, word by word."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sensegraph.corpus.settings import (
    ENGINES,
    Settings,
    describe_choices,
    holds_name,
    lay_tables,
    load_settings,
    locate_user_file,
    read_api_key,
)
from sensegraph.corpus.sources import Pace, follow_changes
from sensegraph.corpus.tables import ExecutorTable, RerankTable, StoreTable
from sensegraph.documents.document_files import DocumentSettings, take_snapshot
from sensegraph.errors import SettingsError
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings

PACE = Pace(every=1.0, settle=3.0, again=4.0, most=10.0)


def follow(seen: str, succeeds: Callable[[int], bool] = lambda n: True, pace: Pace = PACE) -> list[float]:
    """The seconds at which files are read, when each second shows one letter of `seen`."""
    clock, acted = [0.0], list[float]()

    def pause(seconds: float) -> None:
        clock[0] += seconds

    def act() -> bool:
        acted.append(clock[0])
        return succeeds(len(acted))

    follow_changes(
        lambda: seen[min(int(clock[0]), len(seen) - 1)], act, pace, pause=pause, now=lambda: clock[0], rounds=len(seen)
    )
    return acted


def test_files_are_read_at_first_and_when_a_change_has_stayed() -> None:
    assert follow("aaaaaaaa") == [0.0]
    assert follow("aabbbbbb") == [0.0, 5.0]
    assert follow("aabcbdddddd") == [0.0, 8.0]
    assert follow("aabbaaaa") == [0.0]  # as it was before: nothing to read
    assert follow("aabbb") == [0.0]


def test_a_round_that_failed_is_tried_again_ever_later_up_to_the_most() -> None:
    assert follow("a" * 40, lambda n: False) == [0.0, 4.0, 12.0, 22.0, 32.0]
    assert follow("a" * 40, lambda n: n > 2) == [0.0, 4.0, 12.0]
    assert follow("a" * 5 + "b" * 30, lambda n: n not in (1, 2, 4)) == [0.0, 4.0, 8.0]
    assert follow("a" * 20, lambda n: n > 1) == [0.0, 4.0]


def test_without_settings_two_seconds_pass_between_looks_and_before_files_count_as_written() -> None:
    assert Pace() == Pace(every=2.0, settle=2.0, again=30.0, most=600.0)


def test_a_snapshot_tells_sizes_and_times_and_leaves_out_what_is_gone(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("two")
    (tmp_path / "a.txt").write_text("one and two")
    seen = take_snapshot([tmp_path, tmp_path / "none.txt", str(tmp_path / "b.txt")], DocumentSettings())
    assert [(Path(name).name, size) for name, size, _, _ in seen] == [("a.txt", 11), ("b.txt", 3), ("b.txt", 3)]
    found = os.stat(tmp_path / "a.txt")
    assert seen[0][2:] == (found.st_mtime_ns, found.st_ino)


# ── settings ──


@pytest.mark.parametrize(
    ("value", "words", "said"),
    [
        ("ofline", ("auto", "offline"), "'ofline'; choose auto or offline. Did you mean offline?"),
        ("OFFLINE", ("auto", "offline"), "'OFFLINE'; choose auto or offline. Did you mean offline?"),
        ("xyz", ("auto", "model", "offline"), "'xyz'; choose auto, model or offline."),
        ("xyz", ("auto",), "'xyz'; choose auto."),
    ],
)
def test_a_word_that_cannot_stand_is_answered_with_the_nearest(value: str, words: tuple[str, ...], said: str) -> None:
    assert describe_choices(value, words) == said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"chunk_tokens": 5}, "unknown setting chunk_tokens; did you mean index.chunk_tokens?"),
        ({"index": {"modle": 5}}, "unknown setting index.modle; did you mean "),
        ({"index": {"chunk_token_limit": 5}}, "chunk_token_limit; did you mean index.chunk_tokens?"),
        ({"endpoint": {"embedding_limit": 5}}, "did you mean endpoint.embedding_dimensions?"),
        ({"index": {"chunk_token": 5}}, "unknown setting index.chunk_token; did you mean index.chunk_tokens?"),
        ({"endpoint": {"qqqqqqqq": 5}}, "unknown setting endpoint.qqqqqqqq; known here: base_url, model, "),
        ({"methods": {"naive": {"qqqqqqqq": 5}}}, "qqqqqqqq"),
    ],
)
def test_an_unknown_setting_is_answered_by_where_it_stands(given: dict[str, object], said: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path, given)
    assert said in str(caught.value)


def test_tables_are_laid_over_one_another_value_by_value() -> None:
    below = {"a": {"x": 1, "y": {"z": 2}}, "b": 3, "c": {"d": 4}}
    assert lay_tables(below, {"a": {"y": {"w": 5}}, "b": {"e": 6}, "c": 7}) == {
        "a": {"x": 1, "y": {"z": 2, "w": 5}},
        "b": {"e": 6},
        "c": 7,
    }
    assert below["a"] == {"x": 1, "y": {"z": 2}}
    held = [holds_name(below, name) for name in ("a", "a.x", "a.y.z", "a.q", "b", "b.e", "q", "q.r")]
    assert held == [True, True, True, False, True, False, False, False]


def test_what_is_used_where_no_setting_says_otherwise() -> None:
    made = Settings()
    assert (made.engine, made.embedder, made.method, made.chunker) == ("auto", "auto", "auto", "windows")
    assert (made.store, made.executor) == (
        StoreTable(kind="auto", url="", cache=""),
        ExecutorTable(kind="local", address=""),
    )
    assert (made.processes, made.trust, made.foreign, made.methods) == (0, False, {}, {})
    assert made.rerank == RerankTable(by="none", top=50, model="")
    assert ENGINES.known()[:4] == ("auto", "offline", "model", "local")
    assert made.method_settings("naive", {}) == {}
    assert Settings(foreign={"a": "b"}) == Settings()  # who chose a setting changes nothing


def test_folders_that_a_settings_file_names_are_meant_from_its_own(tmp_path: Path) -> None:
    (tmp_path / "weights").mkdir()
    (tmp_path / "sensegraph.toml").write_text(
        '[model]\nprompts = "mine"\n[rerank]\nby = "cross-encoder"\nmodel = "weights"\n'
    )
    made = load_settings(tmp_path)
    assert (made.model.prompts, made.rerank.model) == (str(tmp_path / "mine"), str(tmp_path / "weights"))
    assert made.foreign == {"rerank.model": str(tmp_path / "sensegraph.toml")}
    given = load_settings(tmp_path, {"rerank": {"model": "owner/name"}})
    assert (given.rerank.model, given.foreign) == ("owner/name", {})
    planned = load_settings(tmp_path, {}, {"endpoint": {"base_url": "https://h"}}, "plan.toml")
    assert planned.foreign["endpoint.base_url"] == "plan.toml"
    assert load_settings(tmp_path / "none").model.prompts == ""


def test_a_key_is_needed_far_away_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-1")
    far, near = EndpointSettings(api_key_env="SOME_KEY"), EndpointSettings("http://localhost/v1", api_key_env="NO_KEY")
    assert (read_api_key(far), read_api_key(near)) == ("sk-1", "none")
    with pytest.raises(SettingsError, match="NO_KEY"):
        read_api_key(EndpointSettings(api_key_env="NO_KEY"))
    assert locate_user_file().name == "settings.toml"
