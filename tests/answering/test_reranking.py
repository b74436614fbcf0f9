"""Reranking of whole corpora: any method, before the answer, in one place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harbour import papers
from scripted import Script, ScriptedServer
from scripted_replies import fit
from sensegraph.answering.asking import rerank_evidence
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.settings import load_settings
from sensegraph.errors import SettingsError
from sensegraph.methods import METHODS, load_method
from sensegraph.testing import check_citations
from sensegraph.types import Evidence, Passage, Question, Source
from wired import settings

QUESTION = "Who kept the lamp of Skerry Point burning?"
OF_TEXT = ("bm25", "hybrid", "naive", "walk", "local")
INDEX = {"chunk_tokens": 60, "chunk_overlap": 10}


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(Script(keep_bodies=True)) as server:
        yield server


@pytest.fixture(scope="module")
def folder(server: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus that the offline engine has read; it is searched by it and reranked by the scripted server."""
    folder = tmp_path_factory.mktemp("harbour")
    parts = sorted({part for name in METHODS for part in load_method(name).reads})
    with Corpus.open(folder, settings={"engine": "offline", "index": {**INDEX, "parts": parts}}) as corpus:
        corpus.add(*papers())
        corpus.build()
    return folder


def opened(folder: Path, server: ScriptedServer, by: str = "endpoint", top: int = 50) -> Corpus:
    given = settings(server, endpoint={"rerank_model": "ranks", "model": "", "embedding_model": ""}, index=INDEX)
    return Corpus.open(folder, settings={**given, "engine": "offline", "rerank": {"by": by, "top": top}})


@pytest.mark.parametrize("method", OF_TEXT)
def test_the_chunks_of_a_search_stand_in_the_rerankers_order(method: str, folder: Path, server: ScriptedServer) -> None:
    with opened(folder, server, "none") as corpus:
        before = corpus.search(QUESTION, method=method, top=100)
    with opened(folder, server) as corpus:
        after = corpus.search(QUESTION, method=method, top=100)
    chunks = [p for p in after.passages if p.kind == "chunk"]
    assert len(chunks) > 1
    assert [p.score for p in chunks] == sorted((fit(QUESTION, p.text) for p in chunks), reverse=True)
    assert sorted(p.id for p in before.passages) == sorted(p.id for p in after.passages)
    assert [p.kind for p in before.passages] == [p.kind for p in after.passages]
    assert [p for p in before.passages if p.kind != "chunk"] == [p for p in after.passages if p.kind != "chunk"]
    assert sorted(before.documents) == sorted(after.documents)
    assert after.notes == (*before.notes, f"ranks reranked {len(chunks)} of {len(chunks)} chunks")


def test_documents_follow_their_passages(folder: Path, server: ScriptedServer) -> None:
    with opened(folder, server) as corpus:
        found = corpus.search(QUESTION, method="bm25", top=100)
        behind = [corpus.index().documents_of([p.id])[p.id] for p in found.passages]
    assert behind
    assert list(dict.fromkeys(behind)) == list(found.documents)[: len(set(behind))]


SAY_NOTHING = ("graphrag",)  # offline, of a question of fact: no report says that it bears on it


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_answers_with_a_reranker_and_says_what_it_did(
    method: str, folder: Path, server: ScriptedServer
) -> None:
    with opened(folder, server) as corpus:
        if not load_method(method).requires <= corpus.engine.tasks:
            pytest.skip("needs a model")
        answer = corpus.query(QUESTION, method=method)
        nothing = method in SAY_NOTHING and not answer.citations
        check_citations(answer, {d.id: d.text for d in corpus.documents()}, abstains=nothing)
    if answer.evidence.passages:
        assert sum("reranked" in note for note in answer.notes) == 1
    scores = [p.score for p in answer.evidence.passages if p.kind == "chunk"]
    assert scores == sorted(scores, reverse=True)


