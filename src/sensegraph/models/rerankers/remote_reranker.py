"""Scores from an endpoint that reranks, in the form of Cohere and Jina."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sensegraph.models.endpoint.client import Endpoint
from sensegraph.runtime.keys import key
from sensegraph.types import Usage


@dataclass(frozen=True)
class EndpointReranker:
    """A reranking model behind `endpoint`: all texts of a question go in one call.

    Scores are those of the model, of most 0–1; an empty text is not sent, and scores as the worst of the others.
    """

    endpoint: Endpoint
    top: int = 50
    waits: bool = True

    @property
    def name(self) -> str:
        """The model's name."""
        return self.endpoint.settings.rerank_model

    def fingerprint(self) -> str:
        """The model's name; where it runs and whose key pays for it change no score."""
        return key("endpoint reranker", 1, self.name)

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text fits. Raises as `Endpoint.rerank` does."""
        asked = [i for i, text in enumerate(texts) if text.strip()]
        found = self.endpoint.rerank(question, [texts[i] for i in asked]) if asked else []
        given = dict(zip(asked, found, strict=True))
        return [given.get(i, min(found, default=0.0)) for i in range(len(texts))]

    def usage(self) -> Usage:
        """What the rerank calls of the endpoint have cost."""
        return self.endpoint.usage("rerank")
