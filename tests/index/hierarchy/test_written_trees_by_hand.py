"""Trees of communities, what is inside them, and how much of it is in memory at once: worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from tempfile import SpooledTemporaryFile
from typing import Any

import numpy as np
import pytest

from sensegraph.index.hierarchy import written_trees
from sensegraph.index.hierarchy.packing import Group
from sensegraph.index.hierarchy.written_trees import (
    EncodedRows,
    TreeElements,
    batch_trees,
    cut_trees,
    place_elements,
    take_batches,
)
from sensegraph.runtime.results import Table
from sensegraph.types import Claim, Description, Entity, Graph, Relation, Source

AT = Source("c", 0, 5)


def group(name: str, depth: int = 0, parent: str = "", entities: Sequence[str] = (), **more: Any) -> Group:
    return Group(id=name, depth=depth, parent=parent, children=(), entities=tuple(entities), **more)


def entity(name: str) -> Entity:
    return Entity(name, name.upper(), "person", "", (Description(f"About {name}.", AT),), ("c",), 1, 1)


def relation(name: str, source: str, target: str) -> Relation:
    return Relation(name, source, target, "", (), 1.0, ("c",))


def claim(name: str, subject: str) -> Claim:
    return Claim(name, subject, "", "kind", "true", "said", "", "", AT)


def test_each_tree_is_listed_from_its_root_down_and_by_name() -> None:
    groups = [group("b2", 1, "b"), group("a", 0), group("deep", 2, "a1"), group("b", 0), group("a1", 1, "a"),
              group("b1", 1, "b"), group("lost", 1, "gone")]  # fmt: skip
    found = cut_trees(groups)
    assert {root: [g.id for g in tree] for root, tree in found.items()} == {
        "a": ["a", "a1", "deep"], "b": ["b", "b1", "b2"], "lost": ["lost"],
    }  # fmt: skip
    assert list(found) == ["a", "b", "lost"]
    assert cut_trees([]) == {}


GRAPH = Graph(
    tuple(map(entity, ("a", "b", "c", "d", "e"))),
    (relation("r0", "a", "b"), relation("r1", "b", "c"), relation("r2", "c", "d"), relation("r3", "e", "e"),
     relation("r4", "e", "a"), relation("r5", "b", "a")),
    (claim("c0", "c"), claim("c1", "e"), claim("c2", "d")),
)  # fmt: skip
GROUPS = [group("x", 0, "", ("b", "a")), group("y", 0, "", ("d", "c")), group("x1", 1, "x", ("a",))]


def list_places(tree: TreeElements) -> tuple[list[int], ...]:
    return tuple(places.tolist() for places in tree.places)


def inside(graph: Graph, groups: Sequence[Group], *names: str) -> dict[str, Any]:
    """What is inside these communities, by the roots of their trees."""
    held = place_elements(graph, groups).take(names)
    return {root: list_places(tree) for root, tree in held.items()}


def test_elements_are_inside_the_communities_that_hold_all_their_ends() -> None:
    assert inside(GRAPH, GROUPS, "x", "y") == {"x": ([0, 1], [0, 5], []), "y": ([2, 3], [2], [0, 2])}
    assert inside(GRAPH, GROUPS, "x1") == {"x": ([0], [], [])}
    assert inside(GRAPH, GROUPS) == inside(GRAPH, []) == {}
    other = [group("z", 0, "", ("gone", "e"))]
    assert inside(GRAPH, other, "z") == {"z": ([4], [3], [1])}
    placed = place_elements(GRAPH, GROUPS)
    assert [[list(placed.number)[i] if i >= 0 else "" for i in home.tolist()] for home in placed.homes] == [
        ["x1", "x", "y", "y", ""], ["x", "", "y", "", "", "x"], ["y", "", "y"],
    ]  # fmt: skip


DEEP = [group("x", 0, "", ("a", "b", "c", "d", "e")), group("x1", 1, "x", ("a", "b")), group("x2", 1, "x", ("c", "d"))]


def test_of_a_community_that_is_read_in_part_there_are_links_between_its_children_and_the_best_linked() -> None:
    placed = place_elements(GRAPH, DEEP)
    assert list_places(placed.take(["x1"], ["x"])["x"]) == ([0, 1, 4], [0, 1, 3, 4, 5], [])
    assert list_places(placed.take([], ["x"])["x"]) == ([0, 1, 4], [1, 3, 4], [])
    assert placed.degree.tolist() == [3, 3, 2, 1, 3]
    (held,) = (tree for tree in placed.take([], ["x"]).values())
    part = Graph((GRAPH.entities[1],), tuple(GRAPH.relations[place] for place in held.places[1]))
    assert placed.name_ends(part, [held]) == {"a": ("A", 3), "c": ("C", 2), "e": ("E", 3)}


def put(graph: Graph, kind: str, place: int, **more: Any) -> Graph:
    """The graph with other values in one of its records."""
    records = list(getattr(graph, kind))
    records[place] = replace(records[place], **more)
    return replace(graph, **{kind: tuple(records)})


@pytest.mark.parametrize(
    ("changed", "differs"),
    [
        (GRAPH, ""),
        (put(GRAPH, "entities", 0, description="new"), "x"),
        (put(GRAPH, "entities", 3, frequency=2), "y"),
        (put(GRAPH, "entities", 4, frequency=2), ""),
        (put(GRAPH, "relations", 0, weight=2.0), "x"),
        (put(GRAPH, "relations", 1, weight=2.0), ""),
        (put(GRAPH, "relations", 2, weight=2.0), "y"),
        (put(GRAPH, "claims", 0, description="new"), "y"),
        (put(GRAPH, "claims", 1, description="new"), ""),
        (replace(GRAPH, relations=(*GRAPH.relations, relation("r6", "d", "c"))), "y"),
        (replace(GRAPH, relations=GRAPH.relations[:5]), "x"),
        (replace(GRAPH, claims=()), "y"),
    ],
)
def test_what_stands_for_a_community_differs_where_one_of_its_records_does(changed: Graph, differs: str) -> None:
    before, after = place_elements(GRAPH, GROUPS).keys, place_elements(changed, GROUPS).keys
    assert "".join(name for name in ("x", "y") if before[name] != after[name]) == differs
    assert (before["x1"] != after["x1"]) is (changed.entities[0] != GRAPH.entities[0])


def test_the_key_of_a_community_knows_its_division_and_what_was_gathered() -> None:
    whole, other, part = GROUPS
    divided = [whole, part, group("x2", 1, "x", ("b",))]
    given = ([whole, part], [whole], divided, [replace(whole, gathered=True), part], [other, part, whole])
    keys = [place_elements(GRAPH, groups).keys["x"] for groups in given]
    assert len(set(keys)) == 4
    assert keys[4] == keys[0]


def elements(*sizes: int) -> TreeElements:
    one, two, three = map(np.arange, sizes)
    return TreeElements((one, two, three))


@pytest.mark.parametrize(
    ("sizes", "batches"),
    [
        ({}, []),
        ({"a": (0, 0, 0)}, [["a"]]),
        ({"a": (4000, 4000, 192), "b": (0, 0, 0), "c": (0, 0, 1)}, [["a", "b"], ["c"]]),
        ({"a": (4000, 4000, 191), "b": (0, 1, 0), "c": (1, 0, 0)}, [["a", "b"], ["c"]]),
        ({"a": (4000, 4000, 193), "b": (1, 0, 0)}, [["a"], ["b"]]),
        ({"a": (9000, 0, 0), "b": (9000, 0, 0), "c": (8192, 0, 0), "d": (1, 0, 0)}, [["a"], ["b"], ["c"], ["d"]]),
        ({"a": (1, 0, 0), "b": (0, 8191, 0), "c": (0, 8191, 0), "d": (0, 0, 1), "e": (0, 0, 1)},
         [["a", "b"], ["c", "d"], ["e"]]),
    ],
)  # fmt: skip
def test_trees_are_taken_together_up_to_8192_elements(
    sizes: dict[str, tuple[int, int, int]], batches: list[list[str]]
) -> None:
    held = {root: elements(*of) for root, of in sizes.items()}
    assert list(batch_trees(list(sizes), held)) == batches


@dataclass
class Noting:
    """Rows of a table, which note how they are read."""

    rows: EncodedRows
    read: list[str]

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, positions: Sequence[int]) -> list[bytes]:
        self.read.append(f"at {list(positions)}")
        return self.rows.at(positions)

    def scan(self) -> Any:
        self.read.append("all")
        return self.rows.scan()


@pytest.mark.parametrize(
    ("batches", "read"),
    [
        ([[1, 3], [0, 4]], ["at [0, 1, 3, 4]"]),
        ([[1, 3], [0, 4, 39]], ["all"]),
        ([[1, 3, 5, 7, 9, 11]], ["at [1, 3, 5, 7, 9, 11]"]),
        ([[1, 3, 5, 39], [], [2]], ["all"]),
        ([[], []], []),
    ],
)
def test_where_one_of_eight_records_is_wanted_all_are_read_once(
    monkeypatch: pytest.MonkeyPatch, batches: list[list[int]], read: list[str]
) -> None:
    entities = [entity(f"e{i:02}") for i in range(40)]
    rows = EncodedRows((e.id, b'{"id":"%s","name":"N","type":"","description":"","descriptions":[],"chunks":[],'
                        b'"frequency":1,"degree":1}' % e.id.encode()) for e in entities)  # fmt: skip
    noting = Noting(rows, [])
    graph = Graph(Table(noting, Entity), (), ())  # type: ignore[arg-type]
    spooled: list[Any] = []
    monkeypatch.setattr(
        written_trees,
        "SpooledTemporaryFile",
        lambda most: spooled.append(most) or SpooledTemporaryFile(most),  # noqa: SIM115
    )
    none = np.zeros(0, np.int64)
    trees = [[TreeElements((np.array(places, np.int64), none, none))] for places in batches]
    found = [[e.id for e in part.entities] for part in take_batches(graph, trees)]
    assert found == [[f"e{i:02}" for i in places] for places in batches]
    assert noting.read == read
    assert spooled == ([262_144] * len(batches) if len(batches) > 1 else [])


def test_records_in_memory_are_read_by_place_and_by_id() -> None:
    rows = EncodedRows([("b", b"1"), ("a", b"2"), ("c", b"3")])
    assert (len(rows), rows.at([2, 0, 2]), rows.at([])) == (3, [b"3", b"1", b"3"], [])
    assert rows.find(["c", "none", "b"]) == {"c": b"3", "b": b"1"}
    assert (list(rows.scan()), list(rows.ids())) == ([b"1", b"2", b"3"], ["b", "a", "c"])
