"""What an evaluation found: a report of sections and tables, and plain objects for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import Any

from sensegraph.answering.grounding.checking import count_abstentions
from sensegraph.display import format_source
from sensegraph.lab.experiments import charts, comparison_tables, sheets
from sensegraph.lab.experiments.comparison_tables import HOW, describe_evaluation, show_interval, tabulate_pairs
from sensegraph.lab.experiments.conditions import Condition, Plan
from sensegraph.lab.experiments.experiment import Compared, Measure, Outcome, Verdicts
from sensegraph.lab.experiments.findings import list_findings
from sensegraph.lab.experiments.sheets import (
    Cell,
    Section,
    Sheet,
    Table,
    format_count,
    format_number,
    make_table,
)
from sensegraph.lab.judging.length_control import ControlledRate
from sensegraph.lab.retrieval.retrieval_tables import align_columns
from sensegraph.lab.scores.statistics import Interval, Pair, Values, mean_interval
from sensegraph.types import Usage

_EVERY = "Every pair of conditions, with tests"
_BOLD = "Bold: higher than another by more than chance, and lower than none."
_FEWER = "n: the questions with a value, where some have none. Means of different questions are not compared."


def build_report(found: Outcome) -> Sheet:
    """The whole report."""
    settings: list[sheets.Cells] = []
    for c in found.conditions:
        changed = ", ".join(f"{name} = {value}" for name, value in c.changed.items()) or "–"
        settings.append([c.name, Cell(c.method, words=True), Cell(changed, words=True)])
    caveats = list(found.held)  # what has to be said of answers: failures first
    for name, replies in found.answers.items():
        reasons = list(dict.fromkeys(r.failure for r in replies if r.failure))
        caveats += [f"{name} failed: {reason}" for reason in reasons[:3]]
        if cut := sum(r.cut > 0 for r in replies):
            of, were = format_count(len(replies), "answer"), "was" if cut == 1 else "were"
            caveats.append(f"{name}: {cut:,} of {of} {were} longer than the bound, and cut.")
    methods = make_table("Conditions", ["condition", "method", "settings that are not the method's own"], settings)
    compared_by = [HOW] if len(found.conditions) > 1 else []
    measured = Section("How it was measured", (sheets.Items((*caveats, *found.notes)), methods, *compared_by))
    short = Section("In short", (sheets.Items(tuple(list_findings(found))),))
    sections = [short, measured, *comparison_tables.report_verdicts(found)]
    # a section for each group of measures: the means, then every pair
    for group, listed in groupby(found.compared[1:], lambda c: c.measure.group):
        compared = list(listed)
        name = group if len(compared) > 1 else compared[0].measure.name
        every = tabulate_pairs(name, {c.measure.name: c.pairs for c in compared}, compared[0].measure.digits)
        spread = [comparison_tables.tabulate_marks(found.marks)] if found.marks and group.startswith("Scores") else []
        fold = [sheets.Fold(_EVERY, (every,))] if len(found.conditions) > 1 else []
        sections.append(
            Section(group, (tabulate_means(compared, found), draw_group(compared, found.plan), *spread, *fold))
        )
    lengths = draw_group(found.compared[:1], found.plan)
    sections += [*report_types(found), Section("Cost, latency and length", (*tabulate_costs(found), lengths))]
    differing = [i for i in range(len(found.questions)) if len({r[i].answer.text for r in found.answers.values()}) > 1]
    shown = differing if len(found.conditions) > 1 else range(len(found.questions))
    examples: list[sheets.Part] = []
    for i in shown[: found.plan.examples]:
        texts = []
        for name, reply in ((n, replies[i]) for n, replies in found.answers.items()):
            sources = tuple(map(format_source, reply.answer.citations))
            texts.append(sheets.Named(name, reply.answer.text or f"(failed: {reply.failure})", sources))
        examples.append(sheets.Beside(found.questions[i].text, tuple(texts)))
    equal, of = len(found.questions) - len(differing), format_count(len(found.questions), "question")
    if found.plan.examples and equal and len(found.conditions) > 1:
        examples.append(f"All conditions gave the same answer to {equal:,} of {of}, which are not shown.")
    if examples:
        sections.append(Section("Answers side by side", tuple(examples)))
    return Sheet(found.plan.title or f"Evaluation of {found.corpus}", tuple(_describe_setup(found)), tuple(sections))


def summarise_evaluation(found: Outcome) -> list[str]:
    """The report in a few lines: who worked, the means, what is more than chance."""
    names = [c.name for c in found.conditions]
    listed = [c.measure for c in found.compared]
    rows = [[f"{m.name} ({m.by})", *(_format_mean(m.values[n], m.digits) for n in names)] for m in listed]
    return [*_describe_setup(found), "", align_columns([["", *names], *rows]), "", *list_findings(found)]


def _describe_setup(found: Outcome) -> Iterable[str]:
    judge = f"judge {found.judge}" if found.judge else "no judge"
    conditions, questions = len(found.conditions), format_count(len(found.questions), "question")
    who = f"engine {found.engine}, embedder {found.embedder}; {judge}"
    yield f"{format_count(conditions, 'condition')}, {questions}; {who}."


def tabulate_means(compared: Sequence[Compared], found: Outcome) -> Table:
    """A row a measure: the mean of every condition, marked where it is higher by more than chance.

    Marked are those that are higher than another and lower than none, where all are of the same questions.
    """
    names, first = [c.name for c in found.conditions], compared[0].measure
    rows: list[sheets.Cells] = []
    for c in compared:
        defined = [n for n in names if c.measure.mean(n) is not None]
        same = len({tuple(v is None for v in c.measure.values[n]) for n in defined}) == 1
        best = {p.better for p in c.pairs} - {p.worse for p in c.pairs} if same else set()
        means = ((n, _show_mean_interval(c.measure, n, found.plan)) for n in names)
        rows.append([c.measure.name, *(replace(mean, strong=n in best) for n, mean in means)])
    lacking = any(c.measure.undefined(n) for c in compared for n in names)
    marked = any(isinstance(cell, Cell) and cell.strong for row in rows for cell in row)
    notes = (_BOLD if marked else "", first.note, _FEWER if lacking else "", describe_evaluation(found))
    asked = format_count(len(found.questions), "question")
    caption = f"{first.group}: mean of {asked} with its 95 % interval ({first.by})"
    name = f"{sheets.make_slug(first.group)}-means"
    return make_table(caption, ["", *names], rows, " ".join(filter(None, notes)), name)


def draw_group(compared: Sequence[Compared], plan: Plan) -> sheets.Picture:
    """The means of a group of measures with their intervals, as a chart."""
    first = compared[0].measure
    means = {m.name: {n: _find_interval(m, n, plan) for n in m.values} for m in (c.measure for c in compared)}
    svg = charts.draw_means(first.group, means, first.digits)
    return sheets.Picture(f"means-{sheets.make_slug(first.group)}", f"{first.group}: means with intervals", svg)


def _find_interval(measure: Measure, condition: str, plan: Plan) -> Interval | None:
    return mean_interval(measure.values[condition], plan.draws, plan.seed, share=measure.share)


def _show_mean(values: Values, digits: int) -> Cell:
    """The mean of the values that there are, as a cell."""
    own = [v for v in values if v is not None]
    figures: sheets.Figures = (("mean", sum(own) / len(own) if own else None), ("n", float(len(own))))
    return Cell(_format_mean(values, digits), figures=figures)


def _format_mean(values: Values, digits: int) -> str:
    """The mean of the values that there are, with their number where some are lacking."""
    own = [v for v in values if v is not None]
    if not own:
        return format_number(None)
    fewer = f" (n {len(own):,})" if len(own) < len(values) else ""
    return f"{format_number(sum(own) / len(own), digits)}{fewer}"


def _show_mean_interval(measure: Measure, condition: str, plan: Plan) -> Cell:
    """The mean of the values that there are, with its 95 % interval, and with their number where some are lacking."""
    values, interval = measure.values[condition], _find_interval(measure, condition, plan)
    if interval is None:
        return Cell(format_number(None))
    known = sum(v is not None for v in values)
    cell = show_interval(interval, measure.digits, known if known < len(values) else None)
    return replace(cell, figures=(*cell.figures[:3], ("n", float(known))))


def report_types(found: Outcome) -> Iterable[Section]:
    """Means by type of question, where there are several; and who abstains on questions without an answer."""
    kinds: dict[str, list[int]] = {}
    for i, question in enumerate(found.questions):
        kinds.setdefault(question.type or "(none)", []).append(i)
    parts: list[Table] = []
    for group, listed in groupby(found.compared, lambda c: c.measure.group) if len(kinds) > 1 else ():
        averages: list[sheets.Cells] = []
        measures = [c.measure for c in listed]
        for measure in measures:
            for kind, places in sorted(kinds.items()):
                own = (_show_mean([v[i] for i in places], measure.digits) for v in measure.values.values())
                averages.append([measure.name, Cell(kind, words=True), f"{len(places):,}", *own])
        caption = f"{group} by type of question ({measures[0].by})"
        head = ["measure", "type", "questions", *measures[0].values]
        parts.append(make_table(caption, head, averages, name=f"{sheets.make_slug(group)}-types"))
    if not all(q.answerable for q in found.questions):
        rows: list[sheets.Cells] = []
        for name, replies in found.answers.items():
            judged = zip(found.questions, replies, strict=True)
            texts = ((q.answerable, "" if r.refused else r.answer.text) for q, r in judged if not r.failure)
            told = count_abstentions(texts)
            shown = (told.rate, told.false_rate, told.precision)
            counts: sheets.Figures = (("", float(told.abstained)), ("of", float(told.unanswerable)))
            abstained = Cell(f"{told.abstained} of {told.unanswerable}", figures=counts)
            rows.append([name, abstained, *(format_number(v) for v in shown)])
        head = ["", "abstained", "rate", "on questions with an answer", "precision"]
        parts.append(make_table("Answers that say they have none, on questions without an answer", head, rows))
    if parts:
        yield Section("Types of question", tuple(parts))


def tabulate_costs(found: Outcome) -> Iterable[Table | sheets.Fold]:
    """What answers took by condition, their lengths, and what measuring and judging took."""
    spending = ["calls", "tokens in", "tokens out", "cost $"]
    head_of_costs = ["", "answers", "failed", "refused", *spending, "s mean", "s median", "context", "words"]
    costs = []
    words = found.compared[0].measure
    for condition, spent in found.costs.items():
        listed = found.answers[condition]
        failed, refused = sum(bool(r.failure) for r in listed), sum(r.refused for r in listed)
        seconds = format_number(spent.seconds_mean), format_number(spent.seconds_median)
        sizes = format_number(spent.context_tokens, 0), format_number(words.mean(condition), 0)
        counts = f"{len(listed):,}", str(failed), str(refused)
        costs.append([condition, *counts, *_format_spent(spent.usage), *seconds, *sizes])
    note = (
        "As it was when the answers were made. What conditions share is paid once, by the first that asks. Context: "
        "mean tokens of the evidence that an answer was written from. Words: mean length of an answer."
    )
    yield make_table(f"What the answers took: engine {found.engine}", head_of_costs, costs, note, "costs")
    if len(found.conditions) > 1:
        lengths = tabulate_pairs("words", {"words": found.compared[0].pairs}, 0, higher="longer")
        yield sheets.Fold("Lengths: every pair of conditions, with tests", (lengths,))
    # what was paid for, named as the estimate names it: `measuring: claim` is the step claimify.claim
    paid: dict[str, Usage] = {}
    for step, usage in found.spent.items():
        if usage.calls + usage.embedding_calls:
            name = f"measuring: {step.rpartition('.')[2]}"
            paid[name] = paid.get(name, Usage()) + usage
    if paid:
        rows = [[task, *_format_spent(usage)] for task, usage in paid.items()]
        caption = "What measuring and judging took, all runs of this evaluation together"
        yield make_table(caption, ["", *spending], rows, name="measuring-costs")


def _format_spent(u: Usage) -> tuple[str, ...]:
    """Calls, tokens in and out, and what they cost, as cells."""
    calls, into = u.calls + u.embedding_calls, u.prompt_tokens + u.embedding_tokens
    return f"{calls:,}", f"{into:,}", f"{u.completion_tokens:,}", f"{u.cost_usd:.4f}"


def record_outcome(found: Outcome) -> dict[str, Any]:
    """All figures: who worked, conditions with their cost, every measure with its means and pairs."""
    measures = []
    for compared in found.compared:
        m = compared.measure
        means, undefined = {n: m.mean(n) for n in m.values}, {n: m.undefined(n) for n in m.values}
        own = {"group": m.group, "name": m.name, "by": m.by, "means": means, "undefined": undefined}
        values, pairs = {n: list(v) for n, v in m.values.items()}, [record_pair(p) for p in compared.pairs]
        measures.append(own | {"values": values, "pairs": pairs})
    who = {"title": found.plan.title, "corpus": found.corpus, "engine": found.engine, "embedder": found.embedder}
    asked = {"judge": found.judge or None, "questions": len(found.questions), "seed": found.plan.seed}
    conditions = {c.name: record_condition(found, c) for c in found.conditions}
    verdicts = record_judgements(found.verdicts) if found.verdicts else None
    measured = {"held": list(found.held), "conditions": conditions, "measures": measures, "verdicts": verdicts}
    spent = {step: asdict(usage) for step, usage in found.spent.items()}
    return {**who, **asked, **measured, "spent": spent, "notes": list(found.notes)}


def record_condition(found: Outcome, condition: Condition) -> dict[str, Any]:
    """A condition with its settings, how many of its answers failed, were refused or cut, and what they took."""
    spent, answers = found.costs[condition.name], found.answers[condition.name]
    failed, refused = sum(bool(r.failure) for r in answers), sum(r.refused for r in answers)
    told = {"method": condition.method, "settings": dict(condition.settings), "answers": len(answers)}
    return {**told, "failed": failed, "refused": refused, "cut": sum(r.cut > 0 for r in answers), **asdict(spent)}


def record_pair(p: Pair) -> dict[str, Any]:
    """A comparison of two conditions, with what may be said of it."""
    return asdict(p) | {"better": p.better or None}


def record_answers(found: Outcome) -> Iterator[Mapping[str, Any]]:
    """Every answer with its question, condition, citations and cost."""
    for name, listed in found.answers.items():
        for question, reply in zip(found.questions, listed, strict=True):
            given = reply.answer
            asked = {"question": question.id, "text": question.text, "condition": name}
            said = {"answer": given.text, "words": reply.words, "failure": reply.failure or None}
            shown = {"citations": [asdict(c) for c in given.citations], "documents": list(given.evidence.documents)}
            took = {"usage": asdict(given.usage), "notes": list(given.notes)}
            yield {**asked, **said, "refused": reply.refused, **shown, **took}


def record_verdicts(found: Outcome) -> Iterator[Mapping[str, Any]]:
    """Every verdict and every score of a judge, as it was given."""
    for v in found.verdicts.judgements.verdicts if found.verdicts else ():
        yield asdict(v) | {"question": found.questions[v.question].id, "won": v.won}
    for m in found.marks.marks if found.marks else ():
        yield asdict(m) | {"question": found.questions[m.question].id}


def record_judgements(found: Verdicts) -> dict[str, Any]:
    """What follows from verdicts on pairs: win rates at equal length and plain, bias, agreement with counts."""
    given, bias, whole = found.judgements, found.bias, found.bias.whole
    rates = {}
    for c, listed in found.pairs.items():
        both = zip(listed, bias.controlled[c], strict=True)
        rates[c] = [record_pair(p) | {"rate": asdict(p.rate)} | record_controlled_rate(r, p) for p, r in both]
    place = {"first": whole.first, "consistent": whole.consistent, "ties": whole.ties, "agreement": bias.agreement}
    length = {c: asdict(e) | {"share": asdict(e.share) if e.share else None} for c, e in bias.length.items()}
    said = {"warnings": list(bias.warnings), "remarks": list(bias.remarks)}
    suspects = {"suspects": [list(p) for p in bias.suspects], **said}
    told = {"rules": asdict(given.rules), "verdicts": len(given.verdicts), "missing": given.missing, "pairs": rates}
    agreed = {c: asdict(a) | {"share": a.share, "kept": a.kept} for c, a in found.agreement.items()}
    return {**told, "bias": {**place, "length": length, **suspects}, "agreement": agreed}


def record_controlled_rate(rate: ControlledRate, plain: Pair) -> dict[str, Any]:
    """What is better at equal length, and by how much; beside it what is better by the plain win rate."""
    own = asdict(rate)
    held = {n: own[n] for n in ("rate", "p", "p_holm", "longer", "shorter", "unaided", "follows_length", "held")}
    return {"better": rate.better or None, "plain_better": plain.better or None, "equal_length": held}


def format_json_lines(objects: Iterable[Mapping[str, Any]]) -> str:
    """Objects as JSON, one a line."""
    return "".join(json.dumps(o, ensure_ascii=False) + "\n" for o in objects)
