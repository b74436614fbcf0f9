"""Of a plan just so many characters and steps are read."""

from __future__ import annotations

from sensegraph.methods.kag.logical_forms import MOST_CHARACTERS, MOST_STEPS, parse_plan


def test_a_plan_of_just_so_many_characters_is_read() -> None:
    line = "Who is it?\n"
    text = line + " " * (MOST_CHARACTERS - len(line))
    assert len(text) == MOST_CHARACTERS
    assert parse_plan(text).plan
    assert parse_plan(f"{text} ").errors == (
        f"the plan has {MOST_CHARACTERS + 1} characters, at most {MOST_CHARACTERS} are read",
    )


def test_a_plan_of_just_so_many_steps_is_taken() -> None:
    assert parse_plan(["Who is it?"] * MOST_STEPS).plan
    assert parse_plan(["Who is it?"] * (MOST_STEPS + 1)).errors == (
        f"the plan has {MOST_STEPS + 1} steps, at most {MOST_STEPS} are taken",
    )
