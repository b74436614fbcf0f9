"""Exact match, token F1, ROUGE, BLEU, and the table of them (evaluation.md §8; R16, R18)."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU

from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.errors import InputError, SettingsError
from sensegraph.lab.scores.standard import (
    NAMES,
    Bleu,
    Pair,
    containment,
    exact_match,
    normalise_answer,
    rouge_1,
    rouge_2,
    rouge_l,
    score_pairs,
    split_words,
    token_f1,
    token_recall,
)
from sensegraph.models.embedders import HashedTerms
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore

# answer, gold answers, exact match, token F1
PAIRS = [
    ("no", ("know",), 0, 0),
    ("know", ("no",), 0, 0),
    ("No.", ("no",), 1, 1),
    ("I do not know", ("no",), 0, 0),
    ("Paris", ("Paris",), 1, 1),
    ("paris", ("Paris",), 1, 1),
    ("The Paris", ("Paris",), 1, 1),
    ("  Paris\n", ("Paris",), 1, 1),
    ("Paris, France", ("Paris",), 0, 2 / 3),
    ("Paris, France", ("Paris France",), 1, 1),
    ("in Paris", ("Paris", "in Paris"), 1, 1),
    ("Lyon", ("Paris", "Marseille"), 0, 0),
    ("the city of Paris", ("Paris",), 0, 0.5),
    ("an apple", ("apple",), 1, 1),
    ("a", ("an",), 1, 1),
    ("a", ("b",), 0, 0),
    ("thearch", ("arch",), 0, 0),
    ("", ("Paris",), 0, 0),
    ("Paris", ("",), 0, 0),
    ("", ("",), 1, 1),
    ("...", ("",), 1, 1),
    ("yes", ("no",), 0, 0),
    ("yes and no", ("no",), 0, 0.5),
    ("U.S.A.", ("USA",), 1, 1),
    ("well-known", ("wellknown",), 1, 1),
    ("well known", ("well-known",), 0, 0),
    ("1990-1995", ("1990–1995",), 1, 1),
    ("“Emma”", ('"Emma"',), 1, 1),
    ("$5 million", ("5 million",), 1, 1),
    ("5 million", ("€5 million",), 1, 1),
    ("the the the", ("the",), 1, 1),
    ("cat cat", ("cat",), 0, 2 / 3),
    ("cat dog", ("dog cat",), 0, 1),
    ("Zürich", ("zürich",), 1, 1),
    ("Zu\u0308rich", ("Zürich",), 1, 1),
    ("Zürich", ("Zurich",), 0, 0),
    ("МОСКВА", ("Москва",), 1, 1),
    ("北京", ("北京",), 1, 1),
    ("北京市", ("北京",), 0, 0.8),
    ("東京。", ("東京",), 1, 1),
    ("हिन्दी भाषा", ("हिन्दी",), 0, 2 / 3),
    ("Ｐａｒｉｓ", ("Paris",), 1, 1),
]
ASCII = st.text(st.sampled_from("ab cd.,'-THE the a 12\n"), max_size=40)


@pytest.mark.parametrize(("answer", "gold", "exact", "f1"), PAIRS)
def test_short_answers_are_compared_by_whole_words(answer: str, gold: tuple[str, ...], exact: float, f1: float):
    assert exact_match(answer, gold) == exact
    assert token_f1(answer, gold) == pytest.approx(f1)


def test_the_table_of_pairs_has_at_least_forty():
    assert len(PAIRS) >= 40


@given(ASCII, ASCII)
def test_an_exact_match_has_the_full_f1_and_f1_is_symmetric(one: str, other: str):
    assert token_f1(one, [other]) == token_f1(other, [one])
    assert 0 <= token_f1(one, [other]) <= 1
    if exact_match(one, [other]):
        assert token_f1(one, [other]) == 1


@given(ASCII)
def test_normalising_twice_changes_nothing(text: str):
    assert normalise_answer(normalise_answer(text)) == normalise_answer(text)


def test_more_gold_answers_never_lower_a_score():
    assert token_f1("in Paris", ["Lyon", "Paris"]) == token_f1("in Paris", ["Paris"]) > token_f1("in Paris", ["Lyon"])


@given(ASCII, ASCII)
def test_rouge_equals_the_usual_library_on_ascii(one: str, other: str):
    usual = RougeScorer(["rouge1", "rouge2", "rougeL"]).score(other, one)
    assert rouge_1(one, other) == pytest.approx(usual["rouge1"].fmeasure)
    assert rouge_2(one, other) == pytest.approx(usual["rouge2"].fmeasure)
    assert rouge_l(one, other) == pytest.approx(usual["rougeL"].fmeasure)


@pytest.mark.parametrize(
    "text", ["Zürich liegt am See", "Москва слезам не верит", "北京是中国的首都", "हिन्दी एक भाषा है"]
)
def test_rouge_reads_scripts_that_the_usual_library_does_not(text: str):
    assert rouge_1(text, text) == rouge_2(text, text) == rouge_l(text, text) == 1
    usual = RougeScorer(["rouge1"]).score(text, text)["rouge1"].fmeasure
    assert usual == 0 or "liegt" in text


def test_a_word_keeps_its_accents_and_vowel_signs():
    assert split_words("Zu\u0308rich हिन्दी") == ["zürich", "हिन्दी"]


# ── BLEU ──


def test_bleu_is_the_librarys_on_a_scale_of_one():
    answers = [("the cat sat on the mat today", ["the cat sat on a mat"]), ("a dog", ["the dog barked", "a dog ran"])]
    corpus = BLEU().corpus_score(
        [a for a, _ in answers], [["the cat sat on a mat", "the dog barked"], [None, "a dog ran"]]
    )
    assert Bleu().corpus(answers) == pytest.approx(corpus.score / 100)
    one = BLEU(effective_order=True).sentence_score(answers[0][0], answers[0][1]).score
    assert Bleu().each(answers)[0] == pytest.approx(one / 100)
    assert 0 < Bleu().each(answers)[0] < 1
    assert Bleu().each([("the cat sat on the mat", ["the cat sat on the mat"])]) == [pytest.approx(1)]


def test_bleu_states_its_words_smoothing_and_mean():
    assert Bleu().told == "mean over answers; tokenizer 13a, smoothing exp, as written"


def test_no_answer_has_no_corpus_bleu():
    assert Bleu().corpus([]) is None
    assert Bleu().each([]) == []


def test_an_unknown_tokenizer_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match="no 'words'; choose one of 13a, intl"):
        Bleu(tokenizer="words")  # type: ignore[arg-type]


def test_bleu_without_its_extra_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sensegraph.lab.scores.standard.find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"sensegraph\[metrics\]"):
        Bleu().each([("a", ["a"])])
    assert find_spec("sacrebleu")


# ── the table ──


@pytest.fixture
def rt(tmp_path: Path) -> Iterator[Runtime]:
    store = SqliteStore(tmp_path / "store")
    yield Runtime(ClassicalEngine(), HashedTerms(), store, LocalExecutor(1, 1))
    store.close()


ANSWERS = [
    Pair("Ada keeps the lamp", ("Ada keeps the lamp",), "one"),
    Pair("", ("Tom",), "one"),
    Pair("No.", (), "two"),
]


def test_the_table_counts_what_is_undefined_and_what_is_empty(rt: Runtime):
    found = score_pairs(ANSWERS, NAMES, rt)
    assert [c.metric for c in found.columns] == list(NAMES)
    assert (found.empty, found.ungolded) == (1, 1)
    for column in found.columns:
        assert column.values == (pytest.approx(1), 0, None)
        assert column.mean == pytest.approx(0.5)
        assert column.undefined == 1
    assert found.by_type("rouge-1") == {"one": 0.5, "two": None}


def test_a_table_says_what_the_names_leave_open(rt: Runtime):
    found = score_pairs(ANSWERS, ["bleu", "semantic"], rt)
    assert found.column("bleu").how.startswith("mean over answers; tokenizer 13a")
    assert found.column("bleu").corpus is not None
    assert found.column("semantic").how == "cosine of hashed-terms"


def test_the_cosine_is_that_of_the_nearest_gold_answer(rt: Runtime):
    (column,) = score_pairs([Pair("Ada keeps the lamp", ("Tom sails", "Ada keeps a lamp"))], ["semantic"], rt).columns
    assert column.mean == pytest.approx(1, abs=1e-6)


def test_without_pairs_there_is_no_mean(rt: Runtime):
    assert [c.mean for c in score_pairs([], NAMES, rt).columns] == [None] * len(NAMES)


def test_the_cosine_needs_a_runtime_and_a_metric_must_exist():
    with pytest.raises(InputError, match="give the runtime"):
        score_pairs(ANSWERS, ["semantic"])
    with pytest.raises(InputError, match="No metric is called 'meteor'; there are exact-match, token-f1"):
        score_pairs(ANSWERS, ["meteor"])
    with pytest.raises(InputError, match="'bleu' was not measured"):
        score_pairs(ANSWERS, ["rouge-1"]).column("bleu")


def test_a_gold_answer_is_contained_as_whole_words_in_a_row():
    assert containment("It was Bob Cratchit, the clerk.", ["the clerk", "Bob Cratchit"]) == 1
    assert containment("I know", ["no"]) == containment("Bob and Ann Cratchit", ["Bob Cratchit"]) == 0
    assert containment("", ["Bob"]) == containment("Bob", []) == 0
    assert token_recall("Bob and Ann Cratchit", ["Bob Cratchit", "Scrooge"]) == 1
    assert token_recall("Bob", ["Bob Cratchit"]) == 0.5


def test_an_answer_in_parts_is_scored_by_each_and_where_that_has_no_sense_as_a_whole():
    pair = Pair("Pango lays text out", (), "two", (("Pango", "libpango"), ("Cairo",)))
    found = score_pairs([pair], ["containment", "exact-match", "rouge-1"])
    assert [c.values for c in found.columns] == [(0.5,), (0.0,), (2 / 6,)]
    assert found.ungolded == 0
