"""Texts to vectors: one row a record, stored once, memory-mapped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.protocols import Embedder, Vectors
from sensegraph.runtime import Result, Results, Runtime, step


@step(version=1, uses="embedder")
def embed(texts: Sequence[str], *, embedder: Embedder) -> list[bytes]:
    """The unit vector of each text, as float32 bytes."""
    return [row.tobytes() for row in np.asarray(embedder.embed(texts, "document"), np.float32)]


@step(version=1, form="array")
def stack(wholes: Sequence[Results[bytes]]) -> list[NDArray[Any]]:
    """Vectors as the rows of one matrix."""
    return [_matrix(rows) for rows in wholes]


def embed_all(texts: Sequence[str], rt: Runtime) -> Result[Vectors]:
    """The matrix of the vectors of `texts`, shape (n, dim), in order."""
    rows = rt.each(embed, texts)
    return rt.once(stack, rows, names=rows.keys or ("no text",))


def _matrix(rows: Results[bytes]) -> NDArray[np.float32]:
    if not len(rows):
        return np.zeros((0, 0), np.float32)
    first = np.frombuffer(rows[0], np.float32)
    matrix = np.empty((len(rows), len(first)), np.float32)
    for i, row in enumerate(rows):
        matrix[i] = np.frombuffer(row, np.float32)
    return matrix
