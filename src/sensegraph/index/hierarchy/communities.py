"""Communities at every depth, afresh or from those of an earlier build (edge2024 §3.1.4; N12–N16, G12–G14).

They keep their names from one build to the next, though their ids are keys of their members. What is known of that is
history, no function of the documents: it stands beside the index, which equals one built afresh.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.clustering import Quality, Start, carry_tree, hierarchical_leiden, leiden, partition_quality
from sensegraph.algorithms.graphs import Edges, Floats, Longs, canonical_edges, keep_distinct
from sensegraph.algorithms.trees import Followed, Tree, find_unchanged, match_groups, project
from sensegraph.algorithms.walks import run_offsets
from sensegraph.errors import SettingsError, StoreError
from sensegraph.index.graph.columns import GroupColumns, columns_of, ends_beside, find_hashes, forget_columns
from sensegraph.index.hierarchy.packing import Group
from sensegraph.index.manifest import Manifest
from sensegraph.protocols import Store
from sensegraph.runtime.delegating import once_on_worker
from sensegraph.runtime.keys import encode_canonical, key
from sensegraph.runtime.results import Result, Table, recall_result, step, take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Graph

_REF = "lineage"
_FEW = 8  # of so many communities one is looked at: then it is looked up, else all are read in order
Kind = Literal["kept", "grew", "shrank", "changed", "split", "merged", "new", "gone"]
KINDS: tuple[Kind, ...] = ("kept", "grew", "shrank", "changed", "split", "merged", "new", "gone")


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a community in a build: its ids before and now; `name` is the id that it was first seen under."""

    kind: Kind
    name: str
    before: tuple[str, ...] = ()
    now: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Lineage:
    """The names of the communities under the key `communities`, and the id of `now` by every earlier one.

    A name is the id that a community was first seen under; `names` holds by id those that are another.
    """

    communities: str = ""
    names: dict[str, str] = field(default_factory=dict)
    now: dict[str, str] = field(default_factory=dict)


def read_lineage(store: Store) -> Lineage:
    """What is known of the communities of the last build."""
    name = store.ref(_REF)
    found = store.read([name]) if name else {}
    return msgspec.json.decode(found[name], type=Lineage) if name and name in found else Lineage()


def follow_communities(store: Store, manifest: Manifest) -> tuple[Fate, ...]:
    """Name the communities of a new index after those before; what became of each, none where all are as they were."""
    before = read_lineage(store)
    if not manifest.communities or before.communities == manifest.communities:
        return ()
    tables = list[Sequence[Group]]()
    for name in (before.communities, manifest.communities):
        try:
            tables.append(recall_result(store, cluster_graphs, name).groups if name else [])
        except StoreError:
            tables.append([])  # gone, or of another version: names begin anew
    listed = [of.ids() if isinstance(of, Table) else [g.id for g in of] for of in tables]
    # an id stands for members and depth, and those of one depth share none: what has the same id is as it was
    there = set(listed[0]).intersection(listed[1])
    rest = [[place for place, name in enumerate(names) if name not in there] for names in listed]
    read = dict[str, Group]()
    for of, ids, places in zip(tables, listed, rest, strict=True):
        read = _read_groups(of, [ids[place] for place in places], read)
    at = {name: place for place, name in enumerate(listed[1]) if name in there}
    same = [(place, at[name]) for place, name in enumerate(listed[0]) if name in there]
    apart = [[read[of[place]] for place in places] for of, places in zip(listed, rest, strict=True)]
    sets = [[frozenset(g.entities) for g in groups] for groups in apart]
    matched = match_groups(sets[0], sets[1], [[g.depth for g in groups] for groups in apart])
    pairs = ([(rest[0][a], rest[1][b]) for a, b in of] for of in (matched.successor, matched.parts, matched.sources))
    successor, parts, sources = map(tuple, pairs)
    found = Followed(tuple(sorted((*same, *successor))), parts, sources)
    fates = _trace_fates(listed[0], listed[1], read, found, before.names)
    names: dict[str, str] = {}
    then: dict[str, str] = {}  # from the ids of the build before to those of now
    for fate in fates:
        for i in fate.now[1:]:
            names.setdefault(i, i)
        if fate.now:
            names[fate.now[0]] = fate.name
            for i in fate.before:
                then.setdefault(i, fate.now[0])
    now = {early: then[late] for early, late in before.now.items() if late in then} | then
    moved = dict(sorted((i, name) for i, name in names.items() if i != name))
    made = Lineage(manifest.communities, moved, dict(sorted((a, b) for a, b in now.items() if a not in names)))
    name = key("lineage", made)
    store.write({name: encode_canonical(made)}, "lineage")
    store.set_refs({_REF: name})
    return fates if listed[0] else ()


