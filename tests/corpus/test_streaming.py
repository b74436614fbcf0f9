"""Answers as pieces while they are written, corpora that are awaited, and graphs as frames of other libraries."""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
from pathlib import Path
from typing import Any

import networkx
import pandas
import polars
import pyarrow
import pytest

from harbour import papers
from sensegraph import AsyncAnswerStream, AsyncCorpus, Condition, Corpus, Scope, StopToken
from sensegraph.async_corpus import await_method
from sensegraph.corpus.asker import AnswerStream
from sensegraph.errors import InputError, NotIndexed, SensegraphError, SettingsError, Stopped
from sensegraph.runtime.activity import check_stop
from sensegraph.types import Answer, Citation

ASKED = "What did Ada Finch ask the Harbour Council?"
OFFLINE = {"engine": "offline", "index": {"parts": ["graph", "reports"]}}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("streamed")
    with Corpus.open(root, settings=OFFLINE) as corpus:
        corpus.add(papers())
        corpus.build()
    return root


def test_the_pieces_of_a_stream_are_the_text_of_its_answer(root: Path) -> None:
    with Corpus.open(root, settings=OFFLINE) as corpus:
        stream = corpus.stream(ASKED, scope=Scope(documents=("letter*", "minutes*")))
        pieces = list(stream)
        assert all(pieces)
        assert "".join(pieces) == stream.answer.text
        assert stream.answer.citations == corpus.ask(ASKED, scope=Scope(documents=("letter*", "minutes*"))).citations
        assert list(stream) == []
        with pytest.raises(InputError, match="empty"):
            corpus.stream(" ")


@pytest.mark.parametrize(
    ("question", "given", "named"),
    [
        (ASKED, {"method": "nosuch"}, "nosuch"),
        (ASKED, {"method": "local", "hopps": 2}, "hopps"),
        (ASKED, {"scope": "letter*"}, "letter"),
        (ASKED, {"scope": Scope(since="soon")}, "since"),
        (ASKED, {"scope": Scope(documents=("nosuch*",))}, "leaves none of the"),
        (ASKED, {"scope": Scope(where=(Condition("nosuch", "=", 1),))}, "No document has the field"),
        (ASKED, {"method": "raptor"}, "without its part 'tree'"),
        (None, {}, "NoneType"),
    ],
)
def test_a_stream_of_what_cannot_be_asked_raises_before_it_is_there(
    root: Path, question: Any, given: dict[str, Any], named: str
) -> None:
    with Corpus.open(root, settings=OFFLINE) as corpus:
        for stream in (corpus.stream, AsyncCorpus(corpus).stream):
            with pytest.raises(SensegraphError, match=named):
                stream(question, **given)


def test_a_stream_of_a_corpus_without_an_index_raises_at_once(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings=OFFLINE) as corpus:
        for stream in (corpus.stream, AsyncCorpus(corpus).stream):
            with pytest.raises(NotIndexed):
                stream(ASKED)


def test_an_awaited_stream_is_left_as_the_other_is(root: Path) -> None:
    begun, ended = threading.Event(), threading.Event()

    def ask(hear: object) -> Answer:
        hear("a piece")  # type: ignore[operator]
        begun.set()
        try:
            while not ended.wait(0.01):
                check_stop()
        except Stopped:
            ended.set()
            raise
        return Answer("whole")

    async def work() -> None:
        async with AsyncAnswerStream(AnswerStream(ask)) as stream:
            assert await anext(stream) == "a piece"
            begun.wait(5)
        with pytest.raises(Stopped):
            await stream.answer()

    asyncio.run(work())
    assert ended.is_set()


