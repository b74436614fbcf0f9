"""What a drawing shows of a graph: every entity once, sized by degree, in its community's disc and colour (G53)."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pictured import cluster, entity, graph, levels, relation
from sensegraph.errors import InputError
from sensegraph.graphs.drawing.drawing import MAP, Drawing, lay_out_drawing
from sensegraph.graphs.drawing.rendering import render_html, render_svg
from sensegraph.graphs.drawing.scene import (
    Tally,
    bundle_links,
    choose_paints,
    compose_scene,
    draw_legend,
    find_inner_links,
    rank_hues,
)
from sensegraph.graphs.drawing.shapes import GREY, HUES, LINE, Disc, Stroke, Text, find_colour, split_rgb
from sensegraph.types import Graph


@pytest.fixture(scope="module")
def drawing() -> Drawing:
    return lay_out_drawing(graph(300, 30, apart=12), levels(300, 30), name="Harbour")


def test_every_entity_has_a_place_on_the_map(drawing: Drawing):
    assert len(drawing.places) == 300
    assert (drawing.places.real - drawing.radius >= -1e-6).all()
    assert (drawing.places.real + drawing.radius <= MAP + 1e-6).all()
    assert (drawing.places.imag - drawing.radius >= -1e-6).all()
    assert (drawing.places.imag + drawing.radius <= drawing.height + 1e-6).all()


def test_no_two_entities_overlap_on_the_canvas(drawing: Drawing):
    i, j = np.triu_indices(300, 1)
    far = abs(drawing.places[i] - drawing.places[j])
    assert (far >= drawing.radius[i] + drawing.radius[j] - 1e-6).all()


def test_radius_grows_with_the_root_of_the_degree(drawing: Drawing):
    degree = np.array([e.degree for e in drawing.entities])
    assert len(set(degree[~drawing.apart])) > 2
    order = np.argsort(degree[~drawing.apart])
    assert (np.diff(drawing.radius[~drawing.apart][order]) >= 0).all()
    slope = np.polyfit(np.sqrt(degree[~drawing.apart]), drawing.radius[~drawing.apart], 1)
    assert np.allclose(np.polyval(slope, np.sqrt(degree[~drawing.apart])), drawing.radius[~drawing.apart])


def test_every_entity_lies_in_the_disc_of_its_community_at_both_depths(drawing: Drawing):
    main = ~drawing.apart
    assert main.sum() > 200
    assert len(drawing.discs) == 2
    for label, at, reach in zip(drawing.labels, drawing.discs, drawing.reaches, strict=True):
        far = abs(drawing.places - at[label]) + drawing.radius
        assert (far[main] <= reach[label][main] + 1e-6).all()


def test_entities_without_links_stand_below_the_border(drawing: Drawing):
    assert drawing.apart.sum() == 12
    assert (drawing.places.imag[drawing.apart] > drawing.border).all()
    assert (drawing.places.imag[~drawing.apart] < drawing.border).all()


def test_communities_have_the_colour_of_the_one_of_depth_0_around_them(drawing: Drawing):
    for depth in (0, 1):
        for name, label in zip(choose_paints(drawing, depth), range(len(drawing.communities[depth])), strict=True):
            root = drawing.labels[0][drawing.labels[depth] == label][0]
            assert name[1:-1] == str(min(int(rank_hues(drawing)[root]), len(HUES)))
    assert len({*choose_paints(drawing, 0)}) == 10


def test_beyond_the_last_hue_communities_are_grey():
    many = lay_out_drawing(graph(160, 10), levels(160, 10))
    assert [find_colour(name)[0] for name in choose_paints(many, 0)].count(GREY) == 4


def test_only_a_spanning_forest_is_drawn_inside_communities_and_few_bundles_between(drawing: Drawing):
    label = drawing.labels[0]
    drawn = find_inner_links(drawing, 0)
    assert (label[drawing.edges.source] == label[drawing.edges.target])[drawn].all()
    assert drawn.sum() < len(drawing.entities)
    bundles = bundle_links(drawing, 0)
    assert bundles.drawn.sum() <= 15
    kept, left = bundles.edges.weight[bundles.drawn], bundles.edges.weight[~bundles.drawn]
    assert len(kept) >= 9  # ten communities are held together
    assert kept.max() >= left.max(initial=0)


def test_the_legend_says_what_is_left_out_in_numbers(drawing: Drawing):
    picture = compose_scene(drawing, 0)
    said = " ".join(s.text for s in picture.shapes if isinstance(s, Text))
    lines = [s for s in picture.shapes if isinstance(s, Stroke) and s.bend is None and s.paint.startswith("c")]
    label, edges = drawing.labels[0], drawing.edges
    within = int((label[edges.source] == label[edges.target]).sum())
    assert f"Inside communities {len(lines)} of {within} relations" in said
    bundles = bundle_links(drawing, 0)
    assert f"Between communities {bundles.drawn.sum()} of {len(bundles.drawn)} pairs" in said
    assert "Below the line: 12 entities" in said
    assert "300 entities" in said


def test_every_entity_is_one_circle_with_its_name_and_degree(drawing: Drawing):
    titles = [s.title for s in compose_scene(drawing, 1).shapes if isinstance(s, Disc)]
    assert len(titles) > 200
    assert [t for e in drawing.entities if titles.count(t := f"{e.name} ({e.degree})") != 1] == []


def test_beyond_the_limit_the_best_linked_entities_are_drawn_and_the_others_counted():
    whole = graph(120, 30)
    few = lay_out_drawing(whole, levels(120, 30), most=50)
    assert (len(few.entities), few.left_out) == (50, 70)
    least = min(e.degree for e in few.entities)
    kept = {e.id for e in few.entities}
    assert all(e.degree <= least for e in whole.entities if e.id not in kept)
    assert "Left out: 70 entities" in render_svg(compose_scene(few, 0))


def test_a_graph_of_islands_only_is_drawn_whole():
    alone = Graph(tuple(entity(i, 0) for i in range(9)))
    made = lay_out_drawing(alone, [tuple(cluster(0, i, range(i, i + 1)) for i in range(9))])
    assert not made.apart.any()
    assert "9 entities" in render_svg(compose_scene(made, 0))


def test_one_entity_is_drawn():
    made = lay_out_drawing(Graph((entity(0, 0),)), [(cluster(0, 0, range(1)),)])
    assert "1 entity, 0 relations, 1 community at depth 0" in render_svg(compose_scene(made, 0))


def test_a_pair_is_drawn_without_being_blown_up():
    made = lay_out_drawing(Graph((entity(0, 1), entity(1, 1)), (relation(0, 1),)), [(cluster(0, 0, range(2)),)])
    assert made.radius.max() < 10


def test_nothing_to_draw_is_refused_with_what_to_do():
    with pytest.raises(InputError, match="index documents"):
        lay_out_drawing(Graph(), [])


def test_an_entity_in_no_community_is_refused():
    with pytest.raises(InputError, match="'Name 1' is in no community"):
        lay_out_drawing(Graph((entity(0, 0), entity(1, 0))), [(cluster(0, 0, range(1)),)])


def test_communities_that_do_not_nest_are_refused():
    crossing = [levels(9, 6)[0], tuple(cluster(1, n, range(b, b + 3)) for n, b in enumerate((0, 3, 6)))]
    assert lay_out_drawing(graph(9, 6), crossing).labels[1].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    with pytest.raises(InputError, match="depth 1 do not lie inside those of depth 0"):
        lay_out_drawing(graph(9, 6), [levels(9, 6)[0], (cluster(1, 0, range(2)), cluster(1, 1, range(2, 9)))])


def test_a_depth_that_was_not_laid_out_is_refused(drawing: Drawing):
    for refused in (lambda: compose_scene(drawing, 2), lambda: render_html(drawing, (0, 7))):
        with pytest.raises(InputError, match="has the depths 0 to 1"):
            refused()


CODE = """
import hashlib
from pictured import graph, levels
from sensegraph.graphs.drawing.drawing import lay_out_drawing
from sensegraph.graphs.drawing.rendering import render_html, render_png, render_svg
from sensegraph.graphs.drawing.scene import compose_scene
made = lay_out_drawing(graph(90, 15, apart=5), levels(90, 15), seed=3)
whole = "".join(render_svg(compose_scene(made, d)) for d in (0, 1)) + render_html(made)
print(hashlib.sha256(whole.encode() + render_png(compose_scene(made, 0))).hexdigest())
"""


@pytest.mark.slow
def test_equal_graphs_give_equal_bytes_for_any_hash_seed():
    folder = str(Path(__file__).parents[2])
    runs = [
        subprocess.run(
            [sys.executable, "-c", CODE], env={"PYTHONHASHSEED": seed, "PYTHONPATH": folder}, capture_output=True
        )
        for seed in ("0", "1")
    ]
    assert [r.stderr for r in runs] == [b"", b""]
    assert runs[0].stdout == runs[1].stdout


def test_another_seed_gives_another_layout(drawing: Drawing):
    other = lay_out_drawing(graph(300, 30, apart=12), levels(300, 30), seed=1)
    assert (other.places != drawing.places).any()


def test_renamed_entities_stand_where_they_stood(drawing: Drawing):
    whole = graph(300, 30, apart=12)
    renamed = replace(whole, entities=tuple(replace(e, name=e.name[::-1]) for e in whole.entities))
    assert (lay_out_drawing(renamed, levels(300, 30)).places == drawing.places).all()


# ── colours ──

_RGB_TO_LMS = np.array(
    [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
     [0.0883024619, 0.2817188376, 0.6299787005]]
)  # fmt: skip
_LMS_TO_LAB = np.array(
    [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
     [0.0259040371, 0.7827717662, -0.8086757660]]
)  # fmt: skip
_SIGHTS = {  # Machado, Oliveira and Fernandes (2009), severity 1
    "normal": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}  # fmt: skip


@pytest.mark.parametrize("sight", sorted(_SIGHTS))
def test_every_two_hues_and_the_grey_can_be_told_apart(sight: str):
    part = np.array([split_rgb(c) for c in (*HUES, GREY)]) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    seen = np.cbrt(np.clip(linear @ _SIGHTS[sight].T, 0, 1) @ _RGB_TO_LMS.T) @ _LMS_TO_LAB.T
    i, j = np.triu_indices(len(seen), 1)
    assert np.linalg.norm(seen[i] - seen[j], axis=1).min() > 0.07  # OKLab; about 0.02 is just noticeable


def test_rows_of_the_legend_stand_a_line_and_four_units_below_each_other(drawing: Drawing):
    shapes = draw_legend(drawing, 0, Tally(1, 2, 3, 0))
    marks = [s for s in shapes if isinstance(s, Disc) and s.radius == 6]
    count = min(len(drawing.communities[0]), len(HUES) + 1)
    assert len(marks) == count > 2
    steps = np.diff([s.y for s in marks])
    assert steps == pytest.approx([13 * LINE * len_of(drawing, i) + 4 for i in range(count - 1)])
    heads = {s.text: s.y for s in shapes if isinstance(s, Text) and s.bold}
    assert marks[0].y - heads["Colour: community at depth 0"] == pytest.approx(14 * LINE / 2 + 4 + 13 * LINE / 2)


def len_of(drawing: Drawing, rank: int) -> int:
    """Lines of a community's title in the legend."""
    c = sorted(drawing.communities[0], key=lambda c: -c.entities)[rank]
    return 1 if len(c.title) < 20 else 2
