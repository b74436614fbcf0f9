"""Laws of intervals and of facts that close others (valid time §4, §7, §8)."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from sensegraph.language.dates.intervals import (
    Assertion,
    Interval,
    holds_during,
    make_interval,
    settle_assertions,
    span_through,
)
from sensegraph.language.dates.moments import (
    are_same_moment,
    first_instant,
    instant_after,
    is_readable,
    moment_after,
    moment_before,
    write_moment,
)

YEARS = st.integers(1900, 2030)
MOMENTS = st.one_of(
    YEARS.map(lambda y: write_moment((y,))),
    st.tuples(YEARS, st.integers(1, 12)).map(write_moment),
    st.tuples(YEARS, st.integers(1, 12), st.integers(1, 28)).map(write_moment),
)
SLOT = ("ceo of", "nordwind")


@st.composite
def chains(draw: st.DrawFn, ended: bool = True) -> list[Assertion]:
    """Assertions of one slot; some without a beginning, with `ended` some with a stated end."""
    rows = draw(st.lists(st.tuples(st.sampled_from("ABCD"), st.one_of(st.just(""), MOMENTS), MOMENTS), max_size=7))
    last = [m if ended and i % 3 == 0 else "" for i, (_, _, m) in enumerate(rows)]
    return [Assertion(f"f{i}", SLOT, who, first, last[i], f"{i}") for i, (who, first, _) in enumerate(rows)]


# ── moments ──


@given(MOMENTS)
def test_what_follows_a_moment_begins_where_it_ends_and_is_followed_back(moment: str) -> None:
    assert first_instant(moment_after(moment)) == instant_after(moment)
    assert moment_before(moment_after(moment)) == moment


def test_precision_and_zones() -> None:
    assert instant_after("2020") == first_instant("2021-01-01")
    assert first_instant("2020-05-01T12:00:00+02:00") == (2020, 5, 1, 10, 0, 0)
    assert first_instant("2020-05-01T12:00") == first_instant("2020-05-01T12:00Z")
    assert are_same_moment("2020", "2020-05-01")
    assert not are_same_moment("2020-04", "2020-05-01")
    assert not are_same_moment("", "2020")
    assert moment_after("2020-12-31") == "2021-01-01"
    assert moment_after("2020-12-31T23:59") == "2021-01-01T00:00"


def test_years_before_christ_and_of_five_digits_are_signed_and_have_no_months() -> None:
    assert moment_after("-0001") == "0001"
    assert moment_before("0001") == "-0001"
    assert moment_after("9999") == "+10000"
    assert first_instant("-0044") < first_instant("0044") < first_instant("+12000")
    assert not is_readable("0000")
    assert not is_readable("-0044-03")
    assert not is_readable("2020-13")
    assert not is_readable("2021-02-29")


# ── intervals ──


def test_an_end_that_is_a_year_is_the_end_of_that_year() -> None:
    until = make_interval("2011", "2018")
    assert until == Interval("2011", "2019")
    assert holds_during(until, span_through("2018-12-31", "2018-12-31")) is True
    assert holds_during(until, span_through("2019-01-01", "2019-01-01")) is False


def test_a_year_contains_its_days_either_way() -> None:
    day = make_interval("2020-05-01", "2020-05-01")
    assert holds_during(day, span_through("2020", "2020")) is True
    assert holds_during(make_interval("2020", "2020"), span_through("2020-05-01", "2020-05-01")) is True


def test_unknown_is_neither_yes_nor_no() -> None:
    moment = span_through("2015", "2015")
    assert holds_during(Interval(), moment) is None
    assert holds_during(make_interval("", "2018"), moment) is None, "it may not have begun"
    assert holds_during(make_interval("", "2014"), moment) is False
    assert holds_during(make_interval("2016", ""), moment) is False
    assert holds_during(make_interval("2011", ""), moment) is True, "nobody says that it ended"


def test_an_end_before_the_beginning_makes_both_unknown_and_is_flagged() -> None:
    assert make_interval("2020", "2018") == Interval(flagged=True)
    assert make_interval("2020-13", "2021") == Interval("", "2022", True)


@given(st.one_of(st.just(""), MOMENTS), st.one_of(st.just(""), MOMENTS))
def test_no_interval_is_negative(first: str, last: str) -> None:
    found = make_interval(first, last)
    assert bool(found.starts or found.ends or found.flagged) == bool(first or last)
    assert not (found.starts and found.ends) or first_instant(found.starts) < first_instant(found.ends)


# ── closing ──


def test_each_holder_ends_where_the_next_begins() -> None:
    found = settle_assertions([
        Assertion("c", SLOT, "Cora", "2018-03"),
        Assertion("a", SLOT, "Anna", "2004"),
        Assertion("b", SLOT, "Bo", "2011"),
    ])  # fmt: skip
    assert [found[x].interval for x in "abc"] == [
        Interval("2004", "2011"),
        Interval("2011", "2018-03"),
        Interval("2018-03"),
    ]
    assert (found["a"].superseded_by, found["a"].reason) == ("b", "functional")
    assert found["c"].superseded_by == ""


def test_two_holders_that_begin_at_once_are_disputed_and_both_stay() -> None:
    found = settle_assertions([
        Assertion("a", SLOT, "Anna", "2011"),
        Assertion("b", SLOT, "Bo", "2011-05"),
        Assertion("c", SLOT, "Cora", "2018"),
    ])  # fmt: skip
    assert found["a"].disputed
    assert found["b"].disputed
    assert not found["c"].disputed
    assert found["a"].interval == Interval("2011", "2018")
    assert found["b"].interval == Interval("2011-05", "2018")


def test_a_stated_end_wins_and_what_overlaps_is_disputed() -> None:
    found = settle_assertions([Assertion("a", SLOT, "Anna", "2011", "2019"), Assertion("b", SLOT, "Bo", "2018")])
    assert found["a"].interval == Interval("2011", "2020")
    assert found["a"].disputed
    assert found["b"].disputed


def test_a_stated_end_in_the_unit_in_which_the_next_begins_is_a_handover() -> None:
    found = settle_assertions([Assertion("a", SLOT, "Anna", "2011", "2018"), Assertion("b", SLOT, "Bo", "2018-03")])
    assert not found["a"].disputed
    assert not found["b"].disputed


def test_an_end_stated_of_a_fact_ends_its_other_mentions() -> None:
    found = settle_assertions([Assertion("a", SLOT, "Anna", "2011"), Assertion("b", SLOT, "Anna", "2011", "2015")])
    assert found["a"].interval == Interval("2011", "2016")
    assert found["a"].reason == "stated"


def test_a_resignation_ends_what_began_before_it() -> None:
    found = settle_assertions([Assertion("a", SLOT, "Anna", "2011"), Assertion("b", SLOT, "Anna", "", "2015-03")])
    assert found["a"].interval == Interval("2011", "2015-04")
    assert found["b"].interval == Interval("2011", "2015-04")


def test_a_resignation_holds_since_what_it_ended_began() -> None:
    slot = ("head of", "N")
    chain = [Assertion("a", slot, "Bo", "2011-03", ""), Assertion("b", slot, "Bo", "", "2018")]
    found = settle_assertions(chain)
    assert found["a"].interval == found["b"].interval == Interval("2011-03", "2019")
    assert holds_during(found["b"].interval, span_through("2002", "2002")) is False


def test_what_has_no_beginning_closes_nothing() -> None:
    found = settle_assertions([Assertion("a", SLOT, "Anna", "2011"), Assertion("b", SLOT, "Bo")])
    assert found["a"].interval == Interval("2011")
    assert found["b"].interval == Interval()


@given(chains(), st.integers())
def test_the_order_in_which_facts_arrive_makes_no_difference(chain: list[Assertion], seed: int) -> None:
    shuffled = Random(seed).sample(chain, len(chain))
    assert settle_assertions(shuffled) == settle_assertions(chain)


@given(chains())
def test_settled_intervals_are_never_negative_and_stated_ends_stand(chain: list[Assertion]) -> None:
    assert settle_assertions(chain).keys() == {a.id for a in chain}
    for a in chain:
        found = settle_assertions(chain)[a.id].interval
        known = {"", *(b.first for b in chain if b.holder == a.holder)}
        assert not (found.starts and found.ends) or first_instant(found.starts) < first_instant(found.ends)
        own = make_interval(a.first, a.last)
        assert not own.ends or (found.ends == own.ends and found.starts in ((own.starts,) if own.starts else known))


@given(chains(ended=False), MOMENTS)
def test_as_of_sets_partition_the_time_line_apart_from_disputed_and_unknown(chain: list[Assertion], at: str) -> None:
    found = settle_assertions(chain)
    day = (
        span_through(at, at)
        if len(at) == 10
        else span_through(f"{at[:7]:0<4}-15" if len(at) == 7 else f"{at}-06-15", "")
    )
    day = (day[0], (*day[0][:3], 23, 59, 59))
    known = [a for a in chain if a.first]
    holding = {a.holder for a in known if holds_during(found[a.id].interval, day)}
    if any(found[a.id].disputed for a in known):
        return
    assert len(holding) <= 1
    assert bool(holding) == any(first_instant(a.first) <= day[0] for a in known)


@given(st.sampled_from("AB"), MOMENTS, MOMENTS)
def test_two_facts_end_as_the_pairwise_rule_says(first: str, one: str, other: str) -> None:
    if are_same_moment(one, other):
        return
    early, late = sorted((one, other), key=first_instant)
    found = settle_assertions([Assertion("x", SLOT, "X", one), Assertion("y", SLOT, "Y", other)])
    older = "x" if early == one else "y"
    assert found[older].interval == Interval(early, late)
