"""Groups followed from one partition to the next (Greene et al. 2010)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sensegraph.algorithms.trees import match_groups

GROUPS = st.lists(st.frozensets(st.sampled_from("abcdefgh"), min_size=1), max_size=6)


def sets(*words: str) -> list[frozenset[str]]:
    return [frozenset(w) for w in words]


def test_each_group_goes_to_the_one_that_it_overlaps_most_and_no_two_to_one() -> None:
    assert match_groups(sets("abcd", "ef"), sets("efg", "abc")).successor == ((0, 1), (1, 0))
    assert match_groups(sets("abc", "abd"), sets("abcd")).successor == ((0, 0),)


def test_groups_that_share_less_than_three_tenths_are_strangers() -> None:
    assert match_groups(sets("abcd"), sets("abefgh")).successor == ()
    assert match_groups(sets("abcd"), sets("abefg")).successor == ()  # 2 of 7
    assert match_groups(sets("abcd"), sets("abef")).successor == ((0, 0),)  # 2 of 6


def test_a_group_that_splits_has_a_successor_and_parts() -> None:
    found = match_groups(sets("abcdef"), sets("abcd", "efxyz", "q"))
    assert (found.successor, found.parts, found.sources) == (((0, 0),), ((0, 1),), ())


def test_groups_that_merge_have_one_heir_and_sources() -> None:
    found = match_groups(sets("abcd", "ef", "q"), sets("abcdef"))
    assert (found.successor, found.parts, found.sources) == (((0, 0),), (), ((1, 0),))


def test_a_part_holds_more_than_half_of_what_is_known_and_a_source_gives_more_than_half_of_itself() -> None:
    old = sets("abcdef", "xymnopqrs")
    assert match_groups(old, sets("abcd", "efx")).parts == ((0, 1),)  # of e, f and x two come from the first
    assert match_groups(old, sets("abcd", "efxy")).parts == ()
    assert match_groups(sets("abcd", "efx"), sets("abcdef")).sources == ((1, 0),)
    assert match_groups(sets("abcd", "efxy"), sets("abcdef")).sources == ()


def test_the_same_depth_wins_and_depths_do_not_split_into_one_another() -> None:
    found = match_groups(sets("abc", "abc"), sets("abc", "abc"), ([1, 0], [0, 1]))
    assert found.successor == ((0, 1), (1, 0))
    found = match_groups(sets("abcdef"), sets("abcd", "ef"), ([0], [0, 1]))
    assert (found.successor, found.parts) == (((0, 0),), ())


@given(GROUPS, GROUPS)
def test_matching_is_one_to_one_and_only_what_has_no_partner_is_a_part_or_a_source(
    old: list[frozenset[str]], new: list[frozenset[str]]
) -> None:
    found = match_groups(old, new)
    after, before = [a for a, _ in found.successor], [b for _, b in found.successor]
    assert len(set(after)) == len(after)
    assert len(set(before)) == len(before)
    assert not {b for _, b in found.parts} & set(before)
    assert not {a for a, _ in found.sources} & set(after)
    assert match_groups(old, old).successor == tuple((i, old.index(g)) for i, g in enumerate(old)) or len(
        set(old)
    ) < len(old)


@given(GROUPS, GROUPS, st.lists(st.integers(0, 2), min_size=12, max_size=12))
def test_groups_that_stay_are_matched_as_if_all_pairs_were_compared(
    old: list[frozenset[str]], other: list[frozenset[str]], depths: list[int]
) -> None:
    new = [*other[: len(other) // 2], *old[: 6 - len(other) // 2]]
    deep = (depths[: len(old)], depths[6 : 6 + len(new)])
    alike = sorted(
        (-len(x & y) / len(x | y), abs(deep[0][a] - deep[1][b]), a, b)
        for a, x in enumerate(old)
        for b, y in enumerate(new)
        if 10 * len(x & y) >= 3 * len(x | y)
    )
    after: dict[int, int] = {}
    for *_, a, b in alike:
        if a not in after and b not in after.values():
            after[a] = b
    assert match_groups(old, new, deep).successor == tuple(sorted(after.items()))
