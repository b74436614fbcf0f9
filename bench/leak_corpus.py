"""Texts with identifiers and names planted in them: a third are written so as to slip through, half are wrapped.

Seeded, and without a look at the rules: numbers are made by what each country publishes on them, the sentences
and names stand in `leaks.toml`, those that were open while the rules were written apart from those that were not.
Needs nothing but Python.
"""

from __future__ import annotations

import textwrap
import tomllib
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

from personal_corpus import MONATE, MONTHS, _german, _grouped, _iban, _nhs, _nino, _spread, _ssn, _visa, digits, luhn

LISTS: Mapping[str, Any] = tomllib.loads((Path(__file__).parent / "leaks.toml").read_text("utf-8"))
PASSPORT = "0123456789CFGHJKLMNPRTVWXYZ"  # signs of German documents: no vowels, and none that look like digits
MEDICARE = "ACDEFGHJKMNPQRTUVWXY"


@dataclass(frozen=True)
class Leak:
    """Something planted: its kind, the form of the number, the bypass that hides it (or none), and where it stands."""

    kind: str
    form: str
    bypass: str
    start: int
    end: int


@dataclass(frozen=True)
class LeakText:
    """A text of one language, the name of its file, the words of a name in that, and what is planted in the text."""

    name: str
    named: tuple[str, ...]
    text: str
    items: tuple[Leak, ...]


# ── numbers ──


def check_731(number: str) -> str:
    """The check digit of ICAO 9303: weights 7, 3, 1, letters counting from 10."""
    return str(sum(int(c, 36) * w for c, w in zip(number, (7, 3, 1) * 4, strict=False)) % 10)


def make_document_number(random: Random, first: str, *, checked: bool) -> str:
    """The number of a German identity card or passport, as it is printed or, `checked`, with its check digit."""
    number = random.choice(first) + "".join(random.choice(PASSPORT) for _ in range(8))
    return number + check_731(number) * checked


def make_health_number(random: Random) -> str:
    """A German health insurance number: a letter, eight digits, and a check digit by weights 1 and 2."""
    letter, number = random.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), digits(random, 8)
    plain = f"{ord(letter) - 64:02}{number}"
    return f"{letter}{number}{sum(sum(divmod(int(d) * (1 + i % 2), 10)) for i, d in enumerate(plain)) % 10}"


def make_german_tax_number(random: Random) -> str:
    """A German tax id: ten digits of which one stands twice, and a check digit (MOD 11,10)."""
    order = random.sample("0123456789", 9)
    order.insert(random.randrange(1, 10), order[random.randrange(9)])
    number = "".join(order)
    if number[0] == "0" or any(a == b == c for a, b, c in zip(number, number[1:], number[2:], strict=False)):
        return make_german_tax_number(random)
    product = 10
    for d in number:
        product = 2 * ((int(d) + product) % 10 or 10) % 11
    return number + str((11 - product) % 10)


def make_pension_number(random: Random) -> str:
    """A German pension insurance number."""
    letter = random.choice("ABCDEFGHKLMPRSTW")
    head = f"{random.randint(10, 89)}{random.randint(1, 28):02}{random.randint(1, 12):02}{random.randint(40, 99)}"
    serial = f"{random.randint(0, 99):02}"
    plain, weights = f"{head}{ord(letter) - 64:02}{serial}", (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)
    check = sum(sum(divmod(int(d) * w, 10)) for d, w in zip(plain, weights, strict=True)) % 10
    return f"{head[:2]} {head[2:]} {letter} {serial}{check}"


def make_british_licence(random: Random) -> str:
    """The number of a British driving licence: family name, birth, initials, signs."""
    family = (random.choice(("MORGA", "SMITH", "PATEL", "JONES", "CLARK")) + "99999")[:5]
    born = f"{random.randint(0, 9)}{random.randint(1, 12):02}{random.randint(1, 28):02}{random.randint(0, 9)}"
    return (
        f"{family}{born}{random.choice('ABCEM')}9{random.randint(2, 9)}{random.choice('ABIJ')}{random.choice('EFGH')}"
    )


def make_german_licence(random: Random) -> str:
    """The number of a German driving licence: office, serial signs, check sign, copy."""
    a, d = (lambda: random.choice("ABCDEKR")), (lambda: random.choice("0123456789"))
    return f"{random.choice('BCDFN')}{digits(random, 3)}{a()}{a()}{d()}{a()}{d()}{d()}{random.randint(1, 9)}"


def make_medicare_number(random: Random) -> str:
    """An American Medicare identifier, as it is printed on the card."""
    a, d = (lambda: random.choice(MEDICARE)), (lambda: random.choice("0123456789"))
    return f"{random.randint(1, 9)}{a()}{a()}{d()}-{a()}{a()}{d()}-{a()}{a()}{d()}{d()}"


