"""Yes or no from a model, as cheaply as the endpoint allows (edge2024, §3.1.2: a logit bias of 100 forces the choice).

The numbers of a bias are those of the model's own tokens, so a bias is sent only to models whose tokens are known.
What an endpoint refuses, or cannot answer with, is asked more plainly from then on, and said once.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

from sensegraph.engines.llm.replies.reply_text import is_truncated, strip_wrapping
from sensegraph.errors import EndpointDown, EndpointError, ReplyRefused
from sensegraph.models.endpoint.client import Endpoint, Message, Reply

_BIAS = 100  # the largest that endpoints take
_WORDS = ("yes", "no")
_ENCODINGS = (  # models that think before they answer take no bias, and are not here
    (re.compile(r"(?:^|/)(?:chatgpt-4o|gpt-4o|gpt-4\.[15])"), "o200k_base"),
    (re.compile(r"(?:^|/)gpt-(?:4(?!\.|o)|3\.5)"), "cl100k_base"),
)
_FORCED, _SHORT, _ROOMY = range(3)  # ways to ask, cheapest first
_LIMITS = (1, 4, 2000)  # tokens of a reply; the last leaves room for a model's thoughts
_REASONS = (
    "The endpoint takes no bias towards yes and no: asked without",
    "A word is no room for this model's thoughts: verdicts may take more",
)
_UNREADABLE = "verdicts that could not be read were taken as no"


class Verdicts:
    """Asks for yes or no; what cannot be read is counted."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._bias = build_logit_bias(endpoint.settings.model)
        self._way = _FORCED if self._bias else _SHORT
        self._lock = threading.Lock()
        self._notes: Counter[str] = Counter()

    def agrees(self, talk: Sequence[Message]) -> bool:
        """Whether the model says yes to the question at the end of `talk`; what cannot be read means no."""
        return self.decide(talk) is True

    def decide(self, talk: Sequence[Message]) -> bool | None:
        """What the model says to the question at the end of `talk`; None where it says neither yes nor no."""
        said = read_verdict(self._ask_cheaply(talk))
        if said is None:
            self._note(_UNREADABLE)
        return said

    def notes(self) -> tuple[str, ...]:
        """What was degraded, each with how often."""
        with self._lock:
            return tuple(f"{note} ({n} ×)" for note, n in sorted(self._notes.items()))

    def _ask_cheaply(self, talk: Sequence[Message]) -> Reply:
        """The reply in the cheapest way that works. Raises as `Endpoint.chat` does when none is left."""
        way = self._way
        while True:
            try:
                reply = self._send(talk, way)
            except (EndpointDown, ReplyRefused):
                raise
            except EndpointError:
                if way != _FORCED:
                    raise
                way = _SHORT
                continue
            if way == _ROOMY or read_verdict(reply) is not None or not is_truncated(reply):
                self._remember(way)
                return reply
            way += 1

    def _send(self, talk: Sequence[Message], way: int) -> Reply:
        if way != _FORCED:
            return self.endpoint.chat(talk, max_tokens=_LIMITS[way])
        cold = {} if self.endpoint.settings.temperature is None else {"temperature": 0.0}
        return self.endpoint.chat(talk, max_tokens=_LIMITS[way], extra={"logit_bias": self._bias, **cold})

    def _remember(self, way: int) -> None:
        """Begin with `way` from now on; what lies behind it is said once."""
        with self._lock:
            for reason in _REASONS[self._way : way]:
                self._notes[reason] += 1
            self._way = max(self._way, way)

    def _note(self, note: str) -> None:
        with self._lock:
            self._notes[note] += 1


def read_verdict(reply: Reply) -> bool | None:
    """Whether a reply says yes, by its first letter; None where it says neither."""
    first = strip_wrapping(reply.text).lstrip("\"'“‘*( ")[:1].lower()
    return {"y": True, "n": False}.get(first)


@cache
def build_logit_bias(model: str) -> dict[str, int]:
    """A bias of 100 on the tokens of yes and no; empty for a model whose tokens are not known."""
    encoding = next((name for pattern, name in _ENCODINGS if pattern.search(model)), None)
    if encoding is None:
        return {}
    from rs_bpe.bpe import openai

    tokenizer: Any = getattr(openai, encoding)()
    forms = [space + form for word in _WORDS for form in (word, word.capitalize()) for space in ("", " ")]
    return {str(tokenizer.encode(form)[0]): _BIAS for form in forms}
