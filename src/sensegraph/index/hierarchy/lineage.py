"""Communities keep their names from one build to the next, though their ids are keys of their members.

What this knows is history, no function of the documents: it stands beside the index, which equals one built afresh.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from sensegraph.algorithms.group_overlap import Followed, match_groups
from sensegraph.errors import StoreError
from sensegraph.index.hierarchy.communities import cluster_graphs
from sensegraph.index.hierarchy.packing import Group
from sensegraph.index.manifest import Manifest
from sensegraph.protocols import Store
from sensegraph.runtime.keys import encode_canonical, key
from sensegraph.runtime.results import recall_result

_REF = "lineage"
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
    """The names of the communities under the key `communities`: `names` by id, `now` the id of now by every earlier.

    A name is the id that a community was first seen under.
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
    old, new = _read_groups(store, before.communities), _read_groups(store, manifest.communities)
    found = match_groups(_member_sets(old), _member_sets(new), ([g.depth for g in old], [g.depth for g in new]))
    fates = _trace_fates(old, new, found, before.names)
    names: dict[str, str] = {}
    then: dict[str, str] = {}  # from the ids of the build before to those of now
    for fate in fates:
        names |= {i: i for i in fate.now[1:] if i not in names}
        names |= dict.fromkeys(fate.now[:1], fate.name)
        then |= {i: fate.now[0] for i in fate.before if fate.now and i not in then}
    now = {early: then[late] for early, late in before.now.items() if late in then} | then
    made = Lineage(
        manifest.communities, dict(sorted(names.items())), {a: b for a, b in sorted(now.items()) if a not in names}
    )
    name = key("lineage", made)
    store.write({name: encode_canonical(made)}, "lineage")
    store.set_refs({_REF: name})
    return fates if old else ()


def count_fates(fates: Sequence[Fate]) -> dict[str, int]:
    """How many communities had each fate; fates that none had are left out."""
    counted = Counter(f.kind for f in fates)
    return {kind: counted[kind] for kind in KINDS if counted[kind]}


def _read_groups(store: Store, name: str) -> list[Group]:
    try:
        return list(recall_result(store, cluster_graphs, name).groups) if name else []
    except StoreError:
        return []  # gone, or of another version: names begin anew


def _member_sets(groups: Sequence[Group]) -> list[frozenset[str]]:
    return [frozenset(g.entities) for g in groups]


def _trace_fates(
    old: Sequence[Group], new: Sequence[Group], found: Followed, names: Mapping[str, str]
) -> tuple[Fate, ...]:
    """One fate for each community, of now or before: parts belong to what split, sources to what they merged into."""
    parts, sources = _by_side(found.parts, 0), _by_side(found.sources, 1)
    fates: list[Fate] = []
    for a, b in found.successor:
        was, now = old[a], new[b]
        name = names.get(was.id, was.id)
        if a in parts:
            fates.append(Fate("split", name, (was.id,), (now.id, *(new[i].id for i in parts[a]))))
        if b in sources:
            fates.append(Fate("merged", name, (was.id, *(old[i].id for i in sources[b])), (now.id,)))
        if a not in parts and b not in sources:
            more = len(now.entities) - len(was.entities)
            grew: Kind = "grew" if more > 0 else "shrank" if more < 0 else "changed"
            fates.append(Fate("kept" if was.entities == now.entities else grew, name, (was.id,), (now.id,)))
    taken = {b for _, b in (*found.successor, *found.parts)}
    fates += [Fate("new", g.id, (), (g.id,)) for i, g in enumerate(new) if i not in taken]
    left = {a for a, _ in (*found.successor, *found.sources)}
    fates += [Fate("gone", names.get(g.id, g.id), (g.id,)) for i, g in enumerate(old) if i not in left]
    return tuple(fates)


def _by_side(pairs: Sequence[tuple[int, int]], side: int) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for pair in pairs:
        found.setdefault(pair[side], []).append(pair[1 - side])
    return found
