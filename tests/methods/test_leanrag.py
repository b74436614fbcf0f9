"""LeanRAG's retrieval: seeds, ways, relations, chunks, the budget (L13–L18, L26–L28; leanrag §4, §7, §8)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harbour import MARKS, QUESTIONS, TEXTS, papers
from scripted import ScriptedServer
from sensegraph.answering.asking import NOTHING
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import NotIndexed, SettingsError
from sensegraph.index.index import Index
from sensegraph.index.passages import passage_tokens
from sensegraph.index.restricted.scope import restrict_to_scope
from sensegraph.methods.leanrag.aggregates_part import AGGREGATES
from sensegraph.methods.leanrag.leanrag import (
    AncestorPaths,
    LeanRAG,
    aggregate_passages,
    chunks_behind,
    climb_to_ancestors,
    entity_passages,
    find_entity_seeds,
)
from sensegraph.questions import Scope
from sensegraph.runtime.runtime import Runtime
from sensegraph.testing import SAMPLE, MethodContract
from sensegraph.types import Cluster, Document, Entity, Evidence, Question
from wired import corpus, stories

PARTS = {"parts": ["graph", "aggregates"], "aggregates": {"cluster_size": 5, "threshold": 2, "min_clusters": 3}}
QUESTION = Question("Whom did Ada Harrow pay, and why were boats bought?")


class TestLeanRAGContract(MethodContract):
    def make(self) -> LeanRAG:
        return LeanRAG()

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
    with ScriptedServer() as server, corpus(tmp_path_factory.mktemp("leanrag"), server, index=PARTS) as opened:
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
    return LeanRAG(**settings).retrieve(question, made.index(), made.runtime())


def of(evidence: Evidence, kind: str) -> list[str]:
    return [p.id for p in evidence.passages if p.kind == kind]


def vector(made: Corpus, question: Question = QUESTION) -> np.ndarray:
    return np.asarray(made.runtime().embedder.embed([question.sought], "query")[0], np.float32)


def ways(made: Corpus, top: int = 10, root: Any = "on", by: Any = "vectors") -> AncestorPaths:
    index, rt, query = made.index(), made.runtime(), vector(made)
    return climb_to_ancestors(find_entity_seeds(QUESTION, query, index, rt, top, by), query, root, index, rt)


def nearest(made: Corpus, top: int) -> list[str]:
    index = made.index()
    cosine = index.vectors_of(made.embedder, "entity")[:].astype(np.float64) @ vector(made)
    return [index.graph.entities[i].id for i in np.argsort(-cosine, kind="stable")[:top]]


def chain(made: Corpus, entity: str) -> list[str]:
    """An entity and its ancestors, by their members."""
    clusters = made.index().part(AGGREGATES).hierarchy.clusters
    rising = [entity]
    while above := [c.id for c in clusters if rising[-1] in c.members]:
        rising.append(above[0])
    return rising


# ── seeds: §4.2 ──


def test_the_papers_seeds_are_the_entities_nearest_to_the_question(made: Corpus) -> None:
    """Eq. 6: level 0 alone; a model's vectors are taken at their word by default."""
    assert of(found(made, by="vectors"), "entity") == nearest(made, 10)
    assert of(found(made), "entity") == nearest(made, 10)
    assert of(found(made, seeds=3), "entity") == nearest(made, 3)


def test_more_seeds_than_there_are_entities_are_all_of_them(made: Corpus) -> None:
    assert len(made.index().graph.entities) > 10
    assert len(of(found(made, seeds=10**6, context_tokens=10**7), "entity")) == len(made.index().graph.entities)


def seeds_of(made: Corpus, text: str, **settings: Any) -> list[str]:
    return [p.title for p in found(made, Question(text), **settings).passages if p.kind == "entity"]


