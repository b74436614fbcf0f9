"""Pairs of conditions with their tests, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from sensegraph.lab.experiments.sheets import (
    Cell,
    Table,
    format_count,
    format_number,
    format_p_value,
    format_signed,
    make_table,
)
from sensegraph.lab.scores.pairs import LEVEL, Pair, count_compared, least_p_values

HOW = (
    "Tables of every pair of conditions: z and p are those of Wilcoxon's signed-rank test, two-sided, exact below 10 "
    "differences; questions without a difference take no part in them. p Holm is corrected over all pairs of one "
    "table. The 95 % interval is that of the mean difference, or of the win rate, over resampled questions. "
    f"Better is said only where p Holm is below {LEVEL} and the interval leaves out 0 (a rate of 50). n counts the "
    "questions that both conditions have a value for, and z/√n, the effect, is over these, −1 to 1; wins, even and "
    "losses add up to them. p sign is the sign test on wins and losses, p normal that of Shapiro and Wilk's test on "
    "the differences."
)


def explain_lack_of_power(listed: Sequence[Pair]) -> str:
    """Why none of these pairs can differ by more than chance, whatever was measured; "" where one can."""
    questions, (bound, corrected) = count_compared(listed), least_p_values(listed)
    if not questions:
        return "no question has a value under two conditions"
    if corrected < LEVEL:
        return ""
    more = f", nor p Holm over {len(listed)} pairs below {format_p_value(corrected)}" if len(listed) > 1 else ""
    return f"with {format_count(questions, 'question')} p cannot be below {format_p_value(bound)}{more}"


def tabulate_pairs(name: str, listed: Sequence[Pair], digits: int = 2, *, rates: bool = False) -> Table:
    """A row a pair of conditions: means, difference with interval, tests, counts; `rates` are win rates of a judge."""
    what = ["win rate, first", "95 %", "second"] if rates else ["first", "second", "difference", "95 %"]
    head = [
        "pair", "better", *what, "p Holm", "z", "p", "z/√n", "wins", "even", "losses", "p sign", "p normal", "n",
    ]  # fmt: skip
    return make_table(f"{name}: every pair of conditions", head, [_make_pair_row(p, digits, rates) for p in listed])


def _make_pair_row(p: Pair, digits: int, rates: bool) -> list[Cell | str]:
    interval = p.rate if rates else p.difference
    if not rates:
        between = f"{format_signed(interval.low, digits)} … {format_signed(interval.high, digits)}"
        first, second = (format_number(mean, digits) for mean in p.means)
        figures = [first, second, format_signed(interval.mean, digits), between]
    elif p.n:
        between = f"{format_number(interval.low, digits)} … {format_number(interval.high, digits)}"
        figures = [format_number(interval.mean, digits), between, format_number(100 - interval.mean, digits)]
    else:
        figures = ["–", "–", "–"]
    return [
        f"{p.first} – {p.second}",
        Cell(p.better or "–", strong=bool(p.better)),
        *figures,
        Cell(format_p_value(p.p_holm), strong=p.p_holm < LEVEL),
        format_signed(p.z),
        format_p_value(p.p) + (" exact" if p.exact else ""),
        format_signed(p.effect),
        str(p.wins),
        str(p.ties),
        str(p.losses),
        format_p_value(p.sign_p),
        "–" if p.normal is None else format_p_value(p.normal),
        f"{p.n:,}",
    ]
