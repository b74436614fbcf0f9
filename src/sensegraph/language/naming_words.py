"""Words that say little, or everything, about whether two names are one thing, and forms of countries; all folded.

The lists are short on purpose: each entry is common knowledge of how names are written (`data/lexicons/names.txt`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from sensegraph.language.word_lists import (
    ENGLISH_MONTHS,
    ENGLISH_WEEKDAYS,
    read_forms,
    read_lines,
    read_sections,
    read_table,
)

_SECTIONS = read_sections("lexicons/names")
_LISTS = {section: frozenset(" ".join(lines).split()) for section, lines in _SECTIONS.items()}


LEGAL = _LISTS["legal"]
"""Legal forms of firms: left out where other words remain."""
LEGAL_TAILS = tuple(_SECTIONS["legal-tails"])
"""Legal forms in scripts without blanks, as they end (or, in Japanese and Korean, begin) a name."""
ARTICLES = _LISTS["articles"]
"""Articles, left out at the beginning of a name."""
SMALL = _LISTS["small"]
"""Words between the words of a name that an acronym may leave out."""
HONORIFICS = _LISTS["honorifics"]
"""Titles before a name that only persons have: left out where other words remain."""
AFTER = _LISTS["after"]
"""What stands behind the name of a person."""
OFFICES = _LISTS["offices"]
"""Titles that other names begin with too (General Motors): left out of those of persons."""
WOMAN = _LISTS["woman"]
MAN = _LISTS["man"]
GENERATIONS = MappingProxyType({"jr": "jr", "junior": "jr", "sr": "sr", "senior": "sr"})
"""What tells a child from a parent of the same name."""
PARTICLES = _LISTS["particles"]
"""Words that belong to the family name after them."""
NUMBERS = MappingProxyType(
    {word: str(number) for number, line in enumerate(_SECTIONS["numbers"]) for word in line.split()}
)
"""Numbers that are written as words."""
ROMAN = MappingProxyType(
    {
        roman: str(number)
        for number, roman in enumerate("i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii".split(), 1)
    }
)
GREEK = _LISTS["greek"]
UNITS = _LISTS["units"]
"""What may stand at the end of a number without a blank: `8gb` is 8, and gb."""
EXPANSIONS = MappingProxyType({short: full for full, forms in read_table(_SECTIONS["expansions"]) for short in forms})
"""Abbreviations that stand for one word whatever the name."""

_GIVEN: dict[str, tuple[str, ...]] = {}
for _name, _nicks in read_table(read_lines("nicknames")):
    for _nick in _nicks:
        _GIVEN[_nick] = (*_GIVEN.get(_nick, ()), _name)
NICKNAMES = MappingProxyType(_GIVEN)
"""Given names by their common short forms (English, a few German): `bob` → (`robert`,)."""

CONTRASTS = (
    *(frozenset(line.split()) for line in _SECTIONS["contrasts"]),
    frozenset(ENGLISH_MONTHS),
    frozenset(ENGLISH_WEEKDAYS),
)
"""Words of which one name has one and the other another: then they are different things."""
NEGATIONS = _LISTS["negations"]
"""Words that turn the meaning of a name: one name has it, the other does not."""
HEADS = _LISTS["heads"]
"""What a name becomes the name of another thing with: Nobel, Nobel Prize."""
CJK_KINDS = MappingProxyType({ending: kind for ending, (kind,) in read_table(_SECTIONS["place-kinds"])})
"""What kind of place a Chinese, Japanese or Korean name ends with; of several endings the first one counts."""
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]")
"""A character of a script that writes no blanks within names."""
KINDS = MappingProxyType({word: kind for kind, words in read_table(_SECTIONS["type-kinds"]) for word in words})
"""The kind of thing that a type of an entity tells of, by its words."""


COUNTRY = read_forms(read_lines("countries"))
"""The name of the country for each of its other forms, both folded: `danish` → `denmark`, `u s` → `united states`."""
CARRIERS = _LISTS["carriers"]
"""What a thing comes as (a DVD, an abstract): in parentheses it tells nothing apart."""


@cache
def list_regions() -> Mapping[str, str]:
    """Parts of countries, and countries, by their names and codes, folded: what stands behind the name of a place."""
    return MappingProxyType(
        {form: form for form in COUNTRY.values()}
        | {form: name for form, name in COUNTRY.items() if len(form) <= 3 or name.startswith("united")}
        | {form: name for name, forms in read_table(_SECTIONS["regions"]) for form in (name.replace("-", " "), *forms)}
    )
