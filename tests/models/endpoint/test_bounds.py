"""Bounds on what an endpoint may send, each from both sides, and how its words are put."""

from __future__ import annotations

import time
from contextlib import nullcontext
from email.utils import formatdate
from typing import Any

import msgspec
import pytest

from sensegraph.models.endpoint import outcomes
from sensegraph.models.endpoint.bodies import (
    Parts,
    Unusable,
    assemble_events,
    check_length,
    classify_reply,
    classify_told,
    decode_reply,
    gives_impossible_usage,
    name_refusal,
    read_usage,
)
from sensegraph.models.endpoint.flow import Gate
from sensegraph.models.endpoint.incoming import WHOLE, Oversized
from sensegraph.models.endpoint.outcomes import (
    Excessive,
    Kind,
    Told,
    classify_error,
    find_rest,
    find_wait,
    read_error,
    read_json,
    read_retry_after,
    tell_error,
)


def nest(depth: int, inner: str = "1") -> bytes:
    return b"[" * depth + inner.encode() + b"]" * depth


def test_json_may_hold_two_hundred_thousand_values() -> None:
    whole = b"[" + b"1," * 199_998 + b"1]"
    assert len(read_json(whole)) == 199_999
    with pytest.raises(Excessive, match="more than 200,000 values"):
        read_json(b"[" + b"1," * 200_000 + b"1]")
    assert read_json(b"[1,{},2]", most=4) == [1, {}, 2]
    with pytest.raises(Excessive, match="more than 3 values"):
        read_json(b"[1,{},2]", most=3)
    with pytest.raises(Excessive):
        read_json(b"[[1],[2]]", most=3)


@pytest.mark.parametrize(("depth", "fits"), [(1, True), (64, True), (65, False), (500, False), (60_000, False)])
def test_json_may_be_nested_so_deep(depth: int, fits: bool) -> None:
    if fits:
        found = read_json(nest(depth))
        for _ in range(depth):
            (found,) = found
        assert found == 1
    else:
        with pytest.raises(Excessive, match="nested more than 64 deep"):
            read_json(nest(depth))
    objects = b'{"a":' * depth + b"1" + b"}" * depth
    with pytest.raises(Excessive) if not fits else nullcontext():
        read_json(objects)
    wide = b"[" + b",".join([b"[1]"] * 100) + b"]"
    assert len(read_json(wide)) == 100


def test_json_may_hold_numbers_that_are_none_and_no_half_characters() -> None:
    assert str(read_json(b"[NaN, -Infinity, 1]")) == "[nan, -inf, 1]"
    for raw in (b'["NaN", "\\ud83d"]', b"[NaN", b"\xff", b""):
        with pytest.raises(msgspec.DecodeError):
            read_json(raw)


@pytest.mark.parametrize(("length", "shown"), [(7_999, 7_999), (8_000, 8_000), (8_001, 8_003), (90_000, 8_003)])
def test_of_what_an_error_says_the_beginning_and_the_end_are_looked_at(length: int, shown: int) -> None:
    said = "a" * (length - 4_000) + "b" * 4_000
    told = tell_error({"error": {"message": said, "code": said, "param": said}})
    assert [len(text) for text in (told.message, told.code, told.param)] == [shown] * 3
    assert told.message.startswith("a" * 3_999)
    assert told.message.endswith("b" * 4_000)
    assert (" … " in told.message) == (length > 8_000)
    assert len(told.details) <= 8_003


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"plain words", Told("plain words", details="plain words")),
        (b'{"error": "words"}', Told("words", details='{"error":"words"}')),
        (b'[{"error": {"message": "m", "code": 7}}]', Told("m", "7", "", '[{"error":{"message":"m","code":7}}]')),
        (b"[]", Told("no message", details="[]")),
        (b'""', Told("no message", details="")),
        (b"null", Told("no message", details="null")),
        (b'{"error": {}}', Told("no message", "", "", '{"error":{}}')),
        (b'{"detail": "d", "type": "t", "status": "s"}',
         Told("d", "t s", "", '{"detail":"d","type":"t","status":"s"}')),
        (b'{"message":"{\\"detail\\": [{\\"msg\\": \\"x\\", \\"loc\\": [\\"a\\", 3]}]}"}',
         Told("x: a.3", "", "3", '{"message":"{\\"detail\\": [{\\"msg\\": \\"x\\", \\"loc\\": [\\"a\\", 3]}]}"}')),
        (b'{"message": [{"msg": "x"}], "param": "p"}', Told("x: ", "", "p", '{"message":[{"msg":"x"}],"param":"p"}')),
        (b'{"message": ["x"]}', Told("['x']", "", "", '{"message":["x"]}')),
        (b'{"message": "{no json"}', Told("{no json", "", "", '{"message":"{no json"}')),
    ],
)  # fmt: skip
def test_an_error_is_read_in_each_of_its_shapes(body: bytes, told: Told) -> None:
    assert read_error(body) == told


