"""Weights of words and fusions of rankings beside bm25s and scikit-learn.

Of the variants of BM25 that bm25s has, ours is `lucene`: idf ln(1 + (N − df + ½) / (df + ½)), which is never negative,
and term frequency without the factor k1 + 1. `robertson`, `atire`, `bm25l` and `bm25+` give other scores.
"""

from __future__ import annotations

import math
from itertools import combinations

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.preprocessing import minmax_scale

from sensegraph.algorithms.full_text import Bm25
from sensegraph.algorithms.minhash import hash_bands
from sensegraph.algorithms.ranking import (
    Ranking,
    by_ranks,
    by_scores,
    by_shares,
    fuse_by_reciprocal_rank,
    near_best,
)
from sensegraph.algorithms.similar import similar_words
from sensegraph.algorithms.tfidf import Tfidf

WORDS = ("oak", "elm", "ash", "yew", "fir", "box")
TEXT = st.lists(st.sampled_from(WORDS), max_size=9)
TEXTS = st.lists(TEXT, min_size=1, max_size=8).filter(any)
few = settings(max_examples=40)


def library_scores(texts: list[list[str]], query: list[str], k1: float, b: float, variant: str) -> list[float]:
    found = bm25s.BM25(method=variant, k1=k1, b=b, dtype="float64")
    found.index(texts, show_progress=False)
    known = [word for word in query if any(word in text for text in texts)]
    return [float(score) for score in found.get_scores(known)] if known else [0.0] * len(texts)


