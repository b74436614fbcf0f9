from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harbour import QUESTIONS, papers
from scripted import Script, ScriptedServer
from scripted_replies import task_of
from sensegraph.answering.asking import NOTHING
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import NotIndexed, SettingsError
from sensegraph.index.index import Index
from sensegraph.index.passages import passage_tokens
from sensegraph.language.text import count_tokens
from sensegraph.methods.lightrag.lightrag import LightRAG
from sensegraph.methods.lightrag.tasks import find_keywords
from sensegraph.retrieval.signals import keywords_of
from sensegraph.runtime.runtime import Runtime
from sensegraph.testing import SAMPLE, MethodContract
from sensegraph.types import Evidence, Question
from wired import corpus, stories

PARTS = {"parts": ["graph", "relations"]}
QUESTION = Question("Whom did Ada Harrow pay, and why were boats bought?")


class TestLightRAGContract(MethodContract):
    def make(self) -> LightRAG:
        return LightRAG()

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
    with ScriptedServer() as server, corpus(tmp_path_factory.mktemp("lightrag"), server, index=PARTS) as opened:
        opened.add(stories(8))
        opened.build()
        yield opened


def found(made: Corpus, question: Question = QUESTION, **settings: Any) -> Evidence:
    return LightRAG(**settings).retrieve(question, made.index(), made.runtime())


def of(evidence: Evidence, kind: str) -> list[str]:
    return [p.id for p in evidence.passages if p.kind == kind]


def nearest(made: Corpus, kind: Any, text: str, top: int, floor: float = 0.2) -> list[str]:
    index, rt = made.index(), made.runtime()
    records: Any = {"entity": index.graph.entities, "relation": index.graph.relations, "chunk": index.catalogue.chunks}
    cosine = index.vectors_of(rt.embedder, kind)[:].astype(np.float64) @ rt.embedder.embed([text], "query")[0]
    ids = [r.id for r in records[kind]]
    return [ids[i] for i in np.argsort(-cosine, kind="stable")[:top] if cosine[i] > floor]


# ── what is searched ──


def test_local_reads_entities_near_the_names_and_the_relations_at_them(made: Corpus) -> None:
    words = keywords_of(QUESTION, made.index(), made.runtime(), words=find_keywords)
    got = found(made, mode="local", top=5, named=False)
    wanted = nearest(made, "entity", ", ".join(words.low), 5)
    assert of(got, "entity") == wanted
    ends = made.index().relations(of(got, "relation")).values()
    assert ends
    assert all({r.source, r.target} & set(wanted) for r in ends)


def test_global_reads_relations_near_the_themes_and_the_entities_at_their_ends(made: Corpus) -> None:
    words = keywords_of(QUESTION, made.index(), made.runtime(), words=find_keywords)
    got = found(made, mode="global", top=6)
    wanted = nearest(made, "relation", ", ".join(words.high), 6)
    assert of(got, "relation") == wanted
    ends = [made.index().relations(wanted)[name] for name in wanted]
    assert set(of(got, "entity")) == {e for r in ends for e in (r.source, r.target)}


def test_mix_takes_local_and_global_in_turn_and_adds_chunks_near_the_question(made: Corpus) -> None:
    local, themes = (found(made, mode=m, top=5) for m in ("local", "global"))
    mixed = found(made, mode="mix", top=5)
    assert of(mixed, "entity")[0] == of(local, "entity")[0]
    assert set(of(mixed, "entity")) == {*of(local, "entity"), *of(themes, "entity")}
    assert set(of(mixed, "relation")) == {*of(local, "relation"), *of(themes, "relation")}
    assert of(mixed, "chunk")[0] == nearest(made, "chunk", QUESTION.text, 1, 0.0)[0]
    assert found(made, top=5) == mixed


def test_hybrid_reads_what_mix_does_less_the_chunks_near_the_question(made: Corpus) -> None:
    hybrid, mixed = found(made, mode="hybrid", top=2), found(made, mode="mix", top=2)
    assert of(hybrid, "entity") == of(mixed, "entity")
    assert of(hybrid, "relation") == of(mixed, "relation")
    assert set(of(hybrid, "chunk")) < set(of(mixed, "chunk"))


