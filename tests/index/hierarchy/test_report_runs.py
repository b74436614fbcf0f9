"""The table of reports is made of runs, of which an update writes few."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sensegraph.index.hierarchy import reports
from sensegraph.runtime.results import store_records
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Cluster
from wired import runtime

CLUSTERS = [Cluster(f"{i * 7919 % 1000:03}", 0, i // 40, "", (f"e{i}",), (f"e{i}",), f"Title {i}") for i in range(80)]


@pytest.mark.parametrize(
    ("changed", "runs"),
    [
        (CLUSTERS, 0),
        ([replace(c, title="Another") if c.id == CLUSTERS[33].id else c for c in CLUSTERS], 1),
        ([*CLUSTERS[:50], replace(CLUSTERS[50], id="abc"), *CLUSTERS[50:]], 2),
        (CLUSTERS[:20] + CLUSTERS[21:], 2),
        (CLUSTERS[:1], 1),
        ([], 0),
    ],
)
def test_an_update_writes_the_runs_of_reports_that_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: list[Cluster], runs: int
) -> None:
    monkeypatch.setattr(reports, "_CLUSTERS", 8)
    rt = runtime(SqliteStore(tmp_path))
    first = reports._keep_runs(list(store_records(CLUSTERS)), rt)
    assert list(first) == CLUSTERS
    assert rt.computed["reports.run"] == len(first.joined) > 4
    rt.computed.clear()
    again = reports._keep_runs(list(store_records(changed)), rt)
    assert list(again) == changed
    assert rt.computed["reports.run"] <= runs
    assert again.find([c.id for c in changed[::9]]) == {c.id: c for c in changed[::9]}
    assert again.find(["nobody"]) == {}
