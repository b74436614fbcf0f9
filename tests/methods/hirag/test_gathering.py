"""One layer of HiRAG by hand: what clusters are summed up from, what is kept of it, and the records that it becomes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.methods.hirag.layered import LayerSettings
from sensegraph.methods.hirag.layering import Builder, Layers, _Summary, stops_layers, summary_id
from sensegraph.models.embedders import HashedTerms
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import (
    Description,
    Entity,
    Graph,
    Membership,
    Relation,
    Source,
    Statement,
    SummaryEntity,
)


@pytest.fixture(scope="module")
def rt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    folder: Path = tmp_path_factory.mktemp("gathering")
    store = SqliteStore(folder / "store")
    yield Runtime(ClassicalEngine(), HashedTerms(), store, LocalExecutor(1, 1))
    store.close()


def entity(i: int, degree: int, said: int = 1) -> Entity:
    told = tuple(Description(f"Thing {i} is {n}.", Source(f"c{i}", n, n + 5)) for n in range(said))
    return Entity(f"e{i}", f"Thing {i}", "place", "", told, (f"c{i}",), 10 + i, degree)


def relation(i: int, one: int, other: int) -> Relation:
    said = (Description("They met.", Source(f"c{one}", 3, 9)),)
    return Relation(f"r{i}", f"e{one}", f"e{other}", "They met.", said, 2.0, (f"c{one}", "c9"))


GRAPH = Graph(
    (entity(0, 1), entity(1, 5), entity(2, 3, 3), entity(3, 5)),
    (relation(0, 0, 1), relation(1, 1, 2), relation(2, 2, 3)),
)
DOCUMENTS = {f"c{i}": f"d{i}" for i in (9, 3, 2, 1, 0)}


def builder(rt: Runtime, graph: Graph = GRAPH, **settings: Any) -> Builder:
    return Builder(rt, graph, DOCUMENTS, LayerSettings(**settings), None)


def test_members_are_read_by_falling_degree_as_many_as_have_room(rt: Runtime) -> None:
    made = builder(rt)
    assert made._batches(["e0", "e1", "e2", "e3"]) == [["e1", "e3", "e2", "e0"]]
    size = {name: line.tokens for name, line in made.lines.entity.items()}
    small = builder(rt, input_tokens=size["e1"] + size["e3"])
    assert small._batches(["e0", "e1", "e2", "e3"])[0] == ["e1", "e3"]
    brief = made._brief(["e1", "e2", "e0"])
    assert [p.id for p in brief.context.passages] == ["e1", "e2", "e0", "r1", "r0"]
    assert (brief.types, brief.context.title) == (("place", "place", "place", "", ""), "Thing 1, Thing 2, Thing 0")
    assert (brief.context.omitted, made.counts["omitted"]) == (0, 0)
    assert made._brief(["e0", "e1", "e2", "e3"]).context.title == "Thing 0, Thing 1, Thing 2"
    tight = builder(rt, input_tokens=size["e0"] + size["e1"])
    assert [p.id for p in tight._brief(["e0", "e1"]).context.passages] == ["e0", "e1"]
    assert tight.counts["omitted"] == 1


def summary(name: str, *members: str, text: str = "Told.", cites: tuple[str, ...] = ()) -> SummaryEntity:
    return SummaryEntity(name, "Region", (Statement(text, cites),), tuple(Membership(m, "of it", 4.0) for m in members))


@pytest.mark.parametrize(
    ("said", "kept", "lost", "silent"),
    [
        ([summary("North", "e0", "e1", "e2")], [("North", ["e0", "e1", "e2"])], 0, 0),
        ([summary(" The   North ", "e0", "e1", "e2")], [("The North", ["e0", "e1", "e2"])], 0, 0),
        ([summary("North", "e0"), summary("South", "e1")], [("North", ["e0", "e2"]), ("South", ["e1"])], 0, 0),
        (
            [summary("North", "e0", "e9", "x"), summary("South", "e1", "e2")],
            [("North", ["e0"]), ("South", ["e1", "e2"])],
            2,
            0,
        ),
        ([summary("North", "e0", "e1", "e2", cites=("e1", "r0", "x"))], [("North", ["e0", "e1", "e2"])], 1, 0),
        ([summary("  ", "e0", "e1", "e2")], [], 0, 1),
        ([summary("North", "x")], [], 1, 1),
        ([], [], 0, 1),
    ],
)
def test_what_was_said_of_a_cluster_refers_to_it_alone_and_leaves_no_member_out(
    rt: Runtime, said: list[SummaryEntity], kept: list[tuple[str, list[str]]], lost: int, silent: int
) -> None:
    made, batch = builder(rt), ["e0", "e1", "e2"]
    found = made._checked(said, made._brief(batch), batch)
    assert [(s.name, [m.id for m in s.members]) for s in found] == kept
    assert (made.counts["lost"], made.counts["silent"]) == (lost, silent)
    assert len(made._notes()) == bool(lost) + bool(silent)
    for one in found:
        assert all(name in ("e1", "r0") for s in one.description for name in s.references)


def test_summaries_of_one_name_and_type_are_gathered(rt: Runtime) -> None:
    made, found = builder(rt), dict[str, _Summary]()
    brief = made._brief(["e0", "e1", "e2"])
    one = made._gather(found, summary("North", "e0", "e1", text="Cold."), brief, 1)
    same = made._gather(found, summary("NORTH", "e1", "e2", text="Far."), brief, 1)
    other = made._gather(found, replace(summary("North", "e3"), type="wind"), brief, 1)
    assert one == same == summary_id(1, "north", "region") != other
    assert summary_id(2, "north", "region") != one
    gathered = found[one]
    assert (gathered.name, gathered.kind, gathered.texts) == ("North", "region", ["Cold.", "Far."])
    assert list(gathered.members) == ["e0", "e1", "e2"]
    assert list(gathered.chunks) == ["c1", "c9", "c0"]  # of r1, then of r0
    made._gather(found, summary("North", "e0", text=" Cold. "), brief, 1)
    made._gather(found, summary("North", "e0", text=""), brief, 1)
    assert gathered.texts == ["Cold.", "Far."]

    record = made._entity(one, gathered, "", 1)
    assert (record.name, record.type, record.description) == ("North", "region", "Cold. Far.")
    assert (record.frequency, record.degree, record.level) == (10 + 11 + 12, 3, 1)
    assert record.chunks == ("c9", "c2", "c1", "c0")  # as documents follow one another
    assert made._entity(one, gathered, "Shorter.", 1).description == "Shorter."
    assert [d.text for d in record.descriptions] == ["Thing 0 is 0.", "Thing 1 is 0.", "Thing 2 is 0."]


def test_a_link_rests_on_the_first_two_spans_of_its_member(rt: Runtime) -> None:
    made = builder(rt)
    link = made._link(Membership("e2", " a part ", 4.0), "s1", "North")
    assert (link.source, link.target, link.weight, link.chunks) == ("e2", "s1", 4.0, ("c2",))
    assert link.description == "a part"
    turned = made._link(Membership("e2", "", -3.0), "a1", "North")
    assert (turned.source, turned.target, turned.weight) == ("a1", "e2", 0.0)
    assert turned.description == "member of North"
    bare = replace(entity(7, 1, 0), chunks=("c1", "c2", "c3"))
    silent = builder(rt, Graph((bare,)))._link(Membership("e7", ""), "s1", "North")
    assert (silent.chunks, silent.weight) == (("c1", "c2"), 1.0)


@pytest.mark.parametrize(
    ("sizes", "stop", "epsilon", "stalled"),
    [
        ([10], "size", 0.1, False), ([10, 9], "size", 0.1, False), ([10, 10], "size", 0.1, True),
        ([100, 91], "size", 0.1, True), ([100, 90], "size", 0.1, False), ([100, 91], "sparsity", 0.1, False),
        ([100, 50, 49], "size", 0.1, True),
    ],
)  # fmt: skip
def test_layers_end_where_the_last_is_hardly_smaller(
    rt: Runtime, sizes: list[int], stop: str, epsilon: float, stalled: bool
) -> None:
    made = builder(rt, stop=stop, epsilon=epsilon)
    made.sizes = sizes
    assert made._stalled() is stalled


@pytest.mark.parametrize(
    ("found", "stops"),
    [
        ([0.5], False), ([0.9], True), ([0.89], False), ([0.5, 0.625], True), ([0.5, 0.63], False),
        ([0.5, 0.375], True), ([0.5, 0.37], False), ([0.2, 0.5, 0.51], True),
    ],
)  # fmt: skip
def test_clusters_end_where_sparsity_changes_by_no_more_than_epsilon(found: list[float], stops: bool) -> None:
    assert stops_layers(found, LayerSettings(epsilon=0.25, sparsity=0.9)) is stops


def test_no_layers_are_nothing() -> None:
    assert Layers() == Layers((), (), (), (), (), ())
