"""What a page reads: documents with the names in them, entities, the map, tags of what has not changed, its files."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.server.http.corpora import name_corpora
from sensegraph.server.http.pages import Page
from sensegraph.types import Document
from web_client import WebClient, serving

C = "/api/v1/harbour"


def test_the_list_of_corpora_says_what_each_holds(client: WebClient, corpus: Corpus) -> None:
    (found,) = client.get("/api/v1/corpora").json["corpora"]
    index = corpus.index()
    assert found.pop("indexed_at").startswith("20")
    assert found == {
        "name": "harbour", "documents": 7, "entities": len(index.graph.entities), "engine": "offline", "pending": 0,
        "writable": True, "originals": True, "index": corpus.workspace.index_key(),
    }  # fmt: skip


# ── documents ──


def test_documents_are_listed_page_by_page(client: WebClient) -> None:
    whole = client.get(f"{C}/documents").json
    pages, cursor = list[dict[str, Any]](), "0"
    while cursor is not None:
        page = client.get(f"{C}/documents?limit=3&cursor={cursor}").json
        pages += page["documents"]
        cursor = page["next"]
    assert pages == whole["documents"]
    assert (whole["found"], whole["next"], len(pages)) == (7, None, 7)
    first = pages[0]
    assert (first["id"], first["title"], first["time"]) == ("letter-2019", "letter 2019", "2019-06-01")
    assert (first["metadata"], first["state"]) == ({"kind": "letter", "year": 2019}, "indexed")
    assert first["entities"] > 3


def test_documents_are_found_by_a_part_of_their_name(client: WebClient) -> None:
    found = client.get(f"{C}/documents?q=LETTER%202").json
    assert [d["id"] for d in found["documents"]] == ["letter-2019", "letter-2023"]
    assert client.get(f"{C}/documents?q=nowhere").json["found"] == 0


def test_a_document_shows_where_it_names_its_entities(client: WebClient) -> None:
    page = client.get(f"{C}/documents/minutes-2019?mentions=true").json
    names = {e["id"]: e["name"] for e in page["entities"]}
    told = [(page["text"][m["start"] : m["end"]], names[m["entity"]]) for m in page["mentions"]]
    assert ("Ada Finch", "Ada Finch") in told
    assert ("Harbour Council", "Harbour Council") in told
    assert len(told) > 8
    starts = [(m["start"], m["end"]) for m in page["mentions"]]
    assert all(end <= begin for (_, end), (begin, _) in pairwise(starts))
    assert "mentions" not in client.get(f"{C}/documents/minutes-2019").json


@pytest.mark.parametrize("query", ["start=-1", "start=x", "end=1.5", "start=99999999999999999999"])
def test_a_part_of_a_document_is_asked_for_by_numbers(client: WebClient, query: str) -> None:
    assert client.get(f"{C}/documents/minutes-2019?{query}").status == 400


def test_a_part_ends_with_the_text(client: WebClient) -> None:
    page = client.get(f"{C}/documents/minutes-2019?start=100000&end=200000").json
    assert (page["text"], page["start"], page["end"]) == ("", page["length"], page["length"])


def test_what_is_not_there_is_not_found(client: WebClient) -> None:
    for path in (
        "documents/none",
        "entities/none",
        "entities/none/timeline",
        "reports/none",
        "map/none",
        "map?depth=9",
    ):
        reply = client.get(f"{C}/{path}")
        assert (reply.status, reply.code) == (404, "NotFound")


def test_documents_that_wait_say_so(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as opened, serving({"c": opened}) as client:
        opened.add(Document("a", "Ada Finch met Tom Reeve."), Document("b", "Nora Blythe met Ivo Marsh.", "the second"))

        def states() -> dict[str, str]:
            return {d["id"]: d["state"] for d in client.get("/api/v1/c/documents").json["documents"]}

        tags = [client.get("/api/v1/c/documents").headers["etag"]]
        assert states() == {"a": "new", "b": "new"}
        assert client.get("/api/v1/c/documents?q=B").json["documents"][0]["title"] == "the second"
        opened.build()
        assert client.get("/api/v1/c/documents?q=second").json["documents"][0]["id"] == "b"
        tags.append(client.get("/api/v1/c/documents").headers["etag"])
        assert states() == {"a": "indexed", "b": "indexed"}
        opened.add(Document("a", "Ada Finch met Lena Oak."), Document("c", "Lena Oak paints."))
        opened.remove("b")
        tags.append(client.get("/api/v1/c/documents").headers["etag"])
        assert states() == {"a": "changed", "b": "removed", "c": "new"}
        assert len(set(tags)) == 3


def test_a_corpus_that_masks_shows_no_original(tmp_path: Path) -> None:
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "ann.txt").write_text("Ann Lee can be reached at ann.lee@example.org.")
    given = {"engine": "offline", "personal": {"mask": "mask"}}
    with Corpus.open(tmp_path, settings=given) as opened, serving({"c": opened}) as client:
        opened.add(tmp_path / "input")
        opened.build()
        (row,) = client.get("/api/v1/c/documents").json["documents"]
        page = client.get(f"/api/v1/c/documents/{row['id']}?mentions=true")
        assert page.status == 200
        assert b"ann.lee@example.org" not in page.body
        assert page.json["original"] is False
        refused = client.get("/api/v1/c/documents/ann.txt/original")
        assert (refused.status, refused.code) == (403, "Forbidden")
        assert client.get("/api/v1/corpora").json["corpora"][0]["originals"] is False


# ── entities, and the map ──


def test_entities_are_listed_those_with_most_neighbours_first(client: WebClient, corpus: Corpus) -> None:
    whole = client.get(f"{C}/entities?limit=500").json
    assert [e["id"] for e in whole["entities"]] == [e.id for e in corpus.entities()]
    assert whole["found"] == len(whole["entities"]) > 10
    named = client.get(f"{C}/entities?q=finch&type=PERSON").json
    assert [e["name"] for e in named["entities"]] == ["Ada Finch"]
    assert client.get(f"{C}/entities?q=finch&type=place").json["entities"] == []
    assert client.get(f"{C}/entities?limit=2").json["next"] == "2"


def test_the_map_has_every_community_and_every_entity_a_place(client: WebClient, corpus: Corpus) -> None:
    top = client.get(f"{C}/map").json
    reports = {r.id: r for r in corpus.reports()}
    assert {c["id"] for c in top["communities"]} == reports.keys()
    assert top["depths"] == corpus.index().depth
    members = dict[str, dict[str, Any]]()
    for community in top["communities"]:
        inside = client.get(f"{C}/map/{community['id']}").json
        assert {k: inside[k] for k in community} == community
        assert len(inside["members"]) == inside["entities"] == reports[community["id"]].entities
        ids = {m["id"] for m in inside["members"]}
        assert all({link["source"], link["target"]} <= ids for link in inside["links"])
        members |= {m["id"]: m for m in inside["members"]}
        if community["r"]:
            away = [(m["x"] - inside["x"]) ** 2 + (m["y"] - inside["y"]) ** 2 for m in inside["members"]]
            assert max(away) <= (inside["r"] + 0.2) ** 2
    assert len(members) == top["entities"] == len(corpus.index().graph.entities)
    known = {c["id"] for c in top["communities"]}
    assert top["bundles"]
    assert all({b["source"], b["target"]} <= known for b in top["bundles"])


def test_what_an_answer_read_is_found_on_the_map(client: WebClient, corpus: Corpus) -> None:
    answer = client.post(f"{C}/query", {"question": "Who keeps the lighthouse of Skerry Point?"}).json
    places = [place for p in answer["evidence"] for place in p["places"]]
    lit = client.post(f"{C}/map/places", {"entities": [], "places": places}).json["entities"]
    names = {e["name"] for e in lit}
    assert {"Ada Finch", "Skerry Point"} <= names
    assert len(names) < len(corpus.index().graph.entities)
    finch = corpus.entities("Ada Finch")[0].id
    (dot,) = client.post(f"{C}/map/places", {"entities": [finch, "none"]}).json["entities"]
    assert (dot["id"], len(dot["communities"])) == (finch, corpus.index().depth)
    elsewhere = {"places": [{"document": "none", "start": 0, "end": 9}]}
    assert client.post(f"{C}/map/places", elsewhere).json["entities"] == []


# ── tags and packing ──


def test_what_has_not_changed_is_not_sent_again(client: WebClient) -> None:
    for path in ("reports", "map", "documents", "entities", "documents/minutes-2019"):
        reply = client.get(f"{C}/{path}")
        assert reply.headers["cache-control"] == "private, no-cache"
        again = client.get(f"{C}/{path}", **{"If-None-Match": reply.headers["etag"]})
        assert (again.status, again.body) == (304, b"")
        assert client.get(f"{C}/{path}", **{"If-None-Match": '"another"'}).status == 200


def test_long_answers_are_packed_for_who_takes_that(client: WebClient) -> None:
    plain = client.get(f"{C}/documents/minutes-2019?mentions=true")
    packed = client.get(f"{C}/documents/minutes-2019?mentions=true", **{"Accept-Encoding": "gzip, br"})
    assert packed.headers["content-encoding"] == "gzip"
    assert json.loads(gzip.decompress(packed.body)) == plain.json
    assert len(packed.body) < len(plain.body)
    assert packed.headers["vary"] == "Accept-Encoding"
    assert "content-encoding" not in client.get("/api/v1/session", **{"Accept-Encoding": "gzip"}).headers


# ── the page, and the description of the API ──


@pytest.fixture
def page(tmp_path: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, WebClient]]:
    (tmp_path / "index.html").write_text("<!doctype html><title>page</title>")
    (tmp_path / "app.js").write_text("export const n = 1;\n" * 100)
    (tmp_path / "secret.py").write_text("x")
    monkeypatch.setattr("sensegraph.server.app.Page", lambda: Page(tmp_path))
    with serving({"harbour": corpus}) as client:
        yield tmp_path, client


def test_the_page_is_served_as_it_is_and_again_when_it_changes(page: tuple[Path, WebClient]) -> None:
    folder, client = page
    for path in ("/", "/c/harbour/ask", "/c/harbour/read/a%2Fb.txt"):
        reply = client.get(path)
        assert (reply.status, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert reply.body == b"<!doctype html><title>page</title>"
    script = client.get("/page/app.js", **{"Accept-Encoding": "gzip"})
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    assert gzip.decompress(script.body) == (folder / "app.js").read_bytes()
    tag = script.headers["etag"]
    assert client.get("/page/app.js", **{"If-None-Match": tag}).status == 304
    (folder / "app.js").write_text("export const n = 2;")
    assert client.get("/page/app.js", **{"If-None-Match": tag}).body == b"export const n = 2;"
    assert client.get("/page/secret.py").status == 404
    assert client.get("/page/none.js").status == 404


def test_the_description_names_every_route_and_every_body(client: WebClient) -> None:
    told = client.get("/api/v1/openapi.json").json
    schemas = told["components"]["schemas"]
    assert {"QueryBody", "ScopeBody", "MatchBody", "ChatBody", "JobBody"} <= schemas.keys()
    asked = [operation for path in told["paths"].values() for operation in path.values()]
    assert len({o["operationId"] for o in asked}) == len(asked) > 30
    wanted = [o["requestBody"]["content"]["application/json"]["schema"]["$ref"] for o in asked if "requestBody" in o]
    assert all(reference.rpartition("/")[2] in schemas for reference in wanted)
    assert told["paths"]["/api/v1/{corpus}/jobs"]["post"]["security"] == [{"token": ["write"]}]
    for path, operations in told["paths"].items():
        for operation in operations.values():
            must = {p["name"] for p in operation["parameters"] if p.get("required") and p["in"] == "path"}
            assert must == set(re.findall(r"{(\w+)}", path))
            assert not any(p.get("required") for p in operation["parameters"] if p["in"] == "query")
            assert operation.get("requestBody", {"required": True})["required"]


def test_a_corpus_has_the_name_of_its_folder(tmp_path: Path) -> None:
    from sensegraph.errors import InputError

    found = name_corpora([tmp_path / "my notes", tmp_path / "Bücher.v2"])
    assert list(found) == ["my-notes", "Bücher.v2"]
    with pytest.raises(InputError, match="another named"):
        name_corpora([tmp_path / "a" / "x", tmp_path / "b" / "x"])
