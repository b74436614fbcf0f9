"""Queries over little graphs: names, directions, bounds, errors that name what is nearest (N87)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from little_graphs import Little, entity, relation
from sensegraph.errors import InputError
from sensegraph.graphs.match.matches import PathRow
from sensegraph.index.browse.pages import ClaimRow, EntityRow, RelationRow
from sensegraph.types import Claim, Description, Graph, Source

ANN = entity(0, "Ann Berg", "person", ("Ann", "the captain"), 2)
BO = entity(1, "Bo Lind", "person", (), 2)
ACME = entity(2, "Acme", "organization", ("Acme Ltd", "Ann's"), 2)
OSTBY = entity(3, "Ostby", "place", (), 1)
FOUNDED = relation(0, ANN, ACME, ("Ann Berg founded Acme in 1990.",), "FOUNDED", 3.0)
RUN_BY = relation(1, ACME, BO, ("Acme is led by Bo Lind.", "Bo Lind leads Acme."), "is led by", 2.0)
MET = relation(2, ANN, BO, ("They met.",), "", 1.0, directed=False)
SEAT = relation(3, OSTBY, ACME, ("Ostby is where Acme has its seat.",), "", 1.0)
CLAIM = Claim("k0", ANN.id, "Acme", "FOUNDATION", "TRUE", "Ann Berg founded Acme.", "1990", "", Source("c0", 2, 9))
DENIED = Claim("k1", BO.id, "NONE", "FACT", "FALSE", "Bo Lind left.", "", "2001-05", Source("c1", 0, 9))


@pytest.fixture
def graph() -> Little:
    return Little(Graph((ANN, BO, ACME, OSTBY), (FOUNDED, RUN_BY, MET, SEAT), (CLAIM, DENIED)), {})


def names(graph: Little, query: str, **given) -> list[tuple]:
    return sorted(graph.match(query, **given).rows)


# ── names and types ──


def test_types_names_and_labels_are_found_in_any_case(graph: Little):
    wanted = [("Ann Berg", "Acme")]
    assert names(graph, "(a:PERSON)-[founded:FOUNDED]->(b:Organization) RETURN a.name, b.name") == wanted
    assert names(graph, "(a)-[:`founded`]->(b {name: 'ACME'}) RETURN a.name, b.name") == wanted
    assert names(graph, "(a)-[:IS_LED_BY]-(b:person) RETURN a.name, b.name") == [("Acme", "Bo Lind")]


def test_an_alias_is_found_as_a_name_where_nothing_has_that_name(graph: Little):
    assert names(graph, "(a {name: 'the Captain'}) RETURN a.name") == [("Ann Berg",)]
    assert names(graph, "(a) WHERE a.name IN ['acme ltd', 'bo lind'] RETURN a.name") == [("Acme",), ("Bo Lind",)]
    assert names(graph, "(a) WHERE a.name <> 'ann' RETURN a.name") == [("Acme",), ("Bo Lind",), ("Ostby",)]


def test_a_name_is_searched_with_the_other_names(graph: Little):
    assert names(graph, "(a) WHERE a.name CONTAINS 'captain' RETURN a.name") == [("Ann Berg",)]
    assert names(graph, "(a) WHERE a.name =~ 'A.*' RETURN a.name") == [("Acme",), ("Ann Berg",)]
    assert names(graph, "(a) WHERE a.name =~ 'a.*' RETURN a.name") == []
    assert names(graph, "(a) WHERE a.name =~ '(?i)A.*BERG' RETURN a.name") == [("Ann Berg",)]


def test_a_label_without_its_colon_is_noted(graph: Little):
    assert graph.match("(a)-[founded]-(b)").notes == (
        "'founded' names any relation here; the label is written [:founded]",
    )
    assert graph.match("(a)-[founded:FOUNDED]-(b)").notes == graph.match("(a)-[r]-(b)").notes == ()


def test_texts_are_searched_without_case_and_matched_with_case(graph: Little):
    texts = "(a)-[r]-(b {name: 'Ann'}) WHERE r.description {} RETURN DISTINCT r.id"
    assert names(graph, texts.replace("{}", "CONTAINS 'FOUNDED acme'")) == [(FOUNDED.id,)]
    assert names(graph, texts.replace("{}", "STARTS WITH 'they'")) == [(MET.id,)]
    assert names(graph, texts.replace("{}", "=~ '.*in \\\\d{4}\\\\.'")) == [(FOUNDED.id,)]
    assert names(graph, texts.replace("{}", "=~ '.*FOUNDED.*'")) == []
    assert names(graph, "(a)-[r]-(b) WHERE r.label =~ '.*' RETURN DISTINCT r.id") == [(FOUNDED.id,), (RUN_BY.id,)]


# ── direction ──


def test_an_arrow_goes_from_the_subject_to_the_object(graph: Little):
    found = names(graph, "(a)-[r]->(b) WHERE r.directed RETURN a.name, b.name, r.first, r.second")
    assert found == [(a, b, a, b) for a, b in (("Acme", "Bo Lind"), ("Ann Berg", "Acme"), ("Ostby", "Acme"))]


def test_an_arrow_with_a_label_reads_as_its_sentence(graph: Little):
    led = "(a:Organization)-[r:IS_LED_BY]{}(b:Person) RETURN a.name, b.name, r.directed"
    found = graph.match(led.format("->")).rows
    assert found == (("Acme", "Bo Lind", True),)
    assert graph.match("(a:Organization)<-[:IS_LED_BY]-(b:Person)").rows == ()


def test_a_relation_of_no_one_direction_matches_both_ways_and_is_noted(graph: Little):
    found = graph.match("(a:Person)-[r]->(b:Person) RETURN a.name, b.name")
    assert found.rows == (("Ann Berg", "Bo Lind"), ("Bo Lind", "Ann Berg"))
    assert any("the texts tell 1 relation of these both ways, or not who acts" in note for note in found.notes)
    assert graph.match("(a:Person)-[r]-(b:Person)").notes == ()


# ── claims, chains, paths ──


def test_claims_are_nodes_about_their_subject(graph: Little):
    found = graph.match("(k:Claim)-[:ABOUT]->(a), (k)-[:OBJECT]->(b) RETURN k.type, k.starts, k.ends, a.name, b.name")
    assert found.rows == (("FOUNDATION", "1990", None, "Ann Berg", "Acme"),)
    dated = graph.match("(k:Claim) WHERE k.ends < '2001-06' AND k.status = 'false' RETURN k.description, k.object")
    assert dated.rows == (("Bo Lind left.", None),)
    assert graph.match("(a)-[:ABOUT]->(k:Claim)").rows == ()


def test_a_path_shows_entities_and_relations_in_turn(graph: Little):
    found = graph.match(
        "p = (a {name: 'Ostby'})-[*1..3]-(b {name: 'Bo Lind'}) RETURN p, length(p), nodes(p), relations(p)"
    )
    lengths = [row[1] for row in found.rows]
    assert sorted(lengths) == [2, 3]
    path, _, nodes, links = next(row for row in found.rows if row[1] == 2)
    assert isinstance(path, PathRow)
    assert [p.name for p in nodes] == ["Ostby", "Acme", "Bo Lind"] == [p.name for p in path.parts[::2]]
    assert [r.id for r in links] == [SEAT.id, RUN_BY.id] == [r.id for r in path.parts[1::2]]


def test_without_return_all_elements_of_the_pattern_are_shown(graph: Little):
    found = graph.match("(:Person)-[FOUNDED]->(c:Organization)")
    assert found.columns == ("person", "founded", "c")
    (row,) = found.rows
    path = PathRow(row)
    assert graph.match("p = (:Person)-[FOUNDED]->(:Organization) RETURN p").rows == ((path,),)
    assert isinstance(row[0], EntityRow)
    assert row[1] == RelationRow(FOUNDED.id, "Ann Berg", "Acme", "FOUNDED", FOUNDED.description, 3.0)
    assert isinstance(graph.match("(k:Claim {status: 'TRUE'})").rows[0][0], ClaimRow)


def test_a_relation_stands_once_in_a_match(graph: Little):
    assert graph.match("(a {name: 'Ostby'})-[r]-(b)-[s]-(c) RETURN c.name ORDER BY c.name").rows == (
        ("Ann Berg",), ("Bo Lind",),
    )  # fmt: skip


def test_a_condition_can_ask_for_a_pattern(graph: Little):
    assert names(graph, "(a) WHERE NOT EXISTS { (a)-[:FOUNDED]-() } RETURN a.name") == [("Bo Lind",), ("Ostby",)]
    both = "MATCH (:Claim)-[:ABOUT]->(a), (a)--(:Organization)"
    assert names(graph, f"(a:Person) WHERE EXISTS {{ {both} }} RETURN a.name") == [
        ("Ann Berg",), ("Bo Lind",),
    ]  # fmt: skip
    nested = "(a) WHERE EXISTS { (a)--(b) WHERE NOT EXISTS { (b)--(:Place) } AND b.degree > 1 } RETURN a.name"
    assert names(graph, nested) == [("Acme",), ("Ann Berg",), ("Bo Lind",)]
    assert graph.match("(a) RETURN EXISTS { (x:Place) } LIMIT 1").rows == ((True,),)
    assert graph.match("(a:Organization) RETURN a.name, EXISTS { (a:Person) }").rows == (("Acme", False),)


def test_a_relation_has_the_dates_that_a_model_told():
    said = (
        Description("Ann ran Acme.", Source("c0", 0, 5), "2001-05", "2003"),
        Description("Ann led Acme.", Source("c1", 0, 5), "1999", ""),
        Description("Ann had Acme.", Source("c2", 0, 5)),
    )
    dated = replace(FOUNDED, descriptions=said)
    graph = Little(Graph((ANN, BO, ACME), (dated, MET), ()), {})
    query = "(a:Person)-[r]-(b) WHERE a.name = 'Ann' RETURN r.starts, r.ends ORDER BY r.starts"
    assert graph.match(query).rows == (("1999", "2003"), (None, None))
    assert graph.match("(a)-[r]->(b) WHERE r.starts < '2000' RETURN a.name").rows == (("Ann Berg",),)


# ── values ──


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", 7),
        ("7 % 4 / 2", 1.5),
        ("1 / 0", None),
        ("5 % 0", None),
        ("1e300 * 1e300", None),
        ("round(5, -999999999999)", 0),
        ("round(2.5, 999999999999)", 2.5),
        ("999999999999999999" + " * 999999999999999999" * 30 + " / 2.5", None),
        ("'a' + 'b'", "ab"),
        ("[1] + [2]", (1, 2)),
        ("'a' + 1", None),
        ("null = null", None),
        ("1 = '1'", False),
        ("true = 1", False),
        ("[1, 'A'] = [1, 'a']", True),
        ("2 IN [1, null]", None),
        ("1 IN [1, null]", True),
        ("'b' < 'C'", True),
        ("1 < 'a'", None),
        ("NOT null", None),
        ("null AND false", False),
        ("1 CONTAINS 'a'", None),
        ("1 IN 2", None),
        ("true < false", None),
        ("type(1)", None),
        ("nodes([1])", None),
        ("nodes(a)", None),
        ("relations(a)", None),
        ("relations([1])", (1,)),  # of a chain its relations
        ("round('a')", None),
        ("size(collect(a.name)) + 1", 2),
        ("null AND true", None),
        ("NOT (null AND true)", None),
        ("null OR false", None),
        ("null OR true", True),
        ("coalesce(null, a.id, 1)", "e0"),
        ("size('abc') + size([1, 2])", 5),
        ("round(2.567, 1)", 2.6),
        ("round(2.567, 2)", 2.57),
        ("round(2.567)", 3),
        ("round(1234.5, -2)", 1200),
        ("abs(-2)", 2),
        ("upper('ab') = 'ab'", True),
        ("type(a) + id(a)", "persone0"),
        ("[]", ()),
        ("-a.degree", -2),
        ("a.aliases", ("Ann", "the captain")),
        ("a.documents", ("c0.txt",)),
        ("a.frequency", 1),
    ],
)
def test_an_expression_has_its_value(graph: Little, expression: str, value):
    assert graph.match(f"(a {{name: 'Ann'}}) RETURN {expression}").rows == ((value,),)


def test_nothing_counted_is_one_row_and_nothing_grouped_none(graph: Little):
    none = "(a) WHERE a.degree > 99 RETURN {}"
    assert graph.match(none.format("count(*), sum(a.degree), avg(a.degree), min(a.name), collect(a)")).rows == (
        (0, 0, None, None, ()),
    )
    assert graph.match(none.format("a.type, count(*)")).rows == ()


def test_what_is_unknown_comes_last_in_either_order(graph: Little):
    for way in ("", "DESC"):
        found = graph.match(f"(a)-[r]->(b) RETURN DISTINCT r.label ORDER BY r.label {way}")
        assert found.rows[-1] == (None,)


# ── bounds and errors ──

PROPERTIES = "'aliases', 'degree', 'description', 'documents', 'frequency', 'id', 'name', 'type'"


def test_a_mistake_in_a_clause_is_one_in_the_query(graph: Little):
    for text in (
        "(a) WHERE a.nmae = 'x'",
        "(a) RETURN",
        "MATCH (a:persn) return a",
        "(a) ORDER  BY x.y",
        "(a) LIMIT x",
    ):
        with pytest.raises(InputError, match=r"^In the query, column "):
            graph.match(text)
    with pytest.raises(InputError, match=r"^In the pattern, column 4"):
        graph.match("(a:persn)")


@pytest.mark.parametrize(
    ("query", "column", "said"),
    [
        ("(a:persn)", 4, "no entity has the type 'persn'; the nearest: 'person'; there are: "),
        ("(a)-[:FOUNDET]-(b)", 7, "no relation has the label 'FOUNDET'; the nearest: 'FOUNDED'; there are: "),
        ("(a)-[OWNS]-(b)", 6, "to look inside: WHERE r.label CONTAINS"),
        ("(a) WHERE a.nmae = 'x'", 13, "an entity has no property 'nmae'; the nearest: 'name'; there are: 'aliases', "),
        ("(a) WHERE a.foo = 'x'", 13, f"an entity has no property 'foo'; there are: {PROPERTIES}."),
        (
            "(a)-[r]-(b) WHERE r.wight > 1",
            21,
            "a relation has no property 'wight'; the nearest: 'weight'; there are:",
        ),
        ("(k:Claim) WHERE k.name = 'x'", 19, "a claim has no property 'name'"),
        ("(a) WHERE b.name = 'x'", 11, "the pattern has no variable 'b'; there are: 'a'"),
        ("(a) RETURN lenght(a)", 12, "there is no function 'lenght'; the nearest: 'length'"),
        ("(a) RETURN size(a, a)", 12, "size takes 1 value"),
        ("(a) WHERE count(*) > 1", 11, "count puts rows together, which WHERE cannot"),
        ("(a) RETURN count(*) + a.degree", 23, "many values beside a count"),
        ("(a) RETURN sum(a.name)", 16, "sum adds up numbers; a.name is a text"),
        ("(a) WHERE a.degree = '3'", 11, "a.degree is a number: write it without quotes, not '3'"),
        ("(a) WHERE 3 < a.name", 15, "a.name is a text: put the value into quotes, not 3"),
        ("(a) WHERE a.aliases CONTAINS 'x'", 11, "it is a list: write value IN a.aliases"),
        ("(a) WHERE a.name =~ 'x('", 21, "this regular expression cannot be used, missing ) (x()"),
        ("(a) WHERE a.name =~ a.type", 18, "must be a text in quotes or a parameter"),
        ("(a)-[a]-(b)", 4, "'a' is the name of an entity already"),
        ("(k:Claim)-[:OWNS]-(a)", 13, "a claim is linked by :ABOUT"),
        ("(k:Claim)--(l:Claim)", 10, "no relation links two claims"),
        ("(k:Claim)-[*1..2]-(a)", 10, "a chain links entities"),
        ("(a)-[r*1..2]-(b) WHERE r.weight > 1", 26, "'r' is a chain of relations and has no properties"),
        ("(a)-[r]-(b) WHERE EXISTS { (r) }", 28, "'r' is the name of a relation already"),
        ("p = (a)--(b) WHERE EXISTS { (a)--(c) WHERE length(p) = 1 }", 20, "'p' is a path, which EXISTS cannot look"),
        ("(a) WHERE EXISTS { (a)--(b) WHERE c.name = 'x' }", 35, "the pattern has no variable 'c'"),
        ("(a) WHERE EXISTS { (a)--(:Persn) }", 27, "no entity has the type 'Persn'"),
        ("(a) WHERE EXISTS { (a)--(b) RETURN a }", 29, "expected WHERE, a comma or '}'"),
        ("(k:Claim), (k:Person)", 15, "Claim stands alone"),
        ("(a) RETURN max(a, a)", 12, "max takes one value"),
        ("(a) WHERE a.x = $", 17, "a parameter needs a name"),
        ("(a {name: 'x' type: 'y'})", 15, "expected ',' or '}'"),
        ("(a:person), (a:place)", 13, "nothing is of both"),
        ("(a) RETURN a.type, count(*) ORDER BY a.name", 38, "columns of RETURN only"),
    ],
)
def test_what_is_unknown_is_named_with_its_place_and_what_is_nearest(graph: Little, query: str, column: int, said: str):
    with pytest.raises(InputError) as error:
        graph.match(query)
    assert f"column {column}, at " in str(error.value)
    assert said in str(error.value)


def test_a_clause_is_given_once(graph: Little):
    with pytest.raises(InputError, match="has a LIMIT of its own"):
        graph.match("(a) LIMIT 1", limit=2)
    with pytest.raises(InputError, match="Two columns are called 'x'"):
        graph.match("(a) RETURN a.name AS x, a.type AS x")
    assert graph.match("(a) WHERE a.degree > 1", where="a.type = 'person'").found == 2
    with pytest.raises(InputError, match="has a SKIP of its own"):
        graph.match("(a) SKIP 1", skip=1)
    assert graph.match("(a) RETURN a.id", order="ORDER BY a.id DESC", skip=1, limit=2).rows == (("e2",), ("e1",))
    assert graph.match("(a)", returned="DISTINCT *", limit=1).columns == ("a",)
    counted = graph.match("(a) RETURN a.type AS kind, count(*) AS n ORDER BY [-n, null], n * 2 DESC, kind DESC")
    assert counted.rows == (("person", 2), ("place", 1), ("organization", 1))


def test_a_step_that_finds_too_much_is_named(graph: Little):
    with pytest.raises(InputError, match=r"finds 8 combinations while following \(a\)-\[r\]-\(b\) \(limit 5\)"):
        graph.match("(a)-[r]-(b)", most=5)
    with pytest.raises(InputError, match="16 combinations while combining b with the rest"):
        graph.match("(a), (b)", most=15)
    with pytest.raises(InputError, match=r"while following \(a\)-\[\*1\.\.3\]-\(b\)"):
        graph.match("(a)-[*1..3]-(b)", most=20)


def test_the_time_is_bounded(graph: Little):
    with pytest.raises(InputError, match="takes longer than 1e-09 s"):
        graph.match("(a)-[r]-(b)", seconds=1e-9)


def test_a_query_tells_how_its_rows_were_found(graph: Little):
    found = graph.match("(a:Person)-[r]-(b {name: 'Acme'}) WHERE r.weight > 1")
    assert found.steps == (
        "begin with b: 1 of 4",
        "keep what meets 1 condition: 1 rows",
        "follow (a)-[r]-(b): 2 rows",
        "keep what meets 1 condition: 2 rows",
    )


@pytest.mark.parametrize(
    "value",
    ["' OR 1=1 --", "x'}) RETURN 1", "__import__('os').system('x')", "\x00", "%s", "'; DROP TABLE part; --"],
)
def test_nothing_in_a_value_is_read_as_a_query(graph: Little, value: str):
    assert graph.match("(a {name: $name})", parameters={"name": value}).rows == ()
    assert graph.match("(a) RETURN $name LIMIT 1", parameters={"name": value}).rows == ((value,),)
    assert graph.match("(a) WHERE a.name CONTAINS $name", parameters={"name": value}).rows == ()


def test_a_parameter_that_is_no_value_is_an_error(graph: Little):
    with pytest.raises(InputError, match="The parameter 'x' is a set"):
        graph.match("(a)", parameters={"x": {1}})


def test_a_parameter_that_is_no_finite_number_is_an_error(graph: Little):
    with pytest.raises(InputError, match="'x' is nan"):
        graph.match("(a)", parameters={"x": float("nan")})


def test_columns_that_are_equal_but_not_alike_stay_apart(graph: Little):
    assert graph.match("(a) RETURN DISTINCT 1 AS x, true AS y, 1.0 AS z").rows == ((1, True, 1.0),)
    assert [type(v) for v in graph.match("(a) RETURN DISTINCT 1 AS x, true AS y, 1.0 AS z").rows[0]] == [
        int,
        bool,
        float,
    ]


def test_an_empty_graph_has_no_rows():
    empty = Little(Graph(), {})
    assert empty.match("(a)-[r]->(b) RETURN a.name, count(*)").rows == ()
    assert empty.match("(k:Claim)-[:OBJECT]->(a)").rows == ()
    with pytest.raises(InputError, match="there is no type at all"):
        empty.match("(a:Person)")
