"""Documents to chunks: token windows with exact spans (edge2024 §3.1.1; G01, G02, N01)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from sensegraph.errors import SettingsError
from sensegraph.language.text import decode, encode, sentences, tokens
from sensegraph.runtime.keys import chunk_id
from sensegraph.runtime.results import step
from sensegraph.types import Chunk, Document

_SLACK = 0.15  # the last part of a window in which a sentence or word border is looked for
_FEW = 8  # characters a token: of a longer text it is not tried whether it is one window
_SPACE = re.compile(r"\s+")


@step("chunks.chunk", version=1)
def chunk(documents: Sequence[Document], *, size: int, overlap: int) -> list[tuple[Chunk, ...]]:
    """Cut each document into windows of at most `size` tokens that share about `overlap` tokens.

    A window ends at a sentence end, or else a word end, where one lies in its last 15 %. A rest of at most `overlap`
    tokens is no chunk of its own, which would say little new: the last window takes it in, so that it alone can hold
    `size + overlap` tokens. An empty document has no chunk. `text == document.text[start:end]` for every chunk.
    """
    if not 0 <= overlap < size:
        raise SettingsError(f"chunk_overlap ({overlap}) must be at least 0 and below chunk_tokens ({size}).")
    return [tuple(_chunks(d, size, overlap)) for d in documents]


def _chunks(document: Document, size: int, overlap: int) -> Iterator[Chunk]:
    """The windows of one document that hold more than white space."""
    for start, end, count in _windows(document.text, size, overlap):
        if document.text[start:end].strip():
            yield _chunk(document, start, end, count)


def _chunk(document: Document, start: int, end: int, count: int) -> Chunk:
    text = document.text[start:end]
    return Chunk(chunk_id(document.id, start, text), document.id, start, end, count, text, document.title)


def _windows(text: str, size: int, overlap: int) -> Iterator[tuple[int, int, int]]:
    """(start, end, tokens) of each window."""
    if not text.strip():
        return
    whole = size + overlap
    if len(text) <= _FEW * whole and (count := tokens(text)) <= whole:
        yield 0, len(text), count
        return
    ends = _token_ends(text)
    start = reached = 0
    while True:
        if len(ends) - bisect_left(ends, start + 1) <= whole and (count := tokens(text[start:])) <= whole:
            yield start, len(text), count
            return
        end, count = _end_of_window(text, ends, start, size)
        if end > reached:  # not what the window before holds already: small windows with a large overlap
            yield start, end, count
        if end >= len(text):
            return
        reached, start = max(reached, end), max(start + 1, _start_of_next(text, ends, end, overlap))


def _end_of_window(text: str, ends: list[int], start: int, size: int) -> tuple[int, int]:
    """Where the window from `start` ends, and its tokens (a slice can count more than it did in the whole)."""
    first, room = bisect_left(ends, start + 1), size
    while True:
        last = min(first + room, len(ends)) - 1
        hard = ends[max(last, first)]
        end = (
            hard
            if hard >= len(text)
            else _border(text, ends[max(first, first + int(room * (1 - _SLACK)) - 1)], hard, start)
        )
        count = tokens(text[start:end])
        if count <= size or room <= 1:
            return end, count
        room -= max(1, count - size)


def _border(text: str, soft: int, hard: int, start: int) -> int:
    """The last sentence end in `soft:hard`, else the last word end there, else `hard`."""
    tail = max(start, soft - 400)
    stops = [tail + stop for _, stop in sentences(text[tail:hard])[:-1] if tail + stop > soft]
    if stops:
        return stops[-1]
    spaces = [m.start() for m in _SPACE.finditer(text, soft, hard)]
    return spaces[-1] if spaces else hard


def _start_of_next(text: str, ends: list[int], end: int, overlap: int) -> int:
    """About `overlap` tokens before `end`, moved on to the start of a word."""
    back = ends[max(0, bisect_left(ends, end) - overlap)] if overlap else end
    space = _SPACE.search(text, max(0, back - 1), end)
    return space.end() if space and space.end() < end else back


def _token_ends(text: str) -> list[int]:
    """Character offsets at which tokens end; tokens that share a character end together."""
    lengths: list[int] = []
    pending: list[int] = []
    for number in encode(text):
        piece = _piece(number) if not pending else None
        if piece is None:
            pending.append(number)
            piece = decode(pending)
        if piece is not None:
            lengths.append(len(piece))
            pending = []
    return list(accumulate(lengths))


@lru_cache(maxsize=200_000)
def _piece(number: int) -> str | None:
    return decode([number])
