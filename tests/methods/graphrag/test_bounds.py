"""What a question about the whole reads at most: coarse reports of everything, finer ones where it is near."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripted import Script, ScriptedServer
from scripted_replies import asked_in
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError
from sensegraph.language.text import count_tokens
from sensegraph.methods.graphrag.global_search import GraphRAG, fit_reports
from sensegraph.types import Cluster
from wired import finished_corpus, stories

QUESTION = "Who wrote to whom, and who paid?"
SEEDS = st.integers(0, 10**6)


def grow(seed: int, roots: int = 4, depth: int = 3) -> list[list[Cluster]]:
    """The reports at each depth of a random tree; what is not divided stands for itself below."""
    random = Random(seed)
    numbers = iter(range(10**6))
    levels: list[list[Cluster]] = []
    above = [Cluster(f"c{i}", 0, 0, "", (), tuple(f"e{next(numbers)}" for _ in range(12))) for i in range(roots)]
    for at in range(depth):
        level: list[Cluster] = []
        below: list[Cluster] = []
        for c in above:
            c = Cluster(c.id, 0, c.depth, c.parent, (), c.entities, tokens=random.randint(20, 200))
            level.append(c)
            if c.depth < at or len(c.entities) < 2 or random.random() < 0.3:
                below.append(c)
                continue
            cut = random.randint(1, len(c.entities) - 1)
            parts = (c.entities[:cut], c.entities[cut:])
            below += [Cluster(f"{c.id}.{i}", 0, at + 1, c.id, (), part) for i, part in enumerate(parts)]
        known = {c.id: c for done in levels for c in done}
        levels.append([known.get(c.id, c) for c in level])
        above = [known.get(c.id, c) if c.depth < at else c for c in below]
    return levels


def ranks(levels: list[list[Cluster]], seed: int) -> dict[str, int]:
    names = sorted({c.id for level in levels for c in level})
    Random(seed).shuffle(names)
    return {name: i for i, name in enumerate(names)}


@given(SEEDS, st.integers(1, 3000))
@settings(max_examples=60)
def test_what_is_read_keeps_to_the_bound_and_tells_nothing_twice(seed: int, bound: int) -> None:
    levels = grow(seed)
    read = fit_reports(levels, ranks(levels, seed), bound)
    assert read
    assert sum(c.tokens for c in read) <= bound or len(read) == 1
    told = [e for c in read for e in c.entities]
    assert len(told) == len(set(told))
    if sum(c.tokens for c in levels[0]) <= bound:  # everything is told of
        assert sorted(told) == sorted(e for c in levels[0] for e in c.entities)


@given(SEEDS)
@settings(max_examples=40)
def test_the_nearest_report_is_read_where_there_is_room_and_all_of_the_depth_where_all_fits(seed: int) -> None:
    levels = grow(seed)
    rank = ranks(levels, seed)
    assert {c.id for c in fit_reports(levels, rank, 10**6)} == {c.id for c in levels[-1]}
    nearest = min(levels[-1], key=lambda c: rank[c.id])
    known = {c.id: c for level in levels for c in level}
    chain = [nearest]
    while chain[-1].parent:
        chain.append(known[chain[-1].parent])
    needed = sum(c.tokens for c in levels[0])  # all of the root, and the siblings of what leads to the nearest
    needed += sum(c.tokens for c in known.values() if c.parent in {a.id for a in chain[1:]})
    only = {c.id: i for i, c in enumerate([nearest])}
    assert nearest.id in {c.id for c in fit_reports(levels, only, needed)}


def test_where_the_coarsest_reports_do_not_fit_the_nearest_of_them_are_read() -> None:
    roots = [Cluster(f"c{i}", 0, 0, "", (), (f"e{i}",), tokens=100) for i in range(5)]
    read = fit_reports([roots], {"c3": 0, "c1": 1, "c0": 2, "c2": 3, "c4": 4}, 250)
    assert [c.id for c in read] == ["c3", "c1"]


@pytest.fixture
def asked(tmp_path: Path, server: ScriptedServer) -> Corpus:
    made = finished_corpus(tmp_path, server, stories(8))
    server.reset()
    server.script = Script(keep_bodies=True)
    return made


def read_by(server: ScriptedServer) -> int:
    """The tokens of the tables of reports in the prompts of the map step."""
    return sum(count_tokens(asked_in(c.body).partition("# Reports")[2]) for c in server.done("points"))


def test_a_bound_is_kept_and_what_was_not_read_is_told(asked: Corpus, server: ScriptedServer) -> None:
    whole = asked.query(QUESTION, method="graphrag", depth=1, report_tokens=0)
    size = sum(c.tokens for c in asked.index().clusters_at(1))
    everything = read_by(server)
    server.reset()
    bound = size // 3
    found = asked.query(QUESTION, method="graphrag", depth=1, report_tokens=bound)
    assert 0 < read_by(server) < 0.6 * everything
    (note,) = [n for n in found.notes if "--budget 0" in n]
    assert f"of {len(asked.index().clusters_at(1))} reports were read" in note
    assert f"{size:,} tokens" in note
    assert f"{bound:,}" in note
    assert not any("--budget" in n for n in whole.notes)


def test_by_default_a_model_reads_a_window_and_one_more_for_each_depth(asked: Corpus, server: ScriptedServer) -> None:
    size = sum(c.tokens for c in asked.index().clusters_at(1))
    for depth, most in ((1, size), (0, size // 2)):
        server.reset()
        window = most // (depth + 1) // 2
        asked.query(f"{QUESTION} {depth}", method="graphrag", depth=depth, context_tokens=window)
        assert 0 < read_by(server) < (depth + 1) * window * 1.5


def test_the_bound_holds_of_graded_reports_too(asked: Corpus, server: ScriptedServer) -> None:
    found = asked.query(QUESTION, method="graphrag", depth=1, select="nearest", top=9, report_tokens=200)
    assert any(" were left out" in note for note in found.notes)


def test_a_bound_asks_for_reports_where_no_method_is_named(asked: Corpus) -> None:
    found = asked.query("When did the ship come in?", report_tokens=500)
    assert found.method == "graphrag"
    assert "method: graphrag (a bound for reports was given)" in found.notes


def test_a_bound_below_none_is_refused() -> None:
    with pytest.raises(SettingsError, match="report_tokens"):
        GraphRAG(report_tokens=-1)
