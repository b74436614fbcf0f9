"""Published tables, as data in the folders of their papers: what figures of ours are put beside."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources.abc import Traversable
from io import StringIO
from types import MappingProxyType

from sensegraph.errors import InputError
from sensegraph.papers import PAPERS, paper_folder

_FOLDER = "tables"
RECIPES = "repro.toml"  # beside the tables: how they are measured here
_TABLE6 = "table6.csv"
OTHER_NAMES: Mapping[str, str] = MappingProxyType({
    "hipporag2": "gutierrez2025", "graft2025": "graft2024", "cpm": "traag2011",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Published:
    """A table as it was printed: rows of figures by name, one a column; `caption` says what they are and in what."""

    paper: str
    table: str
    caption: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[float, ...]]
    questions: int = 0


@dataclass(frozen=True, slots=True)
class Comparison6:
    """A row of Table 6 of Edge et al. (2024): mean win scores of two conditions, z, and p as printed ("<0.001")."""

    dataset: str
    metric: str
    first: str
    second: str
    means: tuple[float, float]
    z: float
    p: str


def list_papers() -> tuple[str, ...]:
    """The papers of which tables or recipes are here, by name."""
    folders = ((paper, paper_folder(paper)) for paper in PAPERS)
    return tuple(paper for paper, f in folders if (f / _FOLDER).is_dir() or (f / RECIPES).is_file())


def list_recipe_papers() -> list[str]:
    """The papers of which tables are measured here."""
    return [paper for paper in PAPERS if (paper_folder(paper) / RECIPES).is_file()]


def find_paper(name: str) -> str:
    """The folder's name of a paper, also by that of its method. Raises InputError with the nearest."""
    known = list_papers()
    others = {PAPERS[paper].rpartition("/")[2]: paper for paper in known} | dict(OTHER_NAMES)
    wanted = others.get(name, name)
    if wanted in known:
        return wanted
    near = get_close_matches(name, [*known, *others])
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
    raise InputError(f"No tables of a paper {name!r}; {hint}")


def list_published_tables(paper: str) -> tuple[str, ...]:
    """The tables of a paper, as they are named: `2`, `figure 3`."""
    return tuple(_table_title(file.name) for file in _list_table_files(paper))


def read_published_table(paper: str, table: str) -> Published:
    """One table of a paper. Raises InputError, naming those that there are."""
    wanted = table.casefold().removeprefix("table").strip()
    for file in _list_table_files(paper):
        if _table_title(file.name) == wanted and file.name != _TABLE6:
            found = tomllib.loads(file.read_text(encoding="utf-8"))
            rows = {name: tuple(map(float, figures)) for name, figures in found["rows"].items()}
            columns = tuple(found["columns"])
            return Published(found["paper"], found["table"], found["caption"], columns, rows, found.get("questions", 0))
    raise InputError(f"No table {table!r} of {paper} is here; there are {', '.join(list_published_tables(paper))}.")


def find_printed_table(paper: str, table: str) -> Published | None:
    """One table of a paper as it was printed, Table 6 of Edge et al. (2024) too; None where no figures are here."""
    if (paper, table) != ("edge2024", "6"):
        return read_published_table(paper, table) if table in list_published_tables(paper) else None
    printed = read_win_rate_comparisons()
    rows = {f"{r.dataset} {r.metric}, {r.first} – {r.second}": (*r.means, r.z) for r in printed}
    return Published("Edge et al. 2024", "6", "Mean win scores and z", ("first", "second", "z"), rows)


def read_win_rate_comparisons() -> tuple[Comparison6, ...]:
    """The 120 comparisons of Table 6 of Edge et al. (2024), in its order (G35)."""
    text = (paper_folder("edge2024") / _FOLDER / _TABLE6).read_text(encoding="utf-8")
    found = []
    for r in csv.DictReader(StringIO(text)):
        pair, means = (r["condition1"], r["condition2"]), (float(r["mean1"]), float(r["mean2"]))
        found.append(Comparison6(r["dataset"], r["metric"], *pair, means, float(r["z"]), r["p_published"]))
    return tuple(found)


def _list_table_files(paper: str) -> Iterator[Traversable]:
    folder = paper_folder(paper) / _FOLDER
    found = folder.iterdir() if folder.is_dir() else ()
    yield from sorted((f for f in found if f.name.endswith((".toml", ".csv"))), key=lambda f: f.name)


def _table_title(file: str) -> str:
    """`table2.toml` is 2, `figure3.toml` is figure 3."""
    stem = file.rpartition(".")[0]
    return stem.removeprefix("table") if stem.startswith("table") else stem.replace("figure", "figure ", 1)
