"""Settings of the walk chosen without the set that they are measured on, beside the default: leave one set out.

    python bench/leave_one_out.py [--data DIR] [--set NAME …]

A row is a set: recall at 5 of BM25, of the default, of the setting with the highest mean over the other sets (which is
named), and of the best setting on this very set, which nobody could have known. If the column of the choice lies below
that of the default, the default is no accident of one set; how much the last column is above tells what tuning to a set
would pretend to. Then the mean of every setting over all sets.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from client import options, table
from sensegraph.corpus.corpus import Corpus
from sensegraph.lab.retrieval.retrieval_scores import Measured, choose_held_out, measure
from sensegraph.lab.retrieval.runs import Named
from sensegraph.lab.retrieval.test_collections import read_set
from sensegraph.methods.basic.bm25 import BM25
from sensegraph.methods.walk.walk import Walk

SETS = ("2wiki", "musique", "hotpotqa", "lihua-world", "multihop-news", "carol")
METRIC = "recall@5"
GRID = {
    "default": Walk(),
    "damping 0.5": replace(Walk(), damping=0.5),
    "damping 0.85": replace(Walk(), damping=0.85),
    "bridge 0.5": replace(Walk(), bridge=0.5),
    "bridge 2": replace(Walk(), bridge=2.0),
    "k1 0.9, b 0.4": replace(Walk(), k1=0.9, b=0.4),
    "k1 1.5, b 0.75": replace(Walk(), k1=1.5, b=0.75),
    "spread 5": replace(Walk(), spread=5),
    "spread 20": replace(Walk(), spread=20),
    "steps 4": replace(Walk(), steps=4),
    "covered 0.3, untied 0.02": replace(Walk(), covered=0.3, untied=0.02),
    "text 0.6": replace(Walk(), text=0.6),
}


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--set", action="append", dest="sets", help="one of the sets; repeatable")
    given = parser.parse_args()
    shown([measured(Path(given.data) / name) for name in given.sets or SETS])


def measured(data: Path) -> Measured:
    """All settings, and BM25, on one set."""
    judged = read_set(data)
    methods = [Named("bm25", BM25()), *(Named(name, method) for name, method in GRID.items())]
    with (
        tempfile.TemporaryDirectory() as folder,
        Corpus.open(folder, settings={"engine": "offline", "index": {"parts": ["names"]}}) as corpus,
    ):
        corpus.add(judged.documents)
        corpus.build()
        return measure(judged, methods, corpus.index(), corpus.runtime())


def shown(results: list[Measured]) -> None:
    means = [{s.method: 100 * s.means[METRIC].mean for s in found.scores} for found in results]
    held = choose_held_out(results, METRIC, list(GRID))
    rows = [
        [h.name, *(f"{row[name]:.1f}" for name in ("bm25", "default")), f"{100 * h.mean:.1f}", h.method,
         f"{100 * h.best:.1f}"]
        for h, row in zip(held, means, strict=True)
    ]  # fmt: skip
    columns = [[row["bm25"] for row in means], [row["default"] for row in means]]
    columns += [[100 * h.mean for h in held], [100 * h.best for h in held]]
    bm25, default, chosen, best = (f"{sum(column) / len(held):.1f}" for column in columns)
    table(["set", "bm25", "default", "chosen", "by the others", "best here"],
          [*rows, ["mean", bm25, default, chosen, "", best]])  # fmt: skip
    print()
    table(["setting", "mean"], [[name, f"{sum(row[name] for row in means) / len(means):.1f}"] for name in GRID])


if __name__ == "__main__":
    main()
