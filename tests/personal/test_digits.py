"""Check digits, on numbers that were published as examples, and on all that differ from them in one digit (R28)."""

from __future__ import annotations

import re
from itertools import product
from random import Random

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


@pytest.mark.parametrize(
    ("number", "sure"),
    [("L898902C3", True), ("AB1234567", True), ("ABCDEFG12", True), ("A12345678", False), ("ABCDEFGH1", False)],
)
def test_a_document_is_known_by_its_check_digit_where_it_has_two_letters_and_two_digits(
    number: str, sure: bool
) -> None:
    """The first is the specimen of ICAO 9303, whose check digit is 6."""
    fitting = [digit for digit in "0123456789" if identities.CHECKS["icao"](number + digit)]
    assert len(fitting) == sure
    assert number != "L898902C3" or fitting == ["6"]


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
        ("br", "00002220202", []),
        ("br", "11144477735", ["11144477745", "11144477736", "11111111111", "00000000000"]),
        ("gb_health", "0000010111", []),
        ("gb_health", "9434765919", ["9434765918", "0000000000"]),
        ("us", "123456780", ["000456789", "666456789", "900456789", "123006789", "123450000", "123456789"]),
        ("us_taxpayer", "900700000", ["900490000", "900660000", "900690000", "900890000", "900930000"]),
        ("nl", "111222333", ["000000000", "111222334"]),
        ("es", "12345678Z", ["12345678A"]),
        ("es", "X1234567L", ["Y1234567L"]),
        ("de_tax", "41905183727", ["23016987542", "12785618032", "67152150810", "54090002610"]),
        ("de_tax", "70690514826", []),
        ("de_tax", "60332734954", []),
        ("de_tax", "86095742719", ["06095742719", "86095742718", "12345678903"]),
        ("digit", "A1", ["AB"]),
        ("gb_driver", "MORGA657054SM9IJ", ["9ORGA657054SM9IJ"]),
        ("gb_driver", "MORGA601014SM9IJ", ["MORGA600014SM9IJ", "MORGA601004SM9IJ", "MORGA601324SM9IJ"]),
        ("gb_driver", "MORGA612314SM9IJ", ["MORGA613314SM9IJ", "MORGA612324SM9IJ"]),
        ("gb_driver", "MORGA651314SM9IJ", ["MORGA650314SM9IJ"]),
        ("gb_driver", "MORGA662014SM9IJ", ["MORGA663014SM9IJ"]),
        ("gb_driver", "M9999662014SM9IJ", []),
        ("fr", "255081416802538", ["255081416802539"]),
        ("tr", "10000000146", ["10000000147", "00000000000"]),
        ("za", "8001015009087", ["8001015009088", "8013015009084"]),
        ("cn", "11010519491231002X", ["110105194912310021", "11010519491331002X"]),
    ],
)
def test_published_numbers_are_right_and_their_neighbours_are_not(country: str, right: str, wrong: list[str]) -> None:
    assert identities.CHECKS[country](right)
    assert [n for n in wrong if identities.CHECKS[country](n)] == []


GIVEN_OUT = {
    "de_pension": "15070649C103 65180539W001 65170839J003 78791255Z319 15310649C106 15810649C107 15010649C100 "
    "15510649C101 15151249C107 15150149C109",
    "gb_health": "9434765919 4010232137 4772856250",
    "nl": "123456782 142925585 344715632",
    "be": "85073003328 17073003384 67122736921 91321566847 85113003059",
    "pl": "44051401359 83010411457 87123116221 93121528937 33312018182 78921851238 44523000008",
    "se": "8803200016 198803200016 8112289874 2912758188",
    "no": "15108695088 11077941012 13125253231 55112936377",
    "dk": "2110625629",
    "fi": "131052308T 241218173C 171269651E",
    "ch": "7569217076985 7561234567897 7567916881725",
    "at": "1237010180 1191231147 3976261118 1156261383 1018311485",
    "cz": "7103192745 8160079015 2662159951 9731264917 5181221221 4312183250 4712145450 7112190008 7103190006",
    "br": "11144477735 39053344705 68654991232 71146725272",
    "mx": "BOXW310820HNERXN09 HEGG560427MVZRRL04 BOXW361223HNERXZ44",
    "cn": "11010519491231002X 360426199101010071 189515197212285635",
    "kr": "8712268239734",
    "tr": "17291716060 10000000146 29599774574",
    "au": "123456782 876543210 775462239",
    "pt": "501964843 234567899 502757191 547674210 231144520",
    "jp": "621498320257 123456789018 971839389170 523322745691",
    "fr": "295109912611193 253072B07300470 821792A17118917",
    "es": "54362315K X2482300W Y3338121F Z8327649K",
    "de_tax": "36574261809 65929970489 86095742719 26954371827",
    "it": "RCCMNL83S18D969H RSSMRA85T10A562S",
    "us_taxpayer": "912901457",
    "za": "7503305044089 8001015009087 1712163642498",
}
"""Numbers that are right: published examples first, then others of both sexes and centuries."""

UNCHECKED = ("dk", "kr", "us_taxpayer")  # numbers without a check digit


