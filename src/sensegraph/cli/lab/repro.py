"""`eval papers`: tables of papers measured here, beside what was published."""

from __future__ import annotations

from collections.abc import Sequence
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
_NOBODY = "http://127.0.0.1:9/v1"  # an endpoint that is never asked
_SHOWN_OFF = 0.05  # percent from which a difference is shown
_ROWS = 8  # of a published table, where several are shown

Limit = Annotated[
    int, Option("--limit", "-n", min=0, metavar="N", help="The first N questions only.", show_default="all")
]


def reproduce_paper(
    paper: Annotated[
        str, Argument(metavar="[PAPER]", help="A paper, such as edge2024, or its method's name.", show_default="all")
    ] = "",
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
    from sensegraph.cli.lab.table_measuring import Bench
    from sensegraph.corpus.settings import FILE, check_approved, lay_tables, load_settings, read_toml_tables
    from sensegraph.corpus.tools import estimate_only, needed_approvals
    from sensegraph.lab.experiments.published import find_paper, list_recipe_papers
    from sensegraph.lab.reproduction.table_recipes import CHANGED, select_recipes

    if table and not paper:
        raise InputError(f"--table {table} needs a PAPER before it, such as edge2024.")
    names = [find_paper(paper)] if paper else list_recipe_papers()
    # all indexes are made by the settings of the current folder's file, with the flags laid over
    flags = options.read_overrides(settings, engine, max_tokens, max_cost, trust=trust)
    loaded = load_settings(Path(), flags)
    check_approved(loaded, *needed_approvals(loaded))  # from here on they count as the user's own
    given, prompts = lay_tables(read_toml_tables(Path(FILE)), flags), loaded.model.prompts
    given = lay_tables(given, {"store": {"url": ""}})  # a database holds one corpus: those of tables lie in folders
    given = lay_tables(given, {"model": {"prompts": str(Path(prompts).resolve())}}) if prompts else given
    with show_progress(quiet or as_json or dry_run) as report:
        benches = [Bench(name, data, root / name, given, report, limit) for name in names]
        recipes = [(bench, recipe) for bench in benches for recipe in select_recipes(bench.paper, table)]
        if dry_run:
            with estimate_only():
                _print_plans(recipes, as_json=as_json)
            return
        found = _reproduce_tables(recipes, as_json=as_json, yes=yes)
    if as_json:
        options.print_json({"tables": [record_reproduction(name, one) for name, one in found]})
    elif len(found) > 1:
        options.print_text(summarise_reproductions(found))
    if not found or any(one.count(CHANGED) for _, one in found):
        raise Exit(1)


def _print_plans(recipes: Sequence[tuple[Bench, Recipe]], *, as_json: bool) -> None:
    from sensegraph.lab.experiments.published import find_printed_table

    planned: list[dict[str, Any]] = []
    for bench, recipe in recipes:
        lacking = _find_missing(recipe, bench)
        plan = describe_recipe(recipe, bench, lacking)
        if lacking and not as_json and (printed := format_printed(recipe, bench, _ROWS if len(recipes) > 1 else 0)):
            plan += "\n" + indent(printed, "  ")
        if as_json:
            table = {"paper": bench.paper, "table": recipe.table, "kind": recipe.kind}
            known = find_printed_table(bench.paper, recipe.table)
            planned.append({**table, "plan": plan, "lacking": lacking, "published": asdict(known) if known else None})
        else:
            options.print_text(plan + "\n")
    if as_json:
        options.print_json({"tables": planned})


def _reproduce_tables(
    recipes: Sequence[tuple[Bench, Recipe]], *, as_json: bool, yes: bool
) -> list[tuple[str, ReproducedTable]]:
    found: list[tuple[str, ReproducedTable]] = []
    for bench, recipe in recipes:
        if lacking := _find_missing(recipe, bench):
            options.print_message(f"{bench.paper}, {recipe.title} ({recipe.kind}) is left out: {lacking}")
            if not as_json and (printed := format_printed(recipe, bench, _ROWS if len(recipes) > 1 else 0)):
                options.print_text(printed + "\n")
            if recipe.judge:
                options.print_message(indent(describe_model_run(recipe, bench), "  "))
            continue
        found.append((bench.paper, _carry_out(recipe, bench, yes=yes)))
        if not as_json:
            options.print_text(format_reproduction(*found[-1]) + "\n")
    return found


def _carry_out(recipe: Recipe, bench: Bench, *, yes: bool) -> ReproducedTable:
    """Measure; before many calls it asks, as `evaluate run` does."""
    from sensegraph.cli.lab import evaluation_forecast
    from sensegraph.cli.lab.table_measuring import reproduce_table, write_recipe_plan

    if recipe.plan:
        file = write_recipe_plan(recipe, bench)
        foreseen = evaluation_forecast.forecast_evaluation(file, bench.given, bench.report)
        evaluate.confirm_calls(file, foreseen, yes=yes)
    return reproduce_table(recipe, bench)


def _find_missing(recipe: Recipe, bench: Bench) -> str:
    """What a recipe needs and is not there; empty where nothing is missing."""
    from sensegraph.cli.lab.table_measuring import check_measuring_sets

    try:
        check_measuring_sets(recipe, bench)
    except InputError as e:
        return str(e)
    return "it needs a judge, which is a model." if recipe.judge and not _has_model(bench) else ""


def _has_model(bench: Bench) -> bool:
    from sensegraph.corpus.settings import load_settings

    settings = load_settings(Path(), bench.given)
    return settings.engine != "offline" and bool(settings.endpoint.model)


# ── what is shown ──


def describe_recipe(recipe: Recipe, bench: Bench, lacking: str) -> str:
    """What a recipe would do, what it needs and what it would take: an evaluation, or an index alone."""
    lines = [f"{bench.paper}, {recipe.title}: {recipe.takes}"]
    if recipe.folders:
        lines.append("  data: " + ", ".join(str(bench.data / name) for name in recipe.folders))
    lines.append(f"  engine: {'a model, which also judges' if recipe.judge else 'any, or none'}")
    if recipe.model:
        lines.append(f"  published: by {recipe.model}; reproduced within ± {recipe.tolerance:g} %")
    lines += [f"  pinned ({p.engine}, {p.measured}): {p.command}" for p in recipe.pinned]
    if lacking:
        lines.append(f"  cannot be run now: {lacking}")
    else:
        lines.append(_format_costs("takes", _foresee_recipe(recipe, bench)))
    if recipe.model and not _has_model(bench):
        lines.append(indent(describe_model_run(recipe, bench), "  "))
    return "\n".join(lines)


def describe_model_run(recipe: Recipe, bench: Bench) -> str:
    """The command that measures a table with a model, and what that takes; no model is asked to say so."""
    from sensegraph.cli.lab.table_measuring import check_measuring_sets
    from sensegraph.corpus.settings import lay_tables

    quoted = f'"{recipe.table}"' if " " in recipe.table else recipe.table
    data = f" --data {bench.data}" if recipe.folders else ""
    command = (
        f"sensegraph eval papers {bench.paper} --table {quoted}{data} --yes "
        "--set endpoint.base_url=URL --set endpoint.model=MODEL"
    )
    try:
        check_measuring_sets(recipe, bench)
    except InputError:
        return f"with a model: {command} (what it takes is said where the data are)"
    stand_in = {"engine": "model", "endpoint": {"model": "MODEL", "base_url": _NOBODY}}
    wired = replace(bench, given=lay_tables(bench.given, stand_in))
    return f"with a model: {command}\n" + _format_costs("which takes", _foresee_recipe(recipe, wired), "")


def _foresee_recipe(recipe: Recipe, bench: Bench) -> str:
    """What a recipe would ask for: an evaluation, or an index alone."""
    from tempfile import TemporaryDirectory

    from sensegraph.cli.lab import evaluation_forecast
    from sensegraph.cli.lab.table_measuring import estimate_indexes, write_recipe_plan

    if recipe.plan:
        with TemporaryDirectory(prefix="sensegraph-") as folder:
            away = bench if bench.root.exists() else replace(bench, root=Path(folder))
            foreseen = evaluation_forecast.forecast_evaluation(
                write_recipe_plan(recipe, away), bench.given, bench.report
            )
        return evaluation_forecast.format_forecast(foreseen)
    index = estimate_indexes(recipe, bench)
    told = evaluation_forecast.format_forecast(evaluation_forecast.Forecast(index))
    besides = "\nbesides: what each question asks of the embedder or a model" if index and recipe.asks else ""
    return told + besides


def _format_costs(label: str, foreseen: str, before: str = "  ") -> str:
    """What is foreseen, as one line or as a table under its head."""
    return f"{before}{label}: {foreseen}" if "\n" not in foreseen else f"{before}{label}:\n{indent(foreseen, '    ')}"


def format_printed(recipe: Recipe, bench: Bench, most: int = 0) -> str:
    """The published figures by themselves, where nothing of ours can stand beside them; `most` rows, 0 for all."""
    from sensegraph.lab.experiments.published import find_printed_table
    from sensegraph.lab.retrieval.retrieval_tables import align_columns

    known = find_printed_table(bench.paper, recipe.table)
    if known is None:
        return ""
    rows = [[name, *map(_format_figure, figures)] for name, figures in known.rows.items()]
    shown = rows[:most] if most else rows
    table = align_columns([["published", *known.columns], *shown])
    head = f"{bench.paper}, {recipe.title}, as published: {known.caption}"
    more = [f"and {len(rows) - len(shown)} rows more: --table {recipe.table}"] if len(shown) < len(rows) else []
    return "\n".join([head, table, *more])


def format_reproduction(paper: str, found: ReproducedTable) -> str:
    """A line a figure: published, ours, our pin, and what ours is against each of both."""
    from sensegraph.lab.retrieval.retrieval_tables import align_columns

    recipe = found.recipe
    rows = [["", "published", "ours", "our pin", "against published", "against our pin"]]
    for f in found.figures:
        off = f" ({f.off:+.1f} %)" if f.off is not None and abs(f.off) >= _SHOWN_OFF else ""
        against = f"{f.against_published}{off}" if f.against_published else "–"
        shown = map(_format_figure, (f.published, f.ours, f.pinned))
        rows.append([f"{f.row} {f.column}".strip(), *shown, against, f.against_pin or "–"])
    lines = [f"{paper}, {recipe.title}, {recipe.kind}, engine {found.engine}", align_columns(rows), *found.notes]
    return "\n".join([*lines, *conclude(found)])


def conclude(found: ReproducedTable) -> list[str]:
    """What a table says of the paper, and of us."""
    from sensegraph.lab.reproduction.table_recipes import AS_BEFORE, CHANGED, REPRODUCED

    recipe, pins = found.recipe, found.pins
    lines = []
    if found.published:
        lines.append(
            f"{found.count(REPRODUCED)} of {found.published} published figures are reproduced "
            f"(± {recipe.tolerance:g} %)."
        )
    else:
        lines.append("Nothing that is published stands beside these figures.")
    if recipe.model and found.engine == "offline":
        lines.append(
            f"The published figures are of {recipe.model}; these were made without a model. --dry-run says the command "
            "for a model and what it takes."
        )
    if pins:
        lines.append(
            f"{found.count(AS_BEFORE)} of {found.count(AS_BEFORE) + found.count(CHANGED)} pinned figures are as before "
            f"(± {pins.within:g} %; {pins.measured}: {pins.command})."
        )
    else:
        lines.append(f"No figure is compared with a pin: {found.unpinned}.")
    return lines


def summarise_reproductions(found: Sequence[tuple[str, ReproducedTable]]) -> str:
    """A line a table: how many of its published figures are reproduced, and of the pinned ones as before."""
    from sensegraph.lab.reproduction.table_recipes import AS_BEFORE, CHANGED, REPRODUCED
    from sensegraph.lab.retrieval.retrieval_tables import align_columns

    rows = [["", "engine", "published", "reproduced", "pinned", "as before"]]
    for paper, one in found:
        pinned, as_before = one.count(AS_BEFORE) + one.count(CHANGED), one.count(AS_BEFORE)
        counts = map(str, (one.published, one.count(REPRODUCED), pinned, as_before))
        rows.append([f"{paper}, {one.recipe.title}, {one.recipe.kind}", one.engine, *counts])
    return align_columns(rows)


def _format_figure(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def record_reproduction(paper: str, found: ReproducedTable) -> dict[str, Any]:
    """A table as a plain object."""
    from sensegraph.lab.reproduction.table_recipes import AS_BEFORE, CHANGED, NOT_REPRODUCED, REPRODUCED

    figures = [
        asdict(f) | {"off_percent": f.off, "against_published": f.against_published, "against_pin": f.against_pin}
        for f in found.figures
    ]
    shown = {"paper": paper, "table": found.recipe.table, "kind": found.recipe.kind, "engine": found.engine}
    counts = {
        verdict.replace(" ", "_"): found.count(verdict) for verdict in (REPRODUCED, NOT_REPRODUCED, AS_BEFORE, CHANGED)
    }
    return shown | counts | {"figures": figures, "notes": [*found.notes, *conclude(found)]}