def test_where_vectors_compare_words_those_are_taken_in_that_the_question_names(offline: Corpus) -> None:
    text = "Port Ellery landed less herring: who counted it and warned of a closed season, asks Ivo Marsh?"
    assert seeds_of(offline, text, by="vectors", seeds=2) == ["Fishery Office", "Port Ellery"]
    assert seeds_of(offline, text, by="names", seeds=2) == ["Port Ellery", "Ivo Marsh"]
    assert seeds_of(offline, text, seeds=2) == ["Port Ellery", "Ivo Marsh"]
    scores = [p.score for p in found(offline, Question(text)).passages if p.kind == "entity"]
    assert scores == sorted(scores, reverse=True)


def test_a_name_that_stands_everywhere_is_no_seed_for_being_named(tmp_path: Path) -> None:
    documents = [Document(f"log-{i:02}", f"The Gull {i} brought herring to Port Ellery.") for i in range(25)]
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": PARTS}) as made:
        made.add([*documents, Document("one", "Ivo Marsh sold oak and elm to the yard of Ada Finch.")])
        made.build()
        text = "Who sold oak and elm to the yard, and was it in Port Ellery?"
        assert len(seeds_of(made, text, seeds=2)) == 2
        assert "Port Ellery" not in seeds_of(made, text, seeds=2)
        assert set(seeds_of(made, text, seeds=2)) <= {"Ivo Marsh", "Ada Finch", "yard", "oak", "elm"}


# ── ways: §4.3–4.5 ──


def test_aggregates_are_those_on_the_ways_to_the_lowest_common_ancestors(made: Corpus) -> None:
    """Eq. 7 over all pairs, by its definition."""
    got = ways(made)
    chains = [chain(made, e.id) for e in got.entities]
    wanted: set[str] = set()
    for i, one in enumerate(chains):
        for other in chains[:i]:
            meet = next(level for level in range(len(one)) if one[level] == other[level])
            wanted |= {*one[1 : meet + 1], *other[1 : meet + 1]}
    assert {c.id for c in got.clusters} == wanted
    assert len(wanted) > 2
    told = {p.id for p in aggregate_passages(got, findings=False)}
    assert told == {c.id for c in got.clusters if not c.promoted}
    assert set(of(found(made, root="on"), "report")) == told


def test_no_more_aggregates_are_read_than_the_bound_says(made: Corpus) -> None:
    """1 + N (K − 1), with K levels of aggregates, the root among them."""
    levels = 1 + max(c.level for c in made.index().part(AGGREGATES).hierarchy.clusters)
    for top in (1, 2, 5, 10):
        assert 0 < len(ways(made, top).clusters) <= 1 + top * (levels - 1)


def test_one_seed_reads_its_parent_alone(made: Corpus) -> None:
    got = ways(made, top=1)
    assert len(got.clusters) == 1
    assert [c.id for c in got.clusters] == chain(made, got.entities[0].id)[1:2]


def test_seeds_of_one_cluster_meet_in_their_parent(made: Corpus) -> None:
    index, rt = made.index(), made.runtime()
    home = index.part(AGGREGATES).ancestry.home.tolist()
    shared = next(c for c in home if home.count(c) > 1)
    places = [i for i, c in enumerate(home) if c == shared][:2]
    got = climb_to_ancestors(dict.fromkeys(places, 1.0), vector(made), "on", index, rt)
    assert [c.id for c in got.clusters] == [index.part(AGGREGATES).hierarchy.clusters[shared].id]


def test_nodes_are_ordered_from_below_and_by_their_first_seed(made: Corpus) -> None:
    got = ways(made)
    assert [c.level for c in got.clusters] == sorted(c.level for c in got.clusters)
    first = [min(i for i, e in enumerate(got.entities) if e.id in c.entities) for c in got.clusters if c.level == 0]
    assert len(first) > 1
    assert first == sorted(first)


