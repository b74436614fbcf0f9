"""Entities that are found by a name, a type or an alias; what an update starts from; ties of a filtered index."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.errors import InputError, SettingsError
from sensegraph.index.browse.elements import entities_called, find_entities
from sensegraph.index.build import earlier_build
from sensegraph.index.graph.lookups import build_lookups, ties_of
from sensegraph.index.hierarchy.communities import ClusterSettings
from sensegraph.index.hierarchy.reports import ReportSettings
from sensegraph.index.manifest import Catalogue, ChunkEntry, Manifest
from sensegraph.index.settings import IndexSettings
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Entity, Graph, Hierarchy
from wired import runtime


def entity(
    name: str, shown: str, kind: str, degree: int = 0, chunks: str = "c", aliases: tuple[str, ...] = ()
) -> Entity:
    return Entity(name, shown, kind, "", (), tuple(chunks), 1, degree, aliases)


PEOPLE = Graph(
    (
        entity("a1", "Ada", "person", 1),
        entity("a2", "ADA", "ship", 3, "cd", ("Skerry Ship",)),
        entity("a3", "Ada", "Ship", 3, "c"),
        entity("b1", "Bo (Lind)", "person", 2, "c", ("Bo", "Skerry Ship")),
        entity("c1", "Cy", "person", 2, "cd", ("bo",)),
    )
)


@pytest.fixture
def index() -> Any:
    known = {e.id: e for e in PEOPLE.entities}
    return SimpleNamespace(
        graph=PEOPLE,
        lookups=build_lookups.fn([(PEOPLE, Hierarchy())])[0],
        entities=lambda ids: {i: known[i] for i in ids if i in known},
    )


@pytest.mark.parametrize(
    ("name", "kind", "found"),
    [
        ("ada", "", "a2 a3 a1"),
        ("Ada", "person", "a1"),
        ("ADA", "SHIP", "a2 a3"),
        ("c1", "", "c1"),
        ("c1", "person", "c1"),
    ],
)
def test_entities_come_by_neighbours_then_chunks_then_id(index: Any, name: str, kind: str, found: str) -> None:
    assert " ".join(e.id for e in find_entities(index, name, kind)) == found


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Cy", "c1"),
        ("ada (ship)", "a2 a3"),
        ("ada (person)", "a1"),
        ("Bo (Lind)", "b1"),  # a name before a type
        ("BO", "c1 b1"),
        ("skerry ship", "a2 b1"),
    ],
)
def test_a_name_is_meant_before_a_type_and_that_before_an_alias(index: Any, name: str, found: str) -> None:
    assert " ".join(e.id for e in entities_called(index, name)) == found


@pytest.mark.parametrize(
    ("name", "said"),
    [("Adda", "no entity 'Adda'"), ("Ada (tower)", "of the type 'tower'"), ("Dan (person)", "no entity 'Dan")],
)
def test_what_nobody_is_called_is_refused(index: Any, name: str, said: str) -> None:
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        entities_called(index, name)
    with pytest.raises(InputError, match="there is one of: Ship, person, ship"):
        find_entities(index, "Ada", "tower")


# ── what is there already ──


def test_without_an_index_or_with_one_that_is_gone_a_build_starts_from_nothing(tmp_path: Path) -> None:
    rt = runtime(SqliteStore(tmp_path))
    assert earlier_build(rt, ClusterSettings()) is None
    rt.store.set_refs({"index": "a" * 40})
    assert earlier_build(rt, ClusterSettings()) is None


def test_an_index_of_other_settings_is_no_start_and_one_of_the_same_is(built: Any) -> None:
    rt, settings = built.runtime(), built.settings.index.clusters
    found = earlier_build(rt, settings)
    assert found is not None
    assert found.communities.key == built.manifest().communities
    assert (found.graph.key, found.shape) == (built.manifest().graph, built.manifest().structure)
    assert earlier_build(rt, ClusterSettings(max_cluster_size=settings.max_cluster_size + 1)) is None


def test_a_filtered_index_has_ties_of_its_own_and_a_whole_one_keeps_them(tmp_path: Path) -> None:
    rt = runtime(SqliteStore(tmp_path))
    listed = Catalogue((), (ChunkEntry("c", "d", "k", 0, 5),))
    manifest = Manifest("documents", "", "", "", "", "", "", "", {}, graph="graph")
    made: Any = SimpleNamespace(graph=PEOPLE, catalogue=listed, manifest=manifest, whole=None)
    first = ties_of(made, rt)
    assert [first.mentioning(e).tolist() for e in range(5)] == [[0]] * 5
    nothing: Any = SimpleNamespace(graph=Graph(), catalogue=listed, manifest=manifest, whole=None)
    assert ties_of(nothing, rt).mentioning(0).tolist() == [0]  # the same keys: recalled, not made
    filtered: Any = SimpleNamespace(graph=Graph(PEOPLE.entities[:1]), catalogue=listed, manifest=manifest, whole=made)
    assert len(ties_of(filtered, rt).start) == 2


def test_a_report_is_written_from_one_token_at_least() -> None:
    assert ReportSettings(context_tokens=1).context_tokens == 1
    with pytest.raises(SettingsError, match="context_tokens is 0"):
        ReportSettings(context_tokens=0)


def test_settings_of_an_index_have_their_bounds() -> None:
    assert IndexSettings(exact_below=0, chunk_tokens=1, chunk_overlap=0, parts=()).own_parts == []
    for wrong in ({"exact_below": -1}, {"chunk_tokens": 5, "chunk_overlap": 5}, {"chunk_overlap": -1}):
        with pytest.raises(SettingsError, match=next(iter(wrong))):
            IndexSettings(**wrong)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="reports without graph"):
        IndexSettings(parts=("reports",))
    assert IndexSettings().key == IndexSettings(part_objects=()).key != IndexSettings(exact_below=7).key
