"""Which reports GraphRAG reads: by threshold, by nearness, from the root down (graphrag §4.1, §4.2; N71, N72, X4)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from scripted_replies import asked_in, task_of
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError
from sensegraph.methods.graphrag.global_search import GraphRAG
from sensegraph.types import Cluster, Question
from wired import finished_corpus, stories

QUESTION = "Who wrote to whom, and who paid?"


@pytest.fixture
def asked(tmp_path: Path, server: ScriptedServer) -> Corpus:
    made = finished_corpus(tmp_path, server, stories(8))
    server.reset()
    return made


def graded(grade: Callable[[str], int]) -> Script:
    """A server that grades a report by its prompt."""

    def reply(body: dict[str, Any]) -> str | None:
        if task_of(body) != "grade":
            return None
        return f'{{"reason": "Because.", "rating": {grade(asked_in(body))}}}'

    return Script(reply=reply, keep_bodies=True)


def read(server: ScriptedServer, index: Any) -> list[Cluster]:
    """The clusters whose reports stood in the prompts of the map step."""
    prompts = "\n".join(asked_in(c.body) for c in server.done("points"))
    rows = {m[1].strip('"') for m in re.finditer(r'^\d+,("(?:[^"]|"")*"|[^,]*),', prompts, re.MULTILINE)}
    return [c for c in index.hierarchy.clusters if c.title in rows]


def test_a_threshold_keeps_the_reports_that_are_graded_so_high(asked: Corpus, server: ScriptedServer) -> None:
    index = asked.index()
    good = {c.title for c in index.clusters_at(1)[::3]}
    server.script = graded(lambda prompt: 5 if any(t in prompt for t in good) else 3)
    found = asked.query(QUESTION, method="graphrag", depth=1, select="threshold")
    assert {c.title for c in read(server, index) if c.depth == 1 or c.level == 0} == good
    assert len(server.done("grade")) == len(index.clusters_at(1))
    assert any("graded 0.7 or better" in note for note in found.notes)


def test_of_the_reports_above_the_threshold_the_best_are_taken(asked: Corpus, server: ScriptedServer) -> None:
    server.script = graded(lambda prompt: 5)
    asked.query(QUESTION, method="graphrag", depth=1, select="threshold", top=2)
    best = sorted(asked.index().clusters_at(1), key=lambda c: (-c.rating, c.id))[:2]
    prompts = "".join(asked_in(c.body) for c in server.done("points"))
    assert len(re.findall(r"^\d+,", prompts, re.MULTILINE)) == 2
    assert all(c.title in prompts for c in best)


def test_where_nothing_reaches_the_threshold_nothing_is_answered(asked: Corpus, server: ScriptedServer) -> None:
    server.script = graded(lambda prompt: 3)
    answer = asked.query(QUESTION, method="graphrag", depth=1, select="threshold")
    assert "Nothing" in answer.text
    assert server.done("points") == server.done("answer") == []


def test_the_nearest_reports_are_read_without_a_further_call(asked: Corpus, server: ScriptedServer) -> None:
    server.script = Script(keep_bodies=True)
    asked.query(QUESTION, method="graphrag", depth=1, select="nearest", top=3)
    prompts = "".join(asked_in(c.body) for c in server.done("points"))
    assert len(re.findall(r"^\d+,", prompts, re.MULTILINE)) == 3
    assert server.done("grade") == []


def test_dynamic_selection_goes_down_only_below_what_is_relevant(asked: Corpus, server: ScriptedServer) -> None:
    index = asked.index()
    top = [c for c in index.clusters_at(0) if c.level > 0]
    chosen = top[0]
    below = {c.title for c in index.clusters(list(chosen.members)).values()}
    server.script = graded(lambda prompt: 4 if chosen.title in prompt or any(t in prompt for t in below) else 0)
    asked.query(QUESTION, method="graphrag", depth=1, select="dynamic")
    assert len(server.done("grade")) == len(index.clusters_at(0)) + len(chosen.members)
    assert below
    titles = {c.title for c in read(server, index)}
    assert below <= titles
    assert not titles & ({c.title for c in top} - below)  # the parent of what is read is not read


def test_parents_are_kept_where_it_is_asked_for(asked: Corpus, server: ScriptedServer) -> None:
    server.script = graded(lambda prompt: 5)
    method = GraphRAG(depth=1, select="dynamic", keep_parents=True)
    found = method.retrieve(Question(QUESTION), asked.index(), asked.runtime())
    looked = {c.id for c in (*asked.index().clusters_at(0), *asked.index().clusters_at(1))}
    assert any(f"based on {len(looked)} reports chosen by" in note for note in found.notes)


def test_where_nothing_is_relevant_at_a_depth_the_next_is_tried(asked: Corpus, server: ScriptedServer) -> None:
    index = asked.index()
    roots = {c.id for c in index.clusters_at(0)}
    deeper = [c for c in index.clusters_at(1) if c.id not in roots]
    server.script = graded(lambda prompt: 4 if deeper[0].title in prompt else 0)
    asked.query(QUESTION, method="graphrag", depth=1, select="dynamic")
    assert len(server.done("grade")) == len(roots) + len(deeper)
    assert deeper[0].title in {c.title for c in read(server, index)}


def test_votes_are_counted_and_a_tie_goes_to_the_lower_grade(asked: Corpus, server: ScriptedServer) -> None:
    turn = {"n": 0}

    def grade(prompt: str) -> int:
        turn["n"] += 1
        return 5 if turn["n"] % 2 else 0

    server.script = graded(grade)
    method = GraphRAG(depth=0, select="dynamic", votes=2)
    rt = asked.runtime()
    found = method.retrieve(Question(QUESTION), asked.index(), rt)
    roots = len(asked.index().clusters_at(0))
    assert len(server.done("grade")) == 2 * roots
    assert any(f"{2 * roots} grades" in note for note in found.notes)


@pytest.mark.parametrize("bad", [{"threshold": 1.5}, {"top": -1}, {"least_grade": 6}, {"votes": 0}])
def test_settings_of_selection_that_cannot_work_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(bad))):
        GraphRAG(**bad)
