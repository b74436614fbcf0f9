"""What is imported and exported is what was there (N59); what changed in between is exported as it is now."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

import little_tables
from sensegraph.corpus.corpus import Corpus
from sensegraph.graphs.interchange.exporting import derive_late_columns, export_tables, write_whole_file
from sensegraph.graphs.interchange.extras import Extras
from sensegraph.graphs.interchange.importing import Imported, import_tables
from sensegraph.graphs.interchange.table_files import read_tables
from sensegraph.graphs.interchange.tables import COLUMNS
from sensegraph.index.build import publish_manifest
from sensegraph.index.graph.merging import describe_graphs
from sensegraph.index.index import Index
from sensegraph.runtime.results import save_result
from sensegraph.types import Entity, Graph

Row = dict[str, Any]


def exported(corpus: Corpus, folder: Path) -> little_tables.Tables:
    export_tables(corpus.index(), corpus.store, folder)
    return little_tables.read(folder)


def with_columns_of(rows: list[Row], wanted: list[Row]) -> list[Row]:
    """The rows with the columns that the others have, to compare tables that lack a column of release 3.x."""
    return [{c: row[c] for c in like} for row, like in zip(rows, wanted, strict=True)]


def republished(corpus: Corpus, changed: Graph) -> None:
    """Make an index with another graph the one that readers see."""
    manifest = corpus.index().manifest
    save_result(corpus.store, describe_graphs, "changed", changed)
    publish_manifest(replace(manifest, graph="changed"), corpus.runtime())


def copied(records: Any) -> tuple[Any, ...]:
    return tuple(records)


def test_export_after_import_gives_every_field_of_every_table(little: tuple[Corpus, Imported], tmp_path: Path):
    given = little_tables.tables()
    found = exported(little[0], tmp_path / "out")
    for table in COLUMNS:
        assert found[table] == given[table], table


@pytest.mark.slow
def test_export_after_import_gives_every_field_of_an_index_of_the_reference_implementation(
    carol: tuple[Corpus, Imported], carol_tables: Path, tmp_path: Path
):
    given, found = little_tables.read(carol_tables), exported(carol[0], tmp_path / "out")
    assert {t: len(rows) for t, rows in found.items()} == {
        "documents": 1, "text_units": 42, "entities": 529, "relationships": 978, "communities": 122,
        "community_reports": 122, "covariates": 406,
    }  # fmt: skip
    for table in COLUMNS:
        assert with_columns_of(found[table], given[table]) == given[table], table
        assert list(found[table][0]) == list(COLUMNS[table])


@pytest.mark.slow
def test_what_is_kept_beside_an_import_is_a_small_part_of_its_tables(
    carol: tuple[Corpus, Imported], carol_tables: Path
):
    extras = Extras(carol[0].store, carol[0].index().manifest.chunks)
    beside = {t: sum(len(msgspec.json.encode(e)) for e in extras.scan(t)) for t in COLUMNS}
    sizes = {t: (carol_tables / f"{t}.jsonl").stat().st_size for t in COLUMNS}
    assert all(not e.differences for e in extras.scan("entities"))
    assert beside["community_reports"] < 0.1 * sizes["community_reports"]
    assert sum(beside.values()) < 0.2 * sum(sizes.values())


@pytest.fixture
def own(tmp_path: Path) -> Any:
    """A corpus with the small tables that a test may change."""
    folder = little_tables.write(little_tables.tables(), tmp_path / "tables")
    with Corpus.open(tmp_path / "root") as corpus:
        import_tables(read_tables(folder), corpus.runtime(), corpus.settings.index, corpus.add)
        yield corpus


def test_a_changed_description_is_exported_as_it_is_now(own: Corpus, tmp_path: Path):
    g = own.index().graph
    entities = tuple(replace(e, description="Ada left.") if e.id == "e0" else e for e in g.entities)
    republished(own, Graph(entities, copied(g.relations), copied(g.claims)))
    given, found = little_tables.tables(), exported(own, tmp_path / "out")
    given["entities"][1]["description"] = "Ada left."
    assert found == given


def test_a_renamed_entity_is_renamed_wherever_its_name_stands(own: Corpus, tmp_path: Path):
    g = own.index().graph
    entities = tuple(replace(e, name="BRAM THE SAILOR") if e.id == "e1" else e for e in g.entities)
    republished(own, Graph(entities, copied(g.relations), copied(g.claims)))
    found = exported(own, tmp_path / "out")
    assert found["entities"][2]["title"] == "BRAM THE SAILOR"
    ends = [(r["source"], r["target"]) for r in found["relationships"]]
    assert "BRAM THE SAILOR" in ends[0]
    assert "BRAM THE SAILOR" in ends[1]


def test_a_new_entity_follows_the_others_under_the_next_number(own: Corpus, tmp_path: Path):
    g = own.index().graph
    new = Entity("a-new-one", "ELSA", "person", "Elsa reads.", (), (g.entities[0].chunks[0],), 1, 0)
    entities = tuple(sorted((*g.entities, new), key=lambda e: e.id))
    republished(own, Graph(entities, copied(g.relations), copied(g.claims)))
    found = exported(own, tmp_path / "out")["entities"]
    assert [e["title"] for e in found] == ["CORA", "ADA", "BRAM", "DIRK", "ELSA"]
    assert found[-1]["human_readable_id"] == 4
    assert found[-1]["type"] == "PERSON"


def test_a_removed_claim_is_not_exported(own: Corpus, tmp_path: Path):
    g = own.index().graph
    republished(own, Graph(copied(g.entities), copied(g.relations), tuple(c for c in g.claims if c.id != "k0")))
    found = exported(own, tmp_path / "out")
    assert [c["id"] for c in found["covariates"]] == ["k1"]
    assert found["text_units"][0]["covariate_ids"] == []


def test_an_index_that_was_built_anew_is_exported_without_what_was_imported(own: Corpus, tmp_path: Path):
    own.build()
    found = exported(own, tmp_path / "out")
    assert {d["id"] for d in found["documents"]} == {"story", "note"}
    assert not {"e0", "e1", "e2"} & {e["id"] for e in found["entities"]}
    assert [e["human_readable_id"] for e in found["entities"]] == list(range(len(found["entities"])))


def test_an_index_of_our_own_is_exported_with_all_columns_and_imported_with_equal_counts(own: Corpus, tmp_path: Path):
    own.build()
    before = own.index()
    counts, texts = before.manifest.counts, sorted(c.text for c in before.hierarchy.clusters)
    export_tables(before, own.store, tmp_path / "out")
    tables = read_tables(tmp_path / "out")
    assert all(tuple(row.raw) == COLUMNS["entities"] for row in tables.entities)
    with Corpus.open(tmp_path / "again") as other:
        import_tables(tables, other.runtime(), other.settings.index, other.add)
        after = Index(other.store)
        assert after.manifest.counts == counts
        assert after.manifest.clusters == before.manifest.clusters
        assert sorted(c.text for c in after.hierarchy.clusters) == texts


def test_the_whole_report_is_written_as_text_and_as_json_whose_lines_are_indented_by_four():
    """As the reference implementation writes it; a row without these columns gets none."""
    finding = {"summary": "The oil", "explanation": "Größe counts."}
    row = {"title": "Lamps", "summary": "All of it.", "rating_explanation": "", "rank": 7.0, "findings": [finding]}
    made = derive_late_columns({**row, "full_content": "", "full_content_json": ""})
    assert made["full_content"] == "# Lamps\n\nAll of it.\n\n## The oil\n\nGröße counts."
    assert (
        made["full_content_json"]
        == """{
    "title": "Lamps",
    "summary": "All of it.",
    "rating_explanation": "",
    "findings": [
        {
            "summary": "The oil",
            "explanation": "Größe counts."
        }
    ],
    "rating": 7.0
}"""
    )
    assert derive_late_columns(row) == {}


def test_importing_twice_computes_nothing_twice_and_changes_nothing(own: Corpus, tmp_path: Path):
    manifest = own.index().manifest
    rt = own.runtime()
    tables = read_tables(tmp_path / "tables")
    assert import_tables(tables, rt, own.settings.index, own.add).manifest == manifest
    assert not rt.computed


def test_importing_again_brings_an_index_back_after_it_was_built_anew(own: Corpus, tmp_path: Path):
    manifest = own.index().manifest
    own.build()
    assert own.index().manifest != manifest
    import_tables(read_tables(tmp_path / "tables"), own.runtime(), own.settings.index, own.add)
    assert own.index().manifest == manifest
    assert exported(own, tmp_path / "out") == little_tables.tables()


ODD: dict[str, tuple[str, int, Row]] = {
    "an unknown column": ("entities", 0, {"x": 0.5, "attributes": {"a": [1, None]}}),
    "a number with a gap": ("entities", 3, {"human_readable_id": 70}),
    "a relationship of an entity with itself": ("relationships", 0, {"target": "BRAM"}),
    "a claim that says nothing": ("covariates", 0, {"type": None, "description": None, "object_id": None}),
    "a claim about nobody known": ("covariates", 1, {"subject_id": "ELSA", "status": "NONE", "start_date": "1843"}),
    "a text unit that is no span": ("text_units", 0, {"text": "Ada keeps … past."}),
    "a text unit that is not there": ("entities", 0, {"text_unit_ids": ["gone", "u1"]}),
    "no text unit at all": ("relationships", 1, {"text_unit_ids": []}),
    "a type in lower case": ("entities", 0, {"type": "person"}),
    "a degree of its own": ("entities", 0, {"degree": 99}),
    "a community with another title": ("communities", 1, {"title": "The two", "community": 1, "size": 7}),
    "a member that is no entity": ("communities", 1, {"entity_ids": ["e0", "gone", "e1"]}),
    "references to nothing": ("community_reports", 0, {"summary": "A [Data: Entities (9); Dates (1)]. B"}),
    "findings that are texts": ("community_reports", 1, {"findings": ["One.", "Two."]}),
    "a rating beyond ten": ("community_reports", 2, {"rank": 85.0}),
    "a whole number as a weight": ("relationships", 0, {"weight": 9}),
}


@pytest.mark.parametrize("name", ODD)
def test_whatever_a_table_holds_comes_back(name: str, tmp_path: Path):
    table, place, columns = ODD[name]
    given = little_tables.tables()
    given[table][place] |= columns
    folder = little_tables.write(given, tmp_path / "tables")
    with Corpus.open(tmp_path / "root") as corpus:
        import_tables(read_tables(folder), corpus.runtime(), corpus.settings.index, corpus.add)
        found = exported(corpus, tmp_path / "out")
    assert msgspec.json.encode(found, order="sorted") == msgspec.json.encode(given, order="sorted")


def test_rows_that_the_settings_drop_come_back_too(tmp_path: Path):
    folder = little_tables.write(little_tables.tables(), tmp_path / "tables")
    with Corpus.open(tmp_path / "root", settings={"index": {"graph": {"orphans": "drop"}}}) as corpus:
        import_tables(read_tables(folder), corpus.runtime(), corpus.settings.index, corpus.add)
        assert len(corpus.index().graph.relations) == 2
        assert exported(corpus, tmp_path / "out") == little_tables.tables()


def test_a_file_that_could_not_be_finished_leaves_nothing_behind(tmp_path: Path):
    with pytest.raises(ZeroDivisionError), write_whole_file(tmp_path / "table.jsonl") as file:
        file.write(str(1 / 0))
    assert list(tmp_path.iterdir()) == []
