"""Rankings whose chunks add to each other: by MMR, and by covering the question's words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensegraph.algorithms.diversity import rank_by_mmr
from sensegraph.algorithms.ranking import Ranking
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError
from sensegraph.index.restricted.scope import restrict_to_scope
from sensegraph.language.text import list_stems
from sensegraph.methods import load_method
from sensegraph.questions import Scope
from sensegraph.retrieval.arms import POOL, diversify_ranking
from sensegraph.types import Document, Question

METHODS = ("naive", "bm25", "hybrid", "walk")
QUESTION = Question("Which ferry carries salt, and who repaired the lighthouse?")
SALT = "The ferry carries salt to the island every week, salt in sacks and salt in barrels"


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """Five chunks that say nearly the same of the ferry, one of the lighthouse, and many of other things."""
    ferry = [Document(f"ferry-{i}", f"{SALT}, {word}.") for i, word in enumerate("again always still ever yet".split())]
    other = [Document(f"other-{i:03}", f"Letter {i} speaks of barrel {i} and of the island.") for i in range(120)]
    light = Document("light", "Masons from the mainland repaired the lighthouse, stone by stone, in that long summer.")
    offline = {"engine": "offline", "index": {"parts": ["graph", "names"]}}
    with Corpus.open(tmp_path_factory.mktemp("harbour"), settings=offline) as made:
        made.add([*ferry, light, *other])
        made.build()
        yield made


def ranking(corpus: Corpus, seed: int, size: int = 110) -> Ranking:
    """Chunks in a random order with falling scores."""
    random = np.random.default_rng(seed)
    chunks = len(corpus.index().catalogue.chunks)
    places = random.permutation(chunks)[: min(size, chunks)]
    return Ranking("any", places, np.sort(random.random(len(places)))[::-1])


@pytest.mark.parametrize("how", ["mmr", "cover"])
@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), size=st.integers(0, 126), balance=st.floats(0, 1))
def test_only_the_first_chunks_change_places_and_all_keep_their_scores(
    harbour: Corpus, how: str, seed: int, size: int, balance: float
) -> None:
    before, index, rt = ranking(harbour, seed, size), harbour.index(), harbour.runtime()
    after = diversify_ranking(QUESTION, before, index, rt, how, balance)  # type: ignore[arg-type]
    pairs = [list(zip(r.positions.tolist(), r.scores.tolist(), strict=True)) for r in (before, after)]
    assert sorted(pairs[0]) == sorted(pairs[1])
    assert pairs[0][POOL:] == pairs[1][POOL:]


@pytest.mark.parametrize("how", ["mmr", "cover"])
@pytest.mark.parametrize("seed", range(5))
def test_where_only_fitting_counts_the_order_stays(harbour: Corpus, how: str, seed: int) -> None:
    before = ranking(harbour, seed)
    after = diversify_ranking(QUESTION, before, harbour.index(), harbour.runtime(), how, 1.0)  # type: ignore[arg-type]
    assert after.positions.tolist() == before.positions.tolist()


def test_two_chunks_change_places_and_one_has_none_to_change_with(harbour: Corpus) -> None:
    index, rt = harbour.index(), harbour.runtime()
    documents = [e.document for e in index.catalogue.chunks]
    places = np.array([documents.index(name) for name in ("other-007", "light")])
    two = Ranking("any", places, np.array([2.0, 1.0]))
    after = diversify_ranking(QUESTION, two, index, rt, "cover", 0.0)
    assert (after.positions.tolist(), after.scores.tolist()) == (places[::-1].tolist(), [1.0, 2.0])
    one = Ranking("any", places[:1], np.array([2.0]))
    assert diversify_ranking(QUESTION, one, index, rt, "cover", 0.0) is one


def test_without_a_choice_nothing_happens(harbour: Corpus) -> None:
    before = ranking(harbour, 1)
    assert diversify_ranking(QUESTION, before, harbour.index(), harbour.runtime(), "none", 0.0) is before


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("how", ["mmr", "cover"])
def test_what_adds_something_comes_before_what_repeats(harbour: Corpus, method: str, how: str) -> None:
    plain = harbour.search(QUESTION.text, method=method, top=30).documents
    found = harbour.search(QUESTION.text, method=method, top=30, diversify=how, balance=0.2).documents
    assert found[0] == plain[0]
    assert found.index("light") <= 2
    assert found.index("light") <= plain.index("light")


def test_mmr_is_that_of_the_algorithm_over_the_chunks_vectors(harbour: Corpus) -> None:
    before, index, rt = ranking(harbour, 3, 40), harbour.index(), harbour.runtime()
    rows = np.asarray(index.vectors)[before.positions]
    fit = (before.scores - before.scores.min()) / (before.scores.max() - before.scores.min())
    order, _ = rank_by_mmr(fit, rows, 40, 0.3)
    after = diversify_ranking(QUESTION, before, index, rt, "mmr", 0.3)
    assert after.positions.tolist() == before.positions[order].tolist()


def test_covering_goes_on_to_the_words_that_are_not_covered_yet(harbour: Corpus) -> None:
    index, rt = harbour.index(), harbour.runtime()
    names = [e.document for e in index.catalogue.chunks]
    places = np.array([names.index(n) for n in ("ferry-0", "ferry-1", "other-007", "light")])
    before = Ranking("any", places, np.array([4.0, 3.9, 3.8, 3.7]))
    after = diversify_ranking(QUESTION, before, index, rt, "cover", 0.3)
    assert [names[p] for p in after.positions.tolist()] == ["ferry-0", "light", "ferry-1", "other-007"]


@pytest.mark.parametrize(("seed", "balance"), [(1, 0.1), (2, 0.3), (3, 0.5), (4, 0.7), (5, 0.9)])
def test_covering_takes_what_fits_best_and_adds_most_of_the_rare_words(
    harbour: Corpus, seed: int, balance: float
) -> None:
    """Each next chunk by hand: the share of fitting, and of the rarity of the words that none before it has."""
    index, before = harbour.index(), ranking(harbour, seed, 40)
    names = [e.document for e in index.catalogue.chunks]
    texts = {d.id: set(list_stems(d.text)) for d in harbour.documents()}
    rare = {w: index.words.idf(w) for w in set(list_stems(QUESTION.sought))}
    has = [{w for w in rare if w in texts[names[p]]} for p in before.positions.tolist()]
    whole = sum(rare[w] for w in set().union(*has))
    fit = (before.scores - before.scores[-1]) / (before.scores[0] - before.scores[-1])
    left, said, expected = list(range(40)), set[str](), list[int]()
    while left:
        gain = {i: balance * fit[i] + (1 - balance) * sum(rare[w] for w in has[i] - said) / whole for i in left}
        best = max(left, key=lambda i: (gain[i], -i))
        expected.append(best)
        left.remove(best)
        said |= has[best]
    after = diversify_ranking(QUESTION, before, index, harbour.runtime(), "cover", balance)
    assert after.positions.tolist() == before.positions[expected].tolist()
    assert after.scores.tolist() == before.scores[expected].tolist()
    assert after.name == before.name


@pytest.mark.parametrize("how", ["mmr", "cover"])
def test_a_filter_changes_no_order_among_what_is_inside(harbour: Corpus, how: str) -> None:
    index, rt = harbour.index(), harbour.runtime()
    inside = restrict_to_scope(index, Scope(documents=("ferry-*", "light", "other-00*")))
    names = [e.document for e in inside.catalogue.chunks]
    assert len(names) > 2
    all_names = [e.document for e in index.catalogue.chunks]
    scores = np.linspace(1, 0.5, len(names))
    some = diversify_ranking(QUESTION, Ranking("any", np.arange(len(names)), scores), inside, rt, how, 0.4)  # type: ignore[arg-type]
    places = np.array([all_names.index(n) for n in names])
    whole = diversify_ranking(QUESTION, Ranking("any", places, scores), index, rt, how, 0.4)  # type: ignore[arg-type]
    assert [names[p] for p in some.positions.tolist()] == [all_names[p] for p in whole.positions.tolist()]


@pytest.mark.parametrize("method", METHODS)
def test_a_balance_or_a_choice_that_makes_no_sense_is_refused(harbour: Corpus, method: str) -> None:
    with pytest.raises(SettingsError, match=rf"{method}: balance is 1\.5"):
        load_method(method, balance=1.5)
    with pytest.raises(SettingsError, match="diversify cannot be 'more'; choose none, mmr or cover"):
        harbour.search("Who?", method=method, diversify="more")


@pytest.mark.filterwarnings("error")
def test_chunks_with_equal_scores_fit_equally(harbour: Corpus):
    rt, index = harbour.runtime(), harbour.index()
    level = Ranking("any", ranking(harbour, 3).positions, np.full(110, 0.5))
    for how in ("mmr", "cover"):
        found = diversify_ranking(QUESTION, level, index, rt, how, 1.0)
        assert found.positions.tolist() == level.positions.tolist()  # nothing but fitting counts, and all fit alike
