"""Measures of single answers, one number a question, so that conditions can be compared on the same questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sensegraph.answering.grounding.checking import Fetch, check_answers
from sensegraph.answering.grounding.citations import choose_supporter
from sensegraph.lab.experiments.condition_answers import Reply
from sensegraph.lab.experiments.plan import Asked
from sensegraph.lab.grounding import claims as rules
from sensegraph.lab.grounding.claims import Claimed, ClaimSettings, find_claims
from sensegraph.lab.judging.judgements import Marks
from sensegraph.lab.scores import standard
from sensegraph.lab.scores.pairs import Values
from sensegraph.lab.scores.word_overlap import rouge_distances
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime

Answers = Mapping[str, Sequence[Reply]]
FACTORS = ("exact-match", "token-f1", "rouge-1", "rouge-l")  # what reference answers are compared by


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure over all conditions: the value of each question, None where it is undefined.

    `group` is the heading under which tables show it, `by` who measured, `digits` how many places are worth showing.
    """

    group: str
    name: str
    by: str
    values: Mapping[str, Values]
    digits: int = 2
    note: str = ""

    def mean(self, condition: str) -> float | None:
        """The mean of a condition over the questions for which there is a value."""
        found = [v for v in self.values[condition] if v is not None]
        return sum(found) / len(found) if found else None

    def undefined(self, condition: str) -> int:
        """The questions without a value."""
        return sum(v is None for v in self.values[condition])


def measure_lengths(answers: Answers) -> Measure:
    """Words of each answer."""
    return Measure(
        "Length",
        "words",
        "counted",
        {n: [None if r.failure else float(r.words) for r in found] for n, found in answers.items()},
        0,
    )


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
    apart = map(rouge_distances, listed)
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
    note = "Undefined for an answer that abstains or says nothing that could be borne out."
    return [Measure("Grounding", label, by.name, v, 3, note) for label, v in tables.items()]


def measure_against_references(
    answers: Answers, questions: Sequence[Asked], metrics: Sequence[str] = FACTORS
) -> list[Measure]:
    """Answers against reference answers; questions without one are undefined."""
    found = {
        name: standard.score_pairs(
            [standard.Pair(r.text, q.references, q.type) for r, q in zip(replies, questions, strict=True)], metrics
        )
        for name, replies in answers.items()
    }
    return [
        Measure(
            "Reference answers",
            m,
            "counted",
            {
                n: [None if r.failure else v for v, r in zip(t.column(m).values, answers[n], strict=True)]
                for n, t in found.items()
            },
            3,
        )
        for m in metrics
    ]


def measure_scores(marks: Marks, by: str) -> list[Measure]:
    """The mean score of each answer over the runs, a measure a criterion (zhang2025; L21)."""
    found = {(m.criterion, m.condition): m for m in marks.marked()}
    rules = marks.rules
    group, scored = f"Scores from {rules.low} to {rules.high}", f"judge {by}, {rules.replicates} runs"
    return [
        Measure(group, c.name, scored, {name: found[c.name, name].questions for name in marks.conditions})
        for c in rules.criteria
    ]
