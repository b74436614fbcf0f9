"""What a request may hold: each length and number at its limit and one beyond, and dates that there are."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from sensegraph.errors import InputError
from sensegraph.questions import Condition, Scope, Turn
from sensegraph.server.http.bodies import (
    ChatBody,
    ChatMessage,
    MatchBody,
    NoBody,
    PlacesBody,
    QueryBody,
    ScopeBody,
    SearchBody,
    SessionBody,
    decode_body,
)

ROW = {"role": "user", "content": "Who?"}


def decode(kind: Any, **body: Any) -> Any:
    return decode_body(msgspec.json.encode(body), kind)


@pytest.mark.parametrize(
    ("kind", "fits", "beyond"),
    [
        (QueryBody, {"question": "?"}, {"question": ""}),
        (QueryBody, {"question": "x" * 20_000}, {"question": "x" * 20_001}),
        (QueryBody, {"question": "?", "depth": 0, "budget": 0}, {"question": "?", "depth": -1}),
        (QueryBody, {"question": "?", "method": "m" * 1000}, {"question": "?", "method": "m" * 1001}),
        (SearchBody, {"question": "?", "top": 1}, {"question": "?", "top": 0}),
        (SearchBody, {"question": "?", "top": 1000}, {"question": "?", "top": 1001}),
        (MatchBody, {"pattern": "(a)", "limit": 10_000}, {"pattern": "(a)", "limit": 10_001}),
        (ScopeBody, {"as_of": "2" * 40}, {"as_of": "2" * 41}),
        (SessionBody, {"token": "t"}, {"token": ""}),
        (ChatBody, {"model": "m", "messages": [ROW]}, {"model": "m", "messages": []}),
        (PlacesBody, {"places": [{"document": "d", "start": 0, "end": 0}]}, {"places": [{"document": "d"}]}),
        (NoBody, {}, {"name": 1}),
    ],
)
def test_a_request_holds_as_much_as_its_limit_and_no_more(
    kind: Any, fits: dict[str, Any], beyond: dict[str, Any]
) -> None:
    found = decode(kind, **fits)
    assert all(getattr(found, name) == value for name, value in fits.items() if isinstance(value, str | int))
    with pytest.raises(InputError, match="not as it must be"):
        decode(kind, **beyond)


def test_a_request_without_a_body_is_an_empty_object_and_one_that_is_no_text_is_refused() -> None:
    assert decode_body(b"", NoBody) == NoBody()
    with pytest.raises(InputError):
        decode_body(b'{"question": "\xff"}', QueryBody)


@pytest.mark.parametrize("day", ["2023", "2023-05", "2023-05-31", "2024-02-29", "2023-05-17T10:00", "2023-05-17 10:00"])
def test_a_day_may_be_given_by_its_year_its_month_or_with_a_time(day: str) -> None:
    assert decode(ScopeBody, since=day, until=day).scope() == Scope(since=day, until=day)


@pytest.mark.parametrize(
    "day", ["23", "2023-5", "2023-13", "2023-00", "2023-02-30", "2023-02-29", "2023-05-17x", "May 2023", "0000"]
)
@pytest.mark.parametrize("name", ["since", "until"])
def test_a_day_that_there_is_not_is_refused_by_the_name_of_its_field(name: str, day: str) -> None:
    with pytest.raises(InputError, match=rf"{name} '{day}' is no ISO date"):
        decode(ScopeBody, **{name: day}).scope()


@pytest.mark.parametrize(
    ("during", "between"), [("2015/2018", ("2015", "2018")), ("2015/", ("2015", "")), ("/2018", ("", "2018"))]
)
def test_a_stretch_is_open_at_one_end_at_most(during: str, between: tuple[str, str]) -> None:
    assert decode(ScopeBody, during=during).scope().between == between


@pytest.mark.parametrize("during", ["/", "2015", "2018/2015", "soon/2018", "2015/soon"])
def test_a_stretch_without_ends_or_that_ends_before_it_begins_is_refused(during: str) -> None:
    with pytest.raises(InputError, match="during"):
        decode(ScopeBody, during=during).scope()


def test_one_moment_and_a_stretch_are_not_asked_about_at_once() -> None:
    assert decode(ScopeBody, as_of="2016").scope().as_of == "2016"
    with pytest.raises(InputError, match="choose one"):
        decode(ScopeBody, as_of="2016", during="2015/2018").scope()
    with pytest.raises(InputError, match="known_at 'soon'"):
        decode(ScopeBody, known_at="soon").scope()


def test_filters_and_the_conversation_before_are_handed_on() -> None:
    assert decode(ScopeBody).scope() == Scope()
    where = [{"field": "year", "value": 3}, {"field": "kind", "operator": "!=", "value": "note"}]
    assert decode(ScopeBody, documents=["d"], where=where).scope() == Scope(
        ("d",), (Condition("year", "=", 3), Condition("kind", "!=", "note"))
    )
    assert decode(QueryBody, question="?", history=[{"question": "a"}, {"question": "b", "answer": "c"}]).turns() == (
        Turn("a", ""), Turn("b", "c"),
    )  # fmt: skip


def test_a_message_in_parts_says_what_its_texts_say() -> None:
    parts = [{"type": "text", "text": "Who"}, {"type": "image_url", "text": "no"}, {"type": "text", "text": "asks?"}]
    assert ChatMessage("user", parts).text() == "Who\nasks?"
    assert (ChatMessage("user", "Who?").text(), ChatMessage("user").text()) == ("Who?", "")
