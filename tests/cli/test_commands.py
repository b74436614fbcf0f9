"""The tree of commands: what stands at the top, what every command has, old names, the environment, statuses."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from sensegraph.cli import app
from sensegraph.cli.old_names import COMMANDS, replace_old_names
from sensegraph.cli.template import COMMON, list_defaults, settings_schema, settings_toml, write_setting
from sensegraph.corpus.settings import load_settings
from sensegraph.errors import SettingsError

ADA = "Ada Lovelace wrote the first program. She met Charles Babbage in London."
_SERVING = ("mcp",)  # whose stdout belongs to a protocol
_SCREENS = 48  # lines of two screens


def walk(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not hasattr(command, "commands"):
        yield words, command
        return
    for name, inner in command.commands.items():
        yield from walk(inner, (*words, name))


LEAVES = dict(walk(typer.main.get_command(app)))


def run(*words: object, env: dict[str, str] | None = None) -> Result:
    return CliRunner().invoke(app, list(map(str, words)), env=env, terminal_width=100)  # type: ignore[return-value]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("commands")
    (root / "input").mkdir()
    (root / "input" / "ada.txt").write_text(ADA)
    assert run("index", "--root", root, "--engine", "offline").exit_code == 0
    return root


def test_there_are_fifteen_commands_at_the_top() -> None:
    top = typer.main.get_command(app).commands.values()  # type: ignore[attr-defined]
    assert len([command for command in top if not command.hidden]) == 15
    assert {command.name for command in top if command.hidden} == {"ask", "demo"}


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_help_of_a_command_fits_two_screens(words: tuple[str, ...]) -> None:
    shown = run(*words, "--help").stdout.splitlines()
    assert 5 < len(shown) <= _SCREENS


def test_every_command_prints_json_for_programs() -> None:
    assert len(LEAVES) > 40
    without = {words for words, command in LEAVES.items() if not any("--json" in p.opts for p in command.params)}
    assert without == {_SERVING}


def test_one_name_asks_what_something_would_do() -> None:
    options = {option for command in LEAVES.values() for p in command.params for option in p.opts}
    assert "--dry-run" in options
    assert options & {"--plan", "--estimate", "--top"} == set()


@pytest.mark.parametrize("old", COMMANDS)
def test_an_old_name_goes_on_working_with_one_line_on_stderr(old: str) -> None:
    found = run(*old.split(), "--help")
    assert found.exit_code == 0
    assert found.stderr.count("\n") == 1
    assert f"`sensegraph {old}` is now `sensegraph {COMMANDS[old]}`" in found.stderr
    assert run(*COMMANDS[old].split(), "--help").stderr == ""


def test_old_options_are_replaced_before_two_dashes_alone() -> None:
    words, messages = replace_old_names(["search", "--top=3", "x", "--top", "2", "--", "--top"])
    assert words == ["search", "--limit=3", "x", "--limit", "2", "--", "--top"]
    assert len(messages) == 2
    assert replace_old_names(["evaluate", "plan.toml", "--estimate"])[0] == ["eval", "plan.toml", "--dry-run"]
    assert replace_old_names(["query", "--top"]) == (["query", "--top"], [])


def test_a_group_without_a_command_lists(root: Path) -> None:
    listed = json.loads(run("entities", "--json", "--root", root).stdout)
    assert listed["schema"] == 1
    assert listed["found"] == len(listed["entities"]) > 0
    assert {e["name"] for e in listed["entities"]} >= {"Ada Lovelace"}
    assert "ada.txt" in run("documents", "--root", root).stdout
    assert json.loads(run("show", "--json", "--root", root).stdout)["depth"] == 0
    assert run("documents", "show", "ada.txt", "--root", root).stdout == f"{ADA}\n"
    assert run("entities", "-h").stdout.count("keep-apart") == 1


def test_the_environment_names_the_folder_and_gives_settings(root: Path) -> None:
    there = {"SENSEGRAPH_ROOT": str(root)}
    assert json.loads(run("status", "--json", env=there).stdout)["documents"] == 1
    given = there | {"SENSEGRAPH_INDEX__CHUNK_TOKENS": "333", "SENSEGRAPH_ENGINE": "offline", "SENSEGRAPH_DATA": "x"}
    told = json.loads(run("config", "--json", "--set", "index.chunk_overlap=9", env=given).stdout)["settings"]
    assert {name: entry["from"] for name, entry in told.items()} == {
        "engine": "the environment", "index.chunk_tokens": "the environment", "index.chunk_overlap": "--set",
    }  # fmt: skip
    over = run("config", "get", "index.chunk_tokens", "--set", "index.chunk_tokens=700", env=given)
    assert over.stdout == "700\n"
    wrong = run("status", env=there | {"SENSEGRAPH_INDEX__CHUNK_TOKNS": "1"})
    assert (wrong.exit_code, "environment: unknown setting index.chunk_tokns" in wrong.stderr) == (1, True)


def test_statuses_say_what_came_of_a_question_where_that_is_asked_for(root: Path) -> None:
    nothing, something = ("search", "Zyzzyva", "--root", root), ("search", "Ada", "--root", root)
    assert [run(*words, "--exit-code").exit_code for words in (nothing, something)] == [3, 0]
    assert run(*nothing).exit_code == 0
    assert run("graph", "query", "(a)", "--where", "a.degree > 900", "--exit-code", "--root", root).exit_code == 3
    assert run("ask", "Who wrote the first program?", "--exit-code", "--check", "--root", root).exit_code == 0
    assert run("query", "Zyzzyva?", "--exit-code", "--root", root).exit_code == 3


def test_a_conversation_is_read_from_stdin_and_kept(root: Path) -> None:
    typed = "Who wrote the first program?\n\nWhom did she meet in London?\n"
    done = CliRunner().invoke(app, ["query", "--chat", "--json", "--root", str(root)], input=typed)
    first, second = map(json.loads, done.stdout.splitlines())
    assert "Ada Lovelace wrote the first program" in first["answer"]
    assert "Charles Babbage" in second["answer"]
    more = CliRunner().invoke(app, ["ask", "Who met Charles Babbage?", "--chat", "--root", str(root)], input=typed)
    assert more.stdout.count("\nSources\n") == 3
    assert (done.exit_code, more.exit_code, done.stderr) == (0, 0, "")


def test_an_index_that_was_imported_is_not_built_for_a_question(root: Path, tmp_path: Path) -> None:
    assert run("graph", "export", tmp_path / "tables", "--root", root).exit_code == 0
    there = ("--root", tmp_path / "other", "--engine", "offline")
    assert run("graph", "import", tmp_path / "tables", *there).exit_code == 0
    asked = run("query", "Who wrote the first program?", "--method", "raptor", *there)
    assert (asked.exit_code, "building" in asked.stderr) == (1, False)
    assert "'tree'" in asked.stderr


def test_what_would_be_removed_is_named_and_stays(root: Path) -> None:
    told = json.loads(run("documents", "remove", "ada.txt", "--dry-run", "--json", "--root", root).stdout)
    assert told == {"schema": 1, "removed": ["ada.txt"], "dry_run": True}
    assert run("documents", "remove", "nobody.txt", "--dry-run", "--root", root).exit_code == 1
    assert json.loads(run("status", "--json", "--root", root).stdout)["documents"] == 1


def test_the_doctor_reports_on_the_installation_without_texts_and_names(root: Path) -> None:
    done = run("doctor", "--json", "--root", root)
    found = json.loads(done.stdout)
    lines = {line["asked"]: line for line in found["findings"]}
    assert {"sensegraph", "python", "encoding", "clock", "extras installed", "settings", "store"} <= set(lines)
    assert {"index", "free disk", "files in input/", "engine", "endpoint"} <= set(lines)
    assert (done.exit_code, found["fails"]) == (0, False)
    assert lines["store"]["answer"].startswith("whole")
    assert lines["files in input/"]["answer"] == "1 .txt; 0 not read"
    assert "ada" not in done.stdout.lower()


def test_the_doctor_finds_a_store_that_is_damaged_and_settings_that_are_wrong(tmp_path: Path) -> None:
    (tmp_path / ".sensegraph").mkdir()
    (tmp_path / ".sensegraph" / "store.sqlite").write_bytes(b"no database at all, but long enough to be looked at" * 9)
    found = json.loads(run("doctor", "--json", "--root", tmp_path).stdout)
    assert [line["asked"] for line in found["findings"] if line["fails"]] == ["store"]
    (tmp_path / "sensegraph.toml").write_text('engin = "offline"\n')
    said = run("doctor", "--root", tmp_path)
    assert said.exit_code == 1
    assert "unknown setting engin" in said.stdout


def test_a_setting_is_written_checked_and_read_again(tmp_path: Path) -> None:
    (tmp_path / "sensegraph.toml").write_text("# mine\n[index]\nchunk_tokens = 100 # few\n[model]\nclaims = true\n")
    for key, value in (
        ("index.chunk_tokens", "250"),
        ("index.clusters.seed", "4"),
        ("engine", "offline"),
        ("model.language", "42"),
    ):
        assert run("config", "set", key, value, "--root", tmp_path).exit_code == 0
    text = (tmp_path / "sensegraph.toml").read_text()
    settings = load_settings(tmp_path)
    assert (settings.index.chunk_tokens, settings.index.clusters.seed, settings.engine) == (250, 4, "offline")
    assert (settings.model.claims, settings.model.language) == (True, "42")
    assert "# mine" in text
    assert run("config", "check", "--root", tmp_path).stdout == "no mistake found\n"
    wrong = run("config", "set", "index.chunk_tokens", "many", "--root", tmp_path)
    assert (wrong.exit_code, (tmp_path / "sensegraph.toml").read_text()) == (1, text)
    assert run("config", "get", "index.chunk_toke", "--root", tmp_path).exit_code == 1


def test_every_mistake_in_the_settings_is_listed(tmp_path: Path) -> None:
    (tmp_path / "sensegraph.toml").write_text('engin = "x"\n[index]\nchunk_tokens = "many"\n')
    done = run("config", "check", "--json", "--root", tmp_path)
    problems = json.loads(done.stdout)["problems"]
    assert (done.exit_code, len(problems)) == (1, 2)
    assert "engin" in problems[0]
    assert "chunk_tokens" in problems[1]


def test_a_line_goes_where_its_setting_belongs() -> None:
    text = write_setting(settings_toml(), "index.clusters.seed", 3)
    assert tomllib.loads(text) == {"endpoint": {}, "model": {}, "documents": {}, "rerank": {}, "personal": {}} | {
        "index": {"resolve": {}, "clusters": {"seed": 3}, "temporal": {}}
    }
    assert "# seed = 0" not in text
    assert tomllib.loads(write_setting(text, "methods.bm25.k", 2))["methods"]["bm25"] == {"k": 2}
    with pytest.raises(SettingsError, match="by hand"):
        write_setting("index = {chunk_tokens = 1}\n", "index.chunk_tokens", 2)


def test_the_schema_names_every_setting_and_its_default() -> None:
    schema = json.loads(json.dumps(settings_schema()))
    defaults = list_defaults()
    assert set(COMMON) <= set(defaults)
    for name, value in defaults.items():
        place = schema
        for part in name.split("."):
            place = place["properties"][part]
        assert value is None or "default" in place, name
    assert schema["properties"]["index"]["properties"]["chunk_tokens"]["type"] == "integer"
    assert schema["properties"]["personal"]["properties"]["mask"]["enum"] == ["off", "report", "mask"]


def test_a_shell_completes_commands() -> None:
    assert "--install-completion" in run("--help").stdout
    for typed, wanted in (("ent", ["entities"]), ("entities dup", ["duplicates"])):
        words = f"root {typed}"
        asked = {"_ROOT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        completed = run(env=asked)
        assert completed.stdout.split() == wanted
        assert completed.stderr == ""
