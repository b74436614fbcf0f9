"""The tools for assistants at /mcp, through the client of their SDK, behind the guard."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from mcp import Client

from sensegraph.corpus.corpus import Corpus
from sensegraph.server.http.access import Limits, ServeOptions
from web_client import JSON, WebClient, serving

KEEPER = "Who keeps the lighthouse of Skerry Point?"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def talk(address: str, work: Callable[[Client], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        async with Client(address) as client:
            return await work(client)

    return anyio.run(main)


@pytest.mark.parametrize("path", ["mcp", "mcp/harbour"])
def test_a_corpus_answers_by_its_tools(client: WebClient, path: str) -> None:
    async def work(tools: Client) -> Any:
        return (await tools.list_tools()).tools, await tools.call_tool("ask", {"question": KEEPER})

    listed, answer = talk(f"{client.origin}/{path}", work)
    assert [tool.name for tool in listed][:3] == ["overview", "ask", "search"]
    assert all(tool.annotations.read_only_hint for tool in listed)
    assert answer.structured_content["citations"][0]["document"] == "minutes-2019"


def test_the_guard_stands_before_the_tools(client: WebClient) -> None:
    headers = {"Accept": "application/json, text/event-stream"}
    assert client.post("/mcp", LIST, headers).status == 200
    assert client.post("/mcp", LIST, headers | {"Host": "evil.example"}).status == 400
    assert client.post("/mcp", LIST, headers | {"Origin": "http://evil.example"}).status == 403
    assert (
        client.ask("POST", "/mcp", "{}", headers | {"Origin": client.origin, "Content-Type": "text/plain"}).status
        == 415
    )
    assert client.post("/mcp/elsewhere", LIST, headers).status == 404
    big = '{"x": "' + "x" * (1 << 20) + '"}'
    assert client.ask("POST", "/mcp", big, headers | {"Content-Type": JSON}).status == 413


def test_questions_of_assistants_count_for_the_day(corpus: Corpus) -> None:
    async def work(tools: Client) -> Any:
        return [await tools.call_tool("ask", {"question": KEEPER}) for _ in range(2)]

    with serving({"harbour": corpus}, ServeOptions(port=0, limits=Limits(day_cost=1.0))) as client:
        answers = talk(f"{client.origin}/mcp", work)
        assert [a.is_error for a in answers] == [False, False]
        assert "sensegraph_question_seconds_count 2" in client.get("/metrics").body.decode()
