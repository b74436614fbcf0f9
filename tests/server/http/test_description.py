"""The description of the API, and what a question by HTTP is answered with; no server runs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

pytest.importorskip("starlette")

from sensegraph import __version__
from sensegraph.corpus import views
from sensegraph.errors import InputError
from sensegraph.server.http.failures import Refused
from sensegraph.server.http.openapi import describe_api
from sensegraph.server.http.question_routes import ask_corpus
from sensegraph.server.http.routes import (
    Endpoint,
    decode_name,
    pack_object,
    read_query_flag,
    read_query_number,
    read_tail,
)
from sensegraph.types import Usage


class Inner(msgspec.Struct):
    n: int


class Body(msgspec.Struct):
    inner: Inner


async def show(request: Any) -> Any:
    """It shows."""


async def change(request: Any) -> Any:
    """It changes."""


def test_the_description_is_made_of_the_routes() -> None:
    c = "/api/v1/{corpus}"
    found = describe_api([
        Endpoint("GET", f"{c}/documents/{{name:path}}", show, "A document.", query=("start", "end")),
        Endpoint("POST", f"{c}/documents/{{name:path}}", change, "Another.", "write", Body),
        Endpoint("PUT", "/other", change, "A third.", "", Body, gives="text/plain"),
    ])  # fmt: skip
    assert (found["openapi"], found["info"]["version"], found["info"]["title"]) == ("3.1.0", __version__, "sensegraph")
    assert list(found["paths"]) == [f"{c}/documents/{{name}}", "/other"]
    both = found["paths"][f"{c}/documents/{{name}}"]
    assert (both["get"]["operationId"], both["post"]["operationId"]) == ("show_get", "change_post")
    assert [(p["name"], p["in"], p.get("required", False)) for p in both["get"]["parameters"]] == [
        ("corpus", "path", True), ("name", "path", True), ("start", "query", False), ("end", "query", False),
    ]  # fmt: skip
    assert (both["get"]["security"], both["post"]["security"]) == ([{"token": ["read"]}], [{"token": ["write"]}])
    other = found["paths"]["/other"]["put"]
    assert (other["security"], list(other["responses"]["200"]["content"])) == ([], ["text/plain"])
    assert "requestBody" not in both["get"]
    assert other["requestBody"] == both["post"]["requestBody"]
    assert other["requestBody"]["required"]
    schema = other["requestBody"]["content"]["application/json"]["schema"]
    assert schema == {"$ref": "#/components/schemas/Body"}
    assert {"Body", "Inner", "Failure"} == set(found["components"]["schemas"])
    failure = found["components"]["schemas"]["Failure"]
    assert failure["required"] == ["error"]
    assert failure["properties"]["error"]["required"] == ["code", "message", "next"]
    assert found["components"]["securitySchemes"]["token"]["scheme"] == "bearer"


def ask(**query: str) -> Any:
    return SimpleNamespace(query_params=query)


def test_numbers_and_flags_of_a_query_are_read() -> None:
    assert [read_query_number(ask(**q), "n", 7, 10) for q in ({}, {"n": ""}, {"n": "0"}, {"n": "10"})] == [7, 7, 0, 10]
    for text in ("11", "-1", "1.5", "x", "\u0663"):
        with pytest.raises(InputError, match="is no number from 0 to 10"):
            read_query_number(ask(n=text), "n", 7, 10)
    flags = [read_query_flag(ask(f=text), "f") for text in ("1", "TRUE", "yes", "0", "no", "")]
    assert flags == [True, True, True, False, False, False]
    assert not read_query_flag(ask(), "f")


def test_a_name_in_a_path_is_read_as_it_was_sent() -> None:
    request: Any = SimpleNamespace(scope={"raw_path": b"/api/v1/notes/documents/a%2Fb/c?x=/y"})
    assert read_tail(request) == "a%2Fb/c"
    assert decode_name("a%2Fb%C3%A4") == "a/b\u00e4"
    with pytest.raises(Refused, match="no valid UTF-8"):
        decode_name("%ff")


@pytest.mark.parametrize(
    ("length", "asked", "packed"), [(20_000, "gzip, br", True), (20_000, "br", False), (10, "gzip", False)]
)
def test_a_large_object_is_packed_for_who_takes_that(length: int, asked: str, packed: bool) -> None:
    request: Any = SimpleNamespace(headers={"accept-encoding": asked})
    answer = pack_object({"a": "x" * length}, request, {"Location": "/x"}, 202)
    assert (answer.status_code, answer.headers["location"], answer.headers["vary"]) == (202, "/x", "Accept-Encoding")
    assert (answer.headers.get("content-encoding") == "gzip") == packed
    assert (len(answer.body) < length) == packed


@pytest.mark.parametrize("check", [False, True])
def test_an_answer_is_told_with_its_index_and_its_checks_where_they_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, check: bool
) -> None:
    spent, asked = [Usage(calls=3), Usage(calls=5)], dict[str, Any]()

    def query(question: str, **given: Any) -> str:
        asked.update(given, question=question)
        return "answer"

    corpus = SimpleNamespace(
        workspace=SimpleNamespace(index_key=lambda: "k"), query=query, index=lambda: "i",
        engine=SimpleNamespace(usage=lambda: spent.pop(0)), check=lambda answer, question: (answer, question),
    )  # fmt: skip
    body = SimpleNamespace(
        question="q", method="m", depth=2, budget=9, check=check, turns=lambda: ("t",),
        scope=SimpleNamespace(scope=lambda: "s"),
    )  # fmt: skip
    monkeypatch.setattr(views, "view_answer", lambda answer, index: {"text": f"{answer} of {index}"})
    monkeypatch.setattr(views, "view_checks", lambda found, usage: {"checks": [*found, usage.calls]})
    told = ask_corpus(SimpleNamespace(corpus=corpus), body, print)  # type: ignore[arg-type]
    checks = {"checks": ["answer", "q", 2]} if check else {}
    assert told == {"schema": views.SCHEMA, "index": "k", "text": "answer of i", **checks}
    assert asked == {
        "question": "q", "method": "m", "scope": "s", "history": ("t",), "hear": print, "depth": 2, "report_tokens": 9,
    }  # fmt: skip
