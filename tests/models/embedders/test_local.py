"""Hashed terms: near where words are shared, the same everywhere, and quick."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from Stemmer import version

from sensegraph.language.word_lists import COMMON, STOP, VERY_COMMON, read_lines
from sensegraph.models.embedders import HashedTerms
from sensegraph.protocols import Embedder
from sensegraph.runtime.keys import key
from sensegraph.types import Usage

WHALE = "The white whale destroyed the ship Pequod near the equator."


def near(a: str, b: str) -> float:
    """The cosine of two texts."""
    rows = HashedTerms().embed([a, b], "document")
    return float(rows[0] @ rows[1])


def test_it_is_an_embedder_that_costs_nothing():
    embedder = HashedTerms()
    assert isinstance(embedder, Embedder)
    assert embedder.usage() == Usage()
    assert (embedder.dim, embedder.batch, embedder.waits, embedder.lexical) == (1024, 256, False, True)


@given(st.lists(st.text(max_size=40), max_size=8), st.sampled_from([1, 7, 64]))
def test_rows_are_float32_and_of_length_one_or_zero(texts, dim):
    rows = HashedTerms(dim).embed(texts, "document")
    assert rows.shape == (len(texts), dim)
    assert rows.dtype == np.float32
    lengths = np.linalg.norm(rows, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-5) | (lengths == 0))


@given(st.lists(st.text(max_size=40) | st.just(WHALE), min_size=1, max_size=6))
def test_a_vector_depends_on_its_text_alone(texts):
    together = HashedTerms().embed(texts, "document")
    alone = np.concatenate([HashedTerms().embed([text], "query") for text in texts])
    assert together.tobytes() == alone.tobytes()


def test_more_texts_than_a_block_keep_their_rows():
    texts = [f"word{i} whale" for i in range(600)]
    rows = HashedTerms().embed(texts, "document")
    assert rows[555].tobytes() == HashedTerms().embed([texts[555]], "document")[0].tobytes()


@pytest.mark.parametrize("text", ["", "  \n", "... !?", "___"])
def test_a_text_without_terms_is_a_zero_row(text):
    row = HashedTerms().embed([text], "document")
    assert row.shape == (1, 1024)
    assert not row.any()


def test_no_texts_give_no_rows():
    assert HashedTerms().embed([], "query").shape == (0, 1024)


def test_vectors_are_the_same_for_any_hash_seed():
    program = (
        "from sensegraph.models.embedders import HashedTerms; import hashlib;"
        f"e = HashedTerms(); rows = e.embed([{WHALE!r}], 'document');"
        "print(hashlib.sha256(rows.tobytes()).hexdigest(), e.fingerprint())"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]


def test_vectors_are_those_of_version_one():
    """Stored vectors must not change under the same fingerprint: whoever changes the rules raises the version."""
    row = HashedTerms(16).embed(["Whales swim; the WHALE swam. 白鯨"], "document")[0]
    expected = {2: -0.1698, 3: -0.4246, 4: -0.1698, 5: -0.4246, 9: 0.7189, 13: -0.2548}
    assert {i: round(float(x), 4) for i, x in enumerate(row) if x} == expected
    row = HashedTerms().embed(["white whale"], "document")[0]
    assert {i: round(float(x), 4) for i, x in enumerate(row) if x} == {67: 0.2568, 704: -0.4972, 969: 0.8287}


def test_the_fingerprint_names_all_that_a_vector_depends_on():
    lists = [sorted(words) for words in STOP.values()]
    particles = sorted("的了是在和有也就都与及")
    rules = ("hashed terms", 2, 1024, lists, VERY_COMMON, COMMON, particles, read_lines("spellings"))
    assert HashedTerms().fingerprint() == key(*rules, version(), unicodedata.unidata_version)


@pytest.mark.parametrize(
    ("word", "weight"), [("pangolin", 1.0), (COMMON.split()[0], 0.6), (VERY_COMMON.split()[0], 0.3)]
)
def test_a_common_word_weighs_less_and_its_pair_the_mean_of_both(word, weight):
    """Terms of weight 1 and w, and their pair of 0.4 √w, are at right angles."""
    assert near("pequod", f"pequod {word}") == pytest.approx((1 + weight**2 + 0.16 * weight) ** -0.5, abs=1e-6)
    assert near("pequod", f"{word} pequod") == pytest.approx((1 + weight**2 + 0.16 * weight) ** -0.5, abs=1e-6)


def test_what_stands_beside_unspaced_letters_makes_no_pair_with_them():
    assert near("whale", "whale 白鯨 ship") == pytest.approx(3**-0.5, abs=1e-6)


def test_a_word_weighs_more_by_the_logarithm_of_its_count_up_to_4095():
    for count in (1, 2, 10, 4095, 4096, 9000):
        first, pairs = (1 + math.log(min(n, 4095)) if n else 0 for n in (count, count - 1))
        length = (1 + first**2 + 0.16 * pairs**2 + 0.16) ** 0.5
        assert near("ship", "whale " * count + "ship") == pytest.approx(1 / length, rel=2e-6)


def test_inflection_case_and_accents_do_not_matter():
    assert near("Whales were swimming", "a whale swims") > 0.99
    assert near("CAFÉ MÜLLER", "cafe\u0301 muller") > 0.99


def test_shared_names_are_nearer_than_shared_common_words():
    question = "What people know about the Pequod"
    assert near(question, "The Pequod sank") > near(question, "People know what people know") > 0


def test_a_paraphrase_in_other_words_is_not_near():
    assert abs(near("The physician cured him", "A doctor healed the man")) < 0.15


def test_the_order_of_words_matters_a_little():
    same = near("white whale ship", "white whale ship")
    other = near("white whale ship", "ship whale white")
    assert same > other > 0.6


def test_an_abbreviation_in_capitals_is_no_function_word():
    assert near("tell us, senate", "tell the senate") > 0.99
    assert near("tell US senate", "tell the senate") < 0.9


def test_a_text_of_function_words_alone_keeps_them():
    assert near("The Who", "who the") > 0.8
    assert near("The Who", "The Doors") < 0.5


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("german", "Die Katze und der Hund sind nicht in dem Haus", "Katze Hund Haus"),
        ("french", "Le chat et le chien ne sont pas dans la maison", "chat chien maison"),
        ("spanish", "El gato y el perro no están en la casa de los niños", "gato perro casa niños"),
    ],
)
def test_function_words_are_left_out_in_the_language_of_the_text(language, text, words):
    assert near(text, f"{words} {' '.join(sorted(STOP[language])[:40])}") > 0.9


def test_the_english_verb_that_is_a_german_article_is_kept():
    assert near("When did she die?", "die") > 0.99


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("今天天气很好，我们去公园散步。", "公园"),
        ("吾輩は猫である。名前はまだ無い。", "名前"),
        ("서울은 대한민국의 수도이다", "대한민국"),
        ("กรุงเทพเป็นเมืองหลวง", "กรุงเทพ"),
        ("दिल्ली भारत की राजधानी है", "राजधानी"),
        ("Москва — столица России", "столицы"),
        ("Η Αθήνα είναι η πρωτεύουσα", "πρωτεύουσα"),
        ("القاهرة عاصمة مصر", "عاصمة"),
    ],
)
def test_a_word_is_near_a_text_that_holds_it_in_any_script(a, b):
    assert near(a, b) > 0.25 > abs(near(a, "whale"))


def test_pairs_with_a_chinese_particle_count_less():
    assert near("公园", "公园的") > near("公园", "公园里") > 0.5


def test_the_fingerprint_follows_what_changes_a_vector():
    assert HashedTerms().fingerprint() == HashedTerms(batch=1).fingerprint()
    assert HashedTerms().fingerprint() != HashedTerms(512).fingerprint()


def test_it_can_be_sent_to_another_process():
    assert pickle.loads(pickle.dumps(HashedTerms(64))) == HashedTerms(64)


def test_the_lists_of_common_words_do_not_overlap():
    lists = [STOP["english"], frozenset(VERY_COMMON.split()), frozenset(COMMON.split())]
    assert min(map(len, lists)) > 20
    assert not lists[0] & lists[1]
    assert not lists[1] & lists[2]
    assert not lists[0] & lists[2]
