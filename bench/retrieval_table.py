"""What methods found on sets, as tables: recall with the paired test against BM25, all measures, CPU; who is left out.

A column is a set in one form. A method that names documents for fewer than half of the questions of a form has no
ranking of them that could be compared, and is left out of its table with that reason.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from sensegraph.lab.retrieval.retrieval_scores import list_metrics, measure_ranking
from sensegraph.lab.retrieval.retrieval_tables import align_columns as in_columns
from sensegraph.lab.retrieval.retrieval_tables import metric_label
from sensegraph.lab.retrieval.runs import Found
from sensegraph.lab.retrieval.test_collections import Query
from sensegraph.lab.scores.statistics import Floats, Interval, bootstrap_intervals, correct_by_holm, signed_rank_test

TITLED, UNTITLED = "titled", "untitled"
BASELINE = "bm25"
METRIC = "recall@5"
LEVEL = 0.05
CUTS = (2, 5, 8, 10)  # 8: for a published figure
PUBLISHED = Path(__file__).with_name("published.toml")
SHOWN = ("recall@2", "recall@5", "recall@10", "all@5", "ndcg@10", "mrr")
LEAST = 0.5  # of the questions must have a ranking

CARE = (
    "These sets reward links by title: the questions of 2wiki and hotpotqa were made along links of pages, so that "
    "“this page names the title of that one” is nearly the rule by which they were made, and those of musique chain "
    "single questions by a name. Read the table without titles beside it, and chats (lihua-world), meetings (qmsum), "
    "news and a novel (carol), where titles say little or are missing. The settings of `walk` were developed on these "
    "very sets, and the rules of `kag` that plan with questions of musique, 2wiki and hotpotqa in sight."
)


@dataclass(frozen=True, slots=True)
class Cell:
    """What a method found for the questions of a set, or why it could not; `stale` says that other code found it."""

    method: str
    found: tuple[Found, ...] = ()
    failed: str = ""
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Versus:
    """A method against the baseline on the questions that both were asked."""

    difference: Interval
    p: float
    p_holm: float
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True)
class Column:
    """A set in one form: its questions and what every method found."""

    name: str
    form: str
    queries: tuple[Query, ...]
    cells: tuple[Cell, ...]
    documents: int = 0
    titles: bool = True
    values: dict[str, Floats] = field(default_factory=dict, init=False, compare=False)

    def __post_init__(self) -> None:
        gold = {q.id: q.gold for q in self.queries}
        for cell in self.cells:
            rows = [measure_ranking(f.documents, gold[f.query], CUTS) for f in cell.found]
            self.values[cell.method] = np.array(rows).reshape(-1, len(list_metrics(CUTS)))

    @cached_property
    def by_method(self) -> dict[str, Cell]:
        return {c.method: c for c in self.cells}

    def mean(self, method: str, metric: str = METRIC) -> float | None:
        """The mean of a metric in percent; None where nothing was asked."""
        rows = self.values[method]
        return 100 * float(rows[:, list_metrics(CUTS).index(metric)].mean()) if len(rows) else None

    def part(self, kind: str) -> Column:
        """The questions of one type, as a column of their own."""
        queries = tuple(q for q in self.queries if q.type == kind)
        asked = {q.id for q in queries}
        cells = [Cell(c.method, tuple(f for f in c.found if f.query in asked), c.failed, c.stale) for c in self.cells]
        return Column(kind, self.form, queries, tuple(cells), self.documents, self.titles)


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its title, and what is to be said under it."""

    title: str
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def versus(column: Column, methods: Sequence[str], metric: str = METRIC) -> dict[str, Versus]:
    """Every one of `methods` against the baseline, on the questions that both were asked; one family for Holm."""
    others = [m for m in methods if m != BASELINE and len(column.values[m])]
    if BASELINE not in methods or not others:
        return {}
    place = list_metrics(CUTS).index(metric)
    ground = dict(zip(_asked(column, BASELINE), column.values[BASELINE][:, place], strict=True))
    gaps = [
        np.array([v - ground[q] for q, v in zip(_asked(column, m), column.values[m][:, place], strict=True)])
        for m in others
    ]
    ranks = [signed_rank_test(gap) for gap in gaps]
    return {
        m: Versus(bootstrap_intervals(gap[:, None])[0], r.p, p, r.wins, len(gap) - r.n, r.n - r.wins)
        for m, gap, r, p in zip(others, gaps, ranks, correct_by_holm([r.p for r in ranks]), strict=True)
    }


def _asked(column: Column, method: str) -> list[str]:
    return [f.query for f in column.by_method[method].found]


