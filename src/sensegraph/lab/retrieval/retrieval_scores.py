"""Retrieval measured: rankings scored against judgements, and methods compared question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from sensegraph.errors import InputError
from sensegraph.index.index import Index
from sensegraph.index.manifest import Manifest
from sensegraph.lab.retrieval.clock import Cost
from sensegraph.lab.retrieval.metrics import list_metrics, measure_ranking
from sensegraph.lab.retrieval.runs import Named, Run, ask_methods, group_queries
from sensegraph.lab.retrieval.test_collections import JudgedSet, Query
from sensegraph.lab.scores import statistics
from sensegraph.lab.scores.statistics import Floats, Interval, bootstrap_intervals, correct_by_holm, signed_rank_test
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Usage

BASELINE = "bm25"  # what others are compared with, where it is among the methods
_PRIMARY = 5  # the cut of the recall that is compared, where it is among the cuts


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
        return {
            kind: {m: float(np.mean([values[i] for i in places])) for m, values in scores.values.items()}
            for kind, places in self.types.items()
        }


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
    said: dict[str, int] = {}
    for note in (note for f in run.found for note in f.notes):
        said[note] = said.get(note, 0) + 1
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
            ties, losses = len(below) - t.n, t.n - t.wins
            found.append(
                Comparison(s.method, baseline, metric, row[i], t.z, t.n, t.exact, t.p, p, t.wins, ties, losses)
            )
    return tuple(found)


def _score_matrix(scores: Scores) -> Floats:
    """The values of a run, shape (questions, metrics)."""
    return np.array(list(scores.values.values())).T
