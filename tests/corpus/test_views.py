"""The JSON shapes of values, to the letter: what is in them, and what only stands where it is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.corpus import views
from sensegraph.corpus.workspace import Status
from sensegraph.graphs.drawing.community_map import CommunityDisc, CommunityInside, EntityDot, Link
from sensegraph.graphs.interchange.neo4j_server import Pulled, Pushed
from sensegraph.graphs.match.matches import Matches
from sensegraph.index.browse.pages import DocumentPage
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.types import Answer, Chunk, Citation, CitedFigure, Description, Evidence, Passage, Source, Usage

HASHED = "0123456789abcdef" * 2


def index(**titles: str) -> Any:
    """An index of one chunk for each document, which begins at its tenth character."""
    chunks = {f"{name}-0": Chunk(f"{name}-0", name, 10, 30, 4, "x" * 20) for name in titles}
    return SimpleNamespace(
        chunks=lambda ids: {i: chunks[i] for i in ids if i in chunks},
        document=lambda name: SimpleNamespace(title=titles[name], pages=()),
        page=lambda document, start: None,
        figure=lambda document, start: None,
    )


def test_a_figure_is_told_of_only_where_a_citation_has_one() -> None:
    plain, seen = Citation(1, "a", 0, 4, "So i"), Citation(2, "b", 1, 5, "o it", 3, CitedFigure(2, "seer-1"))
    shown = views.view_answer(Answer("So. [1][2]", (plain, seen)), index(a="A", b="B"))["citations"]
    assert [set(one) - {"marker", "document", "start", "end", "quote"} for one in shown] == [
        {"page"},
        {"page", "figure"},
    ]
    assert (shown[0]["page"], shown[1]["figure"]) == (None, {"number": 2, "described_by": "seer-1"})


def test_a_document_whose_name_is_a_hash_is_cited_with_its_title() -> None:
    titles = {HASHED: "The keeper", HASHED[::-1]: "", "a" * 31: "Too short", "notes": "Notes"}
    assert views.find_document_titles(titles, index(**titles)) == {HASHED: "The keeper"}
    cited = tuple(Citation(n, name, 0, 1, "S") for n, name in enumerate(titles, 1))
    shown = views.view_answer(Answer("So.", cited), index(**titles))["citations"]
    assert [one.get("title") for one in shown] == ["The keeper", None, None, None]


def test_a_passage_has_the_places_of_its_sources_and_quotes_each_once() -> None:
    passage = Passage(
        "entity", "e", "Ada", 2.0,
        sources=(Source("b-0", 1, 4), Source("a-0", 2, 3), Source("gone", 0, 1)),
        quotes=(Description("x", Source("b-0", 1, 4)), Description("y", Source("b-0", 5, 6))),
    )  # fmt: skip
    placed = views.list_passage_places([passage, Passage("chunk", "c", "")], index(a="", b=""))
    assert placed == [[("b", 11, 14), ("a", 12, 13), ("b", 15, 16)], []]
    assert views.list_passage_documents([passage], index(a="", b="")) == [["b", "a"]]
    shown = views.view_evidence(Evidence((passage,), ("b", "a"), tokens=7), index(a="", b=""))
    assert (shown["documents"], shown["tokens"]) == (["b", "a"], 7)
    (one,) = shown["evidence"]
    assert (one["kind"], one["id"], one["score"], one["text"], one["documents"]) == (
        "entity",
        "e",
        2.0,
        "Ada",
        ["b", "a"],
    )
    assert [(p["document"], p["start"], p["end"]) for p in one["places"]] == placed[0]


def test_the_state_of_a_corpus_has_all_counts_and_its_documents_where_they_were_asked_for() -> None:
    spent = {"extract": Usage(calls=2)}
    found = Status(3, 2, {"documents": 2, "entities": 5, "triples": 1}, (4, 1), "rules", "terms", spent, ("add",), 99)
    view = views.view_status(found, None)
    assert {k: view[k] for k in ("documents", "indexed", "chunks", "entities", "relations", "claims", "triples")} == {
        "documents": 3, "indexed": 2, "chunks": 0, "entities": 5, "relations": 0, "claims": 0, "triples": 1,
    }  # fmt: skip
    assert (view["clusters"], view["pending"], view["size_bytes"], view["left_out"]) == ([4, 1], ["add"], 99, [])
    assert view["spend"]["extract"]["calls"] == 2
    assert "ids" not in view
    assert views.view_status(found, ())["ids"] == []
    assert views.view_status(found, ("a",)) == view | {"ids": ["a"]}


def test_rows_that_match_are_told_with_citations_only_where_these_were_asked_for() -> None:
    disc = Link("a", "b", 0.5)
    found = Matches(("name", "path"), (("Ada", (disc, 2)), ("Bo", ())), 9, notes=("n",))
    assert views.view_matches(found) == {
        "columns": ("name", "path"),
        "rows": [
            {"name": "Ada", "path": [{"source": "a", "target": "b", "weight": 0.5}, 2]},
            {"name": "Bo", "path": []},
        ],
        "found": 9,
        "notes": ("n",),
    }
    cited = Matches(("name",), (("Ada",),), 1, ((1,),), (Citation(1, "a", 0, 4, "So i"),))
    view = views.view_matches(cited)
    assert view["marks"] == ((1,),)
    assert [c["quote"] for c in view["citations"]] == ["So i"]


def test_a_document_is_shown_without_what_was_not_asked_for() -> None:
    page = DocumentPage("a", "A", "", (("year", 2020), ("by", None)), "So", 0, 2, 9)
    view = views.view_document(page, original=False)
    assert view == {
        "id": "a", "title": "A", "time": "", "metadata": {"year": 2020, "by": None},
        "text": "So", "start": 0, "end": 2, "length": 9, "original": False,
    }  # fmt: skip
    paged = DocumentPage("a", "A", "", (), "So", 0, 2, 9, pages=(0, 5), mentions=(), entities=())
    assert views.view_document(paged, original=True) == view | {
        "metadata": {}, "pages": [0, 5], "mentions": [], "entities": [], "original": True,
    }  # fmt: skip


def test_a_community_from_inside_is_told_with_its_own_place_and_its_members_without_theirs() -> None:
    disc = CommunityDisc("c", "Lamps", 2, None, 1.0, 2.0, 3.0, "#123456")
    dot = EntityDot("e", "Ada", "person", 4, 5.0, 6.0, 7.0, ("c",))
    view = views.view_community(CommunityInside(disc, 1, "All of it.", (), (), (dot,), (), 3))
    assert view == {
        "id": "c", "title": "Lamps", "entities": 2, "parent": None, "x": 1.0, "y": 2.0, "r": 3.0, "colour": "#123456",
        "depth": 1, "summary": "All of it.", "communities": [], "bundles": [], "links": [], "left_out": 3,
        "members": [{"id": "e", "name": "Ada", "type": "person", "degree": 4, "x": 5.0, "y": 6.0, "r": 7.0}],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("calls", "tokens", "limits", "seconds"),
    [
        (0, 0, {}, 0.0),
        (12, 0, {"concurrency": 4}, 15.0),
        (2, 0, {"concurrency": 4}, 5.0),
        (2, 0, {"concurrency": 0}, 10.0),
        (12, 9_000, {"concurrency": 4, "tokens_per_minute": 3_000}, 180.0),
        (12, 0, {"concurrency": 4, "requests_per_minute": 6}, 120.0),
    ],
)
def test_an_estimate_takes_as_long_as_its_tightest_limit(
    calls: int, tokens: int, limits: dict[str, int], seconds: float
) -> None:
    found: Any = SimpleNamespace(calls=calls, tokens=tokens)
    assert views.estimate_seconds(found, replace(EndpointSettings(), **limits)) == seconds


def test_what_a_server_of_neo4j_sent_is_counted_and_its_files_are_named() -> None:
    assert views.view_counts(Pushed(2, 3, 0, 1, 0)) == {
        "entities": 2, "relations": 3, "claims": 0, "removed_nodes": 1, "removed_edges": 0,
    }  # fmt: skip
    assert views.view_counts(Pulled((Path("a/b"),), 2, 3, ("n",))) == {
        "entities": 2, "relations": 3, "notes": ("n",), "files": ["a/b"],
    }  # fmt: skip
