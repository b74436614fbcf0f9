"""Passages for an engine that quotes, from an index whose descriptions and reports somebody else wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sensegraph.index.index import Index
from sensegraph.language.text import sentences
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk, Description, Passage

_LONG = 600  # characters of a span that is quoted whole


def quotable(passages: Sequence[Passage], index: Index, rt: Runtime) -> list[Passage]:
    """Passages whose quotes an engine that quotes may show as the sources' words.

    Where a model wrote what the index tells, or it was imported, the quotes are the spans' own texts: prose of another
    is no quotation, however true.
    """
    if not rt.engine.quotes or index.manifest.quoted:
        return list(passages)
    chunks = index.chunks(sorted({q.source.chunk for p in passages for q in p.quotes}))
    return [replace(p, quotes=_own(p.quotes, chunks)) if p.quotes and p.kind != "point" else p for p in passages]


def _own(quotes: Sequence[Description], chunks: dict[str, Chunk]) -> tuple[Description, ...]:
    """The texts of the quotes' spans, whole sentences where a span is part of one; each span once."""
    found = {}
    for quote in quotes:
        chunk = chunks.get(quote.source.chunk)
        if chunk is None or quote.source.end - quote.source.start > _LONG:
            continue
        start, end = _whole(chunk.text, quote.source.start, quote.source.end)
        found[chunk.id, start, end] = Description(chunk.text[start:end], replace(quote.source, start=start, end=end))
    return tuple(found.values())


def _whole(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentences that a span lies in."""
    touched = [(a, b) for a, b in sentences(text) if a < end and start < b]
    return (touched[0][0], touched[-1][1]) if touched else (start, end)
