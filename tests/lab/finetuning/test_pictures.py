"""Losses as lines, answers as points (R25): what is drawn, and what cannot be."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from sensegraph.errors import InputError
from sensegraph.graphs.drawing.shapes import Disc, Stroke, Text
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
