"""The steps of a layout, each against the same sum disc by disc, and the whole against its steps."""

from __future__ import annotations

import cmath
import math
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sensegraph.algorithms import layout
from sensegraph.algorithms.graphs import Edges, canonical_edges
from sensegraph.algorithms.layout import arrange_discs, find_backbone, lay_out_nested

SIZES = np.array([3.0, 2, 1, 1, 2, 1, 4])
GROUPS = np.array([0, 0, 1, 0, 1, 1, 2])
ONE_GROUP = np.zeros(7, np.int64)


def spots(seed: int, count: int = 7) -> np.ndarray:
    lot = np.random.default_rng(seed)
    return np.asarray(4 * (lot.standard_normal(count) + 1j * lot.standard_normal(count)))


def weighted(*edges: tuple[int, int, float], nodes: int = 7) -> Edges:
    return canonical_edges(*(np.array([edge[i] for edge in edges]) for i in range(3)), nodes)


LINKS = weighted((0, 1, 1.0), (1, 3, 9.0), (2, 4, 4.0), (4, 5, 2.0), (0, 2, 3.0), (5, 6, 16.0), (3, 6, 1.0))
LISTED = (LINKS.source, LINKS.target, LINKS.weight)


# ── what repels what ──


@pytest.mark.parametrize("group", [GROUPS, ONE_GROUP])
def test_in_small_groups_every_disc_repels_every_other_with_its_area(group: np.ndarray) -> None:
    repel = layout._draw_repelling(SIZES, group, np.random.default_rng(1))
    pairs = {(i, j) for i in range(7) for j in range(7) if i != j and group[i] == group[j]}
    assert sorted(zip(repel.i.tolist(), repel.j.tolist(), strict=True)) == sorted(pairs)
    assert repel.mass.tolist() == (SIZES[repel.j] ** 2).tolist()
    assert repel.least.tolist() == (((SIZES[repel.i] + SIZES[repel.j]) / 2) ** 2).tolist()


def test_a_disc_is_pushed_by_those_behind_it_in_its_group_first(monkeypatch: pytest.MonkeyPatch) -> None:
    lot: Any = SimpleNamespace(random=lambda count: np.resize([0.0, 0.6, 0.99], count))
    group = np.array([1, 0, 0, 0])
    every = layout._draw_repelling(np.ones(4), group, lot)
    assert (every.i.tolist(), every.j.tolist()) == ([1, 1, 2, 2, 3, 3], [2, 3, 3, 1, 1, 2])
    monkeypatch.setattr(layout, "_PAIRS", 1)
    some = layout._draw_repelling(np.array([1.0, 1, 2, 3]), group, lot)
    assert (some.i.tolist(), some.j.tolist(), some.mass.tolist()) == ([1, 2, 3], [2, 1, 2], [8.0, 2.0, 8.0])


@pytest.mark.parametrize(("members", "drawn"), [(32, 31), (33, 32), (34, 32), (70, 32)])
def test_of_a_large_group_32_others_stand_for_all(members: int, drawn: int) -> None:
    size = np.arange(1.0, members + 4)
    group = np.append(np.zeros(members, np.int64), [1, 1, 2])  # two more groups, of which one is a single disc
    repel = layout._draw_repelling(size, group, np.random.default_rng(1))
    assert np.bincount(repel.i).tolist() == [drawn] * members + [1, 1]
    assert (group[repel.i] == group[repel.j]).all()
    assert (repel.i != repel.j).all()
    assert repel.mass[:-2] == pytest.approx(size[repel.j[:-2]] ** 2 * (members - 1) / drawn)
    assert np.unique(repel.j[: members * drawn]).tolist() == list(range(members))
    assert len({*zip(repel.i.tolist(), repel.j.tolist(), strict=True)}) > 0.6 * members * drawn
    every = sorted(zip(repel.i.tolist(), repel.j.tolist(), strict=True))
    assert (len(set(every)) == len(every)) == (members <= 33)  # others are drawn by lot, some of them twice


# ── forces ──


