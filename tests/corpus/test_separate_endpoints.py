"""Chat, embeddings and reranking at addresses of their own, with keys and headers that go nowhere else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from scripted_vendors import Asked, Request, VendorServer
from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.settings import Settings, load_settings
from sensegraph.corpus.tools import make_reranker, make_tools
from sensegraph.errors import BudgetExceeded, SettingsError, Unapproved
from sensegraph.models.endpoint.endpoint_settings import USUAL, EndpointSettings, address_purpose
from wired import settings, stories

FAR = "https://far.example/v1"
KEYS = {"CHAT_KEY": "key-of-the-chat", "VECTOR_KEY": "key-of-vectors", "RANK_KEY": "key-of-ranks", USUAL: "key-usual"}
GATEWAY = "pass-for-the-gateway"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SENSEGRAPH_TRUST", raising=False)
    for name, value in {**KEYS, "GATEWAY": GATEWAY}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def server() -> Iterator[VendorServer]:
    with VendorServer({"chat": Asked.calm, "vectors": Asked.calm, "ranks": Asked.calm}) as made:
        yield made


def three(server: VendorServer) -> dict[str, Any]:
    """Settings with an address and a key for each purpose."""
    return {
        "base_url": server.url("chat"),
        "api_key_env": "CHAT_KEY",
        "embedding_base_url": server.url("vectors"),
        "embedding_api_key_env": "VECTOR_KEY",
        "rerank_base_url": server.url("ranks"),
        "rerank_api_key_env": "RANK_KEY",
        "rerank_model": "ranks",
        "headers": {"X-Team": "harbour", "X-Gateway-Key": "env:GATEWAY"},
    }


def seen(requests: list[Request]) -> tuple[set[str], set[str]]:
    """The last parts of the paths that were asked, and the keys that came."""
    assert requests
    return {r.path.rpartition("/")[2] for r in requests}, {r.headers["authorization"] for r in requests}


def test_each_purpose_has_its_address_its_key_and_its_headers(server: VendorServer, tmp_path: Path) -> None:
    given = settings(server.url("chat"), endpoint=three(server), rerank={"by": "endpoint"})
    with Corpus.open(tmp_path, settings=given) as made:
        made.add(stories(3))
        made.build()
        assert made.query("What did Ada Harrow do?", method="naive").text
        assert made.status().ledger
    assert seen(server.requests("chat")) == ({"completions"}, {"Bearer key-of-the-chat"})
    assert seen(server.requests("vectors")) == ({"embeddings"}, {"Bearer key-of-vectors"})
    assert seen(server.requests("ranks")) == ({"rerank"}, {"Bearer key-of-ranks"})
    held = [r.headers for r in server.requests("chat")]
    assert all((h["x-team"], h["x-gateway-key"]) == ("harbour", GATEWAY) for h in held)
    elsewhere = [r.headers for name in ("vectors", "ranks") for r in server.requests(name)]
    assert not any(GATEWAY in str(h) or "harbour" in str(h) for h in elsewhere)


def test_where_nothing_is_said_all_share_one_endpoint(server: VendorServer) -> None:
    table = EndpointSettings(base_url=server.url("chat"), model="m", embedding_model="e", rerank_model="r")
    engine, embedder = make_tools(Settings(endpoint=table))
    assert address_purpose(table, "embedding") is table
    assert engine.endpoint is embedder.endpoint  # type: ignore[attr-defined]


def test_an_address_of_its_own_gets_the_usual_key_and_not_that_of_the_chat() -> None:
    table = EndpointSettings(base_url=FAR, api_key_env="CHAT_KEY", embedding_base_url="https://other.example/v1")
    assert address_purpose(table, "embedding").api_key_env == USUAL
    assert address_purpose(table, "rerank").api_key_env == "CHAT_KEY"


def test_endpoints_apart_share_one_budget(server: VendorServer, tmp_path: Path) -> None:
    given = settings(server.url("chat"), endpoint=three(server) | {"max_tokens_total": 9000})
    with Corpus.open(tmp_path, settings=given) as made:
        made.add(stories(6))
        with pytest.raises(BudgetExceeded):
            made.build()
    assert len(server.requests("chat")) > 1


# ── what a file may not do ──


def written(folder: Path, endpoint: Mapping[str, Any], headers: Mapping[str, str], more: str = "") -> Path:
    """A folder of somebody else, with its settings file."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f'{name} = "{value}"' for name, value in endpoint.items()]
    lines += ["[endpoint.headers]", *(f'{name} = "{value}"' for name, value in headers.items())]
    (folder / "sensegraph.toml").write_text("\n".join([more, "[endpoint]", *lines]))
    return folder


def wanted_of(loaded: Settings) -> str:
    """What is not approved of what these settings choose; empty where tools are made."""
    try:
        make_reranker(loaded, make_tools(loaded))
    except Unapproved as e:
        return e.wanted
    return ""


OPENAI, HERE = "https://api.openai.com/v1", "http://localhost:8000/v1"


