"""What an endpoint answers about batches: taken, asked again, or told with what to do."""

from __future__ import annotations

import io
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.errors import EndpointDown
from sensegraph.models.batches.batch_client import BatchClient
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.incoming import Response, WireError


def client(*replies: Response | WireError) -> tuple[BatchClient, list[str]]:
    """One whose endpoint answers so, one after the other, and what it was asked for."""
    left, asked = list(replies), list[str]()

    def answer(path: str, *_: Any) -> Response:
        asked.append(path)
        found = left.pop(0)
        if isinstance(found, WireError):
            raise found
        return found

    send: Callable[..., Response] = answer
    wire = SimpleNamespace(get=send, post=send, download=send)
    settings = EndpointSettings(max_retries=2, backoff_s=0.0)
    calls: Any = SimpleNamespace(wire=wire, settings=settings, address="here", clean=lambda text: text)
    return BatchClient(calls), asked


def reply(status: int, body: bytes = b"{}") -> Response:
    return Response(status, {}, body)


@pytest.mark.parametrize("status", [300, 302, 400, 404])
def test_what_is_neither_taken_nor_a_failure_that_passes_is_told_at_once(status: int) -> None:
    made, asked = client(reply(status, b'{"error": "not here"}'))
    with pytest.raises(EndpointDown, match=rf"HTTP {status}: not here.*without --batch"):
        made.download("f", io.BytesIO())
    assert len(asked) == 1


@pytest.mark.parametrize("failing", [*map(reply, (408, 409, 425, 429, 500, 503)), WireError("nothing came")])
def test_what_may_pass_is_asked_again_as_often_as_the_settings_say(failing: Response | WireError) -> None:
    made, asked = client(failing, failing, reply(299))
    made.download("f", io.BytesIO())
    assert len(asked) == 3
    made, asked = client(failing, failing, failing, reply(200))
    with pytest.raises(EndpointDown):
        made.download("f", io.BytesIO())
    assert len(asked) == 3


def test_a_batch_whose_reply_was_lost_is_looked_for_before_it_is_made_again() -> None:
    listed = b'{"data": [{"id": "b-1", "metadata": {"sensegraph": "mine"}, "status": "validating"}]}'
    made, asked = client(WireError("nothing came"), reply(200, listed))
    found = made.create("file", "mine", "/v1/chat/completions")
    assert (found.id, found.status, len(asked)) == ("b-1", "validating", 2)
    assert asked[0] == "/batches"
    assert asked[1].startswith("/batches?")


def test_an_answer_that_is_no_json_is_told() -> None:
    for body in (b"<html>", b"[1]"):
        made, _ = client(reply(200, body))
        with pytest.raises(EndpointDown, match="with no JSON"):
            made.read("b-1")
