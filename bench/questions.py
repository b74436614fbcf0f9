"""Questions by template from real texts: how many of each class, what they cost, and which methods find their evidence.

    python bench/questions.py [--data DIR] [--each 20] [--methods bm25,naive,walk] [SET …]

The engine is the offline one. Recall is of what a question was made from; chunks are measured, not documents.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from sensegraph.corpus.corpus import Corpus
from sensegraph.lab.questions.grounded_questions import GroundSettings
from sensegraph.lab.questions.question_files import KINDS, Outcome, write_test_collections
from sensegraph.lab.questions.question_making import Posing, make_question_set
from sensegraph.lab.retrieval import Measuring, Named, measure, read_set, retrieval_tables
from sensegraph.lab.retrieval.retrieval_scores import Measured
from sensegraph.methods import load_method

SETS = ("multihop-news", "musique")
METHODS = "bm25,naive,hybrid,walk,kag,hipporag,linearrag"
PARTS = ("graph", "reports", "names", "facts", "sentences")
HOW = Measuring(cuts=(5, 10), draws=2000)


@dataclass(frozen=True, slots=True)
class Made:
    """The questions of a set, the CPU seconds that they took, and what methods found."""

    name: str
    megabytes: float
    outcome: Outcome
    cpu_s: float
    found: Measured


def settings() -> dict[str, object]:
    return {"engine": "offline", "index": {"parts": list(PARTS)}}


def made(folder: Path, each: int, methods: Sequence[str], place: Path) -> Made:
    """The questions of one set, and what `methods` find over its chunks."""
    with Corpus.open(place / "index", settings=settings()) as corpus:
        corpus.add(folder / "corpus.jsonl")
        corpus.build()
        index, rt = corpus.index(), corpus.runtime()
        begun = time.process_time()
        outcome = make_question_set(Posing(grounds=GroundSettings(KINDS, each)), index, rt)
        spent = time.process_time() - begun
        write_test_collections(place / "set", outcome.questions, index)
    judged = read_set(place / "set" / "chunks")
    with Corpus.open(place / "chunks", settings=settings()) as corpus:
        corpus.add(judged.documents)
        corpus.build()
        named = [Named(m, load_method(m)) for m in methods]
        found = measure(judged, named, corpus.index(), corpus.runtime(), HOW)
    return Made(folder.name, judged.megabytes, outcome, spent, found)


def shown(one: Made) -> str:
    counts = one.outcome.counts
    head = ", ".join(f"{kind} {counts.get(kind, 0)}" for kind in KINDS)
    lines = [f"## {one.name}: {one.megabytes:.2f} MB, {len(one.outcome.questions)} questions in {one.cpu_s:.1f} CPU s"]
    lines += [
        head,
        "",
        retrieval_tables.tabulate_methods(one.found),
        "",
        retrieval_tables.tabulate_types(one.found, HOW),
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--methods", default=METHODS)
    given = parser.parse_args()
    for name in given.sets:
        with TemporaryDirectory() as place:
            print(shown(made(given.data / name, given.each, given.methods.split(","), Path(place))), "\n", flush=True)


if __name__ == "__main__":
    main()
