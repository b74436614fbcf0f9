"""What the error of an endpoint means: from its status, its headers and its body to one kind."""

from __future__ import annotations

import time
from email.utils import formatdate
from typing import Any

import msgspec
import pytest

from sensegraph.models.endpoint.outcomes import (
    Excessive,
    Kind,
    Outcome,
    classify_error,
    find_rest,
    find_wait,
    read_error,
    read_json,
    read_retry_after,
    read_span,
)

SENT = ("model", "messages", "temperature", "max_tokens", "response_format", "stream")


@pytest.mark.parametrize(
    ("body", "message", "code"),
    [
        (b'{"error": {"message": "too long", "code": "x", "type": "y"}}', "too long", "x y"),
        (b'{"error": {"detail": "too long", "type": "y"}}', "too long", "y"),
        (b'[{"error": {"message": "too long", "status": "INVALID"}}]', "too long", "INVALID"),
        (b'{"detail": "too long"}', "too long", ""),
        (b'{"detail": [{"loc": ["body", "seed"], "msg": "Extra"}]}', "Extra: body.seed", ""),
        (b'{"message": "{\\"detail\\": [{\\"loc\\": [\\"body\\"], \\"msg\\": \\"Odd\\"}]}"}', "Odd: body", ""),
        (b'{"message": "{oops"}', "{oops", ""),
        (b'{"error": {}}', "no message", ""),
        (b'{"error": "too long"}', "too long", ""),
        (b'["too long"]', "too long", ""),
        (b"<html>", "<html>", ""),
        (b"", "no message", ""),
    ],
)
def test_the_message_and_code_of_an_error_are_read_from_every_shape(body: bytes, message: str, code: str) -> None:
    told = read_error(body)
    assert (told.message, told.code) == (message, code)


def outcome(status: int, message: str, sent: tuple[str, ...] = SENT, **error: Any) -> Outcome:
    body = msgspec.json.encode({"error": {"message": message, **error}})
    return classify_error(status, read_error(body), {}, sent)


@pytest.mark.parametrize(
    ("status", "message", "error", "kind", "field"),
    [
        (400, "no", {"param": "temperature"}, Kind.FIELD, "temperature"),
        (400, "no", {"param": "seed"}, Kind.FIELD, ""),
        (400, "'stream_options' of stream", {}, Kind.FIELD, "stream"),
        (400, "bad request", {}, Kind.FIELD, ""),
        (400, "Invalid 'response_format'", {}, Kind.SCHEMA, "response_format"),
        (422, "the grammar is odd", {}, Kind.SCHEMA, ""),
        (400, "System role not supported", {}, Kind.FIELD, "system"),
        (400, "x", {"code": "json_validate_failed"}, Kind.FORM, ""),
        (400, "x", {"code": "content_filter"}, Kind.CONTENT, ""),
        (403, "x", {"metadata": {"reasons": ["y"]}}, Kind.CONTENT, ""),
        (403, "Invalid API key", {}, Kind.DOWN, "key"),
        (400, "API key not valid. Please pass a valid API key.", {}, Kind.DOWN, "key"),
        (400, "The model `m` does not exist", {}, Kind.DOWN, "model"),
        (400, "Content Exists Risk", {}, Kind.CONTENT, ""),
        (400, "x", {"code": "data_inspection_failed"}, Kind.CONTENT, ""),
        (403, "Not this time", {}, Kind.REFUSED, ""),
        (401, "x", {}, Kind.DOWN, "key"),
        (402, "x", {}, Kind.DOWN, "credit"),
        (429, "x", {"code": "insufficient_quota"}, Kind.DOWN, "credit"),
        (404, "x", {}, Kind.DOWN, "model"),
        (429, "slow down", {}, Kind.PACE, ""),
        (500, "Context size has been exceeded.", {}, Kind.PACE, ""),
        (500, "x", {}, Kind.BROKEN, ""),
        (503, "x", {}, Kind.BROKEN, ""),
        (409, "x", {}, Kind.BROKEN, ""),
        (413, "x", {}, Kind.REFUSED, ""),
        (418, "x", {}, Kind.REFUSED, ""),
    ],
)
def test_an_error_has_one_kind(status: int, message: str, error: dict[str, Any], kind: Kind, field: str) -> None:
    found = outcome(status, message, **error)
    assert (found.kind, found.field, found.words, found.status) == (kind, field, message, status)


