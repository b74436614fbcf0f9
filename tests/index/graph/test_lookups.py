"""Lookups say by position what the graph says by id."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.corpus.corpus import Corpus
from sensegraph.index.graph.columns import GroupColumns, columns_of_groups
from sensegraph.index.graph.lookups import build_lookups, find_lookups
from sensegraph.index.hierarchy.communities import cluster_graphs
from sensegraph.runtime.results import Result, Table, recall_result
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Claim, Cluster, Description, Entity, Graph, Hierarchy, Relation, Source
from wired import runtime

NAMES = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=12)


def graph_of(names: list[str], pairs: set[tuple[int, int]]) -> Graph:
    said = (Description("It is so.", Source("c", 0, 9)),)
    entities = [Entity(f"e{i:02}", n, "thing", "", said, ("c",), 1, 0) for i, n in enumerate(names)]
    relations = [Relation(f"r{a:02}-{b:02}", f"e{a:02}", f"e{b:02}", "", said, 1.0, ("c",)) for a, b in sorted(pairs)]
    return Graph(tuple(entities), tuple(relations))


@given(NAMES, st.data())
def test_neighbours_names_and_degrees_are_those_of_the_graph(names: list[str], data: st.DataObject) -> None:
    places = st.integers(0, len(names) - 1)
    pairs = {(min(a, b), max(a, b)) for a, b in data.draw(st.lists(st.tuples(places, places), max_size=20)) if a != b}
    graph = graph_of(names, pairs)
    made = build_lookups.fn([(graph, Hierarchy())])[0]
    expected: dict[int, dict[int, int]] = defaultdict(dict)
    for i, r in enumerate(graph.relations):
        a, b = int(r.source[1:]), int(r.target[1:])
        expected[a][b] = expected[b][a] = i
    for i, name in enumerate(names):
        others, relations = made.around(i)
        assert dict(zip(others.tolist(), relations.tolist(), strict=True)) == expected[i]
        assert made.name(i) == name.encode("utf-8", "replace").decode()
        assert i in made.called(name)
    assert made.degree.tolist() == [len(expected[i]) for i in range(len(names))]


def test_two_relations_of_one_pair_are_one_neighbour() -> None:
    graph = graph_of(["a", "b"], {(0, 1)})
    (one,) = graph.relations
    twice = Graph(graph.entities, (one, Relation("other", one.source, one.target, "", (), 1.0, ("c",))))
    assert build_lookups.fn([(twice, Hierarchy())])[0].degree.tolist() == [1, 1]


def test_a_name_that_nobody_has_finds_nobody() -> None:
    assert build_lookups.fn([(graph_of(["Ada"], set()), Hierarchy())])[0].called("Bram") == []


def test_homes_are_the_projected_communities_of_every_depth(built: Corpus) -> None:
    index = built.index()
    ids = [e.id for e in index.graph.entities]
    clusters = list(index.hierarchy.clusters)
    assert index.depth > 0
    assert ids
    for depth in range(index.depth):
        home = {e: c.id for c in index.clusters_at(depth) for e in c.entities}
        assert [clusters[i].id for i in index.lookups.homes[:, depth].tolist()] == [home[e] for e in ids]


def test_homes_are_the_same_by_the_communities_as_by_the_reports_on_them(built: Corpus) -> None:
    index = built.index()
    groups = index.communities.groups
    assert [g.id for g in groups] != [c.id for c in index.hierarchy.clusters]  # ordered otherwise
    for told in (groups, tuple(reversed(groups))):
        (made,) = build_lookups.fn([(index.graph, columns_of_groups(told))])
        assert made.homes.tolist() == index.lookups.homes.tolist()
        assert made.homes.dtype == index.lookups.homes.dtype


class Unread(Sequence[Cluster]):
    """Clusters that nobody may read."""

    def __len__(self) -> int:
        raise AssertionError("read")

    def __getitem__(self, index: Any) -> Any:
        raise AssertionError("read")


def test_lookups_stay_where_the_communities_do_and_no_report_is_read_for_them(built: Corpus, tmp_path: Path) -> None:
    index = built.index()
    graph, rt = Result("graph", index.graph), runtime(SqliteStore(tmp_path))
    one, other = (Result(name, index.communities) for name in ("one", "other"))
    unread, written = Result("first", Hierarchy(Unread())), Result("second", index.hierarchy)
    found = find_lookups(graph, unread, rt, communities=one)
    assert found.value.homes.tolist() == index.lookups.homes.tolist()
    assert find_lookups(graph, written, rt, communities=one).key == found.key
    assert find_lookups(graph, unread, rt, communities=other).key != found.key
    assert find_lookups(graph, written, rt).key != found.key


def test_columns_of_communities_in_a_store_are_made_once(built: Corpus) -> None:
    manifest, store = built.index().manifest, built.store
    for ordered in (True, False):
        groups = recall_result(store, cluster_graphs, manifest.communities).groups
        assert isinstance(groups, Table)
        given_ = sorted(groups, key=lambda g: (g.depth, g.id)) if ordered else ()
        made = columns_of_groups(groups, given_)
        assert columns_of_groups(groups) is made
        whole = GroupColumns.of(sorted(groups, key=lambda g: (g.depth, g.id)))
        assert made.number == whole.number
        for name in ("depth", "above", "members", "home"):
            assert getattr(made, name).tolist() == getattr(whole, name).tolist()
    assert columns_of_groups(list(groups)) is not columns_of_groups(list(groups))


def test_an_index_without_reports_has_no_homes() -> None:
    made = build_lookups.fn([(graph_of(["Ada"], set()), Hierarchy())])[0]
    assert made.homes.shape == (1, 0)
    assert made.homes.dtype == np.int32


def test_what_the_texts_call_an_entity_too_finds_it_where_nothing_bears_that_name() -> None:
    said = (Description("It is so.", Source("c", 0, 9)),)
    scrooge = Entity("e00", "Ebenezer Scrooge", "person", "", said, ("c",), 1, 0, ("Scrooge", "Uncle Scrooge"))
    firm = Entity("e01", "Scrooge and Marley", "organization", "", said, ("c",), 1, 0, ("Scrooge",))
    uncle = Entity("e02", "uncle scrooge", "person", "", said, ("c",), 1, 0)
    made = build_lookups.fn([(Graph((scrooge, firm, uncle)), Hierarchy())])[0]
    assert made.called("SCROOGE") == [0, 1]
    assert made.called("Uncle Scrooge") == [2]
    assert made.called("Ebenezer Scrooge") == [0]


def test_claims_are_found_by_whom_they_are_about() -> None:
    about, source = ["e02", "e00", "e00", "e02", "e01"], Source("c", 0, 1)
    claims = [Claim(f"k{i}", e, "", "t", "TRUE", "It is so.", "", "", source) for i, e in enumerate(about)]
    graph = Graph(graph_of(["a", "b", "c", "d"], set()).entities, (), tuple(claims))
    (lookups,) = build_lookups.fn([(graph, Hierarchy())])
    assert [lookups.told(i).tolist() for i in range(4)] == [[1, 2], [4], [0, 3], []]
    assert [lookups.name(i) for i in range(4)] == ["a", "b", "c", "d"]
