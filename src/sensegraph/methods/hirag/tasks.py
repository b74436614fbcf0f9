"""What HiRAG asks of an engine (Huang et al. 2025, *HiRAG*, §4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from sensegraph.protocols import LanguageEngine
from sensegraph.types import Brief, SummaryEntity


@runtime_checkable
class AbstractingEngine(LanguageEngine, Protocol):
    """An engine that can find what stands for a group (task `abstract`)."""

    def abstract(self, briefs: Sequence[Brief]) -> list[tuple[SummaryEntity, ...]]:
        """More general entities that stand for each group, every member in at least one of them (§4.1)."""
        ...
