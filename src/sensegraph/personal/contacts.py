"""Where a person can be reached, lives, and when they were born: phones, mail, pages, machines, addresses, birthdays.

Telephone numbers go by Google's rules for the numbers of every country (the library phonenumbers). Addresses and dates
of birth need words that say what they are.
"""

from __future__ import annotations

import ipaddress
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain
from typing import Any

from sensegraph.errors import SettingsError
from sensegraph.language.word_lists import ABBREVIATED_MONTHS, MONTHS
from sensegraph.personal.personal_settings import Span

_MONTHS = "|".join(dict.fromkeys([*chain(*MONTHS.values()), *ABBREVIATED_MONTHS, "jänner"]))
_PATTERNS = tomllib.loads((files("sensegraph") / "personal" / "data" / "patterns.toml").read_text("utf-8"))


def read_pattern(name: str) -> str:
    """The regular expression of `data/patterns.toml` that is called so, its parts in their places."""
    given = _MONTHS if name == "months" else "".join(_PATTERNS[name])
    return re.sub(r"\(\?&(\w+)\)", lambda part: read_pattern(part[1]), given)


_LOCAL = re.compile(r"[\w.+%'\-]{1,64}$")
_HOST = re.compile(r"(?:[^\W_][\w\-]{0,62}\.){1,8}[^\W\d_]{2,24}(?![\w@])|\[?\d{1,3}(?:\.\d{1,3}){3}\]?")
_SPELT = re.compile(
    r"(?<![\w.])([\w.+\-]{1,64}) ?[\[({] ?at ?[\])}] ?"
    r"((?:[\w\-]{1,63}(?: ?[\[({] ?dot ?[\])}] ?|\.)){1,5}[^\W\d_]{2,24})\b",
    re.IGNORECASE,
)
_DOT = re.compile(r" ?[\[({] ?dot ?[\])}] ?", re.IGNORECASE)
_NEVER = frozenset("png jpg jpeg gif svg webp css js txt html htm pdf mp3 mp4 csv tsv json jsonl xml docx xlsx".split())
_FILES = _NEVER | frozenset("md rst py ts rs go zip doc".split())  # endings of files, some of hosts as well
_MACHINES = frozenset({"git", "svn", "hg"})  # git@host:path names a repository

_URL = re.compile(
    r"(?:https?://|ftp://|www\.)[^\s<>\"'“”‘’«»]{3,500}|(?<![\w.@/])(?:[a-z]{2,20}\.)+[a-z]{2,6}/[^\s<>\"']{2,200}"
)
_TAIL = ".,;:!?)]}…"
_USER = re.compile(read_pattern("user"), re.IGNORECASE)

_V4 = re.compile(r"(?<![\w.\-])(?:\d{1,3}\.){3}\d{1,3}(?![\w\-]|\.\d)")
_V6 = re.compile(r"(?<![\w:.])[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}(?:(?<=:)(?:\d{1,3}\.){3}\d{1,3})?(?![\w:])")
_VERSION = re.compile(read_pattern("version"), re.IGNORECASE)
_MACHINE = re.compile(read_pattern("machine"), re.IGNORECASE)


def find_emails(text: str) -> Iterator[Span]:
    """Addresses of electronic mail, also those spelt `name [at] host [dot] org`."""
    for at in re.finditer("@", text):
        local = _LOCAL.search(text, max(0, at.start() - 64), at.start())
        host = _HOST.match(text, at.end())
        name = host[0] if host else ""
        rest, _, last = name.rpartition(".")
        if last.casefold() in _FILES:  # the ending of a file that is named after an address is no part of it
            if "." in rest and not rest.rpartition(".")[2].isdecimal():
                name = rest
            elif last.casefold() in _NEVER:
                name = ""
        if local and name and local[0].strip(".'%") and local[0] not in _MACHINES:
            start, end = local.end() - len(local[0].lstrip(".'%")), at.end() + len(name)
            yield Span("email", start, end, text[start:end].casefold())
    for match in _SPELT.finditer(text):
        plain = f"{match[1]}@{_DOT.sub('.', match[2])}"
        yield Span("email", match.start(), match.end(), plain.casefold())


def find_user_urls(text: str) -> Iterator[Span]:
    """Addresses of pages that name a user: a profile, a home folder, a login."""
    for match in _URL.finditer(text):
        whole = match[0].rstrip(_TAIL)
        if _USER.search(whole):
            yield Span("url", match.start(), match.start() + len(whole), whole.rstrip("/").casefold())


def find_ip_addresses(text: str) -> Iterator[Span]:
    """Addresses of machines (IPv4, IPv6) that may be somebody's; not those that every machine has of itself."""
    for match in _V4.finditer(text):
        if _is_foreign_address(match[0]) and not _VERSION.search(text[max(0, match.start() - 20) : match.start()]):
            small = all(len(part) == 1 for part in match[0].split("."))  # like the number of a paragraph
            if not small or _MACHINE.search(text[max(0, match.start() - 30) : match.start()]):
                yield Span("ip", match.start(), match.end(), match[0])
    for match in _V6.finditer(text):
        if len(match[0]) > 5 and any(c.isdigit() for c in match[0]) and _is_foreign_address(match[0]):
            yield Span("ip", match.start(), match.end(), match[0].casefold())


