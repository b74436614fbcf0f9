"""When descriptions are too many, how they are parted, and what stands where they are not summarised."""

from __future__ import annotations

import pytest

from sensegraph.index.graph.describing import (
    context_of,
    describe_elements,
    distinct_descriptions,
    is_crowded,
    split_context,
)
from sensegraph.language.text import count_tokens
from sensegraph.types import Claim, Context, Description, Entity, Graph, Passage, Relation, Source


def say(*texts: str) -> tuple[Description, ...]:
    return tuple(Description(text, Source("c", i, i + 1)) for i, text in enumerate(texts))


@pytest.mark.parametrize(
    ("texts", "least"),
    [
        (("a ;", "b"), 3),  # three words of one token each
        (("one two .", "three"), 4),
        (("one two", "three"), 4),
        (("word " * 20, "more " * 20), 41),
        (("internationalisation", "x"), 0),
        (("日本語", "中文"), 0),
        (("", ""), 0),
    ],
)
def test_texts_are_crowded_from_one_token_more_than_the_limit_on(texts: tuple[str, ...], least: int) -> None:
    said = say(*texts)
    whole = "\n".join(texts)
    count = count_tokens(whole)
    assert count >= least
    crowded = [is_crowded(said, limit) for limit in range(len(whole.encode()) + 3)]
    assert crowded == [limit < count for limit in range(len(crowded))]


@pytest.mark.parametrize("texts", [(), ("word " * 50,)])
def test_one_text_or_none_is_never_crowded(texts: tuple[str, ...]) -> None:
    assert not is_crowded(say(*texts), 1)


@pytest.mark.parametrize(
    ("texts", "budget", "parts"),
    [
        ((), 5, [0]),
        (("one two",), 1, [1]),
        (("one two",), 100, [1]),
        (("abc", "defg"), 7, [2]),
        (("one", "two"), 2, [2]),
        (("one", "two", "three"), 1, [2, 1]),
        (("one", "two", "three"), 2, [2, 1]),
        (("one", "two", "three"), 3, [3]),
        (("one two three four", "five", "six"), 2, [1, 2]),
        (("one", "two two two two", "six"), 2, [2, 1]),
        (("one", "two", "one two three"), 2, [2, 1]),
        (("one two", "one two", "one two", "one two"), 2, [2, 2]),
        (("one two", "one two", "one two", "one two"), 3, [2, 2]),
        (("one two", "one two", "one two", "one two", "one"), 6, [3, 2]),
    ],
)
def test_texts_are_parted_as_prompts_hold_them_and_in_pairs_where_each_fills_one(
    texts: tuple[str, ...], budget: int, parts: list[int]
) -> None:
    passages = tuple(Passage("description", "", text) for text in texts)
    found = split_context(Context(passages, "T"), budget)
    assert [len(part.passages) for part in found] == parts
    assert tuple(p for part in found for p in part.passages) == passages
    assert {part.title for part in found} == {"T"}


def test_texts_that_are_alike_are_said_once_by_the_first_that_says_them() -> None:
    said = say("One.", "Two.", "One.", "Three.", "Two.")
    assert distinct_descriptions(said) == [said[0], said[1], said[3]]
    element = Entity("e", "E", "person", "", said, ("c",), 1, 1)
    assert context_of(element, "Titled") == Context(
        tuple(Passage("description", "", d.text, sources=(d.source,)) for d in (said[0], said[1], said[3])), "Titled"
    )


def test_elements_are_described_by_their_summaries_else_by_all_that_is_said() -> None:
    said = say("One.", "Two.", "One.")
    entities = tuple(Entity(name, name, "person", "old", said, ("c",), 1, 1) for name in ("a", "b", "c"))
    relations = tuple(Relation(name, "a", "b", "old", said[:2], 1.0, ("c",)) for name in ("r", "s"))
    claims = (Claim("k", "a", "", "t", "true", "said", "", "", Source("c", 0, 1)),)
    found = describe_elements(Graph(entities, relations, claims), {"a": "Short a.", "c": "", "s": "Short s."})
    assert [e.description for e in found.entities] == ["Short a.", "One. Two.", "One. Two."]
    assert [r.description for r in found.relations] == ["One. Two.", "Short s."]
    assert found.claims == claims
