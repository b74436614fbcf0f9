"""The search on a budget of tests (lazygraphrag §3, §7, §8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from statistics import mean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.algorithms.deepening import Pace, Terrain, group_by_community, rank_communities, search_on_budget


def terrain(
    held: Sequence[Sequence[int]],
    homes: Sequence[Sequence[int]],
    parent: Sequence[int],
    document: Sequence[int] | None = None,
    same: Sequence[int] | None = None,
) -> Terrain:
    """A terrain of plain lists: concepts of each chunk, communities of each concept, and so on."""
    count = len(held)
    return Terrain(
        start=np.concatenate(([0], np.cumsum([len(h) for h in held]))).astype(np.int64),
        held=np.array([c for h in held for c in h], np.int64),
        homes=np.array(homes, np.int64).reshape(len(homes), len(homes[0]) if len(homes) else 1),
        parent=np.array(parent, np.int64),
        document=np.array(document if document is not None else range(count)),
        same=np.array(same if same is not None else range(count)),
    )


def two_depths(chunks: int, wide: int = 8) -> Terrain:
    """`wide` communities at depth 0 of two children each; a concept a child, a chunk a concept, in turn."""
    parent = [-1] * wide + [i // 2 for i in range(2 * wide)]
    homes = [(i // 2, wide + i) for i in range(2 * wide)]
    return terrain([[i % (2 * wide)] for i in range(chunks)], homes, parent)


def rough(seed: int) -> tuple[Terrain, np.ndarray, Random]:
    """A random terrain with documents, duplicates and chunks without concepts, and a random order."""
    random = Random(seed)
    wide, concepts, chunks = random.randint(1, 5), random.randint(1, 12), random.randint(1, 60)
    top = [random.randrange(wide) for _ in range(concepts)]
    low = [wide + 2 * t + random.randrange(2) if random.random() < 0.8 else t for t in top]
    parent = [-1] * wide + [i // 2 for i in range(2 * wide)]
    held = [sorted(random.sample(range(concepts), random.randint(0, min(3, concepts)))) for _ in range(chunks)]
    document = sorted(random.randrange(10) for _ in range(chunks))
    same = [random.randrange(i + 1) if random.random() < 0.1 else i for i in range(chunks)]
    same = [i if same[s] != s else s for i, s in enumerate(same)]
    order = np.array(random.sample(range(chunks), chunks))
    return terrain(held, list(zip(top, low, strict=True)), parent, document, same), order, random


def oracle(relevant: set[int]) -> Callable[[list[int]], list[bool]]:
    return lambda chunks: [c in relevant for c in chunks]


paces = st.builds(
    Pace, st.integers(1, 70), st.integers(1, 6), st.integers(1, 6), st.integers(1, 6), st.integers(1, 6),
    st.integers(0, 2),
)  # fmt: skip


@given(st.integers(0, 10**6), paces, st.floats(0, 1))
def test_the_budget_is_never_exceeded_and_nothing_is_tested_twice(seed: int, pace: Pace, rate: float) -> None:
    ground, order, random = rough(seed)
    asked: list[int] = []

    def test(chunks: list[int]) -> list[bool]:
        asked.extend(chunks)
        assert len(chunks) <= pace.batch
        return [random.random() < rate for _ in chunks]

    verdicts = search_on_budget(ground, order, pace, test)
    assert [chunk for chunk, _ in verdicts] == asked
    assert len(asked) <= pace.budget
    assert len(set(asked)) == len(asked)
    assert all(ground.same[c] == c for c in asked)


@given(st.integers(0, 10**6), paces)
def test_the_order_of_the_tests_is_determined(seed: int, pace: Pace) -> None:
    ground, order, random = rough(seed)
    relevant = {c for c in range(len(order)) if random.random() < 0.3}
    assert search_on_budget(ground, order, pace, oracle(relevant)) == search_on_budget(
        ground, order, pace, oracle(relevant)
    )


@given(st.integers(0, 10**6))
def test_an_oracle_finds_everything_when_the_budget_holds_every_chunk(seed: int) -> None:
    ground, order, random = rough(seed)
    relevant = {int(c) for c in np.unique(ground.same) if random.random() < 0.3}
    verdicts = dict(search_on_budget(ground, order, Pace(budget=len(order)), oracle(relevant)))
    assert {c for c, verdict in verdicts.items() if verdict} == relevant
    assert sorted(verdicts) == np.unique(ground.same).tolist()


def test_recall_rises_with_the_budget_on_average() -> None:
    found: dict[int, list[float]] = {10: [], 30: [], 80: [], 200: []}
    for seed in range(30):
        random = Random(seed)
        ground = two_depths(240)
        topic = random.randrange(16)
        relevant = {c for c in range(240) if c % 16 == topic or random.random() < 0.03}
        order = np.array(sorted(range(240), key=lambda c: random.random() - 0.5 * (c in relevant)))
        for budget, recalls in found.items():
            verdicts = search_on_budget(ground, order, Pace(budget=budget), oracle(relevant))
            recalls.append(sum(v for _, v in verdicts) / len(relevant))
    means = [mean(recalls) for recalls in found.values()]
    assert means == sorted(means)
    assert means[-1] > means[0] + 0.2


def test_all_no_visits_exactly_z_communities_of_each_depth_and_stops() -> None:
    ground = two_depths(320)
    batches: list[list[int]] = []

    def test(chunks: list[int]) -> list[bool]:
        batches.append(chunks)
        return [False] * len(chunks)

    search_on_budget(ground, np.arange(320), Pace(budget=300), test)
    top = [{c % 16 // 2 for c in batch} for batch in batches]
    low = [{c % 16 for c in batch} for batch in batches]
    assert len(batches) == 1 + 5 + 5  # the whole corpus, then z = 5 at each of the two depths
    assert len(set.union(*top[1:6])) == 5
    assert all(len(communities) == 1 for communities in (*top[1:6], *low[6:]))
    assert len(set.union(*low[6:])) == 5
    # what was eliminated at depth 0 has no child that is tested at depth 1
    assert set.union(*top[1:6]).isdisjoint(set.union(*top[6:]))


def test_children_of_an_eliminated_community_are_never_tested() -> None:
    ground = two_depths(320)
    relevant = {c for c in range(320) if c % 16 in (0, 1)}  # all in community 0
    tested = [c for c, _ in search_on_budget(ground, np.arange(320), Pace(budget=150, neighbours=0), oracle(relevant))]
    assert len(set(tested) & relevant) > 30
    for community in range(1, 8):
        mine = [c for c in tested if c % 16 // 2 == community]
        assert len(mine) <= 5 + 5  # of the whole corpus five at most, and one visit


def test_a_success_leads_deeper_into_its_community() -> None:
    ground = two_depths(320)
    relevant = {c for c in range(320) if c % 16 == 6}
    verdicts = search_on_budget(ground, np.arange(320), Pace(budget=120, neighbours=0), oracle(relevant))
    assert sum(v for _, v in verdicts) == len(relevant) == 20


def test_a_batch_without_success_ends_the_visit() -> None:
    ground = terrain([[0]] * 40, [(0,)], [-1])
    batches: list[int] = []

    def test(chunks: list[int]) -> list[bool]:
        batches.append(len(chunks))
        return [min(chunks) < 4] * len(chunks)

    search_on_budget(ground, np.arange(40), Pace(budget=39, tests=10, batch=4, neighbours=0), test)
    assert batches[:3] == [4, 4, 4]  # success and failure in the whole corpus; failure in the community
    assert len(batches) == 3


def test_one_community_degenerates_to_rank_order() -> None:
    order = np.array(Random(3).sample(range(30), 30))
    ground = terrain([[0]] * 30, [(0,)], [-1])
    tested = [c for c, _ in search_on_budget(ground, order, Pace(budget=20, neighbours=0), oracle(set(range(30))))]
    assert len(tested) == 20
    assert tested == order[:20].tolist()


@pytest.mark.parametrize("budget", [1, 3])
def test_a_budget_below_t_tests_one_community_in_part(budget: int) -> None:
    tested = search_on_budget(two_depths(320), np.arange(320), Pace(budget=budget), oracle({0, 1}))
    assert [c for c, _ in tested] == list(range(budget))


def test_neighbours_are_of_the_same_document_and_within_the_budget() -> None:
    document = [i // 4 for i in range(100)]
    ground = terrain([[] for _ in range(100)], [], [], document)
    order = np.array([8, 50, *(c for c in range(100) if c not in (8, 50))])
    verdicts = search_on_budget(ground, order, Pace(budget=12, tests=2, batch=2, patience=1), oracle({8, 50}))
    tested = [c for c, _ in verdicts]
    assert {9, 49, 51} <= set(tested)  # 7 is of another document than 8
    assert tested[-3:] == [9, 49, 51]
    few = [c for c, _ in search_on_budget(ground, order, Pace(budget=3, tests=2, batch=2), oracle({8, 50}))]
    assert few == [8, 50, 9]


def test_chunks_of_equal_text_are_tested_once() -> None:
    ground = terrain([[0]] * 6, [(0,)], [-1], same=[0, 0, 2, 0, 2, 5])
    tested = [c for c, _ in search_on_budget(ground, np.array([3, 4, 5, 0, 1, 2]), Pace(budget=6), oracle({0}))]
    assert tested == [0, 2, 5]


def test_chunks_without_a_concept_can_always_be_found() -> None:
    held = [[0] if c < 20 else [] for c in range(120)]
    ground = terrain(held, [(0,)], [-1])
    far = 90  # none of the first visits reaches it
    seen: list[int] = []

    def test(chunks: list[int]) -> list[bool]:
        seen.extend(chunks)
        return [c % 20 == 0 or c == far for c in chunks]

    search_on_budget(ground, np.arange(120), Pace(budget=119, neighbours=0, tests=25, batch=25), test)
    assert far in seen


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(0, 1))
def test_a_layer_assigns_each_chunk_to_the_best_ranked_of_its_communities(seed: int, best: int, depth: int) -> None:
    ground, order, _ = rough(seed)
    rank = {int(c): i for i, c in enumerate(order)}
    homes = {c: _homes(ground, c, depth) for c in rank}
    mean_rank = {}
    for home in sorted(set().union(*homes.values())):
        ranks = sorted(rank[c] for c in rank if home in homes[c])[:best]
        mean_rank[home] = sum(ranks) / len(ranks)
    expected: dict[int, list[int]] = {}
    for chunk in order.tolist():
        expected.setdefault(min(homes[chunk], key=lambda h: (mean_rank[h], h)), []).append(chunk)
    by_rank = sorted(expected.items(), key=lambda item: (mean_rank[item[0]], item[0]))
    assert rank_communities(ground, order, depth, best) == by_rank


def _homes(ground: Terrain, chunk: int, depth: int) -> set[int]:
    held = ground.held[ground.start[chunk] : ground.start[chunk + 1]]
    return {int(ground.homes[c, depth]) for c in held} or {ground.rest}


@given(st.integers(0, 10**6))
def test_groups_partition_the_chunks_by_a_community_of_their_own(seed: int) -> None:
    ground, order, random = rough(seed)
    chunks = random.sample(order.tolist(), random.randint(1, len(order)))
    groups = group_by_community(ground, chunks)
    assert sorted(c for g in groups for c in g) == sorted(chunks)
    for group in groups:
        assert set.intersection(*(_homes(ground, c, 0) for c in group))
        assert [chunks.index(c) for c in group] == sorted(chunks.index(c) for c in group)
