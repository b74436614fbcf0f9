"""Small questions to an endpoint, each of which shows one thing that it takes or does; a few hundred tokens in all.

What is learned by them enters what is known of the endpoint, as with every other call.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from sensegraph.errors import EndpointDown, EndpointError, PromptTooLong
from sensegraph.language.text import count_tokens
from sensegraph.models.endpoint.bodies import without_thoughts
from sensegraph.models.endpoint.client import Endpoint, Message, Reply
from sensegraph.models.endpoint.profile import FORMS, write_streaming

_SYSTEM = "This is a test of the connection. Answer as briefly as you can."
_WHERE = {
    "tag": "in the text, between marks",
    "field": "in a field of their own",
    "parts": "as parts of the content",
    "hidden": "hidden, but counted",
}
_FIELD = "year_after"
_SCHEMA = {
    "type": "object",
    "properties": {_FIELD: {"type": "integer"}},
    "required": [_FIELD],
    "additionalProperties": False,
}
_OFF: dict[str, dict[str, Any]] = {  # how thoughts are switched off, the first that helps, with what else is sent
    'endpoint.thoughts = "off"': {},
    "chat_template_kwargs = { enable_thinking = false } under [endpoint.extra_body]": {
        "chat_template_kwargs": {"enable_thinking": False}
    },
    'thinking = { type = "disabled" } under [endpoint.extra_body]': {"thinking": {"type": "disabled"}},
}
_WORDS = ("cormorant", "juniper")  # what a long prompt begins and ends with
_FEW = 20  # tokens of thoughts that cost nothing worth a word
_FILLER = "The tide came in and the tide went out. "


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of what was learned; `advice` says what to do, where it is not as wished.

    `fails` says that a method which is used by default cannot run so.
    """

    asked: str
    answer: str
    advice: str = ""
    fails: bool = False


def probe_chat(endpoint: Endpoint) -> Iterator[Finding]:
    """What the chat model takes and how it answers; no more where it does not answer at all."""
    try:
        first = _ask(endpoint, "Reply with the word OK.", 16)
    except EndpointError as e:
        yield Finding("chat", f"no: {e}", "mend that first", fails=True)
        return
    yield Finding("chat", f"answers: {without_thoughts(first.text)[:20]!r}")
    yield from probe_thoughts(endpoint)
    form = probe_form(endpoint)
    known = endpoint.known
    named = [n for n in ("temperature", "seed", "system") if n in known.refused]
    limits = f"; replies are limited by {known.limit}"
    if named:
        without = "left out by itself" + ("; replies are not reproducible" if "seed" in named else "")
        yield Finding("temperature, seed", f"{' and '.join(named)} refused{limits}", without)
    else:
        yield Finding("temperature, seed", f"taken{limits}")
    yield form
    if "stream" in known.refused:
        yield Finding("streams", "refused", "answers come whole: set endpoint.timeout_s where one may hang")
    else:
        yield Finding("streams", "taken" if "stream_options" in write_streaming(known) else "taken, without usage")


def _ask(endpoint: Endpoint, text: str, most: int, **how: Any) -> Reply:
    talk: list[Message] = [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": text}]
    return endpoint.chat(talk, max_tokens=most, **how)


def probe_thoughts(endpoint: Endpoint) -> Iterator[Finding]:
    """Whether the model thinks before it answers, where its thoughts come, and whether they can be switched off."""
    try:
        reply = _ask(endpoint, "Which is the larger number, 9.9 or 9.11? Reply with it alone.", 256)
    except EndpointError as e:
        yield Finding("thoughts", f"not found out: {e}")
        return
    where = _WHERE.get(endpoint.known.thoughts, "")
    if not where:
        yield Finding("thoughts", "none")
        return
    room = _count_thoughts(reply)
    told = f"{where}, about {room:,} tokens a reply"
    if endpoint.settings.thoughts != "auto":
        yield Finding("thoughts", f'{told}, with endpoint.thoughts = "{endpoint.settings.thoughts}"')
        return
    if room < _FEW:
        yield Finding("thoughts", told)
        return
    for way, body in _OFF.items():
        further = body | endpoint.settings.extra_body
        off = endpoint.copy_with(extra_body=further, thoughts="auto" if body else "off")
        with suppress(EndpointError):
            quiet = _ask(off, "Which is the larger number, 9.8 or 9.12? Reply with it alone.", 256)
            if "reasoning_effort" not in off.known.refused and 2 * _count_thoughts(quiet) <= room:
                yield Finding("thoughts", told, f"cheaper with {way}")
                return
    yield Finding("thoughts", told, "no usual switch ends them: see the server's own")


def _count_thoughts(reply: Reply) -> int:
    """The tokens of a reply that are not its text."""
    return max(0, reply.completion_tokens - count_tokens(without_thoughts(reply.text)))


def probe_form(endpoint: Endpoint) -> Finding:
    """Whether a reply keeps to a form that its prompt does not show; asked twice where a form is refused."""
    kept = False
    for year in (2019, 2031):
        try:
            reply = _ask(endpoint, f"Which year comes after {year}? Answer as JSON.", 64, schema=_SCHEMA, name="probe")
        except EndpointError as e:
            return Finding("json schema", f"not found out: {e}")
        with suppress(ValueError, TypeError):
            kept = set(json.loads(without_thoughts(reply.text))) == {_FIELD}
        if kept:
            break
    form = FORMS[endpoint.known.form]
    endpoint.learn(replace(endpoint.known, schema_enforced=kept and form == FORMS[0]))
    if form != FORMS[0]:
        return Finding("json schema", f"refused; {form} is used", "forms are asked for in words by itself")
    if kept:
        return Finding("json schema", "obeyed")
    return Finding("json schema", "taken, but not obeyed", "what comes in another form is asked for a second time")


def probe_window(endpoint: Endpoint, tokens: int) -> Finding:
    """Whether a prompt of so many tokens is read whole: words at its beginning and at its end have to come back."""
    text = _FILLER * (tokens // count_tokens(_FILLER))
    question = (
        f"The first word is {_WORDS[0]}.\n{text}\nThe last word is {_WORDS[1]}. Which are the first and the last?"
    )
    try:
        reply = _ask(endpoint, question, 64)
    except PromptTooLong:
        return Finding("long prompt", f"{tokens:,} tokens do not fit: the window is {endpoint.window:,}")
    except EndpointDown as e:
        return Finding("long prompt", f"no: {e}", fails=True)
    except EndpointError as e:
        return Finding("long prompt", f"not found out: {e}")
    missing = [word for word in _WORDS if word not in reply.text.casefold()]
    if missing:
        return Finding(
            "long prompt",
            f"of {tokens:,} tokens not all was read: {' and '.join(missing)} did not come back",
            "set endpoint.window to what the server has",
        )
    return Finding("long prompt", f"{tokens:,} tokens are read whole")
