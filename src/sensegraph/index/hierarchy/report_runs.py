"""The table of the reports of a hierarchy, in runs of clusters that follow one another: an update makes few anew."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import compress

import msgspec
import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import mark_among
from sensegraph.algorithms.ranking import hash_words
from sensegraph.algorithms.segments import cut_hashes
from sensegraph.index.hierarchy.packing import Group
from sensegraph.index.hierarchy.written_trees import EncodedRows, WrittenReport
from sensegraph.index.manifest import keep_finder
from sensegraph.runtime.joined_rows import JoinedRows, Joint
from sensegraph.runtime.results import Result, Table, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Cluster, Hierarchy

_CLUSTERS = 128  # of a run, on the average: a power of two


@dataclass(frozen=True, slots=True)
class ReportRun:
    """Clusters that follow one another in a hierarchy."""

    clusters: Sequence[Cluster] = ()


@step("reports.run", version=1, form="tables")
def keep_report_run(runs: Sequence[ReportRun]) -> list[ReportRun]:
    """Runs of clusters, each under a digest of what is stored of them."""
    return list(runs)


@dataclass(frozen=True, slots=True)
class ReportRuns:
    """The runs of a hierarchy: where they begin and end among its `ids`, and which `stand` in which table.

    `moved` are the communities whose parent was not there before.
    """

    ids: Sequence[str]
    hashes: NDArray[np.uint64]
    cut: Sequence[tuple[int, int]]
    moved: Collection[str]
    stand: Mapping[int, Joint]

    def changed(self) -> dict[int, Sequence[str]]:
        """The ids of the runs that do not stand."""
        return {i: self.ids[begin:end] for i, (begin, end) in enumerate(self.cut) if i not in self.stand}


def cut_report_runs(
    groups: Sequence[Group], kept: Mapping[str, WrittenReport], earlier: Result[Hierarchy] | None, rt: Runtime
) -> ReportRuns:
    """The runs of these communities: those stand that `earlier` has, with all kept and below parents that it has too.

    An id stands for members and depth, so that a community and its parent that were there both were so related.
    """
    ids = [g.id for g in groups]
    hashes = hash_words(ids)
    cut = cut_hashes(hashes, _CLUSTERS) if ids else []
    records = earlier.value.clusters if earlier else ()
    if not isinstance(records, Table) or (found := rt.store.array(records.finder)) is None:
        return ReportRuns(ids, hashes, cut, {g.id for g in groups if g.parent}, {})
    before = set(compress(ids, mark_among(hashes, found[0]).tolist()))
    moved = {g.id for g in groups if g.parent and g.parent not in before}
    stays = np.array([name in kept and name not in moved for name in ids], np.bool_)
    order = np.empty_like(found[0])
    order[found[1]] = found[0]
    ends = np.cumsum([count for _, count, _ in records.joined]).tolist()
    joints = {order[end - of[1] : end].tobytes(): of for of, end in zip(records.joined, ends, strict=True)}
    there = {i: joints.get(hashes[begin:end].tobytes()) for i, (begin, end) in enumerate(cut) if stays[begin:end].all()}
    return ReportRuns(ids, hashes, cut, moved, {i: joint for i, joint in there.items() if joint})


def keep_report_runs(runs: ReportRuns, records: Mapping[str, bytes], rt: Runtime) -> Table[Cluster]:
    """The table of clusters, made of runs: those that stand are there, the others have these records."""
    changed = [[(name, records[name]) for name in ids] for ids in runs.changed().values()]
    wholes = [ReportRun(Table(EncodedRows(run), Cluster)) for run in changed]
    made = rt.once_each(
        keep_report_run,
        wholes,
        [(blake2b(msgspec.msgpack.encode(run), digest_size=20).hexdigest(),) for run in changed],
    )
    new = ((f"{run.key}.clusters", len(of), of[0][0]) for run, of in zip(made, changed, strict=True))
    joints = [runs.stand[i] if i in runs.stand else next(new) for i in range(len(runs.cut))]
    rt.rely_on([name.partition(".")[0] for name, *_ in runs.stand.values()])
    digest = blake2b(runs.hashes.tobytes(), digest_size=20).hexdigest()
    finder = rt.once(keep_finder, lambda: runs.hashes, names=("clusters", digest)).key
    return Table(JoinedRows(rt.store, joints, finder=finder), Cluster)
