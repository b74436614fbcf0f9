"""Charts of verdicts, and the tables of a report as CSV and LaTeX."""

from __future__ import annotations

import csv
import re
from io import StringIO
from xml.etree import ElementTree

import pytest

from sensegraph.lab.experiments.charts import draw_length_effect, draw_means, draw_rates, draw_win_matrix
from sensegraph.lab.experiments.sheets import Cell, Fold, Grid, Section, Sheet, make_table
from sensegraph.lab.experiments.table_files import escape_latex, list_tables, render_csv, render_latex
from sensegraph.lab.judging.bias import assess_bias
from sensegraph.lab.judging.judgements import Judgements, tally_pair
from sensegraph.lab.scores.statistics import Interval, compare_judged_pairs
from simulated_judges import PAIR, Lengths, count_words, judge_run, toss_coins

CRITERION = "comprehensiveness"
SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str, kind: str = "text") -> list[str]:
    """What an SVG shows, or says when it is pointed at."""
    return [e.text or "" for e in ElementTree.fromstring(svg).iter(f"{SVG}{kind}")]


def rates_chart(run: Judgements) -> str:
    plain = compare_judged_pairs({PAIR: tally_pair(run, CRITERION, PAIR).scores})
    return draw_rates(CRITERION, plain, assess_bias(run).controlled[CRITERION])


def test_the_matrix_shows_the_rate_of_the_row_and_what_is_left_to_the_column() -> None:
    rates = assess_bias(judge_run(toss_coins, Lengths(), 3, quality=0.8)).controlled[CRITERION]
    (one,) = rates
    assert one.rate is not None
    shown = texts(draw_win_matrix(CRITERION, PAIR, rates))
    assert f"{one.rate.mean:.0f}" in shown
    assert f"{100 - one.rate.mean:.0f}" in shown


def test_what_cannot_be_told_from_length_has_a_question_mark_and_says_so() -> None:
    run = judge_run(count_words, Lengths(ratio=0.3), 0)
    assert texts(draw_win_matrix(CRITERION, PAIR, assess_bias(run).controlled[CRITERION])).count("?") == 2
    chart = rates_chart(run)
    assert "cannot be told apart from length" in texts(chart)
    assert [t for t in texts(chart, "title") if "0.0 [" in t] == ["one – other: 0.0 [0.0, 8.8]"]  # Wilson, 0 of 40


def test_both_rates_of_a_pair_stand_with_their_intervals() -> None:
    told = texts(rates_chart(judge_run(toss_coins, Lengths(), 3, quality=0.8)), "title")
    assert len([t for t in told if t.startswith("one – other: ")]) == 2


def test_of_a_judge_that_counts_words_the_longer_answer_wins_whatever_the_difference() -> None:
    told = texts(draw_length_effect(CRITERION, judge_run(count_words, Lengths(), 0)), "title")[1:]
    assert len(told) == 4
    assert all(t.split(": ")[1].startswith("100.0 [") for t in told)


def test_without_verdicts_the_chart_of_lengths_is_empty() -> None:
    run = judge_run(toss_coins, Lengths(), 0, 2)
    empty = Judgements(run.rules, run.questions, run.pairs, (), run.words)
    assert texts(draw_length_effect(CRITERION, empty), "title") == [
        f"{CRITERION}: score of the longer answer, by how many words longer it is"
    ]


def test_every_mean_stands_with_its_interval_on_one_scale_that_reaches_the_highest() -> None:
    means: dict[str, dict[str, Interval | None]] = {
        "claims": {"walk": Interval(3.0, 1.0, 4.5), "naive": None},
        "other": {"walk": Interval(0.5, 0.25, 1.0)},
    }
    chart = draw_means("Claims", means, 1)
    assert texts(chart, "title") == [
        "Claims: means with 95 % intervals", "claims, walk: 3.0 [1.0, 4.5]", "other, walk: 0.5 [0.2, 1.0]"
    ]  # fmt: skip
    assert texts(chart)[-5:] == ["0", "2", "4", "6", "8"]
    assert texts(chart).count("no value") == 1
    discs = [float(e.get("cx", "0")) for e in ElementTree.fromstring(chart).iter(f"{SVG}circle")]
    zero = float(next(e.get("x", "0") for e in ElementTree.fromstring(chart).iter(f"{SVG}text") if e.text == "0"))
    assert [round(x - zero, 1) for x in discs] == [420 * 3 / 8, round(420 * 0.5 / 8, 1)]


TABLE = make_table("Means & more", ["", "a_b", "words"], [["50 %", Cell("−1,234.5", strong=True), "–"]], "n < 10")


def test_csv_holds_figures_as_programs_read_them() -> None:
    assert list(csv.reader(StringIO(render_csv(TABLE)))) == [["", "a_b", "words"], ["50 %", "-1234.5", ""]]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("50 % & more", r"50 \% \& more"), ("a_b", r"a\_b"), ("−1 ± 2", "$-$1 $\\pm$ 2"), ("z/√n", r"z/$\surd$n"),
        ("< 0.001", r"\textless{} 0.001"), ("C:\\x{1}", r"C:\textbackslash{}x\{1\}"),
    ],
)  # fmt: skip
def test_latex_escapes_what_it_reads_as_its_own(text: str, shown: str) -> None:
    assert escape_latex(text) == shown


def test_every_table_of_a_report_stands_in_the_latex_and_has_a_file_of_its_own() -> None:
    inner = (Section("One", (TABLE, "words")), Section("Two", (Grid((TABLE,)), Fold("more", (TABLE,)))))
    sheet = Sheet("A report", (), inner)
    assert [name for name, _ in list_tables(sheet)] == ["01-means-more", "02-means-more", "03-means-more"]
    shown = render_latex(sheet)
    assert shown.count(r"\begin{tabular}{lrr}") == shown.count(r"\end{table}") == 3
    assert r"50 \% & \textbf{$-$1,234.5} & -- \\" in shown
    assert re.findall(r"\\label{(.*)}", shown) == ["tab:means-more", "tab:means-more-2", "tab:means-more-3"]
