"""What LeanRAG asks of an engine (Zhang et al. 2025, *LeanRAG*, Eq. 4, 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from sensegraph.protocols import LanguageEngine
from sensegraph.types import Brief, Report, Statement


@runtime_checkable
class AggregatingEngine(LanguageEngine, Protocol):
    """An engine that can write of groups of similar things (tasks `aggregate` and `relate`)."""

    def aggregate(self, briefs: Sequence[Brief]) -> list[Report]:
        """A name (`title`), description (`summary`) and findings of each group of similar entities (Eq. 4)."""
        ...

    def relate(self, briefs: Sequence[Brief]) -> list[tuple[Statement, ...]]:
        """What links two groups: their two descriptions come first among the passages, then the relations (Eq. 5)."""
        ...
