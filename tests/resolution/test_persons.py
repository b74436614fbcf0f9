"""Which words of a person's name are the family's."""

from __future__ import annotations

import pytest

from sensegraph.resolution.comparison.likeness import _judge_numbers, _judge_persons, _read_person
from sensegraph.resolution.comparison.name_reading import read_name


@pytest.mark.parametrize(
    ("name", "given", "family"),
    [
        ("Vincent van Gogh", ("vincent",), "van gogh"),
        ("Van Morrison", ("van",), "morrison"),
        ("Ludwig van der Rohe", ("ludwig",), "van der rohe"),
        ("Ann Lee", ("ann",), "lee"),
        ("Ann Mary Lee", ("ann", "mary"), "lee"),
        ("Lee", (), "lee"),
        ("John Adam Smith Jr.", ("john", "adam"), "smith"),
        ("Smith Jr.", (), "smith"),
    ],
)
def test_a_particle_belongs_to_the_family_unless_nothing_is_left(
    name: str, given: tuple[str, ...], family: str
) -> None:
    found = _read_person(read_name(name, person=True))
    assert (found.given, found.family) == (given, family)


def test_a_name_that_comes_twice_is_no_further_name() -> None:
    def alike(one: str, other: str) -> float:
        return _judge_persons(*(_read_person(read_name(name, person=True)) for name in (one, other))).score

    assert alike("Ann Mary Lee", "Ann Mary") == alike("Ann Mary", "Ann Mary Lee") == 0.6
    assert alike("Ann Lee Ann", "Ann Lee") == alike("Ann Lee", "Ann Lee Ann") == 0.0
    assert alike("Lee Ann", "Ann Lee") == 0.7


def test_names_with_other_numbers_are_kept_apart_and_it_is_said_which() -> None:
    one, other = (read_name(name) for name in ("Pump 2", "Pump"))
    assert _judge_numbers(one, other).why == "different numbers: 2 and none"
    assert _judge_numbers(other, one).why == "different numbers: none and 2"
