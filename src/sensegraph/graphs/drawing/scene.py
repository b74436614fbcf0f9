"""One depth of a drawing as shapes, from back to front (Edge et al. 2024, Figure 4)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sensegraph.graphs.drawing.drawing import MAP, Drawing
from sensegraph.graphs.drawing.labels import LINE, Box, Label, measure_text, place_labels, wrap_text
from sensegraph.graphs.drawing.legend import Tally, draw_heading, draw_legend, draw_rule
from sensegraph.graphs.drawing.shapes import MARGIN, TOP, WIDTH, Disc, Scene, Shape, Stroke, Text
from sensegraph.graphs.drawing.strongest_links import Bundles, Flags, bundle_links, choose_paints, find_inner_links

_NAMES = 70  # entities that are named at most
_AT = complex(MARGIN, TOP)


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
                if d == depth:
                    yield Disc(
                        *_canvas_point(place), float(radius), "paper", 0.6
                    )  # bundles go behind the discs that they pass
                yield Disc(*_canvas_point(place), float(radius), shade, strength, 0.8, f"{c.title} ({c.entities:,})")


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
        yield from draw_rule(drawing.border + TOP - 24, "Linked to few others or none")
    for i in np.argsort(label, kind="stable"):
        entity = drawing.entities[i]
        reach = float(drawing.radius[i])
        yield Disc(
            *_canvas_point(drawing.places[i]), reach, colours[label[i]], title=f"{entity.name} ({entity.degree:,})"
        )


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
