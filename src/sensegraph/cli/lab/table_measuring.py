"""Tables of papers measured here: each kind of recipe, from a data folder to rows beside the published ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sensegraph.cli.lab import evaluation_setup, retrieval_measuring
from sensegraph.cli.options import open_settled
from sensegraph.cli.progress import Report
from sensegraph.corpus.settings import FOLDER, Settings, lay_tables, load_settings
from sensegraph.corpus.tools import has_store, make_tools
from sensegraph.errors import InputError
from sensegraph.index.parts import sort_parts
from sensegraph.lab.experiments import experiment
from sensegraph.lab.experiments.experiment import Outcome
from sensegraph.lab.experiments.published import Published, read_published_table, read_win_rate_comparisons
from sensegraph.lab.reproduction import references, table_recipes
from sensegraph.lab.reproduction.table_recipes import Kind, Recipe, ReproducedTable, list_figures
from sensegraph.lab.retrieval import Measuring, read_set
from sensegraph.lab.scores.statistics import correct_by_holm, two_sided_p
from sensegraph.methods import load_method
from sensegraph.protocols import PartName
from sensegraph.runtime.keys import key
from sensegraph.types import Usage

Rows = Mapping[str, Sequence[float | None]]
_CLOSE = 0.01  # of a printed p, which follows from a rounded z
_DEPTHS = 4  # C0 to C3
_CUTS = (2, 5)
_UNITS: tuple[PartName, ...] = ("graph", "reports")


@dataclass(frozen=True, slots=True)
class Bench:
    """Where a recipe works: the measuring sets, the folder that keeps what is made, and the settings that are given."""

    paper: str
    data: Path
    root: Path
    given: Mapping[str, Any]
    report: Report
    questions: int = 0


Measure = Callable[[Recipe, Bench], ReproducedTable]
_KINDS: dict[Kind, Measure] = {}


def _measures_kind(kind: Kind) -> Callable[[Measure], Measure]:
    """Enter a function as what measures the recipes of a kind."""

    def enter(measure: Measure) -> Measure:
        _KINDS[kind] = measure
        return measure

    return enter


def reproduce_table(recipe: Recipe, bench: Bench) -> ReproducedTable:
    """The table measured by its recipe. Raises InputError where a measuring set is not there."""
    check_measuring_sets(recipe, bench)
    found = _KINDS[recipe.kind](recipe, bench)
    if bench.questions and not recipe.asks:
        found = replace(found, notes=(*found.notes, "--limit changes nothing here: no question is asked."))
    return found


def check_measuring_sets(recipe: Recipe, bench: Bench) -> None:
    """Raise InputError, with what is needed, where a measuring set is not there."""
    for name in recipe.folders:
        if not (bench.data / name / "corpus.jsonl").is_file():
            raise InputError(
                f"{recipe.title.capitalize()} of {bench.paper} is measured on {name}, and {bench.data / name} holds no "
                "corpus.jsonl; name the folder of the measuring sets by --data."
            )


def hash_measuring_sets(recipe: Recipe, bench: Bench) -> str:
    """What tells the data that a recipe is measured on: 12 hex digits; empty where it needs none."""
    names = ("corpus.jsonl", "queries.jsonl")
    files = [bench.data / folder / name for folder in recipe.folders for name in names]
    read = [sha256(f.read_bytes()).hexdigest() for f in files if f.is_file()]
    # the most questions that are asked of a set; 0 where all of them are
    asked = [bench.data / folder / "queries.jsonl" for folder in recipe.folders if recipe.asks]
    there = [sum(1 for line in f.read_bytes().splitlines() if line.strip()) for f in asked if f.is_file()]
    return key("data", bench.questions if any(n > bench.questions for n in there) else 0, read)[:12] if read else ""


def _set_beside_published(
    recipe: Recipe, bench: Bench, ours: Rows, columns: Sequence[str], engine: str, known: Published, *notes: str
) -> ReproducedTable:
    """Ours beside what was published and what is pinned; `columns` are those of ours."""
    pins = recipe.pins(engine, hash_measuring_sets(recipe, bench))
    whole = not pins and recipe.pins(engine, hash_measuring_sets(recipe, replace(bench, questions=0)))
    by_column = {n: dict(zip(known.columns, known.rows[n], strict=True)) for n in recipe.rows if n in known.rows}
    printed = {name: [figures.get(c) for c in columns] for name, figures in by_column.items()}
    figures = list_figures(recipe, columns, ours, printed, pins)
    found = ReproducedTable(recipe, figures, engine, notes, pins)
    return replace(found, unpinned="our own figures are pinned for all questions, not for these") if whole else found


def estimate_indexes(recipe: Recipe, bench: Bench) -> dict[str, Usage]:
    """What the indexes of a recipe without a plan would ask for, set by set; nothing where this machine does it all."""
    settings = load_settings(bench.root, bench.given)
    if recipe.kind == "references":
        return _estimate_references(recipe, bench)
    if not recipe.folders or not any(tool.waits for tool in make_tools(settings)):
        return {}
    reads = [load_method(name).reads for name in recipe.rows.values()] if recipe.kind == "recall" else [_UNITS]
    parts = sort_parts(part for read in reads for part in read)
    settings = replace(settings, index=replace(settings.index, parts=parts))
    found = {}
    for name in recipe.folders:
        with TemporaryDirectory(prefix="sensegraph-") as spare:
            made = has_store(settings, bench.root / name / FOLDER)
            root = bench.root / name if made else Path(spare)
            with closing(open_settled(root, settings, readonly=made, progress=bench.report)) as corpus:
                found[f"index of {name}"] = corpus.estimate(bench.data / name / "corpus.jsonl").usage
    return found


def _estimate_references(recipe: Recipe, bench: Bench) -> dict[str, Usage]:
    """What every index of a study of extraction would ask for."""
    texts, found = references.join_documents(bench.data / recipe.data / "corpus.jsonl"), {}
    for size, rounds, root, settings in _vary_extraction(recipe, bench):
        settings = replace(settings, index=replace(settings.index, parts=("graph",)))
        if any(tool.waits for tool in make_tools(settings)):
            made = has_store(settings, root / FOLDER)
            with TemporaryDirectory(prefix="sensegraph-") as spare:
                place = root if made else Path(spare)
                with closing(open_settled(place, settings, readonly=made, progress=bench.report)) as corpus:
                    found[f"chunks of {size}, {rounds} gleanings"] = corpus.estimate(texts).usage
    return found


# ── arithmetic: no data, no engine ──


@_measures_kind("sum")
def _sum_claims(recipe: Recipe, bench: Bench) -> ReproducedTable:
    """The claims of all answers, from the printed means of Table 3 (G46)."""
    known = read_published_table(bench.paper, recipe.table)
    total = float(round(sum(map(sum, known.rows.values())) * known.questions))
    return _compare_arithmetic(recipe, [total], {name: [float(printed)] for name, printed in recipe.rows.items()})


@_measures_kind("holm")
def _correct_printed_values(recipe: Recipe, bench: Bench) -> ReproducedTable:
    """The p of Table 6 from its z, every family of 15 by itself (G35)."""
    families: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for row in read_win_rate_comparisons():
        families.setdefault((row.dataset, row.metric), []).append((row.z, row.p))
    numeric = small = 0
    for rows in families.values():
        for (_, printed), p in zip(rows, correct_by_holm([two_sided_p(z) for z, _ in rows]), strict=True):
            below = printed.startswith("<")
            small += below and p < 0.001
            numeric += not below and abs(p - float(printed or 0)) <= _CLOSE
    every = len(read_win_rate_comparisons())
    note = f"{numeric + small} of all {every} printed p follow from the printed z by this correction."
    return _count_agreeing(recipe, [numeric, small], note)


@_measures_kind("joint")
def _check_joint_cells(recipe: Recipe, bench: Bench) -> ReproducedTable:
    """The joint cells of GRAFT's figures that are the means of their parts (R22)."""
    from sensegraph.lab.finetuning.factorial.printed import read_figures, recompute_joint, select_odd_cells

    cells = recompute_joint(read_figures())
    wrong = select_odd_cells(cells)
    notes = (f"{c.metric}, {c.system}: printed {c.printed:g}, computed {c.computed:.3f}" for c in wrong)
    return _count_agreeing(recipe, [len(cells) - len(wrong)], *notes)


