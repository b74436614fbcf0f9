"""What a report says of a comparison: which measures show a difference, what few questions allow, what is marked."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest

from sensegraph.lab.experiments.comparison_tables import HOW, describe_wins, explain_lack_of_power, tabulate_pairs
from sensegraph.lab.experiments.conditions import Asked, Condition, Plan, Reply, sum_costs
from sensegraph.lab.experiments.evaluation_report import (
    build_report,
    format_json_lines,
    summarise_evaluation,
    tabulate_means,
)
from sensegraph.lab.experiments.experiment import Compared, Measure, Outcome, measure_lengths
from sensegraph.lab.experiments.sheets import format_count, render_markdown
from sensegraph.lab.experiments.table_files import list_tables, render_csv, render_latex
from sensegraph.lab.judging.length_control import ControlledRate
from sensegraph.lab.scores.statistics import Interval, Values, compare_all_pairs, compare_judged_pairs
from sensegraph.types import Answer, Usage

GOOD = Reply(Answer("It rained all day."))
NONE = Reply(Answer(""))
LOST = Reply(Answer(""), failure="The endpoint is gone.")


def outcome(values: Sequence[dict[str, Values]], group: str = "Clusters of claims", digits: int = 2) -> Outcome:
    """An evaluation of one group of measures, m1 to mN, besides the length of the answers."""
    names, count = list(values[0]), len(next(iter(values[0].values())))
    answers = dict.fromkeys(names, (GOOD,) * count)
    listed = [Measure(group, f"m{i}", "counted", v, digits) for i, v in enumerate(values, 1)]
    compared = tuple(Compared(m, compare_all_pairs(m.values, draws=100)) for m in (measure_lengths(answers), *listed))
    conditions = tuple(Condition(n, "naive", {}, lambda question: Answer(question), n) for n in names)
    questions = tuple(Asked(f"q{i}", f"Question {i}?") for i in range(count))
    costs = {name: sum_costs(replies) for name, replies in answers.items()}
    plan = Plan("notes", "asked.txt", {name: {"method": "naive"} for name in names})
    return Outcome(plan, conditions, questions, answers, costs, compared, "offline", "hashed-terms", "", "notes")


def short(found: Outcome) -> list[str]:
    """The lines of In short."""
    text = render_markdown(build_report(found))
    return [line[2:] for line in text.split("## In short\n\n")[1].split("\n\n")[0].splitlines()]


def steady(count: int, by: float) -> dict[str, Values]:
    """`a` is above `b` on every question, and `b` and `c` are alike."""
    return {"a": [i + by for i in range(count)], "b": list(range(count)), "c": list(range(count))}


# ── which measures show a difference ──


def test_a_difference_that_one_of_four_measures_shows_is_said_with_its_measure():
    found = outcome([steady(20, 0), steady(20, 0), steady(20, 0), {**steady(20, 0), "a": [i + 1 for i in range(20)]}])
    assert short(found) == [
        "Clusters of claims: more by a over b (m4 only: 1 of 4 measures), a over c (m4 only: 1 of 4 measures).",
        "Clusters of claims: equal under every condition by m1 in 20 of 20 questions, m2 in 20 of 20 questions, m3 in "
        "20 of 20 questions: nothing to tell them apart by.",
    ]


def test_a_difference_that_all_measures_of_a_group_show_says_so_and_one_measure_needs_no_name():
    assert short(outcome([steady(20, 1), steady(20, 2)])) == [
        "Clusters of claims: more by a over b (all 2 measures), a over c (all 2 measures)."
    ]
    assert short(outcome([steady(20, 1)], "Claims")) == ["Claims: more by a over b, a over c."]


def test_differences_in_both_directions_are_told_with_their_measures():
    (said,) = short(outcome([steady(20, 1), steady(20, -1)]))
    assert "a over b (m1 only: 1 of 2 measures)" in said
    assert "b over a (m2 only: 1 of 2 measures)" in said


# ── what lengths owe to it, and what tells nothing ──


def with_words(found: Outcome, **words: int) -> Outcome:
    """The evaluation with answers of so many words by each condition."""
    answers = {n: (Reply(Answer(" ".join(["word"] * words[n]))),) * len(found.questions) for n in found.answers}
    lengths = measure_lengths(answers)
    pairs = compare_all_pairs(lengths.values, draws=100)
    return replace(found, answers=answers, compared=(Compared(lengths, pairs), *found.compared[1:]))


def test_where_lengths_differ_that_stands_first_and_beside_each_difference():
    found = with_words(outcome([steady(20, 1)], "Reference answers"), a=34, b=59, c=34)
    assert short(found) == [
        "Length: longer answers by b over a (59 and 34 words), b over c (59 and 34 words). F1, ROUGE and exact match "
        "favour short answers, containment, recall and claims long ones: a difference between these conditions may be "
        "one of length.",
        "Reference answers: more by a over b (its answers are shorter), a over c.",
    ]


def test_longer_answers_are_not_called_better():
    found = with_words(outcome([steady(20, 0)]), a=34, b=59, c=34)
    text = render_markdown(build_report(found))
    rows = text.split("**words: every pair of conditions**\n\n")[1].split("\n\n")[0].splitlines()
    assert rows[0].startswith("| pair | longer |")
    assert rows[2].startswith("| a – b | b |")  # not bold


def test_where_conditions_tie_on_most_questions_that_is_said():
    tied: dict[str, Values] = {"a": [3.0] * 11 + [1.0], "b": [3.0] * 12}
    assert short(outcome([tied], "Claims"))[1:] == [
        "Claims: equal under every condition by m1 in 11 of 12 questions: nothing to tell them apart by."
    ]


def test_a_measure_at_one_end_of_the_scale_for_most_questions_is_named():
    values: list[dict[str, Values]] = [
        {"a": [1.0] * 11 + [0.0], "b": [1.0] * 12},
        {"a": [0.0] * 12, "b": [0.0] * 12},
        {"a": [0.5] * 12, "b": [1.0] * 12},
    ]
    found = outcome(values, "Reference answers")
    shared = tuple(replace(c, measure=replace(c.measure, share=True)) for c in found.compared[1:])
    assert short(replace(found, compared=(found.compared[0], *shared)))[1:] == [
        "Reference answers: 1 under every condition by m1 in 11 of 12 questions: too easy, and so nothing to tell them "
        "apart by.",
        "Reference answers: 0 under every condition by m2 in 12 of 12 questions: too hard, or no measure for such "
        "answers, and so nothing to tell them apart by.",
    ]


# ── what too few questions allow ──


def test_four_questions_allow_no_p_below_an_eighth_and_the_report_says_so():
    assert short(outcome([steady(4, 1)], "Claims")) == [
        "Claims: with 4 questions p cannot be below 0.125, nor p Holm over 3 pairs below 0.375, "
        "so no difference can be more than chance."
    ]


def test_questions_count_only_where_two_conditions_have_a_value():
    lacking: Values = [*range(4), *[None] * 36]
    said, _ = short(outcome([{"a": lacking, "b": lacking}]))
    assert said.startswith("Clusters of claims: with 4 questions p cannot be below 0.125, so no difference")
    (said,) = short(outcome([{"a": [1.0, None], "b": [None, 1.0]}]))
    assert "no question has a value under two conditions" in said


@pytest.mark.parametrize(("conditions", "least"), [(2, 6), (3, 7), (6, 10)])
def test_so_many_questions_at_least_are_needed_as_the_docs_say(conditions: int, least: int):
    for count, enough in ((least - 1, False), (least, True)):
        family = compare_all_pairs({f"c{i}": [float(i)] * count for i in range(conditions)}, draws=100)
        assert bool(explain_lack_of_power(family)) is not enough
        assert any(p.better for p in family) is enough


def test_one_condition_is_compared_with_nothing():
    found = outcome([{"a": [1.0, 2.0, 3.0, 4.0]}])
    assert short(found) == ["One condition: there is nothing to compare."]
    assert summarise_evaluation(found)[0].startswith("1 condition, 4 questions;")
    text = render_markdown(build_report(found))
    assert HOW not in text
    assert "very pair of conditions" not in text


def test_of_win_rates_too_the_least_possible_p_is_told():
    few, many_more = (compare_judged_pairs({("a", "b"): [50.0] * n}) for n in (4, 40))
    assert describe_wins("directness", few, [rated()]) == (
        "Win rate at equal length, directness: with 4 questions p cannot be below 0.125: no difference can be more "
        "than chance."
    )
    assert describe_wins("directness", many_more, [rated()]).endswith(
        "no difference that is more than chance (least p Holm 1.000)."
    )


def rated(mean: float | None = None, low: float = 0.0, p: float = 1.0, **more: Any) -> ControlledRate:
    """Of 40 questions the first has the longer answer in 30."""
    rate = None if mean is None else Interval(mean, low, 99.0)
    return ControlledRate("depth", ("a", "b"), 40, 30, 10, rate, p, Interval(80.0, 60.0, 90.0), False, p_holm=p, **more)


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        (rated(70.0, 55.0, 0.01), "a 70 % over b (plain 90 %)."),
        (rated(60.0, 45.0, 0.2), "a over b in plain win rates only (90 %; not at equal length)."),
        (rated(70.0, 55.0, 0.01, held=True), "a over b in plain win rates only (90 %; the judge goes by place)."),
        (
            rated(),
            "a against b cannot be told apart from length, since a has the longer answer in 30 of 40 questions and at "
            "least 5 in which it has not are needed; plain, a wins 90 %.",
        ),
    ],
)
def test_a_headline_says_who_is_better_at_equal_length_and_what_the_plain_rate_is(rate: ControlledRate, said: str):
    plain = compare_judged_pairs({("a", "b"): [90.0] * 40})
    assert describe_wins("depth", plain, [rate]) == f"Win rate at equal length, depth: {said}"


def test_the_one_that_loses_by_the_plain_rate_may_be_better_at_equal_length():
    plain = compare_judged_pairs({("a", "b"): [40.0] * 40})
    assert describe_wins("depth", plain, [rated(70.0, 55.0, 0.01)]).endswith("a 70 % over b (plain 40 %).")


def test_failures_and_refusals_are_said_only_where_there_are_any_and_in_good_english():
    found = outcome([steady(20, 1)], "Claims")
    assert len(short(found)) == 1
    replies = {"a": (NONE, *[GOOD] * 19), "b": (LOST, *[GOOD] * 19), "c": (LOST, NONE, NONE, *[GOOD] * 17)}
    assert short(replace(found, answers=replies))[1:] == [
        "a: 1 of 20 answers says that it cannot answer.",
        "b: 1 of 20 answers failed.",
        "c: 1 of 20 answers failed, 2 of 20 answers say that they cannot answer.",
    ]


def test_one_is_singular_and_more_are_plural():
    assert (format_count(1, "question"), format_count(0, "question"), format_count(1200, "call")) == (
        "1 question",
        "0 questions",
        "1,200 calls",
    )


# ── means ──


def cells(values: dict[str, Values], digits: int = 2) -> list[tuple[str, bool]]:
    found = outcome([values], digits=digits)
    (row,) = tabulate_means(found.compared[1:], found).rows
    return [(re.sub(r" \[.*?\]", "", cell.text), cell.strong) for cell in row[1:]]


def test_means_stand_with_their_intervals_which_are_wilsons_where_they_are_shares():
    (found,) = outcome([{"a": [1.0, 1.0, 1.0]}]).compared[1:]
    asked = outcome([{"a": [1.0, 1.0, 1.0]}])
    shared = Compared(replace(found.measure, share=True), ())
    texts = [tabulate_means([one], asked).rows[0][1].text for one in (found, shared)]
    assert texts == ["1.00 [1.00, 1.00]", "1.00 [0.44, 1.00]"]


def test_a_mean_is_marked_where_it_is_higher_by_more_than_chance_and_lower_than_none():
    assert cells({"a": [1.0, 2.0], "b": [3.0, 4.0]}) == [("1.50", False), ("3.50", False)]
    assert [strong for _, strong in cells({**steady(20, 1), "d": [n + 1 for n in range(20)]})] == [
        True,
        False,
        False,
        True,
    ]
    chain = {"a": [n + 2 for n in range(20)], "b": [n + 1 for n in range(20)], "c": list(range(20))}
    assert [strong for _, strong in cells(chain)] == [True, False, False]
    lacking = {name: [*own, None] for name, own in steady(20, 1).items()}
    assert [strong for _, strong in cells(lacking)] == [True, False, False]
    marked, plain = outcome([steady(20, 1)]), outcome([steady(20, 0)])
    assert tabulate_means(marked.compared[1:], marked).note.startswith("Bold: higher than another by more than chance")
    assert "Bold" not in tabulate_means(plain.compared[1:], plain).note


def test_means_of_different_questions_are_not_marked_and_say_how_many_they_are_of():
    assert cells({"a": [1.0, None], "b": [3.0, 4.0]}) == [("1.00 (n 1)", False), ("3.50", False)]
    assert cells({"a": [1.0, None], "b": [None, 4.0]}) == [("1.00 (n 1)", False), ("4.00 (n 1)", False)]
    found = outcome([{"a": [1.0, None], "b": [3.0, 4.0]}])
    assert "Means of different questions are not compared." in tabulate_means(found.compared[1:], found).note
    whole = outcome([steady(3, 1)])
    assert "n:" not in tabulate_means(whole.compared[1:], whole).note


def test_a_condition_without_any_value_does_not_keep_the_others_from_being_compared():
    found = cells({"a": list(range(20)), "b": [n + 1 for n in range(20)], "c": [None] * 20})
    assert found == [("9.50", False), ("10.50", True), ("–", False)]


def test_the_lines_on_the_terminal_say_too_how_many_questions_a_mean_is_of():
    assert any(
        "1.00 (n 1)" in line
        for line in "\n".join(summarise_evaluation(outcome([{"a": [1.0, None], "b": [3.0, 4.0]}]))).splitlines()
    )


# ── the rest ──


def test_answers_that_differ_are_shown_and_how_many_do_not_is_said():
    found = outcome([steady(3, 1)])
    one = found.answers["b"][0]
    answers = {**found.answers, "c": (one, one, Reply(Answer("It snowed.")))}
    text = render_markdown(build_report(replace(found, answers=answers)))
    shown = text.split("## Answers side by side")[1]
    assert re.findall("### (.*)", shown) == ["Question 2?"]
    assert "All conditions gave the same answer to 2 of 3 questions, which are not shown." in shown


def test_every_measure_of_a_group_is_shown_by_type_of_question():
    found = outcome([steady(4, 1), steady(4, 2)])
    typed = tuple(replace(q, type="who" if i < 3 else "when") for i, q in enumerate(found.questions))
    text = render_markdown(build_report(replace(found, questions=typed)))
    rows = text.split("**Clusters of claims by type of question (counted)**")[1].split("\n\n")[1].splitlines()
    assert rows[0] == "| measure | type | questions | a | b | c |"
    assert rows[2:] == [
        "| m1 | when | 1 | 4.00 | 3.00 | 3.00 |",
        "| m1 | who | 3 | 2.00 | 1.00 | 1.00 |",
        "| m2 | when | 1 | 5.00 | 3.00 | 3.00 |",
        "| m2 | who | 3 | 3.00 | 1.00 | 1.00 |",
    ]


def test_tables_for_programs_hold_numbers_in_ascii_each_in_its_column():
    found = outcome([{"a": [1.0, 2.0, 4.0, None], "b": [2.0, 2.5, 4.5, 1.0]}])
    means, pairs = (
        list(csv.DictReader(StringIO(render_csv(table))))
        for name, table in list_tables(build_report(found))
        if name.endswith(("claims-means", "m1-pairs"))
    )
    assert list(means[0])[1:5] == ["a mean", "a low", "a high", "a n"]
    assert (float(means[0]["a mean"]), means[0]["a n"], means[0]["b n"]) == (pytest.approx(7 / 3), "3", "4")
    assert (pairs[0]["pair first"], pairs[0]["pair second"], pairs[0]["p exact"]) == ("a", "b", "1")
    numbers = [v for name, v in pairs[0].items() if name not in ("pair first", "pair second", "better")]
    assert all(v.isascii() and (not v or float(v) is not None) for v in numbers)
    assert float(pairs[0]["difference"]) == pytest.approx(-2 / 3)
    assert all(name.isascii() for name in pairs[0])


def test_labels_in_latex_stay_when_something_comes_before_them_and_wide_tables_become_narrow():
    found = outcome([steady(20, 1)])
    text = render_latex(build_report(found))
    assert re.findall(r"\\label\{(.*)\}", text)[1:3] == ["tab:clusters-of-claims-means", "tab:m1-pairs"]
    assert text.count(r"\begin{adjustbox}{max width=\textwidth}") == text.count(r"\begin{tabular}")


def test_the_effect_is_over_the_questions_that_stand_beside_it():
    (pair,) = compare_all_pairs({"a": [1.0, 2.0, 4.0], "b": [1.0, 2.0, 3.0]}, draws=10)
    (row,) = tabulate_pairs("m", {"m": [pair]}).rows
    shown = dict(zip(tabulate_pairs("m", {"m": [pair]}).head, (c.text for c in row), strict=True))
    assert (shown["z"], shown["z/√n"], shown["n"], shown["wins"], shown["even"]) == ("+1.00", "+0.58", "3", "1", "2")


def test_how_tests_are_read_is_said_once():
    text = render_markdown(build_report(outcome([steady(20, 1)])))
    assert text.count("Wilcoxon") == 1


def test_what_was_paid_is_named_as_the_estimate_names_it():
    spent = {"claimify.claim": Usage(2, 30, 4), "entailment.support": Usage(1, 10), "proposing.support": Usage(1, 10)}
    text = render_markdown(build_report(replace(outcome([steady(20, 1)]), spent=spent)))
    assert "| measuring: claim | 2 | 30 | 4 | 0.0000 |" in text
    assert "| measuring: support | 2 | 20 | 0 | 0.0000 |" in text
    assert "claimify" not in text


def test_lines_of_json_keep_the_letters_of_every_script():
    assert format_json_lines([{"a": "é 電"}, {}]) == '{"a": "é 電"}\n{}\n'
