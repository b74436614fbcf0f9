"""What is told of an endpoint that was asked: each line of the table, over an endpoint that stands in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sensegraph.errors import EndpointDown, EndpointError, PromptTooLong
from sensegraph.language.text import count_tokens
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.probes import Finding, probe_chat, probe_form, probe_thoughts, probe_window
from sensegraph.models.endpoint.profile import Profile
from sensegraph.models.endpoint.readings import Reply

Say = Callable[[str, "Endpoint"], Reply | Exception]


def reply(text: str, tokens: int = 0) -> Reply:
    return Reply(text, 10, tokens or count_tokens(text), "stop")


class Endpoint:
    """An endpoint that says what `say` makes of a question."""

    window = 4_096

    def __init__(self, say: Say, known: Profile | None = None, **given: Any) -> None:
        self.say, self.known, self.settings = say, known or Profile(), EndpointSettings(**given)
        self.asked: list[tuple[str, int]] = []

    def chat(self, talk: list[dict[str, str]], *, max_tokens: int, **how: Any) -> Reply:
        assert [m["role"] for m in talk] == ["system", "user"]
        self.asked.append((talk[1]["content"], max_tokens))
        found = self.say(talk[1]["content"], self)
        if isinstance(found, Exception):
            raise found
        return found

    def copy_with(self, **given: Any) -> Endpoint:
        copy = Endpoint(self.say, self.known)
        copy.settings = replace(self.settings, **given)
        return copy

    def learn(self, known: Profile) -> None:
        self.known = known


def look(probe: Callable[[Any], Any], endpoint: Endpoint) -> list[tuple[str, str, str, bool]]:
    found = probe(endpoint)
    return [(f.asked, f.answer, f.advice, f.fails) for f in ([found] if isinstance(found, Finding) else found)]


OFF = 'cheaper with endpoint.thoughts = "off"'
KWARGS = "cheaper with chat_template_kwargs = { enable_thinking = false } under [endpoint.extra_body]"
DISABLED = 'cheaper with thinking = { type = "disabled" } under [endpoint.extra_body]'
NOT_OBEYED = ("taken, but not obeyed", "what comes in another form is asked for a second time")
IN_WORDS = "forms are asked for in words by itself"
LIMITED = "; replies are limited by max_tokens"
TAKEN = (f"taken{LIMITED}", "")
UNREPEATED = "left out by itself; replies are not reproducible"
WHOLE = "answers come whole: set endpoint.timeout_s where one may hang"
SET_WINDOW = "set endpoint.window to what the server has"
NOT_ALL = "of 9,000 tokens not all was read:"
NONE = "no usual switch ends them: see the server's own"


@pytest.mark.parametrize(
    ("loud", "quiet", "advice"),
    [
        (100, {"off": 51, "kwargs": 51, "disabled": 51}, NONE),
        (100, {"off": 50, "kwargs": 0, "disabled": 0}, OFF),
        (100, {"off": 51, "kwargs": 50, "disabled": 0}, KWARGS),
        (100, {"off": 100, "kwargs": 100, "disabled": 50}, DISABLED),
        (20, {"off": 0, "kwargs": 0, "disabled": 0}, OFF),
        (19, {"off": 0, "kwargs": 0, "disabled": 0}, ""),
    ],
)
def test_thoughts_are_told_with_the_first_switch_that_halves_them(
    loud: int, quiet: dict[str, int], advice: str
) -> None:
    def say(asked: str, endpoint: Endpoint) -> Reply:
        body = endpoint.settings.extra_body
        way = "disabled" if "thinking" in body else "kwargs" if "chat_template_kwargs" in body else "off"
        changed = way != "off" or endpoint.settings.thoughts == "off"
        return reply("9.9", count_tokens("9.9") + (quiet[way] if changed else loud))

    endpoint = Endpoint(say, Profile(thoughts="tag"))
    told = f"in the text, between marks, about {loud} tokens a reply"
    assert look(probe_thoughts, endpoint) == [("thoughts", told, advice, False)]
    assert endpoint.asked[0][1] == 256


def test_a_switch_that_is_refused_or_fails_is_passed_over() -> None:
    def say(asked: str, endpoint: Endpoint) -> Reply | Exception:
        if "chat_template_kwargs" in endpoint.settings.extra_body:
            return EndpointError("no")
        if "thinking" in endpoint.settings.extra_body:
            return reply("9.9")
        endpoint.known = (
            endpoint.known.without("reasoning_effort") if endpoint.settings.thoughts == "off" else endpoint.known
        )
        return reply("9.9", 3 if endpoint.settings.thoughts == "off" else 2_000)

    (line,) = look(probe_thoughts, Endpoint(say, Profile(thoughts="hidden")))
    assert line[1].startswith("hidden, but counted, about 1,")
    assert line[2] == DISABLED


def test_thoughts_that_are_set_or_not_there_are_told_as_they_are() -> None:
    loud: Say = lambda asked, endpoint: reply("9.9", 500)  # noqa: E731
    (line,) = look(probe_thoughts, Endpoint(loud, Profile(thoughts="field"), thoughts="low"))
    assert line[1].startswith("in a field of their own, about 49")
    assert line[1].endswith(', with endpoint.thoughts = "low"')
    assert look(probe_thoughts, Endpoint(loud)) == [("thoughts", "none", "", False)]
    failing: Say = lambda asked, endpoint: EndpointError("it hung")  # noqa: E731
    assert look(probe_thoughts, Endpoint(failing)) == [("thoughts", "not found out: it hung", "", False)]


@pytest.mark.parametrize(
    ("texts", "form", "told", "enforced"),
    [
        (['{"year_after": 2020}'], 0, ("obeyed", ""), True),
        (["2020", '{"year_after": 2032}'], 0, ("obeyed", ""), True),
        (["2020", '{"year": 2032}'], 0, NOT_OBEYED, False),
        (['{"year_after": 1, "x": 2}', "{no"], 0, NOT_OBEYED, False),
        (['{"year_after": 2020}'], 1, ("refused; json_object is used", IN_WORDS), False),
        (["2020", "2032"], 2, ("refused; none is used", IN_WORDS), False),
    ],
)  # fmt: skip
def test_a_form_is_asked_for_twice_where_it_is_not_kept(
    texts: list[str], form: int, told: tuple[str, str], enforced: bool
) -> None:
    left = list(texts)
    endpoint = Endpoint(lambda asked, endpoint: reply(left.pop(0)), Profile(form=form))
    assert look(probe_form, endpoint) == [("json schema", *told, False)]
    assert (left, endpoint.known.schema_enforced) == ([], enforced)
    assert [most for _, most in endpoint.asked] == [64] * len(texts)


def test_a_form_that_is_not_answered_is_not_found_out() -> None:
    endpoint = Endpoint(lambda asked, endpoint: EndpointError("it hung"))
    assert look(probe_form, endpoint) == [("json schema", "not found out: it hung", "", False)]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Cormorant and juniper.", ("9,000 tokens are read whole", "", False)),
        ("juniper", (f"{NOT_ALL} cormorant did not come back", SET_WINDOW, False)),
        ("none", (f"{NOT_ALL} cormorant and juniper did not come back", SET_WINDOW, False)),
        (PromptTooLong("long"), ("9,000 tokens do not fit: the window is 4,096", "", False)),
        (EndpointDown("away"), ("no: away", "", True)),
        (EndpointError("odd"), ("not found out: odd", "", False)),
    ],
)  # fmt: skip
def test_words_at_both_ends_of_a_long_prompt_have_to_come_back(said: Any, told: tuple[str, str, bool]) -> None:
    endpoint = Endpoint(lambda asked, endpoint: said if isinstance(said, Exception) else reply(said))
    found = probe_window(endpoint, 9_000)  # type: ignore[arg-type]
    assert (found.asked, found.answer, found.advice, found.fails) == ("long prompt", *told)
    ((asked, most),) = endpoint.asked
    assert most == 64
    assert 8_000 < count_tokens(asked) <= 9_000


@pytest.mark.parametrize(
    ("refused", "fields", "streams"),
    [
        ((), TAKEN, ("taken", "")),
        (("seed",), (f"seed refused{LIMITED}", UNREPEATED), ("taken", "")),
        (("system", "temperature"), (f"temperature and system refused{LIMITED}", "left out by itself"), ("taken", "")),
        (("stream_options",), TAKEN, ("taken, without usage", "")),
        (("stream",), TAKEN, ("refused", WHOLE)),
    ],
)  # fmt: skip
def test_a_chat_model_is_told_line_by_line(
    refused: tuple[str, ...], fields: tuple[str, str], streams: tuple[str, str]
) -> None:
    known = Profile()
    for name in refused:
        known = known.without(name)
    said: Say = lambda asked, endpoint: reply('{"year_after": 2020}' if "JSON" in asked else "OK, here I am and so on")  # noqa: E731
    assert look(probe_chat, Endpoint(said, known)) == [
        ("chat", "answers: 'OK, here I am and so'", "", False),
        ("thoughts", "none", "", False),
        ("temperature, seed", *fields, False),
        ("json schema", "obeyed", "", False),
        ("streams", *streams, False),
    ]
    away = Endpoint(lambda asked, endpoint: EndpointError("nobody is there"))
    assert look(probe_chat, away) == [("chat", "no: nobody is there", "mend that first", True)]
