"""What stands beside the map: the title, the colours, the sizes, and what is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sensegraph.graphs.drawing.colours import HUES, name_paint
from sensegraph.graphs.drawing.drawing import MAP, Drawing
from sensegraph.graphs.drawing.labels import LINE, wrap_text
from sensegraph.graphs.drawing.shapes import MARGIN, TOP, WIDTH, Disc, Shape, Stroke, Text

_LEFT = MARGIN + MAP + 36.0
_ROOM = WIDTH - _LEFT - MARGIN
_SIZE = 13.0
_INDENT = 20.0


@dataclass(frozen=True, slots=True)
class Tally:
    """What of the graph a picture shows: relations inside, pairs between communities drawn and in all, names lost."""

    drawn: int
    bundles: int
    pairs: int
    unnamed: int


@dataclass(frozen=True, slots=True)
class _Row:
    """Lines of the legend, and what stands before the first."""

    lines: tuple[str, ...]
    size: float = _SIZE
    paint: str = "ink"
    mark: str = ""
    bold: bool = False
    above: float = 0.0


def draw_heading(drawing: Drawing, depth: int) -> list[Shape]:
    """The title of the picture and its counts."""
    counts = (
        f"{count_noun(len(drawing.entities) + drawing.left_out, 'entity', 'entities')}, "
        f"{count_noun(drawing.relations, 'relation', 'relations')}, "
        f"{count_noun(len(drawing.communities[depth]), 'community', 'communities')} at depth {depth}"
    )
    title = wrap_text(drawing.name, 24, WIDTH - 2 * MARGIN, 1, bold=True) or ("Communities",)
    return [Text(MARGIN, 32, title[0], 24, bold=True), Text(MARGIN, 60, counts, 15, "soft")]


def count_noun(n: int, one: str, more: str) -> str:
    """`1 entity`, `2,000 entities`."""
    return f"{n:,} {one if n == 1 else more}"


def draw_legend(drawing: Drawing, depth: int, tally: Tally) -> list[Shape]:
    """The colours with the communities of depth 0 that have them, the sizes, and what is drawn and what is not."""
    shapes: list[Shape] = []
    y = TOP
    # the largest communities of depth 0, one a hue, and how many share the grey
    named = sorted(enumerate(drawing.communities[0]), key=lambda c: (-c[1].entities, c[0]))
    rows = [_section_head("Colour: community at depth 0", 0.0)]
    for rank, (_, c) in enumerate(named[: len(HUES)]):
        text = f"{c.title or 'without a title'} ({c.entities:,})"
        rows.append(_Row(wrap_text(text, _SIZE, _ROOM - _INDENT, 2), mark=name_paint(rank), above=4.0))
    if rest := [c for _, c in named[len(HUES) :]]:
        text = f"{count_noun(len(rest), 'other', 'others')} ({sum(c.entities for c in rest):,})"
        rows.append(_Row((text,), mark=name_paint(len(HUES)), above=4.0))
    rows += [_section_head("Size: degree of the entity"), _Row(("",), 34.0)]  # room for circles
    rows += [_section_head("Drawn, and left out")]
    rows += [
        _Row(wrap_text(text, 12.0, _ROOM, 4), 12.0, "soft", above=5.0)
        for text in _describe_counts(drawing, depth, tally)
    ]
    for row in rows:
        y += row.above
        if row.mark:
            shapes.append(Disc(_LEFT + 6, y + row.size * LINE / 2, 6, row.mark))
        indent = _INDENT if row.mark else 0.0
        for line in row.lines:
            shapes.append(Text(_LEFT + indent, y + row.size * LINE / 2, line, row.size, row.paint, bold=row.bold))
            y += row.size * LINE
    # three circles with the degrees that they stand for, in the room that was left for them
    room = next(s for s in shapes if isinstance(s, Text) and not s.text)
    degrees = np.array([e.degree for e in drawing.entities])
    x = _LEFT
    for degree in sorted({max(1, round(float(np.quantile(degrees, q)))) for q in (0.5, 0.95, 1.0)}):
        reach = float(drawing.radius[np.argmin(abs(degrees - degree))])
        shapes.append(Disc(x + reach, room.y, reach, "soft"))
        shapes.append(Text(x + 2 * reach + 6, room.y, f"{degree:,}", _SIZE, "soft"))
        x += 2 * reach + 50
    return shapes


def _section_head(text: str, above: float = 18.0) -> _Row:
    return _Row((text,), 14.0, bold=True, above=above)


def _describe_counts(drawing: Drawing, depth: int, tally: Tally) -> Iterator[str]:
    if depth:
        yield f"Tones of a colour tell communities of depth {depth} apart."
    label = drawing.labels[depth]
    within = int((label[drawing.edges.source] == label[drawing.edges.target]).sum())
    yield (
        f"Inside communities {tally.drawn:,} of {within:,} relations: the strongest that hold each together "
        "(a maximum spanning forest)."
    )
    yield (
        f"Between communities {tally.bundles:,} of {tally.pairs:,} pairs: the strongest, "
        "the darker and wider the more weight."
    )
    if drawing.left_out:
        lost = drawing.relations - len(drawing.edges.weight)
        yield (
            f"Left out: {count_noun(drawing.left_out, 'entity', 'entities')} of the lowest degree, and "
            f"{count_noun(lost, 'relation', 'relations')} with them."
        )
    if apart := int(drawing.apart.sum()):
        yield f"Below the line: {count_noun(apart, 'entity', 'entities')} linked to few others or none."
    if tally.unnamed:
        yield f"{count_noun(tally.unnamed, 'name', 'names')} found no room."


def draw_rule(y: float, text: str) -> list[Shape]:
    """A line across the map with words on it."""
    at = complex(MARGIN, y)
    return [Stroke(at, at + MAP, "faint", 1.0), Text(MARGIN, y + 12, text, 12.0, "soft")]