def test_a_task_that_is_cancelled_while_it_waits_for_a_piece_gives_the_answer_up() -> None:
    begun, ended = threading.Event(), threading.Event()

    def ask(hear: object) -> Answer:
        begun.set()
        try:
            while not ended.wait(0.01):
                check_stop()
        except Stopped:
            ended.set()
            raise
        return Answer("whole")

    async def work() -> None:
        stream = AsyncAnswerStream(AnswerStream(ask))
        waiting = asyncio.create_task(anext(stream))
        assert await asyncio.to_thread(begun.wait, 5)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await asyncio.to_thread(ended.wait, 5)
        with pytest.raises(Stopped):
            await stream.answer()

    asyncio.run(work())
    assert ended.is_set()


def test_a_stream_that_is_left_stops_what_is_computed() -> None:
    begun, ended = threading.Event(), threading.Event()

    def ask(hear: object) -> Answer:
        hear("a piece")  # type: ignore[operator]
        begun.set()
        try:
            for _ in range(1000):
                check_stop()
                ended.wait(0.01)
        except Stopped:
            ended.set()
            raise
        return Answer("whole")

    with AnswerStream(ask) as stream:
        assert next(stream) == "a piece"
        begun.wait(5)
    assert ended.wait(5)
    with pytest.raises(Stopped):
        _ = stream.answer


def test_a_corpus_is_awaited_and_several_questions_at_once(root: Path) -> None:
    async def work() -> tuple[list[Answer], str, Answer]:
        async with AsyncCorpus.open(root, settings=OFFLINE) as corpus:
            both = await asyncio.gather(corpus.query(ASKED), corpus.ask("Who is Nora Blythe?", method="hybrid"))
            stream = corpus.stream(ASKED)
            told = "".join([piece async for piece in stream])
            return list(both), told, await stream.answer()

    answers, told, whole = asyncio.run(work())
    assert answers[1].method == "hybrid"
    assert "Nora Blythe" in answers[1].text
    assert told == whole.text == answers[0].text
    assert whole.citations


def test_what_is_cancelled_is_asked_to_stop() -> None:
    begun, stopped = threading.Event(), threading.Event()

    def work(corpus: object) -> None:
        begun.set()
        try:
            while not stopped.wait(0.01):
                check_stop()
        except Stopped:
            stopped.set()
            raise

    async def cancel() -> None:
        task = asyncio.create_task(await_method(work)(AsyncCorpus(None)))  # type: ignore[arg-type]
        while not begun.is_set():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert stopped.wait(5)


def test_every_method_of_a_corpus_has_a_twin_with_its_parameters_and_docstring() -> None:
    own = {name: f for name, f in vars(Corpus).items() if inspect.isfunction(f) and not name.startswith("_")}
    apart = {"runtime", "index", "manifest", "masked", "document_keys", "documents"}  # at hand on `corpus`
    assert len(own) > 25
    assert set(own) - apart == {name for name in vars(AsyncCorpus) if not name.startswith("_")} - {"open"}
    for name in set(own) - apart:
        twin = getattr(AsyncCorpus, name)
        told, wanted = inspect.signature(twin), inspect.signature(own[name])
        assert told.parameters == wanted.parameters, name
        assert told.return_annotation == ("AsyncAnswerStream" if name == "stream" else wanted.return_annotation), name
        assert twin.__doc__ == own[name].__doc__
        assert inspect.iscoroutinefunction(twin) == (name != "stream")
    assert inspect.signature(AsyncCorpus.open).parameters == inspect.signature(Corpus.open).parameters


def test_a_graph_is_tables_of_other_libraries(root: Path) -> None:
    with Corpus.open(root, settings=OFFLINE) as corpus:
        graph, index = corpus.graph(), corpus.index()
        counts = {"entities": len(index.graph.entities), "relations": len(index.graph.relations)}
        counts |= {"claims": len(index.graph.claims), "communities": len(graph.communities)}
        entities = graph.entities.rows()
    assert min(counts.values()) > 0
    assert entities[0]["name"]
    arrow, pandas_frames, polars_frames = graph.to_arrow(), graph.to_pandas(), graph.to_polars()
    assert all(isinstance(table, pyarrow.Table) for table in arrow.values())
    assert all(isinstance(frame, pandas.DataFrame) for frame in pandas_frames.values())
    assert all(isinstance(frame, polars.DataFrame) for frame in polars_frames.values())
    for frames in (arrow, pandas_frames, polars_frames):
        assert {name: len(frame) for name, frame in frames.items()} == counts
    assert polars_frames["entities"].to_dicts() == entities
    assert arrow["communities"].to_pylist() == graph.communities.rows()
    assert list(pandas_frames["relations"]["source"]) == list(graph.relations.columns["source"])


