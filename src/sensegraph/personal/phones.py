"""Telephone numbers, by Google's rules for the numbers of every country (the library phonenumbers)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sensegraph.errors import SettingsError
from sensegraph.personal.personal_settings import Span

_DIGITS = re.compile(r"\+?\(?\d[\d \t().\-/\u2010-\u2013\u00a0]{5,24}\d")
_CALL = re.compile(
    r"(?:\b(?:tel|telephone|telefon|téléphone|teléfono|telefono|phone|call|dial|ring|mobile|cell|handy|mobil|fax|fon|"
    r"ph|text|sms|whatsapp|contact|reach|number|rufnummer|anruf\w*|appelez|portable)\b|[☎✆📞])[^\n]{0,30}$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(  # what has digits of its own
    r"\b(?:isbn|issn|doi|order|invoice|ticket|case|ref|reference|id|sku|serial|part|model|article|account|acct|imei|"
    r"tracking|arxiv|pmid|version|page|pages|pp|vol|patent|bestell\w*|rechnung\w*|auftrag\w*)\b(?:\W?(?:no|nr|number|#))?"
    r"[^\w\n]{0,4}$",
    re.IGNORECASE,
)
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
