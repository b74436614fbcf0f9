"""Rules of measuring, given figures as they stand in a line of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sensegraph.lab.experiments import comparison_tables, rehearsal
from sensegraph.lab.experiments.sheets import Table
from sensegraph.lab.finetuning.data.chances import compare_positions
from sensegraph.lab.judging import length_control
from sensegraph.lab.judging.length_control import ControlledRate
from sensegraph.lab.scores import statistics
from sensegraph.lab.scores.statistics import Interval, Pair
from sensegraph.trials import Trial
from sensegraph.types import Answer, Context, Inquiry, Passage


def stand_in(task: str, question: str, passages: Sequence[str]) -> Any:
    """What stands in for the reply to a task about passages with these ids."""
    context = Context(tuple(Passage("chunk", name, f"text of {name}") for name in passages))
    return rehearsal._REPLIES[task](Inquiry(question, context, 9))


def stand_in_contrast(first: str, second: str) -> Any:
    """What stands in for the contrast of two answers."""
    return rehearsal._REPLIES["contrast"](Trial("Q?", "c", "", (first, second)))


def stand_in_answer(seed: str, read: int, most: int) -> Any:
    """An answer about so many passages: its text, and its marks."""
    made = rehearsal.make_stand_in_answer(seed, read, most)
    return [made.text.splitlines(), [[c.marker, c.quote] for c in made.citations]]


def imitated(known: Sequence[str], count: int) -> list[str]:
    """Texts of answers like those that are known."""
    return [a.text for a in rehearsal.imitate_answers([Answer(text) for text in known], count)]


def positions(orders: dict[str, int]) -> Any:
    """Orders of passages, `o` for an oracle and `.` for another, with how many examples have each."""
    return compare_positions({tuple(c == "o" for c in order): times for order, times in orders.items()})


def _pair(given: Sequence[Any]) -> Pair:
    """Names, mean of the first, ends of the difference, corrected p, questions."""
    first, second, mean, low, high, p, n = given
    difference = Interval((low + high) / 2, low, high)
    return Pair(first, second, (mean, 100.0 - mean), difference, n, 0, 0, 0, 0, 0.0, p, True, 0.0, None, 1.0, p)


def _rate(given: Sequence[Any]) -> ControlledRate:
    """Names, questions, longer and shorter ones, the rate with its ends or none, corrected p; by length, by place; the
    rate where the one that is ahead is not the longer one.
    """
    first, second, n, longer, shorter, ends, p, follows, held, *more = given
    unaided = Interval(*(more[0] if more else (60.0, 51.0, 70.0)))
    rate = Interval(*ends) if ends else None
    return ControlledRate("c", (first, second), n, longer, shorter, rate, p, unaided, follows, held, p)


def lack_of_power(*pairs: Sequence[Any]) -> str:
    """Why no pair can differ."""
    return comparison_tables.explain_lack_of_power([_pair(p) for p in pairs])


def wins(pairs: Sequence[Sequence[Any]], rates: Sequence[Sequence[Any]]) -> str:
    """What is better at equal length."""
    return comparison_tables.describe_wins("empowerment", [_pair(p) for p in pairs], [_rate(r) for r in rates])


def controlled_table(names: Sequence[str], *rates: Sequence[Any]) -> Table:
    """The table of win rates at equal length."""
    return comparison_tables.tabulate_controlled_rates("empowerment", [_rate(r) for r in rates], names)


def win_table(names: Sequence[str], *pairs: Sequence[Any]) -> Table:
    """The table of plain win rates."""
    return comparison_tables.tabulate_win_rates("empowerment", [_pair(p) for p in pairs], names)


def pair_table(digits: int, rates: bool, higher: str, measures: dict[str, Sequence[Sequence[Any]]]) -> Table:
    """The table of pairs by measure."""
    listed = {name: [_pair(p) for p in pairs] for name, pairs in measures.items()}
    return comparison_tables.tabulate_pairs("Pairs", listed, digits, rates=rates, higher=higher)


def controlled_rate(won: Sequence[float], apart: Sequence[float]) -> Any:
    """The rate at equal length with its interval, its p, and the lengths as they are scaled."""
    lengths = np.array(apart, np.float64)
    interval, p = length_control.fit_controlled_rate(np.array(won, np.float64), lengths)
    return np.round([interval.mean, interval.low, interval.high, p, *length_control.scale_lengths(lengths)], 6)


def slopes(won: Sequence[float], apart: Sequence[float]) -> Any:
    """The slope that fits best at some levels."""
    covariate = length_control.scale_lengths(np.array(apart, np.float64))
    levels = np.array([-6.0, -1.0, 0.0, 0.5, 3.0])
    return np.round(length_control.fit_slopes(levels, np.array(won, np.float64), covariate), 6)


def shares_of_matchings(products: Sequence[Sequence[float]], draws: int, seed: int) -> float:
    """The p of a permutation test."""
    return length_control.permutation_p(np.array(products, np.float64), draws, seed)


def pairs_of(values: dict[str, Sequence[float | None]], draws: int = 40) -> Any:
    """Every two conditions by their values, plainly and as scores that a judge gave; which is better, and how sure."""
    plain = statistics.compare_all_pairs(values, draws=draws, seed=1)
    judged = statistics.compare_judged_pairs({(name, "B"): own for name, own in values.items()})
    told = [(p.better, p.worse) for p in (*plain, *judged)]
    return [plain, judged, told, statistics.least_p_values(plain), statistics.count_compared(judged)]


def intervals_of(values: Sequence[float | None], share: bool = False) -> Any:
    """The mean with its interval, resampled and as a share, and how normal the values are."""
    known = np.array([v for v in values if v is not None], np.float64)
    mean = statistics.mean_interval(values, 3000, 2, share=share)
    return [mean, statistics.shapiro_wilk(known), statistics.midranks(known) if len(known) else None]
