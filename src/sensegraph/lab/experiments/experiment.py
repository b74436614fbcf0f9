"""An evaluation carried out: questions asked under every condition, answers measured, conditions compared.

A measure is one number a question, so that conditions can be compared on the same questions. Everything not under test
is equal: index, engine, answer prompt, length asked for, context. What is not equal is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from sensegraph.answering.grounding.checking import Fetch, check_answers
from sensegraph.answering.grounding.citations import choose_supporter
from sensegraph.errors import InputError, UnsupportedTask
from sensegraph.lab.experiments.conditions import (
    Asked,
    Condition,
    Cost,
    Plan,
    Reply,
    ask_condition,
    sum_costs,
)
from sensegraph.lab.grounding import claims as rules
from sensegraph.lab.grounding.claims import Claimed, ClaimSettings, find_claims
from sensegraph.lab.judging.bias import Bias, assess_bias
from sensegraph.lab.judging.judge_calls import judge_pairs, score_answers
from sensegraph.lab.judging.judgements import (
    Agreement,
    Judgements,
    Marks,
    compare_with_counts,
    tally_pair,
    winners_by_question,
)
from sensegraph.lab.judging.judgements import Compared as OneCompared
from sensegraph.lab.scores import standard
from sensegraph.lab.scores.statistics import Pair, Values, compare_all_pairs, compare_judged_pairs
from sensegraph.protocols import Task
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Usage

Answers = Mapping[str, Sequence[Reply]]
# what answers are compared with reference answers by
FACTORS = ("containment", "token-recall", "exact-match", "token-f1", "rouge-1", "rouge-l")
_NEEDS: tuple[tuple[str, Task], ...] = (("judge", "judge"), ("scores", "score"))
_COUNTED = (("comprehensiveness", "claims"), ("diversity", "clusters at 0.5"))  # edge2024, §5.2: criterion and number


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure over all conditions: the value of each question, None where it is undefined.

    `group` is the heading under which tables show it, `by` who measured, `digits` how many places are worth showing.
    `share` says that values lie between 0 and 1.
    """

    group: str
    name: str
    by: str
    values: Mapping[str, Values]
    digits: int = 2
    note: str = ""
    share: bool = False

    def mean(self, condition: str) -> float | None:
        """The mean of a condition over the questions for which there is a value."""
        found = [v for v in self.values[condition] if v is not None]
        return sum(found) / len(found) if found else None

    def undefined(self, condition: str) -> int:
        """The questions without a value."""
        return sum(v is None for v in self.values[condition])


def measure_lengths(answers: Answers) -> Measure:
    """Words of each answer."""
    values = {n: [None if r.failure else float(r.words) for r in found] for n, found in answers.items()}
    return Measure("Length", "words", "counted", values, 0)


def measure_claims(answers: Answers, questions: Sequence[Asked], how: ClaimSettings, rt: Runtime) -> list[Measure]:
    """Claims of each answer, and clusters of them at four thresholds (edge2024, §4.2; G44, G45)."""
    found: dict[str, list[Claimed | None]] = {}
    for name, replies in answers.items():
        good = [(q.text, r.text) for q, r in zip(questions, replies, strict=True) if not r.failure]
        claimed = iter(find_claims(good, how, rt))
        found[name] = [None if r.failure else next(claimed) for r in replies]
    by = next((c.by for listed in found.values() for c in listed if c is not None), rules.LABEL)
    counted = {n: [None if c is None else float(len(c.claims)) for c in listed] for n, listed in found.items()}
    grouped: dict[str, list[tuple[int, ...] | None]] = {}
    for name, listed in found.items():
        counts = iter(rt.each(count_claim_clusters, [c.claims for c in listed if c is not None]))
        grouped[name] = [None if c is None else next(counts) for c in listed]
    measures = [Measure("Claims", "claims", by, counted)]
    for i, threshold in enumerate(rules.THRESHOLDS):
        values = {n: [None if g is None else float(g[i]) for g in numbers] for n, numbers in grouped.items()}
        measures.append(Measure("Clusters of claims", f"clusters at {threshold}", by, values))
    return measures


