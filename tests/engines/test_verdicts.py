from __future__ import annotations

from collections.abc import Callable

import pytest

from scripted import Script, ScriptedServer
from sensegraph.engines.llm.asker import Verdicts, build_logit_bias
from sensegraph.errors import EndpointDown, EndpointError
from sensegraph.language.text import encode_tokens
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings

TALK = [{"role": "user", "content": "Was anything missed? Answer yes or no."}]
Reply = str | tuple[str, str] | None


def verdicts(server: ScriptedServer, model: str = "gpt-4o-mini", **given: object) -> Verdicts:
    key = given.pop("api_key", "")
    settings = EndpointSettings(server.base_url, model=model, max_retries=1, backoff_s=0.01, **given)
    return Verdicts(Endpoint(settings, api_key=key))


def server(reply: Callable[[dict], Reply], **script: object) -> ScriptedServer:
    return ScriptedServer(Script(reply=reply, keep_bodies=True, **script))


def test_where_the_tokens_are_known_one_token_is_forced_to_be_yes_or_no() -> None:  # G07
    with server(lambda body: "Yes") as s:
        assert verdicts(s, temperature=0.7).agrees(TALK)
    (call,) = s.calls
    assert (call.body["max_tokens"], call.body["temperature"]) == (1, 0)
    assert set(call.body["logit_bias"].values()) == {100}
    assert len(call.body["logit_bias"]) == 8


@pytest.mark.parametrize("model", ["llama-3", "gpt-5-mini", "o3", "my-gpt-4"])
def test_a_model_with_unknown_tokens_or_thoughts_is_asked_plainly(model: str) -> None:
    with server(lambda body: "no") as s:
        assert not verdicts(s, model).agrees(TALK)
    assert "logit_bias" not in s.calls[0].body
    assert build_logit_bias(model) == {}


def test_a_bias_names_the_tokens_of_the_models_own_encoding() -> None:
    assert set(build_logit_bias("openai/gpt-4")) == {
        str(encode_tokens(w)[0]) for w in ("yes", "no", "Yes", "No", " yes", " no", " Yes", " No")
    }
    assert set(build_logit_bias("gpt-4o")).isdisjoint(build_logit_bias("gpt-4-turbo"))
    assert build_logit_bias("gpt-4.1-mini") == build_logit_bias("gpt-4o")


def test_a_temperature_that_is_left_to_the_endpoint_stays_so() -> None:
    with server(lambda body: "yes") as s:
        verdicts(s, temperature=None).agrees(TALK)
    assert "temperature" not in s.calls[0].body


@pytest.mark.parametrize("said", ["yes", "YES.", " Yes, many.", '"Yes"', "**yes**", "<think>no</think>yes", "y"])
def test_the_first_letter_decides(said: str) -> None:
    with server(lambda body: said) as s:
        assert verdicts(s, "m").agrees(TALK)


@pytest.mark.parametrize(
    "said", ["Ja.", "Jo", "Oui", "Sí, por supuesto", "Sì", "Sim", "да", "Tak", "是的", "有。", "はい", "네", "ναι"]
)
def test_yes_is_read_in_other_languages(said: str) -> None:
    with server(lambda body: said) as s:
        made = verdicts(s, "m")
        assert made.decide(TALK) is True
    assert made.notes() == ()


@pytest.mark.parametrize("said", ["Nein", "non", "Não.", "нет", "不是", "没有", "いいえ", "아니요", "όχι"])
def test_no_is_read_in_other_languages(said: str) -> None:
    with server(lambda body: said) as s:
        made = verdicts(s, "m")
        assert made.decide(TALK) is False
    assert made.notes() == ()


@pytest.mark.parametrize("said", ["", "perhaps", "I think yes", "Jana", "Dale", "vielleicht"])
def test_what_cannot_be_read_means_no_and_is_counted(said: str) -> None:
    with server(lambda body: said) as s:
        made = verdicts(s, "m")
        assert not made.agrees(TALK)
    assert made.notes() == ("verdicts that could not be read were taken as no (1 ×)",)
    assert len(s.calls) == 1


def test_an_endpoint_that_refuses_the_bias_is_asked_plainly_once_and_for_all() -> None:
    with ScriptedServer(Script(reply=lambda body: "yes", keep_bodies=True, refused_fields=("logit_bias",))) as s:
        made = verdicts(s)
        assert made.agrees(TALK)
        assert made.agrees(TALK)
    assert [(c.status, "logit_bias" in c.body) for c in s.calls] == [(400, True), (200, False), (200, False)]
    assert made.endpoint.notes() == ("The endpoint refuses logit_bias: asked without (1 ×)",)


def test_a_model_that_needs_room_for_its_thoughts_gets_it_from_then_on() -> None:
    def think(body: dict) -> Reply:
        return "<think>hm</think> yes" if body["max_tokens"] > 50 else ("", "length")

    with server(think) as s:
        made = verdicts(s)
        assert made.agrees(TALK)
        assert made.agrees(TALK)
    assert [c.body["max_tokens"] for c in s.calls] == [1, 2001, 2001]
    assert ["thoughts take room" in n for n in made.endpoint.notes()] == [True]


def test_an_endpoint_that_is_down_is_no_reason_to_ask_in_another_way() -> None:
    with (
        ScriptedServer(Script(api_key="right")) as s,
        pytest.raises(EndpointDown, match="key"),
    ):
        verdicts(s, api_key="wrong").agrees(TALK)
    assert len(s.calls) == 1


def test_an_endpoint_that_refuses_every_way_raises_what_it_said() -> None:
    with (
        ScriptedServer(Script(refused_fields=("max_tokens", "max_completion_tokens"))) as s,
        pytest.raises(EndpointError, match="max_tokens"),
    ):
        verdicts(s).agrees(TALK)
    assert len(s.calls) == 2
