"""Leaves: every character in exactly one, whole sentences, cut only where they are too long (raptor §3.1, §9.7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from sensegraph.index.chunks import chunk_documents
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import count_tokens
from sensegraph.methods.raptor.tree import Leaf, cut_pieces, leaf_texts, make_leaves
from sensegraph.types import Chunk, Document

_WORD = st.sampled_from(["lamp", "Harbour", "keeper,", "storm;", "1897", "Dr.", "“paid”", "灯塔", "mooring-line:", "é"])
_SENTENCE = st.lists(_WORD, min_size=1, max_size=40).map(" ".join)
_TEXT = st.lists(st.tuples(_SENTENCE, st.sampled_from([". ", "! ", "\n\n", "。", ".  "])), min_size=1, max_size=25)
_TEXTS = _TEXT.map(lambda parts: "".join(a + b for a, b in parts))


def cut(documents: Sequence[Document], size: int, overlap: int) -> list[Chunk]:
    return [c for found in chunk_documents.fn(documents, size=size, overlap=overlap) for c in found]


def grown(chunks: Sequence[Chunk], size: int) -> Sequence[Leaf]:
    return make_leaves.fn([chunks], size=size)[0].leaves


def texts(chunks: Sequence[Chunk], size: int) -> list[str]:
    return leaf_texts(make_leaves.fn([chunks], size=size)[0], chunks)


def spans(chunks: Sequence[Chunk], size: int) -> Iterator[tuple[str, int, int]]:
    """Document, start and end of every leaf."""
    known = {c.id: c for c in chunks}
    for leaf in grown(chunks, size):
        home = known[leaf.chunk]
        yield home.document, home.start + leaf.start, home.start + leaf.end


@settings(max_examples=60, deadline=None)
@given(st.lists(_TEXTS, min_size=1, max_size=3), st.integers(20, 90), st.integers(0, 15), st.sampled_from([1, 7, 30]))
def test_every_character_stands_in_exactly_one_leaf(said: list[str], size: int, overlap: int, most: int) -> None:
    documents = [Document(f"d{i}", text) for i, text in enumerate(said)]
    found = list(spans(cut(documents, size, overlap), most))
    assert bool(found) == any(text.strip() for text in said)
    for document in documents:
        mine = [(a, b) for name, a, b in found if name == document.id]
        covered = [i for a, b in mine for i in range(a, b)]
        assert mine == sorted(mine)
        assert len(set(covered)) == len(covered)
        assert {i for i, c in enumerate(document.text) if not c.isspace()} <= set(covered)


@settings(max_examples=60, deadline=None)
@given(_TEXTS, st.integers(20, 90), st.integers(0, 15), st.sampled_from([5, 30, 100]))
def test_no_leaf_is_too_long_or_has_white_space_around(text: str, size: int, overlap: int, most: int) -> None:
    chunks = cut([Document("d", text)], size, overlap)
    assert bool(list(grown(chunks, most))) == bool(text.strip())
    for leaf, said in zip(grown(chunks, most), texts(chunks, most), strict=True):
        assert leaf.tokens == count_tokens(said) <= most or len(said) == 1
        assert said == said.strip() != ""


def test_a_leaf_is_whole_sentences_and_the_one_that_does_not_fit_goes_to_the_next() -> None:
    text = " ".join(f"The keeper of lamp number {i} wrote a letter to the harbour board." for i in range(30))
    chunks = cut([Document("d", text)], 200, 60)
    found = texts(chunks, 50)
    whole = [text[a:b] for a, b in split_sentences(text)]
    assert len(chunks) > 1
    assert [s for leaf in found for s in (leaf[a:b] for a, b in split_sentences(leaf))] == whole
    assert all(count_tokens(f"{leaf} {after.split('.')[0]}.") > 50 for leaf, after in pairwise(found))


def test_what_two_chunks_share_makes_one_leaf() -> None:
    text = " ".join(f"Boat {i} came home with herring on the tide of the morning." for i in range(40))
    chunks = cut([Document("d", text)], 120, 60)
    assert sum(len(c.text) for c in chunks) > 1.5 * len(text)
    assert sum(map(len, texts(chunks, 40))) <= len(text)


def test_a_sentence_that_goes_on_in_the_next_chunk_stays_whole() -> None:
    """The end of a chunk is no end of a sentence."""
    long = "the boats of the northern quay, " * 6
    text = f"It was late. Then came {long}and the lamp went out. All was dark."
    home = Document("d", text)
    middle = text.index("northern quay") + 60
    first = Chunk("d1", "d", 0, middle, count_tokens(text[:middle]), text[:middle])
    second = Chunk("d2", "d", 8, len(text), count_tokens(text[8:]), text[8:])
    found = [home.text[a:b] for _, a, b in spans([first, second], 100)]
    assert " ".join(found) == text
    assert any(leaf.startswith("Then came") and "went out." in leaf for leaf in found)


def test_a_long_sentence_is_cut_behind_its_commas_and_keeps_them() -> None:
    text = "We saw " + ", ".join(f"the red and green lamp of pier number {i}" for i in range(20)) + "."
    found = texts(cut([Document("d", text)], 600, 100), 40)
    assert len(found) > 3
    assert " ".join(found) == text
    assert all(leaf.endswith(",") for leaf in found[:-1])


def test_without_commas_it_is_cut_between_words_and_without_blanks_anywhere() -> None:
    words = " ".join(f"lamp{i}" for i in range(200))
    found = [words[a:b] for a, b in cut_pieces(words, 10)]
    assert found == words.split()
    solid = "x1y2z3" * 100
    hard = [solid[a:b] for a, b in cut_pieces(solid, 10)]
    assert "".join(hard) == solid
    assert len(hard) > 1
    assert all(count_tokens(part) <= 10 for part in hard)


def test_chinese_sentences_and_clauses_are_borders_too() -> None:
    text = "灯塔的守护人写了一封信。" * 5 + "他看见了红色的船，" * 30 + "然后回家。"
    found = texts(cut([Document("d", text)], 600, 100), 60)
    assert "".join(found) == text
    assert all(leaf[-1] in "。，" for leaf in found)


def test_what_is_said_twice_makes_two_leaves() -> None:
    text = "The lamp of the pier was lit again.\n" * 4
    chunks = cut([Document("a", text), Document("b", text)], 600, 100)
    found = grown(chunks, 12)
    assert len({leaf.id for leaf in found}) == len(found) == 8


def test_a_leaf_keeps_its_name_when_the_text_before_it_grows() -> None:
    told = "The lamp of the pier was lit again. " * 3
    before, after = (grown(cut([Document("d", t)], 600, 100), 10) for t in (told, f"A new beginning.\n{told}"))
    assert {leaf.id for leaf in before} <= {leaf.id for leaf in after}
    assert before[0].start != after[1].start
