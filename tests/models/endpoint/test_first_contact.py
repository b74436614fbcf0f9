"""The first call of an endpoint teaches the others, and what its counts of a prompt show; nobody is asked."""

from __future__ import annotations

from typing import Any

import pytest

from sensegraph.models.endpoint import client
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.outcomes import Kind
from sensegraph.models.endpoint.profile import ChatRequest, Profile
from sensegraph.models.endpoint.remedies import Attempt

TALK = [{"role": "user", "content": "word " * 400}]


@pytest.fixture
def endpoint() -> Endpoint:
    return Endpoint(EndpointSettings(base_url="http://127.0.0.1:1/v1", model="m"))


def ask(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, *, retries: bool = False, fails: bool = False
) -> list[Any]:
    """Whether a call was made at once, and whether others waited for it while it ran."""
    seen: list[Any] = []

    def chat(attempt: Attempt, hear: Any, count_retry: Any) -> str:
        seen.append((attempt.at_once, endpoint._contact.locked()))
        if retries:
            count_retry()
            seen.append(endpoint._contact.locked())
        if fails:
            raise RuntimeError
        return "reply"

    monkeypatch.setattr(endpoint, "_chat", chat)
    try:
        endpoint.chat(TALK[:1], max_tokens=5)  # type: ignore[arg-type]
    except RuntimeError:
        assert fails
    assert not endpoint._contact.locked()
    return seen


def test_others_wait_for_the_first_call_until_it_ends_or_is_tried_again(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ask(endpoint, monkeypatch) == [(True, True)]
    assert ask(endpoint, monkeypatch, fails=True) == [(True, True)]
    assert ask(endpoint, monkeypatch, retries=True) == [(True, True), False]
    assert endpoint.usage("chat").retries == 1
    endpoint._believed = True
    assert ask(endpoint, monkeypatch, retries=True) == [(False, False), False]


def test_a_copy_with_other_settings_makes_nobody_wait_and_knows_what_is_known(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.known = Profile(form=2)
    copy = endpoint.copy_with(temperature=0.5)
    assert (copy.known, copy.settings.temperature) == (Profile(form=2), 0.5)
    assert ask(copy, monkeypatch) == [(False, False)]


def test_what_one_call_has_learned_others_need_not(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(lock: Any, seconds: float) -> bool:
        lock.acquire()
        endpoint._believed = True  # while it waited
        return True

    monkeypatch.setattr(client, "take_lock", wait)
    assert ask(endpoint, monkeypatch) == [(False, False)]
    endpoint._believed = False
    monkeypatch.setattr(client, "take_lock", lambda lock, seconds: False)
    assert ask(endpoint, monkeypatch) == [(False, False)]


def compare(
    endpoint: Endpoint, prompt: int, reply: int = 5, *, varied: bool = False, finish: str = "stop", room: int = 100
) -> tuple[Any, ...]:
    """What two counts show: the kind of outcome and the most, or nothing."""
    request = ChatRequest(TALK, room)
    data = {
        "usage": {"prompt_tokens": prompt, "completion_tokens": reply},
        "choices": [{"message": {"content": "x"}, "finish_reason": finish}],
    }
    found = endpoint._compare(Attempt(request, endpoint.known, endpoint.settings, varied=varied), data)
    return (found.kind, found.most) if found else ()


def test_an_endpoint_that_counts_too_few_tokens_has_cut_the_prompt(endpoint: Endpoint) -> None:
    assert compare(endpoint, 309) == (Kind.WINDOW, -1)  # of four hundred words 310 are 0.9 of them less fifty
    assert compare(endpoint, 310) == ()
    assert endpoint.notes() == ()
    assert compare(endpoint, 309, varied=True) == (Kind.WINDOW, 309)
    assert len(endpoint.notes()) == 1
    assert compare(endpoint, 0) == ()


@pytest.mark.parametrize(
    ("prompt", "reply", "finish", "found"),
    [
        (500, 12, "length", (Kind.WINDOW, 512)),
        (500, 12, "stop", ()),
        (500, 13, "length", ()),
        (412, 100, "length", ()),
        (414, 98, "length", ()),
        (415, 97, "length", (Kind.WINDOW, 512)),
    ],
)
def test_a_prompt_and_a_reply_that_end_at_a_round_number_filled_a_window(
    endpoint: Endpoint, prompt: int, reply: int, finish: str, found: tuple[Any, ...]
) -> None:
    assert compare(endpoint, prompt, reply, finish=finish) == found


def test_counts_move_the_ratio_unless_what_is_cached_is_not_counted(endpoint: Endpoint) -> None:
    own = ChatRequest(TALK, 5).tokens
    compare(endpoint, 2 * own)
    assert (endpoint.known.ratio, endpoint.known.samples) == (2.0, 1)
    compare(endpoint, own)
    assert (endpoint.known.ratio, endpoint.known.samples) == (1.5, 2)
    compare(endpoint, own, varied=True)
    assert (endpoint.known.skips_known, endpoint.known.samples) == (True, 2)
    compare(endpoint, own)
    assert endpoint.known.samples == 2
    assert compare(endpoint, 10) == ()  # it is believed then
    assert Profile(samples=20).compared(10, 5).samples == 20
    assert Profile(samples=19).compared(10, 5).samples == 20
    assert Profile().compared(0, 5) == Profile().compared(5, 0) == Profile()