def pulled(places: np.ndarray, size: np.ndarray, group: np.ndarray, edges: Edges, aspect: float, left: float):
    """One round of forces, disc by disc."""
    members = [np.flatnonzero(group == g) for g in group]
    area = [float((size[m] ** 2).sum()) for m in members]
    links = list(zip(edges.source.tolist(), edges.target.tolist(), np.sqrt(edges.weight).tolist(), strict=True))
    at = [sum(w for a, b, w in links if n in (a, b)) for n in range(len(size))]
    mean, after = sum(at) / len(at), []
    for n, here in enumerate(places.tolist()):
        force = complex(here.real / aspect, here.imag * aspect)
        for j in members[n].tolist():
            if j != n:
                away = here - places[j]
                force -= away * size[j] ** 2 / max(abs(away) ** 2, ((size[n] + size[j]) / 2) ** 2) / 0.72
        for a, b, w in links:
            if n in (a, b):
                force -= 4 * w / (at[n] + mean) * (places[b if n == a else a] - here)
        most = 0.25 * left * math.sqrt(area[n] / 0.72)
        step = 0.35 * force
        after.append(here - step * min(1.0, most / abs(step)))
    return np.array(after)


@pytest.mark.parametrize(("aspect", "rounds", "heavy"), [(1.0, 1, 1.0), (1.5, 2, 1.0), (1.0, 1, 1e4)])
def test_forces_move_discs_from_their_spirals(
    monkeypatch: pytest.MonkeyPatch, aspect: float, rounds: int, heavy: float
) -> None:
    group = np.array([0, 0, 1, 0, 1, 1, 0])
    links = weighted((0, 1, 1.0), (1, 3, 9.0), (2, 4, 4.0), (4, 5, 2.0), (3, 6, heavy))
    reach = np.sqrt(np.array([30.0, 6.0]) / 0.72)
    turn = np.exp(2j * np.pi * np.random.default_rng(5).random(2))
    wanted = layout._place_on_spirals(SIZES, group, reach) * turn[group]
    for left in np.linspace(1.0, 0.03, rounds):
        wanted = pulled(wanted, SIZES, group, links, aspect, float(left))
    for g in (0, 1):  # a group that is narrower than a disc that it fills is made as wide
        mine = group == g
        width = math.sqrt(float((abs(wanted[mine]) ** 2).mean()))
        wanted[mine] *= max(1.0, float(reach[g]) / math.sqrt(2) / width)
    monkeypatch.setattr(layout, "_PULLS", rounds)
    found = arrange_discs(SIZES, group, links, seed=5, aspect=aspect)
    assert found == pytest.approx(layout._push_apart(wanted, SIZES, group, aspect), rel=1e-5)


# ── no disc over another ──


@pytest.mark.parametrize("group", [GROUPS, ONE_GROUP])
@pytest.mark.parametrize("reach", [1.5, 2.0, 4.0, 50.0])
def test_whatever_is_near_is_found_once_and_hardly_more(group: np.ndarray, reach: float) -> None:
    pairs = 0
    for seed in range(12):
        places = spots(seed)
        i, j = layout._find_near(places, group, reach)
        found = [frozenset(pair) for pair in zip(i.tolist(), j.tolist(), strict=True)]
        assert len(set(found)) == len(found)
        pairs += len(found)
        same = {frozenset(p) for p in combinations(range(7), 2) if group[p[0]] == group[p[1]]}
        assert {p for p in same if abs(np.subtract(*places[list(p)])) < reach} <= set(found) <= same
        for a, b in map(sorted, found):
            apart = places[a] - places[b]
            assert max(abs(apart.real), abs(apart.imag)) < 2 * reach
    assert pairs > 0


def test_one_disc_is_near_nothing_and_two_in_one_place_are_near_each_other() -> None:
    assert [a.tolist() for a in layout._find_near(np.zeros(1, complex), np.zeros(1, np.int64), 1.0)] == [[], []]
    i, j = layout._find_near(np.zeros(2, complex), np.zeros(2, np.int64), 1.0)
    assert sorted([*i.tolist(), *j.tolist()]) == [0, 1]


def pushed(places: np.ndarray, size: np.ndarray, group: np.ndarray, aspect: float, rounds: int, drawn: int):
    """Rounds of pushing, pair by pair; none is left out for being far."""
    pairs = [(a, b) for a, b in combinations(range(len(size)), 2) if group[a] == group[b]]
    for turn in range(rounds):
        hit = [(a, b) for a, b in pairs if abs(places[a] - places[b]) ** 2 < (size[a] + size[b]) ** 2 * (1 - 1e-6)]
        if turn < drawn:
            places = places - 0.03 * (places.real / aspect + 1j * places.imag * aspect)
        elif not hit:
            break
        else:
            crowded = {int(group[a]) for a, _ in hit}
            places = places * np.array([1.01 if g in crowded else 1.0 for g in group.tolist()])
        moved = np.zeros(len(places), complex)
        for a, b in hit:
            apart, touch = places[b] - places[a], size[a] + size[b]
            push = 0.9 * max(touch - abs(apart), 0.0) * apart / abs(apart)
            moved[b] += push * size[a] / touch
            moved[a] -= push * size[b] / touch
        places = places + moved
    for g in set(group.tolist()):
        near = [(size[a] + size[b]) / abs(places[a] - places[b]) for a, b in pairs if group[a] == g]
        places = np.where(group == g, places * max(1.0, *near, 1.0), places)
    return places


