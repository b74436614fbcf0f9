"""What an evaluation would take, part by part, before anything is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sensegraph.cli.lab.evaluation_setup import PreparedEvaluation, prepare_evaluation
from sensegraph.lab.experiments import experiment
from sensegraph.lab.experiments.condition_answers import Condition
from sensegraph.lab.experiments.rehearsal import Rehearsed, RehearsedEmbedder, make_stand_in_text
from sensegraph.lab.retrieval.retrieval_tables import align_columns
from sensegraph.types import Answer, Usage

_CONTEXT = 8_000  # tokens of a context that nobody bounds
_SHOWN = ("calls", "prompt_tokens", "completion_tokens", "embedding_tokens", "cost_usd")
_OVERHEAD, _REPLY = 500, 450  # tokens of a prompt besides its context, and of an answer


@dataclass(frozen=True, slots=True)
class Forecast:
    """Parts of a run with what each would take; `least` says that answers could only be guessed from below."""

    parts: Mapping[str, Usage]
    least: bool = False

    @property
    def whole(self) -> Usage:
        """All parts together."""
        return sum(self.parts.values(), Usage())


def forecast_evaluation(file: Path, given: Mapping[str, Any], report: Callable[[str, int, int], None]) -> Forecast:
    """What `evaluate run` would ask for, and is not stored yet. Nothing is asked, and nothing stored."""
    with prepare_evaluation(file, given, report, dry=True) as ready:
        if not any(tool.waits for tool in (*ready.corpus.workspace.tools, ready.tools.judging.engine)):
            return Forecast({})  # all of it is this machine's own work, and not done twice
        answering = Rehearsed(ready.corpus.engine)
        judging = Rehearsed(ready.tools.judging.engine)
        parts: dict[str, Usage] = {}
        if ready.to_index is not None:
            found = ready.corpus.estimate(ready.to_index)
            tokens = found.prompt_tokens, found.completion_tokens
            parts["index"] = Usage(
                found.calls, *tokens, embedding_tokens=found.embedding_tokens, cost_usd=found.cost_usd
            )
            conditions = tuple(replace(c, ask=_GuessedAnswer(c, ready)) for c in ready.conditions)
        else:
            dim = ready.corpus.index().vectors.shape[1]
            ready.corpus.workspace.use_tools(answering, RehearsedEmbedder(ready.corpus.embedder, dim))
            conditions = ready.conditions
        rt = replace(ready.tools.rt, engine=answering)
        tools = replace(ready.tools, rt=rt, judging=replace(ready.tools.judging, engine=judging))
        waiting = experiment.list_unanswered(conditions, ready.questions, tools)
        result = experiment.run_evaluation(replace(ready.plan, draws=1), conditions, ready.questions, tools, "")
        for c in conditions:
            places = [i for i, q in enumerate(ready.questions) if q in waiting[c.name]]
            parts[f"answers of {c.name}"] = sum((result.answers[c.name][i].answer.usage for i in places), Usage())
        parts |= {f"measuring: {task}": usage for task, usage in judging.by_task.items()}
        return Forecast({n: replace(u, seconds=0.0) for n, u in parts.items()}, ready.to_index is not None)


@dataclass(frozen=True, slots=True)
class _GuessedAnswer:
    """An answer of the usual length for one call with a full context: less than a method takes that asks often."""

    condition: Condition
    ready: PreparedEvaluation

    def __call__(self, question: str) -> Answer:
        context = int(self.condition.settings.get("context_tokens") or _CONTEXT)
        engine: Any = self.ready.corpus.engine
        if not engine.waits:
            return Answer(make_stand_in_text(self.condition.name))
        price = engine.price(context + _OVERHEAD, _REPLY)
        return Answer(
            make_stand_in_text(self.condition.name), usage=Usage(1, context + _OVERHEAD, _REPLY, cost_usd=price)
        )


def format_forecast(found: Forecast) -> str:
    """The parts with calls, tokens and cost, and their sum."""
    whole = found.whole
    if not whole.calls and not whole.embedding_tokens:
        return "no calls to a model, no cost; the time is this machine's own"
    rows = [["part", "calls", "tokens in", "tokens out", "cost $"]]
    rows += [_forecast_row(name, u) for name, u in found.parts.items() if u.calls or u.embedding_tokens]
    rows.append(_forecast_row("in all", whole))
    lines = [align_columns(rows)]
    if not whole.cost_usd:
        lines.append("cost not known: no prices are set (endpoint.price_…)")
    if found.least:
        lines.append("at least: a method that asks more than once is foreseen only when the index is there")
    return "\n".join(lines)


def _forecast_row(name: str, u: Usage) -> list[str]:
    into = u.prompt_tokens + u.embedding_tokens
    return [name, f"{u.calls:,}", f"{into:,}", f"{u.completion_tokens:,}", f"{u.cost_usd:.2f}"]


def record_forecast(found: Forecast) -> dict[str, Any]:
    """The parts and their sum, for programs."""
    named = {**found.parts, "all": found.whole}
    return {"least": found.least, "parts": {n: {f: getattr(u, f) for f in _SHOWN} for n, u in named.items()}}