def _is_foreign_address(text: str) -> bool:
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return False
    return not (found.is_loopback or found.is_unspecified or found.is_multicast or text.startswith("255."))


_DIGITS = re.compile(r"\+?\(?\d[\d \t().\-/\u2010-\u2013\u00a0]{5,24}\d")
_CALL = re.compile(read_pattern("call"), re.IGNORECASE)
_NUMBERED = re.compile(read_pattern("numbered"), re.IGNORECASE)  # what has digits of its own
_RANGE = re.compile(r"\u2013|^[^(]*\)|\d\.\d{4,}")  # 1310–1331, (1947) 234 2000, 49.842182
_ANYWHERE = "ZZ"  # the library's word for no region: numbers with + alone


def find_phones(text: str, regions: Sequence[str]) -> Iterator[Span]:
    """Telephone numbers that are given out; those without `+` are looked for in `regions`.

    Raises SettingsError for a region that nobody knows.
    """
    book = _Book.of(regions)
    for run in _DIGITS.finditer(text):
        before = text[max(0, run.start() - 40) : run.start()]
        called = bool(_CALL.search(before))
        # set as no number is: a range, a decimal, or more and smaller groups than any country has
        groups = re.findall(r"\d+", run[0])
        odd = bool(_RANGE.search(run[0])) or len(groups) > 6 or not 7 <= sum(map(len, groups)) <= 15
        if run[0][0] == "+" or not (_NUMBERED.search(before) or (not called and odd)):
            span = book.first(text, *run.span(), called=called)
            yield from [span] if span else []


@dataclass(frozen=True, slots=True)
class _Book:
    """The library, and the regions in which numbers are looked for."""

    library: Any
    regions: Sequence[str]

    @classmethod
    def of(cls, regions: Sequence[str]) -> _Book:
        import phonenumbers  # 40 ms: loaded where telephone numbers are looked for

        if wrong := [r for r in regions if r not in phonenumbers.SUPPORTED_REGIONS]:
            raise SettingsError(
                f"personal.regions: {wrong[0]!r} is no region; give capitals of ISO 3166, such as US or DE."
            )
        return cls(phonenumbers, regions)

    def first(self, text: str, start: int, end: int, *, called: bool) -> Span | None:
        """The number in a run of digits, of the first region that has it: the longest, where other digits follow it.

        A number without `+`, and without a word before it that speaks of calling, must be the whole run, and be
        grouped as its country does it.
        """
        sure = text[start] == "+"
        ends = [m.start() for m in re.finditer(r"\s", text[start:end])] if sure or called else []
        for region in [_ANYWHERE] if sure else self.regions:
            for cut in (end, *(start + e for e in reversed(ends))):
                if found := self._number(text[max(0, start - 2) : cut], text[cut : cut + 12], region, sure or called):
                    shift = max(0, start - 2)
                    return Span("phone", shift + found[0], shift + found[1], found[2])
        return None

    def _number(self, written: str, behind: str, region: str, likely: bool) -> tuple[int, int, str] | None:
        lib = self.library
        behind = "" if behind[:1].isspace() and behind.lstrip()[:1].isdigit() else behind  # an extension may follow
        strict = lib.Leniency.VALID if likely else lib.Leniency.STRICT_GROUPING
        for found in lib.PhoneNumberMatcher(written + behind, region, leniency=strict):
            if likely or len(re.findall(r"\d+", found.raw_string)) > 1:  # one run of digits may be anything
                return found.start, found.end, lib.format_number(found.number, lib.PhoneNumberFormat.E164)
        return None


_BORN = re.compile(read_pattern("born"), re.IGNORECASE)
_POSTAL = re.compile(read_pattern("postal"))
_COUNTED = re.compile(read_pattern("counted"))
_DATED = re.compile(read_pattern("dated"), re.IGNORECASE)
_AT = re.compile(read_pattern("at"), re.IGNORECASE)
_YEARLY = re.compile(r"(?:1[5-9]|20)\d\d [A-Z]")  # 1994 Silver Circle: a year, unless a word says that it is a place
_SURE = re.compile(f"{read_pattern('zip')}$")


def find_birthdays(text: str) -> Iterator[Span]:
    """Whole dates behind words that make them a date of birth."""
    for match in _BORN.finditer(text):
        yield Span("birthday", match.start("date"), match.end("date"), " ".join(match["date"].casefold().split()))


def find_postal_addresses(text: str) -> Iterator[Span]:
    """Postal addresses: a street with its number, and what follows of town and postcode; post-office boxes."""
    for match in _POSTAL.finditer(text):
        whole, before = match[0].rstrip(" ,"), text[max(0, match.start() - 14) : match.start()]
        # the number that opens an address is a house's, and not a count, a day or a year
        yearly = _YEARLY.match(whole) and not _AT.search(before)
        if _SURE.search(whole) or not (_COUNTED.match(whole) or _DATED.search(before) or yearly):
            yield Span("address", match.start(), match.start() + len(whole), " ".join(whole.casefold().split()))
