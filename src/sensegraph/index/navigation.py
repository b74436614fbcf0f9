"""Ways through very many vectors: a graph for every segment of a matrix, stored beside it and mapped when it is read.

Segments are cut by what stands in them, so that an update makes anew only the graphs of segments that changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sensegraph.algorithms import approximate
from sensegraph.algorithms.approximate import FORMAT, NO_EXTRA, Navigation, is_installed
from sensegraph.algorithms.ranking import Stack
from sensegraph.algorithms.segments import Segment
from sensegraph.algorithms.segments import cut_segments as cut
from sensegraph.index.manifest import Manifest, Stretch
from sensegraph.index.vectors import open_stack
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime


@step("navigating.segments", version=1)
def cut_segments(wholes: Sequence[Stack]) -> list[list[Segment]]:
    """Where each matrix is cut."""
    return [cut(vectors) for vectors in wholes]


@step("navigating.navigation", version=1, form="array")
def build_navigation(parts: Sequence[Stack]) -> list[Navigation]:
    """The graph of each segment."""
    return [approximate.build_navigation(vectors) for vectors in parts]


def navigate_segments(name: str, rt: Runtime) -> tuple[Stretch, ...]:
    """The graphs of the vectors whose key is `name`, one a segment. Raises ModuleNotFoundError without the extra."""
    from sensegraph.runtime.delegating import once_on_worker

    found = once_on_worker(rt, cut_segments, lambda: open_stack(rt.store, name), names=(name,)).value
    made = []
    for part in found:

        def read(part: Segment = part) -> Stack:
            return open_stack(rt.store, name).head(part.end, part.begin)

        made.append((part.begin, once_on_worker(rt, build_navigation, read, names=(part.digest, FORMAT)).key))
    return tuple(made)


def add_navigation(manifest: Manifest, rt: Runtime, exact_below: int) -> Manifest:
    """The manifest with graphs through those of its vectors that are `exact_below` or more; 0 stands for none."""
    ways: dict[str, tuple[Stretch, ...]] = {}
    notes = list(manifest.notes)
    counts = manifest.counts
    known = {"chunk": counts["chunks"], "entity": counts["entities"], "report": sum(manifest.clusters)}
    for kind, name in manifest.stacks.items():
        if not name or not exact_below or known.get(kind, exact_below) < exact_below:
            continue
        vectors = open_stack(rt.store, name)
        if len(vectors) < exact_below:
            continue
        if is_installed():
            ways[kind] = navigate_segments(name, rt)
        else:
            notes.append(f"{len(vectors):,} vectors of kind {kind} are compared one by one: {NO_EXTRA}")
    return replace(manifest, ways=ways, notes=tuple(notes))
