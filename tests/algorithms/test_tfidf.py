"""TF-IDF cosines as arrays are those of the formula, text by text."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.algorithms.tfidf import Tfidf

words = st.lists(st.sampled_from("ada bram cora dirk elsa finn".split()), max_size=6)


def plain(texts: list[list[str]], query: list[str]) -> list[float]:
    def terms(text: list[str]) -> Counter[str]:
        return Counter([*text, *(" ".join(pair) for pair in pairwise(text))])

    df = Counter(t for text in texts for t in terms(text))
    known = Counter(t for text in texts for t in set(terms(text)))
    assert set(df) == set(known)

    def vector(text: list[str]) -> dict[str, float]:
        return {t: n * (math.log((1 + len(texts)) / (1 + known[t])) + 1) for t, n in terms(text).items()}

    def length(v: dict[str, float]) -> float:
        return math.sqrt(sum(x * x for x in v.values()))

    asked = vector(query)
    found = [vector(text) for text in texts]
    return [sum(v[t] * asked.get(t, 0) for t in v) / (length(v) * length(asked)) if v and asked else 0.0 for v in found]


@given(st.lists(words, max_size=8), words)
def test_scores_are_the_cosines_of_the_formula(texts: list[list[str]], query: list[str]) -> None:
    assert Tfidf.build(texts).score(query).tolist() == pytest.approx(plain(texts, query), abs=1e-6)


def test_a_text_is_as_near_as_can_be_to_itself_and_the_order_of_words_counts() -> None:
    index = Tfidf.build([["ada", "paid", "bram"], ["bram", "paid", "ada"], ["cora"]])
    same, other, none = index.score(["ada", "paid", "bram"])
    assert same == pytest.approx(1)
    assert 0 < other < same
    assert none == 0
    assert not index.score(["nobody"]).any()
