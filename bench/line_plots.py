"""Lines over numbers: plots one above the other, each with a scale of its own, in one picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10

from sensegraph.graphs.drawing.shapes import MARGIN, Disc, Scene, Shape, Stroke, Text, name_paint

_WIDTH, _HEIGHT, _LEFT, _BESIDE = 520.0, 180.0, 70.0, 170.0  # of a plot; before it, and for names behind it
_TITLE, _HEAD, _FOOT = 56.0, 36.0, 44.0  # heights
_SIZE, _APART = 13.0, 16.0
_STEPS = (1.0, 2.0, 5.0, 10.0)
_TICKS = 5  # about so many


@dataclass(frozen=True, slots=True)
class Line:
    """A named line through points (x, y), in the order of x."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines that share their scales, under a title."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class _Scale:
    """From numbers between `low` and `high` to lengths from `start` on."""

    low: float
    high: float
    start: float
    length: float

    def at(self, value: float) -> float:
        span = self.high - self.low
        return self.start + self.length * ((value - self.low) / span if span else 0.5)


def draw_line_plots(title: str, panels: Sequence[Plot]) -> Scene:
    """The plots as a picture. Plots without a point are left out."""
    shapes: list[Shape] = [Text(MARGIN, MARGIN + 8, title, 16.0, bold=True)]
    top = _TITLE
    for panel in panels:
        if any(line.points for line in panel.lines):
            shapes += _draw_plot(panel, top)
            top += _HEAD + _HEIGHT + _FOOT
    width = max(MARGIN + _LEFT + _WIDTH + _BESIDE, 2 * MARGIN + 9.0 * len(title))
    return Scene(width, top, title, tuple(shapes))


def round_ticks(low: float, high: float) -> list[float]:
    """About five round numbers from `low` or a little below to `high` or a little above, in equal steps."""
    if high <= low:
        return [low]
    rough = (high - low) / _TICKS
    power = 10.0 ** floor(log10(rough))
    step = next(s for s in _STEPS if s * power >= rough * (1 - 1e-9)) * power
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _draw_plot(panel: Plot, top: float) -> Iterator[Shape]:
    xs = sorted({x for line in panel.lines for x, _ in line.points})
    ys = [y for line in panel.lines for _, y in line.points]
    marks = round_ticks(min(ys), max(ys))
    across = _Scale(xs[0], xs[-1], MARGIN + _LEFT, _WIDTH)
    up = _Scale(marks[0], marks[-1], top + _HEAD + _HEIGHT, -_HEIGHT)
    yield Text(MARGIN, top + 14, panel.title, _SIZE + 1, bold=True)
    for mark in marks:
        start = complex(across.start, up.at(mark))
        yield Stroke(start, start + _WIDTH, "faint", 1.0)
        yield Text(across.start - 10, up.at(mark), f"{mark:g}", 11.0, "soft", "end")
    for x in xs:
        yield Text(across.at(x), up.start + 18, f"{x:g}", 11.0, "soft", "middle")
    # the lines, and their names behind their ends, none upon another
    ends = sorted((up.at(line.points[-1][1]), i) for i, line in enumerate(panel.lines) if line.points)
    below = -1e9
    for height, i in ends:
        line, colour = panel.lines[i], name_paint(3 * i)
        places = [complex(across.at(x), up.at(y)) for x, y in line.points]
        for start, end in pairwise(places):
            yield Stroke(start, end, colour, 2.5)
        for place, (x, y) in zip(places, line.points, strict=True):
            yield Disc(place.real, place.imag, 4.0, colour, title=f"{line.name}, {x:g}: {y:.4g}")
        below = max(height, below + _APART)
        yield Text(across.start + _WIDTH + 14, below, line.name, _SIZE, colour)