@pytest.mark.parametrize(
    ("status", "message", "sent", "kind", "field"),
    [
        (400, "temperature is odd", ("temperature",), Kind.FIELD, "temperature"),
        (422, "temperature is odd", ("temperature",), Kind.FIELD, "temperature"),
        (404, "temperature is odd", ("temperature",), Kind.DOWN, "model"),
        (400, "response_format is odd", ("response_format",), Kind.SCHEMA, "response_format"),
        (400, "the schema is odd", ("response_format",), Kind.SCHEMA, ""),
        (400, "the schema is odd", (), Kind.FIELD, ""),
        (404, "no endpoints found that take it", (), Kind.FIELD, ""),
        (401, "who are you", (), Kind.DOWN, "key"),
        (403, "your key is wrong", (), Kind.DOWN, "key"),
        (403, "it was raining", (), Kind.REFUSED, ""),
        (405, "it was raining", (), Kind.REFUSED, ""),
        (402, "pay", (), Kind.DOWN, "credit"),
        (429, "slow down", (), Kind.PACE, ""),
        (408, "late", (), Kind.BROKEN, ""),
        (409, "late", (), Kind.BROKEN, ""),
        (499, "late", (), Kind.REFUSED, ""),
        (500, "late", (), Kind.BROKEN, ""),
        (503, "was flagged", (), Kind.BROKEN, ""),
        (499, "was flagged", (), Kind.CONTENT, ""),
        (429, "was flagged", (), Kind.PACE, ""),
        (401, "was flagged", (), Kind.DOWN, "key"),
        (400, "invalid api key", (), Kind.DOWN, "key"),
        (400, "the model x does not exist", (), Kind.DOWN, "model"),
        (500, "the model x does not exist", (), Kind.BROKEN, ""),
        (400, "too many inputs", ("input",), Kind.BATCH, "inputs"),
        (400, "too many inputs", (), Kind.FIELD, ""),
        (400, "max 500 tokens per request", ("input",), Kind.BATCH, "tokens"),
        (400, "please increase max_tokens", (), Kind.ROOM, ""),
        (400, "max_tokens: 9 > 7", (), Kind.ROOM, ""),
        (400, "json_validate_failed", (), Kind.FORM, ""),
        (400, "system role not supported", (), Kind.FIELD, "system"),
        (500, "context size has been exceeded", (), Kind.PACE, ""),
        (400, "think value 'low' is odd", ("reasoning_effort", "temperature"), Kind.FIELD, "reasoning_effort"),
        (400, "think value of temperature", ("temperature",), Kind.FIELD, ""),
    ],
)  # fmt: skip
def test_an_error_is_classified_by_its_words_and_its_status(
    status: int, message: str, sent: tuple[str, ...], kind: Kind, field: str
) -> None:
    found = classify_error(status, Told(message), {}, sent)
    assert (found.kind, found.field, found.status) == (kind, field, status)


def test_credit_that_comes_back_is_a_pause() -> None:
    found = classify_error(402, Told("pay"), {"retry-after": "7"}, ())
    assert (found.kind, found.wait) == (Kind.PACE, 7.0)
    assert classify_error(429, Told("x", "insufficient_quota"), {"retry-after": "7"}, ()).kind == Kind.DOWN
    day = classify_error(429, Told("x", details='"quotaId": "RequestsPerDay"'), {}, ())
    assert (day.kind, day.words, day.field) == (Kind.DOWN, "x (RequestsPerDay)", "day")


@pytest.mark.parametrize(
    ("headers", "message", "wait"),
    [
        ({"retry-after-ms": "1500", "retry-after": "9"}, "", 1.5),
        ({"retry-after-ms": "-5"}, "", 0.0),
        ({"retry-after-ms": "soon", "retry-after": "9"}, "", 9.0),
        ({"retry-after": "-2"}, "try again in 5s", 0.0),
        ({"retry-after": "0.25"}, "", 0.25),
        ({"retry-after": "soon"}, "try again in 1m2.5s", 62.5),
        ({}, "please retry in 20ms", 0.02),
        ({}, "try again in 1h", 3600.0),
        ({}, "try again later", None),
    ],
)
def test_a_wait_is_read_in_each_of_its_forms(headers: dict[str, str], message: str, wait: float | None) -> None:
    assert find_wait(headers, Told(message)) == wait


