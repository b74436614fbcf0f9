"""Vectors from an OpenAI-compatible endpoint."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Literal

import numpy as np

from sensegraph.errors import EndpointError
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.protocols import Vectors
from sensegraph.runtime.keys import key
from sensegraph.types import Usage


class RemoteEmbedder:
    """An embedder behind `endpoint`; `dim` is 0 until its first call has shown it.

    Queries and documents are embedded alike. Vectors are scaled to length 1; an empty text is a zero row and costs
    no call. Raises EndpointError when the endpoint changes the length of its vectors.
    """

    batch = 64
    waits = True
    lexical = False

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.name = endpoint.settings.embedding_model
        self.dim = 0
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[RemoteEmbedder], tuple[Endpoint]]:
        return type(self), (self.endpoint,)

    def fingerprint(self) -> str:
        """The model's name; where it runs and whose key pays for it change no vector."""
        return key("remote embedder", 1, self.name)

    def embed(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Vectors:
        """Unit vectors, shape `(n, dim)` float32, one row a text; an empty text is a zero row."""
        asked = [i for i, text in enumerate(texts) if text.strip()]
        found = [self._unit([texts[i] for i in asked[at : at + self.batch]]) for at in range(0, len(asked), self.batch)]
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        if found:
            rows[asked] = np.concatenate(found)
        return rows

    def usage(self) -> Usage:
        """What the embedding calls of the endpoint have cost."""
        return self.endpoint.usage("embedding")

    def _unit(self, texts: list[str]) -> Vectors:
        vectors = self.endpoint.embed(texts)
        with self._lock:
            self.dim = self.dim or vectors.shape[1]
        if vectors.shape[1] != self.dim:
            raise EndpointError(
                f"{self.name} gave vectors of length {self.dim} before and of {vectors.shape[1]} now: "
                "check that one model serves this name, and run again."
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
        return unit
