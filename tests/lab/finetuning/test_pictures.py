"""Losses as lines, answers as points (R25): what is drawn, and what cannot be."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from sensegraph.errors import InputError
from sensegraph.graphs.drawing.shapes import HUES, Disc, Stroke, Text, name_paint
from sensegraph.lab.finetuning import pictures
from sensegraph.lab.finetuning.training.training_run import Point

POINTS = [Point(n, 4.0 / n, 2.0 if n % 50 == 0 else None) for n in range(1, 201)]


def test_the_training_loss_is_drawn_as_means_and_the_held_out_loss_where_it_was_taken():
    trained, watched = pictures.collect_losses(POINTS)
    assert len(trained.points) == 50
    assert trained.points[0] == (4.0, pytest.approx(np.mean([4, 2, 4 / 3, 1])))
    assert watched.points == ((50, 2.0), (100, 2.0), (150, 2.0), (200, 2.0))


def test_every_point_of_a_curve_lies_in_the_field_and_higher_is_higher():
    scene = pictures.draw_losses("a title", [pictures.Series("s", ((1.0, 3.0), (2.0, 1.0)))])
    dots = {d.title: d for d in scene.shapes if isinstance(d, Disc) and d.title}
    assert dots["s, 1: 3"].y < dots["s, 2: 1"].y
    assert all(0 < d.x < scene.width and 0 < d.y < scene.height for d in dots.values())
    assert scene.shapes[0] == Text(24.0, 32.0, "a title", 16.0, bold=True)
    assert any(isinstance(s, Stroke) for s in scene.shapes)


def test_pictures_are_written_as_svg_and_png(tmp_path: Path):
    scene = pictures.draw_losses("a title", pictures.collect_losses(POINTS))
    drawn, painted = pictures.write_pictures(scene, tmp_path, "a")
    assert drawn.read_text("utf-8").startswith("<svg")
    assert painted.read_bytes().startswith(b"\x89PNG")


def test_nothing_to_draw_is_said():
    with pytest.raises(InputError, match="no loss to draw"):
        pictures.draw_losses("a title", pictures.collect_losses([]))
    with pytest.raises(InputError, match="two of them"):
        pictures.project_answers(np.zeros((1, 3), np.float32))


def test_answers_far_apart_stay_apart_and_each_arm_has_a_panel_with_its_groups_r25():
    vectors = np.repeat(np.eye(2, 8, dtype=np.float32), 3, axis=0)
    points, share = pictures.project_answers(vectors)
    assert share == pytest.approx(1.0)
    places = [pictures.Place(arm, group, "t") for arm in ("RAFT", "GRAFT") for group in ("global",) * 2 + ("local",)]
    scene = pictures.draw_answer_map("Answers", points, places)
    texts = [s.text for s in scene.shapes if isinstance(s, Text)]
    assert {"RAFT", "GRAFT", "global", "local"} <= set(texts)
    dots = [s for s in scene.shapes if isinstance(s, Disc) and s.title]
    assert len(dots) == 6
    assert len({d.paint for d in dots}) == 2


def test_equal_answers_are_one_place_in_the_middle():
    points, share = pictures.project_answers(np.ones((3, 4), np.float32))
    scene = pictures.draw_answer_map("Answers", points, [pictures.Place("RAFT", "", "t")] * 3)
    dots = [s for s in scene.shapes if isinstance(s, Disc) and s.title]
    assert share == 0.0
    assert len({(d.x, d.y) for d in dots}) == 1


def test_an_axis_ends_at_the_next_round_number():
    steps = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]
    for power in (0.01, 1, 1000):
        for below, step in pairwise(steps):
            assert pictures._round_up(step * power) == pytest.approx(step * power)
            assert pictures._round_up((below + step) / 2 * power) == pytest.approx(step * power)
            assert pictures._round_up(below * power * 1.001) == pytest.approx(step * power)
    assert (pictures._round_up(0), pictures._round_up(-2)) == (1.0, 1.0)


LINES = (pictures.Series("one", ((10.0, 3.5), (40.0, 1.0))), pictures.Series("two", ((20.0, 0.0),)))


def test_the_field_of_losses_is_720_wide_and_320_high_with_five_ticks_from_0():
    scene = pictures.draw_losses("a title", LINES)
    assert (scene.width, scene.height, scene.title) == (72 + 720 + 48, 84 + 320 + 48 + 24, "a title")
    texts = [s for s in scene.shapes if isinstance(s, Text)]
    up = [(t.x, t.y, t.text) for t in texts if t.anchor == "end"]
    assert up == [
        (64.0, 404.0, "0"), (64.0, 340.0, "0.8"), (64.0, 276.0, "1.6"),
        (64.0, 212.0, "2.4"), (64.0, 148.0, "3.2"), (64.0, 84.0, "4"),
    ]  # fmt: skip
    across = [(t.x, t.y, t.text) for t in texts if t.anchor == "middle"]
    assert across == [
        (72.0, 420.0, "0"), (216.0, 420.0, "8"), (360.0, 420.0, "16"), (504.0, 420.0, "24"), (648.0, 420.0, "32"),
        (792.0, 420.0, "40"), (432.0, 442.0, "step"),
    ]  # fmt: skip
    grid = [s for s in scene.shapes if isinstance(s, Stroke) and s.paint == "faint"]
    assert [(s.start, s.end) for s in grid] == [
        (complex(72, y), complex(792, y)) for y in (404, 340, 276, 212, 148, 84)
    ]
    assert Text(24.0, 66.0, "loss, nats a token", 12.0, "soft") in texts


def test_each_series_has_a_colour_a_line_through_its_points_and_a_legend():
    scene = pictures.draw_losses("a title", LINES)
    one, other = name_paint(0), name_paint(1)
    assert one != other
    first, last, alone = complex(72 + 180, 404 - 280), complex(72 + 720, 404 - 80), complex(72 + 360, 404)
    lines = [s for s in scene.shapes if isinstance(s, Stroke) and s.paint != "faint"]
    assert [(s.start, s.end, s.paint) for s in lines] == [(first, last, one)]
    dots = [(d.x, d.y, d.paint, d.title) for d in scene.shapes if isinstance(d, Disc) and d.title]
    assert dots == [
        (first.real, first.imag, one, "one, 10: 3.5"),
        (last.real, last.imag, one, "one, 40: 1"),
        (alone.real, alone.imag, other, "two, 20: 0"),
    ]
    assert [(d.x, d.y, d.paint) for d in scene.shapes if isinstance(d, Disc) and not d.title] == [
        (262.0, 66.0, one),
        (452.0, 66.0, other),
    ]
    names = [(t.x, t.y, t.text) for t in scene.shapes if isinstance(t, Text) and t.text in ("one", "two")]
    assert names == [(274.0, 66.0, "one"), (464.0, 66.0, "two")]


def test_a_short_training_is_drawn_step_by_step():
    (trained,) = pictures.collect_losses([Point(1, 4.0), Point(2, 2.0)])
    assert (trained.name, trained.points) == ("training", ((1.0, 4.0), (2.0, 2.0)))
    longer, _ = pictures.collect_losses(POINTS)
    assert longer.name == "training, mean of 4 steps"
    assert pictures.collect_losses([Point(n, 1.0) for n in range(51)])[0].points[-1] == (50.0, 1.0)


def test_answers_lie_in_their_panels_scaled_alike_both_ways():
    points = np.array([[0.0, 0.0], [4.0, 2.0], [2.0, 1.0]])
    places = [pictures.Place("A", "x", "p"), pictures.Place("B", "x", "q"), pictures.Place("A", "", "r")]
    scene = pictures.draw_answer_map("Title", points, places)
    dots = [(d.x, d.y, d.title) for d in scene.shapes if isinstance(d, Disc) and d.title]
    assert dots == [(36.0, 380.0, "p"), (174.0, 311.0, "r"), (24 + 328 + 12 + 276, 92 + 12 + 138.0, "q")]
    frames = [s.start for s in scene.shapes if isinstance(s, Stroke)]
    assert frames == [
        complex(24, 92), complex(324, 92), complex(324, 392), complex(24, 392),
        complex(352, 92), complex(652, 92), complex(652, 392), complex(352, 392),
    ]  # fmt: skip
    texts = [(t.x, t.y, t.text) for t in scene.shapes if isinstance(t, Text)]
    assert texts == [
        (24.0, 32.0, "Title"), (40.0, 58.0, "x"), (83.5, 58.0, "(none)"), (24.0, 80.0, "A"), (352.0, 80.0, "B"),
    ]  # fmt: skip
    assert (scene.width, scene.height) == (48 + 656, 92 + 300 + 48)
    wide = pictures.draw_answer_map("T" * 100, points, places)
    assert wide.width == pytest.approx(48 + 7.5 * 1.2 * 100)


def test_the_largest_groups_get_the_colours_and_the_others_are_counted():
    groups = [f"g{i:02}" for i in range(len(HUES) + 2)]
    listed = [groups[-1], *groups, groups[-1]]  # the last one is the largest
    places = [pictures.Place("A", group, "t") for group in listed]
    scene = pictures.draw_answer_map("Title", np.zeros((len(places), 2)), places)
    texts = [t.text for t in scene.shapes if isinstance(t, Text)]
    assert texts[1:-1] == [groups[-1], *groups[: len(HUES) - 1], "grey: 2 more"]
    legend = [d.paint for d in scene.shapes if isinstance(d, Disc) and not d.title]
    assert legend == [name_paint(n) for n in range(len(HUES))]
    dots = [d.paint for d in scene.shapes if isinstance(d, Disc) and d.title]
    assert dots[0] == name_paint(0)
    assert dots[-3] == name_paint(len(HUES))
