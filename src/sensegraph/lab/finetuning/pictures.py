"""Pictures: losses over a training, a line a series on a scale that begins at 0, and answers as points of a plane.

Of answers there is a panel an arm, on the same axes, coloured by type or by topic of the question. The axes are the
first two principal components of the answers' vectors; the paper names neither its embedder nor its projection
(Figures 7 and 8, R25).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from math import floor, log10
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.reduction import reduce_dimensions
from sensegraph.errors import InputError
from sensegraph.graphs.drawing.rendering import render_png, render_svg
from sensegraph.graphs.drawing.shapes import HUES, MARGIN, Disc, Scene, Shape, Stroke, Text, name_paint
from sensegraph.index.vectors import embed_all
from sensegraph.lab.finetuning.factorial.design_effects import ARMS, DesignQuestion, Reply
from sensegraph.runtime.runtime import Runtime

if TYPE_CHECKING:
    from sensegraph.lab.finetuning.training.training_run import Point


_WIDE, _HIGH = 720.0, 320.0  # of the field
_LEFT, _TOP = 72.0, 84.0
_TICKS = 5
_SMOOTHED = 50  # points that the line of the training loss has at most


@dataclass(frozen=True, slots=True)
class Series:
    """A named line of (x, y), x ascending, neither below 0."""

    name: str
    points: tuple[tuple[float, float], ...]


def collect_losses(points: Sequence[Point]) -> tuple[Series, ...]:
    """The training loss as means over stretches of steps, and the held-out loss where it was taken."""
    size = max(1, -(-len(points) // _SMOOTHED))
    parts = [points[i : i + size] for i in range(0, len(points), size)]
    trained = tuple((float(p[-1].step), sum(q.loss for q in p) / len(p)) for p in parts)
    watched = tuple((float(p.step), p.held_out) for p in points if p.held_out is not None)
    name = f"training, mean of {size} steps" if size > 1 else "training"
    return tuple(s for s in (Series(name, trained), Series("held out", watched)) if s.points)


def draw_losses(title: str, series: Sequence[Series], across: str = "step", up: str = "loss, nats a token") -> Scene:
    """The series as a picture, on common scales from 0. Raises InputError where there is nothing to draw."""
    found = [point for s in series for point in s.points]
    if not found:
        raise InputError("There is no loss to draw yet: train at least one step.")
    wide, high = _round_up(max(x for x, _ in found)), _round_up(max(y for _, y in found))
    shapes: list[Shape] = [Text(MARGIN, MARGIN + 8, title, 16.0, bold=True)]
    for n in range(_TICKS + 1):
        y = _TOP + _HIGH * (1 - n / _TICKS)
        shapes.append(Stroke(complex(_LEFT, y), complex(_LEFT + _WIDE, y), "faint", 1.0))
        shapes.append(Text(_LEFT - 8, y, f"{high * n / _TICKS:.3g}", 11.0, "soft", "end"))
        x = _LEFT + _WIDE * n / _TICKS
        shapes.append(Text(x, _TOP + _HIGH + 16, f"{wide * n / _TICKS:.6g}", 11.0, "soft", "middle"))
    shapes.append(Text(_LEFT + _WIDE / 2, _TOP + _HIGH + 38, across, 12.0, "soft", "middle"))
    shapes.append(Text(MARGIN, _TOP - 18, up, 12.0, "soft"))
    for place, line in enumerate(series):
        hue, left = name_paint(place), _LEFT + 190.0 * (place + 1)
        at = [complex(_LEFT + _WIDE * x / wide, _TOP + _HIGH * (1 - y / high)) for x, y in line.points]
        shapes += [Stroke(one, other, hue, 2.0) for one, other in pairwise(at)]
        for (x, y), where in zip(line.points, at, strict=True):
            shapes.append(Disc(where.real, where.imag, 2.5, hue, title=f"{line.name}, {x:g}: {y:.4g}"))
        shapes += [Disc(left, _TOP - 18, 5.0, hue), Text(left + 12, _TOP - 18, line.name, 12.0)]
    return Scene(_LEFT + _WIDE + 2 * MARGIN, _TOP + _HIGH + 2 * MARGIN + 24, title, tuple(shapes))


def write_pictures(scene: Scene, folder: Path, name: str) -> list[Path]:
    """Write the picture into `folder` as SVG, and as PNG where Pillow is there."""
    made = [folder / f"{name}.svg"]
    made[0].write_text(render_svg(scene), encoding="utf-8")
    if find_spec("PIL"):
        made.append(folder / f"{name}.png")
        made[1].write_bytes(render_png(scene))
    return made


def _round_up(value: float) -> float:
    """The least round number that is no less than `value`: 1, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** floor(log10(value))
    return next(m * power for m in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if m * power >= value * (1 - 1e-12))


