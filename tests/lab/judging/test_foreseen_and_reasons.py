"""What judging will take, why answers won, and by chance how often lengths and scores would go together as they do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.errors import UnsupportedTask
from sensegraph.lab.judging import length_control
from sensegraph.lab.judging.judge_calls import Foreseen, _foresee_step, judge_pairs
from sensegraph.lab.judging.judgements import Reason, reasons_by_criterion
from sensegraph.lab.judging.length_control import LengthEffect, measure_length_effects, permutation_p
from sensegraph.trials import Trial


class Priced(ClassicalEngine):
    """An engine whose prompts take ten tokens for each letter of the two answers."""

    def calls(self, task: str, item: Any) -> int:
        return 1

    def prompt_tokens(self, task: str, item: Any) -> int:
        return 10 * len("".join(item.answers))

    def price(self, prompt_tokens: int, completion_tokens: int) -> float:
        return prompt_tokens + completion_tokens / 1000


def foresee(engine: Any, missing: list[int], task: str = "judge") -> Foreseen:
    trials = [
        Trial("Q?", "c", "", ("a", "bb")),
        Trial("Q?", "c", "", ("bb", "a")),
        Trial("Q?", "d", "", ("a", "bbbb")),
    ]
    rt: Any = SimpleNamespace(engine=engine, missing=lambda step, asked: missing)
    step: Any = SimpleNamespace(task=task)
    return _foresee_step(step, trials, rt)


def test_what_is_not_stored_takes_a_call_its_prompt_and_about_so_many_tokens_of_a_reply() -> None:
    priced = Priced()
    assert foresee(priced, [0, 1, 2]) == Foreseen(3, 0, 3, 30 + 30 + 50, 390, 110.39)
    assert foresee(priced, [2], "contrast") == Foreseen(3, 2, 1, 50, 500, 50.5)
    assert foresee(priced, []) == Foreseen(3, 3, 0, 0, 0, 0.0)
    assert foresee(ClassicalEngine(), [0]) == Foreseen(3, 2, 0, 0, 0, 0.0)


def test_the_reasons_are_those_of_verdicts_that_there_are_and_that_have_one() -> None:
    def verdict(won: str | None, reason: str, criterion: str = "c", question: int = 0) -> Any:
        return SimpleNamespace(question=question, criterion=criterion, first="A", second="B", won=won, reason=reason)

    given = [
        verdict("A", "it is longer"), verdict("B", "it is shorter", question=1), verdict("", "both are alike"),
        verdict(None, "no verdict"), verdict("A", ""), verdict(None, ""),
    ]  # fmt: skip
    judged: Any = SimpleNamespace(criteria=("c", "d"), verdicts=given)
    assert reasons_by_criterion(judged) == {
        "c": (
            Reason(0, "c", "A", "B", "A", "it is longer"),
            Reason(1, "c", "B", "A", "A", "it is shorter"),
            Reason(0, "c", "", "", "A", "both are alike"),
        ),
        "d": (),
    }


@pytest.mark.parametrize(
    ("products", "low", "high"),
    [
        (np.zeros((0, 0)), 1.0, 1.0),
        (np.ones((1, 1)), 1.0, 1.0),
        (np.zeros((5, 5)), 1.0, 1.0),
        (np.eye(2), 0.4, 0.6),  # one of two orders
        (np.eye(3), 0.1, 0.24),  # one of six
        (-np.eye(3), 0.1, 0.24),  # on either side
        (np.ones((3, 3)), 1.0, 1.0),
    ],
)
def test_p_is_the_share_of_orders_that_go_together_as_well(products: Any, low: float, high: float) -> None:
    assert low <= permutation_p(products) <= high
    assert permutation_p(products) == permutation_p(products)


def test_the_correlation_with_length_is_the_mean_over_the_pairs_whose_lengths_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = {
        ("A", "B"): ((10.0, 20.0, 30.0, 60.0), (1.0, 2.0, 3.0, 4.0)),
        ("A", "C"): ((20.0, 10.0, None, 60.0), (2.0, -1.0, 3.0, 0.0)),
        ("A", "D"): ((60.0, 10.0, 20.0, 30.0), (1.0, 2.0, 3.0, 4.0)),
    }
    monkeypatch.setattr(
        length_control, "scores_and_lengths", lambda judged, criterion, pair: (given[pair][0], np.array(given[pair][1]))
    )
    judged: Any = SimpleNamespace(questions=4, pairs=tuple(given), words=dict.fromkeys("ABC", ()), criteria=("c",))
    effect = measure_length_effects(judged)["c"]
    assert effect.correlation == pytest.approx((1.0 + 0.5) / 2)
    assert (effect.longer_wins, effect.decided) == (2, 6)
    assert effect.p_holm == effect.p
    nobody: Any = SimpleNamespace(questions=4, pairs=tuple(given), words={}, criteria=("c",))
    nothing = measure_length_effects(nobody)["c"]
    assert (nothing.correlation, nothing.longer_wins, nothing.decided, nothing.p, nothing.share) == (
        None,
        0,
        0,
        1.0,
        None,
    )


def test_for_differences_an_engine_must_tell_contrasts_and_that_is_found_out_before_any_work() -> None:
    def check(what: str, tasks: frozenset[str]) -> None:
        if missing := tasks - {"judge"}:
            raise UnsupportedTask(what, "one", missing)

    rt: Any = SimpleNamespace(check=check, each=lambda *_: pytest.fail("nobody is asked"))
    rules: Any = SimpleNamespace(differential=True, criteria=(), replicates=1, scored=False, bands="")
    with pytest.raises(UnsupportedTask, match="Judging what differs needs contrast"):
        judge_pairs({"A": [], "B": []}, [], rules, rt)


@pytest.mark.parametrize(("p", "certain"), [(0.0099, True), (0.01, False), (0.5, False)])
def test_verdicts_follow_length_where_chance_is_below_one_in_a_hundred(p: float, certain: bool) -> None:
    assert LengthEffect(9, 10, 0.5, 0.001, p).is_certain is certain
