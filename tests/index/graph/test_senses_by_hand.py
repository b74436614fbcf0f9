"""Which names are looked at for several senses, and which persons a name may be short for."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sensegraph.index.graph.homonyms import _SHORT_FOR, _Persons, find_senses, list_candidates, may_be_short_for
from sensegraph.index.graph.seen_names import NameGraph
from sensegraph.index.graph.slicing import MentionRow, Rows, Uses, count_entity_uses
from sensegraph.index.graph.told_names import list_former_names, read_cores
from sensegraph.resolution.comparison.likeness import compare_persons
from sensegraph.resolution.comparison.name_reading import read_name
from sensegraph.types import Entity, Graph


def named(*given: tuple[str, str, int]) -> NameGraph:
    """A graph of names with their types, each in so many chunks of its own."""
    rows = [(f"{i:02}", name, kind, many) for i, (name, kind, many) in enumerate(given)]
    made = [
        Entity(i, name, kind, "", (), tuple(f"{i}.{n}" for n in range(many)), many, 0) for i, name, kind, many in rows
    ]
    return NameGraph.of(Graph(tuple(made)))


@pytest.mark.parametrize(
    ("name", "kind", "many", "asked"),
    [
        ("Jordan", "person", 2, True),
        ("Jordan", "person", 1, False),
        ("Jordan", "", 2, True),
        ("jordan", "person", 2, False),
        ("Mill", "organization", 2, False),
        ("Mill Lane", "person", 2, False),
        ("Mill Lane", "place", 2, True),
        ("Mill Lane", "place", 1, False),
        ("Old Mill Lane", "place", 2, False),
        ("Paris", "organization", 2, True),
        ("Paris", "organization", 1, False),
        ("Jordan", "person", 200, True),
        ("Jordan", "person", 201, False),
    ],
)
@pytest.mark.parametrize("known", [False, True])
def test_short_names_of_several_chunks_are_looked_at(name: str, kind: str, many: int, asked: bool, known: bool) -> None:
    read: list[str] = []
    rt: Any = SimpleNamespace(
        once=lambda step, make, names: SimpleNamespace(value=step.fn([make()])[0]),
        each=lambda step, items, names: step.fn(items),
        keys=lambda step, items, names: names,
        recall=lambda step, keys: {},
    )
    some = list_candidates(named((name, kind, many)), {"00": ()} if known else {}, rt)
    found = find_senses(some, lambda chunks: read.extend(chunks) or {}, rt)
    assert len(read) == (many if asked and not known else 0)
    assert (found.moved, found.made, found.open) == ((), (), ())


PERSONS = (
    ("Hartmann", "person", 1), ("Eva Hartmann", "person", 1), ("Hartmann, Otto", "person", 1),
    ("E. Hartmann", "person", 1), ("Hartmann Works", "organization", 1), ("Eva", "person", 1), ("Bob", "person", 1),
    ("Robert Lee", "person", 1), ("Hartmann", "place", 1), ("Lee, Robert", "person", 1),
    ("Hartmann, O.", "person", 1),
)  # fmt: skip


@pytest.mark.parametrize(
    ("row", "owners"),
    [
        (0, [1, 2, 3, 10]), (1, []), (2, []), (3, [1]), (4, []), (5, [1]), (6, [7, 9]), (7, []), (8, [1, 2, 3, 10]),
        (10, [2]),
    ],
)  # fmt: skip
def test_a_name_is_short_for_persons_whose_names_are_longer(row: int, owners: list[int]) -> None:
    graph = named(*PERSONS)
    rt: Any = SimpleNamespace(each=lambda step, items, names: step.fn(items))
    found = _Persons(graph, read_cores.fn([graph.names])[0]).list_owners([row], rt)
    assert found == ({row: owners} if owners else {})


def test_uses_are_counted_of_the_entities_that_are_asked_for() -> None:
    ada, bo, cy = ("ada", "person"), ("bo", "person"), ("cy", "person")
    rows = Rows(
        [
            MentionRow(ada, ada, "Ada", 2, (), "k1", None),
            MentionRow(bo, bo, "Bo", 3, (), "k1", None),
            MentionRow(ada, cy, "ada", 1, (), "k2", None),
            MentionRow(cy, cy, "Cy", 0, (), "k2", None),
        ],
        [MentionRow(ada, cy, "Cy", 4, (), "k3", None), MentionRow(bo, bo, "Bo", 0, (), "k3", None)],
    )
    assert count_entity_uses(rows, {ada, cy}) == [Uses(ada, ((ada, 2), (cy, 5)), (("Ada", 2), ("Cy", 4), ("ada", 1)))]
    assert count_entity_uses(rows, ()) == []


def test_persons_of_one_given_name_and_chunk_may_be_one_under_two_family_names() -> None:
    names = [
        ("Ada Reeve", "ab"),
        ("Ada May Finch", "bc"),
        ("Stone, Ada", "b"),
        ("Ada Lee Reeve", "ab"),
        ("Bo Finch", "b"),
    ]
    rows = [(f"{i}", name, tuple(chunks)) for i, (name, chunks) in enumerate(names)]
    graph = NameGraph.of(Graph(tuple(Entity(i, name, "person", "", (), own, 1, 0) for i, name, own in rows)))
    found = {
        (one.one[0], one.other[0]): one.chunks for one in list_former_names(graph, read_cores.fn([graph.names])[0])
    }
    assert found == {("0", "1"): ("b",), ("0", "2"): ("b",), ("1", "2"): ("b",), ("1", "3"): ("b",), ("2", "3"): ("b",)}


def test_it_is_known_where_texts_mention_a_name_that_has_chunks_or_neighbours() -> None:
    start, begin = np.array([0, 1, 3, 3, 3]), np.array([0, 0, 2, 2, 3])
    held: Any = SimpleNamespace(start=start, begin=begin)
    assert NameGraph.mentioning.func(held).tolist() == [True, True, False, True]  # type: ignore[attr-defined]


WORDS = ("Robert", "Bob", "R.", "Smith", "Vander", "van", "der", "Vander-Berg", "Berg", "Jr.", "2", "Dr.")


def test_no_name_that_may_be_short_for_a_person_is_passed_over():
    short = [" ".join(words) for count in (1, 2) for words in product(WORDS, repeat=count)]
    long = [" ".join(words) for count in (2, 3) for words in product(WORDS, repeat=count)]
    passed, kept = 0, 0
    for one, other in product([read_name(name, True) for name in short], [read_name(name, True) for name in long]):
        if len(other.core) < 2 or sum(map(len, other.core)) <= sum(map(len, one.core)):
            continue
        if may_be_short_for(one.core, other.core):
            kept += 1
            continue
        passed += 1
        judged = compare_persons(one, other)
        assert judged.kind not in _SHORT_FOR or judged.veto, (one.raw, other.raw)
    assert passed > kept / 4 > 0
