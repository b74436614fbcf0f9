"""Who holds what only one can hold, as sentences say it (valid time §3.4)."""

from __future__ import annotations

import pytest

from sensegraph.language.dates.intervals import Held, held_in

TYPES = ("CEO of", "capital of", "toll of")
KNOWN = {"nordwind": "N", "norland": "L", "altstad": "A", "ostby": "O", "bo lind": "B", "anna berg": "X", "cora dahl": "C"}  # fmt: skip # noqa: E501


@pytest.mark.parametrize(
    ("sentence", "type", "thing", "holder"),
    [
        ("In 2011 Anna Berg became CEO of Nordwind.", "CEO of", "N", "X"),
        ("Anna Berg resigned as CEO of Nordwind in 2018.", "CEO of", "N", "X"),
        ("Nordwind appointed Bo Lind CEO in 2018.", "CEO of", "N", "B"),
        ("Nordwind's CEO Cora Dahl spoke in 2020.", "CEO of", "N", "C"),
        ("Nordwind's new CEO is Cora Dahl.", "CEO of", "N", "C"),
        ("Anna Berg was succeeded by Bo Lind as CEO of Nordwind in 2018.", "CEO of", "N", "B"),
        ("Bo Lind succeeded Anna Berg as CEO of Nordwind in 2018.", "CEO of", "N", "B"),
        ("Altstad was the capital of Norland until 2009.", "capital of", "L", "A"),
        ("The capital of Norland is Altstad since 1950.", "capital of", "L", "A"),
        ("In 2009 Norland moved its capital from Altstad to Ostby.", "capital of", "L", "O"),
        ("The toll of the Arn Bridge was 4 crowns in 2012.", "toll of", "arn bridge", "4 crowns"),
        ("Since 2012 the toll of the Arn Bridge is 4 crowns.", "toll of", "arn bridge", "4 crowns"),
    ],
)
def test_a_sentence_names_the_holder_and_the_thing(sentence: str, type: str, thing: str, holder: str) -> None:
    assert held_in(sentence, TYPES, KNOWN) == Held(type, thing, holder)


@pytest.mark.parametrize(
    "sentence",
    ["She became CEO in 2011.", "The CEO spoke of Nordwind.", "Capital flows to Norland.", "Nobody is here."],
)
def test_what_names_no_holder_or_no_thing_is_left(sentence: str) -> None:
    assert held_in(sentence, TYPES, KNOWN) is None
