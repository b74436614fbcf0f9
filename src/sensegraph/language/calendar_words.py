"""The names of months and weekdays, once: every pattern and list that needs them is derived from here."""

from __future__ import annotations

from types import MappingProxyType

_TABLE = """
english: january february march april may june july august september october november december
german: januar februar märz april mai juni juli august september oktober november dezember
french: janvier février mars avril mai juin juillet août septembre octobre novembre décembre
spanish: enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
italian: gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
dutch: januari februari maart april mei juni juli augustus september oktober november december
portuguese: janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
"""

_LINES = (line.split(": ") for line in _TABLE.strip().split("\n"))
MONTHS = MappingProxyType({language: tuple(names.split()) for language, names in _LINES})
"""The twelve months of each language, in lower case, from the first."""
ENGLISH_MONTHS = MONTHS["english"]
GERMAN_MONTHS = MONTHS["german"]
ENGLISH_WEEKDAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
"""In lower case, from Monday."""

SHORT_MONTHS = tuple(name[:3] for name in ENGLISH_MONTHS)
"""The English months by their first three letters: `jan` … `dec`."""
SHORT_FORMS = MappingProxyType(
    {
        **{name[:3]: number for number, name in enumerate(ENGLISH_MONTHS, 1) if len(name) > 3},
        "sept": 9,
        "okt": 10,
        "dez": 12,
        "mär": 3,
        "mrz": 3,
        "jän": 1,
        "jänner": 1,
    }
)
"""The number of the month for each short or regional form, English and German: `sept` → 9."""
MONTH_BEGINNINGS = frozenset({*(name[:3] for name in (*ENGLISH_MONTHS, *GERMAN_MONTHS, *SHORT_FORMS))})
"""Three letters with one of which every English and German form begins."""

_ABBREVIATIONS = tuple("sept?" if short == "sep" else short for short in SHORT_MONTHS)
ABBREVIATED_MONTHS = tuple(short for short in _ABBREVIATIONS if short not in ENGLISH_MONTHS)
"""Patterns of the English abbreviations without their point: `jan` … `sept?` … `dec`; May has none."""
ENGLISH_MONTH = "|".join(
    f"{short}(?:{name[len(short.rstrip('?')) :]})?" for short, name in zip(_ABBREVIATIONS, ENGLISH_MONTHS, strict=True)
)
"""The pattern of an English month, in full or abbreviated, without a group: `jan(?:uary)?|…`."""
