"""The report of an evaluation: what was found, as sections and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from sensegraph.answering.grounding.abstaining import abstention
from sensegraph.lab.experiments.accounts import stated
from sensegraph.lab.experiments.answering import Condition, Reply
from sensegraph.lab.experiments.experiment import Compared, Outcome
from sensegraph.lab.experiments.pair_tables import HOW, hopeless, pairs
from sensegraph.lab.experiments.sheets import (
    Beside,
    Cell,
    Fold,
    Items,
    Section,
    Sheet,
    Table,
    Words,
    many,
    number,
    table,
)
from sensegraph.lab.judging import verdict_tables
from sensegraph.lab.retrieval.tables import columns
from sensegraph.lab.scores.measures import Measure
from sensegraph.lab.scores.pairs import Values, asked
from sensegraph.types import Usage

_WARNED = 5  # warnings about the judge that stand at the top
_EVERY = "Every pair of conditions, with tests"
_FEWER = "n: the questions with a value, where some have none. Means of different questions are not compared."


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
    rows = [[f"{m.name} ({m.by})", *(_mean(m.values[n], m.digits) for n in names)] for m in listed]
    return [*_lead(found), "", columns([["", *names], *rows]), "", *_short(found)]


def _lead(found: Outcome) -> Iterable[str]:
    judge = f"; judge {found.judge}" if found.judge else "; no judge"
    yield (
        f"{many(len(found.conditions), 'condition')}, {many(len(found.questions), 'question')}; "
        f"engine {found.engine}, embedder {found.embedder}{judge}."
    )


def _short(found: Outcome) -> Iterable[str]:
    """The differences that are more than chance, in words; or that there are none."""
    if found.verdicts:
        yield from (verdict_tables.told(criterion, listed) for criterion, listed in found.verdicts.pairs.items())
        yield from found.verdicts.bias.warnings[:_WARNED]
    yield from _differences(found) if len(found.conditions) > 1 else ("One condition: there is nothing to compare.",)
    for name, listed in found.answers.items():
        if told := list(_lacking(listed)):
            yield f"{name}: {', '.join(told)}."


def _differences(found: Outcome) -> Iterable[str]:
    """By group of measures what is more than chance, and what too few questions keep from being so."""
    beyond: dict[str, list[str]] = {}
    for group, listed in groupby(found.compared[1:], lambda c: c.measure.group):
        compared = list(listed)
        if why := hopeless(max((c.pairs for c in compared), key=asked)):
            beyond.setdefault(why, []).append(group)
        else:
            yield f"{group}: {_better(compared) or 'no difference that is more than chance'}."
    for why, groups in beyond.items():
        yield f"{', '.join(groups)}: {why}, so no difference can be more than chance."


def _better(compared: Sequence[Compared]) -> str:
    """Who is higher than whom, and by which measures where the group has several."""
    by: dict[str, list[str]] = {}
    for c in compared:
        for p in c.pairs:
            if p.better:
                by.setdefault(f"{p.better} over {p.worse}", []).append(c.measure.name)
    told = (f"{who}{_shown_by(names, len(compared))}" for who, names in by.items())
    return f"more by {', '.join(told)}" if by else ""


def _shown_by(names: Sequence[str], of: int) -> str:
    if of == 1:
        return ""
    return f" (all {of} measures)" if len(names) == of else f" ({', '.join(names)} only: {len(names)} of {of} measures)"


def _lacking(listed: Sequence[Reply]) -> Iterable[str]:
    """How many answers failed, and how many say that they are none."""
    failed, refused = sum(bool(r.failure) for r in listed), sum(r.refused for r in listed)
    of = f"of {many(len(listed), 'answer')}"
    if failed:
        yield f"{failed:,} {of} failed"
    if refused:
        yield f"{refused:,} {of} {'says that it' if refused == 1 else 'say that they'} cannot answer"


def _measured(found: Outcome) -> Iterable[Words | Items | Table]:
    yield Items((*found.held, *_notes(found)))
    rows: list[list[Cell | str]] = [
        [c.name, Cell(c.method, words=True), Cell(_settings(c), words=True)] for c in found.conditions
    ]
    yield table("Conditions", ["condition", "method", "settings that are not the method's own"], rows)
    if len(found.conditions) > 1:
        yield Words(HOW)


def _settings(condition: Condition) -> str:
    return ", ".join(f"{name} = {value}" for name, value in condition.changed.items()) or "–"


def _notes(found: Outcome) -> Iterable[str]:
    """What has to be said of answers: failures first."""
    for name, listed in found.answers.items():
        reasons = list(dict.fromkeys(r.failure for r in listed if r.failure))
        yield from (f"{name} failed: {reason}" for reason in reasons[:3])
        cut = sum(r.cut > 0 for r in listed)
        if cut:
            were = "was" if cut == 1 else "were"
            yield f"{name}: {cut:,} of {many(len(listed), 'answer')} {were} longer than the bound, and cut."
    yield from found.notes


def _measures(found: Outcome) -> Iterable[Section]:
    """A section a group of measures: the means, then every pair."""
    for group, listed in groupby(found.compared[1:], lambda c: c.measure.group):
        compared = list(listed)
        every = tuple(pairs(c.measure.name, c.pairs, c.measure.digits) for c in compared)
        spread = [verdict_tables.marks(found.marks)] if found.marks and group.startswith("Scores") else []
        fold = [Fold(_EVERY, every)] if len(found.conditions) > 1 else []
        yield Section(group, (means(compared, found), *spread, *fold))


def means(compared: Sequence[Compared], found: Outcome) -> Table:
    """A row a measure: the mean of every condition, the highest marked where all are of the same questions."""
    names, first = [c.name for c in found.conditions], compared[0].measure
    rows: list[list[Cell | str]] = [[c.measure.name, *_means(c.measure, names)] for c in compared]
    lacking = any(c.measure.undefined(n) for c in compared for n in names)
    note = " ".join(filter(None, (first.note, _FEWER if lacking else "", stated(found))))
    caption = f"{first.group}: mean of {many(len(found.questions), 'question')} ({first.by})"
    return table(caption, ["", *names], rows, note)


def _means(measure: Measure, names: Sequence[str]) -> Iterable[Cell]:
    """The mean of each condition. Marked is what is highest as it is shown, unless all are, or questions differ."""
    listed = {n: m for n in names if (m := measure.mean(n)) is not None}
    shown = {n: number(m, measure.digits) for n, m in listed.items()}
    questions = {tuple(v is None for v in measure.values[n]) for n in listed}
    top = shown[max(listed, key=listed.__getitem__)] if listed else ""
    marked = len(questions) == 1 and len(set(shown.values())) > 1
    for name in names:
        yield Cell(_mean(measure.values[name], measure.digits), strong=marked and shown.get(name) == top)


def _mean(values: Values, digits: int) -> str:
    """The mean of the values that there are, with their number where some are lacking."""
    own = [v for v in values if v is not None]
    if not own:
        return number(None)
    fewer = f" (n {len(own):,})" if len(own) < len(values) else ""
    return f"{number(sum(own) / len(own), digits)}{fewer}"


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
        means = (_mean([v[i] for i in places], measure.digits) for v in measure.values.values())
        rows.append([f"{kind} ({len(places)})", *means])
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
    if len(found.conditions) > 1:
        yield Fold("Lengths: every pair of conditions, with tests", (pairs("words", found.compared[0].pairs, 0),))
    if paid := _paid(found.spent):
        rows = [
            [
                task, f"{u.calls + u.embedding_calls:,}", f"{u.prompt_tokens + u.embedding_tokens:,}",
                f"{u.completion_tokens:,}", f"{u.cost_usd:.4f}",
            ]
            for task, u in paid.items()
        ]  # fmt: skip
        head = ["", "calls", "tokens in", "tokens out", "cost $"]
        yield table("What measuring and judging took, all runs of this evaluation together", head, rows)


def _paid(spent: Mapping[str, Usage]) -> dict[str, Usage]:
    """What was paid for, named as the estimate names it: `measuring: claim` is the step claimify.claim."""
    paid: dict[str, Usage] = {}
    for step, usage in spent.items():
        if usage.calls + usage.embedding_calls:
            name = f"measuring: {step.rpartition('.')[2]}"
            paid[name] = paid.get(name, Usage()) + usage
    return paid


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
