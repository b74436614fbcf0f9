"""What LazyGraphRAG costs to index, how it spends its budget, and what the budget buys.

    python bench/lazy_budget.py [--data DIR] [--corpus podcast] [--sets 2wiki lihua-world] [--questions N]

First a corpus is indexed with the concept graph alone, over the scripted server in a process of its own: calls of a
model while indexing, and the CPU seconds and memory of the two steps by themselves. Then `--asked` of its questions are
asked with three budgets: the tests that the server saw for one question, mean and most. Last, for every other set, with
the offline engine and every passage as one chunk: the share of the judged passages that the relevant chunks hold, and
of the first ten of them, in percent, by budget; beside it that of as many nearest passages as were tested.
"""

from __future__ import annotations

import json
import resource
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from client import Server, chosen, options, prepared, serving, table
from sensegraph.algorithms.ranking import find_nearest_rows
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.chunks import chunk_documents
from sensegraph.methods.lazygraphrag.concepts import (
    Concepts,
    ConceptSettings,
    cluster_concepts,
    make_concepts,
    note,
    note_run,
    prune_phrases,
)
from sensegraph.methods.lazygraphrag.lazygraphrag import LazyGraphRAG
from sensegraph.runtime.results import take_records
from sensegraph.types import Question

BUDGETS = (20, 100, 500)
ONLY = {"parts": ["concepts"]}


