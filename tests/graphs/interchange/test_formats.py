"""The graph in the formats of others: well-formed, complete, and safe for any name (N59)."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import little_tables
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError
from sensegraph.graphs.interchange import property_graphs
from sensegraph.graphs.interchange.exporting import export_tables
from sensegraph.graphs.interchange.importing import Imported, import_tables
from sensegraph.graphs.interchange.property_graphs import export_graph
from sensegraph.graphs.interchange.table_files import read_tables
from sensegraph.types import Document

HOSTILE = "A \"quoted\", <b>odd</b> & 'n' \\u0022 \\ name;\nwith two lines\u2028 and \x07 \x85 \r\n é 李 😀"
SPACE = "{http://graphml.graphdrawing.org/xmlns}"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A corpus one of whose entities has a name that no format likes."""
    given = little_tables.tables()
    given["entities"][1]["title"] = given["relationships"][0]["target"] = HOSTILE
    given["covariates"][0]["subject_id"] = HOSTILE
    folder = little_tables.write(given, tmp_path_factory.mktemp("tables"))
    with Corpus.open(tmp_path_factory.mktemp("root")) as corpus:
        import_tables(read_tables(folder), corpus.runtime(), corpus.settings.index, corpus.add)
        yield corpus


def nodes(path: Path) -> dict[str, dict[str, Any]]:
    data = json.loads(path.read_text(encoding="utf-8"))
    return {n["id"]: n for n in data["nodes"]}


def test_json_holds_every_attribute_of_nodes_and_edges(little: tuple[Corpus, Imported], tmp_path: Path):
    done = export_graph(little[0].index(), tmp_path, "json")
    data = json.loads(done.files[0].read_text(encoding="utf-8"))
    assert (data["directed"], data["multigraph"], data["graph"]) == (True, True, {"documents": 2})
    ada = nodes(done.files[0])["e0"]
    assert (ada["name"], ada["type"], ada["description"]) == ("ADA", "person", "Ada keeps a lamp.")
    assert (ada["frequency"], ada["degree"]) == (2, 1)
    assert (ada["community_0"], ada["community_1"], ada["community_1_title"]) == ("c0", "c1", "Ada and Bram")
    assert [(c["id"], c["type"], c["description"]) for c in ada["claims"]] == [("k0", "GUIDANCE", "Ada guides Bram.")]
    assert ada["descriptions"][0] == "Ada keeps the lamp."
    edge = data["edges"][0]
    assert (edge["source"], edge["target"], edge["key"], edge["weight"], edge["directed"]) == (
        "e1",
        "e0",
        "r0",
        9.0,
        True,
    )
    assert edge["description"] == "Bram sails past Ada."
    assert done.counts == {"entities": 5, "relations": 3}


def test_graphml_is_well_formed_and_declares_its_keys(hostile: Corpus, tmp_path: Path):
    done = export_graph(hostile.index(), tmp_path, "graphml")
    root = ElementTree.parse(done.files[0]).getroot()
    assert root.tag == f"{SPACE}graphml"
    keys = {k.get("id"): (k.get("for"), k.get("attr.type")) for k in root.iter(f"{SPACE}key")}
    assert keys["node_degree"] == ("node", "long")
    assert keys["edge_weight"] == ("edge", "double")
    graph = root.find(f"{SPACE}graph")
    assert graph is not None
    assert graph.get("edgedefault") == "directed"
    for tag in ("node", "edge"):
        for element in graph.iter(f"{SPACE}{tag}"):
            assert all(keys[d.get("key")][0] == tag for d in element.iter(f"{SPACE}data"))
    ids = {n.get("id") for n in graph.iter(f"{SPACE}node")}
    assert all({e.get("source"), e.get("target")} <= ids for e in graph.iter(f"{SPACE}edge"))


def test_graphml_keeps_names_and_counts_the_characters_that_xml_cannot_hold(hostile: Corpus, tmp_path: Path):
    done = export_graph(hostile.index(), tmp_path, "graphml")
    graph = ElementTree.parse(done.files[0]).getroot()
    names = [d.text for d in graph.iter(f"{SPACE}data") if d.get("key") == "node_name"]
    assert HOSTILE.replace("\x07", "\ufffd") in names
    assert re.fullmatch(r"\d+ characters that XML cannot hold were replaced by U\+FFFD", done.notes[0])


def test_csv_keeps_every_name(hostile: Corpus, tmp_path: Path):
    node_file, edge_file = export_graph(hostile.index(), tmp_path, "csv").files
    with node_file.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert HOSTILE in {n["name:string"] for n in found}
    assert {n[":LABEL"] for n in found} == {"Entity"}
    with edge_file.open(encoding="utf-8", newline="") as file:
        edges = list(csv.DictReader(file))
    assert (edges[0]["id"], edges[0][":TYPE"], edges[0]["weight:double"]) == ("r0", "RELATED", "9.0")
    assert {e[":START_ID"] for e in edges} | {e[":END_ID"] for e in edges} <= {n["id:ID"] for n in found}
    assert all(isinstance(json.loads(n["claims:string"]), list) for n in found)


def test_json_keeps_every_name(hostile: Corpus, tmp_path: Path):
    assert nodes(export_graph(hostile.index(), tmp_path, "json").files[0])["e0"]["name"] == HOSTILE


def test_tables_of_lines_are_written_in_the_letters_of_their_texts(hostile: Corpus, tmp_path: Path):
    files = export_tables(hostile.index(), hostile.store, tmp_path / "out").files
    (entities,) = [path.read_text(encoding="utf-8") for path in files if path.stem == "entities"]
    assert json.dumps(HOSTILE, ensure_ascii=False)[1:-1] in entities


