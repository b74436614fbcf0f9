"""Names that are compared, in partitions: what they are as they are compared, and how alike each is to others.

A partition is a run of neighbours in the order of ids, so that a name that is added is read in one of them. Its
comparisons are made anew where a name of it stands beside others than before, or where another number of names has one
of their words; and of these only the ones that this concerns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b

import msgspec
import numpy as np

from sensegraph.algorithms.graphs import Longs
from sensegraph.algorithms.segments import cut_hashes
from sensegraph.algorithms.walks import run_offsets
from sensegraph.index.graph.seen_names import MentionedNames, NameGraph
from sensegraph.resolution import Comparison
from sensegraph.resolution.comparison.name_columns import NameColumns, read_columns
from sensegraph.resolution.comparison.scoring import Collection, Comparisons, Scores, Traits, kind_of_type
from sensegraph.resolution.resolution_types import Resolving
from sensegraph.runtime.columns import join_columns, pack_columns, unpack_columns
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime

NAMES = 128  # of a partition, on the average: a power of two
_SCORES = 512  # names whose scores are kept together, likewise
_PAIR = np.dtype([("score", "<f8"), ("kind", "u1")])


@step("duplicates.compared", version=2, batch=256)
def compare_with_others(items: Sequence[Comparison]) -> list[bytes]:
    """How alike each name is to those that it is compared with, and by which relations: a row of `_PAIR` for each."""
    found = []
    for item in items:
        scores = Scores.of(item.judge())
        rows = np.empty(len(scores.score), _PAIR)
        rows["score"], rows["kind"] = scores.score, scores.kind
        found.append(rows.tobytes())
    return found


@step("duplicates.names", version=3, batch=1)
def read_names(parts: Sequence[Sequence[tuple[str, bool]]]) -> list[bytes]:
    """The columns of the names of each partition, given with whether they are persons'."""
    return [pack_columns(read_columns(((name,), person) for name, person in part)) for part in parts]


@step("duplicates.scores", version=1)
def keep_scores(parts: Sequence[Scores]) -> list[bytes]:
    """How alike the names of the pairs of a partition are."""
    return [pack_columns(part) for part in parts]


def collect_names(graph: NameGraph, rt: Runtime, settings: Resolving) -> Collection:
    """The names of a graph, ready to be compared; only names of partitions that changed are read."""
    rows = sorted(range(len(graph)), key=graph.ids.__getitem__)
    ids = [graph.ids[row] for row in rows]
    numbers = {kind: number for number, kind in enumerate(sorted(set(graph.types)))}
    persons = {kind: kind_of_type(kind) == "person" for kind in numbers}
    things = [(graph.names[row], persons[graph.types[row]]) for row in rows]
    parts = [things[begin:end] for begin, end in cut_hashes(graph.hashes[rows], NAMES)]
    keys = [blake2b(msgspec.msgpack.encode(part), digest_size=20).hexdigest() for part in parts]
    packed = rt.each(read_names, parts, names=keys)
    columns = join_columns([NameColumns(*unpack_columns(part)) for part in packed]) if parts else read_columns(())
    typed = np.array([numbers[graph.types[row]] for row in rows], np.int32)
    traits = Traits(list(numbers), typed, np.zeros(len(rows), np.int32), graph.mentioning[np.array(rows, np.int64)])
    near, many = np.unique(graph.near, return_counts=True)
    degree = Counter(dict(zip((graph.ids[i] for i in near.tolist()), many.tolist(), strict=True)))
    items, shown = MentionedNames(graph, rows), [(graph.names[row],) for row in rows]
    return Collection(ids, shown, items, columns, traits, {}, columns.count_words(), degree, settings)


def compare_in_partitions(found: Collection, one: Longs, other: Longs, *, rt: Runtime) -> Scores:
    """How alike the names of pairs are: of partitions in which nothing changed it is known."""
    signs = found.columns.sign(found.words)
    parts, names = list[slice](), list[str]()
    for begin, end in cut_hashes(found.columns.spoken, _SCORES):
        first, last = np.searchsorted(one, (begin, end)).tolist()
        if first == last:
            continue
        parts.append(rows := slice(first, last))
        told = blake2b(repr((found.words.names, last - first)).encode(), digest_size=20)
        for column in (one[rows] - begin, signs[one[rows]], signs[other[rows]]):
            told.update(column.astype(column.dtype.newbyteorder("<")).tobytes())
        names.append(told.hexdigest())
    keys = rt.keys(keep_scores, parts, [key(name) for name in names])
    there = rt.recall(keep_scores, keys)
    new = [i for i, k in enumerate(keys) if k not in there]
    few = [np.zeros(0, np.int64), *(np.arange(len(one))[parts[i]] for i in new)]
    items = Comparisons(found, one[np.concatenate(few)], other[np.concatenate(few)])
    # of all partitions at once: that each of them rests on its own is said when it is kept
    compared = replace(rt, inside=[]).each(compare_with_others, items, names=items.sign(signs))
    ends = run_offsets([len(np.unique(one[part])) for part in few[1:]]).tolist()

    def join(begin: int, end: int) -> Scores:
        rt.rely_on(compared.keys[begin:end])
        rows = np.frombuffer(b"".join(compared[begin:end]), _PAIR)
        return Scores(rows["score"].copy(), rows["kind"].copy())

    for i, begin, end in zip(new, ends, ends[1:], strict=False):
        there[keys[i]] = rt.once(keep_scores, partial(join, begin, end), names=names[i : i + 1])
    made = [Scores(*unpack_columns(there[k].value)) for k in keys]
    return join_columns(made) if made else Scores.of(())
