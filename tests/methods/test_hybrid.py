import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from harbour import papers
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError
from sensegraph.methods.basic.hybrid import Hybrid
from sensegraph.retrieval import arms
from sensegraph.types import Question
from served import ServedContract
from unpacking import unpacked

CAROL = Path(__file__).parent.parent / "data" / "carol-questions.tar.xz"
QUESTION = Question("Whom did Ada Harrow pay?")
EVEN = {"vector_weight": 1, "bm25_weight": 1, "graph_weight": 1}


class TestHybridContract(ServedContract):
    def make(self) -> Hybrid:
        return Hybrid()


def test_n83_plain_fusion_adds_the_reciprocal_ranks_of_three_lists(built: Corpus) -> None:
    hits = Hybrid(fusion="rrf", **EVEN).hits(QUESTION, built.index(), built.runtime())
    assert {p.arm for h in hits for p in h.places} == {"vector", "bm25", "graph"}
    for hit in hits:
        assert hit.score == pytest.approx(sum(1 / (60 + p.rank) for p in hit.places))
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)


@pytest.mark.parametrize("fusion", ["prior", "rrf", "minmax", "quota"])
def test_every_hit_says_where_each_list_ranks_it(built: Corpus, fusion: Any) -> None:
    index, rt = built.index(), built.runtime()
    ids = [c.id for c in index.catalogue.chunks]
    lists = {
        "vector": arms.rank_by_vectors(QUESTION, index, rt, 20),
        "bm25": arms.rank_by_words(QUESTION, index, 10),
        "graph": arms.rank_by_graph(QUESTION, index, rt, 20),
    }
    hits = Hybrid(fusion=fusion).hits(QUESTION, index, rt)
    assert [h.chunk for h in hits] == [p.id for p in Hybrid(fusion=fusion).retrieve(QUESTION, index, rt).passages]
    assert len(hits) > 3
    for hit in hits:
        place = ids.index(hit.chunk)
        wanted = {name: r.positions.tolist().index(place) + 1 for name, r in lists.items() if place in r.positions}
        assert {p.arm: p.rank for p in hit.places} == wanted
        assert all(lists[p.arm].scores[p.rank - 1] == p.score for p in hit.places)


@pytest.mark.parametrize("arm", ["vector", "bm25", "graph"])
def test_an_arm_of_weight_0_is_not_run(built: Corpus, arm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = {"vector": "rank_by_vectors", "bm25": "rank_by_words", "graph": "rank_by_graph"}[arm]
    monkeypatch.setattr(f"sensegraph.methods.basic.hybrid.{name}", None)  # a call would fail
    hits = Hybrid(**{f"{arm}_weight": 0}).hits(QUESTION, built.index(), built.runtime())
    assert hits
    assert all(p.arm != arm for h in hits for p in h.places)


def test_without_a_graph_text_alone_is_fused_and_the_notes_say_so(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": []}}) as made:
        made.add(papers())
        made.build()
        found = made.search("Who owns Marrow Wood?", method="hybrid")
    assert found.passages
    assert any("no graph" in note for note in found.notes)
    assert any(note.startswith("rrf of vector") for note in found.notes)


def test_at_most_k_chunks_are_taken_and_the_rest_is_counted(built: Corpus) -> None:
    index, rt = built.index(), built.runtime()
    few, many = (Hybrid(k=k).retrieve(QUESTION, index, rt) for k in (2, 100))
    assert few.passages == many.passages[:2]
    assert few.omitted - many.omitted == len(many.passages) - 2
    assert len(many.passages) <= len(index.catalogue.chunks)


def test_a_question_of_nothing_is_not_answered(built: Corpus) -> None:
    assert built.search("?", method="hybrid").passages == ()


@pytest.mark.parametrize(
    "bad",
    [
        {"k": 0},
        {"hops": 0},
        {"c": -1},
        {"damping": 1.0},
        {"vector_weight": -1},
        {"vector_weight": 0, "bm25_weight": 0, "graph_weight": 0},
    ],
)
def test_settings_that_cannot_work_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(bad)).split("_")[-1]):
        Hybrid(**bad)


@pytest.mark.slow
def test_the_default_finds_no_less_than_the_best_single_arm(tmp_path: Path) -> None:
    unpacked(CAROL, tmp_path)
    gold: dict[str, set[str]] = defaultdict(set)
    for line in (tmp_path / "qrels" / "dev.tsv").read_text().splitlines()[1:]:
        query, document, _ = line.split("\t")
        gold[query].add(document)
    asked = [q for q in map(json.loads, (tmp_path / "queries.jsonl").open()) if q["_id"] in gold]
    with Corpus.open(tmp_path / "index", settings={"engine": "offline"}) as made:
        made.add(tmp_path / "corpus.jsonl")
        made.build()
        index, rt = made.index(), made.runtime()

        def recall(method: Hybrid) -> float:
            found = {q["_id"]: method.retrieve(Question(q["text"]), index, rt).documents[:5] for q in asked}
            return 100 * sum(len(gold[q].intersection(d)) / len(gold[q]) for q, d in found.items()) / len(found)

        weights = ("vector_weight", "bm25_weight", "graph_weight")
        single = [recall(Hybrid(fusion="rrf", **{w: float(w == arm) for w in weights})) for arm in weights]
        assert len(asked) == 20
        assert recall(Hybrid()) >= max(single) - 2
