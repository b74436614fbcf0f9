"""Regular expressions mean what Python's mean, and take time in proportion to the text (N87)."""

from __future__ import annotations

import re
import time
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.graphs.match.regex import Unreadable, matcher

_ATOMS = st.sampled_from(
    ["a", "b", ".", "[ab]", "[^a]", "\\w", "\\d", "[a-c1]", "[\\d_]", "[^\\w.]", "\\.", "\\n", "\\s", "é"]
)
_SIGNS = st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?"])


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda p: f"(?:{p[0]}|{p[1]})"),
        st.tuples(inner, _SIGNS).map(lambda p: f"({p[0]}){p[1]}"),
    )


EXPRESSIONS = st.recursive(_ATOMS, _grown, max_leaves=6)


@given(EXPRESSIONS, st.lists(st.text("abcé1. ", max_size=8), min_size=5, max_size=5), st.booleans())
def test_a_text_matches_where_it_matches_for_python(expression: str, texts: list[str], blind: bool):
    flagged = f"(?i){expression}" if blind else expression
    match = matcher(flagged)
    for text in (*texts, *map(str.upper, texts)):
        assert match(text) == bool(re.fullmatch(flagged, text, re.DOTALL)), (flagged, text)


def test_an_automaton_of_very_many_states_forgets_and_goes_on():
    expression, random = "(a|b)*a(a|b){13}", Random(3)
    match = matcher(expression)
    for _ in range(20):
        text = "".join(random.choices("ab", k=1_000))
        assert match(text) == bool(re.fullmatch(expression, text))


@pytest.mark.parametrize("expression", ["^ab$", "a$", "^a|b$"])
def test_the_ends_of_a_text_may_be_written(expression: str):
    assert [matcher(expression)(t) for t in ("ab", "a", "b", "")] == [
        bool(re.fullmatch(expression, t)) for t in ("ab", "a", "b", "")
    ]


@pytest.mark.parametrize("expression", ["(a*)*b", "(a|a)*b", "(a|aa)+b", "a*a*a*a*a*a*b", "(.*)(.*)(.*)x"])
def test_no_expression_runs_away(expression: str):
    match, began = matcher(expression), time.process_time()
    assert not match("a" * 100_000)
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("expression", "offset", "said"),
    [
        ("a(b", 1, "no '\\)'"),
        ("a)", 1, "too many"),
        ("*a", 0, "nothing before it"),
        ("a**", 2, "needs a group"),
        ("(?=a)", 0, "looking around"),
        ("a\\b", 1, "not supported"),
        ("(a)\\1", 3, "not supported"),
        ("a{x}", 1, "a repetition is written"),
        ("[b-a]", 0, "upside down"),
        ("[a", 2, "ends too early"),
        ("(?i)a(b", 5, "no '\\)'"),
        ("(a{99}){99}", 0, "too large"),
        ("(" * 300, 40, "too deep"),
        ("a" * 501, 500, "500 characters"),
    ],
)
def test_what_cannot_be_used_is_said_with_its_place(expression: str, offset: int, said: str):
    with pytest.raises(Unreadable, match=said) as error:
        matcher(expression)
    assert error.value.offset == offset
