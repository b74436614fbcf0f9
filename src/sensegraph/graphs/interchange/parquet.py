"""Rows of the seven tables to Parquet, in row groups of a thousand (needs pyarrow, the extra `parquet`)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from types import MappingProxyType
from typing import IO, Any

from sensegraph.graphs.interchange.exporting.shelf import blocks
from sensegraph.graphs.interchange.extras import Row
from sensegraph.graphs.interchange.importing.reading import parquet_module
from sensegraph.graphs.interchange.tables import COLUMNS

_ROWS = 1_000  # of a row group
_KINDS = MappingProxyType(
    {
        **dict.fromkeys(("human_readable_id", "n_tokens", "frequency", "degree", "combined_degree"), "integer"),
        **dict.fromkeys(("community", "level", "parent", "size"), "integer"),
        **dict.fromkeys(("weight", "rank"), "number"),
        **dict.fromkeys(("text_unit_ids", "entity_ids", "relationship_ids", "covariate_ids"), "texts"),
        "children": "integers",
        "findings": "findings",
        "raw_data": "json",
    }
)


def write_rows(file: IO[bytes], table: str, rows: Iterable[Row]) -> tuple[int, list[str]]:
    """Write the columns of release 3.x; how many rows, and which further columns were left out.

    Metadata of documents, whose fields differ from one to the next, is written as JSON. Raises InputError where
    pyarrow is not installed.
    """
    parquet = parquet_module()
    import pyarrow

    schema = pyarrow.schema([(c, _type(pyarrow, c)) for c in COLUMNS[table]])
    count, left = 0, dict[str, None]()
    with parquet.ParquetWriter(file, schema) as writer:
        for block in blocks(rows, _ROWS):
            count += len(block)
            left.update(dict.fromkeys(c for row in block for c in row if c not in COLUMNS[table]))
            plain = [{c: _plain(c, row.get(c)) for c in COLUMNS[table]} for row in block]
            writer.write_table(pyarrow.Table.from_pylist(plain, schema=schema))
    return count, list(left)


def _type(pyarrow: Any, column: str) -> Any:
    text = pyarrow.string()
    finding = pyarrow.struct([("explanation", text), ("summary", text)])
    return {
        "integer": pyarrow.int64(),
        "number": pyarrow.float64(),
        "texts": pyarrow.list_(text),
        "integers": pyarrow.list_(pyarrow.int64()),
        "findings": pyarrow.list_(finding),
    }.get(_KINDS.get(column, ""), text)


def _plain(column: str, value: Any) -> Any:
    if _KINDS.get(column) == "json" and value is not None and not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return value
