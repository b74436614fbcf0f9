"""A graph as a database of LadybugDB, an embedded database that speaks Cypher: the database itself, or its script.

Importing the library (the extra `ladybug`) beside `kuzu`, from which it descends, ends the process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sensegraph.errors import InputError
from sensegraph.graphs.interchange.database_rows import CLAIM, RELATION, TIES, ColumnKind, GraphRows, Row
from sensegraph.graphs.interchange.exporting import Exported, prepare_folder, write_whole_file
from sensegraph.graphs.interchange.listing import split_blocks
from sensegraph.graphs.interchange.property_graphs import cypher_literal
from sensegraph.index.index import Index

DATABASE = "graph.lbug"
_TYPES: Mapping[ColumnKind, str] = {
    "text": "STRING", "integer": "INT64", "number": "DOUBLE", "truth": "BOOLEAN", "texts": "STRING[]",
}  # fmt: skip
_AT_ONCE = 1_000  # rows of a statement with parameters
_STATEMENT = 200  # rows of a statement of the script
Statement = tuple[str, str, list[Row]]  # what comes before and after the rows


def export_ladybug(index: Index, folder: str | Path, *, script: bool = False, force: bool = False) -> Exported:
    """Write the graph of `index` as the database `graph.lbug`, or as `graph.cypher`, which LadybugDB runs.

    Entities, relations (`RELATED`) and claims have tables; a claim leads to entities by `ABOUT` and `OBJECT`. Raises
    InputError for a folder that is not empty, unless `force` is given, and where the library is missing; NotIndexed
    for an index without a graph.
    """
    rows = GraphRows(index)
    if script:
        place = prepare_folder(folder, force=force) / "graph.cypher"
        with write_whole_file(place) as file:
            file.writelines(f"{statement};\n" for statement in declare_tables(rows))
            for before, after, block in list_statements(rows, _STATEMENT, merging=True):
                maps = [", ".join(f"`{name}`: {_write_value(value)}" for name, value in row.items()) for row in block]
                literals = ", ".join(f"{{{literal}}}" for literal in maps)
                file.write(f"{before} [{literals}] {after};\n")
    else:
        place = _write_database(rows, folder, force=force)
    counts = {"entities": len(rows.graph.entities), "relations": len(rows.graph.relations)}
    return Exported((place,), counts | {"claims": len(rows.graph.claims)}, ())


def _write_database(rows: GraphRows, folder: str | Path, *, force: bool) -> Path:
    try:
        import ladybug
    except ImportError as e:
        advice = "pip install 'sensegraph[ladybug]', or write its script with --format ladybug-cypher."
        raise InputError(f"A database of LadybugDB needs an extra: {advice}") from e
    place = prepare_folder(folder, force=force) / DATABASE
    unfinished = place.with_name(f"{DATABASE}.part")
    try:
        for path in (unfinished, unfinished.with_name(f"{unfinished.name}.wal")):
            path.unlink(missing_ok=True)  # what a killed export left
        with ladybug.Database(str(unfinished)) as database, ladybug.Connection(database) as connection:
            for statement in declare_tables(rows):
                connection.execute(statement)
            for before, after, block in list_statements(rows, _AT_ONCE, merging=False):
                connection.execute(f"{before} $rows {after}", {"rows": block})
        unfinished.replace(place)
    finally:
        unfinished.unlink(missing_ok=True)
    return place


def declare_tables(rows: GraphRows) -> Iterator[str]:
    """The statements that make the tables of nodes and of what links them; running them twice changes nothing."""
    for name, columns in (("Entity", rows.entity_columns), ("Claim", CLAIM)):
        yield f"CREATE NODE TABLE IF NOT EXISTS {name}({_declare_columns(columns)}, PRIMARY KEY(id))"
    yield f"CREATE REL TABLE IF NOT EXISTS RELATED(FROM Entity TO Entity, {_declare_columns(RELATION)})"
    for kind in TIES:
        yield f"CREATE REL TABLE IF NOT EXISTS {kind}(FROM Claim TO Entity)"


def list_statements(rows: GraphRows, size: int, *, merging: bool) -> Iterator[Statement]:
    """The statements that fill the tables, with at most `size` rows each.

    With `merging` running them twice changes nothing; without, they are quicker, and fill empty tables alone.
    """
    nodes = (("Entity", rows.entity_columns, rows.entities()), ("Claim", CLAIM, rows.claims()))
    for name, columns, every in nodes:
        given = f"AS row {_write_filling(f'(n:{name} {{}})', columns, merging)}"
        yield from (("UNWIND", given, block) for block in split_blocks(every, size))
    match = (  # one end after the other: both in one MATCH are compared with every pair of nodes
        "AS row WITH row MATCH (a:{0}) WHERE a.id = row.from_id WITH row, a MATCH (b:Entity) WHERE b.id = row.to_id "
    )
    given = match.format("Entity") + _write_filling("(a)-[n:RELATED {}]->(b)", RELATION, merging)
    linked = ({"from_id": start, "to_id": end, **row} for start, end, row in rows.relations())
    yield from (("UNWIND", given, block) for block in split_blocks(linked, size))
    for kind in TIES:
        given = match.format("Claim") + f"{'MERGE' if merging else 'CREATE'} (a)-[:{kind}]->(b)"
        tied = ({"from_id": claim, "to_id": entity} for claim, entity in rows.ties(kind))
        yield from (("UNWIND", given, block) for block in split_blocks(tied, size))


def _write_filling(template: str, columns: Mapping[str, ColumnKind], merging: bool) -> str:
    """The clause that makes the node or the edge `n` of a row, or finds it by its id and sets its columns."""
    values = {name: f"CAST(row.`{name}`, '{_TYPES[kind]}')" for name, kind in columns.items()}  # none tells no type
    if not merging:
        given = ", ".join(f"`{name}`: {value}" for name, value in values.items())
        return f"CREATE {template.format(f'{{{given}}}')}"
    rest = ", ".join(f"n.`{name}` = {value}" for name, value in values.items() if name != "id")
    return f"MERGE {template.format('{id: row.id}')} SET {rest}"


def _declare_columns(columns: Mapping[str, ColumnKind]) -> str:
    return ", ".join(f"`{name}` {_TYPES[kind]}" for name, kind in columns.items())


def _write_value(value: Any) -> str:
    if value == []:
        return "CAST([], 'STRING[]')"  # by itself an empty list is one of numbers
    return "NULL" if value is None else cypher_literal(value)
