"""What is found to be personal in a text, and how settings that differ are told: worked examples."""

from __future__ import annotations

import pytest

from sensegraph.personal.finding import build_finder, find_named_people, find_possible_names, fold_name
from sensegraph.personal.identities import check_card, check_iban, check_luhn, is_date
from sensegraph.personal.personal_settings import PersonalSettings, describe_changes, write_settings

Given = dict[str, tuple[str, ...]]
PLAIN = build_finder(PersonalSettings())
ABROAD = build_finder(PersonalSettings(regions=("DE", "FR")))


def find(text: str, abroad: bool) -> list[tuple[str, str, str]]:
    return [(s.kind, text[s.start : s.end], s.value) for s in (ABROAD if abroad else PLAIN).find(text)]


def list_people(text: str) -> list[str]:
    return [text[n.start : n.end] for n in find_named_people(text)]


def list_possible(text: str) -> list[str]:
    return [text[n.start : n.end] for n in find_possible_names(text)]


def change(one: Given, other: Given) -> str:
    then, now = (write_settings(PersonalSettings(**given), lambda plain: plain) for given in (one, other))  # type: ignore[arg-type]
    return describe_changes(then, now)


@pytest.mark.parametrize(
    ("text", "abroad", "expected"),
    [
        ("Call +49 30 901820 now", False, [("phone", "+49 30 901820", "+4930901820")]),
        ("Call 030 901820 now", False, [("phone", "030 901820", "+4930901820")]),
        ("Call 030 901820 now", True, [("phone", "030 901820", "+4930901820")]),
        ("Tel. 030 901820", False, [("phone", "030 901820", "+4930901820")]),
        ("Tel. 030 901820", True, [("phone", "030 901820", "+4930901820")]),
        ("phone: 020 7946 0018 12", False, [("phone", "020 7946 0018", "+442079460018")]),
        ("020 7946 0018 and more", False, [("phone", "020 7946 0018", "+442079460018")]),
        ("+1 (212) 555-0187 x", False, [("phone", "+1 (212) 555-0187", "+12125550187")]),
        ("+1 (212) 555-0187 x", True, [("phone", "+1 (212) 555-0187", "+12125550187")]),
        ("Ring (212) 555-0187.", False, [("phone", "(212) 555-0187", "+12125550187")]),
        ("Ring (212) 555-0187.", True, []),
        ("+49 30 901820 2020-05-03", False, [("phone", "+49 30 901820", "+4930901820")]),
        ("tel 030 901820 17 Main", False, [("phone", "030 901820 17", "+443090182017")]),
        ("tel 030 901820 17 Main", True, [("phone", "030 901820 17", "+493090182017")]),
        ("Order 12345678", False, []),
        ("fax 0049 30 901820", False, [("phone", "0049 30 901820", "+4930901820")]),
        ("mail a.b@example.org.", False, [("email", "a.b@example.org", "a.b@example.org")]),
        ("a [at] b [dot] org", False, [("email", "a [at] b [dot] org", "a@b.org")]),
        ("https://x.org/~ann", False, [("url", "https://x.org/~ann", "https://x.org/~ann")]),
        ("https://x.com/ann", False, [("url", "https://x.com/ann", "https://x.com/ann")]),
        ("https://x.org/page or x.net/ann", False, []),
        ("twitter.com/ann", False, [("url", "twitter.com/ann", "twitter.com/ann")]),
        ("10.0.0.1 and 203.0.113.77", False, [("ip", "10.0.0.1", "10.0.0.1"), ("ip", "203.0.113.77", "203.0.113.77")]),
        ("1.2.3.4.5", False, []),
        ("version 1.2.3.4", False, []),
        ("2001:db8::1", False, [("ip", "2001:db8::1", "2001:db8::1")]),
        ("127.0.0.1", False, []),
        ("DE89 3704 0044 0532 0130 00", False, [("iban", "DE89 3704 0044 0532 0130 00", "DE89370400440532013000")]),
        ("DE88 3704 0044 0532 0130 00", False, []),
        ("4111 1111 1111 1111", False, [("card", "4111 1111 1111 1111", "4111111111111111")]),
        ("4111 1111 1111 1112", False, []),
        ("born on 3 May 1980 in Oslo", False, [("birthday", "3 May 1980", "3 may 1980")]),
        ("3 May 1980", False, []),
        ("DOB: 1980-05-03", False, [("birthday", "1980-05-03", "1980-05-03")]),
        (
            "Musterstraße 12a, 12345 Berlin",
            False,
            [("address", "Musterstraße 12a, 12345 Berlin", "musterstrasse 12a, 12345 berlin")],
        ),
        (
            "221B Baker Street, London NW1 6XE",
            False,
            [("address", "221B Baker Street, London NW1 6XE", "221b baker street, london nw1 6xe")],
        ),
        ("1994 Silver Circle", False, []),
        ("lives at 1994 Silver Circle", False, [("address", "1994 Silver Circle", "1994 silver circle")]),
        ("12 Main Street", False, [("address", "12 Main Street", "12 main street")]),
        ("In 1999 Main Street was wide", False, []),
        ("5 people on Main Street", False, []),
        ("P.O. Box 12, Ostby", False, [("address", "P.O. Box 12, Ostby", "p.o. box 12, ostby")]),
        (
            "call 212-555-0187 or 212-555-0199",
            False,
            [("phone", "212-555-0187", "+12125550187"), ("phone", "212-555-0199", "+12125550199")],
        ),
        ("call 212-555-0187 or 212-555-0199", True, []),
        ("SSN 078-05-1120", False, [("identity", "078-05-1120", "078051120")]),
        ("Phone 0301234567", False, [("phone", "0301234567", "+49301234567")]),
        ("Phone 0301234567", True, [("phone", "0301234567", "+49301234567")]),
        ("+33 1 23 45 67 89", False, [("phone", "+33 1 23 45 67 89", "+33123456789")]),
        ("+33 1 23 45 67 89", True, [("phone", "+33 1 23 45 67 89", "+33123456789")]),
        ("01 23 45 67 89", False, [("phone", "01 23 45 67 89", "+33123456789")]),
        ("01 23 45 67 89", True, [("phone", "01 23 45 67 89", "+33123456789")]),
    ],
)
def test_personal_data_is_found(text: str, abroad: bool, expected: list[tuple[object, ...]]) -> None:
    assert find(text, abroad) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. John Smith came.", ["John Smith"]),
        ("Dr. Ann Lee and Tom.", ["Ann Lee"]),
        ("Ann Lee said so.", []),
        ("The Bell Rock", []),
        ("Frau Müller kam", ["Müller"]),
        ("Dear Tom,", []),
        ("Yours\nAda Finch", []),
    ],
)
def test_people_are_named(text: str, expected: list[str]) -> None:
    assert list_people(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann Lee said so.", ["Ann", "Lee", "Ann Lee"]),
        ("The Bell Rock is old.", ["The", "Bell", "Rock", "The Bell", "Bell Rock", "The Bell Rock"]),
        ("ann lee", ["ann", "lee", "ann lee"]),
        ("Tom", ["Tom"]),
        ("Ada Mary Finch of Oslo", ["Ada", "Mary", "Finch", "Oslo", "Ada Mary", "Mary Finch", "Ada Mary Finch"]),
    ],
)
def test_names_may_stand_in_capitals(text: str, expected: list[str]) -> None:
    assert list_possible(text) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Dr. Ann Lee", "dr. ann lee"),
        ("ANN  LEE", "ann lee"),
        ("Ann Lee's", "ann lee's"),
        ("Mr Smith", "mr smith"),
    ],
)
def test_names_are_folded(name: str, expected: str) -> None:
    assert fold_name(name) == expected


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("4111111111111111", True),
        ("4111111111111112", False),
        ("378282246310005", True),
        ("1234567890123452", False),
    ],
)
def test_cards_have_a_check_digit(number: str, expected: bool) -> None:
    assert check_card(number) == expected


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("79927398713", True),
        ("79927398710", False),
        ("0", True),
        ("18", True),
    ],
)
def test_numbers_have_a_check_digit(number: str, expected: bool) -> None:
    assert check_luhn(number) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DE89370400440532013000", True),
        ("DE88370400440532013000", False),
        ("GB82WEST12345698765432", True),
    ],
)
def test_ibans_have_a_remainder(text: str, expected: bool) -> None:
    assert check_iban(text) == expected


