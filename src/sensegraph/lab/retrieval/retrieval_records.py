"""What was measured, as one plain object for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from sensegraph.lab.retrieval.retrieval_scores import Measured, Measuring, Result
from sensegraph.lab.retrieval.runs import Named

_FIXED = ("name", "requires", "reads")


def record_measurements(methods: Sequence[Named], how: Measuring, results: Sequence[Result]) -> dict[str, Any]:
    """The object that a program is given: how was measured, the methods with their settings, the sets."""
    named = {m.name: {"method": m.method.name, "settings": list_method_settings(m)} for m in methods}
    return {
        "measuring": asdict(how) | {"metric": how.primary},
        "methods": named,
        "sets": list(map(record_set, results)),
    }


def list_method_settings(named: Named) -> dict[str, Any]:
    """The settings of a method, by name."""
    kind: Any = named.method
    return {f.name: getattr(kind, f.name) for f in fields(kind) if f.name not in _FIXED}


def record_set(result: Result) -> dict[str, Any]:
    """One set: what it holds, what its index took, and of every method scores, comparisons and each question."""
    found, judged = result.found, result.found.judged
    manifest, cost = result.manifest, result.cost
    index = {
        "engine": manifest.engine,
        "embedder": manifest.embedder,
        "counts": dict(manifest.counts),
        "cpu_s": cost.cpu_s,
        "megabytes": cost.megabytes,
        "s_per_mb": cost.s_per_mb,
        "computed": cost.computed,
    }
    scores = {
        s.method: {
            "means": {metric: asdict(mean) for metric, mean in s.means.items()},
            "by_type": found.by_type(s),
            "cpu_ms": s.cpu_ms,
            "context_tokens": s.context_tokens,
            "wide": s.wide,
            "empty": s.empty,
            "notes": dict(s.notes),
        }
        for s in found.scores
    }
    return {
        "name": judged.name,
        "split": judged.split,
        "documents": len(judged.documents),
        "questions": len(found.queries),
        "left_out": dict(judged.left_out) | ({"unplaced": found.unplaced} if found.unplaced else {}),
        "dangling": list(judged.dangling),
        "skipped": [asdict(s) for s in judged.skipped],
        "index": index,
        "reranking": asdict(found.reranking) if found.reranking else None,
        "baseline": found.baseline,
        "types": {kind: len(places) for kind, places in found.types.items()},
        "scores": scores,
        "comparisons": [asdict(c) for c in found.comparisons],
        "queries": _record_queries(found),
    }


def _record_queries(found: Measured) -> list[dict[str, Any]]:
    return [
        {
            "id": q.id,
            "text": q.text,
            "type": q.type,
            "gold": dict(q.gold),
            "methods": {
                run.method: {
                    "documents": list(run.found[i].documents),
                    "tokens": run.found[i].tokens,
                    "cpu_ms": 1000 * run.found[i].cpu_s,
                    "wide": run.found[i].wide,
                    **{metric: values[i] for metric, values in s.values.items()},
                }
                for run, s in zip(found.runs, found.scores, strict=True)
            },
        }
        for i, q in enumerate(found.queries)
    ]
