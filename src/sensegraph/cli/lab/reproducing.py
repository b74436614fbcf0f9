"""Tables of papers measured here: each kind of recipe, from a data folder to rows beside the published ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from sensegraph.cli.lab import experiments, measuring, recipes
from sensegraph.cli.lab.recipes import Recipe, Reproduced, Row
from sensegraph.cli.progress import Report
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.settings import FOLDER, Settings, load_settings
from sensegraph.corpus.tools import has_store, make_tools
from sensegraph.errors import InputError
from sensegraph.index.parts import sort_parts
from sensegraph.lab.experiments import experiment
from sensegraph.lab.experiments.experiment import Outcome
from sensegraph.lab.experiments.published import Published, published, table6
from sensegraph.lab.retrieval import Measuring, read_set
from sensegraph.lab.scores.statistics import holm, two_sided
from sensegraph.methods import load
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


def reproduced(recipe: Recipe, bench: Bench) -> Reproduced:
    """The table measured by its recipe. Raises InputError where a measuring set is not there."""
    check(recipe, bench)
    found = _KINDS[recipe.kind](recipe, bench)
    if bench.questions and not recipe.asks:
        found = replace(found, notes=(*found.notes, "--questions changes nothing here: no question is asked."))
    return found


def check(recipe: Recipe, bench: Bench) -> None:
    """Raise InputError, with what is needed, where a measuring set is not there."""
    for name in recipe.folders:
        if not (bench.data / name / "corpus.jsonl").is_file():
            raise InputError(
                f"{recipe.title.capitalize()} of {bench.paper} is measured on {name}, and {bench.data / name} holds no "
                "corpus.jsonl; name the folder of the measuring sets by --data."
            )


def content(recipe: Recipe, bench: Bench) -> str:
    """What tells the data that a recipe is measured on: 12 hex digits; empty where it needs none."""
    names = ("corpus.jsonl", "queries.jsonl")
    files = [bench.data / folder / name for folder in recipe.folders for name in names]
    read = [sha256(f.read_bytes()).hexdigest() for f in files if f.is_file()]
    return key("data", _most(recipe, bench), read)[:12] if read else ""


def _most(recipe: Recipe, bench: Bench) -> int:
    """The most questions that are asked of a set; 0 where all of them are."""
    asked = [bench.data / folder / "queries.jsonl" for folder in recipe.folders if recipe.asks]
    there = [sum(1 for line in f.read_bytes().splitlines() if line.strip()) for f in asked if f.is_file()]
    return bench.questions if any(n > bench.questions for n in there) else 0


def _finished(
    recipe: Recipe, bench: Bench, ours: Rows, columns: Sequence[str], engine: str, known: Published, *notes: str
) -> Reproduced:
    """Ours beside what was published and what is pinned."""
    pins = recipe.pins(engine, content(recipe, bench))
    whole = not pins and recipe.pins(engine, content(recipe, replace(bench, questions=0)))
    rows = []
    for name in recipe.rows:
        printed = _printed(known, name, columns)
        pinned = tuple(pins.rows.get(name, ())) if pins else ()
        rows.append(Row(name, printed, tuple(ours[name]), pinned, pins.within if pins else 0.0))
    found = Reproduced(recipe, tuple(columns), tuple(rows), engine, notes, pins)
    return replace(found, unpinned="our own figures are pinned for all questions, not for these") if whole else found


def _printed(known: Published, name: str, columns: Sequence[str]) -> tuple[float | None, ...]:
    row = known.rows.get(name)
    if row is None:
        return ()
    by_column = dict(zip(known.columns, row, strict=True))
    return tuple(by_column.get(c) for c in columns)


def indexing(recipe: Recipe, bench: Bench) -> dict[str, Usage]:
    """What the indexes of a recipe without a plan would ask for, set by set; nothing where this machine does it all."""
    settings = load_settings(bench.root, bench.given)
    if not recipe.folders or not any(tool.waits for tool in make_tools(settings)):
        return {}
    reads = [load(name).reads for name in recipe.rows.values()] if recipe.kind == "recall" else [_UNITS]
    parts = sort_parts(part for read in reads for part in read)
    settings = replace(settings, index=replace(settings.index, parts=parts))
    return {f"index of {name}": _indexing(name, bench, settings) for name in recipe.folders}


def _indexing(name: str, bench: Bench, settings: Settings) -> Usage:
    with TemporaryDirectory(prefix="sensegraph-") as spare:
        made = has_store(settings, bench.root / name / FOLDER)
        root = bench.root / name if made else Path(spare)
        with closing(Corpus.of(root, settings, readonly=made, progress=bench.report)) as corpus:
            found = corpus.estimate(bench.data / name / "corpus.jsonl")
    tokens = found.prompt_tokens, found.completion_tokens
    return Usage(found.calls, *tokens, embedding_tokens=found.embedding_tokens, cost_usd=found.cost_usd)


# ── arithmetic: no data, no engine ──


def _sum(recipe: Recipe, bench: Bench) -> Reproduced:
    """The claims of all answers, from the printed means of Table 3 (G46)."""
    known = published(bench.paper, recipe.table)
    total = float(round(sum(map(sum, known.rows.values())) * known.questions))
    (name, printed) = next(iter(recipe.rows.items()))
    return _arithmetic(recipe, {name: total}, {name: float(printed)})


def _holm(recipe: Recipe, bench: Bench) -> Reproduced:
    """The p of Table 6 from its z, every family of 15 by itself (G35)."""
    families: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for row in table6():
        families.setdefault((row.dataset, row.metric), []).append((row.z, row.p))
    numeric = small = 0
    for rows in families.values():
        for (_, printed), p in zip(rows, holm([two_sided(z) for z, _ in rows]), strict=True):
            below = printed.startswith("<")
            small += below and p < 0.001
            numeric += not below and abs(p - float(printed or 0)) <= _CLOSE
    names = list(recipe.rows)
    found = dict(zip(names, (float(numeric), float(small)), strict=True))
    every = len(table6())
    note = f"{numeric + small} of all {every} printed p follow from the printed z by this correction."
    return replace(_counted(recipe, found), notes=(note,))


def _joint(recipe: Recipe, bench: Bench) -> Reproduced:
    """The joint cells of GRAFT's figures that are the means of their parts (R22)."""
    from sensegraph.lab.finetuning.factorial.printed import figures, joint, odd

    cells = joint(figures())
    wrong = odd(cells)
    name = next(iter(recipe.rows))
    notes = [f"{c.metric}, {c.system}: printed {c.printed:g}, computed {c.computed:.3f}" for c in wrong]
    return replace(_counted(recipe, {name: float(len(cells) - len(wrong))}), notes=tuple(notes))


