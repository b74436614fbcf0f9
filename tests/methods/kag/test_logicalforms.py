"""Logical forms: what is read, what is put right, what is refused (kag §4.1, §9)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.methods.kag.forms import Condition, Deduce, Form, Math, Output, Plan, Retrieval, Sort, Term
from sensegraph.methods.kag.logical_forms import (
    MOST_CHARACTERS,
    MOST_STEPS,
    aliases_bound,
    aliases_used,
    parse_plan,
    target_of,
    validate_plan,
)

MUSIQUE = Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")) / "musique" / "queries.jsonl"
FULL = """Step1: Who directed Big Eyes?
Action1: Retrieval(s=s1:Film[`Big Eyes`], p=p1:director, o=o1:Person)
Step2: Who is the spouse of #1?
Action2: Retrieval(s=o1, p=p2:spouse, o=o2:Person, o2.year>=1990)
Action3: Sort(set=o2, direction=ascending, limit=1, target=t1)
Action4: Math(content=`count(o2) + 1`, target=m1)
Action5: Deduce(op=judgement, content=`the same name`, inputs=o1 o2, target=d1)
Output(t1, m1, d1)"""


def marked(alias: str) -> str:
    return f"#{alias}" if alias.isdigit() else alias


def write_plan(plan: Plan) -> str:
    """The plan in the form that `parse_plan` reads."""
    lines = []
    for number, step in enumerate(plan.steps, 1):
        if step.text:
            lines.append(f"Step{number}: {step.text}")
        lines.append(f"Action{number}: {written_call(step)}")
    return "\n".join(lines)


def written_call(step: Form) -> str:
    if isinstance(step, Retrieval):
        ends = map(written_term, (step.subject, step.predicate, step.object))
        terms = [f"{n}={t}" for n, t in zip("spo", ends, strict=True) if t]
        where = [f"{marked(c.alias)}.{c.field}{c.operator}{c.value}" for c in step.where]
        return f"Retrieval({', '.join([*terms, *where])})"
    if isinstance(step, Output):
        return f"Output({', '.join(map(marked, step.aliases))})"
    if isinstance(step, Sort):
        direction = "descending" if step.descending else "ascending"
        ends = f"set={marked(step.alias)}, direction={direction}"
        return f"Sort({ends}, limit={step.limit}, target={marked(step.target)})"
    name = f"Deduce(op={step.operation}, " if isinstance(step, Deduce) else "Math("
    inputs = " ".join(map(marked, step.inputs))
    return f"{name}content=`{step.content}`, inputs={inputs}, target={marked(step.target)})"


def written_term(term: Term) -> str:
    named, alias = f"[{term.name}]" if term.name else "", marked(term.alias)
    return f"{alias}:{term.type}{named}" if term.type or named else alias


def steps(text: str | list[str]) -> tuple[Form, ...]:
    parsed = parse_plan(text)
    assert parsed.plan is not None, parsed.errors
    return parsed.plan.steps


def test_the_five_functions_are_read_with_their_arguments() -> None:
    first, second, third, fourth, fifth, last = steps(FULL)
    assert first == Retrieval(
        Term("s1", "Film", "Big Eyes"), Term("p1", "director"), Term("o1", "Person"), (), "Who directed Big Eyes?"
    )
    assert second == Retrieval(
        Term("o1"), Term("p2", "spouse"), Term("o2", "Person"), (Condition("o2", "year", ">=", "1990"),),
        "Who is the spouse of #o1?",
    )  # fmt: skip
    assert third == Sort("o2", descending=False, limit=1, target="t1")
    assert fourth == Math("count(o2) + 1", ("o2",), "m1")
    assert fifth == Deduce("judgement", "the same name", ("o1", "o2"), "d1")
    assert last == Output(("t1", "m1", "d1"))


def test_a_plan_that_is_written_down_is_read_back() -> None:
    plan = parse_plan(FULL).plan
    assert plan is not None
    assert parse_plan(write_plan(plan)).plan == plan


_names = st.text("abcdefgh ABC", min_size=1, max_size=12).map(lambda s: " ".join(s.split())).filter(bool)


@given(st.lists(st.tuples(_names, _names), min_size=1, max_size=6))
def test_any_chain_of_retrievals_is_read_back(chain: list[tuple[str, str]]) -> None:
    made: list[Form] = []
    for i, (name, edge) in enumerate(chain, 1):
        start = Term(f"o{i - 1}") if i > 1 else Term("s1", "Thing", name)
        made.append(Retrieval(start, Term(f"p{i}", edge.lower()), Term(f"o{i}", "Thing")))
    plan = validate_plan(made).plan
    assert plan is not None
    assert parse_plan(write_plan(plan)).plan == plan


def test_gold_decompositions_are_plans_of_as_many_steps() -> None:
    forms = steps(["Hello Love >> performer", "What city did #1 live when he died?", "how many stores are in #2"])
    assert [target_of(f) for f in forms[:-1]] == ["1", "2", "3"]
    assert [aliases_used(f) for f in forms[1:-1]] == [("1", "2"), ("2", "3")]
    assert forms[0] == Retrieval(
        Term("", "", "Hello Love"), Term("", "performer"), Term("1"), (), "Hello Love performer"
    )
    assert forms[-1] == Output(("3",))


@pytest.mark.skipif(not MUSIQUE.is_file(), reason="no measuring sets here")
def test_every_published_decomposition_of_musique_is_read() -> None:
    for line in MUSIQUE.read_text(encoding="utf-8").splitlines():
        parts = [p["question"] for p in json.loads(line)["metadata"]["decomposition"]]
        plan = parse_plan(parts).plan
        assert plan is not None
        assert len(plan.steps) == len(parts) + 1
        assert parse_plan(write_plan(plan)).plan == plan


def test_a_path_of_arrows_is_one_step_for_each() -> None:
    first, second, last = steps("Big Eyes >> director >> spouse")
    assert (first, second) == (
        Retrieval(Term("", "", "Big Eyes"), Term("", "director"), Term("1"), (), "Big Eyes director"),
        Retrieval(Term("1"), Term("", "spouse"), Term("2"), (), "#1 spouse"),
    )
    assert last == Output(("2",))


def test_n_stands_for_what_step_n_finds_whatever_it_is_called() -> None:
    forms = steps(
        "Retrieval(s=s1:Film[Big Eyes], p=p1:director, o=o1)\nStep2: Who is o1's mother, and who is #1?\n"
        "Retrieval(s=s2:Place[Town of #1], p=p2:mayor, o=o2)\nOutput(o2)"
    )
    assert isinstance(forms[1], Retrieval)
    assert forms[1].text == "Who is #o1's mother, and who is #o1?"
    assert forms[1].subject.name == "Town of #o1"


@pytest.mark.parametrize(
    "mess",
    [
        "```\nStep 1: Retrieval(s=s1:Film[Big Eyes], p=p1:director, o=o1:Person)\n```",
        "1. Retrieval(s=s1:Film[Big Eyes], p=p1:director, o=o1:Person);",
        "- Action1: get_spo(s = s1:Film['Big Eyes'], p = p1:director, o = o1:Person)",
        "Retrieval(s=s1:Film[Big Eyes],\n  p=p1:director,\n  o=o1:Person)",
        "Retrieval(s1:Film[Big Eyes], p1:director, o1:Person)",
        "Retrieval(s=s1:Film[Big Eyes], p=p1:director, o=o1:Person",
    ],
)
def test_what_a_model_wraps_around_a_step_is_put_aside(mess: str) -> None:
    assert steps(mess)[0] == Retrieval(Term("s1", "Film", "Big Eyes"), Term("p1", "director"), Term("o1", "Person"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Sort(set=x1, target=t1)", "'x1' is used, but never bound"),
        ("Who is #2?\nWho is #1?", "bound only by steps that need it themselves"),
        ("Retrieval(s=o1, p=p1:wife, o=o2)\nOutput(o2)", "'o1' is used, but never bound"),
        ("Who is it?\nOutput(#1)\nOutput(#1)", "there are 2 outputs"),
        ("Who is it?\nOutput(o9)", "the output 'o9' is bound by no step"),
        ("Launch(code=`rm`)", "there is no function 'Launch'"),
        ("Retrieval(s=s1:A[B], q=x:y)", "a retrieval has no argument 'q'"),
        ("", "there is no step"),
        ("Who?\n" * (MOST_STEPS + 1), f"at most {MOST_STEPS} are taken"),
        ("x" * (MOST_CHARACTERS + 1), f"at most {MOST_CHARACTERS} are read"),
    ],
)
def test_what_is_no_plan_is_refused_with_the_reason(text: str, why: str) -> None:
    parsed = parse_plan(text)
    assert parsed.plan is None
    assert why in "; ".join(parsed.errors)


def test_steps_in_the_wrong_order_are_put_right_and_it_is_said() -> None:
    parsed = parse_plan("Who is the wife of #2?\nWho directed Big Eyes?\nOutput(#1)")
    assert parsed.plan is not None
    assert [target_of(s) for s in parsed.plan.steps[:-1]] == ["2", "1"]
    assert parsed.repairs == ("steps stood before what they need",)


def test_an_unknown_decision_is_taken_as_a_judgement_and_counted() -> None:
    parsed = parse_plan("Who is A?\nDeduce(op=guess, content=`same`, inputs=#1)")
    assert parsed.plan is not None
    assert isinstance(parsed.plan.steps[1], Deduce)
    assert parsed.plan.steps[1].operation == "judgement"
    assert any("'guess'" in r for r in parsed.repairs)


@given(st.text(max_size=200))
def test_no_text_makes_the_parser_fail(text: str) -> None:
    parsed = parse_plan(text)
    assert (parsed.plan is None) == bool(parsed.errors)
    if parsed.plan is not None:
        bound: set[str] = set()
        for step in parsed.plan.steps[:-1]:
            bound |= set(aliases_bound(step))
        last = parsed.plan.steps[-1]
        assert isinstance(last, Output)
        assert set(last.aliases) <= bound


def test_a_plan_without_an_output_puts_out_what_was_bound_last_and_says_so() -> None:
    steps = [Retrieval(Term(name="Big Eyes"), Term(name="director"), Term(alias="o1"), ())]
    parsed = validate_plan(steps)
    assert parsed.plan is not None
    assert parsed.plan.steps[-1] == Output(("o1",))
    assert parsed.repairs == ("there was no output",)
    whole = validate_plan([*steps, Output(("o1",))])
    assert whole.repairs == ()


NUMBERED = """Step1: Which company acquired Driftwood Labs?
Action1: Retrieval(s=%s, p=acquired, o=[Driftwood Labs])
Step2: Where is #1 based?
Action2: Retrieval(s=#1, p=is based in, o=#2:place)
Output(#2)"""


@pytest.mark.parametrize("written", ["#1", "#1:organization", "organization", "s7:organization"])
def test_what_a_step_looks_for_may_be_called_by_its_number(written: str) -> None:
    first, second, last = steps(NUMBERED % written)
    assert isinstance(first, Retrieval)
    assert isinstance(second, Retrieval)
    assert first.object == Term("", "", "Driftwood Labs")
    assert second.subject == Term(target_of(first))
    assert last == Output(("2",))
    assert second.text == f"Where is #{target_of(first)} based?"


def test_a_number_stands_for_its_step_in_every_argument() -> None:
    forms = steps(
        "Retrieval(s=s1:Film[Big Eyes], p=p1:director, o=o1)\nRetrieval(s=#1, p=p2:spouse, o=o2)\n"
        "Sort(set=#2, limit=1)\nDeduce(op=choice, content=`first: A | B`, inputs=#1, #2)\nOutput(#2, #4)"
    )
    assert forms[1] == Retrieval(Term("o1"), Term("p2", "spouse"), Term("o2"))
    assert forms[2] == Sort("o2", limit=1, target="3")
    assert forms[3] == Deduce("choice", "first: A | B", ("o1", "o2"), "4")
    assert forms[4] == Output(("o2", "4"))


def test_a_subject_that_an_earlier_step_should_have_found_is_still_missed() -> None:
    assert parse_plan("Retrieval(s=#2, p=founded, o=#1)").errors
