"""Results stay within their tokens, say what was cut, and lose nothing between two pages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.errors import InputError
from sensegraph.server import token_budget
from sensegraph.server.paging import cut_page, read_cursor
from sensegraph.server.token_budget import LEAST, count_result, fit_result, fit_text, shorten_value

ROWS = st.lists(st.fixed_dictionaries({"text": st.text(max_size=400), "where": st.lists(st.text(max_size=20))}))


def make_rows(count: int, length: int = 300) -> list[dict[str, Any]]:
    return [{"id": str(n), "text": "pier " * (length // 5)} for n in range(count)]


def test_a_result_that_fits_is_as_it_was():
    whole = {"rows": make_rows(3), "notes": ["one"]}
    assert fit_result(whole, 20_000) == whole


def test_a_result_that_is_cut_says_so_and_keeps_the_members_that_come_later():
    whole = {"answer": "It was the storm.", "rows": make_rows(100)}
    found = fit_result(whole, 600, [("rows",)])
    assert count_result(found) <= 600
    assert found["answer"] == whole["answer"]
    assert 0 < len(found["rows"]) < 100
    assert found["cut"][0].startswith(f"rows: {len(found['rows'])} of 100")


def test_more_tokens_show_more():
    shown = [len(fit_result({"rows": make_rows(100)}, tokens)["rows"]) for tokens in (400, 800, 1600, 3200)]
    assert shown == sorted(set(shown))
    assert shown[0] > 0


@given(ROWS, st.text(max_size=3000), st.integers(LEAST, 900))
def test_every_result_has_at_most_its_tokens(rows: list[Any], text: str, tokens: int):
    found = fit_result({"answer": text, "rows": rows}, tokens, [("rows",)])
    assert count_result(found) <= tokens
    assert set(found) >= {"answer", "rows"}


def test_what_cannot_be_cut_is_an_error():
    with pytest.raises(InputError, match="max_tokens=400"):
        fit_result({f"column {n}": n for n in range(1000)}, 400)


def test_texts_end_in_dots_where_they_were_cut_and_a_few_names_stay():
    assert shorten_value({"text": "a" * 100, "names": ["x", "y", "z"]}, 0) == {"text": "a" * 59 + "…", "names": []}
    assert shorten_value([{"names": ["u", "v", "w", "x", "y"]}], 1) == [{"names": ["u", "v", "w", "x"]}]


@pytest.mark.parametrize(
    ("value", "level", "left"),
    [
        ("a" * 120, 1, "a" * 120),
        ("a" * 121, 1, "a" * 119 + "…"),
        (list("abcde"), 3, list("abc")),  # an outer list: so many items
        ([[["x"] * 9] * 9] * 9, 3, [[["x"] * 6] * 2] * 3),  # one item fewer for each list around; names and ids 3 more
        ([[{"n": [1, 2.5, "x", 4, 5]}]], 2, [[{"n": [1, 2.5, "x", 4, 5]}]]),
        ([[{"n": [1, 2.5, "x", 4, 5, 6]}]], 2, [[{"n": [1, 2.5, "x", 4, 5]}]]),
        ([[{}], [{}]], 1, [[]]),
        ([[{}], [{}]], 0, []),
        ({"a": None, "b": True, "c": 7}, 0, {"a": None, "b": True, "c": 7}),
    ],
)
def test_what_is_left_of_a_value_at_a_level(value: Any, level: int, left: Any):
    assert shorten_value(value, level) == left


@pytest.mark.parametrize(
    "value",
    ["a" * 59, "a" * 60, "a" * 61, "a" * 300, list("abc"), [[["x"] * 9]] * 2, {"a": [[{}] * 4], "b": "c" * 130}],
)
def test_the_highest_level_shows_the_whole_value(value: Any):
    assert shorten_value(value, token_budget._highest_level(value)) == value


@pytest.mark.parametrize(("length", "said"), [(5, "rows: {} of 200"), (2000, "rows: {} of 200, shortened")])
def test_what_was_cut_of_a_list_is_its_items_and_where_so_the_texts_within(length: int, said: str):
    found = fit_result({"rows": make_rows(200, length)}, 1000)
    assert found["rows"]
    assert found["cut"] == [said.format(len(found["rows"]))]


def test_a_text_is_cut_at_its_end():
    found = fit_text({"id": "a", "text": "pier " * 4000}, "text", 500)
    assert count_result(found) <= 500
    assert len(found["text"]) > 1000
    assert ("pier " * 4000).startswith(found["text"])


@pytest.mark.parametrize("tokens", [500, 1000, 5000])
def test_page_after_page_shows_every_item_once(tokens: int):
    seen, cursor, pages = list[str](), "", 0
    while pages == 0 or cursor:
        page = cut_page({"rows": make_rows(40)}, ["rows"], cursor, 15, tokens)
        seen += [row["id"] for row in page["rows"]]
        cursor, pages = page.get("next", ""), pages + 1
    assert seen == [str(n) for n in range(40)]
    assert pages > 2


@pytest.mark.parametrize("cursor", ["-1", "x", "1.5", "²", "9" * 20])
def test_a_cursor_that_no_result_gave_is_an_error(cursor: str):
    with pytest.raises(InputError, match="is none"):
        read_cursor(cursor)


def test_a_text_that_takes_exactly_its_tokens_is_whole_and_with_one_less_is_cut():
    whole = {"id": "a", "text": "pier " * 300}
    tokens = count_result(whole)
    assert fit_text(whole, "text", tokens) == whole
    cut = fit_text(whole, "text", tokens - 1)
    assert len(cut["text"]) < len(whole["text"])
    assert count_result(cut) < tokens


@pytest.mark.parametrize("tokens", [200, 333, 500, 1200])
def test_a_text_is_cut_behind_the_last_character_that_leaves_room_to_say_so(tokens: int):
    whole = {"id": "a", "text": "".join(f"{n}." for n in range(900))}
    length = len(fit_text(whole, "text", tokens)["text"])
    assert count_result(whole | {"text": whole["text"][:length]}) <= tokens - 160
    assert count_result(whole | {"text": whole["text"][: length + 1]}) > tokens - 160


def test_one_character_of_a_text_is_enough_and_none_is_an_error():
    whole = {"id": "a " * 500, "text": "b" * 5000}
    bare = count_result(whole | {"text": ""})
    assert len(fit_text(whole, "text", bare + 163)["text"]) > 0
    with pytest.raises(InputError, match=f"max_tokens={bare + 155}; ask for more tokens"):
        fit_text(whole, "text", bare + 155)


@pytest.mark.parametrize("tokens", [250, 400, 500])
def test_a_list_is_as_long_as_leaves_room_to_say_what_was_cut(tokens: int):
    rows = make_rows(40, 20)
    shown = len(fit_result({"rows": rows}, tokens)["rows"])
    lengths = [n for n in range(1, 40) if count_result({"rows": shorten_value(rows, n)}) <= tokens - 160]
    assert shown == lengths[-1]
    assert shown == len(lengths)
