from __future__ import annotations

import json
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from scripted_engine import CHUNK, COMMUNITY, ENTITIES, INQUIRY, RELATION, Body, engine, report_of, says
from scripted_replies import talk_in
from sensegraph.engines.llm import prompts
from sensegraph.engines.llm.question_tasks import NOTICE
from sensegraph.errors import EndpointError, ItemFailed, Unreadable
from sensegraph.types import Context, Inquiry, Passage

# ── reports ──


def test_a_report_cites_records_by_their_ids() -> None:
    with says(report_of()) as server:
        (report,) = engine(server).report([COMMUNITY])
    assert (report.title, report.rating, report.rating_explanation) == ("The things", 7.5, "They matter.")
    assert [(s.text, s.references) for s in report.summary] == [("They are good.", ("relation-key",))]
    assert [f.statements[0].references for f in report.findings[:5]] == [(f"entity-key-{i}",) for i in range(5)]
    assert len(server.calls) == 2  # finding 6 cites Entities (6), which is a relation
    assert report.dangling == 1


def test_the_tables_of_a_report_hold_no_id_of_the_index() -> None:
    with says(report_of(5)) as server:
        engine(server).report([COMMUNITY])
    user = server.calls[0].body["messages"][1]["content"]
    assert user.split("\n") == [
        "Community: T0 and others",
        "",
        "# Entities",
        "id,entity,description",
        *(f'{i + 1},T{i},"Thing {i}, which is good"' for i in range(5)),
        "",
        "# Relationships",
        "id,source,target,description",
        '6,T0,T1,"they work, together"',
        "",
        "Write in English.",
    ]
    assert "key" not in user


def test_a_dangling_reference_is_asked_about_once_and_then_removed() -> None:
    bad = report_of(5, summary="They are good [Data: Reports (4)].")
    with says(bad, report_of(5)) as server:
        (mended,) = engine(server).report([COMMUNITY])
    assert mended.dangling == 0
    assert "report 4" in server.calls[1].body["messages"][3]["content"]
    with says(bad) as server:
        made = engine(server)
        (report,) = made.report([COMMUNITY])
        assert made.usage().rejected == 1
    assert report.dangling == 1
    assert [(s.text, s.references) for s in report.summary] == [("They are good.", ())]


def test_too_few_findings_are_asked_for_again_and_then_accepted() -> None:
    with says(report_of(2)) as server:
        (report,) = engine(server).report([COMMUNITY])
    assert len(server.calls) == 2
    assert len(report.findings) == 2
    assert "at least 5" in server.calls[1].body["messages"][3]["content"]


def test_a_small_community_may_have_few_findings() -> None:
    with says(report_of(2, summary="Good.")) as server:
        engine(server).report([Context(ENTITIES[:2], "small")])
    assert len(server.calls) == 1


def test_a_lone_entity_is_its_own_report_without_a_call() -> None:
    with ScriptedServer() as server:
        (report,) = engine(server).report([Context(ENTITIES[:1], "T0")])
    assert server.calls == []
    assert (report.title, report.summary[0].text, report.summary[0].references) == (
        "T0",
        "Thing 0, which is good",
        ("entity-key-0",),
    )


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"title": "[Data: Entities (1)]"}, "title"),
        ({"title": ""}, "title"),
        ({"rating": None}, "rating"),
        ({"summary": 5}, "summary"),
        ({"title": None}, "title"),
    ],
)
def test_a_report_that_lacks_a_part_fails_and_names_its_community(changes: Body, problem: str) -> None:
    with says(report_of(5, **changes)) as server, pytest.raises(ItemFailed, match="'T0 and others' of 6 records") as e:
        engine(server).report([COMMUNITY])
    assert problem in str(e.value)
    assert len(server.calls) == 2


@pytest.mark.parametrize(("given", "expected"), [("8.5/10", 8.5), (12, 10), (-1, 0), ("high", 0)])
def test_a_rating_is_held_to_its_scale(given: Any, expected: float) -> None:
    with says(report_of(5, rating=given)) as server:
        assert engine(server).report([COMMUNITY])[0].rating == expected


def test_a_truncated_report_keeps_its_complete_findings() -> None:
    text = json.dumps(report_of(5))
    cuts = [(text[: text.index(mark)], "length") for mark in ("Finding 3", "Finding 4")]
    with says(*cuts) as server, pytest.raises(Unreadable, match="cut off") as caught:
        engine(server).report([COMMUNITY])
    found = [f.summary for f in caught.value.instead.findings]
    assert found == ["Finding 0", "Finding 1", "Finding 2", "Finding 3"]
    assert len(server.calls) == 2


def test_a_report_that_was_cut_off_is_none_even_where_it_has_enough_findings() -> None:
    text = json.dumps(report_of(8))
    cut = (text[: text.index("Finding 7")], "length")
    with says(cut, report_of(8)) as server:
        assert len(engine(server).report([COMMUNITY])[0].findings) == 8
        assert "cut off" in talk_in(server.calls[1].body)[3]["content"]
    with says(cut) as server, pytest.raises(Unreadable, match="cut off") as caught:
        engine(server).report([COMMUNITY])
    assert len(caught.value.instead.findings) == 7


# ── points ──


def test_points_carry_score_and_references() -> None:
    with says({"points": [{"text": "Ships come [Data: Reports (1, 3)].", "score": 80}]}) as server:
        ((point,),) = engine(server).rate([INQUIRY])
    assert point.score == 80
    assert [(s.text, s.references) for s in point.statements] == [("Ships come.", ("report-key-0", "report-key-2"))]
    user = server.calls[0].body["messages"][1]["content"]
    assert user.startswith("# Reports\n")
    assert user.endswith("\n\nQuestion: What about the harbour?\n\nWrite in English.")


