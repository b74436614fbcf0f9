"""What was measured: as text for people (shares in percent, CPU in ms of a query), as one plain object for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import Any

from sensegraph.lab.retrieval.retrieval_scores import Comparison, Measured, Measuring, Result
from sensegraph.lab.retrieval.runs import Named
from sensegraph.lab.scores.statistics import LEVEL, format_p_value

_MOST = 0.75  # share of questions at an end of the scale from which a set hardly tells methods apart
_NAMED = 5  # judgements of something missing that are named, and notes of a method
_LABELS = {"recall": "R", "ndcg": "nDCG", "mrr": "MRR", "precision": "P"}


def format_result(result: Result, how: Measuring) -> str:
    """Everything about one set: what was measured over what, the methods, the comparisons, the types of question."""
    found = result.found
    parts = ["\n".join(describe_set(result)), tabulate_methods(found)]
    parts += [tabulate_comparisons(found, how)] if found.comparisons else []
    parts += [tabulate_types(found, how)] if len(found.types) > 1 else []
    notes = [*list_ends(found, how), *list_notes(found)]
    parts += ["Notes\n" + "\n".join(f"- {note}" for note in notes)] if notes else []
    return "\n\n".join(parts)


def list_notes(found: Measured) -> list[str]:
    """Rankings that are missing or were widened, and what the methods noted often."""
    notes = []
    for s in found.scores:
        total = len(found.queries)
        if s.empty:
            notes.append(f"{s.method} named no document for {s.empty:,} of {total:,} questions")
        if s.wide:
            notes.append(f"{s.method}: {s.wide:,} of {total:,} rankings were made with a wider context")
        often = [note for note, n in s.notes if 2 * n > total][:_NAMED]
        notes += [f"{s.method}: {note}" for note in often]
    return notes


def list_ends(found: Measured, how: Measuring) -> list[str]:
    """That most questions tell nothing: by the metric that tables compare all methods have the same value."""
    rows, total = list(zip(*(s.values[how.primary] for s in found.scores), strict=True)), len(found.queries)
    equal = [row[0] for row in rows if len(set(row)) == 1]
    if len(found.scores) < 2 or len(equal) < _MOST * total:
        return []
    label = metric_label(how.primary)
    for end, reason in ((1.0, "too easy"), (0.0, "too hard")):
        if (at := equal.count(end)) >= _MOST * total:
            return [f"{label} is {100 * end:.0f} by every method in {at:,} of {total:,} questions: {reason}"]
    return [f"{label} is the same by every method in {len(equal):,} of {total:,} questions"]


def list_set_findings(found: Measured, how: Measuring) -> list[str]:
    """Which methods differ from the baseline by more than chance, by the metric that tables compare, and what ties."""
    name, told = found.judged.name, []
    for c in found.comparisons:
        d = c.difference
        if c.metric == how.primary and c.p_holm < LEVEL and not d.low <= 0 <= d.high:
            better = "better" if d.mean > 0 else "worse"
            told.append(f"{c.method} {better} than {c.baseline} by {_as_points(abs(d.mean)).lstrip('+')} points")
    none = f"no difference from {found.baseline} that is more than chance"
    label = metric_label(how.primary)
    first = [f"{name}, {label}: {', '.join(told) or none}."] if found.comparisons else []
    return [*first, *(f"{name}: {line}." for line in list_ends(found, how))]


def describe_set(result: Result) -> Iterable[str]:
    """What was asked over which index: questions, documents, engine, what could not be read."""
    found, manifest, cost = result.found, result.manifest, result.cost
    judged, counts = found.judged, manifest.counts
    left = [*judged.left_out, *([("without a document to be asked of", found.unplaced)] if found.unplaced else [])]
    without = f" ({'; '.join(f'{n:,} left out: {reason}' for reason, n in left)})" if left else ""
    yield f"{judged.name} ({judged.split}): {len(found.queries):,} question{'s' * (len(found.queries) != 1)}{without}"
    has = [part for part in ("entities", "relations") if counts.get(part)]
    held = ", ".join(f"{counts[name]:,} {name}" for name in ("documents", "chunks", *has))
    built = f"built in {cost.cpu_s:.1f} CPU s, {cost.s_per_mb:.1f} s/MB of {cost.megabytes:.2f} MB"
    took = built if cost.computed else "it was there"
    yield f"index: {held}; engine {manifest.engine}, embedder {manifest.embedder}; {took}"
    if found.reranking:
        by, spent = found.reranking, found.reranking.usage
        price = f", {spent.cost_usd:.4f} USD" if spent.cost_usd else ""
        paid = f"{spent.calls:,} calls, {spent.prompt_tokens:,} tokens{price}" if spent.calls else "no calls"
        yield f"every ranking's first {by.top} chunks within its context reranked by {by.name}: {paid}"
    if judged.skipped:
        yield f"documents that could not be read: {len(judged.skipped):,}, the first: {judged.skipped[0].reason}"
    if judged.dangling:
        more = f" and {len(judged.dangling) - _NAMED:,} more" if len(judged.dangling) > _NAMED else ""
        some = ", ".join(judged.dangling[:_NAMED]) + more
        yield f"judgements of what is not there: {len(judged.dangling):,}: {some}"


def tabulate_methods(found: Measured) -> str:
    """A row a method: every metric but precision, CPU of a query, context tokens."""
    shown = [m for m in found.scores[0].means if not m.startswith("precision")]
    rows = [["method", *map(metric_label, shown), "CPU ms", "tokens"]]
    for s in found.scores:
        means = (_as_percent(s.means[m].mean) for m in shown)
        rows.append([s.method, *means, f"{s.cpu_ms:.1f}", f"{s.context_tokens:,.0f}"])
    return align_columns(rows)


def tabulate_comparisons(found: Measured, how: Measuring) -> str:
    """A row a method: its difference from the baseline in points, the p of Wilcoxon's test raw and by Holm, wins."""
    what = f"{metric_label(how.primary)} − {found.baseline}"
    rows = [[what, "points", "95 %", "p", "p Holm", "wins", "ties", "losses"]]
    for c in found.comparisons:
        if c.metric == how.primary:
            d, counts = c.difference, (str(n) for n in (c.wins, c.ties, c.losses))
            interval = f"{_as_points(d.low)} … {_as_points(d.high)}"
            rows.append([c.method, _as_points(d.mean), interval, *map(format_p_value, (c.p, c.p_holm)), *counts])
    return align_columns(rows)


