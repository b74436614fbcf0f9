"""Reranking by the model that answers: scores over the wire, one setting, nothing counted twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from scripted_methods import listed_in, message_of
from scripted_replies import task_of
from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.llm.llm import LLMEngine
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.errors import ItemFailed, SettingsError
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.rerankers import EngineReranker
from sensegraph.protocols import Reranker
from sensegraph.testing import RerankerContract
from wired import corpus, stories

QUESTION = "Whom did Ada Harrow pay?"


def made(server: ScriptedServer) -> EngineReranker:
    return EngineReranker(LLMEngine(Endpoint(EndpointSettings(server.base_url, model="scripted", max_retries=1))))


class TestEngineRerankerContract(RerankerContract):
    def setup_method(self) -> None:
        self.server = ScriptedServer().__enter__()

    def teardown_method(self) -> None:
        self.server.__exit__()

    def make(self) -> Reranker:
        return made(self.server)


def test_each_text_has_a_score_in_one_call_and_an_empty_one_is_not_sent() -> None:
    with ScriptedServer(Script(keep_bodies=True)) as server:
        scores = made(server).scores("Which harbour?", ["A harbour.", " ", "A mill.", "The harbour, which is old."])
        (call,) = server.done("rank")
    assert scores == [2.0, 0.0, 0.0, 4.0]
    assert listed_in(message_of(call.body)) == ["A harbour.", "A mill.", "The harbour, which is old."]


def test_scores_that_stay_unreadable_fail_by_name() -> None:
    with (
        ScriptedServer(Script(reply=lambda _: "All are good.")) as server,
        pytest.raises(ItemFailed, match="rank: the reply of scripted"),
    ):
        made(server).scores("Which?", ["A."])


def test_an_engine_that_cannot_score_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"rerank\.by = engine needs a model"):
        EngineReranker(ClassicalEngine())
    settings = {"engine": "offline", "rerank": {"by": "engine"}}
    with Corpus.open(tmp_path, settings=settings) as offline:
        offline.add(stories(1))
        offline.build()
        with pytest.raises(SettingsError, match="the engine offline cannot"):
            offline.search(QUESTION, method="bm25")


def test_the_model_that_answers_orders_what_any_method_found_and_is_counted_once(tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> str | None:
        if task_of(body) != "rank":
            return None
        count = len(listed_in(message_of(body)))
        return json.dumps({"scores": [{"id": n, "score": n} for n in range(1, count + 1)]})  # the last is the best

    with ScriptedServer(Script(reply=reply)) as server, corpus(tmp_path, server, rerank={"by": "engine"}) as opened:
        opened.add(stories(3))
        opened.build()
        plain = [p.id for p in opened.search(QUESTION, method="bm25").passages]
        server.reset()
        again = opened.search(f"{QUESTION} ", method="bm25")
        before = server.done("rank")
        answer = opened.query("Whom did Bram Harrow pay?", method="bm25")
        asked = [c for c in server.done() if c.task in ("rank", "answer")][len(before) :]
    assert len(plain) > 2
    assert [p.score for p in again.passages] == sorted((p.score for p in again.passages), reverse=True)
    assert any(n == f"the engine reranked {len(again.passages)} of {len(again.passages)} chunks" for n in again.notes)
    assert [c.task for c in asked] == ["rank", "answer"]
    assert answer.usage.calls == 2
