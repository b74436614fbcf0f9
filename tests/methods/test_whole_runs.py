"""What methods answer in whole runs is what it was (tests/whole_runs.py)."""

from __future__ import annotations

import pytest

from sensegraph.methods import METHODS
from whole_runs import QUESTIONS, SCOPES, TRIED, find_rows, name_differences


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("run", QUESTIONS)
def test_a_method_answers_what_it_answered(run: str, method: str) -> None:
    assert len(find_rows(run, f"answers {method}")) == len(QUESTIONS[run])
    assert name_differences(run, f"answers {method}") == []


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("run", SCOPES)
def test_a_method_answers_what_it_answered_of_a_part_of_the_corpus(run: str, method: str) -> None:
    assert len(find_rows(run, f"inside {method}")) == len(SCOPES[run])
    assert name_differences(run, f"inside {method}") == []


@pytest.mark.parametrize("method", TRIED)
@pytest.mark.parametrize("run", SCOPES)
def test_each_setting_of_a_method_changes_what_it_changed(run: str, method: str) -> None:
    assert find_rows(run, f"settings {method}")
    assert name_differences(run, f"settings {method}") == []
