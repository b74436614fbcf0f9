from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from scripted import Script, ScriptedServer
from sensegraph.cli import app
from sensegraph.cli.lab.tune_prompts import set_model_line
from sensegraph.cli.template import settings_toml
from sensegraph.engines.llm.prompts import read_packaged_template
from wired import story

TYPES = ["sailor", "ship"]
PROFILE = {"domain": "tales of a harbour", "persona": "a harbour master", "language": "English", "entity_types": TYPES}
EARLIER = (Path(__file__).parents[1] / "data" / "earlier-summarise.md").read_text("utf-8")
OFFLINE_VECTORS = ("--set", "embedder=offline")


def scripted(body: dict[str, Any]) -> str | None:
    named = body.get("response_format", {}).get("json_schema", {}).get("name")
    return json.dumps(PROFILE) if named == "profile" else None


@pytest.fixture
def tales() -> Any:
    with ScriptedServer(Script(reply=scripted, keep_bodies=True)) as server:
        yield server


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "input").mkdir()
    for i in range(4):
        (tmp_path / "input" / f"{i}.txt").write_text(story(i, i, 40), "utf-8")
    return tmp_path


def run(*args: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in args])


def with_model(server: ScriptedServer) -> list[str]:
    given = {"endpoint.base_url": f'"{server.base_url}"', "endpoint.model": "scripted", "model.max_gleanings": "0"}
    return [part for name, value in given.items() for part in ("--set", f"{name}={value}")]


def tune(root: Path, server: ScriptedServer, *args: object) -> Result:
    return run("tune", "prompts", "--root", root, *with_model(server), *args)


def settings_of(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "sensegraph.toml").read_text("utf-8"))


def test_prompts_are_fitted_written_and_told_with_what_they_cost(root: Path, tales: ScriptedServer) -> None:
    result = tune(root, tales)
    assert result.exit_code == 0, result.output
    assert "tales of a harbour" in result.stdout
    assert "sailor, ship" in result.stdout
    assert "4 calls" in result.stdout
    assert settings_of(root)["model"] == {"entity_types": TYPES, "prompts": "prompts"}
    assert (root / "prompts" / "extract.md").read_text("utf-8").startswith("You are a harbour master.")
    assert not (root / ".sensegraph").exists()  # nothing was indexed


def test_the_next_index_sends_the_tuned_prompt(root: Path, tales: ScriptedServer) -> None:  # D12
    tune(root, tales)
    tales.reset()
    result = run("index", "--root", root, "--quiet", *with_model(tales), *OFFLINE_VECTORS)
    assert result.exit_code == 0, result.output
    asked = [c.body["messages"][0]["content"] for c in tales.calls if c.task == "extraction"]
    assert asked
    assert all("You are a harbour master. The corpus holds tales of a harbour." in text for text in asked)
    messages = [[m["content"] for m in c.body["messages"]] for c in tales.calls if c.task == "extraction"]
    assert all("Entity types: sailor, ship\n" in talk[-1] for talk in messages)
    assert all(talk[1].startswith("Example, from this corpus.\n\nEntity types: sailor, ship\n") for talk in messages)
    written = [c.body["messages"][0]["content"] for c in tales.calls if c.task == "report"]
    assert all(text.startswith("You are a harbour master.") for text in written)


def test_the_sample_is_spread_over_the_documents_and_the_same_each_time(root: Path, tales: ScriptedServer) -> None:
    small = ("--set", "index.chunk_tokens=80", "--set", "index.chunk_overlap=0")
    for _ in range(2):
        tune(root, tales, "--sample", 6, "--force", *small)
    first, second = (c.body["messages"][1]["content"] for c in tales.calls if c.task == "profile")
    assert first == second
    shown = first.split("\n\nPassage ")
    assert len(shown) == 6
    families = ("Harrow", "Fenwick", "Stone", "Millar")  # most people of a document are of one
    assert {max(families, key=passage.count) for passage in shown} == set(families)


def test_a_prompt_that_was_edited_is_kept_unless_forced(root: Path, tales: ScriptedServer) -> None:
    run("init", "--root", root)
    mine = root / "prompts" / "report.md"
    mine.write_text("My own {{findings}}.", "utf-8")
    result = tune(root, tales)
    assert "report" in result.stdout.partition("left as they were edited")[2]
    assert mine.read_text("utf-8") == "My own {{findings}}."
    assert (root / "prompts" / "rate.md").read_text("utf-8") != read_packaged_template("rate")
    assert tune(root, tales, "--force").exit_code == 0
    assert mine.read_text("utf-8").startswith("You are a harbour master.")


