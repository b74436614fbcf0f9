"""What the methods read for an answer, and what their answers claim: Figure 3 and Tables 2 and 3 of LeanRAG, no judge.

    python bench/hierarchies.py contexts  [--data DIR] [--corpus mix] [--engine offline|scripted] [--budget N]…
    python bench/hierarchies.py ablations [--data DIR] [--corpus 2wiki] [--engine offline|scripted] [--budget N]

`contexts`: mean tokens of the context of every method over all questions (`--questions N`: the first N), with the
method's own defaults and with one budget for all (12,000, then 32,000), and how far LeanRAG's mean lies below the mean
of local, lightrag and hirag. One index (chunks of 1,024 tokens, overlap 128, as LeanRAG's) and one answer prompt.

`ablations`: LeanRAG and HiRAG without one of their parts. Without a judge: *heuristic claims* of the answers and their
clusters at four thresholds (see docs/evaluation.md), the share of the judged documents of a question that its context
holds, and the tokens of that context. `p` is Wilcoxon's, against the whole method on the same questions, not corrected.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from client import chosen, options, prepared, serving, table
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.parts import sort_parts
from sensegraph.index.passages import documents_behind
from sensegraph.lab.grounding.claims import THRESHOLDS, count_linkage_clusters, extract_claims
from sensegraph.lab.scores.standard import rouge_distances
from sensegraph.lab.scores.statistics import signed_rank_test
from sensegraph.methods import load_method
from sensegraph.protocols import PartName
from sensegraph.types import Question

Options = Mapping[str, Any]
CHUNKS = {"chunk_tokens": 1024, "chunk_overlap": 128}
OTHERS = ("local", "lightrag", "hirag")
OWN: dict[str, Options] = {"naive": {}, "local": {}, "lightrag": {}, "hirag": {}, "leanrag": {}, "raptor": {}}
ABLATIONS: dict[str, dict[str, Options]] = {
    "leanrag": {
        "whole": {},
        "no relations": {"relations": False},
        "no chunks": {"chunks": 0},
        "root on": {"root": "on"},
        "root off": {"root": "off"},
        "findings": {"findings": True},
    },
    "hirag": {mode: {"mode": mode} for mode in ("hirag", "hi_nobridge", "hi_local", "hi_global", "hi_bridge", "flat")},
}


@dataclass(frozen=True, slots=True)
class Told:
    """One question answered: claims, their clusters, tokens read, and the share of judged documents among them."""

    claims: int
    clusters: tuple[int, ...]
    tokens: int
    recall: float


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("what", choices=["contexts", "ablations"])
    parser.set_defaults(corpus="")
    parser.add_argument("--engine", choices=["offline", "scripted"], default="offline")
    parser.add_argument("--budget", type=int, action="append", help="of a whole context; may be given again")
    parser.add_argument("--questions", type=int, default=0)
    given = parser.parse_args()
    given.corpus = given.corpus or ("mix" if given.what == "contexts" else "2wiki")
    path = chosen(given)
    asked, budgets = questions(path, given.questions), given.budget or [12_000, 32_000]
    with built(path, given.engine) as corpus:
        print(f"{path.parent.name}: {len(asked)} questions, {given.engine} engine, {corpus.index().manifest.counts}")
        if given.what == "contexts":
            contexts(corpus, [q for q, _ in asked], budgets)
        else:
            ablations(corpus, asked, budgets[0])


def contexts(corpus: Corpus, asked: Sequence[str], budgets: Sequence[int]) -> None:
    """The table of context tokens, and what the paper's 46 % is here."""
    means: dict[tuple[str, str], float] = {}
    rows, index, rt = [], corpus.index(), corpus.runtime()
    for name in OWN:
        for label, given in {"own": OWN[name], **{f"{b:,}": budgeted(name, b) for b in budgets}}.items():
            method = corpus.asker.method(name, **given)[0]
            read = [method.retrieve(Question(q), index, rt).tokens for q in asked]
            means[name, label] = statistics.mean(read)
            rows.append([name, label, f"{means[name, label]:,.0f}", f"{statistics.median(read):,.0f}", max(read)])
    table(["method", "budget", "mean tokens", "median", "most"], rows)
    for label in dict.fromkeys(label for _, label in means):
        mean = statistics.mean(means[name, label] for name in OTHERS)
        below = 100 * (1 - means["leanrag", label] / mean)
        print(f"budget {label}: leanrag reads {below:.1f} % less than the mean of {', '.join(OTHERS)}")


