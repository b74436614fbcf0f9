"""Approximate neighbours against exact ones: what they miss, and what they save.

    python bench/neighbours.py [--data DIR] [--sets musique …] [--dim 256] [--rows 200000 1000000] [--top 10 100]

For the passages of the sets as the offline embedder sees them, and for random points around one centre for each
thousand of them (which stand for more vectors than the sets have): the CPU seconds in which graphs are built and an
update of one row builds anew what it must, and the megabytes of vectors and graphs on disk; then, in a process that
maps these, the CPU and the memory that opening the graphs takes, and for each depth the CPU milliseconds of an exact
and an approximate search, and the share of the true neighbours that the latter finds. Needs the extra `ann`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sensegraph.algorithms.approximate import Navigator, build_navigation
from sensegraph.algorithms.ranking import find_nearest_rows
from sensegraph.algorithms.segments import cut_segments
from sensegraph.models.embedders import HashedTerms

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
    """Unit vectors around random centres, a thousand for each, and queries drawn alike."""
    random = np.random.default_rng(0)
    centres = random.standard_normal((-(-rows // 1000), dim), np.float32)
    points = centres[random.integers(0, len(centres), rows + asked)]
    for begin in range(0, len(points), 10_000):
        points[begin : begin + 10_000] += 0.7 * random.standard_normal(points[begin : begin + 10_000].shape, np.float32)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points[:rows], points[rows:]


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.process_time()
    found = call()
    return time.process_time() - begun, found


def build(name: str, rows: np.ndarray, queries: np.ndarray, folder: Path) -> None:
    """Build the graphs, leave everything in `folder`, and print what that took."""
    cut_s, parts = timed(lambda: cut_segments(rows))
    took = [
        timed(lambda p=p: np.save(folder / f"{p.begin}.npy", build_navigation(rows[p.begin : p.end]))) for p in parts
    ]
    np.save(folder / "rows.npy", rows)
    np.save(folder / "queries.npy", queries)
    changed = cut_segments(np.delete(rows, len(rows) // 2, axis=0))
    anew = {p.digest for p in changed} - {p.digest for p in parts}
    again = sum(p.end - p.begin for p in changed if p.digest in anew)
    size = sum((folder / f"{p.begin}.npy").stat().st_size for p in parts)
    print(
        f"{name}: {len(rows):,} × {rows.shape[1]}, {rows.nbytes / 1e6:,.0f} MB; {len(parts)} graphs, {size / 1e6:,.0f} "
        f"MB, built in {sum(s for s, _ in took):,.1f} CPU s (cutting {cut_s:.1f}); one row less: {again:,} rows anew",
        flush=True,
    )


def memory() -> dict[str, float]:
    """Megabytes of this process: of its own (Anon), and of files that it maps, which can go again (File)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return {line[3:7]: int(line.split()[1]) / 1000 for line in lines if line.startswith(("RssAnon", "RssFile"))}


def ask(folder: Path, tops: list[int]) -> None:
    """Open what `build` left, and search."""
    rows, queries = (np.load(folder / f"{n}.npy", mmap_mode="r") for n in ("rows", "queries"))
    begins = sorted(int(p.stem) for p in folder.glob("[0-9]*.npy"))
    navigator = Navigator(rows, [(b, np.load(folder / f"{b}.npy", mmap_mode="r")) for b in begins])
    import usearch.index  # noqa: F401  # loading the library is no graph's cost

    before = memory()
    first, _ = timed(lambda: navigator.nearest(queries[0], 1))
    grown = {kind: size - before[kind] for kind, size in memory().items()}
    print(
        f"  opened in {1000 * first:.0f} CPU ms; memory {grown['Anon']:,.0f} MB, mapped {grown['File']:,.0f} MB",
        flush=True,
    )
    for top in tops:
        exact_s, exact = timed(lambda top=top: [find_nearest_rows(rows, q, top)[0] for q in queries])
        near_s, near = timed(lambda top=top: [navigator.nearest(q, top)[0] for q in queries])
        true = [set(found.tolist()) for found in exact]
        share = sum(len(t & set(f.tolist())) for t, f in zip(true, near, strict=True)) / max(1, sum(map(len, true)))
        each = 1000 / len(queries)
        print(
            f"  top {top:<5} exact {exact_s * each:7.2f} ms   approximate {near_s * each:7.2f} ms   "
            f"found {100 * share:5.1f} %   {'used' if navigator.helps(top) else 'not used: reading all takes less'}",
            flush=True,
        )


def measure(name: str, rows: np.ndarray, queries: np.ndarray, tops: list[int]) -> None:
    with tempfile.TemporaryDirectory() as made:
        build(name, rows, queries, Path(made))
        asked = [sys.executable, __file__, "--ask", made, "--top", *map(str, tops)]
        subprocess.run(asked, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--dim", type=int, default=256)
    parser.add_argument("--rows", type=int, nargs="*", default=[200_000, 1_000_000])
    parser.add_argument("--top", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--most", type=int, default=200, help="queries")
    parser.add_argument("--ask", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.ask:
        ask(args.ask, args.top)
        return
    if args.sets:
        rows, queries = read(args.data, args.sets, args.dim)
        measure("passages", rows, queries[:: max(1, len(queries) // args.most)][: args.most], args.top)
    for count in args.rows:
        measure("clusters", *clustered(count, args.most, args.dim), args.top)


if __name__ == "__main__":
    main()
