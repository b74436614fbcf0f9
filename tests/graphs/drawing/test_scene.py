"""A picture of a few places set by hand: each shape where the units say, and each file as it is written."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np
import pytest

from pictured import entity, graph, levels
from sensegraph.algorithms.graphs import canonical_edges
from sensegraph.graphs.drawing.drawing import MAP, Community, Drawing, lay_out_drawing
from sensegraph.graphs.drawing.interval_chart import Mean, Panel, draw_interval_chart
from sensegraph.graphs.drawing.rendering import render_png, render_svg
from sensegraph.graphs.drawing.scene import (
    Tally,
    bundle_links,
    choose_paints,
    compose_scene,
    draw_heading,
    draw_legend,
    find_inner_links,
    place_names,
)
from sensegraph.graphs.drawing.shapes import (
    LINE,
    Box,
    Disc,
    Label,
    Scene,
    Stroke,
    Text,
    find_colour,
    measure_text,
    place_labels,
    shorten_text,
    tint_colour,
    wrap_text,
)

LEFT = 24 + 1210 + 36.0


def community(number: int, entities: int, parent: int = -1, title: str = "") -> Community:
    return Community(f"k{number}", title or f"Group {number}", "", entities, parent)


@pytest.fixture
def drawing() -> Drawing:
    """Five entities: two in a small community, three in a large one that falls into two at depth 1."""
    degrees = (1, 4, 9, 2, 0)
    edges = canonical_edges([0, 1, 1, 2, 2], [1, 2, 3, 3, 4], [3.0, 4.0, 1.0, 2.0, 5.0], 5)
    return Drawing(
        "Harbour",
        tuple(entity(i, d) for i, d in enumerate(degrees)),
        7,
        edges,
        (np.array([0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 2])),
        ((community(0, 2), community(1, 3)), (community(0, 2, 0), community(1, 2, 1), community(2, 1, 1))),
        np.array([100 + 100j, 140 + 100j, 600 + 300j, 640 + 300j, 700 + 300j]),
        np.array([3.0, 6.0, 9.0, 4.0, 1.5]),
        (np.array([120 + 100j, 640 + 300j]), np.array([120 + 100j, 620 + 300j, 700 + 300j])),
        (np.array([60.0, 100.0]), np.array([60.0, 50.0, 0.0])),
        np.zeros(5, np.bool_),
        500.0,
        500.0,
        2,
    )


def test_colours_go_by_size_and_tones_by_the_place_around_the_middle(drawing: Drawing) -> None:
    assert choose_paints(drawing, 0) == ["c1a", "c0a"]
    assert choose_paints(drawing, 1) == ["c1a", "c0b", "c0a"]


def test_inside_communities_a_forest_is_drawn_and_between_them_the_strongest(drawing: Drawing) -> None:
    ends = list(zip(drawing.edges.source.tolist(), drawing.edges.target.tolist(), strict=True))
    assert [ends[e] for e in np.flatnonzero(find_inner_links(drawing, 0))] == [(0, 1), (2, 3), (2, 4)]
    bundles = bundle_links(drawing, 0)
    assert (bundles.edges.source.tolist(), bundles.edges.target.tolist()) == ([0], [1])
    assert (bundles.edges.weight.tolist(), bundles.drawn.tolist()) == ([5.0], [True])
    deeper = bundle_links(drawing, 1)
    pairs = zip(deeper.edges.source.tolist(), deeper.edges.target.tolist(), deeper.drawn.tolist(), strict=True)
    assert list(pairs) == [(0, 1, True), (1, 2, False)]  # what has no disc has no bundle


def test_discs_entities_and_lines_stand_at_their_places_below_the_heading(drawing: Drawing) -> None:
    shapes = compose_scene(drawing, 0).shapes
    discs = [(s.x, s.y, s.radius, s.paint, s.opacity, s.title) for s in shapes if isinstance(s, Disc) and s.x < LEFT]
    assert discs == [
        (144.0, 184.0, 60.0, "paper", 0.6, ""),
        (144.0, 184.0, 60.0, "c1a", 0.12, "Group 0 (2)"),
        (664.0, 384.0, 100.0, "paper", 0.6, ""),
        (664.0, 384.0, 100.0, "c0a", 0.12, "Group 1 (3)"),
        (124.0, 184.0, 3.0, "c1a", 1.0, "Name 0 (1)"),
        (164.0, 184.0, 6.0, "c1a", 1.0, "Name 1 (4)"),
        (624.0, 384.0, 9.0, "c0a", 1.0, "Name 2 (9)"),
        (664.0, 384.0, 4.0, "c0a", 1.0, "Name 3 (2)"),
        (724.0, 384.0, 1.5, "c0a", 1.0, "Name 4 (0)"),
    ]
    lines = [(s.start, s.end, s.paint, s.width, s.opacity) for s in shapes if isinstance(s, Stroke) and s.bend is None]
    assert lines == [
        (124 + 184j, 164 + 184j, "c1a", 0.8, 0.6),
        (624 + 384j, 664 + 384j, "c0a", 0.8, 0.6),
        (624 + 384j, 724 + 384j, "c0a", 0.8, 0.6),
    ]


def test_a_bundle_bends_to_the_middle_of_the_map_and_ends_at_the_discs(drawing: Drawing) -> None:
    (bundle,) = (s for s in compose_scene(drawing, 0).shapes if isinstance(s, Stroke) and s.bend is not None)
    between, middle = complex(144 + 664, 184 + 384) / 2, complex(24 + MAP / 2, 84 + 250)
    assert bundle.bend == pytest.approx(between + 0.12 * (middle - between))
    assert abs(bundle.start - (144 + 184j)) == pytest.approx(60)
    assert abs(bundle.end - (664 + 384j)) == pytest.approx(100)
    along = (bundle.start - (144 + 184j)) / (bundle.bend - (144 + 184j))
    assert along.imag == pytest.approx(0, abs=1e-9)
    assert (bundle.paint, bundle.width, bundle.opacity) == ("link", 7.8, 0.5)  # the strongest is the widest and darkest


def test_a_weaker_bundle_is_narrower_and_paler_and_comes_first(drawing: Drawing) -> None:
    edges = canonical_edges([0, 0, 2], [2, 3, 4], [3.0, 1.0, 1.0], 5)
    three = replace(drawing, edges=edges, reaches=(drawing.reaches[0], np.array([60.0, 30.0, 20.0])))
    bundles = [s for s in compose_scene(three, 1).shapes if isinstance(s, Stroke) and s.bend is not None]
    assert [(s.width, s.opacity) for s in bundles] == [(2.8, 0.32), (4.8, 0.5)]  # a quarter of the weight: half


def test_around_the_discs_of_a_depth_stand_those_of_depth_0(drawing: Drawing) -> None:
    shapes = compose_scene(drawing, 1).shapes
    discs = [(s.paint, s.opacity) for s in shapes if isinstance(s, Disc) and s.radius >= 50]
    assert discs == [("c1a", 0.07), ("c0a", 0.07), ("paper", 0.6), ("c1a", 0.14), ("paper", 0.6), ("c0b", 0.14)]
    assert all(s.line == (0.8 if s.paint != "paper" else 0.0) for s in shapes if isinstance(s, Disc) and s.radius >= 50)


def test_names_stand_in_the_middle_of_discs_and_beside_their_circles(drawing: Drawing) -> None:
    labels, lost = place_names(drawing, 0, 40)
    told = {label.lines[0]: (label.x, label.y, label.size, label.bold) for label in labels}
    assert told["Group 1"] == (664.0, 384.0, 15.0, True)
    assert told["Group 0"] == (144.0, 184.0, 9.5, True)
    half = measure_text("Name 2", 11.0) / 2
    assert told["Name 2"] == (pytest.approx(624 - 9 - 2 - half), 384.0, 11.0, False)  # to the right stands the title
    assert told.keys() == {"Group 0", "Group 1", "Name 1", "Name 2"}  # those of one link or none have none
    assert lost == 1  # Name 3 stands where a title is
    assert "Group 0" not in {label.lines[0] for label in place_names(drawing, 0, 1)[0]}
    assert {label.lines[0] for label in place_names(drawing, 1, 40)[0] if label.bold} == {"Group 0", "Group 1"}


def test_a_label_is_written_line_below_line_about_its_middle(drawing: Drawing) -> None:
    long = "The long history of the harbour"
    titled = replace(drawing, communities=((community(0, 2), community(1, 3, -1, long)), drawing.communities[1]))
    (label,) = (found for found in place_names(titled, 0, 40)[0] if found.lines[0].startswith("The"))
    assert len(label.lines) == 2
    rows = [(s.x, s.y) for s in compose_scene(titled, 0).shapes if isinstance(s, Text) and s.text in label.lines]
    step = LINE * label.size / 2
    assert rows == [(label.x, pytest.approx(label.y - step)), (label.x, pytest.approx(label.y + step))]


def test_the_heading_counts_what_is_there_and_not_only_what_is_drawn(drawing: Drawing) -> None:
    title, counts = draw_heading(drawing, 1)
    assert title == Text(24.0, 32, "Harbour", 24, bold=True)
    assert counts == Text(24.0, 60, "7 entities, 7 relations, 3 communities at depth 1", 15, "soft")
    scene = compose_scene(drawing, 1)
    assert (scene.width, scene.title) == (1600.0, "Harbour: communities at depth 1")
    assert compose_scene(replace(drawing, name=""), 0).title == "Communities: communities at depth 0"
    assert scene.height == 500 + 84 + 24


def test_the_legend_shows_hues_three_degrees_and_what_is_left_out(drawing: Drawing) -> None:
    shapes = draw_legend(drawing, 0, Tally(3, 1, 1, 2))
    texts = [s.text for s in shapes if isinstance(s, Text) and s.text]
    assert texts[:3] == ["Colour: community at depth 0", "Group 1 (3)", "Group 0 (2)"]
    said = " ".join(texts)
    assert "Inside communities 3 of 3 relations: the strongest" in said
    assert "Between communities 1 of 1 pairs" in said
    assert "Left out: 2 entities of the lowest degree, and 2 relations with them." in said
    assert "2 names found no room." in said
    assert "Tones" not in said
    assert "Tones of a colour tell communities of depth 1 apart." in " ".join(
        s.text for s in draw_legend(drawing, 1, Tally(3, 1, 1, 0)) if isinstance(s, Text)
    )
    circles = [s for s in shapes if isinstance(s, Disc) and s.paint == "soft"]
    assert [s.radius for s in circles] == [4.0, 9.0, 9.0]  # the median 2, and near 8 and at 9 the same entity
    assert [s.x for s in circles] == [LEFT + 4, LEFT + 58 + 9, LEFT + 58 + 68 + 9]
    degrees = [(s.x, s.text) for s in shapes if isinstance(s, Text) and s.text in ("2", "8", "9")]
    assert degrees == [(LEFT + 14, "2"), (LEFT + 58 + 24, "8"), (LEFT + 126 + 24, "9")]


def test_what_stands_apart_is_below_a_line_in_rows(drawing: Drawing) -> None:
    below = replace(drawing, apart=np.array([False, False, False, False, True]))
    shapes = compose_scene(below, 0).shapes
    rule = next(s for s in shapes if isinstance(s, Stroke) and s.paint == "faint")
    assert (rule.start, rule.end) == (complex(24, 560), complex(24 + MAP, 560))
    said = next(s for s in shapes if isinstance(s, Text) and s.text.startswith("Linked to"))
    assert (said.x, said.y) == (24.0, 572.0)
    assert any("Below the line: 1 entity linked" in s.text for s in shapes if isinstance(s, Text))


def test_a_map_stands_in_the_middle_of_its_width_from_the_top() -> None:
    """A small graph is not blown up to the width; what stands apart begins at the left, below."""
    made = lay_out_drawing(graph(60, 20, apart=20), levels(60, 20))
    drawn = made.reaches[0] > 0
    left = (made.discs[0].real - made.reaches[0])[drawn].min()
    right = (made.discs[0].real + made.reaches[0])[drawn].max()
    assert 0 < left == pytest.approx(MAP - right)
    tops, bottoms = made.discs[0].imag - made.reaches[0], made.discs[0].imag + made.reaches[0]
    assert bottoms[drawn].max() == pytest.approx(made.border - 46.0)
    assert tops[drawn].min() == pytest.approx(0.0, abs=1e-9)
    apart = made.places[made.apart]
    reach = made.radius[made.apart] + 2.0
    assert apart.real.min() == pytest.approx(reach.max())
    assert apart.imag.min() == pytest.approx(made.border + reach.max())
    gaps = np.diff(np.sort(apart.real))
    assert gaps == pytest.approx(np.full(len(gaps), 2 * reach.max()))


SHAPES = (
    Disc(10, 20, 5.04, "c0a", 0.5, 0.8, 'x & "y"'),
    Disc(-0.04, 2, 3, "ink"),
    Stroke(0j, 10 + 5j, "faint", 1.0),
    Stroke(1j, 10 + 0j, "link", 2.5, 0.25, 5 + 5.25j),
    Text(5, 6.25, "a < b", 12.0),
    Text(5, 6, "b", 12.5, "soft", "end", bold=True, halo=True),
)


def test_an_svg_is_written_as_its_shapes_say() -> None:
    lines = render_svg(Scene(100.04, 50.5, "a <t>", SHAPES)).splitlines()
    assert lines[0] == (
        '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="50.5" viewBox="0 0 100 50.5" role="img">'
    )
    assert lines[1] == "<title>a &lt;t&gt;</title>"
    assert lines[3:] == [
        '<rect width="100%" height="100%" class="f-paper"/>',
        '<g class="f-c0a s-c0a" fill-opacity="0.5" stroke-width="0.8" stroke-opacity=".45">',
        '<circle cx="10" cy="20" r="5"><title>x &amp; &quot;y&quot;</title></circle>',
        "</g>",
        '<g class="f-ink">',
        '<circle cx="0" cy="2" r="3"/>',
        "</g>",
        '<g class="s-faint" stroke-width="1" stroke-opacity="1">',
        '<path d="M0 0L10 5"/>',
        "</g>",
        '<g class="s-link" stroke-width="2.5" stroke-opacity="0.25">',
        '<path d="M0 1Q5 5.2 10 0"/>',
        "</g>",
        '<g class="f-ink" font-size="12" text-anchor="start">',
        '<text x="5" y="6.2">a &lt; b</text>',
        "</g>",
        '<g class="f-soft b h s-paper" font-size="12.5" text-anchor="end">',
        '<text x="5" y="6">b</text>',
        "</g>",
        "</svg>",
    ]
    assert ".f-c0a{fill:#0072b2}.s-c0a{stroke:#0072b2}" in lines[2]


def pixels(*shapes: Any) -> np.ndarray:
    """The picture of some shapes on paper of 60 by 40, as red, green and blue."""
    image = pytest.importorskip("PIL.Image")
    return np.asarray(image.open(BytesIO(render_png(Scene(60, 40, "", shapes)))).convert("RGB")).astype(int)


def near(colour: np.ndarray, wanted: str) -> bool:
    return abs(colour - [int(wanted[i : i + 2], 16) for i in (1, 3, 5)]).max() <= 12


def test_a_png_has_each_shape_where_it_stands() -> None:
    found = pixels(Disc(20, 10, 5, "c0a"), Stroke(5 + 30j, 55 + 30j, "ink", 4.0))
    assert found.shape == (40, 60, 3)
    assert near(found[10, 20], "#0072b2")
    assert near(found[10, 23], "#0072b2")
    assert near(found[10, 27], "#ffffff")
    assert near(found[30, 30], "#1c1e22")
    assert near(found[28, 30], "#1c1e22")
    assert near(found[33, 30], "#ffffff")
    assert near(found[30, 2], "#ffffff")


def test_a_png_has_texts_with_light_around_them_where_they_ask_for_it() -> None:
    dark = Disc(30, 20, 60, "ink")
    plain, light = (
        pixels(dark, Text(30, 20, "HH", 16, "paper", "middle")),
        pixels(dark, Text(30, 20, "HH", 16, "ink", "middle", halo=True)),
    )
    assert plain.max() > 240 > 60 > plain.min()
    assert light.max() > 200
    (rows, columns) = np.nonzero(pixels(Text(30, 20, "HH", 16, "ink", "middle")).sum(axis=2) < 300)
    assert 10 < rows.min() <= rows.max() < 30
    assert abs((columns.min() + columns.max()) / 2 - 30) <= 2
    start = np.nonzero(pixels(Text(30, 20, "HH", 16)).sum(axis=2) < 300)[1]
    end = np.nonzero(pixels(Text(30, 20, "HH", 16, anchor="end")).sum(axis=2) < 300)[1]
    assert end.max() <= 30 <= start.min()
    bold = pixels(Text(30, 20, "HH", 16, "ink", "middle", bold=True))
    assert bold.sum() < pixels(Text(30, 20, "HH", 16, "ink", "middle")).sum()


def test_a_curve_goes_by_its_control_point_half_way() -> None:
    found = pixels(Stroke(5 + 30j, 55 + 30j, "ink", 3.0, 1.0, 30 - 10j))
    assert near(found[10, 30], "#1c1e22")  # half of 30 and −10
    assert near(found[30, 30], "#ffffff")


def test_the_chart_of_intervals_has_its_rows_at_their_heights() -> None:
    rows = (Mean("bm25", 0.5, 0.4, 0.6, "note", base=True), Mean("walk", 0.25, 0.0, 1.0))
    scene = draw_interval_chart("R@5", [Panel("towns", rows), Panel("hills", rows[:1])])
    zero = 48 + 7.5 * 4
    assert (scene.width, scene.height) == (zero + 480 + 260, 56 + (40 + 52 + 34) + (40 + 26 + 34))
    texts = [(s.x, s.y, s.text) for s in scene.shapes if isinstance(s, Text)]
    assert texts[:2] == [(24.0, 32.0, "R@5"), (24.0, 70.0, "towns")]
    assert texts[2:8] == [(zero + 4.8 * t, 148.0, str(t)) for t in (0, 20, 40, 60, 80, 100)]
    assert texts[8:13] == [
        (zero - 14, 96.0, "bm25"), (zero + 498, 96.0, "50.0"), (zero + 544, 96.0, "note"), (zero - 14, 122.0, "walk"),
        (zero + 498, 122.0, "25.0"),
    ]  # fmt: skip
    assert texts[13] == (24.0, 196.0, "hills")
    ticks = [(s.start.imag, s.end.imag) for s in scene.shapes if isinstance(s, Stroke) and s.paint == "faint"]
    assert ticks == [(83.0, 135.0)] * 6 + [(209.0, 235.0)] * 6
    discs = [(s.x, s.y, s.paint, s.title) for s in scene.shapes if isinstance(s, Disc)]
    assert discs[:2] == [
        (zero + 240, 96.0, "c3a", "bm25: 50.0 [40.0, 60.0]"),
        (zero + 120, 122.0, "c0a", "walk: 25.0 [0.0, 100.0]"),
    ]
    assert draw_interval_chart("R" * 200, []).width == 48 + 1.2 * 7.5 * 200


def test_boxes_meet_where_they_share_more_than_an_edge() -> None:
    box = Box(0, 0, 10, 10)
    assert [box.meets(Box(x, 0, 10, 10)) for x in (9, 10, 11)] == [True, False, False]
    assert [box.meets(Box(0, y, 10, 10)) for y in (9, 10, 11)] == [True, False, False]
    assert [Box(x, 0, 4, 4).inside(box) for x in (0, 3, -3, 4)] == [True, True, True, False]
    assert [Box(0, y, 4, 4).inside(box) for y in (3, 4)] == [True, False]
    assert not Box(0, 0, 12, 4).inside(box)
    assert [box.meets(Box(10 - d, 0, 10, 10)) for d in (4e-10, 2e-9)] == [False, True]  # rounding is an edge
    assert [box.meets(Box(0, 10 - d, 10, 10)) for d in (4e-10, 2e-9)] == [False, True]
    assert [Box(3 + d, 0, 4, 4).inside(box) for d in (4e-10, 2e-9)] == [True, False]
    assert [Box(0, 3 + d, 4, 4).inside(box) for d in (4e-10, 2e-9)] == [True, False]


def test_a_label_is_placed_where_it_first_fits_and_counted_where_it_does_not() -> None:
    here, there = Label(0, 0, ("ab",), 10), Label(0, 40, ("ab",), 10)
    canvas = Box(0, 0, 200, 200)
    assert place_labels([[here], [here, there], [here, there]], canvas) == ([here, there], 1)
    assert place_labels([[here, there]], canvas, [here]) == ([there], 0)
    assert place_labels([[]], canvas) == ([], 1)
    assert here.box == Box(0, 0, 13.0, 12.0)
    assert Label(0, 0, ("a", "abc"), 10, bold=True).box == Box(0, 0, pytest.approx(1.85 * 10 * 1.1), 24.0)


def test_words_are_wrapped_by_their_width_and_cut_with_an_ellipsis() -> None:
    assert wrap_text("aa bb cc", 10, 30.0, 3) == ("aa bb", "cc")  # 13 + 4 + 13
    assert wrap_text("aa bb cc", 10, 29.9, 3) == ("aa", "bb cc")
    assert wrap_text("aaaaa", 10, 26.0, 3) == ("aaaa", "a")
    assert wrap_text("aa bb cc", 10, 30.0, 1) == ("aa…",)
    assert wrap_text("aa, bb cc", 10, 42.0, 1) == ("aa, b…",)
    assert wrap_text("", 10, 30.0, 2) == ()
    assert (shorten_text("ab cd", 5), shorten_text("ab cde", 5), shorten_text("abcdef", 5)) == ("ab cd", "ab…", "abcd…")


def test_colours_are_mixed_with_white_or_black() -> None:
    assert (tint_colour("#808080", 0.5), tint_colour("#808080", -0.5), tint_colour("#808080", 0.0)) == (
        "#c0c0c0",
        "#404040",
        "#808080",
    )
    assert find_colour("paper") == ("#ffffff", "#14161a")
    assert find_colour("c12a")[0] == "#a8a8a8"
    assert find_colour("c0b")[0] == tint_colour("#0072b2", 0.35)
    assert find_colour("c0c")[1] == tint_colour("#0072b2", -0.28)
