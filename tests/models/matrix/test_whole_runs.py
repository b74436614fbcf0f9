"""Rows 123–126: what is learned is remembered, and whole runs in the dress of ten vendors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripted_dresses import FITTED, VENDORS
from scripted_vendors import Asked, VendorServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.profile import Memory, Profile
from wired import content, settings, stories

METHODS = ("graphrag", "local", "naive", "kag")
QUESTION = "What did Ada Harrow do?"


@pytest.fixture(scope="module")
def server() -> Iterator[VendorServer]:
    with VendorServer({"calm": Asked.calm, **{v.__name__: v for v in VENDORS}}) as made:
        yield made


def opened(folder: Path, server: VendorServer, name: str, **endpoint: Any) -> Corpus:
    given = {"max_retries": 4, "backoff_s": 0.005, "timeout_s": 0.0, "embedding_model": "embeds"} | endpoint
    return Corpus.open(folder, settings=settings(server.url(name), endpoint=given))


def whole_run(folder: Path, server: VendorServer, name: str) -> tuple[dict[str, Any], list[str], str]:
    """What an index holds, what four methods answer from it, and what was noted."""
    with opened(folder, server, name) as made:
        made.add(stories(3))
        notes = [*made.build().notes]
        answers = [made.query(QUESTION, method=method) for method in METHODS]
        notes += [note for a in answers for note in a.notes]
        return content(made), [a.text for a in answers], "\n".join(notes)


@pytest.fixture(scope="module")
def calm(server: VendorServer, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[str], str]:
    return whole_run(tmp_path_factory.mktemp("calm"), server, "calm")


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda v: v.__name__)
def test_126_an_index_and_four_answers_come_of_every_vendor(
    server: VendorServer, calm: tuple[dict[str, Any], list[str], str], tmp_path: Path, vendor: Any
) -> None:
    held, answers, notes = whole_run(tmp_path, server, vendor.__name__)
    if vendor.__name__ in FITTED:
        assert held["chunks"] == calm[0]["chunks"]
        assert held["entities"] == calm[0]["entities"]
        assert all(answers)
    else:
        assert held == calm[0], notes
        assert answers == calm[1]
    sent = [r for r in server.requests(vendor.__name__) if _is_chat_path(r.path)]
    needed = [r for r in server.requests("calm") if _is_chat_path(r.path)]
    assert len(sent) <= len(needed) + 12 + len(needed) // 4, (len(sent), len(needed))


def _is_chat_path(path: str) -> bool:
    return path.endswith("/chat/completions")


def ask(server: VendorServer, memory: Memory, name: str = "openai_5") -> list[int]:
    """What a process of its own that remembers this gets for a request: the statuses."""
    server.forget(name)
    table = EndpointSettings(base_url=server.url(name), model="scripted", backoff_s=0.001)
    said = [{"role": "system", "content": 'Reply as JSON: {"summary": "…"}'}, {"role": "user", "content": "- one"}]
    Endpoint(table, memory=memory).chat(said, max_tokens=4000)
    return [r.status for r in server.requests(name)]


def test_123_a_second_process_makes_no_lost_request(server: VendorServer, tmp_path: Path) -> None:
    assert ask(server, Memory(tmp_path / "known.json")) == [400, 400, 200]
    assert ask(server, Memory(tmp_path / "known.json")) == [200]
    assert ask(server, Memory(tmp_path / "other.json")) == [400, 400, 200]


def test_124_a_profile_of_another_model_under_the_same_name_is_corrected_downwards(
    server: VendorServer, tmp_path: Path
) -> None:
    memory = Memory(tmp_path / "known.json")
    name = "vllm_qwen"
    table = EndpointSettings(base_url=server.url(name), model="scripted")
    memory.keep(table, Profile(window=128_000))
    said = [{"role": "system", "content": "yes or no"}, {"role": "user", "content": "word " * 9000}]
    server.forget(name)
    for _ in range(2):
        made = Endpoint(table, memory=memory)
        made.chat(said, max_tokens=4000)
    assert made.window == 12_000
    assert [r.status for r in server.requests(name)] == [400, 200, 200]
    assert json.loads((tmp_path / "known.json").read_text())
