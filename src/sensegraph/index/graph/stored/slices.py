"""What a run of documents says, cut into slices: one for each partition of the graph.

Entities, relations and claims fall into partitions by their ids. One document more cuts one run anew, and changes few
slices. What is said stands there as where the chunk says it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, chain
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sensegraph.index.graph.elements import relation_id
from sensegraph.index.graph.slicing import LinkRow, MentionRow, Rows, RunReader, Told
from sensegraph.index.graph.stored.chunk_texts import SaidAt, Texts, shorten_said
from sensegraph.resolution.aliases import Name
from sensegraph.runtime.shortening import lengthen, shorten
from sensegraph.types import Claim, Description

KINDS = ("entities", "relations", "claims")
DIGEST = 16  # bytes
_LEVEL = 6
_encode = msgspec.msgpack.Encoder().encode


def partition_of(name: str, parts: int) -> int:
    """The partition of an id, of so many: they follow one another in the order of ids."""
    return int(name[:8], 16) * parts >> 32


class _StoredMention(NamedTuple):
    """A `MentionRow` as a slice holds it; `own` where it is another than `whose`."""

    whose: Name
    own: Name | None
    name: str
    times: int
    surfaces: tuple[str, ...]
    chunk: str
    said: SaidAt | None


class _StoredLink(NamedTuple):
    """A `LinkRow` as a slice holds it."""

    first: str
    second: str
    forth: bool
    strength: float
    label: str
    directed: bool
    chunk: str
    said: SaidAt | None


def cut_rows(rows: Rows, told: Told, parts: int, texts: Texts) -> NDArray[np.uint8]:
    """The slices of a run, packed: where each begins, their digests, what they share, and all of them, one by one.

    They are ordered by kind and partition. An empty slice has no bytes, and a digest of zeros. What stands in several
    slices, as chunks and the ends of relations do, is packed once, and each slice is shortened with what it has of it.
    `texts` are those of the chunks.
    """
    reader = RunReader(told)

    def store_said(said: Description | None) -> SaidAt | None:
        return shorten_said(said, texts) if said else None

    entities: dict[int, tuple[list[_StoredMention], list[_StoredMention]]] = defaultdict(lambda: ([], []))
    for side, listed in enumerate((rows.mentions, rows.bound)):
        for row in listed:
            own = row.own if row.own != row.whose else None
            stored = _StoredMention(row.whose, own, row.name, row.times, row.surfaces, row.chunk, store_said(row.said))
            entities[partition_of(reader.id_of(row.whose), parts)][side].append(stored)
    links: dict[int, list[_StoredLink]] = defaultdict(list)
    for link in rows.links:
        stored_link = _StoredLink(*link[:-1], store_said(link.said))
        links[partition_of(relation_id(link.first, link.second), parts)].append(stored_link)
    claims: dict[int, list[Claim]] = defaultdict(list)
    for claim in rows.claims:
        claims[partition_of(claim.id, parts)].append(claim)
    kinds: tuple[Mapping[int, Any], ...] = (entities, links, claims)
    slices = [_encode(of[p]) if p in of else b"" for of in kinds for p in range(parts)]
    held_by = [_list_texts(chain(*entities.get(p, ()))) for p in range(parts)]
    held_by += [_list_texts(of.get(p, ())) for of in (links, claims) for p in range(parts)]
    digests = b"".join(blake2b(s, digest_size=DIGEST).digest() if s else bytes(DIGEST) for s in slices)
    shared = [text for text, count in Counter(chain.from_iterable(held_by)).items() if count > 1]
    places = {text: place for place, text in enumerate(shared)}
    packed = [shorten(_encode(shared), _LEVEL)]
    for content, texts_of in zip(slices, held_by, strict=True):
        held = sorted(places[text] for text in texts_of if text in places)
        packed.append(_pack_slice(content, held, shared) if content else b"")
    starts = np.cumsum([0, *map(len, packed)], dtype="<i8").tobytes()
    return np.frombuffer(starts + digests + b"".join(packed), np.uint8)


def _list_texts(rows: Iterable[_StoredMention | _StoredLink | Claim]) -> list[bytes]:
    """The longer texts in a slice, each once: chunks, texts that no chunk holds, and the ends of relations."""
    found: dict[str, None] = {}
    for row in rows:
        if isinstance(row, Claim):
            texts: tuple[str, ...] = (row.source.chunk, row.description)
        else:
            texts = (row.chunk, row.said[2]) if row.said and isinstance(row.said[2], str) else (row.chunk,)
        found |= dict.fromkeys((*texts, row.first, row.second) if isinstance(row, _StoredLink) else texts)
    return [text.encode("utf-8", "surrogatepass") for text in found]


def _pack_slice(content: bytes, held: Sequence[int], shared: Sequence[bytes]) -> bytes:
    """A slice as it is packed: which of the shared texts it holds, as the steps between them, and all that it says."""
    texts = b"".join(shared[place] for place in held)
    return _encode((np.diff(held, prepend=0).tolist(), shorten(content, _LEVEL, texts)))


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

    def digests(self) -> bytes:
        """The digests of all slices: kind by kind, partition by partition."""
        begin = 8 * (self._count + 2)
        return self.packed[begin : begin + DIGEST * self._count].tobytes()

    def read(self, kind: int, part: int) -> bytes:
        """One slice; empty where the run says nothing of it."""
        if not (found := self._take(1 + kind * self.parts + part)):
            return b""
        steps, content = _read_shortened(found)
        texts = b"".join(self._shared[place] for place in accumulate(steps))
        return lengthen(content, texts)

    @cached_property
    def _shared(self) -> list[bytes]:
        return _read_texts(lengthen(self._take(0)))

    def _take(self, place: int) -> bytes:
        begin, end = np.frombuffer(self.packed[8 * place : 8 * (place + 2)].tobytes(), "<i8").tolist()
        head = (8 + DIGEST) * self._count + 16
        return self.packed[head + begin : head + end].tobytes()


@dataclass(frozen=True, slots=True)
class PartSlices:
    """How to read what the runs say of a partition, in their order, and the texts that they say it in."""

    read: Callable[[], Iterable[bytes]]
    texts: Texts


_read_mentions = msgspec.msgpack.Decoder(tuple[list[_StoredMention], list[_StoredMention]]).decode
_read_links = msgspec.msgpack.Decoder(list[_StoredLink]).decode
_read_claims = msgspec.msgpack.Decoder(list[Claim]).decode


def read_mention_slices(part: PartSlices) -> Iterator[MentionRow]:
    """What all runs say of the entities of a partition: mentions first, each in the order of runs."""
    found, describe = [_read_mentions(content) for content in part.read()], part.texts.describe
    for side in (0, 1):
        for rows in found:
            for whose, own, name, times, surfaces, chunk, said in rows[side]:
                told = said and describe(chunk, *said)
                yield MentionRow(whose, own or whose, name, times, surfaces, chunk, told)


def read_link_slices(part: PartSlices) -> Iterator[LinkRow]:
    """What all runs say of the relations of a partition."""
    for content in part.read():
        for row in _read_links(content):
            yield LinkRow(*row[:-1], row.said and part.texts.describe(row.chunk, *row.said))


def read_claim_slices(part: PartSlices) -> Iterator[Claim]:
    """The claims of a partition."""
    return (claim for content in part.read() for claim in _read_claims(content))
