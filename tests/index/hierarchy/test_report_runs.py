"""The table of reports is made of runs, of which an update writes, and reads, few."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sensegraph.index.hierarchy import report_runs
from sensegraph.index.hierarchy.packing import Group
from sensegraph.index.hierarchy.reports import _recall_clusters
from sensegraph.index.hierarchy.written_trees import WrittenReport
from sensegraph.runtime.results import Result, Table, store_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Cluster, Hierarchy
from wired import runtime

CLUSTERS = [Cluster(f"{i * 7919 % 1000:03}", 0, i // 40, "", (f"e{i}",), (f"e{i}",), f"Title {i}") for i in range(80)]


def cut(
    clusters: list[Cluster], rt: Runtime, earlier: Table[Cluster] | None
) -> tuple[report_runs.ReportRuns, dict[str, bytes]]:
    """The runs of these clusters, of which those stay that `earlier` has, and what is recalled of these."""
    children = {c.id: tuple(child.id for child in clusters if child.parent == c.id) for c in clusters}
    groups = [Group(c.id, c.depth, c.parent, children[c.id], c.entities) for c in clusters]
    then = {c.id: c for c in earlier or ()}
    same = {c.id for c in clusters if c.id in then and replace(c, parent="") == replace(then[c.id], parent="")}
    kept = {name: WrittenReport(name, 0) for name in same}
    before = Result("", Hierarchy(earlier)) if earlier is not None else None
    runs = report_runs.cut_report_runs(groups, kept, before, rt)
    return runs, _recall_clusters(before.value, kept, groups, runs, rt) if before else {}


def keep(clusters: list[Cluster], rt: Runtime, earlier: Table[Cluster] | None = None) -> Table[Cluster]:
    """The table of these clusters."""
    runs, stored = cut(clusters, rt, earlier)
    changed = {name for ids in runs.changed().values() for name in ids}
    others = dict(store_records(c for c in clusters if c.id in changed - stored.keys()))
    return report_runs.keep_report_runs(runs, stored | others, rt)


@pytest.mark.parametrize(
    ("changed", "runs"),
    [
        (CLUSTERS, 0),
        ([replace(c, title="Another") if c.id == CLUSTERS[33].id else c for c in CLUSTERS], 1),
        ([*CLUSTERS[:50], replace(CLUSTERS[50], id="abc"), *CLUSTERS[50:]], 2),
        ([replace(c, parent="abc") if c.id == CLUSTERS[33].id else c for c in CLUSTERS], 1),
        (CLUSTERS[:20] + CLUSTERS[21:], 2),
        (CLUSTERS[:1], 1),
        ([], 0),
    ],
)
def test_an_update_writes_the_runs_of_reports_that_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: list[Cluster], runs: int
) -> None:
    monkeypatch.setattr(report_runs, "_CLUSTERS", 8)
    rt = runtime(SqliteStore(tmp_path))
    first = keep(CLUSTERS, rt)
    assert list(first) == CLUSTERS
    assert rt.computed["reports.run"] == len(first.joined) > 4
    rt.computed.clear()
    again = keep(changed, rt, first)
    assert list(again) == changed
    assert rt.computed["reports.run"] <= runs
    assert len(set(again.joined) - set(first.joined)) == rt.computed["reports.run"]
    assert again.find([c.id for c in changed[::9]]) == {c.id: c for c in changed[::9]}
    assert again.find(["nobody"]) == {}
    afresh = keep(changed, runtime(SqliteStore(tmp_path / "other")))
    assert (again.joined, again.finder) == (afresh.joined, afresh.finder)


def test_runs_that_stand_are_relied_on_and_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_runs, "_CLUSTERS", 8)
    rt = runtime(SqliteStore(tmp_path))
    first = keep(CLUSTERS, rt)
    changed = [replace(c, title="Another") if c.id == CLUSTERS[33].id else c for c in CLUSTERS]
    runs, read = cut(changed, rt, first)
    assert len(runs.stand) == len(runs.cut) - 1 > 3
    (ids,) = runs.changed().values()
    assert read.keys() == set(ids) - {CLUSTERS[33].id}
    rt.inside.append([])
    again = report_runs.keep_report_runs(runs, read | dict(store_records([changed[33]])), rt)
    relied = rt.inside.pop()
    assert {name.removesuffix(".clusters") for name, *_ in again.joined} <= set(relied)


def test_communities_below_one_that_is_written_about_again_stand_unless_it_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_runs, "_CLUSTERS", 8)
    rt = runtime(SqliteStore(tmp_path))
    tops, below = CLUSTERS[:40], [replace(c, parent=CLUSTERS[i % 40].id) for i, c in enumerate(CLUSTERS[40:])]
    first = keep([*tops, *below], rt)
    inner = {i for i, (begin, _) in enumerate(cut([*tops, *below], rt, first)[0].cut) if begin >= 40}
    assert len(inner) > 1
    runs, read = cut([*(replace(c, title="Another") for c in tops), *below], rt, first)
    assert runs.stand.keys() == inner
    assert read == dict(store_records(below))  # the reports on what is below are written from
    other = {c.id: f"x{c.id}" for c in tops}
    moved = [replace(c, parent=other[c.parent]) for c in below]
    renamed = [*(replace(c, id=other[c.id]) for c in tops), *moved]
    runs, read = cut(renamed, rt, first)
    assert not runs.stand
    assert read == dict(store_records(moved))
    assert list(keep(renamed, rt, first)) == renamed
