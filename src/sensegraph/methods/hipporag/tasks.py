"""What HippoRAG asks of an engine (Gutiérrez et al. 2025, *From RAG to Memory*, §3.1, §3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from sensegraph.extractions import Chunk, Triple
from sensegraph.protocols import LanguageEngine
from sensegraph.runtime.results import step
from sensegraph.types import Inquiry


@runtime_checkable
class RecognisingEngine(LanguageEngine, Protocol):
    """An engine that can choose among facts (task `filter`; recognition memory)."""

    def filter(self, inquiries: Sequence[Inquiry]) -> list[tuple[str, ...]]:
        """Of the facts of each inquiry (its passages), the ids of those that lead to the answer; there may be none."""
        ...


@runtime_checkable
class TriplesEngine(LanguageEngine, Protocol):
    """An engine that can read open triples (task `triples`)."""

    def triples(self, chunks: Sequence[Chunk]) -> list[tuple[Triple, ...]]:
        """What each chunk says in triples, with open predicates; dates and numbers are objects."""
        ...


@step("hipporag.filter", version=1, uses="engine", task="filter")
def filter_facts(inquiries: Sequence[Inquiry], *, engine: RecognisingEngine) -> list[tuple[str, ...]]:
    """The ids of the facts of each inquiry that lead to the answer."""
    return engine.filter(inquiries)
