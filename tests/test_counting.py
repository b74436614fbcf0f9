"""Lines are counted once, in tests that are counted, and in no others: counting takes as long as running."""

from __future__ import annotations

import sys

import pytest
from coverage import Coverage


def test_the_lines_of_a_counted_test_are_counted_where_that_is_asked_for(request: pytest.FixtureRequest) -> None:
    asked = request.config.getoption("cov_source", None) and not request.config.getoption("no_cov", False)
    assert (Coverage.current() is not None) == bool(asked)


@pytest.mark.uncounted
def test_no_lines_are_traced_in_a_test_that_is_not_counted(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--cov-context", None):
        pytest.skip("with --cov-context the lines of every test are counted")
    assert Coverage.current() is None
    assert sys.gettrace() is None
