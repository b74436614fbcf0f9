"""The values that everything hands about: what is left out of one is empty, and none can be changed."""

from __future__ import annotations

import runpy
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import pytest

from sensegraph import extractions, questions, trials, types

NOT_EMPTY = {
    "ExtractedRelation.strength": 1.0,
    "Membership.strength": 1.0,
    "Scope.between": ("", ""),
    "Scope.unknown": "include",
    "Trial.low": 1,
    "Trial.high": 10,
    "Trial.tie": True,
}


@pytest.fixture(scope="module")
def classes() -> list[type[Any]]:
    """The classes of values, by what their files say now."""
    found: dict[str, type[Any]] = {}
    for module in (types, extractions, trials, questions):
        assert module.__file__
        own = runpy.run_path(module.__file__, run_name="read_again")
        found |= {
            n: c for n, c in own.items() if is_dataclass(c) and isinstance(c, type) and c.__module__ == "read_again"
        }
    assert len(found) > 40
    return list(found.values())


def test_what_is_left_out_of_a_value_is_empty(classes: list[type[Any]]):
    left_out = {
        f"{c.__name__}.{f.name}": f.default
        for c in classes
        for f in fields(c)
        if f.default is not MISSING and (f.default or f.default is None)
    }
    assert left_out == {**NOT_EMPTY, "Verdict.winner": None}


def test_no_value_can_be_changed(classes: list[type[Any]]):
    assert len(classes) > 40
    assert [c for c in classes if not (c.__dataclass_params__.frozen and "__slots__" in vars(c))] == []
