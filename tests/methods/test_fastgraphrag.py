from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harbour import papers
from scripted import ScriptedServer
from sensegraph.algorithms.ranking import select_best
from sensegraph.algorithms.walks import build_moves, pagerank
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError
from sensegraph.index.graph.lookups import ties_of
from sensegraph.index.index import Index
from sensegraph.index.passages import passage_tokens
from sensegraph.methods.fastgraphrag.fastgraphrag import ORIGINAL, FastGraphRAG
from sensegraph.methods.fastgraphrag.tasks import find_concepts
from sensegraph.retrieval.assembling import ends_of
from sensegraph.retrieval.signals import Keywords, keywords_of
from sensegraph.runtime.runtime import Runtime
from sensegraph.testing import SAMPLE, MethodContract
from sensegraph.types import Document, Evidence, Question
from wired import corpus, stories

QUESTION = Question("Whom did Ada Harrow pay, and why were boats bought?")


class TestFastGraphRAGContract(MethodContract):
    def make(self) -> FastGraphRAG:
        return FastGraphRAG()

    def build(self, folder: Path) -> tuple[Runtime, Index]:
        made = corpus(folder, self.server, index={"parts": ["graph"]})
        made.add(*SAMPLE)
        made.build()
        return made.runtime(), made.index()

    def setup_method(self) -> None:
        self.server = ScriptedServer().__enter__()

    def teardown_method(self) -> None:
        self.server.__exit__()


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    settings = {"engine": "offline", "index": {"parts": ["graph"], "chunk_tokens": 60, "chunk_overlap": 10}}
    with Corpus.open(tmp_path_factory.mktemp("harbour"), settings=settings) as made:
        made.add(papers())
        made.build()
        yield made


def found(made: Corpus, question: Question = QUESTION, **settings: Any) -> Evidence:
    return FastGraphRAG(**settings).retrieve(question, made.index(), made.runtime())


def words(made: Corpus, question: Question = QUESTION) -> Keywords:
    return keywords_of(question, made.index(), made.runtime(), words=find_concepts)


def start(made: Corpus, keywords: Keywords, **settings: Any) -> np.ndarray:
    return FastGraphRAG(**settings).reset(QUESTION, keywords, made.index(), made.runtime())


def of(evidence: Evidence, kind: str) -> list[str]:
    return [p.id for p in evidence.passages if p.kind == kind]


# ── the start ──


def test_a_name_starts_with_1_and_each_of_20_neighbours_of_a_theme_with_about_a_20th(built: Corpus) -> None:
    index = built.index()
    (ada,) = index.lookups.called("Ada Harrow")
    reset = start(built, Keywords(("Ada Harrow",), (), ((ada,),)))
    assert reset[ada] == 1.0
    others = np.delete(reset, ada)
    assert np.count_nonzero(others) in (19, 20)
    assert others[others > 0] == pytest.approx(1 / 20, rel=0.3)


def test_scores_of_a_phrase_sum_to_one_and_phrases_join_by_their_maximum(built: Corpus) -> None:
    one = start(built, Keywords((), (), ()))
    assert one.sum() == pytest.approx(1)
    both = start(built, Keywords((), ("boats bought",), ()))
    assert (both >= one).all()
    assert one.sum() < both.sum() <= 2 + 1e-9


def test_a_name_that_no_entity_bears_starts_at_the_nearest_if_it_is_near_enough(built: Corpus) -> None:
    index, rt = built.index(), built.runtime()
    cosine = index.vectors_of(rt.embedder, "entity") @ rt.embedder.embed(["Ada Harow"], "query")[0]
    keywords = Keywords(("Ada Harow",), (), ((),))
    at = int(np.argmax(cosine))
    assert start(built, keywords, named_floor=float(cosine[at]) - 0.01)[at] == 1.0
    assert start(built, keywords, named_floor=float(cosine[at]) + 0.01)[at] < 0.5