def _count_agreeing(recipe: Recipe, ours: Sequence[float], *notes: str) -> ReproducedTable:
    """How many of the printed figures hold, beside how many are printed, which the rows of the recipe say."""
    printed = {name: [float(count)] for name, count in recipe.rows.items()}
    return replace(_compare_arithmetic(recipe, ours, printed), notes=notes)


def _compare_arithmetic(recipe: Recipe, ours: Sequence[float], printed: Rows) -> ReproducedTable:
    """A figure for each row of the recipe."""
    pins, own = recipe.pins("any"), {name: [float(v)] for name, v in zip(recipe.rows, ours, strict=True)}
    return ReproducedTable(recipe, list_figures(recipe, ("",), own, printed, pins), "arithmetic", (), pins)


@_measures_kind("rings")
def _cluster_rings(recipe: Recipe, bench: Bench) -> ReproducedTable:
    """The communities of growing rings of cliques by each quality and resolution, as a table and a picture (N36)."""
    from sensegraph.graphs.drawing.rendering import render_svg
    from sensegraph.lab.finetuning.pictures import Series, draw_losses
    from sensegraph.lab.reproduction import rings

    counts, pins = [int(n) for n in recipe.columns], recipe.pins("any")
    ours = {name: rings.count_communities(counts, rule) for name, rule in recipe.rows.items()}
    series = [Series(n, tuple(zip(map(float, counts), f, strict=True))) for n, f in ours.items()]
    drawn = draw_losses("Communities of a ring of cliques of five", series, "cliques in the ring", "communities found")
    bench.root.mkdir(parents=True, exist_ok=True)
    file = bench.root / "rings.svg"
    file.write_text(render_svg(drawn), encoding="utf-8")
    notes = (
        "Every clique is a community where as many are found as the ring has; a column is a ring of so many cliques.",
        f"By arithmetic two neighbours gain modularity by being joined from {rings.JOINED} cliques on, by cpm never.",
        f"Nothing printed in the paper is set beside these. Picture: {file}",
    )
    figures = list_figures(recipe, recipe.columns, ours, {}, pins)
    return ReproducedTable(recipe, figures, "arithmetic", notes, pins)


