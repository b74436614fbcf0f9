"""What engines make of whole corpora, and are asked, is what it was (tests/whole_runs.py)."""

from __future__ import annotations

import pytest

from whole_runs import QUESTIONS, name_differences

MADE = ("entities", "relations", "claims", "clusters")


@pytest.mark.parametrize("run", QUESTIONS)
def test_an_engine_makes_what_it_made(run: str) -> None:
    groups = [*MADE, *(["requests"] if run.endswith("scripted") else [])]
    assert name_differences(run, *groups) == []
