"""Where a model is: what is an address, which machine it names, and what is used where nothing is set."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from sensegraph.errors import SettingsError
from sensegraph.models.endpoint.endpoint_settings import (
    EndpointSettings,
    address_of,
    approval_of,
    approval_of_model,
    check_endpoint,
    find_user_file,
    is_address,
    is_approved,
    is_this_machine,
    needs_no_approval,
    read_approvals,
    record_approval,
    refuse_unapproved,
)


def test_what_is_used_where_nothing_is_set_can_be_used() -> None:
    check_endpoint(EndpointSettings(), "sk-0123")
    assert asdict(EndpointSettings()) == {
        "base_url": "https://api.openai.com/v1",
        "model": "",
        "embedding_model": "",
        "rerank_model": "",
        "api_key_env": "OPENAI_API_KEY",
        "temperature": 0.0,
        "seed": None,
        "thoughts": "auto",
        "window": 0,
        "extra_body": {},
        "headers": {},
        "auth": "bearer",
        "concurrency": 16,
        "requests_per_minute": 0,
        "tokens_per_minute": 0,
        "first_byte_s": 600.0,
        "silence_s": 120.0,
        "timeout_s": 14400.0,
        "max_retries": 6,
        "backoff_s": 0.5,
        "embedding_query_prefix": "auto",
        "embedding_document_prefix": "auto",
        "embedding_batch": 64,
        "embedding_dimensions": 0,
        "embedding_base_url": "",
        "embedding_api_key_env": "",
        "rerank_base_url": "",
        "rerank_api_key_env": "",
        "vision_model": "",
        "vision_base_url": "",
        "vision_api_key_env": "",
        "vision_unmasked": False,
        "price_vision_prompt": 0.0,
        "price_vision_completion": 0.0,
        "batch": False,
        "batch_price": 0.5,
        "batch_least": 20,
        "batch_poll_s": 60.0,
        "batch_wait_s": 0.0,
        "price_prompt": 0.0,
        "price_completion": 0.0,
        "price_embedding": 0.0,
        "price_rerank": 0.0,
        "max_tokens_total": 0,
        "max_cost_usd": 0.0,
    }
    assert "api.openai.com" not in repr(EndpointSettings())


@pytest.mark.parametrize("price", ["price_prompt", "price_completion", "price_embedding", "price_rerank"])
def test_a_limit_in_dollars_needs_one_price_of_any_kind(price: str) -> None:
    limited = EndpointSettings(max_cost_usd=1.0)
    check_endpoint(replace(limited, **{price: 0.1}), "")
    with pytest.raises(
        SettingsError, match=r"needs the prices .* endpoint.price_prompt, .*endpoint.price_vision_completion\."
    ):
        check_endpoint(limited, "")


@pytest.mark.parametrize("name", ["max_cost_usd", "max_tokens_total", "requests_per_minute", "price_prompt"])
def test_no_limit_and_no_price_is_below_nothing(name: str) -> None:
    with pytest.raises(SettingsError, match=f"endpoint.{name} must be at least 0"):
        check_endpoint(replace(EndpointSettings(), **{name: -1}), "")


@pytest.mark.parametrize("key", [" key", "ke y", "key\n", "schlüssel", "\x7f"])
def test_a_key_that_no_header_can_hold_is_refused(key: str) -> None:
    check_endpoint(EndpointSettings(), "!key~")
    with pytest.raises(SettingsError, match="copy it again"):
        check_endpoint(EndpointSettings(), key)


@pytest.mark.parametrize(
    ("url", "holds"),
    [
        ("http://h", True),
        ("https://h:1/v1", True),
        ("https://h:0/v1", False),
        ("https://h:port", False),
        ("ftp://h", False),
        ("h/v1", False),
        ("https:///v1", False),
        ("https://[::1", False),
    ],
)
def test_an_address_is_http_and_names_a_host_and_a_port_that_can_be(url: str, holds: bool) -> None:
    assert is_address(url) is holds


@pytest.mark.parametrize(
    ("url", "holds"),
    [
        ("http://localhost:1/v1", True),
        ("http://127.0.0.2", True),
        ("http://[::1]:80", True),
        ("http://0.0.0.0:8000", True),
        ("http://10.0.0.1", False),
        ("http://localhost.example", False),
        ("localhost", False),
        ("", False),
    ],
)
def test_this_machine_is_known_by_its_names(url: str, holds: bool) -> None:
    assert is_this_machine(url) is holds


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://h:80/v1", "http://h/v1"),
        ("https://h:80/v1", "https://h:80/v1"),
        ("https://h:/v1", "https://h/v1"),
        ("https://user:pw@H:8443", "https://h:8443"),
    ],
)
def test_an_address_shows_the_port_that_is_not_the_usual_one(url: str, shown: str) -> None:
    assert address_of(url) == shown


def test_a_model_is_approved_by_its_folder_or_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "weights").mkdir()
    monkeypatch.chdir(tmp_path)
    assert approval_of_model("weights") == f"model:{tmp_path / 'weights'}"
    assert approval_of_model("owner/name") == "model:owner/name"
    kept = {"model:weights": True, "model:owner/name": True, "A@https://h": True, "https://off": False}
    approvals = read_approvals(" , http://b/ ,", kept, Path("x"))
    assert approvals == ["http://b", f"model:{tmp_path / 'weights'}", "model:owner/name", "A@https://h"]
    assert is_approved("model:owner/name", approvals)
    assert not is_approved("model:owner/name/below", approvals)


@pytest.mark.parametrize(("below", "holds"), [("/v1", True), ("/v1/..", False), ("/./v1", False), ("?k=/v1", False)])
def test_what_lies_below_an_approved_address_has_no_steps_upwards(below: str, holds: bool) -> None:
    assert is_approved(f"https://h{below}", ["https://other", "https://h"]) is holds


def test_the_usual_variable_needs_no_approval_at_its_vendor_or_here() -> None:
    assert [needs_no_approval(approval_of(url)) for url in ("https://api.openai.com/v2", "http://[::1]/v1")] == [
        True
    ] * 2
    assert not needs_no_approval("https://h.example/v1")
    assert not needs_no_approval("A@http://localhost")


@pytest.mark.parametrize(
    ("wanted", "said", "line"),
    [
        ("https://h/v1", "to https://h/v1 with the key in OPENAI_API_KEY", '"https://h/v1" = true'),
        ("A@https://h/v1", "to https://h/v1 with the key in A", '"A@https://h/v1" = true'),
        ("model:C:\\weights", "load the model C:\\weights", "'model:C:\\weights' = true"),
        ("store:postgresql://db/x", "its texts too, in postgresql://db/x", '"store:postgresql://db/x" = true'),
        ('model:a"b', 'load the model a"b', "'model:a\"b' = true"),
    ],
)
def test_a_refusal_says_what_would_be_done_and_which_line_allows_it(wanted: str, said: str, line: str) -> None:
    text = str(refuse_unapproved(wanted, ["a.toml", "b.toml"], Path("mine.toml")))
    assert text.startswith("a.toml and b.toml would ")
    assert said in text
    assert f"put {line} under [trust] in mine.toml" in text


def test_the_users_file_is_made_with_its_folders_and_its_table_is_the_first_of_the_name(tmp_path: Path) -> None:
    path = find_user_file({"XDG_CONFIG_HOME": str(tmp_path / "a" / "b"), "APPDATA": str(tmp_path / "c")})
    assert path == tmp_path / "a" / "b" / "sensegraph" / "settings.toml"
    assert find_user_file({}) == Path.home() / ".config" / "sensegraph" / "settings.toml"
    assert find_user_file({"APPDATA": str(tmp_path)}) == find_user_file({"XDG_CONFIG_HOME": "relative"})
    record_approval(path, "https://h")
    assert path.read_text() == '[trust]\n"https://h" = true\n'
    record_approval(path, "A@https://h")
    assert path.read_text() == '[trust]\n"A@https://h" = true\n"https://h" = true\n'