@pytest.mark.parametrize("kind", GIVEN_OUT)
def test_numbers_that_were_given_out_are_right_and_another_last_digit_is_wrong(kind: str) -> None:
    check = identities.CHECKS[kind]
    numbers = GIVEN_OUT[kind].split()
    assert len(numbers) > 0
    assert [n for n in numbers if not check(n)] == []
    signs = "0123456789" if numbers[0][-1].isdigit() else "ABCDEFGHJKLMNPQRSTUVWXYZ"
    others = [n[:-1] + sign for n in numbers for sign in signs if sign != n[-1]]
    assert any(map(check, others)) is (kind in UNCHECKED)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("de_pension", "15150013C106 15150049C108 15000649C105 15320649C102 15500649C106 15820649C103 15151349C108"),
        ("be", "85133003073"),
        ("pl", "06022900005 44131401008 44003001002 44023001004 44933001002 44123200000"),
        ("se", "0602290009 8813200014 8800200019 8803320004 8803930000 8803000002"),
        ("no", "32108695012 15138695058 72108695006 00108695021"),
        ("dk", "3113625629 3210625629"),
        ("fi", "311352308U 3210523082"),
        ("at", "1008320185 1018000185 1002310285 1002100085"),
        ("cz", "0652290001 7113322744 7133192748 7100192748 7135192746 7164192740"),
        ("kr", "8713268239734 8712269239734 8712260239734"),
        ("mx", "BOXW311320HNERXN02 BOXW310832HNERXN01"),
        ("cn", "110105194913310021 110105194912320025 110105194900310022"),
        ("za", "7513305044088 7503325044085"),
    ],
)
def test_a_right_check_digit_makes_no_number_of_a_day_that_is_none(kind: str, wrong: str) -> None:
    assert [n for n in wrong.split() if identities.CHECKS[kind](n)] == []
    assert len(wrong) > 8


def test_the_dates_of_numbers_reach_to_the_last_month_and_day() -> None:
    assert identities.is_date(99, 12, 31)
    assert identities.is_date(100, 1, 1)
    assert identities.is_date(1, 2, 28)
    assert not identities.is_date(1, 2, 29)
    assert not identities.is_date(0, 2, 30)
    assert not identities.is_date(1900, 2, 29)
    assert identities.is_two_digit_date("840229")
    assert not identities.is_two_digit_date("830229")
    assert identities.is_two_digit_date("022984", "mdy")


@pytest.mark.parametrize(
    ("number", "holds"),
    [("000000000000000000", False), ("4222222222222", True), ("6759649826438453", True), ("30569309025904", True)],
)
def test_a_card_of_one_digit_is_none(number: str, holds: bool) -> None:
    assert identities.check_card(number) is holds


def test_a_number_stands_where_its_word_is_within_forty_characters_before_it() -> None:
    def found(text: str) -> list[tuple[str, int, int, str]]:
        return [(s.kind, s.start, s.end, s.value) for s in identities.find_identity_numbers(text)]

    assert found("My SSN is 123-45-6780.") == [("identity", 10, 21, "123456780")]
    near, far = "SSN" + " " * 37, "SSN" + " " * 38
    assert found(f"{near}123456780") == [("identity", 40, 49, "123456780")]
    assert found(f"{far}123456780") == []
    assert found("123456780 is my SSN") == []


WEIGHED = {  # digits (9 for any), the weights of those before each check digit, and by what the sum is divided
    "gb_health": ("999999999", ["10 9 8 7 6 5 4 3 2"], 11),
    "nl": ("99999999", ["-9 -8 -7 -6 -5 -4 -3 -2"], 11),
    "au": ("99999999", ["-1 -4 -3 -7 -5 -8 -6 -9"], 11),
    "pl": ("4405149999", ["1 3 7 9 1 3 7 9 1 3"], 10),
    "ch": ("756999999999", ["1 3 1 3 1 3 1 3 1 3 1 3"], 10),
    "no": ("151086999", ["3 7 6 1 8 9 4 5 2", "5 4 3 2 7 6 5 4 3 2"], 11),
    "tr": ("199999999", ["-7 1 -7 1 -7 1 -7 1 -7", "-1 -1 -1 -1 -1 -1 -1 -1 -1 -1"], 10),
    "br": ("999999999", ["10 9 8 7 6 5 4 3 2", "11 10 9 8 7 6 5 4 3 2"], 11),
    "pt": ("99999999", ["9 8 7 6 5 4 3 2"], 11),
    "jp": ("99999999999", ["6 5 4 3 2 7 6 5 4 3 2"], 11),
}
TEN_IS_0 = ("br", "pt", "jp")  # elsewhere no number is given out of which a check digit were 10


@pytest.mark.parametrize("kind", WEIGHED)
def test_check_digits_are_what_the_weighted_sum_lacks(kind: str) -> None:
    form, weights, modulus = WEIGHED[kind]
    lot = Random(7)
    for _ in range(40):
        stem = number = re.sub("9", lambda _: str(lot.randrange(10)), form)
        for listed in weights:
            lacks = -sum(int(d, 36) * int(w) for d, w in zip(number, listed.split(), strict=True)) % modulus
            number += str(lacks) if lacks < 10 else "0" if kind in TEN_IS_0 else "X"
        ends = map("".join, product("0123456789", repeat=len(weights)))
        right = [number] if number.isdigit() else []
        assert [stem + end for end in ends if identities.CHECKS[kind](stem + end)] == right