@pytest.mark.parametrize(
    ("year", "month", "day", "expected"),
    [
        (2020, 2, 29, True),
        (2021, 2, 29, False),
        (1900, 2, 29, False),
        (2000, 2, 29, True),
        (99, 2, 29, False),
        (100, 1, 1, True),
        (2020, 13, 1, False),
        (2020, 0, 1, False),
        (2020, 1, 0, False),
        (2020, 1, 31, True),
        (2020, 4, 31, False),
    ],
)
def test_days_are_those_of_the_calendar(year: int, month: int, day: int, expected: bool) -> None:
    assert is_date(year, month, day) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({}, {}, ""),
        ({"kinds": ("email",)}, {"kinds": ("email", "phone")}, "kinds (now also phone)"),
        ({"kinds": ("email", "phone")}, {"kinds": ("phone", "email")}, "kinds (in another order)"),
        ({"kinds": ("email",)}, {"kinds": ("phone",)}, "kinds (then also email, now also phone)"),
        ({"regions": ("DE",)}, {"regions": ("FR",)}, "regions (then also DE, now also FR)"),
        ({"allow": ("x",)}, {"allow": ("y",)}, "allow"),
    ],
)
def test_settings_that_differ_are_told(one: Given, other: Given, expected: str) -> None:
    assert change(one, other) == expected
