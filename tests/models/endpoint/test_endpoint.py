from __future__ import annotations

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from sensegraph.corpus.settings import Settings
from sensegraph.corpus.tools import make_endpoint
from sensegraph.errors import BudgetExceeded, EndpointDown, EndpointError, SettingsError
from sensegraph.language.text import count_tokens
from sensegraph.models.endpoint.client import Endpoint, Message, Reply
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings

KEY = "sk-very-secret-0123456789"
SCHEMA = {"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]}


def messages(text: str = "one") -> list[Message]:
    return [{"role": "system", "content": 'Reply as JSON: {"summary": "…"}'}, {"role": "user", "content": f"- {text}"}]


def endpoint(server: ScriptedServer, **settings: Any) -> Endpoint:
    given = {"model": "m", "embedding_model": "e", "backoff_s": 0.01, **settings}
    return Endpoint(EndpointSettings(base_url=server.base_url, **given), api_key=KEY)


def ask(end: Endpoint, text: str = "one", max_tokens: int = 100) -> Reply:
    return end.chat(messages(text), schema=SCHEMA, name="summary", max_tokens=max_tokens)


def ask_many(end: Endpoint, count: int, threads: int = 16) -> list[Reply]:
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda i: ask(end, f"text {i}"), range(count)))


# ── counting ──


def test_a_reply_is_returned_and_its_tokens_are_counted_as_the_server_reports_them() -> None:
    with ScriptedServer() as server:
        end = endpoint(server, price_prompt=2.0, price_completion=10.0)
        reply = ask(end)
    assert reply.text == '{"summary":"one"}'
    assert reply.finish_reason == "stop"
    used = end.usage()
    assert (used.calls, used.prompt_tokens, used.completion_tokens) == (1, 9, 4)
    assert used.cost_usd == pytest.approx((9 * 2 + 4 * 10) / 1e6)
    assert end.notes() == ()


def test_tokens_are_estimated_and_the_estimate_is_noted_when_the_server_reports_none() -> None:
    with ScriptedServer(Script(usage=False)) as server:
        end = endpoint(server)
        reply = ask(end)
        end.embed(["Ada Lovelace"])
    assert reply.completion_tokens == count_tokens(reply.text)
    assert reply.prompt_tokens >= sum(count_tokens(m["content"]) for m in messages())
    assert end.usage().embedding_tokens == count_tokens("Ada Lovelace")
    assert any("estimate" in note for note in end.notes())


def test_chat_and_embedding_are_counted_apart() -> None:
    with ScriptedServer() as server:
        end = endpoint(server, price_embedding=1.0)
        ask(end)
        end.embed(["four letters more"])
    assert end.usage("chat").embedding_calls == 0
    assert (end.usage("embedding").calls, end.usage("embedding").embedding_calls) == (0, 1)
    assert end.usage() == end.usage("chat") + end.usage("embedding")
    assert end.usage("embedding").cost_usd > 0


def test_temperature_and_seed_are_sent_only_when_they_are_set() -> None:
    with ScriptedServer(Script(keep_bodies=True)) as server:
        ask(endpoint(server))
        ask(endpoint(server, temperature=None, seed=7))
    first, second = (c.body for c in server.calls)
    assert (first["temperature"], "seed" in first) == (0.0, False)
    assert ("temperature" in second, second["seed"]) == (False, 7)


# ── faults ──


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_a_failing_call_is_retried_and_the_retry_is_counted(status: int) -> None:
    with ScriptedServer(Script(fail_rate=1, fail_status=status, times=2)) as server:
        end = endpoint(server)
        assert ask(end).text
    assert end.usage().retries == 2
    assert end.usage().calls == 1
    assert len(server.calls) == 3


def test_without_such_a_wish_the_wait_is_the_one_set_and_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    table = EndpointSettings(model="m", backoff_s=3.0)
    with ScriptedServer(Script(fail_rate=1, times=3, retry_after="")) as server:
        end = make_endpoint(Settings(endpoint=replace(table, base_url=server.base_url)))
        monkeypatch.setattr("sensegraph.models.endpoint.calls.time.sleep", waits.append)
        ask(end)
    assert len(waits) == 3
    assert all(least <= wait <= 2 * least for least, wait in zip((1.5, 3.0, 6.0), waits, strict=True))


