"""Small components of a graph, gathered into communities by the passages that they stand in.

Leiden joins nothing that no relation joins: an entity without relations, or a pair that is related to nothing else, is
a community by itself, and in a sparse graph most communities are such. Here components of at most a leaf's size are put
in an order in which neighbours stand in the same passage, document or kind of document, and that order is cut into
runs by what stands in it (content-defined; see `algorithms/segments.py`), so that a further document changes few of
them. Every depth remains a partition of all entities.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np

from sensegraph.algorithms.graphs import smallest_members
from sensegraph.index.graph.columns import columns_of
from sensegraph.index.hierarchy.communities import (
    ClusterSettings,
    Communities,
    Earlier,
    find_communities,
    group_entities,
)
from sensegraph.index.hierarchy.packing import Group
from sensegraph.runtime.delegating import once_on_worker
from sensegraph.runtime.keys import document_part, key
from sensegraph.runtime.results import Result, Table, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Graph

_ALONE = 3  # entities from which a component is a community of its own, below a gathered one
_ENDS = 12  # one component in so many ends a run of small ones
_TOP = 12  # communities up to which gathered ones stand at the root side by side
_WIDE, _WIDEST = 6, 16  # of which else one in so many ends a run; and how many of them are one community at most

Component = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Node:
    """What stands where in the graph, as far as it is needed here: an entity with its chunks."""

    id: str
    chunks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Branch:
    """A community to be: its entities and what it is divided into; `gathered` where no relation holds it together."""

    entities: Component
    parts: tuple[_Branch, ...] = ()
    gathered: bool = False


def group_graph(
    graph: Result[Graph], earlier: Earlier | None, rt: Runtime, settings: ClusterSettings
) -> tuple[str, Result[Communities]]:
    """The shape of a graph and its communities, the small ones gathered; those of `earlier` where the shape is its."""
    most = settings.max_cluster_size
    small = once_on_worker(rt, order_components, lambda: graph.value, names=(graph.key,), most=most).value
    shape = key(columns_of(graph.value).structure(), settings, *([small] if small else []))
    if earlier is not None and earlier.shape == shape:
        return shape, earlier.communities
    if not small:
        return shape, find_communities(graph, earlier, rt, settings)
    names = (shape, *((earlier.communities.key,) if earlier else ()))
    made = once_on_worker(rt, gather_communities, lambda: (graph.value, earlier, small), names=names, settings=settings)
    return shape, made


@step("communities.small", version=1)
def order_components(graphs: Sequence[Graph], *, most: int) -> list[tuple[Component, ...]]:
    """The components of at most `most` entities of each graph, those next to each other that stand near each other.

    The order follows from texts and names alone, not from the ids of documents: by what the documents share with
    others, by document, then by passage.
    """
    return [order_small(graph, most) for graph in graphs]


@step("communities.gathered", version=2, form="tables")
def gather_communities(
    wholes: Sequence[tuple[Graph, Earlier | None, Sequence[Component]]], *, settings: ClusterSettings
) -> list[Communities]:
    """The communities of each graph, with those of small components, given in order, put into gathered ones."""
    most = settings.max_cluster_size
    return [
        gather_components(group_entities(graph, earlier, settings), small, most).shortened()
        for graph, earlier, small in wholes
    ]


def gather_components(found: Communities, small: Sequence[Component], most: int) -> Communities:
    """`found` with gathered communities in place of those of the `small` components that are one community each."""
    groups = list(found.groups)
    whole = {g.entities for g in groups if not g.depth}
    taken = [component for component in small if component in whole]
    gone = {e for component in taken for e in component}
    kept = [g for g in groups if g.entities[0] not in gone]
    made = [g for branch in _grow_branches(taken, most) for g in _list_groups(branch, 0, "")]
    ordered = sorted((*kept, *made), key=lambda g: (g.depth, g.entities[0]))
    return replace(found, groups=tuple(ordered))


# ── the order ──


def order_small(graph: Graph, most: int) -> tuple[Component, ...]:
    """The components of at most `most` entities in order (see `order_components`)."""
    columns, count = columns_of(graph), len(graph.entities)
    root = smallest_members(columns.source, columns.target, count)
    small = np.bincount(root, minlength=count)[root] <= most
    if not small.any():
        return ()
    entities = graph.entities
    nodes = list(entities.lightly(_Node)) if isinstance(entities, Table) else [_Node(e.id, e.chunks) for e in entities]
    components: dict[int, list[_Node]] = defaultdict(list)
    for i in np.flatnonzero(small).tolist():
        components[int(root[i])].append(nodes[i])
    homes: list[tuple[Component, str]] = []
    for members in components.values():  # each stands in the chunk that most of its members stand in
        held = Counter(c for node in members for c in node.chunks)
        home = min(held, key=lambda c: (-held[c], _text_part(c), c), default="")
        homes.append((tuple(sorted(node.id for node in members)), home))
    marks = _mark_documents(nodes, {document_part(home) for _, home in homes})
    homes.sort(key=lambda pair: (*marks[document_part(pair[1])], _text_part(pair[1]), pair[0]))
    return tuple(component for component, _ in homes)


def _mark_documents(nodes: Sequence[_Node], wanted: set[str]) -> dict[str, tuple[bool, str, str]]:
    """What orders documents: the first entity that they share with others, else of their own; and a text's hash."""
    first: dict[str, tuple[bool, str]] = {}
    text: dict[str, str] = {}
    for node in nodes:
        documents = set(map(document_part, node.chunks))
        mark = (len(documents) < 2, node.id)
        for name in documents & wanted:
            if name not in first or mark < first[name]:
                first[name] = mark
    for chunk in set().union(*(node.chunks for node in nodes)):
        if (name := document_part(chunk)) in wanted:
            text[name] = min(text.get(name, _text_part(chunk)), _text_part(chunk))
    return {name: (*first.get(name, (True, "")), text.get(name, "")) for name in wanted}


