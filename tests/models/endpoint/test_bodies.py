"""What replies say, and which are none."""

from __future__ import annotations

from typing import Any

import pytest

from sensegraph.models.endpoint.bodies import (
    Parts,
    Unusable,
    check_reply,
    classify_reply,
    decode_reply,
    is_usable,
    name_refusal,
    read_content,
    read_finish,
    read_usage,
)
from sensegraph.models.endpoint.outcomes import Kind

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
    assert name_refusal(said("so", reason)) == ""


@pytest.mark.parametrize("reason", ["Error", "network_error", "abort", "insufficient_system_resource"])
def test_a_reply_that_ended_in_an_error_is_none(reason: str) -> None:
    with pytest.raises(Unusable, match=rf"ended in an error \(finish_reason {reason.casefold()}\)$") as caught:
        check_reply(said("so", reason), {})
    assert caught.value.outcome.kind == Kind.BROKEN
    assert check_reply(said("so"), {}) == said("so")


def test_the_words_of_an_error_beside_a_reply_are_told() -> None:
    broken = said("so", "error") | {"error": {"message": "The provider is away", "code": 502}}
    with pytest.raises(Unusable, match=r"ended in an error.*: The provider is away"):
        check_reply(broken, {})


@pytest.mark.parametrize(
    ("reply_", "kind"),
    [
        (said("so"), None),
        (said(""), None),
        (said("", "content_filter"), Kind.CONTENT),
        (said("a part", "content_filter"), Kind.CONTENT),
        (said("", "length"), Kind.THOUGHTS),
        (said("<think>Hm", "stop"), Kind.THOUGHTS),
        (said("<think>Hm</think>so", "stop"), None),
        (said("<|START_THINKING|>Hm", "stop"), Kind.THOUGHTS),
        (said("<|START_THINKING|>Hm<|END_THINKING|>so", "stop"), None),
        (said("so", "sensitive"), Kind.CONTENT),
        (said('{"a": "b"' + " " * 80, "length"), Kind.RUN_ON),
        (said('{"a": "b"' + " " * 80, "stop"), None),
        (said('{"a": "b"' + " " * 20, "length"), None),
        (said(None, reasoning_content="Hm {"), None),
    ],
)
def test_what_is_no_reply_has_a_kind(reply_: dict[str, Any], kind: Kind | None) -> None:
    found = classify_reply(reply_)
    assert (found.kind if found else None) == kind
    assert is_usable(reply_) == (kind is None)


@pytest.mark.parametrize(
    ("raw", "kind", "words"),
    [
        (b"<!doctype html>", Kind.DOWN, "a web page"),
        (b"{oops", Kind.BROKEN, "no JSON"),
        (b'{"message": "resting"}', Kind.BROKEN, "without content (resting)"),
        (b'{"choices": null}', Kind.BROKEN, "without content"),
        (b'{"error": {"message": "prompt is too long: 9 tokens > 8 maximum"}}', Kind.WINDOW, "prompt is too long"),
        (b'{"error": {"message": "odd", "code": 503}}', Kind.BROKEN, "odd"),
    ],
)
def test_a_body_that_is_no_reply_says_what_it_is(raw: bytes, kind: Kind, words: str) -> None:
    with pytest.raises(Unusable) as caught:
        decode_reply(raw, {})
    assert caught.value.outcome.kind == kind
    assert words in caught.value.outcome.words


def test_an_object_among_the_thoughts_is_the_reply_where_there_is_no_other() -> None:
    assert read_content(said(None, reasoning_content=' {"a": 1} ')) == '{"a": 1}'
    assert read_content(said("", reasoning='{"a": 1}')) == '{"a": 1}'
    assert read_content(said("so", reasoning='{"a": 1}')) == "so"
    assert read_content(said(None, "length", reasoning='{"a": 1}')) == read_content(said(None, reasoning="so")) == ""


def test_a_number_of_the_usage_may_be_nought_or_missing() -> None:
    assert read_usage({"usage": {"total_tokens": 0}}, "total_tokens") == 0
    assert read_usage({"usage": {"total_tokens": 3.0}}, "total_tokens") == 3
    assert read_usage({"usage": {}}, "total_tokens") is read_usage({"usage": None}, "total_tokens") is None


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content", "refusal"])
def test_a_reply_and_its_thoughts_together_have_a_million_characters_at_most(field: str) -> None:
    def reply(thoughts: int) -> dict[str, Any]:
        return {"choices": [{"message": {"content": "x" * 600_000, field: "y" * thoughts}, "finish_reason": "stop"}]}

    assert check_reply(reply(400_000), {}) == reply(400_000)
    with pytest.raises(Unusable) as raised:
        check_reply(reply(400_001), {})
    assert raised.value.outcome.kind == Kind.RUN_ON
