"""Rankings of chunks over a corpus that can be counted by hand."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from harbour import MARKS, papers
from sensegraph.algorithms.ranking import Ranking
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.graph.lookups import entity_salience, ties_of
from sensegraph.index.index import Index
from sensegraph.index.restricted.scope import restrict_to_scope
from sensegraph.index.vectors import asked_vector, nearest_to
from sensegraph.language.text import count_tokens, fold
from sensegraph.questions import Condition, Scope
from sensegraph.retrieval import arms
from sensegraph.retrieval.arms import (
    Walk,
    by_text,
    evidence_of,
    nearness_of,
    rank_by_graph,
    rank_by_vectors,
    rank_by_walk,
    rank_by_words,
    scale_scores,
    seeds_of,
)
from sensegraph.types import Question, Turn

QUESTION = Question("What did Ada Finch ask the Harbour Council?")
INSIDE = Scope(where=(Condition("kind", "=", "letter"),))


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with Corpus.open(tmp_path_factory.mktemp("harbour"), settings={"engine": "offline"}) as made:
        made.add(papers())
        made.build()
        yield made


def names(index: Index, places: list[int]) -> list[str]:
    return [index.graph.entities[p].name for p in places]


def test_seeds_are_the_names_of_the_question(harbour: Corpus) -> None:
    index = harbour.index()
    assert names(index, seeds_of(QUESTION, index, harbour.runtime())) == ["Ada Finch", "Harbour Council"]


@pytest.mark.parametrize("asked", [QUESTION, Question("What does Ivo Marsh own?"), Question("the council of harbours")])
def test_the_graph_scores_chunks_by_relations_and_seeds(harbour: Corpus, asked: Question) -> None:
    index, rt = harbour.index(), harbour.runtime()
    found = rank_by_graph(asked, index, rt, 100)
    seeds, entities = seeds_of(asked, index, rt), list(index.graph.entities)
    assert seeds
    ids = {entities[s].id for s in seeds}
    degree = {e.id: e.degree for e in entities}
    wanted: dict[str, float] = {}
    for seed in seeds:
        for chunk in entities[seed].chunks:
            wanted[chunk] = wanted.get(chunk, 0) + 1 / len(entities[seed].chunks)
    for relation in index.graph.relations:
        for one, other in ((relation.source, relation.target), (relation.target, relation.source)):
            for chunk in relation.chunks if one in ids else ():
                wanted[chunk] = wanted.get(chunk, 0) + relation.weight / degree[other]
    chunks = [c.id for c in index.catalogue.chunks]
    got = {chunks[p]: s for p, s in zip(found.positions.tolist(), found.scores.tolist(), strict=True)}
    assert got == pytest.approx(wanted)
    assert got


def test_more_hops_reach_more_chunks_and_lower_none(harbour: Corpus) -> None:
    index, rt = harbour.index(), harbour.runtime()
    asked = Question("What does Ivo Marsh own?")
    near, far = (rank_by_graph(asked, index, rt, 100, hops) for hops in (1, 2))
    score = dict(zip(far.positions.tolist(), far.scores.tolist(), strict=True))
    assert set(near.positions.tolist()) < score.keys()
    assert all(score[p] >= s for p, s in zip(near.positions.tolist(), near.scores.tolist(), strict=True))


def test_the_second_hop_goes_on_from_what_the_first_reached_with_what_it_brought(harbour: Corpus) -> None:
    index, rt = harbour.index(), harbour.runtime()
    asked = Question("What does Ivo Marsh own?")
    tied, around, degree = ties_of(index, rt), index.lookups.around, index.lookups.degree
    wanted = np.zeros(len(index.catalogue.chunks))
    (seed,) = seeds_of(asked, index, rt)
    wanted[tied.mentioning(seed)] += 1 / len(tied.mentioning(seed))
    layer, seen, layers = {seed: 1.0}, {seed}, 0
    while layer and layers < 3:
        brought: dict[int, float] = {}
        for one, share in layer.items():
            for other, relation in zip(*(a.tolist() for a in around(one)), strict=True):
                wanted[tied.stating(relation)] += tied.weight[relation] * share / degree[other]
                brought[other] = brought.get(other, 0.0) + share / degree[other]
        layer, layers = {other: share for other, share in brought.items() if other not in seen}, layers + 1
        seen |= layer.keys()
        found = rank_by_graph(asked, index, rt, 100, layers)
        assert found.scores.tolist() == pytest.approx(wanted[found.positions].tolist())
        assert len(found) == np.count_nonzero(wanted)
    assert layers == 3


def test_a_walk_reaches_what_shares_no_word_with_the_question(harbour: Corpus) -> None:
    index, rt = harbour.index(), harbour.runtime()
    asked = Question("Which wood does Ivo Marsh own?")
    words = rank_by_words(asked, index, 100)
    walked = rank_by_walk(asked, words, index, rt, Walk())
    unheard = set(walked.positions.tolist()) - set(words.positions.tolist())
    assert unheard
    assert walked.scores.sum() <= 1


def test_a_walk_without_names_or_words_finds_nothing(harbour: Corpus) -> None:
    index, rt = harbour.index(), harbour.runtime()
    asked = Question("?")
    assert len(rank_by_walk(asked, rank_by_words(asked, index, 5), index, rt, Walk())) == 0


@pytest.mark.parametrize("arm", ["vector", "bm25", "graph", "walk"])
def test_a_filter_leaks_through_no_arm(harbour: Corpus, arm: str) -> None:
    index, rt = restrict_to_scope(harbour.index(), INSIDE), harbour.runtime()
    asked = Question(f"Ada Finch, Tom Reeve and the Harbour Council on the new pier, {' '.join(MARKS.values())}")
    found = {
        "vector": lambda: rank_by_vectors(asked, index, rt, 100),
        "bm25": lambda: rank_by_words(asked, index, 100),
        "graph": lambda: rank_by_graph(asked, index, rt, 100, 2),
        "walk": lambda: rank_by_walk(asked, rank_by_words(asked, index, 100), index, rt, Walk()),
    }[arm]()
    evidence = evidence_of(found, index, 100, 8_000)
    assert evidence.passages
    assert set(evidence.documents) <= {"letter-2019", "letter-2023"}


def test_the_ties_of_an_index_name_the_chunks_of_its_entities_and_relations(harbour: Corpus) -> None:
    index, rt = harbour.index(), harbour.runtime()
    tied, chunks = ties_of(index, rt), [c.id for c in index.catalogue.chunks]
    for i, entity in enumerate(index.graph.entities):
        assert [chunks[p] for p in tied.mentioning(i)] == sorted(entity.chunks, key=chunks.index)
    for i, relation in enumerate(index.graph.relations):
        assert [chunks[p] for p in tied.stating(i)] == sorted(relation.chunks, key=chunks.index)
        assert tied.weight[i] == relation.weight
    rt.computed.clear()
    ties_of(index, rt)
    assert not rt.computed


def test_the_moves_of_a_walk_sum_to_one_at_every_node(harbour: Corpus) -> None:
    index = harbour.index()
    walk = ties_of(index, harbour.runtime()).walk
    out = np.bincount(walk.source, weights=walk.share)
    assert np.allclose(out[out > 0], 1)


def test_a_title_that_is_a_name_leads_to_its_document(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as corpus:
        for d in papers():
            corpus.add(d)
        corpus.add(
            type(papers()[0])("reeve", "He was born in Lowmouth, far from Marrow Wood.", "Tom Reeve (fisherman)")
        )
        for name, says in (("blythe", "She runs the yard."), ("boat", "It was built in Lowmouth.")):
            corpus.add(type(papers()[0])(name, says, f"Nora Blythe ({name})"))
        corpus.build()
        index, rt = corpus.index(), corpus.runtime()
        tied = ties_of(index, rt)
        (reeve,) = [i for i, e in enumerate(index.graph.entities) if fold(e.name) == "tom reeve"]
        chunks = [index.catalogue.chunks[p].document for p in tied.titled(reeve)]
        found = rank_by_walk(
            Question("Where was Tom Reeve born?"), rank_by_words(Question("?"), index, 1), index, rt, Walk()
        )
        nothing = Ranking("none", np.zeros(0, np.int64), np.zeros(0))
        both = Question("Did Tom Reeve meet Nora Blythe and Ivo Marsh?")
        start = rank_by_walk(both, nothing, index, rt, Walk(1.0, 0.0, 0.0, damping=0.0))
        seeds, wanted = seeds_of(both, index, rt), dict[int, float]()
        salience = entity_salience(tied, seeds, len(index.catalogue.chunks)).tolist()
        for seed, says in zip(seeds, salience, strict=True):
            for place in tied.titled(seed).tolist():
                wanted[place] = says / len(tied.titled(seed))
        wanted = {place: mass / sum(wanted.values()) for place, mass in wanted.items()}
        assert dict(zip(start.positions.tolist(), start.scores, strict=True)) == pytest.approx(wanted)
        assert [len(tied.titled(seed)) for seed in seeds] == [1, 2, 0]
        moved = rank_by_walk(both, nothing, index, rt, Walk(0.0, 0.0, 1.0, damping=1.0, steps=1))
        begin = {len(index.catalogue.chunks) + seed: 1 / len(tied.mentioning(seed)) for seed in seeds}
        reached = dict[int, float]()
        for source, target, share in zip(tied.walk.source, tied.walk.target, tied.walk.share, strict=True):
            if target < len(index.catalogue.chunks):
                brought = begin.get(int(source), 0.0) / sum(begin.values()) * share
                reached[int(target)] = reached.get(int(target), 0.0) + brought
        assert dict(zip(moved.positions.tolist(), moved.scores, strict=True)) == pytest.approx(
            {place: mass for place, mass in reached.items() if mass}
        )
        assert len(set(begin.values())) > 1
        assert chunks == ["reeve"]
        assert index.catalogue.chunks[int(found.positions[0])].document == "reeve"


@pytest.mark.parametrize("budget", [150, 300, 500])
def test_evidence_fills_its_budget_and_counts_what_that_leaves_out(harbour: Corpus, budget: int) -> None:
    index = harbour.index()
    found = rank_by_words(QUESTION, index, 100)
    whole, few = evidence_of(found, index, 100, 8_000), evidence_of(found, index, 100, budget)
    following = whole.passages[len(few.passages)]
    assert 0 < few.tokens <= budget < few.tokens + count_tokens(following.text)
    assert few.passages == whole.passages[: len(few.passages)]
    assert few.omitted == len(whole.passages) - len(few.passages) > 0
    assert few.documents == whole.documents


def test_a_walk_begins_at_names_that_are_half_as_near_as_can_be(harbour: Corpus) -> None:
    index, rt, asked = harbour.index(), harbour.runtime(), Question("the council of harbours")
    assert names(index, seeds_of(asked, index, rt)) == ["Harbour Council", "Harbour Council of Port Ellery"]
    assert seeds_of(asked, index, rt, 1.5) == []
    nothing = Ranking("none", np.zeros(0, np.int64), np.zeros(0))
    assert len(rank_by_walk(asked, nothing, index, rt, Walk())) > 1
    assert len(rank_by_walk(asked, nothing, index, rt, Walk(), 1.5)) == 0


def test_a_name_that_is_exactly_as_near_as_it_must_be_is_meant(harbour: Corpus) -> None:
    index, rt, asked = harbour.index(), harbour.runtime(), Question("the council of harbours")
    _, cosines = nearest_to(asked_vector(asked, rt), index, rt, 3, "entity")
    assert cosines[0] > cosines[1] > cosines[2]
    assert len(seeds_of(asked, index, rt, float(cosines[1]))) == 2


def test_chunks_that_are_not_among_the_nearest_are_as_near_as_the_last_of_them(
    harbour: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, rt = harbour.index(), harbour.runtime()
    whole = nearness_of(QUESTION, index, rt, "vectors")
    monkeypatch.setattr(arms, "_NEAR", 3)
    near = np.sort(whole)[::-1][:3]
    wanted = np.clip((whole - near[2]) / (near[0] - near[2]), 0, 1)
    assert nearness_of(QUESTION, index, rt, "vectors") == pytest.approx(wanted, abs=1e-5)


def test_nearness_goes_from_0_for_the_farthest_to_1_for_the_nearest(harbour: Corpus) -> None:
    index, rt = harbour.index(), harbour.runtime()
    words = nearness_of(QUESTION, index, rt, "words")
    scores = index.scores_of_words(QUESTION.sought)
    assert words == pytest.approx((scores - scores.min()) / (scores.max() - scores.min()))
    vectors = nearness_of(QUESTION, index, rt, "vectors")
    cosine = np.asarray(index.vectors) @ np.asarray(rt.embedder.embed([QUESTION.sought], "query")[0])
    assert vectors == pytest.approx((cosine - cosine.min()) / (cosine.max() - cosine.min()), abs=1e-5)
    assert (vectors.min(), vectors.max()) == (0.0, 1.0)
    assert nearness_of(QUESTION, index, rt, "auto").tolist() == words.tolist()  # these vectors see words only


def test_scores_are_scaled_and_equal_ones_are_nothing() -> None:
    assert scale_scores(np.array([1.0, 3.0, 2.0])).tolist() == [0.0, 1.0, 0.5]
    assert scale_scores(np.array([2.0, 2.0])).tolist() == [0.0, 0.0]
    assert scale_scores(np.zeros(0)).tolist() == []


def test_a_walk_gives_each_start_its_share(harbour: Corpus) -> None:
    """Without a step it is where it began: at titles, texts and names, of which a missing one is left to the others."""
    index, rt = harbour.index(), harbour.runtime()
    asked, chunks = Question("Which wood does Ivo Marsh own?"), len(index.catalogue.chunks)
    words = rank_by_words(asked, index, 3)
    start = rank_by_walk(asked, words, index, rt, Walk(0.6, 0.3, 0.1, damping=0.0))
    prior = np.zeros(chunks)
    prior[words.positions] = words.scores / words.scores.sum() * 0.3 / 0.4  # no document bears his name as its title
    found = np.zeros(chunks)
    found[start.positions] = start.scores
    assert found == pytest.approx(prior, abs=1e-9)
    assert start.name == "prior"
    assert Walk() == Walk(0.6, 0.3, 0.1, 0.7, 10)
    usual = rank_by_walk(asked, words, index, rt, Walk())
    same = rank_by_walk(asked, words, index, rt, Walk(0.6, 0.3, 0.1, 0.7, 10))
    assert usual.scores.tolist() == same.scores.tolist()


def test_seeds_are_names_before_nouns_and_those_of_the_conversation_where_the_question_has_none(
    harbour: Corpus,
) -> None:
    index, rt = harbour.index(), harbour.runtime()
    assert names(index, seeds_of(Question("Did Tom Reeve like the pier?"), index, rt)) == ["Tom Reeve"]
    assert names(index, seeds_of(Question("What of the pier and the storm?"), index, rt)) == ["pier", "storm"]
    before = (Turn("Who is Nora Blythe?", "She runs the yard."),)
    assert names(index, seeds_of(Question("and what did she buy?", before), index, rt)) == ["Nora Blythe"]
    assert names(index, seeds_of(Question("and Tom Reeve?", before), index, rt)) == ["Tom Reeve"]


def test_five_entities_are_meant_at_most_and_a_ranking_by_text_is_one_of_both(harbour: Corpus) -> None:
    index, rt, asked = harbour.index(), harbour.runtime(), Question("the council of harbours")
    assert len(seeds_of(asked, index, rt, -1.0)) == 5
    for how, wanted in (("vectors", "vector"), ("words", "bm25"), ("auto", "bm25")):
        found = by_text(QUESTION, index, rt, how, 3)  # type: ignore[arg-type]
        assert (found.name, len(found)) == (wanted, 3)
    assert (arms._NEAR, arms._WALKED, arms.POOL) == (1000, 200, 100)


def test_arms_keep_only_what_speaks_for_a_chunk_best_first(harbour: Corpus) -> None:
    index, rt = harbour.index(), harbour.runtime()
    cosine = np.asarray(index.vectors) @ np.asarray(rt.embedder.embed([QUESTION.sought], "query")[0])
    by_vectors = rank_by_vectors(QUESTION, index, rt, 100)
    assert by_vectors.name == "vector"
    assert by_vectors.positions.tolist() == [p for p in np.argsort(-cosine, kind="stable").tolist() if cosine[p] > 0]
    assert rank_by_vectors(QUESTION, index, rt, 2).positions.tolist() == by_vectors.positions[:2].tolist()
    assert len(rank_by_vectors(Question("Zyzzyva"), index, rt, 100)) < len(cosine)
    assert rank_by_words(QUESTION, index, 2).name == "bm25"


def test_evidence_has_the_first_chunks_with_their_scores_and_the_documents_of_all(harbour: Corpus) -> None:
    index = harbour.index()
    found = rank_by_words(QUESTION, index, 100)
    few = evidence_of(found, index, 2, 8_000, ["a note"])
    entries = [index.catalogue.chunks[p] for p in found.positions.tolist()]
    assert [(p.id, p.score) for p in few.passages] == [
        (e.id, s) for e, s in zip(entries[:2], found.scores, strict=False)
    ]
    assert few.documents == tuple(dict.fromkeys(e.document for e in entries))
    assert (few.tokens, few.omitted) == (sum(e.tokens for e in entries[:2]), len(entries) - 2)
    assert few.notes == ("a note",)
