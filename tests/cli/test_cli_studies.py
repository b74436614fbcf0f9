"""`sensegraph repro` for studies: the resolution limit, gleaning, context size, seven methods in pairs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from sensegraph.algorithms.clustering import partition_quality
from sensegraph.cli import app
from sensegraph.lab.reproduction.rings import JOINED, SIZE, link_cliques

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, ["repro", *map(str, words)])


def table_of(result: Result, place: int = 0) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)[place]
    return found


def test_the_resolution_limit_is_a_table_over_growing_rings_and_a_picture(run: Run, tmp_path: Path) -> None:
    found = table_of(run("cpm", "--json"))
    cliques = [float(n) for n in found["columns"]]
    assert cliques[0] < JOINED < cliques[-1]
    rows = {name: row["ours"] for name, row in found["rows"].items()}
    assert rows["cpm, γ 0.1"] == rows["cpm, γ 0.5"] == cliques
    pairs = zip(rows["modularity"], cliques, strict=True)
    assert [n < c for n, c in pairs] == [c >= JOINED for c in cliques]
    assert [n < c for n, c in zip(rows["modularity, γ 4"], cliques, strict=True)] == [c > 50 for c in cliques]
    assert found["grade"] == "ok"
    assert all(row["published"] == [] for row in found["rows"].values())
    drawn = ElementTree.parse(tmp_path / "repro/traag2011/rings.svg").getroot()
    said = {"".join(e.itertext()) for e in drawn.iter()}
    assert {*rows, "cliques in the ring", "communities found"} <= said


def test_the_limit_stands_where_arithmetic_says() -> None:
    for count, gains in ((JOINED - 1, False), (JOINED + 1, True)):
        each = [node // SIZE for node in range(count * SIZE)]
        joined = [min(c, count - 2) for c in each]  # the last two are one
        ring = link_cliques(count)
        one, other = (partition_quality(ring, np.array(labels)) for labels in (each, joined))
        assert (other > one + 1e-12) == gains