def test_specificity_divides_a_start_by_the_chunks_of_its_entity(built: Corpus) -> None:
    plain, specific = start(built, words(built)), start(built, words(built), specificity=True)
    chunks = np.diff(ties_of(built.index(), built.runtime()).start)
    assert specific == pytest.approx(plain / np.maximum(chunks, 1))
    assert chunks.max() > 1


def test_defect_2_the_first_entity_of_the_index_is_an_entity_too(built: Corpus) -> None:
    name = built.index().lookups.name(0)
    assert start(built, Keywords((name,), (), ((0,),)))[0] == 1.0
    assert built.index().graph.entities[0].id in of(found(built, Question(f"What did {name} do?")), "entity")


def test_defect_4_a_question_that_fits_no_entity_is_answered_from_chunks(harbour: Corpus) -> None:
    got = found(harbour, Question("xyzzy?"))
    assert any("no entity" in note for note in got.notes)
    index = harbour.index()
    lone = FastGraphRAG(exact=False, generic_floor=0.999, named_floor=0.999)
    seen = lone.retrieve(Question("Which herring moved north?"), index, harbour.runtime())
    assert of(seen, "chunk")
    assert len(of(seen, "chunk")) == len(seen.passages)


# ── the walk ──


def walked(made: Corpus, **settings: Any) -> tuple[np.ndarray, np.ndarray]:
    index, rt, method = made.index(), made.runtime(), FastGraphRAG(**settings)
    reset = method.reset(QUESTION, words(made), index, rt)
    return reset / reset.sum(), method.walk(reset, index, rt, ends_of(index, rt), ties_of(index, rt))


@pytest.mark.parametrize("edges", ["simple", "weighted"])
def test_the_walk_is_personalised_pagerank(built: Corpus, edges: Any) -> None:
    reset, rank = walked(built, edges=edges, tolerance=1e-12, identity="none")
    index = built.index()
    place = {e.id: i for i, e in enumerate(index.graph.entities)}
    step = np.zeros((len(reset), len(reset)))
    for r in index.graph.relations:
        weight = r.weight if edges == "weighted" else 1.0
        step[place[r.source], place[r.target]] += weight
        step[place[r.target], place[r.source]] += weight
    out = step.sum(1)
    step[out > 0] /= out[out > 0, None]
    step[out == 0] = reset
    exact = np.linalg.solve(np.eye(len(reset)) - 0.85 * step.T, 0.15 * reset)
    assert rank == pytest.approx(exact, abs=1e-9)
    assert rank.sum() == pytest.approx(1)


def test_the_default_tolerance_is_far_below_the_floor(built: Corpus) -> None:
    (_, rank), (_, exact) = walked(built), walked(built, tolerance=1e-12)
    assert np.abs(rank - exact).max() < FastGraphRAG().floor / 10
    assert rank.sum() == pytest.approx(1)


def test_without_a_relation_the_walk_stays_where_it_starts() -> None:
    reset = np.array([0.0, 3.0, 1.0])
    assert pagerank(build_moves([], [], [], 3), reset, 0.85, 40) == pytest.approx(reset / 4)


# ── from entities to relations and chunks ──


def test_relations_and_chunks_are_scored_as_by_the_dense_products(built: Corpus) -> None:
    index = built.index()
    got = found(built, entity_tokens=10**6, relation_tokens=10**6, text_tokens=10**6, relations=10**6, entities=10**6)
    entities = list(index.graph.entities)
    e = np.array([{p.id: p.score for p in got.passages}.get(x.id, 0.0) for x in entities])
    place = {x.id: i for i, x in enumerate(entities)}
    joins = np.zeros((len(e), len(index.graph.relations)))
    chunks = [c.id for c in index.catalogue.chunks]
    states = np.zeros((joins.shape[1], len(chunks)))
    for j, r in enumerate(index.graph.relations):
        joins[[place[r.source], place[r.target]], j] = 1
        states[j, [chunks.index(c) for c in r.chunks]] = 1
    mentions = np.array([[c in x.chunks for c in chunks] for x in entities], float)
    r = e @ joins
    c = r @ states + 0.25 * e @ mentions
    assert (e >= 0).all()
    assert of(got, "chunk")
    assert (e > 0).any()
    scores = {p.id: p.score for p in got.passages}
    assert {x.id: scores[x.id] for x in index.graph.relations if x.id in scores} == pytest.approx(
        {x.id: v for x, v in zip(index.graph.relations, r, strict=True) if v > 0}
    )
    wanted, value = select_best(c, 8)
    assert of(got, "chunk") == [chunks[i] for i in wanted]
    assert [p.score for p in got.passages if p.kind == "chunk"] == pytest.approx(value)


