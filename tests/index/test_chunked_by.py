"""Chunks where a chunker of one's own cuts: spans in order, inside the text, and none of white space alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from sensegraph.errors import InputError
from sensegraph.index.chunks import chunk_by
from sensegraph.language.text import count_tokens
from sensegraph.types import Chunk, Document

TEXT = "One lamp.  Two lamps. "


def cut(*spans: tuple[int, int], documents: Sequence[Document] | None = None) -> list[tuple[Chunk, ...]]:
    class Cutter:
        def chunk(self, documents: Sequence[Document]) -> Any:
            return [spans] * len(documents) if spans != ((-1, -1),) else []

    return chunk_by.fn(documents or [Document("d", TEXT, "Title")], chunker=Cutter())  # type: ignore[arg-type]


def test_spans_become_chunks_with_their_texts_and_tokens() -> None:
    (found,) = cut((0, 9), (11, 21))
    assert [(c.text, c.start, c.end, c.tokens, c.title) for c in found] == [
        ("One lamp.", 0, 9, count_tokens("One lamp."), "Title"),
        ("Two lamps.", 11, 21, count_tokens("Two lamps."), "Title"),
    ]


@pytest.mark.parametrize(
    ("spans", "kept"),
    [
        ([(0, 22)], [(0, 22)]),
        ([(0, 9), (0, 9)], [(0, 9)]),
        ([(0, 9), (9, 11), (11, 21)], [(0, 9), (11, 21)]),
        ([(0, 9), (0, 21), (5, 9)], [(0, 9), (0, 21), (5, 9)]),
        ([(21, 22)], []),
        ([], []),
    ],
)
def test_each_span_counts_once_and_none_of_blanks(spans: list[tuple[int, int]], kept: list[tuple[int, int]]) -> None:
    assert [(c.start, c.end) for c in cut(*spans)[0]] == kept


@pytest.mark.parametrize(
    "spans", [[(-1, 3)], [(3, 3)], [(4, 3)], [(0, 23)], [(5, 9), (4, 9)], [(5, 9), (5, 8)], [(0, 1), (2, 3), (1, 2)]]
)
def test_spans_outside_or_out_of_order_are_refused(spans: list[tuple[int, int]]) -> None:
    with pytest.raises(InputError, match=rf"{spans[-1][0]}:{spans[-1][1]}.*22 characters"):
        cut(*spans)


def test_as_many_documents_are_cut_as_were_given() -> None:
    with pytest.raises(InputError, match="cut 0 documents where 1 were given"):
        cut((-1, -1))
    assert len(cut((0, 3), documents=[Document("a", TEXT), Document("b", TEXT)])) == 2