def _postcode(random: Random) -> str:
    district, unit = random.choice(("LS", "BS", "YO", "M")), random.choice(("AP", "TH", "QD"))
    return f"{district}{random.randint(1, 9)} {random.randint(1, 9)}{unit}"


def _english_address(random: Random, streets: list[str]) -> str:
    way = random.choice(("Street", "Avenue", "Rd.", "Lane", "Drive"))
    if random.random() < 0.5:
        town, zip_code = random.choice((("Springfield", "IL 62704"), ("Portland", "OR 97205"), ("Salem", "MA 01970")))
        return f"{random.randint(10, 4999)} {random.choice(streets)} {way}, {town}, {zip_code}"
    town = random.choice(("Leeds", "Bristol", "York"))
    return f"{random.randint(1, 199)} {random.choice(streets)} {way}, {town} {_postcode(random)}"


def _german_address(random: Random, streets: list[str]) -> str:
    town = random.choice(("Köln", "Berlin", "Ulm", "Bad Homburg", "München"))
    house = f"{random.randint(1, 120)}{random.choice(('', '', 'a'))}"
    return f"{random.choice(streets)} {house}, {random.randint(10115, 89081)} {town}"


def _english_phone(random: Random) -> str:
    area, middle, last = random.choice(("212", "415", "312")), f"{random.randint(222, 998)}", digits(random, 4)
    forms = (
        f"({area}) {middle}-{last}",
        f"+1 {area}-{middle}-{last}",
        f"+44 20 7{digits(random, 3)} {digits(random, 4)}",
    )
    return random.choice((*forms, f"020 7{digits(random, 3)} {digits(random, 4)}"))


def _german_phone(random: Random) -> str:
    local = digits(random, 7).replace("0", "2").replace("1", "3")
    forms = (f"+49 30 {local}", f"030 {local[:3]} {local[3:]}", f"0171 {local}", f"+49 (0)89 {local}", f"0221/{local}")
    return random.choice(forms)


def _english_birthday(random: Random) -> str:
    year, month, day = random.randint(1930, 2005), random.randint(1, 12), random.randint(1, 28)
    return random.choice(
        (f"{day} {MONTHS[month - 1]} {year}", f"{month:02}/{day:02}/{year}", f"{year}-{month:02}-{day:02}")
    )


def _german_birthday(random: Random) -> str:
    year, month, day = random.randint(1930, 2005), random.randint(1, 12), random.randint(1, 28)
    return random.choice((f"{day}. {MONATE[month - 1]} {year}", f"{day:02}.{month:02}.{year}"))


def _address_of_mail(random: Random, given: str, family: str) -> str:
    plain = [unicodedata.normalize("NFKD", w).encode("ascii", "ignore").decode().lower() for w in (given, family)]
    host = random.choice(("example.com", "mail.example.org", "example.co.uk", "uni-stadt.example.de"))
    return f"{plain[0]}.{plain[1]}@{host}".replace("'", "")


NUMBERS: dict[str, dict[str, Callable[[Random], str]]] = {
    "en": {
        "ssn": _ssn,
        "nino": lambda r: _spread(_nino(r), 2, 2, 2, 2, 1),
        "nhs": lambda r: _spread(_nhs(r), 3, 3, 4),
        "us_passport": lambda r: f"{r.choice('ACX')}{digits(r, 8)}",
        "uk_passport": lambda r: digits(r, 9),
        "uk_licence": make_british_licence,
        "utr": lambda r: digits(r, 5) + " " + digits(r, 5),
        "medicare": make_medicare_number,
    },
    "de": {
        "de_card": lambda r: make_document_number(r, "LMNPRTVWXY", checked=r.random() < 0.5),
        "de_passport": lambda r: make_document_number(r, "CFGHJK", checked=r.random() < 0.5),
        "kvnr": make_health_number,
        "de_tax": lambda r: _spread(make_german_tax_number(r), 2, 3, 3, 3),
        "de_pension": make_pension_number,
        "de_licence": make_german_licence,
    },
}

# ── ways of writing that slip through ──


def _insert(sign: str) -> Callable[[Random, str], str]:
    def hide(random: Random, thing: str) -> str:
        places = sorted(random.sample(range(1, len(thing)), min(2, len(thing) - 1)), reverse=True)
        for place in places:
            thing = thing[:place] + sign + thing[place:]
        return thing

    return hide


def _widen(_: Random, thing: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in thing)


def _percent(_: Random, thing: str) -> str:
    return quote(thing, safe="")


BYPASSES: dict[str, Callable[[Random, str], str]] = {
    "full-width": _widen,
    "percent": _percent,
    "zero width": _insert("\u200b"),
    "joiner": _insert("\u2060"),
    "soft hyphen": _insert("\u00ad"),
    "no-break blank": lambda _, thing: thing.replace(" ", "\u00a0"),
    "narrow blank": lambda _, thing: thing.replace(" ", "\u202f"),
    "other hyphen": lambda _, thing: thing.replace("-", "\u2011"),
    "decomposed": lambda _, thing: unicodedata.normalize("NFD", thing),
    "lower case": lambda _, thing: thing.lower(),
    "upper case": lambda _, thing: thing.upper(),
}
CASED = ("person", "iban", "identity", "email")  # kinds of which case may be changed


