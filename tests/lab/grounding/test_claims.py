"""What an answer claims, by rules (G35, G36), and how its claims cluster (G37, G38)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.lab.grounding.claims import count_linkage_clusters, extract_claims, split_answer
from sensegraph.lab.scores.standard import rouge_1, rouge_distances, rouge_l, split_words

TEXTS = st.lists(st.text(alphabet="ab c", max_size=8), max_size=7)


def count_clusters(texts: list[str], threshold: float, *, strict: bool = True) -> int:
    """The clusters of texts by 1 − ROUGE-L."""
    return count_linkage_clusters(rouge_distances(texts), threshold, strict=strict)


def test_subjects_that_share_a_verb_make_a_claim_each_and_a_trailing_comment_none() -> None:
    said = "Oslo and Bergen cut the price of solar panels, showing how much a city can do for its people."
    assert extract_claims(said) == ("Oslo cut the price of solar panels.", "Bergen cut the price of solar panels.")


def test_a_pronoun_takes_the_name_said_before_it() -> None:
    assert extract_claims("Marie Curie was born in Warsaw. She won two prizes.")[1] == "Marie Curie won two prizes."


def test_a_pronoun_that_nothing_was_said_before_is_no_claim() -> None:
    assert extract_claims("She won two prizes in 1911.") == ()


@pytest.mark.parametrize(
    "text",
    [
        "Oslo should cut prices.",
        "Perhaps Oslo cut prices in 2019.",
        "I think Oslo is large.",
        "Did Oslo cut prices in 2019?",
        "Privacy is important.",
        "A city of 400 thousand",
        "",
    ],
)
def test_advice_opinions_questions_generalities_and_fragments_are_no_claims(text: str) -> None:
    assert extract_claims(text) == ()


def test_a_claim_said_twice_counts_once_and_marks_do_not_matter() -> None:
    assert len(extract_claims("Oslo has 700,000 people [1].\n- **Oslo** has 700,000 people [2, 3].")) == 1


def test_a_row_of_a_table_is_one_sentence_and_the_head_of_its_columns_none() -> None:
    table = "| Town | People in 1911 |\n|---|---|\n| Oslo | Oslo has 700,000 people. [1] |\n| Moss | small [2] |"
    assert split_answer(table) == ["Oslo, Oslo has 700,000 people.", "Moss, small"]
    assert extract_claims("| Town | was in 1911 |\n|---|---|") == ()


def test_clauses_with_subjects_of_their_own_are_claims_of_their_own() -> None:
    assert len(extract_claims("The Lusitania sank in 1915, and Berlin denied this; London protested.")) == 3


def test_a_text_without_latin_letters_is_read_too() -> None:
    assert len(extract_claims("2019年苹果公司收购了英特尔的业务。公司很好。")) == 1


def test_words_are_those_of_any_script() -> None:
    assert split_words("Zürich's 2nd Straße, 北京市_x") == ["zürich", "s", "2nd", "straße", "北", "京", "市", "x"]


def test_rouge_is_the_share_of_words_and_of_words_in_order() -> None:
    assert rouge_1("b a", "a b") == 1
    assert rouge_l("b a", "a b") == 0.5
    assert rouge_l("police killed the gunman", "police kill the gunman") == 0.75
    assert rouge_1("a a", "a") == pytest.approx(2 / 3)
    assert rouge_l("", "a") == rouge_1("", "") == 0


def test_at_the_threshold_the_papers_words_merge_and_its_library_does_not() -> None:
    assert count_clusters(["a b", "a c"], 0.5) == 2
    assert count_clusters(["a b", "a c"], 0.5, strict=False) == 1


def test_no_claim_makes_no_cluster_and_one_makes_one() -> None:
    assert count_clusters([], 0.5) == 0
    assert count_clusters(["a"], 0.5) == 1


def test_a_chain_of_likes_is_not_one_cluster() -> None:
    assert count_clusters(["a b c d", "c d e f", "e f g h"], 0.6) == 2


@given(TEXTS)
def test_clusters_fall_as_the_threshold_rises(texts: list[str]) -> None:
    counts = [count_clusters(texts, t) for t in (0.0, 0.3, 0.5, 0.7, 1.01)]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == min(1, len(texts))


@given(TEXTS)
def test_distances_are_those_of_rouge_pair_by_pair(texts: list[str]) -> None:
    found = rouge_distances(texts)
    for i, one in enumerate(texts):
        for j, other in enumerate(texts):
            assert found[i, j] == pytest.approx(0.0 if i == j else 1 - rouge_l(one, other))


@given(st.integers(2, 7), st.floats(0.1, 0.9), st.integers(0, 1000))
def test_clusters_are_those_of_the_plain_algorithm(count: int, threshold: float, seed: int) -> None:
    apart = np.random.default_rng(seed).random((count, count))
    apart = np.triu(apart, 1) + np.triu(apart, 1).T
    groups = [{i} for i in range(count)]
    while len(groups) > 1:
        pairs = [
            (max(apart[i, j] for i in a for j in b), x, y)
            for x, a in enumerate(groups)
            for y, b in enumerate(groups)
            if x < y
        ]
        least, x, y = min(pairs)
        if least >= threshold:
            break
        groups[x] |= groups.pop(y)
    assert count_linkage_clusters(apart, threshold) == len(groups)