def count_fates(fates: Sequence[Fate]) -> dict[str, int]:
    """How many communities had each fate; fates that none had are left out."""
    counted = Counter(f.kind for f in fates)
    return {kind: counted[kind] for kind in KINDS if counted[kind]}


def _read_groups(groups: Sequence[Group], wanted: Sequence[str], known: Mapping[str, Group]) -> dict[str, Group]:
    """Those that are `known`, the communities with these ids, with their entities, and where few are, those below."""
    read, below = dict(known), wanted
    every = read
    if not isinstance(groups, Table) or _FEW * len(wanted) > len(groups):
        every = {g.id: g for g in groups}
    else:
        while below:  # their entities may be those of their children
            read |= (more := groups.find(below))
            below = [child for g in more.values() if not g.entities for child in g.children if child not in read]
    return read | {name: replace(every[name], entities=gather_members(every[name], every)) for name in wanted}


def _trace_fates(
    old: Sequence[str], new: Sequence[str], read: Mapping[str, Group], found: Followed, names: Mapping[str, str]
) -> tuple[Fate, ...]:
    """One fate for each community, of now or before: parts belong to what split, sources to what they merged into.

    They are given by their ids; those that are not the same before and now are `read`.
    """
    parts, sources = _by_side(found.parts, 0), _by_side(found.sources, 1)
    fates: list[Fate] = []
    for a, b in found.successor:
        was, now = old[a], new[b]
        name = names.get(was, was)
        if a in parts:
            fates.append(Fate("split", name, (was,), (now, *(new[i] for i in parts[a]))))
        if b in sources:
            fates.append(Fate("merged", name, (was, *(old[i] for i in sources[b])), (now,)))
        if a not in parts and b not in sources:
            kind: Kind = "kept"
            if was != now and read[was].entities != read[now].entities:
                more = len(read[now].entities) - len(read[was].entities)
                kind = "grew" if more > 0 else "shrank" if more < 0 else "changed"
            fates.append(Fate(kind, name, (was,), (now,)))
    taken = {b for _, b in (*found.successor, *found.parts)}
    fates += [Fate("new", name, (), (name,)) for i, name in enumerate(new) if i not in taken]
    left = {a for a, _ in (*found.successor, *found.sources)}
    fates += [Fate("gone", names.get(name, name), (name,)) for i, name in enumerate(old) if i not in left]
    return tuple(fates)


def _by_side(pairs: Sequence[tuple[int, int]], side: int) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for pair in pairs:
        found.setdefault(pair[side], []).append(pair[1 - side])
    return found


_TOLERANCE = 0.01  # an updated partition may lose this share of modularity against a fresh one
_STALE = 0.001  # share of all weight that changes before a fresh partition is found again to compare with
_LARGE = 1 << 20  # relations from which columns are read again after a graph was clustered
_LIGHTEST = 1e-9  # weights must be positive


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """Hierarchical Leiden: communities above `max_cluster_size` entities are divided again; `resolution` is γ.

    By `quality` "cpm" γ is the least density of a community, in units of the mean weight of a relation, below 1.
    """

    max_cluster_size: int = 10
    resolution: float = 1.0
    randomness: float = 0.001
    seed: int = 0
    quality: Quality = "modularity"

    def __post_init__(self) -> None:
        for name in ("max_cluster_size", "resolution", "randomness"):
            if not 0 < getattr(self, name) < float("inf"):
                raise SettingsError(f"index.clusters.{name} is {getattr(self, name)}; it must be above 0.")
        if self.quality not in ("modularity", "cpm"):
            raise SettingsError(f"index.clusters.quality is {self.quality!r}; it must be modularity or cpm.")
        if self.quality == "cpm" and self.resolution >= 1:
            raise SettingsError(
                f"index.clusters.resolution is {self.resolution}; with the quality cpm it is the least density of a "
                "community and must be below 1, such as 0.1."
            )
        if self.seed < 0:
            raise SettingsError(f"index.clusters.seed is {self.seed}; it must not be negative.")