@pytest.mark.parametrize(("rounds", "drawn"), [(0, 0), (1, 1), (1, 0), (3, 1), (9, 4)])
@pytest.mark.parametrize("aspect", [1.0, 1.4])
def test_discs_that_overlap_are_pushed_apart_the_smaller_farther(
    monkeypatch: pytest.MonkeyPatch, rounds: int, drawn: int, aspect: float
) -> None:
    monkeypatch.setattr(layout, "_PUSHES", rounds)
    monkeypatch.setattr(layout, "_DRAWN", drawn)
    for seed in range(4):
        for group in (GROUPS, ONE_GROUP):
            wanted = pushed(spots(seed), SIZES, group, aspect, rounds, drawn)
            found = layout._push_apart(spots(seed), SIZES, group, aspect)
            assert found == pytest.approx(wanted, rel=1e-7)
            i, j = np.nonzero((group[:, None] == group) & (np.arange(7)[:, None] < np.arange(7)))
            assert (abs(found[i] - found[j]) >= SIZES[i] + SIZES[j]).all()


def test_discs_in_one_place_go_different_ways() -> None:
    places = layout._push_apart(np.zeros(3, complex), np.ones(3), np.zeros(3, np.int64), 1.0)
    far = [abs(places[a] - places[b]) for a, b in combinations(range(3), 2)]
    assert 2.0 <= min(far) < max(far) < 6.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "_PUSHES", 1)
        two = layout._push_apart(np.zeros(3, complex), np.ones(3), np.array([0, 1, 1]), 1.0)
    assert two == pytest.approx([0, -cmath.exp(5j), cmath.exp(5j)])  # 5 = 1 + 2 · 2, by their positions
    assert (layout._PULLS, layout._PUSHES, layout._DRAWN) == (70, 180, 80)


# ── discs inside discs ──


def enclosed(places: np.ndarray, size: np.ndarray) -> tuple[complex, float]:
    """The middle and the radius of one group, by 39 steps towards the farthest."""
    middle = 0j
    for turn in range(1, 40):
        far = [(abs(p - middle) + r, n) for n, (p, r) in enumerate(zip(places.tolist(), size.tolist(), strict=True))]
        most, n = max(far)
        away = places[n] - middle
        middle += away * most / abs(away) / (turn + 1) * 0.5
    return middle, max(abs(p - middle) + r for p, r in zip(places.tolist(), size.tolist(), strict=True))


def test_groups_are_enclosed_by_discs_that_are_hardly_larger_than_needed() -> None:
    places = spots(3)
    inside, radius = layout._enclose_groups(places, SIZES, GROUPS)
    for g in (0, 1):
        mine = g == GROUPS
        middle, most = enclosed(places[mine], SIZES[mine])
        assert inside[mine] == pytest.approx(places[mine] - middle)
        assert radius[g] == pytest.approx(most)
    assert (inside[6], radius[2]) == (0, 4.0)  # alone: in the middle, and no larger than itself
    _, two = layout._enclose_groups(np.array([0j, 10 + 0j]), np.array([1.0, 2.0]), np.zeros(2, np.int64))
    assert two[0] == pytest.approx(6.5, rel=0.02)


