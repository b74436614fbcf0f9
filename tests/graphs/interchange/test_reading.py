"""Tables are read as releases 1.x to 3.x write them; what cannot be read is named by table, row and column."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import little_tables
from sensegraph.errors import InputError
from sensegraph.graphs.interchange.table_files import read_tables


def written(folder: Path, **changes: Any) -> Path:
    """The small tables; `changes` are applied to the first row of a table, None removing a column."""
    given = little_tables.tables()
    for table, columns in changes.items():
        row = {**given[table][0], **columns}
        given[table][0] = {c: v for c, v in row.items() if v is not None}
    return little_tables.write(given, folder)


def test_all_seven_tables_are_read(tmp_path: Path):
    found = read_tables(written(tmp_path))
    assert found.counts() == {
        "documents": 2, "text_units": 3, "entities": 4, "relationships": 3, "communities": 3, "community_reports": 3,
        "covariates": 2,
    }  # fmt: skip
    assert found.documents[1].metadata == (("author", "Elsa"), ("pages", 2))
    assert found.community_reports[1].findings[1] == ("The boat", "It passes by [Data: Claims (0)]. Nobody knows why.")


def test_five_tables_may_be_missing(tmp_path: Path):
    given = little_tables.tables()
    folder = little_tables.write({t: given[t] for t in ("entities", "relationships")}, tmp_path)
    assert read_tables(folder).counts()["documents"] == 0


@pytest.mark.parametrize("table", ["entities", "relationships"])
def test_entities_and_relationships_must_be_there(tmp_path: Path, table: str):
    (written(tmp_path) / f"{table}.jsonl").unlink()
    with pytest.raises(InputError, match=rf"no table {table}.*{table}\.parquet"):
        read_tables(tmp_path)


def test_a_folder_that_is_none_is_named(tmp_path: Path):
    with pytest.raises(InputError, match="elsewhere is no folder"):
        read_tables(tmp_path / "elsewhere")


@pytest.mark.parametrize(
    ("table", "change", "message"),
    [
        ("entities", {"title": None}, r"entities, row 1, column 'title'.*'name'"),
        ("entities", {"title": "  "}, r"entities, row 1, column 'title'.*name"),
        ("entities", {"frequency": "often"}, r"entities, row 1, column 'frequency'.*'often'"),
        ("entities", {"text_unit_ids": "u0"}, r"entities, row 1, column 'text_unit_ids'.*list of texts"),
        ("relationships", {"weight": "heavy"}, r"relationships, row 1, column 'weight'.*finite number"),
        ("relationships", {"source": None}, r"relationships, row 1, column 'source'"),
        ("communities", {"level": 0.5}, r"communities, row 1, column 'level'.*whole number"),
        ("community_reports", {"findings": [3]}, r"community_reports, row 1, column 'findings'"),
        ("community_reports", {"community": None}, r"community_reports, row 1, column 'community'"),
        ("text_units", {"text": ["a"]}, r"text_units, row 1, column 'text'"),
        ("entities", {"id": "e0"}, r"entities, row 2, column 'id': 'e0' is the id of row 1 too"),
    ],
)
def test_what_is_wrong_is_named_by_table_row_and_column(tmp_path: Path, table: str, change: Any, message: str):
    with pytest.raises(InputError, match=message):
        read_tables(written(tmp_path, **{table: change}))


@pytest.mark.parametrize("line", ["{", "[1]", '{"id": "\\ud800"}'])
def test_a_line_that_is_no_record_is_named_by_its_number(tmp_path: Path, line: str):
    path = written(tmp_path) / "covariates.jsonl"
    path.write_text(path.read_text() + "\n" + line + "\n")
    with pytest.raises(InputError, match="covariates, row 4: "):
        read_tables(tmp_path)


def test_bytes_that_are_no_utf_8_are_named(tmp_path: Path):
    (written(tmp_path) / "entities.jsonl").write_bytes(b'{"id": "\xff"}\n')
    with pytest.raises(InputError, match=r"entities\.jsonl is not UTF-8"):
        read_tables(tmp_path)


def test_a_table_that_is_there_twice_is_an_error(tmp_path: Path):
    path = written(tmp_path) / "entities.jsonl"
    (tmp_path / "create_final_entities.jsonl").write_bytes(path.read_bytes())
    with pytest.raises(InputError, match="the table entities twice"):
        read_tables(tmp_path)


def test_names_of_earlier_releases_are_read(tmp_path: Path):
    given = little_tables.tables()
    old = {
        "create_final_entities": [_renamed(r, title="name") for r in given["entities"]],
        "create_final_relationships": [_renamed(r, combined_degree="rank") for r in given["relationships"]],
        "create_final_text_units": [
            {**_renamed(r), "document_ids": [r["document_id"]], "document_id": None} for r in given["text_units"]
        ],
        "create_final_documents": [_renamed(r, text="raw_content") for r in given["documents"]],
        "create_final_communities": [
            {**{c: v for c, v in r.items() if c not in ("parent", "community")}, "id": r["community"]}
            for r in given["communities"]
        ],
        "create_final_community_reports": [
            {**_renamed(r, rating_explanation="rank_explanation"), "community": str(r["community"]), "rank": 8}
            for r in given["community_reports"]
        ],
    }
    found = read_tables(little_tables.write(old, tmp_path))
    assert found.entities[0].name == "CORA"
    assert found.text_units[2].documents == ("note",)
    assert found.documents[1].text == little_tables.NOTE
    assert [(c.community, c.parent) for c in found.communities] == [(0, None), (1, None), (2, None)]
    assert [r.community for r in found.community_reports] == [2, 1, 0]
    assert found.community_reports[0].explanation == "Cora matters."


def _renamed(row: dict[str, Any], **names: str) -> dict[str, Any]:
    return {names.get(c, c): v for c, v in row.items()}


def test_parquet_without_its_library_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    path = written(tmp_path) / "entities.jsonl"
    path.rename(tmp_path / "entities.parquet")
    with pytest.raises(InputError, match=r"pip install 'sensegraph\[parquet\]'"):
        read_tables(tmp_path)


def test_tables_in_parquet_are_read_as_those_in_json_lines(tmp_path: Path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = written(tmp_path / "lines")
    for path in sorted(folder.glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / f"{path.stem}.parquet")
    found, wanted = read_tables(tmp_path), read_tables(folder)
    assert found.counts() == wanted.counts()
    assert [e.name for e in found.entities] == [e.name for e in wanted.entities]
    assert [r.findings for r in found.community_reports] == [r.findings for r in wanted.community_reports]


def test_a_damaged_parquet_file_is_named(tmp_path: Path):
    pytest.importorskip("pyarrow")
    path = written(tmp_path) / "entities.jsonl"
    path.rename(tmp_path / "entities.parquet")
    with pytest.raises(InputError, match=r"entities\.parquet is no readable Parquet file"):
        read_tables(tmp_path)
