"""Methods side by side on the measuring sets, through `sensegraph eval retrieval`: recall@5, and what it took.

    python bench/retrieval.py [--data DIR] [--methods A,B] [--set NAME …] [--keep DIR] [--parts graph,…] [--untitled]

A row is a set: its questions, recall@5 of every method with its difference from the baseline where Holm's p is below
0.05, CPU of a query of every method, and CPU, memory and wall time of the whole run (`--keep` keeps the indexes, so
that a second run shows what is not indexing). qmsum is asked within the meeting. The last row is the mean over sets,
and under it what a choice among the methods by the other sets would have given (leave one set out).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from client import Run, options, sensegraph, table

SETS = ("carol", "multihop-news", "hotpotqa", "musique", "lihua-world", "qmsum", "2wiki")
WITHIN = {"qmsum": "meeting"}
METRIC = "recall@5"


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--methods", default="bm25,naive")
    parser.add_argument("--set", action="append", dest="sets", help="one of the sets; repeatable")
    parser.add_argument("--keep", help="folder for the indexes")
    parser.add_argument("--parts", default="", help="parts of the indexes besides those that the methods read")
    parser.add_argument("--untitled", action="store_true", help="delete the titles")
    given = parser.parse_args()
    found = {name: measured(given, name) for name in given.sets or SETS}
    shown([m.strip() for m in given.methods.split(",")], found)


def measured(given: Any, name: str) -> tuple[dict[str, Any], Run]:
    """The object of one set, and what the process took."""
    words = ["--data", str(Path(given.data) / name), "--methods", given.methods, "--json"]
    words += ["--within", WITHIN[name]] if name in WITHIN else []
    words += ["--set", f"index.parts={json.dumps(given.parts.split(','))}"] if given.parts else []
    words += ["--root", str(Path(given.keep) / (name + "-untitled" * given.untitled))] if given.keep else []
    words += ["--delete-titles"] if given.untitled else []
    run = sensegraph("evaluate", "retrieval", *words)
    if run.code:
        sys.exit(f"{name}: {run.err}")
    return json.loads(run.out)["sets"][0], run


def shown(methods: list[str], found: dict[str, tuple[dict[str, Any], Run]]) -> None:
    head = ["set", "questions", *methods, *(f"{m} ms" for m in methods), "index s/MB", "CPU s", "MB", "wall s"]
    rows = [[name, one["questions"], *cells(one, methods), *took(one, run)] for name, (one, run) in found.items()]
    means = {m: {n: one["scores"][m]["means"][METRIC]["mean"] for n, (one, _) in found.items()} for m in methods}
    rows.append(["mean", "", *(f"{100 * sum(means[m].values()) / len(found):.1f}" for m in methods)])
    table(head, [[*row, *[""] * (len(head) - len(row))] for row in rows])
    if len(found) > 1:
        chosen = {n: max(methods, key=lambda m: sum(v for k, v in means[m].items() if k != n)) for n in found}
        print(f"chosen by the other sets: {100 * sum(means[m][n] for n, m in chosen.items()) / len(found):.1f}")


def cells(one: dict[str, Any], methods: list[str]) -> list[str]:
    """Recall of every method, then CPU of a query."""
    real = {
        c["method"]: c["difference"]["mean"] for c in one["comparisons"] if c["metric"] == METRIC and c["p_holm"] < 0.05
    }
    scores = [f"{100 * one['scores'][m]['means'][METRIC]['mean']:.1f}" for m in methods]
    marked = [f"{s} ({100 * real[m]:+.1f})" if m in real else s for s, m in zip(scores, methods, strict=True)]
    return [*marked, *(f"{one['scores'][m]['cpu_ms']:.1f}" for m in methods)]


def took(one: dict[str, Any], run: Run) -> list[str]:
    built = f"{one['index']['s_per_mb']:.1f}" if one["index"]["computed"] else "kept"
    return [built, f"{run.cpu_s:.1f}", f"{run.peak_mb:.0f}", f"{run.wall_s:.1f}"]


if __name__ == "__main__":
    main()
