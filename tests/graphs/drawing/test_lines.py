"""Lines over numbers, in plots one above the other."""

from itertools import pairwise
from math import isfinite

from hypothesis import given
from hypothesis import strategies as st

from line_plots import Line, Plot, draw_line_plots, round_ticks
from sensegraph.graphs.drawing.rendering import render_svg
from sensegraph.graphs.drawing.shapes import Disc, Stroke, Text

RISE = Line("rise", ((0, 1.0), (10, 2.0), (20, 3.0)))
FALL = Line("fall", ((0, 3.0), (10, 2.5), (20, 1.0)))


def test_a_line_has_a_disc_a_point_and_a_stroke_between_each_two() -> None:
    shapes = draw_line_plots("Both", [Plot("One", (RISE, FALL))]).shapes
    assert sum(isinstance(s, Disc) for s in shapes) == 6
    assert sum(isinstance(s, Stroke) and s.paint != "faint" for s in shapes) == 4


def test_higher_numbers_stand_higher_and_later_ones_further_right() -> None:
    low, middle, high = (s for s in draw_line_plots("", [Plot("", (RISE,))]).shapes if isinstance(s, Disc))
    assert low.y > middle.y > high.y
    assert low.x < middle.x < high.x


def test_names_of_lines_that_end_together_stand_apart() -> None:
    lines = tuple(Line(f"line {i}", ((0, 1.0), (1, 2.0))) for i in range(3))
    named = [
        s.y for s in draw_line_plots("", [Plot("", lines)]).shapes if isinstance(s, Text) and s.text.startswith("line")
    ]
    assert len(named) == 3
    assert all(b - a >= 15 for a, b in pairwise(named))


def test_each_plot_has_its_place_and_one_without_points_has_none() -> None:
    one, two = (
        draw_line_plots("", [Plot("A", (RISE,))]),
        draw_line_plots("", [Plot("A", (RISE,)), Plot("B", (FALL,)), Plot("C", ())]),
    )
    assert two.height > one.height
    assert [s.text for s in two.shapes if isinstance(s, Text) and s.bold] == ["", "A", "B"]


def test_the_picture_says_what_a_point_is() -> None:
    assert "<title>rise, 10: 2</title>" in render_svg(draw_line_plots("Both", [Plot("One", (RISE,))]))


def test_a_line_that_is_flat_or_a_single_point_is_drawn() -> None:
    for points in (((0, 1.0), (5, 1.0)), ((3, 0.0),)):
        (*_, last) = (s for s in draw_line_plots("", [Plot("", (Line("flat", points),))]).shapes if isinstance(s, Disc))
        assert isfinite(last.x + last.y)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_few_and_reach_from_end_to_end(low: float, span: float) -> None:
    found = round_ticks(low, low + span)
    slack = 1e-6 * (abs(low) + span)
    assert 2 <= len(found) <= 8
    assert found[0] <= low + slack
    assert found[-1] >= low + span - slack
    assert found == sorted(found)
