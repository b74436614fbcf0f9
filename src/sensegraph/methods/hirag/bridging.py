"""What HiRAG reads of a question: entities near it, their communities and chunks, and the paths that bridge them.

Huang et al. 2025, *HiRAG*, "Querying with three-level knowledge" (§4.2), Eq. 12–16. Entities and clusters are told by
position.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from sensegraph.algorithms.graphs import Floats, Ints
from sensegraph.algorithms.paths import find_paths_through
from sensegraph.index.graph.lookups import Lookups
from sensegraph.index.graph.ties import Ties
from sensegraph.index.index import Index
from sensegraph.index.neighbours import nearest_to
from sensegraph.protocols import Vectors
from sensegraph.retrieval.arms import by_meaning
from sensegraph.retrieval.assembling import Ends, ranked_links
from sensegraph.retrieval.signals import Sought, entities_named_in
from sensegraph.runtime.results import take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Cluster, Question


def find_candidates(
    question: Question, query: Vectors, index: Index, rt: Runtime, top: int, floor: float, by: Sought
) -> dict[int, float]:
    """The `top` entities of all layers nearest to `query`, (dim,), best first; cosines of at least `floor` (Eq. 12).

    `names` puts those before them that the question names, and takes what is near at all; `auto` does so where vectors
    compare words alone, whose cosines are small.
    """
    places, scores = nearest_to(query, index, rt, top, "entity")
    near = dict(zip(places.tolist(), scores.tolist(), strict=True))
    if by_meaning(by, rt):
        return {place: score for place, score in near.items() if score >= floor}
    found = dict.fromkeys(entities_named_in(question.text, index), 1.0)
    found |= {place: score for place, score in near.items() if score > 0 and place not in found}
    return dict(list(found.items())[:top])


def communities_around(local: Sequence[int], index: Index, deepest: int) -> dict[int, Cluster]:
    """The communities down to depth `deepest` that hold one of these entities, first those with most of them (Eq. 13).

    Ratings break ties: they are an engine's invention.
    """
    homes = index.lookups.homes[list(local), : deepest + 1].tolist()
    inside = Counter(place for row in homes for place in dict.fromkeys(row) if place >= 0)
    places = sorted(inside)
    found = dict(zip(places, take_records(index.hierarchy.clusters, places), strict=True))
    ranked = sorted(places, key=lambda place: (-inside[place], -found[place].rating, found[place].id))
    return {place: found[place] for place in ranked}


def key_entities(
    candidates: Sequence[int], communities: Mapping[int, Cluster], lookups: Lookups, most: int
) -> list[int]:
    """The first `most` candidates of each community, in their order; without a community the first of all (Eq. 14)."""
    if not communities:
        return list(candidates[:most])
    homes = lookups.homes[list(candidates)]
    rows = {
        row
        for place, community in communities.items()
        for row in np.flatnonzero(homes[:, community.depth] == place)[:most].tolist()
    }
    return [candidates[row] for row in sorted(rows)]


def bridge_relations(keys: Sequence[int], index: Index, joins: Ends, weight: Floats, *, path_only: bool) -> list[int]:
    """The relations on the paths from each key entity to the next, or all among what lies on them (Eq. 15, 16).

    Those between much-linked entities come first, of equal ones the heavier.
    """
    lookups = index.lookups
    paths = find_paths_through(lookups.start, lookups.neighbours, keys)
    found: list[Ints] = [np.zeros(0, np.int32)]
    if path_only:  # the relations between each node of a path and the next
        for one, other in (ends for path in paths for ends in pairwise(path)):
            others, relations = lookups.around(one)
            found.append(relations[others == other])
    else:  # the relations with both ends on the paths
        nodes = sorted({node for path in paths for node in path})
        inside = np.zeros(len(lookups.start) - 1, bool)
        inside[nodes] = True
        for node in nodes:
            others, relations = lookups.around(node)
            found.append(relations[inside[others]])
    return ranked_links(np.concatenate(found), index, joins, weight)


def chunks_around(entities: Sequence[int], index: Index, tied: Ties) -> Iterator[int]:
    """The chunks of each of these entities in turn, none twice: first those that most of its neighbours share."""
    count = len(index.catalogue.chunks)
    taken = np.zeros(count, bool)
    for entity in entities:
        beside = np.unique(index.lookups.around(entity)[0]).tolist()
        held = np.concatenate([np.zeros(0, np.int32), *(tied.mentioning(other) for other in beside)])
        mine = tied.mentioning(entity)
        mine = mine[~taken[mine]]
        taken[mine] = True
        shared = np.bincount(held, minlength=count)[mine]
        yield from mine[np.lexsort((mine, -shared))].tolist()
