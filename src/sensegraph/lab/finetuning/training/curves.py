"""Losses over a training as a picture: a line a series, on a scale that begins at 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from math import floor, log10
from pathlib import Path
from typing import TYPE_CHECKING

from sensegraph.errors import InputError
from sensegraph.graphs.drawing.rendering import render_png, render_svg
from sensegraph.graphs.drawing.shapes import MARGIN, Disc, Scene, Shape, Stroke, Text, name_paint

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
    endings = ("svg", "png") if find_spec("PIL") else ("svg",)
    return [write_picture(scene, folder / f"{name}.{ending}") for ending in endings]


def write_picture(scene: Scene, path: Path) -> Path:
    """Write the picture as the SVG or PNG that the name of the file says. Raises InputError for another ending."""
    kind = path.suffix.lower()
    if kind == ".svg":
        path.write_text(render_svg(scene), encoding="utf-8")
    elif kind == ".png":
        path.write_bytes(render_png(scene))
    else:
        raise InputError(f"{path}: pictures are SVG or PNG; name a file that ends in .svg or .png.")
    return path


def _round_up(value: float) -> float:
    """The least round number that is no less than `value`: 1, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** floor(log10(value))
    return next(m * power for m in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if m * power >= value * (1 - 1e-12))
