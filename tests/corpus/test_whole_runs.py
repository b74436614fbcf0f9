"""What is shown of whole runs without a question is what it was (tests/whole_runs.py)."""

from __future__ import annotations

import pytest

from whole_runs import QUESTIONS, find_rows, name_differences

OFFLINE = [run for run in QUESTIONS if run.endswith("offline")]


@pytest.mark.parametrize("run", OFFLINE)
def test_views_show_what_they_showed(run: str) -> None:
    assert len(find_rows(run, "views")) > 20
    assert name_differences(run, "views", "estimate") == []
