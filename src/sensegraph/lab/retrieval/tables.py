"""What was measured, as text for people: shares in percent, differences in points, CPU in milliseconds of a query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sensegraph.lab.retrieval.clock import Cost
from sensegraph.lab.retrieval.retrieval import Comparison, Measured, Measuring, Reranking, Result, Scores

_NAMED = 5  # judgements of something missing that are named, and notes of a method
_LABELS = {"recall": "R", "ndcg": "nDCG", "mrr": "MRR", "precision": "P"}


def text(result: Result, how: Measuring) -> str:
    """Everything about one set: what was measured over what, the methods, the comparisons, the types of question."""
    found = result.found
    parts = ["\n".join(_head(result)), methods(found)]
    parts += [comparisons(found, how)] if found.comparisons else []
    parts += [types(found, how)] if len(found.types) > 1 else []
    return "\n\n".join([*parts, *_notes(found)])


def _head(result: Result) -> Iterable[str]:
    found, manifest = result.found, result.manifest
    judged, counts = found.judged, manifest.counts
    left = [*judged.left_out, *([("without a document to be asked of", found.unplaced)] if found.unplaced else [])]
    without = f" ({'; '.join(f'{n:,} left out: {reason}' for reason, n in left)})" if left else ""
    yield f"{judged.name} ({judged.split}): {len(found.queries):,} question{'s' * (len(found.queries) != 1)}{without}"
    has = [part for part in ("entities", "relations") if counts.get(part)]
    held = ", ".join(f"{counts[name]:,} {name}" for name in ("documents", "chunks", *has))
    yield f"index: {held}; engine {manifest.engine}, embedder {manifest.embedder}; {_cost(result.cost)}"
    if found.reranking:
        yield _reranked(found.reranking)
    if judged.skipped:
        yield f"documents that could not be read: {len(judged.skipped):,}, the first: {judged.skipped[0].reason}"
    if judged.dangling:
        yield f"judgements of what is not there: {len(judged.dangling):,}: {_some(judged.dangling)}"


def _reranked(by: Reranking) -> str:
    spent = by.usage
    cost = f", {spent.cost_usd:.4f} USD" if spent.cost_usd else ""
    paid = f"{spent.calls:,} calls, {spent.prompt_tokens:,} tokens{cost}" if spent.calls else "no calls"
    return f"every ranking's first {by.top} chunks within its context reranked by {by.name}: {paid}"


def _some(items: Sequence[str]) -> str:
    more = f" and {len(items) - _NAMED:,} more" if len(items) > _NAMED else ""
    return ", ".join(items[:_NAMED]) + more


def _cost(cost: Cost) -> str:
    if not cost.computed:
        return "it was there"
    return f"built in {cost.cpu_s:.1f} CPU s, {cost.s_per_mb:.1f} s/MB of {cost.megabytes:.2f} MB"


def methods(found: Measured) -> str:
    """A row a method: every metric but precision, CPU of a query, context tokens."""
    shown = [m for m in found.scores[0].means if not m.startswith("precision")]
    head = ["method", *map(label, shown), "CPU ms", "tokens"]
    rows = [[s.method, *(_percent(s.means[m].mean) for m in shown), *_spent(s)] for s in found.scores]
    return columns([head, *rows])


def _spent(scores: Scores) -> list[str]:
    return [f"{scores.cpu_ms:.1f}", f"{scores.context_tokens:,.0f}"]


def comparisons(found: Measured, how: Measuring) -> str:
    """A row a method: its difference from the baseline in points, the p of Wilcoxon's test raw and by Holm, wins."""
    head = [f"{label(how.primary)} − {found.baseline}", "points", "95 %", "p", "p Holm", "wins", "ties", "losses"]
    rows = [_comparison(c) for c in found.comparisons if c.metric == how.primary]
    return columns([head, *rows])


def _comparison(c: Comparison) -> list[str]:
    d = c.difference
    low_high = f"{_points(d.low)} … {_points(d.high)}"
    return [c.method, _points(d.mean), low_high, _p(c.p), _p(c.p_holm), *(str(n) for n in (c.wins, c.ties, c.losses))]


def types(found: Measured, how: Measuring) -> str:
    """A row a type of question: how many, and the metric of every method."""
    by_method = [found.by_type(s) for s in found.scores]
    head = [f"{label(how.primary)} by type", "questions", *(s.method for s in found.scores)]
    rows = [
        [kind or "(none)", f"{len(places):,}", *(_percent(table[kind][how.primary]) for table in by_method)]
        for kind, places in found.types.items()
    ]
    return columns([head, *rows])


def summary(results: Sequence[Result], how: Measuring) -> str:
    """A row a method: the metric on every set, and the mean over sets."""
    sets = [r.found for r in results]
    head = [label(how.primary), *(f.judged.name for f in sets), "mean"]
    rows = []
    for name in (s.method for s in sets[0].scores):
        means = [s.means[how.primary].mean for f in sets for s in f.scores if s.method == name]
        rows.append([name, *map(_percent, means), _percent(sum(means) / len(means))])
    return columns([head, *rows])


def _notes(found: Measured) -> Iterable[str]:
    """What has to be said of the methods: rankings that are missing or were widened, and what they noted often."""
    lines = []
    for s in found.scores:
        total = len(found.queries)
        if s.empty:
            lines.append(f"- {s.method} named no document for {s.empty:,} of {total:,} questions")
        if s.wide:
            lines.append(f"- {s.method}: {s.wide:,} of {total:,} rankings were made with a wider context")
        often = [note for note, n in s.notes if 2 * n > total][:_NAMED]
        lines += [f"- {s.method}: {note}" for note in often]
    return ["Notes\n" + "\n".join(lines)] if lines else []


def label(metric: str) -> str:
    """A metric as tables call it: recall@5 is R@5."""
    kind, at, cut = metric.partition("@")
    return _LABELS.get(kind, kind) + at + cut


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _points(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−")


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def told(c: Comparison) -> str:
    """A comparison on one line, for a picture."""
    return f"{_points(c.difference.mean)} ({_p(c.p_holm) if c.p_holm < 0.001 else f'p {c.p_holm:.3f}'})"


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows as columns: the first to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(c.rjust(w) if i else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))).rstrip()
        for row in rows
    )
