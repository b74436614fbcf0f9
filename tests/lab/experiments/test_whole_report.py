"""A whole report of two conditions, line for line; it stands in tests/data, its main figures checked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from sensegraph.lab.experiments.conditions import Asked, Condition, Plan, Reply, sum_costs
from sensegraph.lab.experiments.evaluation_report import (
    build_report,
    record_answers,
    record_outcome,
    record_verdicts,
    summarise_evaluation,
)
from sensegraph.lab.experiments.experiment import (
    Compared,
    Measure,
    Outcome,
    measure_lengths,
    measure_scores,
    weigh_judgements,
)
from sensegraph.lab.experiments.sheets import render_markdown
from sensegraph.lab.judging.criteria import Criterion, Rules
from sensegraph.lab.judging.judgements import Judged, Judgements, Mark, Marks
from sensegraph.lab.scores.statistics import compare_all_pairs
from sensegraph.types import Answer, Citation, Evidence, Usage

WHOLE = Path(__file__).parents[2] / "data" / "evaluation-report.md"
NONE = "Nothing in this corpus helps to answer the question."
QUESTIONS = tuple(
    Asked(f"q{i}", f"Question {i}?", "adversarial" if i > 5 else ("when", "who")[i % 2]) for i in range(8)
)


def reply(text: str, seconds: float, calls: int = 1, tokens: int = 10, cut: int = 0, failure: str = "") -> Reply:
    usage = Usage(calls, 100 * calls, 7, seconds=seconds, cost_usd=0.0125)
    cited = (Citation(1, "d", 0, 3, "One"),) if text.startswith("One") else ()
    return Reply(Answer(text, cited, Evidence(documents=("d",), tokens=tokens), usage=usage), failure, cut)


ANSWERS = {
    "a": (
        *[reply("One two three four.", 1.0, 2, 40) for _ in range(5)],
        reply("One two.", 7.0, 2, 40, cut=3),
        reply(NONE, 1.0),
        reply("", 1.0, failure="It broke."),
    ),
    "b": (*[reply("One two.", 2.0) for _ in range(6)], reply(NONE, 2.0), reply(NONE, 2.0)),
}


def verdicts() -> tuple[Judged, ...]:
    """By depth `a` wins in both orders. By directness the first order says `a` up to question 4 and `b` from then on;
    the second, where it says anything, which it does of odd questions alone, always `b`."""
    made = []
    for q in range(8):
        quotes = "It quotes its sources."
        made += [Judged(q, "depth", "a", "b", 0, 1, quotes), Judged(q, "depth", "b", "a", 0, 2)]
        made += [Judged(q, "directness", "a", "b", 0, 1 if q < 5 else 2, quotes)]
        made += [Judged(q, "directness", "b", "a", 0, 1 if q % 2 else None)]
    return tuple(made)


@pytest.fixture(scope="module")
def found() -> Outcome:
    claims = {"a": [3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, None], "b": [float(n) for n in range(1, 9)]}
    rules = Rules("one", (Criterion("depth", "?"), Criterion("directness", "?")), replicates=1)
    scored = Rules("two", (Criterion("depth", "?"),), replicates=2)
    told = [
        Mark(q, "depth", c, run, None if (c, q) == ("b", 7) else 10.0 * q + run + (c == "b"), "So it is.")
        for c in ("a", "b")
        for q in range(8)
        for run in range(2)
    ]
    marks = Marks(scored, 8, ("a", "b"), tuple(told), {})
    listed = [measure_lengths(ANSWERS), Measure("Claims", "claims", "counted", claims, 1)]
    listed += measure_scores(marks, "judge-1")
    words = {"a": (4, 4, 4, 4, 4, 2, 9, 0), "b": (2, 2, 2, 2, 2, 2, 9, 9)}
    given = Judgements(rules, 8, (("a", "b"),), verdicts(), words)
    plan = Plan("notes", "asked.txt", {"a": {"method": "walk"}, "b": {"method": "naive"}}, draws=100, examples=1)
    return Outcome(
        plan,
        (
            Condition("a", "walk", {"k": 3}, Answer, "ka", {"k": 3, "hops": 2}),
            Condition("b", "naive", {}, Answer, "kb"),
        ),
        QUESTIONS,
        ANSWERS,
        {name: sum_costs(replies) for name, replies in ANSWERS.items()},
        tuple(Compared(m, compare_all_pairs(m.values, draws=100)) for m in listed),
        "offline",
        "hashed-terms",
        "judge-1",
        "notes",
        ("Held.",),
        weigh_judgements(given, QUESTIONS, listed),
        marks,
        {"claimify.claim": Usage(2, 30, 4, 1, 20, cost_usd=0.5), "support.free": Usage()},
        ("A note.",),
    )


def test_the_whole_report_is_as_it_was_worked_out(found: Outcome) -> None:
    """Claims: 3 … 9 are 6.0 of seven questions, over 4.0 there: seven wins, p = 2 / 2⁷. Depth: eight wins of 100, p =
    2 / 2⁸. Directness: of the odd questions two are ties and two lost, 25.0. First places: 8 of 16 by depth, 5 + 4 of
    12 by directness: 17 of 28, 60.7 %; the same winner in both orders: 8 of 8 and 2 of 4, 83.3 %."""
    assert render_markdown(build_report(found)) == WHOLE.read_text(encoding="utf-8")


def test_its_lines_on_the_terminal_say_the_same(found: Outcome) -> None:
    assert summarise_evaluation(found)[:3] == [
        "2 conditions, 8 questions; engine offline, embedder hashed-terms; judge judge-1.",
        "",
        "                                       a            b\n"
        "words (counted)                  4 (n 7)            4\n"
        "claims (counted)               6.0 (n 7)          4.5\n"
        "depth (judge judge-1, 2 runs)      35.50  31.50 (n 7)",
    ]


def test_the_figures_for_programs_are_those_of_the_report(found: Outcome) -> None:
    told = record_outcome(found)
    a, b = told["conditions"]["a"], told["conditions"]["b"]
    assert (a["answers"], a["failed"], a["refused"], a["cut"]) == (8, 1, 1, 1)
    assert (b["answers"], b["failed"], b["refused"], b["cut"]) == (8, 0, 2, 0)
    assert (a["method"], a["settings"], a["usage"]["calls"], a["seconds_median"]) == ("walk", {"k": 3}, 13, 1.0)
    claims = told["measures"][1]
    assert (claims["means"], claims["undefined"]) == ({"a": 6.0, "b": 4.5}, {"a": 1, "b": 0})
    assert [p["better"] for p in claims["pairs"]] == ["a"]
    judged = told["verdicts"]
    assert (judged["verdicts"], judged["missing"]) == (32, 4)
    assert [p["better"] for c in ("depth", "directness") for p in judged["pairs"][c]] == [None, None]
    assert [p["plain_better"] for c in ("depth", "directness") for p in judged["pairs"][c]] == ["a", None]
    depth = judged["pairs"]["depth"][0]["equal_length"]
    assert (depth["rate"], depth["longer"], depth["shorter"]) == (None, 5, 1)  # of equal length are two
    assert judged["pairs"]["directness"][0]["rate"]["mean"] == 25.0
    assert judged["bias"]["first"] == pytest.approx(17 / 28)
    assert judged["bias"]["consistent"] == pytest.approx(10 / 12)
    assert (told["judge"], told["questions"], told["held"], told["notes"]) == ("judge-1", 8, ["Held."], ["A note."])
    assert told["spent"]["claimify.claim"]["calls"] == 2


def test_every_answer_verdict_and_score_is_kept_for_programs(found: Outcome) -> None:
    answers = list(record_answers(found))
    assert len(answers) == 16
    assert (answers[7]["condition"], answers[7]["failure"], answers[7]["refused"]) == ("a", "It broke.", False)
    assert (answers[0]["failure"], answers[0]["words"], answers[0]["documents"]) == (None, 4, ["d"])
    assert answers[0]["citations"][0]["quote"] == "One"
    given = list(record_verdicts(found))
    assert len(given) == 32 + 32
    assert (given[0]["question"], given[0]["won"], given[0]["reason"]) == ("q0", "a", "It quotes its sources.")
    assert (given[-1]["question"], given[-1]["score"], given[-1]["condition"]) == ("q7", None, "b")
