"""Where texts stand in documents, what a hierarchy of imported tables weighs, and what parents take from children."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import little_tables
from sensegraph.algorithms.graphs import canonical_edges, modularity
from sensegraph.graphs.interchange.hierarchies import build_hierarchy, group_communities
from sensegraph.graphs.interchange.knowledge import _find_span, build_graph, place_text_units
from sensegraph.graphs.interchange.table_files import read_tables
from sensegraph.types import Graph, Hierarchy

HEAD = "title: The Long Tide\n"


@pytest.mark.parametrize(
    ("text", "whole", "after", "span"),
    [
        ("abc", "xxabc", 0, (2, 5)),
        ("abc", "abcabc", 0, (0, 3)),
        ("abc", "abcabc", 1, (3, 6)),
        ("abc", "abcabc", 3, (3, 6)),
        ("abc", "abcabc", 4, (0, 3)),  # there is none after it: the first one
        ("abc", "xyz", 0, None),
        (HEAD + "abc", "xxabc", 0, (2, 5)),
        (HEAD + "abc", "xx" + HEAD + "abc", 0, (2, 5 + len(HEAD))),  # the document has the line itself
        (HEAD * 11 + "abc", "xxabc", 0, (2, 5)),
        (HEAD * 12 + "abc", "xxabc", 0, None),  # more than a dozen texts are not tried
        (HEAD, "xxabc", 0, None),
        ("no field\nabc", "xxabc", 0, None),
        (":\nabc", "xxabc", 0, None),
        (f"{'k' * 80}: v\nabc", "xxabc", 0, (2, 5)),
        (f"{'k' * 81}: v\nabc", "xxabc", 0, None),
    ],
)
def test_a_text_stands_where_it_is_first_found_after_the_one_before(
    text: str, whole: str, after: int, span: tuple[int, int] | None
) -> None:
    assert _find_span(text, whole, after) == span


def made(folder: Path, given: little_tables.Tables) -> tuple[Graph, Hierarchy]:
    tables = read_tables(little_tables.write(given, folder))
    texts = place_text_units(tables, size=20, overlap=5)
    knowledge = build_graph(tables, texts, orphans="create")
    return knowledge.graph, build_hierarchy(tables, group_communities(tables, knowledge), knowledge, texts)


def test_the_modularity_is_that_of_the_communities_of_depth_0(tmp_path: Path) -> None:
    graph, hierarchy = made(tmp_path, little_tables.tables())
    place = {e.id: i for i, e in enumerate(graph.entities)}
    ends = [(place[r.source], place[r.target], r.weight) for r in graph.relations]
    label = {e: i for i, c in enumerate(c for c in hierarchy.clusters if c.depth == 0) for e in c.entities}
    edges = canonical_edges(*zip(*ends, strict=True), len(place))
    wanted = modularity(edges, np.array([label[e.id] for e in graph.entities]))
    assert hierarchy.modularity == pytest.approx(wanted)
    assert len(set(label.values())) > 1


def test_without_relations_there_is_no_modularity(tmp_path: Path) -> None:
    given = little_tables.tables() | {"relationships": []}
    for row in given["communities"]:
        row["relationship_ids"] = []
    assert made(tmp_path, given)[1].modularity == 0.0


def test_a_community_that_lists_nothing_has_the_entities_of_those_below_it(tmp_path: Path) -> None:
    given = little_tables.tables()
    for row in given["communities"]:
        if row["community"] == 0:
            row |= {"entity_ids": [], "relationship_ids": []}
    of = {c.id: set(c.entities) for c in made(tmp_path, given)[1].clusters}
    assert of["c0"] == of["c1"] | of["c2"]
    assert of["c1"]
