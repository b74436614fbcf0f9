"""The texts of chunks, stored once for all that is said of entities and relations: what is said are spans of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.ranking import hash_words
from sensegraph.errors import ResultGone
from sensegraph.index.graph.slicing import Pairs
from sensegraph.protocols import Store
from sensegraph.runtime.joined_rows import find_positions, order_hashes
from sensegraph.runtime.results import step
from sensegraph.runtime.shortening import lengthen, shorten
from sensegraph.types import Description, Source

_KEPT, _SAID = 1024, 1 << 13  # texts that stay open, and what is said
_LEVEL = 5
SAME, COLLAPSED = 0, 1  # what is said is the span, or the span with one blank for each run of them
Text = int | str  # one of these, or a text of its own
SaidAt = tuple[int, int, Text, str, str]  # where the span begins, its length, the text, since and until when it holds


class Texts(Protocol):
    """Texts of chunks by their ids."""

    def find(self, chunk: str) -> str:
        """The text of a chunk."""
        ...

    def describe(self, chunk: str, start: int, length: int, text: Text, starts: str, ends: str) -> Description:
        """What a chunk says, as it was before `shorten_said`: those that are the same are one where that is known."""
        ...


class Forms(Protocol):
    """How what chunks say is told from its spans."""

    def find_form(self, chunk: str, start: int, end: int, said: str) -> Text:
        """How what a chunk says is told from its span."""
        ...


@step("graph.texts", version=1, form="array")
def keep_texts(runs: Sequence[Pairs]) -> list[NDArray[np.uint8]]:
    """The texts of the chunks of each run, shortened one by one: their number, names, where each begins, and all."""
    found = []
    for pairs in runs:
        texts = {chunk: text for chunk, _, text, _ in pairs}
        packed = [shorten(text.encode("utf-8", "surrogatepass"), _LEVEL) for text in texts.values()]
        starts = np.cumsum([0, *map(len, packed)], dtype=np.uint64)
        head = np.concatenate((np.array([len(packed)], np.uint64), hash_words(texts), starts)).astype("<u8")
        found.append(np.frombuffer(head.tobytes() + b"".join(packed), np.uint8))
    return found


class ChunkTexts:
    """The texts of chunks in the store, in runs under these keys: each is read when something of it is asked for."""

    def __init__(self, store: Store, keys: Sequence[str]) -> None:
        self._store, self.keys = store, tuple(keys)
        self.find = lru_cache(_KEPT)(_TextRuns(store, self.keys).find)
        self.describe = lru_cache(_SAID)(SaidSpans(self.find).describe)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._store, self.keys)


class _TextRuns:
    """The runs of `ChunkTexts`, which does not know them: it goes when nobody has it any more, with all its texts."""

    def __init__(self, store: Store, keys: Sequence[str]) -> None:
        self._store, self._keys = store, keys

    @cached_property
    def _runs(self) -> list[NDArray[np.uint8]]:
        found = {k: self._store.array(k) for k in self._keys}
        if gone := [k for k, run in found.items() if run is None]:
            raise ResultGone(f"The texts {gone[0]} are gone from the store; run `sensegraph index` again.")
        return [np.asarray(run) for run in found.values() if run is not None]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(int(run[:8].view("<u8")[0]) for run in self._runs)]

    @cached_property
    def _ordered(self) -> NDArray[np.uint64]:
        sizes = (end - begin for begin, end in pairwise(self._starts))
        names = [run[8 : 8 + 8 * size].view("<u8") for run, size in zip(self._runs, sizes, strict=True)]
        return order_hashes(np.concatenate([np.zeros(0, np.uint64), *names]).astype(np.uint64))

    def find(self, chunk: str) -> str:
        """The text of a chunk, which is read."""
        if (position := find_positions(self._ordered, [chunk]).get(chunk)) is None:
            raise ResultGone(f"The text of the chunk {chunk} is gone from the store; run `sensegraph index` again.")
        run = bisect_right(self._starts, position) - 1
        place = position - self._starts[run]
        packed = self._runs[run]
        count = int(packed[:8].view("<u8")[0])
        first = 8 * (1 + count + place)
        begin, end = packed[first : first + 16].view("<u8").tolist()
        data = 8 * (2 + 2 * count)
        return lengthen(packed[data + begin : data + end].tobytes()).decode("utf-8", "surrogatepass")


class SaidSpans:
    """What texts say, which `find` reads by their ids."""

    def __init__(self, find: Callable[[str], str]) -> None:
        self.find = find

    def describe(self, chunk: str, start: int, length: int, text: Text, starts: str, ends: str) -> Description:
        """What a chunk says, as it was before `shorten_said`."""
        end = start + length
        if not isinstance(text, str):
            whole = self.find(chunk)[start:end]
            text = whole if text == SAME else " ".join(whole.split())
        return Description(text, Source(chunk, start, end), starts, ends)


class SaidPlaces:
    """What is said as where its chunk says it: several elements are described by one sentence."""

    def __init__(self) -> None:
        self._chunk, self._known = "", dict[tuple[int, int, str, str, str], SaidAt]()

    def find(self, chunk: str, text: str, said: str, start: int, end: int, starts: str, ends: str) -> SaidAt:
        """What this chunk of this text says, between where and since and until when it holds."""
        if chunk != self._chunk:
            self._chunk = chunk
            self._known.clear()
        asked = (start, end, said, starts, ends)
        if (found := self._known.get(asked)) is None:
            start, end = (start, end) if end > start else (0, len(text))
            found = start, end - start, tell_form(said, text[start:end]), starts, ends
            self._known[asked] = found
        return found


def tell_form(said: str, whole: str) -> Text:
    """How what is said is told from its span, which is `whole`."""
    if said == whole:
        return SAME
    return COLLAPSED if len(said) <= len(whole) and said == " ".join(whole.split()) else said


def shorten_said(said: Description, forms: Forms) -> SaidAt:
    """What is said as where its chunk says it."""
    source, text = said.source, said.text
    start, end = source.start, source.end
    return start, end - start, forms.find_form(source.chunk, start, end, text), said.starts, said.ends
