"""Names that a sentence sets side by side (entity resolution, §4)."""

from __future__ import annotations

import pytest

from sensegraph.resolution import Mentioned, Rule, resolve
from sensegraph.resolution.comparison.aligned import find_contrast


def said(text: str, one: str, other: str) -> str:
    spans = [(text.index(name), text.index(name) + len(name)) for name in (one, other)]
    found = find_contrast(text, spans[0], spans[1])
    assert find_contrast(text, spans[1], spans[0]) == found
    return found


@pytest.mark.parametrize(
    ("text", "one", "other", "word"),
    [
        ("Slovakia and Slovenia signed.", "Slovakia", "Slovenia", "and"),
        ("Apple, and the Beatles", "Apple", "Beatles", "and"),
        ("Ada vs. Grace", "Ada", "Grace", "vs"),
        ("Paris is larger than Lyon", "larger", "Lyon", "than"),
        ("Ford und Opel", "Ford", "Opel", "und"),
        ("北京和上海", "北京", "上海", "和"),
        ("Apple Inc. (AAPL) rose", "Apple Inc.", "AAPL", ""),
        ("Einstein, the physicist", "Einstein", "physicist", ""),
        ("Ada met Grace", "Ada", "Grace", ""),
        ("Roland", "Rol", "d", ""),
    ],
)
def test_what_stands_between_two_names_says_whether_they_are_two(text: str, one: str, other: str, word: str):
    assert said(text, one, other) == word


def test_names_that_overlap_are_not_set_apart():
    assert find_contrast("New York and York", (0, 8), (4, 8)) == ""


def test_what_a_text_sets_side_by_side_is_not_merged():
    items = [Mentioned("1", "Knowledge Graph"), Mentioned("2", "Knowledge Graphs")]
    text = "Knowledge Graph and Knowledge Graphs are two products."
    word = find_contrast(text, (0, 15), (20, 36))
    found = resolve(items, rules=[Rule("apart", "1", "2", by="text", why=f"set side by side by {word}")])
    assert len(found.groups) == 2
    assert len(resolve(items).groups) == 1
