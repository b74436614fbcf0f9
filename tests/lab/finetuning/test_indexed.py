"""An index as a source: questions of a file, questions made from the graph, the retrieval's own errors (graft §3.7)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harbour import TEXTS, papers
from scripted import Script, ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError
from sensegraph.lab.finetuning.data.example_types import DataSettings, DroppedQuestion, MadeExample, SourceQuestion
from sensegraph.lab.finetuning.data.examples import contains_answer, make_example
from sensegraph.lab.finetuning.data.index_source import (
    ChunkPassages,
    add_wrong_chunks,
    answer_questions,
    draw_graph_questions,
    rank_documents,
    read_question_source,
)
from sensegraph.lab.finetuning.data.sources import Source
from sensegraph.lab.questions.grounded_questions import GroundSettings
from sensegraph.lab.questions.question_files import write_questions
from sensegraph.lab.questions.question_making import Posing, make_question_set
from sensegraph.language.text import fold
from sensegraph.methods import load_method
from wired import corpus

QUESTION = "Who keeps the lighthouse of Skerry Point?"


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    index = {"chunk_tokens": 60, "chunk_overlap": 10, "parts": ["graph", "names"]}
    folder = tmp_path_factory.mktemp("tuning")
    with Corpus.open(folder, settings={"engine": "offline", "index": index}) as opened:
        opened.add(papers())
        opened.build()
        yield opened


def asked(harbour: Corpus, tmp_path: Path, *rows: dict[str, Any]) -> list[SourceQuestion | DroppedQuestion]:
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return list(read_question_source(harbour.index(), path, "harbour").questions)


def test_the_chunks_of_an_index_are_passages_with_their_place(harbour: Corpus):
    chunks = ChunkPassages(harbour.index(), "kind")
    assert len(chunks) == harbour.index().manifest.counts["chunks"] > 7
    for passage in chunks:
        document, start, end = passage.place
        assert TEXTS[document][start:end] == passage.text
        assert document.startswith(passage.topic)
    assert chunks[-1] == chunks[len(chunks) - 1] == chunks[len(chunks) - 1 :][0]
    with pytest.raises(IndexError):
        chunks[len(chunks)]


@pytest.mark.parametrize("topic", ["", "kind"])
def test_topics_are_counted_without_reading_the_chunks(harbour: Corpus, topic: str):
    chunks = ChunkPassages(harbour.index(), topic)
    assert dict(chunks.topics()) == Counter(p.topic for p in chunks)
    with pytest.raises(InputError, match="there are kind, year"):
        ChunkPassages(harbour.index(), "colour")


def test_the_gold_chunks_of_a_named_document_are_those_that_hold_an_answer(harbour: Corpus, tmp_path: Path):
    row = {"_id": "q1", "text": QUESTION, "answer": "Ada Finch", "documents": ["minutes-2019"], "type": "fact"}
    (found,) = asked(harbour, tmp_path, row)
    assert isinstance(found, SourceQuestion)
    assert found.type == "fact"
    assert {p.document for p in found.oracles} == {"minutes-2019"}
    assert all("Ada Finch" in p.text and p.oracle for p in found.oracles)


def test_gold_chunks_may_be_named_themselves_and_reasoning_be_given(harbour: Corpus, tmp_path: Path):
    first = harbour.index().catalogue.chunks[0].id
    row = {"id": "q1", "question": QUESTION, "metadata": {"answer": ["x"], "chunks": [first], "reasoning": "Because."}}
    (found,) = asked(harbour, tmp_path, row)
    assert isinstance(found, SourceQuestion)
    assert ([p.id for p in found.oracles], found.answers, found.reasoning) == ([first], ("x",), "Because.")


def test_a_question_without_gold_chunks_is_dropped_with_its_reason(harbour: Corpus, tmp_path: Path):
    base = {"text": QUESTION, "answer": "Quentin Nobody"}
    found = asked(
        harbour,
        tmp_path,
        {"_id": "a", **base},
        {"_id": "b", **base, "documents": ["minutes-2019"]},
        {"_id": "c", **base, "chunks": ["feedbeef"]},
    )
    assert [q.reason for q in found if isinstance(q, DroppedQuestion)] == [
        "it names neither chunks nor documents",
        "no chunk of its documents holds an answer",
        "a chunk that it names is not in the index",
    ]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"_id": "a"}], "record 1: not a question"),
        ([{"text": "Who?"}], "record 1: not a question"),
        ([{"_id": "a", "text": "Who?"}] * 2, "record 2: the id 'a' was given before"),
    ],
)
def test_a_file_that_is_no_list_of_questions_is_refused(harbour: Corpus, tmp_path: Path, rows: list, said: str):
    with pytest.raises(InputError, match=said):
        asked(harbour, tmp_path, *rows)


def test_the_errors_of_a_method_are_chunks_that_it_finds_and_that_are_not_gold(harbour: Corpus, tmp_path: Path):
    index, rt = harbour.index(), harbour.runtime()
    path = tmp_path / "questions.jsonl"
    row = {"_id": "q1", "text": QUESTION, "answer": "Ada Finch", "documents": ["minutes-2019"]}
    path.write_text(json.dumps(row))
    (found,) = add_wrong_chunks(read_question_source(index, path, "harbour"), load_method("bm25"), index, rt).questions
    assert isinstance(found, SourceQuestion)
    gold = {p.id for p in found.oracles}
    assert found.near
    assert all(p.kind == "hard" and p.id not in gold and not p.oracle for p in found.near)
    assert "Skerry Point" in found.near[0].text  # wrong, and near


def test_rankings_name_the_documents_of_each_question_best_first(harbour: Corpus):
    found = rank_documents({"q1": QUESTION}, load_method("bm25"), harbour.index(), harbour.runtime())
    assert found["q1"][0] == "minutes-2019"
    assert len(set(found["q1"])) == len(found["q1"]) > 1


# ── answers by the engine ──


def unanswered(corpus: Corpus, *questions: str) -> Source:
    """Questions without answers on the one chunk that names the lighthouse of Skerry Point."""
    chunks = ChunkPassages(corpus.index())
    gold = tuple(replace(p, oracle=True) for p in chunks if "lighthouse of Skerry Point" in p.text)
    asked = [SourceQuestion(f"q{i}", text, (), gold, made="model") for i, text in enumerate(questions)]
    return Source("harbour", asked, chunks)


def test_a_question_without_answer_is_answered_from_its_gold_passages_alone(harbour: Corpus):
    source = unanswered(harbour, QUESTION, "Which qubits did the zeppelin cosmonauts entangle?")
    good, bad = answer_questions(source, harbour.index(), harbour.runtime()).questions
    assert isinstance(good, SourceQuestion)
    assert (good.written, good.made) == (True, "model")
    assert "Ada Finch" in good.answers[0]
    assert bad == DroppedQuestion("q1", "the engine finds no answer in its gold passages")


def test_a_model_is_shown_the_gold_passages_and_nothing_else(tmp_path: Path):
    with ScriptedServer(Script(keep_bodies=True)) as server, corpus(tmp_path, server) as opened:
        opened.add(papers())
        opened.build(parts=())
        source, before = unanswered(opened, QUESTION), len(server.calls)
        (found,) = answer_questions(source, opened.index(), opened.runtime()).questions
        (call,) = server.calls[before:]
    shown = json.dumps(call.body)
    assert isinstance(found, SourceQuestion)
    assert found.written
    assert found.answers[0]
    assert "[" not in found.answers[0]  # no marks of references
    assert source.questions[0].oracles[0].text[:60] in shown  # type: ignore[index,union-attr]
    assert "Yellowmeridian" not in shown


def test_an_answer_that_is_given_stays(harbour: Corpus):
    source = unanswered(harbour, QUESTION)
    given = replace(source, questions=[replace(q, answers=("she",)) for q in source.questions])  # type: ignore[type-var]
    (found,) = answer_questions(given, harbour.index(), harbour.runtime()).questions
    assert isinstance(found, SourceQuestion)
    assert (found.answers, found.written) == (("she",), False)


def test_what_evaluate_questions_writes_is_read_with_who_made_it(harbour: Corpus, tmp_path: Path):
    found = make_question_set(Posing(grounds=GroundSettings(("local",), each=3)), harbour.index(), harbour.runtime())
    assert found.questions
    write_questions(tmp_path / "posed.jsonl", found.questions)
    read = list(read_question_source(harbour.index(), tmp_path / "posed.jsonl", "harbour").questions)
    assert all(isinstance(q, SourceQuestion) and q.made == "template" and q.type == "local" for q in read)
    assert [tuple(p.id for p in q.oracles) for q in read if isinstance(q, SourceQuestion)] == [
        q.chunks for q in found.questions
    ]


# ── questions from the graph ──


@pytest.fixture(scope="module")
def drawn(harbour: Corpus) -> list[SourceQuestion]:
    return [q for q in draw_graph_questions(harbour.index(), 500).questions if isinstance(q, SourceQuestion)]


def test_questions_from_the_graph_say_that_a_rule_made_them_and_are_of_three_kinds(drawn: list[SourceQuestion]):
    assert {q.made for q in drawn} == {"template"}
    assert {q.type for q in drawn} == {"gap", "link", "shared"}
    assert len({q.id for q in drawn}) == len(drawn) > 10


def test_every_gold_passage_holds_the_answer_and_the_question_does_not(drawn: list[SourceQuestion]):
    assert drawn
    for q in drawn:
        assert all(any(contains_answer(p.text, a) for a in q.answers) for p in q.oracles), q
        assert len(q.oracles) == (2 if q.type == "shared" else 1)
        if q.type != "link":
            assert not any(re.search(rf"(?<!\w){re.escape(a)}(?!\w)", q.question) for a in q.answers[:1]), q


def test_a_gap_fits_the_sentence_that_it_was_cut_from(drawn: list[SourceQuestion]):
    gaps = [q for q in drawn if q.type == "gap"]
    assert gaps
    for q in gaps:
        (sentence,) = re.findall(r"“(.*)”", q.question)
        assert sentence.replace("____", q.answers[0]) in " ".join(q.oracles[0].text.split())


def test_no_answer_is_asked_for_too_often_and_a_shortage_is_told(harbour: Corpus, drawn: list[SourceQuestion]):
    assert max(Counter(fold(q.answers[0]) for q in drawn).values()) <= 3
    source = draw_graph_questions(harbour.index(), 500)
    assert source.left_out == (("of 500 asked for, the graph gives no more", 500 - len(drawn)),)
    assert draw_graph_questions(harbour.index(), 5).left_out == ()


def test_the_seed_draws_the_questions(harbour: Corpus):
    index = harbour.index()
    first, again, other = (list(draw_graph_questions(index, 8, seed).questions) for seed in (0, 0, 1))
    assert first == again != other
    assert len(first) == 8


def test_examples_of_the_graphs_questions_keep_all_the_rules(harbour: Corpus, drawn: list[SourceQuestion]):
    chunks = ChunkPassages(harbour.index())
    items = [make_example(q, chunks, DataSettings(style="cot", max_tokens=900)) for q in drawn]
    assert items
    assert [item for item in items if not isinstance(item, MadeExample)] == []
