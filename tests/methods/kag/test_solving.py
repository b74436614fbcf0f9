"""Steps of a plan that read no text: what is put into a sub-question, sorted, chosen, judged and kept."""

from __future__ import annotations

from typing import Any, cast

import pytest

from sensegraph.methods.kag import solving
from sensegraph.methods.kag.calculation import Moment, Number, Unknown, Value, calculate_expression, order_of_value
from sensegraph.methods.kag.forms import Condition, Deduce, Form, Math, Retrieval, Sort, Term
from sensegraph.methods.kag.logical_forms import target_of
from sensegraph.methods.kag.question_steps import Candidate
from sensegraph.methods.kag.solving import Solved, Solver, Solving
from sensegraph.types import Passage, Question, Statement


def solver(**settings: Any) -> Solver:
    """One that has neither an index nor an engine: what it is asked for here needs none."""
    return Solver(Question("Who?"), cast("Any", None), cast("Any", None), Solving(**settings))


def passage(name: str) -> Passage:
    return Passage("relation", name, name, name)


def known(*values: str, score: float = 80.0, shares: tuple[float, ...] = (), **more: Any) -> Solved:
    """A step that found these values."""
    each = shares or (1 / max(len(values), 1),) * len(values)
    found = tuple(Candidate(v, s) for v, s in zip(values, each, strict=True))
    return Solved(Math("x"), "?", found, values, score=score, **more)


def asked(text: str, *where: Condition) -> Retrieval:
    return Retrieval(Term(), Term(), Term(), where, text)


# ── sub-questions ──

MEMORY = {
    "1": known("Ada", "Bo", "Cid", shares=(0.5, 0.3, 0.2)),
    "2": known("Oslo", "Rome", shares=(0.9, 0.1)),
    "3": known(),
}


@pytest.mark.parametrize(
    ("text", "branches", "readings"),
    [
        ("Where is it?", 2, [("Where is it?", 1.0)]),
        ("Where is  #1 ?", 1, [("Where is Ada ?", 1.0)]),
        ("Where is #1?", 2, [("Where is Ada?", 0.5), ("Where is Bo?", 0.3)]),
        ("Where is #1?", 3, [("Where is Ada?", 0.5), ("Where is Bo?", 0.3), ("Where is Cid?", 0.2)]),
        ("Is #1 in #2?", 2, [("Is Ada in Oslo?", 0.45), ("Is Bo in Oslo?", 0.27)]),
        ("Is #1 #1?", 2, [("Is Ada Ada?", 0.5), ("Is Bo Bo?", 0.3)]),
        ("Is it #3?", 2, [("Is it ?", 1.0)]),
        ("Is it #9?", 2, [("Is it #9?", 1.0)]),  # what nothing was bound to stays as it is
    ],
)
def test_the_likeliest_values_are_put_into_a_sub_question(
    text: str, branches: int, readings: list[tuple[str, float]]
) -> None:
    found = solver(branches=branches)._readings(asked(text), MEMORY)
    assert [q for q, _ in found] == [q for q, _ in readings]
    if branches > 1:
        assert [share for _, share in found] == pytest.approx([share for _, share in readings])


def test_a_step_without_words_is_asked_by_its_terms_and_its_conditions() -> None:
    step = Retrieval(
        Term("s1", "person", "Ada"), Term("p1", "owns"), Term("o1", "boat"), (Condition("o1", "year", ">", "1990"),)
    )
    assert solver()._readings(step, {}) == [("Ada owns boat year > 1990", 1.0)]
    bare = Retrieval(Term("1"), Term("p1", "owns"), Term("o1"))
    assert solver()._readings(bare, MEMORY)[0][0] == "Ada owns #o1"
    assert solver()._asked("Who?") is not Question("Who?")
    assert (solver()._asked("Who?").text, solver()._asked("Where?")) == ("Who?", Question("Where?"))


