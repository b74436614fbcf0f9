"""The text of a query to its syntax, and errors that point at their place (N87)."""

from __future__ import annotations

import pytest

from sensegraph.errors import InputError
from sensegraph.graphs.match.parser import EDGES, HOPS, Parser
from sensegraph.graphs.match.syntax import (
    Binary,
    Call,
    EdgePattern,
    Fixed,
    Item,
    Listed,
    NodePattern,
    PathPattern,
    Property,
    Query,
    Sort,
    Unary,
    Variable,
    Word,
)

A, B = NodePattern("a"), NodePattern("b")


def query(text: str, **parameters) -> Query:
    return Parser(text, "the pattern", parameters).query()


def condition(text: str, **parameters):
    return Parser(text, "WHERE", parameters).condition()


def edge(text: str) -> EdgePattern:
    return query(f"(a){text}(b)").paths[0].edges[0]


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("(a)", A),
        ("()", NodePattern(" 1")),
        ("(a:Person)", NodePattern("a", (Word("Person"),))),
        ("(:Person|Firm)", NodePattern(" 1", (Word("Person"), Word("Firm")))),
        ("(:Person|:Firm)", NodePattern(" 1", (Word("Person"), Word("Firm")))),
        ("( a : `natural person` )", NodePattern("a", (Word("natural person"),))),
        ("(a {name: 'Ann'})", NodePattern("a", (), (Binary("=", Property("a", "name"), Fixed("Ann")),))),
        ("(`match` {degree: -3})", NodePattern("match", (), (Binary("=", Property("match", "degree"), Fixed(-3)),))),
    ],
)
def test_a_node_is_read(text: str, node: NodePattern):
    assert query(text) == Query((PathPattern((node,)),))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("--", EdgePattern(" 1")),
        ("-->", EdgePattern(" 1", direction=">")),
        ("<--", EdgePattern(" 1", direction="<")),
        ("-[r]-", EdgePattern("r")),
        ("-[:FOUNDED]->", EdgePattern(" 1", (Word("FOUNDED"),), direction=">")),
        ("-[FOUNDED]->", EdgePattern(" 1", (Word("FOUNDED"),), direction=">")),
        ("<-[FOUNDED|OWNS]-", EdgePattern(" 1", (Word("FOUNDED"), Word("OWNS")), direction="<")),
        ("-[r:`works at`]-", EdgePattern("r", (Word("works at"),))),
        ("-[*2]-", EdgePattern(" 1", low=2, high=2)),
        ("-[r*1..3]-", EdgePattern("r", low=1, high=3)),
        ("-[:OWNS*..2]->", EdgePattern(" 1", (Word("OWNS"),), direction=">", low=1, high=2)),
        ("-[OWNS*0..2]->", EdgePattern(" 1", (Word("OWNS"),), direction=">", low=0, high=2)),
        ("-[r {weight: 2.5}]-", EdgePattern("r", (), (Binary("=", Property("r", "weight"), Fixed(2.5)),))),
    ],
)
def test_an_edge_is_read(text: str, wanted: EdgePattern):
    assert edge(text) == wanted


def test_a_word_in_capitals_is_a_type_and_one_letter_a_variable():
    assert edge("-[R]-").variable == "R"
    assert edge("-[OWNS]-").types == (Word("OWNS"),)
    assert edge("-[OWNS:OWNS]-") == EdgePattern("OWNS", (Word("OWNS"),))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a.x = 1", Binary("=", Property("a", "x"), Fixed(1))),
        ("a.x != 1.5e2", Binary("<>", Property("a", "x"), Fixed(150.0))),
        ("NOT a.x IS NULL", Unary("not", Unary("is null", Property("a", "x")))),
        ("a.x is not null", Unary("is not null", Property("a", "x"))),
        ("true OR false AND null", Binary("or", Fixed(True), Binary("and", Fixed(False), Fixed(None)))),
        ("(true OR false) AND null", Binary("and", Binary("or", Fixed(True), Fixed(False)), Fixed(None))),
        ("1 + 2 * -a.x", Binary("+", Fixed(1), Binary("*", Fixed(2), Unary("-", Property("a", "x"))))),
        ("1 - 2 - 3", Binary("-", Binary("-", Fixed(1), Fixed(2)), Fixed(3))),
        ("a.x IN [1, 'b']", Binary("in", Property("a", "x"), Listed((Fixed(1), Fixed("b"))))),
        ("a.x STARTS WITH 'it\\'s'", Binary("starts with", Property("a", "x"), Fixed("it's"))),
        ('a.x ends with "\\n"', Binary("ends with", Property("a", "x"), Fixed("\n"))),
        ("a.x =~ '(?i)b.*'", Binary("=~", Property("a", "x"), Fixed("(?i)b.*"))),
        ("a.x =~ '\\d+\\.\\\\d'", Binary("=~", Property("a", "x"), Fixed("\\d+\\.\\d"))),
        ("toLower(a.x) CONTAINS 'b'", Binary("contains", Call("tolower", (Property("a", "x"),)), Fixed("b"))),
        ("count(*) > 1", Binary(">", Call("count", (), star=True), Fixed(1))),
        ("count(DISTINCT a) > 1", Binary(">", Call("count", (Variable("a"),), True), Fixed(1))),
        ("a<-1", Binary("<", Variable("a"), Fixed(-1))),
    ],
)
def test_a_condition_is_read(text: str, wanted):
    assert condition(text) == wanted


