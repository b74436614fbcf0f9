"""`repro`: tables of papers measured here, beside what was published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sensegraph.cli.options import Engine, Json, MaxCost, MaxTokens, Quiet, Set, Trust, out, out_json, overrides, say
from sensegraph.cli.progress import progress
from sensegraph.errors import InputError

if TYPE_CHECKING:
    from sensegraph.cli.lab.recipes import Recipe, Reproduced, Row
    from sensegraph.cli.lab.reproducing import Bench

_DATA, _ROOT = Path("data"), Path("repro")

Paper = Annotated[str, typer.Argument(metavar="PAPER", help="A paper, such as edge2024, or its method's name.")]
Table = Annotated[str, typer.Option("--table", metavar="N", help="One table.", show_default="all")]
Data = Annotated[Path, typer.Option("--data", metavar="DIR", help="The folder of the measuring sets.")]
Root = Annotated[Path, typer.Option("--root", metavar="DIR", help="Where indexes, answers and reports are kept.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and what it needs and takes.")]
Questions = Annotated[
    int, typer.Option("--questions", min=0, metavar="N", help="The first N only.", show_default="all")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Begin without asking, however many calls are foreseen.")]


def repro(
    paper: Paper,
    table: Table = "",
    data: Data = _DATA,
    root: Root = _ROOT,
    questions: Questions = 0,
    dry_run: DryRun = False,
    yes: Yes = False,
    quiet: Quiet = False,
    as_json: Json = False,
    engine: Engine = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    settings: Set = None,
    trust: Trust = False,
) -> None:
    """Measure a table of a paper with this system, and set the published figures and our own pinned ones beside it."""
    from sensegraph.cli.lab.recipes import recipes_for
    from sensegraph.cli.lab.reproducing import Bench, reproduced
    from sensegraph.lab.experiments.published import paper_named

    name = paper_named(paper)
    given = _settings(overrides(settings, engine, max_tokens, max_cost, trust=trust))
    found = []
    with progress(quiet or as_json or dry_run) as report:
        bench = Bench(name, data, root / name, given, report, questions)
        for recipe in recipes_for(name, table):
            lacking = _lacking(recipe, bench)
            if dry_run:
                out(described(recipe, bench, lacking) + "\n")
            elif not lacking:
                _agreed(recipe, bench, yes=yes)
                found.append(reproduced(recipe, bench))
                out("" if as_json else text(found[-1]) + "\n")
            else:
                say(f"{recipe.title} ({recipe.kind}) is left out: {lacking}")
    if as_json and not dry_run:
        out_json([object_of(one) for one in found])
    if not dry_run and (not found or any(one.grade == "fail" for one in found)):
        raise typer.Exit(1)


def _settings(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the current folder's file, with the flags laid over: all indexes here are made by them."""
    from sensegraph.corpus.settings import FILE, check_approved, lay_tables, load_settings, read_tables
    from sensegraph.corpus.tools import needed_approvals

    settings = load_settings(Path(), flags)
    check_approved(settings, *needed_approvals(settings))  # from here on they count as the user's own
    given, prompts = lay_tables(read_tables(Path(FILE)), flags), settings.model.prompts
    return lay_tables(given, {"model": {"prompts": str(Path(prompts).resolve())}}) if prompts else given


def _lacking(recipe: Recipe, bench: Bench) -> str:
    """What a recipe needs and is not there; empty where nothing is missing."""
    from sensegraph.cli.lab.reproducing import check
    from sensegraph.corpus.settings import load_settings

    try:
        check(recipe, bench)
    except InputError as e:
        return str(e)
    settings = load_settings(Path(), bench.given)
    if recipe.judge and (settings.engine == "offline" or not settings.endpoint.model):
        return "it needs a judge: an endpoint with a model (endpoint.model, see `sensegraph init`)."
    return ""


def _agreed(recipe: Recipe, bench: Bench, *, yes: bool) -> None:
    """Ask before many calls, as `evaluate run` does."""
    if not recipe.plan:
        return
    from sensegraph.cli.lab import experimenting, experiments, rehearsing
    from sensegraph.cli.lab.reproducing import planned

    file = planned(recipe, bench)
    plan = experiments.read_plan(file)
    experimenting.agreed(rehearsing.foresee(file, bench.given, bench.report), plan.ask_above, yes=yes)


# ── what is shown ──


def described(recipe: Recipe, bench: Bench, lacking: str) -> str:
    """What a recipe would do, what it needs and what it would take."""
    lines = [f"{bench.paper}, {recipe.title}: {recipe.takes}"]
    if recipe.folders:
        lines.append("  data: " + ", ".join(str(bench.data / name) for name in recipe.folders))
    lines.append(f"  engine: {'a model, which also judges' if recipe.judge else 'any, or none'}")
    lines += [f"  pinned ({p.engine}, {p.measured}): {p.command}" for p in recipe.pinned]
    if lacking:
        return "\n".join([*lines, f"  cannot be run now: {lacking}"])
    return "\n".join([*lines, *_costs(recipe, bench)])


def _costs(recipe: Recipe, bench: Bench) -> Iterator[str]:
    """What an evaluation would ask for; for the rest the index alone."""
    from tempfile import TemporaryDirectory

    from sensegraph.cli.lab import rehearsing
    from sensegraph.cli.lab.reproducing import indexing, planned

    if not recipe.plan:
        index = indexing(recipe, bench)
        yield _takes(rehearsing.text(rehearsing.Foreseen(index)))
        if index and recipe.asks:
            yield "  besides: what each question asks of the embedder or a model"
        return
    with TemporaryDirectory(prefix="sensegraph-") as folder:
        away = bench if bench.root.exists() else replace(bench, root=Path(folder))
        found = rehearsing.foresee(planned(recipe, away), bench.given, bench.report)
    yield _takes(rehearsing.text(found))


def _takes(foreseen: str) -> str:
    """What is foreseen, as one line or as a table under its head."""
    return f"  takes: {foreseen}" if "\n" not in foreseen else "  takes:\n" + indent(foreseen, "    ")


def text(found: Reproduced) -> str:
    """Every row: published, ours, pinned, and whether ours is still the pinned one."""
    recipe = found.recipe
    lines = [f"{recipe.title}, {recipe.kind}, engine {found.engine}"]
    from sensegraph.lab.retrieval.retrieval_tables import columns

    rows = [["", *found.columns]]
    for row in found.rows:
        rows += [[row.name, *[""] * len(found.columns)], *_lines(row, len(found.columns))]
    lines += [columns(rows), *found.notes]
    if found.grade and (pins := found.pins):
        lines.append(f"{found.grade}: against our own figures of {pins.measured} ({pins.command}), ± {pins.within:g} %")
    else:
        lines.append(f"{found.unpinned}: no verdict")
    return "\n".join(lines)


def _lines(row: Row, width: int) -> Iterator[list[str]]:
    if row.published:
        yield ["  published", *map(_figure, row.published)]
    of = "" if row.total is None else f" of {_figure(row.total)}"
    yield ["  ours", *(_figure(value) + of for value in row.ours)]
    if row.pinned:
        yield ["  pinned", *map(_figure, row.pinned)]
        yield ["  verdict", *row.grades, *[""] * (width - len(row.grades))]


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def object_of(found: Reproduced) -> dict[str, Any]:
    """A table as a plain object."""
    rows = {r.name: asdict(r) | {"grades": list(r.grades)} for r in found.rows}
    shown = {"table": found.recipe.table, "kind": found.recipe.kind, "engine": found.engine, "grade": found.grade}
    return shown | {"columns": list(found.columns), "rows": rows, "notes": list(found.notes)}