def test_the_wait_may_be_an_http_date(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    with ScriptedServer(Script(fail_rate=1, times=1, retry_after="date:500")) as server:
        monkeypatch.setattr("sensegraph.models.endpoint.calls.time.sleep", waits.append)
        ask(endpoint(server))
    (wait,) = waits
    assert 400 < wait <= 550  # a tenth may be added, so that callers part


def test_a_server_that_asks_for_hours_stops_the_run() -> None:
    with ScriptedServer(Script(fail_rate=1, retry_after="36000")) as server, pytest.raises(EndpointDown, match="36000"):
        ask(endpoint(server))
    assert len(server.calls) == 1


@pytest.mark.parametrize("fault", ["drop_rate", "garbled_rate"])
def test_a_broken_connection_or_reply_is_retried(fault: str) -> None:
    with ScriptedServer(Script(**{fault: 1}, times=2)) as server:
        end = endpoint(server)
        assert ask(end).text
    assert end.usage().retries == 2


def test_a_hanging_call_is_cut_and_retried() -> None:
    with ScriptedServer(Script(hang_rate=1, times=1)) as server:
        end = endpoint(server, timeout_s=0.3)
        assert ask(end).text
    assert end.usage().retries == 1


def test_bounds_of_settings_can_be_set() -> None:
    bounds = EndpointSettings(concurrency=1, timeout_s=0.001, backoff_s=0.0, max_retries=0)
    assert Endpoint(bounds).settings == bounds


def test_after_the_last_retry_the_error_says_how_often_and_why() -> None:
    with ScriptedServer(Script(fail_rate=1, fail_status=500)) as server, pytest.raises(EndpointError) as caught:
        ask(endpoint(server, max_retries=2))
    assert not isinstance(caught.value, EndpointDown)
    assert "3 times" in str(caught.value)
    assert "scripted failure" in str(caught.value)
    assert len(server.calls) == 3


def test_a_mix_of_all_faults_loses_no_call_and_pays_for_none_twice() -> None:
    rates = dict.fromkeys(("fail_rate", "drop_rate", "garbled_rate", "hang_rate"), 0.08)
    with ScriptedServer(Script(**rates, times=4)) as server:
        end = endpoint(server, timeout_s=0.5)
        replies = ask_many(end, 150)
    assert [r.text for r in replies] == [f'{{"summary":"text {i}"}}' for i in range(150)]
    assert end.usage().calls == 150
    assert end.usage().retries == sum(server.faults.values()) > 10


# ── what no retry can mend ──


def test_a_wrong_key_stops_the_run_without_showing_the_key() -> None:
    with ScriptedServer(Script(api_key="another")) as server, pytest.raises(EndpointDown, match="API key") as caught:
        ask(endpoint(server))
    assert KEY not in str(caught.value)
    assert len(server.calls) == 1


def test_an_unknown_model_stops_the_run() -> None:
    with ScriptedServer(Script(models=("other",))) as server, pytest.raises(EndpointDown, match="model m does not"):
        ask(endpoint(server))


def test_a_wrong_address_stops_the_run() -> None:
    with ScriptedServer() as server, pytest.raises(EndpointDown, match="base_url"):
        ask(Endpoint(EndpointSettings(base_url=server.base_url[:-3], model="m")))


def test_nobody_at_the_address_stops_the_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("sensegraph.models.endpoint.calls.time.sleep", waits.append)
    with ScriptedServer() as server:
        pass
    with pytest.raises(EndpointDown, match=f"127.0.0.1:{server.port}.*check endpoint.base_url"):
        ask(endpoint(server, backoff_s=5))
    assert waits == []


def test_an_address_without_a_host_stops_the_run() -> None:
    with pytest.raises(EndpointDown, match="base_url"):
        ask(Endpoint(EndpointSettings(base_url="http://no-such-host.invalid/v1", model="m")))


def test_spent_credit_stops_the_run_without_a_retry() -> None:
    script = Script(fail_rate=1, fail_status=429, fail_code="insufficient_quota")
    with ScriptedServer(script) as server, pytest.raises(EndpointDown, match="credit"):
        ask(endpoint(server))
    assert len(server.calls) == 1


def test_a_refused_request_is_an_error_of_that_call() -> None:
    script = Script(fail_rate=1, fail_status=400, fail_message="too long", fail_code="context_length_exceeded")
    with ScriptedServer(script) as server, pytest.raises(EndpointError, match="too long") as caught:
        ask(endpoint(server))
    assert not isinstance(caught.value, EndpointDown)
    assert len(server.calls) == 1


def test_a_refused_embedding_is_an_error_of_that_call() -> None:
    script = Script(fail_rate=1, fail_status=413, fail_message="too many texts")
    with ScriptedServer(script) as server, pytest.raises(EndpointError, match=r"413\): too many texts"):
        endpoint(server).embed(["a"])
    assert len(server.calls) == 1


def test_the_key_is_taken_out_of_what_the_server_says() -> None:
    script = Script(fail_rate=1, fail_status=400, fail_message=f"bad {KEY}", fail_code="context_length_exceeded")
    with ScriptedServer(script) as server, pytest.raises(EndpointError) as caught:
        ask(endpoint(server))
    assert "***" in str(caught.value)
    assert KEY not in str(caught.value)


def test_no_representation_shows_a_secret() -> None:
    settings = EndpointSettings(base_url="https://me:pass-word@host.example/v1?token=abc", model="m")
    made = Endpoint(settings, api_key=KEY)
    shown = repr(settings) + repr(made) + made.address
    assert not any(secret in shown for secret in (KEY, "pass-word", "abc"))
    assert "host.example" in shown


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"base_url": "localhost:8000"}, "base_url"),
        ({"concurrency": 0}, "concurrency"),
        ({"timeout_s": -1}, "timeout_s"),
        ({"silence_s": 0}, "silence_s"),
        ({"first_byte_s": 0}, "first_byte_s"),
        ({"window": -1}, "window"),
        ({"embedding_batch": 0}, "embedding_batch"),
        ({"backoff_s": -1}, "backoff_s"),
        ({"max_retries": -1}, "max_retries"),
        ({"max_cost_usd": 1.0}, "price"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, Any], word: str) -> None:
    with pytest.raises(SettingsError, match=word):
        Endpoint(EndpointSettings(**settings))


