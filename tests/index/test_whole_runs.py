"""Indexes of whole runs are what they were (tests/whole_runs.py)."""

from __future__ import annotations

import pytest

from whole_runs import QUESTIONS, find_rows, list_groups, name_differences, read_pinned


@pytest.mark.parametrize("run", QUESTIONS)
def test_an_index_holds_what_it_held(run: str) -> None:
    elsewhere = ("answers", "inside", "requests", "match", "exports", "scenes")
    groups = [group for group in list_groups(run) if not group.startswith(elsewhere)]
    assert read_pinned(run).keys() <= {*list_groups(run)}
    assert sum(len(find_rows(run, group)) for group in groups) > 50
    assert name_differences(run, *groups) == []
