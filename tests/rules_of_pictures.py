"""Pictures of the lab, line by line, from the figures that they show."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from sensegraph.graphs.drawing.rendering import render_svg
from sensegraph.lab.experiments import charts
from sensegraph.lab.finetuning import pictures
from sensegraph.lab.finetuning.pictures import Place, Series
from sensegraph.lab.scores.statistics import Interval


def _interval(ends: Sequence[float] | None) -> Interval | None:
    return Interval(*ends) if ends else None


def means(group: str, given: dict[str, dict[str, list[float] | None]], digits: int = 2) -> list[str]:
    """Means with intervals (mean, low, high), by measure and condition."""
    drawn = {measure: {name: _interval(ends) for name, ends in own.items()} for measure, own in given.items()}
    return charts.draw_means(group, drawn, digits).splitlines()


def win_matrix(criterion: str, names: Sequence[str], rates: Sequence[list[Any]]) -> list[str]:
    """Win rates: two conditions, how many questions, and the rate with its interval, or none."""
    made: Any = [SimpleNamespace(pair=(a, b), n=n, rate=_interval(ends)) for a, b, n, ends in rates]
    return charts.draw_win_matrix(criterion, names, made).splitlines()


def rates(criterion: str, given: Sequence[list[Any]]) -> list[str]:
    """Of each pair the plain rate of so many questions, and the one at equal length, or none."""
    pairs: Any = [SimpleNamespace(first=a, second=b, n=n, rate=_interval(plain)) for a, b, n, plain, _ in given]
    held: Any = [SimpleNamespace(rate=_interval(ends)) for *_, ends in given]
    return charts.draw_rates(criterion, pairs, held).splitlines()


def length_effect(criterion: str, points: Sequence[tuple[float, float]]) -> list[str]:
    """Points: words longer, and the score of the longer answer."""
    with patch.object(charts, "_list_longer_scores", lambda criterion, given: [tuple(p) for p in points]):
        return charts.draw_length_effect(criterion, None).splitlines()  # type: ignore[arg-type]


def losses(title: str, series: dict[str, Sequence[tuple[float, float]]]) -> list[str]:
    """Lines by name."""
    drawn = [Series(name, tuple((float(x), float(y)) for x, y in points)) for name, points in series.items()]
    return render_svg(pictures.draw_losses(title, drawn)).splitlines()


def answer_map(title: str, points: Sequence[list[Any]]) -> list[str]:
    """Points: across, up, the arm, the group."""
    where = np.array([row[:2] for row in points], np.float64)
    places = [Place(arm, group, f"{arm} {group} {n}") for n, (_, _, arm, group) in enumerate(points)]
    return render_svg(pictures.draw_answer_map(title, where, places)).splitlines()


def collected_losses(points: Sequence[list[Any]]) -> list[Any]:
    """Steps with their training loss and, at times, the held-out loss."""
    made: Any = [SimpleNamespace(step=step, loss=loss, held_out=held) for step, loss, held in points]
    return [[s.name, s.points] for s in pictures.collect_losses(made)]
