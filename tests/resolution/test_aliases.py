"""Merging, splitting and taking back are folds of a log over mentions (entity resolution; N61, N79–N81)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.errors import InputError
from sensegraph.index.graph.elements import entity_id
from sensegraph.index.graph.graph_settings import GraphSettings
from sensegraph.index.graph.merging import merge_extractions
from sensegraph.resolution import Mentioned
from sensegraph.resolution.aliases import (
    NO_ALIASES,
    Aliases,
    Name,
    Operation,
    bind_aliases,
    canonical_name,
    name_entity,
    replay_operations,
    with_groups,
)
from sensegraph.resolution.log import read_operations, record_operations, revert_operation
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Chunk, ExtractedClaim, ExtractedEntity, ExtractedRelation, Extraction, Graph

SETTINGS = GraphSettings()
NAMES = [("apple", "org"), ("apple inc", "org"), ("aapl", "stock"), ("jobs", "person"), ("woz", "person")]
Corpus = list[tuple[Chunk, Extraction]]


def corpus(*said: Sequence[tuple[str, str]], links: Sequence[tuple[str, str]] = ()) -> Corpus:
    """One document for each list of (name, type); `links` join names wherever both are said."""
    made = []
    for number, entities in enumerate(said):
        here = {name for name, _ in entities}
        extraction = Extraction(
            tuple(ExtractedEntity(n, t, f"{n} in {number}") for n, t in entities),
            tuple(ExtractedRelation(a, b, f"{a} with {b}") for a, b in links if {a, b} <= here),
            tuple(ExtractedClaim(n, "", "statement", "TRUE", f"{n} was there") for n, _ in entities[:1]),
        )
        made.append((Chunk(f"c{number}", f"d{number}", 0, 50, 9, "x" * 50), extraction))
    return made


def graph(texts: Corpus, *log: Operation) -> Graph:
    return merge_extractions(texts, SETTINGS, replay_operations(log).aliases)


def op(number: int, kind: str, *names: Name, **more: object) -> Operation:
    return Operation(str(number), kind, names, **more)  # type: ignore[arg-type]


def called(found: Graph) -> dict[str, tuple[str, ...]]:
    return {e.name: e.aliases for e in found.entities}


APPLES = corpus([("Apple Inc", "org"), ("Jobs", "person")], [("Apple", "org"), ("Jobs", "person")], [("Apple", "org")])


# ── each operation ──


def test_a_merge_makes_one_entity_of_all_mentions_and_relations() -> None:
    texts = corpus(
        [("Apple Inc", "org"), ("Jobs", "person")],
        [("Apple", "org"), ("Jobs", "person")],
        [("Apple", "org"), ("Apple Inc", "org")],
        links=[("Apple", "Jobs"), ("Apple Inc", "Jobs"), ("Apple", "Apple Inc")],
    )
    apart, one = graph(texts), graph(texts, op(1, "merge", ("apple inc", "org"), ("apple", "org")))
    assert [len(apart.entities), len(apart.relations)] == [3, 3]
    assert called(one) == {"Apple Inc": ("Apple",), "Jobs": ()}  # a tie is the longer name's
    (apple,) = [e for e in one.entities if e.name == "Apple Inc"]
    assert apple.id == entity_id(("apple inc", "org"))
    assert apple.frequency == 4
    assert "Apple with Apple Inc" in {d.text for d in apple.descriptions}  # a link with itself says something of it
    (link,) = one.relations
    assert link.weight == 2
    assert {c.subject for c in one.claims} <= {e.id for e in one.entities}


def test_the_name_is_the_one_most_often_mentioned_and_the_type_the_most_frequent_that_says_something() -> None:
    texts = corpus([("Apple", "unknown")], [("Apple", "unknown")], [("Apple Inc", "org")])
    (apple,) = graph(texts, op(1, "merge", ("apple", "unknown"), ("apple inc", "org"))).entities
    assert (apple.name, apple.type, apple.aliases) == ("Apple", "org", ("Apple Inc",))


def test_a_merge_may_say_how_the_entity_is_called() -> None:
    log = op(1, "merge", ("apple", "org"), ("apple inc", "org"), output="The Apple Company")
    assert called(graph(APPLES, log)) == {"The Apple Company": ("Apple", "Apple Inc"), "Jobs": ()}


def test_a_rename_changes_what_is_shown_and_not_the_id() -> None:
    before, after = graph(APPLES), graph(APPLES, op(1, "rename", ("jobs", "person"), output="Steve Jobs"))
    assert {e.id for e in before.entities} == {e.id for e in after.entities}
    assert called(after)["Steve Jobs"] == ("Jobs",)


def test_a_split_takes_a_name_out_and_leaves_the_others_together() -> None:
    texts = corpus([("Apple", "org")], [("Apple Inc", "org")], [("AAPL", "stock")])
    log = [
        op(1, "merge", *NAMES[:3]),
        op(2, "split", ("apple", "org"), ("aapl", "stock"), others=(("apple inc", "org"),)),
    ]
    assert sorted(len(e.aliases) for e in graph(texts, *log).entities) == [0, 1]


def test_a_split_by_documents_gives_their_mentions_a_name_of_their_own() -> None:
    texts = corpus([("Jordan", "geo"), ("Amman", "geo")], [("Jordan", "geo"), ("Bulls", "org")],
                   links=[("Jordan", "Amman"), ("Jordan", "Bulls")])  # fmt: skip
    new = ("jordan (player)", "geo")
    log = op(1, "split", ("jordan", "geo"), others=(new,), documents=("d1",), output="Jordan (player)")
    found = graph(texts, log)
    assert called(found)["Jordan (player)"] == ("Jordan",)
    ends = {e.id: e.name for e in found.entities}
    links = {tuple(sorted((ends[r.source], ends[r.target]))) for r in found.relations}
    assert links == {("Amman", "Jordan"), ("Bulls", "Jordan (player)")}


def test_what_was_split_and_is_merged_again_is_as_it_was() -> None:
    new = ("apple (2)", "org")
    split = op(1, "split", ("apple", "org"), others=(new,), documents=("d2",), output="Apple (2)")
    again = op(2, "merge", ("apple", "org"), new)
    assert graph(APPLES, split) != graph(APPLES)
    assert graph(APPLES, split, again) == graph(APPLES)


def test_a_relation_whose_end_no_chunk_describes_is_bound_to_the_alias_too() -> None:
    texts = corpus([("Apple", "org")], [("Apple Inc", "org")])
    chunk = Chunk("c9", "d9", 0, 50, 9, "x" * 50)
    texts.append(
        (chunk, Extraction((ExtractedEntity("Jobs", "person"),), (ExtractedRelation("Jobs", "Apple", "made"),)))
    )
    found = graph(texts, op(1, "merge", ("apple", "org"), ("apple inc", "org")))
    assert len(found.entities) == 2
    assert len(found.relations) == 1


# ── logs that contradict themselves, or have lost something ──


def test_of_operations_that_contradict_one_another_the_later_counts_and_is_reported() -> None:
    a, b = NAMES[:2]
    one, other = op(1, "merge", a, b), op(2, "forbid", a, b)
    found = replay_operations([one, other])
    assert found.aliases.groups == ()
    assert found.notes == (
        "operation 1 (merge apple, apple inc) contradicts operation 2 (forbid apple, apple inc), which counts more: "
        "it is overruled",
    )
    swapped = replay_operations([replace(other, id="1"), replace(one, id="2")])
    assert swapped.aliases.groups == (tuple(sorted((a, b))),)
    assert len(swapped.notes) == 1


def test_what_a_user_says_counts_more_than_what_a_rule_or_an_engine_finds_later() -> None:
    a, b = NAMES[:2]
    found = replay_operations(
        [op(1, "forbid", a, b), op(2, "merge", a, b, by="rule"), op(3, "merge", a, b, by="engine")]
    )
    assert found.aliases.groups == ()
    assert len(found.notes) == 2


def test_a_forbidden_pair_is_not_joined_by_a_third_name() -> None:
    a, b, c = NAMES[:3]
    found = replay_operations([op(1, "merge", a, b), op(2, "merge", b, c), op(3, "forbid", a, c)])
    assert found.aliases.groups == (tuple(sorted((b, c))),)  # the later merge counts
    assert "operation 1" in found.notes[0]


def test_an_operation_that_rests_on_one_that_was_taken_back_is_skipped_and_reported() -> None:
    a, b, new = ("apple", "org"), ("apple inc", "org"), ("apple (2)", "org")
    split = op(1, "split", a, others=(new,), documents=("d2",), output="Apple (2)")
    later = op(2, "merge", new, b)
    merge, out = op(3, "merge", a, b, reverted="now"), op(4, "split", a, others=(b,))
    assert replay_operations([split, later]).aliases.groups
    found = replay_operations([replace(split, reverted="now"), later, merge, out])
    assert found.aliases == NO_ALIASES
    assert [n.split(" (")[0] for n in found.notes] == ["operation 2", "operation 4"]
    assert all("was taken back: it is skipped" in n for n in found.notes)


def test_a_split_of_what_no_operation_made_one_keeps_it_apart() -> None:
    """So what a build finds by itself can be taken apart too."""
    a, b = NAMES[:2]
    found = replay_operations([op(1, "split", a, others=(b,))])
    assert (found.aliases.apart, found.notes) == (((a, b),), ())


# ── laws ──

entities = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True)
corpora = st.lists(entities, min_size=1, max_size=6).map(
    lambda said: corpus(
        *said, links=[("apple", "jobs"), ("apple inc", "jobs"), ("apple", "apple inc"), ("aapl", "woz")]
    )
)
kinds = st.sampled_from(["merge", "forbid"])
pairs = st.lists(st.sampled_from(NAMES), min_size=2, max_size=3, unique=True)
logs = st.lists(st.tuples(kinds, pairs), max_size=6).map(
    lambda made: [op(i, kind, *names) for i, (kind, names) in enumerate(made, 1)]
)


@given(corpora, logs, st.data())
def test_taking_an_operation_back_is_as_if_it_had_never_been(
    texts: Corpus, log: list[Operation], data: st.DataObject
) -> None:
    gone = data.draw(st.integers(0, len(log)))
    without = [o for o in log if o.id != str(gone)]
    undone = [replace(o, reverted="now") if o.id == str(gone) else o for o in log]
    assert graph(texts, *undone) == graph(texts, *without)


@given(corpora, logs)
def test_every_mention_is_in_exactly_one_entity(texts: Corpus, log: list[Operation]) -> None:
    found, apart = graph(texts, *log), graph(texts)
    assert sum(e.frequency for e in found.entities) == sum(e.frequency for e in apart.entities)
    assert {c for e in found.entities for c in e.chunks} == {c for e in apart.entities for c in e.chunks}
    loops = [d for e in found.entities for d in e.descriptions] + [d for r in found.relations for d in r.descriptions]
    known = [d for e in apart.entities for d in e.descriptions] + [d for r in apart.relations for d in r.descriptions]
    assert sorted(map(repr, loops)) == sorted(map(repr, known))  # nothing that was said is lost or doubled
    ids = {e.id for e in found.entities}
    assert len(ids) == len(found.entities)
    assert all({r.source, r.target} <= ids for r in found.relations)
    assert {c.subject for c in found.claims} <= ids


@given(corpora, logs, st.integers())
def test_the_order_of_documents_changes_nothing_but_the_order_of_what_is_listed(
    texts: Corpus, log: list[Operation], seed: int
) -> None:
    mixed = list(texts)
    random.Random(seed).shuffle(mixed)

    def shape(found: Graph) -> object:
        rows = [(e.id, e.name, e.type, e.frequency, e.degree, e.aliases, sorted(e.chunks)) for e in found.entities]
        return rows, [(r.id, r.weight) for r in found.relations], [c.id for c in found.claims]

    assert shape(graph(mixed, *log)) == shape(graph(texts, *log))


@given(logs)
def test_what_is_apart_is_in_no_group_and_no_name_is_in_two(log: list[Operation]) -> None:
    found = replay_operations(log).aliases
    assert len(found.apart) + len(found.groups) >= bool(log)
    assert all(b not in found.group(a) for a, b in found.apart)
    every = [name for group in found.groups for name in group]
    assert len(every) == len(set(every))


@given(logs)
def test_joining_what_is_joined_changes_nothing(log: list[Operation]) -> None:
    found = replay_operations(log).aliases
    assert with_groups(found, found.groups) == found


@given(corpora, st.sampled_from(NAMES[:3]))
def test_duplicates_that_are_merged_give_the_graph_of_the_texts_with_one_name(texts: Corpus, name: Name) -> None:
    """Half of the mentions of a name are written in another way; merged under its name, the graph is the same."""
    changed = [(c, _renamed(x, name[0], f"{name[0]}*") if i % 2 else x) for i, (c, x) in enumerate(texts)]
    log = op(1, "merge", name, (f"{name[0]}*", name[1]), output=name[0])
    one, other = graph(texts), graph(changed, log)
    assert {e.name: (e.frequency, e.degree) for e in one.entities} == {
        e.name: (e.frequency, e.degree) for e in other.entities
    }
    assert sorted(r.weight for r in one.relations) == sorted(r.weight for r in other.relations)


def _renamed(x: Extraction, old: str, new: str) -> Extraction:
    def name(n: str) -> str:
        return new if n == old else n

    return Extraction(
        tuple(replace(e, name=name(e.name)) for e in x.entities),
        tuple(replace(r, source=name(r.source), target=name(r.target)) for r in x.relations),
        tuple(replace(c, subject=name(c.subject)) for c in x.claims),
    )


# ── the log in a store ──


def test_operations_are_numbered_in_order_and_taken_back_once(tmp_path: object) -> None:
    store = SqliteStore(str(tmp_path))
    a, b, c = NAMES[:3]
    record_operations(store, [op(0, "merge", a, b), op(0, "merge", b, c)], "2026-01-01")
    record_operations(store, [op(0, "forbid", a, c)], "2026-01-02")
    assert [(o.id, o.kind, o.time) for o in read_operations(store)] == [
        ("1", "merge", "2026-01-01"), ("2", "merge", "2026-01-01"), ("3", "forbid", "2026-01-02"),
    ]  # fmt: skip
    assert revert_operation(store, "", "later").id == "3"
    assert revert_operation(store, "1", "later").id == "1"
    with pytest.raises(InputError, match="Operation 1 was taken back"):
        revert_operation(store, "1", "later")
    with pytest.raises(InputError, match="no operation '7'; the numbers go from 1 to 3"):
        revert_operation(store, "7", "later")
    assert [bool(o.reverted) for o in read_operations(store)] == [True, False, True]
    revert_operation(store, "2", "later")
    with pytest.raises(InputError, match="No operation stands"):
        revert_operation(store, "", "later")


# ── how names are called ──


def test_a_group_is_called_as_the_user_says_and_else_as_the_last_operation_does() -> None:
    def shown(*deciders: str) -> str:
        log = [op(i, "rename", NAMES[0], output=f"{by} {i}", by=by) for i, by in enumerate(deciders)]
        ((name, said),) = replay_operations(log).aliases.shown
        assert name == NAMES[0]
        return said

    assert [shown("rule", "engine"), shown("user", "rule"), shown("rule", "user"), shown("user", "user")] == [
        "engine 1", "user 0", "user 1", "user 1",
    ]  # fmt: skip


def test_any_effect_of_a_log_has_a_key_and_none_has_none() -> None:
    a, b = NAMES[:2]
    effects = (Aliases(groups=((a, b),)), Aliases(moved=((a, "d", b),)), Aliases(shown=((a, "A"),)))
    assert len({e.key for e in effects}) == 3
    assert all(e.key for e in effects)
    assert Aliases(apart=((a, b),)).key == NO_ALIASES.key == ""


def test_a_mention_that_was_moved_twice_has_its_last_name() -> None:
    a, b, c = NAMES[:3]
    bound = bind_aliases(Aliases(groups=((c, NAMES[3]),), moved=((a, "d", b), (b, "d", c))))
    assert [bound.own(a, "d"), bound.own(a, "e"), bound.own(b, "d")] == [c, a, c]
    assert [bound.of(NAMES[3], "d"), bound.of(a, "d"), bound.of(a, "e")] == [c, c, a]
    assert bool(bound)
    assert not bind_aliases(Aliases(made=((a, "A"),)))


def test_the_id_of_a_group_is_that_of_its_name_that_is_most_like_what_it_is_called() -> None:
    own = Counter({("oak", "tree"): 3, ("oak lamp", "thing"): 1, ("oak lamp", "tree"): 1})
    found = name_entity((("oak", "tree"),), own, Counter({"Oak Lamp": 2, "Oak": 1}), bind_aliases(NO_ALIASES))
    assert (found.name, found.shown, found.type) == (("oak lamp", "tree"), "Oak Lamp", "tree")
    often = Counter({("elm", "tree"): 1, ("ash", "tree"): 2, ("fir", "wood"): 9})
    found = name_entity((("ash", "tree"),), often, Counter({"Zebra": 1}), bind_aliases(NO_ALIASES))
    assert (found.name, found.type) == (("fir", "wood"), "wood")
    tied = Counter({("elm", "tree"): 2, ("ash", "tree"): 2, ("fir", "wood"): 1})
    assert name_entity((), tied, Counter({"Zebra": 1}), bind_aliases(NO_ALIASES)).name == ("ash", "tree")


def test_of_persons_a_full_name_is_chosen_and_else_the_most_frequent_the_longest_the_first() -> None:
    def chosen(type: str, **counts: int) -> str:
        names = [Mentioned("", name.replace("_", " "), type, n) for name, n in counts.items()]
        return canonical_name([*names, Mentioned("", "Zed", "", 1)])

    assert chosen("person", Lee=5, Ann_Lee=1) == "Ann Lee"
    assert chosen("thing", Lee=5, Ann_Lee=1) == "Lee"
    assert chosen("thing", Lee=2, Ann_Lee=2, Bob_Lee=2) == "Ann Lee"
