"""The report of an evaluation: what was found, as sections and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from sensegraph.evaluation import verdict_tables
from sensegraph.evaluation.abstaining import abstention
from sensegraph.evaluation.accounts import stated
from sensegraph.evaluation.answering import Condition
from sensegraph.evaluation.experiment import Compared, Outcome
from sensegraph.evaluation.measures import Measure
from sensegraph.evaluation.pair_tables import HOW, pairs
from sensegraph.evaluation.sheets import (
    Beside,
    Cell,
    Fold,
    Items,
    Section,
    Sheet,
    Table,
    Words,
    number,
    table,
)
from sensegraph.evaluation.tables import columns

_WARNED = 5  # warnings about the judge that stand at the top


def sheet(found: Outcome) -> Sheet:
    """The whole report."""
    sections = [
        Section("In short", (Items(tuple(_short(found))),)),
        Section("How it was measured", tuple(_measured(found))),
        *verdict_tables.sections(found),
        *_measures(found),
        *by_type(found),
        Section("Cost, latency and length", tuple(_spending(found))),
        *_examples(found),
    ]
    return Sheet(found.plan.title or f"Evaluation of {found.corpus}", tuple(_lead(found)), tuple(sections))


def brief(found: Outcome) -> list[str]:
    """The report in a few lines: who worked, the means, what is more than chance."""
    names = [c.name for c in found.conditions]
    listed = [c.measure for c in found.compared]
    rows = [[f"{m.name} ({m.by})", *(number(m.mean(n), m.digits) for n in names)] for m in listed]
    return [*_lead(found), "", columns([["", *names], *rows]), "", *_short(found)]


def _lead(found: Outcome) -> Iterable[str]:
    judge = f"; judge {found.judge}" if found.judge else "; no judge"
    yield (
        f"{len(found.conditions)} conditions, {len(found.questions):,} questions; "
        f"engine {found.engine}, embedder {found.embedder}{judge}."
    )


def _short(found: Outcome) -> Iterable[str]:
    """The differences that are more than chance, in words; or that there are none."""
    if found.verdicts:
        yield from (verdict_tables.told(criterion, listed) for criterion, listed in found.verdicts.pairs.items())
        yield from found.verdicts.bias.warnings[:_WARNED]
    for group, compared in groupby(found.compared[1:], lambda c: c.measure.group):
        better = [f"{p.better} over {p.worse}" for c in compared for p in c.pairs if p.better]
        told = list(dict.fromkeys(better))
        yield f"{group}: " + (f"more by {', '.join(told)}." if told else "no difference that is more than chance.")
    for name, listed in found.answers.items():
        failed, refused = sum(bool(r.failure) for r in listed), sum(r.refused for r in listed)
        if failed or refused:
            yield f"{name}: {failed} of {len(listed)} answers failed, {refused} say that they cannot answer."


def _measured(found: Outcome) -> Iterable[Words | Items | Table]:
    yield Items((*found.held, *_notes(found)))
    rows: list[list[Cell | str]] = [
        [c.name, Cell(c.method, words=True), Cell(_settings(c), words=True)] for c in found.conditions
    ]
    yield table("Conditions", ["condition", "method", "settings that are not the method's own"], rows)


def _settings(condition: Condition) -> str:
    return ", ".join(f"{name} = {value}" for name, value in condition.changed.items()) or "–"


def _notes(found: Outcome) -> Iterable[str]:
    """What has to be said of answers: failures first."""
    for name, listed in found.answers.items():
        reasons = list(dict.fromkeys(r.failure for r in listed if r.failure))
        yield from (f"{name} failed: {reason}" for reason in reasons[:3])
        cut = sum(r.cut > 0 for r in listed)
        if cut:
            yield f"{name}: {cut} of {len(listed)} answers were longer than the bound, and cut."
    yield from found.notes


def _measures(found: Outcome) -> Iterable[Section]:
    """A section a group of measures: the means, then every pair."""
    for group, listed in groupby(found.compared[1:], lambda c: c.measure.group):
        compared = list(listed)
        every = tuple(pairs(c.measure.name, c.pairs, c.measure.digits) for c in compared)
        spread = [verdict_tables.marks(found.marks)] if found.marks and group.startswith("Scores") else []
        fold = Fold("Every pair of conditions, with tests", every)
        yield Section(group, (means(compared, found), *spread, fold, Words(HOW)))


def means(compared: Sequence[Compared], found: Outcome) -> Table:
    """A row a measure: the mean of every condition, the highest marked."""
    rows: list[list[Cell | str]] = []
    for one in (c.measure for c in compared):
        values = [one.mean(c.name) for c in found.conditions]
        top = max((v for v in values if v is not None), default=None)
        rows.append([one.name, *(Cell(number(v, one.digits), strong=v is not None and v == top) for v in values)])
    first = compared[0].measure
    lost = {c.name: first.undefined(c.name) for c in found.conditions if first.undefined(c.name)}
    missing = f" Undefined: {', '.join(f'{n} {k}' for n, k in lost.items())}." if lost else ""
    note = f"{first.note}{missing} {stated(found)}".strip()
    caption = f"{first.group}: mean of {len(found.questions):,} questions ({first.by})"
    return table(caption, ["", *(c.name for c in found.conditions)], rows, note)


def by_type(found: Outcome) -> Iterable[Section]:
    """Means by type of question, where there are several; and who abstains on questions without an answer."""
    kinds: dict[str, list[int]] = {}
    for i, question in enumerate(found.questions):
        kinds.setdefault(question.type or "(none)", []).append(i)
    parts: list[Table] = []
    if len(kinds) > 1:
        parts += [
            _typed(next(listed).measure, kinds) for _, listed in groupby(found.compared, lambda c: c.measure.group)
        ]
    if not all(q.answerable for q in found.questions):
        parts.append(_abstaining(found))
    if parts:
        yield Section("Types of question", tuple(parts))


def _typed(measure: Measure, kinds: Mapping[str, Sequence[int]]) -> Table:
    rows: list[list[Cell | str]] = []
    for kind, places in sorted(kinds.items()):
        values = ([v[i] for i in places if v[i] is not None] for v in measure.values.values())
        means = (sum(filter(None, own)) / len(own) if own else None for own in values)
        rows.append([f"{kind} ({len(places)})", *(number(m, measure.digits) for m in means)])
    return table(f"{measure.name} by type of question ({measure.by})", ["", *measure.values], rows)


def _abstaining(found: Outcome) -> Table:
    rows = []
    for name, listed in found.answers.items():
        pairs = zip(found.questions, listed, strict=True)
        told = abstention((q.answerable, r.answer.text) for q, r in pairs if not r.failure)
        shown = (told.rate, told.false_rate, told.precision)
        rows.append([name, f"{told.abstained} of {told.unanswerable}", *(number(v) for v in shown)])
    head = ["", "abstained", "rate", "on questions with an answer", "precision"]
    return table("Answers that say they have none, on questions without an answer", head, rows)


def _spending(found: Outcome) -> Iterable[Table | Fold]:
    yield _costs(found)
    yield Fold("Lengths: every pair of conditions, with tests", (pairs("words", found.compared[0].pairs, 0),))
    if paid := {step: u for step, u in found.spent.items() if u.calls + u.embedding_calls}:
        rows = [
            [
                step, f"{u.calls + u.embedding_calls:,}", f"{u.prompt_tokens + u.embedding_tokens:,}",
                f"{u.completion_tokens:,}", f"{u.cost_usd:.4f}",
            ]
            for step, u in paid.items()
        ]  # fmt: skip
        head = ["step", "calls", "tokens in", "tokens out", "cost $"]
        yield table("What measuring and judging took, all runs of this evaluation together", head, rows)


def _costs(found: Outcome) -> Table:
    head = [
        "",
        "answers",
        "failed",
        "refused",
        "calls",
        "tokens in",
        "tokens out",
        "cost $",
        "s mean",
        "s median",
        "context",
        "words",
    ]
    rows = []
    words = found.compared[0].measure
    for name, spent in found.costs.items():
        u, listed = spent.usage, found.answers[name]
        failed, refused = sum(bool(r.failure) for r in listed), sum(r.refused for r in listed)
        rows.append([
            name, f"{len(listed):,}", str(failed), str(refused), f"{u.calls + u.embedding_calls:,}",
            f"{u.prompt_tokens + u.embedding_tokens:,}", f"{u.completion_tokens:,}", f"{u.cost_usd:.4f}",
            number(spent.seconds_mean), number(spent.seconds_median), number(spent.context_tokens, 0),
            number(words.mean(name), 0),
        ])  # fmt: skip
    note = (
        "As it was when the answers were made. What conditions share is paid once, by the first that asks. Context: "
        "mean tokens of the evidence that an answer was written from. Words: mean length of an answer."
    )
    return table(f"What the answers took: engine {found.engine}", head, rows, note)


def _examples(found: Outcome) -> Iterable[Section]:
    shown = found.questions[: found.plan.examples]
    if shown:
        parts = [
            Beside(
                q.text,
                tuple(
                    (name, listed[i].answer.text or f"(failed: {listed[i].failure})")
                    for name, listed in found.answers.items()
                ),
            )
            for i, q in enumerate(shown)
        ]
        yield Section("Answers side by side", tuple(parts))
