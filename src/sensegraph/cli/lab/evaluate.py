"""Commands that measure: evaluate FILE.toml, evaluate questions, evaluate retrieval."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, BadParameter, Option, confirm
from typer.core import TyperGroup

from sensegraph.cli import options
from sensegraph.cli.progress import show_progress
from sensegraph.errors import InputError

if TYPE_CHECKING:
    from sensegraph.cli.lab.evaluation_forecast import Forecast
    from sensegraph.lab.experiments.experiment import Outcome
    from sensegraph.lab.experiments.sheets import Sheet
    from sensegraph.lab.retrieval import Measuring, Result
    from sensegraph.types import Usage

File = Annotated[
    Path, Argument(metavar="FILE.toml", exists=True, dir_okay=False, help="The plan: what is compared, and how.")
]
DryRun = Annotated[bool, Option("--dry-run", help="Estimate calls, tokens and cost of each part; nothing is done.")]
Yes = Annotated[bool, Option("--yes", "-y", help="Begin without asking, however many calls are estimated.")]

_HERE = Path(".")

HELP = "Compare methods; make questions; reproduce papers."
Data = Annotated[list[Path], Option("--data", metavar="DIR", help="A test collection in BEIR's layout; repeatable.")]
Methods = Annotated[
    str, Option("--methods", metavar="A,B,…", help="Methods, each with settings as in hybrid:fusion=rrf:k=20.")
]
Split = Annotated[
    str, Option("--split", metavar="NAME", help="Judgements: qrels/NAME.tsv.", show_default="the only one, dev, test")
]
Within = Annotated[
    str, Option("--within", metavar="FIELD", help="Search only documents with the question's value of FIELD.")
]
Baseline = Annotated[
    str, Option("--baseline", metavar="NAME", help="What others are compared with.", show_default="bm25, else first")
]
IndexRoot = Annotated[
    Path | None,
    Option("--root", metavar="DIR", help="Keep the index there (of several sets: in DIR/SET).", show_default=False),
]
Seed = Annotated[int, Option("--seed", min=0, metavar="N", help="Seed of the resampling.")]


def run_evaluation(
    file: File,
    dry_run: DryRun = False,
    yes: Yes = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
    engine: options.Engine = None,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    settings: options.Set = None,
    trust: options.Trust = False,
) -> None:
    """Ask the questions of a plan under every condition, measure and compare the answers, and write a report."""
    from sensegraph.cli.lab import evaluation_forecast, evaluation_setup
    from sensegraph.lab.experiments import evaluation_report, experiment

    given = options.read_overrides(settings, engine, max_tokens, max_cost, trust=trust)
    with show_progress(quiet or as_json) as report:
        foreseen = evaluation_forecast.forecast_evaluation(file, given, report)
    if dry_run:
        _print_forecast(foreseen, as_json=as_json)
        return
    confirm_calls(file, foreseen, yes=yes)
    with show_progress(quiet or as_json) as report, evaluation_setup.prepare_evaluation(file, given, report) as ready:
        found = experiment.run_evaluation(ready.plan, ready.conditions, ready.questions, ready.tools, ready.corpus_name)
    written = write_evaluation(found, ready.output)
    if as_json:
        options.print_json(evaluation_report.record_outcome(found))
    elif not quiet:
        options.print_text("\n".join(evaluation_report.summarise_evaluation(found)))
        options.print_message("written: " + ", ".join(map(str, written)))


def confirm_calls(file: Path, foreseen: Forecast, *, yes: bool) -> None:
    """Go on, ask, or raise: a run of many calls begins only when somebody wants it."""
    from sensegraph.cli.lab import evaluation_forecast, evaluation_setup

    calls, most = foreseen.whole.calls, evaluation_setup.read_plan(file).ask_above
    if yes or calls <= most:
        return
    options.print_message(evaluation_forecast.format_forecast(foreseen))
    if sys.stdin.isatty() and confirm("Begin?", err=True):
        return
    raise InputError(f"{calls:,} calls are estimated, more than ask_above = {most:,}: add --yes to begin.")


def write_evaluation(found: Outcome, folder: Path) -> list[Path]:
    """Write the report, figures as JSON, answers and verdicts as JSON lines."""
    from sensegraph.lab.experiments import evaluation_report as report

    texts = {
        "results.json": json.dumps(report.record_outcome(found), ensure_ascii=False, indent=1) + "\n",
        "answers.jsonl": report.format_json_lines(report.record_answers(found)),
        "verdicts.jsonl": report.format_json_lines(report.record_verdicts(found)),
    }
    return write_report(report.build_report(found), folder, texts)


def write_report(sheet: Sheet, folder: Path, more: Mapping[str, str]) -> list[Path]:
    """Write a report as Markdown and HTML, its tables and charts, and `more` texts by the names of their files.

    `tables/` holds every table as CSV, and all of them as LaTeX; `figures/` every chart as SVG. What an earlier report
    left there goes.
    """
    from sensegraph.lab.experiments.sheets import FIGURES, Picture, render_html, render_markdown
    from sensegraph.lab.experiments.table_files import list_tables, render_csv, render_latex

    texts = {"report.md": render_markdown(sheet), "report.html": render_html(sheet), **more}
    pictures = [part for section in sheet.sections for part in section.parts if isinstance(part, Picture)]
    folders = {
        "tables": {"all.tex": render_latex(sheet)} | {f"{n}.csv": render_csv(table) for n, table in list_tables(sheet)},
        FIGURES: {f"{p.name}.svg": p.svg for p in pictures},
    }
    folder.mkdir(parents=True, exist_ok=True)
    written = {folder / name: text for name, text in texts.items() if text}
    for file, text in written.items():
        file.write_text(text, encoding="utf-8")
    for name, files in folders.items():
        inner = folder / name
        for stale in [*inner.glob("*.csv"), *inner.glob("*.tex"), *inner.glob("*.svg")]:
            stale.unlink()
        if files:
            inner.mkdir(exist_ok=True)
        for file_name, text in files.items():
            (inner / file_name).write_text(text, encoding="utf-8")
    return [*written, *(folder / name for name, files in folders.items() if files)]


class PlanGroup(TyperGroup):
    """The group: a name that ends in .toml stands for `run` with that plan."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command and its arguments."""
        plan = bool(args) and args[0].endswith(".toml") and args[0] not in self.commands
        return super().resolve_command(ctx, ["run", *args] if plan else args)


