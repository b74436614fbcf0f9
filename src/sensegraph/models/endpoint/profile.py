"""What is known of an endpoint and a model, and what a request to it looks like.

Everything is tried until it is refused. What was learned is kept beside the index, so that the next run begins with it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import msgspec

from sensegraph.language.text import count_tokens
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings, set_temperature
from sensegraph.runtime.keys import key

ENDPOINTS = "endpoints.json"  # where profiles are kept, in a corpus's own folder
FORMS = ("json_schema", "json_object", "none")  # how a schema is demanded, best first
EFFORTS = ("none", "minimal", "low")  # how little a model may be asked to think, least first
_PER_MESSAGE = 4  # tokens that a chat format adds to each message
_WEEK_S = 7 * 86400.0
_SAMPLES = 3  # prompts before a ratio of counts is believed


@dataclass(frozen=True, slots=True)
class ShownImage:
    """An image that a model is shown: its address, which holds it, and about how many tokens it counts for."""

    url: str
    tokens: int


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What a chat call asks for: a reply of at most `max_tokens` in the form of `schema`, named `name`.

    `extra` are further fields, which the caller asks without when they are refused. `images` belong to the first
    message of the user.
    """

    messages: Sequence[Mapping[str, str]]
    max_tokens: int
    schema: dict[str, Any] | None = None
    name: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    images: Sequence[ShownImage] = ()

    @property
    def tokens(self) -> int:
        """Our own count of the tokens of its prompt."""
        return count_prompt_tokens(self.messages) + sum(image.tokens for image in self.images)


@dataclass(frozen=True, slots=True)
class Profile:
    """What an endpoint and a model are known to take.

    `refused` are fields that are left out, and `system`, `stream`. `form` is the place in `FORMS`; `plain` are the
    names of schemas that are asked for without their form. `effort` replaces how much a model is asked to think.
    `window` bounds prompt and reply together, `most_out` a reply; `thinking` is room that thoughts take of each reply.
    `ratio` is what the endpoint counts for a token of ours, over `samples` prompts; `skips_known` says that it does
    not count what it has cached. `batch` bounds the texts of an embedding call, `batch_tokens` their tokens,
    `input_tokens` one text. `ranks` is the name of the texts to rank. `slots` are the calls that a server takes at
    once; `thoughts` is where a model's thoughts come (see `bodies.find_thoughts`), empty where none were seen;
    `schema_enforced` whether a reply kept to a form that its prompt does not show, None where nobody asked.
    """

    limit: str = "max_tokens"
    refused: tuple[str, ...] = ()
    form: int = 0
    plain: tuple[str, ...] = ()
    effort: str = ""
    window: int = 0
    most_out: int = 0
    thinking: int = 0
    ratio: float = 1.0
    samples: int = 0
    skips_known: bool = False
    batch: int = 0
    batch_tokens: int = 0
    input_tokens: int = 0
    ranks: str = "documents"
    slots: int = 0
    thoughts: str = ""
    schema_enforced: bool | None = None

    def without(self, name: str) -> Profile:
        """The same with one more field that is left out."""
        return replace(self, refused=tuple(sorted({*self.refused, name})))

    def count(self, request: ChatRequest) -> int:
        """The tokens of a prompt, as the endpoint would count them."""
        return round(request.tokens * (self.ratio if self.samples >= _SAMPLES else 1.0))

    def doubts(self, counted: int, messages: Sequence[Mapping[str, str]]) -> bool:
        """Whether an endpoint that counts so many tokens for a prompt has cut it: fewer than its words, or than usual.

        No usual count is known of what a model wrote itself.
        """
        if not counted or self.skips_known:
            return False
        words = sum(len(m["content"].split()) for m in messages)
        usual = self.samples >= _SAMPLES and all(m["role"] != "assistant" for m in messages)
        return counted < 0.9 * words - 50 or (usual and counted < 0.7 * self.ratio * count_prompt_tokens(messages))

    def compared(self, counted: int, own: int) -> Profile:
        """The same after one more prompt whose two counts are known; the ratio moves slowly."""
        if not (counted and own) or self.skips_known or self.samples >= 20:
            return self
        ratio = (self.ratio * self.samples + counted / own) / (self.samples + 1)
        return replace(self, ratio=round(ratio, 3), samples=self.samples + 1)


def count_prompt_tokens(messages: Sequence[Mapping[str, str]]) -> int:
    """Our own count of the tokens of a prompt."""
    return sum(count_tokens(m["content"]) + _PER_MESSAGE for m in messages)


# ── what a request looks like ──


