"""What a measurement of retrieval found, as a report with the sections, tables and charts of an evaluation's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sensegraph.lab.experiments import charts, sheets
from sensegraph.lab.experiments.comparison_tables import show_interval
from sensegraph.lab.experiments.sheets import Cell, Section, Sheet, format_number, format_signed, make_table
from sensegraph.lab.retrieval.retrieval_scores import Measured, Measuring, Result
from sensegraph.lab.retrieval.retrieval_tables import describe_set, list_notes, list_set_findings, metric_label
from sensegraph.lab.scores.statistics import LEVEL, Interval, format_p_value

_HOW = (
    "Recall, all, precision, nDCG and MRR lie between 0 and 100; beside each stands the 95 % interval of resampled "
    "questions. Each method is compared with the baseline on the same questions: p is that of Wilcoxon's signed-rank "
    "test, p Holm is corrected over the methods of one measure. Better or worse is said only where p Holm is below "
    f"{LEVEL} and the interval leaves out 0."
)


def build_retrieval_report(results: Sequence[Result], how: Measuring) -> Sheet:
    """The whole report: what every set shows in short, then set by set the means, the differences, the types."""
    findings = tuple(line for r in results for line in list_set_findings(r.found, how))
    sections = [Section("In short", (sheets.Items(findings), _HOW))]
    if len(results) > 1:
        sections.append(Section("All sets", (_tabulate_sets(results, how),)))
    sections += [Section(r.found.judged.name, tuple(_report_set(r, how))) for r in results]
    names = ", ".join(r.found.judged.name for r in results)
    lead = f"{len(results[0].found.scores)} methods; {sum(len(r.found.queries) for r in results):,} questions."
    return Sheet(f"Retrieval on {names}", (lead,), tuple(sections))


def _report_set(result: Result, how: Measuring) -> Iterator[sheets.Part]:
    found, name = result.found, sheets.make_slug(result.found.judged.name)
    yield sheets.Items(tuple(describe_set(result)))
    shown = [m for m in found.scores[0].means if not m.startswith("precision")]
    rows: list[sheets.Cells] = []
    for s in found.scores:
        cost = Cell(f"{s.cpu_ms:.1f}", figures=(("", s.cpu_ms),)), f"{s.context_tokens:,.0f}"
        rows.append([s.method, *(show_interval(_in_points(s.means[m]), 1) for m in shown), *cost])
    head = ["method", *map(metric_label, shown), "CPU ms", "tokens"]
    yield make_table(f"{found.judged.name}: means with 95 % intervals, in percent", head, rows, name=f"{name}-means")
    means = {metric_label(how.primary): {s.method: _in_points(s.means[how.primary]) for s in found.scores}}
    picture = charts.draw_means(found.judged.name, means, 1)
    yield sheets.Picture(f"means-{name}", f"{found.judged.name}: means with intervals", picture)
    if found.comparisons:
        yield _tabulate_differences(found, name)
    if len(found.types) > 1:
        by_method, label = [found.by_type(s) for s in found.scores], metric_label(how.primary)
        typed: list[sheets.Cells] = [
            [
                kind or "(none)",
                f"{len(places):,}",
                *(_show_point(100 * table[kind][how.primary]) for table in by_method),
            ]
            for kind, places in found.types.items()
        ]
        head = ["type", "questions", *(s.method for s in found.scores)]
        yield make_table(f"{found.judged.name}: {label} by type of question", head, typed, name=f"{name}-types")
    if notes := list_notes(found):
        yield sheets.Items(tuple(notes))


def _tabulate_differences(found: Measured, name: str) -> sheets.Table:
    """A row a measure and method: the difference from the baseline in points, with its tests and counts."""
    rows: list[sheets.Cells] = []
    for c in found.comparisons:
        if c.metric.startswith("precision"):
            continue
        d = _in_points(c.difference)
        beyond = c.p_holm < LEVEL and not d.low <= 0 <= d.high
        verdict = ("better" if d.mean > 0 else "worse") if beyond else "–"
        between = f"{format_signed(d.low, 1)} … {format_signed(d.high, 1)}"
        ends = Cell(between, figures=(("low", d.low), ("high", d.high)))
        difference = Cell(format_signed(d.mean, 1), figures=(("", d.mean),))
        tests = (Cell(format_p_value(p), figures=(("", p),)) for p in (c.p_holm, c.p))
        counts = f"{c.wins:,}", f"{c.ties:,}", f"{c.losses:,}"
        told = Cell(verdict, strong=beyond, words=True)
        rows.append([metric_label(c.metric), Cell(c.method, words=True), told, difference, ends, *tests, *counts])
    head = ["measure", "method", "verdict", "points", "95 %", "p Holm", "p", "wins", "ties", "losses"]
    caption = f"{found.judged.name}: every method against {found.baseline}"
    return make_table(caption, head, rows, name=f"{name}-differences")


def _tabulate_sets(results: Sequence[Result], how: Measuring) -> sheets.Table:
    """A row a method: the metric on every set, and the mean over sets."""
    sets = [r.found for r in results]
    rows: list[sheets.Cells] = []
    for name in (s.method for s in sets[0].scores):
        means = [100 * s.means[how.primary].mean for f in sets for s in f.scores if s.method == name]
        rows.append([name, *map(_show_point, (*means, sum(means) / len(means)))])
    head = ["method", *(f.judged.name for f in sets), "mean"]
    return make_table(f"{metric_label(how.primary)} on every set, in percent", head, rows, name="sets")


def _in_points(share: Interval) -> Interval:
    return Interval(100 * share.mean, 100 * share.low, 100 * share.high)


def _show_point(value: float) -> Cell:
    return Cell(format_number(value, 1), figures=(("", value),))
