"""How names, contexts and sentences are compared: by hand, by loops, and beside networkx.

The classical examples of other measures do not bear on ours: no Jaro-Winkler stands anywhere (MARTHA and MARHTA have
fewer letters than a word in which a slip is looked for). Ours are slips (optimal string alignment), idf-weighted
overlaps with a logistic score, and a Jaccard coefficient of neighbours.
"""

from __future__ import annotations

import math
from collections import Counter
from random import Random
from types import MappingProxyType

import networkx as nx
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import cosine_similarity

from sensegraph.engines.offline.reports.sentence_choice import Candidate, choose_sentences, is_repeat
from sensegraph.resolution.comparison.aligned import Lexis, align_names, compare_words, stem_word
from sensegraph.resolution.comparison.name_reading import read_name
from sensegraph.resolution.comparison.scoring import prepare_collection
from sensegraph.resolution.resolution_types import Mentioned, Resolving

few = settings(max_examples=60)


def slips(one: str, other: str) -> int:
    """Optimal string alignment as its recurrence says: insert, delete, replace, exchange neighbours."""
    far = {(i, j): i + j for i in range(len(one) + 1) for j in range(len(other) + 1) if not i * j}
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            ways = [far[i - 1, j] + 1, far[i, j - 1] + 1, far[i - 1, j - 1] + (one[i - 1] != other[j - 1])]
            if i > 1 and j > 1 and (one[i - 1], one[i - 2]) == (other[j - 2], other[j - 1]):
                ways.append(far[i - 2, j - 2] + 1)
            far[i, j] = min(ways)
    return far[len(one), len(other)]


def test_slips_of_the_classical_examples() -> None:
    assert (slips("kitten", "sitting"), slips("ca", "abc"), slips("martha", "marhta")) == (3, 3, 1)


@pytest.mark.parametrize(
    ("one", "other", "quality"),
    [
        ("kortana", "kotrana", 0.85),  # seven letters, neighbours exchanged
        ("kortana", "kortona", 0.85),
        ("kortana", "katrona", 0.0),  # two slips need eleven letters
        ("kortanaveldo", "kotranaveldi", 0.85),
        ("kortanaveldo", "katranaveldi", 0.0),
        ("martha", "marhta", 0.0),  # six letters
        ("harbour", "harbours", 0.95),
        ("sx4100b", "sx4100w", 0.8),
    ],
)
def test_words_stand_for_each_other_by_slips(one: str, other: str, quality: float) -> None:
    assert compare_words(one, other) == compare_words(other, one) == quality


@few
@given(st.text("abkorz", min_size=7, max_size=12), st.integers(0, 10**6))
def test_a_slip_is_told_by_the_recurrence(word: str, seed: int) -> None:
    random, other = Random(seed), list(word)
    for _ in range(random.randint(1, 3)):
        i = random.randrange(1, len(other) - 1)
        other[i : i + 2] = random.choice([[other[i + 1], other[i]], [other[i]], [other[i], "e", other[i + 1]]])
    changed = "".join(other)
    short, long = sorted((word, changed), key=len)
    assume(stem_word(word) != stem_word(changed) and not long.startswith(short) and len(short) >= 7)
    assert compare_words(word, changed) == (0.85 if slips(word, changed) <= 1 + (len(short) >= 11) else 0.0)


# ── names ──

LEXIS = Lexis(2000, MappingProxyType({"oslo": 4, "river": 40, "bank": 100, "north": 7, "credit": 12, "south": 5}))


def weight(word: str) -> float:
    """idf: ln(1 + N / df)."""
    return math.log(1 + 2000 / LEXIS.frequency[word])


def test_the_weight_of_a_word_is_its_idf_in_a_thousand_names_at_least() -> None:
    assert LEXIS.weight("oslo") == pytest.approx(weight("oslo"))
    assert Lexis(10, MappingProxyType({"oslo": 4})).weight("oslo") == pytest.approx(math.log(1 + 1000 / 4))
    assert LEXIS.weight("the") == LEXIS.weight("b") == 0.5


