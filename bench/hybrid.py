"""Hybrid retrieval beside its single arms: recall of the judged documents, with paired intervals.

    python bench/hybrid.py [--data DIR] [--keep DIR] [--set NAME …] [--grid] [--untitled]

Each set is indexed offline (kept in `--keep`, so that a second run is quick). A row is an arm or a fusion: recall at 2,
5 and 10, CPU milliseconds for one question, and, for recall at 5, the difference to the best single arm in points with
its 95 % interval over 2,000 paired resamplings. Unjudged and adversarial questions are left out. `--grid` varies the
settings of the default fusion. `--untitled` indexes the documents without their titles: on sets made from Wikipedia's
links the walk lives on titles, which few other corpora have. Vectors are those of the
offline embedder: they see words, not meaning.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from client import options, sensegraph, source, table
from sensegraph.corpus.corpus import Corpus
from sensegraph.methods.basic.hybrid import Hybrid
from sensegraph.types import Question

SETS = ("carol", "multihop-news", "hotpotqa", "musique", "lihua-world", "2wiki")
ARMS = {
    "vector": {"bm25_weight": 0, "graph_weight": 0, "fusion": "rrf", "vector": 100},
    "bm25": {"vector_weight": 0, "graph_weight": 0, "fusion": "rrf", "bm25": 100},
    "graph": {"vector_weight": 0, "bm25_weight": 0, "fusion": "rrf", "graph": 100},
}
EVEN = {"vector_weight": 1, "bm25_weight": 1, "graph_weight": 1}
FUSIONS = {
    "rrf, weights 1": EVEN | {"fusion": "rrf"},
    "rrf of vector and bm25": EVEN | {"fusion": "rrf", "graph_weight": 0},
    "rrf": {"fusion": "rrf"},
    "minmax": {"fusion": "minmax"},
    "quota": {"fusion": "quota"},
    "prior, weights 1": EVEN,
    "prior (default)": {},
}
GRID = {
    f"{name} {value}": {name: value}
    for name, values in {
        "vector_weight": (0, 0.1, 0.5),
        "text_share": (0.1, 0.2, 0.5),
        "damping": (0.3, 0.5, 0.85),
        "bm25": (20, 50),
        "vector": (10, 50),
    }.items()
    for value in values
} | {"bm25 50, vector 50": {"bm25": 50, "vector": 50}}
CUTS = (2, 5, 10)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--keep", help="folder for the indexes; without it they go again")
    parser.add_argument("--set", action="append", choices=SETS, dest="sets")
    parser.add_argument("--grid", action="store_true")
    parser.add_argument("--untitled", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in given.sets or SETS:
            root = Path(given.keep or folder) / (f"{name}-untitled" if given.untitled else name)
            shown(Path(given.data) / name, root, GRID if given.grid else {})


def shown(data: Path, root: Path, grid: Mapping[str, Mapping[str, object]]) -> None:
    """Print the table of one set."""
    if not (root / ".sensegraph").is_dir():
        make_index(data, root)
    judged = questions(data)
    with Corpus.open(root, create=False) as corpus:
        index, rt = corpus.index(), corpus.runtime()
        print(f"\n{root.name}: {len(judged)} questions, {index.manifest.counts}")
        Hybrid(graph_weight=1).retrieve(Question("warm"), index, rt)
        recalls: dict[str, np.ndarray] = {}
        spent: dict[str, float] = {}
        for row, settings in {**ARMS, **FUSIONS, **grid}.items():
            method = Hybrid(k=1, **settings)  # type: ignore[arg-type]
            before = time.process_time()
            found = [method.retrieve(Question(text), index, rt).documents for text, _ in judged]
            spent[row] = 1000 * (time.process_time() - before) / len(judged)
            recalls[row] = np.array(
                [[recall(d, gold, cut) for cut in CUTS] for d, (_, gold) in zip(found, judged, strict=True)]
            )
    best = max(ARMS, key=lambda row: recalls[row][:, 1].mean())
    rows = [
        [row, *(f"{x:.1f}" for x in r.mean(0)), versus(r, recalls[best]), f"{spent[row]:.1f}"]
        for row, r in recalls.items()
    ]
    table(["", "R@2", "R@5", "R@10", f"R@5 − {best}", "CPU ms"], rows)


def make_index(data: Path, root: Path) -> None:
    """Index a set offline; without titles where the folder is called so."""
    with tempfile.TemporaryDirectory() as folder:
        path = source(data)
        if root.name.endswith("-untitled"):
            path = Path(folder) / "corpus.jsonl"
            lines = map(json.loads, source(data).open(encoding="utf-8"))
            path.write_text("".join(json.dumps({**line, "title": ""}) + "\n" for line in lines), encoding="utf-8")
        if (run := sensegraph("index", str(path), "--root", str(root), "--quiet")).code:
            sys.exit(f"index ended with {run.code}: {run.err}")


def questions(folder: Path) -> list[tuple[str, frozenset[str]]]:
    """The judged questions with their documents."""
    gold: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "qrels" / "dev.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if int(grade) > 0:
            gold[query].add(document)
    asked = [json.loads(line) for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    kept = [q for q in asked if q["_id"] in gold and q["metadata"].get("type") != "adversarial"]
    return [(q["text"], frozenset(gold[q["_id"]])) for q in kept]


def recall(found: Sequence[str], gold: frozenset[str], cut: int) -> float:
    return 100 * len(gold.intersection(found[:cut])) / len(gold)


def versus(one: np.ndarray, other: np.ndarray) -> str:
    """The difference of recall at 5 with the interval of a paired bootstrap."""
    difference = (one - other)[:, 1]
    draws = np.random.default_rng(0).integers(0, len(difference), (2000, len(difference)))
    low, high = np.percentile(difference[draws].mean(1), [2.5, 97.5])
    return f"{difference.mean():+.1f} [{low:+.1f}, {high:+.1f}]"


if __name__ == "__main__":
    main()
