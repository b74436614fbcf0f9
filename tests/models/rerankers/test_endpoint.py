"""The reranking endpoint at the wire: what is sent, how replies are read, what is counted."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from scripted_replies import fit
from sensegraph.errors import BudgetExceeded, EndpointDown, EndpointError, SettingsError
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.rerankers import EndpointReranker
from sensegraph.protocols import Reranker
from sensegraph.testing import RerankerContract

TEXTS = ["Bram rows.", "Ada wrote to Bram in May.", "The harbour was empty.", "Ada wrote."]
QUESTION = "To whom wrote Ada?"


def made(server: ScriptedServer, model: str = "ranks", **settings: Any) -> EndpointReranker:
    given = {"backoff_s": 0.01, "max_retries": 2, "timeout_s": 5.0} | settings
    return EndpointReranker(Endpoint(EndpointSettings(base_url=server.base_url, rerank_model=model, **given)), 7)


def test_scores_come_in_the_order_of_the_texts_from_one_call() -> None:
    with ScriptedServer(Script(keep_bodies=True)) as server:
        reranker = made(server)
        assert isinstance(reranker, Reranker)
        assert (reranker.name, reranker.top, reranker.waits) == ("ranks", 7, True)
        assert reranker.scores(QUESTION, TEXTS) == [fit(QUESTION, t) for t in TEXTS]
    (call,) = server.calls
    assert call.body == {"model": "ranks", "query": QUESTION, "documents": TEXTS, "top_n": len(TEXTS)}


def test_an_empty_text_is_not_sent_and_scores_as_the_worst() -> None:
    with ScriptedServer(Script(keep_bodies=True)) as server:
        scores = made(server).scores(QUESTION, ["", *TEXTS, " \n"])
        assert scores[0] == scores[-1] == min(scores)
        assert made(server).scores(QUESTION, ["", ""]) == [0.0, 0.0]
    assert [c.body["documents"] for c in server.calls] == [TEXTS]


def test_calls_tokens_and_cost_are_counted_apart_from_chat_and_embeddings() -> None:
    with ScriptedServer() as server:
        reranker = made(server, price_rerank=2.0, price_prompt=100.0)
        reranker.scores(QUESTION, TEXTS)
    spent = reranker.usage()
    assert spent.calls == 1
    assert spent.prompt_tokens == sum((len(QUESTION) + len(t)) // 4 for t in TEXTS)
    assert spent.cost_usd == pytest.approx(spent.prompt_tokens * 2e-6)
    assert reranker.endpoint.usage("chat").calls == 0
    assert reranker.endpoint.usage() == spent


def test_an_endpoint_that_counts_nothing_is_estimated_and_noted() -> None:
    with ScriptedServer(Script(usage=False)) as server:
        reranker = made(server)
        reranker.scores(QUESTION, TEXTS)
    assert reranker.usage().prompt_tokens > 0
    assert "our own estimate" in reranker.endpoint.notes()[0]


def test_the_budget_holds_before_a_call_is_made() -> None:
    with ScriptedServer() as server, pytest.raises(BudgetExceeded):
        made(server, max_tokens_total=10).scores(QUESTION, TEXTS)
    assert server.calls == []


def test_a_failure_is_tried_again_and_counted() -> None:
    with ScriptedServer(Script(fail_rate=1.0, fail_status=500, times=1)) as server:
        reranker = made(server)
        assert len(reranker.scores(QUESTION, TEXTS)) == len(TEXTS)
    assert reranker.usage().retries == 1


@pytest.mark.parametrize(
    "reply",
    [
        '{"results": [{"index": 0, "relevance_score": 1.0}, {"index": 2, "relevance_score": 1.0}]}',
        '{"results": [{"index": 0, "relevance_score": 1.0}, {"index": 0, "relevance_score": 1.0}]}',
        '{"results": [{"index": 0, "relevance_score": "NaN"}, {"index": 1, "relevance_score": 1}]}',
        '{"choices": [{"message": {"content": "hello"}}]}',
    ],
)
def test_a_reply_without_one_number_a_text_is_an_error(reply: str) -> None:
    with ScriptedServer(Script(reply=lambda body: reply)) as server, pytest.raises(EndpointError, match=r"score"):
        made(server).scores(QUESTION, TEXTS[:2])


def test_the_other_name_of_the_list_is_understood() -> None:
    data = '{"data": [{"index": 1, "relevance_score": 0.25}, {"index": 0, "relevance_score": -3}]}'
    with ScriptedServer(Script(reply=lambda body: data)) as server:
        assert made(server).scores(QUESTION, TEXTS[:2]) == [-3.0, 0.25]


def test_a_model_that_is_missing_is_named() -> None:
    with ScriptedServer(Script(models=("another",))) as server:
        with pytest.raises(EndpointDown, match="ranks"):
            made(server).scores(QUESTION, TEXTS)
        with pytest.raises(SettingsError, match="rerank_model is empty"):
            made(server, "").scores(QUESTION, TEXTS)


def test_the_model_alone_makes_the_fingerprint_and_a_copy_keeps_it() -> None:
    with ScriptedServer() as server:
        one, other = made(server), made(server, "other")
        assert one.fingerprint() == made(server, api_key_env="ANOTHER_KEY").fingerprint() != other.fingerprint()
        assert pickle.loads(pickle.dumps(one)).fingerprint() == one.fingerprint()


class TestEndpointReranker(RerankerContract):
    """The contract at the wire."""

    @pytest.fixture(autouse=True)
    def served(self) -> Iterator[None]:
        with ScriptedServer() as self.server:
            yield

    def make(self) -> EndpointReranker:
        return made(self.server)

    def make_other(self) -> EndpointReranker:
        return made(self.server, "other")


def test_a_reranker_is_known_by_its_model_and_reads_fifty_texts_where_nothing_is_set() -> None:
    made = EndpointReranker(Endpoint(EndpointSettings(rerank_model="r")))
    assert (made.top, made.waits) == (50, True)
    assert made.fingerprint() == "9be389e24c4f98bdec1964dd14a61e63d5a166d1"  # what was paid for stays known
