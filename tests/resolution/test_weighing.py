"""Names of several words: weighed by themselves, and by how far a pair is ahead of any other."""

from __future__ import annotations

import math
from collections import Counter
from operator import mul

import pytest

from sensegraph.resolution import Mentioned, Resolving, judge_pair, read_name, resolve
from sensegraph.resolution.comparison.aligned import Lexis, align_names, shared_code
from sensegraph.resolution.comparison.weighing import (
    FEATURES,
    describe_pair,
    list_leads,
    load_weights,
    squash_logit,
    weigh_leads,
    weigh_pair,
)

BOTH, ONLY = math.log1p(1000 / 2), math.log1p(1000)  # the weight of a word that both names have, or one of them


def weighed(one: str, other: str) -> tuple[dict[str, float], float]:
    """The features of two names, and how sure they are by themselves and nothing else."""
    a, b = read_name(one), read_name(other)
    counts = Counter(word for name in (a, b) for word in set(name.core))
    words = Lexis(2, counts)
    features = describe_pair(a, b, align_names(a, b, words), shared_code(a, b, words), words)
    return dict(zip(FEATURES, features, strict=True)), weigh_pair(features)


def test_names_of_several_words_are_weighed_by_what_they_share_and_what_each_has_alone() -> None:
    seen, sure = weighed("Good Lantern Old House Yard 1999", "Old House Good 61208 Yard WX12345")
    four, left, right = 4 * BOTH, ONLY * 2, ONLY * 2
    assert seen == pytest.approx({
        "shared, of all": four / (four + left + right),
        "shared, of the lesser": four / (four + left),
        "shared": math.log1p(four / 7),
        "a code": 0,
        "first word": 0,
        "one within the other": 0,
        "ratio of sorted words": seen["ratio of sorted words"],
        "beginning alike": seen["beginning alike"],
        "alone, the lesser": math.log1p(left / 7),
        "alone, the greater": math.log1p(right / 7),
        "rarest alone, the lesser": 1,
        "rarest alone, the greater": 1,
        "a number": 0,
        "a number alone": 1,  # the year
        "an article alone": 1,
        "a code alone": 1,
        "a code alone in each": 0,
        "few words": 1 / 6,
        "length": 1,
    })  # fmt: skip
    weights = load_weights().pair
    assert sure == pytest.approx(squash_logit(sum(map(mul, weights, seen.values())) + weights[-1]))
    assert 0.6 < seen["ratio of sorted words"] < 0.9 > seen["beginning alike"] > 0.5


def test_a_code_in_common_makes_two_names_surer_and_words_alone_less_sure() -> None:
    assert weighed("Sony Lamp WX12345", "WX12345 Lantern")[1] > weighed("Sony Lamp Oil", "Oil Lantern")[1] + 0.3
    more = "Amber Birch Cedar Dogwood Elder"
    assert weighed(more, f"{more} Fir")[1] > weighed(more, f"{more} Fir Gorse Holly Ivy Juniper")[1]


def test_what_is_said_of_names_that_are_weighed() -> None:
    found = judge_pair(Mentioned("a", "Good Lantern Old House Yard"), Mentioned("b", "Old House Yard Good"))
    assert found.why == "78 % of their words by weight are shared; alone: lantern"
    found = judge_pair(Mentioned("a", "Sony WX12345"), Mentioned("b", "WX12345 Lamp"))
    assert found.why == "31 % of their words by weight are shared; both have wx12345; alone: sony / lamp"


def test_a_pair_is_surer_the_further_it_is_ahead_of_any_other_partner_of_either() -> None:
    for listed in (False, True):
        chances = [weigh_leads(0.6, leads, listed) for leads in ((-2, -2), (-1, 1), (1, 1), (1, 3))]
        assert chances == sorted(chances)
        assert chances[0] < Resolving().reject < Resolving().accept < chances[-1]
        assert weigh_leads(0.6, (1, 3), listed) == weigh_leads(0.6, (3, 1), listed)


def test_the_lead_of_a_pair_is_over_the_likeliest_partner_that_is_not_the_same_thing() -> None:
    scores = {(0, 1): 0.9, (0, 2): 0.5, (1, 2): 0.99}
    logit = math.log(0.9 / 0.1)
    assert list_leads(scores, set())[0, 1] == pytest.approx((logit, logit - math.log(99)))
    assert list_leads({(0, 1): 0.9}, set())[0, 1] == pytest.approx((logit + 1.5, logit + 1.5))  # so little is no rival
    assert list_leads(scores, {(1, 2)})[0, 1] == pytest.approx((logit + 1.5, logit - math.log(99)))
    assert list_leads({(0, 1): 1.0, (0, 2): 0.0}, set()) == {(0, 1): (4, 4), (0, 2): (-4, -4)}


@pytest.mark.parametrize(("count", "places", "listed", "one"), [
    (30, False, False, False),
    (100, False, False, True),
    (100, True, False, False),
    (3, True, True, True),
])  # fmt: skip
def test_no_other_being_likelier_counts_in_lists_and_long_heaps_but_not_in_texts(
    count: int, places: bool, listed: bool, one: bool
) -> None:
    """In texts most names are the only one of their thing; whoever lists things gives each a name."""
    names = [
        "Final Cut Lantern Studio",
        "Apple Final Cut Lantern",
        *(f"{w}berg {w}ville" for w in map(str, range(count))),
    ]
    items = [
        Mentioned(str(i), name, places=(f"c{i}",) * places, listed=("left", "right")[i % 2] * listed)
        for i, name in enumerate(names[:count])
    ]
    found = resolve(items)
    assert any({"0", "1"} <= set(group.members) for group in found.groups) == one
