"""Which approvals are needed for what files chose, of which files that is said, and where none is needed after all."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.corpus import settings as corpus_settings
from sensegraph.corpus import tools
from sensegraph.corpus.settings import (
    EmbeddingTable,
    ExecutorTable,
    RerankTable,
    Settings,
    StoreTable,
    _find_wanted,
    check_approved,
    read_headers,
    read_toml_tables,
)
from sensegraph.corpus.tools import make_asking_executor, make_executor
from sensegraph.engines.local.local_model import LocalSettings
from sensegraph.errors import SettingsError, Unapproved
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings

FAR, NEAR = "https://far.example/v1", "http://127.0.0.1:9/v1"
OWN = "MY_KEY"
HEADED = EndpointSettings(FAR, "m", headers={"x-a": "1", "x-b": "env:OTHER"})


def chosen(*names: str, **given: Any) -> Settings:
    return Settings(**given, foreign={name: f"{name.partition('.')[0]}.toml" for name in names})


@pytest.mark.parametrize(
    ("name", "settings", "wanted", "files", "free"),
    [
        ("local", chosen("local.model", local=LocalSettings("m")), ["model:m"], {"local.toml"}, True),
        ("local", chosen("embedding.folder", local=LocalSettings("m")), ["model:m"], set(), True),
        ("folder", chosen("embedding.folder", embedding=EmbeddingTable(folder="f")), ["model:f"], {"embedding.toml"},
         True),
        ("folder", chosen("local.model", embedding=EmbeddingTable(folder="f")), ["model:f"], set(), True),
        ("cross-encoder", chosen("rerank.model", rerank=RerankTable(model="r")), ["model:r"], {"rerank.toml"}, True),
        ("cross-encoder", chosen("embedding.folder", rerank=RerankTable(model="r")), ["model:r"], set(), True),
        ("cluster", chosen("executor.address", executor=ExecutorTable(address="ray://Far:1")), ["cluster:far:1"],
         {"executor.toml"}, True),
        ("cluster", chosen("executor.address"), [], set(), True),
        ("cluster", chosen(executor=ExecutorTable(address="ray://far:1")), [], set(), True),
        ("store", chosen("store.url", store=StoreTable(url="postgresql://h/d", arrays="s3://b")), ["store:"
         "postgresql://h/d"], {"store.toml"}, True),
        ("store", chosen("store.arrays", "store.replica", store=StoreTable(url="postgresql://h/d", arrays="s3://b/")),
         ["store:s3://b"], {"store.toml"}, True),
        ("store", chosen(store=StoreTable(url="postgresql://h/d")), [], set(), True),
        ("chat", chosen(endpoint=EndpointSettings(FAR, "m")), [], set(), True),
        ("chat", chosen("endpoint.base_url", endpoint=EndpointSettings(FAR, "m")), [FAR], {"endpoint.toml"}, True),
        ("chat", chosen("endpoint.api_key_env", endpoint=EndpointSettings(FAR, "m")), [], set(), True),
        ("chat", chosen("endpoint.api_key_env", endpoint=EndpointSettings(FAR, "m", api_key_env=OWN)),
         [f"{OWN}@{FAR}"], {"endpoint.toml"}, True),
        ("chat", chosen("endpoint.headers", endpoint=HEADED), [FAR, f"OTHER@{FAR}"], {"endpoint.toml"}, False),
        ("chat", chosen("endpoint.base_url", endpoint=HEADED), [FAR, f"OTHER@{FAR}"], {"endpoint.toml"}, True),
        ("embedding", chosen("endpoint.embedding_base_url", endpoint=EndpointSettings(FAR, embedding_base_url=NEAR)),
         [NEAR], {"endpoint.toml"}, True),
        ("embedding", chosen("endpoint.base_url", endpoint=EndpointSettings(FAR, "m", embedding_base_url=NEAR)),
         [], set(), True),
        ("rerank", chosen("endpoint.rerank_api_key_env", endpoint=EndpointSettings(FAR, "m", rerank_api_key_env=OWN)),
         [f"{OWN}@{FAR}"], {"endpoint.toml"}, True),
        ("rerank", chosen("endpoint.api_key_env", endpoint=EndpointSettings(FAR, "m", rerank_api_key_env=OWN)),
         [], set(), True),
    ],
)  # fmt: skip
def test_what_a_file_chose_needs_an_approval_of_where_things_go(
    name: Any, settings: Settings, wanted: list[str], files: set[str], free: bool
) -> None:
    found, by, needs_none = _find_wanted(settings, name)
    assert found == wanted
    assert (by, needs_none) == (files, free)


@pytest.mark.parametrize(
    ("name", "settings", "refused"),
    [
        ("cluster", chosen("executor.address", executor=ExecutorTable(address="ray://127.0.0.1:1")), False),
        ("cluster", chosen("executor.address", executor=ExecutorTable(address="ray://far.example:1")), True),
        (
            "cluster",
            chosen("executor.address", executor=ExecutorTable(address="ray://far.example:1"), trust=True),
            False,
        ),
        ("cluster", chosen(executor=ExecutorTable(address="ray://far.example:1")), False),
        ("store", chosen("store.url", store=StoreTable(url="postgresql://localhost/d")), False),
        ("store", chosen("store.url", store=StoreTable(url="postgresql://far.example/d")), True),
        ("chat", chosen("endpoint.base_url", endpoint=EndpointSettings(NEAR, "m")), False),
        ("chat", chosen("endpoint.base_url", endpoint=EndpointSettings(FAR, "m")), True),
        ("chat", chosen("endpoint.headers", endpoint=EndpointSettings(NEAR, "m", headers={"x-a": "1"})), True),
        ("chat", chosen("endpoint.base_url", endpoint=EndpointSettings(NEAR, "m", headers={"x-a": "1"})), False),
    ],
)
def test_what_stays_on_this_machine_needs_no_approval_unless_a_file_chose_headers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: Any, settings: Settings, refused: bool
) -> None:
    monkeypatch.setenv("SENSEGRAPH_TRUST", "")
    monkeypatch.setattr(corpus_settings, "locate_user_file", lambda: tmp_path / "none.toml")
    if not refused:
        check_approved(settings, name)
        check_approved(settings)
        return
    with pytest.raises(Unapproved):
        check_approved(settings, name)
    (wanted, *_), _, _ = _find_wanted(settings, name)
    monkeypatch.setenv("SENSEGRAPH_TRUST", f"https://other.example/v1, {wanted}")
    check_approved(settings, name)


def test_headers_hold_what_the_environment_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTHER", raising=False)
    with pytest.raises(SettingsError, match="names the environment variable OTHER: set it"):
        read_headers(HEADED)
    monkeypatch.setenv("OTHER", "secret")
    assert read_headers(HEADED) == {"x-a": "1", "x-b": "secret"}
    assert read_headers(EndpointSettings(FAR, "m")) == {}


@pytest.mark.parametrize("more", [0, 1])
def test_a_file_of_settings_is_read_up_to_a_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: int) -> None:
    path = tmp_path / "a.toml"
    path.write_text("a = 1\n")
    monkeypatch.setattr(corpus_settings, "_LONGEST", 6 - more)
    if more:
        with pytest.raises(SettingsError, match=r"a\.toml has more than 5 bytes"):
            read_toml_tables(path)
    else:
        assert read_toml_tables(path) == {"a": 1}
    assert read_toml_tables(tmp_path / "none.toml") == {}
    path.write_bytes(b"\xff")
    with pytest.raises(SettingsError, match="is not valid TOML"):
        read_toml_tables(path)


# ── what is made where it is approved ──


@pytest.mark.parametrize(("before", "after"), [(None, "0"), ("1", "1")])
def test_a_cluster_is_used_without_telling_anybody_unless_that_is_wanted(
    monkeypatch: pytest.MonkeyPatch, before: str | None, after: str
) -> None:
    name = "RAY_USAGE_STATS_ENABLED"
    monkeypatch.setenv(name, before or "")
    if before is None:
        monkeypatch.delenv(name)
    module = SimpleNamespace(RayExecutor=lambda *given: given)
    monkeypatch.setitem(sys.modules, "sensegraph.runtime.executors.ray", module)
    settings = Settings(executor=ExecutorTable(kind="ray", address="ray://far:1"), processes=3)
    made: Any = make_executor(settings)
    assert made == ("ray://far:1", settings.endpoint.concurrency, 3)
    assert os.environ[name] == after
    monkeypatch.setitem(sys.modules, "sensegraph.runtime.executors.ray", None)
    with pytest.raises(SettingsError, match=r'executor\.kind = ray needs the extra "distributed"'):
        make_executor(settings)
    with pytest.raises(Unapproved):
        make_executor(replace(settings, foreign={"executor.address": "a.toml"}))


def test_work_is_done_on_this_machine_or_by_what_another_package_brings(monkeypatch: pytest.MonkeyPatch) -> None:
    made: Any = make_executor(Settings(processes=3))
    assert (type(made).__name__, made.threads, made.processes) == ("LocalExecutor", Settings().endpoint.concurrency, 3)
    asking: Any = make_asking_executor(Settings(processes=3))
    assert (asking.threads, asking.processes) == (Settings().endpoint.concurrency, 1)
    monkeypatch.setattr(tools, "load_plugin", lambda kind, name: lambda **given: (kind, name, given))
    settings = Settings(executor=ExecutorTable(kind="own"), processes=3)
    given = {"threads": settings.endpoint.concurrency, "processes": 3}
    assert make_executor(settings) == ("executors", "own", given)  # type: ignore[comparison-overlap]
