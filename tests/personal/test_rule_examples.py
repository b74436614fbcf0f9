"""Rules of personal data find what they found (tests/rule_examples.py)."""

from __future__ import annotations

import pytest

from rule_examples import read_examples, run_rule

EXAMPLES = read_examples("personal")


@pytest.mark.parametrize("rule", EXAMPLES)
def test_a_rule_finds_in_each_example_what_it_found(rule: str) -> None:
    assert EXAMPLES[rule]
    for example in EXAMPLES[rule]:
        assert run_rule(example) == example["found"], example["given"]
