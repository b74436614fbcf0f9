"""Rules of offline answers find what they found: tests/rule_examples.py says how to write it again."""

from __future__ import annotations

from typing import Any

import pytest

from rule_examples import read_examples, run_rule

EXAMPLES = [one for examples in read_examples("offline_answers").values() for one in examples]
assert len(EXAMPLES) > 99


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: f"{e['of']} {e['given'][:1]}"[:60])
def test_a_rule_of_answers_finds_in_an_example_what_it_found(example: dict[str, Any]) -> None:
    assert run_rule(example) == example["found"]
