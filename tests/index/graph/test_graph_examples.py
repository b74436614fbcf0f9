"""Names of entities, short forms that texts define, and communities: worked examples."""

from __future__ import annotations

import pytest

from sensegraph.index.graph.seen_names import NameGraph
from sensegraph.index.graph.told_names import list_short_forms
from sensegraph.index.hierarchy.communities import ClusterSettings, group_entities
from sensegraph.index.restricted.dates import (
    entities_by_name,
)
from sensegraph.index.restricted.scope import positions_among
from sensegraph.types import Chunk, Description, Entity, Graph, Relation, Source


def make_entity(name: str, chunks: str, type: str = "person", frequency: int = 0) -> Entity:
    """An entity that each of these chunks (one letter each) describes."""
    told = tuple(Description(f"{name} in {c}.", Source(c, 0, 5)) for c in chunks)
    return Entity(
        name.lower(), name, type, told[0].text if told else "", told, tuple(chunks), frequency or len(chunks), 7
    )


def positions_of(whole: str, inside: str) -> list[int]:
    return positions_among([make_entity(n, "a") for n in whole], [make_entity(n, "a") for n in inside])


def rank_names(rows: list[tuple[str, str, int, tuple[str, ...]]]) -> dict[str, str]:
    return entities_by_name(Graph(tuple(Entity(i, n, "x", "", (), (), f, 0, aliases=a) for i, n, f, a in rows)))


def define(rows: list[tuple[str, str, str]], text: str) -> list[tuple[str, str, str]]:
    """The short forms that chunks define; an entity is (name, type, chunks)."""
    graph = Graph(tuple(make_entity(n, c, t) for n, t, c in rows))
    texts = {c: Chunk(c, "d", 0, len(text), 1, text) for e in graph.entities for c in e.chunks if c != "z"}
    found = [rule for short in list_short_forms(NameGraph.of(graph)) for rule in short.find_rules(texts)]
    return [(r.one, r.other, r.why) for r in found]


def group_links(links: list[tuple[str, str]], size: int) -> list[tuple[int, tuple[str, ...], int, bool]]:
    """The communities of a graph: depth, members, how many parts, whether they lie in another."""
    names = sorted({n for link in links for n in link})
    graph = Graph(
        tuple(Entity(n, n, "x", "", (), (), 1, 1) for n in names),
        tuple(Relation(f"{a}{b}", a, b, "", (), 1.0, ()) for a, b in links),
    )
    found = group_entities(graph, None, ClusterSettings(max_cluster_size=size))
    return [(g.depth, g.entities, len(g.children), bool(g.parent)) for g in found.groups]


@pytest.mark.parametrize(
    ("whole", "inside", "expected"),
    [
        ("abc", "", []),
    ],
)
def test_positions_are_found_by_id(whole: str, inside: str, expected: list[object]) -> None:
    assert positions_of(whole, inside) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [("e2", "Ada", 1, ()), ("e1", "ada", 1, ("Finch",)), ("e3", "Finch", 0, ("Ada", "Bell"))],
            {"ada": "e1", "finch": "e3", "bell": "e3"},
        ),
    ],
)
def test_a_name_is_that_of_the_most_mentioned(rows: list[tuple[object, ...]], expected: dict[str, str]) -> None:
    assert rank_names(rows) == expected


@pytest.mark.parametrize(
    ("rows", "text", "expected"),
    [
        (
            [("Apple Inc", "org", "ab"), ("AI", "org", "ab")],
            "Apple Inc (AI) grew",
            [("apple inc", "ai", "a text says Apple Inc (AI)")],
        ),
        ([("Apple Inc", "person", "a"), ("AI", "org", "a")], "Apple Inc (AI) grew", []),
        ([("Big Firm", "org", "a"), ("AI", "org", "a")], "Big Firm (AI) grew", []),
        ([("Apple", "org", "zzzzzzzzzzzzzzzzzzzza"), ("AI", "org", "zzzzzzzzzzzzzzzzzzzza")], "Apple (AI)", []),
    ],
)
def test_texts_define_short_forms(
    rows: list[tuple[object, ...]], text: str, expected: list[tuple[object, ...]]
) -> None:
    assert define(rows, text) == expected


@pytest.mark.parametrize(
    ("links", "size", "expected"),
    [
        (
            [("a", "b"), ("b", "c"), ("a", "c"), ("d", "e"), ("e", "f"), ("d", "f"), ("c", "d")],
            10,
            [(0, ("a", "b", "c"), 0, False), (0, ("d", "e", "f"), 0, False)],
        ),
    ],
)
def test_communities_nest(links: list[tuple[object, ...]], size: int, expected: list[tuple[object, ...]]) -> None:
    assert group_links(links, size) == expected
