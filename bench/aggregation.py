"""What LeanRAG's hierarchy costs without its engine, how that grows, how little an update changes, and what is read.

    python bench/aggregation.py [--sizes 5000 20000 80000] [--relations 4] [--data DIR] [--corpus mix] [--added 3]
                                [--by model offline]

Growth: drawn graphs with `--relations` relations an entity, and vectors of 256 columns around one centre for twenty
entities; an engine that answers at once with a fixed text. CPU of all levels together, of the clustering of the
entities (PCA and mixtures) and of the one pass over the relations alone; peak memory of the process above the drawn
graph; the exponent is the slope of log CPU over log size. Each size runs in a process of its own.

Updates: the documents of `--corpus` but `--added` of them, spread over it, are indexed, once by a scripted server as
model and embedder, once offline; then each of these is added. Printed are the entities that came and went, the share
of the aggregates that keep their key, and how many aggregates and relations between them were written, of all that
there are. `--added 0` leaves this out.

Context: the questions of the corpus, asked of the offline index: the mean tokens of each section of what is read.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from client import prepared, serving
from sensegraph.corpus.corpus import Corpus
from sensegraph.documents import load
from sensegraph.index.hierarchy.similar_clusters import group_vectors
from sensegraph.index.passages import passage_tokens
from sensegraph.methods.leanrag.aggregated import AggregateSettings, ground_level, part_links
from sensegraph.methods.leanrag.aggregates import find_aggregates
from sensegraph.methods.leanrag.aggregates_part import AGGREGATES
from sensegraph.methods.leanrag.leanrag import LeanRAG
from sensegraph.models.embedders import HashedTerms
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.runtime.results import Result
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import (
    Brief,
    Chunk,
    Description,
    Document,
    Entity,
    Graph,
    Question,
    Relation,
    Report,
    Source,
    Statement,
    Usage,
)  # fmt: skip

DIM = 256


class Instant:
    """An engine that says the same of every group at once; its time is left out of what is measured."""

    name, batch, waits, quotes = "instant", 256, False, False
    tasks = frozenset({"aggregate", "relate"})

    def fingerprint(self, task: str) -> str:
        return "instant"

    def aggregate(self, briefs: Sequence[Brief]) -> list[Report]:
        return [Report(f"All of {b.context.title}", (_said(b),)) for b in briefs]

    def relate(self, briefs: Sequence[Brief]) -> list[tuple[Statement, ...]]:
        return [(_said(b),) for b in briefs]

    def usage(self) -> Usage:
        return Usage()

    def notes(self) -> tuple[str, ...]:
        return ()


def _said(brief: Brief) -> Statement:
    return Statement("They belong together, and this says in what.", (brief.context.passages[0].id,))


def drawn(n: int, each: int) -> tuple[Graph, np.ndarray]:
    """A graph of `n` entities and `each · n` relations, three in four of them in the neighbourhood, and vectors."""
    random = np.random.default_rng(1)
    centres = random.standard_normal((max(1, n // 20), DIM), np.float32)
    centres += 2 * random.standard_normal((len(centres) // 20 + 1, DIM), np.float32)[np.arange(len(centres)) // 20]
    group = np.sort(random.integers(0, len(centres), n))
    vectors = centres[group] + 0.5 * random.standard_normal((n, DIM), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = [f"{i:07x}" for i in range(n)]
    entities = [_entity(name) for name in ids]
    one = random.integers(0, n, each * n)
    far = random.random(each * n) < 0.25
    other = np.where(far, random.integers(0, n, each * n), (one + random.integers(1, 60, each * n)) % n)
    pairs = sorted({(min(a, b), max(a, b)) for a, b in zip(one.tolist(), other.tolist(), strict=True) if a != b})
    return Graph(tuple(entities), tuple(_relation(ids[a], ids[b]) for a, b in pairs)), vectors


def _entity(name: str) -> Entity:
    text = f"Entity {name} is one of many, and what is said of it takes about as many words as is usual for a name."
    return Entity(name, f"Entity {name}", "thing", text, (Description(text, Source("c", 0, 9)),), ("c",), 1, 4)


def _relation(a: str, b: str) -> Relation:
    text = f"Entity {a} has to do with entity {b}, as somebody wrote somewhere."
    return Relation(f"{a}{b}", a, b, text, (Description(text, Source("c", 0, 9)),), 1.0, ("c",))


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(n: int, each: int) -> dict[str, Any]:
    """The figures of one size."""
    graph, vectors = drawn(n, each)
    drawn_mb, settings = peak_mb(), AggregateSettings()
    with tempfile.TemporaryDirectory() as folder:
        rt = Runtime(Instant(), HashedTerms(DIM), SqliteStore(Path(folder)), LocalExecutor(1, 1))  # type: ignore[arg-type]
        chunk = Chunk("c", "d", 0, 9, 2, "some text")
        begun = time.process_time()
        found = find_aggregates(Result("g", graph), Result("v", vectors), lambda: [chunk], rt, settings).value
        whole = time.process_time() - begun
        memory = peak_mb() - drawn_mb
        levels = [n for _, n in sorted(Counter(c.depth for c in found.clusters).items(), reverse=True)]
        calls = rt.computed["aggregates.aggregate"], rt.computed["aggregates.relate"]
    begun = time.process_time()
    labels = group_vectors.fn([(vectors, np.zeros(0, np.int32))], size=20, dims=32, seed=0)[0].labels
    clustering = time.process_time() - begun
    level = ground_level(graph, {"c": "d"}, quotes=False)
    begun = time.process_time()
    part_links(level, labels.tolist(), int(labels.max()) + 1)
    return {
        "entities": n, "relations": len(graph.relations), "cpu": whole, "clustering": clustering,
        "pass": time.process_time() - begun, "mb": memory, "levels": levels, "calls": calls,
    }  # fmt: skip


def growth(sizes: Sequence[int], each: int) -> None:
    """The table of all sizes, and the exponents."""
    print(
        "entities  relations  CPU s  clustering s  one pass s  memory MB  levels              aggregate / relate calls"
    )
    rows = []
    for n in sizes:
        asked = [sys.executable, __file__, "--one", str(n), "--relations", str(each)]
        rows.append(json.loads(subprocess.run(asked, capture_output=True, text=True, check=True).stdout))
        r = rows[-1]
        took = f"{r['cpu']:>6.1f} {r['clustering']:>13.2f} {r['pass']:>11.3f} {r['mb']:>10.0f}"
        levels = "/".join(map(str, r["levels"]))
        calls = f"{r['calls'][0]:,} / {r['calls'][1]:,}"
        print(f"{n:>8,} {r['relations']:>10,} {took}  {levels:<18}  {calls}", flush=True)
    if len(rows) > 1:
        told = {"cpu": "entities", "clustering": "entities", "pass": "relations"}
        print("exponents: " + ", ".join(f"{name} {_slope(rows, over, name):.2f}" for name, over in told.items()))


def _slope(rows: Sequence[dict[str, Any]], over: str, name: str) -> float:
    x, y = ([math.log(max(r[what], 1e-9)) for r in rows] for what in (over, name))
    return float(np.polyfit(x, y, 1)[0])


def updates(data: Path, name: str, added: int, by: Sequence[str]) -> None:
    """What one more document changes, for each of several, with either engine; and what is read offline."""
    documents = list(load([data / name / "corpus.jsonl"]).documents)
    held = [documents[len(documents) * (i + 1) // (added + 1)] for i in range(added)]
    rest = [d for d in documents if d not in held]
    index = {"index": {"parts": ["graph", "aggregates"]}}
    print("\nindexed by  added  characters  new entities  gone  kept of before  of after    aggregates      relations")
    with tempfile.TemporaryDirectory() as folder, serving() as server:
        if "model" in by:
            with Corpus.open(prepared(Path(folder) / "model", server), settings=index) as corpus:
                _life(corpus, "model", rest, held)
        if "offline" in by:
            offline = {"engine": "offline", "embedder": "offline", **index}
            with Corpus.open(Path(folder) / "offline", settings=offline) as corpus:
                _life(corpus, "offline", rest, held)
                contexts(corpus, data / name / "queries.jsonl")


def _life(corpus: Corpus, by: str, rest: Sequence[Document], held: Sequence[Document]) -> None:
    corpus.add(rest)
    corpus.build()
    for document in held:
        before, known = _clusters(corpus), {e.id for e in corpus.index().graph.entities}
        corpus.add(document)
        done = corpus.build()
        after, now = _clusters(corpus), {e.id for e in corpus.index().graph.entities}
        kept = len(before & after)
        written = [
            f"{done.computed.get(f'aggregates.{step}', 0):,} of {done.counts[what]:,}"
            for step, what in (("aggregate", "aggregates"), ("relate", "aggregate_relations"))
        ]
        print(
            f"{by:<11} {document.id[:5]:<5} {len(document.text):>11,} {len(now - known):>13} {len(known - now):>5} "
            f"{kept / len(before):>15.1%} {kept / len(after):>9.1%} {written[0]:>13} {written[1]:>14}",
            flush=True,
        )


def _clusters(corpus: Corpus) -> set[str]:
    return {c.id for c in corpus.index().part(AGGREGATES).hierarchy.clusters}


def contexts(corpus: Corpus, path: Path) -> None:
    """The mean tokens of each section over the questions."""
    questions = [json.loads(line)["text"] for line in path.open()]
    index, rt, method = corpus.index(), corpus.runtime(), LeanRAG()
    sums: Counter[str] = Counter()
    begun = time.process_time()
    for question in questions:
        found = method.retrieve(Question(question), index, rt)
        sums["whole"] += found.tokens
        for passage in found.passages:
            sums[passage.kind] += passage_tokens(passage)
    cpu = (time.process_time() - begun) / len(questions)
    told = ", ".join(f"{kind} {n / len(questions):,.0f}" for kind, n in sums.items())
    print(f"\nmean tokens over {len(questions)} questions: {told}; {1000 * cpu:.0f} ms of CPU a question")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="*", type=int, default=[5_000, 20_000, 80_000])
    parser.add_argument("--relations", type=int, default=4)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    parser.add_argument("--corpus", default="mix")
    parser.add_argument("--added", type=int, default=3)
    parser.add_argument("--by", nargs="*", choices=["model", "offline"], default=["model", "offline"])
    parser.add_argument("--one", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(given.one, given.relations)))
        return
    if given.sizes:
        growth(given.sizes, given.relations)
    if given.added:
        updates(given.data, given.corpus, given.added, given.by)


if __name__ == "__main__":
    main()
