"""What a corpus shows at each step of its life is what it showed (tests/corpus_lives.py)."""

from __future__ import annotations

import pytest

from corpus_lives import LIFE_ROWS, LIVES, find_rows, list_acts


@pytest.mark.parametrize("life", LIVES)
def test_each_act_on_a_corpus_shows_what_it_showed(life: str) -> None:
    names = [row[0] for row in find_rows(life)]
    assert names[: len(list(list_acts()))] == [name for name, _ in list_acts()]
    assert LIFE_ROWS.name_differences(life) == []
