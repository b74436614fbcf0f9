"""What goes with every table: who worked, on how many questions, at what cost."""

from __future__ import annotations

from sensegraph.lab.experiments.experiment import Outcome
from sensegraph.lab.experiments.sheets import format_count
from sensegraph.types import Usage


def describe_evaluation(found: Outcome) -> str:
    """Who worked, on how much, at what cost: what no table may go without."""
    whole = sum((c.usage for c in found.costs.values()), Usage())
    judging = sum((u for u in found.spent.values()), Usage())
    listed = [r for answers in found.answers.values() for r in answers if not r.failure]
    words = sum(r.words for r in listed) / len(listed) if listed else 0.0
    judge = f", judge {found.judge}" if found.judge else ", no judge"
    questions = format_count(len(found.questions), "question")
    return (
        f"Engine {found.engine}{judge}; {questions}; answers: {_describe_usage(whole)}, "
        f"{whole.seconds:,.1f} s, {words:,.0f} words each on average; measuring: {_describe_usage(judging)}."
    )


def _describe_usage(usage: Usage) -> str:
    calls = usage.calls + usage.embedding_calls
    into = usage.prompt_tokens + usage.embedding_tokens
    return f"{format_count(calls, 'call')}, {into:,} tokens in, {usage.completion_tokens:,} out"
