"""Texts to vectors, one row a record, stored once and memory-mapped; and the rows of an index nearest to a query.

Up to `index.exact_below` vectors of a kind all are compared. From there on a build leaves graphs beside them, by which
candidates are found and then compared exactly; where that takes more than reading all of them, all are read. Inside a
filter all that is left is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.ranking import Ranked, nearest_each
from sensegraph.protocols import Embedder, Vectors
from sensegraph.runtime.results import Result, Results, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk, Graph, Hierarchy

if TYPE_CHECKING:
    from sensegraph.index.index import Index

_BLOCK = 1024


@step("vectors.embed", version=1, uses="embedder")
def embed_texts(texts: Sequence[str], *, embedder: Embedder) -> list[bytes]:
    """The unit vector of each text, as float32 bytes."""
    return [row.tobytes() for row in np.asarray(embedder.embed(texts, "document"), np.float32)]


@step("vectors.stack", version=1, form="array")
def stack_vectors(wholes: Sequence[Results[bytes]]) -> list[NDArray[Any]]:
    """Vectors as the rows of one matrix."""
    matrices = []
    for rows in wholes:
        columns = len(rows[0]) // np.dtype(np.float32).itemsize if len(rows) else 0
        matrix = np.zeros((len(rows), columns), np.float32)
        for i, row in enumerate(rows):
            matrix[i] = np.frombuffer(row, np.float32)
        matrices.append(matrix)
    return matrices


@step("vectors.embed_whole", version=1, uses="embedder", form="array")
def embed_whole(wholes: Sequence[Sequence[str]], *, embedder: Embedder) -> list[NDArray[Any]]:
    """The vectors of all texts at once, as the rows of one matrix, in blocks of `_BLOCK`."""
    matrices: list[NDArray[Any]] = []
    for texts in wholes:
        blocks = [embedder.embed(texts[i : i + _BLOCK], "document") for i in range(0, len(texts), _BLOCK)]
        found = np.concatenate(blocks).astype(np.float32, copy=False) if blocks else np.zeros((0, 0), np.float32)
        matrices.append(found)
    return matrices


def embed_all(texts: Sequence[str], rt: Runtime) -> Result[Vectors]:
    """The matrix of the vectors of `texts`, shape (n, dim), in order; each is stored, and embedded once."""
    rows = rt.each(embed_texts, texts)
    return rt.once(stack_vectors, rows, names=rows.keys or ("no text",))


def embed_records(texts: Callable[[], Sequence[str]], rt: Runtime, *, name: str) -> Result[Vectors]:
    """The matrix of the vectors of the texts of records, whose key is `name`.

    An embedder that works on this machine is quicker than the store: it embeds all of them again when one changed.
    """
    return embed_all(texts(), rt) if rt.embedder.waits else rt.once(embed_whole, texts, names=("records", name))


def adds_meaning(embedder: Embedder) -> bool:
    """Whether vectors find what words do not: those that compare words alone find nothing that full text does not."""
    return not embedder.lexical


def beyond_words(rt: Runtime, make: Callable[[], Result[Vectors]]) -> Result[Vectors] | None:
    """The vectors that `make` makes; None, and nothing is embedded, where they would add nothing to full text."""
    return make() if adds_meaning(rt.embedder) else None


def chunk_texts(chunks: Iterable[Chunk]) -> list[str]:
    """What is embedded of chunks."""
    return [c.text for c in chunks]


def entity_texts(graph: Graph) -> list[str]:
    """What is embedded of entities: `name: description`."""
    return [f"{e.name}: {e.description}" for e in graph.entities]


def report_texts(hierarchy: Hierarchy) -> list[str]:
    """What is embedded of reports: title and text."""
    return [f"{c.title}\n{c.text}" for c in hierarchy.clusters]


def nearest_to(query: Vectors, index: Index, rt: Runtime, top: int, kind: str = "chunk") -> Ranked:
    """Positions and cosines of the `top` rows of a kind nearest to `query`, shape (dim,), best first."""
    return nearest_to_each(query[None, :], index, rt, top, kind)[0]


def nearest_to_each(queries: Vectors, index: Index, rt: Runtime, top: int, kind: str = "chunk") -> list[Ranked]:
    """`nearest_to` for every row of `queries`, shape (q, dim). The runtime notes a search that is not the usual one."""
    vectors = index.vectors_of(rt.embedder, kind)
    navigator = index.navigator(kind)
    if navigator is None or not navigator.helps(top):
        return nearest_each(vectors, queries, top)
    from sensegraph.algorithms.approximate import NO_EXTRA, is_installed

    if not is_installed():
        rt.noted[f"all {len(vectors):,} vectors of kind {kind} were compared: {NO_EXTRA}"] += 1
        return nearest_each(vectors, queries, top)
    rt.noted[f"of {len(vectors):,} vectors of kind {kind} the nearest were sought approximately"] += 1
    return [navigator.nearest(query, top) for query in queries]
