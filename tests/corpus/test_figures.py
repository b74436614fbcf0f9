"""Figures of documents: described by a model that sees, once each, cited as such, not sent where they must not be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from figured import Body, described, images_in, pdf_with_images, png, shade_of
from office_files import needs_docs
from scripted import Script, ScriptedServer
from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import BudgetExceeded, SettingsError
from sensegraph.server.http.completions import list_sources
from sensegraph.server.texts import write_result
from sensegraph.server.tools import READING

PAGES: list[tuple[list[str], list[tuple[int, int, int]]]] = [
    (["Brackwater Labs builds the Heron buoy in Port Selby.", "Mara Voss leads Brackwater Labs."], []),
    (["Figure 1: Buoys of the year."], [(300, 200, 40), (20, 20, 1)]),
    (["The forecast service is called Undertow."], [(300, 200, 80)]),
]
SAYS = {
    40: described(
        "The chart shows how many Heron buoys Brackwater Labs delivered in each quarter of 2023.",
        "In the first quarter Brackwater Labs delivered 74 Heron buoys.",
        "In the fourth quarter Brackwater Labs delivered 122 Heron buoys.",
        words="Heron buoys delivered, 2023",
    ),
    80: described("", kind="decoration"),
    120: described("The photograph shows the red lighthouse of Norderhaven.", kind="photograph"),
}
QUESTION = "How many Heron buoys did Brackwater Labs deliver in the fourth quarter?"
SENTENCE = "In the fourth quarter Brackwater Labs delivered 122 Heron buoys."


def say_what_is_seen(body: Body) -> str | None:
    shown = images_in(body)
    return SAYS[shade_of(shown[0])] if shown else None


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(Script(reply=say_what_is_seen, keep_bodies=True)) as running:
        yield running


@pytest.fixture
def open_corpus(tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Corpus]:
    """A corpus that reads without a model, and has one that sees; further settings may be given."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    def open_it(**settings: Any) -> Corpus:
        sees = {"base_url": server.base_url, "vision_model": "seer-1", **settings.pop("endpoint", {})}
        given = {"engine": "offline", "embedder": "offline", "endpoint": sees, **settings}
        return Corpus.open(tmp_path / "corpus", settings=given)

    return open_it


def state_of(corpus: Corpus) -> tuple[Any, ...]:
    made = corpus.manifest()
    assert made is not None
    return corpus.document_keys(), made.chunks, made.graph, made.counts


def asked(server: ScriptedServer) -> int:
    return sum(bool(images_in(call.body)) for call in server.done())


@needs_docs
def test_a_chart_of_a_pdf_answers_a_question_and_is_cited_as_a_figure_of_its_page(
    open_corpus: Callable[..., Corpus], tmp_path: Path, server: ScriptedServer
) -> None:
    (tmp_path / "report.pdf").write_bytes(pdf_with_images(PAGES))
    with open_corpus() as corpus:
        added = corpus.add(tmp_path / "report.pdf")
        assert (added.figures.described, added.figures.unread, asked(server)) == (2, (), 2)
        corpus.build()
        answer = corpus.query(QUESTION)
        (cited,) = [c for c in answer.citations if c.quote == SENTENCE]
        assert (cited.document, cited.page) == ("report.pdf", 2)
        assert cited.figure is not None
        assert (cited.figure.number, cited.figure.described_by) == (1, "seer-1")
        assert f"report.pdf, p. 2, figure 1 (described by seer-1), {cited.start}-{cited.end} “{SENTENCE}”" in str(
            answer
        )
        whole = corpus.index().document("report.pdf").text
        assert whole[cited.start : cited.end] == SENTENCE
        text = corpus.query("Who leads Brackwater Labs?").citations[0]
        assert (text.quote, text.page, text.figure) == ("Mara Voss leads Brackwater Labs.", 1, None)


@needs_docs
def test_people_and_programs_are_told_of_the_figure(
    open_corpus: Callable[..., Corpus], tmp_path: Path, server: ScriptedServer
) -> None:
    (tmp_path / "report.pdf").write_bytes(pdf_with_images(PAGES))
    with open_corpus() as corpus:
        corpus.add(tmp_path / "report.pdf")
        corpus.build()
        (ask, read) = (next(tool for tool in READING if tool.name == name) for name in ("ask", "read"))
        told = ask.run(corpus, {"question": QUESTION})
        figure = {"number": 1, "described_by": "seer-1"}
        assert figure in [c.get("figure") for c in told["citations"]]
        assert re.search(
            r"\[report.pdf:\d+-\d+, p. 2, figure 1 \(described by seer-1\)\] “In", write_result("ask", told)
        )
        assert re.search(
            r"report.pdf, p. 2, figure 1 \(described by seer-1\), \d+–\d+: “In", list_sources(told["citations"])
        )
        place = corpus.index().document("report.pdf").text.index(SENTENCE)
        assert read.run(corpus, {"document": "report.pdf", "start": place})["figure"] == figure
        assert "figure" not in read.run(corpus, {"document": "report.pdf"})
    run = ["--root", str(tmp_path / "corpus"), "--engine", "offline"]
    shown = CliRunner().invoke(app, ["query", QUESTION, *run, "--json"])
    found = json.loads(shown.stdout)
    assert figure in [c.get("figure") for c in found["citations"]]
    assert figure in [p.get("figure") for e in found["evidence"] for p in e["places"]]
    assert (
        "report.pdf, p. 2, figure 1 (described by seer-1), "
        in CliRunner().invoke(app, ["search", QUESTION, *run]).stdout
    )