@step("measures.clustered", version=1, batch=8)
def count_claim_clusters(listed: Sequence[tuple[str, ...]]) -> list[tuple[int, ...]]:
    """The number of clusters of an answer's claims at each threshold, strict as the paper's library."""
    apart = map(standard.rouge_distances, listed)
    return [tuple(rules.count_linkage_clusters(a, t) for t in rules.THRESHOLDS) for a in apart]


def measure_support(answers: Answers, fetch: Fetch, rt: Runtime) -> list[Measure]:
    """Citation recall and precision of each answer, and the share of its statements that its sources bear."""
    by = choose_supporter(rt)
    tables: dict[str, dict[str, Values]] = {"citation recall": {}, "citation precision": {}, "supported statements": {}}
    for name, replies in answers.items():
        good = iter(check_answers([r.answer for r in replies if not r.failure], fetch, by))
        found = [None if r.failure else next(good) for r in replies]
        tables["citation recall"][name] = [None if c is None else c.recall for c in found]
        tables["citation precision"][name] = [None if c is None else c.precision for c in found]
        shares = [c.supported / c.statements if c and c.statements and not c.abstained else None for c in found]
        tables["supported statements"][name] = shares
    note = "Undefined for an answer that abstains or says nothing that a source could support."
    return [Measure("Grounding", label, by.name, v, 3, note, share=True) for label, v in tables.items()]


def measure_against_references(answers: Answers, questions: Sequence[Asked]) -> list[Measure]:
    """Answers against reference answers; questions without one are undefined."""
    values: dict[str, dict[str, Values]] = {metric: {} for metric in FACTORS}
    for name, replies in answers.items():
        pairs = [standard.Pair(r.text, q.references, q.type, q.parts) for r, q in zip(replies, questions, strict=True)]
        for column in standard.score_pairs(pairs, FACTORS).columns:
            own = [None if r.failure else v for v, r in zip(column.values, replies, strict=True)]
            values[column.metric][name] = own
    return [Measure("Reference answers", metric, "counted", of, 3, share=True) for metric, of in values.items()]


def measure_scores(marks: Marks, by: str) -> list[Measure]:
    """The mean score of each answer over the runs, a measure a criterion (zhang2025; L21)."""
    found = {(m.criterion, m.condition): m for m in marks.marked()}
    rules = marks.rules
    group, scored = f"Scores from {rules.low} to {rules.high}", f"judge {by}, {rules.replicates} runs"
    values = {c.name: {name: found[c.name, name].questions for name in marks.conditions} for c in rules.criteria}
    return [Measure(group, criterion, scored, own) for criterion, own in values.items()]


@dataclass(frozen=True, slots=True)
class Tools:
    """Who works: `rt` keeps and measures answers, `judging` judges them (often the same), `fetch` reads documents.

    `journal` keeps replies from the moment when they come, while questions are answered. It must not be open while
    something is judged: replicates ask the same, and none may be given the reply of another.
    """

    rt: Runtime
    judging: Runtime
    fetch: Fetch
    journal: Callable[[], AbstractContextManager[object]] = nullcontext


@dataclass(frozen=True, slots=True)
class Compared:
    """A measure, and every pair of conditions on it: one family for Holm."""

    measure: Measure
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What a judge said of pairs of answers, and what that owes to place and length.

    `pairs` are, by criterion, the comparisons of conditions by plain win rates: one family for Holm. What is said to be
    better stands in `bias.controlled`, at equal length, in the order of `pairs`. `agreement` is that of the majority
    of verdicts with the number of claims or clusters, by criterion, where claims were counted (edge2024, §5.2; G50).
    """

    judgements: Judgements
    pairs: Mapping[str, tuple[Pair, ...]]
    bias: Bias
    agreement: Mapping[str, Agreement]


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that an evaluation found, before it is put into words. `spent` is what measuring has cost, by step."""

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
    verdicts: Verdicts | None = None
    marks: Marks | None = None
    spent: Mapping[str, Usage] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def check_plan(plan: Plan, questions: Sequence[Asked], tools: Tools) -> None:
    """Raise, before any work, for a metric that the engine or the questions do not allow."""
    _ = plan.judging, plan.scoring  # for their errors
    for metric, task in _NEEDS:
        if metric in plan.metrics and task not in tools.judging.engine.tasks:
            raise UnsupportedTask(f"The metric {metric!r}", tools.judging.engine.name, frozenset({task}))
    if "reference" in plan.metrics and not any(q.references or q.parts for q in questions):
        raise InputError(
            "The metric 'reference' needs questions with reference answers (field `answers` or `parts`); "
            "none of these has one."
        )


