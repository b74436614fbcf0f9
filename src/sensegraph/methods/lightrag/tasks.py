"""What LightRAG asks of an engine (Guo et al. 2024, *LightRAG*, the keywords of a question)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from sensegraph.protocols import LanguageEngine
from sensegraph.questions import SearchWords
from sensegraph.runtime.results import step
from sensegraph.types import Inquiry


@runtime_checkable
class KeywordEngine(LanguageEngine, Protocol):
    """An engine that can find the keywords of a question (task `keywords`)."""

    def keywords(self, inquiries: Sequence[Inquiry]) -> list[SearchWords]:
        """The names and details (low level) and the themes (high level) of each question; either may be empty."""
        ...


@step("lightrag.keywords", version=1, uses="engine", task="keywords")
def find_keywords(inquiries: Sequence[Inquiry], *, engine: KeywordEngine) -> list[SearchWords]:
    """The names and details (low level) and the themes (high level) of each question; either may be empty."""
    return engine.keywords(inquiries)
