"""Charts of an evaluation as SVG: means with intervals; of a judge's verdicts win rates, and wins against length.

Letters and lines take the colour of what surrounds them, so that a chart does on light and on dark paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from sensegraph.lab.experiments.sheets import shade_colours
from sensegraph.lab.judging.judgements import Judgements
from sensegraph.lab.judging.length_control import ControlledRate, scores_and_lengths
from sensegraph.lab.scores.statistics import Interval, Pair, wilson_interval

_FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
_BLUE, _ORANGE = "#2166ac", "#b35806"
_LETTER = 7.0  # the width of a letter, about
_SCALE, _ROW, _EDGE = 420.0, 34.0, 16.0
_CELL = 58.0
_FIELD = (460.0, 240.0)  # width and height of the field of points
_BINS = 4
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)  # of a scale of means, times a power of ten
_TICKS = 4
_MEAN_ROW = 20.0


@dataclass(frozen=True, slots=True)
class _Svg:
    """The pieces of a picture."""

    width: float
    height: float
    title: str
    parts: tuple[str, ...]

    def render(self) -> str:
        """The text of the picture."""
        size = f'width="{self.width:.0f}" height="{self.height:.0f}" viewBox="0 0 {self.width:.0f} {self.height:.0f}"'
        style = f'font-family="{_FONT}" font-size="12" fill="currentColor" stroke="none"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {style}>'
        return "\n".join([head, f"<title>{escape(self.title)}</title>", *self.parts, "</svg>"]) + "\n"


def _text(x: float, y: float, words: str, anchor: str = "start", extra: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {extra}>{escape(words)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str = "currentColor", extra: str = "") -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}" {extra or "stroke-opacity=" + quoteattr(".25")}/>'


def _disc(x: float, y: float, radius: float, colour: str, title: str, *, hollow: bool = False) -> str:
    look = f'fill="none" stroke="{colour}" stroke-width="1.5"' if hollow else f'fill="{colour}"'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" {look}><title>{escape(title)}</title></circle>'


def draw_means(group: str, means: Mapping[str, Mapping[str, Interval | None]], digits: int = 2) -> str:
    """The mean of each measure of a group under each condition with its 95 % interval, all on one scale from 0.

    `means` gives intervals by measure and condition, None where a condition has no value.
    """
    title = f"{group}: means with 95 % intervals"
    # the least round step of which so many as a scale has reach the highest end
    least = max((i.high for own in means.values() for i in own.values() if i), default=0.0) / _TICKS or 1.0
    power = 10.0 ** float(np.floor(np.log10(least)))
    step = next(power * s for s in _STEPS if power * s >= least * (1 - 1e-9))
    zero, unit = _EDGE + _LETTER * max(len(name) for own in means.values() for name in own) + 14, _SCALE / _TICKS
    parts, y = [_text(_EDGE, 18, title, extra='font-weight="bold"')], 30.0
    for measure, own in means.items():
        parts.append(_text(_EDGE, y + 14, measure, extra='font-style="italic"'))
        top, y = y + _MEAN_ROW, y + _MEAN_ROW * (1 + len(own))
        parts += [_line(zero + unit * n, top, zero + unit * n, y) for n in range(_TICKS + 1)]
        for i, (name, interval) in enumerate(own.items()):
            middle = top + _MEAN_ROW * (i + 0.5)
            parts.append(_text(zero - 12, middle + 4, name, "end"))
            if interval is None:
                parts.append(_text(zero + 6, middle + 4, "no value"))
                continue
            ends = interval.low, interval.mean, interval.high
            low, mean, high = (zero + unit * v / step for v in ends)
            parts.append(_line(low, middle, high, middle, _BLUE, 'stroke-width="2"'))
            low_shown, mean_shown, high_shown = (f"{v:,.{digits}f}" for v in ends)
            told = f"{measure}, {name}: {mean_shown} [{low_shown}, {high_shown}]"
            parts.append(_disc(mean, middle, 4.5, _BLUE, told))
    parts += [_text(zero + unit * n, y + 16, f"{step * n:,.4g}", "middle") for n in range(_TICKS + 1)]
    width = max(zero + _SCALE + 2 * _EDGE, 2 * _EDGE + 1.15 * _LETTER * len(title))
    return _Svg(width, y + 28, title, tuple(parts)).render()


def draw_win_matrix(criterion: str, names: Sequence[str], rates: Sequence[ControlledRate]) -> str:
    """The win rate at equal length of the row against the column, in percent; "?" where it cannot be told."""
    cells: dict[tuple[str, str], float | None] = {}
    for r in rates:
        if r.n:
            cells[r.pair] = r.rate.mean if r.rate else None
            cells[r.pair[::-1]] = 100 - r.rate.mean if r.rate else None
    left = _EDGE + _LETTER * max(map(len, names)) + 8
    parts = []
    for i, row in enumerate(names):
        middle = 44 + _CELL * (i + 0.5)
        parts.append(_text(left - 8, middle + 4, row, "end"))
        parts.append(_text(left + _CELL * (i + 0.5), 36, row[:9], "middle"))
        for j, column in enumerate(names):
            x, y = left + _CELL * j, 44 + _CELL * i
            rate = cells.get((row, column))
            ground, ink = shade_colours(rate / 100) if rate is not None else ("none", "currentColor")
            box = f'x="{x:.1f}" y="{y:.1f}" width="{_CELL - 2:g}" height="{_CELL - 2:g}" rx="3"'
            parts.append(f'<rect {box} fill="{ground}" stroke="currentColor" stroke-opacity=".2"/>')
            shown = f"{rate:.0f}" if rate is not None else "?" if (row, column) in cells else ""
            parts.append(_text(x + _CELL / 2 - 1, middle + 5, shown, "middle", f'fill="{ink}" font-size="15"'))
    title = f"{criterion}: win rate at equal length, row against column, percent"
    parts.append(_text(_EDGE, 16, title, extra='font-weight="bold"'))
    width = max(left + _CELL * len(names) + _EDGE, 2 * _EDGE + 1.15 * _LETTER * len(title))
    return _Svg(width, 44 + _CELL * len(names) + _EDGE, title, tuple(parts)).render()


def draw_rates(criterion: str, pairs: Sequence[Pair], rates: Sequence[ControlledRate]) -> str:
    """The win rate of each pair with its 95 % interval: filled at equal length, hollow the plain one."""
    labels = [f"{p.first} – {p.second}" for p in pairs]
    zero = _EDGE + _LETTER * max(map(len, labels)) + 14
    bottom = 52 + _ROW * len(pairs)
    parts = [
        _text(
            _EDGE, 18, f"{criterion}: win rate of the first, percent, with 95 % intervals", extra='font-weight="bold"'
        )
    ]
    parts += [_disc(zero, 36, 4.5, _BLUE, "at equal length"), _text(zero + 10, 40, "at equal length")]
    parts += [_disc(zero + 130, 36, 4, _ORANGE, "plain", hollow=True), _text(zero + 140, 40, "plain")]
    for tick in range(0, 101, 25):
        x = zero + _SCALE * tick / 100
        parts.append(_line(x, 52, x, bottom, extra='stroke-opacity=".6"' if tick == 50 else ""))
        parts.append(_text(x, bottom + 16, str(tick), "middle"))
    for i, (label, plain, held) in enumerate(zip(labels, pairs, rates, strict=True)):
        y = 52 + _ROW * (i + 0.5)
        parts.append(_text(zero - 12, y + 4, label, "end"))
        shown = [(plain.rate, y + 6, _ORANGE, True)] if plain.n else []
        shown += [(held.rate, y - 6, _BLUE, False)] if held.rate else []
        for rate, height, colour, hollow in shown:
            low, mean, high = (zero + _SCALE * v / 100 for v in (rate.low, rate.mean, rate.high))
            parts.append(_line(low, height, high, height, colour, 'stroke-width="2"'))
            told = f"{label}: {rate.mean:.1f} [{rate.low:.1f}, {rate.high:.1f}]"
            parts.append(_disc(mean, height, 4.5, colour, told, hollow=hollow))
        if not held.rate and plain.n:
            parts.append(_text(zero + _SCALE + 12, y + 4, "cannot be told apart from length"))
    width = zero + _SCALE + (2 * _EDGE if all(r.rate for r in rates) else 220)
    return _Svg(width, bottom + 28, f"{criterion}: win rates with intervals", tuple(parts)).render()


def draw_length_effect(criterion: str, given: Judgements) -> str:
    """The score of the longer answer by how much longer it is: every question of every pair, and means of quarters."""
    points = sorted(_list_longer_scores(criterion, given))
    left, top, (wide, high) = 56.0, 48.0, _FIELD
    most = max([words for words, _ in points], default=1.0)
    title = f"{criterion}: score of the longer answer, by how many words longer it is"
    parts = [_text(_EDGE, 18, title, extra='font-weight="bold"')]
    for tick in range(0, 101, 25):
        y = top + high * (1 - tick / 100)
        parts.append(_line(left, y, left + wide, y, extra='stroke-opacity=".6"' if tick == 50 else ""))
        parts.append(_text(left - 8, y + 4, str(tick), "end"))
    ticks = [(left + wide * n / 4, f"{most * n / 4:,.0f}") for n in range(5)]
    parts += [_text(x, top + high + 18, label, "middle") for x, label in ticks]
    parts.append(_text(left + wide / 2, top + high + 36, "words longer", "middle"))
    group = [f'<circle cx="{left + wide * w / most:.1f}" cy="{top + high * (1 - s):.1f}" r="3"/>' for w, s in points]
    parts.append(f'<g fill="currentColor" fill-opacity=".22">{"".join(group)}</g>')
    for quarter in np.array_split(np.array(points).reshape(-1, 2), min(_BINS, max(1, len(points)))):
        if len(quarter):
            rate, x = wilson_interval(float(quarter[:, 1].mean()), len(quarter)), float(quarter[:, 0].mean())
            low, mean, up = (top + high * (1 - v) for v in (rate.low, rate.mean, rate.high))
            x = left + wide * x / most
            parts.append(_line(x, low, x, up, _BLUE, 'stroke-width="2"'))
            told = f"{len(quarter)} comparisons: {100 * rate.mean:.1f} [{100 * rate.low:.1f}, {100 * rate.high:.1f}]"
            parts.append(_disc(x, mean, 5, _BLUE, told))
    return _Svg(max(left + wide, 1.15 * _LETTER * len(title)) + _EDGE, top + high + 48, title, tuple(parts)).render()


def _list_longer_scores(criterion: str, given: Judgements) -> Iterable[tuple[float, float]]:
    """Of every question and pair with unequal lengths: how many words longer, and the longer one's score, 0 to 1."""
    for pair in given.pairs:
        scores, apart = scores_and_lengths(given, criterion, pair)
        for score, words in zip(scores, apart.tolist(), strict=True):
            if score is not None and words:
                yield abs(words), (score if words > 0 else 100 - score) / 100
