"""What a page is given of a map: the communities of a depth, what is inside one, and where entities are."""

from __future__ import annotations

import pytest

from pictured import graph, levels
from sensegraph.errors import InputError
from sensegraph.graphs.drawing import community_map
from sensegraph.graphs.drawing.community_map import CommunityMap
from sensegraph.graphs.drawing.drawing import lay_out_drawing


@pytest.fixture(scope="module")
def drawn() -> CommunityMap:
    """Twelve entities in two communities of six, each with three of two below it."""
    return CommunityMap(lay_out_drawing(graph(12, 6), levels(12, 6)))


def test_a_depth_has_its_communities_and_counts_the_whole_graph(drawn: CommunityMap) -> None:
    top, below = drawn.at_depth(0), drawn.at_depth(1)
    assert (top.depth, top.depths, below.depth, below.depths) == (0, 2, 1, 2)
    assert [(c.id, c.entities, c.parent) for c in top.communities] == [("k0-0", 6, None), ("k0-1", 6, None)]
    assert [(c.id, c.entities, c.parent) for c in below.communities] == [
        *[(f"k1-{n}", 2, "k0-0") for n in range(3)],
        *[(f"k1-{n}", 2, "k0-1") for n in range(3, 6)],
    ]
    assert (top.entities, top.relations, top.left_out) == (12, len(graph(12, 6).relations), 0)
    assert [(b.source, b.target) for b in top.bundles] == [("k0-0", "k0-1")]
    with pytest.raises(InputError, match="2"):
        drawn.at_depth(2)


def test_a_community_is_seen_with_those_below_it_and_its_own_entities(drawn: CommunityMap) -> None:
    inside = drawn.inside("k0-1")
    assert (inside.disc.id, inside.depth, inside.left_out) == ("k0-1", 0, 0)
    assert inside.summary == "A summary of 1."
    assert [(c.id, c.parent) for c in inside.communities] == [(f"k1-{n}", "k0-1") for n in range(3, 6)]
    assert sorted(m.id for m in inside.members) == [f"e{i:05}" for i in range(6, 12)]
    degrees = [m.degree for m in inside.members]
    assert degrees[0] > degrees[-1]
    assert degrees == sorted(degrees, reverse=True)
    assert len(inside.bundles) >= 2
    assert {end for b in inside.bundles for end in (b.source, b.target)} == {f"k1-{n}" for n in range(3, 6)}
    assert len(inside.links) == 5  # as few as hold six together
    assert {end for n in inside.links for end in (n.source, n.target)} == {m.id for m in inside.members}


def test_a_community_of_the_last_depth_has_none_below_it(drawn: CommunityMap) -> None:
    inside = drawn.inside("k1-4")
    assert (inside.disc.parent, inside.depth) == ("k0-1", 1)
    assert (inside.communities, inside.bundles) == ((), ())
    assert sorted(m.id for m in inside.members) == ["e00008", "e00009"]
    with pytest.raises(InputError, match="no community 'k2-0' on the map"):
        drawn.inside("k2-0")


def test_entities_are_found_with_their_communities_from_the_coarsest_down(drawn: CommunityMap) -> None:
    found = drawn.dots(["e00009", "e00001", "e00009", "unknown"])
    assert [(e.id, e.communities) for e in found] == [("e00001", ("k0-0", "k1-0")), ("e00009", ("k0-1", "k1-4"))]
    assert drawn.dot(1).communities == ()


def test_the_largest_communities_and_entities_are_shown_and_the_rest_is_counted(
    drawn: CommunityMap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(community_map, "_COMMUNITIES", 4)
    monkeypatch.setattr(community_map, "_MEMBERS", 2)
    assert [c.id for c in drawn.at_depth(1).communities] == [f"k1-{n}" for n in range(4)]
    assert drawn.at_depth(1).left_out == 2
    inside = drawn.inside("k0-0")
    assert (len(inside.members), inside.left_out) == (2, 4)
    assert {end for n in inside.links for end in (n.source, n.target)} <= {m.id for m in inside.members}
