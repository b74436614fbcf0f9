"""The offline engine finds in small examples what it found: tests/offline_examples.py says how to write them again."""

from __future__ import annotations

from typing import Any

import pytest

import offline_examples

EXAMPLES = offline_examples.read_examples()


def test_every_way_has_examples_that_find_something() -> None:
    found = {e["way"] for e in EXAMPLES if e["found"]}
    assert found == {way.__name__ for way in offline_examples.WAYS}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: "-".join(map(str, [e["way"], *e["given"]]))[:60])
def test_an_example_is_found_as_it_was(example: dict[str, Any]) -> None:
    assert offline_examples.run_example(example) == example["found"]