def hide(random: Random, kind: str, thing: str) -> tuple[str, str]:
    """A way of writing that changes the thing, and the thing so written."""
    ways = [(name, way(random, thing)) for name, way in BYPASSES.items() if kind in CASED or "case" not in name]
    return random.choice([(name, made) for name, made in ways if made != thing])


# ── texts ──


def make_leak_texts(seed: int, language: str, lists: str, count: int = 300) -> list[LeakText]:
    """`count` texts in a language, two things in each, from the sentences and names of `tuned` or `held`."""
    random, words = Random(f"{seed}{language}{lists}"), LISTS[lists][language]
    kinds = [
        "person",
        "person",
        "person",
        "email",
        "phone",
        "iban",
        "address",
        "identity",
        "identity",
        "card",
        "birthday",
        "ip",
    ]
    order = [kinds[i % len(kinds)] for i in range(2 * count)]
    random.shuffle(order)
    return [_make_text(random, n, language, lists, words, order[2 * n : 2 * n + 2]) for n in range(count)]


def _make_text(
    random: Random, n: int, language: str, lists: str, words: Mapping[str, Any], kinds: list[str]
) -> LeakText:
    planted = [_make_sentence(random, kind, language, lists, words) for kind in kinds]
    plain = [(s, "", "", "", "") for s in (*random.sample(words["filling"], 2), random.choice(words["alike"]))]
    order = [*planted, *plain]
    random.shuffle(order)
    text, items = "", []
    for sentence, kind, form, bypass, thing in order:
        if kind:
            start = len(text) + sentence.index("{}")
            items.append(Leak(kind, form, bypass, start, start + len(thing)))
            sentence = sentence.replace("{}", thing)
        text += sentence + " "
    name = f"{random.choice(words['given'].split())} {random.choice(words['family'].split())}"
    shape = random.choice(
        (
            lambda s: s,
            str.lower,
            lambda s: s.replace(" ", "_"),
            lambda s: s.lower().replace(" ", "-"),
            quote,
            lambda s: "_".join(reversed(s.split())),
        )
    )
    file = f"text{n:03}/" + random.choice(words["file"]).format(shape(name))
    text = text.rstrip()
    return LeakText(file, tuple(name.split()), _wrap(random, text, items) if n % 2 else text, tuple(items))


def _make_sentence(
    random: Random, kind: str, language: str, lists: str, words: Mapping[str, Any]
) -> tuple[str, str, str, str, str]:
    given, family = random.choice(words["given"].split()), random.choice(words["family"].split())
    frames, form = LISTS[lists]["frames"][language], kind
    if kind == "person":
        frame = random.choice(words["person"])
        titled = frame.startswith(("Mr ", "Ms ", "Herr ", "Frau "))
        thing = family if titled else f"{given} {family}"
    elif kind == "identity":
        form = random.choice(list(NUMBERS[language]))
        thing = NUMBERS[language][form](random)
        frame = random.choice(frames["labelled"]).replace("{label}", random.choice(LISTS[lists]["labels"][form]))
        frame = frame.replace("{thing}", "{}")
    else:
        frame, streets = random.choice(frames[kind]), words["streets"].split("|")
        german = language == "de"
        makers: dict[str, Callable[[], str]] = {
            "email": lambda: _address_of_mail(random, given, family),
            "phone": lambda: (_german_phone if german else _english_phone)(random),
            "iban": lambda: _grouped(
                _german(random)
                if german
                else random.choice((_german(random), _iban(random, "GB", "NWBK" + digits(random, 14))))
            ),
            "card": lambda: _grouped(
                random.choice((_visa(random), luhn("5" + random.choice("12345") + digits(random, 13))))
            ),
            "birthday": lambda: (_german_birthday if german else _english_birthday)(random),
            "address": lambda: (_german_address if german else _english_address)(random, streets),
            "ip": lambda: ".".join(str(random.randint(130, 190)) for _ in range(4)),
        }
        thing = makers[kind]()
    bypass, written = hide(random, kind, thing) if random.random() < 1 / 3 else ("", thing)
    return frame, kind, form, bypass, written


def _wrap(random: Random, text: str, items: list[Leak]) -> str:
    """The text in lines of the width, of those tried, at which most things are broken; blanks become ends of lines.

    Every character keeps its place, so that places still hold.
    """
    best, broken = text, -1
    for width in random.sample(range(28, 76), 12):
        lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False, drop_whitespace=False)
        made = "".join(line[:-1] + "\n" if line.endswith(" ") else line for line in lines)
        if (count := sum("\n" in made[i.start : i.end] for i in items)) > broken:
            best, broken = made, count
    return best
