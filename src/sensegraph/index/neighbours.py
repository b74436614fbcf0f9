"""The rows of an index nearest to a query: the one place where methods look for them.

Up to `index.exact_below` vectors of a kind all are compared. From there on a build leaves graphs beside them, by which
candidates are found and then compared exactly; where that takes more than reading all of them, all are read. Inside a
filter all that is left is compared.
"""

from __future__ import annotations

from sensegraph.algorithms.ranking import Ranked, nearest_each
from sensegraph.index.index import Index
from sensegraph.protocols import Vectors
from sensegraph.runtime.runtime import Runtime


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