# ── an index alone ──


@_measures_kind("units")
def _measure_units(recipe: Recipe, bench: Bench) -> ReproducedTable:
    """Reports of each depth, every entity once, with their tokens, and the whole text (edge2024, Table 2; G38)."""
    root = bench.root / recipe.data
    root.mkdir(parents=True, exist_ok=True)
    settings = load_settings(root, bench.given)
    with closing(open_settled(root, settings, progress=bench.report)) as corpus:
        corpus.add(bench.data / recipe.data / "corpus.jsonl")
        corpus.build(parts=_UNITS)
        index = corpus.index()
        sizes = [[c.tokens for c in index.clusters_at(depth)] for depth in range(_DEPTHS)]
        sizes.append([c.tokens for c in index.catalogue.chunks])
        units, tokens = [float(len(each)) for each in sizes], [float(sum(each)) for each in sizes]
        engine = corpus.engine.name
    figures = {"units": units, "tokens": tokens, "percent": [100 * t / tokens[-1] for t in tokens]}
    ours = {name: figures[what] for name, what in recipe.rows.items()}
    known = read_published_table(bench.paper, recipe.table)
    return _set_beside_published(recipe, bench, ours, known.columns, engine, known)


@_measures_kind("references")
def _count_references(recipe: Recipe, bench: Bench) -> ReproducedTable:
    """Entity references by size of chunks and rounds of gleaning, and how many times those of another size (G08)."""
    known, counts, engine = read_published_table(bench.paper, recipe.table), dict[tuple[str, str], float](), ""
    texts = references.join_documents(bench.data / recipe.data / "corpus.jsonl")
    for size, rounds, root, settings in _vary_extraction(recipe, bench):
        root.mkdir(parents=True, exist_ok=True)
        with closing(open_settled(root, settings, progress=bench.report)) as corpus:
            corpus.add(texts)
            corpus.build(parts=("graph",))
            counts[size, rounds], engine = references.count_references(corpus.index()), corpus.engine.name
    ours = {}
    for name, sizes in recipe.rows.items():
        one, _, other = sizes.partition(" ")
        row = [(counts.get((one, n)), counts.get((other, n), 0.0) if other else 1.0) for n in recipe.columns]
        ours[name] = [a / b if a is not None and b else None for a, b in row]
    notes = [
        "Columns are rounds of gleaning. The paper's figure has no numbers; its text states that one ratio, about.",
        f"Texts were joined to {len(texts):,} of {references.LEAST:,} tokens or more, so that a chunk can be large.",
    ]
    if engine == "offline":
        notes.append("The offline engine does not glean, and larger chunks repeat fewer names; no more is measured.")
        notes.append("This is no reproduction of what the paper says of a model.")
    return _set_beside_published(recipe, bench, ours, recipe.columns, engine, known, *notes)


