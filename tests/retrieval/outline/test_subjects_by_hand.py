"""Titles in groups of near subjects, of phrases that are written by hand."""

from __future__ import annotations

from math import log, sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sensegraph.retrieval.outline import forms


def test_titles_are_grouped_by_the_phrases_that_some_of_them_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 8 titles: the sea is in four and the fog in one, which tell nothing apart; a lamp is told of twice in one."""
    told = {"ship": [0, 1, 2], "lamp": [3, 3, 4], "sea": [0, 1, 2, 3], "fog": [5], "light": [3, 4], "harbour": [0, 1]}
    lines = {i: [(i, k) for k in range(3)] for i in range(8)}
    gathered: Any = SimpleNamespace(
        titles=[f"t{i}" for i in range(8)],
        unit=list(range(8)),
        phrases={k: SimpleNamespace(units=set(v), documents=v, label=k) for k, v in told.items()},
        opening=lines.__getitem__,
        line=lambda spot: SimpleNamespace(worth=1.2),
    )
    grouped: list[tuple[Any, int]] = []
    picked: list[tuple[Any, int]] = []
    home = np.array([0, 0, 0, 1, 1, 2, 2, 2])
    monkeypatch.setattr(forms, "group_rows", lambda rows, count: grouped.append((rows, count)) or home)  # type: ignore[func-returns-value]
    monkeypatch.setattr(forms, "pick_sentences", lambda gathered, spots, most: picked.append((spots, most)) or ())  # type: ignore[func-returns-value]
    found = forms.group_subjects(gathered)
    ((rows, count),) = grouped
    assert count == 2
    # the phrases of most titles first, and the last column for what shares nothing
    ship, pair, twice = log(8 / 3), log(8 / 2), (1 + log(2)) * log(8 / 2)
    wanted = np.zeros((8, 5))
    wanted[:, -1] = 0.1
    wanted[:3, 0] = ship
    wanted[:2, 1] = pair  # harbour
    wanted[3, 2], wanted[4, 2] = twice, pair  # lamp
    wanted[3:5, 3] = pair  # light
    assert rows == pytest.approx(wanted / np.linalg.norm(wanted, axis=1, keepdims=True), rel=1e-5)
    assert rows[5].tolist() == [0, 0, 0, 0, 1]
    assert rows[4, 2] == pytest.approx(pair / sqrt(2 * pair**2 + 0.01), rel=1e-5)
    assert [(g.label, g.units, list(g.beside)) for g in found] == [
        ("", 3, ["t5", "t6", "t7"]),
        ("ship, harbour", 3, ["t0", "t1", "t2"]),
        ("lamp, light", 2, ["t3", "t4"]),
    ]
    assert [most for _, most in picked] == [4, 4, 4]
    assert picked[1][0] == [(pytest.approx(1.2 / (1 + 0.2 * k)), (i, k)) for i in (3, 4) for k in range(3)]


@pytest.mark.parametrize(
    ("size", "spoken", "english", "talks", "story"),
    [
        (30_001, 4_501, True, [], True),
        (30_000, 9_000, True, [], False),
        (40_000, 6_000, True, [], False),
        (40_000, 6_001, True, [], True),
        (40_000, 9_000, False, [], False),
        (40_000, 9_000, True, [0], False),
    ],
)
def test_a_story_has_more_than_15000_characters_a_title(
    size: int, spoken: int, english: bool, talks: list[int], story: bool
) -> None:
    notes = [SimpleNamespace(size=size - 9, spoken=spoken - 5), SimpleNamespace(size=9, spoken=5)]
    gathered: Any = SimpleNamespace(english=english, titles=["a", "b"], notes=notes, talks=talks)
    assert forms.is_story(gathered) is story
