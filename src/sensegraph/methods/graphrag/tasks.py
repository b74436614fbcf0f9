"""What GraphRAG asks of an engine besides what several papers do: grades, by which it chooses reports (N71, N72)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from sensegraph.protocols import LanguageEngine
from sensegraph.runtime.results import step
from sensegraph.types import Inquiry


@runtime_checkable
class GradingEngine(LanguageEngine, Protocol):
    """An engine that can grade passages (task `grade`)."""

    def grade(self, inquiries: Sequence[Inquiry]) -> list[int]:
        """How relevant the passages of each inquiry are to its question, 0 (not at all) to 5."""
        ...


@step("language.grade", version=1, uses="engine", task="grade")
def grade(inquiries: Sequence[Inquiry], *, engine: GradingEngine, vote: int = 0) -> list[int]:
    """How relevant each context is, 0 to 5; another `vote` asks again."""
    return engine.grade(inquiries)