def test_the_root_is_read_as_asked(made: Corpus) -> None:
    root = made.index().part(AGGREGATES).hierarchy.clusters[0].id
    assert root in of(found(made, root="on"), "report")
    assert root not in of(found(made, root="off"), "report")
    index, embedder = made.index(), made.embedder
    seeds = [i for i, e in enumerate(index.graph.entities) if e.id in nearest(made, 10)]
    near = (index.vectors_of(embedder, "described")[seeds].astype(np.float64) @ vector(made)).mean()
    top = float(index.vectors_of(embedder, "aggregate")[0].astype(np.float64) @ vector(made))
    assert (root in of(found(made, root="auto"), "report")) == (top >= near)


# ── relations: §4.5 ──


def test_relations_are_those_between_nodes_of_one_level(made: Corpus) -> None:
    """Eq. 10: of the graph among the seeds, generated among aggregates; no text twice."""
    got, evidence, index = ways(made), found(made, root="on", context_tokens=10**6), made.index()
    seeds, clusters = {e.id for e in got.entities}, {c.id for c in got.clusters}
    base = {r.id: r.description for r in index.graph.relations if {r.source, r.target} <= seeds}
    made_up = {r.id: r.text for r in index.part(AGGREGATES).hierarchy.relations if {r.source, r.target} <= clusters}
    told = of(evidence, "relation")
    assert set(told) <= base.keys() | made_up.keys()
    assert base
    assert made_up
    texts = [p.text for p in evidence.passages if p.kind == "relation"]
    assert len(set(texts)) == len(texts)
    assert {made_up[name] for name in told if name in made_up} == set(made_up.values()) - {
        base[name] for name in told if name in base and base[name] in made_up.values()
    }
    assert [name in base for name in told] == sorted((name in base for name in told), reverse=True)


def test_without_relations_all_else_is_the_same(made: Corpus) -> None:
    """The ablation of Table 2 (L27)."""
    whole, without = found(made, context_tokens=10**6), found(made, relations=False, context_tokens=10**6)
    assert of(without, "relation") == []
    assert [p for p in whole.passages if p.kind != "relation"] == list(without.passages)


# ── chunks: §4.6 ──


def test_chunks_come_by_the_number_of_seeds_then_by_the_first_seed() -> None:
    def entity(name: str, *chunks: str) -> Entity:
        return Entity(name, name, "thing", "", (), chunks, 1, 1)

    entities = [entity("a", "c3", "c1"), entity("b", "c2", "c4"), entity("c", "c4", "c5"), entity("d", "c0", "c3")]
    assert chunks_behind(AncestorPaths([], entities, [], [], [], [])) == ["c3", "c4", "c1", "c2", "c5", "c0"]


def test_as_many_chunks_are_read_as_asked(made: Corpus) -> None:
    """The ablation of Table 3 reads none (L28)."""
    ranked = chunks_behind(ways(made))
    assert of(found(made, chunks=3, context_tokens=10**6), "chunk") == ranked[:3]
    assert of(found(made, chunks=0), "chunk") == []
    assert found(made, chunks=0).documents


def test_documents_come_by_their_best_chunk(made: Corpus) -> None:
    got = found(made)
    behind = made.index().documents_of(of(got, "chunk"))
    ranked = list(dict.fromkeys(behind[c] for c in of(got, "chunk")))
    assert ranked
    assert list(got.documents[: len(ranked)]) == ranked


# ── the context: §4.7 ──


def test_sections_come_in_the_papers_order(made: Corpus) -> None:
    kinds = list(dict.fromkeys(p.kind for p in found(made).passages))
    assert kinds == ["entity", "report", "relation", "chunk"]


@pytest.mark.parametrize("budget", [1, 60, 200, 400, 700, 1_000, 1_500, 2_500, 5_000, 12_000])
def test_the_context_never_exceeds_its_budget_and_what_is_cut_is_told(made: Corpus, budget: int) -> None:
    whole, cut = found(made, context_tokens=10**6), found(made, context_tokens=budget)
    assert sum(map(passage_tokens, cut.passages)) == cut.tokens <= budget
    assert cut.omitted == len(whole.passages) - len(cut.passages)
    room = budget
    for kind in ("entity", "report", "relation", "chunk"):
        kept, offered = ([p for p in one.passages if p.kind == kind] for one in (cut, whole))
        assert kept == offered[: len(kept)]
        room -= sum(map(passage_tokens, kept))
        assert len(kept) == len(offered) or passage_tokens(offered[len(kept)]) > room
    told = [note for note in cut.notes if "had no room for" in note]
    assert len(told) == (1 if cut.omitted else 0)
    if len(of(cut, "entity")) < len(of(whole, "entity")):
        assert "entities" in told[0]


