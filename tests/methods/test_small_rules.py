"""Small rules of methods by examples that are counted by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sensegraph.errors import SettingsError
from sensegraph.index.manifest import Manifest
from sensegraph.methods import check_fields, method_class
from sensegraph.methods.auto import _quote_words
from sensegraph.methods.graphrag.actions import _embed_questions
from sensegraph.methods.graphrag.details import count_documents_about
from sensegraph.methods.hipporag.facts import FactSettings
from sensegraph.methods.kag.calculation import MOST_CHARACTERS, calculate_expression, write_value
from sensegraph.methods.raptor import growing
from sensegraph.methods.raptor.growing import TreeSettings
from sensegraph.types import Cluster, Entity, Graph


@pytest.mark.parametrize(
    ("bound", "within", "beyond"),
    [
        ("be at least 1", (1, 2), (0, 0.9, -1)), ("not be negative", (0, 0.1, 5), (-0.1, -1)),
        ("be 0 or more", (0, 7.5), (-1, float("inf"), float("nan"))), ("be above 0", (0.1, 9), (0, -1, float("inf"))),
        ("be from 0 to 1", (0, 0.5, 1), (-0.1, 1.1)), ("lie in 0 to 1", (0, 0.5, 1), (-0.1, 1.1)),
        ("lie between 0 and 1", (0.1, 0.9), (0, 1, -1, 2)),
    ],
)  # fmt: skip
def test_a_setting_beyond_its_bound_is_refused_by_its_name(
    bound: str, within: tuple[float, ...], beyond: tuple[float, ...]
) -> None:
    for value in within:
        assert check_fields(SimpleNamespace(name="m", size=value), "size", bound) is None
    for value in beyond:
        with pytest.raises(SettingsError, match=rf"m: size \({value}\) must {bound}\."):
            check_fields(SimpleNamespace(name="m", fine=0.5, size=value), "size", bound)


def test_a_method_that_nobody_knows_is_refused_with_the_nearest_or_all_of_them() -> None:
    with pytest.raises(SettingsError, match=r"No method is called 'graphrog'; did you mean 'graphrag'\?$"):
        method_class("graphrog")
    with pytest.raises(SettingsError, match=r"No method is called 'zzz'; there are bm25, drift, .*walk\.$"):
        method_class("zzz")


def test_three_words_are_quoted_each_once() -> None:
    assert _quote_words(["a  b", "a b", "c", "d", "e"]) == "“a b”, “c”, “d”"


def test_no_questions_have_no_vectors() -> None:
    nobody: Any = None
    assert _embed_questions([], nobody).shape == (0, 0)


def test_facts_have_a_synonym_of_one_neighbour_at_least() -> None:
    assert FactSettings(neighbours=1, words=0, synonym=1.0).neighbours == 1
    for wrong in ({"neighbours": 0}, {"words": -1}, {"synonym": 0.0}, {"synonym": 1.1}):
        with pytest.raises(SettingsError, match="facts"):
            FactSettings(**wrong)  # type: ignore[arg-type]


def test_an_expression_of_just_so_many_characters_is_read() -> None:
    long = "1" + "+1" * ((MOST_CHARACTERS - 2) // 2) + " "
    assert len(long) == MOST_CHARACTERS
    assert write_value(calculate_expression(long, {})) == str(MOST_CHARACTERS // 2)
    assert "characters" in write_value(calculate_expression(f"{long} ", {}))


def entity(name: str, degree: int, *chunks: str) -> Entity:
    return Entity(name, name, "p", "", (), chunks, 1, degree)


def about(members: str, *entities: Entity) -> int:
    index: Any = SimpleNamespace(graph=Graph(entities), manifest=Manifest("", "", "", "", "", "", "", "", {}))
    cluster = Cluster("g", 0, 0, "", (), tuple(members))
    return count_documents_about(index, [cluster])["g"]


def test_a_document_is_about_a_community_where_a_chunk_names_three_of_its_ten_best_linked() -> None:
    first, second, other = (letter * 12 + "1" for letter in "xyz")
    a, b, c = entity("a", 9, first, second), entity("b", 9, first, second), entity("c", 9, first, other)
    assert about("abc", a, b, c) == 1
    assert about("ab", a, b, c) == 2  # there are only two
    assert about("abd", a, b, c) == 2
    again = entity("a", 9, first, "x" * 12 + "2")
    both = entity("b", 9, first, "x" * 12 + "2")
    assert about("ab", again, both) == 1  # two chunks of one document
    many = [entity(f"{i}", 20 - i, first) for i in range(10)]
    assert about("abc0123456789", *many, entity("a", 1, second), entity("b", 1, second), entity("c", 1, second)) == 1
    weak = [entity(f"{i}", 1, first) for i in range(10)]
    assert about("abc0123456789", *weak, entity("a", 2, second), entity("b", 2, second), entity("c", 2, second)) == 2


def test_a_global_cluster_of_few_is_one_local_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def halves(x: Any, settings: TreeSettings) -> list[tuple[int, ...]]:
        asked.append(len(x))
        return [tuple(range(len(x) // 2)), tuple(range(len(x) // 2, len(x)))]

    monkeypatch.setattr(growing, "_mixture_clusters", halves)
    x, nodes = np.zeros((20, 2)), tuple(range(10, 18))
    assert growing._part_by_clusters(nodes, x, TreeSettings(stop=4)) == [(10, 11, 12, 13), (14, 15, 16, 17)]
    assert asked == [8]
    assert growing._part_by_clusters(nodes, x, TreeSettings(stop=3)) == [(10, 11), (12, 13), (14, 15), (16, 17)]
    assert asked == [8, 8, 4, 4]