def test_an_image_is_described_once_wherever_it_is_and_a_changed_one_alone_anew(
    open_corpus: Callable[..., Corpus], tmp_path: Path, server: ScriptedServer
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "chart.png").write_bytes(png(shade=40))
    (folder / "photo.png").write_bytes(png(shade=120))
    (folder / "a.md").write_text("# Notes\n\nThe buoys ![Buoys](chart.png) and the tower ![Tower](photo.png).\n")
    (folder / "b.md").write_text("# More\n\nAgain ![Buoys](chart.png).\n")
    with open_corpus() as corpus:
        corpus.sync(folder)
        corpus.build()
        first = state_of(corpus)
        assert asked(server) == 2
        assert corpus.sync(folder).edited == ()
        assert asked(server) == 2
        (folder / "photo.png").write_bytes(png(height=130, shade=40))
        assert corpus.plan(folder).edited == ("a.md",)
        assert asked(server) == 2
        assert corpus.sync(folder).edited == ("a.md",)
        assert asked(server) == 3
        changed = corpus.build()
        assert changed.computed["chunks.chunk"] == 1
        (folder / "photo.png").write_bytes(png(shade=120))
        corpus.sync(folder)
        corpus.build()
        assert asked(server) == 3
        assert state_of(corpus) == first
    with Corpus.open(tmp_path / "anew", settings={"engine": "offline", "endpoint": corpus.settings.endpoint}) as anew:
        anew.sync(folder)
        anew.build()
        assert state_of(anew) == first


def test_what_the_source_says_keeps_its_chunks_whatever_is_told_of_figures(
    open_corpus: Callable[..., Corpus], tmp_path: Path
) -> None:
    (tmp_path / "chart.png").write_bytes(png(shade=40))
    (tmp_path / "a.md").write_text("# Notes\n\nThe buoys ![Buoys](chart.png) lie in Port Selby.\n")
    chunks = []
    for model in ("", "seer-1"):
        with open_corpus(endpoint={"vision_model": model}) as corpus:
            corpus.add(tmp_path / "a.md")
            corpus.build()
            index = corpus.index()
            chunks.append({c.id: index.chunks([c.id])[c.id].text for c in index.catalogue.chunks})
    assert chunks[0].items() < chunks[1].items()
    (more,) = chunks[1].keys() - chunks[0].keys()
    assert chunks[1][more].startswith("Buoys\nBar chart.\nThe chart shows how many Heron buoys")


def test_without_a_model_that_sees_it_is_said_how_many_images_were_not_read(
    open_corpus: Callable[..., Corpus], tmp_path: Path, server: ScriptedServer
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "chart.png").write_bytes(png(shade=40))
    (folder / "a.md").write_text("Some text ![Buoys](chart.png) and ![gone](gone.png).\n")
    page = (
        '<p>A tower.</p><figure><img src="chart.png" alt="Buoys a quarter"><figcaption>Figure 3</figcaption></figure>'
    )
    (folder / "b.html").write_text(page)
    run = ["index", str(folder), "--root", str(tmp_path / "plain"), "--engine", "offline"]
    done = CliRunner().invoke(app, [*run, "--json"])
    unread = json.loads(done.stdout)["figures"]["unread"]
    assert [(Path(u["path"]).name, u["images"]) for u in unread] == [("a.md", 2), ("b.html", 1)]
    assert "endpoint.vision_model" in unread[0]["reason"]
    assert "3 images were not read: " in done.stderr
    assert asked(server) == 0
    with Corpus.open(tmp_path / "plain") as corpus:
        assert corpus.documents()[1].text == "A tower.\n\n[Image: Buoys a quarter]\n\nFigure 3"


def test_an_estimate_counts_the_images_and_pays_nothing(
    open_corpus: Callable[..., Corpus], tmp_path: Path, server: ScriptedServer
) -> None:
    (tmp_path / "chart.png").write_bytes(png(shade=40))
    (tmp_path / "a.md").write_text("The buoys ![Buoys](chart.png) lie in Port Selby.\n")
    with open_corpus(endpoint={"price_vision_prompt": 2.0, "price_vision_completion": 8.0}) as corpus:
        found = corpus.estimate(tmp_path / "a.md")
        (step,) = [s for s in found.steps if s.step == "figures.describe"]
        assert (step.items, step.calls, found.calls, asked(server)) == (1, 1, 1, 0)
        assert found.cost_usd == pytest.approx((2 * step.prompt_tokens + 8 * step.completion_tokens) / 1e6)
        assert step.prompt_tokens > 255
        corpus.add(tmp_path / "a.md")
        assert [s for s in corpus.estimate(tmp_path / "a.md").steps if s.step == "figures.describe"] == []
        assert corpus.status().ledger["figures.describe"].calls == 1