def test_chunks_are_cut_before_relations_and_these_before_aggregates(made: Corpus) -> None:
    whole = found(made, context_tokens=10**6)
    sizes = {
        k: sum(passage_tokens(p) for p in whole.passages if p.kind == k)
        for k in ("entity", "report", "relation", "chunk")
    }
    full = 0
    for kind in ("entity", "report", "relation"):
        full += sizes[kind]
        assert of(found(made, context_tokens=full), kind) == of(whole, kind)


def test_the_tokens_of_each_section_are_told(made: Corpus) -> None:
    """L26: what makes the size of the context comparable."""
    got = found(made)
    (note,) = [n for n in got.notes if n.startswith("read: ")]
    for name, kind in (
        ("entities", "entity"),
        ("aggregates", "report"),
        ("relations", "relation"),
        ("chunks", "chunk"),
    ):
        parts = [p for p in got.passages if p.kind == kind]
        assert f"{len(parts)} {name} ({sum(map(passage_tokens, parts))} tokens)" in note


def test_a_seed_is_told_with_what_it_is_part_of(made: Corpus) -> None:
    got = ways(made)
    parents = {m: c for c in got.clusters for m in c.members}
    told = {p.id: p.text for p in entity_passages(got)}
    assert any(not parents[e.id].promoted for e in got.entities)
    for entity in got.entities:
        if not (parent := parents[entity.id]).promoted:
            assert told[entity.id] == f"{entity.description}\n(part of: {parent.title})"


def test_findings_are_read_where_they_are_asked_for(made: Corpus) -> None:
    with_them, without = found(made, findings=True), found(made)
    texts = {p.id: p.text for p in without.passages if p.kind == "report"}
    more = {p.id: p.text for p in with_them.passages if p.kind == "report"}
    assert any(len(more[name]) > len(texts[name]) for name in more)
    assert all(more[name].startswith(texts[name]) for name in more)


def test_the_text_of_a_promoted_node_is_read_once() -> None:
    def cluster(name: str, promoted: str) -> Cluster:
        return Cluster(name, 0, 1, "root", ("a",), ("a",), title=name, promoted=promoted)

    got = AncestorPaths([], [], [], [], [1, 2], [cluster("real", ""), cluster("passed on", "a")])
    assert [p.title for p in aggregate_passages(got, findings=False)] == ["real"]
    entity = Entity("a", "A", "thing", "What A is.", (), (), 1, 1)
    alone = AncestorPaths([0], [entity], [1.0], [2], [2], [cluster("passed on", "a")])
    assert [p.text for p in entity_passages(alone)] == ["What A is."]


# ── answers ──


def test_one_call_answers_and_one_embedding_finds(made: Corpus) -> None:
    answer = made.query("Whom did Cora Harrow hire?", method="leanrag")
    assert (answer.usage.calls, answer.usage.embedding_calls) == (1, 1)
    assert answer.citations


def test_what_is_about_nothing_here_gets_no_answer(offline: Corpus) -> None:
    answer = offline.query("Zeppelin cosmonauts?", method="leanrag")
    assert answer.text == NOTHING
    assert any("no entity of this index fits the question" in note for note in answer.notes)


def test_aggregates_can_be_cited(made: Corpus) -> None:
    """Their statements lead to spans of the documents."""
    evidence = found(made)
    told = [p for p in evidence.passages if p.kind in ("report", "relation")]
    assert all(p.quotes for p in told)
    chunks = {q.source.chunk for p in told for q in p.quotes}
    assert made.index().chunks(sorted(chunks)).keys() == chunks


