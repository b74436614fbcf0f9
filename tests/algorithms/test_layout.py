"""Laws of layouts: nothing lies over anything, everything lies in its disc, and equal input gives equal places."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensegraph.algorithms import layout
from sensegraph.algorithms.graphs import Edges, canonical_edges, label_components
from sensegraph.algorithms.layout import Layout, arrange_discs, find_backbone, lay_out_nested


def graph(nodes: int, links: int, seed: int) -> Edges:
    lot = np.random.default_rng(seed)
    pairs = lot.integers(0, nodes, (2, links))
    return canonical_edges(pairs[0], pairs[1], lot.random(links) + 0.1, nodes)


def communities(nodes: int, coarse: int, seed: int) -> list[np.ndarray]:
    """Two depths that nest, numbered without gaps."""
    lot = np.random.default_rng(seed)
    outer = np.unique(lot.integers(0, coarse, nodes), return_inverse=True)[1]
    inner = np.unique(outer * 3 + lot.integers(0, 3, nodes), return_inverse=True)[1]
    return [outer, inner]


def least_gap(places: np.ndarray, radius: np.ndarray) -> float:
    """The room between the nearest two discs; negative where they overlap."""
    i, j = np.triu_indices(len(places), 1)
    return float((abs(places[i] - places[j]) - radius[i] - radius[j]).min(initial=np.inf))


small = st.tuples(st.integers(1, 60), st.integers(0, 120), st.integers(1, 6), st.integers(0, 10**6))


def laid_out(case: tuple[int, int, int, int]) -> tuple[Layout, list[np.ndarray], np.ndarray]:
    nodes, links, coarse, seed = case
    radius = 1 + 5 * np.random.default_rng(seed).random(nodes)
    levels = communities(nodes, coarse, seed)
    return lay_out_nested(graph(nodes, links, seed), levels, radius, seed=seed, gap=2.0), levels, radius


@settings(max_examples=25)
@given(small)
def test_no_two_nodes_overlap_and_a_gap_stays_between_those_of_a_community(case: tuple[int, int, int, int]):
    layout, levels, radius = laid_out(case)
    assert least_gap(layout.places, radius) > 0
    for k in range(int(levels[1].max()) + 1):
        mine = levels[1] == k
        assert least_gap(layout.places[mine], radius[mine]) >= 2.0 - 1e-6


@settings(max_examples=25)
@given(small)
def test_no_two_communities_of_a_depth_overlap(case: tuple[int, int, int, int]):
    layout, levels, _ = laid_out(case)
    assert len(layout.centres) == len(levels) > 0
    for centres, radii in zip(layout.centres, layout.radii, strict=True):
        assert least_gap(centres, radii) >= 2.0 - 1e-6


@settings(max_examples=25)
@given(small)
def test_every_node_lies_in_the_disc_of_its_community_at_every_depth(case: tuple[int, int, int, int]):
    layout, levels, radius = laid_out(case)
    assert len(layout.centres) == len(levels) > 0
    for label, centres, radii in zip(levels, layout.centres, layout.radii, strict=True):
        assert (abs(layout.places - centres[label]) + radius <= radii[label] + 1e-6).all()


def test_a_larger_group_is_kept_apart_too():
    radius = 1 + np.random.default_rng(1).random(700) ** 8 * 12
    places = arrange_discs(radius, np.zeros(700, np.int64), graph(700, 1500, 1), seed=1)
    assert least_gap(places, radius) >= -1e-6
    assert abs(places).max() < 2.2 * np.sqrt((radius**2).sum())  # and does not fly off


def test_equal_input_and_seed_give_equal_bytes_and_another_seed_others():
    edges, levels, radius = graph(300, 900, 3), communities(300, 2, 3), np.full(300, 2.0)
    one, same, other = (lay_out_nested(edges, levels, radius, seed=s).places.tobytes() for s in (5, 5, 6))
    assert one == same
    assert one != other


def test_linked_nodes_are_nearer_than_others():
    edges, levels = graph(120, 150, 4), communities(120, 4, 4)
    layout = lay_out_nested(edges, levels, np.full(120, 2.0), seed=1)
    same = levels[1][edges.source] == levels[1][edges.target]
    linked = abs(layout.places[edges.source] - layout.places[edges.target])[same].mean()
    i, j = np.triu_indices(120, 1)
    inside = levels[1][i] == levels[1][j]
    assert linked < abs(layout.places[i] - layout.places[j])[inside].mean()


def test_a_disc_turns_towards_what_it_is_linked_to():
    # two communities of two; 0 and 2 are linked across, so they face each other
    edges = canonical_edges([0, 2, 0], [1, 3, 2], [1.0, 1.0, 5.0], 4)
    layout = lay_out_nested(edges, [np.array([0, 0, 1, 1])], np.ones(4))
    far = abs(layout.places[:, None] - layout.places[None])
    assert far[0, 2] == far[:2, 2:].min()
    assert far[0, 2] < far[1, 3]


def test_aspect_makes_the_whole_wider_than_high():
    places = arrange_discs(np.full(200, 1.0), np.zeros(200, np.int64), graph(200, 300, 2), aspect=1.8)
    assert np.ptp(places.real) > 1.2 * np.ptp(places.imag)


def test_a_graph_without_nodes_and_one_node_have_layouts():
    none = lay_out_nested(canonical_edges([], [], [], 0), [np.zeros(0, np.int64)], np.zeros(0))
    assert len(none.places) == 0
    one = lay_out_nested(canonical_edges([], [], [], 1), [np.zeros(1, np.int64)], np.array([3.0]), gap=1.0)
    assert one.places.tolist() == [0]
    assert one.radii[0][0] >= 3.0


def test_communities_that_do_not_nest_are_refused():
    with pytest.raises(ValueError, match="depth 1 do not lie inside"):
        lay_out_nested(graph(4, 5, 0), [np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2])], np.ones(4))


@given(st.integers(1, 40), st.integers(0, 90), st.integers(0, 10**6))
def test_the_backbone_joins_what_was_joined_with_the_fewest_edges(nodes: int, links: int, seed: int):
    edges = graph(nodes, links, seed)
    kept = find_backbone(edges)
    tree = Edges(edges.source[kept], edges.target[kept], edges.weight[kept], nodes)
    assert label_components(tree).tolist() == label_components(edges).tolist()
    assert kept.sum() == nodes - len(set(label_components(edges).tolist()))


def test_the_backbone_takes_the_heaviest_edges():
    edges = canonical_edges([0, 0, 1, 2], [1, 2, 2, 3], [1.0, 3.0, 2.0, 0.1], 4)
    kept = {(int(s), int(t)) for s, t, k in zip(edges.source, edges.target, find_backbone(edges), strict=True) if k}
    assert kept == {(0, 2), (1, 2), (2, 3)}


def test_only_the_proportions_of_weights_matter():
    radius, group = np.array([3.0, 2, 1, 1, 2, 1]), np.array([0, 0, 0, 0, 1, 1])
    links = canonical_edges(np.array([0, 1, 2, 4]), np.array([1, 2, 3, 5]), np.array([1.0, 9, 4, 2]), 6)
    places = arrange_discs(radius, group, links)
    stronger = Edges(links.source, links.target, 4 * links.weight, links.nodes)
    assert arrange_discs(radius, group, stronger).tolist() == places.tolist()
    even = Edges(links.source, links.target, np.ones(4), links.nodes)
    assert arrange_discs(radius, group, even).tolist() != places.tolist()


ROUND = [
    (-1.595031 + 1.795529j),
    (0.371655 - 2.933091j),
    (2.86638 - 1.190881j),
    (2.336973 + 0.746097j),
    (0.456321 + 0.872484j),
    (-0.943291 - 1.803536j),
]
WIDE = [
    (1.408801 + 1.641241j),
    (-3.192909 - 0.593686j),
    (-0.479064 - 2.007568j),
    (1.494392 - 2.437299j),
    (0.767792 + 2e-06j),
    (-2.253815 - 5e-06j),
]


def test_discs_stand_exactly_where_their_forces_are_at_rest():
    """A pin: numbers that a change of any force, limit or round changes."""
    radius, group = np.array([3.0, 2, 1, 1, 2, 1]), np.array([0, 0, 0, 0, 1, 1])
    links = canonical_edges(np.array([0, 1, 2, 4]), np.array([1, 2, 3, 5]), np.array([1.0, 9, 4, 2]), 6)
    round_, wide = arrange_discs(radius, group, links, seed=3), arrange_discs(radius, group, links, seed=3, aspect=1.2)
    assert round_ == pytest.approx(np.array(ROUND), abs=1e-5)
    assert wide == pytest.approx(np.array(WIDE), abs=1e-5)


def test_discs_begin_as_a_sunflower_with_the_largest_in_the_middle():
    places = layout._place_on_spirals(np.array([1.0, 2, 1, 5]), np.array([0, 0, 0, 1]), np.array([6.0, 5.0]))
    golden = 2.399963229728653  # the golden angle
    wanted = [np.sqrt(1.5 / 3) * np.exp(1j * golden), np.sqrt(0.5 / 3), np.sqrt(2.5 / 3) * np.exp(2j * golden), 0]
    assert places == pytest.approx(6 * np.array(wanted))
