"""What is said of a set that was measured, and what it cost: differences beyond chance, ends of the scale, CPU."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.errors import InputError, UnsupportedTask
from sensegraph.lab.experiments.experiment import check_plan
from sensegraph.lab.experiments.retrieval_report import _tabulate_differences, _tabulate_sets
from sensegraph.lab.retrieval import runs
from sensegraph.lab.retrieval.retrieval_tables import list_ends, list_set_findings
from sensegraph.lab.retrieval.runs import Cost, cpu_seconds
from sensegraph.lab.retrieval.test_collections import JudgedSet
from sensegraph.types import Document

HOW: Any = SimpleNamespace(primary="recall@5")


def measured(*values: tuple[float, ...], comparisons: tuple[Any, ...] = ()) -> Any:
    """Methods with their values of each question."""
    scores = [SimpleNamespace(method=f"m{i}", values={"recall@5": row}) for i, row in enumerate(values)]
    return SimpleNamespace(
        scores=scores,
        queries=values[0] if values else (),
        comparisons=comparisons,
        baseline="bm25",
        judged=SimpleNamespace(name="harbour"),
    )


def compared(mean: float, low: float, high: float, p: float = 0.01, metric: str = "recall@5") -> Any:
    difference = SimpleNamespace(mean=mean, low=low, high=high)
    return SimpleNamespace(metric=metric, p_holm=p, difference=difference, method="naive", baseline="bm25")


NONE = "harbour, R@5: no difference from bm25 that is more than chance."


@pytest.mark.parametrize(
    ("comparison", "said"),
    [
        (compared(0.034, 0.01, 0.06), "harbour, R@5: naive better than bm25 by 3.4 points."),
        (compared(-0.034, -0.06, -0.01), "harbour, R@5: naive worse than bm25 by 3.4 points."),
        (compared(0.034, -0.01, 0.06), NONE),
        (compared(0.034, 0.0, 0.06), NONE),
        (compared(-0.034, -0.06, 0.0), NONE),
        (compared(0.034, 0.01, 0.06, p=0.05), NONE),
        (compared(0.034, 0.01, 0.06, metric="ndcg@10"), NONE),
    ],
)
def test_a_difference_is_told_where_it_is_more_than_chance_by_the_metric_of_the_tables(
    comparison: Any, said: str
) -> None:
    assert list_set_findings(measured((0.5,), (0.6,), comparisons=(comparison,)), HOW) == [said]
    assert list_set_findings(measured((0.5,), (0.6,)), HOW) == []


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (((1.0, 1.0, 0.5, 0.0), (1.0, 1.0, 0.5, 0.5)), "R@5 is the same by every method in 3 of 4 questions"),
        (((1.0, 1.0, 1.0, 1.0), (1.0, 1.0, 1.0, 0.5)), "R@5 is 100 by every method in 3 of 4 questions: too easy"),
        (((0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 0.5)), "R@5 is 0 by every method in 3 of 4 questions: too hard"),
        (((1.0, 0.5, 0.5, 0.0), (1.0, 0.1, 0.2, 0.5)), ""),
        (((1.0, 1.0, 1.0, 1.0),), ""),  # there is nothing to be compared
    ],
)
def test_questions_that_tell_nothing_apart_are_counted(rows: tuple[tuple[float, ...], ...], said: str) -> None:
    assert list_ends(measured(*rows), HOW) == [said] * bool(said)


def test_the_size_of_a_set_is_that_of_its_texts_in_utf_8() -> None:
    documents = (Document("a", "ü" * 500_000), Document("b", "b" * 250_000))
    assert JudgedSet("s", "test", documents, ()).megabytes == 1.25
    assert (Cost(5.0, 1.25, 0).s_per_mb, Cost(5.0, 0.0, 0).s_per_mb) == (4.0, 0.0)


def test_cpu_is_that_of_this_process_and_of_all_below_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def process(number: int, parent: int, *ticks: int) -> None:
        (tmp_path / str(number)).mkdir()
        fields = ["S", str(parent), *["7"] * 9, *map(str, ticks), "9", "9"]
        (tmp_path / str(number) / "stat").write_text(f"{number} (a name) with) {' '.join(fields)}")

    here = os.getpid()
    process(here, 1, 1000, 0, 0, 0)
    process(900_001, here, 100, 20, 3, 4)
    process(900_002, 900_001, 50, 0, 0, 0)
    process(900_003, here, 0, 0, 0, 23)
    process(900_004, 1, 9999, 0, 0, 0)  # of somebody else
    (tmp_path / "900005").mkdir()
    times = SimpleNamespace(user=1.0, system=0.5, children_user=0.25, children_system=0.125)
    monkeypatch.setattr(runs, "_PROCESSES", tmp_path)
    monkeypatch.setattr(runs.os, "times", lambda: times)
    monkeypatch.setattr(runs.os, "sysconf", lambda name: {"SC_CLK_TCK": 100}[name])
    assert cpu_seconds() == pytest.approx(1.875 + 1.27 + 0.5 + 0.23)


@pytest.mark.parametrize(
    ("comparison", "cells", "strong"),
    [
        (compared(0.034, 0.01, 0.06), ["R@5", "naive", "better", "+3.4", "+1.0 … +6.0", "0.010", "0.020"], True),
        (compared(-0.034, -0.06, -0.01), ["R@5", "naive", "worse", "−3.4", "−6.0 … −1.0", "0.010", "0.020"], True),
        (compared(0.034, 0.0, 0.06), ["R@5", "naive", "–", "+3.4", "+0.0 … +6.0", "0.010", "0.020"], False),
        (compared(0.034, 0.01, 0.06, p=0.05), ["R@5", "naive", "–", "+3.4", "+1.0 … +6.0", "0.050", "0.020"], False),
    ],
)
def test_a_table_of_differences_says_what_is_better_or_worse_in_points(
    comparison: Any, cells: list[str], strong: bool
) -> None:
    for name, value in {"p": 0.02, "wins": 1_200, "ties": 3, "losses": 4}.items():
        setattr(comparison, name, value)
    left_out = compared(0.5, 0.4, 0.6, metric="precision@5")
    table = _tabulate_differences(measured((0.5,), (0.6,), comparisons=(comparison, left_out)), "harbour")
    (row,) = table.rows
    assert [cell.text for cell in row] == [*cells, "1,200", "3", "4"]
    assert row[2].strong is strong
    assert table.caption == "harbour: every method against bm25"


def test_a_table_of_sets_has_the_metric_on_each_and_the_mean_of_them() -> None:
    def result(name: str, *means: float) -> Any:
        scores = [
            SimpleNamespace(method=f"m{i}", means={"recall@5": SimpleNamespace(mean=m)}) for i, m in enumerate(means)
        ]
        return SimpleNamespace(found=SimpleNamespace(scores=scores, judged=SimpleNamespace(name=name)))

    table = _tabulate_sets([result("one", 0.5, 0.25), result("two", 1.0, 0.75)], HOW)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["m0", "50.0", "100.0", "75.0"],
        ["m1", "25.0", "75.0", "50.0"],
    ]


@pytest.mark.parametrize(
    ("metrics", "tasks", "questions", "error"),
    [
        (["reference"], [], [("a",)], None),
        (["reference"], [], [(), ("a",)], None),
        (["reference"], [], [()], InputError),
        (["tokens"], [], [()], None),
        (["judge"], ["judge"], [()], None),
        (["judge"], [], [()], UnsupportedTask),
    ],
)
def test_a_metric_that_cannot_be_measured_is_found_out_before_any_work(
    metrics: list[str], tasks: list[str], questions: list[tuple[str, ...]], error: type[Exception] | None
) -> None:
    plan: Any = SimpleNamespace(judging=None, scoring=None, metrics=metrics)
    engine = SimpleNamespace(tasks=frozenset(tasks), name="one")
    tools: Any = SimpleNamespace(judging=SimpleNamespace(engine=engine))
    asked: Any = [SimpleNamespace(references=references, parts=()) for references in questions]
    if error is None:
        assert check_plan(plan, asked, tools) is None
    else:
        with pytest.raises(error):
            check_plan(plan, asked, tools)