_SIDE, _GAP, _TOP_OF_PANEL = 300.0, 28.0, 92.0
_LETTER = 7.5


@dataclass(frozen=True, slots=True)
class Place:
    """A point: of which arm, of which group, and what it shows when it is pointed at."""

    arm: str
    group: str
    title: str


def project_answers(vectors: NDArray[np.float32]) -> tuple[NDArray[np.float64], float]:
    """The first two principal components of `vectors`, shape (n, d) → (n, 2), and their share of the variance.

    Raises InputError for fewer than two vectors.
    """
    if len(vectors) < 2:
        raise InputError("A picture of answers needs two of them at least.")
    found = reduce_dimensions(np.asarray(vectors), 2)
    flat = np.zeros((len(vectors), 2))
    flat[:, : found.shape[1]] = found
    whole = float(np.asarray(vectors, np.float64).var(axis=0).sum())
    return flat, float(flat.var(axis=0).sum()) / whole if whole else 0.0


def draw_answer_map(title: str, points: NDArray[np.float64], places: Sequence[Place]) -> Scene:
    """The points, shape (n, 2), in panels by arm, coloured by group; the largest groups get the colours."""
    arms = list(dict.fromkeys(p.arm for p in places))
    counts = {g: sum(p.group == g for p in places) for g in dict.fromkeys(p.group for p in places)}
    groups = sorted(counts, key=lambda g: (-counts[g], g))
    hues = {g: name_paint(n) for n, g in enumerate(groups)}
    shapes: list[Shape] = [Text(MARGIN, MARGIN + 8, title, 16.0, bold=True)]
    at = MARGIN
    for group in groups[: len(HUES)]:
        name = group or "(none)"
        shapes += [Disc(at + 5, MARGIN + 34, 5.0, hues[group]), Text(at + 16, MARGIN + 34, name, 12.0)]
        at += 36 + _LETTER * len(name)
    if len(groups) > len(HUES):
        shapes.append(Text(at, MARGIN + 34, f"grey: {len(groups) - len(HUES)} more", 12.0, "soft"))
    # the points are moved and scaled into a unit square, the same both ways
    low, span = points.min(axis=0), float((points.max(axis=0) - points.min(axis=0)).max())
    unit = (points - low) / span if span else np.full_like(points, 0.5)
    for number, arm in enumerate(arms):
        left, room = MARGIN + number * (_SIDE + _GAP), _SIDE - 24
        shapes.append(Text(left, _TOP_OF_PANEL - 12, arm, 13.0, bold=True))
        corners = [
            complex(left + x * _SIDE, _TOP_OF_PANEL + y * _SIDE) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1), (0, 0))
        ]
        shapes += [Stroke(one, other, "faint", 1.0) for one, other in pairwise(corners)]
        for (x, y), place in zip(unit, places, strict=True):
            if place.arm == arm:
                across, down = left + 12 + room * x, _TOP_OF_PANEL + 12 + room * (1 - y)
                shapes.append(Disc(across, down, 4.5, hues[place.group], 0.75, title=place.title))
    wide = max(2 * MARGIN + len(arms) * (_SIDE + _GAP), 2 * MARGIN + _LETTER * 1.2 * len(title))
    return Scene(wide, _TOP_OF_PANEL + _SIDE + 2 * MARGIN, title, tuple(shapes))


def write_answer_maps(
    asked: Sequence[DesignQuestion], replies: Sequence[Reply], rt: Runtime, folder: Path
) -> list[Path]:
    """Write the answers as points, coloured by type and by topic (Figures 7 and 8); the files that were written."""
    by_id, titles = {p.id: p for p in asked}, {a.name: a.title for a in ARMS}
    points, share = project_answers(embed_all([r.answer for r in replies], rt).value[:])
    made = []
    for name in ("type", "topic"):
        places = [
            Place(titles[r.arm], str(getattr(by_id[r.id], name)), f"{by_id[r.id].question}: {r.answer[:80]}")
            for r in replies
        ]
        title = f"Answers by {name} of question: two components, {share:.0%} of the variance of {rt.embedder.name}"
        made += write_pictures(draw_answer_map(title, points, places), folder, f"answers-by-{name}")
    return made
