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


def keep(clusters: list[Cluster], rt: Runtime, earlier: Table[Cluster] | None = None) -> Table[Cluster]:
    """The table of these clusters, of which those stay that `earlier` has."""
    groups = [Group(c.id, c.depth, c.parent, (), c.entities) for c in clusters]
    then = {c.id: c for c in earlier or ()}
    same = {c.id for c in clusters if c.id in then and replace(c, parent="") == replace(then[c.id], parent="")}
    kept = {name: WrittenReport(name, 0) for name in same}
    before = Result("", Hierarchy(earlier)) if earlier is not None else None
    runs = report_runs.cut_report_runs(groups, kept, before, rt)
    stored = _recall_clusters(before.value, kept, groups, runs, rt) if before else {}
    others = {c.id: c for c in clusters if c.id not in stored}
    records = stored | dict(store_records(others.values()))
    assert {i for i in range(len(runs.cut)) if i not in runs.stand} == set(runs.changed())
    changed = {name for ids in runs.changed().values() for name in ids}
    assert stored.keys() == changed & kept.keys()
    return report_runs.keep_report_runs(runs, {name: records[name] for name in changed}, rt)


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
    earlier = Result("", Hierarchy(first))
    groups = [Group(c.id, c.depth, c.parent, (), c.entities) for c in changed]
    kept = {c.id: WrittenReport(c.id, 0) for c in changed if c.id != CLUSTERS[33].id}
    runs = report_runs.cut_report_runs(groups, kept, earlier, rt)
    assert len(runs.stand) == len(runs.cut) - 1 > 3
    rt.inside.append([])
    read = _recall_clusters(earlier.value, kept, groups, runs, rt)
    records = read | dict(store_records([c for c in changed if c.id == CLUSTERS[33].id]))
    again = report_runs.keep_report_runs(runs, records, rt)
    relied = rt.inside.pop()
    assert {name.removesuffix(".clusters") for name, *_ in again.joined} <= set(relied)
    assert read.keys() < {c.id for c in CLUSTERS}
    (ids,) = runs.changed().values()
    assert read.keys() == set(ids) - {CLUSTERS[33].id}


def test_communities_below_one_that_is_written_about_again_stand_unless_it_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_runs, "_CLUSTERS", 8)
    rt = runtime(SqliteStore(tmp_path))
    tops, below = CLUSTERS[:40], [replace(c, parent=CLUSTERS[i % 40].id) for i, c in enumerate(CLUSTERS[40:])]
    first = keep([*tops, *below], rt)
    inner = [joint for joint, begin in zip(first.joined, _begins(first), strict=True) if begin >= 40]
    assert len(inner) > 1
    again = keep([*(replace(c, title="Another") for c in tops), *below], rt, first)
    assert set(inner) <= set(again.joined)
    other = {c.id: f"x{c.id}" for c in tops}
    moved = [replace(c, parent=other[c.parent]) for c in below]
    last = keep([*(replace(c, id=other[c.id]) for c in tops), *moved], rt, again)
    assert not set(inner) & set(last.joined)
    assert list(last)[40:] == moved


def _begins(table: Table[Cluster]) -> list[int]:
    """Where the parts of a table begin."""
    return [sum(count for _, count, _ in table.joined[:i]) for i in range(len(table.joined))]
