"""What a chunk covers of a question: the words of its title, of its text, and what its title says in parenthesis."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sensegraph.methods.walk.walk import Asked

NAMES: Any = SimpleNamespace(
    stems=np.array([10, 20, 30], np.uint64),
    title=np.array([0, 2, 3]),  # chunk 0 is titled 10 20, chunk 1 is titled 30
    asides=np.array([7, 8, 9], np.uint64),
    aside=np.array([0, 3, 3]),
)


def ask(*keys: int, hits: tuple[tuple[int, ...], ...] = (), plain: tuple[int, ...] = ()) -> Asked:
    """A question with these stems, each in those chunks, and with these words."""
    ranked = tuple((np.array(chunks, np.int64), np.ones(len(chunks))) for chunks in hits)
    weights = np.ones(len(keys))
    return Asked((), np.array(keys, np.uint64), ranked, weights, weights, np.array(plain, np.uint64))


def test_what_the_title_of_a_chunk_has_is_covered_and_what_its_text_has_so_far_as_asked_for() -> None:
    asked = ask(10, 30, 40, hits=((), (0,), (1,)))
    assert asked.uncovered(0, NAMES, 0.5).tolist() == [0.0, 0.5, 1.0]
    assert asked.uncovered(1, NAMES, 0.5).tolist() == [1.0, 0.0, 0.5]


@pytest.mark.parametrize(("plain", "worth"), [((7, 8, 9), 3.0), ((7, 1), 0.98), ((), -0.03)])
def test_words_of_a_parenthesis_count_where_the_question_has_them(plain: tuple[int, ...], worth: float) -> None:
    assert ask(10, plain=plain).aside(0, NAMES) == pytest.approx(worth)
    assert ask(10, plain=plain).aside(1, NAMES) == 0.0
