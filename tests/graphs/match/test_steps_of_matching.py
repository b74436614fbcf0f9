"""Small steps of matching: orders and ends of clauses, names in texts, blocks of edges, limits on both sides."""

from __future__ import annotations

import pytest

from little_graphs import little
from sensegraph.errors import InputError
from sensegraph.graphs.match import joining, query_values
from sensegraph.graphs.match.parser import Parser
from sensegraph.graphs.match.query_values import compile_matcher
from sensegraph.graphs.match.syntax import Property, Sort, Variable


@pytest.mark.parametrize(
    ("text", "falling"),
    [
        ("a", False), ("a ASC", False), ("a ascending", False), ("a DESC", True), ("a descending", True),
    ],
)  # fmt: skip
def test_an_order_rises_unless_it_is_said_to_fall(text: str, falling: bool) -> None:
    wanted = (Sort(Variable("a"), falling), Sort(Property("b", "name"), falling=True))
    assert Parser(f"{text}, b.name DESC", "the order", {}).ordered() == wanted
    assert Sort(Variable("a")) == Sort(Variable("a"), falling=False)


@pytest.mark.parametrize(("what", "text"), [("returned", "a b"), ("returned", "a ORDER BY a"), ("ordered", "a b")])
def test_nothing_may_follow_a_clause_that_stands_alone(what: str, text: str) -> None:
    with pytest.raises(InputError, match=r"'b'|'ORDER"):
        getattr(Parser(text, "the option", {}), what)()


@pytest.mark.parametrize("seed", [4, 6])
def test_edges_in_small_blocks_are_the_same_edges(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    graph = little(seed)
    queries = ["(a)-[r]-(b)", "(a)-[r]->(b)-[s]-(c)", "(a)-[r*0..3]-(b)", "(a)-[r*2]-(b) WHERE a.name <> 'Ann'"]
    whole = [graph.match(query).rows for query in queries]
    assert all(whole[::2])
    for block in (1, 2, 3):
        monkeypatch.setattr(joining, "_BLOCK", block)
        assert [graph.match(query).rows for query in queries] == whole


def test_a_type_in_a_pattern_inside_a_condition_holds_for_what_is_bound_outside() -> None:
    found = dict[str, list[tuple[object, ...]]]()
    for kind in ("person", "firm", "place"):
        inside = little(6).match(f"(a) WHERE EXISTS {{ (a:{kind})--() }} RETURN a.name").rows
        found[kind] = sorted(little(6).match(f"(a:{kind})-[]-() RETURN DISTINCT a.name").rows)
        assert sorted(inside) == found[kind]
    assert sum(map(bool, found.values())) > 1


def test_a_regular_expression_has_as_many_characters_as_may_be() -> None:
    pytest.importorskip("re2")
    most = query_values._LONGEST
    assert compile_matcher("a" * most)("a" * most)
    with pytest.raises(InputError, match=str(most)):
        compile_matcher("a" * (most + 1))
