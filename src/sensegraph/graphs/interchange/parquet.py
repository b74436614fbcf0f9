"""The seven tables as Parquet, in row groups of a thousand (needs pyarrow, the extra `parquet`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from sensegraph.errors import InputError
from sensegraph.graphs.interchange.extras import Row
from sensegraph.graphs.interchange.pair_file import split_blocks
from sensegraph.graphs.interchange.tables import COLUMNS, Raw

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
    parquet = _load_parquet()
    import pyarrow

    text = pyarrow.string()
    types = {
        "integer": pyarrow.int64(),
        "number": pyarrow.float64(),
        "texts": pyarrow.list_(text),
        "integers": pyarrow.list_(pyarrow.int64()),
        "findings": pyarrow.list_(pyarrow.struct([("explanation", text), ("summary", text)])),
    }
    schema = pyarrow.schema([(c, types.get(_KINDS.get(c, ""), text)) for c in COLUMNS[table]])
    json_columns = [c for c in COLUMNS[table] if _KINDS.get(c) == "json"]
    count, left = 0, dict[str, None]()
    with parquet.ParquetWriter(file, schema) as writer:
        for block in split_blocks(rows, _ROWS):
            count += len(block)
            left.update(dict.fromkeys(c for row in block for c in row if c not in COLUMNS[table]))
            plain = [{c: row.get(c) for c in COLUMNS[table]} for row in block]
            for row in plain:
                for c in json_columns:
                    if row[c] is not None and not isinstance(row[c], str):
                        row[c] = json.dumps(row[c], ensure_ascii=False)
            writer.write_table(pyarrow.Table.from_pylist(plain, schema=schema))
    return count, list(left)


def read_parquet(path: Path, table: str) -> Iterator[tuple[int, Raw]]:
    """Each record of a file with its number from 1, read in batches. Raises InputError for a file that is damaged."""
    parquet = _load_parquet()
    try:
        number = 0
        for batch in parquet.ParquetFile(path).iter_batches(batch_size=_ROWS):
            for record in batch.to_pylist():
                number += 1
                yield number, record
    except (OSError, ValueError) as e:  # what pyarrow raises is one of these
        raise InputError(f"{path} is no readable Parquet file ({e}); write the table {table} again.") from e


def _load_parquet() -> Any:
    """pyarrow's module for Parquet. Raises InputError, naming the extra, where pyarrow is not installed."""
    try:
        import pyarrow.parquet as parquet
    except ImportError as e:
        raise InputError(
            "Parquet needs pyarrow, which is not installed: pip install 'sensegraph[parquet]', or use .jsonl tables."
        ) from e
    return parquet
