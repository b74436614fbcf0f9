"""What a model is asked when there is a question: leads, refinements, verdicts, grades, conversations, streams."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripted import Script, ScriptedServer
from scripted_engine import INQUIRY, REPORTS, Body, engine, says
from sensegraph.engines.llm import prompts
from sensegraph.engines.llm.llm import LLMEngine
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.llm.question_tasks import NOTICE, TASKS
from sensegraph.errors import EndpointError, ItemFailed, SettingsError, Unreadable
from sensegraph.language.text import count_tokens
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.protocols import StreamingEngine
from sensegraph.types import Context, Inquiry, Lead, Passage, Refinement, Statement, Turn

NOTHING = Inquiry("What?", Context(()))
HISTORY = (Turn("Who runs the harbour?", "Mara Voss does."), Turn("Since when?", ""))
LATER = replace(INQUIRY, history=HISTORY)


def sent(server: ScriptedServer, call: int = 0) -> tuple[str, str]:
    system, user = (m["content"] for m in server.calls[call].body["messages"][:2])
    return system, user


# ── ask ──


LEAD = {
    "answer": "It is big [Data: Reports (2, 9)].",
    "score": 70,
    "follow_ups": ["Who runs it?", " who RUNS it? ", "Why?"],
}


def test_a_lead_is_an_answer_with_references_a_score_and_questions() -> None:
    with says(LEAD) as server:
        made = engine(server, follow_ups=4)
        (lead,) = made.ask([INQUIRY])
    assert lead == Lead((Statement("It is big.", ("report-key-1",)),), 70.0, ("who RUNS it?", "Why?"))
    assert "at most 4 questions to follow up" in sent(server)[0]
    assert server.calls[0].task == "lead"
    assert made.notes() == ("1 unusable parts of replies to ask",)  # Reports (9)


def test_a_lead_without_a_score_is_asked_for_again_and_then_scores_0() -> None:
    with says({"answer": "It is big.", "follow_ups": []}) as server:
        (lead,) = engine(server).ask([INQUIRY])
    assert (lead.score, len(server.calls)) == (0.0, 2)
    assert "0 to 100" in server.calls[1].body["messages"][3]["content"]


def test_a_lead_that_cannot_be_read_fails_that_question() -> None:
    with says("It is big.") as server, pytest.raises(ItemFailed, match=r"ask: .*What about the harbour"):
        engine(server).ask([INQUIRY])
    assert len(server.calls) == 2


def test_nothing_to_answer_from_needs_no_call() -> None:
    with ScriptedServer() as server:
        made = engine(server)
        assert made.ask([NOTHING]) == [Lead()]
        assert made.test([NOTHING]) == [False]
        assert made.grade([NOTHING]) == [0]
        assert [made.prompt_tokens(t, NOTHING) for t in ("ask", "test", "grade")] == [0, 0, 0]
        assert made.prompt_tokens("refine", NOTHING) > 100
    assert server.calls == []


# ── refine ──


def test_a_question_is_refined_with_the_words_and_the_outline_of_the_corpus() -> None:
    reply = {"expanded_question": "All of it?", "sub_questions": ["A?", "B?", "a?", "C?"], "hypothetical_answer": "So."}
    concepts = tuple(Passage("concept", n, n, title=n) for n in ("harbour", "pilots, and\nboats"))
    with says(reply) as server:
        (made,) = engine(server, sub_questions=2).refine([Inquiry("What?", Context((*concepts, REPORTS[0])))])
    assert made == Refinement("All of it?", ("a?", "B?"), "So.")
    system, user = sent(server)
    assert "at most 2 smaller questions" in system
    assert user.split("\n\n") == [
        "The corpus speaks of: harbour; pilots, and boats",
        "Example report:\nR0\nReport 0 on the harbour.",
        "Question: What?",
        "Write in the language of the question.",
    ]


def test_a_refinement_without_an_expanded_question_keeps_the_question() -> None:
    with says({"sub_questions": ["A?", 7]}) as server:
        assert engine(server).refine([NOTHING]) == [Refinement("What?", ("A?",), "")]


@pytest.mark.parametrize("reply", ["No.", {}, {"sub_questions": [], "expanded_question": " "}])
def test_an_empty_refinement_fails_that_question(reply: Any) -> None:
    with says(reply) as server, pytest.raises(ItemFailed, match="refine"):
        engine(server).refine([NOTHING])


# ── test ──


@pytest.mark.parametrize(("reply", "found"), [("yes", True), ("Yes", True), ("no", False), ("Hm", None), ("", None)])
def test_a_passage_is_tested_by_one_word(reply: str, found: bool | None) -> None:
    with says(reply) as server:
        made = engine(server)
        if found is None:
            with pytest.raises(Unreadable, match="neither yes nor no") as caught:
                made.test([LATER])
            assert caught.value.instead is False
        else:
            assert made.test([LATER]) == [found]
    body = server.calls[0].body
    assert body["max_tokens"] == 16
    assert body["temperature"] == 0
    assert "response_format" not in body
    assert len(server.calls) == 1
    assert sent(server)[1].startswith("Text:\nR0\nReport 0 on the harbour.\n\nR1\n")
    assert sent(server)[1].endswith("\n\nQuestion: What about the harbour?")
    assert any("read" in note for note in made.notes()) == (reply in ("Hm", ""))


def test_a_model_whose_tokens_are_known_is_left_only_yes_and_no() -> None:
    with says("yes") as server:
        assert engine(server, {"model": "gpt-4o-mini"}).test([INQUIRY]) == [True]
    assert server.calls[0].body["max_tokens"] == 1
    assert set(server.calls[0].body["logit_bias"].values()) == {100}


def test_an_endpoint_that_refuses_the_bias_is_asked_without() -> None:
    with says("yes", refuse="logit_bias") as server:
        made = engine(server, {"model": "gpt-4o-mini"})
        assert made.test([INQUIRY, LATER]) == [True, True]
    assert ["logit_bias" in c.body for c in server.calls] == [True, False, False]
    assert any("bias" in note for note in made.notes())


# ── grade ──


@pytest.mark.parametrize(("rating", "grade"), [(4, 4), ("3/5", 3), (9, 5), (-1, 0), (2.6, 3)])
def test_a_grade_is_a_number_from_0_to_5(rating: Any, grade: int) -> None:
    with says({"reason": "It is.", "rating": rating}) as server:
        assert engine(server).grade([INQUIRY]) == [grade]
    assert len(server.calls) == 1


@pytest.mark.parametrize("reply", ["I cannot.", {"reason": "so"}, {"rating": "high"}])
def test_a_grade_that_cannot_be_read_is_asked_for_again_and_then_is_unreadable_with_1_instead(reply: Any) -> None:
    with says(reply) as server:
        made = engine(server)
        with pytest.raises(Unreadable, match="no rating from 0 to 5") as caught:
            made.grade([INQUIRY])
        assert caught.value.instead == 1
    assert len(server.calls) == 2
    assert made.notes() == ("1 replies to grade were asked for again", "1 unusable parts of replies to grade")


# ── the conversation before ──


@pytest.mark.parametrize("task", [t for t in TASKS if t != "test"])
def test_a_conversation_is_shown_where_there_is_one(task: str) -> None:
    reply = {"points": [], "answer": "x", "score": 1, "follow_ups": [], "expanded_question": "x", "rating": 1}
    with says(reply) as server:
        made = engine(server)
        getattr(made, task)([INQUIRY])
        getattr(made, task)([LATER])
    plain, later = sent(server, 0)[1], sent(server, 1)[1]
    parts = later.split("\n\n")
    (shown,) = [part for part in parts if part.startswith("Conversation")]
    assert "\n\n".join(part for part in parts if part != shown) == plain
    assert shown.split("\n")[1:] == ["Asked: Who runs the harbour?", "Answered: Mara Voss does.", "Asked: Since when?"]
    assert sent(server, 0)[0] == sent(server, 1)[0]


@given(st.lists(st.tuples(st.text(), st.text()), max_size=6), st.integers(0, 80))
def test_of_a_conversation_the_latest_turns_that_fit_are_kept(texts: list[tuple[str, str]], budget: int) -> None:
    history = [Turn(q, a) for q, a in texts]
    kept, left = prompts.fit_history(history, budget)
    assert len(kept) + left == len(history)
    assert kept[1:] == history[len(history) - len(kept) + 1 :]
    sizes = [count_tokens(prompts._write_turn(t)) for t in history]
    assert sum(count_tokens(prompts._write_turn(t)) for t in kept) <= budget
    if kept == history[left:] and left:
        assert sum(sizes[left - 1 :]) > budget or not budget
    if not left:
        assert sum(sizes) <= budget or (len(history) == 1 and kept != history)


@pytest.mark.parametrize("budget", [12, 20, 47, 48, 49, 50, 200])
def test_of_a_long_answer_as_much_is_kept_as_fits(budget: int) -> None:
    (kept,), left = prompts.fit_history([Turn("One?", "first"), Turn("Two?", "word " * 300)], budget)
    assert left == 1
    assert budget - 3 <= count_tokens(prompts._write_turn(kept)) <= budget


def test_of_a_long_answer_the_beginning_is_kept_and_what_is_left_out_is_noted() -> None:
    long = (Turn("One?", "first"), Turn("Two?", "word " * 300))
    with says({"answer": "So [1]."}) as server:
        (draft,) = engine(server, history_tokens=50).answer([replace(INQUIRY, history=long)])
    shown = sent(server)[1].split("\n\n")[1]
    assert "first" not in shown
    assert 20 < shown.count("word") < 50
    assert shown.endswith("word…")
    assert draft.notes == (NOTICE, "1 earlier turns of the conversation did not fit and were left out")


# ── streams ──


ANSWER = 'Größe “zählt” [Data: Reports (1)]. Then 😀 "quoted" [Data: Reports (2), Entities (7)].\n\n# End [3] of it.'


def both(server: ScriptedServer, inquiry: Inquiry = INQUIRY, **endpoint: Any) -> tuple[Any, Any, list[Statement], Any]:
    told: list[Statement] = []
    made = engine(server, endpoint)
    streamed = made.stream(inquiry, told.append)
    return streamed, made.answer([inquiry])[0], told, made


@pytest.mark.parametrize("form", ["json", "escaped", "fenced", "thoughts", "words"])
@pytest.mark.parametrize(("piece", "cut"), [(1, 7), (4, 50), (1000, 3), (13, 100000)])
def test_a_streamed_answer_is_the_one_that_comes_whole(form: str, piece: int, cut: int) -> None:
    whole = json.dumps({"answer": ANSWER}, ensure_ascii=form == "escaped")
    reply = {"fenced": f"```json\n{whole}\n```", "thoughts": f"<think>Hm.</think>{whole}", "words": ANSWER}.get(
        form, whole
    )
    with says(reply, piece=piece, cut=cut) as server:
        streamed, answered, told, made = both(server)
    assert streamed == answered
    assert told == list(answered.statements)
    assert made.usage().calls == 2
    assert made.usage().prompt_tokens == 2 * (made.usage().prompt_tokens // 2) > 0
    assert made.notes() == tuple(n for n in made.notes() if "unusable" in n)


def test_statements_are_told_before_the_reply_has_ended() -> None:
    seen: list[int] = []
    with says({"answer": ANSWER}, piece=3, cut=400, piece_s=0.01) as server:
        made = engine(server)
        made.stream(INQUIRY, lambda s: seen.append(made.usage().calls))
    assert seen == [0, 0, 0, 1]  # a call counts when it has ended; only the last statement waits for that


def test_the_engine_streams_and_tells_that_a_machine_wrote_it() -> None:  # G52
    with ScriptedServer() as server:
        made = engine(server)
        assert isinstance(made, StreamingEngine)
        draft = made.stream(INQUIRY, lambda s: None)
    assert draft.notes[0] == NOTICE
    assert "err" in NOTICE


def test_an_empty_streamed_answer_is_asked_for_again() -> None:
    told: list[Statement] = []
    with says({"answer": ""}, {"answer": "So [1]."}) as server:
        draft = engine(server).stream(INQUIRY, told.append)
    assert [s.text for s in told] == ["So."] == [s.text for s in draft.statements]
    assert len(server.calls) == 2


def test_an_answer_that_breaks_off_is_an_error_after_what_was_told() -> None:
    told: list[Statement] = []
    reply = json.dumps({"answer": "One [1]. Two [2]. " + "And more of it. " * 20})
    with says(reply, piece=4, break_after=60) as server:
        made = engine(server)
        with pytest.raises(EndpointError, match=r"broke off in the middle of a reply, after 60 characters.*Ask again"):
            made.stream(INQUIRY, told.append)
    assert [s.text for s in told] == ["One.", " Two."]
    assert len(server.calls) == 1
    assert made.usage().completion_tokens == count_tokens(reply[:60])


# ── fingerprints, estimates, settings ──


def fingerprints(endpoint: Body | None = None, **settings: Any) -> dict[str, str]:
    made = LLMEngine(Endpoint(EndpointSettings(**({"model": "m"} | (endpoint or {})))), LLMSettings(**settings))
    return {task: made.fingerprint(task) for task in TASKS}


@pytest.mark.parametrize(
    ("endpoint", "settings", "changed"),
    [
        ({"model": "n"}, {}, set(TASKS)),
        ({"temperature": 0.5}, {}, set(TASKS)),
        ({"base_url": "http://elsewhere.example/v1"}, {}, set()),
        ({}, {"history_tokens": 10}, {"rate", "answer", "ask", "refine", "grade"}),
        ({}, {"follow_ups": 3}, {"ask"}),
        ({}, {"ask_tokens": 300}, {"ask"}),
        ({}, {"general_knowledge": True}, {"rate", "answer", "ask"}),
        ({}, {"sub_questions": 4}, {"refine"}),
        ({}, {"refine_tokens": 300}, {"refine"}),
        ({}, {"language": "French"}, {"rate", "answer", "ask", "refine"}),
        ({}, {"entity_types": ("drug",)}, set()),
    ],
)
def test_a_fingerprint_changes_with_what_can_change_the_result(
    endpoint: Body, settings: Body, changed: set[str]
) -> None:
    before, after = fingerprints(), fingerprints(endpoint, **settings)
    assert {t for t in TASKS if before[t] != after[t]} == changed


def test_prompt_tokens_are_near_what_is_sent() -> None:
    with ScriptedServer(Script(usage=False)) as server:
        made = engine(server)
        for task in TASKS:
            before = made.usage().prompt_tokens
            getattr(made, task)([LATER])
            sent_tokens = made.usage().prompt_tokens - before
            assert sent_tokens > 0
            assert 0 <= made.prompt_tokens(task, LATER) - sent_tokens < 120, task  # the form is no part of the messages


@pytest.mark.parametrize("settings", [{"follow_ups": 0}, {"sub_questions": 0}, {"history_tokens": -1}])
def test_settings_that_cannot_work_are_refused(settings: Body) -> None:
    with pytest.raises(SettingsError, match="model"):
        LLMSettings(**settings)


def test_no_prompt_keeps_a_placeholder() -> None:
    made = LLMEngine(Endpoint(EndpointSettings(model="m")))
    for task in TASKS:
        assert made._plan(task).system
        assert "{{" not in made._plan(task).system
