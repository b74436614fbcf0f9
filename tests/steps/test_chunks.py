from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensegraph.errors import SettingsError
from sensegraph.index.build import IndexSettings
from sensegraph.index.chunks import chunk
from sensegraph.language.text import tokens
from sensegraph.types import Chunk, Document
from wired import story

words = st.lists(
    st.sampled_from(
        ["The", "lamp", "Ärger", "went.", "\n\n", "  ", "東京都は首都です。", "😀", "flibbertigibbet", "3.5"]
    ),
    max_size=120,
)


def cut(text: str, size: int = 20, overlap: int = 5) -> tuple[Chunk, ...]:
    return chunk.fn([Document("d", text, "Title")], size=size, overlap=overlap)[0]


@given(words.map(" ".join), st.integers(3, 40), st.floats(0, 0.95))
@settings(max_examples=60)
def test_chunks_are_spans_within_the_size_that_cover_all_words(text: str, size: int, share: float) -> None:
    overlap = int(size * share)
    found = cut(text, size, overlap)
    assert all(c.text == text[c.start : c.end] for c in found)
    assert all(c.tokens == tokens(c.text) for c in found)
    assert all(c.tokens <= size + (overlap if c is found[-1] else 0) for c in found)
    assert all(c.text.strip() for c in found)
    assert all(a.start < b.start and a.end < b.end for a, b in itertools.pairwise(found))
    covered = {i for c in found for i in range(c.start, c.end)}
    assert all(i in covered for i, letter in enumerate(text) if not letter.isspace())
    assert len({c.id for c in found}) == len(found)


def test_neighbours_share_about_the_overlap() -> None:
    found = cut(story(0, 1, 40), 100, 25)
    shared = [tokens(a.text[b.start - a.start :]) for a, b in itertools.pairwise(found)]
    assert len(shared) > 3
    assert all(10 <= n <= 30 for n in shared)


def test_without_overlap_chunks_follow_one_another() -> None:
    text = story(0, 1, 40)
    found = cut(text, 100, 0)
    assert all(not text[a.end : b.start].strip() and a.end <= b.start for a, b in itertools.pairwise(found))


def test_a_chunk_ends_with_a_sentence_where_one_ends_in_its_last_part() -> None:
    sentence = "The keeper of the lamp went home. "
    found = cut(sentence * 40, 100, 20)
    assert all(c.text.rstrip().endswith("home.") for c in found)


def test_a_chunk_ends_between_words_where_no_sentence_does() -> None:
    text = "lamp " * 300
    assert all(c.text.split() == ["lamp"] * len(c.text.split()) for c in cut(text, 50, 10))


def test_no_character_is_cut() -> None:
    text = "😀𝔘👩‍👩‍👧" * 60
    assert "".join(c.text for c in cut(text, 7, 0)) == text


def test_the_rest_of_a_document_is_no_chunk_of_its_own_when_it_says_little() -> None:
    sentence = "The keeper of the lamp went home. "
    assert [c.tokens for c in cut(sentence * 12, 50, 10)][-1] > 10


@pytest.mark.parametrize("text", ["", "  \n\t ", "\u3000"])
def test_an_empty_document_has_no_chunk(text: str) -> None:
    assert cut(text) == ()


def test_a_short_document_is_one_chunk_whole() -> None:
    text = "  A short one.\n"
    (only,) = cut(text)
    assert (only.text, only.start, only.end, only.title) == (text, 0, len(text), "Title")


def test_a_long_run_of_white_space_makes_no_chunk_of_nothing() -> None:
    found = cut("One." + "\n \n" * 400 + "Two.", 10, 2)
    assert all(c.text.strip() for c in found)
    assert found[0].text.startswith("One.")
    assert found[-1].text.endswith("Two.")


def test_equal_texts_of_two_documents_are_chunks_of_two_ids() -> None:
    one, other = chunk.fn([Document("a", "Same."), Document("b", "Same.")], size=20, overlap=5)
    assert one[0].id != other[0].id


def test_a_chunk_before_an_edit_keeps_its_id() -> None:
    text = story(1, 1, 40)
    before, after = cut(text, 60, 10), cut(text.replace("1835", "1836"), 60, 10)
    assert before[0].id == after[0].id


@pytest.mark.parametrize(("size", "overlap"), [(10, 10), (10, 11), (0, 0), (10, -1)])
def test_an_overlap_that_leaves_no_step_is_refused(size: int, overlap: int) -> None:
    with pytest.raises(SettingsError, match="overlap"):
        cut("text", size, overlap)
    with pytest.raises(SettingsError, match="overlap"):
        IndexSettings(chunk_tokens=size, chunk_overlap=overlap)