def write_completion(settings: EndpointSettings, prompt: str, room: int) -> dict[str, Any]:
    """The body of a request to continue `prompt` by at most `room` tokens."""
    body: dict[str, Any] = {"model": settings.model, "prompt": prompt, "max_tokens": room}
    body |= {n: v for n, v in (("temperature", set_temperature(settings)), ("seed", settings.seed)) if v is not None}
    return body | dict(settings.extra_body)


def write_chat(
    settings: EndpointSettings, known: Profile, request: ChatRequest, room: int, freely: bool, varied: bool
) -> dict[str, Any]:
    """The body of a chat request for a reply of at most `room` tokens.

    `freely` is without form and less cold; what is `varied` begins otherwise, so that no cache knows it.
    """
    messages = lay_messages(known, request.messages)
    if varied:
        first = messages[0]
        messages[0] = {**first, "content": f"(Asked again.)\n{first['content']}"}
    if request.images:
        at = next(i for i, m in enumerate(messages) if m["role"] == "user")
        shown = [{"type": "image_url", "image_url": {"url": image.url}} for image in request.images]
        messages[at] = {**messages[at], "content": [{"type": "text", "text": messages[at]["content"]}, *shown]}
    body: dict[str, Any] = {"model": settings.model, "messages": messages}
    body |= {n: v for n, v in (("temperature", set_temperature(settings)), ("seed", settings.seed)) if v is not None}
    body |= dict(request.extra) | {known.limit: room} | dict(settings.extra_body)
    if effort := known.effort or {"auto": "", "off": EFFORTS[0]}.get(settings.thoughts, settings.thoughts):
        body["reasoning_effort"] = effort
    form = FORMS[2 if freely or not request.schema or request.name in known.plain else known.form]
    if form == "json_object":
        body["response_format"] = {"type": form}
    elif form == "json_schema":
        wanted = {"name": request.name, "schema": request.schema, "strict": True}
        body["response_format"] = {"type": form, "json_schema": wanted}
    body |= {"temperature": 0.5} if freely else {}
    return {name: value for name, value in body.items() if name not in known.refused}


def write_streaming(known: Profile) -> dict[str, Any]:
    """The fields that ask for a reply in pieces; none where the endpoint has only whole ones."""
    if "stream" in known.refused:
        return {}
    return {"stream": True} | ({} if "stream_options" in known.refused else {"stream_options": {"include_usage": True}})


def lay_messages(known: Profile, messages: Sequence[Mapping[str, str]]) -> list[Mapping[str, Any]]:
    """The messages; where there is no role for instructions, these begin the first message of the user."""
    if "system" not in known.refused or len(messages) < 2 or messages[0]["role"] != "system":
        return list(messages)
    first = {"role": "user", "content": f"{messages[0]['content']}\n\n{messages[1]['content']}"}
    return [first, *messages[2:]]


# ── what is remembered ──


class Memory:
    """The profiles of endpoints and models in one file, safe to use from many threads; none without a path.

    What is older than a week is not believed: a server may have been given another model, or more room.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._lock = path, threading.Lock()

    def __reduce__(self) -> tuple[type[Memory], tuple[Path | None]]:
        return type(self), (self._path,)

    def recall(self, settings: EndpointSettings) -> Profile:
        """What is known of the endpoint and the models of these settings; what cannot be read is not known."""
        found = self._read().get(_name_profile(settings))
        known = {f.name for f in fields(Profile)}
        try:
            if not found or time.time() - found["since"] > _WEEK_S:
                return Profile()
            return msgspec.convert({n: v for n, v in found.items() if n in known}, Profile)
        except (msgspec.ValidationError, AttributeError, KeyError, TypeError):
            return Profile()

    def keep(self, settings: EndpointSettings, known: Profile) -> None:
        """Write down what is known now; where that cannot be written it is learned again."""
        if self._path is None or not self._path.parent.is_dir():
            return
        with self._lock, suppress(OSError):
            every = self._read() | {_name_profile(settings): msgspec.to_builtins(known) | {"since": time.time()}}
            unfinished = self._path.with_name(f"{self._path.name}.{threading.get_ident()}.part")
            unfinished.write_bytes(msgspec.json.format(msgspec.json.encode(every)))
            unfinished.replace(self._path)

    def forget(self) -> None:
        """Know nothing any more; what cannot be removed is believed for the rest of its week."""
        if self._path is not None:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)

    def _read(self) -> dict[str, Any]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, Any]) if self._path else {}
        except (OSError, msgspec.DecodeError, msgspec.ValidationError):
            return {}


def _name_profile(settings: EndpointSettings) -> str:
    """What a profile is kept under: the address and the models, of which the address may hold a secret."""
    return key("profile", settings.base_url, settings.model, settings.embedding_model, settings.rerank_model)
