"""How large and how deep a page of HTML would be: told from its tags before it is parsed.

By its standard a page is parsed in the square of its depth, and marks that stay open (`<b id=1>`) are opened anew in
each paragraph, so that a small page can become one of gigabytes.
"""

from __future__ import annotations

import re
from collections import Counter

from sensegraph.errors import InputError

_LONGEST = 20_000_000  # characters of a page; an attribute of four takes 100 bytes
_MOST_TAGS = 1_000_000  # a tag takes up to 400 bytes
_DEEPEST = 1_000  # elements in one another; browsers build some five hundred
_COPIES = 2  # marks that are opened anew, for each character of the page
_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|textarea|title)\b.*?(?:</\1|\Z)|<(/?)([a-z][^\s<>/]*+)([^<>]*+)", re.I | re.S
)
_ALONE = frozenset(  # elements that hold nothing, and those that the next of their kind ends
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr html head body "
    "p li dt dd option optgroup tr td th tbody thead tfoot colgroup rb rp rt rtc".split()
)
_FORMATTING = frozenset("a b big code em font i nobr s small strike strong tt u".split())


def check_nesting(page: str) -> None:
    """Raise InputError for a page so long or so deep that parsing it would take very long or very much memory."""
    if len(page) > _LONGEST or page.count("<") > _MOST_TAGS:
        raise InputError(f"has more than {_LONGEST:,} characters or {_MOST_TAGS:,} tags; save the page's text.")
    if page.count("<") <= _DEEPEST:
        return
    opened, depth, marks, copies = Counter[str](), 0, 0, 0
    most = _COPIES * len(page)
    for tag in _TAG.finditer(page):
        name = (tag[3] or "").lower()
        if not name or name in _ALONE:
            copies += marks
        elif tag[2]:
            if opened[name]:
                opened[name] -= 1
                depth -= 1
                marks -= name in _FORMATTING
        elif not (tag[4].endswith("/") and (opened["svg"] or opened["math"])):
            opened[name] += 1
            depth += 1
            if name in _FORMATTING:
                marks += 1
            else:
                copies += marks
        if depth > _DEEPEST or copies > most:
            raise InputError(f"nests more than {_DEEPEST} elements in one another; save the page's text.")