def test_a_wait_until_a_date_is_what_is_left_until_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_700_000_000.0
    monkeypatch.setattr(outcomes.time, "time", lambda: now)
    assert read_retry_after({"retry-after": formatdate(now + 30, usegmt=True)}) == 30.0
    assert read_retry_after({"retry-after": formatdate(now - 30, usegmt=True)}) == 0.0
    assert read_retry_after({"retry-after": ""}) is None
    assert time.time() == now


def test_what_is_used_up_is_waited_for() -> None:
    def rest(requests: str, tokens: str) -> float:
        left = {"x-ratelimit-remaining-requests": requests, "x-ratelimit-remaining-tokens": tokens}
        return find_rest(left | {"x-ratelimit-reset-requests": "2s", "x-ratelimit-reset-tokens": "1m"})

    assert [rest("0", "0"), rest("0", "1"), rest("1", "0"), rest("1", "1")] == [60.0, 2.0, 60.0, 0.0]
    assert find_rest({"x-ratelimit-remaining-requests": "0"}) == 0.0


# ── replies ──


def say(text: str, **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": text}} | more]}


def test_a_reply_of_a_million_characters_is_one_and_a_longer_one_runs_on() -> None:
    check_length(1_000_000)
    with pytest.raises(Unusable, match="past 1,000,000 characters") as caught:
        check_length(1_000_001)
    assert caught.value.outcome.kind == Kind.RUN_ON
    parts = Parts()
    parts.add(
        {"choices": [{"delta": {"content": "a" * 600_000, "reasoning": "b" * 300_000, "refusal": "c" * 100_000}}]}
    )
    with pytest.raises(Unusable):
        parts.add({"choices": [{"delta": {"refusal": "d"}}]})


@pytest.mark.parametrize(
    ("value", "read"),
    [(0, 0), (7.0, 7), (7.5, None), (-1, None), (100_000_000, 10**8), (100_000_001, None), ("7", None), (None, None)],
)
def test_a_usage_is_believed_up_to_a_hundred_million_tokens(value: Any, read: int | None) -> None:
    reply = {"usage": {"total_tokens": value}}
    assert read_usage(reply, "total_tokens") == read
    assert gives_impossible_usage(reply) == (read is None and value is not None)


@pytest.mark.parametrize(
    ("blanks", "reason", "runs"), [(64, "length", True), (63, "length", False), (64, "stop", False)]
)
def test_a_reply_that_was_cut_in_many_blanks_ran_on(blanks: int, reason: str, runs: bool) -> None:
    found = classify_reply(say("{" + " " * blanks, finish_reason=reason))
    assert (found is not None) == runs
    assert not found or found.kind == Kind.RUN_ON
    assert classify_reply(say(" " * 64, finish_reason="length")) != found or not runs


@pytest.mark.parametrize(("length", "shown"), [(299, 299), (300, 300), (301, 300)])
def test_of_a_refusal_three_hundred_characters_are_told(length: int, shown: int) -> None:
    assert len(name_refusal({"choices": [{"message": {"refusal": "r" * length}}]})) == shown
    both = {"choices": [{"message": {"refusal": "no  way"}, "finish_reason": "SAFETY"}]}
    assert name_refusal(both) == "finish_reason safety; no way"


def event(text: str, **more: Any) -> bytes:
    return b"data: " + msgspec.json.encode({"choices": [{"delta": {"content": text}} | more]})


def hear(*lines: bytes, formed: bool = False) -> tuple[str, list[str]]:
    heard: list[str] = []
    reply = assemble_events(iter(lines), heard.append, {}, formed)  # type: ignore[arg-type]
    return reply["choices"][0]["message"]["content"], heard


def test_pieces_are_put_together_until_the_end_is_said() -> None:
    assert hear(event("a"), b"", b": alive", event("b"), b"data: [DONE]", event("c")) == ("ab", ["a", "b"])
    assert hear(event("a"), event("b", finish_reason="stop")) == ("ab", ["a", "b"])
    with pytest.raises(Unusable, match="ended before its end"):
        hear(event("a"))
    with pytest.raises(Unusable, match="ended before its end"):
        hear(b"noise")
    whole = msgspec.json.encode(say("all at once"))
    assert hear(b": alive", whole) == ("all at once", ["all at once"])
    with pytest.raises(Unusable, match="no JSON"):
        hear(b"data: {")
    with pytest.raises(Unusable, match="too hot"):
        hear(b'data: {"error": {"message": "too hot"}}')


def test_a_reply_that_comes_whole_may_be_four_megabytes_long() -> None:
    assert WHOLE == 4_000_000
    line = b" " * 3_999_998
    with pytest.raises(Unusable):
        hear(b"{" + line)
    with pytest.raises(Oversized, match="more than 4 MB"):
        hear(b"{" + line, b"1")


@pytest.mark.parametrize(("blanks", "formed", "runs"), [(64, True, False), (65, True, True), (65, False, False)])
def test_a_reply_in_a_form_holds_no_more_than_64_blanks_in_a_row(blanks: int, formed: bool, runs: bool) -> None:
    lines = (event("{ "), event(" " * (blanks - 1)), event("}", finish_reason="stop"))
    with pytest.raises(Unusable, match="ran on in blanks") if runs else nullcontext():
        assert hear(*lines, formed=formed)[0] == "{" + " " * blanks + "}"
    parted = (event("{" + " " * 40), event("a" + " " * 40), event("}", finish_reason="stop"))
    assert len(hear(*parted, formed=True)[0]) == 83


@pytest.mark.parametrize(
    ("raw", "said", "own"),
    [
        (b"<html>", "a web page", False),
        (b" no json", "a reply that is no JSON", False),
        (b'{"message": "words"}', r"a reply without content \(words\)", True),
        (b'{"message": ""}', "a reply without content", False),
        (b"3", "a reply without content", False),
        (b'{"choices": [3]}', "a reply whose choices hold no message", True),
        (b'{"choices": [{"message": 3}]}', "a reply whose choices hold no message", True),
        (nest(80), "nested more than 64 deep", True),
    ],
)
def test_what_is_no_reply_says_why(raw: bytes, said: str, own: bool) -> None:
    with pytest.raises(Unusable, match=said) as caught:
        decode_reply(raw, {})
    assert caught.value.outcome.own == own


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("400", 400, Kind.FIELD),
        (429, 429, Kind.PACE),
        ("599", 599, Kind.BROKEN),
        ("600", 0, Kind.BROKEN),
        ("x", 0, Kind.BROKEN),
    ],
)
def test_an_error_that_came_as_a_reply_has_the_status_of_its_code(code: Any, status: int, kind: Kind) -> None:
    found = classify_told({"error": {"message": "odd", "code": code}}, {})
    assert (found.status, found.kind) == (status, kind)


