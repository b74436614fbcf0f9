"""The manners of ten vendors, for whole runs: what each refuses, how it sends replies, and how large its window is."""

from __future__ import annotations

from scripted_vendors import Answer, Asked, event, refuse, streamed


def _is_chat(asked: Asked) -> bool:
    return asked.path.endswith("/chat/completions")


def openai_5(asked: Asked):
    """Hidden thoughts, the other name of the limit, no temperature, and no reply below 2,000 tokens."""
    if not _is_chat(asked):
        return asked.calm()
    if "max_tokens" in asked.body:
        said = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        return refuse(400, said, param="max_tokens", code="unsupported_parameter")
    if asked.body.get("temperature", 1) != 1:
        return refuse(400, "Unsupported value: 'temperature'", param="temperature", code="unsupported_value")
    if asked.limit < 1000:
        return refuse(400, "Could not finish the message because max_tokens or model output limit was reached.")
    thought = 0 if asked.body.get("reasoning_effort") == "none" else 64
    used = {"completion_tokens": thought + 8, "completion_tokens_details": {"reasoning_tokens": thought}}
    return asked.says(asked.text(), used=used)


def openai_4o(asked: Asked):
    headers = {"x-ratelimit-remaining-requests": "9999", "x-ratelimit-reset-requests": "6ms"}
    return Answer(body=asked.calm(), headers=headers)


def gemini(asked: Asked):
    """Errors in lists, asked to wait once, and a form that must not be deep."""
    if asked.count() == 3:
        info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.02s"}
        return Answer(429, [{"error": {"code": 429, "message": "Quota", "details": [info]}}])
    if unknown := [n for n in ("seed", "logit_bias") if n in asked.body]:
        said = f'Invalid JSON payload received. Unknown name "{unknown[0]}": Cannot find field.'
        return Answer(400, [{"error": {"code": 400, "message": said, "status": "INVALID_ARGUMENT"}}])
    return asked.calm()


def mistral(asked: Asked):
    if not _is_chat(asked):
        return asked.calm()
    thoughts = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm [1]"}]}
    return asked.says([thoughts, {"type": "text", "text": asked.text()}])


def vllm_qwen(asked: Asked):
    """Objects among the thoughts, thoughts in the text, and a window of 12,000 tokens."""
    if not _is_chat(asked):
        return asked.calm()
    if asked.tokens + asked.limit > 12_000:
        said = (
            f"This model's maximum context length is 12000 tokens. However, you requested {asked.tokens + asked.limit} "
        )
        said += f"tokens ({asked.tokens} in the messages, {asked.limit} in the completion)."
        return Answer(400, {"object": "error", "message": said, "type": "BadRequestError", "code": 400})
    if asked.form and asked.text().startswith("{"):
        return asked.says(None, reasoning_content=asked.text())
    return asked.says(f"<think>\n\n</think>\n\n{asked.text()}")


def ollama_4k(asked: Asked):
    """What is longer than its window is cut without a word; one call at a time."""
    if not _is_chat(asked):
        return asked.calm()
    counted = min(asked.tokens, 4096)
    return asked.says(asked.text(), used={"prompt_tokens": counted}, reasoning="Hm")


def llamacpp(asked: Asked):
    if asked.count() < 2:
        return refuse(503, "Loading model", code=503, type="unavailable_error")
    if _is_chat(asked) and asked.tokens > 8192:
        error = {"code": 400, "message": "the request exceeds the available context size, try increasing it"}
        error |= {"type": "exceed_context_size_error", "n_prompt_tokens": asked.tokens, "n_ctx": 8192}
        return Answer(400, {"error": error})
    return asked.calm()


def lmstudio(asked: Asked):
    if asked.form == "json_object":
        return Answer(400, {"error": "'response_format.type' must be 'json_schema' or 'text'"})
    return asked.calm()


def openrouter(asked: Asked):
    """Comments between events, an error in a reply of status 200, and parameters that no provider takes."""
    if not _is_chat(asked):
        return asked.calm()
    if "seed" in asked.body:
        return refuse(404, "No endpoints found that can handle the requested parameters.", code=404)
    if asked.count() == 5:
        return Answer(body={"error": {"code": 502, "message": "Upstream provider exploded"}}, whole=True)
    wait = b": OPENROUTER PROCESSING\n\n"
    return streamed(wait, event({"content": asked.text()}), wait, event({}, "stop"), b"data: [DONE]\n\n")


def groq_6k(asked: Asked):
    """6,000 tokens a call with the room for its reply, and forms that fail now and then."""
    if not _is_chat(asked):
        return asked.calm()
    if (need := asked.tokens + asked.limit) > 6000:
        said = f"Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested {need}"
        return refuse(413, said, type="tokens", code="rate_limit_exceeded")
    if asked.count() % 7 == 2:
        return refuse(400, "Failed to generate JSON.", code="json_validate_failed", failed_generation="{")
    return asked.calm()


VENDORS = [openai_5, openai_4o, gemini, mistral, vllm_qwen, ollama_4k, llamacpp, lmstudio, openrouter, groq_6k]
FITTED = ("ollama_4k", "groq_6k")  # what does not fit is left out there, so that reports may differ


WINDOW = 4096


def small_window(asked: Asked):
    """A server that refuses what does not fit, with the words of vLLM."""
    if not _is_chat(asked) or asked.tokens + asked.limit <= WINDOW:
        return asked.calm()
    said = (
        f"This model's maximum context length is {WINDOW} tokens. However, you requested {asked.tokens + asked.limit} "
    )
    said += f"tokens ({asked.tokens} in the messages, {asked.limit} in the completion)."
    return Answer(400, {"object": "error", "message": said, "type": "BadRequestError", "code": 400})
