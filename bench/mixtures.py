"""Clusters by meaning: what they cost, what they find, how cost grows, and how little an update changes.

    python bench/mixtures.py [--data DIR] [--sizes 5000 20000 80000] [--cluster-size 20]

Points stand around n / 20 random centres in 64 columns and are reduced to 32, so that neighbouring centres overlap.
Each size runs in a process of its own, in one thread; peak memory is what it takes above the points, in MB. CPU is of
the reduction, of one level, and of all levels up to the root, whose rows are the means of the clusters below. ARI is
agreement with the centres (1: the same partition), for the clusters and, up to 5,000 points, for one plain mixture of
n / 20 components. `single` are clusters of one row. Then the cost of all levels by n log n, and the
exponent e of growth (cost as nᵉ) from the first size to the last; n log n would have 1.1.

Then updates: points that come in documents of 1 %, near one point each or anywhere, and the share of clusters that stay
member for member; and a corpus that doubles by such documents, whose scatter (the share of variance inside clusters) is
compared with a fresh division. Then the passages of some sets as the offline embedder sees them, with the number of
components by BIC of the first 500. scikit-learn and UMAP are timed beside, where they are installed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from client import options
from sensegraph.algorithms.meaning import cluster_rows, measure_scatter
from sensegraph.algorithms.mixtures import choose_k, fit_mixture
from sensegraph.algorithms.reduction import reduce_dimensions
from sensegraph.models.embedders import HashedTerms

SETS = ("musique", "2wiki", "hotpotqa", "multihop-news")
PLAIN = 5_000  # points up to which one plain mixture is fitted too
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def around(rows: int, size: int, columns: int = 64, spread: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """Points and the number of the centre of each."""
    random = np.random.default_rng(0)
    centres, which = random.standard_normal((rows // size, columns)), random.integers(0, rows // size, rows)
    points = centres[which] + spread * random.standard_normal((rows, columns))
    return points.astype(np.float32), which


def agreement(one: np.ndarray, other: np.ndarray) -> float:
    """The adjusted Rand index (Hubert and Arabie 1985)."""
    pairs = [
        sum(c * (c - 1) / 2 for c in Counter(x).values())
        for x in (zip(one.tolist(), other.tolist(), strict=True), one.tolist(), other.tolist())
    ]
    expected = pairs[1] * pairs[2] / (len(one) * (len(one) - 1) / 2)
    return (pairs[0] - expected) / ((pairs[1] + pairs[2]) / 2 - expected)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.process_time()
    found = call()
    return time.process_time() - begun, found


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def levels(vectors: np.ndarray, size: int) -> int:
    """Clusters of clusters while there are more than 2 nodes and 5 clusters: LeanRAG's levels. How many there are."""
    count = 0
    while len(vectors) > 2:
        found = cluster_rows(reduce_dimensions(vectors), size)
        if len(found) < 5:
            break
        vectors = np.stack([vectors[rows].mean(axis=0) for rows in found.members()])
        count += 1
    return count + 1


# ── one size, in a process of its own ────────────────────────────────────────────────────────────────────────────────


def one_size(rows: int, size: int) -> dict[str, Any]:
    points, which = around(rows, size)
    before = peak_mb()
    reduction, x = timed(lambda: reduce_dimensions(points))
    level, found = timed(lambda: cluster_rows(x, size))
    whole, depth = timed(lambda: levels(points, size))
    sizes = np.bincount(found.labels)
    row: dict[str, Any] = {"rows": rows, "reduction": reduction, "level": level, "whole": whole, "levels": depth}
    row |= {"memory": peak_mb() - before, "clusters": len(found), "ari": agreement(found.labels, which)}
    row |= {"single": int((sizes == 1).sum()), "quartiles": np.percentile(sizes, [0, 25, 50, 75, 100]).tolist()}
    if rows <= PLAIN:
        cost, mixture = timed(lambda: fit_mixture(x, round(rows / size)))
        row |= {"plain": cost, "plain_ari": agreement(mixture.assign(x), which)}
    return row | others(x, points, rows, size, which)


def others(x: np.ndarray, points: np.ndarray, rows: int, size: int, which: np.ndarray) -> dict[str, Any]:
    """The same by scikit-learn, and UMAP's reduction, where they are installed."""
    found: dict[str, Any] = {}
    if find_spec("sklearn") and rows <= PLAIN:
        from sklearn.mixture import GaussianMixture

        model = GaussianMixture(
            round(rows / size), covariance_type="diag", n_init=5, init_params="k-means++", random_state=0
        )
        cost, labels = timed(lambda: model.fit_predict(x))
        found |= {"scikit-learn": cost, "scikit-learn ARI": agreement(labels, which)}
    if find_spec("umap") and rows <= PLAIN:
        from umap import UMAP

        found["UMAP"] = timed(lambda: UMAP(n_components=2, metric="cosine", random_state=0).fit_transform(points))[0]
    return found


