from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from scripted_replies import asked_in
from sensegraph.answering.asking import NOTHING
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError
from sensegraph.language.text import count_tokens
from sensegraph.methods.graphrag.global_search import GraphRAG
from sensegraph.testing import SAMPLE, check_citations
from sensegraph.types import Question
from served import ServedContract
from wired import corpus, finished_corpus, stories

QUESTION = "Who wrote to whom, and who paid?"


class TestGraphRAGContract(ServedContract):
    def make(self) -> GraphRAG:
        return GraphRAG()


@pytest.fixture
def asked(tmp_path: Path, server: ScriptedServer) -> Corpus:
    """A finished corpus of its own, so that calls can be counted."""
    made = finished_corpus(tmp_path, server, stories(8))
    server.reset()
    server.script = Script(keep_bodies=True)
    return made


def test_an_answer_cites_spans_of_the_documents(built: Corpus) -> None:
    answer = built.query(QUESTION, method="graphrag")
    check_citations(answer, {d.id: d.text for d in stories(8)})
    assert len(answer.citations) >= 3
    assert (answer.method, answer.engine) == ("graphrag", "scripted")


def test_the_reports_of_one_depth_are_mapped_and_their_points_reduced(asked: Corpus, server: ScriptedServer) -> None:
    answer = asked.query(QUESTION, method="graphrag", depth=0)
    reports = asked.index().clusters_at(0)
    (mapped,), (reduced,) = server.done("points"), server.done("answer")
    prompt = asked_in(mapped.body)
    assert all(r.title in prompt for r in reports)
    assert "# Points" in asked_in(reduced.body)
    assert answer.usage.calls == 2


def test_d4_each_entity_is_read_about_once(asked: Corpus, server: ScriptedServer) -> None:
    asked.query(QUESTION, method="graphrag", depth=1)
    prompts = "\n".join(asked_in(c.body) for c in server.done("points"))
    index = asked.index()
    at_depth = index.clusters_at(1)
    assert sorted(e for c in at_depth for e in c.entities) == [e.id for e in index.graph.entities]
    assert len(re.findall(r"^\d+,", prompts, re.MULTILINE)) == len(at_depth) < len(index.hierarchy.clusters)


def test_d3_what_is_outside_the_largest_component_is_read_too(tmp_path: Path, server: ScriptedServer) -> None:
    made = corpus(tmp_path, server)
    made.add(stories(4))
    made.add(*SAMPLE)  # no name in common with the stories
    made.build()
    server.script = Script(keep_bodies=True)
    server.reset()
    for depth in (0, 2, 9):
        made.query(f"{QUESTION} {depth}", method="graphrag", depth=depth)
        prompts = "\n".join(asked_in(c.body) for c in server.done("points"))
        assert "Skerry Point" in prompts


def test_points_are_ordered_by_score_and_those_of_0_are_left_out(asked: Corpus, server: ScriptedServer) -> None:
    scores = iter([0, 30, 90, 60])
    points = ", ".join(f'{{"text": "Point of {s} [Data: Reports (1)].", "score": {s}}}' for s in scores)
    server.script = Script(reply=lambda body: f'{{"points": [{points}]}}')
    found = asked.search(QUESTION, method="graphrag", depth=0)
    assert [p.score for p in found.passages] == [90, 60, 30]
    assert all(p.kind == "point" for p in found.passages)


def test_when_no_point_helps_nothing_is_reduced(asked: Corpus, server: ScriptedServer) -> None:
    server.script = Script(reply=lambda body: '{"points": [{"text": "Nothing here.", "score": 0}]}')
    answer = asked.query(QUESTION, method="graphrag")
    assert (answer.text, answer.citations) == (NOTHING, ())
    assert server.done("answer") == []


def test_reports_are_shuffled_by_the_seed_and_batched_within_the_context(asked: Corpus, server: ScriptedServer) -> None:
    def batches(seed: int) -> list[str]:
        server.reset()
        question = Question(f"{QUESTION} {seed}")
        GraphRAG(1, context_tokens=700, seed=seed, report_tokens=0).retrieve(question, asked.index(), asked.runtime())
        return sorted(asked_in(c.body).partition("# Reports")[2] for c in server.done("points"))

    one, other = batches(1), batches(2)
    assert len(one) > 2
    assert one != other
    assert max(map(count_tokens, one)) < 700 + 100


def test_asking_again_costs_nothing(asked: Corpus, server: ScriptedServer) -> None:
    first = asked.query(QUESTION, method="graphrag")
    calls = len(server.calls)
    again = asked.query(QUESTION, method="graphrag")
    assert (again.text, again.citations, again.usage.calls) == (first.text, first.citations, 0)
    assert len(server.calls) == calls


def test_evidence_names_the_documents_behind_the_points(built: Corpus) -> None:
    found = built.search(QUESTION, method="graphrag", top=3)
    assert len(found.passages) == 3
    assert set(found.documents) <= {d.id for d in stories(8)}
    assert found.omitted >= 0


@pytest.mark.parametrize("bad", [{"depth": -1}, {"context_tokens": 0}])
def test_settings_that_cannot_work_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(bad))):
        GraphRAG(**bad)