@dataclass(frozen=True, slots=True)
class Communities:
    """All communities, in the order of (depth, smallest member); `modularity` is the quality of depth 0.

    `fresh` is that of the fresh partition which it was last compared with, `moved` the share of weight changed since.
    """

    groups: Sequence[Group] = ()
    modularity: float = 0.0
    notes: tuple[str, ...] = ()
    fresh: float = 0.0
    moved: float = 1.0

    def whole(self) -> Communities:
        """These, from what was stored of them: one without entities has those of its children."""
        groups = {g.id: g for g in self.groups}
        for g in sorted(groups.values(), key=lambda g: -g.depth):
            if not g.entities:
                below = (groups[child].entities for child in g.children if child in groups)
                groups[g.id] = replace(g, entities=tuple(sorted(chain.from_iterable(below))))
        return replace(self, groups=tuple(groups.values()))

    def shortened(self) -> Communities:
        """These as they are stored: without entities where they are those of the children."""
        sizes = {g.id: len(g.entities) for g in self.groups}  # what is in children is in their parent, once
        whole = (g.children and sum(sizes.get(child, 0) for child in g.children) == sizes[g.id] for g in self.groups)
        kept = (replace(g, entities=()) if of else g for g, of in zip(self.groups, whole, strict=True))
        return replace(self, groups=tuple(kept))


