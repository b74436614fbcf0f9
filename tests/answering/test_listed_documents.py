"""Documents of a kind and the chunks that documents open with; what failed on the way to an answer, and who listens."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sensegraph.answering import asking, looked_up_chunks
from sensegraph.answering.asking import (
    Candidates,
    add_rare_chunks,
    conclude_answer,
    leads_of,
    make_inquiry,
    score_candidates,
)
from sensegraph.answering.grounding import citations
from sensegraph.answering.grounding.citations import ByInference
from sensegraph.answering.looked_up_chunks import (
    find_files_called,
    find_listed_chunks,
    find_named_chunks,
    find_opening_chunks,
)
from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.errors import EndpointError, ItemFailed, SettingsError
from sensegraph.index.index import Index
from sensegraph.trials import Check
from sensegraph.types import Document, Evidence, Inquiry, Lead, Passage, Point, Question, Source, Statement, Usage

FAR = "It rained on the old quay and nobody came by boat or by train for a very long time. " * 8


@pytest.fixture(scope="module")
def quay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    documents = [
        *(
            Document(f"papers/c-{i:02}.txt", f"Contract {i}\n\nThe quay was let to Ada for {i} years.")
            for i in range(62)
        ),
        Document("law-news.txt", f"A law\n\nIt was written by Bo Isk.\n\n{FAR}\n\nThe law bans smoke on boats."),
        Document("law-two.txt", f"{FAR}\n\nThe law bans fires on boats."),
        *(Document(f"tide-{i}.txt", f"The tide of day {i} was high.") for i in range(4)),
        Document("song.md", "A song\n\nThe song of the tide was written by Cy Dahl."),
    ]
    settings = {"engine": "offline", "index": {"parts": [], "chunk_tokens": 60, "chunk_overlap": 0}}
    with Corpus.open(tmp_path_factory.mktemp("quay"), settings=settings) as made:
        made.add(documents)
        made.build()
        yield made


@pytest.fixture
def index(quay: Corpus) -> Index:
    return quay.index()


def test_documents_of_a_kind_are_those_whose_opening_lines_say_so(index: Index) -> None:
    found, whole = find_listed_chunks("Which documents are contracts?", index)
    assert (len(found), whole) == (60, False)  # of sixty-two
    assert all(p.text.startswith("Contract ") for p in found)
    assert {p.title for p in found} < {f"papers/c-{i:02}" for i in range(62)}
    found, whole = find_listed_chunks("Which documents are songs?", index)
    assert ([p.text[:6] for p in found], whole) == (["A song"], True)
    assert find_listed_chunks("Which documents are zebras?", index) == ([], True)


def test_who_made_something_stands_where_its_documents_open(index: Index) -> None:
    chunks = {c.id: c for c in index.chunks([e.id for e in index.catalogue.chunks]).values()}
    (late,) = [c for c in chunks.values() if "bans smoke" in c.text]
    passages = [Passage("chunk", late.id, late.text)]
    found = find_opening_chunks("Who wrote the law that bans smoke on boats?", passages, index)
    assert [chunks[p.id].start for p in found] == [0]
    assert "Bo Isk" in found[0].text
    assert find_opening_chunks("What does the law ban on boats?", passages, index) == []
    assert find_opening_chunks("Who wrote the law?", [Passage("entity", "e", "x")], index) == []
    behind = [Passage("chunk", e.id, "x") for e in index.catalogue.chunks if e.document.startswith("papers/")][:5]
    assert find_opening_chunks("Who wrote the law?", [*behind[:4], *passages], index) == found
    assert find_opening_chunks("Who wrote the law?", [*behind, *passages], index) == []  # it is the sixth


def test_a_few_files_are_called_by_the_word_that_begins_their_names(index: Index) -> None:
    assert find_files_called("What do law and song say?", index) == {
        "law": {"law-news.txt", "law-two.txt"}, "song": {"song.md"},
    }  # fmt: skip
    assert find_files_called("What of the tide?", index) == {}  # four files are no few


def test_rare_chunks_are_added_for_an_engine_that_quotes(quay: Corpus, index: Index, monkeypatch: Any) -> None:
    quotes = replace(quay.runtime(), engine=ClassicalEngine())
    had = Evidence((Passage("chunk", "a", "x", 2.0), Passage("chunk", "b", "y", 1.0)), omitted=3, notes=("n",))
    monkeypatch.setattr(asking, "documents_behind", lambda passages, index: ("d",))
    for placed, ids in ((list(had.passages), None), ([], None), ([had.passages[1], had.passages[0]], ["b", "a"])):
        monkeypatch.setattr(asking, "place_rare_chunks", lambda *_, placed=placed: placed)
        found = add_rare_chunks(Question("Who?"), had, index, quotes)
        assert (found is had) == (ids is None)
        assert [p.id for p in found.passages] == (ids or ["a", "b"])
        assert (found.omitted, found.notes) == (3, ("n",))


class Half:
    """An engine that finds no lead for questions that are told to fail."""

    name, waits, quotes, tasks = "half", False, False, frozenset({"ask"})

    def fingerprint(self, task: str) -> str:
        return "half"

    def usage(self) -> Any:
        return Usage()

    def ask(self, inquiries: Any) -> list[Lead]:
        if any("fail" in one.question for one in inquiries):
            raise ItemFailed("it failed")
        return [Lead((Statement(one.question),)) for one in inquiries]


def test_a_lead_that_failed_is_none_and_its_reason_is_counted(quay: Corpus, index: Index) -> None:
    rt = replace(quay.runtime(), engine=Half())  # type: ignore[arg-type]

    def asked(*texts: str) -> list[Inquiry]:
        return [make_inquiry(Question(text), (), index) for text in texts]

    leads, reasons = leads_of(asked("a?", "fail 1", "b?", "fail 2"), rt)
    assert [lead and lead.statements[0].text for lead in leads] == ["a?", None, "b?", None]
    assert sum(reasons.values()) == 2
    leads, reasons = leads_of(asked("c?", "d?"), rt)
    assert ([lead and lead.statements[0].text for lead in leads], reasons) == (["c?", "d?"], {})


def test_a_reranker_gives_a_score_for_each_text() -> None:
    reranker: Any = SimpleNamespace(name="r", scores=lambda question, texts: [1.0] * 2)
    assert score_candidates.fn([Candidates("q", ("a", "b"))], reranker=reranker) == [[1.0, 1.0]]
    for texts in (("a",), ("a", "b", "c")):
        with pytest.raises(EndpointError, match=f"r gave 2 scores for {len(texts)} texts"):
            score_candidates.fn([Candidates("q", texts)], reranker=reranker)


# ── support by inference ──


class Encoder:
    """A model of three labels, which are the likelier the longer the statement is."""

    labels = {0: "contradiction", 1: "Entailment", 2: "neutral"}  # noqa: RUF012

    def __init__(self, folder: str, local_files_only: bool) -> None:
        assert local_files_only
        self.model = SimpleNamespace(config=SimpleNamespace(id2label=self.labels))

    def predict(self, pairs: list[tuple[str, str]], show_progress_bar: bool) -> list[Any]:
        assert not show_progress_bar
        assert all(text == "one\ntwo" for text, _ in pairs)
        return [np.eye(3)[len(statement) % 3] for _, statement in pairs]


def test_a_statement_is_supported_where_entailment_is_likeliest(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(citations, "find_spec", lambda name: name)
    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(CrossEncoder=Encoder))
    judge = ByInference(str(tmp_path))
    assert (judge.name, judge.supported([])) == (f"support by {tmp_path.name}", [])
    checks = [Check(said, ("one", "two")) for said in ("aaa", "aaaa", "aaaaa", "a")]
    assert [found.holds for found in judge.supported(checks)] == [False, True, False, True]
    monkeypatch.setattr(Encoder, "labels", {0: "yes", 1: "no"})
    with pytest.raises(SettingsError, match="has no label 'entailment'"):
        ByInference(str(tmp_path)).supported(checks)
    with pytest.raises(SettingsError, match="is no folder with a model"):
        ByInference(str(tmp_path / "none"))
    monkeypatch.setattr(citations, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match="needs an extra"):
        ByInference(str(tmp_path))


# ── of many chunks those that are read ──

NAMED = "Pia Holt came to the mill of Orl at noon with bread, nets, ropes and lamps for the crew. "
FILLED = "The mill of Orl was old and dark, and nobody mended its wheel, roof, door or stairs. " * 3


@pytest.fixture(scope="module")
def mill(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """Sixty documents that open with a name and sixty that name it later, in the same words."""
    documents = [Document(f"late-{i:02}", f"{FILLED}\n\n{NAMED}") for i in range(60)]
    documents += [Document(f"open-{i:02}", f"{NAMED}\n\n{FILLED}") for i in range(60)]
    documents += [Document("z", f"{FILLED}\n\nPia Holt was born in Orl and worked as a miller until her end.")]
    settings = {"engine": "offline", "index": {"parts": [], "chunk_tokens": 30, "chunk_overlap": 0}}
    with Corpus.open(tmp_path_factory.mktemp("mill"), settings=settings) as made:
        made.add(documents)
        made.build()
        yield made


def test_of_many_chunks_with_a_name_beginnings_and_what_presents_it_are_read(
    mill: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[list[str]] = []
    usual = looked_up_chunks._rate_chunks

    def rate(name: Any, chunks: Any) -> Any:
        read.append([c.document for c in chunks])
        return usual(name, chunks)

    monkeypatch.setattr(looked_up_chunks, "_rate_chunks", rate)
    passages, counts = find_named_chunks("Who is Pia Holt?", mill.index())
    counted = Counter(name.partition("-")[0] for name in read[0])
    assert counted == {"open": 60, "late": 39, "z": 1}
    assert counts is not None
    assert (counts.exact, counts.documents) == (False, 100)
    assert "was born in Orl" in passages[0].text
    assert len(passages) == 12


def test_a_list_is_whole_where_all_that_there_is_was_read(tmp_path: Path) -> None:
    def find(count: int) -> tuple[int, bool]:
        texts = [f"The barge BG-{i % 20} sank at noon." for i in range(count)]
        with Corpus.open(tmp_path / str(count), settings={"engine": "offline", "index": {"parts": []}}) as made:
            made.add([Document(f"d-{i:02}", text if i < 24 else "No barge sank. " * 2) for i, text in enumerate(texts)])
            made.build()
            found, whole = find_listed_chunks("Which barges sank?", made.index())
            return len(found), whole

    assert find(60) == (24, True)
    assert find(61) == (24, False)


def test_each_statement_is_told_as_it_is_known_where_somebody_listens(quay: Corpus, index: Index) -> None:
    heard: list[str] = []
    rt = replace(quay.runtime(), hear=heard.append)
    chunk = next(c for c in index.chunks([e.id for e in index.catalogue.chunks]).values() if "bans fires" in c.text)
    evidence = Evidence((Passage("chunk", chunk.id, chunk.text, 1.0, "", (Source(chunk.id, 0, len(chunk.text)),)),))
    question = Question("What does the law ban on boats?")
    told = conclude_answer(question, evidence, index, rt)
    assert "".join(heard).strip() == told.text.strip() != ""
    assert conclude_answer(question, evidence, index, quay.runtime()).text == told.text


def test_points_of_all_batches_stand_best_first_and_those_of_nothing_are_left_out(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = ((10.0, 0.0), (30.0, 20.0), (20.0, -1.0, 0.5))
    rated = [tuple(Point((Statement(f"{s}"),), s) for s in batch) for batch in scores]
    rt: Any = SimpleNamespace(each=lambda step, inquiries: rated[: len(inquiries)])
    monkeypatch.setattr(asking, "point_passage", lambda point, batch: Passage("point", batch[0].id, "", point.score))
    batches = [[Passage("chunk", name, "x")] for name in "abc"]
    found = asking.rate_batches(Question("Who?"), batches, index, rt)
    assert [(p.id, p.score) for p in found] == [("b", 30.0), ("b", 20.0), ("c", 20.0), ("a", 10.0), ("c", 0.5)]
