"""What tables say of entities, relations and claims becomes a graph; what leads nowhere is counted and named."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest

import little_tables
from sensegraph.graphs.interchange.knowledge import Knowledge, Texts, build_graph, place_text_units
from sensegraph.graphs.interchange.table_files import read_tables
from sensegraph.graphs.interchange.tables import Tables

Orphans = Literal["create", "drop"]


def read(folder: Path, given: little_tables.Tables) -> tuple[Tables, Texts]:
    tables = read_tables(little_tables.write(given, folder))
    return tables, place_text_units(tables, size=20, overlap=5)


def graph(folder: Path, given: little_tables.Tables, orphans: Orphans = "create") -> tuple[Knowledge, Texts]:
    tables, texts = read(folder, given)
    return build_graph(tables, texts, orphans=orphans), texts


def changed(table: str, place: int, **columns: Any) -> little_tables.Tables:
    given = little_tables.tables()
    given[table][place] |= columns
    return given


def test_records_keep_the_ids_of_their_rows_and_stand_in_the_order_of_ids(tmp_path: Path):
    g = graph(tmp_path, little_tables.tables())[0].graph
    assert [e.id for e in g.entities if e.type != "unknown"] == ["e0", "e1", "e2", "e3"]
    assert [r.id for r in g.relations] == ["r0", "r1", "r2"]
    assert [c.id for c in g.claims] == ["k0", "k1"]


def test_relations_keep_their_direction_and_their_weight(tmp_path: Path):
    relation = graph(tmp_path, little_tables.tables())[0].graph.relations[0]
    assert (relation.source, relation.target, relation.weight) == ("e1", "e0", 9.0)


def test_an_end_that_is_no_entity_becomes_one_of_type_unknown_and_is_named(tmp_path: Path):
    found, _ = graph(tmp_path, little_tables.tables())
    (lamp,) = [e for e in found.graph.entities if e.id in found.made]
    assert (lamp.name, lamp.type, lamp.degree) == ("LAMP", "unknown", 1)
    assert found.notes == (
        "1 ends of relationships are no entity of the tables and became entities of type unknown: 'LAMP'",
    )


def test_an_end_that_is_no_entity_takes_its_relation_with_it_where_the_settings_say_so(tmp_path: Path):
    found, _ = graph(tmp_path, little_tables.tables(), "drop")
    assert [r.id for r in found.graph.relations] == ["r0", "r1"]
    assert len(found.graph.entities) == 4
    assert "dropped with their relations: 'LAMP'" in found.notes[0]


def test_an_end_in_other_letters_is_the_same_entity(tmp_path: Path):
    found, _ = graph(tmp_path, changed("relationships", 2, target="Ada"))
    assert not found.made
    assert found.graph.relations[2].target == "e0"


def test_of_two_entities_of_one_name_the_more_frequent_is_meant(tmp_path: Path):
    given = little_tables.tables()
    given["entities"].append({**given["entities"][1], "id": "e9", "type": "GEO", "frequency": 5})
    assert graph(tmp_path, given)[0].graph.relations[0].target == "e9"


def test_a_relation_of_an_entity_with_itself_is_kept_beside_and_counted(tmp_path: Path):
    found, _ = graph(tmp_path, changed("relationships", 0, target="BRAM"))
    assert [r.id for r in found.graph.relations] == ["r1", "r2"]
    assert "1 relationships join an entity with itself and are kept beside the graph" in found.notes


def test_a_claim_that_says_nothing_is_kept_beside_and_counted(tmp_path: Path):
    found, _ = graph(tmp_path, changed("covariates", 0, type=None, description=None))
    assert [c.id for c in found.graph.claims] == ["k1"]
    assert "1 covariates have neither type nor description and are kept beside the graph" in found.notes


@pytest.mark.parametrize("silent", ["type", "description"])
def test_a_claim_with_a_type_or_a_description_alone_says_something(tmp_path: Path, silent: str):
    found, _ = graph(tmp_path, changed("covariates", 0, **{silent: None}))
    assert [c.id for c in found.graph.claims] == ["k0", "k1"]
    assert not [note for note in found.notes if "covariates" in note]


def test_a_claim_about_nobody_known_makes_its_subject(tmp_path: Path):
    found, _ = graph(tmp_path, changed("covariates", 0, subject_id="ELSA"))
    (elsa,) = [e for e in found.graph.entities if e.name == "ELSA"]
    assert found.graph.claims[0].subject == elsa.id
    assert elsa.chunks == (found.graph.claims[0].source.chunk,)


def test_entities_and_relations_rest_on_the_sentences_that_name_them(tmp_path: Path):
    found, texts = graph(tmp_path, little_tables.tables())
    chunks = {c.id: c for c in texts.all_chunks()}
    for record in (*found.graph.entities, *found.graph.relations):
        for d in record.descriptions:
            span = chunks[d.source.chunk].text[d.source.start : d.source.end]
            assert d.text == " ".join(span.split()) or d.text == record.description or record.id in found.made
    bram = next(e for e in found.graph.entities if e.id == "e1")
    assert [d.text for d in bram.descriptions] == [
        "Bram sails the boat past Ada's lamp.",
        "Cora wrote to Bram in 1843.",
    ]


def test_a_claim_rests_on_the_span_that_it_quotes_whatever_the_white_space(tmp_path: Path):
    found, texts = graph(tmp_path, changed("covariates", 0, source_text='"past  Ada\'s\nlamp"; and more'))
    claim = found.graph.claims[0]
    chunk = next(c for c in texts.all_chunks() if c.id == claim.source.chunk)
    assert chunk.text[claim.source.start : claim.source.end] == "past Ada's lamp"


def test_a_claim_whose_quote_is_not_there_rests_on_its_whole_chunk(tmp_path: Path):
    found, texts = graph(tmp_path, changed("covariates", 0, source_text="(nothing like it"))
    source = found.graph.claims[0].source
    chunk = next(c for c in texts.all_chunks() if c.id == source.chunk)
    assert (source.start, source.end) == (0, len(chunk.text))


def test_text_units_that_are_not_there_are_counted_and_named(tmp_path: Path):
    found, _ = graph(tmp_path, changed("entities", 0, text_unit_ids=["u1", "gone"]))
    assert "1 text units that elements name are not in the tables: 'gone'" in found.notes


def test_without_any_text_the_descriptions_stand_in_and_can_be_cited(tmp_path: Path):
    given = little_tables.tables()
    found, texts = graph(tmp_path, {t: given[t] for t in ("entities", "relationships")})
    assert sorted(texts.documents) == ["descriptions of entities", "descriptions of relationships"]
    assert texts.documents["descriptions of entities"].text.splitlines()[0] == "CORA: Cora writes letters."
    assert all(e.chunks for e in found.graph.entities)
    assert all(c.text == texts.documents[c.document].text[c.start : c.end] for c in texts.all_chunks())
    assert texts.notes[0].startswith("3 relationships name no text unit")