def budgeted(name: str, budget: int) -> Options:
    """The settings that hold a method's whole context to `budget`."""
    if name == "lightrag":  # entities and relations as its preset shares them, text as much as there is room for
        return {"entity_tokens": budget // 5, "relation_tokens": budget * 4 // 15, "text_tokens": budget}
    return {"context_tokens": budget}


def ablations(corpus: Corpus, asked: Sequence[tuple[str, frozenset[str]]], budget: int) -> None:
    """One table a method; each row without one part."""
    heads = ["claims", "p", *(f"clusters {t}" for t in THRESHOLDS), "recall", "p", "tokens"]
    for name, variants in ABLATIONS.items():
        told = {
            v: [answered(corpus, name, {**o, "context_tokens": budget}, *q) for q in asked] for v, o in variants.items()
        }
        whole = next(iter(told.values()))
        table([name, *heads], [row(label, found, whole) for label, found in told.items()])


def row(label: str, found: Sequence[Told], whole: Sequence[Told]) -> list[object]:
    """The means of one variant, with the tests against the whole method."""
    judged = [t.recall for t in found if t.recall >= 0]
    clusters = [f"{statistics.mean(t.clusters[i] for t in found):.2f}" for i in range(len(THRESHOLDS))]
    same = found is whole
    return [
        label, f"{statistics.mean(t.claims for t in found):.2f}", "" if same else tested(found, whole, "claims"),
        *clusters, f"{100 * statistics.mean(judged):.1f}" if judged else "-",
        "" if same or not judged else tested(found, whole, "recall"),
        f"{statistics.mean(t.tokens for t in found):,.0f}",
    ]  # fmt: skip


def tested(found: Sequence[Told], whole: Sequence[Told], field: str) -> str:
    differences = [getattr(a, field) - getattr(b, field) for a, b in zip(found, whole, strict=True)]
    return f"{signed_rank_test(np.array(differences, np.float64)).p:.3f}"


def answered(corpus: Corpus, method: str, given: Options, question: str, gold: frozenset[str]) -> Told:
    """One answer, counted."""
    answer = corpus.query(question, method=method, **given)
    found = extract_claims(answer.text) if answer.citations else ()
    apart = rouge_distances(found)
    behind = frozenset(documents_behind(answer.evidence.passages, corpus.index()))
    recall = len(behind & gold) / len(gold) if gold else -1.0
    return Told(len(found), tuple(count_linkage_clusters(apart, t) for t in THRESHOLDS), answer.evidence.tokens, recall)


def questions(path: Path, count: int) -> list[tuple[str, frozenset[str]]]:
    """The questions of a set beside its corpus, with their judged documents (none: no judgements)."""
    gold: dict[str, set[str]] = {}
    judged = path.parent / "qrels" / "dev.tsv"
    if judged.exists():
        for line in judged.read_text("utf-8").splitlines()[1:]:
            query, document, score = line.split("\t")
            if int(score) > 0:
                gold.setdefault(query, set()).add(document)
    lines = [json.loads(line) for line in (path.parent / "queries.jsonl").read_text("utf-8").splitlines()]
    found = [(q["text"], frozenset(gold.get(q["_id"], ()))) for q in lines if not gold or q["_id"] in gold]
    return found[: count or None]


@contextmanager
def built(path: Path, engine: str) -> Iterator[Corpus]:
    """A corpus with all parts that these methods read, in a folder that goes again."""
    wanted = frozenset[PartName]({"reports"}).union(*(load_method(name).reads for name in OWN))
    parts = list(sort_parts(wanted))
    with tempfile.TemporaryDirectory() as folder, serving() as server:
        root = Path(folder) / "corpus"
        if engine == "scripted":
            prepared(root, server)
        else:
            root.mkdir()
        settings: dict[str, Any] = {"index": CHUNKS, **({"engine": "offline"} if engine == "offline" else {})}
        with Corpus.open(root, settings=settings) as corpus:
            corpus.add(path)
            corpus.build(parts=parts)
            yield corpus


if __name__ == "__main__":
    main()
