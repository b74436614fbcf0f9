"""The rows of an index nearest to a query: the one place where methods look for them.

Up to `index.exact_below` vectors of a kind all are compared. From there on a build leaves graphs beside them, by which
candidates are found and then compared exactly; where that takes more than reading all of them, all are read. Inside a
filter all that is left is compared.
"""

from __future__ import annotations

from dataclasses import replace

from sensegraph.algorithms.approximate import installed
from sensegraph.algorithms.ranking import Ranked, nearest_each
from sensegraph.index.index import Index
from sensegraph.index.manifest import Manifest, Stretch
from sensegraph.index.navigation import navigate
from sensegraph.index.vectors import stack
from sensegraph.protocols import Vectors
from sensegraph.runtime.results import recall
from sensegraph.runtime.runtime import Runtime

_MISSING = "the extra `ann` is not installed"


def nearest_to(query: Vectors, index: Index, rt: Runtime, top: int, kind: str = "chunk") -> Ranked:
    """Positions and cosines of the `top` rows of a kind nearest to `query`, shape (dim,), best first."""
    return nearest_to_each(query[None, :], index, rt, top, kind)[0]


def nearest_to_each(queries: Vectors, index: Index, rt: Runtime, top: int, kind: str = "chunk") -> list[Ranked]:
    """`nearest_to` for every row of `queries`, shape (q, dim). The runtime notes a search that is not the usual one."""
    vectors = index.vectors_of(rt.embedder, kind)
    navigator = index.navigator(kind)
    if navigator is None or not navigator.helps(top):
        return nearest_each(vectors, queries, top)
    if not installed():
        rt.noted[f"all {len(vectors):,} vectors of kind {kind} were compared: {_MISSING}"] += 1
        return nearest_each(vectors, queries, top)
    rt.noted[f"of {len(vectors):,} vectors of kind {kind} the nearest were sought approximately"] += 1
    return [navigator.nearest(query, top) for query in queries]


def with_ways(manifest: Manifest, rt: Runtime, exact_below: int) -> Manifest:
    """The manifest with graphs through those of its vectors that are `exact_below` or more; 0 stands for none."""
    ways: dict[str, tuple[Stretch, ...]] = {}
    notes = list(manifest.notes)
    for kind, name in manifest.stacks.items():
        vectors = recall(rt.store, stack, name) if name else ()
        if not exact_below or len(vectors) < exact_below:
            continue
        if installed():
            ways[kind] = navigate(recall(rt.store, stack, name), name, rt)
        else:
            notes.append(f"{len(vectors):,} vectors of kind {kind} are compared one by one: {_MISSING}")
    return replace(manifest, ways=ways, notes=tuple(notes))
