"""What calls to a model cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """What something cost. Tokens as the endpoint counted them; `cost_usd` is 0 where no price is set."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    embedding_calls: int = 0
    embedding_tokens: int = 0
    cost_usd: float = 0.0
    retries: int = 0
    rejected: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, f) + getattr(other, f) for f in self.__slots__))

    def __sub__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, f) - getattr(other, f) for f in self.__slots__))
