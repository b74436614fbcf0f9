"""Names on a picture: none over another, none off the canvas, none wider than measured."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pictured import graph, levels
from sensegraph.graphs.drawing.drawing import lay_out_drawing
from sensegraph.graphs.drawing.scene import place_names
from sensegraph.graphs.drawing.shapes import Box, Label, measure_text, place_labels, shorten_text, wrap_text

CANVAS = Box(0, 0, 200, 200)
spot = st.builds(
    Label,
    st.integers(-120, 120).map(float),
    st.integers(-120, 120).map(float),
    st.lists(st.text("abcdefgh WM", min_size=1, max_size=12), min_size=1, max_size=3).map(tuple),
    st.integers(6, 18).map(float),
    st.booleans(),
)


def overlap(a: Box, b: Box) -> float:
    """The area that two rectangles share."""
    wide = min(a.x + a.width / 2, b.x + b.width / 2) - max(a.x - a.width / 2, b.x - b.width / 2)
    high = min(a.y + a.height / 2, b.y + b.height / 2) - max(a.y - a.height / 2, b.y - b.height / 2)
    return max(wide, 0) * max(high, 0)


@given(st.lists(st.lists(spot, max_size=4), max_size=12))
def test_no_two_labels_share_any_area_and_none_leaves_the_canvas(wanted: list[list[Label]]):
    found, lost = place_labels(wanted, CANVAS)
    assert len(found) + lost == len(wanted)
    assert [1 for a, b in combinations(found, 2) if overlap(a.box, b.box) > 1e-6] == []
    for label in found:
        assert overlap(label.box, CANVAS) == pytest.approx(label.box.width * label.box.height)


@given(st.lists(spot, min_size=1, max_size=12))
def test_the_first_place_that_is_free_is_taken(choices: list[Label]):
    found, _ = place_labels([choices], CANVAS)
    free = [c for c in choices if c.box.inside(CANVAS)]
    assert found == free[:1]


def test_labels_keep_off_those_that_are_there_already():
    there = Label(0, 0, ("here",), 12)
    assert place_labels([[Label(3, 3, ("there",), 12)]], CANVAS, [there]) == ([], 1)


@pytest.mark.parametrize("depth", [0, 1])
def test_no_two_names_of_a_picture_overlap_g53(depth: int):
    titles = {n: f"The long title of community number {n} and what it is about" for n in range(12)}
    made = lay_out_drawing(graph(360, 30), levels(360, 30, titles))
    labels, lost = place_names(made, depth, 40)
    assert len(labels) > 20
    assert [1 for a, b in combinations(labels, 2) if overlap(a.box, b.box) > 1e-6] == []
    assert len(labels) + lost == min(40, len(made.communities[depth])) + 70


@given(st.text(max_size=80), st.integers(1, 4))
def test_wrapped_lines_are_never_wider_than_asked_nor_more(text: str, lines: int):
    rows = wrap_text(text, 10, 60, lines)
    assert bool(rows) == bool(text.split())
    assert len(rows) <= lines
    assert all(measure_text(row, 10) <= 60 for row in rows)


@given(st.text("abc ", max_size=60))
def test_wrapping_loses_no_word_where_there_is_room(text: str):
    assert " ".join(wrap_text(text, 10, 400, 99)).split() == text.split()


def test_what_is_cut_ends_with_an_ellipsis():
    assert wrap_text("one two three four five six seven", 10, 60, 2)[-1].endswith("…")
    assert shorten_text("one two three", 9) == "one two…"
    assert shorten_text("one  two", 9) == "one two"


def test_wide_letters_and_bold_ones_need_more_room():
    assert measure_text("MMM", 10) > measure_text("lll", 10)
    assert measure_text("word", 10, bold=True) > measure_text("word", 10)
    assert measure_text("漢字", 10) == 20
    assert measure_text("é", 10) == measure_text("e", 10) == measure_text("e\u0301", 10)


def test_no_text_is_wider_in_the_font_of_the_pictures_than_it_is_measured():
    image_font = pytest.importorskip("PIL.ImageFont")
    face = image_font.load_default(100)
    for text in ("Intelligence, Oren Etzioni and model", "Will it fit? (12,345)", "Jacob Collier", "MMWW @ 100%"):
        assert 0 < face.getlength(text) <= measure_text(text, 100)
