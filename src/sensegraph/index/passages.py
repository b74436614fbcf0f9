"""Records of the index as passages that can be read and cited."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from sensegraph.language.text import count_tokens
from sensegraph.runtime.keys import document_part
from sensegraph.types import Chunk, Claim, Description, Entity, Passage, Relation, Source

T = TypeVar("T")
_QUOTES = 20  # sentences behind one record that it may be cited with


def chunk_passage(chunk: Chunk, score: float = 0.0) -> Passage:
    """A chunk with its whole text as source."""
    source = Source(chunk.id, 0, len(chunk.text))
    return Passage("chunk", chunk.id, chunk.text, score, chunk.title, (source,), documents=1)


def entity_passage(entity: Entity, score: float = 0.0) -> Passage:
    """An entity with what is said of it."""
    quotes, documents = _citable_quotes(entity.descriptions), _count_documents(entity.chunks)
    return Passage("entity", entity.id, entity.description, score, entity.name, quotes=quotes, documents=documents)


def relation_passage(relation: Relation, source: str, target: str, score: float = 0.0) -> Passage:
    """A relation, called by the names of its ends."""
    text = f"{relation.label}: {relation.description}" if relation.label else relation.description
    quotes, documents = _citable_quotes(relation.descriptions), _count_documents(relation.chunks)
    return Passage("relation", relation.id, text, score, f"{source} — {target}", quotes=quotes, documents=documents)


def claim_passage(claim: Claim, subject: str) -> Passage:
    """A claim about the entity called `subject`."""
    dates = " to ".join(d for d in (claim.starts, claim.ends) if d)
    text = " | ".join(part for part in (claim.object, claim.type, claim.status, dates, claim.description) if part)
    quotes = (Description(claim.description, claim.source),)
    return Passage("claim", claim.id, text, title=subject, quotes=quotes, documents=1)


def _citable_quotes(descriptions: tuple[Description, ...]) -> tuple[Description, ...]:
    return tuple(d for d in descriptions if d.source.end > d.source.start)[:_QUOTES]


def _count_documents(chunks: tuple[str, ...]) -> int:
    return len(set(map(document_part, chunks)))


def passage_tokens(passage: Passage) -> int:
    """Tokens that a passage takes in a context."""
    return count_tokens(passage.title) + count_tokens(passage.text)


class Room:
    """Tokens that are left to fill."""

    def __init__(self, left: float) -> None:
        self.left = left

    def filled(self, items: Iterable[T], size: Callable[[T], int]) -> list[T]:
        """The first of `items` that fit, whole; nothing after the first that does not fit is made."""
        kept: list[T] = []
        for item in items:
            if (need := size(item)) > self.left:
                break
            self.left -= need
            kept.append(item)
        return kept
