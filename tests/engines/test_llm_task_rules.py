"""What a model is asked, and what is read in its replies, is what it was: tests/rule_examples.py writes it again."""

from __future__ import annotations

from typing import Any

import pytest

from rule_examples import read_examples, run_rule

EXAMPLES = [one for examples in read_examples("llm_tasks").values() for one in examples]
assert len(EXAMPLES) > 60


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: f"{e['of']} {e['given'][:1]}"[:60])
def test_a_rule_of_models_finds_in_an_example_what_it_found(example: dict[str, Any]) -> None:
    assert run_rule(example) == example["found"]
