"""An evaluation carried out: questions asked under every condition, answers measured, conditions compared.

Everything not under test is equal: index, engine, answer prompt, length asked for, context. What is not equal is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sensegraph.errors import InputError, UnsupportedTask
from sensegraph.evaluation import measures
from sensegraph.evaluation.answering import Condition, Cost, Reply, cost, replies
from sensegraph.evaluation.checking import Fetch
from sensegraph.evaluation.claimify import ClaimSettings
from sensegraph.evaluation.measures import Measure
from sensegraph.evaluation.pairs import Pair, all_pairs
from sensegraph.evaluation.plan import Asked, Plan
from sensegraph.protocols import Task
from sensegraph.runtime import Runtime

_NEEDS: tuple[tuple[str, Task], ...] = (("judge", "judge"), ("scores", "score"))


@dataclass(frozen=True, slots=True)
class Tools:
    """Who works: `rt` keeps and measures answers, `judging` judges them (often the same), `fetch` reads documents."""

    rt: Runtime
    judging: Runtime
    fetch: Fetch


@dataclass(frozen=True, slots=True)
class Compared:
    """A measure, and every pair of conditions on it: one family for Holm."""

    measure: Measure
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that an evaluation found, before it is put into words."""

    plan: Plan
    conditions: tuple[Condition, ...]
    questions: tuple[Asked, ...]
    answers: Mapping[str, tuple[Reply, ...]]
    costs: Mapping[str, Cost]
    compared: tuple[Compared, ...]
    engine: str
    embedder: str
    judge: str
    corpus: str
    held: tuple[str, ...] = ()


def check(plan: Plan, questions: Sequence[Asked], tools: Tools) -> None:
    """Raise, before any work, for a metric that the engine or the questions do not allow."""
    for metric, task in _NEEDS:
        if metric in plan.metrics and task not in tools.judging.engine.tasks:
            raise UnsupportedTask(f"The metric {metric!r}", tools.judging.engine.name, frozenset({task}))
    if "reference" in plan.metrics and not any(q.references for q in questions):
        raise InputError(
            "The metric 'reference' needs questions with reference answers (field `answers`); none of these has one."
        )


def run(plan: Plan, conditions: Sequence[Condition], questions: Sequence[Asked], tools: Tools, corpus: str) -> Outcome:
    """Ask and measure; what is there already is not asked for again."""
    check(plan, questions, tools)
    answers = {c.name: replies(c, questions, tools.rt, most_words=plan.answer_words) for c in conditions}
    found = [measures.lengths(answers)]
    if "claims" in plan.metrics:
        found += measures.claims(answers, questions, ClaimSettings(), tools.judging)
    if "grounding" in plan.metrics:
        found += measures.grounding(answers, tools.fetch, tools.judging)
    if "reference" in plan.metrics:
        found += measures.reference(answers, questions)
    return Outcome(
        plan,
        tuple(conditions),
        tuple(questions),
        answers,
        {name: cost(given) for name, given in answers.items()},
        tuple(Compared(m, all_pairs(m.values, draws=plan.draws, seed=plan.seed)) for m in found),
        tools.rt.engine.name,
        tools.rt.embedder.name,
        tools.judging.engine.name if {"judge", "scores"} & set(plan.metrics) else "",
        corpus,
        tuple(held_equal(plan, conditions)),
    )


def held_equal(plan: Plan, conditions: Sequence[Condition]) -> list[str]:
    """What is equal for all conditions and what is not, in sentences."""
    sizes = {c.name: c.settings.get("context_tokens") for c in conditions}
    said = []
    if len(set(sizes.values())) == 1 and None not in sizes.values():
        said.append(f"Context: {next(iter(sizes.values())):,} tokens for every condition.")
    else:
        each = ", ".join(f"{n} {s:,}" if s else f"{n} without such a bound" for n, s in sizes.items())
        said.append(f"The contexts are NOT equal, in tokens: {each}. A difference may be one of context.")
    bound = f"cut to {plan.answer_words:,} words, in whole sentences" if plan.answer_words else "not cut"
    said.append(f"One engine, one answer prompt and one wanted length for all; answers are {bound}.")
    return said
