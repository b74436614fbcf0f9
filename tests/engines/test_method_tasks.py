"""What a model is asked for single papers: the messages, the forms, the replies; nothing is silently empty."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from scripted_methods import listed_in, message_of
from sensegraph.engines.llm.llm import LLMEngine
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.llm.method_tasks import ABOUT_QUESTIONS as TASKS
from sensegraph.engines.llm.replies import method_replies as read
from sensegraph.errors import ItemFailed, SettingsError
from sensegraph.models.endpoint.client import Endpoint, Reply
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.questions import SearchWords
from sensegraph.types import Context, Inquiry, Passage, Turn

FACTS = tuple(Passage("relation", f"f{n}", f"fact {n} of it") for n in range(1, 6))
ASKED = Inquiry("Who did it?", Context(FACTS), history=(Turn("What was it?", "A theft."),))
GOOD: dict[str, tuple[str, Any]] = {
    "plan": ('{"steps": [{"question": "Who?", "action": "Output(#1)"}]}', ("Step1: Who?", "Action1: Output(#1)")),
    "keywords": ('{"high_level": ["theft"], "low_level": ["it"]}', SearchWords(("it",), ("theft",))),
    "concepts": ('{"named": ["it"], "general": ["theft"]}', SearchWords(("it",), ("theft",))),
    "filter": ('{"facts": [3, 1]}', ("f3", "f1")),
    "rank": (json.dumps({"scores": [{"id": n, "score": 2 * n} for n in range(1, 6)]}), (2.0, 4.0, 6.0, 8.0, 10.0)),
}
BARE = {task: Inquiry("Who did it?", Context(FACTS if task in ("filter", "rank") else ())) for task in TASKS}


def engine(server: ScriptedServer, **settings: Any) -> LLMEngine:
    endpoint = EndpointSettings(base_url=server.base_url, model="scripted", max_retries=1, timeout_s=5.0)
    return LLMEngine(Endpoint(endpoint), LLMSettings(**settings))


def says(*texts: str, **script: Any) -> ScriptedServer:
    """A server that gives these replies in turn, the last again and again."""
    left = list(texts)
    return ScriptedServer(Script(keep_bodies=True, reply=lambda _: left.pop(0) if len(left) > 1 else left[0], **script))


def ask(made: LLMEngine, task: str, inquiry: Inquiry | None = None) -> Any:
    (found,) = getattr(made, task)([inquiry or BARE[task]])
    return found


# ── messages ──


@pytest.mark.parametrize("task", TASKS)
def test_what_is_the_same_for_every_call_comes_first_with_examples_as_turns(task: str) -> None:
    with says(GOOD[task][0]) as server:
        made = engine(server)
        assert ask(made, task) == GOOD[task][1]
        ask(made, task, Inquiry("And where?", BARE[task].context))
        one, other = (c.body for c in server.calls)
    assert one["messages"][:-1] == other["messages"][:-1]
    roles = [m["role"] for m in one["messages"]]
    assert roles == ["system", *["user", "assistant"] * (len(roles) // 2 - 1), "user"]
    assert one["messages"][-1]["content"].startswith("Question: Who did it?")
    assert one["response_format"]["json_schema"]["name"] == task
    assert one["max_tokens"] == made.max_tokens(task)


@pytest.mark.parametrize("task", TASKS)
def test_every_example_is_a_reply_that_its_reader_takes(task: str) -> None:
    with ScriptedServer() as server:
        plan = engine(server)._plans[task]
    assert plan.turns
    for asked, text in plan.turns:
        count = len(listed_in(asked))
        readers: dict[str, Any] = {
            "plan": read.read_plan_lines,
            "keywords": lambda r: read.read_search_words(r, "low_level", "high_level"),
            "concepts": lambda r: read.read_search_words(r, "named", "general"),
            "filter": lambda r, n=count: read.read_chosen(r, [str(i) for i in range(n)], 4),
            "rank": lambda r, n=count: read.read_scores(r, n),
        }
        reading = readers[task](Reply(text, 1, 1, "stop"))
        assert reading.value is not None, text
        assert (reading.problem, reading.removed) == ("", 0), text


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("schemas", ["json_schema", "json_object", "none"])
def test_the_form_is_shown_only_where_the_endpoint_does_not_enforce_it(task: str, schemas: str) -> None:
    with says(GOOD[task][0], schemas=schemas) as server:
        made = engine(server)
        for question in ("A?", "B?", "C?", "D?"):  # what is refused is given up after two refusals
            ask(made, task, Inquiry(question, BARE[task].context))
        last = server.done()[-1].body
    shown = "Reply with one JSON object and nothing else, in this form:" in last["messages"][0]["content"]
    assert shown == (schemas != "json_schema")


def test_the_conversation_and_what_is_chosen_from_stand_in_the_message() -> None:
    with says(GOOD["filter"][0]) as server:
        ask(engine(server), "filter", ASKED)
        said = message_of(server.calls[0].body)
    assert "Asked: What was it?" in said
    assert "Question: Who did it?" in said
    assert listed_in(said) == [p.text for p in FACTS]


def test_nothing_to_choose_from_needs_no_call() -> None:
    nothing = Inquiry("Who?", Context(()))
    with ScriptedServer() as server:
        made = engine(server)
        assert (made.filter([nothing]), made.rank([nothing])) == ([()], [()])
        assert made.calls("filter", nothing) == 0
        assert server.calls == []
        assert made.prompt_tokens("plan", nothing) > 1_024  # long enough to be kept in a provider's cache


def test_many_passages_are_scored_in_several_calls_and_a_small_window_takes_fewer() -> None:
    many = Inquiry("Which word?", Context(tuple(Passage("chunk", str(n), f"word {n} " * 40) for n in range(50))))
    with ScriptedServer() as server:
        scores = ask(engine(server), "rank", many)
        calls = len(server.calls)
    assert (len(scores), calls) == (50, 3)
    assert all(score == 2.0 for score in scores)
    endpoint = EndpointSettings(base_url="", model="scripted", max_retries=1, window=2_048)
    with ScriptedServer(Script(keep_bodies=True)) as server:
        small = LLMEngine(Endpoint(EndpointSettings(server.base_url, model=endpoint.model, window=2_048)))
        assert ask(small, "rank", many) == scores
        assert len(server.calls) > calls


def test_an_earlier_plan_and_what_is_wrong_with_it_are_shown() -> None:
    wrong = (Passage("plan", "a", "Step1: Who?\nOutput(#2)"), Passage("plan", "b", "'2' is never bound"))
    with says(GOOD["plan"][0]) as server:
        ask(engine(server), "plan", Inquiry("Who?", Context(wrong)))
        said = message_of(server.calls[0].body)
    assert said.endswith(
        "An earlier plan for it:\nStep1: Who?\nOutput(#2)\n\nIt cannot be used: '2' is never bound. Write one that can."
    )


# ── replies ──


BAD = (
    "",
    "I'm sorry [1], I can't help with that.",
    "Well, perhaps.",
    "{}",
    '{"x": [1]}',
    "7",
    '{"facts": [9, 0, true]}',
)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("reply", BAD)
def test_what_cannot_be_read_is_asked_for_again_and_then_fails_by_name(task: str, reply: str) -> None:
    with says(reply) as server:
        with pytest.raises(ItemFailed, match=f"{task}: the reply of scripted about the question 'Who did it"):
            ask(engine(server), task)
        assert len(server.calls) >= 2


@pytest.mark.parametrize("task", TASKS)
def test_the_second_reply_counts(task: str) -> None:
    with says("Well, perhaps.", GOOD[task][0]) as server:
        made = engine(server)
        assert ask(made, task) == GOOD[task][1]
        assert f"1 replies to {task} were asked for again" in made.notes()


@pytest.mark.parametrize(
    ("task", "reply", "found"),
    [
        ("keywords", '{"high_level": [], "low_level": []}', SearchWords()),
        ("concepts", '{"named": [], "general": []}', SearchWords()),
        ("filter", '{"facts": []}', ()),
        ("filter", "[]", ()),
    ],
)
def test_an_empty_list_in_its_form_is_believed(task: str, reply: str, found: Any) -> None:
    with says(reply) as server:
        assert ask(engine(server), task) == found
        assert len(server.calls) == 1


@pytest.mark.parametrize("task", ["keywords", "concepts", "filter"])
def test_an_empty_list_that_was_cut_off_is_not_believed(task: str) -> None:
    (key, *_) = json.loads(GOOD[task][0])
    with ScriptedServer(Script(reply=lambda _: (f'{{"{key}": [', "length"))) as server, pytest.raises(ItemFailed):
        ask(engine(server), task)


def replied(text: str) -> Reply:
    return Reply(text, 1, 1, "stop")


@pytest.mark.parametrize(
    ("text", "found", "removed"),
    [
        ('{"facts": [1, "2", {"id": 3}, 1]}', (0, 1, 2), 0),
        ('{"facts": ["Fact TWO", "fact one"]}', (1, 0), 0),
        ('{"facts": [5, 4, 3, 2, 1]}', (4, 3, 2, 1), 1),
        ('{"facts": [2, 77, "no such fact"]}', (1,), 2),
        ('Sure!\n```json\n{"facts": [2]}\n```', (1,), 0),
    ],
)
def test_facts_are_chosen_by_numbers_or_words(text: str, found: tuple[int, ...], removed: int) -> None:
    texts = ["fact one", "fact two", "fact three", "fact four", "fact five"]
    reading = read.read_chosen(replied(text), texts, 4)
    assert (reading.value, reading.removed, reading.problem) == (found, removed, "")


@pytest.mark.parametrize(
    ("text", "found", "problem"),
    [
        ('{"scores": [{"id": 2, "score": 7}, {"id": 1, "score": "3/10"}]}', (3.0, 7.0), ""),
        ('{"scores": [12, -1]}', (10.0, 0.0), ""),
        ("[5, 6]", (5.0, 6.0), ""),
        ('{"scores": [{"id": 1, "score": 7}]}', (7.0, 0.0), "1 of 2 passages have no score"),
    ],
)
def test_scores_are_read_by_number_and_place(text: str, found: tuple[float, ...], problem: str) -> None:
    reading = read.read_scores(replied(text), 2)
    assert (reading.value, reading.problem) == (found, problem)


def test_search_words_are_read_once_each_and_at_most_twelve() -> None:
    many = json.dumps({"named": [f"n{i}" for i in range(20)], "general": "sea, boats , sea"})
    reading = read.read_search_words(replied(many), "named", "general")
    assert reading.value == SearchWords(tuple(f"n{i}" for i in range(12)), ("sea", "boats"))


@pytest.mark.parametrize(
    ("steps", "lines"),
    [
        ([{"question": "A?", "action": "look it up"}], ("Step1: A?",)),
        ([{"action": "Output(#1)"}], ("Action1: Output(#1)",)),
        (["A? | Retrieval(s=x)", "", "B?"], ("Step1: A?", "Action1: Retrieval(s=x)", "Step2: B?")),
        ([{"sub_question": "A?\n B?", "call": "Math(content=`1`)"}], ("Step1: A? B?", "Action1: Math(content=`1`)")),
    ],
)
def test_steps_become_lines_of_a_plan(steps: list[Any], lines: tuple[str, ...]) -> None:
    assert read.read_plan_lines(replied(json.dumps({"steps": steps}))).value == lines


# ── templates of the user ──


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tmp_path / "filter.md"


def test_a_template_without_parts_is_all_instructions(own: Path) -> None:
    own.write_text("Choose for {{response_type}}.\n", "utf-8")
    with says(GOOD["filter"][0]) as server:
        ask(engine(server, prompts=str(own.parent)), "filter")
        assert server.calls[0].body["messages"][0]["content"] == "Choose for several paragraphs."
        assert len(server.calls[0].body["messages"]) == 2


@pytest.mark.parametrize(
    ("text", "why"), [("A {{nothing}}.", "placeholder {{nothing}}"), ("A.\n=== example\nQ?\n", "by its `=== reply`")]
)
def test_a_template_that_cannot_work_is_refused_at_once(own: Path, text: str, why: str) -> None:
    own.write_text(text, "utf-8")
    with ScriptedServer() as server, pytest.raises(SettingsError, match=why):
        engine(server, prompts=str(own.parent))