def test_a_call_without_a_model_names_the_setting() -> None:
    end = Endpoint(EndpointSettings())
    with pytest.raises(SettingsError, match=r"endpoint\.model"):
        ask(end)
    with pytest.raises(SettingsError, match=r"endpoint\.embedding_model"):
        end.embed(["a"])


# ── the form of a reply ──


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize(("schemas", "expected", "tries"), [("json_object", "json_object", 1), ("none", None, 2)])
def test_a_refused_schema_is_given_up_after_two_requests_and_remembered(
    schemas: str, expected: str | None, tries: int, status: int
) -> None:
    with ScriptedServer(Script(schemas=schemas, schema_status=status, keep_bodies=True)) as server:
        end = endpoint(server)
        ask(end, "one")
        ask(end, "two")
        ask(end, "three")
    assert [c.status for c in server.calls] == 2 * [*[status] * tries, 200] + [200]
    assert [c.body.get("response_format", {}).get("type") for c in server.done()] == [expected] * 3
    assert any("response_format" in note for note in end.notes())


def test_a_schema_that_is_understood_is_demanded_strictly() -> None:
    with ScriptedServer(Script(keep_bodies=True)) as server:
        ask(endpoint(server))
    form = server.calls[0].body["response_format"]
    assert form == {"type": "json_schema", "json_schema": {"name": "summary", "schema": SCHEMA, "strict": True}}


def test_another_name_for_the_limit_is_learnt() -> None:
    with ScriptedServer(Script(only_max_completion_tokens=True, keep_bodies=True)) as server:
        end = endpoint(server)
        ask(end, "one")
        ask(end, "two")
    assert [c.status for c in server.calls] == [400, 200, 200]
    assert all(c.body["max_completion_tokens"] == 100 for c in server.done())


# ── many at once ──


def test_waiting_for_a_free_connection_is_no_timeout() -> None:
    with ScriptedServer(Script(latency_s=0.1)) as server:
        end = endpoint(server, concurrency=1, timeout_s=0.4)
        assert len(ask_many(end, 8, threads=8)) == 8
    assert end.usage().retries == 0


