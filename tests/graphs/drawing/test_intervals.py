"""The chart of means with intervals: every mark where its number says, and a file that anything can read."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.graphs.drawing.interval_chart import Mean, Panel, draw_interval_chart
from sensegraph.graphs.drawing.rendering import render_svg
from sensegraph.graphs.drawing.shapes import Disc, Scene, Stroke, Text

shares = st.lists(st.floats(0, 1), min_size=3, max_size=3).map(sorted)


def one(low: float, mean: float, high: float, **more: object) -> Scene:
    return draw_interval_chart("R@5", [Panel("towns", (Mean("bm25", mean, low, high, **more),))])  # type: ignore[arg-type]


def scale(scene: Scene) -> tuple[float, float]:
    """Where 0 and 100 percent lie: the ends of the upright lines."""
    places = sorted(s.start.real for s in scene.shapes if isinstance(s, Stroke) and s.start.real == s.end.real)
    return places[0], places[-1]


@given(shares)
def test_a_mean_and_the_ends_of_its_interval_lie_where_the_scale_says(found: list[float]):
    low, mean, high = found
    scene = one(low, mean, high)
    zero, full = scale(scene)
    (disc,) = (s for s in scene.shapes if isinstance(s, Disc))
    line = next(s for s in scene.shapes if isinstance(s, Stroke) and s.width > 2)
    assert (disc.x - zero) / (full - zero) == pytest.approx(mean, abs=1e-6)
    assert (line.start.real - zero) / (full - zero) == pytest.approx(low, abs=1e-6)
    assert (line.end.real - zero) / (full - zero) == pytest.approx(high, abs=1e-6)


def test_rows_of_all_panels_share_one_scale_and_do_not_overlap():
    rows = (Mean("a", 0.5, 0.4, 0.6), Mean("b", 0.5, 0.4, 0.6))
    scene = draw_interval_chart("R@5", [Panel("one", rows), Panel("two", rows[:1])])
    discs = [s for s in scene.shapes if isinstance(s, Disc)]
    assert len({d.x for d in discs}) == 1
    heights = [d.y for d in discs]
    assert all(below - above > 12 for above, below in pairwise(heights))
    assert max(heights) < scene.height


def test_a_long_name_moves_the_scale_and_the_picture_grows():
    short, long = (
        one(0, 0.5, 1),
        draw_interval_chart("R@5", [Panel("towns", (Mean("hybrid:fusion=rrf:k=20:hops=2", 0.5, 0, 1),))]),
    )
    assert scale(long)[0] > scale(short)[0]
    assert long.width > short.width


def test_the_baseline_has_a_colour_of_its_own_and_notes_stand_behind():
    base, other = one(0, 0.5, 1, base=True), one(0, 0.5, 1, note="+2.0 (p 0.030)")
    paints = [next(s.paint for s in scene.shapes if isinstance(s, Disc)) for scene in (base, other)]
    assert paints[0] != paints[1]
    note = next(s for s in other.shapes if isinstance(s, Text) and s.text == "+2.0 (p 0.030)")
    assert scale(other)[1] < note.x < other.width


def test_names_with_markup_are_written_as_they_are():
    scene = draw_interval_chart("a < b", [Panel("<set> & co", (Mean("<m>", 0.5, 0.4, 0.6),))])
    texts = [e.text for e in ElementTree.fromstring(render_svg(scene)).iter() if e.tag.endswith("}text")]
    assert {"a < b", "<set> & co", "<m>"} <= set(texts)
