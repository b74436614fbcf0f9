"""Recipes of tables: which one a word means, what is pinned, and how near a figure must be."""

from __future__ import annotations

from datetime import date

import pytest

from sensegraph.errors import InputError
from sensegraph.lab.experiments.published import list_recipe_papers
from sensegraph.lab.reproduction.table_recipes import (
    Figure,
    Pinned,
    Recipe,
    ReproducedTable,
    list_figures,
    read_plan_text,
    read_recipes,
    select_recipes,
)


@pytest.mark.parametrize(
    ("ours", "known", "percent", "near"),
    [
        (100.0, 100.0, 0.0, True), (101.0, 100.0, 1.0, True), (99.0, 100.0, 1.0, True), (101.01, 100.0, 1.0, False),
        (98.99, 100.0, 1.0, False), (-99.0, -100.0, 1.0, True), (99.0, -100.0, 1.0, False), (0.0, 0.0, 5.0, True),
        (1e-6, 0.0, 5.0, False), (None, 1.0, 50.0, False),
    ],
)  # fmt: skip
def test_a_figure_is_reproduced_within_its_tolerance_and_as_before_within_that_of_the_pin(
    ours: float | None, known: float, percent: float, near: bool
) -> None:
    found = Figure("r", "c", known, ours, None, tolerance=percent, within=0.0)
    assert (found.against_published, found.against_pin) == ("reproduced" if near else "not reproduced", "")
    pinned = Figure("r", "c", None, ours, known, tolerance=0.0, within=percent)
    assert (pinned.against_published, pinned.against_pin) == ("", "as before" if near else "changed")


RECIPE = Recipe("2", "answers", "x", {"a": "b"}, tolerance=5.0)


def test_what_equals_our_own_pin_is_no_reproduction() -> None:
    pins = Pinned("offline", date(2026, 1, 1), "c", 1.0, {"a": (160.0, 1669.0)})
    columns, ours, published = ("C0", "TS"), {"a": [160.0, 1669.0]}, {"a": [34.0, 1669.0]}
    found = ReproducedTable(RECIPE, list_figures(RECIPE, columns, ours, published, pins), "offline", (), pins)
    first, last = found.figures
    assert (first.against_published, first.against_pin) == ("not reproduced", "as before")
    assert first.off == pytest.approx(370.588, abs=1e-3)
    assert (last.against_published, last.against_pin) == ("reproduced", "as before")
    assert (found.published, found.count("reproduced"), found.count("as before"), found.count("changed")) == (
        2,
        1,
        2,
        0,
    )


def test_a_column_that_nothing_was_published_or_pinned_for_has_no_verdict() -> None:
    (one, other) = list_figures(RECIPE, ("A", "B"), {"a": [1.0, 2.0]}, {"a": [1.0]}, None)
    assert (one.against_published, other.against_published) == ("reproduced", "")
    assert (one.against_pin, other.against_pin, other.off) == ("", "", None)


@pytest.mark.parametrize("paper", list_recipe_papers())
def test_a_recipe_with_published_figures_of_a_model_says_whose_and_how_near_is_near(paper: str) -> None:
    recipes = read_recipes(paper)
    assert recipes
    for recipe in recipes:
        arithmetic = recipe.kind in ("sum", "holm", "joint", "rings")
        assert (bool(recipe.model), recipe.tolerance > 0) == (not arithmetic, not arithmetic)


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