def test_naive_reads_chunks_alone_and_asks_the_engine_for_no_keywords(made: Corpus) -> None:
    before = made.engine.usage().calls
    got = found(made, Question("Who argued with Bram Fenwick?"), mode="naive", chunks=4)
    assert of(got, "chunk") == nearest(made, "chunk", "Who argued with Bram Fenwick?", 4, 0.0)
    assert len(got.passages) == 4
    assert made.engine.usage().calls == before


def test_names_of_the_question_come_first(made: Corpus) -> None:
    index = made.index()
    named = [
        index.graph.entities[i].id for i in keywords_of(QUESTION, index, made.runtime(), words=find_keywords).entities
    ]
    assert of(found(made), "entity")[0] == named[0]
    assert "Ada Harrow" in {index.entities(named)[name].name for name in named}


def test_one_embedding_call_serves_all_searches(made: Corpus) -> None:
    answer = made.query("Whom did Cora Harrow hire?", method="lightrag")
    assert answer.usage.embedding_calls == 1
    assert answer.usage.calls - answer.usage.embedding_calls <= 2  # keywords, answer


def test_each_keyword_by_itself_finds_topics_that_joined_ones_blur(made: Corpus) -> None:
    question = Question("What have Ada Harrow, Olga Quay and Dirk Stone done?")
    each = found(made, question, mode="local", keywords="each", top=6, named=False)
    for name in ("Ada Harrow", "Olga Quay", "Dirk Stone"):
        assert nearest(made, "entity", name, 1)[0] in of(each, "entity")


def test_the_floor_keeps_what_is_far_out(made: Corpus) -> None:
    assert len(of(found(made, mode="local", cosine_floor=0.6, named=False), "entity")) < len(
        of(found(made, mode="local", cosine_floor=0.1, named=False), "entity")
    )
    nothing = found(made, mode="local", cosine_floor=0.999, named=False)
    assert nothing.passages == ()


def test_nothing_found_is_said_without_asking_for_an_answer(made: Corpus) -> None:
    method = LightRAG(mode="local", cosine_floor=0.999, named=False)
    assert method.answer(QUESTION, made.index(), made.runtime()).text == NOTHING


# ── what is read ──


def test_no_part_exceeds_its_tokens_and_the_whole_fits(made: Corpus) -> None:
    got = found(made, entity_tokens=150, relation_tokens=120, text_tokens=900)
    more = found(made)
    for kind, budget in (("entity", 150), ("relation", 120)):
        kept, offered = ([p for p in one.passages if p.kind == kind] for one in (got, more))
        assert kept == offered[: len(kept)]
        assert 0 < sum(map(passage_tokens, kept)) <= budget < sum(map(passage_tokens, offered[: len(kept) + 1]))
    assert got.tokens <= 900
    assert of(got, "chunk")
    spare = 200 + count_tokens(QUESTION.text)  # for the prompt and the question
    less = found(made, entity_tokens=150, relation_tokens=120, text_tokens=700)
    following = [p for p in got.passages if p.kind == "chunk"][len(of(less, "chunk"))]
    assert of(less, "chunk")
    assert less.tokens + spare <= 700 < less.tokens + spare + count_tokens(following.text)
    assert got.omitted > more.omitted >= 0
    assert got.omitted + len(got.passages) <= more.omitted + len(more.passages)


def test_chunks_of_what_was_cut_are_not_read(made: Corpus) -> None:
    got = found(made, mode="local", entity_tokens=1, relation_tokens=1)
    assert got.passages == ()


@pytest.mark.parametrize("selection", ["vector", "weight"])
def test_chunks_are_those_of_the_entities_and_relations_that_are_read(made: Corpus, selection: Any) -> None:
    got = found(made, mode="hybrid", top=3, selection=selection, related=2)
    index = made.index()
    records = [*index.entities(of(got, "entity")).values(), *index.relations(of(got, "relation")).values()]
    behind = {c for r in records for c in r.chunks}
    assert of(got, "chunk")
    assert set(of(got, "chunk")) <= behind


