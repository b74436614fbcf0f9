"""A chart of means with their intervals: a row each, in panels one above the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sensegraph.graphs.drawing.shapes import MARGIN, Disc, Scene, Shape, Stroke, Text, name_paint

_SCALE, _BESIDE = 480.0, 260.0  # widths: from 0 to 100 percent, and of what stands behind
_LETTER = 7.5  # the width of a letter, about
_ROW, _HEAD, _FOOT, _TITLE = 26.0, 40.0, 34.0, 56.0  # heights
_SIZE = 13.0
_TICKS = (0, 20, 40, 60, 80, 100)


@dataclass(frozen=True, slots=True)
class Mean:
    """A row: a mean and the ends of its interval, from 0 to 1; `note` stands behind, `base` marks the baseline."""

    label: str
    mean: float
    low: float
    high: float
    note: str = ""
    base: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """Rows that belong together, under a title."""

    title: str
    rows: tuple[Mean, ...]


def draw_interval_chart(title: str, panels: Sequence[Panel]) -> Scene:
    """The panels as a picture, with a common scale from 0 to 100 percent."""
    shapes: list[Shape] = [Text(MARGIN, MARGIN + 8, title, 16.0, bold=True)]
    top, zero = _TITLE, 2 * MARGIN + _LETTER * max((len(row.label) for p in panels for row in p.rows), default=0)
    for panel in panels:
        first, last = top + _HEAD, top + _HEAD + _ROW * (len(panel.rows) - 1)
        shapes.append(Text(MARGIN, top + 14, panel.title, _SIZE + 1, bold=True))
        for tick in _TICKS:
            x = zero + _SCALE * tick / 100
            shapes.append(Stroke(complex(x, first - _ROW / 2), complex(x, last + _ROW / 2), "faint", 1.0))
            shapes.append(Text(x, last + _ROW, str(tick), 11.0, "soft", "middle"))
        for i, row in enumerate(panel.rows):
            y, colour = first + _ROW * i, name_paint(3) if row.base else name_paint(0)
            low, mean, high = (zero + _SCALE * share for share in (row.low, row.mean, row.high))
            interval = f"{100 * row.mean:.1f} [{100 * row.low:.1f}, {100 * row.high:.1f}]"
            shapes += [
                Text(zero - 14, y, row.label, _SIZE, anchor="end"),
                Stroke(complex(low, y), complex(high, y), colour, 2.5),
                Disc(mean, y, 5.0, colour, title=f"{row.label}: {interval}"),
                Text(zero + _SCALE + 18, y, f"{100 * row.mean:.1f}", _SIZE, "soft"),
            ]
            if row.note:
                shapes.append(Text(zero + _SCALE + 64, y, row.note, _SIZE, "soft"))
        top += _HEAD + _ROW * len(panel.rows) + _FOOT
    width = max(zero + _SCALE + _BESIDE, 2 * MARGIN + 1.2 * _LETTER * len(title))
    return Scene(width, top, title, tuple(shapes))