def left_out(columns: Sequence[Column]) -> dict[str, str]:
    """The methods of a form without a ranking of documents that could be compared, each with the reason."""
    found = {}
    for method in columns[0].by_method:
        cells = [c.by_method[method] for c in columns]
        asked = [f for cell in cells for f in cell.found]
        empty = sum(not f.documents for f in asked)
        if not asked:
            found[method] = next(cell.failed for cell in cells)
        elif empty > (1 - LEAST) * len(asked):
            means = ", ".join(f"{c.name} {_percent(c.mean(method))}" for c in columns)
            found[method] = (
                f"it named no document for {empty:,} of {len(asked):,} questions (R@5 all the same: {means})"
            )
    return found


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def tables(columns: Sequence[Column]) -> Iterator[Table]:
    """For each form recall with its tests; then, of each form, all measures, and CPU."""
    forms = [[c for c in columns if c.form == form] for form in dict.fromkeys(c.form for c in columns)]
    yield from (recalls(form) for form in forms)
    yield from (parts(form) for form in forms if any("+" in c.name for c in form))
    yield from (means(form) for form in forms)
    yield times(forms[0])
    yield from published(forms)


def kept(columns: Sequence[Column]) -> list[str]:
    """The methods that a table shows, in the order of their mean recall over the sets, the best first."""
    gone = left_out(columns)
    return sorted((m for m in columns[0].by_method if m not in gone), key=lambda m: -_mean(columns, m, METRIC))


def recalls(columns: Sequence[Column]) -> Table:
    """Recall of every method on every set of a form, with the difference from the baseline where it is real."""
    methods = kept(columns)
    real = [versus(c, methods) for c in columns]
    head = ("method", *(f"{c.name} ({len(c.queries)})" for c in columns), "mean")
    rows = [
        (m, *(_score(c, m, t.get(m)) for c, t in zip(columns, real, strict=True)), f"{_mean(columns, m, METRIC):.1f}")
        for m in methods
    ]
    return Table(_title(columns, "recall@5 in percent"), (head, *rows), tuple(_notes(columns, methods)))


def parts(columns: Sequence[Column]) -> Table:
    """Of sets that were joined, recall on the questions of each."""
    found = recalls([c.part(kind) for c in columns if "+" in c.name for kind in c.name.split("+")])
    return replace(found, title=f"{found.title}, over one index of all of these")


def means(columns: Sequence[Column]) -> Table:
    """Every measure, as the mean over the sets of a form."""
    rows = [(m, *(f"{_mean(columns, m, metric):.1f}" for metric in SHOWN)) for m in kept(columns)]
    title = _title(columns, f"all measures, in percent, the mean over {len(columns)} sets")
    return Table(title, (("method", *map(metric_label, SHOWN)), *rows))


def times(columns: Sequence[Column]) -> Table:
    """CPU of a question, and what would go to a model."""
    head = ("method", *(c.name for c in columns), "tokens")
    rows = [(m, *(_cpu(c.by_method[m]) for c in columns), _tokens(columns, m)) for m in kept(columns)]
    title = _title(columns, "median CPU ms of a question, the offline engine's included; mean tokens for a model")
    return Table(title, (head, *rows))


def published(forms: Sequence[Sequence[Column]]) -> Iterator[Table]:
    """Published figures of the methods that were measured, beside ours in every form; nothing where there are none."""
    head = ("method", "set", "measure", "published", *("ours, " + form[0].form for form in forms), "passages", "by")
    rows = [
        row
        for table in tomllib.loads(PUBLISHED.read_text(encoding="utf-8"))["table"]
        for name, one in table["sets"].items()
        if (row := _published(table, name, one, forms))
    ]
    notes = (
        "Not comparable but for the method: published are 1,000 questions (51 for all@8), a model's extraction and "
        "embedding and often a corpus many times as large; ours are the questions above, without any model.",
    )
    if rows:
        yield Table("Published beside ours, in percent", (head, *rows), notes)


def _published(
    table: Mapping[str, Any], name: str, one: Mapping[str, Any], forms: Sequence[Sequence[Column]]
) -> tuple[str, ...]:
    """A row; none where the set or the method was not measured."""
    here = [c for form in forms for c in form if c.name == name and table["method"] in c.by_method]
    if len(here) < len(forms):
        return ()
    ours = [" / ".join(_percent(c.mean(table["method"], m)) for m in table["measures"]) for c in here]
    size = f"{one['passages']:,}, ours {here[0].documents:,}" if "passages" in one else f"?, ours {here[0].documents:,}"
    told = " / ".join(f"{figure:.1f}" for figure in one["figures"])
    return (table["method"], name, " / ".join(map(metric_label, table["measures"])), told, *ours, size, table["source"])