def _text_part(chunk: str) -> str:
    """What of a chunk's id tells of its text alone."""
    return chunk[len(document_part(chunk)) :]


# ── the runs ──


def _grow_branches(small: Sequence[Component], most: int) -> Sequence[_Branch]:
    """The gathered communities of the root, each with what is below it."""
    place = {component[0]: i for i, component in enumerate(small)}
    few = [_Branch(component) for component in small if len(component) < _ALONE]
    leaves = [_join_run(run, divided=False) for run in _cut_runs(few, 0, most)]
    leaves += [_Branch(component) for component in small if len(component) >= _ALONE]
    level = sorted(leaves, key=lambda leaf: min(place.get(e, len(place)) for e in leaf.entities))
    height = 0
    while len(level) > _TOP:
        height += 1
        level = [_join_run(run, divided=True) for run in _cut_runs(level, height, _WIDEST)]
    return level


def _cut_runs(branches: Sequence[_Branch], height: int, most: int) -> Iterator[list[_Branch]]:
    """Runs of neighbours: of `most` entities together at height 0, above of 2 to `most` branches.

    What stands in a branch says whether a run ends with it.
    """
    least, one_in = (2, _WIDE) if height else (1, _ENDS)
    run: list[_Branch] = []
    held = 0
    for branch in branches:
        size = 1 if height else len(branch.entities)
        if run and held + size > most:
            yield run
            run, held = [], 0
        run.append(branch)
        held += size
        if len(run) >= least and crc32(f"{height} {branch.entities[0]}".encode()) % one_in == 0:
            yield run
            run, held = [], 0
    if run:
        yield run


def _join_run(run: Sequence[_Branch], *, divided: bool) -> _Branch:
    members = tuple(sorted(e for branch in run for e in branch.entities))
    return run[0] if len(run) == 1 else _Branch(members, tuple(run) if divided else (), gathered=True)


def _list_groups(branch: _Branch, depth: int, parent: str) -> Iterator[Group]:
    """The community of a branch and those below it, under ids that are keys of their members and depth."""
    name = key("community", depth, branch.entities)[:20]
    below = [list(_list_groups(part, depth + 1, name)) for part in branch.parts]
    children = tuple(groups[0].id for groups in below)
    yield Group(name, depth, parent, children, branch.entities, branch.gathered)
    for groups in below:
        yield from groups
