"""Approximate neighbours against exact ones: what they miss, and what they save.

    python bench/neighbours.py [--data DIR] [--sets musique …] [--dim 256] [--rows 100000] [--top 10] [--most 200]

For the passages of the sets as the offline embedder sees them, and for random points around 1,000 centres (which stand
for more vectors than the sets have), prints the CPU seconds and the megabytes of the graph, the CPU milliseconds of
the first search, which opens it, of a search without it, and of one with it, and the share of the true neighbours that
it finds. Needs the extra `ann`.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sensegraph.algorithms.approximate import Navigator, navigation
from sensegraph.algorithms.ranking import nearest
from sensegraph.embedders.local import HashedTerms

SETS = ("musique", "2wiki", "hotpotqa")


def texts_of(folder: Path) -> tuple[list[str], list[str]]:
    """Passages and questions."""
    passages, questions = (list(map(json.loads, (folder / f"{n}.jsonl").open())) for n in ("corpus", "queries"))
    return [f"{p.get('title', '')}\n{p['text']}".strip() for p in passages], [q["text"] for q in questions]


def read(data: Path, sets: list[str], dim: int) -> tuple[np.ndarray, np.ndarray]:
    """The vectors of all passages, and of all questions."""
    found = [texts_of(data / name) for name in sets]
    embedder = HashedTerms(dim)
    rows = embedder.embed([p for passages, _ in found for p in passages], "document")
    return rows, embedder.embed([q for _, questions in found for q in questions], "query")


def clustered(rows: int, asked: int, dim: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors around 1,000 random centres, and queries drawn alike."""
    random = np.random.default_rng(0)
    centres = random.standard_normal((1000, dim)).astype(np.float32)
    points = centres[random.integers(0, 1000, rows + asked)]
    points += 0.7 * random.standard_normal(points.shape).astype(np.float32)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points[:rows], points[rows:]


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.process_time()
    found = call()
    return time.process_time() - begun, found


def measure(name: str, rows: np.ndarray, queries: np.ndarray, top: int) -> None:
    built, graph = timed(lambda: navigation(rows))
    opened, navigator = timed(lambda: Navigator(rows, graph))
    opened += timed(lambda: navigator.nearest(queries[0], top))[0]
    exact_s, exact = timed(lambda: [nearest(rows, q, top)[0] for q in queries])
    near_s, near = timed(lambda: [navigator.nearest(q, top).positions for q in queries])
    true = [set(found.tolist()) for found in exact]
    share = sum(len(t & set(f.tolist())) for t, f in zip(true, near, strict=True)) / max(1, sum(map(len, true)))
    each = 1000 / len(queries)
    print(
        f"{name:<10} {len(rows):>9,} × {rows.shape[1]:<5} graph {built:7.1f} s {graph.nbytes / 1e6:7.1f} MB   "
        f"first {1000 * opened:.0f} ms   "
        f"exact {exact_s * each:7.2f} ms   approximate {near_s * each:6.2f} ms   found {100 * share:5.1f} %",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--dim", type=int, default=256)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--top", type=int, default=10)
    parser.add_argument("--most", type=int, default=200, help="queries")
    args = parser.parse_args()
    if args.sets:
        rows, queries = read(args.data, args.sets, args.dim)
        measure("passages", rows, queries[:: max(1, len(queries) // args.most)][: args.most], args.top)
    if args.rows:
        measure("clusters", *clustered(args.rows, args.most, args.dim), args.top)


if __name__ == "__main__":
    main()
