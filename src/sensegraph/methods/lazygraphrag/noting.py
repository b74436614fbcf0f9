"""The noun phrases of chunks as a step: what the concept graph is built of (lazygraphrag §2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from sensegraph.language.noun_phrases import OneWord, Reader
from sensegraph.runtime.results import step
from sensegraph.types import Chunk


@dataclass(frozen=True, slots=True)
class Noted:
    """What a chunk speaks of: its noun phrases, folded, in the order of the text, and a hash of the text itself."""

    text: str
    phrases: tuple[str, ...]


@step("nounphrases.note", version=2)
def note(documents: Sequence[tuple[Chunk, ...]], *, one_word: OneWord) -> list[tuple[Noted, ...]]:
    """The noun phrases of every chunk of each document."""
    reader = Reader(one_word)
    return [
        tuple(
            Noted(
                blake2b(chunk.text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest(),
                reader.phrases(chunk.text),
            )
            for chunk in chunks
        )
        for chunks in documents
    ]
