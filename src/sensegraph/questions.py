"""What a user asks, and the conversation that it is part of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange of a conversation: what was asked, and what was answered."""

    question: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What a user asks, and the conversation before it, oldest turn first."""

    text: str
    history: tuple[Turn, ...] = ()

    @property
    def sought(self) -> str:
        """What to search with: the question, then up to five earlier ones, the latest first (N58)."""
        return "\n".join([self.text, *(t.question for t in reversed(self.history[-5:]))])
