"""What sections are told of their corpus: the entries of their own terms, so that one more changes few of them.

An engine that surveys looks through the corpus several times. A look counts each section by itself and learns entries
by term from all counts; each section is then told the entries of the terms that it asked for. What it is told stands in
the key of all that is made of it: a section of whose terms none has another entry is not counted, nor read, again.
What was learned is not stored: it is learned again from the counts where a section needs it that was not told yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import blake2b
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import order_numbers, sort_numbers
from sensegraph.algorithms.ranking import hash_words
from sensegraph.protocols import Store, SurveyingEngine
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Results, step
from sensegraph.runtime.runtime import Runtime

_GROUP = 4096  # sections whose digests are stored as one value
_KEPT = 4096  # sections of which is kept what they ask for: a few megabytes
_HEAD = 4  # bytes of a stored count that say how many terms it asks for
_ODD = np.uint64(0x9E3779B97F4A7C15)  # what the digest of the looks before is multiplied by
_Entries = dict[str, str]


def hash_terms(terms: Sequence[str]) -> NDArray[np.uint32]:
    """The numbers by which terms are looked up, rising; two terms may share one, and are then told together."""
    codes = {crc32(t.encode("utf-8", "surrogatepass")) for t in terms}
    return np.sort(np.fromiter(codes, "<u4", len(codes)))


def pack_count(terms: Sequence[str], data: bytes) -> bytes:
    """What a section asks for and counts, as it is stored: of the steps between the numbers byte by byte."""
    codes = hash_terms(terms)
    steps = codes.copy()
    steps[1:] -= codes[:-1]
    return len(codes).to_bytes(_HEAD, "little") + steps.view(np.uint8).reshape(-1, 4).T.tobytes() + data


def unpack_terms(count: bytes) -> NDArray[np.uint32]:
    """The numbers of the terms that a section asks for."""
    steps = np.frombuffer(count, np.uint8, 4 * int.from_bytes(count[:_HEAD], "little"), _HEAD).reshape(4, -1)
    return np.cumsum(np.ascontiguousarray(steps.T).view("<u4")[:, 0], dtype=np.uint32)


def unpack_data(count: bytes) -> bytes:
    """What the engine counted in a section."""
    return count[_HEAD + 4 * int.from_bytes(count[:_HEAD], "little") :]


@dataclass(frozen=True)
class Table:
    """The entries of one look, ready to be asked for by number."""

    entries: Mapping[str, str]

    @cached_property
    def _terms(self) -> tuple[list[str], NDArray[np.uint32]]:
        """The terms in the order of their numbers, and these."""
        terms = sorted(self.entries)
        codes = np.array([crc32(t.encode("utf-8", "surrogatepass")) for t in terms], dtype="<u4")
        order = order_numbers(codes)
        return [terms[i] for i in order.tolist()], codes[order]

    @cached_property
    def _sums(self) -> NDArray[np.uint64]:
        """The sums of the hashes of all entries before each, and before the end."""
        hashes = hash_words(f"{t}\0{self.entries[t]}" for t in self._terms[0])
        return np.concatenate([np.zeros(1, np.uint64), np.cumsum(hashes, dtype=np.uint64)])

    @cached_property
    def content(self) -> str:
        """What stands for the entries: equal entries, equal contents."""
        return blake2b(self._sums.tobytes() + self._terms[1].tobytes(), digest_size=16).hexdigest()

    def find(self, codes: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each number the place of its first entry, and the place behind its last."""
        held = self._terms[1]
        first = np.searchsorted(held, codes, "left")
        last = first.copy()
        if len(held):
            here = np.flatnonzero(held[np.minimum(first, len(held) - 1)] == codes)  # few of those that are asked for
            last[here] = np.searchsorted(held, codes[here], "right")
        return first, last

    def add_up(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.uint64]:
        """For each number the sum of the hashes of its entries, which `find` found."""
        return self._sums[last] - self._sums[first]

    def tell(self, codes: NDArray[np.uint32]) -> Iterator[tuple[int, str, str]]:
        """The entries of these numbers: the place of the number, the term, what is said of it."""
        first, last = self.find(codes)
        places = np.flatnonzero(last > first)
        terms, entries = self._terms[0], self.entries
        for place, begin, end in zip(places.tolist(), first[places].tolist(), last[places].tolist(), strict=True):
            term = terms[begin]
            yield place, term, entries[term]
            for term in terms[begin + 1 : end] if end > begin + 1 else ():
                yield place, term, entries[term]


