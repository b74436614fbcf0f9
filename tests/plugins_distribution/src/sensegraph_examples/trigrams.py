"""An embedder: texts as hashed bags of three letters in a row, which forgives spelling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from zlib import crc32

import numpy as np

from sensegraph.protocols import Vectors
from sensegraph.types import Usage


@dataclass(frozen=True)
class Trigrams:
    """Unit vectors of length `dim`."""

    dim: int = 512
    name: str = "trigrams"
    batch: int = 64  # texts handed over at once
    waits: bool = False  # True where a call waits for a server: then calls run in threads
    lexical: bool = True  # whether vectors compare words alone

    def fingerprint(self) -> str:
        """Everything that can change a vector: it is part of every key."""
        return f"trigrams 1, {self.dim}"

    def embed(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Vectors:
        """One row a text, shape (n, dim); an empty text is a row of zeros."""
        rows = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(rows, texts, strict=True):
            words = f"  {text.casefold()} " if text.strip() else ""
            for i in range(len(words) - 2):
                row[crc32(words[i : i + 3].encode()) % self.dim] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)

    def usage(self) -> Usage:
        """What it has spent: nothing."""
        return Usage()