def test_offline_only_the_sources_words_are_quoted(offline: Corpus) -> None:
    texts = {d.id: d.text for d in [*papers(), *stories(3)]}
    index = offline.index()
    for question in QUESTIONS.values():
        evidence = found(offline, Question(question))
        assert any(p.quotes for p in evidence.passages)
        for passage in evidence.passages:
            for quote in passage.quotes:
                chunk = index.chunks([quote.source.chunk])[quote.source.chunk]
                assert chunk.text[quote.source.start : quote.source.end] in texts[chunk.document]
                assert "relations link" not in quote.text


def test_a_filter_shows_no_aggregate_that_rests_on_what_is_outside(offline: Corpus) -> None:
    """Design 012; also the name of the group must not tell."""
    index, rt = restrict_to_scope(offline.index(), Scope(documents=("letter-*",))), offline.runtime()
    whole = {c.id: c for c in offline.index().part(AGGREGATES).hierarchy.clusters}
    inside = index.part(AGGREGATES).hierarchy
    chunks = {c.id for c in index.catalogue.chunks}
    assert {c.id for c in inside.clusters} < whole.keys()
    for cluster in inside.clusters:
        if cluster != whole[cluster.id]:
            assert (cluster.findings, cluster.type) == ((), "")
        assert set(cluster.chunks) <= chunks
        assert not any(mark in cluster.title + cluster.text for name, mark in MARKS.items() if "letter" not in name)
    same = {c.id for c in inside.clusters if c == whole[c.id]}
    assert all({r.source, r.target} <= same for r in inside.relations)
    evidence = LeanRAG(root="on").retrieve(Question(QUESTIONS["multi-hop"]), index, rt)
    assert any("aggregates drew on documents outside the filter" in note for note in evidence.notes)
    assert all(name.startswith("letter-") for name in evidence.documents)
    assert TEXTS


def test_after_removing_and_building_afresh_it_is_as_if_never_there(tmp_path: Path) -> None:
    def opened(name: str) -> Corpus:
        return Corpus.open(tmp_path / name, settings={"engine": "offline", "index": PARTS})

    with opened("changed") as changed, opened("fresh") as fresh:
        changed.add([*papers(), *stories(1)])
        changed.build()
        changed.remove("story-00")
        changed.build(fresh=True)
        fresh.add(papers())
        fresh.build()
        asked = Question(QUESTIONS["multi-hop"])
        assert found(changed, asked) == found(fresh, asked)


def test_the_papers_own_vectors_can_be_searched(tmp_path: Path) -> None:
    index = {**PARTS, "aggregates": {"embed": "description"}}
    with ScriptedServer() as server, corpus(tmp_path, server, index=index) as opened:
        opened.add(stories(3))
        opened.build()
        rt, made = opened.runtime(), opened.index()
        vectors = rt.embedder.embed([e.description for e in made.graph.entities], "document").astype(np.float64)
        wanted = np.argsort(-(vectors @ vector(opened)), kind="stable")[:10]
        got = [made.graph.entities[i].id for i in wanted.tolist()]
        assert len(got) == 10
        assert of(found(opened), "entity") == got


def test_an_index_without_aggregates_says_what_to_build(tmp_path: Path) -> None:
    with ScriptedServer() as server, corpus(tmp_path, server, index={"parts": ["graph"]}) as opened:
        opened.add(stories(2))
        opened.build()
        with pytest.raises(NotIndexed, match=r"'aggregates'.*--method"):
            opened.search(QUESTION.text, method="leanrag")


def test_aggregates_without_a_graph_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"aggregates without graph"):
        Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": ["aggregates"]}})


@pytest.mark.parametrize("bad", [{"seeds": 0}, {"chunks": -1}, {"context_tokens": 0}])
def test_settings_that_cannot_work_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(bad))):
        LeanRAG(**bad)