def _counted(recipe: Recipe, ours: Mapping[str, float]) -> Reproduced:
    """How many of the printed figures hold: the rows of the recipe say how many there are."""
    found = _arithmetic(recipe, ours, {})
    return replace(found, rows=tuple(replace(row, total=float(recipe.rows[row.name])) for row in found.rows))


def _arithmetic(recipe: Recipe, ours: Mapping[str, float], printed: Mapping[str, float]) -> Reproduced:
    pins = recipe.pins("any")
    rows = []
    for name in recipe.rows:
        known = (printed[name],) if name in printed else ()
        pinned = tuple(pins.rows.get(name, ())) if pins else ()
        rows.append(Row(name, known, (ours[name],), pinned, pins.within if pins else 0.0))
    return Reproduced(recipe, ("",), tuple(rows), "arithmetic", (), pins)


# ── an index alone ──


def _units(recipe: Recipe, bench: Bench) -> Reproduced:
    """Reports of each depth, every entity once, with their tokens, and the whole text (edge2024, Table 2; G38)."""
    root = bench.root / recipe.data
    root.mkdir(parents=True, exist_ok=True)
    settings = load_settings(root, bench.given)
    with closing(Corpus.of(root, settings, progress=bench.report)) as corpus:
        corpus.add(bench.data / recipe.data / "corpus.jsonl")
        corpus.build(parts=_UNITS)
        index = corpus.index()
        read = [index.clusters_at(depth) for depth in range(_DEPTHS)]
        chunks = index.catalogue.chunks
        units = [*map(len, read), len(chunks)]
        tokens = [*(sum(c.tokens for c in clusters) for clusters in read), sum(c.tokens for c in chunks)]
        engine = corpus.engine.name
    percent = [100 * t / tokens[-1] for t in tokens]
    figures: dict[str, list[float]] = {
        "units": [*map(float, units)],
        "tokens": [*map(float, tokens)],
        "percent": percent,
    }
    ours = {name: figures[what] for name, what in recipe.rows.items()}
    known = published(bench.paper, recipe.table)
    return _finished(recipe, bench, ours, known.columns, engine, known)


def _recall(recipe: Recipe, bench: Bench) -> Reproduced:
    """Recall@2 and recall@5 of methods on judged sets (Gutiérrez et al. 2025, Table 1)."""
    settings, parts = measuring.settings_of(bench.root, bench.given)
    methods = measuring.named_methods(",".join(recipe.rows.values()), settings)
    columns, found = [], {name: list[float | None]() for name in recipe.rows}
    engine, asked = "", []
    for name in recipe.sets:
        place = measuring.Place(bench.root / name, settings, parts, bench.report)
        judged = read_set(bench.data / name)
        first = replace(judged, queries=judged.queries[: bench.questions or None])
        asked.append(f"{name} {len(first.queries):,} of {len(judged.queries):,}")
        result = measuring.measured(first, methods, Measuring(cuts=_CUTS, draws=1), place)
        engine = result.manifest.engine
        columns += [f"{name} R@{k}" for k in _CUTS]
        by_name = {s.method: s.means for s in result.found.scores}
        for row, method in recipe.rows.items():
            found[row] += [100 * by_name[method][f"recall@{k}"].mean for k in _CUTS]
    note = "Here: other embedder, and half of the questions; only 2wiki has the published corpus."
    known, told = published(bench.paper, recipe.table), f"Judged questions asked: {', '.join(asked)}."
    return _finished(recipe, bench, found, columns, engine, known, note, told)


