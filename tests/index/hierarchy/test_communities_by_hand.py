"""Communities of small graphs worked out by hand: names, children, fates, and when they are found afresh."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sensegraph.algorithms.graphs import canonical_edges
from sensegraph.algorithms.ranking import hash_words
from sensegraph.algorithms.trees import Followed, tree_of
from sensegraph.index.graph.columns import GroupColumns, columns_of
from sensegraph.index.hierarchy.communities import (
    ClusterSettings,
    Communities,
    Earlier,
    Fate,
    Lineage,
    _name_communities,
    _plant_tree,
    _Structure,
    _trace_fates,
    group_entities,
    read_lineage,
)
from sensegraph.index.hierarchy.packing import Group
from sensegraph.runtime.keys import encode_canonical, key
from sensegraph.runtime.results import Result
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Entity, Graph, Relation


def group(name: str, members: str, depth: int = 0) -> Group:
    return Group(name, depth, "", (), tuple(members))


def fates(old: list[Group], new: list[Group], **followed: tuple[tuple[int, int], ...]) -> list[Fate]:
    names, read = [[g.id for g in groups] for groups in (old, new)], {g.id: g for g in (*old, *new)}
    return list(_trace_fates(*names, read, Followed(**followed), {"a": "first"}))


@pytest.mark.parametrize(
    ("was", "now", "kind"),
    [("xy", "xy", "kept"), ("xy", "xyz", "grew"), ("xyz", "xy", "shrank"), ("xy", "xz", "changed")],
)
def test_a_community_with_a_successor_is_kept_or_has_changed(was: str, now: str, kind: str) -> None:
    assert fates([group("a", was)], [group("b", now)], successor=((0, 0),)) == [Fate(kind, "first", ("a",), ("b",))]  # type: ignore[arg-type]
    assert fates([group("c", was)], [group("b", now)], successor=((0, 0),))[0].name == "c"


def test_what_has_neither_predecessor_nor_successor_is_new_or_gone() -> None:
    found = fates([group("a", "x"), group("b", "y")], [group("c", "z"), group("d", "w")])
    assert found == [
        Fate("new", "c", (), ("c",)),
        Fate("new", "d", (), ("d",)),
        Fate("gone", "first", ("a",), ()),
        Fate("gone", "b", ("b",), ()),
    ]


def test_parts_belong_to_what_split_and_sources_to_what_they_merged_into() -> None:
    old, new = (
        [group("a", "wxyz"), group("b", "q"), group("c", "r")],
        [group("d", "wx"), group("e", "yz"), group("f", "qr")],
    )
    found = fates(old, new, successor=((0, 0), (1, 2)), parts=((0, 1),), sources=((2, 2),))
    assert found == [Fate("split", "first", ("a",), ("d", "e")), Fate("merged", "b", ("b", "c"), ("f",))]
    both = fates(old, new, successor=((0, 2),), parts=((0, 0), (0, 1)), sources=((1, 2), (2, 2)))
    assert both == [Fate("split", "first", ("a",), ("f", "d", "e")), Fate("merged", "first", ("a", "b", "c"), ("f",))]


def test_what_is_known_of_communities_is_read_and_nothing_is_known_at_first(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    assert read_lineage(store) == Lineage()
    made = Lineage("c", {"a": "first"}, {"x": "a"})
    store.set_refs({"lineage": key("lineage", made)})
    assert read_lineage(store) == Lineage()
    store.write({key("lineage", made): encode_canonical(made)}, "lineage")
    assert read_lineage(store) == made


# ── graphs ──


def graph(nodes: str, *links: str, weights: dict[str, float] | None = None) -> Graph:
    entities = tuple(Entity(n, n.upper(), "t", "", (), ("c",), 1, 0) for n in nodes)
    given = weights or {}
    return Graph(entities, tuple(Relation(ab, *ab, "", (), given.get(ab, 1.0), ("c",)) for ab in links))


PAIR = graph("abcdefg", "ab", "ac", "bc", "de", "df", "ef", "cd")  # two triangles, one bridge, and g alone


def test_two_triangles_are_two_communities_and_what_is_alone_is_one() -> None:
    found = group_entities(PAIR, None, ClusterSettings())
    assert [(g.entities, g.depth, g.parent, g.children) for g in found.groups] == [
        (tuple("abc"), 0, "", ()),
        (tuple("def"), 0, "", ()),
        (("g",), 0, "", ()),
    ]
    assert [g.id for g in found.groups] == [key("community", 0, g.entities)[:20] for g in found.groups]
    assert {len(g.id) for g in found.groups} == {20}
    # seven edges: each triangle holds 3 and has 7 ends of 14
    assert found.modularity == pytest.approx(2 * (3 / 7 - (7 / 14) ** 2))
    assert found.notes == ()
    coarse = group_entities(PAIR, None, ClusterSettings(resolution=0.1))
    assert (coarse.groups[0].entities, coarse.groups[1].entities) == (tuple("abcdef"), ("g",))
    assert coarse.modularity == pytest.approx(7 / 7 - 0.1)


def test_a_community_that_is_too_large_is_divided_and_names_its_children() -> None:
    """Of twelve triangles in a ring modularity joins neighbours; where six are too many, each is one by itself."""
    names = [chr(ord("a") + i) for i in range(36)]
    cliques = [names[i : i + 3] for i in range(0, 36, 3)]
    links = [x + y for c in cliques for x, y in (c[:2], c[1:], c[::2])]
    links += ["".join(sorted((c[2], d[0]))) for c, d in zip(cliques, [*cliques[1:], cliques[0]], strict=True)]
    ring = graph("".join(names), *links)
    found = group_entities(ring, None, ClusterSettings(max_cluster_size=3))
    tops = [g for g in found.groups if g.depth == 0]
    pairs = [g for g in tops if len(g.entities) == 6]
    assert len(pairs) >= 4
    below = {g.id: g for g in found.groups if g.depth == 1}
    assert sorted(g.entities for g in found.groups if not g.children) == [tuple(c) for c in cliques]
    for top in pairs:
        assert [below[c].parent for c in top.children] == [top.id] * 2
        assert sorted(e for c in top.children for e in below[c].entities) == list(top.entities)
    whole = group_entities(ring, None, ClusterSettings(max_cluster_size=6))
    assert [g.entities for g in whole.groups] == [g.entities for g in tops]


def test_a_graph_without_relations_has_a_modularity_of_nought_and_weights_of_nought_count_nearly_nothing() -> None:
    assert group_entities(graph("ab"), None, ClusterSettings()).modularity == 0.0
    light = group_entities(graph("abcd", "ab", "bc", "cd", weights={"bc": 0.0}), None, ClusterSettings())
    assert [g.entities for g in light.groups] == [("a", "b"), ("c", "d")]


def test_the_shape_of_a_graph_is_its_entities_relations_and_weights() -> None:
    shape, same = (columns_of(of).structure() for of in (PAIR, Graph(PAIR.entities, PAIR.relations, ())))
    heavier = graph("abcdefg", "ab", "ac", "bc", "de", "df", "ef", "cd", weights={"cd": 2.0})
    assert shape == same
    assert len({shape, *(columns_of(of).structure() for of in (heavier, graph("abcdefg", "ab")))}) == 3


def test_communities_of_before_stay_where_they_cost_no_more_than_a_hundredth_of_modularity() -> None:
    settings = ClusterSettings()
    found = group_entities(PAIR, None, settings)
    grown = graph("abcdefgh", "ab", "ac", "bc", "de", "df", "ef", "cd", "gh")
    earlier = Earlier(Result("found", found), Result("graph", PAIR), "")
    after = group_entities(grown, earlier, settings)
    assert {g.id for g in found.groups[:2]} <= {g.id for g in after.groups}
    assert ("g", "h") in {g.entities for g in after.groups}
    assert after.notes == ()
    without = group_entities(graph("abcdef", "ab", "ac", "bc", "de", "df", "ef", "cd"), earlier, settings)
    assert [g.entities for g in without.groups] == [tuple("abc"), tuple("def")]
    assert (Communities().groups, Communities().notes) == ((), ())


def test_a_community_that_was_divided_and_is_not_any_more_is_stored_with_its_entities() -> None:
    ids = ["a", "b", "c", "d"]
    now = _Structure(lambda: ids, canonical_edges([0, 1, 2], [1, 2, 3], np.ones(3), 4))
    tree = tree_of([np.zeros(4, np.int32)], 4)
    divided = Group("x", 0, "", ("y", "z"), ())  # as it was stored: its children told its entities
    found = _name_communities(now, tree, ClusterSettings(), known=[divided])
    assert list(found.groups) == [Group("x", 0, "", (), ("a", "b", "c", "d"))]


def test_an_entity_that_the_graph_before_has_not_is_in_no_community_of_its_tree() -> None:
    groups = [Group("x", 0, "", ("y",), ("a", "b", "gone")), Group("y", 1, "x", (), ("a", "gone"))]
    tree = _plant_tree(GroupColumns.of(groups), hash_words(["b", "a"]))
    assert [tree.of(i).tolist() for i in range(2)] == [[0, 1], [1]]
    assert (tree.parent.tolist(), tree.depth.tolist(), tree.nodes) == ([-1, 0], [0, 1], 2)
    assert len(_plant_tree(GroupColumns.of([]), hash_words(["a"]))) == 0
