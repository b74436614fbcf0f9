"""What follows from verdicts: ties, scores, majorities, and what a judge owes to places and lengths (G32, X6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from published_verdicts import CELLS, PAIRS, published
from sensegraph.lab.judging.bias import assess_bias, replicate_agreement, tally_places
from sensegraph.lab.judging.criteria import Criterion, Rules, choose_rules
from sensegraph.lab.judging.judgements import (
    Judged,
    Judgements,
    label_replicates,
    list_pairs,
    majority_label,
    reasons_by_criterion,
    tally_pair,
    theme_shares,
    winners_by_question,
)

AB = ("a", "b")
ONE = Rules("one", (Criterion("depth", "?"),), replicates=1)
places_told = st.sampled_from([0, 1, 2, None])


def judged(told: list[tuple[int | None, int | None]], question: int = 0, criterion: str = "depth") -> list[Judged]:
    """Replicates of (winner with a first, winner with b first), by place."""
    return [
        Judged(question, criterion, *order, r, winner)
        for r, both in enumerate(told)
        for order, winner in zip((AB, ("b", "a")), both, strict=True)
    ]


def judgements(*questions: list[tuple[int | None, int | None]], **words: tuple[int, ...]) -> Judgements:
    verdicts = [v for q, told in enumerate(questions) for v in judged(told, q)]
    return Judgements(replace(ONE, replicates=len(questions[0])), len(questions), (AB,), tuple(verdicts), words)


# ── tie rules ──


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        ((1, 2), 1), ((2, 1), 2), ((1, 1), 0), ((2, 2), 0), ((0, 0), 0),
        ((1, 0), 0), ((0, 1), 0), ((2, 0), 0), ((0, 2), 0),
        ((None, 1), None), ((1, None), None), ((None, None), None), ((None, 0), None),
    ],
)  # fmt: skip
def test_a_replicate_of_both_orders_has_the_winner_that_both_name_else_it_is_a_tie(told: Any, outcome: Any) -> None:
    assert label_replicates(judged([told]), AB, both_orders=True) == {(0, 0): outcome}


@pytest.mark.parametrize("winner", [0, 1, 2, None])
def test_in_one_order_the_verdict_is_what_it_says(winner: int | None) -> None:
    turned = Judged(0, "depth", "b", "a", 0, winner)
    assert label_replicates([turned], AB, both_orders=False) == {(0, 0): {1: 2, 2: 1}.get(winner or 0, winner)}


def test_a_win_is_100_a_tie_50_a_loss_0_and_a_question_the_mean_of_its_replicates() -> None:  # G32
    found = tally_pair(judgements([(1, 2)] * 5, [(1, 2), (1, 2), (2, 1), (1, 1), (0, 0)], [(2, 1)] * 5), "depth", AB)
    assert found.scores == (100.0, 60.0, 0.0)
    assert found.mean == pytest.approx(160 / 3)


def test_missing_verdicts_are_left_out_and_counted_and_are_no_ties() -> None:
    found = tally_pair(judgements([(1, 2), (None, 2)], [(None, None), (1, None)]), "depth", AB)
    assert (found.scores, found.lost, found.dropped, found.mean) == ((100.0, None), 3, 1, 100.0)
    nothing = tally_pair(judgements([(None, None)]), "depth", AB)
    assert (nothing.mean, nothing.dropped) == (None, 1)


@given(st.lists(st.lists(st.tuples(places_told, places_told), min_size=3, max_size=3), min_size=1, max_size=4))
def test_seen_from_the_other_side_a_score_is_100_less(questions: list[list[Any]]) -> None:
    there = judgements(*questions)
    back = replace(there, pairs=(("b", "a"),))
    one, other = tally_pair(there, "depth", AB), tally_pair(back, "depth", ("b", "a"))
    assert [None if s is None else 100 - s for s in one.scores] == pytest.approx(list(other.scores))
    assert one.lost == other.lost
    assert all(s is None or 0 <= s <= 100 for s in one.scores)


@pytest.mark.parametrize(
    ("row", "label"),
    [
        ([(1, 2)] * 3 + [(2, 1)] * 2, 1),
        ([(1, 2), (1, 2), (2, 1), (0, 0), (0, 0)], 0),  # two wins, one loss, two ties: the paper's example
        ([(2, 1)] * 4 + [(None, None)], 2),
        ([(1, 2), (1, 2), (2, 1), (2, 1), (None, 1)], 0),
        ([(None, 1)] * 5, None),
        ([(1, 1)] * 3 + [(1, 2)] * 2, 0),
    ],
)
def test_a_label_needs_more_than_half_of_five_replicates(row: Any, label: int | None) -> None:  # G50
    (winners,) = winners_by_question(judgements(row), "depth", AB)
    assert majority_label(winners) == label


def test_pairs_are_all_or_those_with_a_baseline() -> None:
    assert list_pairs(["a", "b", "c"]) == (("a", "b"), ("a", "c"), ("b", "c"))
    assert list_pairs(["a", "b", "c"], "b") == (("a", "b"), ("c", "b"))
    assert len(list_pairs("abcdef")) == 15


# ── what a judge owes to places ──


def test_the_report_finds_the_order_effects_of_the_published_verdicts() -> None:
    found = assess_bias(published())
    assert found.whole.verdicts == 1600
    assert (found.whole.orders, found.whole.ties, found.whole.missing) == (800, 0.0, 0)
    assert f"{found.whole.first:.1%}" == "72.6%"
    assert (f"{found.whole.consistent:.1%}", found.whole.same) == ("53.8%", 430)
    worst = found.cells["comprehensiveness", PAIRS[0]]
    assert (worst.first, worst.same, worst.orders) == (0.96, 8, 100)
    assert found.warnings[0] == "The answer shown first wins 72.6% of the 1600 decided verdicts; 50 % is fair."
    assert "in 430 of 800 pairs" in found.remarks[0]
    assert any("ours against earlier by comprehensiveness" in w and "96.0%" in w for w in found.warnings)


def test_both_orders_change_what_one_order_would_have_found() -> None:
    told = published()
    cells = [(c, pair) for pair in PAIRS for c in told.criteria]
    both, naive = ([tally_pair(found, *cell) for cell in cells] for found in (told, told.one_order()))
    assert [t.mean for t in both] == [a + (first + second) / 2 for a, _, first, second in CELLS]
    assert [t.mean for t in naive] == [a + first for a, _, first, _ in CELLS]
    assert (naive[0].mean, both[0].mean) == (96.0, 50.0)  # a landslide that is the order's alone
    turned = [t.criterion for t, n in zip(both, naive, strict=True) if t.mean < 50 < n.mean]  # type: ignore[operator]
    assert turned == [told.criteria[3]]


def test_a_fair_judge_is_not_warned_of() -> None:
    found = assess_bias(judgements(*[[(1, 2), (1, 2)], [(2, 1), (2, 1)], [(0, 0), (0, 0)]]))
    assert (found.whole.first, found.whole.consistent, found.agreement) == (0.5, 1.0, 1.0)
    assert found.whole.ties == pytest.approx(1 / 3)
    assert found.warnings == ()


def test_a_judge_for_the_second_place_is_warned_of_too() -> None:
    found = assess_bias(judgements(*[[(2, 2)]] * 8))
    assert (found.whole.first, found.whole.consistent) == (0.0, 0.0)
    assert "shown second wins 100.0%" in found.warnings[0]


def test_nothing_is_said_where_nothing_can_be() -> None:
    found = assess_bias(judgements([(None, None)]))
    assert (found.whole.first, found.whole.consistent, found.whole.ties, found.agreement) == (None,) * 4
    assert found.whole.missing == 2
    assert (found.warnings, found.remarks) == ((), ())


def test_consistency_cannot_be_told_from_one_order() -> None:
    assert tally_places(published().one_order().verdicts).consistent is None


def test_agreement_is_the_share_of_pairs_of_replicates_that_say_the_same() -> None:
    assert replicate_agreement(judgements([(1, 2), (1, 2), (2, 1), (None, 1)])) == pytest.approx(1 / 3)


def test_the_correlation_with_length_is_spearmans() -> None:
    told = judgements([(1, 2)], [(2, 1)], [(0, 0)], [(1, 2)], a=(9, 2, 5, 5), b=(1, 4, 5, 4))
    expected = spearmanr([8, -2, 0, 1], [100, 0, 50, 100]).statistic
    effect = assess_bias(told).length["depth"]
    assert effect.correlation == pytest.approx(expected)
    assert (effect.longer_wins, effect.decided) == (3, 3)


def test_who_wins_by_every_criterion_and_the_control_is_suspect() -> None:
    how = replace(choose_rules("edge2024"), both_orders=True, replicates=1)
    sure = [v for c in how.criteria for v in judged([(2, 1)], criterion=c.name)]
    found = assess_bias(Judgements(how, 1, (AB,), tuple(sure), {}))
    assert found.suspects == (("b", "a"),)
    assert any(w.startswith("b wins against a by every criterion, directness too") for w in found.remarks)
    other_way = tuple(replace(v, winner=3 - v.winner) for v in sure if v.winner)
    assert assess_bias(Judgements(how, 1, (AB,), other_way, {})).suspects == (AB,)
    fair = [v for v in sure if v.criterion != "directness"] + judged([(1, 2)], criterion="directness")
    assert assess_bias(Judgements(how, 1, (AB,), tuple(fair), {})).suspects == ()


# ── reasons ──


def test_reasons_are_grouped_by_criterion_and_counted_by_what_they_appeal_to() -> None:  # G43
    told = judgements([(1, 0)], [(2, None)])
    texts = ("Answer 1 quotes its sources.", "Neither is clearer.", "Answer 2 gives specific examples.", "")
    told = replace(told, verdicts=tuple(replace(v, reason=t) for v, t in zip(told.verdicts, texts, strict=True)))
    found = reasons_by_criterion(told)["depth"]
    assert [(r.winner, r.loser, r.shown_first) for r in found] == [("a", "b", "a"), ("", "", "b"), ("b", "a", "a")]
    shares = theme_shares(found)
    assert {n: round(shares[n], 2) for n in ("examples", "quotations", "citations", "structure")} == {
        "examples": 0.33,
        "quotations": 0.33,
        "citations": 0.33,
        "structure": 0.0,
    }
    assert theme_shares(()) == {}


def test_winners_are_listed_by_question_and_replicate() -> None:
    assert winners_by_question(judgements([(1, 2), (0, 1)], [(None, 1), (2, 1)]), "depth", AB) == ((1, 0), (None, 2))


def test_of_one_of_several_comparisons_only_more_than_chance_is_warned_of() -> None:
    how = replace(ONE, criteria=(*ONE.criteria, Criterion("width", "?")))
    few = [v for q, told in enumerate([[(1, 1)], [(1, 2)]]) for v in judged(told, q)]
    many = [v for q in range(9) for v in judged([(1, 1)], q, "width")]
    found = assess_bias(Judgements(how, 9, (AB,), (*few, *many), {}))
    for told in (found.warnings, found.remarks):
        assert [w.split(":")[0] for w in told[1:]] == ["a against b by width"]
        assert told[0].startswith("The ")
