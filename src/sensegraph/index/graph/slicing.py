"""The extractions of a run of documents, cut into slices: one for each partition of the graph.

Entities, relations and claims fall into partitions by their ids. What a run says of each depends on the run, and of the
rest of the corpus only on what it is told: the usual type of names that its chunks do not list, and what other names
are one with its own. So one document more cuts one run anew, and changes few slices.
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, chain
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sensegraph.index.graph.elements import entity_id, fold_name, relation_id, source_span
from sensegraph.index.graph.graph_settings import GraphSettings
from sensegraph.resolution.aliases import Aliases, Binding, Called, Name, bind_aliases, name_entity
from sensegraph.runtime.keys import key
from sensegraph.types import Claim, Description, Extraction

Pairs = Sequence[tuple[str, str, int, Extraction]]  # chunk, document, characters, what it says
KINDS = ("entities", "relations", "claims")
DIGEST = 16  # bytes
_SHARED_LEVEL, _SLICE_LEVEL = 6, 3
_encode = msgspec.msgpack.Encoder().encode


@dataclass(frozen=True, slots=True)
class Said:
    """The names that a run of documents says: typed ones with how often, and ends that their chunk does not list."""

    listed: tuple[tuple[str, str, int], ...] = ()
    ends: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()

    @classmethod
    def of(cls, pairs: Pairs) -> Said:
        """The names in these chunks."""
        seen: Counter[Name] = Counter()
        ends: dict[str, None] = {}
        for _, _, _, x in pairs:
            here = set[str]()
            for e in x.entities:
                seen[fold_name(e.name), fold_name(e.type)] += max(1, len(e.mentions))
                here.add(fold_name(e.name))
            named = (fold_name(name) for r in x.relations for name in (r.source, r.target))
            ends.update((name, None) for name in named if name and name not in here)
            ends.update((name, None) for c in x.claims if (name := fold_name(c.subject)) and name not in here)
        documents = dict.fromkeys(document for _, document, _, _ in pairs)
        return cls(tuple((*name, n) for name, n in sorted(seen.items())), tuple(sorted(ends)), tuple(documents))


@dataclass(frozen=True, slots=True)
class Told:
    """What a run is told of the corpus, as far as it concerns its own names.

    `usual` are the types of its `ends`, `moved` and `groups` what `Binding` has of its names, `apart` the names of
    entities that are called otherwise than one of their names, and `ids` of those the ids that are not of that name.
    """

    usual: tuple[Name, ...] = ()
    moved: tuple[tuple[Name, str, Name], ...] = ()
    groups: tuple[tuple[Name, Name], ...] = ()
    apart: tuple[Name, ...] = ()
    ids: tuple[tuple[Name, str], ...] = ()


def tell_runs(said: Sequence[Said], aliases: Aliases, settings: GraphSettings) -> list[Told]:
    """What each run is told, but for `ids`."""
    usual = _find_usual(said, settings)
    bound = bind_aliases(aliases)
    moves: dict[Name, dict[str, Name]] = defaultdict(dict)
    for (name, document), new in bound.moved.items():
        moves[name][document] = new
    apart = {*bound.group.values(), *bound.moved.values(), *bound.shown, *bound.made}
    settled = apart | bound.group.keys() | moves.keys()
    found = []
    for run in said:
        ends = [(name, usual[name]) for name in run.ends if name in usual]
        own = settled.intersection((*ends, *((name, kind) for name, kind, _ in run.listed))) if settled else set[Name]()
        moved: dict[tuple[Name, str], Name] = {}
        if moves and own:
            documents, waiting = set(run.documents), sorted(own)
            while waiting:
                name = waiting.pop()
                for document in documents.intersection(moves.get(name, ())):
                    if (name, document) not in moved:
                        moved[name, document] = new = moves[name][document]
                        own.add(new)
                        waiting.append(new)
        groups = {name: bound.group[name] for name in own if name in bound.group}
        whose = apart.intersection((*own, *groups.values()))
        found.append(
            Told(
                tuple(ends),
                tuple(sorted((name, document, new) for (name, document), new in moved.items())),
                tuple(sorted(groups.items())),
                tuple(sorted(whose)),
            )
        )
    return found


def _find_usual(said: Sequence[Said], settings: GraphSettings) -> dict[str, str]:
    """The type of each name that some chunk does not list: the most frequent, of equal ones the first in order."""
    wanted = {name for run in said for name in run.ends}
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for run in said if wanted else ():
        for name, kind, count in run.listed:
            if name in wanted:
                seen[name][kind] += count
    found = {name: min(kinds, key=lambda kind: (-kinds[kind], kind)) for name, kinds in seen.items()}
    return dict.fromkeys(wanted, "unknown") | found if settings.orphans == "create" else found


# ── rows ──


class MentionRow(NamedTuple):
    """What a chunk says of an entity, `whose` is its name: mentions (none: a relation of it to itself), a description.

    `own` is the name that the mention has by itself, `name` how it is written, so many `times`.
    """

    whose: Name
    own: Name
    name: str
    times: int
    surfaces: tuple[str, ...]
    chunk: str
    said: Description | None


class LinkRow(NamedTuple):
    """What a chunk says of a relation; `forth` where the first of its ends, in the order of names, is its subject."""

    first: str
    second: str
    forth: bool
    strength: float
    label: str
    directed: bool
    chunk: str
    said: Description | None


@dataclass(frozen=True, slots=True)
class Rows:
    """What a run says, in order: mentions, and what ends of relations and claims say of entities; relations; claims."""

    mentions: list[MentionRow] = field(default_factory=list)
    bound: list[MentionRow] = field(default_factory=list)
    links: list[LinkRow] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)


class _Reader:
    """Reads a run into rows."""

    def __init__(self, told: Told) -> None:
        self.bound = Binding(dict(told.groups), {(name, document): new for name, document, new in told.moved})
        self.usual, self.ids = dict(told.usual), dict(told.ids)
        self.rows = Rows()

    def read(self, chunk: str, document: str, length: int, x: Extraction) -> None:
        """Add what a chunk says."""
        rows, here = self.rows, dict[str, Name]()
        for e in x.entities:
            own = self.bound.own((fold_name(e.name), fold_name(e.type)), document)
            whose = self.bound.group.get(own, own)
            here.setdefault(fold_name(e.name), whose)
            said = Description(e.description, source_span(chunk, e.start, e.end, length)) if e.description else None
            surfaces = tuple(m.surface for m in e.mentions)
            rows.mentions.append(MentionRow(whose, own, e.name, max(1, len(e.mentions)), surfaces, chunk, said))
        for r in x.relations:
            a, b = (self._bind(name, here, chunk, document) for name in (r.source, r.target))
            if not (a and b):
                continue
            source = source_span(chunk, r.start, r.end, length)
            said = Description(r.description, source, r.starts, r.ends) if r.description else None
            if a == b:  # a self-loop is text about the entity, not a link
                rows.bound.extend([MentionRow(a, a, "", 0, (), chunk, said)] if said else [])
                continue
            first, second = sorted((a, b))
            ids = self.id_of(first), self.id_of(second)
            rows.links.append(LinkRow(*ids, a == first, r.strength, r.label, r.directed, chunk, said))
        for c in x.claims:
            if subject := self._bind(c.subject, here, chunk, document):
                source = source_span(chunk, c.start, c.end, length)
                made = Claim(
                    "", self.id_of(subject), c.object, c.type, c.status, c.description, c.starts, c.ends, source
                )
                rows.claims.append(name_claim(made))

    def id_of(self, whose: Name) -> str:
        """The id of the entity with this name."""
        if (found := self.ids.get(whose)) is None:
            found = self.ids[whose] = entity_id(whose)
        return found

    def _bind(self, surface: str, here: dict[str, Name], chunk: str, document: str) -> Name | None:
        """The entity of an end: that of this name in the chunk, else the usual one, which the chunk then mentions."""
        name = fold_name(surface)
        if not name or name in here:
            return here.get(name)
        if (kind := self.usual.get(name)) is None:
            return None
        own = self.bound.own((name, kind), document)
        here[name] = whose = self.bound.group.get(own, own)
        self.rows.bound.append(MentionRow(whose, own, surface, 1, (), chunk, None))
        return whose


def name_claim(claim: Claim) -> Claim:
    """The claim under the id that it has by all else that it says."""
    return replace(claim, id=key(replace(claim, id=""))[:20])


def read_run_rows(pairs: Pairs, told: Told) -> Rows:
    """What a run says, given what it is told."""
    reader = _Reader(told)
    for pair in pairs:
        reader.read(*pair)
    return reader.rows


# ── entities that are called otherwise ──


@dataclass(frozen=True, slots=True)
class Uses:
    """How often an entity is mentioned in a run: by each of its own names, and by each way of writing."""

    whose: Name
    own: tuple[tuple[Name, int], ...]
    names: tuple[tuple[str, int], ...]


def count_entity_uses(rows: Rows, apart: Collection[Name]) -> list[Uses]:
    """The uses of the names of the entities that are `apart`."""
    own: dict[Name, Counter[Name]] = defaultdict(Counter)
    names: dict[Name, Counter[str]] = defaultdict(Counter)
    for row in (*rows.mentions, *rows.bound):
        if row.whose in apart and row.times:
            own[row.whose][row.own] += row.times
            names[row.whose][row.name] += row.times
    return [Uses(n, tuple(sorted(own[n].items())), tuple(sorted(names[n].items()))) for n in sorted(own)]


def name_apart(used: Iterable[Uses], aliases: Aliases) -> dict[Name, Called]:
    """What the entities are called that have several names, or another than their own."""
    own: dict[Name, Counter[Name]] = defaultdict(Counter)
    names: dict[Name, Counter[str]] = defaultdict(Counter)
    for uses in used:
        own[uses.whose].update(dict(uses.own))
        names[uses.whose].update(dict(uses.names))
    bound = bind_aliases(aliases)
    return {name: name_entity(name, own[name], names[name], bound) for name in sorted(own)}


def tell_ids(told: Told, called: Mapping[Name, Called]) -> Told:
    """`told` with the ids of the entities that are called otherwise."""
    return replace(told, ids=tuple((name, entity_id(called[name].name)) for name in told.apart if name in called))


# ── slices ──


def partition_of(name: str, parts: int) -> int:
    """The partition of an id, of so many: they follow one another in the order of ids."""
    return int(name[:8], 16) * parts >> 32


def cut_rows(rows: Rows, told: Told, parts: int) -> NDArray[np.uint8]:
    """The slices of a run, packed: where each begins, their digests, what they share, and all of them, one by one.

    They are ordered by kind and partition. An empty slice has no bytes, and a digest of zeros. A sentence stands in the
    slices of all that it names: such texts are packed once, and each slice is shortened with those that it holds.
    """
    reader = _Reader(told)
    entities: dict[int, tuple[list[MentionRow], list[MentionRow]]] = defaultdict(lambda: ([], []))
    for side, listed in enumerate((rows.mentions, rows.bound)):
        for row in listed:
            entities[partition_of(reader.id_of(row.whose), parts)][side].append(row)
    links: dict[int, list[LinkRow]] = defaultdict(list)
    for link in rows.links:
        links[partition_of(relation_id(link.first, link.second), parts)].append(link)
    claims: dict[int, list[Claim]] = defaultdict(list)
    for claim in rows.claims:
        claims[partition_of(claim.id, parts)].append(claim)
    kinds: tuple[Mapping[int, Any], ...] = (entities, links, claims)
    slices = [_encode(of[p]) if p in of else b"" for of in kinds for p in range(parts)]
    texts = [_list_texts(chain(*entities.get(p, ()))) for p in range(parts)]
    texts += [_list_texts(of.get(p, ())) for of in (links, claims) for p in range(parts)]
    digests = b"".join(blake2b(s, digest_size=DIGEST).digest() if s else bytes(DIGEST) for s in slices)
    shared = [text for text, count in Counter(chain.from_iterable(texts)).items() if count > 1]
    places = {text: place for place, text in enumerate(shared)}
    packed = [zlib.compress(_encode(shared), _SHARED_LEVEL)]
    for content, said in zip(slices, texts, strict=True):
        held = sorted(places[text] for text in said if text in places)
        packed.append(_shorten(content, held, shared) if content else b"")
    starts = np.cumsum([0, *map(len, packed)], dtype="<i8").tobytes()
    return np.frombuffer(starts + digests + b"".join(packed), np.uint8)


def _list_texts(rows: Iterable[MentionRow | LinkRow | Claim]) -> list[bytes]:
    """The longer texts in a slice, each once: chunks, sentences, and the ends of relations."""
    found: dict[str, None] = {}
    for row in rows:
        if isinstance(row, Claim):
            texts: tuple[str, ...] = (row.source.chunk, row.description)
        else:
            texts = (row.chunk, row.said.text) if row.said else (row.chunk,)
        found |= dict.fromkeys((*texts, row.first, row.second) if isinstance(row, LinkRow) else texts)
    return [text.encode("utf-8", "surrogatepass") for text in found]


def _shorten(content: bytes, held: Sequence[int], shared: Sequence[bytes]) -> bytes:
    """A slice as it is packed: which of the shared texts it holds, as the steps between them, and all that it says."""
    texts = b"".join(shared[place] for place in held)
    made = zlib.compressobj(_SLICE_LEVEL, zdict=texts) if texts else zlib.compressobj(_SLICE_LEVEL)
    return _encode((np.diff(held, prepend=0).tolist(), made.compress(content) + made.flush()))


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
        opened = zlib.decompressobj(zdict=texts) if texts else zlib.decompressobj()
        return opened.decompress(content) + opened.flush()

    @cached_property
    def _shared(self) -> list[bytes]:
        return _read_texts(zlib.decompress(self._take(0)))

    def _take(self, place: int) -> bytes:
        begin, end = np.frombuffer(self.packed[8 * place : 8 * (place + 2)].tobytes(), "<i8").tolist()
        head = (8 + DIGEST) * self._count + 16
        return self.packed[head + begin : head + end].tobytes()


_read_mentions = msgspec.msgpack.Decoder(tuple[list[MentionRow], list[MentionRow]]).decode
_read_links = msgspec.msgpack.Decoder(list[LinkRow]).decode
_read_claims = msgspec.msgpack.Decoder(list[Claim]).decode


def read_mention_slices(slices: Iterable[bytes]) -> Iterator[MentionRow]:
    """What all runs say of the entities of a partition: mentions first, each in the order of runs."""
    found = [_read_mentions(part) for part in slices]
    for side in (0, 1):
        for part in found:
            yield from part[side]


def read_link_slices(slices: Iterable[bytes]) -> Iterator[LinkRow]:
    """What all runs say of the relations of a partition."""
    return (row for part in slices for row in _read_links(part))


def read_claim_slices(slices: Iterable[bytes]) -> Iterator[Claim]:
    """The claims of a partition."""
    return (claim for part in slices for claim in _read_claims(part))
