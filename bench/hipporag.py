"""HippoRAG and LinearRAG beside full text: recall of the judged documents, with paired intervals.

    python bench/hipporag.py [--data DIR] [--keep DIR] [--set NAME …] [--grid]

Each set is indexed offline, and `musique-triples` with the triples that GPT-3.5 extracted from the passages of musique
in place of the offline extraction (published by HippoRAG's authors): what an extraction by a model is worth, with
everything else equal and no model when a question is asked. A row is a method: recall at 2, 5 and 10, the share of
questions with all judged documents in the first 5, for recall at 5 the difference to BM25 in points with its 95 %
interval over 2,000 paired resamplings, and CPU milliseconds for one question. Under each set: CPU seconds of the two
parts of the index. Unjudged and adversarial questions are left out. `--grid` varies the settings one at a time.
`--keep` keeps the indexes, so that a second run is quick.
"""

from __future__ import annotations

import gzip
import json
import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from client import options, source, table
from hybrid import questions, recall, versus
from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.index.build import build_index
from sensegraph.index.index import Index
from sensegraph.methods.basic.bm25 import BM25
from sensegraph.methods.hipporag.facts import FACTS, FactSettings, make_facts
from sensegraph.methods.hipporag.hipporag import GUTIERREZ2025, HippoRAG
from sensegraph.methods.linearrag.linearrag import LinearRAG
from sensegraph.methods.linearrag.sentences import SENTENCES, sentence_graph
from sensegraph.protocols import Method, Task
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk, Context, ExtractedEntity, ExtractedRelation, Extraction, Question, Usage

TRIPLES = "musique-triples"
SETS = (TRIPLES, "musique", "2wiki", "hotpotqa", "lihua-world")
PARTS = ("graph", "facts", "sentences")
CUTS = (2, 5, 10)
ROWS: dict[str, Method] = {
    "bm25": BM25(k=100),
    "hipporag": HippoRAG(),
    "hipporag, factor 0.05": HippoRAG(passage_factor=0.05),
    "hipporag, gutierrez2025": HippoRAG(**GUTIERREZ2025),
    "hipporag, no synonyms": HippoRAG(synonyms=False),
    "hipporag, version 1": HippoRAG(version=1),
    "linearrag": LinearRAG(),
    "linearrag, no sentences (T 1)": LinearRAG(iterations=1),
}
GRID: dict[str, Method] = {
    **{f"hipporag, phrase_share {x}": HippoRAG(phrase_share=x) for x in (0.1, 0.5, 0.7)},
    **{f"hipporag, factor {x}": HippoRAG(passage_factor=x) for x in (0.01, 0.3)},
    **{f"hipporag, damping {x}": HippoRAG(damping=x) for x in (0.3, 0.7, 0.85)},
    **{f"hipporag, facts {x}": HippoRAG(facts=x, phrases=x) for x in (3, 10)},
    **{f"linearrag, dense_words {x}": LinearRAG(dense_words=x) for x in (0.05, 1.5, 5.0)},
    **{f"linearrag, quantile {x}": LinearRAG(quantile=x) for x in (0.5, 0.8)},
    **{f"linearrag, kappa {x}": LinearRAG(kappa=x) for x in (1, 5)},
    **{f"linearrag, T {x}": LinearRAG(iterations=x) for x in (2, 5)},
    "linearrag, damping 0.85": LinearRAG(damping=0.85),
}


