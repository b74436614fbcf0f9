"""Regular expressions mean what Python's mean, and take time in proportion to the text (N87)."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.errors import InputError
from sensegraph.graphs.match.query_values import compile_matcher

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
    match = compile_matcher(flagged)
    for text in (*texts, *map(str.upper, texts)):
        assert match(text) == bool(re.fullmatch(flagged, text, re.DOTALL)), (flagged, text)


@pytest.mark.parametrize("expression", ["^ab$", "a$", "^a|b$"])
def test_the_ends_of_a_text_may_be_written(expression: str):
    assert [compile_matcher(expression)(t) for t in ("ab", "a", "b", "")] == [
        bool(re.fullmatch(expression, t)) for t in ("ab", "a", "b", "")
    ]


@pytest.mark.parametrize("expression", ["(a+)+$b", "(a*)*b", "(a|a)*b", "(a|aa)+b", "a*a*a*a*a*a*b", "(.*)(.*)(.*)x"])
def test_no_expression_runs_away(expression: str):
    # an engine that goes back on its choices would need more steps than there are atoms: the test would never end
    assert not compile_matcher(expression)("a" * 100_000)


@pytest.mark.parametrize("kind", ["w", "W", "d", "D", "s", "S"])
@pytest.mark.parametrize("form", ["\\{}", "[\\{}]", "[^\\{}]", "[^\\{}_]", "[a\\{}.]"])
def test_classes_of_characters_mean_all_scripts(form: str, kind: str):
    expression = form.format(kind)
    match = compile_matcher(expression)
    for c in "aZ_é漢ñß7٣²½.-— \t\n\x1c\x85\u00a0\u2028":
        assert match(c) == bool(re.fullmatch(expression, c)), (expression, c)


def test_what_is_quoted_is_no_class():
    assert compile_matcher("\\Q\\w\\E\\w")("\\wé")
    assert compile_matcher("\\—\\.[\\—]")("—.—")
    assert not compile_matcher("\ud800")("a")  # half a character, as a shell may hand it over


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("a(b", "missing \\) \\(a\\(b\\)"),
        ("(\\w", "missing \\);"),  # not with what the class was written out as
        ("a)", "unexpected \\)"),
        ("*a", "no argument for repetition operator \\(\\*\\)"),
        ("a**", "bad repetition operator"),
        ("(?=a)", "looking around are not supported"),
        ("(a)\\1", "invalid escape sequence"),
        ("[b-a]", "invalid character class range \\(b-a\\)"),
        ("[a", "missing \\]"),
        ("(a{99}){99}", "invalid repetition size"),
        ("a" * 501, "500 characters"),
    ],
)
def test_what_cannot_be_used_is_said(expression: str, said: str, capfd: pytest.CaptureFixture[str]):
    with pytest.raises(InputError, match=said):
        compile_matcher(expression)
    assert capfd.readouterr() == ("", "")  # RE2 writes its errors to stderr unless it is told not to


def test_without_re2_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(InputError, match=r"pip install 'sensegraph\[match\]', or search with CONTAINS"):
        compile_matcher("a")
