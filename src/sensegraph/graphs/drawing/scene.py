"""One depth of a drawing as shapes, from back to front (Edge et al. 2024, Figure 4): map, names, legend.

A graph of communities has far more relations than a picture has room for. Drawn are, inside each community, those of
a maximum spanning forest; between communities, the pairs of a maximum spanning forest and then the strongest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Edges, Longs, canonical_edges
from sensegraph.algorithms.layout import find_backbone
from sensegraph.graphs.drawing.drawing import MAP, Drawing
from sensegraph.graphs.drawing.shapes import (
    HUES,
    LINE,
    MARGIN,
    TOP,
    WIDTH,
    Box,
    Disc,
    Label,
    Scene,
    Shape,
    Stroke,
    Text,
    measure_text,
    name_paint,
    place_labels,
    wrap_text,
)

Flags = NDArray[np.bool_]
_BUNDLES = 90  # pairs of communities that are drawn, at most
_LEFT = MARGIN + MAP + 36.0
_ROOM = WIDTH - _LEFT - MARGIN
_SIZE, _INDENT = 13.0, 20.0
_NAMES = 70  # entities that are named at most
_AT = complex(MARGIN, TOP)


@dataclass(frozen=True, slots=True, eq=False)
class Bundles:
    """The pairs of communities with relations between them, their weights summed, and which pairs are drawn."""

    edges: Edges
    drawn: Flags


def find_inner_links(drawing: Drawing, depth: int) -> Flags:
    """Which relations hold a community of this depth together, shape (m,): a maximum spanning forest of each."""
    label, edges = drawing.labels[depth], drawing.edges
    within = label[edges.source] == label[edges.target]
    kept = np.zeros(len(within), np.bool_)
    part = canonical_edges(edges.source[within], edges.target[within], edges.weight[within], edges.nodes)
    kept[within] = find_backbone(part)
    return kept


def bundle_links(drawing: Drawing, depth: int) -> Bundles:
    """The relations between communities of this depth, by pairs, and which pairs are strong enough to be drawn."""
    label, edges = drawing.labels[depth], drawing.edges
    pairs = canonical_edges(label[edges.source], label[edges.target], edges.weight, len(drawing.communities[depth]))
    seen = drawing.reaches[depth] > 0
    first = np.lexsort((-pairs.weight, ~find_backbone(pairs)))
    drawn = np.zeros(len(first), np.bool_)
    drawn[first[seen[pairs.source[first]] & seen[pairs.target[first]]][: min(_BUNDLES, int(1.5 * seen.sum()))]] = True
    return Bundles(pairs, drawn)


def rank_hues(drawing: Drawing) -> Longs:
    """The rank, by entities, of every community of depth 0: its hue, shape (c,)."""
    return np.argsort(np.argsort([-c.entities for c in drawing.communities[0]], kind="stable"))


def choose_paints(drawing: Drawing, depth: int) -> list[str]:
    """The colour of every community of this depth: the hue of the one of depth 0 around it, in a tone of its own."""
    root = np.zeros(len(drawing.communities[depth]), np.int64)
    root[drawing.labels[depth]] = drawing.labels[0]
    hue = rank_hues(drawing)[root].tolist()
    if depth == 0:
        return [name_paint(h) for h in hue]
    tone = np.zeros(len(root), np.int64)
    angle = np.angle(drawing.discs[depth] - drawing.discs[0][root])  # siblings side by side differ
    order = np.lexsort((angle, root))
    first = np.searchsorted(root[order], root[order])
    tone[order] = np.arange(len(order)) - first
    return [name_paint(h, t) for h, t in zip(hue, tone.tolist(), strict=True)]


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
    named = sorted(drawing.communities[0], key=lambda c: -c.entities)
    rows = [_section_head("Colour: community at depth 0", 0.0)]
    for rank, c in enumerate(named[: len(HUES)]):
        text = f"{c.title or 'without a title'} ({c.entities:,})"
        rows.append(_Row(wrap_text(text, _SIZE, _ROOM - _INDENT, 2), mark=name_paint(rank), above=4.0))
    if rest := named[len(HUES) :]:
        text = f"{count_noun(len(rest), 'other', 'others')} ({sum(c.entities for c in rest):,})"
        rows.append(_Row((text,), mark=name_paint(len(HUES)), above=4.0))
    rows += [_section_head("Size: degree of the entity"), _Row(("",), 34.0)]  # room for circles
    rows += [_section_head("Drawn, and left out")]
    for text in _describe_counts(drawing, depth, tally):
        rows.append(_Row(wrap_text(text, 12.0, _ROOM, 4), 12.0, "soft", above=5.0))
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


def compose_scene(drawing: Drawing, depth: int, top: int = 40) -> Scene:
    """The communities at this depth: at most `top` of them named, the largest first, and their best linked entities.

    Raises InputError for a depth that the drawing does not have.
    """
    drawing.depth(depth)
    colours = choose_paints(drawing, depth)
    bundles, lines = bundle_links(drawing, depth), find_inner_links(drawing, depth)
    labels, lost = place_names(drawing, depth, top)
    key = draw_legend(drawing, depth, Tally(int(lines.sum()), int(bundles.drawn.sum()), len(bundles.drawn), lost))
    shapes = [*_draw_communities(drawing, depth, bundles, colours), *_draw_entities(drawing, depth, lines, colours)]
    for label in labels:  # the lines of a label, one below the other
        first = label.y - LINE * label.size * (len(label.lines) - 1) / 2
        shapes += [
            Text(label.x, first + n * LINE * label.size, line, label.size, "ink", "middle", label.bold, halo=True)
            for n, line in enumerate(label.lines)
        ]
    shapes += [*draw_heading(drawing, depth), *key]
    height = max(drawing.height + TOP, *(s.y for s in key if isinstance(s, Text))) + MARGIN
    title = f"{drawing.name or 'Communities'}: communities at depth {depth}"
    return Scene(WIDTH, height, title, tuple(shapes))


# ── the map ──


def _draw_communities(drawing: Drawing, depth: int, bundles: Bundles, colours: list[str]) -> Iterator[Shape]:
    """The bundles between communities, weakest first, bent a little towards the middle of the map; then the discs.

    Around the discs of a deeper depth stand those of depth 0.
    """
    edges, at, reach = bundles.edges, drawing.discs[depth] + _AT, drawing.reaches[depth]
    middle = _AT + complex(MAP, drawing.border) / 2
    most = float(edges.weight[bundles.drawn].max(initial=1e-9))
    widest = 7.0 if depth == 0 else 4.0
    for e in np.argsort(edges.weight, kind="stable"):
        if bundles.drawn[e]:
            i, j = edges.source[e], edges.target[e]
            a, b = complex(at[i]), complex(at[j])
            share = float(edges.weight[e] / most) ** 0.5
            bend = (a + b) / 2 + (middle - (a + b) / 2) * 0.12
            a, b = _leave_disc(a, bend, float(reach[i])), _leave_disc(b, bend, float(reach[j]))
            yield Stroke(a, b, "link", round(0.8 + widest * share, 1), round(0.15 + 0.35 * share, 2), bend)
    for d in dict.fromkeys((0, depth)):
        shades = colours if d == depth else choose_paints(drawing, d)
        strength = 0.12 if d == depth == 0 else 0.07 if d == 0 else 0.14
        discs = zip(drawing.discs[d], drawing.reaches[d], shades, drawing.communities[d], strict=True)
        for place, radius, shade, c in discs:
            if radius > 0:
                at_canvas = _canvas_point(place)
                if d == depth:  # bundles go behind the discs that they pass
                    yield Disc(*at_canvas, float(radius), "paper", 0.6)
                yield Disc(*at_canvas, float(radius), shade, strength, 0.8, f"{c.title} ({c.entities:,})")


def _leave_disc(middle: complex, towards: complex, reach: float) -> complex:
    """Where a line from the middle of a disc leaves it, or the point it goes to where that is nearer."""
    away = towards - middle
    return middle + away * min(1.0, reach / max(abs(away), 1e-9))


def _draw_entities(drawing: Drawing, depth: int, lines: Flags, colours: list[str]) -> Iterator[Shape]:
    """The relations inside communities, in their colours; then the entities, by community."""
    places, label = drawing.places + _AT, drawing.labels[depth]
    chosen = np.flatnonzero(lines)
    for e in chosen[np.argsort(label[drawing.edges.source[chosen]], kind="stable")]:
        a, b = drawing.edges.source[e], drawing.edges.target[e]
        yield Stroke(complex(places[a]), complex(places[b]), colours[label[a]], 0.8, 0.6)
    if drawing.apart.any():
        rule = complex(MARGIN, drawing.border + TOP - 24)  # a line across the map with words on it
        yield Stroke(rule, rule + MAP, "faint", 1.0)
        yield Text(MARGIN, rule.imag + 12, "Linked to few others or none", 12.0, "soft")
    for i in np.argsort(label, kind="stable"):
        entity, place = drawing.entities[i], _canvas_point(drawing.places[i])
        title = f"{entity.name} ({entity.degree:,})"
        yield Disc(*place, float(drawing.radius[i]), colours[label[i]], title=title)


def _canvas_point(at: complex) -> tuple[float, float]:
    point = complex(at) + _AT
    return point.real, point.imag


# ── names ──


def place_names(drawing: Drawing, depth: int, top: int) -> tuple[list[Label], int]:
    """The names of the largest communities and of the entities of the highest degree, none over another.

    Returns the labels and how many found no place.
    """
    canvas = Box(MARGIN + MAP / 2, TOP + drawing.border / 2, MAP + MARGIN, drawing.border + MARGIN)
    size = np.array([c.entities for c in drawing.communities[depth]])
    largest = [k for k in np.argsort(-size, kind="stable").tolist() if drawing.reaches[depth][k] > 0][:top]
    wanted: list[list[Label]] = []
    for k in largest:  # in its disc, from the middle up and down, then above and below it
        reach, (x, y) = float(drawing.reaches[depth][k]), _canvas_point(drawing.discs[depth][k])
        letters = min(15.0, max(9.5, reach / 6.5))
        room = min(max(1.7 * reach, 80.0), 240.0)
        lines = wrap_text(drawing.communities[depth][k].title, letters, room, 3, bold=True)
        half = LINE * letters * len(lines) / 2
        ups = [*(reach * s for s in (0.0, -0.3, 0.3, -0.55, 0.55, -0.8, 0.8)), -reach - half, reach + half]
        wanted.append([Label(x, y + up, lines, letters, bold=True) for up in ups] if lines else [])
    titles, lost = place_labels(wanted, canvas)
    degree = np.where(drawing.apart, 0, [e.degree for e in drawing.entities])
    linked = [i for i in np.argsort(-degree, kind="stable").tolist() if degree[i] > 1][:_NAMES]
    wanted, letters = [], 11.0
    for i in linked:  # right, left, below, above of its circle
        (x, y), reach = _canvas_point(drawing.places[i]), float(drawing.radius[i])
        lines = wrap_text(drawing.entities[i].name, letters, 170.0, 1)
        aside = reach + 2 + measure_text(lines[0], letters) / 2 if lines else 0.0
        over = reach + LINE * letters / 2
        places = ((aside, 0.0), (-aside, 0.0), (0.0, over), (0.0, -over)) if lines else ()
        wanted.append([Label(x + right, y + down, lines, letters) for right, down in places])
    names, more = place_labels(wanted, canvas, titles)
    return [*names, *titles], lost + more