def test_an_answer_is_written_from_the_new_order_and_counts_the_call(folder: Path, server: ScriptedServer) -> None:
    asked = "Which letters speak of the harbour and its lamp?"
    with opened(folder, server) as corpus:
        first = corpus.query(asked, method="bm25")
        calls = len(server.done("rerank"))
        again = corpus.query(asked, method="bm25")
        ledger = corpus.store.ledger()
    assert [p.score for p in first.evidence.passages] == [fit(asked, p.text) for p in first.evidence.passages]
    assert first.usage.calls == 1
    assert ledger["reranking.score"].calls >= 1
    assert len(server.done("rerank")) == calls  # remembered
    assert (again.usage.calls, again.text) == (0, first.text)


def test_only_the_first_chunks_are_read_and_the_rest_stays_behind(folder: Path, server: ScriptedServer) -> None:
    with opened(folder, server, "none") as corpus:
        before = corpus.search(QUESTION, method="bm25", top=100).passages
    with opened(folder, server, top=2) as corpus:
        after = corpus.search(QUESTION, method="bm25", top=100)
    assert after.passages[2:] == before[2:]
    assert {p.id for p in after.passages[:2]} == {p.id for p in before[:2]}
    assert after.notes[-1] == f"ranks reranked 2 of {len(before)} chunks"
    assert len(server.done("rerank")[-1].body["documents"]) == 2


def test_other_kinds_keep_their_places_among_chunks(folder: Path, server: ScriptedServer) -> None:
    with opened(folder, server) as corpus:
        chunks = list(corpus.search("harbour", method="bm25", top=4).passages)[::-1]
        entity = Passage("entity", "e", "The harbour.", 3.0)
        mixed = (chunks[0], entity, *chunks[1:], chunks[0])
        rt, index = corpus.workspace.asking_runtime(), corpus.index()
        found = rerank_evidence(Question("harbour"), Evidence(mixed), index, rt)
        assert [p.kind for p in found.passages] == [p.kind for p in mixed]
        assert found.passages[1] == entity
        scores = [p.score for p in found.passages if p.kind == "chunk"]
        assert scores == sorted(scores, reverse=True)
        reports = rerank_evidence(Question("harbour"), Evidence((entity,)), index, rt)
        assert reports.passages == (entity,)
        assert reports.notes == ("ranks reranked nothing: the evidence holds no chunks",)
        assert rerank_evidence(Question("harbour"), Evidence(), index, rt) == Evidence()


def test_equal_scores_leave_the_order_as_it_was(folder: Path, server: ScriptedServer) -> None:
    with opened(folder, server) as corpus:
        alike = tuple(Passage("chunk", f"c{i}", "No word of it.", -i, sources=(Source("c", 0, 1),)) for i in range(5))
        found = rerank_evidence(
            Question("zeppelin"), Evidence(alike), corpus.index(), corpus.workspace.asking_runtime()
        )
    assert [p.id for p in found.passages] == [p.id for p in alike]


def test_a_remote_reranker_shares_the_endpoint_of_the_engine(tmp_path: Path, server: ScriptedServer) -> None:
    given = settings(server, endpoint={"rerank_model": "ranks"}, rerank={"by": "endpoint"})
    with Corpus.open(tmp_path, settings=given) as corpus:
        assert corpus.reranker is not None
        assert corpus.reranker.endpoint is corpus.engine.endpoint  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("rerank", "said"),
    [
        ({"by": "endpoint"}, r"endpoint\.rerank_model"),
        ({"by": "endpoint", "top": 0}, r"rerank\.top must be at least 1"),
        ({"by": "cross-encoder"}, r"needs rerank\.model"),
        ({"by": "cross encoder"}, r"Did you mean cross-encoder"),
    ],
)
def test_a_reranker_that_lacks_something_says_so(rerank: dict[str, object], said: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=said), Corpus.open(tmp_path, settings={"rerank": rerank}) as corpus:
        corpus.reranker  # noqa: B018


def test_a_rerankers_folder_is_meant_from_the_corpus_and_a_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "models" / "small").mkdir(parents=True)
    folder = load_settings(tmp_path, {"rerank": {"model": "models/small"}})
    assert folder.rerank.model == str(tmp_path / "models" / "small")
    assert load_settings(tmp_path, {"rerank": {"model": "models/large"}}).rerank.model == "models/large"
