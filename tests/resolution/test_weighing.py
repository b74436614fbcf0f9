"""Names of several words: weighed by themselves, and by how far a pair is ahead of any other."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections import Counter
from operator import mul
from pathlib import Path

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


BENCH = Path(__file__).resolve().parents[2] / "bench"


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


@pytest.mark.parametrize(("count", "places", "other", "one"), [
    (100, False, "Quartz Bay", True),
    (30, False, "Quartz Bay", False),
    (100, True, "Quartz Bay", False),
    (100, False, "Lantern (1999)", False),
])  # fmt: skip
def test_in_a_long_heap_what_only_one_says_beside_a_name_parts_it_only_where_another_says_so_too(
    count: int, places: bool, other: str, one: bool
) -> None:
    names = ["Lantern (1950)", "Lantern", other, *(f"{n}berg {n}ville" for n in range(count))]
    items = [Mentioned(str(i), name, places=(f"c{i}",) * places) for i, name in enumerate(names[:count])]
    assert any({"0", "1"} <= set(group.members) for group in resolve(items).groups) == one


def test_numbers_of_two_shops_say_nothing_against_one_another_and_versions_do() -> None:
    name = "Old Lantern Studio Deluxe Box"
    sure = {
        (one, other): judge_pair(Mentioned("a", f"{name} {one}"), Mentioned("b", f"{name} {other}")).veto
        for one, other in (
            ("6", "7"), ("6", ""), ("61208", ""), ("61208", "6 2"), ("61208", "61209"),
            ("WX12345", "WX12399"), ("WX12345", "123456789"), ("2006", "2007"),
        )
    }  # fmt: skip
    told = [pair for pair, veto in sure.items() if not veto]
    assert told == [("6", ""), ("61208", ""), ("61208", "6 2"), ("WX12345", "123456789")]


def test_years_and_words_in_parentheses_are_compared_each_with_their_like() -> None:
    def veto(one: str, other: str) -> bool:
        return judge_pair(Mentioned("a", f"Lantern ({one})"), Mentioned("b", f"Lantern ({other})")).veto

    assert veto("1950", "1980")
    assert veto("river", "country")
    assert not veto("1950", "river")
    assert not veto("1950", "1950 remake")


def test_every_feature_has_a_weight() -> None:
    weights = load_weights()
    assert len(weights.pair) == len(FEATURES) + 1
    assert weights.pair[FEATURES.index("a code")] > 3  # codes decide
    assert min(weights.heap[1:3] + weights.lists[1:3]) > 0


def test_made_lists_are_the_same_for_one_seed_and_hold_matches_that_are_written_otherwise() -> None:
    spec = importlib.util.spec_from_file_location("matching_sets", BENCH / "matching_sets.py")
    assert spec is not None
    assert spec.loader is not None
    sets = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = sets
    spec.loader.exec_module(sets)
    for kind in sets.KINDS:
        made = sets.make_set(kind)
        assert made == sets.make_set(kind) != sets.make_set(kind, seed=2)
        differ = sum(made.left[a].casefold() != made.right[b].casefold() for a, b in made.matches)
        assert len(made.matches) > 400
        assert differ > 0.3 * len(made.matches)
        assert len({a for a, _ in made.matches}) < len(made.left)  # some have no partner
