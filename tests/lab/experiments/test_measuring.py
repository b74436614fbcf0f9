"""Claims of the answers of an evaluation: each figure belongs to its own question, and a failed answer has none."""

from __future__ import annotations

from dataclasses import replace

from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.lab.experiments.conditions import Asked, Reply
from sensegraph.lab.experiments.experiment import measure_against_references, measure_claims, measure_support
from sensegraph.lab.grounding.claims import ClaimSettings
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Answer, Citation, Document
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


def test_an_abstention_that_cites_what_comes_nearest_is_undefined_in_grounding_and_counted(store: SqliteStore) -> None:
    towns = Document("towns", "Bergen is not dry.")
    cited = (Citation(1, "towns", 0, 18, towns.text),)
    none = Reply(Answer(f"The sources do not answer this.\n\nWhat comes nearest: {towns.text} [1]", cited))
    good, silent = Reply(Answer(f"{towns.text} [1]", cited)), Reply(Answer("Not known to me.", abstained=True))
    found = measure_support(
        {"A": [good, none, silent]}, {"towns": towns}.get, replace(runtime(store), engine=ClassicalEngine())
    )
    assert [m.name for m in found] == ["citation recall", "citation precision", "supported statements"]
    assert all(m.values == {"A": [1.0, None, None]} for m in found)
    assert [r.refused for r in (good, none, silent)] == [False, True, True]


def test_parts_of_one_answer_are_all_wanted_and_alternatives_are_not() -> None:
    both = Asked("q1", "Who wrote and who keeps it?", parts=(("Ada Holt", "Ada"), ("Bo Krol",)))
    either = Asked("q2", "Who wrote it?", references=("Ada Holt", "Bo Krol"))
    half, whole = Reply(Answer("Ada wrote it.")), Reply(Answer("Ada wrote it, and Bo Krol keeps it."))
    said = {"half": [half, Reply(Answer("Bo Krol"))], "whole": [whole, Reply(Answer("Ada Holt."))]}
    found = {m.name: m.values for m in measure_against_references(said, (both, either))}
    assert found["containment"] == {"half": [0.5, 1.0], "whole": [1.0, 1.0]}
    assert found["token-recall"] == {"half": [0.5, 1.0], "whole": [1.0, 1.0]}
    assert found["exact-match"] == {"half": [0.0, 1.0], "whole": [0.0, 1.0]}
    assert found["token-f1"]["half"][0] == 2 * 1 / (3 + 4)  # against both parts as one text