def test_a_copy_of_an_earlier_version_is_no_edited_prompt(root: Path, tales: ScriptedServer) -> None:
    run("init", "--root", root)
    old = root / "prompts" / "summarise.md"
    old.write_text(EARLIER, "utf-8")
    result = tune(root, tales)
    assert "summarise" not in result.stdout.partition("left as they were edited")[2]
    assert old.read_text("utf-8").startswith("You are a harbour master.")


def test_where_every_prompt_was_edited_nothing_is_paid(root: Path, tales: ScriptedServer) -> None:
    tune(root, tales)
    assert (root / "prompts" / "references.md").read_text("utf-8") == read_packaged_template("references")
    tales.reset()
    result = tune(root, tales)
    assert (result.exit_code, tales.calls) == (1, [])
    assert "--force" in result.stderr


def test_settings_that_say_otherwise_are_left_and_told(root: Path, tales: ScriptedServer) -> None:
    mine = '[model]\nentity_types = ["boat"]   # mine\n'
    (root / "sensegraph.toml").write_text(mine, "utf-8")
    result = tune(root, tales, "--language", "Dutch")
    assert result.exit_code == 0, result.output
    assert 'entity_types = ["sailor", "ship"]' in result.stderr
    assert settings_of(root)["model"] == {"entity_types": ["boat"], "prompts": "prompts", "language": "Dutch"}
    assert (root / "sensegraph.toml").read_text("utf-8").endswith('entity_types = ["boat"]   # mine\n')


@pytest.mark.parametrize(
    "text",
    [settings_toml(), "", "engine = 'auto'\n", "[model]\nclaims = true\n[index]\n", "[model] # here\n", "model = {}\n"],
)
def test_a_line_goes_where_it_says_what_it_should_and_nothing_else_changes(text: str) -> None:
    line = 'language = "Dutch"'
    added = set_model_line(text, "language", "Dutch", line)
    before = tomllib.loads(text)
    if text.startswith("model ="):
        assert added is None
        return
    assert added is not None
    assert tomllib.loads(added) == {**before, "model": {**before.get("model", {}), "language": "Dutch"}}
    assert set_model_line(added, "language", "Dutch", line) == added
    assert set_model_line(added, "language", "Greek", 'language = "Greek"') is None


def test_the_offline_engine_has_no_prompts_to_fit(root: Path) -> None:
    result = run("tune", "prompts", "--root", root)
    assert result.exit_code == 1
    assert "offline engine" in result.stderr
    assert "endpoint.model" in result.stderr
    assert not (root / "prompts").exists()


def test_without_a_document_there_is_nothing_to_fit_to(tmp_path: Path, tales: ScriptedServer) -> None:
    result = tune(tmp_path, tales)
    assert (result.exit_code, tales.calls) == (1, [])
    assert "put documents into" in result.stderr


def test_documents_without_text_are_named_as_the_reason(tmp_path: Path, tales: ScriptedServer) -> None:
    (tmp_path / "blank.txt").write_text(" \n", "utf-8")
    result = tune(tmp_path, tales, tmp_path / "blank.txt")
    assert (result.exit_code, tales.calls) == (1, [])


def test_what_is_indexed_is_sampled_where_no_path_is_named(root: Path, tales: ScriptedServer) -> None:
    run("index", root / "input" / "0.txt", "--root", root, "--quiet", *with_model(tales), *OFFLINE_VECTORS)
    for file in (root / "input").iterdir():
        file.unlink()
    (root / "input").rmdir()
    tales.reset()
    assert tune(root, tales).exit_code == 0
    assert "Harrow" in tales.calls[0].body["messages"][1]["content"]
    status = json.loads(run("status", "--root", root, "--json", *with_model(tales), *OFFLINE_VECTORS).stdout)
    assert "tune-prompts" in json.dumps(status)


def test_a_limit_stops_it_before_more_is_spent(root: Path, tales: ScriptedServer) -> None:
    result = tune(root, tales, "--max-tokens", 2000)
    assert (result.exit_code, tales.calls) == (5, [])
    assert not (root / "prompts").exists()
