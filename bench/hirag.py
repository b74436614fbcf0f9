"""HiRAG beside BM25: its layers, recall of the judged documents with paired intervals, and what it costs.

    python bench/hirag.py [--data DIR] [--keep DIR] [--set NAME …] [--full]

Each set is indexed offline (kept in `--keep`, so that a second run is quick). Above each table: how many entities each
layer has, the sparsity of the clusters below each, how many clusters are summed up and communities of several entities
reported on (calls, with a model), and the share of pairs of entities that a way of relations joins, without layers and
with them. A row is a mode or setting: recall at 2, 5 and 10, CPU milliseconds and context tokens for
one question, the entities of higher layers among those read, and, for recall at 5, the difference to BM25 in points
with its 95 % interval over 2,000 paired resamplings. `--full` adds more settings.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from client import options, sensegraph, source, table
from hybrid import CUTS, questions, recall, versus
from sensegraph.algorithms.graphs import smallest_members
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.index import Index
from sensegraph.methods import load_method
from sensegraph.methods.hirag.layered import keep_layer_keys
from sensegraph.methods.hirag.layers import keep_layers
from sensegraph.methods.hirag.layers_part import LAYERS
from sensegraph.runtime.results import recall_result as recalled
from sensegraph.types import Question

SETS = ("carol", "lihua-world", "multihop-news", "musique", "hotpotqa")
ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "bm25": ("bm25", {}),
    "naive": ("naive", {}),
    **{mode: ("hirag", {"mode": mode}) for mode in ("hirag", "hi_nobridge", "hi_local", "hi_global", "hi_bridge")},
    "flat": ("hirag", {"mode": "flat"}),
}
MORE: dict[str, tuple[str, dict[str, Any]]] = {
    "by = vectors": ("hirag", {"by": "vectors"}),
    "by = vectors, cosine_floor = 0": ("hirag", {"by": "vectors", "cosine_floor": 0.0}),
    "order = shared": ("hirag", {"order": "shared"}),
    "order = shared, by = vectors": ("hirag", {"order": "shared", "by": "vectors"}),
    "path_only": ("hirag", {"path_only": True}),
    "top = 10": ("hirag", {"top": 10}),
    "top = 40": ("hirag", {"top": 40}),
}


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--keep", help="folder for the indexes; without it they go again")
    parser.add_argument("--set", action="append", choices=SETS, dest="sets")
    parser.add_argument("--full", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in given.sets or SETS:
            shown(name, Path(given.data) / name, Path(given.keep or folder) / name, ROWS | (MORE if given.full else {}))


def shown(name: str, data: Path, root: Path, rows: dict[str, tuple[str, dict[str, Any]]]) -> None:
    """Print the table of one set."""
    if not (root / ".sensegraph").is_dir():
        both = ("--method", "hirag", "--method", "graphrag")
        run = sensegraph("index", str(source(data)), "--root", str(root), "--quiet", *both)
        if run.code:
            sys.exit(f"index ended with {run.code}: {run.err}")
    judged = questions(data)
    with Corpus.open(root) as corpus:
        index, rt = corpus.index(), corpus.runtime()
        print(f"\n{name}: {len(judged)} questions, {index.manifest.counts}; {built(index, corpus)}")
        found: dict[str, Any] = {}
        for row, (method, settings) in rows.items():
            made = load_method(method, **settings)
            made.retrieve(Question("What is Ada Lovelace known for?"), index, rt)
            before = time.process_time()
            evidence = [made.retrieve(Question(text), index, rt) for text, _ in judged]
            spent = 1000 * (time.process_time() - before) / len(judged)
            recalls = np.array(
                [
                    [recall(e.documents, gold, cut) for cut in CUTS]
                    for e, (_, gold) in zip(evidence, judged, strict=True)
                ]
            )
            above = {e.id for e in index.part(LAYERS).graph.entities if e.level}
            higher = np.mean([sum(p.id in above for p in e.passages) for e in evidence])
            found[row] = recalls, spent, float(np.mean([e.tokens for e in evidence])), float(higher)
    bm25 = found["bm25"][0]
    table(
        ["", "R@2", "R@5", "R@10", "R@5 − bm25", "CPU ms", "tokens", "summary entities"],
        [
            [row, *(f"{x:.1f}" for x in r.mean(0)), versus(r, bm25), f"{spent:.1f}", f"{size:,.0f}", f"{higher:.1f}"]
            for row, (r, spent, size, higher) in found.items()
        ],
    )


def built(index: Index, corpus: Corpus) -> str:
    """The sizes of layers, the sparsity below them, and how far the graph hangs together."""
    made = recalled(corpus.store, keep_layer_keys, index.manifest.parts["layers"].key)
    found = recalled(corpus.store, keep_layers, made.layers)
    sparse = ", ".join(f"{x:.3f}" for x in found.sparsity)
    summed = sum(len(g.members) > 1 for g in found.groups)
    alone, both = ([len(c.entities) > 1 for c in i.hierarchy.clusters] for i in (index, index.part(LAYERS)))
    calls = f"{summed} clusters summed up, {sum(both)} reports ({sum(alone)} without layers)"
    joined = f"pairs joined: {pairs(index):.1%} without layers, {pairs(index.part(LAYERS)):.1%} with them"
    return f"layers of {', '.join(map(str, found.sizes))} entities; sparsity {sparse}; {calls}; {joined}"


def pairs(index: Index) -> float:
    """The share of pairs of level-0 entities that are in one component."""
    lookups, n = index.lookups, len(index.lookups.start) - 1
    row = np.repeat(np.arange(n, dtype=np.int32), np.diff(lookups.start))
    root = smallest_members(row, np.asarray(lookups.neighbours), n)
    own = np.array([i for i, e in enumerate(index.graph.entities) if not e.level])
    sizes = np.unique(root[own], return_counts=True)[1].astype(float)
    return float((sizes * (sizes - 1)).sum() / max(1, len(own) * (len(own) - 1)))


if __name__ == "__main__":
    main()
