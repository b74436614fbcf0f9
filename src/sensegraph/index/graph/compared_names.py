"""Names that are compared, in partitions: what they are as they are compared, and how alike each is to others.

A partition is a run of neighbours in the order of ids, so that a name that is added is read in one of them. Its
comparisons are put together anew where a name of it stands beside others than before, or where another number of names
has one of their words; of these only the pairs are compared that this concerns: what stands for a pair finds how alike
it was in the partitions of before.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from hashlib import blake2b
from itertools import pairwise
from typing import Any, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats, Ints, Longs, locate_numbers, order_numbers
from sensegraph.algorithms.minhash import Hashes, mix_hashes
from sensegraph.algorithms.partners import KeyedRows, PairedRows, pair_again
from sensegraph.algorithms.ranking import hash_words
from sensegraph.algorithms.segments import cut_hashes
from sensegraph.algorithms.similar import Candidates, Pairs
from sensegraph.index.graph.seen_names import MentionedNames, NameGraph
from sensegraph.resolution import Comparison
from sensegraph.resolution.comparison.name_columns import NameColumns, read_columns
from sensegraph.resolution.comparison.scoring import Collection, Comparisons, Scores, Traits, kind_of_type
from sensegraph.resolution.judged_pairs import block_pairs
from sensegraph.resolution.resolution_types import Resolving
from sensegraph.runtime.columns import digest_columns, join_columns, pack_columns, unpack_columns
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime

NAMES = 128  # of a partition, on the average: a power of two
_SCORES = 128  # names whose scores are kept together, likewise
_PARTS = 64  # partitions that are judged at once
_TOGETHER = 256  # names that are compared at once
_PAIR = np.dtype([("score", "<f8"), ("kind", "u1")])
COMPARED = "compared"  # ref: the version of scores, and the partitions of the graph that was last built
PAIRED = "paired"  # ref: the version of pairs with its settings, and those of that graph


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPairs:
    """Pairs of names: what stands for all that decides how alike they are, how alike, and by which relations."""

    pairs: Hashes
    score: Floats
    kind: NDArray[np.uint8]


def compare_with_others(items: Sequence[Comparison]) -> bytes:
    """How alike each name is to those that it is compared with, and by which relations: rows of `_PAIR`."""
    scores = Scores.of([judged for item in items for judged in item.judge()])
    rows = np.empty(len(scores.score), _PAIR)
    rows["score"], rows["kind"] = scores.score, scores.kind
    return rows.tobytes()


@step("duplicates.names", version=3, batch=1)
def read_names(parts: Sequence[Sequence[tuple[str, bool]]]) -> list[bytes]:
    """The columns of the names of each partition, given with whether they are persons'."""
    return [pack_columns(read_columns(((name,), person) for name, person in part)) for part in parts]


@step("duplicates.scores", version=3)
def keep_scores(parts: Sequence[ScoredPairs]) -> list[bytes]:
    """How alike the names of the pairs of a partition are."""
    return [pack_columns(part) for part in parts]


@step("duplicates.pairs", version=3)
def keep_pairs(found: Sequence[PairedRows], *, near: int, rare: int) -> list[bytes]:
    """Which names are compared."""
    return list(map(pack_columns, found))


