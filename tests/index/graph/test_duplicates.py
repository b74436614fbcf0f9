"""What the note on pairs of names in question gives as the reason that they stay apart."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.index.graph.duplicates import ResolveSettings, _note_open_pairs


@pytest.mark.parametrize(
    ("able", "engine", "why"),
    [
        (True, "none", "index.resolve.engine is none"),
        (True, "auto", "the engine left them open"),
        (False, "none", "the engine some does not judge names"),
        (False, "auto", "the engine some does not judge names"),
    ],
)
def test_pairs_in_question_stay_apart_for_one_of_three_reasons(able: bool, engine: Any, why: str) -> None:
    rt: Any = SimpleNamespace(engine=SimpleNamespace(tasks={"resolve"} if able else {"answer"}, name="some"))
    (note,) = _note_open_pairs(3, rt, ResolveSettings(engine=engine))
    assert note.startswith("3 pairs in question stay apart: ")
    assert why in note
    assert _note_open_pairs(0, rt, ResolveSettings(engine=engine)) == ()
