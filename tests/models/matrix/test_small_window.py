"""A window of 4,096 tokens: every method answers, nothing is cut by the server, and notes say what was left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scripted_dresses import WINDOW, small_window
from scripted_vendors import Asked, Request, VendorServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.methods import METHODS, load_method
from wired import settings, stories

pytestmark = pytest.mark.slow
QUESTION = "What did Ada Harrow do?"
LISTED = {"data": [{"id": "scripted", "max_model_len": WINDOW}]}
IN_PARTS = ("graphrag", "ts", "lazygraphrag")  # their map reads everything in smaller parts
PARTS = sorted({part for name in METHODS for part in load_method(name).reads})


@dataclass(frozen=True)
class Both:
    """The same corpus over a server with a small window and over one with room for all."""

    small: Corpus
    roomy: Corpus
    server: VendorServer
    built: tuple[str, ...]
    refused: int


def opened(folder: Path, server: VendorServer, name: str) -> Corpus:
    endpoint = {"embedding_model": "embeds", "backoff_s": 0.005, "timeout_s": 0.0}
    made = Corpus.open(folder, settings=settings(server.url(name), endpoint=endpoint, index={"parts": PARTS}))
    made.add(stories(16))
    return made


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    pages = {"small": {"/v1/models": LISTED}}
    with (
        VendorServer({"small": small_window, "roomy": Asked.calm}, pages) as server,
        opened(tmp_path_factory.mktemp("small"), server, "small") as small,
        opened(tmp_path_factory.mktemp("roomy"), server, "roomy") as roomy,
    ):
        notes = small.build().notes
        roomy.build()
        refused = [r for r in server.requests("small") if r.status != 200]
        yield Both(small, roomy, server, notes, len(refused))


def sizes(requests: list[Request]) -> list[int]:
    """The tokens of each prompt and its reply at most, as the server counts them."""
    chats = [r for r in requests if r.path.endswith("/chat/completions")]
    return [sum(len(m["content"]) for m in r.body["messages"]) // 4 + limit(r.body) for r in chats if r.status == 200]


def limit(body: dict[str, Any]) -> int:
    return int(body.get("max_tokens") or body["max_completion_tokens"])


def test_a_build_fits_its_prompts_before_they_are_paid(both: Both) -> None:
    taken = sizes(both.server.requests("small"))
    assert len(taken) > 40
    assert max(taken) <= WINDOW
    assert max(sizes(both.server.requests("roomy"))) > WINDOW
    assert both.refused <= 2
    assert any("window is 4,096 tokens" in note for note in both.built)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers_in_a_window_of_4096(both: Both, method: str) -> None:
    for name in ("small", "roomy"):
        both.server.forget(name)
    answer, whole = both.small.query(QUESTION, method=method), both.roomy.query(QUESTION, method=method)
    sent = both.server.requests("small")
    assert answer.text
    assert answer.citations
    assert max(sizes(sent)) <= WINDOW
    assert all(r.status == 200 for r in sent)
    needed = max(sizes(both.server.requests("roomy")))
    told = any("left out" in note for note in answer.notes)
    over = method not in IN_PARTS and needed - 2000 > WINDOW  # its answer may have 2,000 tokens, or what is left
    assert told or not over, answer.notes
    assert told or method not in ("local", "lightrag", "hirag", "fastgraphrag"), answer.notes
    assert not any("left out" in note for note in whole.notes)
