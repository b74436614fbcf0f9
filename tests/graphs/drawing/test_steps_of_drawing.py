"""Steps of a picture that few pictures show: rows of what stands apart, rims, names too long, edges of boxes."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest

from pictured import graph, levels
from sensegraph.algorithms.graphs import canonical_edges
from sensegraph.graphs.drawing import drawing, scene
from sensegraph.graphs.drawing.drawing import lay_out_drawing
from sensegraph.graphs.drawing.rendering import render_png
from sensegraph.graphs.drawing.scene import draw_heading
from sensegraph.graphs.drawing.shapes import Box, Disc, Scene, Shape, Text, measure_text, split_rgb, tint_colour


def test_what_stands_apart_stands_in_rows_the_largest_first() -> None:
    """Discs of 300 need 604 each, two of them a row of 1,210; the next row begins below the higher of the two."""
    alone = canonical_edges([], [], [], 5)
    radius = np.array([100.0, 300.0, 250.0, 300.0, 7.0])
    apart = np.array([True, True, True, True, False])
    places, height = drawing._lay_out_apart(alone, apart, radius, 0)
    assert places == pytest.approx([504 + 102 + (604 + 252) * 1j, 302 + 302j, 252 + (604 + 252) * 1j, 906 + 302j])
    assert height == pytest.approx(604 + 504)
    assert drawing.MAP == 1210
    exact = np.array([1210 / 4 - 2, 1210 / 4 - 2])
    assert drawing._lay_out_apart(canonical_edges([], [], [], 2), exact > 0, exact, 0)[1] == pytest.approx(605)
    wider = exact + 0.1
    assert drawing._lay_out_apart(canonical_edges([], [], [], 2), exact > 0, wider, 0)[1] > 1200


@pytest.mark.parametrize(
    ("middle", "towards", "reach", "point"),
    [(1 + 1j, 1 + 11j, 3.0, 1 + 4j), (0j, 2 + 0j, 3.0, 2 + 0j), (0j, 3 + 4j, 5.0, 3 + 4j), (2j, 2j, 1.0, 2j)],
)
def test_a_line_leaves_a_disc_at_its_rim(middle: complex, towards: complex, reach: float, point: complex) -> None:
    assert scene._leave_disc(middle, towards, reach) == pytest.approx(point)


def test_a_title_that_is_too_long_in_bold_ends_with_an_ellipsis() -> None:
    made = lay_out_drawing(graph(12, 3), levels(12, 3))
    room = scene.WIDTH - 2 * scene.MARGIN
    name = "m" * next(n for n in range(1, 999) if measure_text("m" * n, 24, bold=True) > room)
    assert measure_text(name, 24) <= room
    title, counts = draw_heading(replace(made, name=name), 0)
    assert isinstance(title, Text)
    assert isinstance(counts, Text)
    assert title.text.endswith("…")
    assert (title.size, title.bold, counts.size) == (24, True, 15)
    (plain, _) = draw_heading(replace(made, name=name[:-1]), 0)
    assert isinstance(plain, Text)
    assert plain.text == name[:-1]
    (unnamed, _) = draw_heading(replace(made, name=""), 0)
    assert isinstance(unnamed, Text)
    assert unnamed.text == "Communities"


def pixels(*shapes: Shape) -> np.ndarray:
    image = pytest.importorskip("PIL.Image")
    return np.asarray(image.open(BytesIO(render_png(Scene(60, 40, "", shapes)))).convert("RGB")).astype(int)


def test_a_disc_has_a_rim_where_it_asks_for_one() -> None:
    with_rim, without = (pixels(Disc(30, 20, 15, "c0a", 0.1, line)) for line in (2.0, 0.0))
    assert with_rim[20, 30].tolist() == without[20, 30].tolist()
    assert with_rim[20, 16].sum() < without[20, 16].sum() - 60
    assert abs(without[20, 17] - without[20, 30]).max() <= 12


@pytest.mark.parametrize(
    ("x", "y", "meets"),
    [
        (3.0, 0.0, False),
        (2.99, 0.0, True),
        (-3.0, 0.0, False),
        (0.0, 2.0, False),
        (0.0, 1.99, True),
        (2.99, 2.0, False),
    ],
)
def test_boxes_that_share_an_edge_do_not_meet(x: float, y: float, meets: bool) -> None:
    assert Box(0, 0, 4, 2).meets(Box(x, y, 2, 2)) is meets
    assert Box(x, y, 2, 2).meets(Box(0, 0, 4, 2)) is meets


@pytest.mark.parametrize(
    ("x", "y", "inside"),
    [(1.0, 0.0, True), (1.01, 0.0, False), (-1.0, 0.5, True), (0.0, 0.51, False), (0.0, -0.5, True)],
)
def test_a_box_inside_another_may_touch_its_edge(x: float, y: float, inside: bool) -> None:
    assert Box(x, y, 2, 1).inside(Box(0, 0, 4, 2)) is inside


@pytest.mark.parametrize(
    ("share", "mixed"), [(0.0, "#102030"), (1.0, "#ffffff"), (-1.0, "#000000"), (0.5, "#889098"), (-0.5, "#081018")]
)
def test_a_colour_is_mixed_with_white_or_with_black(share: float, mixed: str) -> None:
    assert tint_colour("#102030", share) == mixed
    assert split_rgb("#102030") == (16, 32, 48)
