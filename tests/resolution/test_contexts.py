"""What two things have in common: shared, none, strange, or unknown where nothing is known of one of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sensegraph.resolution import Mentioned, Resolving, resolve
from sensegraph.resolution.comparison.scoring import prepare_collection

HALF = (0.5, math.sqrt(0.75))  # its cosine with (1, 0) is 0.5: neither near nor far
NEAR, FAR = (0.8, 0.6), (0.1, math.sqrt(0.99))


def known(id: str, neighbours: str = "", places: str = "") -> Mentioned:
    return Mentioned(id, f"Name {id}", neighbours=tuple(neighbours), places=tuple(places))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (known("1"), known("2"), "unknown"),
        (known("1", "ab"), known("2"), "unknown"),  # what is known of one alone tells nothing of both
        (known("1", "", "c"), known("2"), "unknown"),
        (known("1", "ab", "c"), known("2", "", ""), "unknown"),
        (known("1", "ab"), known("2", "xy"), "none"),
        (known("1", "", "c"), known("2", "", "d"), "none"),
        (known("1", "ab"), known("2", "bx"), "shared"),
        (known("1", "", "cd"), known("2", "", "de"), "shared"),
        (known("1", "2"), known("2"), "shared"),  # one is the other's neighbour
        (known("1"), known("2", "1"), "shared"),
        (known("1", "abcde"), known("2", "vwxyz"), "strange"),
        (known("1", "abcd"), known("2", "vwxyz"), "none"),
        (known("1", "abcdefgh"), known("2", "wxyz"), "none"),  # much must be known of both
        (known("1", "abcde", "c"), known("2", "vwxyz", "c"), "shared"),
    ],
)
def test_what_two_things_have_in_common_by_places_and_neighbours(one: Mentioned, other: Mentioned, expected: str):
    found = prepare_collection([one, other], Resolving())
    assert found.context(0, 1) == found.context(1, 0) == expected


@pytest.mark.parametrize(
    ("one", "other", "vector", "expected"),
    [
        ("", "", NEAR, "shared"),
        ("", "", HALF, "none"),
        ("", "", FAR, "none"),
        ("", "", (0.0, 0.0), "unknown"),  # a description without a vector is none
        ("abc", "xyz", FAR, "strange"),
        ("ab", "xyz", FAR, "none"),
        ("abc", "xyz", HALF, "none"),
        ("abc", "xyz", (0.0, 0.0), "none"),
        ("abcde", "vwxyz", (0.0, 0.0), "strange"),
    ],
)
def test_what_two_things_have_in_common_by_their_descriptions(
    one: str, other: str, vector: tuple[float, float], expected: str
):
    items = [known("1", one), known("2", other)]
    found = prepare_collection(items, Resolving(), np.array([(1.0, 0.0), vector]))
    assert found.context(0, 1) == found.context(1, 0) == expected


@pytest.mark.parametrize(("others", "expected"), [(0, "shared"), (2, "shared"), (3, "none"), (30, "none")])
def test_a_neighbour_counts_the_less_the_more_have_it(others: int, expected: str):
    """Both have m, which n have, and one of their own: m is (1/n) / (1/n + 2) of it all, 1/9 at n = 4, 1/11 at 5."""
    items = [known("1", "am"), known("2", "bm"), *(known(f"o{i:02}", "m") for i in range(others))]
    assert prepare_collection(items, Resolving()).context(0, 1) == expected


def test_a_family_name_is_a_question_where_both_are_known_and_share_nothing():
    def decided(short: str, long: str) -> str:
        items = [
            Mentioned("1", "Einstein", "person", neighbours=tuple(short)),
            Mentioned("2", "Albert Einstein", "person", neighbours=tuple(long)),
        ]
        return resolve(items).proposals[0].decision

    assert (decided("", ""), decided("ab", ""), decided("", "xy")) == ("merge", "merge", "merge")
    assert decided("ab", "xy") == "ask"
    assert decided("ab", "bx") == "merge"


LAST = ("Hesperus", "Bark Hesperus")  # the one is the last word of the other: 0.4 by the names alone


@pytest.mark.parametrize(
    ("one", "other", "score"),
    [("", "", 0.4), ("ab", "xy", 0.4), ("ab", "bx", 0.7), ("abcde", "vwxyz", 0.4)],
)
def test_the_last_word_of_a_name_is_likelier_the_same_where_they_have_something_in_common(
    one: str, other: str, score: float
):
    items = [Mentioned(name, name, neighbours=tuple(near)) for name, near in zip(LAST, (one, other), strict=True)]
    found = prepare_collection(items, Resolving()).judge(0, 1)
    assert (found.kind, found.score) == ("last", score)
    assert ("they have things in common" in found.why) == (score == 0.7)


def test_what_differs_in_all_that_is_known_is_at_most_a_question():
    def judged(one: str, other: str) -> float:
        items = [Mentioned(i, "Jordan", neighbours=tuple(near)) for i, near in (("1", one), ("2", other))]
        return prepare_collection(items, Resolving()).judge(0, 1).score

    assert judged("abcde", "vwxyz") == 0.6
    assert judged("abcde", "vwxye") == judged("abcd", "vwxy") == judged("", "") == 0.99