@pytest.mark.parametrize(
    ("term", "names"),
    [
        (Term("s1", "", "Ada"), [("Ada", 1.0)]),
        (Term("1"), [("Ada", 0.5), ("Bo", 0.3), ("Cid", 0.2)]),
        (Term("s1", "", "#2"), [("Oslo", 0.9), ("Rome", 0.1)]),
        (Term("s1", "", "the mayor of #2"), [("the mayor of Oslo", 0.9), ("the mayor of Rome", 0.1)]),
        (Term("1", "", "#2"), [("Ada", 0.5), ("Bo", 0.3), ("Cid", 0.2)]),
        (Term("3"), []),
        (Term("o9"), []),
        (Term(), []),
    ],
)
def test_a_term_is_called_by_its_name_or_by_what_it_is_bound_to(term: Term, names: list[tuple[str, float]]) -> None:
    assert solver()._names(term, MEMORY) == names


@pytest.mark.parametrize(
    ("ends", "bound", "target"),
    [
        (("s1", "p1", "o1"), (), "o1"), (("s1", "p1", "o1"), ("o1",), "s1"), (("s1", "p1", "o1"), ("o1", "s1"), "p1"),
        (("s1", "p1", "o1"), ("o1", "s1", "p1"), "o1"), (("", "p1", ""), (), "p1"), (("", "", ""), (), ""),
    ],
)  # fmt: skip
def test_a_retrieval_finds_the_end_that_nothing_is_known_of(
    ends: tuple[str, str, str], bound: tuple[str, ...], target: str
) -> None:
    subject, predicate, other = map(Term, ends)
    assert target_of(Retrieval(subject, predicate, other), bound) == target
    named = Term(ends[2], "", "Ada")
    assert target_of(Retrieval(subject, predicate, named)) == (ends[0] or ends[1])


def test_a_term_has_fifty_names_at_most() -> None:
    many = {"1": known(*(f"n{i}" for i in range(60)))}
    assert len(solver()._names(Term("1"), many)) == solving.MOST_VALUES == 50


@pytest.mark.parametrize(("one", "other", "like"), [("Ada", "ADA", 1.0), ("abcd", "abxy", 0.5), ("a", "b", 0.0)])
def test_names_are_as_like_as_the_runs_that_they_share(one: str, other: str, like: float) -> None:
    assert solving.name_likeness(one, other) == like


# ── sorting ──


@pytest.mark.parametrize(
    ("values", "step", "wanted"),
    [
        (("3", "10", "2"), Sort("1"), (Number(10.0), Number(3.0), Number(2.0))),
        (("3", "10", "2"), Sort("1", descending=False), ("2", "3", "10")),
        (("3", "10", "2"), Sort("1", limit=1), ("10",)),
        (("3", "10", "2"), Sort("1", limit=2), ("10", "3")),
        (("3", "10", "2"), Sort("1", limit=4), ("10", "3", "2")),
        (("in 1990", "on 3 May 1980"), Sort("1", descending=False), ("on 3 May 1980", "in 1990")),
        (("3", "Oslo"), Sort("1"), None),
        (("3", "3 May 1980"), Sort("1"), None),  # a number and a date
        (("3", "10"), Sort("9"), None),
        ((), Sort("1"), ()),
    ],
)
def test_values_are_sorted_by_what_they_measure(
    values: tuple[str, ...], step: Sort, wanted: tuple[Value, ...] | None
) -> None:
    found = solver()._worked(step, {"1": known(*values)})
    if wanted is None:
        assert isinstance(found.value, Unknown)
        assert (found.layer, found.score) == ("none", 0.0)
        return
    assert isinstance(found.value, tuple)
    assert found.value == tuple(str(int(w.value)) if isinstance(w, Number) else w for w in wanted)
    assert (found.layer, found.score) == ("worked out", 80.0)


# ── calculation and decision ──