def test_cypher_is_one_whole_statement_a_line(hostile: Corpus, tmp_path: Path):
    (path,) = export_graph(hostile.index(), tmp_path, "cypher").files
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("CREATE CONSTRAINT")
    assert re.match(r"UNWIND \[\{id: .*\] AS row MERGE \(n:Entity \{id: row.id\}\) SET n \+= row;$", lines[1])
    assert re.match(r"UNWIND \[\{source: .* MERGE \(a\)-\[r:RELATED \{id: row.set.id\}\]->\(b\) SET r", lines[2])
    for line in lines[1:]:
        outside = re.sub(r'"(?:[^"\\]|\\.)*"', "", line)
        assert not re.search(r'["\\]', outside)


def cypher_value(literal: str, *, early: bool) -> str:
    """What a server reads: `early` ones resolve \\uXXXX before they look for strings."""
    if early:
        literal = re.sub(r"\\u([0-9a-f]{4})", lambda m: chr(int(m[1], 16)), literal)
    pieces = re.findall(r'"((?:[^"\\]|\\.)*)"', literal, re.DOTALL)
    assert " + ".join(f'"{p}"' for p in pieces) == literal
    named = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}

    def plain(m: re.Match[str]) -> str:
        return chr(int(m[1][1:], 16)) if len(m[1]) == 5 else named.get(m[1], m[1])

    return "".join(re.sub(r"\\(u[0-9a-f]{4}|.)", plain, p, flags=re.DOTALL) for p in pieces)


@given(st.lists(st.sampled_from(['"', "\\", "u", "0022", "\n", "\x85", "\u2028", "\x00", "a", "é", "😀"])).map("".join))
def test_a_text_in_cypher_reads_the_same_wherever_escapes_are_resolved(text: str):
    literal = property_graphs.cypher_literal(text)
    assert len(literal.splitlines()) == 1
    assert cypher_value(literal, early=False) == text
    assert cypher_value(literal, early=True) == text


def test_an_index_without_communities_has_no_columns_of_them(tmp_path: Path):
    given = little_tables.tables()
    folder = little_tables.write(given, tmp_path / "tables")
    with Corpus.open(tmp_path / "root") as corpus:
        done = import_tables(read_tables(folder), corpus.runtime(), corpus.settings.index, corpus.add)
        from sensegraph.index.build import publish_manifest

        publish_manifest(replace(done.manifest, hierarchy="", communities="", clusters=()), corpus.runtime())
        ada = nodes(export_graph(corpus.index(), tmp_path / "out", "json").files[0])["e0"]
        assert not [name for name in ada if name.startswith("community")]
        tables = export_tables(corpus.index(), corpus.store, tmp_path / "more")
        assert tables.counts["communities"] == 0


@pytest.mark.parametrize("form", ["csv", "graphml", "cypher", "json"])
def test_equal_indexes_give_equal_files(little: tuple[Corpus, Imported], tmp_path: Path, form: Any):
    one, other = (export_graph(little[0].index(), tmp_path / name, form).files for name in ("one", "other"))
    assert min(p.stat().st_size for p in one) > 0
    assert [p.read_bytes() for p in one] == [p.read_bytes() for p in other]


def test_a_folder_with_something_in_it_is_written_to_only_by_force(little: tuple[Corpus, Imported], tmp_path: Path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match=r"is not empty.*--force"):
        export_graph(little[0].index(), tmp_path, "json")
    with pytest.raises(InputError, match=r"is not empty.*--force"):
        export_tables(little[0].index(), little[0].store, tmp_path)
    export_graph(little[0].index(), tmp_path, "json", force=True)
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["graph.json", "mine.txt"]


def test_a_file_in_the_place_of_the_folder_is_named(little: tuple[Corpus, Imported], tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file is a file"):
        export_graph(little[0].index(), tmp_path / "file", "json", force=True)


def test_parquet_without_its_library_names_the_extra(
    little: tuple[Corpus, Imported], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InputError, match=r"sensegraph\[parquet\]"):
        export_tables(little[0].index(), little[0].store, tmp_path, "parquet")


def test_tables_in_parquet_are_imported_as_they_were(little: tuple[Corpus, Imported], tmp_path: Path):
    pytest.importorskip("pyarrow")
    export_tables(little[0].index(), little[0].store, tmp_path / "out", "parquet")
    with Corpus.open(tmp_path / "again") as corpus:
        import_tables(read_tables(tmp_path / "out"), corpus.runtime(), corpus.settings.index, corpus.add)
        export_tables(corpus.index(), corpus.store, tmp_path / "lines")
        found, given = little_tables.read(tmp_path / "lines"), little_tables.tables()
        found["documents"][1]["raw_data"] = json.loads(found["documents"][1]["raw_data"])
        assert found == given


def test_a_document_is_called_by_its_title_or_where_it_has_none_by_its_id(tmp_path: Path):
    with Corpus.open(tmp_path / "root", settings={"engine": "offline", "index": {"parts": ["graph"]}}) as corpus:
        corpus.add([Document("one", "Ada sails to Quay Town.", "A voyage"), Document("two", "Bo stays in Quay Town.")])
        corpus.build()
        export_tables(corpus.index(), corpus.store, tmp_path / "out")
    (file,) = (tmp_path / "out").glob("documents.*")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert {row["id"]: row["title"] for row in rows} == {"one": "A voyage", "two": "two"}
