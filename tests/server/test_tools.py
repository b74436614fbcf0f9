"""The tools of a corpus as programs call them, one by one: what a page of a result holds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.corpus import views
from sensegraph.extractions import CitedFigure
from sensegraph.graphs.match.matches import Matches
from sensegraph.language.text import count_tokens
from sensegraph.server.tools import (
    FetchArguments,
    MatchArguments,
    OverviewArguments,
    ReadArguments,
    ReportArguments,
    SearchArguments,
    fetch_document,
    list_overview,
    match_pattern,
    read_document,
    read_report,
    search_passages,
)
from sensegraph.types import Chunk, Document, Evidence, Passage, Source


def test_what_is_told_of_a_report_stands_on_its_first_page_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"id": "r", "summary": "All of it.", "findings": [{"summary": "One."}], "citations": [{"marker": 1}]}
    lists = {name: [] for name in ("entities", "relations", "claims", "chunks")}
    whole = {**told, "children": [{"id": str(n)} for n in range(5)], **lists}
    monkeypatch.setattr(views, "view_report", lambda page: whole)
    corpus: Any = type("One", (), {"report": lambda self, name: name})()
    pages, cursor = list[Any](), ""
    while not pages or cursor:
        pages.append(read_report(corpus, ReportArguments(id="r", limit=2, cursor=cursor)))
        cursor = pages[-1].get("next", "")
    assert [[row["id"] for row in page["children"]] for page in pages] == [["0", "1"], ["2", "3"], ["4"]]
    assert {name: pages[0][name] for name in told} == told
    for page in pages[1:]:
        assert (page["id"], page["summary"], page["findings"], page["citations"]) == ("r", "", [], [])


def index_of(**texts: str) -> Any:
    """An index of documents by name: each is a page of a report from its sixth character on."""
    titles = {name: "" if name == "bare" else name.title() for name in texts}
    held = {name: Document(name, text, titles[name], (("year", 2020),), "1911") for name, text in texts.items()}
    chunks = {f"{name}-0": Chunk(f"{name}-0", name, 0, len(text), 1, text) for name, text in texts.items()}
    return SimpleNamespace(
        document=lambda name: held[name],
        chunks=lambda ids: {i: chunks[i] for i in ids if i in chunks},
        page=lambda name, start: 2 if start > 5 else None,
        figure=lambda name, start: CitedFigure(1, "seer-1") if start > 9 else None,
        depth=3,
    )


def test_passages_are_shown_page_by_page_with_the_documents_behind_each_page() -> None:
    index = index_of(a="Ada", b="Bo", bare="Cy")
    every = [
        Passage("chunk", f"p{n}", f"text {n}", 1.0, sources=(Source(f"{name}-0", 0, 1),))
        for n, name in enumerate(["a", "b", "bare", "a"])
    ]

    def search(query: str, *, top: int, scope: Any) -> Evidence:
        assert (query, scope.documents, scope.since, scope.until) == ("Who?", ("a*",), "1910", "1912")
        return Evidence(tuple(every[:top]), ("a", "b", "bare")[:top], tokens=99, omitted=max(0, len(every) - top))

    corpus: Any = SimpleNamespace(search=search, index=lambda: index)

    def page(cursor: str, limit: int) -> Any:
        given = SearchArguments(query="Who?", limit=limit, cursor=cursor, documents=["a*"], since="1910", until="1912")
        return search_passages(corpus, given)

    first = page("", 2)
    assert ([p["id"] for p in first["evidence"]], first["documents"], first["tokens"]) == (["p0", "p1"], ["a", "b"], 99)
    assert first["next"] == "2"
    assert first["results"] == [
        {"id": "a", "title": "A", "url": "sensegraph://documents/a"},
        {"id": "b", "title": "B", "url": "sensegraph://documents/b"},
    ]
    second = page("2", 1)
    assert ([p["id"] for p in second["evidence"]], second["documents"], second["next"]) == (["p2"], ["bare"], "3")
    assert second["results"][0]["title"] == "bare"  # which has no title
    assert second["tokens"] == count_tokens("text 2")  # of this page alone
    last = page("3", 2)
    assert ([p["id"] for p in last["evidence"]], last["documents"], "next" in last) == (["p3"], ["a"], False)
    assert "next" not in page("", 4)


@pytest.mark.parametrize(
    ("start", "length", "text", "more"),
    [
        (0, 4000, "Ada keeps lamps", {"end": 15}),
        (0, 3, "Ada", {"end": 3, "next": "3"}),
        (6, 3, "eps", {"end": 9, "page": 2, "next": "9"}),
        (10, 5, "lamps", {"end": 15, "page": 2, "figure": {"number": 1, "described_by": "seer-1"}}),
        (15, 5, "", {"end": 15, "page": 2, "figure": {"number": 1, "described_by": "seer-1"}}),
    ],
)
def test_a_document_is_read_from_a_character_on(start: int, length: int, text: str, more: dict[str, Any]) -> None:
    corpus: Any = SimpleNamespace(index=lambda: index_of(a="Ada keeps lamps"))
    found = read_document(corpus, ReadArguments(document="a", start=start, length=length))
    assert found == {"document": "a", "title": "A", "start": start, "length": 15, "text": text} | more


def test_a_document_is_fetched_with_its_time_among_what_is_known_of_it_and_says_where_it_ends() -> None:
    corpus: Any = SimpleNamespace(index=lambda: index_of(bare="Cy.", long="word " * 4000))
    assert fetch_document(corpus, FetchArguments(id="bare")) == {
        "id": "bare", "title": "bare", "text": "Cy.", "url": "sensegraph://documents/bare",
        "metadata": {"year": "2020", "time": "1911"},
    }  # fmt: skip
    cut = fetch_document(corpus, FetchArguments(id="long", max_tokens=500))
    assert cut["cut"] == [f"text: {len(cut['text'])} of 20000 characters; read goes on from there"]
    assert 0 < len(cut["text"]) < 20_000


@pytest.mark.parametrize(("depth", "depths", "shown"), [(0, 3, 0), (2, 3, 2), (9, 3, 2), (4, 0, 0)])
def test_the_reports_are_those_of_a_depth_that_there_is(depth: int, depths: int, shown: int) -> None:
    corpus: Any = SimpleNamespace(reports=lambda depth: [], index=lambda: SimpleNamespace(depth=depths))
    assert list_overview(corpus, OverviewArguments(depth=depth)) == {"depth": shown, "depths": depths, "reports": []}


def test_rows_of_a_pattern_are_paged_by_the_graph_or_where_it_has_a_limit_of_its_own_afterwards() -> None:
    asked = list[Any]()

    def match(pattern: str, *, skip: int | None = None, limit: int | None = None, **more: Any) -> Matches:
        asked.append((pattern, skip, limit, more))
        rows = tuple((n,) for n in range(5))
        first = skip or 0
        return Matches(("n",), rows[first : first + limit] if limit else rows, 5)

    corpus: Any = SimpleNamespace(match=match)
    plain = {"where": "a.x = 1", "returned": "a.n AS n", "order": "n", "cite": False}
    for pattern, calls in (
        ("(a)", [("(a)", None, 2, plain), ("(a)", 2, 2, plain), ("(a)", 4, 2, plain)]),
        ("MATCH (a) RETURN a.n AS n LIMIT 5", [("MATCH (a) RETURN a.n AS n LIMIT 5", None, None, plain)] * 3),
    ):
        asked.clear()
        pages, cursor = list[Any](), ""
        while not pages or cursor:
            given = MatchArguments(
                pattern=pattern, where="a.x = 1", returns="a.n AS n", order="n", limit=2, cursor=cursor
            )
            pages.append(match_pattern(corpus, given))
            cursor = pages[-1].get("next", "")
        assert [[row["n"] for row in page["rows"]] for page in pages] == [[0, 1], [2, 3], [4]]
        assert asked == calls
