"""Retrieval measured: rankings scored against judgements, and methods compared question by question.

A measure of one ranking lies between 0 and 1. `ranked` holds document ids, best first; ranks are their places, so ties
cannot occur. `gold` holds the grade of every document that was judged relevant, each above 0; it is never empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from statistics import median

import numpy as np

from sensegraph.errors import InputError
from sensegraph.index.index import Index
from sensegraph.index.manifest import Manifest
from sensegraph.lab.retrieval.runs import Cost, Named, Run, ask_methods, group_queries
from sensegraph.lab.retrieval.test_collections import JudgedSet, Query
from sensegraph.lab.scores import statistics
from sensegraph.lab.scores.statistics import Floats, Interval, bootstrap_intervals, correct_by_holm, signed_rank_test
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Usage

Gold = Mapping[str, int]
NDCG = 10  # the depth of nDCG

BASELINE = "bm25"  # what others are compared with, where it is among the methods
_PRIMARY = 5  # the cut of the recall that is compared, where it is among the cuts


def recall_at_k(ranked: Sequence[str], gold: Gold, k: int) -> float:
    """The share of the relevant documents that the first `k` hold."""
    return len(gold.keys() & set(ranked[:k])) / len(gold)


def all_gold(ranked: Sequence[str], gold: Gold, k: int) -> float:
    """1 where the first `k` hold every relevant document, as a question of several hops needs; else 0."""
    return float(gold.keys() <= set(ranked[:k]))


def precision_at_k(ranked: Sequence[str], gold: Gold, k: int) -> float:
    """The share of the first `k` places that hold a relevant document; an empty place holds none."""
    return len(gold.keys() & set(ranked[:k])) / k


def reciprocal_rank(ranked: Sequence[str], gold: Gold) -> float:
    """1 / rank of the first relevant document; 0 where there is none."""
    return next((1 / rank for rank, name in enumerate(ranked, 1) if name in gold), 0.0)


def ndcg(ranked: Sequence[str], gold: Gold, k: int = NDCG) -> float:
    """Σ grade / log2(1 + rank) over the first `k`, divided by that of the best order (Järvelin and Kekäläinen 2002).

    The gain is the grade itself, as in trec_eval, so that figures on BEIR's sets can be compared.
    """
    ideal = sorted(gold.values(), reverse=True)
    return _discounted_gain(gold.get(name, 0) for name in ranked[:k]) / _discounted_gain(ideal[:k])


def _discounted_gain(gains: Iterable[int]) -> float:
    return sum(gain / log2(1 + rank) for rank, gain in enumerate(gains, 1))


def list_metrics(cuts: Sequence[int]) -> tuple[str, ...]:
    """The measures that `measure_ranking` gives, in its order."""
    at_cuts = (f"{kind}@{k}" for kind in ("recall", "all", "precision") for k in cuts)
    return (*at_cuts, f"ndcg@{NDCG}", "mrr")


def measure_ranking(ranked: Sequence[str], gold: Gold, cuts: Sequence[int]) -> tuple[float, ...]:
    """Every measure of one ranking: recall, all-gold and precision at each of `cuts`, nDCG@10, reciprocal rank.

    A document that a ranking names twice counts at its first place.
    """
    ranked = tuple(dict.fromkeys(ranked))
    at_cuts = (f(ranked, gold, k) for f in (recall_at_k, all_gold, precision_at_k) for k in cuts)
    return (*at_cuts, ndcg(ranked, gold), reciprocal_rank(ranked, gold))


@dataclass(frozen=True, slots=True)
class Measuring:
    """How to measure: `cuts` of recall, all-gold and precision; the `metric` that tables compare ("" = recall@5).

    `within` names a field of metadata: a question is then asked only of documents that have the same value. `baseline`
    names a method ("" = bm25, else the first). `draws` and `seed` are those of the resampling.
    """

    cuts: tuple[int, ...] = (2, 5, 10)
    metric: str = ""
    within: str = ""
    baseline: str = ""
    draws: int = statistics.DRAWS
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.cuts or min(self.cuts) < 1:
            raise InputError(f"The cuts of a ranking must be at least 1, not {', '.join(map(str, self.cuts))}.")
        if self.draws < 1:
            raise InputError(f"There must be at least 1 draw, not {self.draws}.")
        if self.metric and self.metric not in list_metrics(self.cuts):
            raise InputError(f"No measure is called {self.metric!r}; there are {', '.join(list_metrics(self.cuts))}.")

    @property
    def primary(self) -> str:
        """The metric that tables compare."""
        return self.metric or f"recall@{_PRIMARY if _PRIMARY in self.cuts else self.cuts[-1]}"


DEFAULT = Measuring()


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of one run: of every metric the value of each question, its mean, and its interval over questions.

    `cpu_ms` is the median of a query, warm; `context_tokens` the mean of what would go to a model; `wide` counts the
    questions whose ranking needed a wider context, `empty` those for which no document was named.
    """

    method: str
    values: Mapping[str, tuple[float, ...]]
    means: Mapping[str, Interval]
    cpu_ms: float
    context_tokens: float
    wide: int
    empty: int
    notes: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """One method against the baseline on one metric: the mean difference with its interval, and Wilcoxon's test.

    `p_holm` is corrected over all methods that were compared with the baseline on this metric and set; `z` and `n` are
    those of the test, which is `exact` for few differences.
    """

    method: str
    baseline: str
    metric: str
    difference: Interval
    z: float
    n: int
    exact: bool
    p: float
    p_holm: float
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, slots=True)
class Reranking:
    """Who put the first `top` chunks of every ranking in another order, and what that cost."""

    name: str
    top: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of one set: the questions that were asked, in order, the runs, their scores, the comparisons.

    `unplaced` counts questions without a document to be asked of (see `Measuring.within`). `reranking` is None where
    rankings are the methods' own.
    """

    judged: JudgedSet
    queries: tuple[Query, ...]
    runs: tuple[Run, ...]
    scores: tuple[Scores, ...]
    comparisons: tuple[Comparison, ...]
    baseline: str
    unplaced: int = 0
    reranking: Reranking | None = None

    @property
    def types(self) -> dict[str, list[int]]:
        """The positions of the questions of every type, by type."""
        found: dict[str, list[int]] = {}
        for i, query in enumerate(self.queries):
            found.setdefault(query.type, []).append(i)
        return dict(sorted(found.items()))

    def by_type(self, scores: Scores) -> dict[str, dict[str, float]]:
        """The mean of every metric of one run, by type of question."""
        listed = scores.values.items()
        return {k: {m: float(np.mean([v[i] for i in own])) for m, v in listed} for k, own in self.types.items()}


@dataclass(frozen=True, slots=True)
class Result:
    """What was measured on a set, over which index, and what building that took."""

    found: Measured
    manifest: Manifest
    cost: Cost


def measure(
    judged: JudgedSet, methods: Sequence[Named], index: Index, rt: Runtime, how: Measuring = DEFAULT
) -> Measured:
    """Ask the questions of `judged` of every method over `index`, which holds its documents, and score what is found.

    Where the runtime has a reranker, what is scored is what it makes of the methods' rankings, as in a search. Raises
    InputError for a baseline or a field that does not exist, before anything is asked.
    """
    listed = [m.name for m in methods]
    if len(set(listed)) < len(listed) or not listed:
        raise InputError(f"Name at least one method, and each once; not {', '.join(listed) or 'none'}.")
    if how.baseline and how.baseline not in listed:
        raise InputError(f"The baseline {how.baseline!r} is not among the methods {', '.join(listed)}; add it to them.")
    baseline = how.baseline or (BASELINE if BASELINE in listed else listed[0])
    groups, unplaced = group_queries(judged.queries, how.within, index)
    queries = tuple(q for g in groups for q in g.queries)
    before = rt.reranker.usage() if rt.reranker else Usage()
    runs = ask_methods(methods, groups, index, rt, max(*how.cuts, 10))
    reranking = Reranking(rt.reranker.name, rt.reranker.top, rt.reranker.usage() - before) if rt.reranker else None
    scores = tuple(score_run(run, queries, how) for run in runs)
    return Measured(judged, queries, runs, scores, compare_runs(scores, baseline, how), baseline, unplaced, reranking)


def score_run(run: Run, queries: Sequence[Query], how: Measuring) -> Scores:
    """The scores of a run against the judgements of its questions, in the same order."""
    rows = np.array([measure_ranking(f.documents, q.gold, how.cuts) for f, q in zip(run.found, queries, strict=True)])
    named = list_metrics(how.cuts)
    said = Counter(note for f in run.found for note in f.notes)
    return Scores(
        method=run.method,
        values={m: tuple(rows[:, i].tolist()) for i, m in enumerate(named)},
        means=dict(zip(named, bootstrap_intervals(rows, how.draws, how.seed), strict=True)),
        cpu_ms=1000 * median(f.cpu_s for f in run.found),
        context_tokens=float(np.mean([f.tokens for f in run.found])),
        wide=sum(f.wide for f in run.found),
        empty=sum(not f.documents for f in run.found),
        notes=tuple(sorted(said.items(), key=lambda pair: (-pair[1], pair[0]))),
    )


def compare_runs(scores: Sequence[Scores], baseline: str, how: Measuring) -> tuple[Comparison, ...]:
    """Every other method against the baseline on every metric; each metric is a family of its own for Holm."""
    ground = next(s for s in scores if s.method == baseline)
    others = [s for s in scores if s.method != baseline]
    means = [bootstrap_intervals(_score_matrix(s) - _score_matrix(ground), how.draws, how.seed) for s in others]
    found = []
    for i, (metric, values) in enumerate(ground.values.items()):
        below = np.array(values)
        tests = [signed_rank_test(np.array(s.values[metric]) - below) for s in others]
        corrected = correct_by_holm([t.p for t in tests])
        for s, row, t, p in zip(others, means, tests, corrected, strict=True):
            counts = t.wins, len(below) - t.n, t.n - t.wins
            found.append(Comparison(s.method, baseline, metric, row[i], t.z, t.n, t.exact, t.p, p, *counts))
    return tuple(found)


def _score_matrix(scores: Scores) -> Floats:
    """The values of a run, shape (questions, metrics)."""
    return np.array(list(scores.values.values())).T


@dataclass(frozen=True, slots=True)
class Held:
    """A set held out: the `method` that was best on the others, its `mean` here, and the `best` mean here."""

    name: str
    method: str
    mean: float
    best: float


def choose_held_out(results: Sequence[Measured], metric: str, among: Sequence[str]) -> tuple[Held, ...]:
    """Of every set the method of `among` with the highest mean over the other sets, and what it reaches on this one.

    Sets count alike, whatever their size; of equal methods the one named first is taken. The mean of the `mean`s is an
    honest figure of a grid of settings, the mean of the `best`s is not. Raises InputError with fewer than two sets, or
    for a method that was not measured.
    """
    if len(results) < 2:
        raise InputError("Leaving one set out needs two sets at least; measure on more.")
    table = []
    for found in results:
        scores = {s.method: s for s in found.scores}
        if missing := [name for name in among if name not in scores]:
            raise InputError(f"{missing[0]!r} was not measured on {found.judged.name}; name methods that were.")
        table.append({name: scores[name].means[metric].mean for name in among})
    held = []
    for i, found in enumerate(results):
        others = [row for j, row in enumerate(table) if j != i]
        chosen = max(among, key=lambda name: sum(row[name] for row in others))
        held.append(Held(found.judged.name, chosen, table[i][chosen], max(table[i].values())))
    return tuple(held)
