"""Numbers that a state gives to a person: how they are written, and what checks them.

Where a number says little by itself (few digits, weak checks), a word before it must name it. Check digits tell a
number that was given out from any other; arguments are strings of digits, or as said.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from string import ascii_lowercase, ascii_uppercase, digits
from types import MappingProxyType

from sensegraph.personal.contacts import read_pattern
from sensegraph.personal.personal_settings import Span

_NUMBERS = tomllib.loads((files("sensegraph") / "personal" / "data" / "numbers.toml").read_text("utf-8"))
IBAN_LENGTHS = MappingProxyType({part[:2]: int(part[2:]) for part in _NUMBERS["iban"].split()})
_TIMES = (  # the group of symmetries of a pentagon
    "0123456789 1234067895 2340178956 3401289567 4012395678 5987604321 6598710432 7659821043 8765932104 9876543210"
).split()
_TURNS = "0123456789 1576283094 5803796142 8916043527 9453126870 4286573901 2793806415 7046913258".split()


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
    """The sum of as many digits as there are weights, each times its weight; letters count from 10."""
    return sum(int(d, 36) * w for d, w in zip(number, weights, strict=False))


def check_mod_11_10(number: str) -> bool:
    """Whether the last digit checks the others by the hybrid system MOD 11,10 (ISO/IEC 7064)."""
    product = 0
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
    issued = any(a <= number[: len(a)] <= b and len(number) in lengths for a, b, lengths in _NUMBERS["cards"])
    return issued and check_luhn(number)


def is_date(year: int, month: int, day: int) -> bool:
    """Whether there is such a day; a year of two digits may be of any century."""
    try:
        date(year or 2000, month, day)  # which was a leap year, too; there is no year 0
    except ValueError:
        return False
    return True


def is_two_digit_date(number: str, order: str = "ymd") -> bool:
    """Whether the first six digits are a date in this order."""
    parts = dict(zip(order, (int(number[i : i + 2]) for i in (0, 2, 4)), strict=True))
    return is_date(parts["y"], parts["m"], parts["d"])


_BEFORE = 40  # characters in which a word that names the number is looked for
_RUN = re.compile(r"[A-Z0-9][A-Z0-9 .\-/+]{7,}")  # what a number can be written with: one look for all kinds
_CODE = re.compile(r"\b(?=\w*\d)\w+|\b[a-z]{1,2}\b")  # what may be part of a number that is written in small letters
_CAPITALS = str.maketrans(ascii_lowercase, ascii_uppercase)
_BEHIND = 3  # characters after a run that patterns look at
_NUMBERED = re.compile(read_pattern("numbered"), re.IGNORECASE)  # orders and parts have numbers of their own
_SHARED = re.compile(
    r"\b(?:tax|fiscal|national|personal|social|identity|identification|insurance|resident|id|passport)\b"
    r"[^\n]{0,25}(?:no\.?|number|nr\.?|id|code|#|:)?\W{0,4}$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Identity:
    """A kind of number: a pattern; `check` of its digits and letters alone; words of which one must stand before."""

    country: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool]
    words: re.Pattern[str] | None


def find_identity_numbers(text: str) -> Iterator[Span]:
    """The numbers of persons in `text`, as spans of the kind `identity`."""
    written = _CODE.sub(lambda code: code[0].translate(_CAPITALS), text)
    found = dict[tuple[int, int, str], Span]()
    for view in dict.fromkeys((text, written)):
        for run in _RUN.finditer(view):
            if any(map(str.isdigit, run[0])):
                found |= {(s.start, s.end, s.value): s for s in _find_in_run(view, run.start(), run.end() + _BEHIND)}
    yield from found.values()


def _find_in_run(text: str, begin: int, end: int) -> Iterator[Span]:
    for one in TABLE:
        for match in one.pattern.finditer(text, begin, end):
            plain = re.sub(r"[\W_]", "", match[0]).upper()
            if not one.check(plain):
                continue
            before = text[max(0, match.start() - _BEFORE) : match.start()]
            if _SHARED.search(before) or (one.words.search(before) if one.words else not _NUMBERED.search(before)):
                yield Span("identity", match.start(), match.end(), plain)


# ── what checks them ──


def _check_de_pension(n: str) -> bool:
    plain = n[:8] + f"{ord(n[8]) - 64:02}" + n[9:11]
    total = sum(sum(divmod(int(d) * w, 10)) for d, w in zip(plain, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1), strict=True))
    return total % 10 == int(n[11]) and 1 <= int(n[4:6]) <= 12 and 1 <= int(n[2:4]) % 50 <= 31


def _check_de_health(n: str) -> bool:
    """Digits times 1 and 2 in turns, the letter as two digits; sums of digits, by 10."""
    plain = f"{ord(n[0]) - 64:02}{n[1:9]}"
    return sum(sum(divmod(int(d) * (1 + i % 2), 10)) for i, d in enumerate(plain)) % 10 == int(n[9])


def _check_icao(n: str) -> bool:
    """Weights 7, 3 and 1, letters counting from 10 (ICAO 9303); two letters and two digits, at least."""
    return (
        weighted_sum(n, (7, 3, 1) * 3) % 10 == int(n[9])
        and sum(c.isalpha() for c in n) > 1
        and sum(c.isdigit() for c in n[:9]) > 1
    )


_ES_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_FI_SIGNS = "0123456789ABCDEFHJKLMNPRSTUVWXY"
_IT_EVEN = MappingProxyType({c: int(c) if c.isdigit() else ord(c) - 65 for c in ascii_uppercase + digits})
_IT_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
_MX_SIGNS = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ"

CHECKS: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {
        "digit": lambda n: any(c.isdigit() for c in n),
        "luhn": check_luhn,
        "verhoeff": check_verhoeff,
        "us": lambda n: (
            n[:3] not in ("000", "666") and n[0] != "9" and n[3:5] != "00" and n[5:] != "0000" and n != "123456789"
        ),
        "us_taxpayer": lambda n: n[3] >= "5" and n[3:5] not in ("66", "67", "68", "69", "89", "93"),
        "gb_health": lambda n: -weighted_sum(n, range(10, 1, -1)) % 11 == int(n[9]) and len(set(n)) > 1,
        "de_tax": lambda n: (
            n[0] != "0" and sorted(map(n[:10].count, set(n[:10])))[-2:] in ([1, 2], [1, 3]) and check_mod_11_10(n)
        ),
        "de_pension": _check_de_pension,
        "de_health": _check_de_health,
        "icao": _check_icao,
        "gb_driver": lambda n: (
            n[0] != "9" and (1 <= int(n[6:8]) <= 12 or 51 <= int(n[6:8]) <= 62) and 1 <= int(n[8:10]) <= 31
        ),
        "fr": lambda n: (
            (plain := n[:13].replace("2A", "19").replace("2B", "18")).isdigit() and 97 - int(plain) % 97 == int(n[13:])
        ),
        "es": lambda n: _ES_LETTERS[int(n[:8].translate(str.maketrans("XYZ", "012"))) % 23] == n[8],
        "it": lambda n: (
            sum(_IT_EVEN[c] if i % 2 else _IT_ODD[_IT_EVEN[c]] for i, c in enumerate(n[:15])) % 26 == ord(n[15]) - 65
        ),
        "nl": lambda n: n != "0" * 9 and weighted_sum(n, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0,
        "be": lambda n: (
            any(97 - int(century + n[:9]) % 97 == int(n[9:]) for century in ("", "2")) and int(n[2:4]) % 20 <= 12
        ),
        "pl": lambda n: (
            -weighted_sum(n, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10 == int(n[10])
            and is_date(int(n[:2]), int(n[2:4]) % 20, int(n[4:6]))
        ),
        "se": lambda n: check_luhn(n[-10:]) and is_date(int(n[-10:-8]), int(n[-8:-6]), int(n[-6:-4]) % 60),
        "no": lambda n: (
            -weighted_sum(n, (3, 7, 6, 1, 8, 9, 4, 5, 2)) % 11 == int(n[9])
            and -weighted_sum(n, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11 == int(n[10])
            and is_two_digit_date(f"{int(n[:2]) % 40:02}{n[2:]}", "dmy")
        ),
        "dk": lambda n: is_two_digit_date(n, "dmy"),
        "fi": lambda n: is_two_digit_date(n, "dmy") and _FI_SIGNS[int(n[:6] + n[-4:-1]) % 31] == n[-1],
        "ch": lambda n: -weighted_sum(n, (1, 3) * 6) % 10 == int(n[12]),
        "at": lambda n: (
            n[0] != "0"
            and weighted_sum(n, (3, 7, 9, 0, 5, 8, 4, 2, 1, 6)) % 11 == int(n[3])
            and is_date(int(n[8:]), min(int(n[6:8]), 12), int(n[4:6]))
        ),
        "cz": lambda n: (
            is_date(int(n[:2]), int(n[2:4]) % 50 % 20, int(n[4:6]))
            and (int(n) % 11 == 0 or (int(n[:9]) % 11 == 10 and n[9] == "0"))
        ),
        "br": lambda n: (
            len(set(n)) > 1 and all(weighted_sum(n, range(k + 1, 1, -1)) * 10 % 11 % 10 == int(n[k]) for k in (9, 10))
        ),
        "mx": lambda n: (
            is_two_digit_date(n[4:])
            and -sum(_MX_SIGNS.index(c) * (18 - i) for i, c in enumerate(n[:17])) % 10 == int(n[17])
        ),
        "cn": lambda n: (
            "10X98765432"[weighted_sum(n, (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)) % 11] == n[17]
            and is_date(int(n[6:10]), int(n[10:12]), int(n[12:14]))
        ),
        "kr": lambda n: is_two_digit_date(n) and n[6] in "12345678",
        "za": lambda n: check_luhn(n) and is_two_digit_date(n),
        "tr": lambda n: (
            n[0] != "0"
            and weighted_sum(n, (7, -1, 7, -1, 7, -1, 7, -1, 7)) % 10 == int(n[9])
            and sum(map(int, n[:10])) % 10 == int(n[10])
        ),
        "au": lambda n: weighted_sum(n, (1, 4, 3, 7, 5, 8, 6, 9, 10)) % 11 == 0,
        "pt": lambda n: -weighted_sum(n, range(9, 1, -1)) % 11 % 10 == int(n[8]),
        "jp": lambda n: -weighted_sum(n, (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11 % 10 == int(n[11]),
    }
)
"""What checks the numbers of `data/numbers.toml`, by the name that stands there."""

TABLE = tuple(
    Identity(
        row["country"],
        re.compile(rf"(?<![\w.\-/])(?:{row['pattern']})(?![\w/]|[.,\-]\d)"),
        CHECKS[row["check"]],
        re.compile(rf"\b(?:{row['words']})\b", re.IGNORECASE) if "words" in row else None,
    )
    for row in _NUMBERS["identities"]
)
"""Every kind of number, by country (ISO 3166; `--` for passports of any)."""