@dataclass(frozen=True)
class Look:
    """One look at the corpus: the counts, and what they teach, which is learned when it is asked for."""

    engine: SurveyingEngine
    counts: Results[bytes]
    before: tuple[Look, ...]

    @cached_property
    def table(self) -> Table:
        """What the counts teach."""
        known = {term: entry for look in self.before for term, entry in look.table.entries.items()}
        return Table(dict(self.engine.learn(_Data(self.counts, self._kept), len(self.before), known)))

    @property
    def tables(self) -> tuple[Table, ...]:
        """What this look and those before it teach: where its terms are looked up."""
        return (*(look.table for look in self.before), self.table)

    @cached_property
    def _kept(self) -> dict[int, NDArray[np.uint32]]:
        """What the sections that were read first ask for, once it is known of that what has entries."""
        return {}

    def asked(self, positions: Sequence[int]) -> list[NDArray[np.uint32]]:
        """The numbers of the terms that these sections ask for."""
        missing = [i for i in positions if i not in self._kept]
        read = dict(zip(missing, map(unpack_terms, self.counts.at(missing)), strict=True))
        for i in missing[: max(0, _KEPT - len(self._kept))]:
            self._kept[i] = read[i]
        return [read[i] if i in read else self._kept[i] for i in positions]

    def tell(self, positions: Sequence[int]) -> list[_Entries]:
        """The entries of the terms that these sections asked for."""
        asked = self.asked(positions)
        told: list[_Entries] = [{} for _ in asked]
        codes = np.concatenate([np.zeros(0, np.uint32), *asked])
        codes, order = sort_numbers(codes)  # numbers that rise are found sooner
        owners = np.repeat(np.arange(len(asked)), [len(a) for a in asked])[order].tolist()
        for table in self.tables:
            for place, term, entry in table.tell(codes):
                told[owners[place]][term] = entry
        return told

    def digest(self, begin: int, end: int) -> bytes:
        """One number of 64 bits for what each of these sections is told."""
        asked = self.asked(range(begin, end))
        codes, lengths = np.concatenate(asked), np.array([len(a) for a in asked])
        sums, answered = np.zeros(len(codes) + 1, dtype=np.uint64), np.zeros(len(codes) + 1, dtype=np.int64)
        rising, order = sort_numbers(codes)
        places = order + 1
        for table in self.tables:
            first, last = table.find(rising)
            sums[places] += table.add_up(first, last)
            answered[places] |= last > first
        ends = np.cumsum(lengths)
        held, bounds = codes[answered[1:] > 0], [0, *np.cumsum(answered)[ends].tolist()]
        for number, place in enumerate(range(begin, end)):
            if place in self._kept:  # no look that follows need look for what has no entry
                self._kept[place] = held[bounds[number] : bounds[number + 1]].copy()
        sums = np.cumsum(sums, dtype=np.uint64)
        told: bytes = (sums[ends] - sums[ends - lengths]).astype("<u8").tobytes()
        return told


@dataclass(frozen=True)
class _Data(Sequence[bytes]):
    """What the engine counted in each section, read from the store as it is asked for.

    What the first sections ask for is `kept` when all are read.
    """

    counts: Results[bytes]
    kept: dict[int, NDArray[np.uint32]]

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, index: Any) -> Any:
        return unpack_data(self.counts[index])

    def __iter__(self) -> Iterator[bytes]:
        for place, count in enumerate(self.counts):
            if place < _KEPT:
                self.kept[place] = unpack_terms(count)
            yield unpack_data(count)


@step("extraction.count", version=2, uses="engine", task="survey")
def count_documents(
    items: Sequence[tuple[bytes, Mapping[str, str]]], *, engine: SurveyingEngine, look: int
) -> list[bytes]:
    """What each section counts for a look, and asks of what the look will teach."""
    return [pack_count(terms, data) for terms, data in engine.count(items, look)]


