"""What is asked for, what is left out when it is refused, and what is taken for known afterwards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sensegraph.errors import EndpointError, PromptTooLong
from sensegraph.language.text import count_tokens
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.outcomes import Kind, Outcome, Refusal
from sensegraph.models.endpoint.profile import (
    ChatRequest,
    Memory,
    Profile,
    count_prompt_tokens,
    write_chat,
    write_streaming,
)
from sensegraph.models.endpoint.remedies import Attempt, explain_outcome, find_remedy, join_profiles, list_losses

SCHEMA = {"type": "object"}
PLAIN = ChatRequest([{"role": "user", "content": "one"}], 100)
FORMED = replace(PLAIN, schema=SCHEMA, name="thing")
SETTINGS = EndpointSettings(model="m", temperature=None)


def written(known: Profile, request: ChatRequest, **settings: Any) -> dict[str, Any]:
    body = write_chat(replace(SETTINGS, **settings), known, request, request.max_tokens, freely=False, varied=False)
    return {name: value for name, value in body.items() if name not in ("model", "messages")}


STRICT = {"type": "json_schema", "json_schema": {"name": "thing", "schema": SCHEMA, "strict": True}}
LESS = {"type": "json_object"}


@pytest.mark.parametrize(
    ("known", "request_", "settings", "fields"),
    [
        (Profile(), PLAIN, {}, {"max_tokens": 100}),
        (Profile(form=2), FORMED, {}, {"max_tokens": 100}),
        (Profile(form=1), FORMED, {}, {"max_tokens": 100, "response_format": LESS}),
        (Profile(plain=("thing",)), FORMED, {}, {"max_tokens": 100}),
        (Profile(limit="max_completion_tokens"), PLAIN, {}, {"max_completion_tokens": 100}),
        (Profile(), FORMED, {}, {"max_tokens": 100, "response_format": STRICT}),
        (Profile(refused=("seed",)), PLAIN, {"seed": 7, "temperature": 0.0}, {"max_tokens": 100, "temperature": 0.0}),
        (Profile(), PLAIN, {"thoughts": "off"}, {"max_tokens": 100, "reasoning_effort": "none"}),
        (Profile(effort="low"), PLAIN, {"thoughts": "off"}, {"max_tokens": 100, "reasoning_effort": "low"}),
        (Profile(), PLAIN, {"extra_body": {"top_k": 1}}, {"max_tokens": 100, "top_k": 1}),
    ],
)
def test_the_fields_of_a_request_follow_what_is_understood(
    known: Profile, request_: ChatRequest, settings: dict[str, Any], fields: dict[str, Any]
) -> None:
    assert written(known, request_, **settings) == fields


def test_a_stream_is_asked_to_end_with_its_usage_while_that_is_understood() -> None:
    assert write_streaming(Profile()) == {"stream": True, "stream_options": {"include_usage": True}}
    assert write_streaming(Profile(refused=("stream_options",))) == {"stream": True}
    assert write_streaming(Profile(refused=("stream",))) == {}


def refused(outcome: Outcome, request: ChatRequest = FORMED, **settings: Any) -> list[Profile]:
    """What is taken for known one after another while every request comes to `outcome`."""
    attempt: Attempt | None = Attempt(request, Profile(), replace(SETTINGS, **settings))
    found = list[Profile]()
    while attempt and len(found) < 20:
        body = write_chat(attempt.settings, attempt.known, request, attempt.room, attempt.freely, attempt.varied)
        attempt = find_remedy(attempt, outcome, body | write_streaming(attempt.known))
        found += [attempt.known] if attempt else []
    return found


def test_after_each_unexplained_refusal_one_thing_less_is_asked_for_and_the_stream_goes_last() -> None:
    assert refused(Outcome(Kind.FIELD, "bad request", 400), temperature=0.0) == [
        Profile(refused=("stream_options",)),
        Profile(refused=("stream_options", "temperature")),
        Profile(refused=("stream_options", "temperature"), form=1),
        Profile(refused=("stream_options", "temperature"), form=2),
        Profile(refused=("stream",)),
    ]


def test_an_attempt_knows_the_first_refusal_and_the_last() -> None:
    one, other = Outcome(Kind.FIELD, "no", 400, "temperature"), Outcome(Kind.FIELD, "no", 400, "max_tokens")
    sent = {"temperature": 0.0, "max_tokens": 9}
    first = find_remedy(Attempt(FORMED, Profile(), replace(SETTINGS, temperature=0.0)), one, sent)
    assert first
    assert (first.first, first.last) == (one, one)
    second = find_remedy(first, other, sent)
    assert second
    assert (second.first, second.last) == (one, other)


def test_a_field_that_is_named_is_left_out_once_and_what_the_user_added_is_not() -> None:
    named = Outcome(Kind.FIELD, "no", 400, "temperature")
    assert refused(named, temperature=0.0) == [Profile(refused=("temperature",))]
    assert refused(Outcome(Kind.FIELD, "no", 400, "top_k"), extra_body={"top_k": 1}) == []


def test_the_other_name_of_the_limit_is_taken_once() -> None:
    other = Outcome(Kind.FIELD, "no", 400, "max_tokens")
    assert refused(other) == [Profile(limit="max_completion_tokens")]


def test_a_form_falls_and_one_that_holds_too_much_is_left_for_its_task_alone() -> None:
    assert refused(Outcome(Kind.SCHEMA, "no", 400)) == [Profile(form=1), Profile(form=2)]
    assert refused(Outcome(Kind.SCHEMA, "too deep", 400, own=True)) == [Profile(plain=("thing",))]


def test_thoughts_get_four_times_the_room_once_and_verdicts_what_they_need() -> None:
    thoughts = Outcome(Kind.THOUGHTS, "")
    assert refused(thoughts, replace(PLAIN, max_tokens=1000)) == [Profile(thinking=3000)]
    assert refused(thoughts, replace(PLAIN, max_tokens=16)) == [Profile(thinking=2000)]


def test_a_limit_that_is_named_is_kept_to() -> None:
    assert refused(Outcome(Kind.ROOM, "", 400, most=50)) == [Profile(most_out=50)]
    assert refused(Outcome(Kind.ROOM, "", 400, most=500)) == []


def test_less_thinking_is_asked_for_step_by_step() -> None:
    found = refused(Outcome(Kind.FIELD, "", 400, "reasoning_effort"), thoughts="off")
    assert [k.effort for k in found[:2]] == ["minimal", "low"]
    assert found[2] == Profile(refused=("reasoning_effort",))


@pytest.mark.parametrize(
    ("outcome", "window", "ratio"),
    [
        (Outcome(Kind.WINDOW, "", 400, most=500, need=50), 500, 10.0),
        (Outcome(Kind.WINDOW, "", 400, most=500), 500, 1.0),
        (Outcome(Kind.WINDOW, "", 400, most=500, total=150), 500, 10.0),
    ],
)
def test_a_window_that_is_named_is_known_and_so_is_how_the_endpoint_counts(
    outcome: Outcome, window: int, ratio: float
) -> None:
    first = refused(outcome)[0]
    assert (first.window, first.ratio) == (window, ratio)
    assert Attempt(FORMED, first, SETTINGS).fits


def test_a_prompt_that_fills_the_window_does_not_fit() -> None:
    assert count_prompt_tokens(PLAIN.messages) == count_tokens("one") + 4
    assert not Attempt(PLAIN, Profile(window=50), SETTINGS).fits
    assert Attempt(replace(PLAIN, max_tokens=4000), Profile(window=4096), SETTINGS).room == 4000
    assert Attempt(replace(PLAIN, max_tokens=4090), Profile(window=4096), SETTINGS).room == 4096 - 5 - 8


def test_each_message_counts_four_tokens_more_than_its_text() -> None:
    texts = ["one two", "", "three"]
    messages = [{"role": "user", "content": text} for text in texts]
    assert count_prompt_tokens(messages) == sum(map(count_tokens, texts)) + 12


@pytest.mark.parametrize(
    ("known", "counted", "own", "ratio", "samples"),
    [
        (Profile(), 30, 20, 1.5, 1),
        (Profile(ratio=2.0, samples=3), 20, 20, 1.75, 4),
        (Profile(ratio=2.0, samples=19), 20, 20, 1.95, 20),
        (Profile(ratio=2.0, samples=20), 20, 20, 2.0, 20),
        (Profile(ratio=2.0, samples=3), 0, 20, 2.0, 3),
        (Profile(ratio=2.0, samples=3), 20, 0, 2.0, 3),
        (Profile(ratio=2.0, samples=3, skips_known=True), 20, 20, 2.0, 3),
    ],
)
def test_two_counts_of_a_prompt_move_their_ratio_up_to_twenty_times(
    known: Profile, counted: int, own: int, ratio: float, samples: int
) -> None:
    found = known.compared(counted, own)
    assert (found.ratio, found.samples) == (ratio, samples)


def test_a_count_is_doubted_where_it_is_much_less_than_usual() -> None:
    known, prompt = Profile(), [{"role": "user", "content": "one two three, " * 200}]
    own = count_prompt_tokens(prompt)
    assert known.doubts(480, prompt)
    assert not known.doubts(500, prompt)
    assert not known.doubts(0, prompt)
    for _ in range(3):
        known = known.compared(3 * own, own)
    assert known.ratio == 3.0
    assert known.doubts(2 * own, prompt)
    assert not known.doubts(2 * own, [*prompt, {"role": "assistant", "content": "so"}])
    assert not replace(known, skips_known=True).doubts(96, prompt)
    usual = replace(known, ratio=10.0)
    assert usual.doubts(7 * own - 1, prompt)
    assert not usual.doubts(7 * own, prompt)


def test_what_was_given_up_is_told_thing_by_thing() -> None:
    now = Profile(refused=("seed", "stream", "stream_options", "top_k"), form=2, plain=("thing",))
    assert list(list_losses(Profile(form=1, refused=("seed",)), now).values()) == [
        "streams: answers come whole",
        "stream_options: the usage of streamed replies may be our own estimate",
        "top_k: asked without",
        "response_format json_object: using none",
        "the schema of thing: it is asked for in words",
    ]
    assert list_losses(now, now) == {}


def test_two_profiles_together_are_what_both_have_shown() -> None:
    one = Profile(refused=("seed",), form=1, window=4096, thinking=2000, plain=("a",), samples=4, ratio=1.2)
    other = Profile("max_completion_tokens", ("stream",), 0, window=8192, most_out=2048, effort="low", batch=10)
    assert join_profiles(one, other) == Profile(
        *("max_completion_tokens", ("seed", "stream"), 1, ("a",), "low"),
        window=4096,
        most_out=2048,
        thinking=2000,
        ratio=1.2,
        samples=4,
        batch=10,
    )
    assert join_profiles(Profile(), Profile()) == Profile()


def test_what_is_known_is_remembered_for_this_endpoint_and_this_model(tmp_path: Path) -> None:
    memory, known = Memory(tmp_path / "endpoints.json"), Profile(refused=("seed",), window=4096)
    memory.keep(SETTINGS, known)
    assert Memory(tmp_path / "endpoints.json").recall(SETTINGS) == known
    assert memory.recall(replace(SETTINGS, model="other")) == Profile()
    assert Memory().recall(SETTINGS) == Profile()
    week = (tmp_path / "endpoints.json").read_text()
    (tmp_path / "endpoints.json").write_text(week.replace('"since": 1', '"since": 0.1'))
    assert memory.recall(SETTINGS) == Profile()
    (tmp_path / "endpoints.json").write_text("{oops")
    assert memory.recall(SETTINGS) == Profile()


def test_what_cannot_be_written_down_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "endpoints.json").mkdir()
    Memory(tmp_path / "endpoints.json").keep(SETTINGS, Profile(window=4096))
    Memory(tmp_path / "nowhere" / "endpoints.json").keep(SETTINGS, Profile(window=4096))
    assert Memory(tmp_path / "endpoints.json").recall(SETTINGS) == Profile()


@pytest.mark.parametrize(
    ("window", "need", "share"), [(1000, 1600, 0.305), (1000, 200_000, 0.05), (0, 1600, 0.5), (100_000, 900, 0.9)]
)
def test_a_prompt_that_is_too_long_says_how_much_of_it_would_fit(window: int, need: int, share: float) -> None:
    asked = replace(PLAIN, messages=[{"role": "user", "content": "word " * (need - 5)}])
    attempt = Attempt(asked, Profile(window=window), SETTINGS)
    found = explain_outcome(attempt, Outcome(Kind.WINDOW, "too long", 400), lambda e: EndpointError(str(e), "", str(e)))
    assert isinstance(found, PromptTooLong)
    assert "(too long)" in str(found)
    assert found.share == pytest.approx(share, abs=0.01)


def test_what_came_broken_is_sent_once_more_as_it_was_and_then_freely() -> None:
    attempt: Attempt | None = Attempt(PLAIN, Profile(), SETTINGS)
    tries = list[tuple[int, bool]]()
    while attempt:
        tries.append((attempt.again, attempt.freely))
        attempt = find_remedy(attempt, Outcome(Kind.FORM, ""), {})
    assert tries == [(0, False), (1, False), (2, True)]


def test_a_refusal_says_the_words_of_the_endpoint() -> None:
    assert str(Refusal(Outcome(Kind.CONTENT, "not that"))) == "not that"
