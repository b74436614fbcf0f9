"""A chunker: a chunk for each paragraph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sensegraph.types import Document

PARAGRAPH = re.compile(r"\S(?:.*?\S)?(?=\s*\n\s*\n|\s*\Z)", re.DOTALL)


@dataclass(frozen=True)
class Paragraphs:
    """A paragraph ends at an empty line."""

    def fingerprint(self) -> str:
        """Everything that can change a span: it is part of every chunk's key."""
        return "paragraphs 1"

    def chunk(self, documents: Sequence[Document]) -> list[list[tuple[int, int]]]:
        """The spans of each document's chunks, in order: characters of its text, the end excluded."""
        return [[match.span() for match in PARAGRAPH.finditer(d.text)] for d in documents]
