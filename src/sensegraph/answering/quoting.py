"""What a method does by the engine behind it: one that quotes is given sentences, any other what was written of them.

An engine that quotes compares words, and shows what it is given, word for word. One that writes in its own words
understands reports, relations and sub-answers. Methods say for which of the two a thing is made; they ask no engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from sensegraph.index.index import Index
from sensegraph.language.text import split_sentences
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk, Description, Passage, Statement

S = TypeVar("S", bound=str)
T = TypeVar("T")

_LONG = 600  # characters of a span that is quoted whole


def settle_asking(how: S, rt: Runtime, *, model: S, rules: S) -> S:
    """The setting `how`, where `auto` stands for `model` if the engine understands what it reads, else for `rules`."""
    if how != "auto":
        return how
    return rules if rt.engine.quotes else model


def for_quoting(rt: Runtime, make: Callable[[], Iterable[T]]) -> list[T]:
    """What `make` makes for an engine that quotes, and can show and compare only what it is given; else nothing."""
    return list(make()) if rt.engine.quotes else []


def for_writing(rt: Runtime, make: Callable[[], Iterable[T]]) -> list[T]:
    """What `make` makes for an engine that writes in its own words; one that quotes reads the sentences instead."""
    return [] if rt.engine.quotes else list(make())


def written_text(statements: Sequence[Statement], rt: Runtime) -> str | None:
    """What the engine wrote in its own words; None for one that quotes: its words are those that it was given."""
    return None if rt.engine.quotes else "".join(s.text for s in statements)


def quote_sources(passages: Sequence[Passage], index: Index, rt: Runtime) -> list[Passage]:
    """Passages whose quotes an engine that quotes may show as the sources' words.

    Where a model wrote what the index tells, or it was imported, the quotes are the spans' own texts: prose of another
    is no quotation, however true.
    """
    if not rt.engine.quotes or index.manifest.quoted:
        return list(passages)
    chunks = index.chunks(sorted({q.source.chunk for p in passages for q in p.quotes}))
    return [replace(p, quotes=_own_quotes(p.quotes, chunks)) if p.quotes and p.kind != "point" else p for p in passages]


def _own_quotes(quotes: Sequence[Description], chunks: dict[str, Chunk]) -> tuple[Description, ...]:
    """The texts of the quotes' spans, whole sentences where a span is part of one; each span once."""
    found = {}
    for quote in quotes:
        chunk = chunks.get(quote.source.chunk)
        if chunk is None or quote.source.end - quote.source.start > _LONG:
            continue
        touched = [(a, b) for a, b in split_sentences(chunk.text) if a < quote.source.end and quote.source.start < b]
        start, end = (touched[0][0], touched[-1][1]) if touched else (quote.source.start, quote.source.end)
        found[chunk.id, start, end] = Description(chunk.text[start:end], replace(quote.source, start=start, end=end))
    return tuple(found.values())
