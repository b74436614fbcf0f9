"""Check digits, on numbers that were published as examples, and on all that differ from them in one digit (R28)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.personal import identities
from sensegraph.personal.identities import TABLE


def test_a_changed_digit_is_seen() -> None:
    for check, number in ((identities.check_luhn, "4539578763621486"), (identities.check_verhoeff, "234123412346")):
        assert check(number)
        for place in range(len(number)):
            for other in set("0123456789") - {number[place]}:
                assert not check(number[:place] + other + number[place + 1 :])


def test_neighbours_that_changed_places_are_seen_by_verhoeff() -> None:
    number = "234123412346"
    swaps = [number[:i] + number[i + 1] + number[i] + number[i + 2 :] for i in range(11) if number[i] != number[i + 1]]
    assert swaps
    assert not any(map(identities.check_verhoeff, swaps))


@given(st.text("0123456789", min_size=1, max_size=18))
def test_every_number_has_one_digit_that_completes_it(number: str) -> None:
    for check in (identities.check_luhn, identities.check_verhoeff, identities.check_mod_11_10):
        assert sum(check(number + d) for d in "0123456789") == 1


@given(st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=18, max_size=18))
def test_an_account_number_has_right_check_digits_or_is_none(account: str) -> None:
    check = 98 - identities.remainder_97(account + "DE00")
    assert identities.check_iban(f"DE{check:02}{account}")
    assert not identities.check_iban(f"DE{(check + 1) % 97:02}{account}")
    assert not identities.check_iban(f"XX{check:02}{account}")
    assert not identities.check_iban(f"DE{check:02}{account[1:]}")


@pytest.mark.parametrize("number", ["4111111111111111", "5500000000000004", "378282246310005", "6011000000000004"])
def test_cards_have_an_issuer_and_a_check_digit(number: str) -> None:
    assert identities.check_card(number)
    assert not identities.check_card("9" + number[1:])
    assert not identities.check_card(number[:-1] + str((int(number[-1]) + 1) % 10))


def test_days_that_do_not_exist_are_no_dates() -> None:
    assert identities.is_date(0, 2, 29)
    assert identities.is_date(85, 12, 31)
    assert not identities.is_date(85, 13, 1)
    assert not identities.is_date(85, 2, 30)
    assert identities.is_two_digit_date("310185", "dmy")
    assert not identities.is_two_digit_date("310185", "mdy")


def test_every_kind_of_number_is_found_only_as_a_word_of_its_own() -> None:
    for one in TABLE:
        assert re.fullmatch(r"[A-Z]{2}|--", one.country)
        assert one.pattern.search("") is None


def test_every_sign_of_an_italian_code_counts_as_published() -> None:
    """As the decree of 23 December 1976 has it: by a table in odd places, by its own number in even ones."""
    odd = dict(zip("0123456789", (1, 0, 5, 7, 9, 13, 15, 17, 19, 21), strict=True)) | dict(
        zip(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
            (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23),
            strict=True,
        )
    )
    check = identities.CHECKS["it"]
    assert check("RSSMRA85T10A562S")
    for sign, counts in odd.items():
        own = int(sign) if sign.isdigit() else ord(sign) - 65
        rest = 7 * odd["0"]
        assert check(sign + "0" * 14 + chr(65 + (counts + rest) % 26)), sign
        assert check("0" + sign + "0" * 13 + chr(65 + (odd["0"] + own + rest) % 26)), sign
        assert not check("0" + sign + "0" * 13 + chr(65 + (odd["0"] + own + rest + 1) % 26)), sign


@pytest.mark.parametrize(
    ("country", "right", "wrong"),
    [
        ("br", "11144477735", ["11144477745", "11144477736", "11111111111", "00000000000"]),
        ("gb_health", "9434765919", ["9434765918", "0000000000"]),
        ("us", "123456780", ["000456789", "666456789", "900456789", "123006789", "123450000", "123456789"]),
        ("us_taxpayer", "900700000", ["900490000", "900660000", "900690000", "900890000", "900930000"]),
        ("nl", "111222333", ["000000000", "111222334"]),
        ("es", "12345678Z", ["12345678A"]),
        ("es", "X1234567L", ["Y1234567L"]),
        ("de_tax", "86095742719", ["06095742719", "86095742718", "12345678903"]),
        ("digit", "A1", ["AB"]),
        ("fr", "255081416802538", ["255081416802539"]),
        ("tr", "10000000146", ["10000000147", "00000000000"]),
        ("za", "8001015009087", ["8001015009088", "8013015009084"]),
        ("cn", "11010519491231002X", ["110105194912310021", "11010519491331002X"]),
    ],
)
def test_published_numbers_are_right_and_their_neighbours_are_not(country: str, right: str, wrong: list[str]) -> None:
    assert identities.CHECKS[country](right)
    assert [n for n in wrong if identities.CHECKS[country](n)] == []
