"""Claims and clusters of claims per answer: Experiment 2 of Edge et al. 2024, without a model.

    python bench/experiment2.py [--data DIR] [--set podcast|mix] [--questions N] [--words N] [--fresh]

podcast: the 90 questions about the whole, answered by global search over the reports of depths 0 to 3 (C0 to C3), over
the texts themselves (TS) and by vector RAG (SS), once with the same budget for all (`--words`, 300 if not given, asked
of the engine that writes) and once as each comes out. mix: the published answers of seven systems to 89 questions, and
beside them ours, as they come out. Claims are counted by rules (heuristic claims), clusters are those of complete
linkage over 1 − ROUGE-L below .5 to .8. Means with 95 % intervals over questions; pairs by Wilcoxon's test, corrected
by Holm over all pairs of one measure. A refusal stays in the sample, with no claim. There is no judge offline, so the
agreement of claims with a judge is not measured.

What was answered is kept under bench/out/experiment2; a second run reads it, `--fresh` answers again.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from client import options, source, table
from sensegraph.answering.asking import conclude_answer
from sensegraph.answering.grounding.checking import says_no_answer
from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.offline.answers.composing import compose_answer
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.index.index import Index
from sensegraph.lab.experiments.published import read_published_table
from sensegraph.lab.grounding.claims import LABEL, THRESHOLDS, count_linkage_clusters, extract_claims
from sensegraph.lab.scores.standard import rouge_distances
from sensegraph.lab.scores.statistics import Pair, bootstrap_intervals, compare_all_pairs
from sensegraph.methods import load_method
from sensegraph.runtime.keys import key
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Draft, Inquiry, Question

OUT = Path(__file__).resolve().parent / "out" / "experiment2"
GLOBAL: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    **{f"C{depth}": ("graphrag", {"depth": depth}) for depth in range(4)},
    "TS": ("ts", {}),
    "SS": ("naive", {}),
}
OURS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    name: (name, {}) for name in ("graphrag", "local", "leanrag", "lightrag", "walk", "naive")
}
PARTS = {"podcast": ["graph", "reports"], "mix": ["graph", "reports", "names", "relations", "aggregates"]}
MEASURES = ("claims", *(f"clusters {t}" for t in THRESHOLDS))
_CITED = re.compile(r"\s*\[\d+\]")


@dataclass(frozen=True, slots=True)
class Budgeted(ClassicalEngine):
    """The offline engine, asked for answers of about so many words."""

    words: int = 0

    def fingerprint(self, task: Any) -> str:
        own = ClassicalEngine.fingerprint(self, task)
        return key(own, self.words) if self.words and task == "answer" else own

    def answer(self, inquiries: Sequence[Inquiry]) -> list[Draft]:
        return [compose_answer(inquiry, self.words) for inquiry in inquiries]


@dataclass(frozen=True, slots=True)
class Said:
    """An answer, and what its method had read for it."""

    text: str
    tokens: int = 0

    @property
    def words(self) -> int:
        return len(_CITED.sub("", self.text).split())


Answers = dict[str, list[Said]]  # by condition, in the order of the questions


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--set", choices=["podcast", "mix"], default="podcast")
    parser.add_argument("--questions", type=int, default=0, help="only so many, 0 for all")
    parser.add_argument("--words", type=int, default=300)
    parser.add_argument("--fresh", action="store_true", help="answer again")
    given = parser.parse_args()
    folder = Path(given.data) / given.set
    queries = [json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    queries = queries[: given.questions or None]
    conditions = GLOBAL if given.set == "podcast" else OURS
    with Corpus.open(OUT / given.set, settings={"engine": "offline", "index": {"parts": PARTS[given.set]}}) as corpus:
        corpus.add(source(folder))
        corpus.build()
        print(f"{given.set}: {len(queries)} questions, engine offline, {LABEL}")
        if given.set == "podcast":
            report(f"one budget for all: {given.words} words", asked(corpus, conditions, queries, given, given.words))
            beside()
        ours = asked(corpus, conditions, queries, given, 0)
        report("as each comes out", theirs(queries) | ours)


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def asked(
    corpus: Corpus,
    conditions: Mapping[str, tuple[str, Mapping[str, Any]]],
    queries: Sequence[Mapping[str, Any]],
    given: Any,
    words: int,
) -> Answers:
    """The answers of every condition; those that an earlier run has left are read."""
    index = corpus.index()
    rt = replace(corpus.runtime(), engine=Budgeted(words=words))
    found: Answers = {}
    for name, (method, settings) in conditions.items():
        stamp = key(index.manifest, method, settings, words, rt.engine.fingerprint("answer"))
        cell = OUT / "cells" / f"{given.set}.{name}.{words}.json"
        known = read(cell, stamp) if not given.fresh else {}
        found[name] = answers(load_method(method, **settings), queries, index, rt, known, cell, stamp)
    return found


def answers(
    method: Any,
    queries: Sequence[Mapping[str, Any]],
    index: Index,
    rt: Runtime,
    known: dict[str, list[Any]],
    cell: Path,
    stamp: str,
) -> list[Said]:
    for place, query in enumerate(queries):
        if query["_id"] not in known:
            said = answered(method, query["text"], index, rt)
            known[query["_id"]] = [said.text, said.tokens]
            write(cell, stamp, known)
            if sys.stderr.isatty():
                print(f"{cell.stem} {place + 1}/{len(queries)}", file=sys.stderr, end="\r")
    return [Said(*known[q["_id"]]) for q in queries]


def answered(method: Any, text: str, index: Index, rt: Runtime) -> Said:
    question = Question(text)
    evidence = method.retrieve(question, index, rt)
    return Said(conclude_answer(question, evidence, index, rt).text, evidence.tokens)


def read(cell: Path, stamp: str) -> dict[str, list[Any]]:
    found = json.loads(cell.read_text(encoding="utf-8")) if cell.exists() else {}
    return dict(found["answers"]) if found.get("stamp") == stamp else {}


def write(cell: Path, stamp: str, known: Mapping[str, list[Any]]) -> None:
    cell.parent.mkdir(parents=True, exist_ok=True)
    cell.with_suffix(".new").write_text(json.dumps({"stamp": stamp, "answers": known}), encoding="utf-8")
    cell.with_suffix(".new").replace(cell)


def theirs(queries: Sequence[Mapping[str, Any]]) -> Answers:
    """The published answers of a set that has some, by system."""
    given = [q["metadata"].get("system_answers", {}) for q in queries]
    names = sorted({name for each in given for name in each})
    return {f"{name}*": [Said(each.get(name, "")) for each in given] for name in names}


# ── measures ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def measured(text: str) -> list[float]:
    """Claims and clusters of an answer, in the order of MEASURES."""
    found = extract_claims(text)
    apart = rouge_distances(found)
    return [len(found), *(count_linkage_clusters(apart, t) for t in THRESHOLDS)]


def report(title: str, found: Answers) -> None:
    """The table of all questions and, where some were refused, of those that every condition answers."""
    shown(title, found)
    kept = [
        i for i, each in enumerate(zip(*found.values(), strict=True)) if not any(says_no_answer(s.text) for s in each)
    ]
    if 0 < len(kept) < len(next(iter(found.values()))):
        some = {name: [said[i] for i in kept] for name, said in found.items()}
        shown(f"{title}, the {len(kept)} questions that every condition answers", some)


def shown(title: str, found: Answers) -> None:
    """The table of means, and the pairs that differ."""
    values = {name: np.array([measured(s.text) for s in said], np.float64) for name, said in found.items()}
    print(f"\n{title}" + (" (* published answers)" if any(n.endswith("*") for n in found) else ""))
    table(["condition", *MEASURES, "claims / 100 words", "words", "refusals", "tokens read"], list(rows(found, values)))
    print("\npairs that differ (Holm over all pairs of a measure, p < 0.05, interval without 0):")
    for place, measure in enumerate(MEASURES):
        pairs = compare_all_pairs({name: list(v[:, place]) for name, v in values.items()})
        print(f"  {measure}: {differences(pairs)}")


def rows(found: Answers, values: Mapping[str, Any]) -> Iterator[list[object]]:
    for name, said in found.items():
        means = bootstrap_intervals(values[name])
        words = mean(s.words for s in said)
        claimed = values[name][:, 0].sum()
        yield [
            name,
            *(f"{m.mean:.2f} [{m.low:.2f}, {m.high:.2f}]" for m in means),
            f"{100 * claimed / max(1, sum(s.words for s in said)):.2f}",
            f"{words:.0f}",
            sum(says_no_answer(s.text) for s in said),
            f"{mean(s.tokens for s in said):,.0f}" if any(s.tokens for s in said) else "?",
        ]


def differences(pairs: Sequence[Pair]) -> str:
    """The pairs of which one is higher, the higher first, with the mean difference and the corrected p."""
    told = []
    for pair in pairs:
        if pair.better:
            other = pair.second if pair.better == pair.first else pair.first
            p = "p < .001" if pair.p_holm < 0.001 else f"p {pair.p_holm:.3f}"
            told.append(f"{pair.better} > {other} by {abs(pair.difference.mean):.1f} ({p})")
    return f"{len(told)} of {len(pairs)}. " + "; ".join(told) if told else f"none of {len(pairs)}"


def beside() -> None:
    """The published figures of the same table, by a model over the answers of a model."""
    claimed, varied = read_published_table("edge2024", "3"), read_published_table("edge2024", "4")
    print(
        f"\npublished ({claimed.paper}, Tables 3 and 4: gpt-4-turbo answers of unknown length, Claimify, 125 questions)"
    )
    by_name = {"claims": claimed.rows["podcast"]} | {n: row for n, row in varied.rows.items() if "podcast" in n}
    table(["measure", *claimed.columns], [[name, *row] for name, row in by_name.items()])


if __name__ == "__main__":
    main()
