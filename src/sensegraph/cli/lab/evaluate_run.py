"""`evaluate run`: an evaluation from its file, and what it leaves behind."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sensegraph.cli.options import (
    Engine,
    Json,
    MaxCost,
    MaxTokens,
    Quiet,
    Set,
    Trust,
    print_json,
    print_message,
    print_text,
    read_overrides,
)
from sensegraph.cli.progress import show_progress
from sensegraph.errors import InputError

if TYPE_CHECKING:
    from sensegraph.cli.lab.evaluation_forecast import Forecast

File = Annotated[
    Path, typer.Argument(metavar="FILE.toml", exists=True, dir_okay=False, help="The plan: what is compared, and how.")
]
Estimate = Annotated[
    bool, typer.Option("--estimate", help="Say what it would take: calls, tokens, cost of each part. Nothing is done.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Begin without asking, however many calls are foreseen.")]


def run_evaluation(
    file: File,
    estimate: Estimate = False,
    yes: Yes = False,
    quiet: Quiet = False,
    as_json: Json = False,
    engine: Engine = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    settings: Set = None,
    trust: Trust = False,
) -> None:
    """Ask the questions of a plan under every condition, measure and compare the answers, and write a report."""
    from sensegraph.cli.lab import evaluation_forecast, evaluation_setup
    from sensegraph.lab.experiments import experiment, outcome_records

    given = read_overrides(settings, engine, max_tokens, max_cost, trust=trust)
    with show_progress(quiet or as_json) as report:
        foreseen = evaluation_forecast.forecast_evaluation(file, given, report)
    if estimate:
        print_json(evaluation_forecast.record_forecast(foreseen)) if as_json else print_text(
            evaluation_forecast.format_forecast(foreseen)
        )
        return
    confirm_calls(foreseen, evaluation_setup.read_plan(file).ask_above, yes=yes)
    with show_progress(quiet or as_json) as report, evaluation_setup.prepare_evaluation(file, given, report) as ready:
        found = experiment.run_evaluation(ready.plan, ready.conditions, ready.questions, ready.tools, ready.corpus_name)
    whole = outcome_records.record_outcome(found)
    written = write_evaluation(found, whole, ready.output)
    if as_json:
        print_json(whole)
    elif not quiet:
        from sensegraph.lab.experiments import evaluation_report

        print_text("\n".join(evaluation_report.summarise_evaluation(found)))
        print_message("written: " + ", ".join(map(str, written)))


def confirm_calls(foreseen: Forecast, most: int, *, yes: bool) -> None:
    """Go on, ask, or raise: a run of many calls begins only when somebody wants it."""
    from sensegraph.cli.lab import evaluation_forecast

    calls = foreseen.whole.calls
    if yes or calls <= most:
        return
    print_message(evaluation_forecast.format_forecast(foreseen))
    if sys.stdin.isatty() and typer.confirm("Begin?", err=True):
        return
    raise InputError(f"{calls:,} calls are foreseen, more than ask_above = {most:,}: add --yes to begin.")


def write_evaluation(found: Any, whole: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write the report as Markdown and HTML, the figures as JSON, answers and verdicts as JSON lines."""
    from sensegraph.lab.experiments import evaluation_report, outcome_records
    from sensegraph.lab.experiments.markdown import render_markdown
    from sensegraph.lab.experiments.page import render_html

    sheet = evaluation_report.build_report(found)
    texts = {
        "report.md": render_markdown(sheet),
        "report.html": render_html(sheet),
        "results.json": json.dumps(whole, ensure_ascii=False, indent=1) + "\n",
        "answers.jsonl": outcome_records.format_json_lines(outcome_records.record_answers(found)),
        "verdicts.jsonl": outcome_records.format_json_lines(outcome_records.record_verdicts(found)),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        if text:
            (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name, text in texts.items() if text]