@pytest.mark.parametrize(
    ("given", "expected"), [(55, 55), ("70", 70), ("about 30 of 100", 30), (140, 100), (-5, 0), (12.5, 12.5)]
)
def test_a_score_is_read_and_held_to_its_scale(given: Any, expected: float) -> None:
    with says({"points": [{"text": "a", "score": given}]}) as server:
        ((point,),) = engine(server).rate([INQUIRY])
    assert point.score == expected
    assert len(server.calls) == 1


@pytest.mark.parametrize("given", [None, "high", ""])
def test_a_missing_score_is_asked_for_once_and_then_zero(given: Any) -> None:
    with says({"points": [{"text": "a", "score": given}]}) as server:
        ((point,),) = engine(server).rate([INQUIRY])
    assert point.score == 0
    assert len(server.calls) == 2


@pytest.mark.parametrize(
    ("reply", "score", "calls"),
    [
        ("<ANSWER_HELPFULNESS>75</ANSWER_HELPFULNESS> Ships come [Data: Reports (2)].", 75, 1),
        ("<ANSWER HELPFULNESS> 40 </ANSWER HELPFULNESS>.\nShips come [Data: Reports (2)].", 40, 1),
        ("Ships come [Data: Reports (2)].\n<answer_helpfulness>high</answer_helpfulness>", 0, 2),
    ],
)
def test_an_answer_with_a_helpfulness_tag_is_one_point(reply: str, score: float, calls: int) -> None:
    with says(reply) as server:
        ((point,),) = engine(server, points="answer").rate([INQUIRY])
    assert (point.score, len(server.calls)) == (score, calls)
    assert [(s.text, s.references) for s in point.statements] == [("Ships come.", ("report-key-1",))]


def test_no_points_is_an_answer_and_no_context_needs_no_call() -> None:
    with says({"points": []}) as server:
        assert engine(server).rate([INQUIRY, Inquiry("What?", Context(()))]) == [(), ()]
    assert len(server.calls) == 1


def test_points_that_cannot_be_read_are_an_error_and_no_zero() -> None:
    with says("The harbour is nice.") as server, pytest.raises(ItemFailed, match="What about the harbour"):
        engine(server).rate([INQUIRY])
    assert len(server.calls) == 2


# ── answers ──


def test_an_answer_is_cut_into_statements_with_their_references() -> None:
    with says({"answer": "## Ships\n\nThey come [Data: Reports (1)]. They go [Data: Reports (2, 9)]."}) as server:
        (draft,) = engine(server).answer([INQUIRY])
    assert [(s.text, s.references) for s in draft.statements] == [
        ("## Ships\n\nThey come.", ("report-key-0",)),
        (" They go.", ("report-key-1",)),
    ]
    assert draft.dangling == 1
    assert draft.notes == (
        NOTICE,
        "1 references of the answer named no record and were removed.",
    )
    assert len(server.calls) == 1


def test_an_answer_in_plain_words_or_with_thoughts_is_taken() -> None:
    with says("<think>{Hm} [1]</think>They come [1].", schemas="none") as server:
        (draft,) = engine(server).answer([INQUIRY])
    assert [(s.text, s.references) for s in draft.statements] == [("They come.", ("report-key-0",))]


def test_an_answer_that_was_cut_or_cites_nothing_says_so() -> None:
    with says(('{"answer": "They come and th', "length")) as server, pytest.raises(Unreadable) as caught:
        engine(server).answer([INQUIRY])
    draft = caught.value.instead
    assert draft.statements[0].text == "They come and th"
    assert draft.notes == (NOTICE, "The answer was cut off at the limit of its length.", "The answer cites nothing.")


@pytest.mark.parametrize(("on", "words"), [(False, "Use nothing but the tables"), (True, "(general knowledge)")])
def test_the_answer_follows_response_type_and_knowledge(on: bool, words: str) -> None:
    with ScriptedServer(Script(keep_bodies=True)) as server:
        engine(server, response_type="one haiku", general_knowledge=on).answer([INQUIRY])
    system = server.calls[0].body["messages"][0]["content"]
    assert "one haiku" in system
    assert words in system


def test_points_are_shown_with_their_scores_and_relations_with_their_ends() -> None:
    passages = (Passage("chunk", "c", "Some\ntext", title="Doc"), RELATION, Passage("point", "p", 'A "b"', score=79.6))
    context = Context((*passages, Passage("odd", "o", "x")))
    user, records = prompts.write_inquiry(Inquiry("Q?", context), 100), prompts.number_records(context)
    assert user.split("\n\n") == [
        '# Relationships\nid,source,target,description\n1,T0,T1,"they work, together"',
        '# Points\nid,score,point\n2,80,"A ""b"""',
        "# Sources\nid,title,text\n3,Doc,Some text",
        "# Records\nid,title,text\n4,,x",
        "Question: Q?",
    ]
    assert [records.find(n) for n in range(6)] == [None, "relation-key", "p", "c", "o", None]


RUNAWAYS = ("[" * 9000, '{"a":' * 9000, "{" * 9000, "[" + "1" * 9000 + "]", "<think>" * 9000, " ")


@pytest.mark.parametrize("reply", RUNAWAYS)
@pytest.mark.parametrize("finish", ["stop", "length"])
def test_a_model_that_runs_on_fails_its_item_and_nothing_else(reply: str, finish: str) -> None:
    failed = 0
    with says((reply, finish)) as server:
        made = engine(server)
        for task, item in (("extract", CHUNK), ("report", COMMUNITY), ("rate", INQUIRY), ("answer", INQUIRY)):
            try:
                getattr(made, task)([item])
            except (ItemFailed, EndpointError):
                failed += 1
    assert failed >= 2
