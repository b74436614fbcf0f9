"""Where a chunk says something: the sentence that names an element, the span of a quote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from sensegraph.language.text import fold, split_sentences
from sensegraph.types import Chunk, Description, Source

_WRAP = re.compile(r"(?<=\S)[ \t\r]*\n(?=[ \t]*\S)")  # a line that ends inside a paragraph
_JOINED = re.compile(r"\s*(?:;|\.\.\.|…)\s+")  # between the parts of a quote


class SentenceFinder:
    """The sentences of chunks, found by the names that they hold."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self.chunks = {c.id: c for c in chunks}
        self._sentences = cache(self._split)

    def about(self, names: Sequence[str], chunk_ids: Sequence[str], otherwise: str) -> tuple[Description, ...]:
        """What each chunk says about something: its first sentence with all `names`, else with one of them.

        A chunk that never names it says `otherwise`, the whole of it being the source.
        """
        wanted = [f for name in names if (f := fold(name))]
        return tuple(self._said(self.chunks[c], wanted, otherwise) for c in chunk_ids)

    def quoted(self, quote: str, chunk_id: str) -> Source:
        """The span of `quote`, or of its first part that stands there, whatever its white space; else the chunk."""
        text = self.chunks[chunk_id].text
        for part in (quote, *_JOINED.split(quote)):
            words = part.strip(" \"'“”").split()
            if words and (found := re.search(r"\s+".join(map(re.escape, words)), text)):
                return Source(chunk_id, found.start(), found.end())
        return Source(chunk_id, 0, len(text))

    def _said(self, chunk: Chunk, wanted: Sequence[str], otherwise: str) -> Description:
        best: tuple[int, int, int] | None = None
        for start, end, folded in self._sentences(chunk.id):
            held = sum(name in folded for name in wanted)
            if held and (best is None or held > best[0]):
                best = (held, start, end)
        if best is None:
            return Description(otherwise, Source(chunk.id, 0, len(chunk.text)))
        return Description(" ".join(chunk.text[best[1] : best[2]].split()), Source(chunk.id, best[1], best[2]))

    def _split(self, chunk_id: str) -> tuple[tuple[int, int, str], ...]:
        text = self.chunks[chunk_id].text
        flowing = _WRAP.sub(lambda m: " " * len(m[0]), text)  # as long as the text, so that the spans hold
        return tuple((start, end, fold(flowing[start:end])) for start, end in split_sentences(flowing))
