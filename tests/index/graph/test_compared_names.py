"""Names that are compared in partitions are judged as they are all at once, however they are cut (N77)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensegraph.algorithms.graphs import Longs
from sensegraph.algorithms.partners import KeyedRows
from sensegraph.algorithms.similar import KeyGroups
from sensegraph.index.graph import compared_names
from sensegraph.index.graph.compared_names import collect_names, compare_in_partitions, pair_names
from sensegraph.index.graph.duplicates import find_duplicates
from sensegraph.index.graph.graph_settings import ResolveSettings
from sensegraph.index.graph.seen_names import NameGraph
from sensegraph.resolution import Comparison, Mentioned, Resolving, resolve
from sensegraph.resolution.comparison import scoring
from sensegraph.resolution.comparison.name_columns import read_columns
from sensegraph.resolution.comparison.scoring import (
    Collection,
    Comparisons,
    compare_pairs,
    prepare_collection,
)
from sensegraph.resolution.judged_pairs import block_pairs
from sensegraph.resolution.resolver import decide
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Entity, Graph, Relation
from wired import runtime

WORDS = ("Amber", "Ann", "J.", "John", "Smith", "Works", "Yard", "Yards", "of", "2", "GX-200", "Inc")
NAMES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
KINDS = st.sampled_from(("person", "organization", "place", "", "thing"))
CHUNKS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3, unique=True).map(tuple)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A graph of few names that are much alike, some of them related."""
    drawn = draw(st.lists(st.tuples(NAMES, KINDS, CHUNKS), min_size=1, max_size=14, unique_by=lambda e: e[:2]))
    made = [Entity(f"{i:04}", name, kind, "", (), at, len(at), 0) for i, (name, kind, at) in enumerate(drawn)]
    pairs = draw(st.sets(st.tuples(st.sampled_from(made), st.sampled_from(made)), max_size=6))
    links = [Relation(f"{a.id} {b.id}", a.id, b.id, "", (), 1.0, ("a",)) for a, b in sorted(pairs, key=str) if a != b]
    return Graph(tuple(made), tuple(links))


@pytest.fixture(scope="module")
def rt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    store = SqliteStore(tmp_path_factory.mktemp("compared"))
    yield runtime(store)
    store.close()


@settings(deadline=None, max_examples=30)
@given(graph=graphs())
def test_any_number_of_partitions_finds_what_is_found_in_names_that_are_compared_at_once(rt: Runtime, graph: Graph):
    names, how = NameGraph.of(graph), ResolveSettings(engine="none")
    whole = resolve([names.mentioned(row) for row in range(len(names))], settings=how.rules(), least=2)
    with pytest.MonkeyPatch.context() as patched:
        for size in (1, 4, 512):
            patched.setattr(compared_names, "NAMES", size)
            found = find_duplicates(graph, rt, how, texts=lambda ids: {})
            assert (found.groups, found.compared) == (whole.groups, whole.compared)
            assert set(found.proposals) == set(whole.proposals)


def test_a_graph_without_names_has_none_that_are_one(rt: Runtime):
    assert find_duplicates(Graph(), rt, ResolveSettings(), texts=lambda ids: {}).groups == ()
    assert resolve([]).groups == ()


def test_a_name_more_is_read_and_compared_in_its_own_partitions(tmp_path: Path):
    rt = runtime(SqliteStore(tmp_path))
    firms = [f"{a}{b}{c}on Works" for a in "bdgk" for b in "aeiou" for c in "lmnrstvz"]
    many = [Entity(f"{i:04}", name, "place", "", (), ("c",), 1, 0) for i, name in enumerate(firms)]
    before = rt.computed

    def compare(entities: list[Entity]) -> None:
        found = collect_names(NameGraph.of(Graph(tuple(entities))), rt, Resolving())
        rows = np.arange(len(found.ids) - 1)
        compare_in_partitions(found, rows, rows + 1, rt=rt)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(compared_names, "NAMES", 16)
        compare(many)
        read, scored = before["duplicates.names"], before["duplicates.scores"]
        assert read > 4
        compare([*many[:80], Entity("0079a", "Cormorant Colony", "place", "", (), ("d",), 1, 0), *many[80:]])
        assert before["duplicates.names"] - read <= 2
        assert before["duplicates.scores"] - scored <= 2