@pytest.mark.parametrize(
    ("endpoint", "given", "wanted"),
    [
        ({"embedding_base_url": FAR}, {}, FAR),
        ({"embedding_base_url": HERE}, {}, ""),
        ({"embedding_base_url": HERE, "embedding_api_key_env": "GATEWAY"}, {}, f"GATEWAY@{HERE}"),
        ({"embedding_api_key_env": "GATEWAY"}, {}, f"GATEWAY@{OPENAI}"),
        ({"embedding_api_key_env": "GATEWAY"}, {"embedding_base_url": HERE}, f"GATEWAY@{HERE}"),
        ({"embedding_base_url": HERE}, {"embedding_api_key_env": "GATEWAY"}, f"GATEWAY@{HERE}"),
        ({"embedding_base_url": FAR}, {"embedding_base_url": HERE}, ""),
        ({"rerank_base_url": FAR}, {}, FAR),
        ({"rerank_base_url": FAR, "rerank_api_key_env": "GATEWAY"}, {}, f"GATEWAY@{FAR}"),
        ({"rerank_api_key_env": "GATEWAY"}, {}, f"GATEWAY@{OPENAI}"),
        ({"base_url": FAR}, {"embedding_base_url": HERE, "rerank_base_url": HERE}, FAR),
    ],
)
def test_addresses_and_variables_of_each_purpose_need_an_approval_where_a_file_chose_them(
    endpoint: dict[str, str], given: dict[str, str], wanted: str, tmp_path: Path
) -> None:
    models = {"model": "m", "embedding_model": "e", "rerank_model": "r"}
    root = written(tmp_path / "x", models | endpoint, {}, '[rerank]\nby = "endpoint"')
    assert wanted_of(load_settings(root, {"endpoint": given})) == wanted


@pytest.mark.parametrize(
    ("endpoint", "headers", "given", "wanted"),
    [
        ({}, {"X-Gateway-Key": "env:GATEWAY"}, {}, OPENAI),
        ({"base_url": HERE}, {"X-Team": "harbour"}, {}, HERE),
        ({"base_url": HERE}, {}, {"X-Gateway-Key": "env:GATEWAY"}, f"GATEWAY@{HERE}"),
        ({}, {"X-Other": "env:GATEWAY"}, {"X-Team": "harbour"}, OPENAI),
        ({}, {"X-Team": "env:GATEWAY"}, {"X-Team": "harbour"}, ""),
        ({}, {}, {"X-Gateway-Key": "env:GATEWAY"}, ""),
    ],
)
def test_headers_of_a_file_need_an_approval_and_those_of_the_user_none(
    endpoint: dict[str, str], headers: dict[str, str], given: dict[str, str], wanted: str, tmp_path: Path
) -> None:
    root = written(tmp_path / "x", {"model": "m"} | endpoint, headers)
    assert wanted_of(load_settings(root, {"endpoint": {"headers": given}})) == wanted


def test_a_variable_in_a_header_of_a_file_is_approved_for_its_address_alone(
    server: VendorServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.url("chat")
    root = written(tmp_path / "x", {"model": "m", "base_url": url}, {"X-Pass": "env:GATEWAY"})
    monkeypatch.setenv("SENSEGRAPH_TRUST", url)
    assert wanted_of(load_settings(root)) == f"GATEWAY@{url}"
    assert not server.read
    monkeypatch.setenv("SENSEGRAPH_TRUST", f"{url},GATEWAY@{url}")
    with Corpus.open(root, settings={"index": {"chunk_tokens": 120}}) as made:
        made.add(stories(1))
        made.build()
    assert {r.headers["x-pass"] for r in server.requests("chat")} == {GATEWAY}


def test_init_approves_each_address_that_the_user_gives_it(tmp_path: Path) -> None:
    given = {"base_url": FAR, "model": "m", "embedding_model": "e", "embedding_base_url": "https://v.example/v1"}
    given |= {"embedding_api_key_env": "VECTOR_KEY"}
    flags = [f"--set=endpoint.{name}={json.dumps(value)}" for name, value in given.items()]
    done = CliRunner().invoke(app, ["init", "--root", str(tmp_path / "x"), *flags])
    assert done.exit_code == 0
    assert f"approved {FAR} in" in done.output
    assert "approved VECTOR_KEY@https://v.example/v1 in" in done.output
    assert wanted_of(load_settings(tmp_path / "x")) == ""


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({"Authorization": "Bearer mine"}, "holds a secret"),
        ({"X-Api-Key": "abc"}, "holds a secret"),
        ({"Host": "evil.example"}, "cannot be set"),
        ({"X Y": "z"}, "cannot be set"),
        ({"X-A": "a\r\nHost: b"}, "cannot be set"),
        ({"X-A": "env:A-B"}, "must name a variable"),
        ({"X-A": "env:NOT_SET"}, "NOT_SET: set it"),
    ],
)
def test_a_header_that_cannot_be_is_refused_by_name(headers: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        make_tools(Settings(endpoint=EndpointSettings(base_url=HERE, model="m", headers=headers)))


def test_what_headers_hold_is_in_no_message(server: VendorServer) -> None:
    table = EndpointSettings(base_url=HERE, model="m", headers={"X-Pass": "env:GATEWAY"})
    assert GATEWAY not in repr(table)
    engine, _ = make_tools(Settings(endpoint=table))
    error = engine.endpoint.calls.clean(f"bad pass {GATEWAY}")  # type: ignore[attr-defined]
    assert error == "bad pass ***"
