"""The routes that show a corpus, at the edges of what they take: pages, parts, depths, kinds, and moments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.server.http.access import ServeOptions
from sensegraph.types import Document
from web_client import WebClient, serving

C = "/api/v1/harbour"


@pytest.mark.parametrize(
    ("query", "rows", "after"),
    [
        ("", 7, None),
        ("limit=500", 7, None),
        ("limit=7", 7, None),
        ("limit=6", 6, "6"),
        ("limit=0", 1, "1"),
        ("cursor=6&limit=1", 1, None),
        ("cursor=5&limit=1", 1, "6"),
        ("cursor=7", 0, None),
        ("cursor=99", 0, None),
    ],
)
def test_a_page_says_where_the_next_one_begins(client: WebClient, query: str, rows: int, after: str | None) -> None:
    page = client.get(f"{C}/documents?{query}").json
    assert (len(page["documents"]), page["found"], page["next"]) == (rows, 7, after)


def test_a_page_has_fifty_rows_and_five_hundred_at_most(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as opened, serving({"harbour": opened}) as client:
        opened.add(*(Document(f"{n:02}", f"Note {n}.") for n in range(52)))
        for path in ("documents", "entities"):
            assert client.get(f"{C}/{path}?limit=501").status == 400
        page = client.get(f"{C}/documents").json
        assert (len(page["documents"]), page["next"]) == (50, "50")
        assert [d["id"] for d in client.get(f"{C}/documents?cursor=50").json["documents"]] == ["50", "51"]
        assert client.get(f"{C}/documents?q=note").json["found"] == 0
        assert client.get(f"{C}/documents?q=51").json["found"] == 1


@pytest.mark.parametrize(
    ("query", "text", "start", "end"),
    [("start=4&end=11", "Harbour", 4, 11), ("end=3", "The", 0, 3), ("start=4&end=0", "", 4, 4)],
)
def test_a_part_of_a_document(client: WebClient, query: str, text: str, start: int, end: int) -> None:
    page = client.get(f"{C}/documents/minutes-2019?{query}").json
    assert (page["text"], page["start"], page["end"], page["original"]) == (text, start, end, False)


def test_a_part_without_an_end_goes_to_the_end(client: WebClient) -> None:
    whole = client.get(f"{C}/documents/minutes-2019").json
    page = client.get(f"{C}/documents/minutes-2019?start=340").json
    assert (page["text"], page["end"]) == (whole["text"][340:], whole["length"])


@pytest.mark.parametrize("path", ["reports", "map"])
def test_a_depth_is_a_number_up_to_a_thousand(client: WebClient, path: str) -> None:
    assert client.get(f"{C}/{path}?depth=1001").status == 400
    assert client.get(f"{C}/{path}?depth=1000").status == {"reports": 200, "map": 404}[path]
    assert client.get(f"{C}/{path}").json == client.get(f"{C}/{path}?depth=0").json


def test_below_the_deepest_depth_are_the_reports_of_the_deepest(client: WebClient, corpus: Corpus) -> None:
    depths = corpus.index().depth
    page = client.get(f"{C}/reports?depth=1000").json
    assert (page["depth"], page["depths"]) == (depths - 1, depths)
    assert {r["id"] for r in page["reports"]} == {r.id for r in corpus.reports(depths - 1)}
    name = page["reports"][0]["id"]
    assert client.get(f"{C}/reports/{name}").json["report"] == page["reports"][0]


@pytest.mark.parametrize(
    ("query", "status"), [("", 200), ("?type=person", 200), ("?type=PERSON", 200), ("?type=place", 404)]
)
def test_an_entity_is_asked_for_by_its_name_and_kind(client: WebClient, query: str, status: int) -> None:
    assert client.get(f"{C}/entities/Ada%20Finch{query}").status == status
    assert client.get(f"{C}/entities/Ada%20Finch/timeline{query}").status == status


@pytest.mark.parametrize(
    ("query", "events"), [("", 1), ("since=2019-06", 1), ("since=2019-08", 0), ("until=2019-05", 0), ("until=2020", 1)]
)
def test_a_timeline_has_a_first_and_a_last_moment(client: WebClient, query: str, events: int) -> None:
    found = client.get(f"{C}/entities/Ada%20Finch/timeline?{query}").json
    assert (found["entity"], len(found["events"])) == ("Ada Finch", events)


def test_changes_are_asked_for_by_two_moments(client: WebClient) -> None:
    for query in ("", "?from=2019", "?to=2021"):
        assert client.get(f"{C}/changes{query}").code == "InputError"
    found = client.get(f"{C}/changes?from=2019&to=2021").json
    assert (found["from"], found["to"]) == ("2019", "2021")
    assert found["changes"]


def test_the_state_of_a_corpus_is_read_anew_each_time(client: WebClient) -> None:
    plain, listed = client.get(f"{C}/status"), client.get(f"{C}/status?documents=true")
    assert plain.json["documents"] == 7
    assert ("ids" in plain.json, len(listed.json["ids"])) == (False, 7)
    for reply in (plain, client.post(f"{C}/map/places", {"entities": []})):
        assert reply.status == 200
        assert "etag" not in reply.headers


@pytest.fixture(scope="module")
def reader(corpus: Corpus) -> Iterator[WebClient]:
    with serving({"harbour": corpus}, ServeOptions(port=0, read_only=True)) as opened:
        yield opened


def test_a_server_that_only_reads_says_so(reader: WebClient) -> None:
    (found,) = reader.get("/api/v1/corpora").json["corpora"]
    assert found["writable"] is False


def test_the_methods_are_listed_without_a_corpus(client: WebClient) -> None:
    names = [m["name"] for m in client.get("/api/v1/methods").json["methods"]]
    assert {"graphrag", "hybrid", "bm25"} <= set(names)
    assert len(names) == len(set(names))