def _vary_extraction(recipe: Recipe, bench: Bench) -> Iterator[tuple[str, str, Path, Settings]]:
    """Size, rounds, folder and settings of every index of the study; without a model nothing is gleaned."""
    sizes = [size for size in recipe.rows.values() if " " not in size]
    for size, rounds, varied in references.vary_extraction(sizes, recipe.columns):
        root = bench.root / f"{recipe.data}-{size}-{rounds}"
        settings = load_settings(root, lay_tables(bench.given, varied))
        if rounds == "0" or make_tools(settings)[0].name != "offline":
            yield size, rounds, root, settings


@_measures_kind("recall")
def _measure_recall(recipe: Recipe, bench: Bench) -> ReproducedTable:
    """Recall@2 and recall@5 of methods on judged sets (Gutiérrez et al. 2025, Table 1)."""
    settings, parts = retrieval_measuring.load_measuring_settings(bench.root, bench.given)
    methods = retrieval_measuring.load_named_methods(",".join(recipe.rows.values()), settings)
    columns, found = [], {name: list[float | None]() for name in recipe.rows}
    engine, asked = "", []
    for name in recipe.sets:
        place = retrieval_measuring.IndexPlace(bench.root / name, settings, parts, bench.report)
        judged = read_set(bench.data / name)
        first = replace(judged, queries=judged.queries[: bench.questions or None])
        asked.append(f"{name} {len(first.queries):,} of {len(judged.queries):,}")
        result = retrieval_measuring.measure_set(first, methods, Measuring(cuts=_CUTS, draws=1), place)
        engine = result.manifest.engine
        columns += [f"{name} R@{k}" for k in _CUTS]
        by_name = {s.method: s.means for s in result.found.scores}
        for row, method in recipe.rows.items():
            found[row] += [100 * by_name[method][f"recall@{k}"].mean for k in _CUTS]
    note = "Here: other embedder, and half of the questions; only 2wiki has the published corpus."
    known, told = read_published_table(bench.paper, recipe.table), f"Judged questions asked: {', '.join(asked)}."
    return _set_beside_published(recipe, bench, found, columns, engine, known, note, told)


# ── evaluations ──


def write_recipe_plan(recipe: Recipe, bench: Bench) -> Path:
    """The evaluation of a recipe as a file of its own, with corpus and questions of the data folder."""
    folder = (bench.data / recipe.data).resolve()
    files = {"corpus": str(folder / "corpus.jsonl"), "questions": str(folder / "queries.jsonl")}
    head = {**files, "limit": bench.questions, "output": f"{recipe.data}.{Path(recipe.plan).stem}"}
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in head.items()]
    bench.root.mkdir(parents=True, exist_ok=True)
    file = bench.root / recipe.plan
    file.write_text("\n".join(lines) + "\n" + table_recipes.read_plan_text(bench.paper, recipe.plan), encoding="utf-8")
    return file


