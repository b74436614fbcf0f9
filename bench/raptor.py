"""RAPTOR beside full text and its own variants: recall of the judged documents, with paired intervals.

    python bench/raptor.py [--data DIR] [--keep DIR] [--set NAME …] [--untitled]

Each set is indexed offline with the part `tree`. A row is a way to search: recall at 2, 5 and 10 of the ranked
documents, for recall at 5 the difference to BM25 over chunks in points with its 95 % interval over 2,000 paired
resamplings, the share of the judged documents of which something is read within the 2,000 tokens of the context, how
many summaries are among what is read, and CPU milliseconds for one question. `leaves alone` reads no summaries.
`--untitled` indexes the documents without their titles.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from client import options, source, table
from hybrid import questions, recall, versus
from sensegraph.algorithms.ranking import Ranking
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.index import Index
from sensegraph.index.passages import documents_behind
from sensegraph.methods.basic.bm25 import BM25
from sensegraph.methods.basic.naive import Naive
from sensegraph.methods.raptor.raptor import RAPTOR
from sensegraph.methods.raptor.tree_part import TREE
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Document, Question

SETS = ("musique", "2wiki", "hotpotqa")
CUTS = (2, 5, 10)


@dataclass(frozen=True)
class Leaves(RAPTOR):
    """The same search without summaries."""

    def rank(self, question: Question, index: Index, rt: Runtime) -> Ranking:
        """The leaves alone."""
        found = super().rank(question, index, rt)
        low = found.positions < index.part(TREE).nodes.leaves
        return Ranking(found.name, found.positions[low], found.scores[low])


ROWS: dict[str, Any] = {
    "bm25": BM25(k=100, context_tokens=2_000),
    "naive": Naive(context_tokens=2_000),
    "raptor (by words)": RAPTOR(),
    "leaves alone": Leaves(),
    "no_overlap": RAPTOR(no_overlap=True),
    "by vectors": RAPTOR(comparing="vectors"),
    "by vectors, leaves alone": Leaves(comparing="vectors"),
    "traverse": RAPTOR(search="traverse"),
    "traverse, k 20": RAPTOR(search="traverse", k=20),
    "traverse by vectors, k 20": RAPTOR(search="traverse", comparing="vectors", k=20),
}


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--keep", help="folder for the indexes; without it they go again")
    parser.add_argument("--set", action="append", choices=SETS, dest="sets")
    parser.add_argument("--untitled", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in given.sets or SETS:
            shown(Path(given.data) / name, Path(given.keep or folder) / (name + "-untitled" * given.untitled))


def shown(data: Path, root: Path) -> None:
    """Print the table of one set."""
    judged = questions(data)
    root.mkdir(parents=True, exist_ok=True)
    with Corpus.open(root, settings={"engine": "offline", "index": {"parts": ["tree"]}}) as corpus:
        before = time.process_time()
        corpus.add(documents(source(data), untitled=root.name.endswith("-untitled")))
        built = corpus.build()
        spent = time.process_time() - before
        index, rt = corpus.index(), corpus.runtime()
        layers = "+".join(map(str, np.bincount(index.part(TREE).nodes.level)))
        print(f"\n{root.name}: {len(judged)} questions, {len(index.catalogue.chunks)} chunks, nodes {layers}")
        print(f"build: {spent:.1f} CPU s; {'; '.join(built.notes)}")
        rows = {name: measured(method, judged, index, rt) for name, method in ROWS.items()}
        plain = rows["bm25"][0]
        table(
            ["", "R@2", "R@5", "R@10", "R@5 − bm25", "in context", "summaries", "CPU ms"],
            [
                [name, *(f"{x:.1f}" for x in found.mean(0)[:3]), versus(found, plain), f"{found.mean(0)[3]:.1f}",
                 f"{found.mean(0)[4]:.1f}", f"{ms:.1f}"]
                for name, (found, ms) in rows.items()
            ],
        )  # fmt: skip


def documents(path: Path, *, untitled: bool) -> list[Document]:
    lines = [json.loads(line) for line in path.open(encoding="utf-8")]
    found = [Document(str(line["_id"]), line["text"], line.get("title", "")) for line in lines]
    return [replace(d, title="") for d in found] if untitled else found


def measured(
    method: Any, judged: Sequence[tuple[str, frozenset[str]]], index: Index, rt: Runtime
) -> tuple[np.ndarray, float]:
    """For every question recall at each cut, the share that is in the context, and the summaries; CPU ms for one."""
    method.retrieve(Question("warm"), index, rt)
    before = time.process_time()
    found = [method.retrieve(Question(text), index, rt) for text, _ in judged]
    spent = 1000 * (time.process_time() - before) / len(judged)
    rows = [
        [
            *(recall(e.documents, gold, cut) for cut in CUTS),
            100 * len(gold.intersection(documents_behind(e.passages, index))) / len(gold),
            sum(p.kind == "report" for p in e.passages),
        ]
        for e, (_, gold) in zip(found, judged, strict=True)
    ]
    return np.array(rows), spent


if __name__ == "__main__":
    main()