class Given:
    """An engine that reads every chunk as somebody else read it: triples of subject, predicate and object by document.

    Names are folded to letters and digits with single blanks, as HippoRAG does; of any script.
    """

    name = "given triples"
    tasks: frozenset[Task] = frozenset({"extract", "summarise"})
    batch = 64
    waits = True  # threads: it cannot be sent to another process
    quotes = True

    def __init__(self, triples: Mapping[str, Sequence[Sequence[str]]]) -> None:
        self.triples = triples

    def fingerprint(self, task: Task) -> str:
        return f"{self.name} {task}"

    def extract(self, chunks: Sequence[Chunk]) -> list[Extraction]:
        return [self._read(self.triples.get(c.document, ())) for c in chunks]

    def _read(self, triples: Sequence[Sequence[str]]) -> Extraction:
        told = [tuple(map(folded, t)) for t in triples if len(t) == 3]
        kept = [t for t in dict.fromkeys(told) if all(t)]
        relations = tuple(ExtractedRelation(a, b, f"{a} {verb} {b}", label=verb) for a, verb, b in kept)
        names = dict.fromkeys(name for a, _, b in kept for name in (a, b))
        return Extraction(tuple(ExtractedEntity(n, "phrase") for n in names), relations)

    def summarise(self, contexts: Sequence[Context]) -> list[str]:
        return ClassicalEngine().summarise(contexts)

    def usage(self) -> Usage:
        return Usage()

    def notes(self) -> tuple[str, ...]:
        return ()


def folded(name: str) -> str:
    return " ".join(re.findall(r"\w+", name.casefold()))


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--keep", help="folder for the indexes; without it they go again")
    parser.add_argument("--set", action="append", choices=SETS, dest="sets")
    parser.add_argument("--grid", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in given.sets or SETS:
            shown(name, Path(given.data), Path(given.keep or folder) / name, ROWS | GRID if given.grid else ROWS)


def shown(name: str, data: Path, root: Path, methods: Mapping[str, Method]) -> None:
    """Print the table of one set."""
    data = data / name.removesuffix("-triples")
    judged = questions(data)
    root.mkdir(parents=True, exist_ok=True)
    with Corpus.open(root, settings={"engine": "offline", "index": {"parts": PARTS}}) as corpus:
        corpus.add(source(data))
        rt = corpus.runtime()
        reading = replace(rt, engine=given_triples(data)) if name == TRIPLES else rt  # type: ignore[arg-type]
        build_index(list(corpus.document_keys().values()), reading, corpus.settings.index)
        index = corpus.index()
        print(f"\n{name}: {len(judged)} questions, {index.manifest.counts}")
        known, named = index.part(FACTS), index.part(SENTENCES)
        print(f"{len(known)} facts, {len(known.one)} synonyms, {len(named)} sentences")
        rows = {row: measured(method, judged, index, rt) for row, method in methods.items()}
        plain = rows["bm25"][0]
        lines = [
            [row, *(f"{x:.1f}" for x in found.mean(0)), versus(found, plain), f"{spent:.1f}"]
            for row, (found, spent) in rows.items()
        ]
        table(["", "R@2", "R@5", "R@10", "all@5", "R@5 − bm25", "CPU ms"], lines)
        print(f"CPU seconds to make the parts: {costs(index, rt)}")


def given_triples(data: Path) -> Given:
    with gzip.open(data / "openie_gpt35.jsonl.gz", "rt", encoding="utf-8") as lines:
        return Given({d["id"]: d["triples"] for d in map(json.loads, lines)})


def measured(
    method: Any, judged: Sequence[tuple[str, frozenset[str]]], index: Index, rt: Runtime
) -> tuple[np.ndarray, float]:
    """For every question recall at each cut and whether all was found at 5; CPU milliseconds for one."""
    method.retrieve(Question("warm"), index, rt)
    before = time.process_time()
    found = [method.retrieve(Question(text), index, rt).documents for text, _ in judged]
    spent = 1000 * (time.process_time() - before) / len(judged)
    rows = [
        [*(recall(d, gold, cut) for cut in CUTS), 100.0 * (gold <= set(d[:5]))]
        for d, (_, gold) in zip(found, judged, strict=True)
    ]
    return np.array(rows), spent


def costs(index: Index, rt: Runtime) -> str:
    """What facts with synonyms, and sentences, take of CPU."""
    ids = [c.id for c in index.catalogue.chunks]
    known = index.chunks(ids)
    before = time.process_time()
    make_facts.fn([(index.graph, ids, None)], settings=FactSettings())
    between = time.process_time()
    sentence_graph.fn([(index.graph, [known[i] for i in ids])])
    return f"facts {between - before:.1f}, sentences {time.process_time() - between:.1f}"


if __name__ == "__main__":
    main()
