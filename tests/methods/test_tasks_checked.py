"""Before a method asks an engine for an answer, it makes sure of the tasks that its settings need, and of no more."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.methods import METHODS, load_method
from sensegraph.methods.lightrag.lightrag import LightRAG
from sensegraph.questions import Question


class CheckedError(Exception):
    """Ends an answer where its tasks are checked."""


@pytest.mark.parametrize(
    ("method", "settings", "told", "tasks"),
    [
        ("lightrag", {"refined": True}, "keywords", "answer keywords"),
        ("lightrag", {"refined": True}, "", "answer refine"),
        ("lightrag", {"refined": False}, "keywords", "answer"),
        ("lightrag", {"refined": True, "mode": "naive"}, "keywords", "answer"),
        ("fastgraphrag", {"refined": True}, "concepts", "answer concepts"),
        ("fastgraphrag", {"refined": True}, "", "answer refine"),
        ("fastgraphrag", {"refined": False}, "concepts", "answer"),
        ("graphrag", {"select": "dynamic"}, "", "answer grade rate"),
        ("graphrag", {"select": "threshold"}, "", "answer grade rate"),
        ("graphrag", {"select": "all"}, "", "answer rate"),
    ],
)
def test_a_method_checks_the_tasks_that_its_settings_need(
    method: str, settings: dict[str, Any], told: str, tasks: str
) -> None:
    def check(name: str, needed: frozenset[str]) -> None:
        raise CheckedError(name, *sorted(needed))

    nothing: Any = SimpleNamespace(check=check, engine=SimpleNamespace(tasks=frozenset(told.split())))
    with pytest.raises(CheckedError) as stopped:
        load_method(method, **settings).answer(Question("Who is Ada?"), nothing, nothing)
    assert stopped.value.args == (method, *tasks.split())


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_checks_the_tasks_that_it_requires_before_it_looks_at_the_index(method: str) -> None:
    def check(name: str, needed: frozenset[str]) -> None:
        raise CheckedError(name, needed)

    nothing: Any = SimpleNamespace(check=check, engine=SimpleNamespace(tasks=frozenset(), quotes=False))
    made = load_method(method)
    with pytest.raises(CheckedError) as stopped:
        made.answer(Question("Who is Ada?"), nothing, nothing)
    name, needed = stopped.value.args
    assert name == method
    assert made.requires <= needed


@pytest.mark.parametrize(
    ("preset", "numbers"), [("current", (40, 6_000, 8_000, 30_000)), ("paper", (60, 4_000, 4_000, 4_000))]
)
def test_numbers_of_nothing_are_those_of_the_preset(preset: Any, numbers: tuple[int, ...]) -> None:
    fields = ("top", "entity_tokens", "relation_tokens", "text_tokens")
    assert tuple(LightRAG(preset=preset)._number(field) for field in fields) == numbers
    assert LightRAG(preset=preset, top=7)._number("top") == 7