def gather_members(group: Group, groups: Mapping[str, Group]) -> tuple[str, ...]:
    """The entities of a group, from what was stored of it and of those below it."""
    below = (gather_members(groups[child], groups) for child in group.children if child in groups)
    return group.entities or tuple(sorted(chain.from_iterable(below)))


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an update starts from: the communities of an earlier build and the graph that they were found in."""

    communities: Result[Communities]
    graph: Result[Graph]
    shape: str


@dataclass(frozen=True, slots=True)
class _Structure:
    """A graph as arrays: edges between the positions of entities, and what lists the ids of these in order."""

    list_ids: Callable[[], Sequence[str]]
    edges: Edges


@step("communities.communities", version=3, form="tables")
def cluster_graphs(wholes: Sequence[tuple[Graph, Earlier | None]], *, settings: ClusterSettings) -> list[Communities]:
    """The communities of each graph."""
    return [group_briefly(graph, earlier, settings) for graph, earlier in wholes]


def find_communities(
    graph: Result[Graph], earlier: Earlier | None, rt: Runtime, settings: ClusterSettings
) -> Result[Communities]:
    """The communities of `graph`; with `earlier`, found by changing those as little as the new graph demands."""
    shape = columns_of(graph.value).structure()
    before = (earlier.communities.key,) if earlier else ()
    names = (shape, *before)
    return once_on_worker(rt, cluster_graphs, lambda: (graph.value, earlier), names=names, settings=settings)


def group_entities(graph: Graph, earlier: Earlier | None, settings: ClusterSettings) -> Communities:
    """The communities of a graph, each with its entities; see `group_briefly`."""
    return group_briefly(graph, earlier, settings).whole()


def group_briefly(graph: Graph, earlier: Earlier | None, settings: ClusterSettings) -> Communities:
    """The communities of a graph as they are stored; from `earlier` unless that costs more than 1 % of the quality.

    What a fresh partition has is found again only where more has changed than could matter, or where it does.
    """
    columns = columns_of(graph)
    edges = _list_edges(columns.source, columns.target, columns.relations.weight, len(columns.entities.ids))
    if earlier is None:
        if len(edges.source) > _LARGE:
            del columns
            forget_columns(graph)
        table = graph.entities
        now = _Structure(table.ids if isinstance(table, Table) else lambda: [e.id for e in table], edges)
        return _cluster_afresh(now, settings)
    # the earlier communities on the numbering of the graph of now
    found = earlier.communities.value
    groups = list(found.groups)
    stored = GroupColumns.of(groups)
    names = [e for place in keep_distinct(stored.home).tolist() for e in groups[place].entities]
    before = ends_beside(earlier.graph.value, graph)
    places = find_hashes(columns.entities.ids, stored.members)
    new = np.flatnonzero(places < 0)
    named: NDArray[Any] = np.array([*names, ""], object)[places]
    named[new] = [entity.id for entity in take_records(graph.entities, new.tolist())]
    now = _Structure(named.tolist, edges)
    tree = _plant_tree(stored, before.ids)
    source, target = (find_hashes(ends, before.ids) for ends in (before.source, before.target))
    then = _list_edges(source, target, before.weight, tree.nodes)
    mapping = find_hashes(before.ids, columns.entities.ids)
    carried = carry_tree(tree, then, edges, mapping)
    made = _leiden_tree(edges, carried, settings)
    known = [groups[at] if at >= 0 else None for at in find_unchanged(made, tree, mapping).tolist()]
    updated = _name_communities(now, made, settings, known=known)
    best, moved = found.fresh, found.moved + carried.moved
    if moved > _STALE or _falls_short(updated, best):
        given = asdict(settings)
        del given["max_cluster_size"]
        best = partition_quality(edges, leiden(edges, **given), settings.resolution, settings.quality)
        moved = 0.0
    if not _falls_short(updated, best):
        return replace(updated, fresh=best, moved=moved)
    said = "modularity" if settings.quality == "modularity" else "quality"
    note = f"clustered afresh: {said} {best:.4f}, against {updated.modularity:.4f} from the earlier communities"
    return _cluster_afresh(now, settings, (note,))


def _plant_tree(groups: GroupColumns, ids: NDArray[np.uint64]) -> Tree:
    """Communities as a tree over the entities whose ids have these hashes."""
    size, node, home = len(ids), find_hashes(groups.members, ids), groups.home
    held = [np.zeros(0, np.int64)]
    while len(home := home[(there := (node >= 0) & (home >= 0))]):
        node = node[there]
        held.append(home * size + node)
        home = groups.above[home]
    group, members = np.divmod(keep_distinct(np.concatenate(held)), size)
    start = run_offsets(np.bincount(group, minlength=len(groups.depth)))
    return Tree(groups.above.astype(np.int32), groups.depth.astype(np.int32), start, members.astype(np.int32), size)


def _falls_short(found: Communities, best: float) -> bool:
    return found.modularity < best - _TOLERANCE * abs(best)


def _cluster_afresh(now: _Structure, settings: ClusterSettings, notes: tuple[str, ...] = ()) -> Communities:
    found = _name_communities(now, _leiden_tree(now.edges, None, settings), settings, notes)
    return replace(found, fresh=found.modularity, moved=0.0)


def _leiden_tree(edges: Edges, start: Start | None, settings: ClusterSettings) -> Tree:
    return hierarchical_leiden(edges, previous=start, **asdict(settings))


def _list_edges(source: Longs, target: Longs, weight: Floats, nodes: int) -> Edges:
    return canonical_edges(source, target, np.maximum(weight, _LIGHTEST), nodes)


def _name_communities(
    now: _Structure,
    tree: Tree,
    settings: ClusterSettings,
    notes: tuple[str, ...] = (),
    known: Sequence[Group | None] = (),
) -> Communities:
    """The communities as they are stored, under ids that are keys of their members and depth; some are `known`."""
    before, sizes, above = known or [None] * len(tree), tree.sizes, tree.parent
    below = np.bincount(above[above >= 0], sizes[above >= 0], len(tree))
    names, ids, tops, held = now.list_ids(), list[str](), list[str](), list[tuple[str, ...]]()
    children: list[list[str]] = [[] for _ in before]
    placed = zip(before, tree.depth.tolist(), above.tolist(), (below == sizes).tolist(), strict=True)
    for i, (was, depth, parent, whole) in enumerate(placed):  # those above others come first
        members = was.entities if was else ()
        if not was or not (whole or members):  # what was divided before may not be now
            members = tuple(sorted(names[m] for m in tree.of(i).tolist()))
        ids.append(was.id if was else key("community", depth, members)[:20])
        tops.append(ids[parent] if parent >= 0 else "")
        held.append(() if whole else members)
        if parent >= 0:
            children[parent].append(ids[i])
    found = zip(before, zip(ids, tree.depth.tolist(), tops, map(tuple, children), held, strict=True), strict=True)
    groups = [
        was if was and (was.parent, was.children, was.entities, was.gathered) == (*of[2:], False) else Group(*of)
        for was, of in found
    ]
    quality = partition_quality(now.edges, project(tree, 0), settings.resolution, settings.quality)
    return Communities(tuple(groups), quality, notes)
