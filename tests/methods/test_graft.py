"""GRAFT's retrieval: the community summaries nearest to the question (R06, R10, R27; graft §5, §10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harbour import QUESTIONS, papers
from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import NotIndexed, SettingsError, UnsupportedTask
from sensegraph.index.index import Index
from sensegraph.index.passages import passage_tokens
from sensegraph.index.restricted.scope import restrict_to_scope
from sensegraph.methods.graft.graft import Graft
from sensegraph.questions import Scope
from sensegraph.runtime.runtime import Runtime
from sensegraph.testing import SAMPLE, MethodContract, check_citations
from sensegraph.types import Document, Evidence, Question
from wired import corpus, stories

PARTS = {"parts": ["graph", "reports"]}
QUESTION = Question("Whom did Ada Harrow pay, and why were boats bought?")


class TestGraftContract(MethodContract):
    def make(self) -> Graft:
        return Graft()

    def build(self, folder: Path) -> tuple[Runtime, Index]:
        made = corpus(folder, self.server, index=PARTS)
        made.add(*SAMPLE)
        made.build()
        return made.runtime(), made.index()

    def setup_method(self) -> None:
        self.server = ScriptedServer().__enter__()

    def teardown_method(self) -> None:
        self.server.__exit__()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with ScriptedServer() as server, corpus(tmp_path_factory.mktemp("graft"), server, index=PARTS) as opened:
        opened.add(stories(8))
        opened.build()
        yield opened


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    index = {**PARTS, "chunk_tokens": 60, "chunk_overlap": 10}
    with Corpus.open(tmp_path_factory.mktemp("offline"), settings={"engine": "offline", "index": index}) as opened:
        opened.add([*papers(), *stories(3)])
        opened.build()
        yield opened


def found(made: Corpus, question: Question = QUESTION, **settings: Any) -> Evidence:
    return Graft(**settings).retrieve(question, made.index(), made.runtime())


def of(evidence: Evidence, kind: str) -> list[str]:
    return [p.id for p in evidence.passages if p.kind == kind]


def cosines(made: Corpus, question: Question = QUESTION) -> dict[str, float]:
    """The cosine of every community summary, by definition."""
    index, rt = made.index(), made.runtime()
    asked = np.asarray(rt.embedder.embed([question.sought], "query")[0], np.float64)
    vectors = np.asarray(index.vectors_of(rt.embedder, "report"), np.float64)
    return dict(zip((c.id for c in index.hierarchy.clusters), (vectors @ asked).tolist(), strict=True))


def test_one_summary_is_read_the_nearest_of_all_depths(made: Corpus):
    """R10: k = 1."""
    evidence = found(made)
    near = cosines(made)
    assert made.index().depth > 1
    assert of(evidence, "report") == [min(near, key=lambda i: (-near[i], i))]
    assert len(evidence.passages) == 1
    assert evidence.tokens == sum(map(passage_tokens, evidence.passages))


def test_more_summaries_are_ranked_by_cosine_whatever_their_depth(made: Corpus):
    near = cosines(made)
    ranked = sorted((i for i in near if near[i] > 0), key=lambda i: (-near[i], i))
    evidence = found(made, top=7)
    assert of(evidence, "report") == ranked[:7]
    assert [p.score for p in evidence.passages] == pytest.approx([near[i] for i in ranked[:7]])
    clusters = made.index().clusters(ranked[:7])
    assert len({c.depth for c in clusters.values()}) > 1
    assert of(found(made, top=1000, context_tokens=10**6), "report") == ranked


def test_of_equally_near_summaries_the_smaller_ids_are_read(made: Corpus, monkeypatch: pytest.MonkeyPatch):
    """graft §10: ties by id, not by place, which goes by depth first."""
    clusters = made.index().hierarchy.clusters
    level = np.full(len(clusters), 0.5)
    monkeypatch.setattr(
        "sensegraph.methods.graft.graft.nearest_to", lambda *_: (np.arange(len(clusters), dtype=np.int64), level)
    )
    ids = sorted(c.id for c in clusters)
    assert of(found(made, top=3), "report") == ids[:3]
    assert ids[:3] != [c.id for c in clusters][:3]


def test_a_report_says_which_community_it_is_and_how_near(made: Corpus):
    (note,) = found(made).notes
    first = max(cosines(made).values())
    assert note.startswith(f"nearest of {len(made.index().hierarchy.clusters)} community summaries: ")
    assert f"({first:.3f})" in note


def test_what_shares_nothing_with_any_summary_finds_nothing(offline: Corpus):
    evidence = found(offline, Question("Xyzzyx qwrtzq?"))
    assert evidence == Evidence(notes=("no community summary shares anything with the question",))


def test_explaining_puts_nodes_and_relations_of_the_community_beside_it(made: Corpus):
    """R27: every one of them lies inside the community; the most linked and the heaviest come first."""
    evidence = found(made, explain=3)
    index = made.index()
    (cluster,) = index.clusters(of(evidence, "report")).values()
    inside = index.entities(cluster.entities)
    nodes = of(evidence, "entity")
    assert nodes == sorted(inside, key=lambda e: (-inside[e].degree, e))[:3]
    links = [r for r in index.graph.relations if r.source in inside and r.target in inside]
    assert of(evidence, "relation") == [r.id for r in sorted(links, key=lambda r: (-r.weight, r.id))[:3]]
    names = {e.name for e in inside.values()}
    assert all(set(p.title.split(" — ")) <= names for p in evidence.passages if p.kind == "relation")
    assert [p.kind for p in evidence.passages[:2]] == ["report", "entity"]


def test_a_node_of_two_communities_is_shown_once(made: Corpus):
    evidence = found(made, top=6, explain=4, context_tokens=10**6)
    assert len({(p.kind, p.id) for p in evidence.passages}) == len(evidence.passages)
    assert len(of(evidence, "report")) == 6


def test_what_has_no_room_is_counted_and_summaries_come_first(made: Corpus):
    whole = found(made, top=4, explain=4)
    budget = sum(passage_tokens(p) for p in whole.passages[:2])
    cut = found(made, top=4, explain=4, context_tokens=budget)
    assert cut.passages == whole.passages[:2]
    assert cut.omitted == len(whole.passages) - 2


def test_offline_the_answer_quotes_what_the_sources_say_of_the_community(offline: Corpus):
    answer = offline.query(QUESTIONS["local"], method="graft")
    assert "Ada Finch" in answer.text
    check_citations(answer, {d.id: d.text for d in offline.documents()})
    assert of(answer.evidence, "entity") == []  # only summaries, as the paper has it


def test_an_answer_can_cite_a_node_and_a_relation(offline: Corpus):
    answer = offline.query(QUESTIONS["local"], method="graft", explain=5)
    assert {"report", "entity", "relation"} <= {p.kind for p in answer.evidence.passages}
    check_citations(answer, {d.id: d.text for d in offline.documents()})


def test_inside_a_filter_summaries_that_draw_on_more_are_replaced(offline: Corpus):
    inside = restrict_to_scope(offline.index(), Scope(documents=("letter-*",)))
    evidence = Graft(top=50, explain=3).retrieve(Question(QUESTIONS["local"]), inside, offline.runtime())
    shown = " ".join(p.text for p in evidence.passages)
    assert evidence.passages
    assert "Quillfeather" not in shown
    assert all(d.startswith("letter-") for d in evidence.documents)


def test_the_chunk_arm_of_the_paper_is_naive_with_three_chunks(tmp_path: Path):
    """R06: 800 tokens, overlap 100, top 3 by cosine."""
    settings = {
        "engine": "offline",
        "index": {"chunk_tokens": 800, "chunk_overlap": 100, "parts": []},
        "methods": {"naive": {"top": 3}},
    }
    with Corpus.open(tmp_path, settings=settings) as opened:
        opened.add(Document("long", " ".join(d.text for d in stories(40))))
        opened.build()
        evidence = opened.search(QUESTION.text, method="naive")
        chunks = [c.tokens for c in opened.index().catalogue.chunks]
    assert max(chunks) <= 800
    assert len(chunks) > 4
    assert len(evidence.passages) == 3


@pytest.mark.parametrize("wrong", [{"top": 0}, {"explain": -1}, {"context_tokens": 0}])
def test_settings_that_cannot_be_are_refused_by_name(wrong: dict[str, int]):
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        Graft(**wrong)


def test_an_engine_without_the_task_is_refused_before_any_work(made: Corpus):
    class Dumb:
        name, tasks, quotes = "dumb", frozenset[str](), False

    rt = replace(made.runtime(), engine=Dumb())  # type: ignore[arg-type]
    with pytest.raises(UnsupportedTask, match="graft needs answer"):
        Graft().answer(QUESTION, made.index(), rt)


def test_an_index_without_reports_is_named_as_the_reason(tmp_path: Path):
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": ["graph"]}}) as opened:
        opened.add(papers())
        opened.build()
        with pytest.raises(NotIndexed, match="'reports'"):
            opened.query("Who keeps the lighthouse?", method="graft")
