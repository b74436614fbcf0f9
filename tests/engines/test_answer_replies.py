"""Values out of replies, on both sides of each bound: what is read, what is asked for again, what is mended."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from sensegraph.engines.llm.replies import answer_replies as a
from sensegraph.engines.llm.replies import group_replies as g
from sensegraph.engines.llm.replies.cited_records import Records
from sensegraph.engines.llm.replies.reply_text import declines_in_words, keep_whole_sentences, lists_nothing, why_empty
from sensegraph.models.endpoint.client import Reply
from sensegraph.trials import Contrast, Support, Trial, Verdict, Wish
from sensegraph.types import Brief, Context, Passage, Statement

CUT = "it was cut off after 9 tokens; write less, the most important first"
CITED = Records((Passage("entity", "e1", "t", title="Oak"), Passage("entity", "e2", "t", title="Elm")))
PLAIN = Trial("q", "depth", "How deep?", ("one", "two"))


def reply(value: Any, cut: bool = False) -> Reply:
    text = value if isinstance(value, str) else json.dumps(value)
    return Reply(text, 1, 9, "length" if cut else "stop")


# ── summaries and reports ──


def test_a_summary_in_plain_words_is_taken_only_where_asking_again_brings_no_more() -> None:
    found = a.read_summary(reply({"summary": "It rained. It sno"}))
    assert (found.value, found.problem, found.doubtful) == ("It rained. It sno", "", False)
    words = a.read_summary(reply("It rained. It sno"))
    assert (words.value, words.problem, words.doubtful) == ("It rained. It sno", "it is no JSON object", True)
    assert a.read_summary(reply("It rained. It sno", cut=True)).value == "It rained."
    assert a.read_summary(reply("I'm sorry, I can't help with that.")).problem == a.DECLINED
    assert a.read_summary(reply({"summary": ""})).problem == "it holds no summary"
    assert keep_whole_sentences("It sno") == "It sno"


def report(**more: Any) -> dict[str, Any]:
    finding = {"summary": "s", "explanation": "It grew [Data: Entities (1)]."}
    return {"title": " T ", "summary": "S", "rating": 7, "rating_explanation": "why", "findings": [finding] * 2} | more


def test_a_report_needs_its_parts_and_as_many_findings_as_it_has_records() -> None:
    found = a.read_community_report(reply(report()), CITED, 2)
    assert found.value is not None
    assert (found.value.title, found.value.rating, found.problem) == ("T", 7.0, "")
    assert [f.statements[0].references for f in found.value.findings] == [("e1",)] * 2
    few = a.read_community_report(reply(report(findings=report()["findings"][:1])), CITED, 5)
    assert few.problem == "it has 1 usable findings, and at least 2 are asked for"  # there are two records
    assert a.read_community_report(reply(report(findings=[]), cut=True), CITED, 5).problem == CUT
    assert a.read_community_report(reply(report(title=" ")), CITED, 2).problem == "its title or summary is empty"
    assert a.read_community_report(reply(report(summary=" ")), CITED, 2).problem == "its title or summary is empty"
    assert a.read_community_report(reply("[]"), CITED, 2).problem == "it is no JSON object"
    assert a.read_community_report(reply({"title": "T"}), CITED, 2).problem.startswith("its form is wrong")
    ratings = [
        a.read_community_report(reply(report(rating=r)), CITED, 2).value.rating  # type: ignore[union-attr]
        for r in (-1, 0, 10, 11, "8 of 10", "none")
    ]
    assert ratings == [0.0, 0.0, 10.0, 10.0, 8.0, 0.0]


def test_references_that_name_no_record_are_told_each_once() -> None:
    lost = a.read_community_report(reply(report(summary="S [Data: Entities (9)]. T [Data: Entities (9)].")), CITED, 2)
    assert (lost.problem, lost.removed) == ("these references name no record of the tables: entity 9", 2)
    assert a.describe_dangling(()) == ""


# ── points, answers, leads ──


def test_points_are_read_with_their_scores_and_those_without_are_worth_asking_again_for() -> None:
    points = [{"text": "A [1].", "score": 120}, {"text": "B", "score": "-3"}, {"text": " ", "score": 5}, {"text": "C"}]
    found = a.read_points(reply({"points": points}), CITED)
    assert found.value is not None
    assert [p.score for p in found.value] == [100.0, 0.0, 0.0]
    assert found.problem == "1 of its points have no score from 0 to 100"
    assert a.read_points(reply(points[:1]), CITED).value == found.value[:1]
    assert a.read_points(reply({"points": []}), CITED).value == ()
    assert a.read_points(reply({"points": []}, cut=True), CITED).problem == CUT
    assert a.read_points(reply({}), CITED).problem == "it holds no list of points with scores"
    half = [{"text": "A", "score": 1}, {"no": 1}]
    assert a.read_points(reply({"points": half}), CITED).value is not None
    assert a.read_points(reply({"points": [*half, {"no": 1}]}), CITED).value is None
    (tagged,) = a.read_points(reply("So it is.\n<ANSWER_HELPFULNESS>80</ANSWER_HELPFULNESS>"), CITED).value or ()
    assert (tagged.score, tagged.statements[0].text) == (80.0, "So it is.")


def test_an_answer_says_what_became_of_it() -> None:
    good = a.read_answer(reply({"answer": "It grew [1]."}), CITED).value
    assert good is not None
    assert (good.notes, good.statements) == ((), (Statement("It grew.", ("e1",)),))
    bad = a.read_answer(reply({"answer": "It grew [Data: Entities (8)]."}, cut=True), CITED).value
    assert bad is not None
    assert bad.notes == (
        "The answer was cut off at the limit of its length.",
        "1 references of the answer named no record and were removed.",
        "The answer cites nothing.",
    )
    assert a.read_answer(reply({"answer": ""}), CITED).problem == "it holds no answer"
    plain = a.read_answer(reply("It grew."), CITED).value
    assert plain is not None
    assert plain.notes == ("The answer cites nothing.",)


def test_a_lead_needs_an_answer_and_wants_a_score() -> None:
    asked = ["Who?", " who? ", "", 3, "Why?"]
    found = a.read_lead(reply({"answer": " So. ", "score": "40", "follow_ups": asked}), CITED)
    assert found.value is not None
    assert (found.value.score, found.value.questions, found.removed) == (40.0, ("who?", "Why?"), 2)
    assert found.problem == ""
    assert a.read_lead(reply({"answer": "So.", "score": 40}, cut=True), CITED).problem == CUT
    assert a.read_lead(reply({"answer": "So."}), CITED).problem == "its score is no number from 0 to 100"
    for bad in ({"answer": 3}, [], {}):
        assert a.read_lead(reply(bad), CITED).problem == "it is no JSON object with an answer"
    assert a.read_lead(reply("no", cut=True), CITED).problem == CUT


def test_a_refinement_holds_something_and_has_so_many_parts_at_most() -> None:
    found = a.read_refinement(reply({"sub_questions": ["A?", "B?", "C?"]}), "Q?", 2).value
    assert found is not None
    assert (found.question, found.questions, found.hypothesis) == ("Q?", ("A?", "B?"), "")
    one = a.read_refinement(reply({"expanded_question": " X? "}), "Q?", 2).value
    assert one is not None
    assert (one.question, one.questions) == ("X?", ())
    assert a.read_refinement(reply({"hypothetical_answer": "So."}), "Q?", 2).value is not None
    assert a.read_refinement(reply({"expanded_question": None}), "Q?", 2).value is None
    assert a.read_refinement(reply("[]"), "Q?", 2).problem == "it is no JSON object"


@pytest.mark.parametrize(("rating", "read"), [(0, 0), (5, 5), (9, 5), (-2, 0), ("3 of 5", 3), (2.6, 3)])
def test_a_grade_lies_between_0_and_5(rating: Any, read: int) -> None:
    assert a.read_grade(reply({"rating": rating})).value == read
    bad = a.read_grade(reply({"rating": "none"}))
    assert (bad.value, bad.instead, bad.removed) == (None, 1, 1)
    assert a.read_grade(reply("[]")).value is None


# ── verdicts ──


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (1, 1), (2.0, 2), ("0", 0), ("Answer 2", 2), ("winner: a", 1), ("**B**", 2), ("The answer: tie.", 0),
        ("neither", 0), ("3", None), ("12", None), (True, None), (None, None), (1.5, None), ("both of them", None),
    ],
)  # fmt: skip
def test_a_winner_is_a_place_or_neither(value: Any, place: int | None) -> None:
    assert a.read_winner(value) == place
    assert a.read_winner(value, tie=False) == (place or None)


def test_a_preference_has_a_place_a_reason_and_where_asked_for_two_scores() -> None:
    found = a.read_preference(reply({"winner": 2, "reasoning": " It\nsays  more. "}), PLAIN)
    assert found.value == Verdict(2, "It says more.")
    asked = replace(PLAIN, bands="low to high", low=1, high=10)
    both = a.read_preference(reply({"winner": "A", "score_a": 12, "score_b": 0}), asked)
    assert both.value == Verdict(1, "", (10.0, 1.0))
    assert both.mended == ("scores outside their scale were taken as its end",) * 2
    inside = a.read_preference(reply({"winner": "A", "score_a": 10, "score_b": 1}), asked)
    assert (inside.value, inside.mended) == (Verdict(1, "", (10.0, 1.0)), ())
    one = a.read_preference(reply({"winner": "A", "score_a": 7, "score_b": True}), asked)
    assert (one.value, one.doubtful) == (Verdict(1, ""), True)
    assert one.problem == "its score_a or score_b is no number"


def test_without_a_readable_winner_there_is_no_verdict_and_never_a_tie() -> None:
    strict = replace(PLAIN, tie=False)
    for trial, allowed in ((PLAIN, "1, 2 or 0"), (strict, "1 or 2"), (replace(PLAIN, bands="x"), "A, B or tie")):
        found = a.read_preference(reply({"winner": "?"}), trial)
        assert (found.value, found.problem) == (None, f"its winner is not {allowed}")
        assert found.instead == Verdict(None, f"No verdict: its winner is not {allowed}.")
        assert found.mended == (a.NO_VERDICT,)
    assert a.read_preference(reply({"winner": 0}), strict).value is None
    assert a.read_preference(reply({"winner": "?", "reason": "So."}), PLAIN).instead == Verdict(None, "So.")
    assert a.read_preference(reply("?", cut=True), PLAIN).problem == CUT


def test_a_score_is_clamped_to_its_scale_and_never_rescaled() -> None:
    asked = replace(PLAIN, low=1, high=5)
    read = {score: a.read_answer_score(reply({"score": score}), asked) for score in (0, 1, 3.5, 5, 6, "4/5")}
    assert {score: found.value.scores for score, found in read.items() if found.value} == {
        0: (1.0,), 1: (1.0,), 3.5: (3.5,), 5: (5.0,), 6: (5.0,), "4/5": (4.0,)
    }  # fmt: skip
    assert [score for score, found in read.items() if found.mended] == [0, 6]
    assert a.read_answer_score(reply({"score": None}), asked).problem == "its score is no number from 1 to 5"


def test_a_contrast_has_lists_within_their_room_of_which_one_statement_always_stays() -> None:
    found = a.read_contrast(reply({"common": ["one two three", "four"], "first_only": ["five", " ", 3]}), 3)
    assert found.value == Contrast(("one two three",), ("five",), ())
    assert found.removed == 1
    assert a.read_contrast(reply({"common": ["one two three"]}), 1).value == Contrast(("one two three",), (), ())
    bad = a.read_contrast(reply({}), 3)
    assert (bad.value, bad.instead) == (None, Contrast())


def test_proposed_lines_are_new_and_so_many_at_most() -> None:
    wish = Wish("questions", 2, known=("Known",))
    found = a.read_proposed_lines(reply({"lines": ["A", "known", "a", "B", "C"]}), wish)
    assert (found.value, found.removed) == (("A", "B"), 3)
    none = a.read_proposed_lines(reply({"lines": ["known"]}), wish)
    assert (none.value, none.problem) == ((), "it has no line that is not known")
    assert a.read_proposed_lines(reply({"lines": []}), replace(wish, wanted="reverse")).problem == ""
    assert a.read_proposed_lines(reply({}), wish).problem == "it has no list of lines"


def test_a_claim_is_one_sentence_or_nothing() -> None:
    assert a.read_claim_sentence(reply({"sentence": " It  rained. "})).value == ("It rained.",)
    for nothing in (None, "", "None.", "n/a"):
        assert a.read_claim_sentence(reply({"sentence": nothing})).value == ()
    assert a.read_claim_sentence(reply({"sentence": 3})).value is None
    assert a.read_claim_sentence(reply({})).problem == "it has no sentence"
    several = a.read_claim_statements(reply({"statements": ["A.", "a.", "", "B."]}))
    assert (several.value, several.removed) == (("a.", "B."), 1)


@pytest.mark.parametrize(("said", "holds"), [(True, True), ("Yes", True), (0, False), ("unsupported", False)])
def test_support_is_yes_or_no(said: Any, holds: bool) -> None:
    assert a.read_support(reply({"supported": said, "reason": "r"})).value == Support(holds, "r")
    bad = a.read_support(reply({"supported": "maybe"}))
    assert (bad.value, bad.instead) == (None, Support(None, ""))


# ── groups ──

MEMBERS = Records(
    (
        Passage("entity", "e1", "t", title="Oak"),
        Passage("relation", "r1", "t", title="Oak — Elm"),
        Passage("entity", "e2", "t", title="Elm"),
    )
)
BRIEF = Brief(Context(tuple(MEMBERS.passages)), types=("tree", "", "tree"))
GROUPS = Records((Passage("entity", "g1", "t", title="Trees"), Passage("relation", "r1", "t", title="Oak — Elm")))


def aggregate(name: str, findings: int = 2, **more: Any) -> dict[str, Any]:
    listed = [{"summary": "s", "explanation": "e"}] * findings
    return {"entity_name": name, "entity_description": "All trees.", "findings": listed} | more


def test_an_aggregate_has_a_name_that_no_member_has() -> None:
    good = g.read_aggregate(reply(aggregate("The  trees")), MEMBERS, BRIEF, 2)
    assert good.value is not None
    assert (good.value.title, good.problem, good.mended) == ("The trees", "", ())
    same = g.read_aggregate(reply(aggregate("oak")), MEMBERS, BRIEF, 2)
    assert same.value is not None
    assert (same.value.title, same.mended) == ("oak (tree)", (g.RENAMED,))
    assert same.problem == "entity_name 'oak' is the name of a member; a name for the whole group is asked for"
    few = g.read_aggregate(reply(aggregate("Trees", 1)), MEMBERS, BRIEF, 2)
    assert few.problem == "it has 1 usable findings, and at least 2 are asked for"
    assert g.read_aggregate(reply(aggregate("Trees", 1)), MEMBERS, BRIEF, 3).problem == ""  # there are two members
    assert g.read_aggregate(reply(aggregate("Trees", entity_description=" ")), MEMBERS, BRIEF, 2).value is None
    assert g.read_aggregate(reply("no", cut=True), MEMBERS, BRIEF, 2).problem == CUT


def test_a_link_names_no_member_and_no_community_and_keeps_to_its_length() -> None:
    good = g.read_link(reply({"link": "Both grow tall."}), GROUPS, 3)
    assert good.value is not None
    assert ("".join(s.text for s in good.value), good.problem, good.mended) == ("Both grow tall.", "", ())
    named = g.read_link(reply({"link": "The Oak grows in a community."}), GROUPS, 9)
    assert named.problem == (
        "it names members of the groups: Oak; speak of the groups only; "
        "it speaks of a community; call the groups by their names"
    )
    assert named.mended == (g.NAMED, g.CALLED)
    long = g.read_link(reply({"link": "One two three. Four five."}), GROUPS, 3)
    assert long.value is not None
    assert "".join(s.text for s in long.value) == "One two three."
    assert (long.problem, long.mended) == ("it has 5 words, and at most 3 are asked for", (g.SHORTENED,))
    assert g.read_link(reply({"link": "?"}), GROUPS, 3).problem == "it holds no link"
    assert g.read_link(reply("Both grow."), GROUPS, 3).problem == "it is no JSON object"


def test_a_condensation_that_is_cut_anyway_is_taken_where_it_was_cut_off() -> None:
    cut = g.read_condensed(reply({"condensed": "One two three. Four five. Six"}, cut=True), MEMBERS, 3)
    assert cut.value is not None
    assert ("".join(s.text for s in cut.value), cut.problem) == ("One two three.", "")
    short = g.read_condensed(reply({"condensed": "One two. Thr"}, cut=True), MEMBERS, 3)
    assert short.value is not None
    assert ("".join(s.text for s in short.value), short.problem) == ("One two.", CUT)


def test_words_are_counted_between_blanks_and_two_characters_are_one() -> None:
    assert [g.estimate_words(text) for text in ("", "one  two", "奥斯陆很大", "one 奥斯")] == [0, 2, 3, 3]


def test_a_text_is_shortened_to_whole_sentences_else_to_whole_words() -> None:
    def short(most: int, *texts: str) -> list[str]:
        return [s.text for s in g.shorten_statements([Statement(t, ("x",)) for t in texts], most)]

    assert short(4, "One two.", " Three four.") == ["One two.", " Three four."]
    assert short(3, "One two.", " Three four.") == ["One two."]
    assert short(2, "One two, three four.") == ["One two…"]
    assert short(0, "One two.") == []


def test_summary_entities_have_all_members_between_them() -> None:
    made = [
        {"name": "Tall", "description": "Tall trees.", "type": "kind", "members": [{"id": 1, "strength": 12}, "9"]},
        {"name": "", "description": "x", "members": [1]},
        {"name": "Bare", "description": "x", "members": []},
    ]
    found = g.read_summary_entities(reply({"summary_entities": made}), MEMBERS)
    assert found.value is not None
    (tall,) = found.value
    assert [(m.id, m.strength) for m in tall.members] == [("e1", 10.0), ("e2", 1.0)]
    assert tall.description == (Statement("Tall trees.", ("e1",)),)
    assert found.problem == (
        "2 of its summary entities have no name, no description or no member; "
        "these members belong to no summary entity: 3 (Elm); these references name no record of the tables: member 9"
    )
    assert (found.removed, found.mended) == (3, (g.ATTACHED,))
    by_name = {"name": "All", "description": "A.", "members": ["elm", "Entity 1", {"id": 1.0, "strength": -2}, 2]}
    (every,) = g.read_summary_entities(reply([by_name]), MEMBERS).value or ()
    assert [(m.id, m.strength) for m in every.members] == [("e2", 1.0), ("e1", 1.0)]  # the relation is no member
    assert g.read_summary_entities(reply([]), MEMBERS).value is None


# ── what stands around a reply ──


def test_an_empty_list_is_believed_only_in_a_whole_reply() -> None:
    def nothing(text: str, cut: bool = False) -> bool:
        return lists_nothing(
            reply(text, cut), json.loads(text) if text.count("{") == text.count("}") else {"a": []}, "a", "b"
        )

    assert nothing('{"a": []}')
    assert nothing('{"a": [], "b": []}')
    assert not nothing('{"a": [], "b": [1]}')
    assert not nothing('{"b": []}')
    assert not nothing('{"a": []', cut=False)
    assert not nothing('{"a": []}', cut=True)


def test_a_refusal_in_words_is_told_from_a_reply() -> None:
    assert declines_in_words(reply("Sorry, I cannot help with that."))
    assert not declines_in_words(reply('{"a": "Sorry, I cannot help with that."}'))
    assert not declines_in_words(reply("It cannot be helped."))
    assert why_empty("<think>so</think>") == "it holds thoughts and no reply: switch them off or raise the limit"
    assert (why_empty("  "), why_empty("so")) == ("it is empty", "")