@pytest.mark.parametrize(
    ("step", "value"),
    [
        (Math("a + b", ("a", "b")), Number(13.0)),
        (Math("sum", ("a", "b")), Number(13.0)),  # no expression: words that name one
        (Math("b - a", ("a", "b")), Number(7.0)),
        (Math("nonsense", ("a", "b")), None),
        (Math("both(s, t)", ("s", "t")), ("Bo",)),
        (Deduce("choice", "more: Ada | Bo", ("a", "b")), ("Bo",)),
        (Deduce("choice", "less: Ada | Bo", ("a", "b")), ("Ada",)),
        (Deduce("multiChoice", "more: Ada | Bo", ("a", "a")), ("Ada", "Bo")),  # both have the most
        (Deduce("choice", "first: Ada | Bo", ("d", "e")), ("Bo",)),
        (Deduce("choice", "more: Ada | Bo | Cid", ("a", "b")), None),  # a choice without a value
        (Deduce("choice", "more: Ada | Bo", ("a", "n")), None),
        (Deduce("judgement", "the same town", ("n", "n")), True),
        (Deduce("judgement", "the same town", ("n", "m")), False),
    ],
)
def test_a_step_is_worked_out_from_what_its_inputs_are(step: Form, value: Value | None) -> None:
    memory = {
        "a": known("3 km"), "b": known("10 km", score=60.0), "s": known("Ada", "Bo"), "t": known("Bo", "Cid"),
        "d": known("in 1990"), "e": known("on 3 May 1980"), "n": known("Oslo"), "m": known("Rome"),
    }  # fmt: skip
    found = solver()._worked(cast("Math", step), memory)
    if value is None:
        assert isinstance(found.value, Unknown)
    elif isinstance(value, Number):
        assert isinstance(found.value, Number)
        assert found.value.value == value.value
    else:
        assert found.value == value


def test_a_thousand_values_are_counted_and_not_one_more() -> None:
    def counted(values: int) -> Value:
        return calculate_expression("count(m)", {"m": tuple(f"n{i}" for i in range(values))})

    assert counted(1000) == Number(1000.0)
    assert isinstance(counted(1001), Unknown)
    assert [order_of_value(v) for v in ("x", Number(2.0), Moment(1990, 5))] == [(0.0,), (2.0,), (1990, 5, 0)]


def test_what_is_worked_out_rests_on_all_that_its_inputs_rest_on_and_is_as_sure_as_the_least_sure() -> None:
    one = known("3", score=90.0, read=(passage("a"), passage("b")), said=(Statement("One."),))
    other = known("4", score=40.0, read=(passage("b"), passage("c")), said=(Statement("Two."),))
    found = solving._keep_calculation(Math("x", text="asked"), ("7", "8"), [one, other])
    assert [p.id for p in found.read] == ["a", "b", "c"]
    assert [s.text for s in found.said] == ["One.", "Two."]
    assert (found.score, found.layer, found.question) == (40.0, "worked out", "asked")
    assert found.found == (Candidate("7", 0.5), Candidate("8", 0.5))
    assert solving._keep_calculation(Math("x"), Moment(1990), [one]).found == (Candidate("1990", 1.0),)
    assert solving._keep_calculation(Math("x"), Moment(1990), [one]).question == "x"
    assert solving._keep_calculation(Math("x"), Moment(1990), []).score == 0.0
    none = solving._keep_calculation(Sort("1"), Unknown("why"), [one])
    assert (none.found, none.layer, none.score, none.question) == ((), "none", 0.0, "")


def test_a_sub_answer_says_its_value_where_it_was_worked_out_or_nothing_else_is_said() -> None:
    said = (Statement("Ada did."),)
    read = known("Ada", said=said, layer="chunks").passage
    worked = known("Ada", said=said, layer="worked out").passage
    silent = known("Ada", layer="chunks").passage
    assert "Ada. " not in read.text
    assert worked.text.startswith("Ada. Ada did.")
    assert "Ada. " in f"{silent.text} "


def test_usual_settings_are_those_of_the_authors() -> None:
    assert Solving() == Solving(0.9, 0.8, 20, 0.5, 1.0, 50.0, 2, 5, 4_000, 0.7)
    assert solving._TEXT == (0.1, 1.0)
    limits = (solving._FIRST, solving._READ, solving._HOPS, solving._RELATION_TOKENS, solving._LONGEST, solving._NAMES)
    assert limits == (10, 5, 200, 1_000, 100, 20)
    assert solver().calls == 0
