"""Pairs of conditions with their tests, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from sensegraph.evaluation.pairs import LEVEL, Pair
from sensegraph.evaluation.sheets import Cell, Table, chance, number, signed, table

HOW = (
    "z and p: Wilcoxon's signed-rank test, two-sided, exact below 10 differences. p Holm is corrected over all pairs "
    "of this table. The 95 % interval is that of the mean difference over resampled questions. Better is said only "
    f"where p Holm is below {LEVEL} and the interval leaves out 0."
)


def pairs(name: str, listed: Sequence[Pair], digits: int = 2) -> Table:
    """A row a pair of conditions: means, difference with interval, tests, counts."""
    head = [
        name, "better", "mean", "mean", "difference", "95 %", "p Holm", "z", "p", "z/√n", "wins", "even", "losses",
        "p sign", "p normal", "n",
    ]  # fmt: skip
    return table(f"{name}: every pair of conditions", head, [_pair(p, digits) for p in listed])


def _pair(p: Pair, digits: int) -> list[Cell | str]:
    d = p.difference
    return [
        f"{p.first} – {p.second}",
        Cell(p.better or "–", strong=bool(p.better)),
        number(p.means[0], digits),
        number(p.means[1], digits),
        signed(d.mean, digits),
        f"{signed(d.low, digits)} … {signed(d.high, digits)}",
        Cell(chance(p.p_holm), strong=p.p_holm < LEVEL),
        signed(p.z),
        chance(p.p) + (" exact" if p.exact else ""),
        signed(p.effect),
        str(p.wins),
        str(p.ties),
        str(p.losses),
        chance(p.sign_p),
        "–" if p.normal is None else chance(p.normal),
        f"{p.n:,}",
    ]
