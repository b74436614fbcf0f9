"""What kind of thing a question asks for, where words of asking stand inside of it."""

from __future__ import annotations

import pytest

from sensegraph.language.asking.answer_types import find_answer_type


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When was the bridge built?", "date"),
        ("Since when is the bridge closed?", "date"),
        ("The bridge was built when?", "date"),
        ("What signal is sent when the time is over?", "thing"),
        ("How do I get back to where I started?", "thing"),
        ("Where is the bridge?", "place"),
        ("Which city was home to those who built it?", "place"),
        ("How many arches has the bridge where they met?", "number"),
    ],
)
def test_a_word_of_asking_behind_another_one_asks_for_nothing(question: str, kind: str) -> None:
    assert find_answer_type(question) == kind