def test_defect_3_a_chunk_without_a_relation_is_reached_by_what_it_mentions(tmp_path: Path) -> None:
    settings = {"engine": "offline", "index": {"parts": ["graph"]}}
    lone = Document("lone", "Skerry Point.")
    with Corpus.open(tmp_path, settings=settings) as made:
        made.add([*papers(), lone])
        made.build()
        index = made.index()
        (chunk,) = [c.id for c in index.catalogue.chunks if c.document == "lone"]
        assert not any(chunk in r.chunks for r in index.graph.relations)
        asked = Question("What is said of Skerry Point?")
        assert chunk in of(found(made, asked, chunks=50), "chunk")
        assert chunk not in of(found(made, asked, chunks=50, mention=0.0), "chunk")


def test_where_all_are_below_the_floor_the_best_ten_are_kept_and_it_is_said(built: Corpus) -> None:
    got = found(built, floor=0.9)
    assert len(of(got, "entity")) == 10
    assert any("the best 10 were kept" in note for note in got.notes)
    scores = [p.score for p in got.passages if p.kind == "entity"]
    assert scores == sorted(scores, reverse=True)


def test_no_more_is_kept_than_the_settings_say(built: Corpus) -> None:
    got = found(built, entities=7, relations=5, chunks=1)
    assert [len(of(got, kind)) for kind in ("entity", "relation", "chunk")] == [7, 5, 1]


def test_what_one_part_leaves_of_its_tokens_the_next_may_use(built: Corpus) -> None:
    alone = found(built, entities=3, entity_tokens=0, relation_tokens=60)
    assert not of(alone, "entity")
    after = found(built, entities=3, entity_tokens=1000, relation_tokens=60)
    assert sum(passage_tokens(p) for p in after.passages if p.kind != "chunk") <= 1060
    assert len(of(after, "relation")) > len(of(alone, "relation"))
    assert after.omitted < alone.omitted


def test_documents_come_by_their_best_chunk(built: Corpus) -> None:
    got = found(built)
    behind = built.index().documents_of(of(got, "chunk"))
    ranked = list(dict.fromkeys(behind[c] for c in of(got, "chunk")))
    assert ranked
    assert list(got.documents[: len(ranked)]) == ranked


# ── the rest ──


def test_the_settings_of_the_original_are_settings(built: Corpus) -> None:
    assert found(built, **ORIGINAL).passages


@pytest.mark.slow
def test_defects_1_and_6_after_removing_and_adding_it_is_as_built_at_once(tmp_path: Path) -> None:
    def opened(name: str) -> Corpus:
        return Corpus.open(tmp_path / name, settings={"engine": "offline", "index": {"parts": ["graph"]}})

    asked = Question("Who owns the wood that the shipyard of Nora Blythe bought its oak from?")
    with opened("grown") as grown, opened("whole") as whole:
        first, *others = papers()
        grown.add([first, *stories(1)])
        grown.build()
        found(grown, asked)
        grown.add(others)
        grown.remove("story-00")
        grown.build()
        whole.add(papers())
        whole.build()
        assert found(grown, asked) == found(whole, asked)


@pytest.mark.parametrize(
    "bad",
    [{"chunks": 0}, {"named_top": 0}, {"floor": -0.1}, {"damping": 1.0}, {"mention": -1.0}, {"identity_floor": 0.0}],
)
def test_settings_that_cannot_work_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(bad))):
        FastGraphRAG(**bad)
