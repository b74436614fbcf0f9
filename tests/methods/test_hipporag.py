"""HippoRAG: what the paper's formulas give by hand, and what they are for (hipporag §4, §8, §9)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripted import Script, ScriptedServer
from scripted_methods import listed_in, message_of
from scripted_replies import task_of
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError
from sensegraph.index.index import Index
from sensegraph.methods.hipporag.facts import FACTS, Facts, FactSettings, make_facts
from sensegraph.methods.hipporag.hipporag import GUTIERREZ2025, HippoRAG, phrase_mass
from sensegraph.retrieval.arms import rank_by_words
from sensegraph.runtime.runtime import Runtime
from sensegraph.testing import SAMPLE, MethodContract
from sensegraph.types import Description, Document, Entity, Graph, Question, Relation, Source
from wired import corpus, stories

PARTS = {"parts": ["graph", "facts"]}
QUESTION = Question("Where was the founder of the Blythe Shipyard born?")
PAGES = {
    "shipyard": "The Blythe Shipyard was founded by Nora Tarrant. The Blythe Shipyard lies on the east quay.",
    "founder": "Nora Tarrant grew up in Lowmouth. Nora Tarrant painted boats and wrote letters.",
    **{f"mill-{i}": f"The founder of mill {i} was a miller. Mill {i} lies on the river." for i in range(8)},
    "towns": "In which town the fair was held nobody knows.",
    "list": "Ada Finch, Tom Reeve, Ivo Marsh, Cora Quay, Finn Stone and Gwen Millar were at the fair.",
}


class TestHippoRAGContract(MethodContract):
    def make(self) -> HippoRAG:
        return HippoRAG()

    def build(self, folder: Path) -> tuple[Runtime, Index]:
        made = corpus(folder, self.server, index=PARTS)
        made.add(*SAMPLE)
        made.build()
        return made.runtime(), made.index()

    def setup_method(self) -> None:
        self.server = ScriptedServer().__enter__()

    def teardown_method(self) -> None:
        self.server.__exit__()


class TestHippoRAGOfflineContract(TestHippoRAGContract):
    def build(self, folder: Path) -> tuple[Runtime, Index]:
        made = Corpus.open(folder, settings={"engine": "offline", "index": PARTS})
        made.add(*SAMPLE)
        made.build()
        return made.runtime(), made.index()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    settings = {"engine": "offline", "index": PARTS}
    with Corpus.open(tmp_path_factory.mktemp("pages"), settings=settings) as made:
        made.add([Document(name, text) for name, text in PAGES.items()])
        made.build()
        yield made


def small() -> Facts:
    """Three entities, in 1, 2 and 4 chunks; two facts."""
    chunks = ("a", "b", "c", "d")
    entities = tuple(Entity(f"e{i}", f"Name {i}", "x", "", (), chunks[:n], n, 1) for i, n in enumerate((1, 2, 4)))
    relations = tuple(
        Relation(f"r{i}", a, b, "", (Description(f"{a} met {b}", Source("a", 0, 1)),), 1.0, ("a",))
        for i, (a, b) in enumerate([("e0", "e1"), ("e1", "e2")])
    )
    return make_facts.fn([(Graph(entities, relations), list(chunks), None)], settings=FactSettings())[0]


def test_an_entity_weighs_the_mean_of_its_facts_over_its_chunks() -> None:
    mass = phrase_mass(small(), [0, 1], np.array([1.0, 0.5]), 5)
    assert mass.tolist() == pytest.approx([1.0, (1.0 / 2 + 0.5 / 2) / 2, 0.5 / 4])


def test_only_the_heaviest_entities_start_the_walk() -> None:
    assert np.flatnonzero(phrase_mass(small(), [0, 1], np.array([1.0, 0.5]), 2)).tolist() == [0, 1]


def test_a_chunk_two_hops_away_rises_above_its_rank_by_words(pages: Corpus) -> None:
    index, rt = pages.index(), pages.runtime()
    ids = [c.document for c in index.catalogue.chunks]
    found = [ids[i] for i in HippoRAG().rank(QUESTION, index, rt)[0].positions]
    words = [ids[i] for i in rank_by_words(QUESTION, index, 10).positions]
    assert "founder" not in words  # it shares no word with the question
    assert len(words) > 5
    assert found.index("founder") < 2
    assert found[0] == "shipyard"


def test_a_corpus_of_lists_of_names_is_not_preferred(pages: Corpus) -> None:
    """A user's report: facts of chunks that only list names attract questions (issue 154 of the authors' package)."""
    index, rt = pages.index(), pages.runtime()
    ids = [c.document for c in index.catalogue.chunks]
    found = [ids[i] for i in HippoRAG().rank(QUESTION, index, rt)[0].positions]
    assert len(found) > 9
    assert "list" not in found[:9]


def test_the_first_version_weighs_a_named_entity_by_one_over_its_chunks(pages: Corpus) -> None:
    index, rt = pages.index(), pages.runtime()
    known = index.part(FACTS)
    chunks = np.diff(known.start)
    busiest = int(chunks.argmax())
    asked = Question(f"Who met {index.graph.entities[busiest].name}?")
    mass, _ = HippoRAG(version=1)._named(asked, index, rt)
    assert chunks[busiest] > 1
    assert mass[busiest] == 1 / chunks[busiest]


def test_facts_score_as_shares_of_the_nearest(pages: Corpus) -> None:
    index, rt = pages.index(), pages.runtime()
    found, scores = HippoRAG()._facts(QUESTION, index, rt)
    raw = index.part(FACTS).score(QUESTION.sought)[found]
    assert raw.max() not in (0.0, 1.0)
    assert scores.max() == 1.0
    assert scores.tolist() == pytest.approx((raw / raw.max()).tolist())


def test_two_runs_agree_to_the_bit(pages: Corpus) -> None:
    first, again = (HippoRAG().rank(QUESTION, pages.index(), pages.runtime())[0] for _ in range(2))
    assert first.positions.tobytes() == again.positions.tobytes()
    assert first.scores.tobytes() == again.scores.tobytes()


@pytest.mark.parametrize("factor", [0.0, 0.05])
def test_the_walk_solves_the_equations_of_pagerank(pages: Corpus, factor: float) -> None:
    index, rt = pages.index(), pages.runtime()
    method = HippoRAG(passage_factor=factor, tolerance=1e-13, top=99)
    known, n = index.part(FACTS), len(index.catalogue.chunks)
    near = index.scores_of_words(QUESTION.text)
    near = (near - near.min()) / (near.max() - near.min())
    mass, _ = method._linked(QUESTION, index, rt)
    reset = np.concatenate((factor * near, mass) if factor else (0.7 * near / near.sum(), 0.3 * mass))
    reset /= reset.sum()
    matrix = np.zeros((len(reset), len(reset)))
    np.add.at(matrix, (known.comes, known.leaves), known.chance)
    matrix[:, matrix.sum(0) == 0] = reset[:, None]
    solved = np.linalg.solve(np.eye(len(reset)) - 0.5 * matrix, 0.5 * reset)[:n]
    ranking = method.rank(QUESTION, index, rt)[0]
    assert ranking.scores.tolist() == pytest.approx(solved[ranking.positions].tolist(), abs=1e-12)


def test_the_weaker_the_entities_the_more_weighs_the_text(pages: Corpus) -> None:
    """Entities that stand in many chunks leave the ranking to the words, however many chunks there are."""
    index, rt = pages.index(), pages.runtime()
    words = rank_by_words(QUESTION, index, 3).positions.tolist()
    strong, weak = (HippoRAG(phrase_share=s).rank(QUESTION, index, rt)[0].positions.tolist() for s in (0.9, 1e-9))
    assert [p for p in weak if p in words] == words
    assert strong != weak


def test_where_no_fact_fits_the_text_alone_ranks_and_the_notes_say_so(pages: Corpus) -> None:
    found = pages.search("Nobody knows fairs?", method="hipporag")
    assert [n for n in found.notes if "ranked by bm25" in n]
    assert found.documents[0] == "towns"
    assert pages.search("?", method="hipporag").passages == ()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Corpus, ScriptedServer]]:
    with ScriptedServer() as server, corpus(tmp_path_factory.mktemp("hipporag"), server, index=PARTS) as made:
        made.add(stories(2))
        made.build()
        yield made, server


@pytest.mark.parametrize(
    ("reply", "dropped"),
    [
        ('{"facts": [2, 1]}', 3),
        ('{"facts": ["5", {"id": 3}, 5, 9]}', 3),
        ('{"facts": [1, 2, 3, 4, 5]}', 1),
        ("[1]", 4),
        ('{"facts": []}', 5),
    ],
)
def test_all_linked_facts_are_judged_in_one_call_and_four_at_most_stay(
    served: tuple[Corpus, ScriptedServer], reply: str, dropped: int
) -> None:
    made, server = served
    question = Question(f"Whom did Ada Harrow pay {reply}?")
    server.reset()
    server.script = Script(keep_bodies=True, reply=lambda body: reply if task_of(body) == "filter" else None)
    found = HippoRAG().retrieve(question, made.index(), made.runtime())
    (call,) = [c for c in server.calls if c.task != "embedding"]
    assert len(listed_in(message_of(call.body))) == HippoRAG().facts == 5
    assert f"recognition memory: {dropped} of 5 facts were dropped" in found.notes
    assert any("chunks were ranked by vector" in n for n in found.notes) == (dropped == 5)
    assert found.passages
    server.reset()
    HippoRAG(filter="none").retrieve(question, made.index(), made.runtime())
    assert server.done("filter") == []


@pytest.mark.parametrize("reply", ["", "I'm sorry [1], I can't help with that.", '{"facts": [7]}', '{"facts": [', "{}"])
def test_a_choice_that_cannot_be_read_is_asked_for_again_and_then_all_facts_stay_with_a_note(
    served: tuple[Corpus, ScriptedServer], reply: str
) -> None:
    made, server = served
    index, rt = made.index(), made.runtime()
    question = Question(f"Whom did Bram Harrow pay {reply}?")
    server.reset()
    server.script = Script(reply=lambda body: reply if task_of(body) == "filter" else None)
    found = HippoRAG().retrieve(question, index, rt)
    assert len(server.done("filter")) >= 2
    (note,) = [n for n in found.notes if n.startswith("recognition memory")]
    assert "could not choose among 5 facts, all stay" in note
    assert found.documents == HippoRAG(filter="none").retrieve(question, index, rt).documents
    server.script = Script(reply=lambda body: '{"facts": [1]}' if task_of(body) == "filter" else None)
    again = HippoRAG().retrieve(question, index, rt)
    assert "recognition memory: 4 of 5 facts were dropped" in again.notes  # nothing was stored of the failure


def test_without_a_model_nobody_is_asked(pages: Corpus) -> None:
    asked = HippoRAG().rank(QUESTION, pages.index(), pages.runtime())
    forced = HippoRAG(filter="none").rank(QUESTION, pages.index(), pages.runtime())
    assert asked[0].scores.tobytes() == forced[0].scores.tobytes()


def test_vectors_of_facts_need_an_embedder_of_meaning(pages: Corpus) -> None:
    with pytest.raises(SettingsError, match=r"hipporag\.linking is vectors"):
        HippoRAG(linking="vectors").rank(QUESTION, pages.index(), pages.runtime())


def test_the_first_version_walks_over_entities_alone(pages: Corpus) -> None:
    index, rt = pages.index(), pages.runtime()
    ids = [c.document for c in index.catalogue.chunks]
    ranking = HippoRAG(version=1).rank(QUESTION, index, rt)[0]
    found = [ids[i] for i in ranking.positions]
    assert {found[0], found[1]} == {"shipyard", "founder"}
    assert "list" not in found  # the walk has no way to it


def test_the_published_settings_walk_over_doubled_facts(pages: Corpus) -> None:
    index, rt = pages.index(), pages.runtime()
    ours, theirs = (HippoRAG(**s).rank(QUESTION, index, rt)[0] for s in ({"passage_factor": 0.05}, GUTIERREZ2025))
    assert ours.scores.tolist() != theirs.scores.tolist()
    assert ours.positions[0] == theirs.positions[0]


@pytest.mark.parametrize(
    "bad",
    [{"facts": 0}, {"read": 0}, {"version": 3}, {"damping": 1.0}, {"tolerance": 0.0}, {"phrase_share": 0.0},
     {"passage_factor": -1.0}, {"parallel": 0.0}],
)  # fmt: skip
def test_settings_that_cannot_work_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(bad))):
        HippoRAG(**bad)
