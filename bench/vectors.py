"""Vectors as they may be stored: their size, what a question costs, and what it finds.

    python bench/vectors.py [--data DIR] [--sets 2wiki …] [--rows 10000 100000] [--dim 1024]

For the passages of each judged set, as the offline embedder sees them: recall@5 of the nearest passages alone, as
`naive` ranks them, with vectors of float32, float16, int16, int8, and as an index stores them (`stored`: int16,
without zeros where these are most). Then megabytes and CPU milliseconds a question,
with segments as an index of so many vectors has them: of words (the passages of all sets, over and over), of which few
numbers of a question are not 0, and random ones, as a model gives them.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from sensegraph.algorithms.ranking import Stack, nearest_each
from sensegraph.algorithms.sparse_rows import SparseRows, pack_sparse
from sensegraph.index.vectors import open_rows, pack_rows
from sensegraph.lab.retrieval.test_collections import read_set
from sensegraph.models.embedders import HashedTerms

FORMS = ("float32", "float16", "int16", "int8", "stored")
SEGMENTS = 32


def stored(rows: np.ndarray, form: str) -> Any:
    """The rows as they would be stored: as one matrix, or in segments."""
    if form.startswith("float"):
        return rows.astype(form)
    size = max(256, len(rows) // SEGMENTS)
    parts = [pack_rows(rows[b : b + size], "int8" if form == "int8" else "int16") for b in range(0, len(rows), size)]
    return Stack([open_rows(pack_sparse(part)) for part in parts] if form == "stored" else parts)


def megabytes(found: Any) -> float:
    parts = found.segments if isinstance(found, Stack) else [found]
    return sum((part.packed if isinstance(part, SparseRows) else part).nbytes for part in parts) / 1e6


def milliseconds(found: Any, queries: np.ndarray) -> float:
    """CPU a question, the least of three rounds."""
    times = []
    for _ in range(3):
        begun = time.process_time()
        for query in queries:
            nearest_each(found, query[None, :], 10)
        times.append((time.process_time() - begun) / len(queries))
    return 1000 * min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--sets", nargs="+", default=["2wiki", "musique", "hotpotqa"])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--dim", type=int, default=1024)
    args = parser.parse_args()
    embedder, words, asked = HashedTerms(args.dim), list[np.ndarray](), list[np.ndarray]()
    for name in args.sets:
        judged = read_set(args.data / name)
        rows = embedder.embed([d.text for d in judged.documents], "document")
        queries = embedder.embed([q.text for q in judged.queries], "query")
        ids, line = [d.id for d in judged.documents], list[str]()
        for form in FORMS:
            shares = []
            for query, (places, _) in zip(judged.queries, nearest_each(stored(rows, form), queries, 5), strict=True):
                shares.append(len(query.gold.keys() & {ids[i] for i in places}) / len(query.gold))
            line.append(f"{form} {100 * float(np.mean(shares)):.2f}")
        print(f"{name}, {len(judged.queries)} questions, recall@5: {', '.join(line)}", flush=True)
        words.append(rows)
        asked.append(queries[:20])
    random = np.random.default_rng(0)
    every = np.concatenate(words)
    for kind, ask in (("words", np.concatenate(asked)), ("random", random.standard_normal((20, args.dim), np.float32))):
        for count in args.rows:
            rows = np.resize(every, (count, args.dim)) if kind == "words" else random.standard_normal((count, args.dim))
            rows = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)).astype(np.float32)
            for form in FORMS:
                found = stored(rows, form)
                spent = through_float16(found, ask) if form == "float16" else milliseconds(found, ask)
                print(f"{count:>9,} {kind:<6} {form:<7} {megabytes(found):>7.1f} MB {spent:>7.2f} ms", flush=True)


def through_float16(found: np.ndarray, queries: np.ndarray) -> float:
    """CPU a question where blocks of float16 are made float32."""
    begun = time.process_time()
    for query in queries[:5]:
        for at in range(0, len(found), 512):
            np.einsum("ij,j->i", found[at : at + 512].astype(np.float32), query)
    return 1000 * (time.process_time() - begun) / 5


if __name__ == "__main__":
    main()
