"""LightRAG and FastGraphRAG beside BM25: recall of the judged documents, with paired intervals, and what it costs.

    python bench/lightrag.py [--data DIR] [--keep DIR] [--set NAME …] [--full]

Each set is indexed offline (kept in `--keep`, so that a second run is quick). A row is a method with settings: recall
at 2, 5 and 10, CPU milliseconds and context tokens for one question, and, for recall at 5, the difference to BM25 in
points with its 95 % interval over 2,000 paired resamplings. `--full` adds more settings. Above each table: how many
tokens the vectors of relations would take of a paid embedder, beside those of the chunks and of the entities.
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
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.index import Index
from sensegraph.index.vectors import entity_texts
from sensegraph.language.text import count_tokens
from sensegraph.methods import load_method
from sensegraph.methods.fastgraphrag.fastgraphrag import ORIGINAL
from sensegraph.methods.lightrag.lightrag import relation_texts
from sensegraph.types import Question

SETS = ("musique", "hotpotqa", "lihua-world", "multihop-news")
ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "bm25": ("bm25", {}),
    "naive": ("naive", {}),
    "lightrag": ("lightrag", {}),
    "lightrag, ranking = vectors": ("lightrag", {"ranking": "vectors"}),
    "lightrag, local": ("lightrag", {"mode": "local"}),
    "lightrag, global": ("lightrag", {"mode": "global"}),
    "lightrag, hybrid": ("lightrag", {"mode": "hybrid"}),
    "lightrag, paper": ("lightrag", {"preset": "paper"}),
    "fastgraphrag": ("fastgraphrag", {}),
    "fastgraphrag 0.0.5": ("fastgraphrag", dict(ORIGINAL)),
}
MORE: dict[str, tuple[str, dict[str, Any]]] = {
    "lightrag, selection = weight": ("lightrag", {"selection": "weight"}),
    "lightrag, keywords = each": ("lightrag", {"keywords": "each"}),
    "lightrag, named = false": ("lightrag", {"named": False}),
    "lightrag, refined = false": ("lightrag", {"refined": False}),
    "lightrag, cosine_floor = 0": ("lightrag", {"cosine_floor": 0.0}),
    "fastgraphrag, edges = weighted": ("fastgraphrag", {"edges": "weighted"}),
    "fastgraphrag, exact = false": ("fastgraphrag", {"exact": False}),
    "fastgraphrag, mention = 0": ("fastgraphrag", {"mention": 0.0}),
    "fastgraphrag, mention = 1": ("fastgraphrag", {"mention": 1.0}),
    "fastgraphrag, identity = none": ("fastgraphrag", {"identity": "none"}),
    "fastgraphrag, identity = vectors": ("fastgraphrag", {"identity": "vectors"}),
    "fastgraphrag, specificity": ("fastgraphrag", {"specificity": True}),
    "fastgraphrag, damping = 0.5": ("fastgraphrag", {"damping": 0.5}),
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


def shown(
    name: str, data: Path, root: Path, rows: dict[str, tuple[str, dict[str, Any]]], reads: str = "lightrag"
) -> None:
    """Print the table of one set, indexed for the method `reads`."""
    if not (root / ".sensegraph").is_dir():
        run = sensegraph("index", str(source(data)), "--root", str(root), "--quiet", "--method", reads)
        if run.code:
            sys.exit(f"index ended with {run.code}: {run.err}")
    judged = questions(data)
    with Corpus.open(root) as corpus:
        index, rt = corpus.index(), corpus.runtime()
        print(f"\n{name}: {len(judged)} questions, {index.manifest.counts}; to embed: {embedded(index)}")
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
            found[row] = recalls, spent, float(np.mean([e.tokens for e in evidence]))
    bm25 = found["bm25"][0]
    table(
        ["", "R@2", "R@5", "R@10", "R@5 − bm25", "CPU ms", "tokens"],
        [
            [row, *(f"{x:.1f}" for x in r.mean(0)), versus(r, bm25), f"{spent:.1f}", f"{size:,.0f}"]
            for row, (r, spent, size) in found.items()
        ],
    )


def embedded(index: Index) -> str:
    """The tokens of the texts that are embedded."""
    graph = index.graph
    counts = {
        "chunks": sum(entry.tokens for entry in index.catalogue.chunks),
        "entities": sum(map(count_tokens, entity_texts(graph))),
        "relations": sum(map(count_tokens, relation_texts(graph))),
    }
    return ", ".join(f"{count:,} tokens of {kind}" for kind, count in counts.items())


if __name__ == "__main__":
    main()
