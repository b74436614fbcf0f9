"""Which tools settings name: each approval that is needed, each choice of a tool, and what each of them lacks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sensegraph.corpus import settings as reading
from sensegraph.corpus import tools
from sensegraph.corpus.settings import Settings, convert_settings
from sensegraph.engines.llm.figure_task import FigureDescriber
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.errors import SettingsError
from sensegraph.models.batches.batch_box import BatchPlan
from sensegraph.models.endpoint.calls import Calls
from sensegraph.runtime.executors.processes import LocalExecutor

HERE = "http://127.0.0.1:9/v1"


def make(**given: Any) -> Settings:
    return convert_settings(given, Settings, "here")


@pytest.mark.parametrize(
    ("given", "needed"),
    [
        ({}, []),
        ({"engine": "offline"}, []),
        ({"endpoint": {"model": "m"}}, ["chat"]),
        ({"engine": "offline", "endpoint": {"model": "m", "embedding_model": "v"}}, []),
        ({"engine": "model"}, ["chat"]),
        ({"endpoint": {"embedding_model": "v"}}, ["embedding"]),
        ({"endpoint": {"embedding_model": "v"}, "embedding": {"folder": "f"}}, ["folder"]),
        ({"endpoint": {"embedding_model": "v"}, "embedder": "offline"}, []),
        ({"embedder": "endpoint"}, ["embedding"]),
        ({"embedder": "folder"}, ["folder"]),
        ({"embedder": "offline", "embedding": {"folder": "f"}}, []),
        ({"rerank": {"by": "endpoint"}}, ["rerank"]),
        ({"rerank": {"by": "folder"}}, ["cross-encoder"]),
        ({"rerank": {"by": "cross-encoder"}}, ["cross-encoder"]),
        ({"rerank": {"by": "engine"}}, []),
        ({"endpoint": {"vision_model": "s"}}, ["vision"]),
        ({"engine": "local"}, ["local"]),
        ({"store": {"url": "postgresql://db/x"}}, ["store"]),
        ({"executor": {"kind": "ray"}}, []),
        ({"executor": {"address": "ray://head:10001"}}, []),
        ({"executor": {"kind": "ray", "address": "ray://head:10001"}}, ["cluster"]),
        (
            {
                "engine": "local", "embedder": "endpoint", "rerank": {"by": "endpoint"},
                "endpoint": {"vision_model": "s"}, "store": {"url": "postgresql://db/x"},
            },
            ["embedding", "rerank", "vision", "local", "store"],
        ),
    ],
)  # fmt: skip
def test_settings_need_the_approvals_of_the_tools_that_they_name(given: dict[str, Any], needed: list[str]) -> None:
    assert list(tools.needed_approvals(make(**given))) == needed


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"engine": "model"}, "engine = model needs endpoint.model"),
        ({"embedder": "endpoint"}, "embedder = endpoint needs endpoint.embedding_model"),
        ({"embedder": "folder"}, "embedder = folder needs embedding.folder"),
        ({"engine": "local"}, "engine = local needs local.model"),
    ],
)
def test_a_tool_without_its_model_is_an_error_that_names_the_setting(given: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        tools.make_tools(make(**given))


@pytest.mark.parametrize(
    ("given", "own", "names"),
    [
        ({}, {}, ["ClassicalEngine", "HashedTerms"]),
        ({"engine": "model"}, {"engine": "mine"}, ["mine", "HashedTerms"]),
        ({"embedder": "endpoint"}, {"embedder": "mine"}, ["ClassicalEngine", "mine"]),
        ({"embedder": "folder"}, {"embedder": "mine"}, ["ClassicalEngine", "mine"]),
        ({"engine": "model", "embedder": "endpoint"}, {"engine": "one", "embedder": "two"}, ["one", "two"]),
        ({"endpoint": {"base_url": HERE, "model": "m"}}, {}, ["LLMEngine", "HashedTerms"]),
        ({"endpoint": {"base_url": HERE, "embedding_model": "v"}}, {}, ["ClassicalEngine", "RemoteEmbedder"]),
        ({"endpoint": {"base_url": HERE, "model": "m", "embedding_model": "v"}}, {}, ["LLMEngine", "RemoteEmbedder"]),
        ({"endpoint": {"base_url": HERE, "model": "m"}, "engine": "offline"}, {}, ["ClassicalEngine", "HashedTerms"]),
    ],
)
def test_what_is_given_is_taken_and_else_what_the_settings_name(
    given: dict[str, Any], own: dict[str, Any], names: list[str]
) -> None:
    made = tools.make_tools(make(**given), **own)
    assert [one if isinstance(one, str) else type(one).__name__ for one in made] == names


def find_endpoints(settings: Settings) -> list[Any]:
    """The endpoints of the engine and of the embedder."""
    made: Any = tools.make_tools(settings)
    return [tool.endpoint for tool in made]


def test_an_engine_and_vectors_of_one_server_share_one_budget() -> None:
    given = {"base_url": HERE, "model": "m", "embedding_model": "v"}
    engine, vectors = find_endpoints(make(endpoint=given))
    assert engine is vectors
    own = make(endpoint=given | {"embedding_base_url": "http://127.0.0.1:8/v1"})
    engine, vectors = find_endpoints(own)
    assert engine is not vectors
    assert engine._budget is vectors._budget
    one = make(endpoint={"base_url": HERE, "model": "m", "rerank_model": "m", "vision_model": "s"})
    chat = tools.make_endpoint(one)
    assert tools.make_endpoint(one, None, "chat", [chat]) is chat
    assert tools.make_endpoint(one, None, "rerank", [chat]) is chat
    assert tools.make_endpoint(one, None, "vision", [chat]) is not chat
    assert tools.make_endpoint(one) is not chat


def test_a_key_that_is_missing_is_an_error_where_somebody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY_HERE", raising=False)
    far = make(endpoint={"base_url": "https://far.example/v1", "model": "m", "api_key_env": "NO_SUCH_KEY_HERE"})
    with pytest.raises(SettingsError, match="NO_SUCH_KEY_HERE"):
        tools.make_endpoint(far)


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ({"by": "none", "top": 0}, None),
        ({"by": "engine", "top": 1}, "EngineReranker"),
        ({"by": "endpoint", "top": 7}, "EndpointReranker"),
    ],
)
def test_a_reranker_is_made_as_the_settings_name_it(given: dict[str, Any], made: str | None) -> None:
    settings = make(rerank=given, endpoint={"base_url": HERE, "model": "m", "rerank_model": "r"})
    found = tools.make_reranker(settings, tools.make_tools(settings))
    assert (type(found).__name__ if found else None) == made
    if found:
        assert found.top == given["top"]


@pytest.mark.parametrize("by", ["engine", "endpoint", "folder", "cross-encoder"])
def test_a_reranker_of_nothing_is_an_error(by: str) -> None:
    settings = make(rerank={"by": by, "top": 0, "model": "m"})
    with pytest.raises(SettingsError, match=r"rerank\.top must be at least 1, not 0"):
        tools.make_reranker(settings, tools.make_tools(settings))


def test_a_reranker_of_an_endpoint_needs_its_model() -> None:
    settings = make(rerank={"by": "endpoint"})
    with pytest.raises(SettingsError, match=r"needs endpoint\.rerank_model"):
        tools.make_reranker(settings, tools.make_tools(settings))


def test_images_are_described_only_where_a_model_that_sees_is_named() -> None:
    blind, sees = make(endpoint={"base_url": HERE}), make(endpoint={"base_url": HERE, "vision_model": "s"})
    assert tools.make_describer(blind, tools.make_tools(blind), None) is None
    assert isinstance(tools.make_describer(sees, tools.make_tools(sees), None), FigureDescriber)


def test_what_is_not_usual_of_the_engine_by_rules_is_told_to_it(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("Orbis Ltd,company\n", encoding="utf-8")
    plain: Any = tools.make_tools(make())[0]
    named: Any = tools.make_tools(make(offline={"names_file": str(tmp_path / "names.txt")}))[0]
    assert isinstance(plain, ClassicalEngine)
    assert (plain.named, plain.chinese) == ((), Settings().offline.chinese)
    assert named.named == (("Orbis Ltd", "company"),)


@pytest.mark.parametrize("left", [False, True])
def test_batches_need_a_model_behind_an_endpoint(tmp_path: Path, left: bool) -> None:
    offline, batch = make(), make(endpoint={"batch": True})
    engine = ClassicalEngine()
    if left:
        (tmp_path / "batches").mkdir()
    assert tools.make_batch_box(offline, engine, tmp_path, None, lambda *_: None) is None
    for settings, plan in ((batch, None), (offline, BatchPlan()), (batch, BatchPlan())):
        with pytest.raises(SettingsError, match="Batches need a model behind an endpoint"):
            tools.make_batch_box(settings, engine, tmp_path, plan, lambda *_: None)


def test_batches_are_made_where_they_are_set_planned_or_left_behind(tmp_path: Path) -> None:
    table = {"base_url": HERE, "model": "m"}
    plain, batch = make(endpoint=table), make(endpoint=table | {"batch": True})
    engine: Any = tools.make_tools(plain)[0]
    assert isinstance(engine.endpoint.calls, Calls)
    assert tools.make_batch_box(plain, engine, tmp_path, None, lambda *_: None) is None
    made = tools.make_batch_box(batch, engine, tmp_path, None, lambda *_: None)
    assert made
    assert made.plan == BatchPlan()
    plan = BatchPlan()
    planned = tools.make_batch_box(plain, engine, tmp_path, plan, lambda *_: None)
    assert planned
    assert planned.plan is plan
    (tmp_path / "batches").mkdir(exist_ok=True)
    assert tools.make_batch_box(plain, engine, tmp_path, None, lambda *_: None) is not None


@pytest.mark.parametrize("name", ["arrays", "replica"])
def test_what_is_of_a_database_is_an_error_without_one(name: str, tmp_path: Path) -> None:
    value = {"arrays": "s3://bucket/x", "replica": "postgresql://other/x"}[name]
    with pytest.raises(SettingsError, match=rf"store\.{name} is for a corpus in a database"):
        tools.place_store(make(store={name: value}), tmp_path)
    inside = make(store={name: value, "url": "postgresql://db/x"})
    assert tools.place_store(inside, tmp_path)
    assert tools.keep_in_folder(inside).store == replace(inside.store, url="", replica="", arrays="")


def test_there_is_a_store_of_a_plug_in_where_there_is_its_folder(tmp_path: Path) -> None:
    own = make()
    plugged = replace(own, store=replace(own.store, kind="elsewhere"))
    assert not tools.has_store(own, tmp_path)
    assert tools.has_store(plugged, tmp_path)
    assert not tools.has_store(plugged, tmp_path / "gone")


def test_questions_are_asked_in_threads_of_this_process() -> None:
    found: Any = tools.make_asking_executor(make(processes=3, endpoint={"concurrency": 5}))
    build: Any = tools.make_executor(make(processes=3, endpoint={"concurrency": 5}))
    assert isinstance(found, LocalExecutor)
    assert isinstance(build, LocalExecutor)
    assert (found.processes, build.processes) == (1, 3)


def test_a_chunker_is_a_plug_in_unless_it_cuts_windows() -> None:
    own = make()
    assert tools.make_chunker(own) is None
    with pytest.raises(SettingsError, match="nobodys"):
        tools.make_chunker(replace(own, chunker="nobodys"))


# ── the environment and files of settings ──


def test_the_folder_for_what_can_be_fetched_again_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/far/cache")
    assert reading.locate_caches() == Path("/far/cache/sensegraph")
    for value in ("", "near"):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert reading.locate_caches() == Path.home() / ".cache" / "sensegraph"


def test_the_folder_of_a_corpus_in_a_database_is_named_after_its_address(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    folder, settings = reading.open_settings("postgresql://Me@db.example:5433/Texts", {"engine": "offline"}, ())
    assert folder.parent == tmp_path / "sensegraph"
    assert folder.name == "db-example-5433-texts-schema-sensegraph"
    assert settings.store.url == "postgresql://Me@db.example:5433/Texts"
    assert settings.engine == "offline"
    monkeypatch.setenv("XDG_DATA_HOME", "near")
    assert reading.open_settings("postgresql://db/x", None, ())[0].parent == Path.home() / ".local/share/sensegraph"
    assert reading.open_settings(tmp_path, None, ())[0] == tmp_path
    with pytest.raises(SettingsError, match="settings is a table"):
        reading.open_settings(tmp_path, "offline", ())  # type: ignore[arg-type]


def test_headers_take_what_the_environment_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCOUNT_HERE", "seven")
    table = make(endpoint={"headers": {"X-Plain": "one", "X-Account": "env:ACCOUNT_HERE"}}).endpoint
    assert reading.read_headers(table) == {"X-Plain": "one", "X-Account": "seven"}
    for value in (None, ""):
        if value is None:
            monkeypatch.delenv("ACCOUNT_HERE")
        else:
            monkeypatch.setenv("ACCOUNT_HERE", value)
        with pytest.raises(SettingsError, match="ACCOUNT_HERE: set it"):
            reading.read_headers(table)


def test_a_file_of_settings_is_read_up_to_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    assert reading.read_toml_tables(path) == {}
    path.write_text('[endpoint]\nmodel = "m"\n', encoding="utf-8")
    assert reading.read_toml_tables(path) == {"endpoint": {"model": "m"}}
    bound = 100_000
    path.write_bytes(b'a = "b"\n'.ljust(bound, b"\n"))
    assert reading.read_toml_tables(path) == {"a": "b"}
    path.write_bytes(b'a = "b"\n'.ljust(bound + 1, b"\n"))
    with pytest.raises(SettingsError, match="more than 100,000 bytes"):
        reading.read_toml_tables(path)
    for raw in (b"[endpoint", b'a = "\xff"'):
        path.write_bytes(raw)
        with pytest.raises(SettingsError, match="is not valid TOML"):
            reading.read_toml_tables(path)


def test_files_and_folders_in_a_settings_file_are_meant_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "ranks").mkdir()
    (tmp_path / "vectors").mkdir()
    tables: dict[str, dict[str, str]] = {
        "model": {"prompts": "own", "trained_prompt": "trained.txt"},
        "offline": {"names_file": "names.txt"}, "rerank": {"model": "ranks"}, "embedding": {"folder": "vectors"},
        "store": {"cache": "kept"},
    }  # fmt: skip
    lines = [f"[{name}]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in t.items()) for name, t in tables.items()]
    (tmp_path / reading.FILE).write_text("\n".join(lines), encoding="utf-8")

    def show(found: Settings) -> list[str]:
        values = (
            found.model.prompts, found.model.trained_prompt, found.offline.names_file, found.rerank.model,
            found.embedding.folder, found.store.cache,
        )  # fmt: skip
        return [str(value).replace(f"{tmp_path}/", "~/") for value in values]

    below = ["~/own", "~/trained.txt", "~/names.txt", "~/ranks", "~/vectors", "~/kept"]
    assert show(reading.load_settings(tmp_path)) == below
    (tmp_path / "ranks").rmdir()
    (tmp_path / "vectors").rmdir()
    assert show(reading.load_settings(tmp_path)) == [*below[:3], "ranks", "vectors", below[5]]
    (tmp_path / reading.FILE).unlink()
    plain = reading.load_settings(tmp_path)
    assert (plain.model, plain.offline, plain.store, plain.rerank) == (
        Settings().model, Settings().offline, Settings().store, Settings().rerank,
    )  # fmt: skip
