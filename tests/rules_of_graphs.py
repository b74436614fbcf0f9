"""Rules of drawings and of queries over a graph, given values that stand in a line of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np

from little_graphs import Little, entity, relation
from sensegraph.algorithms.graphs import canonical_edges
from sensegraph.errors import InputError
from sensegraph.graphs.drawing import interval_chart, rendering, scene, shapes
from sensegraph.graphs.drawing.drawing import Community, Drawing
from sensegraph.types import Claim, Entity, Graph, Source

_PEOPLE = (
    ("Ann", "person", ("Boss",)), ("Bo", "person", ()), ("Cid", "person", ()), ("Acme", "firm", ("Acme Inc",)),
    ("Orb", "firm", ()), ("Ostby", "place", ()), ("Lone", "place", ()),
)  # fmt: skip
_LINKS = (
    (0, 3, "founded", 4.0), (1, 3, "WORKS_AT", 2.0), (2, 4, "WORKS_AT", 1.0), (3, 5, "", 1.0), (4, 5, "lies in", 3.0),
    (0, 1, "", 2.0), (1, 2, "knows", 0.5), (0, 4, "founded", 1.0),
)  # fmt: skip


def _town() -> Little:
    entities = [entity(i, name, kind, aliases, i % 3 + 1) for i, (name, kind, aliases) in enumerate(_PEOPLE)]
    relations = [
        relation(
            i, entities[a], entities[b], (f"{entities[a].name} and {entities[b].name}.",), label, weight, bool(i % 3)
        )
        for i, (a, b, label, weight) in enumerate(_LINKS)
    ]
    claims = [
        Claim("k0", "e0", "Acme", "FACT", "TRUE", "Ann made Acme.", "2001", "2005-06", Source("c0", 0, 3)),
        Claim("k1", "e1", "NONE", "DOUBT", "FALSE", "Bo left.", "", "", Source("c1", 0, 3)),
        Claim("k2", "e3", "nobody", "FACT", "SUSPECTED", "Acme fell.", "1999-12-31", "", Source("c3", 2, 9)),
    ]
    return Little(Graph(tuple(entities), tuple(relations), tuple(claims)), {})


def _show(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return list(map(_show, value))
    return getattr(value, "id", value)


def ask(query: str, given: dict[str, Any] | None = None) -> Any:
    """The rows of a query over a little town, and the notes; what is said where it is refused."""
    try:
        found = _town().match(query, **(given or {}))
    except InputError as e:
        return str(e)
    return [found.columns, _show(found.rows), found.found, found.notes, found.steps]


def _tell(shape: shapes.Shape) -> list[Any]:
    """A shape as its kind and its values, numbers to two places."""
    values = [getattr(shape, name) for name in shape.__dataclass_fields__]
    pairs = [[v.real, v.imag] if isinstance(v, complex) else v for v in values]
    plain = [[round(x, 2) for x in v] if isinstance(v, list) else v for v in pairs]
    return [type(shape).__name__, *(round(v, 2) if isinstance(v, float) else v for v in plain)]


def _draw(
    entities: Sequence[Sequence[Any]], links: Sequence[tuple[int, int, float]], depths: Sequence[Sequence[Any]],
    left_out: int, border: float,
) -> Drawing:  # fmt: skip
    """A drawing of entities as name, degree, place, radius, whether they stand apart, and their communities."""
    made = tuple(
        Entity(f"e{i}", str(name), "thing", f"{name} is here.", (), (), 1, int(degree))
        for i, (name, degree, *_) in enumerate(entities)
    )
    one, other, weight = zip(*links, strict=True) if links else ((), (), ())
    communities = tuple(
        tuple(Community(f"g{d}-{i}", title, f"On {title}.", n, up) for i, (title, n, up, *_) in enumerate(depth))
        for d, depth in enumerate(depths)
    )
    return Drawing(
        "Town", made, len(links) + 2 * left_out, canonical_edges(one, other, weight, len(made)),
        tuple(np.array([e[6 + d] for e in entities], np.int64) for d in range(len(depths))), communities,
        np.array([complex(e[2], e[3]) for e in entities]), np.array([float(e[4]) for e in entities]),
        tuple(np.array([complex(c[3], c[4]) for c in depth]) for depth in depths),
        tuple(np.array([float(c[5]) for c in depth]) for depth in depths),
        np.array([bool(e[5]) for e in entities]), border, border + 60.0 * any(e[5] for e in entities), left_out,
    )  # fmt: skip


def draw(
    entities: Sequence[Sequence[Any]], links: Sequence[tuple[int, int, float]], depths: Sequence[Sequence[Any]],
    depth: int, left_out: int = 0, top: int = 40, border: float = 600.0,
) -> Any:  # fmt: skip
    """The shapes of a picture, and what its page knows of the depth."""
    drawing = _draw(entities, links, depths, left_out, border)
    made = scene.compose_scene(drawing, depth, top)
    page = rendering._depth_data(drawing, depth)
    return [made.width, round(made.height, 2), made.title, list(map(_tell, made.shapes)), sorted(page.items())]


def render(*given: Sequence[Any]) -> str:
    """A picture of some shapes as SVG."""
    return rendering.render_svg(shapes.Scene(90.0, 60.0, "A <b>", tuple(map(_make_shape, given))))


def _make_shape(given: Sequence[Any]) -> shapes.Shape:
    kind, *values = given
    if kind == "stroke":
        start, end, paint, width, opacity, bend = values
        return shapes.Stroke(complex(*start), complex(*end), paint, width, opacity, complex(*bend) if bend else None)
    return shapes.Disc(*values) if kind == "disc" else shapes.Text(*values)


def paint(points: Sequence[tuple[int, int]], *given: Sequence[Any]) -> Any:
    """The colours of some points of a picture of some shapes, and its size."""
    from PIL import Image

    made = rendering.render_png(shapes.Scene(90.0, 60.0, "A", tuple(map(_make_shape, given))))
    with Image.open(BytesIO(made)) as picture:
        plain = picture.convert("RGB")
        return [picture.size, [plain.getpixel(point) for point in points]]


def chart(title: str, panels: Sequence[tuple[str, Sequence[Sequence[Any]]]]) -> Any:
    """The shapes of a chart of intervals."""
    made = interval_chart.draw_interval_chart(
        title, [interval_chart.Panel(name, tuple(interval_chart.Mean(*row) for row in rows)) for name, rows in panels]
    )
    return [round(made.width, 2), round(made.height, 2), made.title, list(map(_tell, made.shapes))]
