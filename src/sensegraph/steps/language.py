"""The engine's tasks at question time, as steps: asked twice, answered once."""

from __future__ import annotations

from collections.abc import Sequence

from sensegraph.protocols import LanguageEngine
from sensegraph.runtime import step
from sensegraph.types import Draft, Inquiry, Point


@step(version=1, uses="engine", task="rate")
def rate(inquiries: Sequence[Inquiry], *, engine: LanguageEngine) -> list[tuple[Point, ...]]:
    """Rated partial answers from each context (the map step)."""
    return engine.rate(inquiries)


@step(version=1, uses="engine", task="answer")
def answer(inquiries: Sequence[Inquiry], *, engine: LanguageEngine) -> list[Draft]:
    """The final answer from each context (the reduce step)."""
    return engine.answer(inquiries)
