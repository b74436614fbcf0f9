"""What RAPTOR asks of an engine (Sarthi et al. 2024, *RAPTOR*, §3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from sensegraph.protocols import LanguageEngine
from sensegraph.types import Brief, Statement


@runtime_checkable
class CondensingEngine(LanguageEngine, Protocol):
    """An engine that can say a text shorter (task `condense`)."""

    def condense(self, briefs: Sequence[Brief]) -> list[tuple[Statement, ...]]:
        """Each context's text said shorter (§3)."""
        ...