def measure_retrieval(
    data: Data,
    methods: Methods,
    out: Annotated[Path | None, Option("--out", metavar="DIR", help="Write a report: HTML, tables, charts.")] = None,
    dry_run: DryRun = False,
    cutoffs: Annotated[str, Option("--cutoffs", metavar="K,…", help="Cutoffs k of the rankings.")] = "2,5,10",
    split: Split = "",
    within: Within = "",
    baseline: Baseline = "",
    metric: Annotated[str, Option("--metric", metavar="NAME", help="What is compared.", show_default="recall@5")] = "",
    delete_titles: Annotated[bool, Option("--delete-titles", help="Index the documents without their titles.")] = False,
    root: IndexRoot = None,
    picture: Annotated[Path | None, Option("--picture", metavar="FILE.svg", help="Draw means with intervals.")] = None,
    runs: Annotated[Path | None, Option("--runs", metavar="DIR", help="Write the rankings, in TREC's format.")] = None,
    as_json: options.Json = False,
    draws: Annotated[int, Option("--draws", min=1, metavar="N", help="Resamplings behind each interval.")] = 10_000,
    seed: Seed = 0,
    engine: options.Engine = None,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    settings: options.Set = None,
    trust: options.Trust = False,
) -> None:
    """Compare methods by the documents that they find: recall, nDCG, CPU, context, and whether a difference is real."""
    from sensegraph.cli.lab import retrieval_measuring
    from sensegraph.cli.lab.evaluation_forecast import Forecast
    from sensegraph.lab.retrieval import Measuring, retrieval_tables

    how = Measuring(retrieval_measuring.parse_cutoffs(cutoffs), metric, within, baseline, draws, seed)
    if picture and picture.suffix.lower() != ".svg":
        raise BadParameter(f"--picture {picture}: pictures are SVG; name a file that ends in .svg.")
    loaded, parts = retrieval_measuring.load_measuring_settings(
        root or _HERE, options.read_overrides(settings, engine, max_tokens, max_cost, trust=trust)
    )
    named = retrieval_measuring.load_named_methods(methods, loaded)
    sets = retrieval_measuring.read_sets(data, split, titles=not delete_titles)
    results: list[Result] = []
    foreseen = dict[str, "Usage"]()
    kept = nullcontext(str(root)) if root else TemporaryDirectory(prefix="sensegraph-")
    with show_progress() as report, kept as place:
        for judged in sets:
            inner = Path(place, judged.name) if len(sets) > 1 else Path(place)
            where = retrieval_measuring.IndexPlace(inner, loaded, parts, report)
            if dry_run:
                foreseen |= retrieval_measuring.estimate_set(judged, named, where)
                continue
            results.append(retrieval_measuring.measure_set(judged, named, how, where))
            if not as_json:
                options.print_text(retrieval_tables.format_result(results[-1], how) + "\n")
    if dry_run:
        _print_forecast(Forecast(foreseen), as_json=as_json)
        return
    measured = retrieval_tables.record_measurements(named, how, results)
    _write_extra_files(results, how, picture, runs, (out, measured))
    if as_json:
        options.print_json(measured)
    elif len(results) > 1:
        options.print_text(retrieval_tables.tabulate_sets(results, how))


