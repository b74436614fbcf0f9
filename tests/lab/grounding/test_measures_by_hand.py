"""Measures of answers and their contexts, over engines that say what they are told to, so that each figure is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.lab.grounding import answer_grounding
from sensegraph.lab.grounding.answer_grounding import (
    Grounded,
    GroundingSettings,
    _Answers,
    average_precision,
    measure_grounding,
)
from sensegraph.trials import Support, Verdict

LAMP = Grounded("Who?", "Ada keeps the lamp. [1]", ("Ada keeps the lamp. It is red.", "Bo left. The sea was calm."))
JUDGED = Grounded("Why?", "So.", ("A text.",), found=("x", "a", "b"), gold=("a", "b", "a"))
EMPTY = Grounded("When?", "Then.", (), gold=("c",))


def answers(*given: Grounded, tasks: Sequence[str] = (), each: Callable[..., Any] | None = None, by: Any = None) -> Any:
    """Answers that are measured by an engine of these tasks."""
    rt: Any = SimpleNamespace(
        engine=SimpleNamespace(tasks=frozenset(tasks)), each=each or (lambda *_: pytest.fail("asked"))
    )
    return _Answers(given, None, rt, by)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("useful", "precision"),
    [([], 0.0), ([False, False], 0.0), ([True], 1.0), ([False, True], 0.5), ([True, False, True], (1 + 2 / 3) / 2)],
)
def test_average_precision_is_the_mean_at_the_places_of_what_is_useful(useful: list[bool], precision: float) -> None:
    assert average_precision(useful) == pytest.approx(precision)


def test_a_ranking_is_judged_by_its_ids_where_these_are_known_and_else_by_the_engine() -> None:
    asked = list[Any]()

    def useful(step: Any, inquiries: Sequence[Any]) -> list[bool]:
        asked.extend((i.question, i.context.passages[0].text) for i in inquiries)
        return ["lamp" in i.context.passages[0].text for i in inquiries]

    found = answers(LAMP, JUDGED, EMPTY, tasks=["test"], each=useful).precision_at_k()
    assert found == [1.0, pytest.approx((1 / 2 + 2 / 3) / 2), 0.0]
    assert asked == [("Who?", text) for text in LAMP.context]  # of judged ones nobody is asked
    assert answers(LAMP, JUDGED, each=lambda step, given: [1 / 0 for _ in given]).precision_at_k() == [
        None,
        pytest.approx((1 / 2 + 2 / 3) / 2),
    ]


def test_the_share_of_gold_documents_that_were_found_counts_each_once() -> None:
    assert answers(LAMP, JUDGED, EMPTY).document_recall() == [None, 1.0, 0.0]


def test_sentences_of_the_context_that_help_are_a_share_of_them_and_none_of_an_empty_one() -> None:
    def useful(step: Any, inquiries: Sequence[Any]) -> list[bool]:
        return ["lamp" in i.context.passages[0].text for i in inquiries]

    assert answers(LAMP, EMPTY, tasks=["test"], each=useful).relevant_share() == [0.25, 0.0]
    assert answers(LAMP, EMPTY).relevant_share() == [None, None]


def test_two_ratings_of_a_context_are_halved_and_their_mean_taken() -> None:
    def rate(step: Any, trials: Sequence[Any]) -> list[Verdict]:
        told = {"Who?": [(2.0,), (1.0,)], "Why?": [(), (1.0,)], "What?": [(), ()]}
        return [Verdict(scores=told[t.question][t.replicate]) for t in trials]

    unrated = Grounded("What?", "So.", ("A text.",))
    blank = Grounded("When?", "Then.", (" \n",))
    found = answers(LAMP, JUDGED, unrated, EMPTY, blank, tasks=["score"], each=rate).relevance_rating()
    assert found == [0.75, 0.5, None, 0.0, 0.0]
    assert answers(LAMP).relevance_rating() == [None]


def test_a_context_is_used_where_the_answer_quotes_it_or_has_half_of_its_words() -> None:
    quoting = Grounded(
        "Who?", "It is so. [1]", ("Bo left the pier. It was cold. They sang.",), (("1", "Bo left  the pier."),)
    )  # type: ignore[arg-type]
    assert answers(LAMP, quoting, EMPTY).used_share() == [0.25, pytest.approx(1 / 3), 0.0]


def test_statements_that_the_context_bears_are_a_share_of_those_of_each_answer() -> None:
    by: Any = SimpleNamespace(supported=lambda checks: [Support("Ada" in c.statement) for c in checks])
    found = answers(LAMP, JUDGED, EMPTY, by=by).shares([["Ada rows.", "Bo rows."], [], ["Ada sits."]])
    assert found == [0.5, None, 1.0]


@pytest.mark.parametrize(("metrics", "counted"), [(("document_recall",), (0, 0)), (("citation_recall",), (2, 3))])
def test_citations_are_looked_into_only_where_a_measure_of_them_is_wanted(
    metrics: Any, counted: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    scored: Any = SimpleNamespace(dangling=("[8]", "[9]"), more=3, recall=0.5, precision=0.25)
    monkeypatch.setattr(answer_grounding, "choose_supporter", lambda rt, by: SimpleNamespace(name="words"))
    monkeypatch.setattr(answer_grounding, "find_claims", lambda *_: [SimpleNamespace(by="rules")])
    monkeypatch.setattr(answer_grounding, "score_citations", lambda said, *_: [scored] * len(said))
    (found,) = measure_grounding([JUDGED], GroundingSettings(metrics), None)  # type: ignore[arg-type]
    assert (found.dangling, found.unresolved) == counted
    assert list(found.values) == list(metrics)
