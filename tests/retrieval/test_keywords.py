"""Names and themes of a question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harbour import QUESTIONS, papers
from scripted import Script, ScriptedServer
from scripted_replies import task_of
from sensegraph.corpus.corpus import Corpus
from sensegraph.retrieval.signals import Keywords, keywords_of
from sensegraph.types import Question, Turn
from wired import corpus


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    settings = {"engine": "offline", "index": {"parts": ["graph"], "chunk_tokens": 60, "chunk_overlap": 10}}
    with Corpus.open(tmp_path_factory.mktemp("harbour"), settings=settings) as made:
        made.add(papers())
        made.build()
        yield made


def found(made: Corpus, text: str, *history: Turn, **how: Any) -> Keywords:
    return keywords_of(Question(text, history), made.index(), made.runtime(), **how)


def test_names_that_the_index_knows_are_low_and_lead_to_their_entities(harbour: Corpus) -> None:
    words = found(harbour, QUESTIONS["local"])
    assert "Skerry Point" in words.low
    names = [harbour.index().lookups.name(place) for place in words.entities]
    assert names == [name for name, places in zip(words.low, words.called, strict=True) if places]


def test_what_is_asked_of_a_name_is_high(harbour: Corpus) -> None:
    words = found(harbour, QUESTIONS["local"])
    assert any("lighthouse" in theme for theme in words.high)
    assert not any("Skerry" in theme for theme in words.high)


def test_a_run_of_capitals_that_no_entity_bears_is_low_all_the_same(harbour: Corpus) -> None:
    words = found(harbour, "What did Ada Finch sell to Otto von Hagen?")
    assert "Ada Finch" in words.low
    assert words.called[words.low.index("Otto von Hagen")] == ()


def test_the_word_that_opens_a_question_is_no_name(harbour: Corpus) -> None:
    words = found(harbour, "Which ships burned in the harbour?")
    assert words.low == ()
    assert words.high


def test_words_of_two_letters_are_sought_and_single_letters_are_not(harbour: Corpus) -> None:
    assert found(harbour, "which ox drew a x cart?", refined=False).high == ("ox drew cart",)


def test_a_question_of_nothing_is_its_own_keyword(harbour: Corpus) -> None:
    assert found(harbour, "?") == Keywords(("?",), ("?",), ((),))


def test_names_of_the_conversation_stand_in_for_none_of_the_question(harbour: Corpus) -> None:
    words = found(harbour, "and what did she buy?", Turn("Who is Nora Blythe?", "She runs the yard."))
    assert "Nora Blythe" in words.low


def test_without_the_engine_rules_alone_find_them(harbour: Corpus) -> None:
    assert found(harbour, QUESTIONS["local"], refined=False).low == found(harbour, QUESTIONS["local"]).low


def _parts(body: dict[str, Any]) -> str | None:
    asked = '{"expanded_question": "What did Ada Harrow of the Fenwicks do?", "sub_questions": ["Who was paid?"]}'
    return asked if task_of(body) == "refinement" else None


def test_a_model_is_asked_once_and_its_sub_questions_are_themes(tmp_path: Path, built: Corpus) -> None:
    with ScriptedServer(Script(reply=_parts)) as server, corpus(tmp_path, server, index={"parts": ["graph"]}) as made:
        made.add(papers())
        made.build()
        server.reset()
        words = found(made, "What did she do?")
        assert words.high == ("Who was paid?",)
        assert "Ada Harrow of the Fenwicks" in words.low
        assert [c.task for c in server.calls] == ["refinement"]
        assert found(made, "What did she do?") == words
        assert len(server.calls) == 1


def test_defect_5_a_failed_call_does_not_silence_the_method(tmp_path: Path) -> None:
    def refuse(body: dict[str, Any]) -> str | None:
        return "I would rather not." if task_of(body) == "refinement" else None

    with ScriptedServer(Script(reply=refuse)) as server, corpus(tmp_path, server, index={"parts": ["graph"]}) as made:
        made.add(papers())
        made.build()
        words = found(made, "What did Ada Finch ask of the council?")
        assert "Ada Finch" in words.low
        assert words.high
        assert any("could not split the question" in note for note in words.notes)
