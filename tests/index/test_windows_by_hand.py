"""How texts are counted in pieces, of which some are several tokens: worked out by hand."""

from __future__ import annotations

import pytest

from sensegraph.index.chunks import _last_border, _Pieces, _pieces_of, _spread_tokens, _with_whole_graphemes
from sensegraph.language.text import count_tokens

EVEN = _Pieces([3, 5, 9, 10, 14], range(1, 6))
DEAR = _Pieces([3, 5, 9, 10, 14], [1, 5, 6, 10, 11])


def test_a_piece_holds_the_characters_up_to_its_end() -> None:
    assert [EVEN.at(place) for place in range(15)] == [0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 4, 4, 4, 4, 5]


@pytest.mark.parametrize(
    ("pieces", "first", "room", "end"),
    [
        (EVEN, 0, 1, 3), (EVEN, 0, 2, 5), (EVEN, 0, 0, 3), (EVEN, 0, 5, 14), (EVEN, 0, 9, 14), (EVEN, 3, 1, 10),
        (EVEN, 3, 0, 10), (EVEN, 3, 2, 14), (EVEN, 4, 3, 14), (EVEN, 1, 3, 10),
        (DEAR, 0, 1, 3), (DEAR, 0, 2, 3), (DEAR, 0, 4, 3), (DEAR, 0, 5, 5), (DEAR, 1, 3, 5), (DEAR, 1, 4, 5),
        (DEAR, 1, 5, 9), (DEAR, 2, 4, 9), (DEAR, 2, 5, 14), (DEAR, 0, 10, 14), (DEAR, 3, 1, 10), (DEAR, 3, 2, 10),
    ],
)  # fmt: skip
def test_so_many_tokens_end_with_a_piece_and_one_counts_in_any_case(
    pieces: _Pieces, first: int, room: int, end: int
) -> None:
    assert pieces.after(first, room) == end


@pytest.mark.parametrize(
    ("pieces", "end", "room", "begin"),
    [
        (EVEN, 14, 1, 10), (EVEN, 14, 4, 3), (EVEN, 14, 9, 3), (EVEN, 10, 2, 5), (EVEN, 10, 0, 10), (EVEN, 3, 2, 3),
        (EVEN, 7, 1, 5), (EVEN, 4, 1, 3),
        (DEAR, 14, 1, 10), (DEAR, 14, 2, 10), (DEAR, 14, 5, 9), (DEAR, 14, 4, 10), (DEAR, 10, 3, 10), (DEAR, 10, 4, 9),
        (DEAR, 14, 9, 3), (DEAR, 14, 8, 5), (DEAR, 5, 3, 5), (DEAR, 5, 4, 3), (DEAR, 3, 4, 3),
    ],
)  # fmt: skip
def test_so_many_tokens_before_an_end_begin_with_a_piece(pieces: _Pieces, end: int, room: int, begin: int) -> None:
    assert pieces.before(end, room) == begin


@pytest.mark.parametrize(
    ("text", "ends", "sums"),
    [
        ("Ada met Bo.", [3, 7, 10, 11], [1, 2, 3, 4]),
        ("", [], []),
    ],
)
def test_of_a_plain_text_each_piece_is_a_token(text: str, ends: list[int], sums: list[int]) -> None:
    found = _pieces_of(text)
    assert (list(found.ends), list(found.sums)) == (ends, sums)


@pytest.mark.parametrize("text", ["a 𒀀 b", "𒀀𒀁𒀂", "x𓀀", "🧑🏽‍🚀 flew", "ꙮ ꙮ ꙮ", "Ada 𒀀"])
def test_pieces_end_at_characters_and_count_all_tokens(text: str) -> None:
    found = _pieces_of(text)
    assert found.ends[-1] == len(text)
    assert found.sums[-1] == count_tokens(text)
    assert len(found.ends) < count_tokens(text)
    for place, (end, total) in enumerate(zip(found.ends, found.sums, strict=True)):
        start, before = (found.ends[place - 1], found.sums[place - 1]) if place else (0, 0)
        assert end > start
        assert total > before
        if text[start:end].isascii():
            assert total == before + 1


@pytest.mark.parametrize("text", ["one two  three", "𒀀𒀁𒀂", "a" * 70, "   ", "日本語 text", "ab \n\n cd"])
def test_tokens_are_spread_over_the_characters_of_each_run(text: str) -> None:
    found = _spread_tokens(text)
    assert found.ends[-1] == len(text)
    assert list(found.ends) == sorted(set(found.ends))
    assert list(found.sums) == sorted(set(found.sums))
    assert found.sums[-1] >= count_tokens(text)


def test_runs_are_of_32_characters_and_share_their_tokens_evenly() -> None:
    count = count_tokens("𒀀" * 32)
    assert count > 32
    found = _spread_tokens("𒀀" * 33)
    assert list(found.ends) == list(range(1, 34))
    assert list(found.sums) == [count * i // 32 for i in range(1, 33)] + [count + count_tokens("𒀀")]
    few = count_tokens(" internationally")
    assert list(_spread_tokens(" internationally and").ends) == [16 * i // few for i in range(1, few + 1)] + [20]


TEXT = "One came. Two went. Three stayed here with the others"


@pytest.mark.parametrize(
    ("soft", "hard", "start", "border"),
    [
        (0, 53, 0, 19), (9, 53, 0, 19), (18, 53, 0, 19), (19, 53, 0, 46), (20, 53, 0, 46), (20, 46, 0, 42),
        (42, 46, 0, 42),
        (43, 46, 0, 46), (5, 15, 0, 9), (10, 15, 0, 13), (11, 13, 0, 13), (25, 33, 22, 32), (25, 32, 22, 25),
        (26, 32, 22, 32),
    ],
)  # fmt: skip
def test_a_window_ends_at_the_last_sentence_else_the_last_blank_else_where_it_must(
    soft: int, hard: int, start: int, border: int
) -> None:
    assert _last_border(TEXT, soft, hard, start) == border


@pytest.mark.parametrize(
    ("text", "start", "end", "size", "found"),
    [
        ("abc", 0, 2, 5, 2), ("abc", 0, 0, 5, 0), ("e\u0301x", 0, 1, 9, 2), ("ae\u0301x", 0, 2, 9, 1),
        ("ae\u0301x", 1, 2, 9, 3), ("e\u0301\u0302\u0303", 0, 1, 1, 1), ("e\u0301\u0302\u0303", 0, 2, 99, 4),
    ],
)  # fmt: skip
def test_no_grapheme_is_cut_but_one_that_is_longer_than_a_window(
    text: str, start: int, end: int, size: int, found: int
) -> None:
    assert _with_whole_graphemes(text, start, end, size) == found
