"""What a run of documents says, cut into slices: one for each partition of the graph.

Entities, relations and claims fall into partitions by their ids. One document more cuts one run anew, and changes few
slices. What is said stands there as where the chunk says it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, chain, pairwise
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.segments import sum_sequences
from sensegraph.index.graph.elements import entity_id, relation_id
from sensegraph.index.graph.slicing import LinkRow, MentionRow, Rows, Told
from sensegraph.index.graph.stored.chunk_texts import SAME, SaidAt, Text, Texts
from sensegraph.resolution.aliases import Name
from sensegraph.runtime.shortening import lengthen, shorten
from sensegraph.types import Claim, Description

KINDS = ("entities", "relations", "claims")
ROWS = (0, 0, 1, 2)  # the kinds that rows are of: mentions, what relations and claims say of entities, links, claims
_SUM, _COUNT = 16, 4  # bytes
_LEVEL = 3
_encode = msgspec.msgpack.Encoder().encode


def partition_of(name: str, parts: int) -> int:
    """The partition of an id, of so many: they follow one another in the order of ids."""
    return int(name[:8], 16) * parts >> 32


def cut_rows(rows: Rows[SaidAt], told: Told, parts: int) -> NDArray[np.uint8]:
    """The slices of a run, packed: where each begins, sums and numbers of rows, what they share, and all, one by one.

    They are ordered by kind and partition. An empty slice has no bytes. What stands in several slices, as chunks and
    the ends of relations do, is packed once, and each slice is shortened with what it has of it.
    """
    home, called = dict[Name, int](), dict(told.ids)
    entities = [(list[MentionRow[SaidAt]](), list[MentionRow[SaidAt]]()) for _ in range(parts)]
    links, claims = [list[LinkRow[SaidAt]]() for _ in range(parts)], [list[Claim]() for _ in range(parts)]
    for side, listed in enumerate((rows.mentions, rows.bound)):
        for row in listed:
            if (part := home.get(row.whose)) is None:
                part = home[row.whose] = partition_of(called.get(row.whose) or entity_id(row.whose), parts)
            entities[part][side].append(row)
    ends = dict[tuple[str, str], int]()
    for link in rows.links:
        both = (link.first, link.second)
        if (part := ends.get(both)) is None:
            part = ends[both] = partition_of(relation_id(*both), parts)
        links[part].append(link)
    for claim in rows.claims:
        claims[partition_of(claim.id, parts)].append(claim)
    contents = [_encode(of) if any(of) else b"" for of in entities]
    contents += [_encode(of) if of else b"" for of in (*links, *claims)]
    texts = [_list_texts((*mentions, *bound)) for mentions, bound in entities]
    texts += [*map(_list_texts, links), *map(_list_texts, claims)]
    sequences: list[Sequence[Any]] = [*(of[0] for of in entities), *(of[1] for of in entities), *links, *claims]
    digests = b"".join(chain.from_iterable(map(_digest_rows, sequences)))
    counts = np.array([len(of) for of in sequences], "<u4")
    sums = sum_sequences(digests, counts).astype("<u8").tobytes() + counts.tobytes()
    shared = {text: text.encode("utf-8", "surrogatepass")
              for text, count in Counter(chain.from_iterable(texts)).items() if count > 1}  # fmt: skip
    places = {text: place for place, text in enumerate(shared)}
    encoded = list(shared.values())
    packed = [shorten(_encode(encoded), _LEVEL)]
    for content, own in zip(contents, texts, strict=True):
        held = sorted([places[text] for text in own if text in places])
        packed.append(_pack_slice(content, held, encoded) if content else b"")
    starts = np.cumsum([0, *map(len, packed)], dtype="<i8").tobytes()
    return np.frombuffer(starts + sums + b"".join(packed), np.uint8)


def _digest_rows(rows: Iterable[MentionRow[SaidAt] | LinkRow[SaidAt] | Claim]) -> Iterator[bytes]:
    """A digest of each row, and of its number among those of its chunk, so that no two of a sequence are the same."""
    number, before = 0, ""
    for row in rows:
        chunk = row.source.chunk if isinstance(row, Claim) else row.chunk
        number, before = number + 1 if chunk == before else 0, chunk
        yield blake2b(_encode((number, row)), digest_size=_SUM).digest()


def _list_texts(rows: Sequence[MentionRow[SaidAt] | LinkRow[SaidAt] | Claim]) -> dict[str, None]:
    """The longer texts in a slice, each once: chunks, texts that no chunk holds, and the ends of relations."""
    found: dict[str, None] = {}
    for row in rows:
        if isinstance(row, Claim):
            found[row.source.chunk] = found[row.description] = None
            continue
        found[row.chunk] = None
        if row.said and isinstance(row.said[2], str):
            found[row.said[2]] = None
        if isinstance(row, LinkRow):
            found[row.first] = found[row.second] = None
    return found


def _pack_slice(content: bytes, held: Sequence[int], shared: Sequence[bytes]) -> bytes:
    """A slice as it is packed: which of the shared texts it holds, as the steps between them, and all that it says."""
    steps = [place - before for before, place in pairwise((0, *held))]
    return _encode((steps, shorten(content, _LEVEL, b"".join([shared[place] for place in held]))))


_read_texts = msgspec.msgpack.Decoder(list[bytes]).decode
_read_shortened = msgspec.msgpack.Decoder(tuple[list[int], bytes]).decode


@dataclass(frozen=True)
class Slices:
    """The slices of a run, read from what `cut_rows` packed."""

    packed: NDArray[np.uint8]
    parts: int

    @property
    def _count(self) -> int:
        return len(KINDS) * self.parts

    def sizes(self) -> NDArray[np.int64]:
        """The bytes of all slices, shortened: kind by kind, partition by partition."""
        return np.diff(self.packed[8 : 8 * (self._count + 2)].view("<i8"))

    def sums(self) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        """What stands for the rows of slices, and how many these are, in the order of `ROWS` and partitions."""
        begin, rows = 8 * (self._count + 2), len(ROWS) * self.parts
        middle, end = begin + _SUM * rows, begin + (_SUM + _COUNT) * rows
        counts = self.packed[middle:end].view("<u4").astype(np.uint32)
        return self.packed[begin:middle].view("<u8").astype(np.uint64).reshape(rows, 2), counts

    def read(self, kind: int, part: int) -> bytes:
        """One slice; empty where the run says nothing of it."""
        if not (found := self._take(1 + kind * self.parts + part)):
            return b""
        steps, content = _read_shortened(found)
        return lengthen(content, b"".join(map(self._shared.__getitem__, accumulate(steps))))

    @cached_property
    def _shared(self) -> list[bytes]:
        return _read_texts(lengthen(self._take(0)))

    def _take(self, place: int) -> bytes:
        begin, end = np.frombuffer(self.packed[8 * place : 8 * (place + 2)].tobytes(), "<i8").tolist()
        head = 8 * (self._count + 2) + (_SUM + _COUNT) * len(ROWS) * self.parts
        return self.packed[head + begin : head + end].tobytes()


@dataclass(frozen=True, slots=True)
class PartSlices:
    """How to read what the runs say of a partition, in their order, and the texts that they say it in.

    Of what was described it is known how it is told from its span: as long a text is the span itself and another a
    text of its own, but for what is `odd`.
    """

    read: Callable[[], Iterable[bytes]]
    texts: Texts
    odd: dict[tuple[str, int, int, str], Text] = field(default_factory=dict, repr=False, compare=False)

    def describe(self, chunk: str, said: SaidAt) -> Description:
        """What is said, as records hold it."""
        found = self.texts.describe(chunk, *said)
        start, length, form, *_ = said
        if form != (SAME if len(found.text) == length else found.text):
            self.odd[chunk, start, start + length, found.text] = form
        return found

    def find_form(self, chunk: str, start: int, end: int, said: str) -> Text:
        """How something that was described is told from its span."""
        usual = SAME if len(said) == end - start else said
        return self.odd.get((chunk, start, end, said), usual) if self.odd else usual


_read_mentions = msgspec.msgpack.Decoder(tuple[list[MentionRow[SaidAt]], list[MentionRow[SaidAt]]]).decode
_read_links = msgspec.msgpack.Decoder(list[LinkRow[SaidAt]]).decode
_read_claims = msgspec.msgpack.Decoder(list[Claim]).decode


def read_mention_slices(part: PartSlices) -> Iterator[MentionRow[SaidAt]]:
    """What all runs say of the entities of a partition: mentions first, each in the order of runs."""
    found = [_read_mentions(content) for content in part.read()]
    return (row for side in (0, 1) for rows in found for row in rows[side])


def read_link_slices(part: PartSlices) -> Iterator[LinkRow[SaidAt]]:
    """What all runs say of the relations of a partition."""
    return (row for content in part.read() for row in _read_links(content))


def read_claim_slices(part: PartSlices) -> Iterator[Claim]:
    """The claims of a partition."""
    return (claim for content in part.read() for claim in _read_claims(content))
