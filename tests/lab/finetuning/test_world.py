"""The closed world: what is held out stays out, equal seeds give equal scenes, RAFT's P is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, chisquare

from sensegraph.errors import SettingsError
from sensegraph.lab.finetuning.data.example_types import Example
from sensegraph.lab.finetuning.training.world import (
    LAYOUT,
    Scenes,
    draw_scenes,
    draw_state,
    make_world,
)

PLACE = make_world(seed=3)


def list_stated_pairs(examples: Iterable[Example]) -> set[tuple[str, str]]:
    """All pairs of town and governor that passages of the examples state."""
    return {(p.title, p.text.split()[0]) for e in examples for p in e.passages}


def test_no_pair_of_a_held_out_question_occurs_in_any_training_scene():
    shown = list_stated_pairs(draw_scenes(PLACE, Scenes(2_000)))
    asked = list_stated_pairs(draw_scenes(PLACE, Scenes(500, held_out=True)))
    assert shown
    assert asked
    assert not shown & asked
    assert not shown & {(f.town, f.person) for f in draw_state(PLACE)}


@given(st.integers(0, 50), st.integers(0, 5))
def test_equal_seeds_give_equal_scenes_and_no_town_stands_in_two_passages(seed: int, most: int):
    how = Scenes(5, (0, most), seed=seed)
    found = list(draw_scenes(PLACE, how))
    assert found == list(draw_scenes(PLACE, how))
    for one in found:
        towns = [p.title for p in one.passages]
        assert len(set(towns)) == len(towns) <= most + 1
        assert [p.text.split()[0] for p in one.oracles] == [one.answer]


def test_the_share_without_oracle_is_1_minus_p_and_nothing_else_changes():
    """R29; graft §10."""
    found = list(draw_scenes(PLACE, Scenes(2_000, (3, 3), 0.8, seed=1)))
    without = sum(not e.oracles for e in found)
    low, high = binom.interval(0.999, 2_000, 0.2)
    assert low <= without <= high
    assert {len(e.passages) for e in found} == {4}
    assert not any(e.question.split()[-1] in [p.title for p in e.passages] for e in found if not e.oracles)


def test_the_oracle_stands_everywhere_alike_r05():
    found = draw_scenes(PLACE, Scenes(2_000, (3, 3), seed=1))
    places = Counter(next(i for i, p in enumerate(e.passages) if p.oracle) for e in found)
    assert chisquare([places[i] for i in range(4)]).pvalue > 1e-3


def test_every_word_of_a_scene_is_a_word_of_the_world():
    known = set(PLACE.words)
    scenes = list(draw_scenes(PLACE, Scenes(50)))
    assert len(scenes) == 50
    for one in scenes:
        said = LAYOUT.prompt(one.question, [f"{p.title}\n{p.text}" for p in one.passages])
        assert set(said.split()) <= known


def test_a_scene_that_needs_more_towns_than_there_are_is_an_error():
    with pytest.raises(SettingsError, match="40 distractors need 42 towns, and the world has 30"):
        list(draw_scenes(PLACE, Scenes(1, (40, 40))))
