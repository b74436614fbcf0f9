"""The API of OpenAI, asked by its own client and by a request in the form that Open WebUI sends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from sensegraph.errors import InputError
from sensegraph.server.http.bodies import ChatMessage, TurnBody
from sensegraph.server.http.completions import list_sources, pair_turns
from web_client import JSON, WebClient

KEEPER = "Who keeps the lighthouse of Skerry Point?"
ASKED: list[Any] = [{"role": "user", "content": KEEPER}]

# a chat of Open WebUI, as it is sent to an endpoint that is set up there
WEBUI = {
    "stream": True,
    "model": "harbour",
    "messages": [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": [{"type": "text", "text": "Who leads the fishing fleet?"}]},
        {"role": "assistant", "content": "Tom Reeve leads the fishing fleet. [1]"},
        {"role": "user", "content": [{"type": "text", "text": KEEPER}]},
    ],
    "stream_options": {"include_usage": True},
    "temperature": 0.8,
    "max_tokens": 1000,
    "user": {"name": "Ann", "id": "1", "email": "ann@example.org", "role": "user"},
}


@pytest.fixture
def ai(client: WebClient) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{client.origin}/v1", api_key="none is needed", max_retries=0) as opened:
        yield opened


def test_corpora_and_their_methods_are_models(ai: openai.OpenAI) -> None:
    names = [model.id for model in ai.models.list()]
    assert names[0] == "harbour"
    assert {"harbour:graphrag", "harbour:hybrid", "harbour:walk"} < set(names)
    assert ai.models.retrieve("harbour:local").owned_by == "sensegraph"
    with pytest.raises(openai.NotFoundError, match="no corpus"):
        ai.models.retrieve("elsewhere")


def test_a_completion_is_the_answer_with_its_citations(ai: openai.OpenAI, client: WebClient) -> None:
    found = ai.chat.completions.create(model="harbour:naive", messages=ASKED)
    wanted = client.post("/api/v1/harbour/query", {"question": KEEPER, "method": "naive"}).json
    told: Any = found.model_extra
    assert found.choices[0].message.content == wanted["answer"]
    assert found.choices[0].finish_reason == "stop"
    assert told["sensegraph"] == {n: wanted[n] for n in ("index", "method", "engine", "citations", "notes")}
    assert wanted["citations"]
    assert found.usage
    assert found.usage.total_tokens == found.usage.prompt_tokens + found.usage.completion_tokens


def test_a_streamed_completion_is_the_same(ai: openai.OpenAI) -> None:
    whole = ai.chat.completions.create(model="harbour:naive", messages=ASKED)
    chunks = list(
        ai.chat.completions.create(
            model="harbour:naive", messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
    )
    texts = [c.choices[0].delta.content or "" for c in chunks if c.choices]
    last: Any = chunks[-2].model_extra
    assert "".join(texts) == whole.choices[0].message.content
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert last["sensegraph"]["citations"] == (whole.model_extra or {})["sensegraph"]["citations"]
    assert chunks[-1].choices == []
    assert chunks[-1].usage == whole.usage
    assert len({c.id for c in chunks}) == 1


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(("model", "headers"), [("harbour+sources", {}), ("harbour", {"X-Sensegraph-Sources": "text"})])
def test_sources_stand_in_the_text_where_that_is_asked_for(
    client: WebClient, stream: bool, model: str, headers: dict[str, str]
) -> None:
    reply = client.post("/v1/chat/completions", {"model": model, "messages": ASKED, "stream": stream}, headers)
    if stream:
        data = [line.removeprefix(b"data: ") for line in reply.body.splitlines() if line.startswith(b"data: {")]
        told = [json.loads(d)["choices"][0]["delta"].get("content", "") for d in data]
        assert reply.body.endswith(b"data: [DONE]\n\n")
        text = "".join(told)
    else:
        text = reply.json["choices"][0]["message"]["content"]
    assert "\n\nSources\n\n- [1] minutes-2019, 261–308: “Ada Finch keeps the lighthouse of Skerry Point.”" in text


def test_a_chat_of_open_webui_is_answered(client: WebClient) -> None:
    sent = json.dumps(WEBUI)
    reply = client.ask("POST", "/v1/chat/completions", sent, {"Content-Type": JSON, "Authorization": "Bearer sk-x"})
    assert (reply.status, reply.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    lines = [line for line in reply.body.decode().splitlines() if line]
    assert all(line.startswith("data: ") for line in lines)
    chunks = [json.loads(line[6:]) for line in lines[:-1]]
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    text = "".join(c["choices"][0]["delta"].get("content", "") for c in chunks if c["choices"])
    assert "Ada Finch keeps the lighthouse" in text
    assert set(chunks[-1]["usage"]) == {"prompt_tokens", "completion_tokens", "total_tokens"}


def test_the_last_message_is_the_question_and_those_before_are_the_conversation() -> None:
    said = [("system", "Be kind."), ("user", "Who?"), ("assistant", "Ada."), ("user", "Lost"), ("user", "When?")]
    question, turns = pair_turns([ChatMessage(role, text) for role, text in said])
    assert question == "When?"
    assert turns == [TurnBody(question="Who?", answer="Ada."), TurnBody(question="Lost")]


@pytest.mark.parametrize(
    "messages", [[ChatMessage("system", "Be kind.")], [ChatMessage("user", " ")], [ChatMessage("user")]]
)
def test_without_a_question_there_is_an_error(messages: list[ChatMessage]) -> None:
    with pytest.raises(InputError, match="last message"):
        pair_turns(messages)


def test_a_list_of_sources_is_short() -> None:
    assert list_sources([]) == ""
    told = list_sources([{"marker": 2, "document": "a.txt", "start": 0, "end": 900, "quote": "word\n " * 200}])
    assert told.endswith("…”")
    assert len(told) < 400


def test_errors_are_those_of_the_client(ai: openai.OpenAI, client: WebClient) -> None:
    with pytest.raises(openai.NotFoundError):
        ai.chat.completions.create(model="elsewhere", messages=ASKED)
    with pytest.raises(openai.UnprocessableEntityError):
        ai.chat.completions.create(model="harbour:nomethod", messages=ASKED)
    with pytest.raises(openai.BadRequestError):
        ai.chat.completions.create(model="harbour", messages=[])
    with pytest.raises(openai.APIError, match="nomethod"):
        list(ai.chat.completions.create(model="harbour:nomethod", messages=ASKED, stream=True))