def test_of_names_beside_one_that_is_added_only_those_are_compared_that_share_a_word_with_it(tmp_path: Path):
    rt, asked = runtime(SqliteStore(tmp_path)), list[int]()
    many = [Entity(f"{i:04}", f"{a}{b}lon {b}{a}mir", "place", "", (), ("c",), 1, 0)
            for i, (a, b) in enumerate(product("bdgkst", "aeiou"))]  # fmt: skip

    def compare(entities: list[Entity]) -> None:
        found = collect_names(NameGraph.of(Graph(tuple(entities))), rt, Resolving())
        rows = np.arange(len(found.ids) - 1)
        made = compare_in_partitions(found, rows, rows + 1, rt=rt, noted=True)
        whole = compare_pairs(found, rows, rows + 1)
        assert made.score.tolist() == whole.score.tolist()
        assert made.kind.tolist() == whole.kind.tolist()

    plain = Collection.make_comparison

    def note(found: Collection, row: int, others: Sequence[int]) -> Comparison:
        asked.append(row)
        return plain(found, row, others)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Collection, "make_comparison", note)
        compare(many)
        assert asked == list(range(len(many) - 1))
        asked.clear()
        compare([*many, Entity("9999", "galon Hill", "place", "", (), ("d",), 1, 0)])
        shares = next(i for i, e in enumerate(many) if e.name.startswith("galon"))
        assert asked == [shares - 1, shares, len(many) - 1]
        asked.clear()
        noted = (rt.store.ref(compared_names.COMPARED) or "").partition(" ")[2]
        rt.store.set_refs({compared_names.COMPARED: f"1 {noted}"})  # by another version
        compare([*many, Entity("9998", "Sea Hill", "place", "", (), ("d",), 1, 0)])
        assert asked == list(range(len(many)))


@settings(max_examples=25, deadline=None)
@given(st.lists(graphs(), min_size=2, max_size=4))
def test_pairs_that_are_kept_are_as_alike_as_those_that_are_compared(several: list[Graph]) -> None:
    with TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patched:
        patched.setattr(compared_names, "_SCORES", 4)
        rt = runtime(SqliteStore(Path(place)))
        for number, graph in enumerate(several):
            found = collect_names(NameGraph.of(graph), rt, Resolving())
            one, other = np.triu_indices(len(found.ids), 1)
            made = compare_in_partitions(found, one, other, rt=rt, noted=number % 2 == 0)
            whole = compare_pairs(found, one, other)
            assert made.score.tolist() == whole.score.tolist()
            assert made.kind.tolist() == whole.kind.tolist()


def test_names_are_the_same_in_whatever_order_a_graph_has_them(rt: Runtime):
    names = ["Amber Works", "Basalt Hill", "Cobalt Mill", "Amber Yard"]
    many = [Entity(f"{i:04}", name, "place", "", (), ("c",) * (i % 2), 1, 0) for i, name in enumerate(names)]
    near = tuple(Relation(f"r{i}", "0001", f"{i:04}", "", (), 1.0, ("c",)) for i in (0, 3))
    plain, turned = (
        collect_names(NameGraph.of(Graph(tuple(some), near)), rt, Resolving()) for some in (many, many[::-1])
    )
    for found in (plain, turned):
        assert [item.name for item in found.items] == [found.shown[row][0] for row in range(4)] == names
        assert found.shown[1:3] == [("Basalt Hill",), ("Cobalt Mill",)]
        assert len(found.shown) == 4
        assert dict(found.degree) == {"0000": 1, "0001": 2, "0003": 1}
        assert len(found.degree) == 3
        assert "0002" not in found.degree
        assert "0004" not in found.degree
        assert found.traits.mentioned.tolist() == [True, True, False, True]
    assert turned.read_from == plain.read_from
    assert (turned.hashes == plain.hashes).all()


def test_names_that_were_paired_are_known_without_what_brings_them_together(rt: Runtime):
    names = ["Amber Works", "Amber Works Ltd", "Basalt Hill", "Basalt Mill"]
    many = tuple(Entity(f"{i:04}", name, "place", "", (), ("c",), 1, 0) for i, name in enumerate(names))
    found = collect_names(NameGraph.of(Graph(many)), rt, Resolving())
    lean, near = pair_names(found, rt)
    assert len(found.columns.keys) > len(lean.columns.keys) == len(lean.columns.sure) == 0
    assert lean.columns.keyed.tolist() == [0, 0, 0, 0]
    made, whole = decide(lean, (), near=near), decide(found, ())
    assert made.clusters == whole.clusters == [[0, 1]]
    assert made.judged.score.tolist() == whole.judged.score.tolist()


@settings(deadline=None, max_examples=30)
@given(graph=graphs(), most=st.integers(1, 9))
def test_what_else_is_known_of_pairs_is_looked_up_in_portions_as_at_once(graph: Graph, most: int):
    names = NameGraph.of(graph)
    found = prepare_collection([names.mentioned(row) for row in range(len(names))], Resolving())
    one, other = (ends.astype(np.int32) for ends in np.triu_indices(len(found.ids), 1))
    whole = found.judge_each(one, other, compare_pairs)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(scoring, "_AT_ONCE", most)
        made = found.judge_each(one, other, compare_pairs)
    assert made.score.tolist() == whole.score.tolist()
    assert made.kind.tolist() == whole.kind.tolist()


