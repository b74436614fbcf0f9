"""The report of an evaluation: what was found, as sections and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from sensegraph.evaluation.answering import Condition
from sensegraph.evaluation.experiment import Compared, Outcome
from sensegraph.evaluation.pairs import LEVEL, Pair
from sensegraph.evaluation.sheets import (
    Beside,
    Cell,
    Fold,
    Items,
    Section,
    Sheet,
    Table,
    Words,
    chance,
    number,
    signed,
    table,
)
from sensegraph.evaluation.tables import columns

_HOW = (
    "z and p: Wilcoxon's signed-rank test, two-sided, exact below 10 differences. p Holm is corrected over all pairs "
    "of this table. The 95 % interval is that of the mean difference over resampled questions. Better is said only "
    f"where p Holm is below {LEVEL} and the interval leaves out 0."
)


def sheet(found: Outcome) -> Sheet:
    """The whole report."""
    sections = [
        Section("In short", (Items(tuple(_short(found))),)),
        Section("How it was measured", tuple(_measured(found))),
        *_measures(found),
        Section("Cost, latency and length", (_costs(found),)),
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
    for group, compared in groupby(found.compared[1:], lambda c: c.measure.group):
        better = [
            f"{p.better} over {p.second if p.better == p.first else p.first}"
            for c in compared
            for p in c.pairs
            if p.better
        ]
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


def _measures(found: Outcome) -> Iterable[Section]:
    """A section a group of measures: the means, then every pair."""
    for group, listed in groupby(found.compared[1:], lambda c: c.measure.group):
        compared = list(listed)
        every = tuple(pairs(c.measure.name, c.pairs, c.measure.digits) for c in compared)
        yield Section(group, (means(compared, found), Fold("Every pair of conditions, with tests", every), Words(_HOW)))


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
    caption = f"{first.group}: mean of {len(found.questions):,} questions ({first.by})"
    return table(caption, ["", *(c.name for c in found.conditions)], rows, f"{first.note}{missing}".strip())


def pairs(name: str, listed: Sequence[Pair], digits: int = 2) -> Table:
    """A row a pair of conditions: means, difference with interval, tests, counts."""
    head = [
        name, "better", "mean", "mean", "difference", "95 %", "p Holm", "z", "p", "z/√n", "wins", "even", "losses",
        "p sign", "p normal", "n",
    ]  # fmt: skip
    return table(f"{name}: every pair of conditions", head, [_pair(p, digits) for p in listed])


def _pair(p: Pair, digits: int) -> list[Cell | str]:
    d = p.difference
    return [
        f"{p.first} – {p.second}",
        Cell(p.better or "–", strong=bool(p.better)),
        number(p.means[0], digits),
        number(p.means[1], digits),
        signed(d.mean, digits),
        f"{signed(d.low, digits)} … {signed(d.high, digits)}",
        Cell(chance(p.p_holm), strong=p.p_holm < LEVEL),
        signed(p.z),
        chance(p.p) + (" exact" if p.exact else ""),
        signed(p.effect),
        str(p.wins),
        str(p.ties),
        str(p.losses),
        chance(p.sign_p),
        "–" if p.normal is None else chance(p.normal),
        f"{p.n:,}",
    ]


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
