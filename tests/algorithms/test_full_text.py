"""BM25 over words (N86): its formula, and that no bit of a score depends on how documents are cut."""

from __future__ import annotations

import math
from dataclasses import fields
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sensegraph.algorithms.full_text import Bm25, Postings

TEXTS = ["the cat sat", "the dog sat on the mat", "", "a cat and a cat and a dog", "mat"]


def reference(texts: list[list[str]], query: list[str], k1: float = 1.5, b: float = 0.75) -> list[float]:
    """BM25 by its formula, one document and word at a time."""
    mean = sum(map(len, texts)) / max(len(texts), 1) or 1.0
    found = []
    for text in texts:
        score = 0.0
        for word in query:
            df = sum(word in other for other in texts)
            tf = text.count(word)
            idf = math.log(1 + (len(texts) - df + 0.5) / (df + 0.5))
            score += idf * tf / (tf + k1 * (1 - b + b * len(text) / mean)) if tf else 0.0
        found.append(score)
    return found


words = st.lists(st.sampled_from("abcdefé漢"), max_size=12)


@given(st.lists(words, max_size=12), words, st.floats(0.1, 3.0), st.floats(0.0, 1.0))
def test_scores_are_those_of_the_formula(texts: list[list[str]], query: list[str], k1: float, b: float) -> None:
    assert_allclose(Bm25.build(texts, k1, b).score(query), reference(texts, query, k1, b), rtol=1e-9, atol=1e-12)


@given(st.lists(words, max_size=12), words, st.randoms())
def test_the_order_of_the_words_does_not_change_a_bit(texts: list[list[str]], query: list[str], random) -> None:
    turned = [random.sample(text, len(text)) for text in texts]
    one = Bm25.build(texts).score(query)
    assert one.tobytes() == Bm25.build(turned).score(random.sample(query, len(query))).tobytes()


@given(st.lists(words, max_size=12), words, st.integers(0, 5))
def test_the_best_documents_are_those_of_a_sort(texts: list[list[str]], query: list[str], top: int) -> None:
    index = Bm25.build(texts)
    scores = index.score(query)
    expected = sorted((i for i in range(len(texts)) if scores[i] > 0), key=lambda i: (-scores[i], i))[:top]
    positions, found = index.top(query, top)
    assert positions.tolist() == expected
    assert_array_equal(found, scores[positions])


@given(st.lists(words, max_size=12), words, st.sets(st.integers(1, 11)), st.floats(0.1, 3.0), st.floats(0.0, 1.0))
def test_how_documents_are_cut_into_segments_changes_no_bit(
    texts: list[list[str]], query: list[str], cuts: set[int], k1: float, b: float
) -> None:
    whole = Bm25.build(texts, k1, b)
    places = [0, *sorted(c for c in cuts if c < len(texts)), len(texts)]
    parted = Bm25(tuple(Postings.build(texts[i:j]) for i, j in pairwise(places)), k1, b)
    assert len(parted) == len(whole)
    assert parted.score(query).tobytes() == whole.score(query).tobytes()
    assert [w.tolist() for w in parted.top(query, 5)] == [w.tolist() for w in whole.top(query, 5)]
    assert [parted.idf(w) for w in query] == [whole.idf(w) for w in query]
    for (times, (who, score)), (wanted, (also, right)) in zip(parted.hits(query), whole.hits(query), strict=True):
        assert (times, who.tolist(), score.tobytes()) == (wanted, also.tolist(), right.tobytes())


@given(st.lists(words, max_size=12), words)
def test_postings_are_packed_into_one_array_and_used_again(texts: list[list[str]], query: list[str]) -> None:
    made = Postings.build(texts)
    again = Postings.unpack(made.pack())
    for f in fields(Postings):
        assert_array_equal(getattr(again, f.name), getattr(made, f.name))
    assert Bm25((again,)).score(query).tobytes() == Bm25((made,)).score(query).tobytes()


def test_packed_numbers_take_the_fewest_bytes_that_hold_them() -> None:
    many = Postings.build([["a"] * 70_000] + [["b"]] * 300)
    sizes = [getattr(Postings.unpack(many.pack()), f.name).itemsize for f in fields(Postings)]
    assert sizes == [8, 2, 2, 4, 4]
    assert Bm25((Postings.unpack(many.pack()),)).count("b") == 300


def test_rare_words_weigh_more_and_absent_ones_find_nothing() -> None:
    index = Bm25.build(text.split() for text in TEXTS)
    assert index.idf("bird") > index.idf("on") > index.idf("cat")
    assert index.idf("on") == pytest.approx(math.log(1 + 4.5 / 1.5))
    assert not index.score(["bird"]).any()
    assert index.top(["mat"], 10)[0].tolist() == [4, 1]


def test_a_word_asked_twice_counts_twice() -> None:
    index = Bm25.build(text.split() for text in TEXTS)
    assert_allclose(index.score(["cat", "cat"]), 2 * index.score(["cat"]))


@pytest.mark.parametrize("texts", [[], [[]], [[], []]])
def test_without_words_nothing_is_found(texts: list[list[str]]) -> None:
    positions, scores = Bm25.build(texts).top(["cat"], 3)
    assert len(positions) == len(scores) == 0
