"""Which relations around the seeds of local search are read, in which order, and how many."""

from __future__ import annotations

import pytest

from little_graphs import Given, entity, relation
from sensegraph.methods.graphrag.local_search import Local, _Links, _Seeds, skip_nested_clusters
from sensegraph.types import Cluster, Entity, Graph

A, B, C, D, E, F = (entity(i, name, "place") for i, name in enumerate(("Arle", "Brun", "Corv", "Dorn", "Elm", "Firth")))
PAIRS = [(A, B), (A, C), (B, C), (A, D), (C, E), (E, F)]  # r0 to r5
INDEX = Given(Graph((A, B, C, D, E, F), tuple(relation(i, *pair, ("They met.",)) for i, pair in enumerate(PAIRS))))


def links(*seeds: Entity, top: int = 9, hops: int = 1) -> _Links:
    places = [int(e.id[1:]) for e in seeds]
    return _Links(INDEX, _Seeds(places, list(seeds), [1.0] * len(seeds)), Local(top_relations=top, hops=hops))


@pytest.mark.parametrize(
    ("seeds", "top", "hops", "read"),
    [
        ((A, B), 9, 1, ["r0", "r1", "r2", "r3"]),  # first inside; then to what two seeds are linked with
        ((A, B), 1, 1, ["r0", "r1", "r2"]),  # one that leads outside for each seed
        ((A, B), 0, 1, ["r0"]),
        ((A,), 9, 1, ["r1", "r0", "r3"]),  # by the degrees of both ends: 6, 5, 4
        ((A,), 2, 1, ["r1", "r0"]),
        ((E,), 9, 1, ["r4", "r5"]),
        ((A, B, C), 9, 1, ["r1", "r0", "r2", "r4", "r3"]),
        ((E,), 9, 2, ["r4", "r5", "r1", "r2"]),  # and from what was reached
        ((E,), 1, 2, ["r4", "r1"]),
        ((D,), 9, 2, ["r3", "r1", "r0"]),
        ((A, B), 9, 2, ["r0", "r1", "r2", "r3", "r4"]),
        ((), 9, 2, []),
    ],
)
def test_relations_are_read_from_the_inside_to_the_outside(
    seeds: tuple[Entity, ...], top: int, hops: int, read: list[str]
) -> None:
    found = links(*seeds, top=top, hops=hops)
    relations = list(INDEX.graph.relations)
    assert [relations[place].id for place in found.places] == read
    for place in found.places:
        assert {f"e{end}" for end in found.ends[place]} == {relations[place].source, relations[place].target}


def test_a_relation_begins_at_the_seed_that_it_was_first_met_from() -> None:
    found = links(B, A)
    assert [found.ends[place] for place in range(4)] == [(1, 0), (0, 2), (1, 2), (0, 3)]


def cluster(name: str, *entities: str) -> Cluster:
    return Cluster(name, 0, 0, "", (), entities)


def test_a_cluster_that_shares_an_entity_with_an_earlier_one_is_left_out() -> None:
    given = [cluster("a", "1", "2"), cluster("b", "2", "3"), cluster("c", "3"), cluster("d", "1"), cluster("e", "4")]
    assert [c.id for c in skip_nested_clusters(given)] == ["a", "c", "e"]
    assert list(skip_nested_clusters([])) == []


def test_usual_shares_leave_most_to_the_graph() -> None:
    usual = Local()
    assert (usual.context_tokens, usual.top_entities, usual.top_relations, usual.hops) == (12_000, 10, 10, 1)
    assert 0 < 1 - usual.text - usual.reports - usual.history < 1
