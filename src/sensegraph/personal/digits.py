"""Check digits: what tells a number that was given out from any other. Arguments are strings of digits, or as said."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from types import MappingProxyType

# Lengths of account numbers by country (SWIFT's registry of IBAN formats).
_IBAN_PARTS = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 "
    "EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 "
    "KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 "
    "PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 "
    "UA29 VA22 VG24 XK20 YE30 "
)
IBAN_LENGTHS = MappingProxyType({part[:2]: int(part[2:]) for part in _IBAN_PARTS.split()})

_TIMES = (  # the group of symmetries of a pentagon
    "0123456789",
    "1234067895",
    "2340178956",
    "3401289567",
    "4012395678",
    "5987604321",
    "6598710432",
    "7659821043",
    "8765932104",
    "9876543210",
)
_TURNS = (
    "0123456789",
    "1576283094",
    "5803796142",
    "8916043527",
    "9453126870",
    "4286573901",
    "2793806415",
    "7046913258",
)
_BRANDS = (  # first and last prefix of a card, and its lengths (ISO/IEC 7812, the issuers' own ranges)
    ("4", "4", (13, 16, 19)),
    ("51", "55", (16,)),
    ("2221", "2720", (16,)),
    ("34", "34", (15,)),
    ("37", "37", (15,)),
    ("6011", "6011", (16,)),
    ("644", "659", (16,)),
    ("300", "305", (14,)),
    ("36", "36", (14,)),
    ("38", "39", (14,)),
    ("3528", "3589", (16,)),
    ("62", "62", (16, 17, 18, 19)),
    ("50", "50", (16,)),
    ("56", "58", (16,)),
    ("67", "67", (16,)),
)


def check_luhn(number: str) -> bool:
    """Whether the last digit checks the others by Luhn's formula (ISO/IEC 7812-1, annex B)."""
    doubled = sum(sum(divmod(2 * int(d), 10)) for d in number[-2::-2])
    return (doubled + sum(map(int, number[-1::-2]))) % 10 == 0


def check_verhoeff(number: str) -> bool:
    """Whether the last digit checks the others by Verhoeff's scheme."""
    check = 0
    for i, d in enumerate(reversed(number)):
        check = int(_TIMES[check][int(_TURNS[i % 8][int(d)])])
    return check == 0


def weighted_sum(number: str, weights: Sequence[int]) -> int:
    """The sum of digits times weights."""
    return sum(int(d) * w for d, w in zip(number, weights, strict=False))


def check_mod_11_10(number: str) -> bool:
    """Whether the last digit checks the others by the hybrid system MOD 11,10 (ISO/IEC 7064)."""
    product = 10
    for d in number[:-1]:
        product = 2 * ((int(d) + product) % 10 or 10) % 11
    return (11 - product) % 10 == int(number[-1])


def remainder_97(text: str) -> int:
    """The remainder by 97 of letters and digits, A counting 10 and Z 35 (ISO/IEC 7064)."""
    return int("".join(str(int(c, 36)) for c in text)) % 97


def check_iban(text: str) -> bool:
    """Whether capitals and digits are an account number of its country's length with right check digits (ISO 13616)."""
    return IBAN_LENGTHS.get(text[:2]) == len(text) and remainder_97(text[4:] + text[:4]) == 1


def check_card(number: str) -> bool:
    """Whether a card's number has a known issuer, its length, and the right check digit."""
    issued = any(a <= number[: len(a)] <= b and len(number) in lengths for a, b, lengths in _BRANDS)
    return issued and check_luhn(number) and len(set(number)) > 1


def is_date(year: int, month: int, day: int) -> bool:
    """Whether there is such a day; a year of two digits may be of any century."""
    try:
        return date(year if year > 99 else 2000 + year, month, day).year > 0
    except ValueError:
        return year == 0 and (month, day) == (2, 29)


def is_two_digit_date(number: str, order: str = "ymd") -> bool:
    """Whether six digits are a date in this order."""
    parts = dict(zip(order, (int(number[i : i + 2]) for i in (0, 2, 4)), strict=True))
    return is_date(parts["y"], parts["m"], parts["d"])