@dataclass(frozen=True, slots=True)
class Judged:
    """A question and the documents that are judged relevant to it."""

    text: str
    gold: frozenset[str]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def judged(folder: Path, most: int) -> list[Judged]:
    """The judged questions of a set, evenly thinned to `most`; adversarial ones are left out."""
    gold: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "qrels" / "dev.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if int(grade) > 0:
            gold[query].add(document)
    queries = [q for q in lines(folder / "queries.jsonl") if q["_id"] in gold]
    queries = [q for q in queries if q.get("metadata", {}).get("type") != "adversarial"]
    step = max(1, len(queries) // most)
    return [Judged(q["text"], frozenset(gold[q["_id"]])) for q in queries[::step]][:most]


# ── what an index costs ──────────────────────────────────────────────────────────────────────────────────────────────


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def steps_alone(corpus: Corpus) -> Concepts:
    """The two steps of the concept graph by themselves, measured."""
    chunks = list(corpus.runtime().each(chunk_documents, corpus.documents(), size=600, overlap=100))
    megabytes = sum(len(c.text.encode()) for found in chunks for c in found) / 1e6
    memory, begin = peak_mb(), time.process_time()
    noted = note.fn(chunks, one_word="none")
    read = time.process_time() - begin
    run = note_run(noted)
    graph = prune_phrases(run, np.zeros(len(run.sizes), np.int64), ConceptSettings())
    (homes,) = cluster_concepts.fn([graph.edges], settings=ConceptSettings())
    (made,) = make_concepts.fn([(graph, homes)], settings=ConceptSettings())
    whole = time.process_time() - begin
    print(
        f"noun phrases: {read:.2f} CPU s, {megabytes / read:.1f} MB/s; graph and communities: {whole - read:.2f} CPU s"
    )
    print(f"memory for both: {peak_mb() - memory:.0f} MB above what the chunks take")
    sizes = [len(np.unique(made.homes[:, d])) for d in range(made.depths)]
    bare = int((np.diff(made.start) == 0).sum())
    print(
        f"{len(made)} concepts, {len(made.source)} edges, communities by depth {sizes}; {bare} chunks without concept"
    )
    print(f"dropped: {made.dropped[0]} hubs, {made.dropped[1]} light edges, {made.dropped[2]} sparse concepts")
    return made


def on_the_wire(source: Path, questions: list[str]) -> None:
    """Calls while indexing, and tests by budget, as the scripted server saw them."""
    with tempfile.TemporaryDirectory() as folder, serving() as server:
        root = prepared(Path(folder) / "corpus", server)
        with Corpus.open(root, settings={"index": ONLY}) as corpus:
            corpus.add(source)
            begin = time.process_time()
            built = corpus.build()
            cpu, tasks = time.process_time() - begin, server.stats()["tasks"]
            calls = sum(n for task, n in tasks.items() if task != "embedding")
            print(f"{built.counts['chunks']} chunks indexed in {cpu:.1f} CPU s; calls of a model: {calls}; {tasks}")
            steps_alone(corpus)
            rows = [[budget, *spent(corpus, server, questions, budget)] for budget in BUDGETS]
    print(f"\ntests for one question ({len(questions)} questions); verdicts on the same sub-question are remembered")
    table(["budget", "made, mean", "made, most", "paid, mean", "paid, most", "other calls"], rows)


def spent(corpus: Corpus, server: Server, questions: list[str], budget: int) -> list[str]:
    """Tests made, and tests that the server saw."""
    made, paid, others = [], [], 0
    for text in questions:
        server.reset()
        corpus.query(text, method="lazygraphrag", budget=budget)
        tasks = server.stats()["tasks"]
        paid.append(tasks.get("test", 0))
        others += sum(n for task, n in tasks.items() if task not in ("test", "embedding"))
        made.append(len(LazyGraphRAG(budget).trials(Question(text), corpus.index(), corpus.runtime())))
    means = [f"{np.mean(made):.1f}", max(made), f"{np.mean(paid):.1f}", max(paid), f"{others / len(questions):.1f}"]
    return [str(value) for value in means]


# ── what the budget buys ─────────────────────────────────────────────────────────────────────────────────────────────


def bought(folder: Path, most: int) -> list[list[str]]:
    """A row for each budget and ranking."""
    questions = judged(folder, most)
    settings = {"engine": "offline", "index": {**ONLY, "chunk_tokens": 100_000, "chunk_overlap": 0}}
    with tempfile.TemporaryDirectory() as place, Corpus.open(Path(place), settings=settings) as corpus:
        corpus.add(folder / "corpus.jsonl")
        corpus.build()
        return [
            [folder.name, ranking, str(budget), *recalls(corpus, questions, LazyGraphRAG(budget, ranking=ranking))]
            for ranking in ("vectors", "words", "both")
            for budget in BUDGETS
        ]


def recalls(corpus: Corpus, questions: list[Judged], method: LazyGraphRAG) -> list[str]:
    index, rt = corpus.index(), corpus.runtime()
    found: list[list[float]] = []
    seconds = 0.0
    for q in questions:
        begin = time.process_time()
        evidence = method.retrieve(Question(q.text), index, rt)
        seconds += time.process_time() - begin
        tests = len({t.chunk for t in method.trials(Question(q.text), index, rt)})
        query = np.asarray(rt.embedder.embed([q.text], "query")[0], np.float32)
        near = find_nearest_rows(index.vectors_of(rt.embedder), query, tests)[0]
        nearby = {c.document for c in take_records(index.catalogue.chunks, [int(i) for i in near])}
        shares = [len(q.gold & set(s)) / len(q.gold) for s in (evidence.documents, evidence.documents[:10], nearby)]
        found.append([*(100 * s for s in shares), len(evidence.passages), tests])
    return [*(f"{value:.1f}" for value in np.mean(found, axis=0)), f"{1000 * seconds / len(questions):.0f}"]


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="*", default=["2wiki", "lihua-world"])
    parser.add_argument("--questions", type=int, default=100, help="judged questions of each set")
    parser.add_argument("--asked", type=int, default=5, help="questions asked over the wire")
    given = parser.parse_args()
    source = chosen(given)
    asked = [q["text"] for q in lines(source.with_name("queries.jsonl"))][: given.asked]
    on_the_wire(source, asked)
    rows = [row for name in given.sets for row in bought(Path(given.data) / name, given.questions)]
    print("\nrecall of judged passages by budget, offline engine, in percent")
    head = [
        "set",
        "ranking",
        "budget",
        "relevant",
        "first 10",
        "nearest as many",
        "relevant chunks",
        "tested",
        "CPU ms",
    ]
    table(head, rows)


if __name__ == "__main__":
    main()