def test_comparisons_are_found_at_each_place_and_in_slices():
    names = ["Amber Works", "Amber Yard", "Basalt Hill", "Cobalt Mill"]
    found = prepare_collection([Mentioned(str(i), name) for i, name in enumerate(names)], Resolving())
    every = Comparisons(found, np.array([0, 0, 2]), np.array([1, 3, 3]))
    assert [(c.one.names, [o.names for o in c.others]) for c in every] == [
        (("Amber Works",), [("Amber Yard",), ("Cobalt Mill",)]),
        (("Basalt Hill",), [("Cobalt Mill",)]),
    ]
    assert len(every) == 2
    assert every[-1] == every[1]
    assert every[:1] == [every[0]]
    with pytest.raises(IndexError):
        every[2]


@settings(deadline=None, max_examples=20)
@given(graph=graphs(), rare=st.integers(2, 4))
def test_pairs_of_the_same_names_are_found_once_whatever_else_a_graph_says(rt: Runtime, graph: Graph, rare: int):
    once = Graph(tuple(replace(e, chunks=("z",)) for e in graph.entities))
    computed = list[int]()
    for seen in (graph, once):
        found = collect_names(NameGraph.of(seen), rt, Resolving(rare=rare))
        (_, made), whole = pair_names(found, rt), block_pairs(found)
        assert made.pairs.one.tolist() == whole.pairs.one.tolist()
        assert made.pairs.other.tolist() == whole.pairs.other.tolist()
        assert (made.passed_over, made.crowded) == (whole.passed_over, whole.crowded)
        computed.append(rt.computed["duplicates.pairs"])
    assert computed[0] == computed[1]


@settings(deadline=None, max_examples=60)
@given(
    drawn=st.lists(NAMES, min_size=8, max_size=30),
    several=st.lists(
        st.tuples(st.sets(st.integers(0, 29), max_size=3), st.booleans(), st.integers(2, 6), st.integers(2, 3)),
        min_size=2,
        max_size=4,
    ),
)
def test_pairs_that_are_found_again_only_where_names_changed_are_those_of_all_names(
    drawn: list[str], several: list[tuple[set[int], bool, int, int]]
):
    """Some names are left out of each graph, the first may have an id by which it stands last, and bounds change."""
    every = [Entity(f"{i:04}", name, "place", "", (), ("a",), 1, 0) for i, name in enumerate(drawn)]
    with TemporaryDirectory() as place:
        rt = runtime(SqliteStore(Path(place)))
        for left_out, last, rare, near in several:
            held = [replace(e, id="9999") if last and not i else e for i, e in enumerate(every) if i not in left_out]
            graph = Graph(tuple(sorted(held, key=lambda e: e.id)))
            found = collect_names(NameGraph.of(graph), rt, Resolving(rare=rare, near=near))
            (_, made), whole = pair_names(found, rt), block_pairs(found)
            assert made.pairs.one.tolist() == whole.pairs.one.tolist()
            assert made.pairs.other.tolist() == whole.pairs.other.tolist()
            assert (made.passed_over, made.crowded) == (whole.passed_over, whole.crowded)
        kept = rt.store.read([k := (rt.store.ref(compared_names.PAIRED) or "").split()[-1]])[k]
        afresh = runtime(SqliteStore(Path(place) / "afresh"))
        pair_names(found, afresh)
        assert afresh.store.read([k])[k] == kept


def test_only_partners_of_names_that_share_a_key_with_a_new_one_are_found_again(rt: Runtime):
    names = [f"{a}{b}{c} {d}{b}rk" for a in "bdgk" for b in "aeiou" for c in "lmnr" for d in "PT"]
    many = [Entity(f"{i:04}", name, "place", "", (), ("c",), 1, 0) for i, name in enumerate(names)]
    asked, plain = list[list[str]](), KeyedRows.group

    def note(keyed: KeyedRows, rows: Longs) -> KeyGroups:
        asked.append([found.shown[row][0] for row in rows])
        return plain(keyed, rows)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(KeyedRows, "group", note)
        found = collect_names(NameGraph.of(Graph(tuple(many))), rt, Resolving(rare=16))
        pair_names(found, rt)
        more = Entity("0020a", "galon Zwixx", "place", "", (), ("d",), 1, 0)
        many[30] = replace(many[30], name="bil Zwixx")
        found = collect_names(NameGraph.of(Graph((*many[:21], more, *many[21:]))), rt, Resolving(rare=16))
        pair_names(found, rt)
    assert asked[0] == names
    assert {"galon Zwixx", "bil Zwixx"} <= set(asked[1])
    assert len(asked[1]) < len(names) / 2


def test_words_weigh_by_how_many_distinct_names_have_them():
    columns = read_columns([(("Amber Works",), False), (("amber works",), False), (("Amber Yard",), False)])
    words = columns.count_words()
    assert [words.frequency.get(word, 0) for word in ("amber", "works", "yard", "gone")] == [2, 1, 1, 0]
    assert "amber" in words.frequency
    assert "gone" not in words.frequency
    with pytest.raises(KeyError):
        words.frequency["gone"]