def tabulate_types(found: Measured, how: Measuring) -> str:
    """A row a type of question: how many, and the metric of every method."""
    by_method = [found.by_type(s) for s in found.scores]
    head = [f"{metric_label(how.primary)} by type", "questions", *(s.method for s in found.scores)]
    rows = [
        [kind or "(none)", f"{len(places):,}", *(_as_percent(table[kind][how.primary]) for table in by_method)]
        for kind, places in found.types.items()
    ]
    return align_columns([head, *rows])


def tabulate_sets(results: Sequence[Result], how: Measuring) -> str:
    """A row a method: the metric on every set, and the mean over sets."""
    sets = [r.found for r in results]
    head = [metric_label(how.primary), *(f.judged.name for f in sets), "mean"]
    rows = []
    for name in (s.method for s in sets[0].scores):
        means = [s.means[how.primary].mean for f in sets for s in f.scores if s.method == name]
        rows.append([name, *map(_as_percent, means), _as_percent(sum(means) / len(means))])
    return align_columns([head, *rows])


def metric_label(metric: str) -> str:
    """A metric as tables call it: recall@5 is R@5."""
    kind, at, cut = metric.partition("@")
    return _LABELS.get(kind, kind) + at + cut


def _as_percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _as_points(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−")


def describe_comparison(c: Comparison) -> str:
    """A comparison on one line, for a picture."""
    return f"{_as_points(c.difference.mean)} ({'' if c.p_holm < 0.001 else 'p '}{format_p_value(c.p_holm)})"


def align_columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows as columns: the first to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numbered = (enumerate(zip(row, widths, strict=True)) for row in rows)
    lines = ("  ".join(c.rjust(w) if i else c.ljust(w) for i, (c, w) in cells) for cells in numbered)
    return "\n".join(map(str.rstrip, lines))


_FIXED = ("name", "requires", "reads")


def record_measurements(methods: Sequence[Named], how: Measuring, results: Sequence[Result]) -> dict[str, Any]:
    """The object that a program is given: how was measured, the methods with their settings, the sets."""
    named = {m.name: {"method": m.method.name, "settings": list_method_settings(m)} for m in methods}
    measuring = asdict(how) | {"metric": how.primary}
    return {"measuring": measuring, "methods": named, "sets": list(map(record_set, results))}


def list_method_settings(named: Named) -> dict[str, Any]:
    """The settings of a method, by name."""
    kind: Any = named.method
    return {f.name: getattr(kind, f.name) for f in fields(kind) if f.name not in _FIXED}


def record_set(result: Result) -> dict[str, Any]:
    """One set: what it holds, what its index took, and of every method scores, comparisons and each question."""
    found, judged = result.found, result.found.judged
    manifest, cost = result.manifest, result.cost
    index = {"engine": manifest.engine, "embedder": manifest.embedder, "counts": dict(manifest.counts)}
    built = {"cpu_s": cost.cpu_s, "megabytes": cost.megabytes, "s_per_mb": cost.s_per_mb, "computed": cost.computed}
    scores = {}
    for s in found.scores:
        means = {metric: asdict(mean) for metric, mean in s.means.items()}
        took = {"cpu_ms": s.cpu_ms, "context_tokens": s.context_tokens, "wide": s.wide, "empty": s.empty}
        scores[s.method] = {"means": means, "by_type": found.by_type(s), **took, "notes": dict(s.notes)}
    left = dict(judged.left_out) | ({"unplaced": found.unplaced} if found.unplaced else {})
    size = {"documents": len(judged.documents), "questions": len(found.queries)}
    lacking = {"left_out": left, "dangling": list(judged.dangling), "skipped": [asdict(s) for s in judged.skipped]}
    types = {kind: len(places) for kind, places in found.types.items()}
    reranking = asdict(found.reranking) if found.reranking else None
    by = {"index": index | built, "reranking": reranking, "baseline": found.baseline, "types": types}
    compared, queries = [asdict(c) for c in found.comparisons], list(record_queries(found))
    told = {"name": judged.name, "split": judged.split, **size, **lacking, **by}
    return {**told, "scores": scores, "comparisons": compared, "queries": queries}


def record_queries(found: Measured) -> Iterable[dict[str, Any]]:
    """Every question with its judgements, and what each method found for it."""
    for i, q in enumerate(found.queries):
        methods = {}
        for run, s in zip(found.runs, found.scores, strict=True):
            own, values = run.found[i], {metric: values[i] for metric, values in s.values.items()}
            told = {"documents": list(own.documents), "tokens": own.tokens, "cpu_ms": 1000 * own.cpu_s}
            methods[run.method] = {**told, "wide": own.wide, **values}
        yield {"id": q.id, "text": q.text, "type": q.type, "gold": dict(q.gold), "methods": methods}
