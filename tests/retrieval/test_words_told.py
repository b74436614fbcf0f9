"""Search words that a model tells: LightRAG's two levels, FastGraphRAG's entities and concepts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harbour import papers
from scripted import Script, ScriptedServer
from scripted_methods import message_of
from scripted_replies import task_of
from sensegraph.corpus.corpus import Corpus
from sensegraph.methods.fastgraphrag.fastgraphrag import FastGraphRAG
from sensegraph.methods.fastgraphrag.tasks import find_concepts
from sensegraph.methods.lightrag.lightrag import LightRAG
from sensegraph.methods.lightrag.tasks import find_keywords
from sensegraph.retrieval.signals import Keywords, keywords_of
from sensegraph.types import Question, Turn
from wired import corpus

STEPS: Any = {"keywords": find_keywords, "concepts": find_concepts}
FIELDS = {"keywords": ("low_level", "high_level"), "concepts": ("named", "general")}
METHODS: Any = {"keywords": LightRAG(), "concepts": FastGraphRAG()}
TASKS = pytest.mark.parametrize("task", STEPS)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Corpus, ScriptedServer]]:
    index = {"parts": ["graph", "relations"]}
    with ScriptedServer() as server, corpus(tmp_path_factory.mktemp("told"), server, index=index) as made:
        made.add(papers())
        made.build()
        yield made, server


def say(served: tuple[Corpus, ScriptedServer], task: str, reply: str) -> None:
    served[1].reset()
    served[1].script = Script(keep_bodies=True, reply=lambda body: reply if task_of(body) == task else None)


def lists(task: str, low: list[Any], high: list[Any]) -> str:
    return json.dumps(dict(zip(FIELDS[task], (low, high), strict=True)))


def found(served: tuple[Corpus, ScriptedServer], task: str, text: str, *history: Turn) -> Keywords:
    made = served[0]
    return keywords_of(Question(text, history), made.index(), made.runtime(), words=STEPS[task])


def other_tasks(server: ScriptedServer) -> set[str]:
    return {c.task for c in server.calls} - {"embedding"}


@TASKS
def test_both_lists_are_those_of_the_model_and_one_call_is_made(
    served: tuple[Corpus, ScriptedServer], task: str
) -> None:
    low, high = ["Ada Finch", " the  pier ", "ada finch"], ["building of piers", "Ada Finch"]
    say(served, task, lists(task, low, high))
    words = found(served, task, "Why did she build it?", Turn("Who is Ada Finch?", "She keeps the light."))
    assert (words.low, words.high) == (("Ada Finch", "the pier"), ("building of piers",))
    assert words.called[0]  # the index knows her
    assert [c.task for c in served[1].calls] == [task]
    assert "Who is Ada Finch?" in message_of(served[1].calls[0].body)


@TASKS
def test_known_names_that_the_model_left_out_are_searched_for_too(
    served: tuple[Corpus, ScriptedServer], task: str
) -> None:
    say(served, task, lists(task, ["lighthouse"], ["keeping"]))
    words = found(served, task, "What do Ada Finch and Tom Reeve keep?")
    assert words.low == ("lighthouse", "Ada Finch", "Tom Reeve")
    assert len(words.called) == 3
    assert words.high == ("keeping",)


@TASKS
def test_one_list_alone_leaves_the_other_empty(served: tuple[Corpus, ScriptedServer], task: str) -> None:
    say(served, task, lists(task, [], ["ways of fishing"]))
    assert found(served, task, "what about fishing?") == Keywords((), ("ways of fishing",), ())
    say(served, task, lists(task, ["Nora Blythe"], []))
    assert found(served, task, "who is nora?").high == ()
    asked = Question("who is nora?")
    assert METHODS[task].retrieve(asked, served[0].index(), served[0].runtime()).passages


@TASKS
def test_a_greeting_has_no_words_and_the_notes_say_that_it_is_searched_as_it_is(
    served: tuple[Corpus, ScriptedServer], task: str
) -> None:
    say(served, task, lists(task, [], []))
    words = found(served, task, "good morning!")
    assert (words.low, words.high, words.called) == (("good morning!",), ("good morning!",), ((),))
    evidence = METHODS[task].retrieve(Question("good morning!"), served[0].index(), served[0].runtime())
    assert any("finds no keywords in the question" in n for n in evidence.notes)
    assert len(served[1].done(task)) == 1  # an empty list in its form is believed


BAD = ["", "I would rather not.", "{}", "[]", '{"low_level": [], "named": [', '{"low_level": [{}], "named": [[]]}']


@TASKS
@pytest.mark.parametrize("reply", BAD)
def test_what_cannot_be_read_is_asked_for_again_and_then_rules_find_them_with_a_note(
    served: tuple[Corpus, ScriptedServer], task: str, reply: str
) -> None:
    question = f"What did Ada Finch ask of the council ({BAD.index(reply)})?"
    say(served, task, reply)
    words = found(served, task, question)
    assert len(served[1].done(task)) >= 2
    assert other_tasks(served[1]) == {task}
    assert "Ada Finch" in words.low
    assert words.high
    (note,) = words.notes
    assert note.startswith("the engine could not find keywords in the question (")
    assert "rules alone did" in note
    say(served, task, lists(task, ["council"], ["requests"]))
    assert found(served, task, question).notes == ()  # nothing was stored of the failure


@TASKS
def test_a_second_reply_that_can_be_read_counts(served: tuple[Corpus, ScriptedServer], task: str) -> None:
    served[1].reset()

    def reply(body: dict[str, Any]) -> str | None:
        again = "cannot be used" in body["messages"][-1]["content"]
        return None if task_of(body) != task else lists(task, ["pier"], ["costs"]) if again else "Well, the pier."

    served[1].script = Script(reply=reply)
    words = found(served, task, "what of its costs?")
    assert (words.low, words.high, words.notes) == (("pier",), ("costs",), ())


@TASKS
def test_a_whole_answer_asks_once_for_words_and_once_for_the_answer(
    served: tuple[Corpus, ScriptedServer], task: str, tmp_path: Path
) -> None:
    say(served, task, lists(task, ["Ada Finch"], ["harbour"]))
    made = served[0]
    answer = METHODS[task].answer(Question("What of Ada Finch?"), made.index(), made.runtime())
    assert answer.text
    assert sorted(c.task for c in served[1].calls if c.task != "embedding") == sorted([task, "answer"])
