"""Recipes of tables: which one a word means, what is pinned, and how near a figure must be."""

from __future__ import annotations

from datetime import date

import pytest

from sensegraph.errors import InputError
from sensegraph.lab.reproduction.table_recipes import (
    Grade,
    Pinned,
    Recipe,
    ReproducedTable,
    Row,
    grade_figure,
    read_plan_text,
    read_recipes,
    select_recipes,
)


@pytest.mark.parametrize(
    ("own", "pinned", "within", "grade"),
    [
        (100.0, 100.0, 0.0, "ok"), (101.0, 100.0, 1.0, "ok"), (99.0, 100.0, 1.0, "ok"), (101.01, 100.0, 1.0, "okish"),
        (103.0, 100.0, 1.0, "okish"), (97.0, 100.0, 1.0, "okish"), (103.01, 100.0, 1.0, "fail"),
        (96.99, 100.0, 1.0, "fail"), (-99.0, -100.0, 1.0, "ok"), (99.0, -100.0, 1.0, "fail"), (0.0, 0.0, 5.0, "ok"),
        (1e-6, 0.0, 5.0, "fail"), (None, 1.0, 50.0, "fail"),
    ],
)  # fmt: skip
def test_a_figure_is_as_good_as_it_is_near(own: float | None, pinned: float, within: float, grade: Grade) -> None:
    assert grade_figure(own, pinned, within) == grade


RECIPE = Recipe("2", "answers", "x", {"a": "b"})


def row(*ours: float | None) -> Row:
    return Row("r", (None,) * len(ours), ours, (100.0,) * len(ours), 1.0)


@pytest.mark.parametrize(
    ("rows", "grade"),
    [
        ([row(100.0)], "ok"), ([row(100.0, 102.0)], "okish"), ([row(102.0), row(100.0, None)], "fail"), ([], ""),
        ([Row("r", (), (1.0,))], ""), ([Row("r", (), (1.0,)), row(100.0)], "ok"),
    ],
)  # fmt: skip
def test_a_table_is_as_good_as_its_worst_figure(rows: list[Row], grade: Grade) -> None:
    assert ReproducedTable(RECIPE, (), tuple(rows)).grade == grade


def test_figures_are_pinned_by_who_measured_them_on_which_data() -> None:
    pins = [Pinned(who, date(2026, 1, 1), "c", 1.0, {}, data) for who, data in (("m", ""), ("m", "d"), ("any", "e"))]
    recipe = Recipe("2", "answers", "x", {}, pinned=tuple(pins))
    assert [recipe.pins("m"), recipe.pins("m", "d"), recipe.pins("z", "e")] == pins
    assert [recipe.pins("z"), recipe.pins("m", "z")] == [None, None]


@pytest.mark.parametrize(
    ("table", "title"),
    [
        ("2", "table 2"),
        ("figures 2-4", "figures 2-4"),
        ("fig. 2", "fig. 2"),
        ("figure 2", "figure 2"),
        ("A1", "table A1"),
    ],
)
def test_a_table_is_called_by_its_number_and_a_figure_as_one(table: str, title: str) -> None:
    assert Recipe(table, "sum", "x", {}).title == title


def test_a_recipe_says_what_it_needs() -> None:
    assert (RECIPE.asks, RECIPE.folders, RECIPE.judge) == (False, (), False)
    assert Recipe("2", "recall", "x", {}).asks
    assert Recipe("2", "wins", "x", {}, plan="p.toml").asks
    assert Recipe("2", "sum", "x", {}, data="d", sets=("a", "b")).folders == ("d",)
    assert Recipe("2", "sum", "x", {}, sets=("a", "b")).folders == ("a", "b")


def test_a_table_is_found_with_and_without_its_word_and_an_unknown_one_is_named_with_those_that_there_are() -> None:
    every = read_recipes("edge2024")
    assert select_recipes("edge2024", "") == every
    assert len(every) > 1
    for recipe in every:
        same = tuple(r for r in every if r.table == recipe.table)
        for said in (recipe.table, f" Table {recipe.table.upper()} ", recipe.title):
            if recipe.table == recipe.table.casefold():
                assert select_recipes("edge2024", said) == same
        if recipe.plan:
            assert read_plan_text("edge2024", recipe.plan)
    with pytest.raises(InputError, match=every[0].table):
        select_recipes("edge2024", "99")
