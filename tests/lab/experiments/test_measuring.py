"""Claims of the answers of an evaluation: each figure belongs to its own question, and a failed answer has none."""

from __future__ import annotations

from sensegraph.lab.experiments.conditions import Asked, Reply
from sensegraph.lab.experiments.experiment import measure_claims
from sensegraph.lab.grounding.claims import ClaimSettings
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Answer
from wired import runtime


def test_an_answer_that_failed_has_no_claims_and_shifts_no_others(store: SqliteStore) -> None:
    asked = tuple(Asked(f"q{i}", f"Question {i}?") for i in range(3))
    two = Reply(Answer("The old mill stands by the river. The harbour was dredged in 1911."))
    one = Reply(Answer("The lighthouse needs a new lamp."))
    answers = {"A": [two, Reply(Answer(""), "no"), one], "B": [one, one, two]}
    found = measure_claims(answers, asked, ClaimSettings("rules"), runtime(store))
    assert len(found) == 5
    for measure in found:  # the rules find no claim in what says what is needed
        assert measure.values == {"A": [1.0, None, 0.0], "B": [0.0, 0.0, 1.0]}
