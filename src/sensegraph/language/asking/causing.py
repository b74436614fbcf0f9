"""How questions ask for a cause, and how texts give one: patterns for English and, in part, other languages."""

from __future__ import annotations

import re

from sensegraph.language.word_lists import Patterns

CAUSE_CUES = Patterns("causes", re.IGNORECASE)


def asks_cause(question: str) -> bool:
    """Whether a question asks why something is so, or how one thing led to another."""
    return any(CAUSE_CUES[name].search(question) for name in ("asks why", "asks how"))