@step("extraction.learn", version=2, uses="engine", task="survey")
def learn_corpus(looks: Sequence[Look], *, engine: SurveyingEngine) -> list[str]:
    """What stands for all that a look teaches."""
    return [look.table.content for look in looks]


@step("extraction.tell", version=1)
def digest_entries(groups: Sequence[tuple[Look, int, int]]) -> list[bytes]:
    """A number for what each section of a group is told."""
    return [look.digest(begin, end) for look, begin, end in groups]


@step("extraction.told", version=1)
def keep_digests(groups: Sequence[bytes]) -> list[bytes]:
    """A number for all that each section of a group is told, by all looks."""
    return list(groups)


@dataclass(frozen=True)
class Survey:
    """All looks at a corpus, given as the observations of its sections."""

    rt: Runtime
    engine: SurveyingEngine
    observations: Results[bytes]
    looks: list[Look] = field(default_factory=list)

    @cached_property
    def names(self) -> list[str]:
        """What stands for each observation and for all that its section is told."""
        root = key(*self.observations.keys)
        told = (
            self.rt.once(keep_digests, partial(self._digest, *group), names=(root, *map(str, group))).value
            for group in self._groups()
        )
        return self._name(np.frombuffer(b"".join(told), dtype="<u8"))

    def _digest(self, begin: int, end: int) -> bytes:
        found: bytes = self._digests[begin:end].tobytes()
        return found

    @cached_property
    def _digests(self) -> NDArray[np.uint64]:
        """A number for all that each section is told; makes the looks."""
        digests = np.zeros(len(self.observations), dtype="<u8")
        contents: list[str] = []
        for number in range(self.engine.looks):
            items = Told(self, (self.observations,), number)
            counts = self.rt.each(count_documents, items, names=self._name(digests), look=number)
            look = Look(self.engine, counts, tuple(self.looks))
            contents.append(self.rt.once(learn_corpus, look, names=(*contents, *sorted(counts.keys))).value)
            told = [
                self.rt.once(digest_entries, (look, begin, end), names=(*contents, *counts.keys[begin:end])).value
                for begin, end in self._groups()
            ]
            digests = digests * _ODD + np.frombuffer(b"".join(told), dtype="<u8")
            self.looks.append(look)
        return digests

    def _groups(self) -> list[tuple[int, int]]:
        size = len(self.observations)
        return [(begin, min(begin + _GROUP, size)) for begin in range(0, size, _GROUP)]

    def _name(self, digests: NDArray[np.uint64]) -> list[str]:
        return [key(k, f"{d:x}") for k, d in zip(self.observations.keys, digests.tolist(), strict=True)]

    def tell(self, positions: Sequence[int], looks: int) -> list[_Entries]:
        """The entries that these sections are told by the first looks."""
        if looks > len(self.looks):
            _ = self._digests
        told: list[_Entries] = [{} for _ in positions]
        for look in self.looks[:looks]:
            for one, more in zip(told, look.tell(positions), strict=True):
                one.update(more)
        return told


@dataclass(frozen=True)
class Told(Sequence[tuple[Any, ...]]):
    """Sections as the engine gets them: what lies in `columns`, and the entries that they are told by the looks before.

    All is read from the store when a batch is about to run.
    """

    survey: Survey
    columns: tuple[Any, ...]
    looks: int

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, index: Any) -> Any:
        return self.at([index])[0]

    def at(self, positions: Sequence[int]) -> list[tuple[Any, ...]]:
        """The sections at these positions."""
        columns = [column.at(positions) for column in self.columns]
        return list(zip(*columns, self.survey.tell(positions, self.looks), strict=True))

    def reader(self, positions: Sequence[int]) -> Callable[[Store], list[tuple[Any, ...]]]:
        """What reads the sections at these positions in another process; what they are told goes with it."""
        columns = [column.reader(positions) for column in self.columns]
        return partial(read_told_sections, columns, self.survey.tell(positions, self.looks))


def read_told_sections(
    columns: Sequence[Callable[[Store], Sequence[Any]]], told: Sequence[_Entries], store: Store
) -> list[tuple[Any, ...]]:
    """Sections as the engine gets them, with what they are told."""
    return list(zip(*(read(store) for read in columns), told, strict=True))