def test_a_call_that_waits_does_not_hold_up_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting, over = threading.Event(), threading.Event()

    def wait(_: float) -> None:
        waiting.set()
        assert over.wait(30)

    monkeypatch.setattr("sensegraph.models.endpoint.calls.time.sleep", wait)
    script = Script(fail_rate=1, fail_status=500, times=1, retry_after="1.0", only="- slow")  # a 429 would pause all
    with ScriptedServer(script) as server:
        end = endpoint(server, concurrency=1)
        slow = threading.Thread(target=ask, args=(end, "slow"))
        slow.start()
        assert waiting.wait(30)
        assert len(ask_many(end, 20, threads=2)) == 20
        assert slow.is_alive()
        over.set()
        slow.join()
    assert end.usage().calls == 21


def test_an_endpoint_travels_to_another_process_with_its_settings_and_its_key() -> None:
    with ScriptedServer(Script(api_key=KEY)) as server:
        end = endpoint(server)
        copy = pickle.loads(pickle.dumps(end))
        assert copy.settings == end.settings
        ask(copy)
    assert [c.status for c in server.calls] == [200]


# ── pace and budget ──


def spend(end: Endpoint) -> None:
    for i in range(1000):
        ask(end, f"text {i}", max_tokens=200)


def test_the_budget_stops_the_run_before_it_is_passed_and_says_how_to_go_on() -> None:
    with ScriptedServer() as server:
        end = endpoint(server, max_tokens_total=1000)
        with pytest.raises(BudgetExceeded, match=r"tokens of its limit of 1,000.*max_tokens_total.*resume") as caught:
            spend(end)
    used = end.usage()
    spent = used.prompt_tokens + used.completion_tokens
    assert f"{spent:,} tokens" in str(caught.value)
    assert 1000 - 300 < spent <= 1000
    assert used.calls == len(server.done())


def test_the_budget_holds_for_many_calls_at_once() -> None:
    with ScriptedServer(Script(latency_s=0.01)) as server:
        end = endpoint(server, max_cost_usd=0.001, price_prompt=1.0, price_completion=4.0)

        def attempt(i: int) -> bool:
            try:
                return bool(ask(end, f"text {i}", max_tokens=50))
            except BudgetExceeded:
                return False

        with ThreadPoolExecutor(16) as pool:
            paid = list(pool.map(attempt, range(120)))
    assert 0.0007 < end.usage().cost_usd <= 0.001
    assert sum(paid) == end.usage().calls == len(server.done())


def test_what_a_failed_call_reserved_is_given_back() -> None:
    with ScriptedServer(Script(fail_rate=1, fail_status=500, only="- bad")) as server:
        end = endpoint(server, max_tokens_total=400, max_retries=0)
        for _ in range(5):
            with pytest.raises(EndpointError):
                ask(end, "bad", max_tokens=300)
        assert ask(end, "good", max_tokens=300).text


def test_embeddings_count_against_the_budget() -> None:
    with ScriptedServer() as server:
        end = endpoint(server, max_tokens_total=20)
        end.embed(["a few words of text"])
        with pytest.raises(BudgetExceeded):
            end.embed(["a few words of text"] * 5)


def test_the_pace_of_an_endpoint_holds_calls_back(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    with ScriptedServer() as server:
        end = endpoint(server, requests_per_minute=3)
        monkeypatch.setattr("sensegraph.models.endpoint.calls.time.sleep", waits.append)
        for i in range(4):
            ask(end, f"{i}")
    assert len(waits) == 1
    assert 50 < waits[0] <= 60


@pytest.mark.parametrize(("share", "cost"), [(1.0, 0.05), (0.5, 0.025), (0.0, 0.0)])
def test_a_reply_costs_its_share_of_the_price(share: float, cost: float) -> None:
    endpoint = Endpoint(EndpointSettings(model="m", price_prompt=1.0, price_completion=4.0))
    taken = endpoint._spend(Reply("said", 10_000, 10_000, "stop"), share)
    assert (taken.tokens, taken.usd) == (20_000, pytest.approx(cost))
    spent = endpoint.usage()
    assert (spent.calls, spent.prompt_tokens, spent.completion_tokens) == (1, 10_000, 10_000)
    assert spent.cost_usd == pytest.approx(cost)


def test_a_reply_that_was_counted_before_costs_nothing() -> None:
    endpoint = Endpoint(EndpointSettings(model="m", price_prompt=1.0))
    assert endpoint._spend(Reply("said", 10_000, 10_000, "stop"), -1.0).tokens == 0
    assert endpoint.usage().calls == 0
