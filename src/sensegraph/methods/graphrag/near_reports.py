"""Reports near a question: the nearest of several depths, shared out so that every batch has good ones (DRIFT)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from sensegraph.algorithms.ranking import find_nearest_rows
from sensegraph.errors import NotIndexed
from sensegraph.index.index import Index
from sensegraph.index.passages import passage_tokens
from sensegraph.language.text import take_within
from sensegraph.methods.graphrag.details import report_passages
from sensegraph.protocols import Vectors
from sensegraph.runtime.results import take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Cluster, Passage, Question

_BLOCK = 64  # reports that are read at once down the ranking


def report_vectors(depth: int, index: Index, rt: Runtime, method: str) -> Vectors:
    """The vectors of the reports at `depth` or above it, shape (reports, dim), in the order of the clusters.

    Raises NotIndexed where `method` finds none, or where another embedder made them.
    """
    count = bisect_right(index.hierarchy.clusters, depth, key=lambda c: c.depth)
    if not count:
        raise NotIndexed(
            f"{method} reads reports, and this index has none: no entity was found in the documents that are read. "
            "Ask with --method naive, which reads passages, or add documents and run `sensegraph index`."
        )
    return index.vectors_of(rt.embedder, "report")[:count]


def nearest_reports(query: Vectors, vectors: Vectors, most: int, index: Index) -> list[Cluster]:
    """At most `most` reports by falling cosine of their `vectors` with `query`, shape (dim,).

    Never one and another above or below it: they tell the same twice.
    """
    places, _ = find_nearest_rows(vectors, query, len(vectors))
    taken: list[Cluster] = []
    for start in range(0, len(places), _BLOCK):
        for cluster in take_records(index.hierarchy.clusters, places[start : start + _BLOCK].tolist()):
            mine = set(cluster.entities)
            if all(mine.isdisjoint(c.entities) for c in taken):
                taken.append(cluster)
            if len(taken) == most:
                return taken
    return taken


def share_out_reports(
    question: Question, reports: Sequence[Cluster], batches: int, budget: int, index: Index, rt: Runtime
) -> tuple[list[list[Passage]], int]:
    """The reports as passages shared out by rank, each batch within `budget` tokens, and how many had no room.

    There are at most as many batches as reports.
    """
    passages = report_passages(question.text, index, reports, rt) if reports else []
    count = min(batches, len(reports))
    fitted = [take_within(passages[i::count], budget, passage_tokens) for i in range(count)]
    return [kept for kept, _ in fitted if kept], sum(left for _, left in fitted)
