"""Rows 74–106: pace, servers that are slow, busy, broken or closed, and streams."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from models.matrix.rows import Row, Run, cases, check_row, serving
from scripted_vendors import DONE, Answer, Asked, VendorServer, event, refuse, streamed

# ── pace: 10 ms stand for a second ──


def _first(asked: Asked, answer: object, times: int = 1):
    return answer if asked.count() < times else asked.calm()


def openai_429_tpm(asked: Asked):
    said = "Rate limit reached for gpt-4o on tokens per min (TPM). Please slow down."
    return _first(asked, refuse(429, said, {"retry-after-ms": "120"}, code="rate_limit_exceeded"))


def openai_429_in_words(asked: Asked):
    said = "Rate limit reached for gpt-4o on requests per min (RPM). Please try again in 120ms. Visit …"
    return _first(asked, refuse(429, said, code="rate_limit_exceeded"))


def gemini_429(asked: Asked):
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.12s"}
    error = {
        "code": 429,
        "message": "You exceeded your current quota.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [info],
    }
    return _first(asked, Answer(429, [{"error": error}]))


def gemini_429_per_day(asked: Asked):
    violation = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaValue": "250"}
    failure = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}
    error = {"code": 429, "message": "You exceeded your current quota.", "status": "RESOURCE_EXHAUSTED"}
    return Answer(429, [{"error": error | {"details": [failure]}}])


def ratelimit_headers(asked: Asked):
    if asked.count():
        return asked.calm()
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "120ms"}
    return Answer(body=asked.calm(), headers=headers)


def storm_429(asked: Asked):
    """A bucket of 30 requests that gets one more every 10 ms."""
    now = time.monotonic()
    with asked.lock:
        level, last = asked.state.get("bucket", (30.0, now))
        level = min(30.0, level + (now - last) * 100)
        asked.state["bucket"] = (level - 1 if level >= 1 else level, now)
    if level < 1:
        return refuse(429, "Rate limit reached. Please try again in 10ms.", code="rate_limit_exceeded")
    return Answer(body=asked.calm(), wait=0.015)


def anthropic_529(asked: Asked):
    return _first(
        asked, Answer(529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}), 2
    )


def ollama_503_busy(asked: Asked):
    return _first(asked, Answer(503, {"error": "server busy, please try again.  maximum pending requests exceeded"}), 2)


def llamacpp_503_loading(asked: Asked):
    return _first(asked, refuse(503, "Loading model", code=503, type="unavailable_error"), 8)


def html_502(asked: Asked):
    return _first(asked, Answer(502, b"<html><body>502 Bad Gateway</body></html>"), 2)


def html_200(asked: Asked):
    return Answer(body=b"<!doctype html><html><body>Welcome to Open WebUI</body></html>")


def one_slot(asked: Asked):
    with asked.state.setdefault("slot", asked.lock):
        time.sleep(0.015)
    return asked.calm()


def sixteen_slots(asked: Asked):
    return Answer(body=asked.calm(), wait=0.08)


def slow_reply(asked: Asked):
    text = asked.text()
    pieces = [event({"content": text[i : i + 20]}) for i in range(0, len(text), 20)]
    return streamed(*(p for piece in pieces for p in (0.03, piece)), event({}, "stop"), DONE)


def st_slow_think(asked: Asked):
    thoughts = [p for _ in range(20) for p in (0.03, event({"reasoning_content": "hm "}))]
    return streamed(*thoughts, event({"content": asked.text()}), event({}, "stop"), DONE)


def silent_hang(asked: Asked):
    return _first(asked, streamed(event({"role": "assistant", "content": ""}), end="hang"))


def drop_midway(asked: Asked):
    return _first(asked, streamed(event({"content": '{"answer": "Ma'}), 0.01, end="drop"))


def chunked_half(asked: Asked):
    return _first(asked, streamed(event({"content": '{"answer": "Ma'})[:30], 0.01, end="drop"))


def auth_azure(asked: Asked):
    said = "Access denied due to invalid subscription key or wrong API endpoint."
    return Answer(401, {"error": {"code": "401", "message": said}})


def insufficient_quota(asked: Asked):
    return refuse(429, "You exceeded your current quota, please check your plan.", code="insufficient_quota")


def model_404(asked: Asked):
    return refuse(404, "The model `scripted` does not exist or you do not have access to it.", code="model_not_found")


def key_needs_header(asked: Asked):
    return asked.calm() if asked.headers.get("api-key") == "key-of-mine" else auth_azure(asked)


def redirect_308(asked: Asked):
    return Answer(308, b"", {"Location": "https://elsewhere.example/v1"})


def _waited(run: Run) -> None:
    first, second = run.requests[:2]
    assert second.began - first.ended >= 0.115


def _ended_at_once(run: Run) -> None:
    assert type(run.results[0]).__name__ == "EndpointDown"


def _all_slots_are_used(run: Run) -> None:
    """Sixteen at once but for the first call, which shows what the endpoint takes."""
    at_once = [sum(r.began <= one.began < r.ended for r in run.requests) for one in run.requests]
    assert max(at_once) == 16
    assert at_once[:2] == [1, 1]


PATIENT = {"silence_s": 0.25}
PACE = [
    Row("74", openai_429_tpm, "E", lost=1, check=_waited),
    Row("74b", openai_429_in_words, "E", lost=1, check=_waited),
    Row("75", gemini_429, "E", lost=1, check=_waited),
    Row("76", gemini_429_per_day, "E", fails="PerDay", kind="down", check=_ended_at_once),
    Row("77", ratelimit_headers, "E", check=_waited),
    Row("78", storm_429, "TTT", lost=21, endpoint={"backoff_s": 0.01}),
    Row("79", anthropic_529, "E", lost=2),
    Row("80", ollama_503_busy, "E", lost=2),
    Row("81", llamacpp_503_loading, "E", lost=8, endpoint={"max_retries": 8}),
    Row("82", html_502, "E", lost=2),
    Row("83", html_200, "E", fails="no API.*base_url", lost=3, kind="down"),
    Row("84", one_slot, "T", endpoint=PATIENT),
    Row("84b", sixteen_slots, "TTT", check=_all_slots_are_used),
    Row("85", slow_reply, "A", endpoint=PATIENT),
    Row("86", st_slow_think, "A", endpoint=PATIENT),
    Row("87", silent_hang, "E", lost=1, endpoint={"silence_s": 0.1}),
    Row("88", drop_midway, "EA", lost=1),
    Row("89", chunked_half, "EA", lost=1),
    Row("90", auth_azure, "E", fails="key.*Access denied", kind="down"),
    Row("91", insufficient_quota, "E", fails="credit", kind="down"),
    Row("92", model_404, "E", fails="No such model", kind="down"),
    Row("93", key_needs_header, "EA", endpoint={"auth": "api-key"}),
    Row("94", redirect_308, "E", fails="sends to https://elsewhere.example", kind="down"),
]


# ── streams ──


def _pieces(asked: Asked) -> list[bytes]:
    text = asked.text()
    return [event({"content": text[i : i + 30]}) for i in range(0, len(text), 30)]


def st_comments(asked: Asked):
    return streamed(
        b": OPENROUTER PROCESSING\n\n", *_pieces(asked), b": OPENROUTER PROCESSING\n\n", event({}, "stop"), DONE
    )


def st_role(asked: Asked):
    return streamed(event({"role": "assistant", "content": ""}), *_pieces(asked), event({}, "stop"), DONE)


def st_usage_last(asked: Asked):
    return streamed(*_pieces(asked), event({}, "stop"), event(usage=asked.calm()["usage"], choices=None), DONE)


def st_no_done(asked: Asked):
    return streamed(*_pieces(asked), event({}, "stop"))


def st_no_finish(asked: Asked):
    return streamed(*_pieces(asked), DONE)


def st_azure_first(asked: Asked):
    return streamed(event(prompt_filter_results=[{"prompt_index": 0}]), *_pieces(asked), event({}, "stop"), DONE)


def st_reasoning_then(asked: Asked):
    return streamed(event({"reasoning_content": "Hm {x}"}), *_pieces(asked), event({}, "stop"), DONE)


def st_think_text(asked: Asked):
    return streamed(
        event({"content": "<think>Hm {x}"}), event({"content": "</think>"}), *_pieces(asked), event({}, "stop"), DONE
    )


def st_error_first(asked: Asked):
    if asked.tokens > 8192:
        said = f"prompt is too long: {asked.tokens} tokens > 8192 maximum"
        return streamed(event(error={"code": 400, "message": said}), DONE)
    return asked.calm()


def st_error_midway(asked: Asked):
    return streamed(*_pieces(asked)[:2], event({}, "error", error={"code": 502, "message": "Provider disconnected"}))


def st_error_midway_once(asked: Asked):
    return st_error_midway(asked) if asked.count() == 0 else asked.calm()


def st_think_open(asked: Asked):
    return streamed(
        event({"content": "<think>Okay, the harbour. "}), event({"content": "It is big."}), event({}, "length")
    )


def st_content_filter(asked: Asked):
    return streamed(*_pieces(asked)[:2], event({}, "content_filter"), DONE)


def _answered_in_part(run: Run) -> None:
    assert run.results[0].statements
    assert any("left out" in n for n in run.results[0].notes)


def _nothing_was_told(run: Run) -> None:
    assert run.told == []


def _the_answer_was_told(run: Run) -> None:
    assert run.told == [s.text for s in run.results[-1].statements]


STREAMS = [
    *(
        Row(number, serve, "AS", check=_the_answer_was_told)
        for number, serve in (
            ("95", st_comments),
            ("96", st_role),
            ("97", st_usage_last),
            ("98", st_no_done),
            ("99", st_no_finish),
            ("100", st_azure_first),
            ("101", st_reasoning_then),
            ("102", st_think_text),
        )
    ),
    Row("103", st_error_first, "B", lost=1, differs=True, check=_answered_in_part),
    Row("104", st_error_midway, "S", fails="Provider disconnected", kind="broken"),
    Row("104b", st_error_midway_once, "AS", lost=1),
    Row("105", st_think_open, "S", fails="thoughts", lost=2, kind="thoughts only", check=_nothing_was_told),
    Row("106", st_content_filter, "S", fails="content_filter", kind="content refused"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[VendorServer]:
    with serving([*PACE, *STREAMS]) as made:
        yield made


@pytest.mark.parametrize("row", cases(PACE))
def test_the_client_goes_at_the_pace_of_the_server(server: VendorServer, row: Row) -> None:
    check_row(server, row)


@pytest.mark.parametrize("row", cases(STREAMS))
def test_a_stream_is_told_when_it_is_sure(server: VendorServer, row: Row) -> None:
    check_row(server, row)