def _print_forecast(found: Forecast, *, as_json: bool) -> None:
    """Print an estimate, for people or programs."""
    from sensegraph.cli.lab.evaluation_forecast import format_forecast, record_forecast

    options.print_json(record_forecast(found)) if as_json else options.print_text(format_forecast(found))


def _write_extra_files(
    results: Sequence[Result],
    how: Measuring,
    picture: Path | None,
    runs: Path | None,
    report: tuple[Path | None, Mapping[str, Any]],
) -> None:
    """Write the files that were asked for, and name them on stderr; `report` is the folder of one, and its figures."""
    from sensegraph.graphs.drawing.interval_chart import Mean, Panel, draw_interval_chart
    from sensegraph.graphs.drawing.rendering import render_svg
    from sensegraph.lab.experiments.retrieval_report import build_retrieval_report
    from sensegraph.lab.retrieval import retrieval_tables
    from sensegraph.lab.retrieval.runs import write_runs

    written = [p for r in results for p in write_runs(r.found.runs, runs, r.found.judged.name)] if runs else []
    if picture:
        panels = []  # one for each set, with the means of the metric and their intervals
        for found in (r.found for r in results):
            told = {
                c.method: retrieval_tables.describe_comparison(c) for c in found.comparisons if c.metric == how.primary
            }
            means = [(s.method, s.means[how.primary]) for s in found.scores]
            rows = tuple(Mean(n, m.mean, m.low, m.high, told.get(n, ""), n == found.baseline) for n, m in means)
            panels.append(Panel(f"{found.judged.name}, {len(found.queries):,} questions", rows))
        metric, base = retrieval_tables.metric_label(how.primary), results[0].found.baseline
        title = f"{metric} in percent, with 95 % intervals; difference from {base} (p by Holm)"
        picture.write_text(render_svg(draw_interval_chart(title, panels)), encoding="utf-8")
        written.append(picture)
    if folder := report[0]:
        text = json.dumps(report[1], ensure_ascii=False, indent=1) + "\n"
        written += write_report(build_retrieval_report(results, how), folder, {"results.json": text})
    if written:
        options.print_message("written: " + ", ".join(map(str, written)))
