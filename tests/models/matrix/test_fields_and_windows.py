"""Rows 1–32: fields that are refused, limits of replies, and windows."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from models.matrix.rows import Row, Run, cases, check_row, serving
from scripted_vendors import Answer, Asked, VendorServer, refuse
from sensegraph.types import Extraction

# ── fields ──

_OTHER_NAME = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
)


def temp_value(asked: Asked):
    if asked.body.get("temperature", 1) != 1:
        said = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is "
        said += "supported."
        return refuse(400, said, param="temperature", code="unsupported_value")
    return asked.calm()


def temp_param(asked: Asked):
    if "temperature" in asked.body:
        said = "Unsupported parameter: 'temperature' is not supported with this model."
        return refuse(400, said, param="temperature", code="unsupported_parameter")
    return asked.calm()


def temp_and_limit(asked: Asked):
    return max_tokens_renamed(asked) if "max_tokens" in asked.body else temp_value(asked)


def max_tokens_renamed(asked: Asked):
    if "max_tokens" in asked.body:
        return refuse(400, _OTHER_NAME, param="max_tokens", code="unsupported_parameter")
    return asked.calm()


def _extra_forbidden(name: str):
    return {"detail": [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"}]}


def mistral_422(asked: Asked):
    if "max_completion_tokens" in asked.body:
        error = {"object": "error", "message": _extra_forbidden("max_completion_tokens"), "param": None, "code": None}
        return Answer(422, error)
    return asked.calm()


def seed_422(asked: Asked):
    return Answer(422, _extra_forbidden("seed")) if "seed" in asked.body else asked.calm()


def seed_gemini(asked: Asked):
    if "seed" in asked.body:
        said = 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'
        return Answer(400, [{"error": {"code": 400, "message": said, "status": "INVALID_ARGUMENT"}}])
    return asked.calm()


def detail_string(asked: Asked):
    if "seed" in asked.body:
        said = msgspec.json.encode(_extra_forbidden("seed")).decode()
        return Answer(422, {"object": "error", "message": said, "type": "invalid_request_error", "code": None})
    return asked.calm()


def logit_bias_refused(asked: Asked):
    if "logit_bias" in asked.body:
        return refuse(400, "logit_bias is not supported by this model")
    return asked.calm()


def system_refused(asked: Asked):
    if any(m["role"] == "system" for m in asked.talk):
        return refuse(400, "Only user and assistant roles are supported!")
    return asked.calm()


def stream_options_refused(asked: Asked):
    if "stream_options" in asked.body:
        return refuse(400, "Unrecognized request argument supplied: stream_options")
    return asked.calm()


def extra_body_refused(asked: Asked):
    if "chat_template_kwargs" in asked.body:
        return refuse(400, "Unrecognized request argument supplied: chat_template_kwargs")
    return asked.calm()


def effort_refused(asked: Asked):
    if asked.body.get("reasoning_effort") in ("none", "minimal"):
        said = "Unsupported value: 'reasoning_effort' does not support 'none' with this model."
        return refuse(400, said, param="reasoning_effort", code="unsupported_value")
    return asked.calm()


def think_not_supported(asked: Asked):
    if "reasoning_effort" in asked.body:
        return refuse(400, 'think value "medium" is not supported for this model')
    return asked.calm()


def openrouter_404_params(asked: Asked):
    if "temperature" in asked.body:
        return refuse(404, "No endpoints found that can handle the requested parameters.", code=404)
    return asked.calm()


def openrouter_404_always(asked: Asked):
    return refuse(404, "No endpoints found that can handle the requested parameters.", code=404)


def _never(name: str, after: int):
    def check(run: Run) -> None:
        assert all(name not in b for b in run.bodies[after:])

    return check


def _ends_low(run: Run) -> None:
    assert run.bodies[-1]["reasoning_effort"] == "low"


FIELDS = [
    Row("1", temp_value, "EA", lost=1, said="temperature", check=_never("temperature", 1)),
    Row("1b", temp_value, "T", lost=1, said="temperature"),
    Row("2", temp_param, "EA", lost=1, said="temperature"),
    Row("3", temp_and_limit, "EA", lost=2, said="temperature"),
    Row("4", max_tokens_renamed, "EA", lost=1),
    Row("5", mistral_422, "EA"),
    Row("6", seed_422, "EA", lost=1, said="seed.*reproduc", endpoint={"seed": 7}),
    Row("7", seed_gemini, "EA", lost=1, said="seed.*reproduc", endpoint={"seed": 7}),
    Row("8", detail_string, "EA", lost=1, said="seed.*reproduc", endpoint={"seed": 7}),
    Row("9", logit_bias_refused, "VV", lost=1, said="bias", endpoint={"model": "gpt-4o-mini"}),
    Row("10", system_refused, "EA", lost=1, said="system"),
    Row("11", stream_options_refused, "EA", lost=1, said="stream_options"),
    Row(
        "12",
        extra_body_refused,
        fails="endpoint.extra_body.*chat_template_kwargs|chat_template_kwargs.*endpoint.extra_body",
        endpoint={"extra_body": {"chat_template_kwargs": {"enable_thinking": False}}},
    ),
    Row("13", effort_refused, "EA", lost=2, endpoint={"thoughts": "off"}, check=_ends_low),
    Row("14", think_not_supported, "EA", lost=1, said="think", endpoint={"thoughts": "medium"}),
    Row("15", openrouter_404_params, "EA", lost=4, said="temperature"),
    Row("15b", openrouter_404_always, "E", fails="requested parameters", lost=18),
]


# ── limits and windows ──


def output_limit_400(asked: Asked, least: int = 1000):
    if asked.limit < least:
        said = (
            "Could not finish the message because max_tokens or model output limit was reached. Please try again with "
        )
        return refuse(400, said + "higher max_tokens.")
    return asked.calm()


def output_limit_high(asked: Asked):
    return output_limit_400(asked, 5000)


def max_out_2048(asked: Asked):
    if asked.limit > 2048:
        said = f"max_tokens is too large: {asked.limit}. This model supports at most 2048 completion tokens"
        return refuse(400, said, param="max_tokens", code="invalid_value")
    return asked.calm()


def groq_16384(asked: Asked):
    if asked.limit > 2048:
        return refuse(
            400, "`max_completion_tokens` must be less than or equal to `2048`, the maximum value for this model"
        )
    return asked.calm()


def openai_ctx(asked: Asked):
    if asked.tokens + asked.limit > 8192:
        said = "This model's maximum context length is 8192 tokens. "
        said += f"However, your messages resulted in {asked.tokens} tokens"
        return refuse(400, said, param="messages", code="context_length_exceeded")
    return asked.calm()


def _old_vllm(said: str):
    return Answer(400, {"object": "error", "message": said, "type": "BadRequestError", "param": None, "code": 400})


def vllm_ctx(asked: Asked):
    need = asked.tokens + asked.limit
    if need > 4096:
        return _old_vllm(
            f"This model's maximum context length is 4096 tokens. However, you requested {need} tokens ({asked.tokens} "
            f"in the messages, {asked.limit} in the completion). Please reduce the length of the messages."
        )
    return asked.calm()


def vllm_negative(asked: Asked):
    if asked.tokens > 4096:
        return _old_vllm(f"max_tokens must be at least 1, got {4096 - asked.tokens}.")
    return vllm_ctx(asked)


def vllm_new(asked: Asked):
    if asked.tokens + asked.limit > 4096:
        said = (
            f"'max_tokens' or 'max_completion_tokens' is too large: {asked.limit}. This model's maximum context length "
            f"is 4096 tokens and your request has {asked.tokens} input tokens ({asked.limit} > 4096 - {asked.tokens})."
        )
        return Answer(400, {"error": {"message": said, "type": "BadRequestError", "param": None, "code": 400}})
    return asked.calm()


def _llamacpp(asked: Asked, status: int):
    if asked.tokens > 8192:
        said = "the request exceeds the available context size, try increasing it"
        error = {"code": 400, "message": said, "type": "exceed_context_size_error"}
        return Answer(status, {"error": error | {"n_prompt_tokens": asked.tokens, "n_ctx": 8192}})
    return asked.calm()


def llamacpp_ctx(asked: Asked):
    return _llamacpp(asked, 400)


def llamacpp_ctx_500(asked: Asked):
    return _llamacpp(asked, 500)


def llamacpp_ctx_200(asked: Asked):
    return _llamacpp(asked, 200)


def llamacpp_pool(asked: Asked):
    asked.state["under_way"] = asked.state.get("under_way", 0) + 1
    full = asked.state["under_way"] > 4
    yielded = asked.calm()
    import time

    time.sleep(0.01)
    asked.state["under_way"] -= 1
    return Answer(500, {"error": {"code": 500, "message": "Context size has been exceeded."}}) if full else yielded


def silent_cut(asked: Asked):
    return asked.says(asked.text(), used={"prompt_tokens": 96})


def silent_cut_4096(asked: Asked):
    return asked.says(asked.text(), used={"prompt_tokens": min(asked.tokens, 4096)})


def silent_cut_total(asked: Asked):
    used = {"prompt_tokens": asked.tokens, "completion_tokens": 4096 - asked.tokens}
    return asked.says(asked.text()[:-5], "length", used)


def usage_ratio(asked: Asked):
    return asked.says(asked.text(), used={"prompt_tokens": int(asked.tokens * 1.25)})


def usage_cached_zero(asked: Asked):
    return asked.says(asked.text(), used={"prompt_tokens": 0})


def groq_413(asked: Asked):
    need = asked.tokens + asked.limit
    if need > 4000:
        said = (
            "Request too large for model `llama` in organization `org` service tier `on_demand` on tokens per minute "
            f"(TPM): Limit 4000, Requested {need}, please reduce your message size and try again."
        )
        return refuse(413, said, type="tokens", code="rate_limit_exceeded")
    return asked.calm()


def openai_429_too_large(asked: Asked):
    said = "Request too large for gpt-4o in organization org on tokens per min (TPM): Limit 30000, Requested 46000."
    return refuse(429, said, type="tokens", code="rate_limit_exceeded")


def _limits_are(most: int):
    def check(run: Run) -> None:
        assert all((b.get("max_tokens") or b["max_completion_tokens"]) <= most for b in run.bodies[1:])

    return check


def _answered_in_part(run: Run) -> None:
    (draft,) = run.results
    assert draft.statements
    assert any("left out" in n for n in draft.notes)


def _prompts_are_counted(run: Run) -> None:
    assert run.endpoint.usage().prompt_tokens > 100
    assert all(isinstance(r, Extraction) for r in run.results)


FITTED = {"differs": True, "check": _answered_in_part}
WINDOWS = [
    Row("16", output_limit_400, "VVE", lost=1),
    Row("16b", output_limit_high, "EE", lost=1),
    Row("17", max_out_2048, "EA", lost=1, check=_limits_are(2048)),
    Row("18", groq_16384, "EA", lost=1, check=_limits_are(2048)),
    Row("19", openai_ctx, "B", lost=1, **FITTED),
    Row("20", vllm_ctx, "E", lost=1, check=_limits_are(3900)),
    Row("21", vllm_negative, "B", lost=2, **FITTED),
    Row("22", vllm_new, "E", lost=1, check=_limits_are(3900)),
    Row("23", llamacpp_ctx, "B", lost=1, **FITTED),
    Row("24", llamacpp_ctx_500, "B", lost=1, **FITTED),
    Row("25", llamacpp_ctx_200, "B", lost=1, **FITTED),
    Row("26", llamacpp_pool, "T", lost=35),
    Row("27", silent_cut, "E", fails="96 .*tokens", lost=1, kind="window"),
    Row("27b", silent_cut_4096, "B", lost=2, said="cut", **FITTED),
    Row("28", silent_cut_total, "E", fails="cut off", lost=5, said="window is 4,096", kind="cut off"),
    Row("29", usage_ratio, "EA", check=lambda run: _nothing_is_said(run)),
    Row("30", usage_cached_zero, "E", check=_prompts_are_counted),
    Row("31", groq_413, "E", lost=1, check=_limits_are(3900)),
    Row("32", openai_429_too_large, "E", fails="Limit 30,?000.*Requested 46,?000"),
]


def _nothing_is_said(run: Run) -> None:
    assert run.notes == ""


@pytest.fixture(scope="module")
def server() -> Iterator[VendorServer]:
    with serving([*FIELDS, *WINDOWS]) as made:
        yield made


@pytest.mark.parametrize("row", cases(FIELDS))
def test_a_field_that_is_refused_is_left_out_once_and_said(server: VendorServer, row: Row) -> None:
    check_row(server, row)


@pytest.mark.parametrize("row", cases(WINDOWS))
def test_what_does_not_fit_is_made_to_fit_or_named(server: VendorServer, row: Row) -> None:
    check_row(server, row)