# ── how many at once ──


def test_others_wait_five_seconds_for_the_first_reply_after_a_pause() -> None:
    now = [100.0]
    gate = Gate(8, lambda: now[0])
    gate.brake(gate.enter(), 3.0)
    gate.leave(good=False)
    assert (gate._open(), gate.left(), gate.width) == (1, 3.0, 4)
    now[0] = 107.999
    assert gate._open() == 1
    now[0] = 108.0
    assert (gate._open(), gate.left()) == (4, 0.0)
    now[0] = 104.0
    gate.enter()
    gate.leave(good=True)
    assert gate._open() == 4
    gate.narrow(3)
    assert (gate.most, gate.width) == (3, 3)
    gate.narrow(5)
    assert (gate.most, gate.width) == (3, 3)


def test_after_sixteen_good_replies_four_calls_become_five_and_no_more_than_are_set() -> None:
    gate = Gate(5)
    for _ in range(2):
        gate.brake(time.monotonic() + 1, 0.0)
        gate._braked = 0.0
    assert gate.width == 1
    widths = []
    for _ in range(8 + 8 + 12 + 16 + 40):
        gate.enter()
        gate.leave(good=True)
        widths.append(gate.width)
    assert [widths.index(width) + 1 for width in (2, 3, 4, 5)] == [8, 16, 28, 44]
    assert max(widths) == 5


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("limit: 12,345, requested", 12345),
        ("limit: 1_000, requested", 1000),
        ("limit: 1234567890123, requested", 123456789012),
    ],
)
def test_of_a_figure_twelve_digits_are_read(text: str, figure: int) -> None:
    assert classify_error(400, Told(f"maximum context length is over; {text}"), {}, ()).most == figure