@few
@given(*(st.lists(st.sampled_from(sorted(LEXIS.frequency)), min_size=1, max_size=5, unique=True) for _ in range(2)))
def test_what_names_share_is_the_weighted_jaccard_coefficient(one: list[str], other: list[str]) -> None:
    """Of words without forms in common: Σ idf of those shared by Σ idf of all; contained: by the lesser side."""
    found = align_names(read_name(" ".join(one)), read_name(" ".join(other)), LEXIS)
    shared = sum(weight(w) for w in set(one) & set(other))
    alone = [sum(weight(w) for w in set(a) - set(b)) for a, b in ((one, other), (other, one))]
    assert found.weight == pytest.approx(shared)
    assert found.jaccard == pytest.approx(shared / (shared + sum(alone)))
    assert found.contained == pytest.approx(shared / (shared + min(alone)) if shared + min(alone) else 0.0)


@few
@given(st.integers(0, 10**6), st.integers(4, 14), st.floats(0.1, 0.7))
def test_contexts_are_shared_by_the_resource_allocation_of_networkx(seed: int, n: int, density: float) -> None:
    """Neighbours in common weigh 1 / degree: networkx's index of two nodes, by the same of all their neighbours."""
    known = nx.gnp_random_graph(n, density, seed=seed)
    items = [Mentioned(f"{v:02}", f"Name {v}", neighbours=tuple(f"{u:02}" for u in known[v])) for v in known]
    collection = prepare_collection(items, Resolving())
    assert len(items) > 1
    for a, b, index in nx.resource_allocation_index(known, [(a, b) for a in known for b in known if a < b]):
        every = sum(1 / known.degree(u) for u in {*known[a], *known[b]})
        jaccard = index / every if every else 0.0
        if math.isclose(jaccard, 0.1):  # rounding decides
            continue
        if known.has_edge(a, b) or jaccard >= 0.1:
            wanted = "shared"
        elif not {*known[a]} & {*known[b]} and min(known.degree(a), known.degree(b)) >= 5:
            wanted = "strange"
        else:
            wanted = "none" if known.degree(a) and known.degree(b) else "unknown"
        assert collection.context(a, b) == collection.context(b, a) == wanted


# ── sentences ──

STEMS = [*"abcdefgh"]


@few
@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from(STEMS), min_size=1, max_size=6), st.sampled_from([1.0, 0.5, 2.0])),
        min_size=1,
        max_size=7,
    ),
    st.integers(1, 4),
)
def test_chosen_sentences_are_those_of_a_plain_greedy_search(rows: list[tuple[list[str], float]], count: int) -> None:
    """gain = Σ w · 0.4^covered / (√words + 2) · worth · (1 − max(0, cosine − ½)), each time for all that are left."""
    weights = {stem: 1 + place for place, stem in enumerate(STEMS)}
    table = [[weights[stem] * (stem in terms) for stem in STEMS] for terms, _ in rows]
    alike = cosine_similarity(table)
    left, chosen, covered = list(range(len(rows))), list[int](), Counter[str]()

    def gain(i: int) -> float:
        terms, worth = rows[i]
        total = sum(weights[t] * 0.4 ** covered[t] for t in set(terms))
        nearest = max((alike[i, j] for j in chosen), default=0.0)
        return total / (math.sqrt(len(terms)) + 2) * worth * (1 - max(0.0, nearest - 0.5))

    while left and len(chosen) < count:
        best = max(left, key=lambda i: (round(gain(i), 12), -i))
        left.remove(best)
        if not any(is_repeat(rows[best][0], rows[j][0]) for j in chosen):
            chosen.append(best)
            covered.update(set(rows[best][0]))
    found = choose_sentences([Candidate(tuple(terms), len(terms), worth) for terms, worth in rows], weights, count)
    assert found == chosen
