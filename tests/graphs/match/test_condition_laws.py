"""Conditions, totals and cuts mean what their definition says, on small random graphs (N87)."""

from __future__ import annotations

import json

from hypothesis import assume, given
from hypothesis import strategies as st

from little_graphs import TYPES, Little, little
from matched_by_search import Edge, Node, Path, called, rows

Truth = bool | None
_PARTS = ("an", "O", "b", "zz")


@st.composite
def conditions(draw, depth: int = 2) -> tuple[str, object]:
    """The text of a condition on (a)-[r]-(b), and a function that says of a row whether it holds."""
    if depth and draw(st.booleans()):
        kind = draw(st.sampled_from(("AND", "OR", "NOT")))
        one, holds_one = draw(conditions(depth=depth - 1))
        if kind == "NOT":
            return f"NOT ({one})", lambda g, row: None if (v := holds_one(g, row)) is None else not v
        other, holds_other = draw(conditions(depth=depth - 1))
        join = _both if kind == "AND" else _either
        return f"({one}) {kind} ({other})", lambda g, row: join(holds_one(g, row), holds_other(g, row))
    return draw(st.one_of(_numbers(), _names(), _types(), _labels(), _searches(), _lists(), _nulls()))


def _both(a: Truth, b: Truth) -> Truth:
    return False if a is False or b is False else None if a is None or b is None else True


def _either(a: Truth, b: Truth) -> Truth:
    return True if a is True or b is True else None if a is None or b is None else False


def _numbers():
    tests = {"<": lambda x, y: x < y, ">=": lambda x, y: x >= y, "=": lambda x, y: x == y, "<>": lambda x, y: x != y}
    return st.builds(
        lambda sign, n: (f"r.weight {sign} {n}", lambda g, row: tests[sign](row[1].weight, n)),
        st.sampled_from(sorted(tests)),
        st.integers(1, 4),
    )


def _names():
    return st.builds(
        lambda name, same: (
            f"a.name {'=' if same else '<>'} {json.dumps(name)}",
            lambda g, row: (row[0].id in called(g, name)) == same,
        ),
        st.sampled_from(("ann", "Bo", "boss", "Anna", "nobody")),
        st.booleans(),
    )


def _types():
    return st.builds(
        lambda kinds: (f"b.type IN {json.dumps(kinds)}", lambda g, row: row[2].type in [k.lower() for k in kinds]),
        st.lists(st.sampled_from([*TYPES, "Person"]), max_size=2),
    )


def _labels():
    return st.just(("r.label = 'works at'", lambda g, row: None if not row[1].label else row[1].label == "WORKS_AT"))


def _searches():
    def made(sign: str, part: str):
        def holds(g: Little, row) -> bool:
            forms = [f.lower() for f in (row[0].name, *row[0].aliases)]
            low = part.lower()
            tests = {"CONTAINS": lambda f: low in f, "STARTS WITH": lambda f: f.startswith(low)}
            return any(map(tests.get(sign, lambda f: f.endswith(low)), forms))

        return f"a.name {sign} '{part}'", holds

    return st.builds(made, st.sampled_from(("CONTAINS", "STARTS WITH", "ENDS WITH")), st.sampled_from(_PARTS))


def _lists():
    return st.just(("'Boss' IN b.aliases", lambda g, row: "Boss" in row[2].aliases))


def _nulls():
    return st.booleans().map(
        lambda gone: (f"r.label IS {'' if gone else 'NOT '}NULL", lambda g, row: (not row[1].label) == gone)
    )


def every(graph: Little) -> list[tuple]:
    """All (a)-[r]-(b)."""
    known = {e.id: e for e in graph.graph.entities}
    ends = [(r, known[r.source], known[r.target]) for r in graph.graph.relations]
    return [(x, r, y) for r, a, b in ends for x, y in ((a, b), (b, a))]


@given(st.integers(0, 400), conditions())
def test_a_condition_keeps_the_rows_of_which_it_is_true(seed: int, condition):
    graph, (text, holds) = little(seed), condition
    found = graph.match("(a)-[r]-(b)", where=text, returned="a.id, r.id, b.id")
    wanted = [(a.id, r.id, b.id) for a, r, b in every(graph) if holds(graph, (a, r, b)) is True]
    assert sorted(found.rows) == sorted(wanted)


