"""Whether a model is fit to judge: pairs of answers whose winners are beyond doubt, in both orders (G42, L30).

    python bench/judge_cases.py --root DIR [--replicates 5]

The endpoint is that of DIR/sensegraph.toml; what was judged is kept there. A judge that misses a winner, that follows
the order, or whose verdicts cannot be read should not judge close comparisons.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sensegraph.corpus.corpus import Corpus
from sensegraph.lab.judging.bias import assess_bias, tally_places
from sensegraph.lab.judging.criteria import choose_rules
from sensegraph.lab.judging.judge_calls import judge_pairs
from sensegraph.lab.judging.judgements import tally_pair
from sensegraph.runtime.runtime import Runtime

CASES = Path(__file__).with_suffix(".toml")
PAIR = ("first", "second")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True, help="a folder with sensegraph.toml: which model judges")
    parser.add_argument("--replicates", type=int, default=5)
    given = parser.parse_args(argv)
    with Corpus.open(given.root) as corpus:
        rt = corpus.runtime()
        print(f"judge {rt.engine.name}, {given.replicates} replicates in both orders")
        missed = sum(judged(case, given.replicates, rt) for case in cases())
    print(f"{missed} winners missed" if missed else "all winners found")
    return int(missed > 0)


def cases() -> list[dict[str, Any]]:
    return list(tomllib.loads(CASES.read_text(encoding="utf-8"))["cases"])


def judged(case: dict[str, Any], replicates: int, rt: Runtime) -> int:
    """The criteria by which the wrong answer wins, or none; prints a line for each."""
    how = replace(choose_rules(case["preset"], replicates=replicates), both_orders=True)
    found = judge_pairs({name: [case[name]] for name in PAIR}, [case["question"]], how, rt)
    missed = 0
    print(f"\n{case['name']}")
    for criterion, wins in case["wins"].items():
        mean = tally_pair(found, criterion, PAIR).mean
        right = mean is not None and (mean > 50 if wins == "first" else mean < 50)
        missed += not right
        told = tally_places(found.cells[criterion, PAIR])
        score = "no verdict" if mean is None else f"{mean:5.1f} for the first"
        kept = "" if told.consistent is None else f", {told.same} of {told.orders} the same in both orders"
        print(f"  {'ok  ' if right else 'FAIL'} {criterion:17} {score}{kept}; expected: {wins}")
    report = assess_bias(found)
    for warning in (*report.warnings, *report.remarks):
        print(f"  ! {warning}")
    return missed


if __name__ == "__main__":
    sys.exit(main())
