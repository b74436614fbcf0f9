"""Greedy matching of token vectors, rescaling, and token-match F1 (graft.md §7; R23)."""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbour import TEXTS
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.errors import InputError
from sensegraph.lab.scores.tokenmatch import (
    Baseline,
    Match,
    corpus_baseline,
    harmonic_mean,
    match_tokens,
    rescale_score,
    token_match,
    token_rarity,
)
from sensegraph.models.embedders import HashedTerms
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore

ROBERTA_LARGE_17 = 0.83122575  # the published baseline of F1


@pytest.fixture
def rt(tmp_path: Path) -> Iterator[Runtime]:
    store = SqliteStore(tmp_path / "store")
    yield Runtime(ClassicalEngine(), HashedTerms(), store, LocalExecutor(1, 1))
    store.close()


@pytest.mark.parametrize(("printed", "raw"), [(-0.0196, 0.8279), (0.346, 0.8896), (0.312, 0.8839)])
def test_the_printed_figures_are_rescaled_ones(printed: float, raw: float):
    assert rescale_score(raw, ROBERTA_LARGE_17) == pytest.approx(printed, abs=5e-4)


def test_each_of_the_three_has_a_baseline_of_its_own():
    found = Baseline(0.1, 0.2, 0.5).rescaled(Match(0.55, 0.6, 0.75))
    assert (found.precision, found.recall, found.f1) == (pytest.approx(0.5), pytest.approx(0.5), pytest.approx(0.5))


@given(st.floats(-0.9, 0.9), st.floats(-1, 1))
def test_the_baseline_becomes_0_and_equality_stays_1(baseline: float, value: float):
    assert rescale_score(baseline, baseline) == 0
    assert rescale_score(1.0, baseline) == pytest.approx(1)
    assert (rescale_score(value, baseline) < 0) == (value < baseline)


def test_a_baseline_of_1_cannot_rescale():
    with pytest.raises(InputError, match="below 1"):
        Baseline(0.5, 0.5, 1.0)


def test_matching_is_greedy_from_both_sides_and_weighted():
    east, north = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    found = match_tokens(np.array([east, north]), np.array([east]))
    assert (found.precision, found.recall) == (0.5, 1.0)
    assert found.f1 == pytest.approx(2 / 3)
    weighted = match_tokens(np.array([east, north]), np.array([east]), np.array([1.0, 0.0]))
    assert weighted.precision == 1


def test_a_token_of_weight_0_may_be_what_another_is_nearest_to():
    east, north = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    found = match_tokens(np.array([east]), np.array([east, north]), None, np.array([0.0, 1.0]))
    assert (found.precision, found.recall) == (1, 0)


def test_texts_without_tokens_do_not_match_raw_or_rescaled(rt: Runtime):
    found = token_match([("", "lamp"), ("lamp", "...")], rt, Baseline(0.5, 0.5, 0.5))
    assert found == (Match(empty=True), Match(empty=True))
    assert harmonic_mean(0, 0) == 0


def test_equal_texts_match_wholly_and_shared_words_partly(rt: Runtime):
    same, partly, nothing = token_match(
        [("Ada keeps the lamp", "Ada keeps the lamp"), ("Ada keeps bees", "Ada keeps lamps"), ("quartz", "violin")], rt
    )
    assert same.f1 == pytest.approx(1)
    assert nothing.f1 < partly.f1 < same.f1


def test_the_baseline_comes_from_random_sentences_and_is_the_same_for_a_seed(rt: Runtime):
    baseline = corpus_baseline(list(TEXTS.values()), rt, 50)
    assert baseline == corpus_baseline(list(TEXTS.values()), rt, 50)
    assert baseline != corpus_baseline(list(TEXTS.values()), rt, 50, seed=1)
    assert 0 < baseline.f1 < 0.6
    assert baseline.source.startswith("50 random pairs of 41 sentences, vectors of hashed-terms")
    (near,) = token_match([("Ada Finch keeps the lamp", "Ada Finch keeps the lighthouse")], rt, baseline)
    (far,) = token_match([("quartz", "violin")], rt, baseline)
    assert far.f1 < 0 < near.f1 < 1


def test_one_sentence_is_no_baseline(rt: Runtime):
    with pytest.raises(InputError, match="two different sentences"):
        corpus_baseline(["Only one."], rt)


def test_a_token_counts_by_how_few_gold_answers_hold_it():
    weight = token_rarity([[1, 2, 2], [1, 3]])
    assert (weight(1), weight(2), weight(9)) == (0, pytest.approx(log(3 / 2)), pytest.approx(log(3)))
