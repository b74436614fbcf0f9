"""Presets: the settings of papers, which exist, are told beside ours, and build and answer."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from scripted import Script, ScriptedServer
from sensegraph.cli import app
from sensegraph.corpus import presets
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.presets import Choice, Preset, find_default, find_preset, list_presets
from sensegraph.corpus.settings import Settings, convert_settings, holds_name, lay_tables, load_settings
from sensegraph.errors import SettingsError
from sensegraph.methods import METHODS, method_class, parts_needed
from wired import settings, stories

NAMES = "graphrag lightrag fastgraphrag hipporag leanrag hirag kag raptor linearrag lazygraphrag".split()


def run(*args: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in args])


def test_there_is_a_preset_for_each_paper_whose_method_is_here() -> None:
    assert sorted(list_presets()) == sorted(NAMES)
    assert set(NAMES) <= set(METHODS)
    assert find_preset("Zhang2025").name == find_preset("leanrag").name == "leanrag"
    with pytest.raises(SettingsError, match="'leanrga'; did you mean leanrag"):
        find_preset("leanrga")
    with pytest.raises(SettingsError, match="there are graphrag, "):
        find_preset("zzz")


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_writes_only_settings_that_exist_and_says_where_each_is_from(name: str) -> None:
    preset = find_preset(name)
    made = convert_settings(preset.tables(), Settings, "test")
    assert made.method == name
    assert parts_needed(method_class(name)(**made.methods.get(name, {}))) <= {*made.index.parts}
    assert len([c for c in preset.choices if c.setting]) >= 10
    assert all(c.source.strip() and c.what.strip() for c in preset.choices)
    assert all(bool(c.setting) != bool(c.why) for c in preset.choices)
    own = [c.setting for c in preset.choices if c.setting.startswith("methods.")]
    assert own
    assert all(setting.split(".")[1] == name for setting in own)
    assert any(not c.matches for c in preset.choices if c.setting)
    named = [word for c in preset.choices for word in re.findall(r"(?:index|methods|model|endpoint)\.[\w.]*\w", c.why)]
    assert all(find_default(word) is not None for word in named)  # what `why` points at exists as well


def test_our_own_values_are_those_of_the_settings_as_they_are() -> None:
    ours = {c.setting: c.ours for c in find_preset("leanrag").choices if c.setting}
    assert (ours["index.chunk_tokens"], ours["index.aggregates.cluster_size"]) == (Settings().index.chunk_tokens, 20)
    assert ours["methods.leanrag.root"] == method_class("leanrag")().root
    said = {c.setting: (c.value, c.matches) for c in find_preset("leanrag").choices if c.setting}
    assert said["index.aggregates.threshold"] == (3, True)
    assert said["index.chunk_tokens"] == (1024, False)
    assert said["model.entity_types"][1]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_corpus_with_a_preset_is_built_and_answers_by_its_method(name: str, tmp_path: Path) -> None:
    with ScriptedServer(Script()) as server:
        given = lay_tables(settings(server), {"index": {"chunk_tokens": 600}, "methods": {}})
        given = lay_tables(given, find_preset(name).tables())
        with Corpus.open(tmp_path, settings=given) as corpus:
            corpus.add(stories(4))
            corpus.build()
            answer = corpus.query("Who wrote to Ada Harrow?")
    assert answer.method == name
    assert answer.text.strip()


def test_init_writes_the_settings_of_a_paper_and_what_is_set_beside_them(tmp_path: Path) -> None:
    result = run("init", "--root", tmp_path, "--preset", "huang2025", "--set", "index.chunk_tokens=900")
    assert result.exit_code == 0, result.output
    assert "sensegraph config presets hirag" in result.stdout
    written = tomllib.loads((tmp_path / "sensegraph.toml").read_text("utf-8"))
    assert written["index"]["chunk_tokens"] == 900
    assert written["model"]["prompts"] == "prompts"
    for choice in find_preset("hirag").choices:
        assert not choice.setting or holds_name(written, choice.setting), choice.setting
    found = load_settings(tmp_path)
    assert found.method == "hirag"
    assert found.method_settings("hirag", {})["order"] == "shared"


def test_an_unknown_preset_writes_nothing(tmp_path: Path) -> None:
    result = run("init", "--root", tmp_path / "new", "--preset", "hirga")
    assert result.exit_code == 1
    assert "hirag" in result.stderr
    assert not (tmp_path / "new").exists()


def rows(text: str) -> dict[str, list[str]]:
    cells = [re.split(r"\s{2,}", line) for line in text.splitlines()]
    return {row[1]: row for row in cells if len(row) == 5}


def test_a_table_shows_the_values_of_a_paper_beside_ours_and_what_cannot_be_set() -> None:
    result = run("config", "presets", "raptor")
    assert result.exit_code == 0, result.output
    found = rows(result.stdout)
    assert found["index.tree.dims"][2:4] == ["10", "16"]
    assert found["index.tree.leaf_tokens"][2:4] == ["100", "the same"]
    left = result.stdout.partition("not set:\n")[2]
    assert "UMAP" in left
    assert "full covariance" in left
    assert "no extra has UMAP" in left


def test_presets_are_listed_and_told_to_programs() -> None:
    listed: list[dict[str, Any]] = json.loads(run("config", "presets", "--json").stdout)["presets"]
    assert [p["name"] for p in listed] == list(list_presets())
    assert all(name in run("config", "presets").stdout for name in NAMES)
    told = json.loads(run("config", "presets", "kag", "--json").stdout)
    rounds = next(c for c in told["choices"] if c["setting"] == "methods.kag.rounds")
    assert (rounds["value"], rounds["ours"]) == (3, 3)


def test_a_preset_with_a_setting_that_is_gone_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    choice = Choice(what="w", source="s", setting="index.nothing", value=1)
    monkeypatch.setattr(presets, "list_presets", lambda: {"old": Preset("old", "paper", "source", (), (choice,))})
    with pytest.raises(SettingsError, match="preset old"):
        find_preset("OLD")
