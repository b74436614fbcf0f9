"""What is read around entities and relations, by position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.corpus.corpus import Corpus
from sensegraph.index.graph.lookups import ties_of
from sensegraph.language.text import count_tokens
from sensegraph.retrieval import assembling as a
from sensegraph.types import Passage, Question

GROUPS = st.lists(st.lists(st.integers(0, 12), unique=True), max_size=8)


@given(GROUPS, st.sets(st.integers(0, 12)))
def test_every_chunk_goes_to_the_first_group_that_names_it(groups: list[list[int]], taken: set[int]) -> None:
    dealt = a.deal_chunks(groups, taken)
    assert sorted(a.flatten_groups(dealt)) == sorted({c for g in groups for c in g} - taken)
    for i, group in enumerate(dealt):
        assert all(chunk in groups[i] and not any(chunk in g for g in groups[:i]) for chunk in group)
        count = Counter(c for g in groups for c in g)
        assert [count[c] for c in group] == sorted((count[c] for c in group), reverse=True)


@given(GROUPS, st.integers(1, 6))
def test_shares_fall_from_first_to_last_and_leftovers_are_used(groups: list[list[int]], most: int) -> None:
    groups = a.deal_chunks(groups)
    got = a.shared_out(groups, most)
    assert len(set(got)) == len(got)
    steps = np.linspace(most, 1, len(groups)) if len(groups) > 1 else [most] * len(groups)
    quotas = [round(float(x)) for x in steps]
    assert len(got) == min(sum(quotas), sum(map(len, groups)))
    for group, quota in zip(groups, quotas, strict=True):
        assert set(group[:quota]) <= set(got)


@given(st.lists(st.lists(st.integers(0, 20)), max_size=4))
def test_lists_are_read_in_turn_and_nothing_twice(lists: list[list[int]]) -> None:
    got = a.interleave_lists(lists)
    rounds = [one[i] for i in range(max(map(len, lists), default=0)) for one in lists if i < len(one)]
    assert got == [x for i, x in enumerate(rounds) if x not in rounds[:i]]


def test_the_ends_of_relations_are_those_of_the_records(built: Corpus) -> None:
    index = built.index()
    ids = [e.id for e in index.graph.entities]
    joins = a.ends_of(index, built.runtime())
    assert len(joins.one) > 3
    assert [(ids[x], ids[y]) for x, y in zip(joins.one, joins.other, strict=True)] == [
        tuple(sorted((r.source, r.target))) for r in index.graph.relations
    ]


def test_a_relation_of_a_thing_with_itself_keeps_its_end() -> None:
    twice, itself = np.zeros(2, np.int32), np.array([0, 2])
    found: Any = SimpleNamespace(start=itself, neighbours=twice, relations=twice)
    joins = a.relation_ends.fn([found])[0]
    assert (joins.one.tolist(), joins.other.tolist()) == ([0], [0])


def test_links_come_by_the_degrees_of_their_ends_then_by_weight(built: Corpus) -> None:
    index, rt = built.index(), built.runtime()
    joins, tied = a.ends_of(index, rt), ties_of(index, rt)
    entities = [0, 3, 5]
    degree = {e.id: e.degree for e in index.graph.entities}
    ids = [e.id for e in index.graph.entities]
    mine = {ids[e] for e in entities}
    expected = sorted(
        (i for i, r in enumerate(index.graph.relations) if {r.source, r.target} & mine),
        key=lambda i: (
            -degree[index.graph.relations[i].source] - degree[index.graph.relations[i].target],
            -index.graph.relations[i].weight,
            i,
        ),
    )
    assert a.ranked_links(a.links_of(entities, index), index, joins, tied.weight) == expected
    assert expected


def test_ends_come_as_they_are_first_met(built: Corpus) -> None:
    joins = a.ends_of(built.index(), built.runtime())
    pairs = [(int(joins.one[r]), int(joins.other[r])) for r in (4, 1, 7)]
    assert a.ends_in_order([4, 1, 7], joins) == list(dict.fromkeys(e for pair in pairs for e in pair))
    assert a.ends_in_order([], joins) == []


def test_chunks_that_neighbours_share_come_first(built: Corpus) -> None:
    index, rt = built.index(), built.runtime()
    tied = ties_of(index, rt)
    (group,) = a.near_neighbours([0], index, tied, 200)
    beside = set(index.lookups.around(0)[0].tolist())
    shared = [sum(chunk in tied.mentioning(e) for e in beside) for chunk in group]
    assert shared == sorted(shared, reverse=True)
    assert sorted(group) == tied.mentioning(0).tolist()


@pytest.mark.parametrize("most", [1, 2, 200])
def test_every_entity_has_the_first_of_its_chunks_that_none_before_it_has(built: Corpus, most: int) -> None:
    index, rt = built.index(), built.runtime()
    tied, around = ties_of(index, rt), index.lookups.around
    entities, taken, wanted = [0, 3, 1, 0, 5], set[int](), list[list[int]]()
    for entity in entities:
        mine = [c for c in tied.mentioning(entity).tolist()[:most] if c not in taken]
        taken |= set(mine)
        beside = set(around(entity)[0].tolist())
        shared = {c: sum(c in tied.mentioning(other).tolist() for other in beside) for c in mine}
        wanted.append(sorted(mine, key=lambda c, shared=shared: (-shared[c], c)))  # type: ignore[misc]
    assert a.near_neighbours(entities, index, tied, most) == wanted
    assert wanted[0]
    assert wanted[3] == []


@pytest.mark.parametrize(
    ("sizes", "most", "taken"),
    [
        ([6], 4, [4]), ([6, 6], 4, [4, 1]), ([6, 6, 6], 5, [5, 3, 1]), ([6, 6], 1, [1, 1]), ([], 4, []),
        ([1, 6], 4, [1, 4]), ([6, 0], 4, [5, 0]), ([2, 1, 9], 5, [2, 1, 6]), ([1, 1], 9, [1, 1]),
    ],
)  # fmt: skip
def test_shares_fall_to_one_and_what_one_lacks_others_have(sizes: list[int], most: int, taken: list[int]) -> None:
    groups = [[10 * i + n for n in range(size)] for i, size in enumerate(sizes)]
    found = a.shared_out(groups, most)
    assert [sum(c // 10 == i for c in found) for i in range(len(sizes))] == taken
    for i, count in enumerate(taken):
        assert [c for c in found if c // 10 == i] == groups[i][:count]


def test_passages_have_the_scores_that_are_given_and_united_each_is_there_once(built: Corpus) -> None:
    index = built.index()
    joins = a.relation_ends.fn([index.lookups])[0]
    kinds = (
        a.entities_within([2, 0], {2: 0.7}, index, 10**9),
        a.relations_within([2, 0], {2: 0.7}, index, joins, 10**9),
        a.chunks_within([2, 0], {2: 0.7}, index, 10**9),
    )
    for told in kinds:
        assert [p.score for p in told.passages] == [0.7, 0.0]
    one, other = a.entities_within([2, 0], {}, index, 10**9), a.entities_within([0, 1], {}, index, 10**9)
    both = a.unite_passages([one, other, a.Told()])
    assert [p.id for p in both.passages] == [p.id for p in (*one.passages, other.passages[1])]
    assert both.tokens == a.entities_within([2, 0, 1], {}, index, 10**9).tokens > one.tokens
    assert (a.Told(), len(a.Told()), len(both)) == (a.Told((), 0), 0, 3)


def test_nothing_is_near_to_no_query_and_nothing_at_or_below_the_floor_is(built: Corpus) -> None:
    index, rt = built.index(), built.runtime()
    query = np.asarray(rt.embedder.embed(["Ada Harrow"], "query"), np.float32)
    assert a.nearest_records("entity", query[:0], index, rt, 5, 0.0) == {}
    near = a.nearest_records("entity", query, index, rt, 500, 0.2345)
    cosine = index.vectors_of(rt.embedder, "entity") @ query[0]
    assert sorted(near) == np.flatnonzero(cosine > 0.2345).tolist()
    assert list(near.values()) == sorted(near.values(), reverse=True)


def test_several_queries_are_fused_by_rank(built: Corpus) -> None:
    index, rt = built.index(), built.runtime()
    queries = np.asarray(rt.embedder.embed(["Ada Harrow", "Bram Harrow"], "query"), np.float32)
    single = [list(a.nearest_records("entity", q[None, :], index, rt, 10, 0.0)) for q in queries]
    both = a.nearest_records("entity", queries, index, rt, 10, 0.0)
    score = Counter[int]()
    for ranking in single:
        for rank, place in enumerate(ranking, 1):
            score[place] += 1 / (60 + rank)  # type: ignore[assignment]
    assert len(both) > 1
    assert list(both) == sorted(score, key=lambda p: (-score[p], p))[:10]


@pytest.mark.parametrize("ranking", ["vectors", "words"])
def test_chunks_are_near_by_vectors_or_by_words(built: Corpus, ranking: Any) -> None:
    index, rt = built.index(), built.runtime()
    question = Question("Whom did Ada Harrow pay?")
    vector = np.asarray(rt.embedder.embed([question.sought], "query"), np.float32)[0]
    near = a.Nearness(question, vector, index, rt, ranking)
    wanted = index.vectors @ vector if ranking == "vectors" else index.scores_of_words(question.sought)
    assert near.of([2, 0]) == pytest.approx([wanted[2], wanted[0]], abs=1e-6)
    assert list(near.top(3)) == np.argsort(-wanted, kind="stable")[:3].tolist()


def titled(passage: Passage) -> str:
    """The title that is shown with a passage: not that of a chunk, which is its document's."""
    return "" if passage.kind == "chunk" else passage.title


