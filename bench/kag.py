"""KAG beside itself without a plan, beside the walk and full text: recall of the judged documents, paired intervals.

    python bench/kag.py [--data DIR] [--keep DIR] [--set NAME …] [--untitled]

Each set is indexed offline (kept in `--keep`, so that a second run is quick), with `--untitled` without titles of
documents. The first three sets have questions of the kind that the rules of plans are for; the rules were never tried
on the others. Rows: `bm25`, `hybrid`, `walk`; `kag` without a plan, with the plans of the rules, with the plans that
musique publishes, and with those and their published values too, which is the most that retrieval gives. Recall at 2, 5
and 10; the difference of recall at 5 to `kag` without a plan and to `walk`, in points with its 95 % interval over 2,000
paired resamplings; CPU milliseconds a question. Then how many questions each rule covers, which layers answered, and
how often a value of a published step was found (first, and among all).
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from client import options, table
from hybrid import CUTS, recall, versus
from sensegraph.corpus.corpus import Corpus
from sensegraph.lab.retrieval.test_collections import JudgedSet, read_set
from sensegraph.language.text import fold
from sensegraph.methods.basic.bm25 import BM25
from sensegraph.methods.basic.hybrid import Hybrid
from sensegraph.methods.kag.forms import Plan
from sensegraph.methods.kag.kag import KAG
from sensegraph.methods.kag.logical_forms import parse_plan
from sensegraph.methods.kag.question_steps import sketch_plan
from sensegraph.methods.kag.solving import Solved
from sensegraph.methods.walk.walk import Walk
from sensegraph.types import Question

SETS = ("musique", "2wiki", "hotpotqa", "lihua-world", "multihop-news", "carol")


@dataclass(frozen=True, slots=True)
class Asked:
    """A judged question with the plan that the set publishes, where it does, and the values of its steps."""

    question: Question
    gold: frozenset[str]
    plan: Plan | None
    values: Mapping[str, str]


def main() -> None:
    parser = options(__doc__, "musique")
    parser.add_argument("--keep", help="folder for the indexes; without it they go again")
    parser.add_argument("--set", action="append", choices=SETS, dest="sets")
    parser.add_argument("--untitled", action="store_true")
    given = parser.parse_args()
    form = "untitled" if given.untitled else "titled"
    with tempfile.TemporaryDirectory() as folder:
        for name in given.sets or SETS:
            judged = read_set(Path(given.data) / name, titles=not given.untitled)
            root = Path(given.keep or folder) / form / name
            root.mkdir(parents=True, exist_ok=True)
            shown(f"{name}, {form}", judged, published_steps(Path(given.data) / name), root)


def shown(name: str, judged: JudgedSet, published: Mapping[str, Any], root: Path) -> None:
    """Print the tables of one set."""
    settings: Any = {"engine": "offline", "index": {"parts": ["graph", "names", "wording"]}}
    items = asked(judged, published)
    with Corpus.open(root, settings=settings) as corpus:
        corpus.add(judged.documents)
        corpus.build()
        index, rt = corpus.index(), corpus.runtime()
        steps: dict[str, list[tuple[Asked, Sequence[Solved]]]] = {}

        def without(a: Asked) -> Sequence[str]:
            return KAG(plan="none", k=1).retrieve(a.question, index, rt).documents

        def ruled(a: Asked) -> Sequence[str]:
            return KAG(plan="rules", k=1).retrieve(a.question, index, rt).documents

        def full_text(a: Asked) -> Sequence[str]:
            return BM25(k=1).retrieve(a.question, index, rt).documents

        def hybrid(a: Asked) -> Sequence[str]:
            return Hybrid(k=1).retrieve(a.question, index, rt).documents

        def walked(a: Asked) -> Sequence[str]:
            return Walk().retrieve(a.question, index, rt).documents

        def followed(row: str, *, fixed: bool) -> Callable[[Asked], Sequence[str]]:
            def one(a: Asked) -> Sequence[str]:
                assert a.plan is not None
                found, solved = KAG(k=1).follow(a.question, a.plan, index, rt, a.values if fixed else None)
                steps.setdefault(row, []).append((a, solved))
                return found.documents

            return one

        rows: dict[str, Callable[[Asked], Sequence[str]]] = {
            "bm25": full_text,
            "hybrid": hybrid,
            "walk": walked,
            "kag, no plan": without,
            "kag, rules": ruled,
        }
        if all(a.plan for a in items):
            rows["kag, published plans"] = followed("published plans", fixed=False)
            rows["kag, published plans and values"] = followed("published values", fixed=True)
        print(f"\n{name}: {len(items)} questions, {index.manifest.counts}")
        measured(rows, items)
        covered = Counter(sketch_plan(a.question.text).rule for a in items)
        print("rules:", ", ".join(f"{rule} {n}" for rule, n in covered.most_common()))
        for row, solved in steps.items():
            layers = Counter(s.layer for _, made in solved for s in made)
            print(f"{row}: steps by layer:", ", ".join(f"{layer} {n}" for layer, n in layers.most_common()))
        if steps:
            bound(steps["published plans"])


def measured(rows: Mapping[str, Callable[[Asked], Sequence[str]]], items: Sequence[Asked]) -> None:
    """Print recall, differences and times."""
    recalls, spent = dict[str, np.ndarray](), dict[str, float]()
    for row, find in rows.items():
        find(items[0])
        before = time.process_time()
        found = [find(a) for a in items]
        spent[row] = 1000 * (time.process_time() - before) / len(items)
        recalls[row] = np.array([[recall(d, a.gold, cut) for cut in CUTS] for d, a in zip(found, items, strict=True)])
    base, walk = recalls["kag, no plan"], recalls["walk"]
    table(
        ["", "R@2", "R@5", "R@10", "R@5 − no plan", "R@5 − walk", "CPU ms"],
        [
            [row, *(f"{x:.1f}" for x in r.mean(0)), versus(r, base), versus(r, walk), f"{spent[row]:.0f}"]
            for row, r in recalls.items()
        ],
    )


def bound(solved: Sequence[tuple[Asked, Sequence[Solved]]]) -> None:
    """Print how often the value of a published step that a later one needs was found."""
    first = among = whole = 0
    for item, steps in solved:
        for step, wanted in list(zip(steps, item.values.values(), strict=True))[:-1]:
            hits = [same(c.value, wanted) for c in step.found]
            whole, first, among = whole + 1, first + bool(hits and hits[0]), among + any(hits)
    print(f"values: {first} of {whole} steps bind the published value first, {among} among their candidates")


def same(one: str, other: str) -> bool:
    """Whether one value holds the words of the other."""
    a, b = (" ".join(w for w in re.findall(r"\w+", fold(x)) if w != "the") for x in (one, other))
    return f" {a} " in f" {b} " or f" {b} " in f" {a} "


def published_steps(folder: Path) -> dict[str, Any]:
    """The published decomposition of every question that has one."""
    lines = [json.loads(line) for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    return {line["_id"]: line["metadata"].get("decomposition") or [] for line in lines}


def asked(judged: JudgedSet, published: Mapping[str, Any]) -> list[Asked]:
    """The judged questions; a plan where all its steps are published."""
    items = []
    for query in judged.queries:
        parts = published[query.id]
        plan = parse_plan([p["question"] for p in parts]).plan if parts else None
        values = {str(i): p["answer"] for i, p in enumerate(parts, 1)}
        items.append(Asked(Question(query.text), frozenset(query.gold), plan, values))
    return items


if __name__ == "__main__":
    main()