# ── evaluations ──


def planned(recipe: Recipe, bench: Bench) -> Path:
    """The evaluation of a recipe as a file of its own, with corpus and questions of the data folder."""
    folder = (bench.data / recipe.data).resolve()
    head = {
        "corpus": str(folder / "corpus.jsonl"),
        "questions": str(folder / "queries.jsonl"),
        "limit": bench.questions,
        "output": f"{recipe.data}.{Path(recipe.plan).stem}",
    }
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in head.items()]
    bench.root.mkdir(parents=True, exist_ok=True)
    file = bench.root / recipe.plan
    file.write_text("\n".join(lines) + "\n" + recipes.plan_text(bench.paper, recipe.plan), encoding="utf-8")
    return file


def _outcome(recipe: Recipe, bench: Bench) -> Outcome:
    """The evaluation carried out; its report stands in its folder."""
    from sensegraph.cli.lab.experimenting import write
    from sensegraph.lab.experiments import outcome_records

    with experiments.prepared(planned(recipe, bench), bench.given, bench.report) as ready:
        found = experiment.run(ready.plan, ready.conditions, ready.questions, ready.tools, recipe.data)
    write(found, outcome_records.whole(found), ready.output)
    return found


def _answers(recipe: Recipe, bench: Bench) -> Reproduced:
    """Means of a measure for every condition."""
    found, known = _outcome(recipe, bench), published(bench.paper, recipe.table)
    by_name = {c.measure.name: c.measure for c in found.compared}
    ours = {row: [by_name[name].mean(c) for c in known.columns] for row, name in recipe.rows.items()}
    return _finished(recipe, bench, ours, known.columns, found.engine, known, *_said(found))


def _wins(recipe: Recipe, bench: Bench) -> Reproduced:
    """Win rates of all pairs by every criterion (edge2024, Table 6), for the data set that is here."""
    found = _outcome(recipe, bench)
    printed = {(r.metric, r.first, r.second): r.means[0] for r in table6() if r.dataset == recipe.data}
    given = found.verdicts.pairs if found.verdicts else {}
    pairs = [(p.first, p.second) for p in next(iter(given.values()), ())]
    columns = [f"{a} – {b}" for a, b in pairs]
    ours = {c: [p.means[0] if p.n else None for p in given[c]] for c in recipe.rows}
    rows = {c: tuple(printed.get((c, a, b), 100 - printed.get((c, b, a), 50.0)) for a, b in pairs) for c in recipe.rows}
    known = Published("", "6", "", tuple(columns), rows)
    return _finished(recipe, bench, ours, columns, found.engine, known, *_said(found))


def _win(recipe: Recipe, bench: Bench) -> Reproduced:
    """The win rate of the first condition against the second by every criterion (zhang2025, Table 2; L27)."""
    found, known = _outcome(recipe, bench), published(bench.paper, recipe.table)
    given = found.verdicts.pairs if found.verdicts else {}
    ours = {row: [given[name][0].means[0]] for row, name in recipe.rows.items()}
    return _finished(recipe, bench, ours, [recipe.data], found.engine, known, *_said(found))


def _contexts(recipe: Recipe, bench: Bench) -> Reproduced:
    """How far, in percent, the context of a method lies below the mean of the others (zhang2025, Figure 3; L26)."""
    found, known = _outcome(recipe, bench), published(bench.paper, recipe.table)
    sizes = {name: spent.context_tokens for name, spent in found.costs.items()}
    ours = {}
    for row, name in recipe.rows.items():
        others = [size for other, size in sizes.items() if other != name]
        ours[row] = [100 * (1 - sizes[name] * len(others) / sum(others))] if sum(others) else [None]
    told = ", ".join(f"{name} {size:,.0f}" for name, size in sizes.items())
    return _finished(recipe, bench, ours, known.columns, found.engine, known, f"Mean tokens of a context: {told}.")


def _said(found: Outcome) -> list[str]:
    from sensegraph.lab.experiments.accounts import stated

    return [stated(found), *found.held]


_KINDS: Mapping[str, Callable[[Recipe, Bench], Reproduced]] = MappingProxyType({
    "units": _units,
    "sum": _sum,
    "answers": _answers,
    "holm": _holm,
    "wins": _wins,
    "win": _win,
    "contexts": _contexts,
    "recall": _recall,
    "joint": _joint,
})  # fmt: skip
