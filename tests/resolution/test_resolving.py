"""Groups of what is one thing: whole collections, with contexts, rivals, lists and rules (N44, N61, N77–N80)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensegraph.errors import InputError, SettingsError
from sensegraph.resolution import Comparison, Judged, Mentioned, Resolution, Resolving, Rule, resolve
from sensegraph.resolution.comparison.likeness import KINDS, VETOES
from sensegraph.resolution.comparison.scoring import Collection, Comparisons, Scores, prepare_collection
from sensegraph.resolution.judged_pairs import JudgedPairs, block_pairs
from sensegraph.resolution.resolver import make_group

WORDS = (
    "apple",
    "orange",
    "river",
    "bank",
    "smith",
    "john",
    "north",
    "south",
    "2",
    "3",
    "inc",
    "of",
    "graph",
    "graphs",
)
SPELT = ("Amber", "Birch", "Copper", "Dune", "Ember", "Fjord", "Granite", "Heron", "Ivory", "Jasper", "Kelp", "Linden")
names = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(lambda words: " ".join(words).title())
types = st.sampled_from(("", "person", "organization", "place"))
things = st.lists(st.tuples(names, types), max_size=9).map(
    lambda drawn: [Mentioned(f"t{i}", name, type) for i, (name, type) in enumerate(drawn)]
)


def people(*called: str, **given) -> list[Mentioned]:
    return [Mentioned(name, name, "person", **given) for name in called]


def groups(found: Resolution) -> list[tuple[str, ...]]:
    return [group.members for group in found.groups if len(group.members) > 1]


def pairs(found: Resolution) -> set[tuple[str, str]]:
    return {(a, b) for group in found.groups for a in group.members for b in group.members if a < b}


def decision(found: Resolution, one: str, other: str) -> str:
    wanted = tuple(sorted((one, other)))
    return next((p.decision for p in found.proposals if (p.one, p.other) == wanted), "keep")


# ── laws ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(things)
def test_every_thing_is_in_exactly_one_group(items: list[Mentioned]):
    found = resolve(items)
    assert sorted(m for g in found.groups for m in g.members) == sorted(item.id for item in items)
    assert all(g.members == tuple(sorted(g.members)) and g.id == g.members[0] for g in found.groups)


@given(things, st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_the_order_of_the_input_does_not_matter(items: list[Mentioned], random):
    turned = list(items)
    random.shuffle(turned)
    assert resolve(turned) == resolve(items)


@given(things)
def test_resolving_again_with_what_was_found_changes_nothing(items: list[Mentioned]):
    found = resolve(items)
    told = [Rule("merge", a, b, by="names") for a, b in sorted(pairs(found))]
    assert pairs(resolve(items, rules=told)) == pairs(found)


def test_a_namesake_that_was_joined_does_not_bring_what_it_alone_is_like():
    items = [Mentioned("t0", "Apple", ""), Mentioned("t1", "Apple", "person"), Mentioned("t2", "Apple Apple", "")]
    found = resolve(items)
    assert pairs(found) == pairs(resolve(items, rules=[Rule("merge", "t0", "t1", by="names")])) == {("t0", "t1")}


@given(things, st.data())
@settings(max_examples=40)
def test_what_must_not_be_one_is_not(items: list[Mentioned], data):
    ids = [item.id for item in items] or ["none"]
    apart = data.draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)).filter(lambda p: p[0] < p[1])))
    found = resolve(items, rules=[Rule("apart", a, b) for a, b in apart])
    assert sorted(m for g in found.groups for m in g.members) == sorted(item.id for item in items)
    assert not pairs(found) & set(apart)


@given(things)
def test_types_that_conflict_and_numbers_that_differ_are_never_merged(items: list[Mentioned]):
    by = {item.id: item for item in items}
    found = resolve(items)
    assert sorted(m for g in found.groups for m in g.members) == sorted(item.id for item in items)
    for a, b in pairs(found):
        assert "" in (by[a].type, by[b].type) or by[a].type == by[b].type
        digits = [sorted(w for w in by[i].name.split() if w.isdigit()) for i in (a, b)]
        assert digits[0] == digits[1]


@given(things)
def test_a_higher_threshold_never_merges_more(items: list[Mentioned]):
    strict, lenient = (resolve(items, settings=Resolving(accept=accept)) for accept in (0.95, 0.8))
    assert sum(len(g.members) for g in strict.groups) == sum(len(g.members) for g in lenient.groups) == len(items)
    assert pairs(strict) <= pairs(lenient)


@given(things)
def test_every_merge_has_a_proposal_with_its_reason(items: list[Mentioned]):
    found = resolve(items)
    assert sorted(m for g in found.groups for m in g.members) == sorted(item.id for item in items)
    for group in found.groups:
        if len(group.members) > 1:
            told = [p for p in found.proposals if p.decision == "merge" and {p.one, p.other} <= set(group.members)]
            assert {p.one for p in told} | {p.other for p in told} == set(group.members)
            assert all(p.why and p.score >= 0.85 for p in told)


@given(things)
@settings(max_examples=40)
def test_adding_things_one_by_one_ends_where_all_at_once_does(items: list[Mentioned]):
    seen: list[Mentioned] = []
    found = resolve(seen)
    for item in items:
        seen.append(item)
        found = resolve(seen)
    assert found == resolve(items)


def compare_by(compare: Any, found: Collection, one: Any, other: Any) -> Scores:
    """How alike the names of these pairs are, as `compare` says of each thing and those that it is compared with."""
    return Scores.of([judged for row in compare(Comparisons(found, one, other)) for judged in row])


@settings(deadline=None, max_examples=60)
@given(things, st.data())
def test_names_that_are_compared_elsewhere_are_judged_as_they_are_here(items: list[Mentioned], data):
    """What a comparison holds, as it is stored and read again, is all that decides how alike names are."""
    called = data.draw(st.lists(st.tuples(st.integers(0, 8), names), max_size=3))
    items = [replace(item, aliases=tuple(name for at, name in called if at == i)) for i, item in enumerate(items)]
    asked: list[Comparison] = []

    def compare(given: Sequence[Comparison]) -> list[tuple[Judged, ...]]:
        asked.extend(given)
        read = [msgspec.json.decode(msgspec.json.encode(one), type=Comparison) for one in given]
        return [msgspec.json.decode(msgspec.json.encode(one.judge()), type=tuple[Judged, ...]) for one in read]

    found = resolve(items, compare=partial(compare_by, compare))
    assert found == resolve(items)
    assert len(asked) <= found.compared


def test_what_a_name_is_compared_by_stays_where_other_names_come():
    asked: list[list[Comparison]] = []

    def compare(given: Sequence[Comparison]) -> list[tuple[Judged, ...]]:
        asked.append(list(given))
        return [one.judge() for one in given]

    known = [Mentioned(f"t{i}", f"{name} {kind}") for i, name in enumerate(SPELT) for kind in ("Works", "Yard")]
    known = [replace(item, id=f"t{i}") for i, item in enumerate(known)]
    resolve(known, compare=partial(compare_by, compare))
    resolve([*known, Mentioned("u", "Cormorant Colony")], compare=partial(compare_by, compare))
    assert asked[0]
    assert asked[1] == asked[0]


def test_an_unrelated_thing_changes_no_group():
    items = [Mentioned("a", "Apple"), Mentioned("b", "Apple Inc."), Mentioned("c", "IBM"), Mentioned("d", "I.B.M.")]
    assert groups(resolve([*items, Mentioned("z", "Zanzibar")])) == groups(resolve(items)) == [("a", "b"), ("c", "d")]


def test_nothing_is_nothing():
    assert resolve([]) == Resolution((), ())


# ── short names and their rivals ─────────────────────────────────────────────────────────────────────────────────────


def test_a_family_name_is_the_one_person_of_that_name():
    assert groups(resolve(people("Einstein", "Albert Einstein"))) == [("Albert Einstein", "Einstein")]


def test_a_family_name_of_two_persons_is_a_question():
    found = resolve(people("Smith", "John Smith", "Mary Smith"))
    assert groups(found) == []
    assert decision(found, "Smith", "John Smith") == decision(found, "Smith", "Mary Smith") == "ask"
    assert any("so may be Mary Smith" in p.why for p in found.proposals)


def test_the_place_decides_between_two_persons_of_one_family_name():
    john, mary = Mentioned("j", "John Smith", "person", places=("c1",)), Mentioned("m", "Mary Smith", "person")
    smith = Mentioned("s", "Smith", "person", places=("c1",))
    found = resolve([john, replace(mary, places=("c2",)), smith])
    assert groups(found) == [("j", "s")]


def test_an_initial_is_taken_for_the_name_only_where_they_have_something_in_common():
    initial, full = Mentioned("i", "J. Smith", "person"), Mentioned("f", "John Smith", "person")
    assert decision(resolve([initial, full]), "i", "f") == "ask"
    near = [replace(item, neighbours=("acme", "berlin")) for item in (initial, full)]
    assert decision(resolve(near), "i", "f") == "merge"
    assert decision(resolve([*near, Mentioned("p", "Paul Smith", "person")]), "i", "f") == "merge"


def test_an_acronym_of_two_names_is_a_question():
    found = resolve(
        [
            Mentioned("1", "ACM"),
            Mentioned("2", "Association for Computing Machinery"),
            Mentioned("3", "Academy of Country Music"),
        ]
    )
    assert groups(found) == []
    assert decision(found, "1", "2") == decision(found, "1", "3") == "ask"


def test_apple_its_firm_and_its_symbol_are_one_where_the_texts_say_so():
    items = [Mentioned("1", "Apple"), Mentioned("2", "Apple Inc.", aliases=("AAPL",)), Mentioned("3", "AAPL")]
    assert groups(resolve(items)) == [("1", "2", "3")]
    assert groups(resolve([items[0], replace(items[1], aliases=()), items[2]])) == [("1", "2")]


def test_what_the_texts_call_two_things_is_a_question():
    items = [
        Mentioned("1", "John Smith", "person", aliases=("Smith",)),
        Mentioned("2", "Mary Smith", "person", aliases=("Smith",)),
        Mentioned("3", "Smith", "person"),
    ]
    found = resolve(items)
    assert groups(found) == []
    assert decision(found, "1", "3") == decision(found, "2", "3") == "ask"


# ── contexts ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def jordan(id: str, type: str = "", *neighbours: str) -> Mentioned:
    return Mentioned(id, "Jordan", type, neighbours=neighbours)


def test_homonyms_are_told_apart_by_type():
    found = resolve([jordan("1", "country"), jordan("2", "person"), jordan("3", "country")])
    assert groups(found) == [("1", "3")]


def test_homonyms_of_one_type_are_a_question_where_all_that_is_known_of_them_differs():
    country = jordan("1", "", "amman", "petra", "israel", "syria", "iraq")
    player = jordan("2", "", "bulls", "nba", "chicago", "pippen", "jackson")
    found = resolve([country, player])
    assert (groups(found), decision(found, "1", "2")) == ([], "ask")
    assert groups(resolve([country, replace(player, neighbours=("amman", *player.neighbours))])) == [("1", "2")]


def test_descriptions_tell_homonyms_apart_and_bring_others_together():
    near = ("a", "b", "c")
    items = [Mentioned("1", "Jordan", neighbours=near), Mentioned("2", "Jordan", neighbours=("x", "y", "z"))]
    same, other = np.eye(2)[[0, 0]], np.eye(2)
    assert groups(resolve(items, vectors=same)) == [("1", "2")]
    assert groups(resolve(items, vectors=other)) == []


def test_vectors_follow_their_things_when_these_are_sorted():
    items = [Mentioned("b", "J. Smith", "person"), Mentioned("a", "Zebra"), Mentioned("c", "John Smith", "person")]
    assert groups(resolve(items, vectors=np.eye(3)[[0, 1, 0]])) == [("b", "c")]
    assert groups(resolve(items, vectors=np.eye(3)[[0, 0, 1]])) == []


def test_types_of_unknown_kinds_that_differ_are_a_question_unless_the_settings_pair_them():
    items = [Mentioned("1", "GPT-4", "gadget"), Mentioned("2", "GPT-4", "widget")]
    assert decision(resolve(items), "1", "2") == "ask"
    paired = Resolving(cross_types=(("Widget", "gadget"),))
    assert groups(resolve(items, settings=paired)) == [("1", "2")]


# ── lists ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_two_of_a_list_that_names_each_thing_once_are_two():
    items = [Mentioned(str(i), "Editorial", listed="left") for i in range(2)]
    assert groups(resolve(items)) == []
    assert groups(resolve([replace(item, listed="") for item in items])) == [("0", "1")]


def test_the_likeliest_of_the_other_list_is_the_partner():
    left = Mentioned("1", "A Study of River Banks", listed="left")
    right = Mentioned("2", "Some River Banks: Another Study", listed="right")
    loose = [replace(item, listed="") for item in (left, right)]
    assert decision(resolve(loose), "1", "2") == "ask"
    assert groups(resolve([left, right])) == [("1", "2")]
    rival = replace(right, id="3")
    assert groups(resolve([left, right, rival])) == []


# ── rules ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_users_merge_stands_above_names_types_and_numbers():
    items = [
        Mentioned("1", "Big Blue", "nickname"),
        Mentioned("2", "IBM", "company"),
        Mentioned("3", "I.B.M.", "company"),
    ]
    found = resolve(items, rules=[Rule("merge", "1", "2", why="as the press says")])
    assert groups(found) == [("1", "2", "3")]
    assert next(p for p in found.proposals if p.one == "1").why == "as the press says"
    assert groups(resolve(items)) == [("2", "3")]


def test_a_users_rule_that_two_are_two_stands_above_equal_names():
    items = [jordan("1"), jordan("2")]
    found = resolve(items, rules=[Rule("apart", "1", "2")])
    assert groups(found) == []
    assert [(p.decision, p.by) for p in found.proposals] == [("keep", "user")]


def test_of_rules_that_contradict_one_another_the_later_holds_and_the_other_is_reported():
    items = [jordan("1"), jordan("2")]
    apart, merge = Rule("apart", "1", "2"), Rule("merge", "2", "1")
    assert groups(resolve(items, rules=[apart, merge])) == [("1", "2")]
    found = resolve(items, rules=[merge, apart])
    assert groups(found) == []
    assert found.notes == ("the rule that 2 and 1 are one is left out: the rule that 1 and 2 are two counts more.",)


@pytest.mark.parametrize("one", ["1", "3"])
def test_what_is_another_thing_than_one_of_two_stays_apart_from_the_other_however_little_is_asked(one: str):
    names = ("Orla Steel (Velm)", "Orla Steel", "Orla Steel (Brenn)")
    items = [Mentioned(str(i), name, "organization") for i, name in enumerate(names, 1)]
    found = resolve(items, rules=[Rule("merge", one, "2")], settings=Resolving(accept=0.4))
    assert groups(found) == [tuple(sorted((one, "2")))]


def test_a_contradiction_through_a_third_is_found():
    items = [jordan("1"), jordan("2"), jordan("3")]
    found = resolve(items, rules=[Rule("merge", "1", "2"), Rule("apart", "1", "3"), Rule("merge", "2", "3")])
    assert groups(found) == [("2", "3")]
    assert len(found.notes) == 1


def test_the_users_rule_holds_against_a_later_one_of_an_engine():
    found = resolve([jordan("1"), jordan("2")], rules=[Rule("apart", "1", "2"), Rule("merge", "1", "2", by="engine")])
    assert (groups(found), len(found.notes)) == ([], 1)


def test_rules_about_what_is_not_there_are_counted():
    found = resolve([jordan("1")], rules=[Rule("merge", "1", "gone")])
    assert found.notes == ("1 rules name what is not there; they count again when it is.",)


# ── what is said ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_canonical_name_is_the_one_most_often_mentioned():
    items = [
        Mentioned("1", "USA", count=3),
        Mentioned("2", "U.S.A.", count=2),
        Mentioned("3", "United States of America"),
    ]
    assert [g.name for g in resolve(items).groups] == ["USA"]
    tie = [replace(item, count=1) for item in items[:2]]
    assert [g.name for g in resolve(tie).groups] == ["U.S.A."]


def test_a_person_is_called_by_the_full_name_and_the_type_is_one_that_says_something():
    items = [Mentioned("1", "Einstein", "other", count=9), Mentioned("2", "Albert Einstein", "person")]
    group = resolve([replace(items[0], type="person"), items[1]]).groups[0]
    assert (group.name, group.type) == ("Albert Einstein", "person")
    assert [(a.name, a.key, a.by) for a in group.aliases] == [
        ("Einstein", "einstein", "names"),
        ("Albert Einstein", "albert einstein", "names"),
    ]


def test_the_table_of_aliases_says_who_decided_and_why():
    items = [
        Mentioned("1", "Apple", count=5),
        Mentioned("2", "Apple Inc.", aliases=("Apple Computer",)),
        Mentioned("3", "The fruit firm"),
    ]
    group = resolve(items, rules=[Rule("merge", "1", "3", why="the editor said so")]).groups[0]
    told = {alias.name: (alias.member, alias.by, alias.score, alias.why) for alias in group.aliases}
    assert told["Apple"] == ("1", "names", 1.0, "the canonical name")
    assert told["Apple Inc."][:2] == ("2", "names")
    assert told["Apple Computer"] == ("2", "text", 1.0, "the texts call Apple Inc. so")
    assert told["The fruit firm"] == ("3", "user", 1.0, "the editor said so")
    assert {alias.group for alias in group.aliases} == {"1"}


def test_what_is_given_twice_or_does_not_fit_is_an_error():
    with pytest.raises(InputError, match="'1'"):
        resolve([jordan("1"), jordan("1")])
    with pytest.raises(InputError, match="1 vectors for 2"):
        resolve([jordan("1"), jordan("2")], vectors=np.eye(1))
    with pytest.raises(SettingsError, match="accept"):
        Resolving(accept=0.2, reject=0.5)
    with pytest.raises(SettingsError, match="near is 1"):
        Resolving(near=1)


def test_more_names_of_one_thing_than_a_key_may_have_are_still_one():
    items = [Mentioned(f"{i:03}", "Jordan" if i % 2 else "JORDAN") for i in range(80)]
    assert len(resolve(items).groups) == 1


def test_a_set_too_large_to_compare_all_pairs_is_reported():
    items = [Mentioned(f"{i:02}", "Jordan") for i in range(40)]
    found = resolve(items, settings=Resolving(largest=10, rare=8))
    assert found.notes == ("1 sets of more than 10 likely names were compared in part only.",)
    assert found.crowded > 0


def test_the_pairs_that_are_compared_are_bounded_by_the_number_of_names():
    items = [Mentioned(str(i), f"Report number {chr(97 + i % 26)}{i} on rivers and banks") for i in range(200)]
    found = resolve(items, settings=Resolving(near=5))
    assert found.compared <= 5 * 200
    assert found.passed_over > 0


def test_the_names_of_a_person_are_kept_as_names_of_persons_are_read_and_those_of_a_thing_are_not() -> None:
    """So the key by which a name is looked up later has no title, and no order of a register."""
    called = [Mentioned("1", "King Charles", "person", aliases=("Smith, John",))]
    assert [alias.key for alias in make_group(called, []).aliases] == ["charles", "john smith"]
    thing = [replace(called[0], type="organization")]
    assert [alias.key for alias in make_group(thing, []).aliases] == ["king charles", "smith john"]


def test_equal_names_are_compared_each_with_the_next_however_many_they_are() -> None:
    """Also where more of them share their words than bring names together."""
    called = ["Ada Finch"] * 40 + ["Corvik Station"] * 40 + ["Bo Lind"] * 40
    found = prepare_collection([Mentioned(f"{i:03}", name) for i, name in enumerate(called)], Resolving())
    pairs = block_pairs(found).pairs
    wanted = {(i, i + 1) for i in range(119) if called[i] == called[i + 1]}
    assert len(wanted) == 117
    assert wanted <= set(zip(pairs.one.tolist(), pairs.other.tolist(), strict=True))


def test_a_rival_counts_by_the_score_that_it_had_before_rivals_were_looked_at():
    names = ("J. Smith", "John Smith", "James Smith")
    items = [Mentioned(str(i), name, "person") for i, name in enumerate(names)]
    found = prepare_collection(items, Resolving(reject=0.7))
    one, other = np.array([0, 0, 1], np.int32), np.array([1, 2, 2], np.int32)
    kind = next(number for number, name in enumerate(KINDS) if name not in VETOES)
    judged = JudgedPairs(found, one, other, Scores(np.array([0.6, 0.6, 0.65]), np.full(3, kind, np.uint8)))
    assert judged._find_rival(0, 1, [2], False) == "James Smith"
    for score in (0.65, 0.9, 0.95):
        judged._score_again(2, score)
        assert judged.score.tolist() == [0.6, 0.6, score]
        assert judged._find_rival(0, 1, [2], False) == "James Smith"
    sure = JudgedPairs(found, one, other, Scores(np.array([0.6, 0.6, 0.9]), np.full(3, kind, np.uint8)))
    assert sure._find_rival(0, 1, [2], False) == ""
    places = [sure._place(pair) for pair in ((0, 1), (0, 2), (1, 2), (0, 3), (1, 1), (2, 2), (2, 3))]
    assert places == [0, 1, 2, -1, -1, -1, -1]
