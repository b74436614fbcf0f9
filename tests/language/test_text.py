from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import (
    collect_terms,
    count_tokens,
    decode_tokens,
    encode_tokens,
    find_whole,
    fold,
    list_stems,
    pack_batches,
    take_within,
)

texts = st.text(st.characters(exclude_categories=["Cs"]))


def _said(text: str) -> list[str]:
    return [text[a:b] for a, b in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One came. Two went! Who? Nobody…", ["One came.", "Two went!", "Who?", "Nobody…"]),
        ("Dr. Smith met J. Bell at 5 p.m. on Fleet St. in town. They left.", 2),
        ("He said “Go.” She went.", ["He said “Go.”", "She went."]),
        ("It grew by 3.5 percent. Then it fell.", ["It grew by 3.5 percent.", "Then it fell."]),
        ("東京は首都です。大阪は違います！", ["東京は首都です。", "大阪は違います！"]),
        ("Title\n\nA line\nanother", ["Title", "A line", "another"]),
        ("no capital. so no end here", ["no capital. so no end here"]),
        ("   \n\t ", []),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str] | int) -> None:
    found = _said(text)
    assert (len(found) if isinstance(expected, int) else found) == expected


@given(texts)
def test_sentences_cover_all_letters_in_order(text: str) -> None:
    spans = split_sentences(text)
    said = "".join(text[a:b] for a, b in spans)
    assert [c for c in said if c.isalnum()] == [c for c in text if c.isalnum()]
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
    assert all(text[a:b] == text[a:b].strip() != "" for a, b in spans)


@given(texts)
def test_tokens_are_those_that_encode_gives_and_decode_undoes_it(text: str) -> None:
    assert count_tokens(text) == len(encode_tokens(text))
    assert decode_tokens(encode_tokens(text)) == text


def test_half_a_character_is_no_text() -> None:
    numbers = encode_tokens("𝔘")
    assert len(numbers) > 1
    assert decode_tokens(numbers[:1]) is None


def test_tokens_are_counted_as_cl100k_counts_them() -> None:
    assert [count_tokens(t) for t in ("", "hello world", "tiktoken is great!", "お誕生日おめでとう")] == [0, 2, 6, 9]


@given(texts)
def test_folding_is_done_at_once(text: str) -> None:
    assert fold(fold(fold(text))) == fold(fold(text))


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("the licence of the harbour", "the license of the harbor"),
        ("organised behaviours", "organized behaviors"),
        ("travelling to the centre", "traveling to the center"),
        ("he analysed three programmes", "he analyzed three programs"),
    ],
)
def test_british_spellings_are_found_by_american_ones(british: str, american: str) -> None:
    assert list_stems(british) == list_stems(american)


def test_words_that_only_end_alike_are_no_other_spellings() -> None:
    assert list_stems("four hours of exercise") == ["four", "hour", "exercis"]
    assert list_stems("la licence du centre des trois villes de France") == [
        "licenc",
        "centr",
        "trois",
        "vill",
        "franc",
    ]


@pytest.mark.parametrize(
    ("one", "other"), [("Ada  FINCH", "ada finch"), ("Straße", "STRASSE"), ("ﬁne", "fine"), (" a\n b ", "A B")]
)
def test_names_that_are_read_alike_fold_alike(one: str, other: str) -> None:
    assert fold(one) == fold(other)


def test_folding_keeps_letters_of_every_script() -> None:
    assert fold("Łódź") == "łódź"
    assert fold("東京") == "東京"


def test_terms_are_words_or_pairs_of_characters() -> None:
    assert collect_terms("The well-known well, the WELL") == {"the", "well-known", "well"}
    assert collect_terms("東京都") == {"東京", "京都"}
    assert collect_terms("京") == {"京"}


@given(st.lists(st.integers(0, 9)), st.integers(0, 20))
def test_within_takes_the_longest_prefix_that_fits(items: list[int], budget: int) -> None:
    kept, left = take_within(items, budget, int)
    assert kept == items[: len(kept)]
    assert len(kept) + left == len(items)
    assert sum(kept) <= budget
    assert not left or sum(items[: len(kept) + 1]) > budget


@given(st.lists(st.integers(0, 9)), st.integers(0, 12))
def test_packed_keeps_order_and_budget_and_wastes_no_batch(items: list[int], budget: int) -> None:
    batches = pack_batches(items, budget, int)
    assert [i for b in batches for i in b] == items
    assert all(sum(b) <= budget or len(b) == 1 for b in batches)
    assert all(sum(a) + b[0] > budget for a, b in itertools.pairwise(batches))


@given(st.text("ab_. é", max_size=12), st.text("ab_. é", min_size=1, max_size=3), st.integers(0, 4))
def test_a_whole_word_is_found_where_no_letter_or_digit_stands_beside_it(text, name, start):
    found = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)").search(text, start)
    assert find_whole(text, name, start) == (found.start() if found else -1)
