"""What KAG asks of an engine (Liang et al. 2024, *KAG*, the planner of the logical form solver)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from sensegraph.protocols import LanguageEngine
from sensegraph.runtime.results import step
from sensegraph.types import Inquiry


@runtime_checkable
class PlanningEngine(LanguageEngine, Protocol):
    """An engine that can plan (task `plan`)."""

    def plan(self, inquiries: Sequence[Inquiry]) -> list[tuple[str, ...]]:
        """The lines of a plan for each question, as `logical_forms.parse_plan` reads them.

        The passages of an inquiry, where there are any, are an earlier plan for it and why that is none.
        """
        ...


@step("kag.plan", version=1, uses="engine", task="plan")
def plan_questions(inquiries: Sequence[Inquiry], *, engine: PlanningEngine) -> list[tuple[str, ...]]:
    """The lines of a plan for each question."""
    return engine.plan(inquiries)
