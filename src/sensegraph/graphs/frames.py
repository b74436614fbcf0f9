"""A graph as tables and networks of other libraries, each imported when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sensegraph.errors import SettingsError
from sensegraph.extractions import Shortened

if TYPE_CHECKING:
    import networkx
    import pandas
    import polars
    import pyarrow

    from sensegraph.index.index import Index

Columns = Mapping[str, Sequence[Any]]
_EXTRAS = {"networkx": "networkx", "pandas": "pandas", "polars": "polars", "pyarrow": "parquet"}


def import_library(name: str) -> Any:
    """A library that an extra installs. Raises SettingsError, naming the extra, where it is not there."""
    try:
        return import_module(name)
    except ImportError as e:
        raise SettingsError(f'{name} is not installed: pip install "sensegraph[{_EXTRAS[name]}]".') from e


@dataclass(frozen=True, slots=True, repr=False)
class DataTable(Shortened):
    """Columns of equal length by name; an empty table has its columns too."""

    columns: Columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def rows(self) -> list[dict[str, Any]]:
        """The rows, each by the names of its columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*self.columns.values(), strict=True)]

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas DataFrame. Raises SettingsError without the extra `pandas`."""
        return import_library("pandas").DataFrame({name: list(column) for name, column in self.columns.items()})

    def to_polars(self) -> polars.DataFrame:
        """A polars DataFrame. Raises SettingsError without the extra `polars`."""
        found = {name: list(column) for name, column in self.columns.items()}
        frame: polars.DataFrame = import_library("polars").DataFrame(found, strict=False)
        return frame

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table. Raises SettingsError without the extra `parquet`."""
        return import_library("pyarrow").table({name: list(column) for name, column in self.columns.items()})


@dataclass(frozen=True, slots=True, repr=False)
class GraphTables(Shortened):
    """The graph of an index as tables: entities, relations, claims and communities.

    `source`, `target` and `subject` hold ids of entities; `chunks` counts the chunks that say so; a community is given
    by its `depth` (0 is the coarsest), its `parent` and the ids of its `entities`.
    """

    entities: DataTable
    relations: DataTable
    claims: DataTable
    communities: DataTable

    def to_networkx(self) -> networkx.MultiDiGraph:
        """A directed multigraph of networkx: nodes are ids with the columns of entities, edges have those of relations.

        A relation that is not directed stands once, from its first end to its second, with `directed` false. Raises
        SettingsError without the extra `networkx`.
        """
        made = import_library("networkx").MultiDiGraph()
        for row in self.entities.rows():
            made.add_node(row.pop("id"), **row)
        for row in self.relations.rows():
            made.add_edge(row.pop("source"), row.pop("target"), key=row.pop("id"), **row)
        return made

    def to_pandas(self) -> dict[str, pandas.DataFrame]:
        """The four tables as pandas DataFrames, by name."""
        return {name: table.to_pandas() for name, table in self._tables()}

    def to_polars(self) -> dict[str, polars.DataFrame]:
        """The four tables as polars DataFrames, by name."""
        return {name: table.to_polars() for name, table in self._tables()}

    def to_arrow(self) -> dict[str, pyarrow.Table]:
        """The four tables as Arrow tables, by name."""
        return {name: table.to_arrow() for name, table in self._tables()}

    def _tables(self) -> list[tuple[str, DataTable]]:
        return [(name, getattr(self, name)) for name in ("entities", "relations", "claims", "communities")]


def tabulate_graph(index: Index) -> GraphTables:
    """The graph of an index as tables. Raises NotIndexed where the index has no graph."""
    graph = index.graph
    plain = ("id", "name", "type", "description", "frequency", "degree")
    entities = [(*(getattr(e, n) for n in plain), len(e.chunks)) for e in graph.entities]
    ends = ("id", "source", "target", "label", "description", "weight", "directed")
    relations = [(*(getattr(r, n) for n in ends), len(r.chunks)) for r in graph.relations]
    said = ("id", "subject", "object", "type", "status", "description", "starts", "ends")
    claims = [tuple(getattr(c, n) for n in said) for c in graph.claims]
    group = ("id", "depth", "level", "parent", "title")
    found = (c for depth in range(index.depth) for c in index.clusters_at(depth))
    communities = [(*(getattr(c, n) for n in group), list(c.entities)) for c in found]
    return GraphTables(
        _make_table((*plain, "chunks"), entities),
        _make_table((*ends, "chunks"), relations),
        _make_table(said, claims),
        _make_table((*group, "entities"), communities),
    )


def _make_table(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> DataTable:
    return DataTable({name: [row[i] for row in rows] for i, name in enumerate(names)})
