"""Figures at their edges: pairs without a common value, texts without a word, answers that failed."""

from __future__ import annotations

import numpy as np
import pytest

from sensegraph.lab.experiments.conditions import Asked, Condition, Plan, Reply
from sensegraph.lab.experiments.experiment import (
    Measure,
    describe_equal_conditions,
    measure_against_references,
    measure_lengths,
)
from sensegraph.lab.scores.standard import rouge_distances
from sensegraph.lab.scores.statistics import Interval, compare_all_pairs
from sensegraph.lab.scores.tokenmatch import Match, harmonic_mean, match_tokens
from sensegraph.types import Answer


def test_conditions_without_a_common_value_are_compared_by_nothing() -> None:
    (pair,) = compare_all_pairs({"a": [1.0, None, None], "b": [None, 2.0, None]}, draws=10)
    assert (pair.first, pair.second, pair.n, pair.missing) == ("a", "b", 0, 3)
    assert (pair.means, pair.difference) == ((0.0, 0.0), Interval(0.0, 0.0, 0.0))
    assert (pair.wins, pair.ties, pair.losses, pair.z, pair.effect) == (0, 0, 0, 0.0, 0.0)
    assert (pair.p, pair.p_holm, pair.sign_p, pair.normal, pair.better) == (1.0, 1.0, 1.0, None, "")


def test_a_pair_is_of_the_questions_that_both_have_a_value_for() -> None:
    (pair,) = compare_all_pairs({"a": [3.0, 1.0, None, 5.0], "b": [1.0, 1.0, 9.0, 6.0]}, draws=10)
    assert (pair.n, pair.missing, pair.wins, pair.ties, pair.losses) == (3, 1, 1, 1, 1)
    assert pair.means == pytest.approx((3.0, 8 / 3))
    assert pair.effect == pytest.approx(pair.z / np.sqrt(3))


def test_texts_are_as_far_apart_as_their_longest_common_words() -> None:
    """1 − 2·common / (n + m): "a b c" and "a c" share two of five; two without a word are as far as can be."""
    found = rouge_distances(["a b c", "a c", "", "?"])
    apart = [[0.0, 0.2, 1.0, 1.0], [0.2, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 1.0], [1.0, 1.0, 1.0, 0.0]]
    assert found.tolist() == [pytest.approx(row) for row in apart]
    assert rouge_distances([]).shape == (0, 0)


def test_means_are_harmonic_and_nothing_matches_nothing() -> None:
    assert harmonic_mean(0.5, 1.0) == pytest.approx(2 / 3)
    assert harmonic_mean(0.0, 0.5) == harmonic_mean(0.0, 0.0) == 0.0
    empty, one = np.zeros((0, 2)), np.array([[1.0, 0.0]])
    assert match_tokens(empty, one) == match_tokens(one, empty) == Match(empty=True)


# ── measures ──


def test_a_measure_has_means_of_the_values_that_there_are() -> None:
    made = Measure("g", "m", "by", {"a": [1.0, None, 4.0], "b": [None, None, None]})
    assert (made.mean("a"), made.undefined("a"), made.mean("b"), made.undefined("b")) == (2.5, 1, None, 3)
    lost = Reply(Answer("It was so."), failure="gone")
    assert measure_lengths({"a": [Reply(Answer("It was so.")), lost]}).values == {"a": [3.0, None]}


def test_answers_are_measured_against_references_where_there_are_any() -> None:
    known = [("1", ("Ada Finch",)), ("2", ()), ("3", ("Bo",))]
    questions = [Asked(name, "Who?", references=given) for name, given in known]
    replies = [Reply(Answer("Ada Finch")), Reply(Answer("So.")), Reply(Answer("Bo"), failure="gone")]
    found = {m.name: m for m in measure_against_references({"a": replies}, questions)}
    assert list(found) == ["containment", "token-recall", "exact-match", "token-f1", "rouge-1", "rouge-l"]
    for measure in found.values():
        assert list(measure.values["a"]) == [pytest.approx(1.0), None, None]
        assert (measure.group, measure.digits) == ("Reference answers", 3)


def plan(**given: int) -> Plan:
    return Plan("notes", "asked.txt", {"a": {"method": "naive"}}, **given)  # type: ignore[arg-type]


def conditions(**sizes: int | None) -> list[Condition]:
    return [
        Condition(n, "naive", {} if s is None else {"context_tokens": s}, lambda question: Answer(question), n)
        for n, s in sizes.items()
    ]


ONE = "One engine, one answer prompt and one wanted length for all; answers are "


@pytest.mark.parametrize(
    ("sizes", "context"),
    [
        ({"a": 8000, "b": 8000}, "Context: 8,000 tokens for every condition."),
        ({"a": 8000}, "Context: 8,000 tokens for every condition."),
        (
            {"a": 8000, "b": 12000},
            "The contexts are NOT equal, in tokens: a 8,000, b 12,000. A difference may be one of context.",
        ),
        (
            {"a": None, "b": None},
            "The contexts are NOT equal, in tokens: a without such a bound, b without such a bound. A difference may "
            "be one of context.",
        ),
        (
            {"a": 8000, "b": None},
            "The contexts are NOT equal, in tokens: a 8,000, b without such a bound. A difference may be one of "
            "context.",
        ),
    ],
)
def test_what_is_equal_for_all_conditions_is_said(sizes: dict[str, int | None], context: str) -> None:
    assert describe_equal_conditions(plan(), conditions(**sizes)) == [context, f"{ONE}not cut."]
    bound = describe_equal_conditions(plan(answer_words=1200), conditions(**sizes))
    assert bound[1] == f"{ONE}cut to 1,200 words, in whole sentences."