def test_a_limit_holds_before_an_image_is_sent_and_what_was_paid_for_is_kept(
    open_corpus: Callable[..., Corpus], tmp_path: Path, server: ScriptedServer
) -> None:
    for n, shade in enumerate((40, 80, 120)):
        (tmp_path / f"{n}.png").write_bytes(png(shade=shade))
    (tmp_path / "a.md").write_text("".join(f"Text ![one more]({n}.png)\n" for n in range(3)))
    with open_corpus(endpoint={"max_tokens_total": 2500, "concurrency": 1}) as corpus, pytest.raises(BudgetExceeded):
        corpus.add(tmp_path / "a.md")
    before = asked(server)
    assert 0 < before < 3
    with open_corpus() as corpus:
        assert corpus.add(tmp_path / "a.md").figures.described == 3
    assert asked(server) == 3


def test_images_stay_here_where_personal_data_is_masked_unless_it_is_said(
    open_corpus: Callable[..., Corpus], tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SAYS, 120, described("The sign says: write to ada@finch.example for the key.", kind="sign"))
    (tmp_path / "sign.png").write_bytes(png(shade=120))
    (tmp_path / "a.md").write_text("The door ![A sign](sign.png) is blue.\n")
    personal = {"personal": {"mask": "mask", "kinds": ["email"]}}
    with open_corpus(**personal) as corpus:
        (unread,) = corpus.add(tmp_path / "a.md").figures.unread
        assert (unread.images, asked(server)) == (1, 0)
        assert "endpoint.vision_unmasked" in unread.reason
    with open_corpus(**personal, endpoint={"vision_unmasked": True}) as corpus:
        assert corpus.add(tmp_path / "a.md").figures.described == 1
        corpus.build()
        (document,) = corpus.documents()
        assert "The sign says: write to EMAIL-" in document.text
        assert corpus.index().figure(document.id, document.text.index("sign says")) is not None
        files = [p for p in (tmp_path / "corpus").rglob("*") if p.is_file()]
        assert files
        assert all(b"finch.example" not in p.read_bytes() for p in files)


def test_an_address_that_a_file_chose_gets_no_image_unapproved(
    tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_KEY", "secret-of-the-user")
    lines = ['engine = "offline"', "[endpoint]", 'vision_model = "seer-1"']
    chosen = f'vision_base_url = "{server.base_url}"\nvision_api_key_env = "OTHER_KEY"'
    (tmp_path / "sensegraph.toml").write_text("\n".join([*lines, chosen]))
    (tmp_path / "c.png").write_bytes(png(shade=40))
    (tmp_path / "a.md").write_text("The buoys ![Buoys](c.png).\n")
    with Corpus.open(tmp_path) as corpus, pytest.raises(SettingsError, match="OTHER_KEY"):
        corpus.add(tmp_path / "a.md")
    assert server.calls == []


def test_a_reply_that_cannot_be_used_leaves_its_image_unread_and_is_asked_for_again_next_time(
    open_corpus: Callable[..., Corpus], tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "c.png").write_bytes(png(shade=40))
    (tmp_path / "d.png").write_bytes(png(shade=120))
    (tmp_path / "a.md").write_text("The buoys ![Buoys](c.png) and the tower ![Tower](d.png).\n")
    good = SAYS[40]
    monkeypatch.setitem(SAYS, 40, "[]")
    with open_corpus() as corpus:
        found = corpus.add(tmp_path / "a.md").figures
        assert (found.described, [u.images for u in found.unread]) == (1, [1])
        assert [f.figure.number for f in corpus.documents()[0].figures] == [2]
        monkeypatch.setitem(SAYS, 40, good)
        assert corpus.add(tmp_path / "a.md").figures.described == 2
        assert [f.figure.number for f in corpus.documents()[0].figures] == [1, 2]


def test_collecting_keeps_what_was_told_of_documents_that_are_there_and_removes_the_rest(
    open_corpus: Callable[..., Corpus], tmp_path: Path, server: ScriptedServer
) -> None:
    for name, shade in (("a", 40), ("b", 120)):
        (tmp_path / f"{name}.png").write_bytes(png(shade=shade))
        (tmp_path / f"{name}.md").write_text(f"Text of {name} with ![A picture]({name}.png).\n")
    with open_corpus() as corpus:
        corpus.add(tmp_path / "a.md", tmp_path / "b.md")
        corpus.build()
        corpus.remove("b.md")
        corpus.build()
        corpus.collect()
        files = [p.read_bytes() for p in (tmp_path / "corpus").rglob("*") if p.is_file()]
        assert not any(b"red lighthouse" in data for data in files)
        corpus.add(tmp_path / "a.md")
        assert asked(server) == 2
        corpus.add(tmp_path / "b.md")
        assert asked(server) == 3
