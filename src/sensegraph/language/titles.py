"""The names that a document bears: its title, what stands over its parts, and what its first sentences call it.

These are the owned names of the walk: a passage that mentions one leads to the document that bears it.
"""

from __future__ import annotations

import re

from sensegraph.language.calendar_words import ENGLISH_MONTHS

_MONTH = f"(?:{'|'.join(map(str.title, ENGLISH_MONTHS))})"
_DATED = rf"(?:born|died|b\.|c\.|d\.|ca\.|née|\d|{_MONTH}\s*\d|geboren)"
_BORN = re.compile(rf"^\s*([^\W\d_][^()\n:;]{{1,60}}?)\s*\(\s*{_DATED}")
_KNOWN = re.compile(
    r"\b(?:known|called|titled|nicknamed|abbreviated|published|released|credited|billed|referred to)"
    r"(?: (?:as|by|simply as|professionally as|to))?\s+(?:the )?[\"“‘`']*"
    r"([A-Z0-9](?:[^,.;:()\"”\n]|(?<=\b[A-Z])\.){1,50})"
)
_ALSO = frozenset(
    "also formerly commonly professionally better originally previously popularly widely often simply "
    "sometimes officially usually generally once otherwise now best".split()
)
_LEAD = re.compile(
    r"^\s*((?:(?:The|A|An)\s+)?[^\W_a-zß-öø-ÿ][^(,:;.!?\n\"“]{0,80}?)"
    r"\s*(?:\(|,|\s(?:is|was|are|were|refers|ist|war|sind|est|était|es|fue|era|è)\s)"
)
_NO_LEAD = frozenset(
    "in on at by for from with as after before during since when while if although this that these those there it he "
    "she they we you i his her their its our my and but so yes no what who how why where which one some many most all "
    "both each not then now here well okay ok yeah hey hi hello".split()
)
_HASHES = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_PLAIN = re.compile(r"(?:\A|\n[ \t]*\n)[ \t]*([^\W_a-zß-öø-ÿ][^\n.!?:;,|]{1,70})\n(?=[ \t]*\n?[ \t]*[^\n]{60})")
_MOST = 8  # words of a heading or of a lead name


def list_title_names(title: str) -> list[str]:
    """The names in a title: without its parenthesis, and the part before a comma."""
    whole = re.sub(r"\s*\([^)]*\)\s*$", "", title).strip() or title.strip()
    part = whole.partition(",")[0].strip()
    return [name for name in dict.fromkeys((whole, part)) if name]


def find_lead_name(opening: str) -> str:
    """What a text without a title begins by speaking of: the subject of its first sentence; may be empty."""
    found = _LEAD.match(opening)
    if not found:
        return ""
    words = found[1].split()
    return found[1] if len(words) <= _MOST and words[0].casefold() not in _NO_LEAD else ""


def find_aliases(opening: str) -> list[str]:
    """Other names that the first sentences give to what they speak of."""
    found: list[str] = []
    if born := _BORN.match(opening):  # the name before a date of birth, and its first and last word
        words = born[1].replace(",", " ").split()
        if len(words) <= _MOST and "known" not in words:
            found += [born[1], f"{words[0]} {words[-1]}"] if len(words) > 2 else [born[1]]
    for known in _KNOWN.finditer(opening):
        before = opening[: known.start()].rsplit(None, 1)[-1:]
        if before and before[0].casefold().strip("(,") in _ALSO:
            name = re.split(r"\s(?:or|and|is|was|in|for|from)\s", known[1])[0].strip(" '\"`")
            if len(name.split()) <= _MOST:
                found.append(name)
    return list(dict.fromkeys(found))


def find_headings(text: str) -> list[str]:
    """The headings in a text: lines marked with #, or short lines without a stop that stand over a paragraph."""
    found = [(m.start(1), m[1]) for pattern in (_HASHES, _PLAIN) for m in pattern.finditer(text)]
    kept = [name.strip(" *_") for _, name in sorted(found) if len(name.split()) <= _MOST]
    return list(dict.fromkeys(n for name in kept for n in list_title_names(name)))