@pytest.mark.parametrize("share", [0.0, 0.1, 0.35, 0.7, 0.999, 1.0])
def test_passages_fill_a_budget_and_end_before_the_first_that_does_not_fit(built: Corpus, share: float) -> None:
    index = built.index()
    joins = a.relation_ends.fn([index.lookups])[0]
    of: dict[str, Callable[[list[int], float], a.Told]] = {
        "entities": lambda places, budget: a.entities_within(places, {}, index, budget),
        "relations": lambda places, budget: a.relations_within(places, {}, index, joins, budget),
        "chunks": lambda places, budget: a.chunks_within(places, {}, index, budget),
    }
    for kind, within in of.items():
        everything = within(list(range(12)), 10**9)
        assert len(everything) == 12, kind
        budget = int(share * everything.tokens)
        some = within(list(range(12)), budget)
        assert some.passages == everything.passages[: len(some)]
        assert some.tokens == sum(count_tokens(p.text) + count_tokens(titled(p)) for p in some.passages) <= budget
        one_more = within(list(range(min(len(some) + 1, 12))), 10**9)
        assert one_more == some if share == 1 else one_more.tokens > budget


def test_what_is_near_is_above_the_floor_and_ranked_by_all_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two queries: 7 is the second of both, and so before the first of either; each has its best cosine."""
    found = [([3, 7, 5, 9], [0.9, 0.8, 0.5, 0.2]), ([5, 7, 3], [0.75, 0.7, 0.5])]
    ranked = [(np.array(places), np.array(scores)) for places, scores in found]
    monkeypatch.setattr(a, "nearest_to_each", lambda queries, index, rt, top, kind: ranked[: len(queries)])
    near: Any = a.nearest_records
    assert list(near("chunk", np.ones((1, 2)), None, None, 9, 0.5).items()) == [(3, 0.9), (7, 0.8)]
    assert list(near("chunk", np.ones((1, 2)), None, None, 9, 0.49).items()) == [(3, 0.9), (7, 0.8), (5, 0.5)]
    assert list(near("chunk", np.ones((2, 2)), None, None, 9, 0.6).items()) == [(7, 0.8), (3, 0.9), (5, 0.75)]
    assert list(near("chunk", np.ones((2, 2)), None, None, 2, 0.6).items()) == [(7, 0.8), (3, 0.9)]
    assert near("chunk", np.ones((0, 2)), None, None, 9, 0.0) == {}
