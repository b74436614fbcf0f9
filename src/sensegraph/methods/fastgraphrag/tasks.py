"""What FastGraphRAG asks of an engine (fast-graphrag, the entities of a question)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from sensegraph.protocols import LanguageEngine
from sensegraph.questions import SearchWords
from sensegraph.runtime.results import step
from sensegraph.types import Inquiry


@runtime_checkable
class ConceptEngine(LanguageEngine, Protocol):
    """An engine that can find the entities and concepts of a question (task `concepts`)."""

    def concepts(self, inquiries: Sequence[Inquiry]) -> list[SearchWords]:
        """The entities that each question names, and the general concepts that its answer has to do with."""
        ...


@step("fastgraphrag.concepts", version=1, uses="engine", task="concepts")
def find_concepts(inquiries: Sequence[Inquiry], *, engine: ConceptEngine) -> list[SearchWords]:
    """The entities that each question names, and the general concepts that its answer has to do with."""
    return engine.concepts(inquiries)
