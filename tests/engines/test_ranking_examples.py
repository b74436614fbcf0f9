"""How sentences are rated for a question of fact: what a heading loses, and what a long question tells."""

from __future__ import annotations

import numpy as np
import pytest

from sensegraph.engines.offline.answers.features import FEATURES, GATE, Read
from sensegraph.engines.offline.answers.ranking import HOLDING, describe_holding, load_weights, rate_holding
from sensegraph.engines.offline.answers.ranking import rate_sentences as rate
from sensegraph.engines.offline.answers.source_sentences import SourceSentence
from sensegraph.types import Source


def read(headings: tuple[bool, ...] = (False, False), stems: int = 6, own: float = 0.0, union: float = 0.2) -> Read:
    """Sentences that differ in nothing but whether they are headings."""
    held = tuple(SourceSentence(f"S{i}.", "", Source(f"d{i}-0", 0, 3), f"p{i}", (), i) for i in range(len(headings)))
    gate = np.zeros(len(GATE))
    gate[GATE.index("own")] = own
    asked = frozenset(f"s{i}" for i in range(stems))
    return Read(
        "thing", held, np.zeros((len(held), len(FEATURES))), gate, np.full(len(held), union), np.array(headings),
        (-1,) * len(held), asked, 0.0, (),
    )  # fmt: skip


def test_a_heading_loses_two_beside_a_sentence_with_the_same_features() -> None:
    chances, _ = rate(read((True, False)), load_weights())
    assert chances[0] / chances[1] == pytest.approx(np.exp(-2))
    assert chances.sum() == pytest.approx(1)


@pytest.mark.parametrize(("own", "share"), [(0.0, 1.0), (0.9, 1.0), (0.95, 0.5), (1.0, 0.0)])
def test_a_sentence_that_holds_nearly_all_of_a_question_leads_to_no_other(own: float, share: float) -> None:
    weights = load_weights()
    at = dict(zip(GATE, weights.gate, strict=True))["own"]
    _, gate = rate(read(own=own), weights)
    assert gate == pytest.approx(share / (1 + np.exp(-at * own)))


@pytest.mark.parametrize(("stems", "long"), [(4, 0.0), (6, 0.0), (7, 0.1), (16, 1.0)])
def test_stems_beyond_six_make_a_question_long(stems: int, long: float) -> None:
    told = dict(zip(HOLDING, describe_holding(read(stems=stems), load_weights()), strict=True))
    assert told["long"] == pytest.approx(long)


def test_passages_that_hold_less_than_fifteen_percent_of_a_question_hold_no_answer() -> None:
    assert rate_holding(read(union=0.14), load_weights()) == 0
    assert rate_holding(read(union=0.15), load_weights()) > 0
