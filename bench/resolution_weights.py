"""Fits the weights by which names of several words are compared, and shows what they do on kinds not seen before.

    python bench/resolution_weights.py [--data DIR] [--seeds 1 …] [--sets …] [--write]

Sets are the two public ones of record tables and six that `bench/matching_sets.py` makes. For each kind of list the
weights are fitted on all sets of the other kinds, and with these the set is resolved by names alone, without types:
as a heap, and with each table as a list that names a thing once. Beside it stand plain measures, each cut where it is
best on this very set, over all candidates: token-set ratio, TF-IDF cosine, Jaro-Winkler. F1 of pairs across the
tables, in percent; a pair counts as wrong where a known match has one of its names. With several seeds, for which the
six are made anew each, a last table has the mean and the worst of them. `--write` fits on all sets of the first seed
and writes the file that the package reads.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

import msgspec
import numpy as np
from numpy.typing import NDArray

import matching_sets
from resolution import TABLES, Records, across, judged, measure_baselines, records
from sensegraph.resolution import Mentioned, Resolving, resolve
from sensegraph.resolution.comparison import weighing
from sensegraph.resolution.comparison.aligned import align_names, shared_code
from sensegraph.resolution.comparison.scoring import WEIGHED, prepare_collection
from sensegraph.resolution.judged_pairs import block_pairs

KINDS = {"er-abt-buy": "products", "electronics": "products", "er-dblp-acm": "papers"}
SETS = (*TABLES, *matching_sets.KINDS)
FILE = Path(weighing.__file__).with_name("weights.json")
ACCEPT, REJECT, SURE = Resolving().accept, Resolving().reject, 0.87
PENALTY = 0.002  # on the squares of the weights of features of unit variance
Floats = NDArray[np.float64]
Pair = tuple[int, int]


@dataclass(frozen=True)
class Pairs:
    """The candidates of a set: what is known and seen of each. `truth` is 1, 0, or -1 where nothing is known."""

    kind: str
    matches: int
    rows: list[Pair]
    truth: NDArray[np.int64]
    across: NDArray[np.bool_]
    weighed: NDArray[np.bool_]
    vetoed: NDArray[np.bool_]
    ruled: Floats
    features: Floats


def read_set(name: str, data: Path, seed: int) -> Records:
    if name in TABLES:
        return records(data / name, TABLES[name])
    made = matching_sets.make_set(name, seed)
    sides = {"left": made.left, "right": made.right}
    items = [Mentioned(f"{side}-{i}", n, listed=side) for side, names in sides.items() for i, n in enumerate(names)]
    return Records(items, {(f"left-{a}", f"right-{b}") for a, b in made.matches})


def describe_set(kind: str, truth: Records) -> Pairs:
    items = sorted((replace(item, listed="") for item in truth.items), key=lambda item: item.id)
    found, known = prepare_collection(items, Resolving()), truth.known()
    near = block_pairs(found).pairs
    rows = list(zip(near.one.tolist(), near.other.tolist(), strict=True))
    told, features, judgements = [], [], []
    for a, b in rows:
        one, other = items[a].id, items[b].id
        counts = one[0] != other[0] and (one in known or other in known)
        told.append(int((one, other) in truth.matches) if counts else -1)
        judgements.append(found.judge(a, b))
        seen = [0.0] * len(weighing.FEATURES)
        if judgements[-1].kind in WEIGHED:
            x, y = found.names(a)[0], found.names(b)[0]
            if (y.core, y.raw) < (x.core, x.raw):
                x, y = y, x
            code = shared_code(x, y, found.words)
            seen = [*weighing.describe_pair(x, y, align_names(x, y, found.words), code, found.words)]
        features.append(seen)
    return Pairs(
        kind, len(truth.matches), rows, np.array(told),
        np.array([items[a].id[0] != items[b].id[0] for a, b in rows]),
        np.array([j.kind in WEIGHED for j in judgements]), np.array([j.veto for j in judgements]),
        np.array([j.score for j in judgements]), np.array(features),
    )  # fmt: skip


# ── fitting ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def fit_logistic(sets: Sequence[tuple[Floats, NDArray[np.int64]]], penalty: float) -> Floats:
    """Weights of the columns, and of 1 last; every set weighs alike."""
    x, y = np.vstack([x for x, _ in sets]), np.concatenate([y for _, y in sets])
    share = np.concatenate([np.full(len(y), 1 / len(y) / len(sets)) for _, y in sets])
    mean, spread = x.mean(0), np.maximum(x.std(0), 1e-9)
    table = np.column_stack(((x - mean) / spread, np.ones(len(x))))
    ridge = np.diag([penalty] * x.shape[1] + [0.0])
    weights = np.zeros(table.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (share * (p - y)) + ridge @ weights
        weights = weights - np.linalg.solve((table.T * (share * p * (1 - p))) @ table + ridge, slope)
    return np.append(weights[:-1] / spread, weights[-1] - (weights[:-1] / spread) @ mean)


def move_cut(sets: Sequence[Pairs], logits: Sequence[Floats]) -> float:
    """What is added to logits so that taking pairs from `ACCEPT` on gives the best mean F1."""

    def mean_f1(cut: float) -> float:
        found = []
        for pairs, logit in zip(sets, logits, strict=True):
            sure = ~pairs.weighed & ~pairs.vetoed & (pairs.ruled >= ACCEPT)
            taken = (pairs.truth >= 0) & ((logit >= cut) | sure)
            found.append(2 * (pairs.truth[taken] == 1).sum() / (taken.sum() + pairs.matches))
        return float(np.mean(found))

    return weighing.find_logit(ACCEPT) - max(np.linspace(-4, 4, 81), key=mean_f1)


def fit_weights(sets: Sequence[Pairs]) -> weighing.Weights:
    told = [pairs.weighed & (pairs.truth >= 0) for pairs in sets]
    pair = fit_logistic([(p.features[t], p.truth[t]) for p, t in zip(sets, told, strict=True)], PENALTY)
    logits = [np.where(p.weighed, p.features @ pair[:-1] + pair[-1], -99.0) for p in sets]
    pair[-1] += move_cut(sets, logits)
    alone = [
        np.where(p.weighed, 1 / (1 + np.exp(-np.clip(p.features @ pair[:-1] + pair[-1], -20, 20))), p.ruled)
        for p in sets
    ]
    leads = []
    for listed in (False, True):
        tables, chosen = [], []
        for p, score in zip(sets, alone, strict=True):
            open_ = ~p.vetoed & (p.across | (not listed))
            scores = {row: s for row, s, o in zip(p.rows, score.tolist(), open_.tolist(), strict=True) if o}
            sure = open_ & ~p.weighed & (p.ruled >= SURE)
            led = weighing.list_leads(scores, {row for row, s in zip(p.rows, sure.tolist(), strict=True) if s})
            table = np.array([
                (weighing.find_logit(s), *sorted(led.get(row, (-4.0, -4.0))))
                for row, s in zip(p.rows, score.tolist(), strict=True)
            ])  # fmt: skip
            tables.append(table)
            chosen.append(open_ & (p.weighed | (listed & (p.ruled >= REJECT) & (p.ruled < SURE))))
        use = [c & (p.truth >= 0) for c, p in zip(chosen, sets, strict=True)]
        lead = fit_logistic([(t[u], p.truth[u]) for t, u, p in zip(tables, use, sets, strict=True)], 1e-4)
        logits = [np.where(c, t @ lead[:-1] + lead[-1], -99.0) for t, c in zip(tables, chosen, strict=True)]
        lead[-1] += move_cut(sets, logits)
        leads.append(lead)
    numbers = [tuple(round(float(w), 3) for w in weights) for weights in (pair, *leads)]
    return msgspec.convert(dict(zip(("pair", "heap", "lists"), numbers, strict=True)), weighing.Weights)


# ── measuring ────────────────────────────────────────────────────────────────────────────────────────────────────────


def measure_ours(truth: Records, weights: weighing.Weights) -> dict[str, tuple[float, float, float, int]]:
    with mock.patch.object(weighing, "load_weights", return_value=weights):
        plain = [replace(item, listed="") for item in truth.items]
        return {
            label: judged(across(resolve(items)), truth) for label, items in (("alone", plain), ("once", truth.items))
        }


def print_table(truths: Mapping[str, Records], sets: Mapping[str, Pairs]) -> dict[str, tuple[float, float, float]]:
    """The table of one seed; gives F1 as a heap, as lists, and of the best plain measure."""
    shown = {}
    print(f"{'set':<16}{'fitted without':<16}{'names':>6} {'alone: P':>9}{'R':>6}{'F1':>6}{'once: F1':>10}", end="")
    print("".join(f"{name:>11}" for name in ("token-set", "TF-IDF", "Jaro-W.")) + "   alone less the best")
    for name, truth in truths.items():
        kind = sets[name].kind
        ours = measure_ours(truth, fit_weights([p for p in sets.values() if p.kind != kind]))
        others = measure_baselines(truth, Resolving())
        p, r, f, _ = ours["alone"]
        print(f"{name:<16}{kind:<16}{len(truth.items):>6} {p:>9.1f}{r:>6.1f}{f:>6.1f}{ours['once'][2]:>10.1f}", end="")
        best = max(others.values())
        print("".join(f"{figure:>11.1f}" for figure in others.values()) + f"   {f - best:+.1f}", flush=True)
        shown[name] = f, ours["once"][2], best
    return shown


def print_seeds(found: Sequence[Mapping[str, tuple[float, float, float]]]) -> None:
    print(f"{'mean of ' + str(len(found)) + ' seeds':<16}{'alone: F1':>10}{'once: F1':>10}{'best plain':>12}", end="")
    print("   alone less the best: mean, worst")
    for name in found[0]:
        rows = np.array([seed[name] for seed in found])
        alone, once, best = rows.mean(0)
        less = rows[:, 0] - rows[:, 2]
        print(f"{name:<16}{alone:>10.1f}{once:>10.1f}{best:>12.1f}   {less.mean():+.1f}, {less.min():+.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    parser.add_argument("--seeds", nargs="*", type=int, default=[1])
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=SETS)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    found = []
    for place, seed in enumerate(args.seeds):
        truths = {name: read_set(name, args.data, seed) for name in args.sets}
        sets = {name: describe_set(KINDS.get(name, name), truth) for name, truth in truths.items()}
        if args.write and not place:
            weights = fit_weights(list(sets.values()))
            FILE.write_bytes(msgspec.json.format(msgspec.json.encode(weights), indent=1) + b"\n")
            shown = dict(zip((*weighing.FEATURES, "1"), weights.pair, strict=True))
            print("\n".join(f"{name:<28}{weight:>8.3f}" for name, weight in shown.items()))
            print(f"heap {weights.heap}\nlists {weights.lists}")
        print(f"seed {seed}")
        found.append(print_table(truths, sets))
    if len(found) > 1:
        print_seeds(found)


if __name__ == "__main__":
    main()