class SingleNames(Sequence[tuple[str]]):
    """The names of things that have one each: of each thing a tuple of its name, made when it is asked for."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, index: int) -> tuple[str]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[str]]: ...
    def __getitem__(self, index: int | slice) -> tuple[str] | list[tuple[str]]:
        found = self._names[index]
        return (found,) if isinstance(found, str) else [(name,) for name in found]


class NeighbourCounts(Mapping[str, int]):
    """How many neighbours names have, by their ids, which ascend; none for one that has no neighbour."""

    def __init__(self, ids: Sequence[str], counts: Longs) -> None:
        self._ids, self._counts = ids, counts

    def __getitem__(self, name: str) -> int:
        row = bisect_left(self._ids, name)
        if row == len(self._ids) or self._ids[row] != name or not self._counts[row]:
            raise KeyError(name)
        return int(self._counts[row])

    def __iter__(self) -> Iterator[str]:
        return (self._ids[row] for row in np.flatnonzero(self._counts).tolist())

    def __len__(self) -> int:
        return int(np.count_nonzero(self._counts))


def collect_names(graph: NameGraph, rt: Runtime, settings: Resolving) -> Collection:
    """The names of a graph, ready to be compared; only names of partitions that changed are read."""
    rows: Sequence[int] = range(len(graph))
    ids, names, types = graph.ids, graph.names, graph.types
    if list(ids) != sorted(ids):
        rows = sorted(rows, key=ids.__getitem__)
        ids, names, types = ([of[row] for row in rows] for of in (ids, names, types))
    order = np.array(rows, np.int64)
    hashes, many = graph.hashes[order], np.bincount(graph.near, minlength=len(graph))[order]
    numbers = {kind: number for number, kind in enumerate(sorted(set(types)))}
    persons = {kind: kind_of_type(kind) == "person" for kind in numbers}
    cuts = [slice(begin, end) for begin, end in cut_hashes(hashes, NAMES)]
    parts = [list(zip(names[cut], map(persons.__getitem__, types[cut]), strict=True)) for cut in cuts]
    keys = [blake2b(msgspec.msgpack.encode(part), digest_size=20).hexdigest() for part in parts]
    packed = rt.each(read_names, parts, names=keys)
    del parts
    columns = join_columns(NameColumns(*unpack_columns(part)) for part in packed) if cuts else read_columns(())
    typed = np.fromiter(map(numbers.__getitem__, types), np.int32, len(types))
    traits = Traits(list(numbers), typed, np.zeros(len(types), np.int32), graph.mentioning[order])
    items, shown, degree = MentionedNames(graph, rows), SingleNames(names), NeighbourCounts(ids, many)
    words, read_from = columns.count_words(), key(*packed.keys)
    return Collection(
        ids, shown, items, columns, traits, {}, words, degree, settings, read_from=read_from, hashes=hashes
    )


def pair_names(found: Collection, rt: Runtime) -> tuple[Collection, Candidates]:
    """The names that are compared, and the names without what brings them together, which takes much room.

    While there are the same names these are the same pairs. Else partners are found again of names that share a word or
    another key with one that is new, changed or gone.
    """
    near, rare = found.settings.near, found.settings.rare
    ids = hash_words(found.ids) if found.hashes is None else found.hashes
    noted, keyed_columns = f"{keep_pairs.version} {near} {rare}", [found.columns]
    found = replace(found, columns=found.columns.without_keys())

    def look() -> PairedRows:
        before, _, k = (rt.store.ref(PAIRED) or "").rpartition(" ")
        there = replace(rt, inside=[]).recall(keep_pairs, [k] if before == noted else [])
        earlier = PairedRows(*unpack_columns(there[k].value)) if there else None
        told, words = mix_hashes(ids ^ found.columns.spoken), found.words
        return pair_again(  # nobody else holds the keys, so that they go as soon as they can
            KeyedRows.of(*keyed_columns.pop().list_keys(words), count=len(ids), most=rare), ids, told, near, earlier
        )

    made = rt.once(keep_pairs, look, names=(found.read_from, digest_columns([ids])), near=near, rare=rare)
    keyed_columns.clear()
    if rt.store.ref(PAIRED) != f"{noted} {made.key}":
        rt.store.set_refs({PAIRED: f"{noted} {made.key}"})
    paired = PairedRows(*unpack_columns(made.value))
    pairs = Pairs(paired.one, paired.other, np.broadcast_to(1.0, len(paired.one)))
    return found, block_pairs(found, Candidates(pairs, paired.passed_over, int(paired.crowded[0])))


def compare_in_partitions(found: Collection, one: Ints, other: Ints, *, rt: Runtime, noted: bool = False) -> Scores:
    """How alike the names of pairs are: of partitions in which nothing changed it is known.

    Of the others those pairs are compared that stand in no partition of the graph that was last built; where `noted`,
    this is that graph from now on.
    """
    signs, cuts = found.columns.sign(found.words), cut_hashes(found.columns.spoken, _SCORES)
    bounds = np.searchsorted(one, np.array([0, *(end for _, end in cuts)], one.dtype)).tolist()
    parts = [slice(first, last) for first, last in pairwise(bounds) if first < last]

    def sign(rows: slice | Longs) -> Hashes:
        """What stands for all that decides how alike the names of these pairs are."""
        return mix_hashes(signs[one[rows]] + mix_hashes(signs[other[rows]] + np.uint64(found.words.names)))

    @cache
    def recall() -> ScoredPairs:
        """The pairs of the partitions of before that are no more."""
        gone = replace(rt, inside=[]).recall(keep_scores, [k for k in earlier if k not in there])
        parts = [ScoredPairs(*unpack_columns(part.value)) for part in gone.values()]
        joined = join_columns([ScoredPairs(np.zeros(0, np.uint64), np.zeros(0), np.zeros(0, np.uint8)), *parts])
        order = order_numbers(joined.pairs)
        return ScoredPairs(joined.pairs[order], joined.score[order], joined.kind[order])

    def judge(some: Sequence[slice]) -> list[ScoredPairs]:
        """The pairs of several parts, judged together."""
        rows = np.concatenate([np.arange(part.start, part.stop) for part in some])
        pairs, known, scores = sign(rows), recall(), np.zeros(len(rows), _PAIR)
        at = locate_numbers(pairs, known.pairs)
        at[at == len(known.pairs)] = 0
        same = known.pairs[at] == pairs if len(known.pairs) else np.zeros(len(pairs), np.bool_)
        scores["score"][same], scores["kind"][same] = known.score[at[same]], known.kind[at[same]]
        new = np.flatnonzero(~same)
        scores[new] = judge_comparisons(Comparisons(found, one[rows[new]], other[rows[new]]), rt)
        ends = np.cumsum([part.stop - part.start for part in some])[:-1]
        columns = (np.split(column, ends) for column in (pairs, scores["score"], scores["kind"]))
        return list(map(ScoredPairs, *columns))

    names = [blake2b(sign(rows).astype("<u8").tobytes(), digest_size=20).hexdigest() for rows in parts]
    keys = rt.keys(keep_scores, parts, [key(name) for name in names])
    there, (version, *earlier) = rt.recall(keep_scores, keys), (rt.store.ref(COMPARED) or "0").split()
    if version != f"{keep_scores.version}":  # how names are compared has changed
        earlier = []

    def score() -> Iterator[Scores]:
        for at in range(0, len(keys), _PARTS):
            some = range(at, min(at + _PARTS, len(keys)))
            lacking = [i for i in some if keys[i] not in there]
            judged = dict(zip(lacking, judge([parts[i] for i in lacking]), strict=True)) if lacking else {}
            for i in some:
                made = there.get(keys[i]) or rt.once(keep_scores, partial(judged.__getitem__, i), names=[names[i]])
                part = ScoredPairs(*unpack_columns(made.value))
                yield Scores(part.score, part.kind)

    scored = join_columns(score()) if keys else Scores.of(())
    if noted and keys != earlier:
        rt.store.set_refs({COMPARED: f"{keep_scores.version} {' '.join(keys)}"})
    return scored


def judge_comparisons(items: Comparisons, rt: Runtime) -> NDArray[Any]:
    """How alike the names of each of these are to those that they are compared with, by workers where that takes long.

    What is judged is kept with its partition.
    """
    batches = [items[at : at + _TOGETHER] for at in range(0, len(items), _TOGETHER)]
    found = dict[int, bytes]()
    for place, told in rt.executor.map(compare_with_others, batches, waits=False):
        if isinstance(told, BaseException):
            raise told
        found[place] = told
    return np.frombuffer(b"".join(found[i] for i in range(len(batches))), _PAIR)
