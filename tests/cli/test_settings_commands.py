"""The commands of `config`, where each setting is from, and what of a corpus and of a paper is told line by line."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from sensegraph.cli import app, show, variables
from sensegraph.cli.options import CommandRun, Limit, Root, with_options
from sensegraph.cli.template import (
    describe_field_type,
    flatten_tables,
    format_toml,
    list_defaults,
    list_settings_tables,
    methods_markdown,
    settings_markdown,
    settings_schema,
    settings_toml,
    write_setting,
)
from sensegraph.cli.variables import tables_of_variables
from sensegraph.corpus.presets import Choice, Preset
from sensegraph.corpus.settings import Settings
from sensegraph.corpus.workspace import Status
from sensegraph.errors import SettingsError
from sensegraph.index.manifest import LeftOut
from sensegraph.personal.personal_settings import PersonalSettings

PAGES = Path(__file__).parents[2] / "docs"


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Result]:
    """A command over a folder with settings of its own, and some in the environment."""
    (tmp_path / "sensegraph.toml").write_text(
        'engine = "offline"\n[index]\nchunk_tokens = 250\nchunk_overlap = 60\n[personal]\nmask = "off"\n'
        '[endpoint]\nbase_url = "http://me:secret@127.0.0.1:1/v1"\n'
    )
    env = {"SENSEGRAPH_INDEX__CHUNK_TOKENS": "300", "SENSEGRAPH_METHOD": "naive", "SENSEGRAPH_OTHER": "x"}

    def invoke(*words: object) -> Result:
        given = ["config", *map(str, words), "--root", str(tmp_path)]
        return CliRunner().invoke(app, given, env=env)  # type: ignore[return-value]

    return invoke


def test_settings_that_differ_are_shown_with_where_they_are_from(run: Callable[..., Result]) -> None:
    usual = list_defaults()
    assert (usual["index.chunk_overlap"], usual["engine"], usual["personal.mask"]) != (60, "offline", "mask")
    lines = run("show", "--set", "index.chunk_tokens=400").stdout.splitlines()
    told = dict(line.split(maxsplit=1) for line in lines)
    assert told["engine"].split(maxsplit=1) == ['"offline"', "the settings file"]
    assert told["index.chunk_tokens"].split() == ["400", "--set"]
    assert told["method"].split() == ['"naive"', "the", "environment"]
    assert "secret" not in "\n".join(lines)
    assert "personal.mask" not in told or usual["personal.mask"] != "off"
    assert run("show").stdout.splitlines() != lines
    usual_again = run("show", "--set", f"index.chunk_tokens={usual['index.chunk_tokens']}").stdout
    assert "index.chunk_tokens" not in usual_again
    assert run("show", "--limit", 1).stdout.splitlines()[1].startswith("… and ")
    every = json.loads(run("show", "--all", "--json").stdout)["settings"]
    assert set(usual) <= set(every)
    assert every["index.clusters.seed"] == {"value": usual["index.clusters.seed"], "from": "default"}
    assert every["index.chunk_tokens"] == {"value": 300, "from": "the environment"}


def test_without_a_setting_every_one_has_its_default(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["config", "show", "--root", str(tmp_path)])
    assert done.stdout == "every setting has its default\n"
    every = CliRunner().invoke(app, ["config", "show", "--all", "--root", str(tmp_path)]).stdout.splitlines()
    assert len(every) == len(list_defaults())
    assert any(line.split()[1:3] == ["not", "set"] for line in every)


def test_one_setting_is_printed_bare_and_a_table_with_its_names(run: Callable[..., Result]) -> None:
    assert run("get", "engine").stdout == "offline\n"
    assert run("get", "index.chunk_tokens").stdout == "300\n"
    assert run("get", "index.chunk_tokens", "--set", "index.chunk_tokens=700").stdout == "700\n"
    unset = next(name for name, value in list_defaults().items() if value is None)
    assert run("get", unset).stdout == "not set\n"
    clusters = run("get", "index.clusters").stdout.splitlines()
    assert clusters == [
        f"{name} = {'not set' if value is None else format_toml(value)}"
        for name, value in list_defaults().items()
        if name.startswith("index.clusters.")
    ]
    assert len(clusters) > 3
    assert json.loads(run("get", "engine", "--json").stdout) == {"schema": 1, "settings": {"engine": "offline"}}
    assert run("get", "engin").stderr.count("did you mean") == 1
    assert run("get", "personal.patterns").stderr == "personal.patterns is not set.\n"


def test_a_new_file_is_written_for_the_first_setting(tmp_path: Path) -> None:
    root = tmp_path / "new"
    done = CliRunner().invoke(app, ["config", "set", "engine", "offline", "--root", str(root)])
    assert done.stdout == f"wrote engine to {root / 'sensegraph.toml'}\n"
    text = (root / "sensegraph.toml").read_text()
    assert tomllib.loads(text)["engine"] == "offline"
    assert len(text.splitlines()) == len(settings_toml().splitlines())
    told = CliRunner().invoke(app, ["config", "set", "endpoint.model", "7", "--root", str(root), "--json"]).stdout
    assert (json.loads(told)["key"], json.loads(told)["value"]) == ("endpoint.model", "7")


def test_mistakes_and_what_has_to_be_approved_are_told_apart(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def check(text: str) -> tuple[int, list[str]]:
        (tmp_path / "sensegraph.toml").write_text(text)
        done = CliRunner().invoke(app, ["config", "check", "--root", str(tmp_path)])
        return done.exit_code, done.stdout.splitlines()

    assert check("") == (0, ["no mistake found"])
    status, lines = check('[endpoint]\nbase_url = "https://example.org/v1"\nmodel = "m"\n')
    assert (status, len(lines)) == (0, 1)
    assert lines[0].startswith("- ")
    status, lines = check("[endpoint\n")
    assert (status, len(lines)) == (1, 1)
    assert "sensegraph.toml" in lines[0]
    status, lines = check('engin = "x"\n[endpoint]\nbase_url = "https://example.org/v1"\nmodel = "m"\n')
    assert (status, len(lines)) == (1, 1)
    assert str(tmp_path / "sensegraph.toml") in lines[0]


# ── settings as text ──


def test_the_pages_of_settings_and_methods_are_those_of_the_classes() -> None:
    assert (PAGES / "settings.md").read_text("utf-8").endswith(settings_markdown())
    assert (PAGES / "methods.md").read_text("utf-8").endswith(methods_markdown())


def test_the_schema_says_of_each_table_what_else_it_may_hold() -> None:
    schema = settings_schema()
    for name, kind, values in list_settings_tables():
        place = schema
        for part in name.split(".") if name else ():
            place = place["properties"][part]
        assert (place["type"], place["additionalProperties"]) == ("object", False)
        assert place["description"]
        assert set(values) <= set(place["properties"])
        assert len(describe_field_type(kind, next(iter(values)))) > 0 if values else True
    personal = schema["properties"]["personal"]["properties"]
    assert personal["patterns"] == {"type": "object"}
    assert personal["mask"]["default"] == PersonalSettings().mask
    assert schema["properties"]["engine"]["examples"][0] == "auto"
    assert schema["properties"]["methods"]["type"] == "object"
    assert schema["title"] == "sensegraph.toml"
    assert {"trust", "part_settings", "part_objects"}.isdisjoint(schema["properties"])


@pytest.mark.parametrize(
    ("text", "key", "value", "made"),
    [
        ("", "engine", "offline", 'engine = "offline"\n'),
        ("# engine = 1\nx = 1\n", "engine", "a", 'engine = "a"\nx = 1\n'),
        ('engine = "b" # mine\n', "engine", "a", 'engine = "a"\n'),
        ("[t]\na = 1\n", "t.b", 2, "[t]\nb = 2\na = 1\n"),
        ("[t] # x\na = 1\n[u]\nb = 1\n", "t.b", 2, "[t] # x\nb = 2\na = 1\n[u]\nb = 1\n"),
        ("[u]\nb = 1\n[t]\n# b = 7\n[v]\n# b = 8\n", "t.b", 2, "[u]\nb = 1\n[t]\nb = 2\n[v]\n# b = 8\n"),
        ("a = 1\n\n\n", "t.b", 2, "a = 1\n\n[t]\nb = 2\n"),
        ("[t]\nb = [\n  1,\n]\n", "t.c", 2, "[t]\nc = 2\nb = [\n  1,\n]\n"),
        ("[t.u]\na = 1\n", "t.b", 2, "[t.u]\na = 1\n\n[t]\nb = 2\n"),
        ('[t]\ns = """\nb = 1\n"""\n', "t.b", 2, '[t]\nb = 2\ns = """\nb = 1\n"""\n'),
    ],
)
def test_a_setting_is_written_where_it_belongs(text: str, key: str, value: Any, made: str) -> None:
    assert write_setting(text, key, value) == made


def test_a_setting_in_a_table_on_one_line_is_left_to_its_writer() -> None:
    for text in ("t = {a = 1}\n", "t.a = 1\n[t.b]\n"):
        with pytest.raises(SettingsError, match=r"write b = 2 into it by hand"):
            write_setting(text, "t.b", 2)


def test_nested_tables_are_flattened_under_dotted_names() -> None:
    assert list(flatten_tables({"a": {"b": {"c": 1}, "d": [2]}, "e": {}, "f": None})) == [
        ("a.b.c", 1), ("a.d", [2]), ("f", None),
    ]  # fmt: skip


def test_variables_of_the_environment_are_settings_where_their_names_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[Any] = []

    def parse(text: str) -> Any:
        return text if text == "offline" else int(text)

    given = {
        "SENSEGRAPH_INDEX__CHUNK_TOKENS": "300",
        "SENSEGRAPH_INDEX__CLUSTERS__SEED": "4",
        "SENSEGRAPH_ENGINE": "offline",
        "SENSEGRAPH_METHOD": "3x",
        "SENSEGRAPH_ROOT": "/x",
        "SENSEGRAPH_TRUST": "1",
        "OTHER_INDEX__CHUNK_TOKENS": "1",
        "sensegraph_engine": "x",
    }
    tables = {"engine": "offline", "method": "3x", "index": {"chunk_tokens": 300, "clusters": {"seed": 4}}}
    monkeypatch.setattr(variables, "convert_settings", lambda found, kind, where: checked.append((found, where)))
    assert tables_of_variables(given, parse) == tables
    assert checked == [(tables, "environment")]
    monkeypatch.undo()
    with pytest.raises(SettingsError, match="environment"):
        tables_of_variables({"SENSEGRAPH_INDEX__CHUNK_TOKEN": "1"}, parse)
    assert tables_of_variables({}, parse) == {}
    assert Settings().engine == "auto"


# ── what is told line by line ──


def test_what_could_not_be_read_or_written_is_told_with_where_and_why(tmp_path: Path) -> None:
    left = (
        LeftOut("a.txt", 5, 90, "declined", "it  was\nrefused"),
        LeftOut("b.txt", 0, 9, "form", "cut", partial=True),
        LeftOut("c.txt", 1, 2, "declined", "no", what="report", name="The  harbour"),
        LeftOut("", 0, 0, "declined", "never", what="summary", name="Ada"),
    )
    status = Status(1, 1, {}, (), "llm", "remote", {}, (), 100_000, left)
    assert show.format_status(status, tmp_path).splitlines()[2:] == [
        "communities none (by depth, from the root)",
        "engine      llm",
        "embedder    remote",
        "not read    a.txt 5–90: it was refused",
        "cut off     b.txt 0–9: cut",
        "not written report of The harbour (c.txt 1–2): no",
        "not written summary of Ada: never",
        f"            sensegraph index --retry --root {tmp_path} asks again",
        "on disk     0.1 MB",
    ]


def test_a_preset_is_shown_beside_ours_and_what_cannot_be_set_below() -> None:
    choices = (
        Choice("chunks", 600, "page 3", "index.chunk_tokens", 600),
        Choice("seed", 7, "code", "index.clusters.seed", 42),
        Choice("model", "GPT-4", "page 4", why="it is no setting"),
    )
    found = Preset("p", "Paper et al.", "http://x", ("q",), choices)
    assert show.format_preset(found, str).splitlines() == [
        "Paper et al.: http://x",
        "",
        "        setting              the paper's  ours      where the paper's is said",
        "chunks  index.chunk_tokens   600          the same  page 3",
        "seed    index.clusters.seed  7            42        code",
        "",
        "not set:",
        "- model: GPT-4 (page 4). Here: it is no setting.",
    ]


SEEN: list[Any] = []


def command(run: CommandRun, own: int, root: Root = Path("usual"), *, other: str = "o", limit: Limit = 3) -> None:
    SEEN.append((run, own, root, other, limit))


def test_options_of_a_command_stand_in_the_order_that_is_said() -> None:
    made: Any = with_options("limit * as_json quiet")(command)
    assert list(signature(made).parameters) == ["limit", "own", "other", "as_json", "quiet"]
    assert signature(made).parameters["limit"].default == 3
    assert {p.kind for p in signature(made).parameters.values()} == {Parameter.KEYWORD_ONLY}
    made(own=1, other="x", limit=2, as_json=True, quiet=False)
    assert SEEN.pop() == (CommandRun(as_json=True), 1, Path("usual"), "x", 2)
