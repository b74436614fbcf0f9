"""Rules of graphs, rows and searches, given small values that stand in a line of JSON; fractions to four places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms import (
    clustering,
    cooccurrence,
    deepening,
    full_text,
    graphs,
    layout,
    meaning,
    mixtures,
    reduction,
    segments,
    similar,
    tfidf,
    walks,
)

Link = tuple[int, int, float]


def _edges(nodes: int, links: Sequence[Link]) -> graphs.Edges:
    one, other, weight = zip(*links, strict=True) if links else ((), (), ())
    return graphs.canonical_edges(one, other, weight, nodes)


def _rows(n: int, groups: int, dims: int = 3) -> NDArray[np.float64]:
    """Rows about some middles, always the same."""
    i, j = np.arange(n)[:, None], np.arange(dims)
    return np.sin(i * (j + 1.7) * 1.3) * 0.4 + np.cos((i % groups) * (j + 1) * 2.1) * 3


def _show(points: Any) -> Any:
    """Places as pairs, numbers to four places."""
    points = np.asarray(points)
    pairs = np.stack((points.real, points.imag), axis=-1) if np.iscomplexobj(points) else points
    return (np.round(pairs, 4) + 0.0).tolist()


def arrange(radius: Sequence[float], group: Sequence[int], links: Sequence[Link], aspect: float = 1.0) -> Any:
    """Places of discs."""
    edges = _edges(len(radius), links)
    places = layout.arrange_discs(np.array(radius), np.array(group), edges, seed=3, aspect=aspect)
    return _show(np.round(places, 2))


def push_apart(places: Sequence[Sequence[float]], radius: Sequence[float], group: Sequence[int], aspect: float) -> Any:
    """Places of discs of which none is over another."""
    at = np.array([complex(*place) for place in places])
    return _show(layout._push_apart(at, np.array(radius), np.array(group), aspect))


def enclose(places: Sequence[Sequence[float]], radius: Sequence[float], group: Sequence[int]) -> Any:
    """The discs about some discs."""
    at = np.array([complex(*place) for place in places])
    return list(map(_show, layout._enclose_groups(at, np.array(radius), np.array(group))))


def find_near(places: Sequence[Sequence[float]], group: Sequence[int], reach: float) -> Any:
    """Which pairs of places may be so near."""
    found = layout._find_near(np.array([complex(*place) for place in places]), np.array(group), reach)
    return sorted(zip(*(one.tolist() for one in found), strict=True))


def lay_out(radius: Sequence[float], levels: Sequence[Sequence[int]], links: Sequence[Link]) -> Any:
    """The layout of communities in one another, and which links hold the graph together."""
    edges = _edges(len(radius), links)
    found = layout.lay_out_nested(edges, [np.array(level) for level in levels], np.array(radius), seed=1, gap=2.0)
    every = [getattr(found, name) for name in found.__dataclass_fields__]
    shown = [_show(one) if isinstance(one, np.ndarray) else list(map(_show, one)) for one in every]
    return [shown, layout.find_backbone(edges)]


def mix(n: int, groups: int, k: int, starts: int = 2) -> Any:
    """A mixture for so many rows about so many middles, and which rows are whose."""
    x = _rows(n, groups)
    found = mixtures.fit_mixture(x, k, starts=starts)
    soft = mixtures.assign_softly(found, x, 0.02)
    return [
        _show(found.weights), _show(found.means), _show(found.variances), len(found.trace), _show(found.trace[-1]),
        found.assign(x), soft, _show(found.bic(x)), _show(mixtures.of_labels(x, np.arange(n) % groups).variances),
        mixtures.nearest_mean(x, found.means),
    ]  # fmt: skip


def choose_count(n: int, groups: int) -> int:
    """How many components fit so many rows about so many middles best."""
    return mixtures.choose_k(_rows(n, groups), starts=1)


def cluster(n: int, groups: int, size: int, start: Sequence[int] | None = None, worst: float = 9.0) -> Any:
    """Clusters of rows of a size."""
    before = None if start is None else np.array(start)
    found = meaning.cluster_rows(_rows(n, groups), size, start=before, worst=worst)
    scatter = meaning.measure_scatter(_rows(n, groups), found.labels)
    return [found.labels, found.kept, found.afresh, _show(scatter)]


def reduce(n: int, groups: int, dims: int) -> Any:
    """Rows with fewer columns."""
    return _show(reduction.reduce_dimensions(_rows(n, groups, 6), dims))


def communities(nodes: int, links: Sequence[Link], settings: dict[str, Any]) -> Any:
    """The hierarchy of communities, the flat partition and how good it is."""
    edges = _edges(nodes, links)
    tree = clustering.hierarchical_leiden(edges, **settings)
    kind = settings.get("quality", "modularity")
    flat = clustering.leiden(edges, quality=kind)
    return [
        [[int(d), int(p), tree.of(i)] for i, (d, p) in enumerate(zip(tree.depth, tree.parent, strict=True))], flat,
        _show(clustering.partition_quality(edges, flat, 0.7, kind)),
    ]  # fmt: skip


def update_communities(nodes: int, before: Sequence[Link], after: Sequence[Link], mapping: Sequence[int]) -> Any:
    """The hierarchy of a graph that was another before."""
    old, new = _edges(nodes, before), _edges(max(mapping) + 2, after)
    tree = clustering.hierarchical_leiden(old, max_cluster_size=3)
    start = clustering.carry_tree(tree, old, new, np.array(mapping))
    made = clustering.hierarchical_leiden(new, max_cluster_size=3, previous=start)
    changed = [getattr(start, name) for name in start.__dataclass_fields__][1:]
    return [changed, [[int(d), made.of(i)] for i, d in enumerate(made.depth)]]


def prune(groups: Sequence[Sequence[int]], concepts: int, rule: dict[str, Any]) -> Any:
    """What is kept of the concepts that groups share."""
    start, held = np.cumsum([0, *map(len, groups)]), np.array([c for g in groups for c in g], np.int64)
    found = cooccurrence.prune_concepts(start, held, concepts, cooccurrence.Pruning(**rule))
    edges = [found.edges.source, found.edges.target, found.edges.weight]
    return [found.kept, edges, found.hubs, found.light, found.sparse, found.extent]


def search(
    concepts: Sequence[Sequence[int]], homes: Sequence[Sequence[int]], parent: Sequence[int],
    document: Sequence[int], relevant: Sequence[int], pace: dict[str, int], same: Sequence[int] | None = None,
) -> Any:  # fmt: skip
    """Which chunks a search on a budget tests, in the order of their numbers, and what it finds."""
    count, depths = len(concepts), len(homes[0]) if homes else 1
    start, held = np.cumsum([0, *map(len, concepts)]), np.array([c for own in concepts for c in own], np.int64)
    terrain = deepening.Terrain(
        start, held, np.array(homes, np.int64).reshape(len(homes), depths), np.array(parent, np.int64),
        np.array(document), np.array(same if same is not None else range(count)),
    )  # fmt: skip
    asked: list[list[int]] = []

    def test(chunks: Sequence[int]) -> list[bool]:
        asked.append(list(chunks))
        return [chunk in relevant for chunk in chunks]

    found = deepening.search_on_budget(terrain, np.arange(count), deepening.Pace(**pace), test)
    ranked = [deepening.rank_communities(terrain, np.arange(count)[::-1], depth, 2) for depth in range(terrain.depths)]
    return [found, asked, ranked, deepening.group_by_community(terrain, list(range(count)))]


def find_words(texts: Sequence[str], query: str, top: int) -> Any:
    """How well texts fit the words of a query, by several measures, and which words hold a part."""
    rows = [text.split() for text in texts]
    asked = query.split()
    found = full_text.Bm25.build(rows)
    hits = [[place, near, _show(score)] for place, (near, score) in found.hits(asked)]
    near, score = found.top(asked, top)
    parts = full_text.WordRows.build(rows)
    return [
        _show(found.score(asked)), hits, near, _show(score), [_show(found.idf(w)) for w in asked],
        [found.count(w) for w in asked], _show(tfidf.Tfidf.build(rows).score(asked)),
        [parts.find(f"{before}{word}{behind}") for word in asked for before in ("", "\n") for behind in ("", "\n")],
    ]  # fmt: skip


def pair_words(texts: Sequence[str], least: float, top: int) -> Any:
    """Which texts are alike by their words."""
    found = similar.similar_words([text.split() for text in texts], least, top)
    return [found.one, found.other, _show(found.similarity)]


def pair_rows(n: int, groups: int, least: float, top: int) -> Any:
    """Which rows are alike."""
    rows = _rows(n, groups).astype(np.float32)
    found = similar.similar_rows(rows / np.linalg.norm(rows, axis=1, keepdims=True), least, top)
    return [found.one, found.other, _show(found.similarity)]


def pair_by_keys(keys: Sequence[tuple[int, int, float]], count: int, most: int, near: int) -> Any:
    """Which rows share keys, given as key, row and weight."""
    key, row, weight = (np.array(column) for column in zip(*keys, strict=True))
    units = np.round(weight * similar.GRID).astype(np.int32)
    found = similar.group_by_keys(key, row, units, count=count, most=most).pair(near)
    pairs = found.pairs
    return [pairs.one, pairs.other, _show(pairs.similarity), found.passed_over, found.crowded]


def cut(n: int, least: int, usual: int, most: int) -> Any:
    """Where so many rows are cut, and where keys made of their numbers are."""
    rows = _rows(n, 5).astype(np.float32)
    found = [[one.begin, one.end] for one in segments.cut_segments(np.round(rows * 8) / 8, least, usual, most)]
    keys = [f"{(i * 2654435761) % (1 << 32):08x}" for i in range(n)]
    return [found, [[r.start, r.stop] for r in segments.cut_keys(keys)], len(segments.cut_keys(keys, 16 * n))]


def cut_runs(ends: Sequence[int], least: int, most: int) -> Any:
    """Where the runs of a sequence begin and end."""
    return segments.cut_runs(np.array(ends, np.bool_), least, most)


def walk(nodes: int, links: Sequence[Link], start: Sequence[int], limit: int, damping: float = 0.5) -> Any:
    """Where walks from some nodes come, over all paths and over those around the start."""
    one, other, weight = zip(*links, strict=True)
    paths = walks.build_paths(one, other, weight, nodes)
    at, mass = np.array(start), np.full(len(start), 1 / len(start))
    here, share = walks.walk_with_restart(paths, at, mass, damping, 4)
    near = walks.neighbourhood(paths, at, mass, damping, limit)
    part = walks.restrict_paths(paths, near)
    reset = np.zeros(nodes)
    reset[at] = 1
    ranked = walks.pagerank(walks.build_moves(one, other, weight, nodes), reset, damping, 4)
    return [here, _show(share), near, part.start, part.to, _show(part.share), _show(ranked)]


def take_apart(nodes: int, links: Sequence[Link], labels: Sequence[int]) -> Any:
    """A graph in another order: what belongs together, its parts, and how good a partition is."""
    edges = _edges(nodes, links)
    whole = graphs.build_adjacency(edges)
    part, kept = graphs.induce_subgraph(whole, np.array(labels))
    quality = graphs.modularity(edges, np.array(labels) + 1, 0.9)
    return [
        [edges.source, edges.target, _show(edges.weight)], graphs.label_components(edges), _show(whole.strength),
        whole.rows, part.rows, _show(part.strength), kept, _show(quality),
    ]  # fmt: skip
