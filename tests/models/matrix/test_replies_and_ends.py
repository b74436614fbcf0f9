"""Rows 33–73: the form of replies, thoughts, ends, and what is refused by a filter or the model."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from models.matrix.rows import MARK, Row, Run, cases, check_row, serving
from scripted_vendors import Answer, Asked, VendorServer, event, refuse, streamed

# ── forms ──


def schema_unavailable(asked: Asked):
    if asked.form == "json_schema":
        return refuse(400, "This response_format type is unavailable now")
    return json_word_missing(asked)


def json_word_missing(asked: Asked):
    if asked.form == "json_object" and not asked.about("json") and not asked.about("JSON"):
        return refuse(
            400, "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
        )
    if asked.form == "json_schema":
        return refuse(
            400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."
        )
    return asked.calm()


def lmstudio(asked: Asked):
    if asked.form == "json_object":
        return Answer(400, {"error": "'response_format.type' must be 'json_schema' or 'text'"})
    return asked.calm()


def schema_ignored(asked: Asked):
    return asked.says(f"Sure! Here it is:\n```json\n{asked.text()}\n```\nLet me know.")


def _refused_schema(asked: Asked, name: str, said: str):
    if asked.body.get("response_format", {}).get("json_schema", {}).get("name") == name:
        return refuse(400, said, code="INVALID_ARGUMENT")
    return asked.calm()


def nesting_depth(asked: Asked):
    return _refused_schema(asked, "answer", "Invalid schema: exceeds the maximum allowed nesting depth of 4.")


def too_many_states(asked: Asked):
    said = "The specified schema produces a constraint that has too many states for serving."
    return _refused_schema(asked, "answer", said)


def groq_json_validate_once(asked: Asked):
    if asked.count() == 0:
        said = "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details."
        return refuse(400, said, code="json_validate_failed", failed_generation='{"entities": [')
    return asked.calm()


def whitespace_run(asked: Asked):
    if not asked.form:
        return asked.calm()
    if asked.body.get("stream"):
        return streamed(*(event({"content": t}) for t in ['{"answer": "x"', *["\n  " * 8] * 60]), event({}, "length"))
    return asked.says('{"answer": "x"' + "\n  " * 500, "length")


def wrapper_model(asked: Asked):
    return asked.says(json.dumps({"Model": json.loads(asked.text())}))


def wrapper_properties(asked: Asked):
    return asked.says(json.dumps({"properties": json.loads(asked.text())}))


def other_keys(asked: Asked):
    found = json.loads(asked.text())
    entities = [
        {"entity_name": e["name"], "entity_type": e["type"], "entity_description": e["description"]}
        for e in found["entities"]
    ]
    relations = [
        {"Source": r["source"], "Target": r["target"], "Description": r["description"], "Strength": r["strength"]}
        for r in found["relations"]
    ]
    return asked.says(json.dumps({"Entities": entities, "Relationships": relations}))


def _once(asked: Asked, content: str):
    return asked.calm() if asked.again else asked.says(content)


def list_of_names(asked: Asked):
    return _once(asked, '["Mara Voss", "Lindholm"]')


def list_of_triples(asked: Asked):
    return _once(asked, '[["Mara Voss", "runs", "Lindholm"]]')


def empty_list(asked: Asked):
    return _once(asked, "[]")


def sorry_with_a_bracket(asked: Asked):
    return _once(asked, "I'm sorry [1], I can't help with that.")


def entities_string(asked: Asked):
    return _once(asked, '{"entities": "Mara Voss"}')


def empty_where_names_stand(asked: Asked):
    return _once(asked, '{"entities": [], "relations": []}')


def stubborn_list_of_names(asked: Asked):
    return asked.says('["Mara Voss", "Lindholm"]')


def array_without_end(asked: Asked):
    listed = [{"name": f"Name {i}", "type": "person", "description": "So."} for i in range(900)]
    return asked.says(json.dumps({"entities": listed})[:-40], "length")


def _json_was_named(run: Run) -> None:
    assert "must contain" not in run.notes
    assert {"json_object"} >= {
        b.get("response_format", {}).get("type") for b in run.bodies[4:] if "response_format" in b
    }


def _schema_is_kept(run: Run) -> None:
    assert run.bodies[-1]["response_format"]["type"] == "json_schema"


def _asked_freely(run: Run) -> None:
    assert "response_format" not in run.bodies[1]
    assert run.bodies[1]["temperature"] == 0.5


def _whole_records_are_kept(run: Run) -> None:
    assert all("cut off" in str(found) for found in run.results)
    assert all(len(found.instead.entities) > 800 for found in run.results)


FORMS = [
    Row("33", schema_unavailable, "EA", lost=2, said="response_format json_schema"),
    Row("34", json_word_missing, "EAE", lost=2, check=_json_was_named),
    Row("35", lmstudio, "EA"),
    Row("36", schema_ignored, "EA"),
    Row("37", nesting_depth, "EAE", lost=1, check=_schema_is_kept),
    Row("38", too_many_states, "EAE", lost=1, check=_schema_is_kept),
    Row("39", groq_json_validate_once, "EA", lost=1, check=_schema_is_kept),
    Row("40", whitespace_run, "A", lost=1, check=_asked_freely),
    Row("41", wrapper_model, "EA"),
    Row("41b", wrapper_properties, "EA"),
    Row("42", other_keys, "E"),
    Row("43", list_of_names, "E", lost=3),
    Row("43b", list_of_triples, "E", lost=3),
    Row("43c", empty_list, "E", lost=3),
    Row("43d", sorry_with_a_bracket, "E", lost=3),
    Row("43e", stubborn_list_of_names, "E", fails="unusable", lost=3, kind="form"),
    Row("44", entities_string, "E", lost=3),
    Row("44b", empty_where_names_stand, "E", lost=3),
    Row("45", array_without_end, "E", fails="cut off", lost=6, kind="cut off", check=_whole_records_are_kept),
]


# ── thoughts ──


def think_open(asked: Asked):
    return asked.calm() if asked.limit >= 5000 else asked.says("<think>Okay, the user wants", "length")


def think_open_always(asked: Asked):
    return asked.says("<think>Okay, the user wants", "length", {"completion_tokens": asked.limit})


def think_whole(asked: Asked):
    return asked.says(f"<think>Let me see {{maybe}} [1].</think>\n\n{asked.text()}")


def think_no_open(asked: Asked):
    return asked.says(f"Let me see [1] {{x}}.</think>{asked.text()}")


def think_empty(asked: Asked):
    return asked.says(f"<think>\n\n</think>\n\n{asked.text()}")


def think_bracket(asked: Asked):
    return asked.says(f"[THINK]I look at {{this}} and [that].[/THINK]{asked.text()}")


def harmony_leak(asked: Asked):
    thoughts = "<|channel|>analysis<|message|>We need {entities} [now].<|end|><|start|>assistant"
    return asked.says(f"{thoughts}<|channel|>final<|message|>{asked.text()}")


def gemma_channel(asked: Asked):
    return asked.says(f"<|channel>thought\nI see {{it}}.\n<channel|>{asked.text()}")


def content_list(asked: Asked):
    thoughts = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm {x}"}]}
    return Answer(body=asked.says([thoughts, {"type": "text", "text": asked.text()}]), whole=True)


def st_content_list(asked: Asked):
    return asked.says([{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": asked.text()}])


def _only_thoughts(asked: Asked, **said: object):
    if asked.limit >= 5000:
        return asked.calm()
    used = {"completion_tokens": asked.limit, "completion_tokens_details": {"reasoning_tokens": asked.limit}}
    return asked.says(None, "length", used, **said)


def reasoning_only(asked: Asked):
    return _only_thoughts(asked, reasoning_content="Well, let me think about")


def reasoning_only_always(asked: Asked):
    used = {"completion_tokens": asked.limit, "completion_tokens_details": {"reasoning_tokens": asked.limit}}
    return asked.says(None, "length", used, reasoning_content="Well, let me think about")


def json_in_reasoning(asked: Asked):
    return asked.says(None, reasoning_content=asked.text())


def field_reasoning(asked: Asked):
    return _only_thoughts(asked, reasoning="Well")


def json_in_reasoning_field(asked: Asked):
    return asked.says(None, reasoning=asked.text())


def reasoning_details(asked: Asked):
    return _only_thoughts(asked, reasoning_details=[{"type": "reasoning.text", "text": "Well"}])


def v_thinks(asked: Asked):
    return asked.calm() if asked.limit >= 300 else asked.says("", "length", {"completion_tokens": asked.limit})


THOUGHTS = [
    Row("46", think_open, "EA", lost=2),
    Row("46b", think_open_always, "EA", fails="thoughts", lost=8, kind="thoughts only"),
    Row("47", think_whole, "EAV"),
    Row("48", think_no_open, "EAV"),
    Row("49", think_empty, "EAV"),
    Row("50", think_bracket, "EAV"),
    Row("51", harmony_leak, "EAV"),
    Row("52", gemma_channel, "EAV"),
    Row("53", content_list, "EAV"),
    Row("54", st_content_list, "EASV"),
    Row("55", reasoning_only, "EA", lost=2),
    Row("55b", reasoning_only_always, "EA", fails="thoughts", lost=8, kind="thoughts only"),
    Row("56", json_in_reasoning, "EA", said="thoughts|reasoning"),
    Row("57", field_reasoning, "EA", lost=2),
    Row("57b", json_in_reasoning_field, "EA", said="thoughts|reasoning"),
    Row("58", reasoning_details, "EA", lost=2),
    Row("59", v_thinks, "VVV", lost=2),
]


# ── ends and refusals ──


def _of_one(asked: Asked, answer: object):
    return answer if asked.about(MARK) else asked.calm()


def content_filter_finish(asked: Asked):
    return _of_one(asked, asked.says("", "content_filter"))


def content_filter_partial(asked: Asked):
    return _of_one(asked, asked.says(asked.text()[:60], "content_filter"))


def azure_content_filter(asked: Asked):
    said = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
    inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"violence": {"filtered": True}}}
    return _of_one(asked, refuse(400, said, code="content_filter", param="prompt", innererror=inner))


def refusal_field(asked: Asked):
    return _of_one(asked, asked.says(None, refusal="I'm not able to read that."))


def openrouter_moderation_403(asked: Asked):
    error = {
        "code": 403,
        "message": "Input was flagged",
        "metadata": {"reasons": ["violence"], "flagged_input": "Mara"},
    }
    return _of_one(asked, Answer(403, {"error": error}))


def declined_in_words(asked: Asked):
    return _of_one(asked, asked.says("I'm sorry, but I can't help with that request."))


def openrouter_200_error(asked: Asked):
    return _of_one(asked, Answer(body={"error": {"code": 502, "message": "Upstream provider exploded"}}, whole=True))


def openrouter_finish_error(asked: Asked):
    if asked.count():
        return asked.calm()
    reply = asked.says(asked.text()[:50], "error")
    return reply | {"error": {"code": 502, "message": "Upstream provider exploded"}}


def st_finish_error_only(asked: Asked):
    return asked.calm() if asked.count() else streamed(event({"content": '{"answer": "Ma'}), event({}, "error"))


def st_network_error(asked: Asked):
    if asked.count():
        return asked.calm()
    choice = {"index": 0, "delta": {}, "finish_reason": None, "native_finish_reason": "network_error"}
    return streamed(event({"content": '{"answer": "Ma'}), event(choices=[choice]))


def always_finish_error(asked: Asked):
    return asked.says(asked.text()[:50], "error")


def finish_max_tokens(asked: Asked):
    return asked.says(asked.text()[:-14], "MAX_TOKENS")


def finish_null(asked: Asked):
    return Answer(body=asked.says(asked.text(), None), whole=True)


def empty_stop(asked: Asked):
    return asked.says("")


def empty_once(asked: Asked):
    return asked.says("") if asked.count() == 0 else asked.calm()


def choices_null(asked: Asked):
    return Answer(body={"choices": None, "message": "The model is resting"}, whole=True)


def message_null(asked: Asked):
    return Answer(body={"choices": [{"index": 0, "message": None, "finish_reason": None}]}, whole=True)


def _cut_off_is_said(run: Run) -> None:
    (failed,) = run.results
    assert any("cut off" in n for n in failed.instead.notes)


REFUSED = {"hurt": (1,), "kind": "content refused"}
ENDS = [
    Row("60", content_filter_finish, "E", fails="content_filter", **REFUSED),
    Row("61", content_filter_partial, "E", fails="content_filter", **REFUSED),
    Row("62", azure_content_filter, "E", fails="Azure OpenAI's content management policy", **REFUSED),
    Row("63", refusal_field, "E", fails="not able to read that", **REFUSED),
    Row("64", openrouter_moderation_403, "E", fails="Input was flagged", **REFUSED),
    Row("64b", declined_in_words, "E", fails="declines", hurt=(1,), kind="declined", lost=1),
    Row("65", openrouter_200_error, "E", fails="Upstream provider exploded", hurt=(1,), kind="broken", lost=3),
    Row("66", openrouter_finish_error, "EA", lost=1),
    Row("67", st_finish_error_only, "A", lost=1),
    Row("68", st_network_error, "A", lost=1),
    Row("68b", always_finish_error, "EA", fails="ended in an error", lost=12, kind="broken"),
    Row("69", finish_max_tokens, "A", differs=True, lost=1, check=_cut_off_is_said),
    Row("70", finish_null, "EA"),
    Row("71", empty_stop, "EA", fails="empty", lost=4),
    Row("71b", empty_once, "EA", lost=1),
    Row("72", choices_null, "EA", fails="The model is resting", lost=4, kind="broken"),
    Row("73", message_null, "EA", fails="without content|empty", lost=4),
]


@pytest.fixture(scope="module")
def server() -> Iterator[VendorServer]:
    with serving([*FORMS, *THOUGHTS, *ENDS]) as made:
        yield made


@pytest.mark.parametrize("row", cases(FORMS))
def test_a_reply_of_another_form_is_read_or_asked_for_again(server: VendorServer, row: Row) -> None:
    check_row(server, row)


@pytest.mark.parametrize("row", cases(THOUGHTS))
def test_thoughts_are_no_part_of_a_reply_and_get_their_room(server: VendorServer, row: Row) -> None:
    check_row(server, row)


@pytest.mark.parametrize("row", cases(ENDS))
def test_what_is_refused_or_broken_costs_its_item_alone(server: VendorServer, row: Row) -> None:
    check_row(server, row)