def sizes_table(sizes: list[int], size: int) -> None:
    print(
        "    rows  reduce_s  level_s  levels  all_s     MB  clusters  single  members min/¼/½/¾/max    ARI", flush=True
    )
    rows = []
    for n in sizes:
        command = [sys.executable, __file__, "--one", str(n), "--cluster-size", str(size)]
        env = {**os.environ, **dict.fromkeys(THREADS, "1")}
        row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout)
        rows.append(row)
        shape = "/".join(f"{q:.0f}" for q in row["quartiles"])
        print(
            f"{n:>8,} {row['reduction']:>9.2f} {row['level']:>8.2f} {row['levels']:>7} {row['whole']:>6.2f} "
            f"{row['memory']:>6.0f} {row['clusters']:>9,} {row['single']:>7} {shape:>24} {row['ari']:>6.3f}",
            flush=True,
        )
        if "plain" in row:
            print(f"{'':>8} one plain mixture: {row['plain']:.2f} s, ARI {row['plain_ari']:.3f}")
        for name in ("scikit-learn", "scikit-learn ARI", "UMAP"):
            if name in row:
                print(f"{'':>8} {name}: {row[name]:.2f}")
    each = ", ".join(f"{1e6 * r['whole'] / (r['rows'] * math.log2(r['rows'])):.1f}" for r in rows)
    print(f"all levels, microseconds by n log2 n: {each}")
    if len(rows) > 1:
        a, b = rows[0], rows[-1]
        exponent = math.log(b["whole"] / a["whole"]) / math.log(b["rows"] / a["rows"])
        print(f"from {a['rows']:,} to {b['rows']:,} rows cost grows as n to the power of {exponent:.2f}")


# ── updates ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def documents(x: np.ndarray, rows: int, near: bool, seed: int) -> np.ndarray:
    """Points of a new document: variations of `rows` points around one of `x`, or of points anywhere."""
    random = np.random.default_rng(seed)
    centre = x[random.integers(len(x))]
    closest = np.argsort(((x - centre) ** 2).sum(axis=1), kind="stable")[: 4 * rows]
    like = x[random.choice(closest if near else len(x), rows)]
    return like + 0.1 * x.std(axis=0) * random.standard_normal(like.shape)


def updates(rows: int, size: int) -> None:
    x = reduce_dimensions(around(rows, size)[0])
    before, added = cluster_rows(x, size), rows // 100
    for near, name in ((True, "of one subject"), (False, "from anywhere")):
        shares, cost = [], 0.0
        for seed in range(10):
            joined = np.concatenate((x, documents(x, added, near, seed)))
            start = np.append(before.labels, np.full(added, -1))
            took, after = timed(lambda joined=joined, start=start: cluster_rows(joined, size, start=start))
            shares.append(100 * after.kept / len(before))
            cost += took / 10
        print(
            f"{rows:,} rows, {added} more {name}: {np.mean(shares):.1f} % of the clusters stay "
            f"(least {min(shares):.1f} %); {cost:.2f} CPU s"
        )
    doubled(x, size)


def doubled(x: np.ndarray, size: int) -> None:
    """Start from half of the rows and add the rest in a hundred documents."""
    order = np.argsort(x[:, 0], kind="stable")  # the second half is of other subjects than the first
    x, half = x[order], len(x) // 2
    found = cluster_rows(x[:half], size)
    steps = np.linspace(half, len(x), 101).astype(int)[1:]
    for upto in steps:
        start = np.append(found.labels, np.full(upto - len(found.labels), -1))
        found = cluster_rows(x[:upto], size, start=start)
    fresh = cluster_rows(x, size)
    print(
        f"doubled by 100 documents: {len(found):,} clusters with scatter {measure_scatter(x, found.labels):.4f}, "
        f"afresh {len(fresh):,} with {measure_scatter(x, fresh.labels):.4f}"
    )


# ── passages ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def passages(folder: Path) -> list[str]:
    found = map(json.loads, (folder / "corpus.jsonl").open())
    return [f"{p.get('title', '')}\n{p['text']}".strip() for p in found]


def real(name: str, folder: Path, size: int) -> None:
    vectors = HashedTerms(256).embed(passages(folder), "document")
    reduction, x = timed(lambda: reduce_dimensions(vectors))
    cost, found = timed(lambda: cluster_rows(x, size))
    sizes = np.bincount(found.labels)
    shape = "/".join(f"{q:.0f}" for q in np.percentile(sizes, [0, 25, 50, 75, 100]))
    kept = x.var(axis=0).sum() / vectors.var(axis=0).sum()
    bic_s, k = timed(lambda: choose_k(x[:500]))
    few_s, few = timed(lambda: choose_k(reduce_dimensions(vectors[:500], 10)))
    print(
        f"{name:<14} {len(x):>6,} passages: {reduction:.2f} + {cost:.2f} s; {100 * kept:.0f} % of the variance in "
        f"{x.shape[1]} columns; {len(found):,} clusters, members {shape}, {int((sizes == 1).sum())} single, "
        f"scatter {measure_scatter(x, found.labels):.3f}; BIC of 500: {k} in {bic_s:.2f} s, "
        f"in 10 columns {few} in {few_s:.2f} s",
        flush=True,
    )


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[5_000, 20_000, 80_000])
    parser.add_argument("--cluster-size", type=int, default=20)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(one_size(args.one, args.cluster_size)))
        return
    sizes_table(args.sizes, args.cluster_size)
    print()
    updates(20_000, args.cluster_size)
    print()
    for name in SETS:
        real(name, Path(args.data) / name, args.cluster_size)


if __name__ == "__main__":
    main()
