"""What methods find in the bundled documents is what it was (tests/demo_runs.py)."""

from __future__ import annotations

import numpy as np
import pytest

from demo_runs import ARRANGED, DEEP, DEMO_ROWS, QUESTIONS, SCOPES, condense, find_rows
from whole_runs import TRIED


@pytest.mark.parametrize("method", TRIED)
def test_a_method_finds_in_the_bundled_documents_what_it_found(method: str) -> None:
    assert len(find_rows(f"questions {method}")) == len(QUESTIONS) + len(SCOPES)
    assert DEMO_ROWS.name_differences(f"questions {method}") == []


@pytest.mark.parametrize("method", TRIED)
def test_each_setting_of_a_method_changes_what_it_changed_in_the_bundled_documents(method: str) -> None:
    assert len(find_rows(f"settings {method}")) % len(DEEP) == 0
    assert DEMO_ROWS.name_differences(f"settings {method}") == []


@pytest.mark.parametrize("group", DEMO_ROWS.groups_of("narrow", "calls", "told", "foreseen"))
def test_what_is_found_in_little_room_and_what_is_foreseen_and_told_is_what_it_was(group: str) -> None:
    assert find_rows(group)
    assert DEMO_ROWS.name_differences(group) == []


@pytest.mark.parametrize("part", ARRANGED)
def test_a_part_of_the_index_of_the_bundled_documents_is_what_it_was(part: str) -> None:
    assert find_rows(f"part {part}")
    assert DEMO_ROWS.name_differences(f"part {part}") == []


def test_a_part_is_told_by_its_texts_and_its_numbers_in_their_order() -> None:
    told = [condense(value) for value in ([1, 2.5, "a"], [2.5, 1, "a"], [1, 2.5, "b"])]
    assert told[0][2:] == [2, 3.5, 6.75]
    assert told[1][2:] == [2, 3.5, 4.125]
    assert told[0][1] != told[2][1]
    assert condense(np.array([1, 2])) != condense(np.array([2, 1]))
