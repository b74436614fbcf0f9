"""Measuring what a search finds: with a reranker it is the reranker's order that is scored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from judged_towns import written
from scripted import Script, ScriptedServer
from scripted_replies import fit
from sensegraph.cli.lab.retrieval_measuring import IndexPlace, load_named_methods, measure_set
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.settings import Settings, convert_settings
from sensegraph.lab.retrieval import JudgedSet, Measuring, Result, read_set, retrieval_tables
from wired import settings

HOW = Measuring((1, 2), draws=20)
METHODS = "naive,bm25,naive:top=1"


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(Script(keep_bodies=True)) as running:
        yield running


@pytest.fixture(scope="module")
def towns(tmp_path_factory: pytest.TempPathFactory) -> JudgedSet:
    """Whose answers stand in the documents that the reranker puts first, and methods do not always."""
    docs = [
        {"_id": "many", "text": "Lamp, lamp, lamp. The lamp of Arle, and the lamp of Brun, and the lamp of Corv."},
        {"_id": "one", "text": "Who lights the lamp of Arle? Its keeper."},
        {"_id": "other", "text": "The ferry of Dhal crosses at noon."},
    ]
    asked = [{"_id": "q", "text": "lamp of Arle, who?"}, {"_id": "r", "text": "ferry of Dhal, lamp?"}]
    best = [max(docs, key=lambda d: fit(q["text"], d["text"]))["_id"] for q in asked]
    judged = [(q["_id"], name, 1) for q, name in zip(asked, best, strict=True)]
    folder = tmp_path_factory.mktemp("set") / "towns"
    return read_set(written(folder, docs=docs, asked=asked, judged=judged))


def result(towns: JudgedSet, server: ScriptedServer, root: Path, by: str, top: int = 50) -> Result:
    given = settings(server, endpoint={"rerank_model": "ranks", "model": "", "embedding_model": ""})
    loaded = convert_settings({**given, "engine": "offline", "rerank": {"by": by, "top": top}}, Settings, "test")
    place = IndexPlace(root, loaded, (), lambda step, done, total: None)  # type: ignore[arg-type]
    return measure_set(towns, load_named_methods(METHODS, loaded), HOW, place)


def test_what_is_scored_is_what_a_search_finds(towns: JudgedSet, server: ScriptedServer, tmp_path: Path) -> None:
    found = result(towns, server, tmp_path, "endpoint").found
    given = settings(server, endpoint={"rerank_model": "ranks", "model": "", "embedding_model": ""})
    with Corpus.open(tmp_path, settings={**given, "engine": "offline", "rerank": {"by": "endpoint"}}) as corpus:
        assert len(found.runs) > 1
        for run in found.runs[:2]:
            for query, one in zip(found.queries, run.found, strict=True):
                assert one.documents == corpus.search(query.text, method=run.method, top=100).documents
                assert any(note.startswith("ranks reranked ") for note in one.notes)


def test_the_order_of_the_reranker_changes_the_scores(towns: JudgedSet, server: ScriptedServer, tmp_path: Path) -> None:
    plain, better = (result(towns, server, tmp_path, by).found for by in ("none", "endpoint"))
    assert max(s.means["mrr"].mean for s in plain.scores) < 1
    assert [s.means["mrr"].mean for s in better.scores] == [1, 1, 1]
    assert plain.reranking is None


def test_the_report_says_who_reranked_and_what_it_cost(
    towns: JudgedSet, server: ScriptedServer, tmp_path: Path
) -> None:
    plain = result(towns, server, tmp_path, "none")
    assert "reranked" not in retrieval_tables.format_result(plain, HOW)
    assert retrieval_tables.record_set(plain)["reranking"] is None
    before = len(server.done("rerank"))
    first = result(towns, server, tmp_path, "endpoint", top=7)
    calls = len(server.done("rerank")) - before
    assert calls > 0
    assert (
        f"every ranking's first 7 chunks within its context reranked by ranks: {calls} calls, "
        in retrieval_tables.format_result(first, HOW)
    )
    told = retrieval_tables.record_set(first)["reranking"]
    assert (told["name"], told["top"], told["usage"]["calls"]) == ("ranks", 7, calls)


def test_scores_are_remembered_from_one_measuring_to_the_next(
    towns: JudgedSet, server: ScriptedServer, tmp_path: Path
) -> None:
    first = result(towns, server, tmp_path, "endpoint").found
    calls = len(server.done("rerank"))
    again = result(towns, server, tmp_path, "endpoint")
    assert len(server.done("rerank")) == calls
    assert [s.values for s in again.found.scores] == [s.values for s in first.scores]
    assert "reranked by ranks: no calls" in retrieval_tables.format_result(again, HOW)
