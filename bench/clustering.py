"""What hierarchical Leiden costs, what it finds, and how little an update changes.

    python bench/clustering.py                  10,000 and 100,000 nodes, then updates
    python bench/clustering.py --big            1,000,000 nodes too
    python bench/clustering.py --iterations 10  with a fixed number of Leiden's cycles

Graphs are planted partitions with power-law degrees and community sizes 10 to 1,000, 30 % of the edges between
communities; they are drawn here, so no data is read. Each size runs in a process of its own, whose peak memory above
the drawn graph is reported. CPU is that of `hierarchical_leiden` alone, the canonical form is named apart.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.clustering import carry_tree, hierarchical_leiden
from sensegraph.algorithms.graphs import Edges, build_adjacency, canonical_edges, modularity, smallest_members
from sensegraph.algorithms.trees import Tree, project

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]


def planted(nodes: int, degree: float, mixing: float, seed: int) -> Pairs:
    """Ends of the edges of a degree-corrected planted partition; duplicates and loops are left in."""
    rng = np.random.default_rng(seed)
    sizes = np.minimum(10 / (1 - 0.99 * rng.random(nodes // 10 + 1)), 1000).astype(np.int64)
    group = np.repeat(np.arange(len(sizes)), sizes)[:nodes]
    weight = np.minimum((1 - rng.random(nodes)) ** (-1 / 1.5), 100)
    upto = np.concatenate(([0.0], np.cumsum(weight)))
    first, last = np.searchsorted(group, group), np.searchsorted(group, group, side="right")
    edges = int(nodes * degree / 2)
    a = np.searchsorted(upto, rng.random(edges) * upto[-1], side="right") - 1
    outside = rng.random(edges) < mixing
    low = np.where(outside, 0.0, upto[first[a]])
    high = np.where(outside, upto[-1], upto[last[a]])
    b = np.searchsorted(upto, low + rng.random(edges) * (high - low), side="right") - 1
    return a, np.minimum(b, nodes - 1)


def drawn(nodes: int, degree: float = 9.4, mixing: float = 0.3, seed: int = 1) -> Edges:
    a, b = planted(nodes, degree, mixing, seed)
    return canonical_edges(a, b, np.ones(len(a)), nodes)


def disconnected(edges: Edges, labels: NDArray[np.int32]) -> int:
    """Components beyond one a community."""
    inner = labels[edges.source] == labels[edges.target]
    root = smallest_members(edges.source[inner], edges.target[inner], edges.nodes)
    return len(np.unique(root)) - len(np.unique(labels))


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def size_row(nodes: int, iterations: int | None) -> str:
    a, b = planted(nodes, 9.4, 0.3, 1)
    before, begun = peak_mb(), time.process_time()
    edges = canonical_edges(a, b, np.ones(len(a)), nodes)
    built = time.process_time()
    tree = hierarchical_leiden(edges, iterations=iterations)
    done, memory = time.process_time(), peak_mb() - before
    torn = sum(disconnected(edges, project(tree, d)) for d in range(tree.depths))
    leaves = np.setdiff1d(np.arange(len(tree)), tree.parent)
    shape = "/".join(map(str, np.bincount(tree.depth)))
    quality = modularity(edges, project(tree, 0))
    return (
        f"{nodes:>9,} {len(edges.weight):>10,} {built - begun:>7.2f} {done - built:>7.2f} {memory:>7.0f} "
        f"{quality:.4f} {torn:>5} {tree.sizes[leaves].max():>8}  {shape}"
    )


def document(edges: Edges, added: int, seed: int) -> Edges:
    """`edges` after a document: edges among a neighbourhood, one new node in ten edges, as many from elsewhere."""
    rng = np.random.default_rng(seed)
    rows, pool = build_adjacency(edges), [int(rng.integers(edges.nodes))]
    for v in pool:
        near = rows.indices[rows.indptr[v] : rows.indptr[v + 1]].tolist()
        pool += [u for u in near if u not in pool][: max(0, added // 3 - len(pool))]
    new = max(added // 10, 1)
    ends = np.array([*pool, *rng.integers(edges.nodes, size=new), *range(edges.nodes, edges.nodes + new)])
    a, b = rng.choice(ends, added), rng.choice(ends, added)
    columns = (np.concatenate(x) for x in ((edges.source, a), (edges.target, b), (edges.weight, np.ones(added))))
    return canonical_edges(*columns, edges.nodes + new)


def share_changed(tree: Tree, old: Tree, changed: NDArray[np.bool_]) -> float:
    """The share of communities that the earlier tree did not have, with the same inner edges."""
    known = {old.of(i).tobytes() for i in np.flatnonzero(~changed)}
    return float(np.mean([tree.of(i).tobytes() not in known for i in range(len(tree))]))


def update_row(degree: float, mixing: float, added: int, repeats: int) -> str:
    """Means over documents: changed by necessity, changed by the update, by a fresh run; ratio of modularities; CPU."""
    before = drawn(8_000, degree, mixing)
    old, figures = hierarchical_leiden(before), []
    for seed in range(repeats):
        after = document(before, added, seed)
        begun = time.process_time()
        start = carry_tree(old, before, after, np.arange(before.nodes))
        tree = hierarchical_leiden(after, previous=start)
        cpu, fresh = time.process_time() - begun, hierarchical_leiden(after)
        ratio = modularity(after, project(tree, 0)) / modularity(after, project(fresh, 0))
        shares = [100 * share_changed(t, start.tree, start.changed) for t in (tree, fresh)]
        figures.append((100 * float(start.changed.mean()), *shares, ratio, cpu))
    table = np.array(figures)
    must, changed, afresh, _, cpu = table.mean(axis=0)
    return (
        f"{len(before.weight):>7,} {len(old):>7,} {added:>6} {must:>7.2f} {changed:>7.2f} {table[:, 1].max():>7.2f} "
        f"{afresh:>7.1f} {table[:, 3].mean():>8.4f} {table[:, 3].min():>8.4f} {cpu:>7.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--big", action="store_true", help="1,000,000 nodes too")
    parser.add_argument("--iterations", type=int, default=None, help="Leiden's cycles; by default chosen by size")
    parser.add_argument("--repeats", type=int, default=10, help="documents a row of the table of updates")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(size_row(args.one, args.iterations))
        return
    print("    nodes      edges canon_s   cpu_s      MB      Q  torn max_leaf  communities by depth", flush=True)
    for nodes in (10_000, 100_000, *((1_000_000,) if args.big else ())):
        more = ["--iterations", str(args.iterations)] if args.iterations else []
        subprocess.run([sys.executable, __file__, "--one", str(nodes), *more], check=True)
    print("\nUpdates of a graph of 8,000 nodes by one document: % of communities that change, Q against a fresh run")
    print("  edges communs  edits    must changed   worst   fresh   Q mean    Q min   cpu_s")
    for degree, mixing in ((4.0, 0.3), (4.0, 0.6)):
        for added in (10, 50, 200):
            print(update_row(degree, mixing, added, args.repeats), flush=True)


if __name__ == "__main__":
    main()