def test_a_graph_is_a_network(root: Path) -> None:
    with Corpus.open(root, settings=OFFLINE) as corpus:
        graph = corpus.graph()
    made = graph.to_networkx()
    assert isinstance(made, networkx.MultiDiGraph)
    assert (made.number_of_nodes(), made.number_of_edges()) == (len(graph.entities), len(graph.relations))
    row = graph.relations.rows()[0]
    assert made.edges[row["source"], row["target"], row["id"]]["weight"] == row["weight"]
    names = dict(made.nodes(data="name"))
    assert "Ada Finch" in names.values()
    degrees = {e["id"]: e["degree"] for e in graph.entities.rows()}
    assert {n: len(set(made.predecessors(n)) | set(made.successors(n))) for n in made} == degrees


def test_rows_of_a_pattern_are_a_frame(root: Path) -> None:
    with Corpus.open(root, settings=OFFLINE) as corpus:
        found = corpus.match("(a:person)", returned="a.name AS name, a.degree AS degree", order="name", limit=2)
    assert found.table().to_polars().columns == ["name", "degree"]
    assert found.table().rows() == [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    assert len(found.table()) == 2


@pytest.mark.parametrize(
    ("library", "extra"), [("pandas", "pandas"), ("polars", "polars"), ("pyarrow", "parquet"), ("networkx", "networkx")]
)
def test_a_library_that_is_missing_is_named_with_its_extra(
    root: Path, monkeypatch: pytest.MonkeyPatch, library: str, extra: str
) -> None:
    with Corpus.open(root, settings=OFFLINE) as corpus:
        graph = corpus.graph()
    monkeypatch.setitem(sys.modules, library, None)
    make = {"pandas": graph.to_pandas, "polars": graph.to_polars, "pyarrow": graph.to_arrow}
    with pytest.raises(SettingsError, match=rf"{library} is not installed.*sensegraph\[{extra}\]"):
        make.get(library, graph.to_networkx)()


def test_an_answer_prints_its_text_and_each_source_with_its_quote() -> None:
    found = Answer(
        "It rose. [1]\n\nIt fell. [2]", (Citation(1, "a.txt", 3, 9, "x < y"), Citation(2, "b.pdf", 0, 4, "“z”", 7))
    )
    assert str(found) == ("It rose. [1]\n\nIt fell. [2]\n\nSources\n[1] a.txt:3-9 “x < y”\n[2] b.pdf, p. 7, 0-4 ““z””")
    assert str(Answer("I do not know.")) == "I do not know."


def test_an_answer_shows_itself_in_a_notebook_with_all_text_escaped() -> None:
    cites = tuple(Citation(n, "<b>.txt", 0, 1, "<script>") for n in range(1, 7))
    shown = Answer("<i>so</i>\n\nnext", cites, notes=("a & b",))._repr_html_()
    assert shown.count("<p>") == 2
    assert shown.count("<li value=") == 6
    assert "<script>" not in shown
    assert "<i>" not in shown
    assert "a &amp; b" in shown
    assert "<details><summary>6 sources" in shown
    assert "<details open><summary>1 source<" in Answer("x", cites[:1])._repr_html_()
    assert "<details" not in Answer("x")._repr_html_()


def test_public_names_are_listed_before_they_are_imported() -> None:
    import sensegraph

    assert {"Corpus", "AsyncCorpus", "errors", "load", "StopToken"} <= set(dir(sensegraph))
    assert sensegraph.errors.SensegraphError is sensegraph.SensegraphError
    assert StopToken is sensegraph.StopToken
