"""The contracts of engines let through what keeps a rule to its edge, and find out what breaks it at one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from canned import engine, holds, keeps
from sensegraph.testing import EngineContract
from sensegraph.testing.samples import SAMPLE, sample_brief, sample_chunks, sample_inquiry, sample_link
from sensegraph.trials import Contrast, Support, Verdict
from sensegraph.types import (
    Draft,
    ExtractedClaim,
    ExtractedEntity,
    ExtractedRelation,
    Extraction,
    Finding,
    Lead,
    Membership,
    Mention,
    Point,
    Refinement,
    Report,
    Statement,
    SummaryEntity,
    Usage,
)

KNOWN = sample_brief().context.passages[0].id
LINKED = sample_link().context.passages[0].id
CITED = sample_inquiry().context.passages[0].id
SAID, FOREIGN, BLANK = Statement("So it is.", (KNOWN,)), Statement("So.", ("foreign",)), Statement(" ", (KNOWN,))


def report(title: str = "T", summary: Any = (SAID,), more: tuple[Finding, ...] = ()) -> Report:
    return Report(title, summary, (Finding("First", (SAID,)), *more))


@pytest.mark.parametrize(
    ("found", "right"),
    [
        (report(), True),
        (report(title=" "), False),
        (report(summary=(BLANK,)), False),
        (report(summary=()), False),
        (report(more=(Finding(" ", (SAID,)),)), False),
        (report(more=(Finding("So", (FOREIGN,)),)), False),
        (report(summary=(SAID, FOREIGN)), False),
    ],
)
def test_of_a_group_every_part_is_named_and_known(found: Report, right: bool) -> None:
    test = "test_a_group_has_a_name_and_is_told_of_only_what_was_given"
    assert keeps(test, aggregate=found) is right
    assert not holds(test, lambda: engine({"aggregate": lambda items: [found]}))  # one for no brief at all


MEMBERS = [p.id for p in sample_brief().context.passages if p.kind == "entity"]


def entity(ids: Sequence[str], name: str = "N", said: Any = (SAID,), strength: float = 10.0) -> SummaryEntity:
    return SummaryEntity(name, "", said, tuple(Membership(i, "", strength) for i in ids))


@pytest.mark.parametrize(
    ("first", "right"),
    [
        (entity(MEMBERS[:1]), True),
        (entity(MEMBERS[:1], strength=0.0), True),
        (entity(MEMBERS[:1], strength=-1.0), False),
        (entity(MEMBERS[:1], strength=11.0), False),
        (entity(MEMBERS[:1], name=" "), False),
        (entity(MEMBERS[:1], said=(BLANK,)), False),
        (entity(MEMBERS[:1], said=(SAID, FOREIGN)), False),
        (entity([]), False),
        (entity([MEMBERS[0], "foreign"]), False),
    ],
)
def test_of_summary_entities_every_one_is_named_known_and_of_members(first: SummaryEntity, right: bool) -> None:
    test = "test_every_member_is_in_a_summary_entity"
    assert keeps(test, abstract=(first, entity(MEMBERS[1:]))) is right
    assert not holds(test, lambda: engine({"abstract": lambda items: [(first, entity(MEMBERS[1:]))]}))


@pytest.mark.parametrize(("task", "known"), [("relate", LINKED), ("condense", CITED)])
def test_words_are_as_many_as_asked_for_and_known(task: str, known: str) -> None:
    test = "test_what_is_asked_for_in_so_many_words_has_no_more"

    def writes(more: int, name: str = known, at: int = 0) -> bool:
        def write(briefs: Sequence[Any]) -> list[Any]:
            (brief,) = briefs
            count = brief.words + more if brief.words != at else 0
            return [(Statement("word " * count, (name,)),)]

        return holds(test, lambda: engine({task: write}))

    assert writes(0)
    assert writes(-11)
    assert not writes(1)
    assert not writes(0, at=12)
    assert not writes(0, at=40)
    assert not writes(0, "foreign")


@pytest.mark.parametrize(("grade", "right"), [(0, True), (5, True), (6, False), (-1, False)])
def test_a_grade_is_of_six(grade: int, right: bool) -> None:
    assert keeps("test_a_grade_is_a_number_from_0_to_5", grade=grade) is right


# ── judging ──


def verdicts(*found: Verdict) -> bool:
    call = {"judge": lambda items: list(found) if items else []}
    return holds("test_a_verdict_names_a_place_or_none", lambda: engine(call))


def test_a_tie_is_a_verdict_where_ties_are_allowed() -> None:
    one, tie, none = Verdict(1), Verdict(0), Verdict(None, "cannot tell")
    assert all(verdicts(*found) for found in ((one, tie, one), (tie, none, none), (none, Verdict(2), one)))
    wrong = ((one, one, tie), (one, one), (one, Verdict(3), one), (one, Verdict(None), none), (one, one, one, one))
    assert [found for found in wrong if verdicts(*found)] == []
    assert not holds("test_a_verdict_names_a_place_or_none", lambda: engine({"judge": lambda items: [one] * 3}))


def test_two_answers_are_compared_in_both_orders_and_once_without_ties_and_one_with_itself() -> None:
    asked: list[Any] = []
    judged = engine({"judge": lambda trials: asked.extend(trials) or [Verdict(1)] * len(trials)})
    assert holds("test_a_verdict_names_a_place_or_none", lambda: judged)
    assert [t.tie for t in asked] == [True, True, False]
    assert asked[0].answers == asked[1].answers[::-1] == asked[2].answers == ("Ada Finch.", SAMPLE[0].text)
    contrasted = engine({"contrast": lambda trials: asked.extend(trials) or [Contrast()] * len(trials)})
    assert holds("test_a_contrast_tells_something_of_two_answers", lambda: contrasted)
    assert asked[4].answers == ("Ada Finch.",) * 2
    supported = engine({"support": lambda checks: asked.extend(checks) or [Support(True), Support(False)]})
    assert holds("test_a_statement_without_a_text_is_not_borne_out", lambda: supported)
    assert [c.evidence for c in asked[5:]] == [(SAMPLE[0].text,), ()]


@pytest.mark.parametrize(
    ("place", "right"),
    [
        (lambda t: Verdict(scores=(float(t.low),)), True),
        (lambda t: Verdict(scores=(float(t.high),)), True),
        (lambda t: Verdict(reason="cannot tell"), True),
        (lambda t: Verdict(), False),
        (lambda t: Verdict(scores=(t.low - 0.5,)), False),
        (lambda t: Verdict(scores=(t.high + 0.5,)), False),
        (lambda t: Verdict(scores=(1.0, 1.0)), False),
        (lambda t: Verdict(1, scores=(1.0,)), False),
        (lambda t: Verdict(scores=(max(t.low, 0.5),)), True),
        (lambda t: Verdict(scores=(1.5 if t.low else 0.9,)), True),
        (lambda t: Verdict(scores=(1.5 if t.low else 1.1,)), False),
        (lambda t: Verdict(scores=(10.5 if t.low else 1.0,)), False),
        (lambda t: Verdict(scores=(0.5,)), False),
    ],
)
def test_a_score_lies_between_its_own_ends(place: Callable[[Any], Verdict], right: bool) -> None:
    made = {"score": lambda trials: [place(t) for t in trials]}
    assert holds("test_a_score_lies_on_its_scale", lambda: engine(made)) is right


@pytest.mark.parametrize(
    ("told", "same", "right"),
    [
        (Contrast(("a",), ("b",), ("c",)), Contrast(("a",)), True),
        (Contrast(), Contrast(), True),
        (Contrast(("a", " ")), Contrast(), False),
        (Contrast(("a",), ("b", "")), Contrast(), False),
        (Contrast(("a",), (), ("c", "")), Contrast(), False),
        (Contrast(), Contrast((), ("b",)), False),
        (Contrast(), Contrast((), (), ("c",)), False),
    ],
)
def test_a_contrast_says_something_and_of_equals_nothing(told: Contrast, same: Contrast, right: bool) -> None:
    made = {"contrast": lambda trials: [told, same]}
    assert holds("test_a_contrast_tells_something_of_two_answers", lambda: engine(made)) is right


@pytest.mark.parametrize(
    ("first", "second", "right"),
    [
        (("a", "b"), ("c", "d"), True),
        ((), (), True),
        (("a", "b", "c"), ("d",), False),
        (("a",), ("b", "c", "d"), False),
        (("a", "b"), ("b",), False),
        (("a", "a"), (), False),
        (("a", " "), ("b",), False),
        (("a",), ("", "b"), False),
    ],
)
def test_lines_are_two_each_and_all_new(first: tuple[str, ...], second: tuple[str, ...], right: bool) -> None:
    made = {"propose": lambda wishes: [second if wishes[0].known else first]}
    assert holds("test_lines_are_new_and_no_more_than_asked_for", lambda: engine(made)) is right


@pytest.mark.parametrize(
    ("kept", "clear", "claims", "right"),
    [
        (("a",), ("b",), ("c", "d"), True),
        ((), (), ("c",), True),
        ((), ("b",), (), True),
        (("a",), (), (), True),
        ((), (), (), False),
        (("a", "b"), (), (), False),
        ((), ("a", "b"), ("c",), False),
        (("a",), ("b",), ("c", "c"), False),
        ((" ",), ("b",), ("c",), False),
        (("a",), ("",), ("c",), False),
        (("a",), ("b",), ("c", " "), False),
    ],
)
def test_a_stage_keeps_one_sentence_at_most(kept: Any, clear: Any, claims: Any, right: bool) -> None:
    made = {"claim": lambda excerpts: [kept, clear, claims]}
    test = "test_a_stage_keeps_one_sentence_or_none_and_claims_are_not_repeated"
    assert holds(test, lambda: engine(made)) is right


def test_an_engine_that_supports_nothing_is_asked_about_nothing() -> None:
    test = "test_a_statement_without_a_text_is_not_borne_out"
    assert holds(test, lambda: engine({}))
    assert not holds(test, lambda: engine({"support": lambda checks: [Support(None), Support(False)]}))


# ── what all engines keep ──


@pytest.mark.parametrize(
    ("more", "right"), [({}, True), ({"name": ""}, False), ({"batch": 0}, False), ({"extract": None}, False)]
)
def test_an_engine_has_a_name_a_batch_and_a_method_for_each_task(more: dict[str, Any], right: bool) -> None:
    assert holds("test_an_engine_satisfies_the_protocol", lambda: engine({"extract": list}, **more)) is right


def test_fingerprints_differ_by_task_and_by_nothing_else() -> None:
    test, tasks = "test_fingerprints_are_stable_and_one_for_each_task", {"rate": list, "test": list}
    counted = iter(range(100))
    assert holds(test, lambda: engine(tasks))
    assert not holds(test, lambda: engine({}))
    assert not holds(test, lambda: engine(tasks, fingerprint=lambda self, task: "same"))
    assert not holds(test, lambda: engine(tasks, fingerprint=lambda self, task: f"{task}{next(counted)}"))


def test_another_engine_differs_in_one_task_at_least() -> None:
    def differs(*tasks: str) -> bool:
        contract = EngineContract()
        one, other = engine({"rate": list, "test": list}), engine({"rate": list, "test": list})
        type(other).fingerprint = lambda self, task: task + "!" * (task in tasks)
        contract.make, contract.make_other = lambda: one, lambda: other  # type: ignore[method-assign]
        try:
            contract.test_another_engine_has_another_fingerprint()
        except AssertionError:
            return False
        return True

    assert differs("rate")
    assert differs("rate", "test")
    assert not differs()
    known = {"rate": "r", "test": "t"}
    contract = EngineContract()
    contract.make = lambda: engine({"rate": list}, fingerprint=lambda self, task: {"rate": "r"}[task])  # type: ignore[method-assign]
    contract.make_other = lambda: engine(dict.fromkeys(known, list), fingerprint=lambda self, task: known[task])  # type: ignore[method-assign]
    with pytest.raises(AssertionError):  # they are compared by the tasks that both have
        contract.test_another_engine_has_another_fingerprint()


def read(chunk: Any, **more: Any) -> Extraction:
    first = chunk.text.split()[0]
    wanted = {"name": first, "mention": Mention(first, 0, len(first)), "end": len(chunk.text), "start": 0} | more
    ends = {"start": wanted["start"], "end": wanted["end"]}
    entities = (ExtractedEntity("One", "t"), ExtractedEntity(wanted["name"], "t", mentions=(wanted["mention"],)))
    relation = ExtractedRelation("One", more.get("target", "Two"), **ends)
    claim = ExtractedClaim("One", "", "", "", "", start=0, end=more.get("claimed", 1))
    return Extraction(entities, (ExtractedRelation("One", "Two"), relation), (claim,))


@pytest.mark.parametrize(
    "more",
    [
        {"name": " "},
        {"target": ""},
        {"start": -1},
        {"start": 5, "end": 4},
        {"claimed": 9999},
        {"mention": Mention("x", 0, 5)},
        {"mention": Mention("", 0, 5)},
    ],
)
def test_one_wrong_record_among_right_ones_is_found_out(more: dict[str, Any]) -> None:
    test, last = "test_what_is_extracted_has_names_and_spans_inside_the_chunk", sample_chunks()[-1]

    def extracts(**wrong: Any) -> bool:
        made = {"extract": lambda chunks: [read(c, **(wrong if c == last else {})) for c in chunks]}
        return holds(test, lambda: engine(made))

    assert extracts()
    assert not extracts(**more)
    assert not holds(test, lambda: engine({"extract": lambda chunks: [Extraction() for _ in chunks]}))
    assert not holds(test, lambda: engine({"extract": lambda chunks: list(map(read, chunks[:1]))}))
    assert holds(test, lambda: engine({"extract": lambda chunks: [*map(read, chunks[:1]), *[Extraction()] * 2]}))


def test_a_result_belongs_to_its_own_item() -> None:
    test = "test_results_have_the_length_and_order_of_the_items"
    assert holds(test, lambda: engine({"extract": lambda chunks: list(map(read, chunks))}))
    for wrong in (
        lambda chunks: list(map(read, chunks))[::-1],
        lambda chunks: [read(c, end=len(chunks)) for c in chunks],
        lambda chunks: list(map(read, chunks)) or [Extraction()],
        lambda chunks: [read(c, end=int(c == chunks[0])) for c in chunks],
    ):
        assert not holds(test, lambda wrong=wrong: engine({"extract": wrong}))


IN, OUT = Statement("So.", (CITED,)), Statement("So.", (CITED, "foreign"))


@pytest.mark.parametrize(
    ("task", "found", "right"),
    [
        *(
            ("report", Report("T", (IN,), (Finding("F", (IN,)),), rating), rating in (0, 10))
            for rating in (0, 10, -1, 11)
        ),
        ("report", Report("T", (OUT,)), False),
        ("report", Report("T", (IN,), (Finding("F", (IN, OUT)),)), False),
        *(("rate", (Point((IN,), 50.0), Point((IN,), score)), score in (0, 100)) for score in (0, 100, -1, 101)),
        ("rate", (Point((IN,), 1.0), Point((OUT,), 1.0)), False),
        ("answer", Draft((IN,)), True),
        ("answer", Draft((IN, OUT)), False),
    ],
)
def test_ratings_scores_and_references_have_their_ranges(task: str, found: Any, right: bool) -> None:
    test = "test_reports_points_and_answers_refer_only_to_what_they_were_given"
    assert keeps(test, **{task: found}) is right


@pytest.mark.parametrize(
    ("sets", "right"),
    [
        (((MEMBERS[0], MEMBERS[1]),), True),
        ((), True),
        ((tuple(p.id for p in sample_brief().context.passages),), True),
        (((MEMBERS[0],),), False),
        (((MEMBERS[0], MEMBERS[1]), (MEMBERS[2],)), False),
        (((MEMBERS[0], MEMBERS[1]), (MEMBERS[1], MEMBERS[2])), False),
        (((MEMBERS[0], "foreign"),), False),
    ],
)
def test_names_of_one_thing_are_two_or_more_and_in_one_set(sets: Any, right: bool) -> None:
    test = "test_names_that_are_one_thing_are_sets_of_what_was_given"
    assert keeps(test, resolve=sets) is right
    assert not holds(test, lambda: engine({"resolve": lambda briefs: [sets]}))


@pytest.mark.parametrize(
    ("task", "found", "right"),
    [
        *(("ask", Lead((IN,), score), score in (0, 100)) for score in (0, 100, -1, 101)),
        ("ask", Lead((IN, OUT), 5.0), False),
        ("refine", Refinement("Who?"), True),
        ("refine", Refinement(" "), False),
        ("test", True, True),
        ("test", False, True),
        ("test", "maybe", False),
    ],
)
def test_leads_refinements_and_tests_are_of_their_kind(task: str, found: Any, right: bool) -> None:
    assert keeps("test_leads_refinements_and_tests_have_their_ranges", **{task: found}) is right


@pytest.mark.parametrize(
    "test",
    [
        "test_reports_points_and_answers_refer_only_to_what_they_were_given",
        "test_names_that_are_one_thing_are_sets_of_what_was_given",
        "test_leads_refinements_and_tests_have_their_ranges",
        "test_a_contrast_tells_something_of_two_answers",
    ],
)
def test_an_engine_is_not_asked_for_tasks_that_it_lacks(test: str) -> None:
    assert holds(test, lambda: engine({}))


def test_what_is_told_is_the_draft_in_order() -> None:
    test, (one, two) = "test_what_is_told_while_it_is_written_is_what_would_be_answered", (IN, Statement(" And so."))

    def streams(told: Sequence[Statement], draft: Sequence[Statement]) -> bool:
        def stream(inquiry: Any, tell: Callable[[Statement], None]) -> Draft:
            for statement in told:
                tell(statement)
            return Draft(tuple(draft))

        return holds(test, lambda: engine({"stream": stream, "answer": lambda items: [Draft((one, two))]}))

    assert streams((one, two), (one, two))
    assert not streams((one,), (one, two))
    assert not streams((one, two), (one,))
    assert not streams((two, one), (one, two))
    assert not streams((one,), (one,))


def test_usage_that_falls_is_found_out() -> None:
    def spends(*figures: Usage) -> bool:
        left = iter(figures)
        made = engine({"extract": lambda chunks: [Extraction()] * len(chunks), "usage": lambda: next(left)})
        return holds("test_usage_never_falls", lambda: made)

    assert spends(Usage(), Usage())
    assert spends(Usage(1), Usage(2, 3))
    assert not spends(Usage(2, 3), Usage(2, 2))
    assert not spends(Usage(2, 3), Usage(3, 2))