def _run_recipe_plan(recipe: Recipe, bench: Bench) -> tuple[Outcome, list[str]]:
    """The evaluation carried out, and what has to be said of it; its report stands in its folder."""
    from sensegraph.cli.lab.evaluate import write_evaluation
    from sensegraph.lab.experiments.comparison_tables import describe_evaluation

    with evaluation_setup.prepare_evaluation(write_recipe_plan(recipe, bench), bench.given, bench.report) as ready:
        found = experiment.run_evaluation(ready.plan, ready.conditions, ready.questions, ready.tools, recipe.data)
    write_evaluation(found, ready.output)
    return found, [describe_evaluation(found), *found.held]


@_measures_kind("answers")
def _measure_answers(recipe: Recipe, bench: Bench) -> ReproducedTable:
    """Means of a measure for every condition."""
    (found, remarks), known = _run_recipe_plan(recipe, bench), read_published_table(bench.paper, recipe.table)
    by_name = {c.measure.name: c.measure for c in found.compared}
    ours = {row: [by_name[name].mean(c) for c in known.columns] for row, name in recipe.rows.items()}
    return _set_beside_published(recipe, bench, ours, known.columns, found.engine, known, *remarks)


@_measures_kind("wins")
def _measure_all_pairs(recipe: Recipe, bench: Bench) -> ReproducedTable:
    """Win rates of all pairs by every criterion (edge2024, Table 6), for the data set that is here."""
    found, remarks = _run_recipe_plan(recipe, bench)
    here = (row for row in read_win_rate_comparisons() if row.dataset == recipe.data)
    printed = {(row.metric, row.first, row.second): row.means[0] for row in here}
    given = found.verdicts.pairs if found.verdicts else {}
    pairs = [(p.first, p.second) for p in next(iter(given.values()), ())]
    columns = [f"{a} – {b}" for a, b in pairs]
    ours = {c: [p.means[0] if p.n else None for p in given[c]] for c in recipe.rows}
    rows = {c: tuple(printed.get((c, a, b), 100 - printed.get((c, b, a), 50.0)) for a, b in pairs) for c in recipe.rows}
    known = Published("", "6", "", tuple(columns), rows)
    return _set_beside_published(recipe, bench, ours, columns, found.engine, known, *remarks)


@_measures_kind("win")
def _measure_first_pair(recipe: Recipe, bench: Bench) -> ReproducedTable:
    """Win rates of a condition: by a criterion, against one condition or (`*`) the mean against all (G41, L25, L27).

    A row is measured by a criterion alone, which means the first pair, or by a criterion and two conditions.
    """
    (found, remarks), known = _run_recipe_plan(recipe, bench), read_published_table(bench.paper, recipe.table)
    given = found.verdicts.pairs if found.verdicts else {}
    ours = {}
    for row, measured in recipe.rows.items():
        criterion, _, both = measured.partition(" ")
        winner, _, other = (both or f"{given[criterion][0].first} {given[criterion][0].second}").partition(" ")
        pairs = [p for p in given[criterion] if p.n and winner in (p.first, p.second)]
        wins = [p.means[p.first != winner] for p in pairs if other in (p.first, p.second, "*")]
        ours[row] = [sum(wins) / len(wins) if wins else None]
    columns = [recipe.data] if recipe.data in known.columns else known.columns
    remarks.append(_describe_contexts(found))
    return _set_beside_published(recipe, bench, ours, columns, found.engine, known, *remarks)


@_measures_kind("contexts")
def _measure_contexts(recipe: Recipe, bench: Bench) -> ReproducedTable:
    """How far, in percent, the context of a method lies below the mean of the others (zhang2025, Figure 3; L26)."""
    (found, _), known = _run_recipe_plan(recipe, bench), read_published_table(bench.paper, recipe.table)
    sizes = {name: spent.context_tokens for name, spent in found.costs.items()}
    ours = {}
    for row, name in recipe.rows.items():
        others = [size for other, size in sizes.items() if other != name]
        ours[row] = [100 * (1 - sizes[name] * len(others) / sum(others))] if sum(others) else [None]
    return _set_beside_published(recipe, bench, ours, known.columns, found.engine, known, _describe_contexts(found))


def _describe_contexts(found: Outcome) -> str:
    told = ", ".join(f"{name} {spent.context_tokens:,.0f}" for name, spent in found.costs.items())
    return f"Mean tokens of a context: {told}."
