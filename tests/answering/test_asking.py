"""What is made for an engine that quotes and for one that writes, quotes of sources, and what somebody hears."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from harbour import papers
from sensegraph.answering import asking
from sensegraph.answering.asking import (
    NOTHING,
    Patient,
    add_listed_chunks,
    add_named_chunks,
    conclude_answer,
    for_quoting,
    for_writing,
    make_inquiry,
    point_passage,
    quote_sources,
    settle_asking,
    written_text,
)
from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.language.sentences import split_sentences
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Description, Evidence, Passage, Point, Question, Source, Statement, Turn


@pytest.fixture
def writes(built: Corpus) -> Runtime:
    return built.runtime()


@pytest.fixture
def quotes(built: Corpus) -> Runtime:
    return replace(built.runtime(), engine=ClassicalEngine())


def test_auto_stands_for_what_fits_the_engine(writes: Runtime, quotes: Runtime) -> None:
    asked = [settle_asking(how, rt, model="m", rules="r") for how in ("auto", "m", "r") for rt in (writes, quotes)]
    assert asked == ["m", "r", "m", "m", "r", "r"]


def test_each_thing_is_made_for_one_kind_of_engine(writes: Runtime, quotes: Runtime) -> None:
    assert (for_quoting(quotes, lambda: "ab"), for_quoting(writes, lambda: "ab")) == (["a", "b"], [])
    assert (for_writing(quotes, lambda: "ab"), for_writing(writes, lambda: "ab")) == ([], ["a", "b"])
    said = (Statement("It rains. "), Statement("It snows."))
    assert (written_text(said, writes), written_text(said, quotes)) == ("It rains. It snows.", None)


def shown(built: Corpus, rt: Runtime, *spans: tuple[int, int], kind: str = "entity", chunk: str = "") -> list[str]:
    """The quotes of a passage that rests on these spans of the first chunk, as an engine may show them."""
    name = chunk or built.index().catalogue.chunks[0].id
    told = tuple(Description("told by a model", Source(name, *span)) for span in spans)
    (found,) = quote_sources([Passage(kind, "p", "text", quotes=told)], built.index(), rt)
    assert found.text == "text"
    return [q.text for q in found.quotes]


def test_where_a_model_told_it_the_quotes_are_the_sources_own_sentences(built: Corpus, quotes: Runtime) -> None:
    index = built.index()
    name = index.catalogue.chunks[0].id
    text = index.chunks([name])[name].text
    (a, b), (c, d), (e, f) = split_sentences(text)[:3]
    assert shown(built, quotes, (a + 2, b - 2)) == [text[a:b]]
    assert shown(built, quotes, (a, b), (a + 1, b)) == [text[a:b]]  # each once
    assert shown(built, quotes, (b - 1, c + 1)) == [text[a:d]]
    assert shown(built, quotes, (c, d)) == [text[c:d]]  # neither neighbour is touched
    assert shown(built, quotes, (e, f), (a, b)) == [text[e:f], text[a:b]]
    assert shown(built, quotes, (b, c)) == [text[b:c]]  # between sentences there is none
    (found,) = quote_sources(
        [Passage("entity", "p", "t", quotes=(Description("x", Source(name, c + 1, d)),))], index, quotes
    )
    assert (found.quotes[0].source.start, found.quotes[0].source.end) == (c, d)


def test_a_span_of_more_than_600_characters_or_of_no_chunk_is_quoted_by_nobody(built: Corpus, quotes: Runtime) -> None:
    assert len(shown(built, quotes, (5, 605))) == 1
    assert shown(built, quotes, (5, 606)) == []
    assert shown(built, quotes, (0, 5), chunk="gone") == []


def test_points_and_what_a_writing_engine_reads_keep_their_quotes(
    built: Corpus, quotes: Runtime, writes: Runtime
) -> None:
    assert shown(built, quotes, (0, 5), kind="point") == ["told by a model"]
    assert shown(built, writes, (0, 5)) == ["told by a model"]


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with Corpus.open(tmp_path_factory.mktemp("harbour"), settings={"engine": "offline"}) as made:
        made.add(papers())
        made.build()
        yield made


def test_where_rules_told_it_the_quotes_are_the_sources_words_already(harbour: Corpus) -> None:
    assert shown(harbour, harbour.runtime(), (0, 5)) == ["told by a model"]


def test_without_evidence_the_answer_says_so_aloud(built: Corpus, writes: Runtime) -> None:
    heard: list[str] = []
    told = conclude_answer(
        Question("Who?"), Evidence(notes=("a note",)), built.index(), replace(writes, hear=heard.append)
    )
    assert (told.text, told.notes, heard) == (NOTHING, ("a note",), [NOTHING])
    assert conclude_answer(Question("Who?"), Evidence(), built.index(), writes).text == NOTHING


def test_an_inquiry_says_how_many_documents_there_are_and_what_was_said_before(built: Corpus) -> None:
    question = Question("Who?", (Turn("What?", "That."),))
    found = make_inquiry(question, [Passage("chunk", "c", "t")], built.index())
    assert (found.question, found.history) == ("Who?", question.history)
    assert found.corpus == len(built.index().catalogue.documents)
    assert [p.id for p in found.context.passages] == ["c"]


def test_a_point_is_cited_with_the_sentences_that_it_rests_on() -> None:
    quote = Description("It rained.", Source("c", 3, 13))
    batch = [Passage("entity", "e", "Rain.", quotes=(quote,)), Passage("entity", "f", "Snow.")]
    said = (Statement(" It rained. ", ("e",)), Statement("So it was.", ()))
    found = point_passage(Point(said, 40, "a title", 3), batch)
    assert (found.kind, found.text, found.score, found.title) == ("point", "It rained. So it was.", 40, "a title")
    assert (len(found.id), found.documents) == (20, 3)
    assert {q.text for q in found.quotes} <= {"It rained."}


def test_a_patient_listener_hears_nothing_until_something_is_cited() -> None:
    heard: list[str] = []
    patient: Any = Patient(heard.append)
    for piece in ("It rains", " in Oslo", " [1", "]. ", "More."):
        patient(piece)
    assert heard == ["It rains in Oslo [1]. ", "More."]


# ── chunks that are looked up ──


@pytest.fixture
def look_up(monkeypatch: pytest.MonkeyPatch, quotes: Runtime) -> Any:
    """What becomes of evidence where chunks are looked up: kind, id and score of its passages."""
    monkeypatch.setattr(asking, "documents_behind", lambda passages, index: ())

    def look(add: Any, evidence: Evidence, **found: Any) -> tuple[list[tuple[str, str, float]], Any]:
        for name in ("named", "identified", "listed", "opening"):
            given = found.get(name, ([], None) if name == "named" else ([], True) if name == "listed" else [])
            monkeypatch.setattr(asking, f"find_{name}_chunks", lambda *_, given=given: given)
        made, also = add(Question("Who?"), evidence, None, quotes)
        assert (made.omitted, made.notes) == (evidence.omitted, evidence.notes)
        return [(p.kind, p.id, p.score) for p in made.passages], also

    return look


HAD = Evidence(
    (Passage("entity", "a", "", 3.0), Passage("chunk", "b", "", 2.0), Passage("chunk", "c", "", 1.0)),
    omitted=4, notes=("n",),
)  # fmt: skip
A, B, D = (Passage("chunk", name, "", 0.1) for name in "abd")
AS_IT_WAS = [("entity", "a", 3.0), ("chunk", "b", 2.0), ("chunk", "c", 1.0)]


def test_chunks_with_a_name_or_an_identifier_stand_in_front_each_once(look_up: Any) -> None:
    front = [("chunk", "a", 3.0), ("chunk", "b", 3.0), ("entity", "a", 3.0), ("chunk", "c", 1.0)]
    assert look_up(add_named_chunks, HAD, named=([A, B], "counts")) == (front, "counts")
    assert look_up(add_named_chunks, HAD, identified=[A, B]) == (front, None)
    assert look_up(add_named_chunks, HAD, named=([A, B], "counts"), identified=[D]) == (front, "counts")
    assert look_up(add_named_chunks, HAD, named=([], "counts")) == (AS_IT_WAS, "counts")
    assert look_up(add_named_chunks, Evidence(), named=([D], "counts")) == ([("chunk", "d", 1.0)], "counts")


def test_chunks_of_a_list_stand_behind_where_they_are_not_there_yet(look_up: Any) -> None:
    behind = [*AS_IT_WAS, ("chunk", "d", 0.1)]
    assert look_up(add_listed_chunks, HAD, listed=([B, D], False)) == (behind, False)
    assert look_up(add_listed_chunks, HAD, opening=[D, B]) == (behind, True)
    assert look_up(add_listed_chunks, HAD, listed=([D], True), opening=[A]) == (behind, True)
    assert look_up(add_listed_chunks, HAD, listed=([B], False)) == (AS_IT_WAS, False)
    assert look_up(add_listed_chunks, HAD) == (AS_IT_WAS, True)


def test_an_engine_that_writes_is_given_what_was_found(writes: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "find_named_chunks", lambda *_: pytest.fail("it is not looked up"))
    assert add_named_chunks(Question("Who?"), HAD, None, writes) == (HAD, None)  # type: ignore[arg-type]
    assert add_listed_chunks(Question("Who?"), HAD, None, writes) == (HAD, True)  # type: ignore[arg-type]