def test_all_clauses_are_read_in_any_case():
    text = "Match p = (a)-[r]-(b), (b) wHere r.weight > 1 return DISTINCT a.name as who, b"
    read = query(f"{text} order by who desc, b skip 1 limit 2;")
    path = PathPattern((A, B), (EdgePattern("r"),), "p")
    items = (Item(Property("a", "name"), "who"), Item(Variable("b"), "b"))
    order = (Sort(Variable("who"), True), Sort(Variable("b")))
    where = Binary(">", Property("r", "weight"), Fixed(1))
    assert read == Query((path, PathPattern((B,))), where, items, True, order, 1, 2)


def test_a_column_without_a_name_is_called_as_it_is_written():
    assert [i.name for i in query("(a) RETURN  a.name , count( * )").items] == ["a.name", "count( * )"]


def test_a_parameter_is_a_value_whatever_it_says():
    evil = "x' OR true //"
    assert condition("a.name = $who", who=evil) == Binary("=", Property("a", "name"), Fixed(evil))
    assert condition("a.name IN $who", who=(evil, 1)) == Binary(
        "in", Property("a", "name"), Listed((Fixed(evil), Fixed(1)))
    )
    assert query("(a) LIMIT $n", n=3).limit == 3


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("", 1, "expected '('"),
        ("(a", 3, "or ')'"),
        ("(a)-[r]", 8, "expected '-' after the relation"),
        ("(a)-[r", 7, "or ']'"),
        ("(a)<-[r]->(b)", 4, "an arrow points one way"),
        ("(a)-[*]-(b)", 7, "needs its bounds"),
        (f"(a)-[*1..{HOPS + 1}]-(b)", 7, f"{HOPS + 1} is more than the {HOPS} relations that a chain may have"),
        (f"(a)-[*{HOPS + 1}]-(b)", 7, f"{HOPS + 1} is more than the {HOPS} relations"),
        ("(a)-[*2..]-(b)", 7, "needs its bounds"),
        ("(a)-[*3..2]-(b)", 7, "no chain has 3 or more and at most 2 relations"),
        ("(a:)", 4, "a type, as in :Person"),
        ("(a:A:B)", 5, "everything has one type"),
        ("(a {name 'x'})", 10, "':' and a value"),
        ("(a) WHERE", 10, "expected a value"),
        ("(a) WHERE a.x = ", 17, "expected a value"),
        ("(a) WHERE a.x = 'b", 17, "no end"),
        ("(a) WHERE 1 < a.x < 3", 19, "join two with AND"),
        ("(a) WHERE a.x = $who", 17, "no value was given for $who"),
        ("(a) RETURN", 11, "expected a value"),
        ("(a) LIMIT x", 11, "a whole number"),
        ("(a) LIMIT 1.5", 11, "a whole number"),
        ("(a) LIMIT 1 SKIP 2", 13, "expected WHERE, RETURN"),
        ("CREATE (a)", 1, "CREATE is no part of this language"),
        ("MATCH (a) DETACH DELETE a", 11, "DETACH is no part"),
        ("(a) RETURN a UNION (b)", 14, "UNION is no part"),
        ("(a) LIMIT " + "9" * 5_000, 11, "18 digits"),
        ("(a) WHERE 1 < 1e999", 15, "must be finite"),
        ("(a)-[*1..99999999999999999999]-(b)", 10, "18 digits"),
        ("(a) # b", 5, "'#' has no meaning here"),
        ("(a) WHERE a.x == 1", 16, "expected a value"),
    ],
)
def test_an_error_points_at_its_place_and_says_what_was_expected(text: str, column: int, said: str):
    with pytest.raises(InputError) as error:
        query(text)
    assert f"In the pattern, column {column}, at " in str(error.value)
    assert said in str(error.value)


def test_a_place_in_a_text_of_several_lines_has_a_line():
    with pytest.raises(InputError, match="In the pattern, line 2, column 7, at '== 1'"):
        query("(a)\nWHERE == 1")


@pytest.mark.parametrize(
    "text",
    [
        "(a) WHERE " + "(" * 10_000,
        "(a) WHERE " + "NOT " * 2_000 + "true",
        "(a) WHERE true" + " OR true" * 1_000,
        "(a) WHERE 1 = 1" + " + 1" * 2_000,
        "(a)" + "--(a)" * (EDGES + 1),
        "(a)" * 5_000,
        "(a) WHERE a.x IN [" + "[" * 500,
        "(" + "a" * 20_000 + ")",
    ],
)
def test_a_text_that_is_too_much_is_an_error_and_no_crash(text: str):
    with pytest.raises(InputError):
        query(text)