def _title(columns: Sequence[Column], what: str) -> str:
    return f"{'With titles' if columns[0].form == TITLED else 'All titles deleted'}: {what}"


def _score(column: Column, method: str, test: Versus | None) -> str:
    mean, asked = column.mean(method), len(column.values[method])
    real = f" ({_points(100 * test.difference.mean)})" if test and test.p_holm < LEVEL else ""
    few = f" of {asked}" if 0 < asked < len(column.queries) else ""
    return _percent(mean) + real + few


def _notes(columns: Sequence[Column], methods: Sequence[str]) -> Iterator[str]:
    family = f"{len(methods) - 1} method{'s' * (len(methods) != 2)}"
    yield (
        f"In brackets the difference from {BASELINE} in points, where Wilcoxon's signed-rank test on the same "
        f"questions gives p < {LEVEL} after Holm's correction over the {family} of the column."
    )
    yield from _samples(columns, methods)
    yield from (f"Left out: {m}: {reason}." for m, reason in left_out(columns).items())
    for c in columns:
        empty = {m: sum(not f.documents for f in c.by_method[m].found) for m in methods}
        if some := ", ".join(f"{m} {n}" for m, n in empty.items() if n):
            yield f"{c.name}: questions for which no document was named: {some}."
        yield from (f"{c.name}: {m} failed: {c.by_method[m].failed}" for m in methods if c.by_method[m].failed)
    cells = [cell for c in columns for cell in c.cells]
    if stale := sum(cell.stale for cell in cells):
        yield f"{stale} of {len(cells)} cells were measured by other code than there is now; `--again` renews them."
    if columns[0].form == UNTITLED and (same := [c.name for c in columns if not c.titles]):
        yield f"There are no titles in {', '.join(same)}: as above."


def _samples(columns: Sequence[Column], methods: Sequence[str]) -> Iterator[str]:
    if any(0 < len(c.values[m]) < len(c.queries) for c in columns for m in methods):
        yield "“of n”: a seeded sample of n questions, because all would have taken too long; tested on these."


def _mean(columns: Iterable[Column], method: str, metric: str) -> float:
    """The mean over the sets where the method was measured; sets count alike."""
    found = [mean for c in columns if (mean := c.mean(method, metric)) is not None]
    return sum(found) / len(found) if found else 0.0


def _cpu(cell: Cell) -> str:
    return f"{1000 * median(f.cpu_s for f in cell.found):.1f}" if cell.found else "–"


def _tokens(columns: Sequence[Column], method: str) -> str:
    found = [f.tokens for c in columns for f in c.by_method[method].found]
    return f"{sum(found) / len(found):,.0f}" if found else "–"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1f}"


def _points(points: float) -> str:
    return f"{points:+.1f}".replace("-", "−")


# ── forms of output ──────────────────────────────────────────────────────────────────────────────────────────────────


def text(columns: Sequence[Column]) -> str:
    """All tables, for a terminal."""
    return "\n\n".join([*(_as_text(t) for t in tables(columns)), CARE])


def _as_text(table: Table) -> str:
    return "\n".join([table.title, in_columns(table.rows), *table.notes])


def markdown(columns: Sequence[Column]) -> str:
    """All tables as Markdown."""
    return "\n\n".join([CARE, *(_as_markdown(t) for t in tables(columns))])


def _as_markdown(table: Table) -> str:
    head, *rows = [f"| {' | '.join(row)} |" for row in table.rows]
    rule = "|---" * len(table.rows[0]) + "|"
    notes = [f"- {note}" for note in table.notes]
    return "\n".join([f"**{table.title}**", "", head, rule, *rows, *(["", *notes] if notes else [])])


def as_object(columns: Sequence[Column]) -> dict[str, Any]:
    """Everything as one plain object: of each set and form every measure, test and question."""
    return {"note": CARE, "baseline": BASELINE, "metric": METRIC, "columns": [_column(c, columns) for c in columns]}


def _column(column: Column, columns: Sequence[Column]) -> dict[str, Any]:
    form = [c for c in columns if c.form == column.form]
    compared: Mapping[str, Versus] = versus(column, kept(form))
    return {
        "set": column.name,
        "form": column.form,
        "documents": column.documents,
        "questions": len(column.queries),
        "left_out": left_out(form),
        "methods": {
            cell.method: {
                "asked": len(cell.found),
                "failed": cell.failed,
                "stale": cell.stale,
                "means": {m: column.mean(cell.method, m) for m in list_metrics(CUTS)},
                "test": asdict(compared[cell.method]) if cell.method in compared else None,
                "found": [asdict(f) for f in cell.found],
            }
            for cell in column.cells
        },
    }
