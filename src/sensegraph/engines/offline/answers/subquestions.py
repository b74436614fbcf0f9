"""A question that asks for several things, in its parts: "What changed in May, and who announced it?"."""

from __future__ import annotations

import re

from sensegraph.language.text import WORD

_PARTS = re.compile(
    r",?\s+(?:and|und|et|y)\s+(?=(?:what|who|whom|whose|why|when|where|how|which|does|did|is|was|has|"
    r"was|wer|wann|wo|wie|warum|welche\w*|quand|où|pourquoi|comment|cuándo|dónde|cómo)\b)",
    re.IGNORECASE,
)


def split_question(question: str) -> list[str]:
    """The parts of a question in order; the whole where it asks for one thing."""
    return [part for part in _PARTS.split(question.strip()) if WORD.search(part)]