def test_documents_come_by_their_best_chunk(made: Corpus) -> None:
    got = found(made)
    behind = made.index().documents_of(of(got, "chunk"))
    ranked = list(dict.fromkeys(behind[c] for c in of(got, "chunk")))
    assert ranked
    assert list(got.documents[: len(ranked)]) == ranked


def test_an_entity_without_a_relation_is_found_by_its_name(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": PARTS}) as opened:
        opened.add(papers())
        opened.build()
        lone = min(opened.index().graph.entities, key=lambda e: e.degree)
        got = found(opened, Question(f"What is {lone.name}?"), mode="local")
        assert lone.id in of(got, "entity")


# ── the paper's preset ──


def test_the_papers_preset_reads_the_relations_part_first(made: Corpus) -> None:
    both, themes = found(made, preset="paper", top=4), found(made, preset="paper", mode="global", top=4)
    for kind in ("entity", "relation", "chunk"):
        assert of(both, kind)[: len(of(themes, kind))] == of(themes, kind)
        assert len(of(both, kind)) == len(set(of(both, kind)))


def test_the_papers_preset_orders_relations_by_degrees_and_not_by_nearness(made: Corpus) -> None:
    got = found(made, preset="paper", mode="global", top=8)
    index = made.index()
    degree = {e.id: e.degree for e in index.graph.entities}
    records = index.relations(of(got, "relation"))
    sums = [degree[r.source] + degree[r.target] for r in (records[name] for name in of(got, "relation"))]
    assert len(sums) > 2
    assert sums == sorted(sums, reverse=True)


def test_the_papers_preset_caps_relations_but_not_the_entities_that_names_found(made: Corpus) -> None:
    got = found(made, preset="paper", mode="local", entity_tokens=1, relation_tokens=60, text_tokens=130)
    assert len(of(got, "entity")) > 3
    assert sum(passage_tokens(p) for p in got.passages if p.kind == "relation") <= 60


# ── defects to exclude (lightrag §9) ──


def test_defect_1_the_engines_answer_is_not_edited(tmp_path: Path) -> None:
    said = '{"answer": "The user asked the model: Who is Ada Harrow? She is a user of the model."}'
    script = Script(reply=lambda body: said if task_of(body) == "answer" else None)
    with ScriptedServer(script) as server, corpus(tmp_path, server, index=PARTS) as opened:
        opened.add(stories(2))
        opened.build()
        text = opened.query("Who is Ada Harrow?", method="lightrag").text
        assert text == "The user asked the model: Who is Ada Harrow? She is a user of the model."


def test_defect_6_and_7_after_removing_and_changing_it_is_as_if_never_there(tmp_path: Path) -> None:
    def opened(name: str) -> Corpus:
        return Corpus.open(tmp_path / name, settings={"engine": "offline", "index": PARTS})

    asked = Question(QUESTIONS["multi-hop"])
    with opened("changed") as changed, opened("fresh") as fresh:
        wrong, *others = papers()
        changed.add([*others, wrong, *stories(1)])
        changed.build()
        changed.remove("story-00")
        changed.add(wrong)
        changed.build()
        fresh.add([wrong, *others])
        fresh.build()
        assert found(changed, asked) == found(fresh, asked)


def test_defect_8_the_order_of_equal_scores_is_fixed(made: Corpus) -> None:
    assert found(made) == found(made)
    assert of(found(made, top=40), "entity")[:3] == of(found(made, top=30), "entity")[:3]


def test_an_index_without_vectors_of_relations_says_what_to_build(built: Corpus) -> None:
    with pytest.raises(NotIndexed, match=r"'relations'.*--method"):
        built.search(QUESTION.text, method="lightrag")
    assert built.search(QUESTION.text, method="lightrag", mode="naive").passages


@pytest.mark.parametrize(
    "bad",
    [
        {"top": -1},
        {"chunks": 0},
        {"related": 0},
        {"cosine_floor": 1.0},
        {"text_tokens": -5},
        {"preset": "paper", "mode": "mix"},
    ],
)
def test_settings_that_cannot_work_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(bad))):
        LightRAG(**bad)
