"""What errors say, and that they come whole out of another process."""

from __future__ import annotations

import pickle

import pytest

from sensegraph.errors import (
    EndpointDown,
    EndpointError,
    ItemFailed,
    PromptTooLong,
    SensegraphError,
    StepFailed,
    Unapproved,
    Unreadable,
    UnsupportedTask,
)
from sensegraph.questions import Condition, Scope


def test_a_step_that_failed_names_its_three_most_frequent_reasons_and_what_is_stored() -> None:
    reasons = {"timed out": 1, "refused": 4, "cut off": 4, "not read": 2, "a fourth": 1}
    assert str(StepFailed("extract", 12, 40, reasons)) == (
        "extract: 12 of 40 items failed (4 × cut off; 4 × refused; 2 × not read). "
        "The other 28 are stored: run the same command again to do only what is missing."
    )


def test_a_method_that_cannot_be_used_names_the_tasks_that_are_missing() -> None:
    error = UnsupportedTask("kag", "rules", frozenset({"answer", "ask"}))
    assert str(error) == "kag needs answer, ask, which the engine 'rules' does not do; choose another of either."


@pytest.mark.parametrize(
    ("error", "said", "fields"),
    [
        (StepFailed("s", 1, 2, {"r": 1}), "s: 1 of 2 items", {"step": "s", "failed": 1, "total": 2}),
        (Unapproved("A file names it.", "one", "Say so."), "You have not approved that. Say so.", {"wanted": "one"}),
        (ItemFailed("m", "cut", "w"), "m", {"kind": "cut", "words": "w"}),
        (ItemFailed("m"), "m", {"kind": "", "words": ""}),
        (Unreadable("m", [1], "cut", "w"), "m", {"instead": [1], "kind": "cut", "words": "w"}),
        (EndpointError("m", "limit", "w"), "m", {"kind": "limit", "words": "w"}),
        (EndpointDown("m"), "m", {"kind": "down", "words": ""}),
        (EndpointDown("m", "key", "w"), "m", {"kind": "key", "words": "w"}),
        (PromptTooLong("m"), "m", {"share": 0.5, "kind": "window", "words": ""}),
        (PromptTooLong("m", 0.25, "w"), "m", {"share": 0.25, "kind": "window", "words": "w"}),
    ],
)
def test_an_error_comes_out_of_another_process_with_all_that_it_says(
    error: SensegraphError, said: str, fields: dict[str, object]
) -> None:
    copied = pickle.loads(pickle.dumps(error))
    assert type(copied) is type(error)
    assert str(copied) == str(error)
    assert said in str(copied)
    assert {name: getattr(copied, name) for name in fields} == fields


def test_a_scope_takes_lists_and_single_values_and_keeps_tuples() -> None:
    year = Condition("year", ">=", 2020)
    scope = Scope("a*", year, between=["2015", ""])  # type: ignore[arg-type]
    assert (scope.documents, scope.where, scope.between) == (("a*",), (year,), ("2015", ""))
    assert hash(scope) == hash(Scope(["a*"], [year], between=("2015", "")))  # type: ignore[arg-type]
