"""A reranker: the share of the question's words that a text holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sensegraph.types import Usage


@dataclass(frozen=True)
class SharedWords:
    """It is given the first `top` texts of a ranking."""

    top: int = 20
    name: str = "shared-words"
    waits: bool = False

    def fingerprint(self) -> str:
        """Everything that can change a score."""
        return "shared words 1"

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """One finite number a text; higher is better."""
        asked = set(question.casefold().split())
        return [len(asked & set(text.casefold().split())) / max(len(asked), 1) for text in texts]

    def usage(self) -> Usage:
        """What it has spent: nothing."""
        return Usage()
