"""What bodies of requests ask for, what is left out when it is refused, and what bodies of replies say."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from sensegraph.errors import EndpointError
from sensegraph.language.text import count_tokens
from sensegraph.models.endpoint.bodies import (
    ChatRequest,
    Dialect,
    Parts,
    count_prompt_tokens,
    name_error,
    name_refusal,
    read_content,
    read_error,
    read_finish,
    read_relevances,
    read_usage,
    read_vectors,
)

SCHEMA = {"type": "object"}
PLAIN = ChatRequest([{"role": "user", "content": "one"}], 100)
FORMED = replace(PLAIN, schema=SCHEMA, name="thing")
STREAMED = replace(FORMED, streamed=True)


# ── what is asked for ──


@pytest.mark.parametrize(
    ("dialect", "request_", "fields"),
    [
        (Dialect(), PLAIN, {"max_tokens": 100}),
        (Dialect(2), FORMED, {"max_tokens": 100}),
        (Dialect(1), FORMED, {"max_tokens": 100, "response_format": {"type": "json_object"}}),
        (Dialect(2, "max_completion_tokens"), FORMED, {"max_completion_tokens": 100}),
        (
            Dialect(),
            FORMED,
            {
                "max_tokens": 100,
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "thing", "schema": SCHEMA, "strict": True},
                },
            },
        ),
    ],
)
def test_the_fields_of_a_request_follow_what_is_understood(
    dialect: Dialect, request_: ChatRequest, fields: dict[str, Any]
) -> None:
    assert dialect.fields(request_) == fields


def test_a_stream_is_asked_to_end_with_its_usage_while_that_is_understood() -> None:
    assert Dialect().streaming() == {"stream": True, "stream_options": {"include_usage": True}}
    assert Dialect(counts=False).streaming() == {"stream": True}


def given_up(request: ChatRequest, message: str, of_form: bool = True, first: Dialect | None = None) -> list[Dialect]:
    """What is tried one after another while every refusal says `message`."""
    known = first or Dialect()
    found = [known]
    while (easier := found[-1].easier(request, known, message, of_form)) is not None:
        found.append(easier)
    return found[1:]


def test_after_each_refusal_one_thing_less_is_asked_for_and_the_stream_goes_last() -> None:
    assert given_up(STREAMED, "bad request") == [
        Dialect(counts=False),
        Dialect(1, counts=False),
        Dialect(2, counts=False),
        Dialect(streams=False),
        Dialect(1, streams=False),
        Dialect(2, streams=False),
    ]
    assert given_up(FORMED, "bad request") == [Dialect(1), Dialect(2)]
    assert given_up(PLAIN, "bad request") == []
    assert given_up(replace(PLAIN, streamed=True), "bad") == [Dialect(counts=False), Dialect(streams=False)]


def test_a_refusal_that_names_the_format_leaves_the_count_of_a_stream() -> None:
    assert given_up(STREAMED, "response_format?")[:3] == [Dialect(1), Dialect(2), Dialect(streams=False)]


def test_the_other_name_of_the_limit_is_taken_once_whatever_else_is_refused() -> None:
    other = "max_completion_tokens"
    assert given_up(STREAMED, f"use {other}", of_form=False) == [Dialect(limit=other)]
    assert given_up(STREAMED, f"use {other}")[4] == Dialect(limit=other, streams=False)
    assert given_up(STREAMED, "too long", of_form=False) == []


def test_what_was_given_up_is_told_thing_by_thing() -> None:
    assert Dialect(2, counts=False, streams=False).without(Dialect(1)) == [
        "The endpoint refuses response_format json_object: using none",
        "The endpoint refuses stream_options: the usage of streamed replies may be our own estimate",
        "The endpoint refuses streams: answers come whole",
    ]
    assert Dialect(2, counts=False).without(Dialect(2, streams=False)) == [
        "The endpoint refuses stream_options: the usage of streamed replies may be our own estimate"
    ]
    assert Dialect(1).without(Dialect(2)) == Dialect(2).without(Dialect(2)) == []


def test_two_dialects_together_are_what_both_understand() -> None:
    one, other = Dialect(1, "max_completion_tokens", counts=False), Dialect(2, streams=False)
    both = Dialect(2, "max_completion_tokens", counts=False, streams=False)
    assert one.joined(other) == other.joined(one) == both
    assert Dialect().joined(Dialect()) == Dialect()


# ── replies of a chat ──


def said(content: Any, finish: str | None = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content, **more}, "finish_reason": finish}]}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("so", "so"),
        (None, ""),
        ([], ""),
        (["a", {"type": "text", "text": "b"}, {"text": "c"}, {"type": "output_text", "text": "d"}], "abcd"),
        ([{"type": "thinking", "text": "no"}, 5, {"type": "text", "text": None}, "yes"], "yes"),
    ],
)
def test_the_text_of_a_reply_is_all_that_is_text(content: Any, text: str) -> None:
    assert read_content(said(content)) == text
    assert read_content({"choices": [{"message": None}]}) == ""


def test_pieces_are_put_together_as_the_reply_that_they_are() -> None:
    parts = Parts()
    usage = {"prompt_tokens": 3}
    events = [
        {"choices": [{"delta": {"content": "a"}}], "usage": usage},
        {"choices": [{"delta": {"content": ""}, "finish_reason": None}]},
        {"choices": [{"delta": {"content": "b", "refusal": "I "}, "finish_reason": "stop"}]},
        {"choices": [{"delta": {"refusal": "cannot"}}], "usage": None},
        {"choices": []},
    ]
    assert [parts.add(event) for event in events] == ["a", "", "b", "", ""]
    assert (parts.count, parts.finish) == (2, "stop")
    message = {"role": "assistant", "content": "ab", "refusal": "I cannot"}
    assert parts.reply() == {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}


def test_pieces_without_usage_or_refusal_name_none() -> None:
    parts = Parts()
    parts.add({"choices": [{"delta": {"content": "a"}}]})
    message = {"role": "assistant", "content": "a"}
    assert parts.reply() == {"choices": [{"index": 0, "message": message, "finish_reason": ""}]}


@pytest.mark.parametrize(
    ("reply_", "why"),
    [
        (said("so"), ""),
        (said("so", None), ""),
        (said("", "Content_Filter"), "finish_reason content_filter"),
        (said("", "stop", refusal="I am  not\nable."), "I am not able."),
        (said([{"type": "refusal", "refusal": "No."}, "x", {"text": "y"}], "SAFETY"), "finish_reason safety; No."),
        (said("", "stop", refusal="n" * 301), "n" * 300),
        ({"choices": [{"message": None, "finish_reason": "refusal"}]}, "finish_reason refusal"),
    ],
)
def test_a_refusal_is_told_by_its_reason_and_its_first_words(reply_: dict[str, Any], why: str) -> None:
    assert name_refusal(reply_) == why


@pytest.mark.parametrize("reason", ["length", "MAX_TOKENS", "model_length"])
def test_a_reply_that_was_cut_ends_by_length_whatever_its_name(reason: str) -> None:
    assert read_finish(said("so", reason)) == "length"
    assert name_error(said("so", reason)) == name_refusal(said("so", reason)) == ""


def test_a_reply_that_ended_in_an_error_says_so() -> None:
    assert name_error(said("so", "Error")) == "a reply that ended in an error (finish_reason error)"
    assert name_error(said("so", "network_error")) == "a reply that ended in an error (finish_reason network_error)"
    assert name_error(said("so")) == name_error({"data": []}) == name_error({"choices": []}) == ""


@pytest.mark.parametrize(
    ("body", "message", "code"),
    [
        (b'{"error": {"message": "too long", "code": "x", "type": "y"}}', "too long", "x"),
        (b'{"error": {"detail": "too long", "type": "y"}}', "too long", "y"),
        (b'{"detail": "too long"}', "too long", ""),
        (b'{"error": {}}', "no message", ""),
        (b'{"error": "too long"}', "too long", ""),
        (b'["too long"]', "['too long']", ""),
        (b"<html>", "<html>", ""),
        (b"", "no message", ""),
    ],
)
def test_the_message_and_code_of_an_error_are_read_from_every_shape(body: bytes, message: str, code: str) -> None:
    assert read_error(body) == (message, code)


def test_a_number_of_the_usage_may_be_nought_or_missing() -> None:
    assert read_usage({"usage": {"total_tokens": 0}}, "total_tokens") == 0
    assert read_usage({"usage": {"total_tokens": 3.0}}, "total_tokens") == 3
    assert read_usage({"usage": {}}, "total_tokens") is read_usage({"usage": None}, "total_tokens") is None


def test_each_message_counts_four_tokens_more_than_its_text() -> None:
    texts = ["one two", "", "three"]
    messages = [{"role": "user", "content": text} for text in texts]
    assert count_prompt_tokens(messages) == sum(map(count_tokens, texts)) + 12


# ── scores and vectors ──


@pytest.mark.parametrize("field", ["results", "data"])
def test_scores_come_in_the_order_of_the_documents(field: str) -> None:
    rows = [
        {"index": 2, "relevance_score": 0.5},
        {"index": "0", "relevance_score": 1},
        {"index": 1, "relevance_score": 0},
    ]
    assert read_relevances({field: rows}, 3) == [1.0, 0.0, 0.5]


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        ([(0, 0.5)], 2),
        ([(0, 0.5), (0, 0.4)], 2),
        ([(0, 0.5), (1, 0.4), (2, 0.4)], 2),
        ([(0, 0.5), (1, math.nan)], 2),
        ([(1, 0.5), (2, 0.4)], 2),
        ([(0, "high")], 1),
        ([(0, None)], 1),
        ([(None, 0.5)], 1),
    ],
)
def test_a_document_without_one_score_is_an_error(rows: list[tuple[Any, Any]], count: int) -> None:
    found = {"results": [{"index": i, "relevance_score": score} for i, score in rows]}
    with pytest.raises(EndpointError, match=r"rerank reply without|Asked for \d relevance scores"):
        read_relevances(found, count)


def reply(*rows: tuple[int, list[float]]) -> dict[str, Any]:
    return {"data": [{"index": i, "embedding": vector} for i, vector in rows]}


def test_vectors_come_in_the_order_asked_for_whatever_the_order_of_the_reply() -> None:
    found = read_vectors(reply((1, [0.0, 1.0]), (0, [1.0, 0.0])), 2)
    assert found.tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        ([(0, [1.0])], 2),
        ([(0, [1.0]), (1, [2.0]), (2, [3.0])], 2),
        ([(0, [1.0]), (1, [2.0, 3.0])], 2),
    ],
)
def test_too_few_too_many_or_uneven_vectors_are_an_error_that_says_what_came(
    rows: list[tuple[int, list[float]]], count: int
) -> None:
    with pytest.raises(EndpointError, match=f"Asked for {count} vectors of one length, got {len(rows)}"):
        read_vectors(reply(*rows), count)


def test_an_index_that_is_left_out_is_nought() -> None:
    found = read_vectors({"data": [{"index": 1, "embedding": [2.0]}, {"embedding": [1.0]}]}, 2)
    assert found.tolist() == [[1.0], [2.0]]