@few
@given(TEXTS, st.lists(st.sampled_from([*WORDS, "sea"]), max_size=6), st.floats(0.2, 3), st.floats(0, 1))
def test_bm25_is_the_lucene_variant_of_the_library(
    texts: list[list[str]], query: list[str], k1: float, b: float
) -> None:
    """A word that is asked twice counts twice; one that no text has counts nothing."""
    ours = Bm25.build(texts, k1, b).score(query)
    assert ours == pytest.approx(library_scores(texts, query, k1, b, "lucene"), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("variant", ["robertson", "atire", "bm25l", "bm25+"])
def test_bm25_is_no_other_variant(variant: str) -> None:
    texts = [["oak", "elm", "oak"], ["elm"], ["ash", "oak", "fir", "fir"], ["yew"]]
    ours = Bm25.build(texts).score(["oak", "fir"])
    assert ours.max() > 0
    assert ours != pytest.approx(library_scores(texts, ["oak", "fir"], 1.5, 0.75, variant), rel=0.01)


def test_bm25_by_hand() -> None:
    """Two texts of two and four words, mean 3; `oak` once of two, so its idf is ln(1 + 1.5 / 1.5)."""
    found = Bm25.build([["oak", "elm"], ["elm", "elm", "ash", "fir"]], 1.2, 0.5)
    assert found.score(["oak"]).tolist() == pytest.approx([math.log(2) * 1 / (1 + 1.2 * (0.5 + 0.5 * 2 / 3)), 0.0])
    assert found.idf("elm") == pytest.approx(math.log(1 + 0.5 / 2.5))
    assert found.score(["elm"])[1] == pytest.approx(math.log(1.2) * 2 / (2 + 1.2 * (0.5 + 0.5 * 4 / 3)))


# ── TF-IDF ──

TERMS = [*WORDS, *(f"{a} {b}" for a in WORDS for b in WORDS)]


@few
@given(TEXTS, TEXT)
def test_tfidf_cosines_are_those_of_scikit_learn(texts: list[list[str]], query: list[str]) -> None:
    """Words and neighbouring pairs, raw counts, smoothed idf, unit length; a query may have terms that no text has."""
    theirs = TfidfVectorizer(
        tokenizer=str.split, token_pattern=None, lowercase=False, ngram_range=(1, 2), vocabulary=TERMS
    )
    rows = theirs.fit_transform(" ".join(text) for text in texts)
    wanted = cosine_similarity(rows, theirs.transform([" ".join(query)]))[:, 0]
    assert Tfidf.build(texts).score(query) == pytest.approx(wanted, abs=1e-6)  # shares are float32


@few
@given(TEXTS, st.floats(0.3, 0.95))
def test_pairs_of_alike_texts_are_all_those_of_the_full_matrix(texts: list[list[str]], least: float) -> None:
    """Counts times ln(1 + N / df): every pair of the whole cosine matrix, although only rare words were looked up."""
    counts = CountVectorizer(tokenizer=str.split, token_pattern=None, lowercase=False).fit_transform(
        " ".join(text) for text in texts
    )
    frequency = np.asarray((counts > 0).sum(axis=0))[0]
    near = cosine_similarity(counts.toarray() * np.log(1 + len(texts) / frequency))
    wanted = {(a, b): near[a, b] for a, b in combinations(range(len(texts)), 2)}
    if any(abs(value - least) < 1e-6 for value in wanted.values()):
        return
    found = similar_words(texts, least, len(texts))
    ours = dict(zip(zip(found.one.tolist(), found.other.tolist(), strict=True), found.similarity, strict=True))
    assert ours == pytest.approx({pair: value for pair, value in wanted.items() if value >= least}, abs=1e-9)


def test_bands_bring_two_texts_together_as_often_as_the_formula_says() -> None:
    """1 − (1 − s³)¹² of the Jaccard coefficient s of trigrams: over 250 pairs within four standard errors."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    random = np.random.default_rng(7)
    hits = due = spread = 0.0
    for _ in range(250):
        word = "".join(random.choice(list(letters), 24))
        cut = int(random.integers(8, 20))
        other = word[:cut] + "".join(random.choice(list(letters), 24 - cut))
        one, two = ({f"  {text} "[i : i + 3] for i in range(25)} for text in (word, other))
        chance = 1 - (1 - (len(one & two) / len(one | two)) ** 3) ** 12
        bands = hash_bands([word, other])
        hits += bool((bands[0] == bands[1]).any())
        due, spread = due + chance, spread + chance * (1 - chance)
    assert 25 < due < 225
    assert abs(hits - due) < 4 * math.sqrt(spread)


# ── fusion ──


def test_reciprocal_ranks_by_hand() -> None:
    """Three rankings of a, b, c with c = 60: the sums worked out as fractions."""
    fused = fuse_by_reciprocal_rank([["a", "b", "c"], ["b", "a"], ["c", "b"]])
    wanted = {"b": 1 / 62 + 1 / 61 + 1 / 62, "a": 1 / 61 + 1 / 62, "c": 1 / 63 + 1 / 61}
    assert dict(fused) == pytest.approx(wanted, rel=1e-15)
    assert [item for item, _ in fused] == ["b", "a", "c"]
    assert 1 / 61 + 1 / 62 > 1 / 63 + 1 / 61


@few
@given(st.lists(st.permutations(range(6)).map(lambda p: p[:4]), min_size=1, max_size=4))
def test_ranks_from_zero_with_60_are_ranks_from_one_with_59(lists: list[list[int]]) -> None:
    """The textbook's twelve-line function adds 1 / (60 + r) with r from 0 (section 35.4, exercise on fusion)."""
    scores: dict[int, float] = {}
    for hits in lists:
        for r, hit in enumerate(hits):
            scores[hit] = scores.get(hit, 0.0) + 1 / (60 + r)
    assert dict(fuse_by_reciprocal_rank(lists, 59)) == pytest.approx(scores, rel=1e-12)


SCORES = st.lists(st.floats(0.01, 9), min_size=1, max_size=6, unique=True)


def as_ranking(scores: list[float], shift: int = 0) -> Ranking:
    order = np.argsort(-np.array(scores), kind="stable")
    return Ranking("given", (order + shift).astype(np.int64), np.array(scores)[order])


@few
@given(SCORES, SCORES, st.floats(0.1, 3), st.floats(0.1, 3))
def test_fused_scores_are_weighted_sums_of_what_scikit_learn_scales(
    one: list[float], other: list[float], first: float, second: float
) -> None:
    wanted: dict[int, float] = {}
    nearest: dict[int, float] = {}
    ranks: dict[int, float] = {}
    for scores, shift, weight in ((one, 0, first), (other, 2, second)):
        scaled = minmax_scale(scores) if len(scores) > 1 else np.ones(1)
        place = {i: 1 + sum(s > score for s in scores) for i, score in enumerate(scores)}
        for i, score in enumerate(scores):
            wanted[i + shift] = wanted.get(i + shift, 0.0) + weight * scaled[i]
            nearest[i + shift] = nearest.get(i + shift, 0.0) + weight * score / max(scores)
            ranks[i + shift] = ranks.get(i + shift, 0.0) + weight / (60 + place[i])
    given_rankings, weights = [as_ranking(one), as_ranking(other, 2)], [first, second]
    for fused, sums in (
        (by_scores(given_rankings, weights), wanted),
        (near_best(given_rankings, weights), {i: value**3 for i, value in nearest.items()}),
        (by_ranks(given_rankings, weights), ranks),
    ):
        assert dict(zip(fused.positions.tolist(), fused.scores.tolist(), strict=True)) == pytest.approx(sums, abs=1e-12)
        assert (np.diff(fused.scores) <= 0).all()


def test_places_are_shared_out_by_hand() -> None:
    """Weights 2 : 1: of the first three places two are the first ranking's. A score is 1 / (rank ÷ share)."""
    one = Ranking("one", np.array([10, 11, 12, 13]), np.array([4.0, 3, 2, 1]))
    other = Ranking("other", np.array([20, 21]), np.array([9.0, 8]))
    fused = by_shares([one, other], [2.0, 1.0])
    wanted = {10: 1 / 1.5, 11: 1 / 3.0, 12: 1 / 4.5, 13: 1 / 6.0, 20: 1 / 3.0, 21: 1 / 6.0}
    assert dict(zip(fused.positions.tolist(), fused.scores.tolist(), strict=True)) == pytest.approx(wanted)
    assert fused.positions.tolist()[0] == 10
    assert set(fused.positions.tolist()[1:3]) == {11, 20}
