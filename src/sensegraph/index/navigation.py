"""Ways through very many vectors: a graph for every segment of a matrix, stored beside it and mapped when it is read.

Segments are cut by what stands in them, so that an update makes anew only the graphs of segments that changed.
"""

from __future__ import annotations

from collections.abc import Sequence

from sensegraph.algorithms import approximate
from sensegraph.algorithms.approximate import FORMAT, Navigation
from sensegraph.algorithms.segments import Segment
from sensegraph.algorithms.segments import segments as cut
from sensegraph.index.manifest import Stretch
from sensegraph.protocols import Vectors
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime


@step("navigating.segments", version=1)
def segments(wholes: Sequence[Vectors]) -> list[list[Segment]]:
    """Where each matrix is cut."""
    return [cut(vectors) for vectors in wholes]


@step("navigating.navigation", version=1, form="array")
def navigation(parts: Sequence[Vectors]) -> list[Navigation]:
    """The graph of each segment."""
    return [approximate.navigation(vectors) for vectors in parts]


def navigate(vectors: Vectors, name: str, rt: Runtime) -> tuple[Stretch, ...]:
    """The graphs of `vectors`, whose key is `name`, one a segment. Raises ModuleNotFoundError without the extra."""
    found = rt.once(segments, vectors, names=(name,)).value
    return tuple((part.begin, _graph(vectors, part, rt)) for part in found)


def _graph(vectors: Vectors, part: Segment, rt: Runtime) -> str:
    return rt.once(navigation, lambda: vectors[part.begin : part.end], names=(part.digest, FORMAT)).key
