"""The endpoint of this machine at the wire, and what is told of a training; the model itself is a stand-in."""

from __future__ import annotations

import http.client
import json
import socket
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.engines.local.local_engine import LocalCalls
from sensegraph.errors import InputError, SettingsError
from sensegraph.lab.finetuning.training.serving import answer_request, serve_endpoint
from sensegraph.lab.finetuning.training.training_run import Point, Trained, describe_training


class Echo:
    """Says how it was asked."""

    name = "echo"

    def prompt_of(self, messages: Any) -> str:
        return " ".join(m["content"] for m in messages)

    def continued(self, prompt: str, most: int, temperature: Any, seed: Any) -> Any:
        if prompt == "break":
            raise SettingsError("the model is gone")
        return SimpleNamespace(text=f"{prompt} {most} {temperature} {seed}", prompt_tokens=3, tokens=4, finish="stop")


MODEL: Any = Echo()
TALK = {"messages": [{"role": "user", "content": "Who?"}]}


def asked(path: str, body: Any) -> tuple[int, Any]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return answer_request(LocalCalls(MODEL), path, raw)


def test_a_talk_or_a_text_is_continued_as_it_is_asked_for() -> None:
    status, reply = asked("/v1/chat/completions", TALK | {"max_tokens": 9, "temperature": 0.5, "seed": 2})
    assert (status, reply["object"], reply["model"]) == (200, "chat.completion", "echo")
    assert reply["choices"][0]["message"] == {"role": "assistant", "content": "Who? 9 0.5 2"}
    assert (reply["choices"][0]["finish_reason"], reply["choices"][0]["index"]) == ("stop", 0)
    assert reply["usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    assert asked("/v1/completions", {"prompt": "So"})[1]["choices"][0]["text"] == "So 256 None None"
    assert asked("/v1/completions", {"prompt": "So", "max_completion_tokens": 5})[1]["choices"][0]["text"][:4] == "So 5"


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/v1/chat/completions", b"no json", 400, "invalid_request"),
        ("/v1/chat/completions", [1], 400, "invalid_request"),
        ("/v1/chat/completions", {"model": "m"}, 400, "invalid_request"),
        ("/v1/completions", TALK, 400, "invalid_request"),
        ("/v1/chat/completions", TALK | {"stream": True}, 400, "unsupported"),
        ("/v1/chat/completions", TALK | {"response_format": {"type": "json_object"}}, 400, "unsupported"),
        ("/v1/embeddings", TALK, 404, "unknown_url"),
        ("/v1/completions", {"prompt": "break"}, 500, "failed"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_a_code(path: str, body: Any, status: int, code: str) -> None:
    given, reply = asked(path, body)
    assert (given, reply["error"]["code"]) == (status, code)
    assert reply["error"]["message"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("n", 3), ("logprobs", True), ("logprobs", 5), ("top_logprobs", 2), ("stop", ["."]), ("top_p", 0.9),
        ("tools", [{}]), ("presence_penalty", 1.0), ("echo", True), ("reasoning_effort", "low"), ("n", True),
    ],
)  # fmt: skip
def test_a_field_that_would_be_passed_over_is_refused_by_its_name(field: str, value: Any) -> None:
    status, reply = asked("/v1/chat/completions", TALK | {field: value})
    assert (status, reply["error"]["code"], reply["error"]["param"]) == (400, "unsupported", field)
    assert reply["error"]["message"].startswith(f"{field} is not understood: this endpoint knows model, messages,")


def test_a_field_that_says_what_happens_anyway_is_no_reason_to_refuse() -> None:
    neutral = {"n": 1, "logprobs": False, "top_p": 1, "stop": None, "stream": False, "user": "u", "presence_penalty": 0}
    assert asked("/v1/chat/completions", TALK | neutral)[0] == 200


def test_a_server_lists_its_model_answers_and_lets_its_port_go() -> None:
    with serve_endpoint(MODEL) as address:
        port = int(address.split(":")[2].partition("/")[0])
        assert address == f"http://127.0.0.1:{port}/v1"
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for path, status in (("/v1/models", 200), ("/v1/models/", 200), ("/v1/other", 404)):
            line.request("GET", path)
            reply = line.getresponse()
            told = json.loads(reply.read())
            assert (reply.status, reply.getheader("Content-Type")) == (status, "application/json")
            assert told == (
                {"object": "list", "data": [{"id": "echo", "object": "model"}]}
                if status == 200
                else {"error": {"message": "not found", "code": "unknown_url"}}
            )
        line.request("POST", "/v1/chat/completions", json.dumps(TALK))
        reply = line.getresponse()
        assert json.loads(reply.read())["choices"][0]["text"] == "Who? 256 None None"
        line.request("POST", "/v1/chat/completions", b"", {"Content-Length": "0"})
        assert line.getresponse().status == 400
        line.close()
        with pytest.raises(InputError, match=f"Port {port} "), serve_endpoint(MODEL, port):
            pytest.fail("somebody else has the port")
    socket.create_server(("127.0.0.1", port)).close()  # an error where somebody still has it


DONE = Trained(
    Path("out"), (Point(1, 2.5), Point(8, 1.25, None, 4_096, 2.04)), 8, 1_200, (0, 0), (), (1_000, 2_000_000)
)


def test_a_training_is_told_in_lines() -> None:
    assert describe_training(DONE).splitlines() == [
        "steps        8, 1,200 examples, 4,096 tokens in 2.0 s",
        "loss         2.5000 at first, 1.2500 at last (nats a token)",
        "trained      1,000 of 2,000,000 weights",
    ]
    last = replace(DONE.points[1], held_out=1.5)
    more = replace(DONE, points=(DONE.points[0], last), targets=("q", "k"), resumed=4, too_long=(3, 0), notes=("So.",))
    assert describe_training(more).splitlines()[1:] == [
        "loss         2.5000 at first, 1.2500 at last, held out 1.5000 (nats a token)",
        "trained      1,000 of 2,000,000 weights (q, k)",
        "resumed      from step 4",
        "left out     3 examples and 0 held out: too long",
        "note         So.",
    ]
    assert "resumed      it was done already" in describe_training(replace(more, already=True))
    assert "left out     0 examples and 2 held out" in describe_training(replace(DONE, too_long=(0, 2)))
