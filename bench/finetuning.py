"""Training with distractors against training without: `python bench/finetuning.py` (CPU, the extra `finetune`).

Tiny models of random weights learn to answer from passages of a closed world; the questions are about pairs that no
training example shows. Prints exact match by the number of distractors among which the oracle passage stands, for each
way of training, with intervals over the seeds; and what RAFT's P does. `--seeds N`, `--examples N`, `--epochs X`.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from closed_world import DIETS, PARTLY, WITH, WITHOUT, Diet, Found, Learner, found, interval


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--examples", type=int, default=Learner.examples)
    options.add_argument("--epochs", type=float, default=Learner.epochs)
    options.add_argument("--asked", type=int, default=Learner.asked)
    given = options.parse_args()
    how = Learner(given.examples, given.epochs, given.asked)
    begun, results = time.perf_counter(), list[Found]()
    with TemporaryDirectory() as folder:
        for seed in range(given.seeds):
            for diet in DIETS:
                results.append(found(Path(folder) / "run", diet, seed, how))
                told(results[-1])
    print()
    tables(results, how)
    print(f"\n{len(results)} trainings and their questions in {time.perf_counter() - begun:,.0f} s")


def told(one: Found) -> None:
    exact = "  ".join(f"{n}: {v:.3f}" for n, v in one.exact.items())
    rest = f"held-out loss {one.held_out:.3f}, {one.seconds:.1f} s"
    print(f"seed {one.seed}  {one.diet:<26} {exact}  {rest}", file=sys.stderr)


def tables(results: list[Found], how: Learner) -> None:
    seeds = len({r.seed for r in results})
    print(f"exact match on held-out pairs, {how.asked} questions a seed, {seeds} seeds, 95 % intervals (Student's t)")
    print(f"{'trained':<28}" + "".join(f"{f'{n} distractors':>26}" for n in how.among))
    for diet in DIETS:
        print(f"{diet.name:<28}" + "".join(f"{said(values(results, diet, n)):>26}" for n in how.among))
    for name, one, other in (("at most 3 − without", WITH, WITHOUT), ("P = 0.8 − P = 1", PARTLY, WITH)):
        gaps = [differences(results, one, other, n) for n in how.among]
        print(f"{name:<28}" + "".join(f"{said(gap, signed=True):>26}" for gap in gaps))
    print(f"\n{'misled by a distractor':<28}")
    for diet in DIETS:
        shares = [[r.misled[n] for r in results if r.diet == diet.name] for n in how.among]
        print(f"{diet.name:<28}" + "".join(f"{said(share):>26}" for share in shares))


def values(results: list[Found], diet: Diet, count: int) -> list[float]:
    return [r.exact[count] for r in results if r.diet == diet.name]


def differences(results: list[Found], one: Diet, other: Diet, count: int) -> list[float]:
    """By seed: the models begin alike and are asked the same."""
    pairs = zip(values(results, one, count), values(results, other, count), strict=True)
    return [a - b for a, b in pairs]


def said(found_values: list[float], *, signed: bool = False) -> str:
    mean, low, high = interval(found_values)
    form = "+.3f" if signed else ".3f"
    return f"{mean:{form}} [{low:{form}}, {high:{form}}]"


if __name__ == "__main__":
    main()
