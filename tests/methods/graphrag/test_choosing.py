"""Which reports are read: by grade, by nearness, from the root down, and around the entities of a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sensegraph.errors import SettingsError
from sensegraph.methods.graphrag import global_search
from sensegraph.methods.graphrag.global_search import GraphRAG
from sensegraph.methods.graphrag.local_search import _seed_reports, _Seeds, skip_nested_clusters
from sensegraph.types import Cluster, Question

ASKED = Question("What?")


def cluster(
    name: str, entities: str = "", rating: float = 0.0, depth: int = 0, parent: str = "", below: str = ""
) -> Cluster:
    members = tuple(below) or tuple(entities)
    level = 1 if below else 0
    return Cluster(name, level, depth, parent, members, tuple(entities), name.upper(), rating=rating)


# a and b at the root; a has the children c and d, d the child e; b has none, f is below nothing that is listed
TREE = (
    cluster("a", "wxyz", 1.0, below="cd"),
    cluster("b", "q", 2.0),
    cluster("c", "w", 3.0, 1, "a"),
    cluster("d", "xyz", 3.0, 1, "a", below="e"),
    cluster("e", "x", 9.0, 2, "d"),
)


class Shelf:
    hierarchy = SimpleNamespace(clusters=TREE)

    def clusters_at(self, depth: int) -> list[Cluster]:
        return [c for c in TREE if c.depth == depth or (c.depth < depth and c.level == 0)]

    def clusters(self, ids: Sequence[str]) -> dict[str, Cluster]:
        return {c.id: c for c in TREE if c.id in ids}


def chosen(grades: Mapping[str, int], **settings: Any) -> tuple[str, str]:
    """The reports that are read where each is given such a grade, and how they were chosen."""

    class Graded(GraphRAG):
        def _grades(self, question: Question, clusters: Sequence[Cluster], index: Any, rt: Any) -> list[int]:
            return [grades.get(c.id, 0) for c in clusters]

    found, said = Graded(**settings)._selected(ASKED, Shelf(), SimpleNamespace())  # type: ignore[arg-type]
    return "".join(c.id for c in found), said


def test_every_report_of_the_depth_is_read_where_points_are_scored() -> None:
    assert chosen({}, depth=0) == ("ab", "")
    assert chosen({}, depth=1) == ("bcd", "")


@pytest.mark.parametrize(
    ("grades", "settings", "read"),
    [
        ({"b": 4, "c": 5, "d": 3}, {}, "cb"),
        ({"b": 4, "c": 5, "d": 3}, {"threshold": 0.6}, "cbd"),
        ({"b": 4, "c": 5, "d": 3}, {"threshold": 1.0}, "c"),
        ({"b": 5, "c": 5, "d": 5}, {}, "cdb"),  # of equal grades by rating, then by id
        ({"b": 5, "c": 5, "d": 5}, {"top": 2}, "cd"),
        ({}, {"threshold": 0.0}, "cdb"),
        ({}, {}, ""),
    ],
)
def test_reports_of_a_grade_are_read_best_first(grades: dict[str, int], settings: dict[str, Any], read: str) -> None:
    found, said = chosen(grades, depth=1, select="threshold", **settings)
    assert found == read
    assert said == f"graded {settings.get('threshold', 0.7):g} or better, of 3 graded"


@pytest.mark.parametrize(("settings", "read"), [({"top": 2}, "db"), ({"top": 9}, "dbc"), ({}, "d")])
def test_of_the_reports_of_the_depth_the_nearest_are_read(
    settings: dict[str, Any], read: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = np.array(["abcde".index(name) for name in "eadbc"])
    monkeypatch.setattr(global_search, "asked_vector", lambda *_: None)
    monkeypatch.setattr(global_search, "nearest_to", lambda *_: (order, -np.arange(5.0)))
    assert chosen({}, depth=1, select="nearest", **settings) == (read, "nearest to the question")


@pytest.mark.parametrize(
    ("grades", "settings", "read", "asked"),
    [
        ({"a": 1, "b": 1}, {"depth": 0}, "ab", 2),
        ({"a": 1, "c": 2}, {"depth": 1}, "c", 4),  # a gives way to what is below it
        ({"a": 1, "c": 2}, {"depth": 1, "keep_parents": True}, "ac", 4),
        ({"a": 1}, {"depth": 1}, "a", 4),
        ({"a": 1, "d": 1, "e": 1}, {"depth": 2}, "e", 5),
        ({"a": 1, "d": 1}, {"depth": 2}, "d", 5),
        ({"a": 1, "c": 1}, {"depth": 2}, "c", 4),  # c has nothing below
        ({"a": 1, "b": 2, "c": 2}, {"depth": 1, "least_grade": 2}, "b", 2),
        ({"c": 1}, {"depth": 1}, "c", 4),  # nothing at the root: the next depth is tried
        ({"e": 1}, {"depth": 2}, "e", 5),
        ({"b": 1, "e": 1}, {"depth": 2}, "b", 2),
        ({}, {"depth": 2}, "", 5),
        ({"a": 1, "c": 2}, {"depth": 1, "votes": 3}, "c", 12),
    ],
)
def test_from_the_root_down_what_is_below_a_good_report_is_graded(
    grades: dict[str, int], settings: dict[str, Any], read: str, asked: int
) -> None:
    found, said = chosen(grades, select="dynamic", **settings)
    assert ("".join(sorted(found)), said) == (read, f"chosen by {asked} grades")


@pytest.mark.parametrize(
    "wrong",
    [{"depth": -1}, {"context_tokens": 0}, {"threshold": 1.1}, {"threshold": -0.1}, {"top": -1}, {"least_grade": 6},
     {"least_grade": -1}, {"votes": 0}],
)  # fmt: skip
def test_settings_that_choose_nothing_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        GraphRAG(**wrong)
    assert GraphRAG(depth=0, context_tokens=1, threshold=0.0, least_grade=0).votes == 1
    assert GraphRAG(threshold=1.0, least_grade=5).top == 0


# ── around the entities of a question ──


def around(homes: list[list[int]], seeds: list[int], clusters: Sequence[Cluster], hierarchy: str = "h") -> str:
    index: Any = SimpleNamespace(
        manifest=SimpleNamespace(hierarchy=hierarchy),
        lookups=SimpleNamespace(homes=np.array(homes)),
        hierarchy=SimpleNamespace(clusters=clusters),
    )
    return "".join(c.id for c in _seed_reports(_Seeds(seeds, [], []), index))


def test_reports_with_most_seeds_come_first_then_by_rating_then_by_id() -> None:
    apart = [cluster("a", "p", 1.0), cluster("b", "q", 2.0), cluster("c", "r", 2.0), cluster("d", "s", 9.0)]
    homes = [[0, 0], [0, -1], [1, -1], [2, -1], [-1, 3]]
    assert around(homes, [0, 1, 2, 3, 4], apart) == "adbc"
    assert around(homes, [2, 3], apart) == "bc"
    assert around(homes, [], apart) == ""
    assert around(homes, [0], apart, hierarchy="") == ""
    assert around([[-1, -1]], [0], apart) == ""


def test_of_a_report_and_one_above_it_only_the_first_is_read() -> None:
    nested = [cluster("a", "pqr", 1.0), cluster("b", "pq", 5.0), cluster("c", "s", 1.0)]
    assert around([[0, 1], [0, 1], [2, -1]], [0, 1, 2], nested) == "bc"
    assert around([[0, 1], [0, -1], [2, -1]], [0, 1, 2], nested) == "ac"
    assert [c.id for c in skip_nested_clusters(nested)] == ["a", "c"]
