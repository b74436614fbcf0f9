"""Indexes of whole runs are what they were (tests/whole_runs.py)."""

from __future__ import annotations

import pytest

from whole_runs import QUESTIONS, list_groups, name_differences, read_pinned


@pytest.mark.parametrize("run", QUESTIONS)
def test_an_index_holds_what_it_held(run: str) -> None:
    groups = [group for group in list_groups(run) if not group.startswith(("answers", "requests"))]
    assert read_pinned(run).keys() == {*list_groups(run)}
    assert name_differences(run, *groups) == []
