"""What an evaluation found, as plain objects for programs: the figures, and answers and verdicts one a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from sensegraph.lab.experiments.condition_answers import Condition
from sensegraph.lab.experiments.experiment import Outcome, Verdicts
from sensegraph.lab.scores.pairs import Pair


def record_outcome(found: Outcome) -> dict[str, Any]:
    """All figures: who worked, conditions with their cost, every measure with its means and pairs."""
    measures = [
        {
            "group": m.group,
            "name": m.name,
            "by": m.by,
            "means": {name: m.mean(name) for name in m.values},
            "undefined": {name: m.undefined(name) for name in m.values},
            "values": {name: list(values) for name, values in m.values.items()},
            "pairs": [record_pair(p) for p in compared.pairs],
        }
        for compared in found.compared
        for m in (compared.measure,)
    ]
    return {
        "title": found.plan.title,
        "corpus": found.corpus,
        "engine": found.engine,
        "embedder": found.embedder,
        "judge": found.judge or None,
        "questions": len(found.questions),
        "seed": found.plan.seed,
        "held": list(found.held),
        "conditions": {c.name: _record_condition(found, c) for c in found.conditions},
        "measures": measures,
        "verdicts": _record_judgements(found.verdicts) if found.verdicts else None,
        "spent": {step: asdict(usage) for step, usage in found.spent.items()},
        "notes": list(found.notes),
    }


def _record_condition(found: Outcome, condition: Condition) -> dict[str, Any]:
    spent, answers = found.costs[condition.name], found.answers[condition.name]
    return {
        "method": condition.method,
        "settings": dict(condition.settings),
        "answers": len(answers),
        "failed": sum(bool(r.failure) for r in answers),
        "refused": sum(r.refused for r in answers),
        "cut": sum(r.cut > 0 for r in answers),
        "usage": {f: getattr(spent.usage, f) for f in spent.usage.__slots__},
        "seconds_mean": spent.seconds_mean,
        "seconds_median": spent.seconds_median,
        "context_tokens": spent.context_tokens,
    }


def record_pair(p: Pair) -> dict[str, Any]:
    """A comparison of two conditions, with what may be said of it."""
    return asdict(p) | {"better": p.better or None}


def record_answers(found: Outcome) -> Iterator[Mapping[str, Any]]:
    """Every answer with its question, condition, citations and cost."""
    for name, listed in found.answers.items():
        for question, reply in zip(found.questions, listed, strict=True):
            given = reply.answer
            yield {
                "question": question.id,
                "text": question.text,
                "condition": name,
                "answer": given.text,
                "words": reply.words,
                "failure": reply.failure or None,
                "refused": reply.refused,
                "citations": [asdict(c) for c in given.citations],
                "documents": list(given.evidence.documents),
                "usage": {f: getattr(given.usage, f) for f in given.usage.__slots__},
                "notes": list(given.notes),
            }


def record_verdicts(found: Outcome) -> Iterator[Mapping[str, Any]]:
    """Every verdict and every score of a judge, as it was given."""
    for v in found.verdicts.judgements.verdicts if found.verdicts else ():
        yield asdict(v) | {"question": found.questions[v.question].id, "won": v.won}
    for m in found.marks.marks if found.marks else ():
        yield asdict(m) | {"question": found.questions[m.question].id}


def _record_judgements(found: Verdicts) -> dict[str, Any]:
    """What follows from verdicts on pairs: win rates, bias, agreement with counts."""
    whole = found.bias.whole
    rates = {c: [record_pair(p) | {"rate": asdict(p.rate)} for p in listed] for c, listed in found.pairs.items()}
    return {
        "rules": asdict(found.judgements.rules),
        "verdicts": len(found.judgements.verdicts),
        "missing": found.judgements.missing,
        "pairs": rates,
        "bias": {
            "first": whole.first,
            "consistent": whole.consistent,
            "ties": whole.ties,
            "agreement": found.bias.agreement,
            "length": dict(found.bias.length),
            "suspects": [list(p) for p in found.bias.suspects],
            "warnings": list(found.bias.warnings),
        },
        "agreement": {c: asdict(a) | {"share": a.share, "kept": a.kept} for c, a in found.agreement.items()},
    }


def format_json_lines(objects: Iterable[Mapping[str, Any]]) -> str:
    """Objects as JSON, one a line."""
    return "".join(json.dumps(o, ensure_ascii=False) + "\n" for o in objects)
