"""What patterns find in whole runs, and what is exported and drawn of them, is what it was (tests/whole_runs.py)."""

from __future__ import annotations

import pytest

from whole_runs import QUESTIONS, find_rows, name_differences

OFFLINE = [run for run in QUESTIONS if run.endswith("offline")]


@pytest.mark.parametrize("run", OFFLINE)
def test_patterns_find_and_files_hold_what_they_did(run: str) -> None:
    assert len(find_rows(run, "exports")) > 4
    assert name_differences(run, "match", "exports", "scenes") == []
