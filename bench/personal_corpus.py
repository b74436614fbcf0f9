"""A corpus with personal data planted in it, and with what only looks like it: seeded, so that figures can be repeated.

The forms of the things are those of their countries, not those of the rules that look for them; some are forms that
the rules are known not to read. Needs nothing but Python, so that other libraries can be measured in their own places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

FIRST = (
    "Emily James Olivia Michael Sarah David Laura Thomas Hannah Peter Priya Rahul Mei Hiroshi Yuki Fatima Omar "
    "Aisha Chidi Ngozi Sven Astrid Lars Ingrid Giulia Matteo Lucía Javier Camila Thiago Zofia Piotr Oksana Dmitri "
    "Élodie Benoît Jürgen Heike Saoirse Rhys"
).split()
LAST = (
    "Smith Johnson Brown Taylor Walker Harrison Patel Sharma Chen Tanaka Sato Haddad Rahman Okafor Adeyemi "
    "Lindqvist Berg Rossi Bianchi García Fernández Silva Kowalska Nowak Shevchenko Ivanov Dubois Lefèvre Müller "
    "Schröder O'Brien Llewellyn van-Dijk Papadopoulos Yılmaz"
).split()
STREETS = "Maple Oak Church Station Victoria Mill Park Highfield Elm Cedar".split()
TOWNS = (("Springfield", "IL 62704"), ("Portland", "OR 97205"), ("Leeds", "LS1 4AP"), ("Bristol", "BS8 1TH"))
FILLING = (
    "The committee met in the afternoon and agreed on most points.",
    "Nobody had expected the bridge to be closed for so long.",
    "The harvest was good that year, and prices fell.",
    "A second reading showed that the first had been wrong.",
    "Trade with the islands grew slowly after the war.",
    "Most members of the Harbour Board were against the plan.",
)


@dataclass(frozen=True)
class Item:
    """Something planted: its kind, the form that it was written in, and where."""

    kind: str
    form: str
    start: int
    end: int


@dataclass(frozen=True)
class Planted:
    """A text, what is personal in it, and how many sentences hold something that only looks so."""

    text: str
    items: tuple[Item, ...]
    alike: int


def documents(seed: int, count: int = 300) -> Iterator[Planted]:
    """`count` texts of sentences with one personal thing each, look-alikes, and plain sentences."""
    random = Random(seed)
    forms = [(kind, form, make) for kind, made in KINDS.items() for form, make in made.items()]
    order = [forms[i % len(forms)] for i in range(count * 5)]
    random.shuffle(order)
    for n in range(count):
        yield _document(random, order[5 * n : 5 * n + 5])


def _document(random: Random, chosen: list[tuple[str, str, Callable[[Random], tuple[str, str]]]]) -> Planted:
    sentences: list[tuple[str, str, str, str]] = []
    for kind, form, make in chosen:
        frame, thing = make(random)
        sentences.append((kind, form, frame, thing))
    alike = [("", "", random.choice(ALIKE)(random), "") for _ in range(4)]
    plain = [("", "", random.choice(FILLING), "") for _ in range(2)]
    mixed = [*sentences, *alike, *plain]
    random.shuffle(mixed)
    text, items = "", []
    for kind, form, frame, thing in mixed:
        if kind:
            start = len(text) + frame.index("{}")
            items.append(Item(kind, form, start, start + len(thing)))
            frame = frame.replace("{}", thing, 1)
        text += frame + random.choice((" ", " ", "\n"))
    return Planted(text, tuple(items), len(alike))


# ── parts ──


def digits(random: Random, n: int) -> str:
    return "".join(random.choice("0123456789") for _ in range(n))


def full(random: Random) -> str:
    return f"{random.choice(FIRST)} {random.choice(LAST)}"


def plain(text: str) -> str:
    return "".join(c for c in text.lower() if c.isascii() and c.isalpha())


def user(random: Random) -> str:
    first, last = random.choice(FIRST), random.choice(LAST)
    return random.choice(
        (f"{plain(first)}.{plain(last)}", f"{plain(first)}{digits(random, 2)}", f"{plain(last)}_{plain(first)[:1]}")
    )


def host(random: Random) -> str:
    return random.choice(
        ("example.com", "mail.example.org", "uni-stadt.example.de", "firm.example.co.uk", "example.net")
    )


def luhn(number: str) -> str:
    """`number` with its check digit behind it."""
    total = 0
    for i, d in enumerate(reversed(number)):
        doubled = int(d) * (2 if i % 2 == 0 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    return number + str(-total % 10)


def day(random: Random) -> tuple[int, int, int]:
    return random.randint(1930, 2009), random.randint(1, 12), random.randint(1, 28)


def framed(*frames: str) -> Callable[[Random, str], tuple[str, str]]:
    return lambda random, thing: (random.choice(frames), thing)


# ── what is planted: kind → form → a sentence with a place in it, and the thing ──

_MAIL = framed(
    "Write to {} for the minutes.", "The list is kept by {}, who answers soon.", "From: {}", "Contact ({}) is slow."
)
_CALL = framed("Call {} before noon.", "Tel.: {}", "Her phone number is {}.", "Fax {} is out of order.")
_NEAR = framed("The desk can be had at {} on weekdays.", "On the card stood {} and nothing else.")
_PAGE = framed("His page is {}.", "See {} for more.", "She posts at {} every day.")
_ADDR = framed("The request came from {} at night.", "Blocked address: {}.", "The server logged {} twice.")
_BANK = framed("Pay into {} by Friday.", "IBAN: {}", "The account {} was closed.")
_CARD = framed("The card {} was charged.", "Card number {}.", "She paid with {}.")
_BORN = framed("She was born on {} in a small town.", "DOB: {}", "Date of birth: {}.", "He (born {}) came late.")
_LIVE = framed("She lives at {}.", "Deliver to {}.", "The house at {} was sold.")
_WHO = framed(
    "{} wrote the second part.", "The letter was signed by {}.", "We asked {} about the plan.", "Then Dr. {} spoke."
)

MONTHS = "January February March April May June July August September October November December".split()
MONATE = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
MOIS = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split()


def _iban(random: Random, country: str, account: str) -> str:
    value = int("".join(str(int(c, 36)) for c in account + country + "00"))
    return f"{country}{98 - value % 97:02}{account}"


def _grouped(text: str, sign: str = " ") -> str:
    return sign.join(text[i : i + 4] for i in range(0, len(text), 4))


def _german(random: Random) -> str:
    return _iban(random, "DE", digits(random, 18))


def _british(random: Random) -> str:
    return _iban(random, "GB", "NWBK" + digits(random, 14))


def _visa(random: Random) -> str:
    return luhn("4" + digits(random, 14))


def _until(random: Random, make: Callable[[], str], good: Callable[[str], bool]) -> str:
    while True:
        made = make()
        if good(made):
            return made


def _pesel(random: Random) -> str:
    year, month, of_month = day(random)
    year = min(year, 1999)
    start = f"{year % 100:02}{month:02}{of_month:02}{digits(random, 4)}"
    return start + str(-sum(int(d) * w for d, w in zip(start, (1, 3, 7, 9) * 3, strict=False)) % 10)


def _dni(random: Random) -> str:
    number = digits(random, 8)
    return number + "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23]


def _insee(random: Random) -> str:
    month, place = random.randint(1, 12), random.randint(10, 94)
    number = f"{random.choice('12')}{digits(random, 2)}{month:02}{place:02}{digits(random, 6)}"
    return number + f"{97 - int(number) % 97:02}"


def _nhs(random: Random) -> str:
    def good(n: str) -> bool:
        check = (11 - sum(int(d) * w for d, w in zip(n, range(10, 1, -1), strict=False)) % 11) % 11
        return str(check) == n[9]

    return _until(random, lambda: digits(random, 10), good)


def _cpf(random: Random) -> str:
    number = digits(random, 9)
    for size in (9, 10):
        rest = sum(int(d) * w for d, w in zip(number, range(size + 1, 1, -1), strict=True)) * 10 % 11
        number += str(rest % 10)
    return number


def _resident(random: Random) -> str:
    year, month, of_month = day(random)
    number = f"110101{year}{month:02}{of_month:02}{digits(random, 3)}"
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return number + "10X98765432"[sum(int(d) * w for d, w in zip(number, weights, strict=True)) % 11]


def _ssn(random: Random) -> str:
    return f"{random.randint(100, 665):03}-{random.randint(10, 99)}-{random.randint(1000, 9999)}"


def _nino(random: Random) -> str:
    return f"{random.choice('ABCEHJ')}{random.choice('ABCEHJ')}{digits(random, 6)}{random.choice('ABCD')}"


def _number(*frames: str, make: Callable[[Random], str]) -> Callable[[Random], tuple[str, str]]:
    return lambda random: (random.choice(frames), make(random))


def _spread(number: str, *sizes: int, sign: str = " ") -> str:
    parts, at = [], 0
    for size in sizes:
        parts.append(number[at : at + size])
        at += size
    return sign.join(parts)


def _us(random: Random) -> tuple[str, str, str]:
    return random.choice(("212", "415", "312", "617", "206")), f"{random.randint(222, 998)}", digits(random, 4)


def _born(written: Callable[[int, int, int], str]) -> Callable[[Random], tuple[str, str]]:
    return lambda random: _BORN(random, written(*day(random)))


def _at(
    frames: Callable[[Random, str], tuple[str, str]], make: Callable[[Random], str]
) -> Callable[[Random], tuple[str, str]]:
    return lambda random: frames(random, make(random))


KINDS: dict[str, dict[str, Callable[[Random], tuple[str, str]]]] = {
    "email": {
        "plain": _at(_MAIL, lambda r: f"{user(r)}@{host(r)}"),
        "plus": _at(_MAIL, lambda r: f"{user(r)}+news@{host(r)}"),
        "[at]": _at(_MAIL, lambda r: f"{user(r)} [at] {host(r)}".replace(".example", " [dot] example")),
        "mailto": _at(framed("[write](mailto:{}) to us."), lambda r: f"{user(r)}@{host(r)}"),
        "words": _at(_MAIL, lambda r: f"{user(r)} at example dot com"),  # known not to be read
    },
    "phone": {
        "+1": _at(_NEAR, lambda r: "+1 {}-{}-{}".format(*_us(r))),
        "+49": _at(_NEAR, lambda r: f"+49 30 {digits(r, 3).replace('0', '2')} {digits(r, 4)}"),
        "+44": _at(_NEAR, lambda r: f"+44 20 7{digits(r, 3)} {digits(r, 4)}"),
        "+91": _at(_CALL, lambda r: f"+91 98{digits(r, 3)} {digits(r, 5)}"),
        "US ( )": _at(_NEAR, lambda r: "({}) {}-{}".format(*_us(r))),
        "US dots": _at(_CALL, lambda r: "{}.{}.{}".format(*_us(r))),
        "US run": _at(_CALL, lambda r: "{}{}{}".format(*_us(r))),
        "GB": _at(_CALL, lambda r: f"020 7{digits(r, 3)} {digits(r, 4)}"),
        "DE": _at(_CALL, lambda r: f"030/{digits(r, 3).replace('0', '2')} {digits(r, 4)}"),
        "FR": _at(_CALL, lambda r: "06 " + " ".join(f"{r.randint(10, 99)}" for _ in range(4))),
        "local": _at(_CALL, lambda r: f"555-{digits(r, 4)}"),  # known not to be read
    },
    "url": {
        "twitter": _at(_PAGE, lambda r: f"https://twitter.com/{user(r)}"),
        "linkedin": _at(_PAGE, lambda r: f"https://www.linkedin.com/in/{user(r).replace('.', '-')}/"),
        "home": _at(_PAGE, lambda r: f"http://www.cs.example.edu/~{user(r)}/index.html"),
        "users": _at(_PAGE, lambda r: f"https://forum.example.org/users/{user(r)}"),
        "login": _at(_PAGE, lambda r: f"https://{user(r)}:{digits(r, 5)}@files.example.net/share"),
        "@": _at(_PAGE, lambda r: f"https://social.example.org/@{user(r)}"),
        "blog": _at(_PAGE, lambda r: f"https://{plain(full(r))}.example.org/"),  # known not to be read
    },
    "ip": {
        "v4": _at(
            _ADDR, lambda r: f"{r.choice((84, 93, 203))}.{r.randint(10, 250)}.{r.randint(0, 250)}.{r.randint(1, 254)}"
        ),
        "port": _at(_ADDR, lambda r: f"198.51.{r.randint(10, 99)}.{r.randint(10, 254)}"),
        "v6": _at(
            _ADDR, lambda r: f"2001:db8:{r.randint(16, 255):x}::{r.randint(256, 4095):x}:{r.randint(256, 4095):x}"
        ),
        "v6 full": _at(_ADDR, lambda r: ":".join(f"{r.randint(4096, 65535):x}" for _ in range(8))),
    },
    "iban": {
        "DE groups": _at(_BANK, lambda r: _grouped(_german(r))),
        "DE run": _at(_BANK, _german),
        "GB groups": _at(_BANK, lambda r: _grouped(_british(r))),
        "FR run": _at(_BANK, lambda r: _iban(r, "FR", digits(r, 23))),
        "hyphens": _at(_BANK, lambda r: _grouped(_german(r), "-")),
        "small": _at(_BANK, lambda r: _german(r).lower()),
    },
    "card": {
        "Visa groups": _at(_CARD, lambda r: _grouped(_visa(r))),
        "Visa run": _at(_CARD, _visa),
        "hyphens": _at(_CARD, lambda r: _grouped(_visa(r), "-")),
        "Mastercard": _at(_CARD, lambda r: _grouped(luhn("5" + r.choice("12345") + digits(r, 13)))),
        "Amex": _at(_CARD, lambda r: _spread(luhn("37" + digits(r, 12)), 4, 6, 5)),
    },
    "identity": {
        "US": _number("SSN: {}", "The number {} was on the form.", make=_ssn),
        "US run": _number("Social Security number {}.", make=lambda r: _ssn(r).replace("-", "")),
        "GB NI": _number("NI number {}.", "On the payslip stood {}.", make=lambda r: _spread(_nino(r), 2, 2, 2, 2, 1)),
        "GB NI run": _number("On the payslip stood {}.", make=_nino),
        "GB NHS": _number("NHS number {}.", "The patient {} was seen.", make=lambda r: _spread(_nhs(r), 3, 3, 4)),
        "ES": _number("DNI {}.", "con documento {} fue", make=_dni),
        "FR": _number("NIR {}.", "Her number is {}.", make=lambda r: _spread(_insee(r), 1, 2, 2, 2, 3, 3, 2)),
        "PL": _number("PESEL {}.", "The register says {}.", make=_pesel),
        "BR": _number("CPF {}.", make=lambda r: "{}.{}.{}-{}".format(*_spread(_cpf(r), 3, 3, 3, 2).split())),
        "CN": _number("身份证号 {}。", "ID card {} was lost.", make=_resident),
        "passport": _number("Passport no. {} expired.", make=lambda r: f"{r.choice('CLX')}{digits(r, 8)}"),
        "licence": _number("Driving licence {}.", make=lambda r: f"{digits(r, 8)}"),  # known not to be read
    },
    "birthday": {
        "iso": _born(lambda y, m, d: f"{y}-{m:02}-{d:02}"),
        "US": _born(lambda y, m, d: f"{m:02}/{d:02}/{y}"),
        "words": _born(lambda y, m, d: f"{MONTHS[m - 1]} {d}, {y}"),
        "day first": _born(lambda y, m, d: f"{d} {MONTHS[m - 1]} {y}"),
        "de": lambda r: (lambda y, m, d: ("Sie wurde geboren am {} in Ulm.", f"{d}. {MONATE[m - 1]} {y}"))(*day(r)),
        "fr": lambda r: (lambda y, m, d: ("Elle est née le {} à Lyon.", f"{d} {MOIS[m - 1]} {y}"))(*day(r)),
        "far": lambda r: (
            lambda y, m, d: ("Born to a poor family in the north on {}, he left.", f"{d} {MONTHS[m - 1]} {y}")
        )(*day(r)),  # known not to be read
    },
    "address": {
        "US": _at(
            _LIVE,
            lambda r: "{} {} {}, {}, {}".format(
                r.randint(10, 4999), r.choice(STREETS), r.choice(("Street", "Ave", "Rd.", "Lane")), *r.choice(TOWNS[:2])
            ),
        ),
        "US flat": _at(
            _LIVE,
            lambda r: "{} {} St, Apt {}, {}, {}".format(
                r.randint(10, 999), r.choice(STREETS), r.randint(1, 30), *r.choice(TOWNS[:2])
            ),
        ),
        "GB": _at(
            _LIVE, lambda r: "{} {} Road, {} {}".format(r.randint(1, 200), r.choice(STREETS), *r.choice(TOWNS[2:]))
        ),
        "DE": _at(
            _LIVE,
            lambda r: (
                f"{r.choice(('Gartenstraße', 'Lindenweg', 'Bahnhofstr.', 'Am Markt'))} "
                f"{r.randint(1, 120)}, {r.randint(10115, 89081)} {r.choice(('Köln', 'Berlin', 'Ulm'))}"
            ),
        ),
        "FR": _at(
            _LIVE,
            lambda r: (
                f"{r.randint(1, 90)} rue {r.choice(('de la Gare', 'Victor Hugo', 'du Moulin'))}, "
                f"{r.randint(10000, 89999)} {r.choice(('Lyon', 'Nantes'))}"
            ),
        ),
        "NL": _at(
            _LIVE,
            lambda r: (
                f"{r.choice(('Kerkstraat', 'Prinsengracht', 'Stationsweg'))} {r.randint(1, 300)}, "
                f"{r.randint(1000, 9999)} {r.choice(('AB', 'XK'))} Utrecht"
            ),
        ),
        "box": _at(_LIVE, lambda r: "P.O. Box {}, {}, {}".format(r.randint(10, 9999), *r.choice(TOWNS[:2]))),
        "no number": _at(
            _LIVE, lambda r: f"Rose Cottage, {r.choice(STREETS)} Lane, Little Barrow"
        ),  # known not to be read
    },
    "person": {
        "full": _at(_WHO, full),
        "last": _at(framed("Mr {} paid the bill.", "We asked Mrs. {} again."), lambda r: r.choice(LAST)),
        "first": _at(framed("“Come in,” said {}.", "I met {} at the station."), lambda r: r.choice(FIRST)),
        "initials": _at(_WHO, lambda r: f"{r.choice('ABCJMT')}. {r.choice('EHKLR')}. {r.choice(LAST)}"),
        "turned": _at(
            framed("Author: {}", "Present: {}; nobody else."), lambda r: ", ".join(reversed(full(r).split(" ", 1)))
        ),
    },
}


# ── what only looks like it ──

ALIKE: tuple[Callable[[Random], str], ...] = (
    lambda r: f"Version {r.randint(1, 9)}.{r.randint(0, 20)}.{r.randint(0, 9)}.{r.randint(0, 400)} mends that.",
    lambda r: f"Update to v{r.randint(1, 20)}.{r.randint(0, 20)}.{r.randint(0, 30)} first.",
    lambda r: f"ISBN 978-{r.randint(0, 9)}-{r.randint(10, 99)}-{digits(r, 6)}-{r.randint(0, 9)} is out of print.",
    lambda r: f"It cost ${r.randint(1, 999)},{digits(r, 3)},{digits(r, 3)}.{digits(r, 2)} in all.",
    lambda r: f"The order {digits(r, 10)} was sent.",
    lambda r: f"Invoice no. {digits(r, 8)} of 2021-{r.randint(1, 12):02}-{r.randint(1, 28):02} is open.",
    lambda r: (
        f"Between {r.randint(1800, 1900)} and {r.randint(1901, 1999)} it grew to "
        f"{digits(r, 2)},{digits(r, 3)},{digits(r, 3)}."
    ),
    lambda r: f"They met on {r.randint(1, 28)} {r.choice(MONTHS)} {r.randint(1900, 2020)}.",
    lambda r: f"The peak lies at {r.randint(10, 80)}.{digits(r, 6)}, {r.randint(10, 170)}.{digits(r, 6)}.",
    lambda r: f"The hash is {r.getrandbits(128):032x}.",
    lambda r: (
        f"Job {r.getrandbits(32):08x}-{r.getrandbits(16):04x}-4{digits(r, 3)}-"
        f"a{digits(r, 3)}-{r.getrandbits(48):012x} failed."
    ),
    lambda r: f"At {r.randint(0, 23):02}:{r.randint(0, 59):02}:{r.randint(0, 59):02} the clock stopped.",
    lambda r: (
        f"Install left-pad@{r.randint(1, 9)}.{r.randint(0, 9)}.{r.randint(0, 9)} and logo@{r.randint(2, 3)}x.png again."
    ),
    lambda r: f"See https://en.wikipedia.org/wiki/{r.choice(STREETS)}_Street and https://github.com/about for that.",
    lambda r: f"Section {r.randint(1, 9)}.{r.randint(1, 9)}.{r.randint(1, 9)}.{r.randint(1, 9)} says more.",
    lambda r: f"The part {digits(r, 4)}-{digits(r, 4)}-{digits(r, 4)} fits.",
    lambda r: f"It is a {r.randint(5, 50)} Minute Drive from {r.choice(STREETS)} Street to the Square.",
    lambda r: f"Serial number {digits(r, 12)} was recalled.",
    lambda r: f"The results were {digits(r, 3)} {digits(r, 3)} {digits(r, 4)} and {digits(r, 5)}.",
    lambda r: f"Acme Corporation of New York sold {digits(r, 2)} Million Bonds on Wall Street.",
    lambda r: f"The act was born of {r.randint(1700, 1900)} and died in {r.randint(1901, 1999)}.",
    lambda r: f"ISO {digits(r, 5)}-{r.randint(1, 9)}:2016 and RFC {digits(r, 4)} rule it.",
    lambda r: (
        f"He scored {r.randint(1, 9)}-{r.randint(1, 9)}, {r.randint(1, 9)}-{r.randint(1, 9)}, 7-6 at Queen Street Park."
    ),
    lambda r: f"doi:10.{digits(r, 4)}/{digits(r, 7)}.{digits(r, 4)}.{digits(r, 7)}",
)