def test_contents_are_turned_or_mirrored_so_that_links_outwards_are_as_short_as_can_be() -> None:
    """Against a search of all angles: how far the places reach towards what they are linked to."""
    outer, item = np.array([0j, 9 + 2j, -3 + 8j]), np.arange(7)
    for seed in range(6):
        places = spots(seed)
        turned = layout._turn_contents(places, GROUPS, outer, item, LINKS)
        for g in (0, 1, 2):
            mine = np.flatnonzero(g == GROUPS)
            ways = np.zeros(7, complex)
            for a, b, w in zip(*LISTED, strict=True):
                for one, other in ((a, b), (b, a)):
                    if GROUPS[one] == g != GROUPS[other]:
                        away = outer[GROUPS[other]] - outer[g]
                        ways[one] += w * away / abs(away)

            def reached(spot: np.ndarray, ways: np.ndarray = ways, mine: np.ndarray = mine) -> float:
                return float((ways[mine].conj() * spot).real.sum())

            angles = np.exp(2j * np.pi * np.arange(720) / 720)
            best = max(reached(spot * t) for spot in (places[mine], places[mine].conj()) for t in angles)
            assert reached(turned[mine]) == pytest.approx(best, rel=1e-4)
            assert reached(turned[mine]) >= best
            assert abs(turned[mine]) == pytest.approx(abs(places[mine]))


def test_what_is_linked_to_nothing_outside_stays_as_it_is() -> None:
    places = spots(1)
    links = weighted((0, 1, 1.0), (2, 4, 1.0))
    assert layout._turn_contents(places, GROUPS, np.array([0j, 5j, 5 + 0j]), np.arange(7), links) == pytest.approx(
        places
    )


def test_a_layout_is_that_of_each_depth_inside_that_of_the_one_before() -> None:
    coarse, fine = np.array([0, 0, 1, 0, 1, 1, 1]), np.array([0, 0, 1, 2, 1, 1, 3])
    inside = np.array([0, 1, 0, 1])  # the coarse one of each fine one
    found = lay_out_nested(LINKS, [coarse, fine], SIZES, seed=4, gap=0.5, aspect=1.3)

    def between(label: np.ndarray, parent: np.ndarray) -> Edges:
        """The edges between different things of one disc, as those of the things."""
        ends = [(int(label[a]), int(label[b]), w) for a, b, w in zip(*LISTED, strict=True)]
        kept = [(a, b, w) for a, b, w in ends if parent[a] == parent[b] and a != b]
        return weighted(*kept, nodes=len(parent))

    nodes = np.arange(7)
    low = arrange_discs(SIZES + 0.25, fine, between(nodes, fine), seed=6)
    low, fine_size = layout._enclose_groups(low, SIZES, fine)
    fine_size = fine_size + 1.0
    middle = arrange_discs(fine_size + 0.25, inside, between(fine, inside), seed=5)
    middle, coarse_size = layout._enclose_groups(middle, fine_size, inside)
    coarse_size = coarse_size + 1.0
    whole = np.zeros(2, np.int64)
    top = arrange_discs(coarse_size + 0.25, whole, between(coarse, whole), seed=4, aspect=1.3)
    top, _ = layout._enclose_groups(top, coarse_size, whole)
    middle = top[inside] + layout._turn_contents(middle, inside, top, fine, LINKS)
    low = middle[fine] + layout._turn_contents(low, fine, middle, nodes, LINKS)
    assert found.places == pytest.approx(low)
    for got, wanted in zip((*found.centres, *found.radii), (top, middle, coarse_size, fine_size), strict=True):
        assert got == pytest.approx(wanted)


def test_usual_gaps_are_1_and_a_disc_is_two_gaps_wider_than_its_content() -> None:
    alone = weighted(nodes=1)
    for gap, radius in ((None, 5.0), (0.0, 3.0), (0.5, 4.0)):
        given = {} if gap is None else {"gap": gap}
        assert lay_out_nested(alone, [np.zeros(1, np.int64)], np.array([3.0]), **given).radii[0].tolist() == [radius]
    levels, size = [np.array([0, 0, 1, 1])], np.ones(4)
    links = weighted((0, 1, 1.0), (1, 2, 2.0), nodes=4)
    usual, same = lay_out_nested(links, levels, size), lay_out_nested(links, levels, size, seed=0, gap=1.0, aspect=1.0)
    assert usual.places.tolist() == same.places.tolist()
    assert usual != same  # arrays are not compared as values
    assert (
        arrange_discs(size, levels[0], links).tolist()
        == arrange_discs(size, levels[0], links, seed=0, aspect=1.0).tolist()
    )


def test_of_edges_of_one_weight_the_first_hold_a_ring_together() -> None:
    ring = canonical_edges([0, 1, 2, 0], [1, 2, 3, 3], np.ones(4), 4)
    assert find_backbone(ring).tolist() == [True, True, True, False]
    assert cmath.isclose(layout._GOLDEN, 2.399963229728653)
