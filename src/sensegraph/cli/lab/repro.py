"""`eval papers`: tables of papers measured here, beside what was published."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Exit, Option

from sensegraph.cli import options
from sensegraph.cli.lab import evaluate
from sensegraph.cli.progress import show_progress
from sensegraph.errors import InputError

if TYPE_CHECKING:
    from sensegraph.cli.lab.table_measuring import Bench
    from sensegraph.lab.reproduction.table_recipes import Recipe, ReproducedTable

_DATA, _ROOT = Path("data"), Path("repro")

Limit = Annotated[
    int, Option("--limit", "-n", min=0, metavar="N", help="The first N questions only.", show_default="all")
]


def reproduce_paper(
    paper: Annotated[str, Argument(metavar="PAPER", help="A paper, such as edge2024, or its method's name.")],
    table: Annotated[str, Option("--table", metavar="N", help="One table.", show_default="all")] = "",
    data: Annotated[Path, Option("--data", metavar="DIR", help="The folder of the measuring sets.")] = _DATA,
    root: Annotated[Path, Option("--root", metavar="DIR", help="Where indexes, answers and reports are kept.")] = _ROOT,
    limit: Limit = 0,
    dry_run: Annotated[bool, Option("--dry-run", help="Estimate what it needs and takes; nothing is done.")] = False,
    yes: evaluate.Yes = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
    engine: options.Engine = None,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    settings: options.Set = None,
    trust: options.Trust = False,
) -> None:
    """Measure a table of a paper with this system, and set the published figures and our own pinned ones beside it."""
    from sensegraph.cli.lab import evaluation_setup
    from sensegraph.cli.lab.table_measuring import Bench, reproduce_table, write_recipe_plan
    from sensegraph.corpus.settings import FILE, check_approved, lay_tables, load_settings, read_toml_tables
    from sensegraph.corpus.tools import needed_approvals
    from sensegraph.lab.experiments.published import find_paper
    from sensegraph.lab.reproduction.table_recipes import select_recipes

    name = find_paper(paper)
    # all indexes are made by the settings of the current folder's file, with the flags laid over
    flags = options.read_overrides(settings, engine, max_tokens, max_cost, trust=trust)
    loaded = load_settings(Path(), flags)
    check_approved(loaded, *needed_approvals(loaded))  # from here on they count as the user's own
    given, prompts = lay_tables(read_toml_tables(Path(FILE)), flags), loaded.model.prompts
    given = lay_tables(given, {"model": {"prompts": str(Path(prompts).resolve())}}) if prompts else given
    found, planned = [], list[dict[str, Any]]()
    with show_progress(quiet or as_json or dry_run) as report:
        bench = Bench(name, data, root / name, given, report, limit)
        for recipe in select_recipes(name, table):
            lacking = _find_missing(recipe, bench)
            if dry_run:
                told = describe_recipe(recipe, bench, lacking)
                planned.append({"table": recipe.table, "kind": recipe.kind, "plan": told, "lacking": lacking})
                if not as_json:
                    options.print_text(told + "\n")
            elif not lacking:
                if recipe.plan:  # ask before many calls, as `evaluate run` does
                    file = write_recipe_plan(recipe, bench)
                    foreseen = evaluation_setup.forecast_evaluation(file, given, report)
                    evaluate.confirm_calls(file, foreseen, yes=yes)
                found.append(reproduce_table(recipe, bench))
                if not as_json:
                    options.print_text(format_reproduction(found[-1]) + "\n")
            else:
                options.print_message(f"{recipe.title} ({recipe.kind}) is left out: {lacking}")
    if as_json:
        options.print_json({"tables": planned if dry_run else [record_reproduction(one) for one in found]})
    if not dry_run and (not found or any(one.grade == "fail" for one in found)):
        raise Exit(1)


def _find_missing(recipe: Recipe, bench: Bench) -> str:
    """What a recipe needs and is not there; empty where nothing is missing."""
    from sensegraph.cli.lab.table_measuring import check_measuring_sets
    from sensegraph.corpus.settings import load_settings

    try:
        check_measuring_sets(recipe, bench)
    except InputError as e:
        return str(e)
    settings = load_settings(Path(), bench.given)
    if recipe.judge and (settings.engine == "offline" or not settings.endpoint.model):
        return "it needs a judge: an endpoint with a model (endpoint.model, see `sensegraph init`)."
    return ""


# ── what is shown ──


def describe_recipe(recipe: Recipe, bench: Bench, lacking: str) -> str:
    """What a recipe would do, what it needs and what it would take: an evaluation, or an index alone."""
    from tempfile import TemporaryDirectory

    from sensegraph.cli.lab import evaluation_setup
    from sensegraph.cli.lab.table_measuring import estimate_indexes, write_recipe_plan

    lines = [f"{bench.paper}, {recipe.title}: {recipe.takes}"]
    if recipe.folders:
        lines.append("  data: " + ", ".join(str(bench.data / name) for name in recipe.folders))
    lines.append(f"  engine: {'a model, which also judges' if recipe.judge else 'any, or none'}")
    lines += [f"  pinned ({p.engine}, {p.measured}): {p.command}" for p in recipe.pinned]
    if lacking:
        return "\n".join([*lines, f"  cannot be run now: {lacking}"])
    if recipe.plan:
        with TemporaryDirectory(prefix="sensegraph-") as folder:
            away = bench if bench.root.exists() else replace(bench, root=Path(folder))
            foreseen = evaluation_setup.forecast_evaluation(write_recipe_plan(recipe, away), bench.given, bench.report)
        return "\n".join([*lines, _format_costs(evaluation_setup.format_forecast(foreseen))])
    index = estimate_indexes(recipe, bench)
    lines.append(_format_costs(evaluation_setup.format_forecast(evaluation_setup.Forecast(index))))
    if index and recipe.asks:
        lines.append("  besides: what each question asks of the embedder or a model")
    return "\n".join(lines)


def _format_costs(foreseen: str) -> str:
    """What is foreseen, as one line or as a table under its head."""
    return f"  takes: {foreseen}" if "\n" not in foreseen else "  takes:\n" + indent(foreseen, "    ")


def format_reproduction(found: ReproducedTable) -> str:
    """Every row: published, ours, pinned, and whether ours is still the pinned one."""
    recipe = found.recipe
    lines = [f"{recipe.title}, {recipe.kind}, engine {found.engine}"]
    from sensegraph.lab.retrieval.retrieval_tables import align_columns

    rows = [["", *found.columns]]
    wide = len(found.columns)
    for row in found.rows:
        of = "" if row.total is None else f" of {_format_figure(row.total)}"
        rows.append([row.name, *[""] * wide])
        if row.published:
            rows.append(["  published", *map(_format_figure, row.published)])
        rows.append(["  ours", *(_format_figure(value) + of for value in row.ours)])
        if row.pinned:
            rows.append(["  pinned", *map(_format_figure, row.pinned)])
            rows.append(["  verdict", *row.grades, *[""] * (wide - len(row.grades))])
    lines += [align_columns(rows), *found.notes]
    if found.grade and (pins := found.pins):
        lines.append(f"{found.grade}: against our own figures of {pins.measured} ({pins.command}), ± {pins.within:g} %")
    else:
        lines.append(f"{found.unpinned}: no verdict")
    return "\n".join(lines)


def _format_figure(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def record_reproduction(found: ReproducedTable) -> dict[str, Any]:
    """A table as a plain object."""
    rows = {r.name: asdict(r) | {"grades": list(r.grades)} for r in found.rows}
    shown = {"table": found.recipe.table, "kind": found.recipe.kind, "engine": found.engine, "grade": found.grade}
    return shown | {"columns": list(found.columns), "rows": rows, "notes": list(found.notes)}
