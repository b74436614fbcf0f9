"""The tools of `sensegraph mcp`, through the client of the SDK in the same process."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, PaginatedRequestParams
from typer.testing import CliRunner

from harbour import papers
from scripted import ScriptedServer
from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import Stopped
from sensegraph.language.text import count_tokens
from sensegraph.server.mcp import CorpusServer
from sensegraph.server.token_budget import LEAST, count_result
from sensegraph.server.tools import MatchArguments, match_pattern
from wired import finished_corpus, stories

KEEPER = "Who keeps the lighthouse of Skerry Point?"
Call = Callable[..., CallToolResult]


@pytest.fixture(scope="module")
def corpus(root: Path) -> Iterator[Corpus]:
    with Corpus.open(root, create=False) as opened:
        yield opened


def talk(corpus: Corpus, work: Callable[[Client], Awaitable[Any]], *, write: bool = False) -> Any:
    """What `work` does with a client of the corpus."""

    async def main() -> Any:
        async with Client(CorpusServer(corpus, write=write).make_server()) as client:
            try:
                return await work(client)
            except MCPError as e:  # raised outside of the client's task group, which would wrap it
                return e

    found = anyio.run(main)
    if isinstance(found, MCPError):
        raise found
    return found


@pytest.fixture
def call(corpus: Corpus) -> Call:
    return lambda tool, /, **given: talk(corpus, lambda client: client.call_tool(tool, given))


def told(result: CallToolResult) -> str:
    return "".join(part.text for part in result.content if part.type == "text")


# ── what is listed ──


@pytest.mark.parametrize("write", [False, True])
def test_the_list_of_tools_has_at_most_2500_tokens(corpus: Corpus, write: bool):
    listed = talk(corpus, lambda client: client.list_tools(), write=write)
    assert count_tokens(listed.model_dump_json(by_alias=True, exclude_none=True)) <= 2500
    names = [tool.name for tool in listed.tools]
    reading = ["overview", "ask", "search", "read", "entity", "report", "match", "fetch"]
    assert names == [*reading, *(["add_document", "remove_document", "sync"] if write else [])]


def test_tools_say_whether_they_only_read(corpus: Corpus):
    tools = talk(corpus, lambda client: client.list_tools(), write=True).tools
    hints = {tool.name: tool.annotations for tool in tools}
    assert [name for name, hint in hints.items() if not hint.read_only_hint] == [
        "add_document",
        "remove_document",
        "sync",
    ]
    assert {hint.open_world_hint for hint in hints.values()} == {False}
    assert {hint.idempotent_hint for hint in hints.values()} == {True}
    assert [name for name, hint in hints.items() if hint.destructive_hint] == [
        "add_document",
        "remove_document",
        "sync",
    ]
    assert {tool.output_schema["type"] for tool in tools} == {"object"}
    assert [tool.input_schema["additionalProperties"] for tool in tools] == [False] * 11


# ── the same as the command line ──

SAME = [
    (("overview", {}), ["show", "reports"]),
    (("overview", {"depth": 9}), ["show", "reports", "--depth", "9"]),
    (("ask", {"question": KEEPER}), ["query", KEEPER]),
    (("ask", {"question": KEEPER, "method": "naive"}), ["query", KEEPER, "--method", "naive"]),
    (
        ("ask", {"question": KEEPER, "documents": ["minutes-*"], "as_of": "2022"}),
        ["query", KEEPER, "--document", "minutes-*", "--as-of", "2022"],
    ),
    (("search", {"query": "pier"}), ["search", "pier"]),
    (("search", {"query": "pier", "limit": 2, "since": "2022"}), ["search", "pier", "--limit", "2", "--since", "2022"]),
    (("entity", {"name": "Ada Finch"}), ["show", "entity", "Ada Finch"]),
    (("entity", {"name": "Ada Finch", "about": "timeline"}), ["show", "timeline", "Ada Finch"]),
    (("report", {"id": "REPORT"}), ["show", "reports", "REPORT"]),
    (("match", {"pattern": "(a)-[r]-(b)", "limit": 5}), ["graph", "query", "(a)-[r]-(b)", "--limit", "5"]),
    (("match", {"pattern": "(a)-[r]-(b)", "cite": True}), ["graph", "query", "(a)-[r]-(b)", "--limit", "20", "--cite"]),
    (
        ("match", {"pattern": "(a)", "where": "a.degree > 3", "returns": "a.name", "order": "a.name"}),
        [
            "graph",
            "query",
            "(a)",
            "--where",
            "a.degree > 3",
            "--return",
            "a.name",
            "--order",
            "a.name",
            "--limit",
            "20",
        ],
    ),
]


@pytest.mark.parametrize(("asked", "words"), SAME, ids=[" ".join(words[:4]) for _, words in SAME])
def test_a_tool_gives_what_the_command_line_prints(
    call: Call, corpus: Corpus, root: Path, asked: tuple[str, dict[str, Any]], words: list[str]
):
    report = corpus.reports()[0].id
    name, arguments = asked[0], {n: report if x == "REPORT" else x for n, x in asked[1].items()}
    if name == "report" or arguments.get("cite"):
        arguments["limit"] = {"report": 200}.get(name, 20)
    found = call(name, **arguments, max_tokens=20_000).structured_content
    printed = CliRunner().invoke(app, [*(report if w == "REPORT" else w for w in words), "--json", "--root", str(root)])
    wanted = json.loads(printed.stdout)
    assert wanted.pop("schema") == 1
    for answer in (found, wanted):
        answer.get("usage", {}).pop("seconds", None)
    assert wanted
    assert "cut" not in found
    added = {"results", "next"} if name in ("search", "match") else set[str]()  # for connectors; where to go on
    assert {member: x for member, x in found.items() if member not in added} == wanted


# ── budgets and pages ──

BOUNDED = [
    ("overview", {}),
    ("ask", {"question": "What are the main themes across the papers?"}),
    ("search", {"query": "pier", "limit": 50}),
    ("read", {"document": "minutes-2019"}),
    ("entity", {"name": "Ada Finch"}),
    ("entity", {"name": "Ada Finch", "about": "summary"}),
    ("entity", {"name": "Ada Finch", "about": "relations"}),
    ("match", {"pattern": "(a)-[r]-(b)", "limit": 200, "cite": True}),
    ("match", {"pattern": "MATCH (a)--(b) RETURN a, b LIMIT 100"}),
    ("fetch", {"id": "minutes-2019"}),
    ("report", {"id": "REPORT"}),
]


@pytest.mark.parametrize("tokens", [400, 700, 2000])
@pytest.mark.parametrize(("name", "given"), BOUNDED)
def test_every_result_is_within_its_tokens_and_its_text_too(
    call: Call, corpus: Corpus, name: str, given: dict[str, Any], tokens: int
):
    given = {n: corpus.reports()[0].id if x == "REPORT" else x for n, x in given.items()}
    found = call(name, **given, max_tokens=tokens)
    assert not found.is_error
    assert count_result(found.structured_content) <= tokens
    assert 0 < count_tokens(told(found)) <= tokens
    assert ("cut" in found.structured_content) <= (tokens < 2000 or name in ("match", "report"))


def test_a_long_search_shows_evidence_and_documents_of_few_tokens(call: Call):
    found = call("search", query="pier", limit=50, max_tokens=600).structured_content
    assert found["evidence"]
    assert found["results"]
    assert found["cut"][0].startswith(f"evidence: {len(found['evidence'])} of ")
    assert found["next"] == str(len(found["evidence"]))


def test_pages_of_a_search_go_on_where_the_last_ended(call: Call):
    whole = call("search", query="pier", limit=6, max_tokens=20_000).structured_content["evidence"]
    first = call("search", query="pier", limit=3, max_tokens=20_000).structured_content
    second = call("search", query="pier", limit=3, cursor=first["next"], max_tokens=20_000).structured_content
    assert first["next"] == "3"
    assert [*first["evidence"], *second["evidence"]] == whole
    assert [r["id"] for r in second["results"]] == second["documents"]


def test_pages_of_a_pattern_and_of_an_entity_lose_nothing(call: Call):
    for name, given, member in (
        ("match", {"pattern": "(a)-[r]-(b)", "returns": "a.name, b.name"}, "rows"),
        ("entity", {"name": "Ada Finch", "about": "relations"}, "neighbours"),
    ):
        whole = call(name, **given, limit=200, max_tokens=20_000).structured_content[member]
        seen, cursor = list[Any](), ""
        while not seen or cursor:
            page = call(name, **given, limit=3, cursor=cursor, max_tokens=20_000).structured_content
            seen += page[member]
            cursor = page.get("next", "")
        assert len(seen) > 3
        assert seen == whole


def test_reading_goes_on_where_it_ended_until_the_document_is_whole(call: Call, corpus: Corpus):
    whole = corpus.index().document("minutes-2019").text
    first = call("read", document="minutes-2019", length=100).structured_content
    rest = call("read", document="minutes-2019", start=int(first["next"])).structured_content
    assert first["text"] + rest["text"] == whole
    assert (first["end"], rest["end"], "next" in rest) == (100, len(whole), False)


def test_citations_are_told_in_text_too(call: Call):
    found = call("ask", question=KEEPER)
    c = found.structured_content["citations"][0]
    assert f"[{c['marker']}] [{c['document']}:{c['start']}-{c['end']}] “{c['quote']}”" in told(found)
    assert told(call("read", document="letter-2019", length=20)).startswith("[letter-2019:0-20]\nAda Finch wrote")
    assert '"place":"[' in told(call("entity", name="Ada Finch", about="mentions"))


def test_a_page_of_a_pattern_stays_within_its_tokens_with_the_cursor_of_the_next(corpus: Corpus):
    for tokens in range(LEAST, LEAST + 300):
        given = MatchArguments(pattern="(a)-[r]-(b)", returns="a.name", limit=100, max_tokens=tokens)
        found = match_pattern(corpus, given)
        assert found["next"]
        assert count_result(found) <= tokens


def test_connectors_search_and_fetch(call: Call, corpus: Corpus):
    found = json.loads(told(call("search", query="Sandglimmer")))["results"][0]
    assert set(found) == {"id", "title", "url"}
    fetched = json.loads(told(call("fetch", id=found["id"])))
    assert fetched == {
        "id": "letter-2019",
        "title": "letter 2019",
        "text": corpus.index().document("letter-2019").text,
        "url": "sensegraph://documents/letter-2019",
        "metadata": {"kind": "letter", "year": "2019", "time": "2019-06-01"},
    }


# ── errors ──


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("ask", {}, "question"),
        ("ask", {"question": " "}, "The question is empty"),
        ("ask", {"question": KEEPER, "method": "grafrag"}, "graphrag"),
        ("ask", {"question": KEEPER, "as_of": "soon"}, "no ISO date"),
        ("ask", {"question": KEEPER, "max_tokens": 10}, "max_tokens"),
        ("search", {"query": "pier", "top": 3}, "top"),
        ("search", {"query": "pier", "cursor": "x"}, "cursor"),
        ("entity", {"name": "Ada Fnch"}, "Ada Finch"),
        ("read", {"document": "../sensegraph.toml"}, "No document"),
        ("report", {"id": "nothing of this name"}, "nothing of this name"),
        ("match", {"pattern": "(a"}, "In the pattern, column 3"),
        ("sync", {}, "There is no tool 'sync'"),
    ],
)
def test_an_error_is_told_as_one_sentence(call: Call, name: str, given: dict[str, Any], said: str):
    found = call(name, **given)
    assert found.is_error
    assert said in told(found)
    assert "Traceback" not in told(found)


# ── resources and prompts ──


def test_documents_and_reports_are_resources(corpus: Corpus):
    async def work(client: Client) -> tuple[list[str], str, str]:
        listed = (await client.list_resources()).resources
        report = await client.read_resource(f"sensegraph://reports/{corpus.reports()[0].id}")
        first = await client.read_resource(listed[0].uri)
        return [r.name for r in listed], first.contents[0].text, report.contents[0].text

    names, text, report = talk(corpus, work)
    assert names == sorted(d.id for d in papers())
    assert text == corpus.index().document(names[0]).text
    assert json.loads(report)["report"]["id"] == corpus.reports()[0].id
    with pytest.raises(MCPError, match="no address"):
        talk(corpus, lambda client: client.read_resource("file:///etc/passwd"))


@pytest.mark.parametrize(("count", "pages"), [(0, [0]), (100, [100]), (101, [100, 1]), (200, [100, 100])])
def test_documents_are_listed_by_the_hundred(count: int, pages: list[int], monkeypatch: pytest.MonkeyPatch):
    async def work(self: Any, ctx: Any, call: Any) -> Any:
        return call()

    monkeypatch.setattr(CorpusServer, "_work", work)
    names = [f"d{n:03}" for n in range(count)]
    server = CorpusServer(SimpleNamespace(document_keys=lambda: dict.fromkeys(names, "k")))  # type: ignore[arg-type]
    found, cursor, sizes = list[str](), None, list[int]()
    while cursor is not None or not sizes:
        params = None if cursor is None else PaginatedRequestParams(cursor=cursor)
        page = asyncio.run(server._list_resources(None, params))  # type: ignore[arg-type]
        found += [r.name for r in page.resources]
        sizes.append(len(page.resources))
        cursor = page.next_cursor
    assert (found, sizes) == (names, pages)


def test_prompts_are_filled_with_what_is_given(corpus: Corpus):
    listed = talk(corpus, lambda client: client.list_prompts()).prompts
    assert [p.name for p in listed] == ["brief", "compare", "timeline", "check"]
    filled = talk(corpus, lambda client: client.get_prompt("compare", {"a": "Ada {b}", "b": "Tom"}))
    assert filled.messages[0].content.text.startswith("Compare Ada {b} and Tom")
    with pytest.raises(MCPError, match="needs a"):
        talk(corpus, lambda client: client.get_prompt("compare", {"b": "Tom"}))


# ── several at once, and what is cancelled ──


def test_calls_at_once_get_the_results_of_one_after_the_other(corpus: Corpus):
    given = [("search", {"query": q}) for q in ("pier", "herring", "oak", "lamp")] * 3

    async def work(client: Client) -> tuple[list[Any], list[Any]]:
        found = [None] * len(given)

        async def one(n: int) -> None:
            found[n] = (await client.call_tool(*given[n])).structured_content

        async with anyio.create_task_group() as group:
            for n in range(len(given)):
                group.start_soon(one, n)
        return found, [(await client.call_tool(*g)).structured_content for g in given]

    at_once, serial = talk(corpus, work)
    assert at_once == serial
    assert at_once[0]["evidence"]


def test_a_call_that_is_cancelled_stops_its_question_and_others_are_answered(tmp_path: Path, server: ScriptedServer):
    stopped = threading.Event()
    with finished_corpus(tmp_path / "corpus", server, stories()) as made:
        server.script = replace(server.script, latency_s=20.0)
        ask = made.asker.query

        def watch(*asked: Any, **options: Any) -> Any:
            try:
                return ask(*asked, **options)
            except Stopped:
                stopped.set()
                raise

        made.asker.query = watch  # type: ignore[method-assign]

        async def work(client: Client) -> str:
            with anyio.move_on_after(1.0):
                await client.call_tool("ask", {"question": "Who paid Bram Harrow in 1814?", "method": "naive"})
            return told(await client.call_tool("read", {"document": "story-00", "length": 10}))

        assert talk(made, work).startswith("[story-00:0-10]")
        assert stopped.wait(15.0)  # where it was not, it would wait for the model


def test_the_stages_of_a_question_are_told_while_it_is_answered(corpus: Corpus):
    heard = list[str]()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")

    talk(corpus, lambda client: client.call_tool("ask", {"question": KEEPER}, progress_callback=hear))
    assert [line.partition(":")[0] for line in heard] == ["method", "writing"]


# ── writing ──


def test_documents_are_added_removed_and_followed(tmp_path: Path):
    (tmp_path / "sensegraph.toml").write_text('engine = "offline"\n')
    text = "Ada Finch keeps the lighthouse of Skerry Point. Nora Blythe runs the Blythe Shipyard."

    async def work(client: Client) -> list[Any]:
        done = [await client.call_tool("add_document", {"name": "ada.txt", "text": text})]
        done.append(await client.call_tool("ask", {"question": KEEPER}))
        (tmp_path / "input" / "tom.txt").write_text("Tom Reeve leads the fishing fleet of Port Ellery.")
        done.append(await client.call_tool("sync", {}))
        done.append(await client.call_tool("remove_document", {"document": "ada.txt"}))
        return [d.structured_content for d in done]

    with Corpus.open(tmp_path) as corpus:
        added, answer, followed, removed = talk(corpus, work, write=True)
        left = list(corpus.document_keys())
    assert (added["documents"], added["new"]) == (1, 1)
    assert answer["citations"][0]["document"] == "ada.txt"
    assert (followed["documents"], followed["new"], followed["same"]) == (2, 1, 1)
    assert removed["documents"] == 1
    assert removed["notes"][-1] == "the file input/ada.txt stays: sync reads it again"
    assert left == ["tom.txt"]


OUTSIDE = ["../out.txt", "a/b.txt", "/etc/x.txt", ".hidden.txt", "x.toml", "", "a\n.txt", "..", "x" * 200 + ".txt"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_document_is_only_written_into_the_folder_of_documents(tmp_path: Path, name: str):
    with Corpus.open(tmp_path) as corpus:
        found = talk(corpus, lambda c: c.call_tool("add_document", {"name": name, "text": "Ada."}), write=True)
    assert found.is_error
    assert "is no name of a document" in told(found)
    assert not (tmp_path / "input").exists()


def test_nothing_is_written_through_links(tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "corpus"
    root.mkdir()
    (root / "input").symlink_to(outside)
    with Corpus.open(root) as corpus:
        found = talk(corpus, lambda c: c.call_tool("add_document", {"name": "a.txt", "text": "Ada."}), write=True)
        assert "is a link" in told(found)
        (root / "input").unlink()
        (root / "input").mkdir()
        (root / "input" / "a.txt").symlink_to(outside / "b.txt")
        found = talk(corpus, lambda c: c.call_tool("add_document", {"name": "a.txt", "text": "Ada."}), write=True)
    assert "is a link" in told(found)
    assert list(outside.iterdir()) == []
