"""Types of entities, as engines write them, and which of them may be one thing."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from sensegraph.language import naming_words
from sensegraph.language.text import WORD, fold
from sensegraph.resolution.resolution_types import Mentioned, Resolving

Agreement = Literal["agree", "differ", "conflict"]
_SAYS_NOTHING = frozenset(("", "other", "misc", "miscellaneous", "unknown", "entity", "thing", "concept", "none"))


@lru_cache(maxsize=1 << 12)
def kind_of_type(type: str) -> str:
    """The kind of thing that a type names: person, organisation, place…; its own folded text if it names none of them.

    Empty for a type that says nothing, such as `other`.
    """
    said = fold(type)
    if said in _SAYS_NOTHING:
        return ""
    words = [word for match in WORD.findall(said.replace("_", " ")) for word in match.split("-")]
    return next((naming_words.KINDS[word] for word in reversed(words) if word in naming_words.KINDS), said)


def compare_types(a: Mentioned, b: Mentioned, settings: Resolving) -> Agreement:
    """Whether two types may be one thing's: types of different known kinds conflict, unless the settings pair them."""
    one, other = kind_of_type(a.type), kind_of_type(b.type)
    types = {fold(a.type), fold(b.type)}
    paired = any({fold(x), fold(y)} == types for x, y in settings.cross_types)
    if not one or not other or one == other or paired:
        return "agree"
    known = frozenset(naming_words.KINDS.values())
    return "conflict" if one in known and other in known else "differ"
