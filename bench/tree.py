"""What the tree of RAPTOR takes: CPU of its parts, memory, its shape, at several sizes.

    python bench/tree.py [--data DIR] [--corpus NAME] [--shares 4,2,1] [--threads 1] [--children 7]

Each row is a process of its own over the first part of a corpus (`podcast` by default: about a million tokens),
offline, with default settings: leaves, summaries by layer, members of a group, groups that a leaf is in, CPU seconds of
leaves, vectors, groups and summaries, and the process's peak of memory. Under the rows the exponent with which CPU of
the groups grows with the leaves. BLAS has `--threads` threads: the decompositions are so small that more only wait.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from client import chosen, options, table
from sensegraph.documents import load
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.index.chunks import chunk_documents
from sensegraph.methods.raptor.growing import Grower
from sensegraph.methods.raptor.tree import TreeSettings, leaf_texts, make_leaves
from sensegraph.models.embedders import HashedTerms
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.runtime.runtime import Runtime


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--shares", default="4,2,1", help="one part of so many of the corpus, row by row")
    parser.add_argument("--threads", default="1", help="threads of BLAS")
    parser.add_argument("--children", type=int, default=TreeSettings().children, help="nodes of a group, about")
    parser.add_argument("--one", help="only one part of so many, in this process, as JSON")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(chosen(given), int(given.one), TreeSettings(children=given.children))))
        return
    rows = [alone(share, given.threads) for share in given.shares.split(",")]
    table(list(rows[0]), [list(map(shown, row.values())) for row in rows])
    for one, other in pairwise(rows):
        grown = math.log(other["groups s"] / one["groups s"]) / math.log(other["leaves"] / one["leaves"])
        print(f"from {one['leaves']} to {other['leaves']} leaves, groups: CPU grows as n^{grown:.2f}")


def alone(share: str, threads: str) -> dict[str, Any]:
    """One part, measured in a process of its own."""
    command = [sys.executable, *sys.argv, "--one", share]
    run = subprocess.run(
        command, env={**os.environ, "OPENBLAS_NUM_THREADS": threads}, check=True, stdout=subprocess.PIPE, text=True
    )
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def shown(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


class Clock:
    """CPU seconds by name."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    def __call__(self, name: str, work: Callable[[], Any]) -> Any:
        before = time.process_time()
        found = work()
        self.spent[name] = self.spent.get(name, 0.0) + time.process_time() - before
        return found


def measured(path: Path, share: int, settings: TreeSettings) -> dict[str, Any]:
    """Grow the tree over the first part of a corpus."""
    documents = load([path]).documents
    cut = chunk_documents.fn(documents[: max(1, len(documents) // share)], size=600, overlap=100)
    chunks = [c for found in cut for c in found]
    clock, embedder, engine = Clock(), HashedTerms(), ClassicalEngine()
    found = clock("leaves", lambda: make_leaves.fn([chunks], size=settings.leaf_tokens)[0])

    def near(texts: Sequence[str]) -> Any:
        return clock("vectors", lambda: embedder.embed(texts, "document"))

    rt = Runtime(engine, embedder, None, LocalExecutor(1, 1))  # type: ignore[arg-type]
    grower = Grower(rt, settings, chunks, lambda briefs: clock("summaries", lambda: engine.condense(briefs)), near)
    nodes, vectors = grower.leaves(found), near(leaf_texts(found, chunks))
    others, before = sum(clock.spent.values()), time.process_time()
    grown = grower.grown(nodes, vectors)
    groups = time.process_time() - before - (sum(clock.spent.values()) - others)
    layers = [sum(c.level == level for c in grown.clusters) for level in range(1 + grown.clusters[0].level)]
    asked = [c for c in grown.clusters if not c.promoted]
    return {
        "leaves": len(found.leaves),
        "tokens": sum(leaf.tokens for leaf in found.leaves),
        "summaries": "+".join(map(str, layers)),
        "asked": len(asked),
        "members": float(np.mean([len(c.members) for c in asked])),
        "groups a leaf": sum(len(c.members) for c in grown.clusters if c.level == 0) / len(found.leaves),
        **{f"{name} s": spent for name, spent in clock.spent.items()},
        "groups s": groups,
        "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


if __name__ == "__main__":
    main()