@given(st.integers(0, 400), st.sampled_from("-><"), st.sampled_from(TYPES), st.sampled_from(((1, 1), (1, 2))))
def test_a_pattern_in_a_condition_holds_where_it_matches(seed: int, way: str, kind: str, bounds: tuple[int, int]):
    graph = little(seed)
    assume(any(e.type == kind for e in graph.graph.entities))
    inside = Path((Node("a"), Node("c", kind)), (Edge("s", "", way, bounds),))
    around = {row["a"] for row in rows(graph, [inside])}
    found = graph.match("(a)-[r]-(b)", where=f"EXISTS {{ {inside.text} }}", returned="a.id, r.id, b.id")
    assert sorted(found.rows) == sorted((a.id, r.id, b.id) for a, r, b in every(graph) if (a.id,) in around)
    left = graph.match("(a)-[r]-(b)", where=f"NOT EXISTS {{ {inside.text} }}", returned="a.id, r.id, b.id")
    assert sorted(found.rows + left.rows) == sorted((a.id, r.id, b.id) for a, r, b in every(graph))


@given(st.integers(0, 400), st.integers(1, 4))
def test_a_condition_within_a_pattern_may_read_what_is_around(seed: int, least: int):
    graph = little(seed)
    where = f"EXISTS {{ (b)-[s]-(c) WHERE s.weight > r.weight AND c.name <> $name AND r.weight >= {least} }}"
    found = graph.match("(a)-[r]-(b)", where=where, returned="a.id, r.id, b.id", parameters={"name": "Bo"})
    wanted = [
        (a.id, r.id, b.id)
        for a, r, b in every(graph)
        for more in [[s for x, s, c in every(graph) if x.id == b.id and s.weight > r.weight and c.name != "Bo"]]
        if more and r.weight >= least
    ]
    assert sorted(found.rows) == sorted(wanted)


@given(st.integers(0, 400))
def test_totals_are_those_of_the_rows_of_a_group(seed: int):
    graph = little(seed)
    found = graph.match(
        "(a)-[r]-(b) RETURN a.type, count(*), sum(r.weight), avg(r.weight), min(b.name), max(r.weight), "
        "count(DISTINCT b.type), collect(r.label)"
    )
    groups: dict[str, list] = {}
    for a, r, b in sorted(every(graph), key=lambda row: (row[0].id, row[2].id)):
        groups.setdefault(a.type, []).append((r, b))
    wanted = [
        (
            kind,
            len(rows),
            sum(r.weight for r, _ in rows),
            sum(r.weight for r, _ in rows) / len(rows),
            min(b.name for _, b in rows),
            max(r.weight for r, _ in rows),
            len({b.type for _, b in rows}),
            tuple(r.label for r, _ in rows if r.label),
        )
        for kind, rows in groups.items()
    ]
    assert list(found.rows) == wanted


@given(st.integers(0, 400), st.integers(0, 5), st.integers(0, 5), st.booleans())
def test_order_skip_and_limit_cut_the_ordered_rows(seed: int, skip: int, limit: int, falling: bool):
    graph = little(seed)
    query = f"(a)-[r]-(b) RETURN r.weight, a.id, b.id ORDER BY r.weight{' DESC' * falling}"
    whole = graph.match(query)
    weights = [w for w, *_ in whole.rows]
    assert weights == sorted(weights, reverse=falling)
    part = graph.match(f"{query} SKIP {skip} LIMIT {limit}")
    assert part.rows == whole.rows[skip : skip + limit]
    assert part.found == whole.found == len(whole.rows)


@given(st.integers(0, 400))
def test_a_pattern_means_the_same_from_either_end(seed: int):
    graph = little(seed)
    assume(any(e.type == "person" for e in graph.graph.entities))
    there = graph.match("(a:Person)-[r]->(b)-[s*1..2]-(c)", returned="a.id, r, b.id, s, c.id")
    back = graph.match("(c)-[s*1..2]-(b)<-[r]-(a:Person)", returned="a.id, r, b.id, s, c.id")
    turned = [(a, r, b, s[::-1], c) for a, r, b, s, c in back.rows]
    assert sorted(map(str, there.rows)) == sorted(map(str, turned))


@given(st.integers(0, 400))
def test_distinct_rows_are_the_rows_each_once_in_their_order(seed: int):
    graph = little(seed)
    query = "(a)-[r]-(b) RETURN {} a.type, b.type"
    kinds = {(a.type, b.type) for a, _, b in every(graph)}
    assert set(graph.match(query.format("")).rows) == kinds
    assert graph.match(query.format("DISTINCT")).rows == tuple(dict.fromkeys(graph.match(query.format("")).rows))