def run_evaluation(
    plan: Plan, conditions: Sequence[Condition], questions: Sequence[Asked], tools: Tools, corpus: str
) -> Outcome:
    """Ask, measure and judge; what is there already is not asked for again."""
    check_plan(plan, questions, tools)
    with tools.journal():
        answers = {c.name: ask_condition(c, questions, tools.rt, most_words=plan.answer_words) for c in conditions}
    found = measure_answers(plan, answers, questions, tools)
    # the answers as a judge sees them; None for one that failed
    texts = {name: [None if r.failure else r.answer.text for r in listed] for name, listed in answers.items()}
    asked, judging = [q.text for q in questions], tools.judging
    marks = score_answers(texts, asked, plan.scoring, judging) if "scores" in plan.metrics else None
    found += measure_scores(marks, judging.engine.name) if marks else []
    compared = tuple(Compared(m, compare_all_pairs(m.values, draws=plan.draws, seed=plan.seed)) for m in found)
    given = judge_pairs(texts, asked, plan.judging, judging, plan.pairs) if "judge" in plan.metrics else None
    verdicts = weigh_judgements(given, questions, found) if given else None
    return Outcome(
        plan,
        tuple(conditions),
        tuple(questions),
        answers,
        {name: sum_costs(given) for name, given in answers.items()},
        compared,
        tools.rt.engine.name,
        tools.rt.embedder.name,
        judging.engine.name if verdicts or marks else "",
        corpus,
        tuple(describe_equal_conditions(plan, conditions)),
        verdicts,
        marks,
        tools.rt.store.ledger(),
        judging.engine.notes(),
    )


def measure_answers(plan: Plan, answers: Answers, questions: Sequence[Asked], tools: Tools) -> list[Measure]:
    """The measures of single answers that the plan names, lengths first."""
    found = [measure_lengths(answers)]
    if "claims" in plan.metrics:
        found += measure_claims(answers, questions, ClaimSettings(), tools.judging)
    if "grounding" in plan.metrics:
        found += measure_support(answers, tools.fetch, tools.judging)
    if "reference" in plan.metrics:
        found += measure_against_references(answers, questions)
    return found


def weigh_judgements(given: Judgements, questions: Sequence[Asked], found: Sequence[Measure]) -> Verdicts:
    """What follows from a judge's verdicts on pairs of answers."""
    pairs, agreed = {}, {}
    for criterion in given.criteria:
        scores = {pair: tally_pair(given, criterion, pair).scores for pair in given.pairs}
        pairs[criterion] = compare_judged_pairs(scores)
    counted, ids = {m.name: m.values for m in found}, [q.id for q in questions]
    for criterion, name in _COUNTED:
        if criterion in pairs and name in counted:
            rows = ((p, zip(ids, winners_by_question(given, criterion, p), strict=True)) for p in given.pairs)
            verdicts = [OneCompared(question, pair, row) for pair, listed in rows for question, row in listed]
            values = ((c, q, v) for c, own in counted[name].items() for q, v in zip(ids, own, strict=True))
            agreed[criterion] = compare_with_counts(verdicts, {(c, q): v for c, q, v in values if v is not None})
    return Verdicts(given, pairs, assess_bias(given), agreed)


def describe_equal_conditions(plan: Plan, conditions: Sequence[Condition]) -> list[str]:
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
