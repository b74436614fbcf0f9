"""The leaves of RAPTOR's tree: a few whole sentences each, cut inside the chunks of an index (Sarthi et al. 2024, §3).

Every character of a document that is no white space stands in exactly one leaf, also where chunks overlap.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from sensegraph.language.text import count_tokens, split_sentences
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import step
from sensegraph.types import Chunk, Passage, Source

_CLAUSE = re.compile(r"[,;:](?=\s)|[，；：、]")
_SPACE = re.compile(r"\s+")
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A stretch of a chunk: its text is `chunk.text[start:end]`.

    `id` comes from the document, the text, and how often the document said it before, so that it stays when the text
    moves.
    """

    id: str
    chunk: str
    start: int
    end: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Leaves:
    """All leaves, in the order of documents and text."""

    leaves: Sequence[Leaf] = ()


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence, or a part of one that is too long: characters of a document, and the chunk that holds it whole.

    Pieces of one `run` may stand in one leaf.
    """

    start: int
    end: int
    chunk: Chunk
    run: int


@step("leaves.leaves", version=1, form="tables")
def make_leaves(wholes: Sequence[Iterable[Chunk]], *, size: int) -> list[Leaves]:
    """The leaves of chunks, given document by document in order; at most `size` tokens each."""
    return [Leaves(tuple(_cut_leaves(chunks, size))) for chunks in wholes]


def leaf_texts(found: Leaves, chunks: Iterable[Chunk]) -> list[str]:
    """The texts of leaves, in their order; `chunks` are all that they were cut from."""
    text = {c.id: c.text for c in chunks}
    return [text[leaf.chunk][leaf.start : leaf.end] for leaf in found.leaves]


def leaf_passage(leaf: Leaf, chunk: Chunk, score: float = 0.0) -> Passage:
    """A leaf with its exact span."""
    source = Source(chunk.id, leaf.start, leaf.end)
    return Passage("chunk", leaf.id, chunk.text[leaf.start : leaf.end], score, chunk.title, (source,), documents=1)


def _cut_leaves(chunks: Iterable[Chunk], size: int) -> Iterator[Leaf]:
    for document, mine in groupby(chunks, key=lambda c: c.document):
        said = Counter[str]()
        for kept, count in _pack_pieces(_cut_sentences(list(mine), size), size):
            chunk, start, end = kept[-1].chunk, kept[0].start, kept[-1].end
            text = chunk.text[start - chunk.start : end - chunk.start]
            said[text] += 1
            name = key("leaf", document, text, said[text])[:24]
            yield Leaf(name, chunk.id, start - chunk.start, end - chunk.start, count)


def _pack_pieces(pieces: Iterable[_Piece], size: int) -> Iterator[tuple[list[_Piece], int]]:
    """Pieces in order, as many as `size` tokens and one chunk hold, and their tokens."""
    kept: list[_Piece] = []
    count = 0
    for piece in pieces:
        more = _tokens_between(kept[0] if kept else piece, piece)
        if kept and (more is None or more > size or piece.run != kept[0].run):
            yield kept, count
            kept, more = [], _tokens_between(piece, piece)
        kept.append(piece)
        count = more or 0
    if kept:
        yield kept, count


def _tokens_between(first: _Piece, last: _Piece) -> int | None:
    """The tokens from one piece to another; None where the chunk of the last does not hold both."""
    chunk = last.chunk
    if chunk.start > first.start:
        return None
    return count_tokens(chunk.text[first.start - chunk.start : last.end - chunk.start])


def _cut_sentences(chunks: Sequence[Chunk], size: int) -> Iterator[_Piece]:
    """The sentences of one document, each from the first chunk that holds it whole; long ones in pieces."""
    run = reached = 0
    for chunk, after in zip(chunks, [*chunks[1:], None], strict=True):
        base, begin = chunk.start, max(reached, chunk.start)
        spans = [(begin + a, begin + b) for a, b in split_sentences(chunk.text[begin - base :])]
        for n, (start, end) in enumerate(spans, 1):
            if n == len(spans) and after is not None and after.start <= start:
                continue  # the last of a chunk may go on: it is left to the next chunk, which begins before it
            reached = end
            if count_tokens(chunk.text[start - base : end - base]) <= size:
                yield _Piece(start, end, chunk, run)
                continue
            for a, b in cut_pieces(chunk.text, size, start - base, end - base):
                yield _Piece(base + a, base + b, chunk, run + 1)
            run += 2


def cut_pieces(text: str, size: int, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """A long text in spans of at most `size` tokens: after , ; or : where that does, else between words, else hard."""
    for a, b in _spans_between_marks(text, start, len(text) if end is None else end, _CLAUSE):
        if count_tokens(text[a:b]) <= size:
            yield a, b
            continue
        for c, d in _spans_between_marks(text, a, b, _SPACE):
            place = c
            while place < d:  # a word that is too long: as many characters as `size` tokens hold, one at least
                length = d - place
                while length > 1 and count_tokens(text[place : place + length]) > size:
                    length = max(1, length // 2)
                yield place, place + length
                place += length


def _spans_between_marks(text: str, start: int, end: int, mark: re.Pattern[str]) -> Iterator[Span]:
    """The spans between marks, each with the mark that ends it, without white space around."""
    borders = [m.end() for m in mark.finditer(text, start, end)]
    for a, b in zip([start, *borders], [*borders, end], strict=True):
        inner = text[a:b]
        if bare := inner.strip():
            first = a + inner.index(bare)
            yield first, first + len(bare)
