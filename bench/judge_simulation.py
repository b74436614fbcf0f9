"""Judges whose faults are known: how often the report warns of them, and how often its headline says "better".

    python bench/judge_simulation.py [--runs 200] [--questions 40]

A row a judge and a way to draw lengths. "warned": runs with a warning of place, length, or a difference that cannot be
told from one of length; "plain better" by the win rate alone; "better": what the headline says, at equal length.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import simulated_judges as simulated
from sensegraph.lab.judging.bias import assess_bias
from sensegraph.lab.judging.judgements import tally_pair
from sensegraph.lab.scores.statistics import compare_judged_pairs

EQUAL, LONGER, FAR = simulated.Lengths(), simulated.Lengths((270, 330)), simulated.Lengths((240, 360))
ALWAYS = simulated.Lengths(ratio=0.3)
RUNS = [
    ("counts words, lengths alike", simulated.count_words, EQUAL, True, None),
    ("counts words, one longer", simulated.count_words, LONGER, True, None),
    ("counts words, one far longer", simulated.count_words, FAR, True, None),
    ("counts words, one always 30 % longer", simulated.count_words, ALWAYS, True, None),
    ("counts words, one order", simulated.count_words, LONGER, False, None),
    ("mostly counts words, lengths alike", simulated.mostly_count_words, EQUAL, True, None),
    ("mostly counts words, one longer", simulated.mostly_count_words, LONGER, True, None),
    ("takes the first", simulated.take_first, LONGER, True, None),
    ("takes the first, one order", simulated.take_first, LONGER, False, None),
    ("mostly takes the first", simulated.mostly_take_first, LONGER, True, None),
    ("mostly takes the first, one order", simulated.mostly_take_first, LONGER, False, None),
    ("fair, neither better", simulated.toss_coins, EQUAL, True, None),
    ("fair, neither better, one longer", simulated.toss_coins, LONGER, True, None),
    ("fair, neither better, one order", simulated.toss_coins, LONGER, False, None),
    ("fair, neither better, one always longer", simulated.toss_coins, ALWAYS, True, None),
    ("fair, first better in 80 %", simulated.toss_coins, EQUAL, True, 0.8),
    ("fair, first better in 80 %, other longer", simulated.toss_coins, LONGER, True, 0.8),
    ("fair, first better in 95 %, one order", simulated.toss_coins, LONGER, False, 0.95),
]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--questions", type=int, default=40)
    given = parser.parse_args()
    print(f"{'judge':44}{'warned':>8}{'plain better':>14}{'better':>8}   of {given.runs}, {given.questions} questions")
    for name, judge, lengths, both, quality in RUNS:
        warned = plain = better = 0
        for seed in range(given.runs):
            run = simulated.judge_run(judge, lengths, seed, given.questions, both, quality)
            found = assess_bias(run)
            warned += bool(found.warnings)
            scores = {p: tally_pair(run, "comprehensiveness", p).scores for p in run.pairs}
            plain += bool(compare_judged_pairs(scores)[0].better)
            better += bool(found.controlled["comprehensiveness"][0].better)
        print(f"{name:44}{warned:8}{plain:14}{better:8}", flush=True)


if __name__ == "__main__":
    main()
