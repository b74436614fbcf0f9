"""Communities and reports become a hierarchy in which every entity has its place (D3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import little_tables
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError
from sensegraph.graphs.interchange.hierarchies import build_hierarchy, group_communities
from sensegraph.graphs.interchange.importing import Imported
from sensegraph.graphs.interchange.knowledge import build_graph, place_text_units
from sensegraph.graphs.interchange.table_files import read_tables
from sensegraph.types import Cluster, Hierarchy


def hierarchy(folder: Path, given: little_tables.Tables) -> Hierarchy:
    tables = read_tables(little_tables.write(given, folder))
    texts = place_text_units(tables, size=20, overlap=5)
    knowledge = build_graph(tables, texts, orphans="create")
    return build_hierarchy(tables, group_communities(tables, knowledge), knowledge, texts)


def by_id(found: Hierarchy) -> dict[str, Cluster]:
    return {c.id: c for c in found.clusters}


def changed(table: str, place: int, **columns: Any) -> little_tables.Tables:
    given = little_tables.tables()
    given[table][place] |= columns
    return given


def without(given: little_tables.Tables, table: str, *columns: str) -> little_tables.Tables:
    return {**given, table: [{c: v for c, v in r.items() if c not in columns} for r in given[table]]}


def test_depth_is_the_level_of_the_table_and_level_counts_from_the_leaves(tmp_path: Path):
    found = by_id(hierarchy(tmp_path, little_tables.tables()))
    assert {n: (c.depth, c.level, c.parent) for n, c in found.items() if n in ("c0", "c1", "c2")} == {
        "c0": (0, 1, ""), "c1": (1, 0, "c0"), "c2": (1, 0, "c0"),
    }  # fmt: skip
    assert found["c0"].members == ("c1", "c2")


def test_the_level_above_parts_of_several_levels_is_one_more_than_the_highest_of_them(tmp_path: Path):
    given = little_tables.tables()
    row = given["communities"][1]
    given["communities"].append({**row, "id": "c3", "human_readable_id": 3, "community": 3, "level": 2, "parent": 1})
    levels = {name: (c.depth, c.level) for name, c in by_id(hierarchy(tmp_path, given)).items()}
    assert {name: levels[name] for name in ("c0", "c1", "c2", "c3")} == {
        "c0": (0, 2), "c1": (1, 1), "c2": (1, 0), "c3": (2, 0),
    }  # fmt: skip


def test_an_entity_that_only_relations_name_joins_the_communities_of_its_relation(tmp_path: Path):
    found = by_id(hierarchy(tmp_path, little_tables.tables()))
    assert len(found["c2"].entities) == 2
    assert set(found["c1"].entities) | set(found["c2"].entities) == set(found["c0"].entities)


def test_every_entity_is_in_one_community_of_depth_0(tmp_path: Path):
    found = hierarchy(tmp_path, little_tables.tables())
    held = [e for c in found.clusters if c.depth == 0 for e in c.entities]
    assert len(held) == len(set(held)) == 5
    (dirk,) = [c for c in found.clusters if c.entities == ("e3",)]
    assert (dirk.title, dirk.text, dirk.level) == ("DIRK", "Dirk mends nets.", 0)
    assert "1 entities are in no community of level 0; each became one of its own" in found.notes


def test_references_lead_to_records_and_through_them_to_spans(tmp_path: Path):
    lamp, boat = by_id(hierarchy(tmp_path, little_tables.tables()))["c1"].findings
    assert [s.references for s in lamp.statements] == [("e0", "r0"), ("e1", "e0")]
    assert [s.references for s in boat.statements] == [("k0",), ()]
    assert all(s.sources for s in lamp.statements)
    assert boat.statements[0].sources[0].end - boat.statements[0].sources[0].start == len("past Ada's lamp")


def test_references_to_reports_lead_to_communities(tmp_path: Path):
    (finding,) = by_id(hierarchy(tmp_path, little_tables.tables()))["c0"].findings
    assert finding.statements[0].references == ("c1", "c2")


def test_numbers_that_no_row_bears_are_counted_and_named(tmp_path: Path):
    finding = {"summary": "x", "explanation": "Odd [Data: Entities (77)]."}
    found = hierarchy(tmp_path, changed("community_reports", 0, findings=[finding]))
    assert "1 references in reports name no record and were removed: 'Entities 77'" in found.notes


def test_references_that_lead_out_of_their_community_are_counted_and_named(tmp_path: Path):
    finding = {"summary": "x", "explanation": "Far [Data: Entities (3); Relationships (0)]."}
    found = hierarchy(tmp_path, changed("community_reports", 0, findings=[finding]))
    assert by_id(found)["c2"].findings[0].statements[0].references == ()
    note = "2 references in reports lead out of their community and were removed: 'Entities 3', 'Relationships 0'"
    assert note in found.notes


def test_a_rating_stays_between_nought_and_ten(tmp_path: Path):
    for number, (rank, rating) in enumerate(((85.0, 10.0), (10.0, 10.0), (0.5, 0.5), (0.0, 0.0), (-3.0, 0.0))):
        found = hierarchy(tmp_path / str(number), changed("community_reports", 2, rank=rank))
        assert by_id(found)["c0"].rating == rating


def test_a_community_without_a_report_has_its_title_and_is_counted(tmp_path: Path):
    given = little_tables.tables()
    given["community_reports"] = given["community_reports"][1:]
    found = hierarchy(tmp_path, given)
    assert by_id(found)["c2"].title == "Community 2"
    assert "1 communities have no report: 'c2'" in found.notes


def test_a_report_on_no_community_is_left_out_and_counted(tmp_path: Path):
    found = hierarchy(tmp_path, changed("community_reports", 0, community=9))
    assert "1 reports are on communities that are not there, and were left out: '9'" in found.notes


def test_parents_are_found_where_a_table_of_an_earlier_release_does_not_say(tmp_path: Path):
    given = without(little_tables.tables(), "communities", "parent", "children", "entity_ids")
    found = by_id(hierarchy(tmp_path, given))
    assert [found[n].parent for n in ("c0", "c1", "c2")] == ["", "c0", "c0"]
    assert set(found["c1"].entities) == {"e0", "e1"}


def test_a_parent_that_is_not_there_makes_a_root_and_is_named(tmp_path: Path):
    found = hierarchy(tmp_path, changed("communities", 2, parent=44))
    assert by_id(found)["c2"].depth == 0
    assert "1 communities name a parent that is not there, and stand at the root: '44'" in found.notes
    assert "1 communities have another depth than their level says: '2'" in found.notes


def test_communities_that_are_each_others_parents_are_an_error(tmp_path: Path):
    with pytest.raises(InputError, match="column 'parent': community 0 is its own ancestor"):
        hierarchy(tmp_path, changed("communities", 0, parent=1))


def test_two_communities_of_one_number_are_an_error(tmp_path: Path):
    with pytest.raises(InputError, match="column 'community': two rows"):
        hierarchy(tmp_path, changed("communities", 0, community=1))


def test_members_that_are_no_entity_are_counted_and_named(tmp_path: Path):
    found = hierarchy(tmp_path, changed("communities", 1, entity_ids=["e0", "e1", "gone"]))
    assert "1 ids in communities name no entity or relationship: 'gone'" in found.notes


@pytest.mark.slow
def test_in_an_index_of_the_reference_implementation_every_depth_holds_every_entity_once(
    carol: tuple[Corpus, Imported],
):
    index = carol[0].index()
    assert index.depth > 0
    assert len(index.graph.entities) > 10
    for depth in range(index.depth):
        held = [e for c in index.clusters_at(depth) for e in c.entities]
        assert len(held) == len(set(held)) == len(index.graph.entities)