@pytest.mark.parametrize(
    ("message", "figures"),
    [
        (
            "This model's maximum context length is 8192 tokens, your messages resulted in 9000 tokens",
            (8192, 9000, 0, 0),
        ),
        (
            "maximum context length is 4096 tokens. However, you requested 5077 tokens (1077 in the messages",
            (4096, 1077, 5077, 0),
        ),
        (
            "Input tokens exceed the configured limit of 272,000 tokens. Your messages resulted in 289,650",
            (272000, 289650, 0, 0),
        ),
        ("prompt is too long: 1284668 tokens > 1000000 maximum", (1000000, 1284668, 0, 0)),
        ("max_tokens must be at least 1, got -186.", (0, 0, 0, 186)),
        ("Request too large for x (TPM): Limit 6000, Requested 6441", (6000, 0, 6441, 0)),
        ("input (992 tokens) is too large to process. (current batch size: 512)", (512, 992, 0, 0)),
        ("the input length exceeds the context length", (0, 0, 0, 0)),
        ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", (32768, 40000, 0, 0)),
        ("The input token count (9000) exceeds the maximum number of tokens allowed (8192).", (8192, 9000, 0, 0)),
        ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 1077 `inputs` tokens", (4096, 1077, 0, 0)),
        ("This model's maximum prompt length is 8192 but the request contains 9000 tokens", (8192, 9000, 0, 0)),
        ("The decoder prompt (length 5000) is longer than the maximum model length of 4096", (4096, 5000, 0, 0)),
        ("The input (5000 tokens) is longer than the model's context length (4096 tokens).", (4096, 5000, 0, 0)),
        ("maximum context length of 4096 tokens: 1077 tokens from the input messages", (4096, 1077, 0, 0)),
        ("the model is loaded with context length of only 4096 tokens", (4096, 0, 0, 0)),
        ("Your request exceeded model token limit: 8192", (8192, 0, 0, 0)),
        ("number of tokens in the prompt cannot exceed 4081 - received 4292", (4081, 4292, 0, 0)),
    ],
)
def test_a_window_is_told_with_its_figures(message: str, figures: tuple[int, int, int, int]) -> None:
    found = outcome(400, message)
    assert found.kind == Kind.WINDOW
    assert (found.most, found.need, found.total, found.over) == figures


@pytest.mark.parametrize(
    ("message", "most", "field"),
    [
        ("batch size 60 > maximum allowed batch size 32", 32, "inputs"),
        ("batch size is invalid, it should not be larger than 10.", 10, "inputs"),
        ("Requested 5 tokens, max 300000 tokens per request", 300000, "tokens"),
        ("too many inputs", 0, "inputs"),
    ],
)
def test_a_batch_that_is_too_large_is_told_where_there_is_one(message: str, most: int, field: str) -> None:
    found = outcome(400, message, ("model", "input"))
    assert (found.kind, found.most, found.field) == (Kind.BATCH, most, field)
    assert outcome(400, message).kind != Kind.BATCH


@pytest.mark.parametrize(
    ("message", "most"),
    [
        ("max_tokens is too large: 4000. This model supports at most 16,384 completion tokens", 16384),
        ("`max_completion_tokens` must be less than or equal to `2048`, the maximum", 2048),
        ("Could not finish the message because max_tokens or model output limit was reached.", 0),
        ("max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens", 4096),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192),
        ("Range of max_tokens should be [1, 8192]", 8192),
    ],
)
def test_the_room_for_a_reply_is_too_much_or_too_little(message: str, most: int) -> None:
    assert (outcome(400, message).kind, outcome(400, message).most) == (Kind.ROOM, most)


# ── waits ──


def test_waits_are_read_from_seconds_and_dates_and_nonsense_is_ignored() -> None:
    assert read_retry_after({"retry-after": "7"}) == 7
    date = read_retry_after({"retry-after": formatdate(time.time() + 100, usegmt=True)})
    assert date is not None
    assert 98 < date <= 100
    assert read_retry_after({"retry-after": formatdate(time.time() - 100, usegmt=True)}) == 0
    assert read_retry_after({"retry-after": "soon"}) is None
    assert read_retry_after({}) is None


@pytest.mark.parametrize(
    ("headers", "message", "wait"),
    [
        ({"retry-after-ms": "1200", "retry-after": "9"}, "", 1.2),
        ({"retry-after-ms": "soon", "retry-after": "9"}, "", 9.0),
        ({}, "Please try again in 1.2s. Visit", 1.2),
        ({}, "Please try again in 6m0s.", 360.0),
        ({}, "Please try again in 20ms", 0.02),
        ({}, "Please retry after 20 seconds.", 20.0),
        ({}, '"retryDelay": "14s"', 14.0),
        ({}, "Try again later", None),
    ],
)
def test_every_form_of_a_wait_is_read(headers: dict[str, str], message: str, wait: float | None) -> None:
    found = find_wait(headers, read_error(msgspec.json.encode({"error": message})))
    assert found == (pytest.approx(wait) if wait is not None else None)


def test_spans_and_what_is_left_of_a_minute_are_read() -> None:
    assert [read_span(t) for t in ("6m0s", "20ms", "1.5", "soon")] == [360.0, pytest.approx(0.02), 1.5, None]
    assert find_rest({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "2s"}) == 2.0
    assert find_rest({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m"}) == 60.0
    assert find_rest({"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "2s"}) == 0.0
    assert find_rest({}) == 0.0


@pytest.mark.parametrize("count", [1, 64, 65, 500])
def test_a_reply_may_be_wide_and_not_deep(count: int) -> None:
    wide = [[1]] * count
    assert read_json(msgspec.json.encode(wide)) == wide
    assert read_json(b"[NaN]")[0] != read_json(b"[NaN]")[0]
    deep = b"[" * count + b"]" * count
    if count <= 64:
        assert read_json(deep) == msgspec.json.decode(deep)
    else:
        with pytest.raises(Excessive, match="nested more than 64 deep"):
            read_json(deep)
    deepest = b"[" * 63 + b"[]" + b", []" * count + b"]" * 63  # 64 deep, and many values there
    assert read_json(deepest) == msgspec.json.decode(deepest)
    with pytest.raises(Excessive, match="more than 3 values"):
        read_json(b"[1, 2, [3]]", 3)
    assert read_json(b"[1, 2, [3]]", 4) == [1, 2, [3]]
