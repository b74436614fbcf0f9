"""Where a person lives and when they were born, as far as rules go: both need words that say what they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from sensegraph.language.word_lists import ABBREVIATED_MONTHS, MONTHS
from sensegraph.personal.personal_settings import Span

_MONTHS = "|".join(dict.fromkeys([*chain(*MONTHS.values()), *ABBREVIATED_MONTHS, "jänner"]))
_YEAR = r"(?:1[89]|20)\d\d"
_DATE = (
    rf"{_YEAR}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.] ?\d\d?[-/.] ?(?:{_YEAR}|\d\d)\b"
    rf"|\d\d?(?:st|nd|rd|th|er|º|\.)?(?: of| de)? (?:{_MONTHS})\.?,?(?: de)? {_YEAR}"
    rf"|(?:{_MONTHS})\.? \d\d?(?:st|nd|rd|th)?,? {_YEAR}|{_YEAR}年\d\d?月\d\d?日"
)
_BORN = re.compile(
    r"(?:(?<!\w)(?:(?:date of birth|birth ?date|birthday|d\.?o\.?b\.?|geburtsdatum|geburtstag|date de naissance|"
    r"fecha de nacimiento|data di nascita|data de nascimento|geboortedatum)(?: (?:is|was|ist|war|est|es|è))?|"
    r"born(?: in [A-Z][\w ]{1,30}?,?)?(?: on)?(?: the)?|"
    r"geboren(?: in [A-ZÄÖÜ][\w ]{1,30}?)?(?: am| op)?|geb\.(?: am)?|née? le|nacid[oa] el|nat[oa] il|nascid[oa] em)"
    r"|出生日期|出生于|生于|生年月日)(?P<gap>[\s:：,(=|\"']{0,4})"
    rf"(?P<date>{_DATE})(?!\d)",
    re.IGNORECASE,
)

_WORD = r"[A-ZÄÖÜÉÈÀÂÇÑ][\wäöüßéèàâçñ'’.\-]{0,24}"
_WAYS = (
    "Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Place|Pl|Square|Sq|Terrace|Ter|Crescent|Close|"
    "Way|Parkway|Pkwy|Highway|Hwy|Circle|Cir|Gardens|Grove|Mews|Row|Hill|Alley|Trail|Quay"
)
_UNIT = r"(?:,? (?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor|Fl|Room|Rm|#)\.? ?#?[\w\-]{1,6})?"
_ZIP = r"(?:[A-Z]{2},? \d{5}(?:-\d{4})?|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]{2},? [A-Z]\d[A-Z] ?\d[A-Z]\d)"
_PLACE = r"[A-ZÄÖÜÉÈ][^\W\d_'’.\-]{1,24}\.?"
_TOWN = rf"{_PLACE}(?:[ \-]{_PLACE}){{0,3}}"
_ENGLISH = (
    rf"(?:(?:Flat|Apt|Unit|Suite) ?\w{{1,4}},? )?\d{{1,5}}[A-Za-z]? (?!The )(?:[NSEW]\.? )?"
    rf"(?:{_WORD} |\d{{1,3}}(?:st|nd|rd|th) ){{1,4}}?"
    rf"(?:{_WAYS})\b(?!-)\.?(?: [NSEW]\b\.?)?{_UNIT}(?:(?:,? {_TOWN}){{0,2}}?,? {_ZIP}|(?:,? {_TOWN}){{0,2}})"
    rf"(?:,? (?:USA|UK|United Kingdom))?"
)
_ZIPPED = r"(?:D-|A-|CH-)?\d{4,5} [A-ZÄÖÜ][\wäöüß\-]+(?: [A-ZÄÖÜ][\wäöüß\-]+)?"
_GERMAN = (
    r"(?:[A-ZÄÖÜ][\wäöüß\-]{1,30}(?:straße|strasse|str\.|weg|platz|allee|gasse|stieg)|"
    r"[A-ZÄÖÜ][\wäöüß\-]{1,20} (?:Straße|Strasse|Str\.|Weg|Platz|Allee|Gasse|Ring|Damm|Ufer))"
    rf" \d{{1,4}} ?[a-hA-H]?\b(?:,? {_ZIPPED})?"
    r"|(?:[A-ZÄÖÜ][\wäöüß\-]{1,30}(?:ring|damm|ufer|hof)|(?:Am|An der|Im|Auf der|Unter den) [A-ZÄÖÜ][\wäöüß\-]{2,20})"
    rf" \d{{1,3}} ?[a-h]?,? {_ZIPPED}"  # not Engineering 101, nor Im Jahr 1900
)
_FRENCH = (
    r"\d{1,4}(?: ?(?:bis|ter))?,? (?:rue|avenue|boulevard|place|allée|chemin|impasse|quai|cours)"
    r" (?:de |du |des |la |le |les |l['’]|d['’]|de la ){0,3}[\wÀ-ÿ'’\-]{2,25}(?: [A-ZÀ-Ý][\wÀ-ÿ'’\-]{1,25}){0,2}"
    r"(?:,? \d{5} [A-ZÀ-Ý][\wÀ-ÿ'’\-]+)?"
)
_SOUTHERN = (
    r"(?:Calle|Avenida|Avda\.|Plaza|Paseo|Carrer|Via|Viale|Corso|Piazza|Rua|Praça|Travessa)"
    r" (?:de |del |de la |dos |das |da |do |della |dei )?[A-ZÀ-Ý][\wÀ-ÿ'’\-]{1,25}"
    r"(?: (?:de )?[A-ZÀ-Ý][\wÀ-ÿ'’\-]{1,25}){0,2}"
    r",? (?:n\.?º? ?)?\d{1,4}[A-Za-z]?\b(?:,? \d{4,5}(?:-\d{3})? [A-ZÀ-Ý][\wÀ-ÿ'’\-]+)?"
)
_DUTCH = (
    r"[A-Z][\w\-]{2,25}(?:straat|laan|weg|plein|gracht|kade|dreef|singel|hof) \d{1,4} ?[a-zA-Z]?\b"
    r"(?:,? \d{4} ?[A-Z]{2}(?: [A-Z][\w\-]+)?)?"
)
_BOX = (
    rf"(?:P\.? ?O\.? Box|Postfach|Apartado|Boîte postale|Casella postale) "
    rf"\d[\d ]{{0,8}}(?:(?:,? {_TOWN})?,? {_ZIP}|(?:,? {_TOWN})?)"
)
_POSTAL = re.compile(rf"(?<![\w.$€£,\-–])(?:{'|'.join((_ENGLISH, _GERMAN, _FRENCH, _SOUTHERN, _DUTCH, _BOX))})(?!\w)")
_COUNTED = re.compile(  # 5 Minute Drive, 12 Million Way: a count before what looks like a street
    r"\d[\w.]*,? (?:Minute|Hour|Day|Mile|Year|Million|Billion|Percent|Step|Part|Point|Star|State)s?\b"
)
_DATED = re.compile(rf"(?:{_MONTHS})\.? $", re.IGNORECASE)  # 6 of `Jan. 6 Capitol Hill`
_YEARLY = re.compile(r"(?:1[5-9]|20)\d\d [A-Z]")  # 1994 Silver Circle: a year, unless a word says that it is a place
_AT = re.compile(r"\b(?:at|to|from|address\W{0,2}|lives? in|live at|near|outside)\s+$", re.IGNORECASE)
_SURE = re.compile(rf"{_ZIP}$")


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
