"""Names that one sentence sets side by side are two things: Slovakia and Slovenia, GPT-4 versus GPT-4o."""

from __future__ import annotations

import re

_BETWEEN = re.compile(
    r"\s*(?:,\s*)?(?P<word>and|or|nor|&|versus|vs\.?|than|unlike|but not|not|from|und|oder|et|ou|y|e|o|och|og|и|или|"
    r"和|与|與|跟|及|、|と|や|및|와|과)\s*(?:(?:the|a|an|its|his|her|in|die|der|das|le|la|les|el|los)\s+)?",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W_]")


def find_contrast(text: str, one: tuple[int, int], other: tuple[int, int]) -> str:
    """The word by which `text` sets two names, given as half-open spans, side by side; or nothing.

    Only what stands between them is looked at. Spans that overlap set nothing apart.
    """
    first, second = sorted((one, other))
    between = text[first[1] : second[0]]
    found = _BETWEEN.fullmatch(between) if first[1] < second[0] else None
    if found is None:
        return ""
    word = found["word"]
    glued = _LETTER.match(word) and word.isascii() and (not between[0].isspace() and between[0] != ",")
    return "" if glued else word.casefold().rstrip(".")
