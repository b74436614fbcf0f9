"""What is cited from a document with pages says its page, wherever it is shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from office_files import needs_docs, pdf
from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.server.http.completions import list_sources
from sensegraph.server.texts import write_result
from sensegraph.server.tools import READING

PAGES = [
    ["Ada Finch keeps the lighthouse of Skerry Point.", "Ada Finch wrote to the Harbour Board in March 2019."],
    ["The Harbour Board met in Port Ellery.", "Tom Reeve asked the Harbour Board to pay Ada Finch."],
    [],
    ["In April 2020 a storm broke the lamp of Skerry Point.", "Tom Reeve sailed there from Port Ellery."],
    ["Greta Moll mended the lamp of Skerry Point and wrote to the"],
    ["harbour board in June 2020.", "Ida Holt counts the oil of the lamp of Skerry Point."],
]
QUESTIONS = ("Who keeps the lighthouse of Skerry Point?", "Who mended the lamp?", "Who counts the oil?", "Tom Reeve")
pytestmark = needs_docs


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """A PDF, and a text without pages."""
    root = tmp_path_factory.mktemp("paged")
    (root / "sensegraph.toml").write_text('engine = "offline"\n')
    (root / "input").mkdir()
    (root / "input" / "report.pdf").write_bytes(pdf(PAGES))
    (root / "input" / "note.txt").write_text("Ada Finch keeps a dog. Tom Reeve is her friend in Port Ellery.")
    with Corpus.open(root) as opened:
        opened.sync(root / "input")
        opened.build()
        yield opened


def find_places(value: Any) -> Iterator[dict[str, Any]]:
    """All objects inside of a value that are spans of documents."""
    if isinstance(value, dict):
        if value.keys() >= {"document", "start", "end"}:
            yield value
        value = list(value.values())
    if isinstance(value, list | tuple):
        for x in value:
            yield from find_places(x)


def check_pages(value: Any, corpus: Corpus) -> set[int | None]:
    """Assert that each span says the page that holds its first line; the pages that were said."""
    said = set()
    for place in find_places(value):
        text = corpus.index().document(place["document"]).text[place["start"] : place["end"]]
        line = text.split("\n")[0].strip()
        holding = [n for n, lines in enumerate(PAGES, 1) if any(line in x for x in lines)]
        assert place["page"] in (holding if place["document"] == "report.pdf" else [None]), place
        said.add(place["page"])
    return said


def test_every_span_of_an_answer_says_the_page_that_holds_it(corpus: Corpus) -> None:
    said = set()
    for question in QUESTIONS:
        for command in ("query", "search"):
            found = json.loads(run(corpus, command, question, "--json"))
            said |= check_pages(found, corpus)
    assert said >= {None, 1, 4, 5, 6}


def test_every_span_of_what_is_browsed_says_its_page(corpus: Corpus) -> None:
    assert check_pages(asdict(corpus.entity("Tom Reeve")), corpus) == {None, 2}
    assert check_pages([asdict(corpus.report(r.id)) for r in corpus.reports()], corpus) - {None}
    assert check_pages([asdict(e) for e in corpus.timeline("Ada Finch")], corpus) == {1}
    found = corpus.match("(a)-[r]-(b)", cite=True)
    assert check_pages([asdict(c) for c in found.citations], corpus) - {None}


def test_a_sentence_that_goes_on_over_the_page_is_one_quotation(corpus: Corpus) -> None:
    (cited, *_) = corpus.query("Who mended the lamp?").citations
    assert (cited.quote.split(), cited.page) == ([*PAGES[4][0].split(), *PAGES[5][0].split()], 5)


def test_people_and_programs_are_told_the_page(corpus: Corpus) -> None:
    assert "report.pdf, p. 1, 0-47 “Ada Finch keeps" in run(corpus, "query", QUESTIONS[0])
    assert "report.pdf, p. 6, " in run(corpus, "search", QUESTIONS[2])
    (ask,) = (tool for tool in READING if tool.name == "ask")
    told = ask.run(corpus, {"question": QUESTIONS[0]})
    assert "[report.pdf:0-47, p. 1] “Ada" in write_result("ask", told)
    assert "report.pdf, p. 1, 0–47: “Ada" in list_sources(told["citations"])
    (read,) = (tool for tool in READING if tool.name == "read")
    place = corpus.index().document("report.pdf").text.index("Ida Holt")
    assert read.run(corpus, {"document": "report.pdf", "start": place})["page"] == 6
    assert "page" not in read.run(corpus, {"document": "note.txt"})


def test_pages_stay_where_they_are_when_files_are_followed_again(corpus: Corpus) -> None:
    plan = corpus.sync(corpus.root / "input")
    assert sorted(plan.same) == ["note.txt", "report.pdf"]
    assert corpus.browser.document("report.pdf").pages == corpus.index().document("report.pdf").pages
    assert len(corpus.index().document("report.pdf").pages) == 6
    assert corpus.browser.document("note.txt").pages is None


def test_pages_stay_where_they_are_in_tables_that_are_written_and_read_again(corpus: Corpus, tmp_path: Path) -> None:
    run(corpus, "export", str(tmp_path / "tables"))
    (tmp_path / "sensegraph.toml").write_text('engine = "offline"\n')
    wanted = corpus.index().document("report.pdf")
    with Corpus.open(tmp_path) as other:
        run(other, "import", str(tmp_path / "tables"))
        index = other.index()
        (name,) = (d.id for d in index.catalogue.documents if index.document(d.id).text == wanted.text)
        assert index.document(name).pages == wanted.pages
        found = json.loads(run(other, "search", QUESTIONS[2], "--method", "bm25", "--json"))
        assert {(p["document"], p["page"]) for p in find_places(found)} == {(name, 1)}


def test_pages_of_masked_documents_are_those_of_the_file(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "sensegraph.toml").write_text('engine = "offline"\n[personal]\nmask = "mask"\nkinds = ["email"]\n')
    lines = [[f"Write to keeper{n}@skerry.example about the {word}."] for n, word in enumerate(("lamp", "oil", "boat"))]
    (tmp_path / "report.pdf").write_bytes(pdf(lines))
    with Corpus.open(tmp_path) as masked:
        masked.add(tmp_path / "report.pdf")
        masked.build(parts=[])
        places = find_places(json.loads(run(masked, "search", "boat", "--method", "bm25", "--json")))
        text = masked.index().document("report.pdf").text
        assert "skerry.example" not in text
        assert [p["page"] for p in places] == [1]
        assert masked.index().page("report.pdf", text.index("boat")) == 3


def run(corpus: Corpus, *words: str) -> str:
    done = CliRunner().invoke(app, [*words, "--root", str(corpus.root)])
    assert done.exit_code == 0, done.output
    return done.stdout
