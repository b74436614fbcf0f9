"""What exact search and BM25 cost.

    python bench/ranking.py                  100,000 rows of 384 numbers, 100,000 documents of 60 words
    python bench/ranking.py --rows 1000000

Vectors are random and lie in a memory-mapped file; words are drawn from Zipf's law. No data is read. CPU in seconds,
memory is the peak of the process above what it held before.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sensegraph.algorithms.full_text import Bm25
from sensegraph.algorithms.ranking import find_nearest_rows, nearest_each


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def vectors(rows: int, folder: str) -> np.ndarray:
    file = Path(folder) / "vectors.npy"
    mapped = np.lib.format.open_memmap(file, mode="w+", dtype=np.float32, shape=(rows, 384))
    rng = np.random.default_rng(0)
    for begin in range(0, rows, 10_000):
        block = rng.normal(size=(min(10_000, rows - begin), 384))
        mapped[begin : begin + 10_000] = block / np.linalg.norm(block, axis=1, keepdims=True)
    mapped.flush()
    del mapped
    return np.load(file, mmap_mode="r")


def texts(count: int) -> Iterator[list[str]]:
    rng = np.random.default_rng(0)
    for _ in range(count):
        yield [f"w{number}" for number in rng.zipf(1.3, 60).tolist()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        matrix = vectors(args.rows, folder)
        queries = np.array(matrix[:100])
        find_nearest_rows(matrix, queries[0], 10)
        for name, call in (
            ("nearest, one query", lambda: [find_nearest_rows(matrix, q, 10) for q in queries[:10]]),
            ("nearest, 100 at once", lambda: nearest_each(matrix, queries, 10)),
        ):
            begun, wall = time.process_time(), time.perf_counter()
            count = len(call())
            cpu, wall = (time.process_time() - begun) / count, (time.perf_counter() - wall) / count
            print(f"{name:<24} {args.rows:>9,} rows: {1000 * cpu:>7.2f} ms CPU, {1000 * wall:>7.2f} ms a query")
    held, begun = peak_mb(), time.process_time()
    index = Bm25.build(texts(args.rows))
    print(f"{'BM25, drawing and build':<24} {args.rows:>9,} texts: {time.process_time() - begun:>6.1f} s CPU, ", end="")
    (made,) = index.segments
    print(f"{len(made.counts):,} postings, {len(made.words):,} words, {max(0.0, peak_mb() - held):.0f} MB")
    asked = list(texts(50))
    begun = time.process_time()
    for text in asked:
        index.top(text[:6], 10)
    spent = 1000 * (time.process_time() - begun) / len(asked)
    print(f"{'BM25, six words':<24} {args.rows:>9,} texts: {spent:>7.2f} ms CPU a query")


if __name__ == "__main__":
    main()
