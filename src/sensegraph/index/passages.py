"""Records of the index as passages that can be read, and references to them as citations of exact spans of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

from sensegraph.index.index import Index
from sensegraph.language.collapsing import locate_in_source
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import collect_terms, count_tokens
from sensegraph.runtime.keys import document_part
from sensegraph.types import (
    Answer,
    Chunk,
    Citation,
    Claim,
    Description,
    Document,
    Draft,
    Entity,
    Evidence,
    Passage,
    Relation,
    Source,
    Statement,
)

T = TypeVar("T")
_QUOTES = 20  # sentences behind one record that it may be cited with


def chunk_passage(chunk: Chunk, score: float = 0.0) -> Passage:
    """A chunk with its whole text as source."""
    source = Source(chunk.id, 0, len(chunk.text))
    return Passage("chunk", chunk.id, chunk.text, score, chunk.heading, (source,), documents=1)


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


_SPANS = 3  # citations for one statement whose sources the engine did not name exactly
_LONG = 400  # characters: a longer source is narrowed to the sentence that fits the statement best
_SHORT = 2  # sentences: so short a text without citations only says that nothing was found
_collect_quote_terms = lru_cache(4096)(collect_terms)  # the same quotes are compared with many statements


def ground_statements(statements: Iterable[Statement], passages: Sequence[Passage]) -> list[Statement]:
    """Statements with the sources behind their references: of each record the quotes nearest in words."""
    known = {p.id: p for p in passages}
    return [_ground_statement(s, known) for s in statements]


def _ground_statement(statement: Statement, known: Mapping[str, Passage]) -> Statement:
    if statement.sources or not statement.references:
        return statement
    said = collect_terms(statement.text)
    named = [known[name] for name in statement.references if name in known]
    candidates = [d for p in named for d in p.quotes or [Description(p.text, source) for source in p.sources]]
    best = sorted(enumerate(candidates), key=lambda pair: (-_word_overlap(said, pair[1].text), pair[0]))
    sources = dict.fromkeys(d.source for _, d in best)
    return replace(statement, sources=tuple(sources)[:_SPANS])


def _word_overlap(said: frozenset[str], text: str) -> float:
    """The share of the statement's words that `text` holds, less a little for length: 0 … 1."""
    words = _collect_quote_terms(text)
    return len(said & words) / (len(said) + 0.1 * len(words)) if said and words else 0.0


def cite_statements(statements: Iterable[Statement], index: Index) -> tuple[str, tuple[Citation, ...], int]:
    """The text with `[n]` after each statement that has sources, its citations, and how many sources did not resolve.

    One number stands for one span of one document; numbers rise in the order of the text. `quote` is the span's text.
    """
    listed = list(statements)
    writer = _Writer(index, index.chunks(sorted({s.chunk for st in listed for s in st.sources})))
    text = "".join(writer.written(s) for s in listed)
    return text.strip(), tuple(writer.citations.values()), writer.unresolved


class Teller:
    """Tells an answer statement by statement, with the markers that the whole text will have.

    What is told, joined, is the text of the answer.
    """

    def __init__(self, passages: Sequence[Passage], index: Index, hear: Callable[[str], None]) -> None:
        self.known = {p.id: p for p in passages}
        self.writer, self.hear = _Writer(index, {}), hear
        self.held, self.count, self.begun = "", 0, False

    def tell(self, statement: Statement) -> None:
        """Tell one more statement; white space is held back until something follows it."""
        grounded = _ground_statement(statement, self.known)
        self.writer.chunks |= self.writer.index.chunks(sorted({s.chunk for s in grounded.sources}))
        text = self.held + self.writer.written(grounded)
        said = text.rstrip() if self.begun else text.strip()
        self.held, self.count = text[len(text.rstrip()) :] if said else text, self.count + 1
        if said:
            self.begun = True
            self.hear(said)


class _Writer:
    """The text as far as it is written, and its citations."""

    def __init__(self, index: Index, chunks: dict[str, Chunk]) -> None:
        self.index, self.chunks = index, chunks
        self.documents: dict[str, Document] = {}
        self.citations: dict[tuple[str, int, int], Citation] = {}
        self.unresolved = 0

    def written(self, statement: Statement) -> str:
        """The statement's text with its markers before the white space at its end; blanks alone need none."""
        if not statement.text.strip():
            return statement.text
        markers = dict.fromkeys(m for s in statement.sources if (m := self._marker(s, statement.text)))
        cut = len(statement.text.rstrip())
        marks = "".join(f"[{m}]" for m in markers)
        return f"{statement.text[:cut]} {marks}{statement.text[cut:]}" if marks else statement.text

    def _marker(self, source: Source, said: str) -> int | None:
        chunk = self.chunks.get(source.chunk)
        if chunk is None or not 0 <= source.start < source.end <= len(chunk.text):
            self.unresolved += 1
            return None
        start, end = _narrow_span(chunk.text, source.start, source.end, said)
        whole = self._document(chunk.document).text
        place = (chunk.document, *locate_in_source(whole, chunk.start, chunk.text, start, end))
        if place not in self.citations:
            quote = whole[place[1] : place[2]]
            told = self.index.page(place[0], place[1]), self.index.figure(place[0], place[1])
            self.citations[place] = Citation(len(self.citations) + 1, *place, quote, *told)
        return self.citations[place].marker

    def _document(self, name: str) -> Document:
        if name not in self.documents:
            self.documents[name] = self.index.document(name)
        return self.documents[name]


def _narrow_span(text: str, start: int, end: int, said: str) -> tuple[int, int]:
    """The sentence of a long span that shares most words with what is said; a short span as it is."""
    if end - start <= _LONG:
        return start, end
    words = collect_terms(said)
    spans = split_sentences(text[start:end]) or [(0, end - start)]
    first, last = max(spans, key=lambda s: (_word_overlap(words, text[start + s[0] : start + s[1]]), -s[0]))
    return start + first, start + last


def answer_from_draft(draft: Draft, evidence: Evidence, index: Index) -> Answer:
    """The answer of a draft: its statements grounded in the evidence, cited, and what got lost said in the notes."""
    text, citations, unresolved = cite_statements(ground_statements(draft.statements, evidence.passages), index)
    lost = draft.dangling + unresolved
    notes = [*evidence.notes, *draft.notes]
    if lost:
        notes.append(f"removed {lost} invalid citations")
    if len(split_sentences(text)) > _SHORT and not citations:
        notes.append("the model cited no source; treat this answer as unverified")
    return Answer(text, citations, evidence, notes=tuple(notes), abstained=draft.abstained)


def documents_behind(passages: Iterable[Passage], index: Index) -> tuple[str, ...]:
    """The documents behind passages, best passage first, each once."""
    sources = dict.fromkeys(s.chunk for p in passages for s in (*p.sources, *(q.source for q in p.quotes)))
    documents = index.documents_of(sorted(sources))
    return tuple(dict.fromkeys(documents[c] for c in sources if c in documents))
