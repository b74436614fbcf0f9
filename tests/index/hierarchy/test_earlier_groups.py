"""What a new group succeeds: the earlier one that most of its members come from."""

from __future__ import annotations

from sensegraph.index.hierarchy.earlier_groups import EarlierGroups

EARLIER = (
    (0, ("a", "b", "c"), ("one",)),
    (0, ("c", "d", "e"), ("two", "deux")),
    (1, ("one", "two"), ("top",)),
)


def test_a_node_was_in_the_first_group_that_lists_it() -> None:
    groups = EarlierGroups(EARLIER)
    assert groups.labels(0, ["e", "c", "new", "a"]).tolist() == [1, 0, -1, 0]
    assert groups.labels(1, ["two"]).tolist() == [0]
    assert groups.labels(0, ["new"]).tolist() == []
    assert groups.labels(2, ["a"]).tolist() == []


def test_what_is_made_of_most_of_a_group_succeeds_it_one_by_one() -> None:
    groups = EarlierGroups(EARLIER)
    groups.pass_on(0, ("d", "e", "a", "new"), ("two", "three", "four"))
    assert groups.succeeds == {"three": "deux"}  # `two` is there still, and nothing is left for `four`
    groups.pass_on(0, ("a", "e"), ("five",))  # as many of each: the first
    assert groups.succeeds == {"three": "deux", "five": "one"}
    groups.pass_on(0, ("new",), ("six",))
    assert groups.succeeds == {"three": "deux", "five": "one"}
    assert groups.labels(1, ["five", "two", "six"]).tolist() == [0, 0, -1]
