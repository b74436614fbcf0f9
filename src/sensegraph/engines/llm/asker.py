"""Asking a model: a task's fixed part, one question, and once more where the reply cannot be used."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import msgspec

from sensegraph.engines.llm.replies.reply_text import Reading
from sensegraph.engines.llm.replies.thoughts import why_empty, without_thoughts
from sensegraph.errors import ItemFailed, Unreadable
from sensegraph.language.text import count_tokens
from sensegraph.models.endpoint.client import Endpoint, Message, Reply

T = TypeVar("T")

ROUGH_WORDS = 0.6  # words that a token gives in JSON, roughly: what a model is told of its limit
_PROMPT_OVERHEAD = 8  # tokens that a chat format adds to two messages


@dataclass(frozen=True, slots=True)
class Plan:
    """The fixed part of a task: instructions, form of the reply, its limit, and what else changes its results."""

    name: str
    system: str
    schema: dict[str, Any] | None
    max_tokens: int
    matters: tuple[Any, ...] = ()

    @property
    def overhead(self) -> int:
        """Tokens of a prompt with nothing to read: instructions and schema."""
        form = count_tokens(msgspec.json.encode(self.schema).decode()) if self.schema else 0
        return count_tokens(self.system) + form + _PROMPT_OVERHEAD


class Asker:
    """Asks the chat model of an endpoint, and counts what was asked again, what was removed, and what was mended."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._lock = threading.Lock()
        self._again: Counter[str] = Counter()
        self._removed: Counter[str] = Counter()
        self._mended: Counter[str] = Counter()

    @property
    def again(self) -> int:
        """How many replies were asked for again."""
        with self._lock:
            return sum(self._again.values())

    def notes(self) -> tuple[str, ...]:
        """What was degraded so far, each with how often."""
        with self._lock:
            again = tuple(f"{n} replies to {t} were asked for again" for t, n in sorted(self._again.items()))
            removed = tuple(f"{n} unusable parts of replies to {t}" for t, n in sorted(self._removed.items()) if n)
            return again + removed + tuple(f"{what} ({n} ×)" for what, n in sorted(self._mended.items()))

    def ask(
        self,
        task: str,
        plan: Plan,
        user: str,
        read: Callable[[Reply], Reading[T]],
        what: str,
        extra: Mapping[str, Any] | None = None,
        say: Callable[[Plan, Sequence[Message]], Reply] | None = None,
    ) -> T:
        """The value that a reply to `user` gives, as `ask_in_talk` gets it."""
        return self.ask_in_talk(task, plan, begin_talk(plan, user), read, what, extra, say)[0]

    def ask_in_talk(
        self,
        task: str,
        plan: Plan,
        talk: Sequence[Message],
        read: Callable[[Reply], Reading[T]],
        what: str,
        extra: Mapping[str, Any] | None = None,
        say: Callable[[Plan, Sequence[Message]], Reply] | None = None,
    ) -> tuple[T, Reply]:
        """Ask, read, and ask once more where the reply has a problem: the value, and the reply that gave it.

        The second reply counts, unless it has no value, or one that is more doubtful than the first one's.
        `extra` are further fields of the request; `say` gets the first reply in another way than `send`.
        Raises ItemFailed for what stays unusable: Unreadable where a run may go on with something instead.
        """
        reply = say(plan, talk) if say else self.send(plan, talk, extra)
        first = _read_reply(reply, read)
        if not first.problem and first.value is not None:
            return self.count_repairs(task, first, first.value), reply
        with self._lock:
            self._again[task] += 1
        wish = "Send the whole reply again, corrected, in the form asked for."
        objection = make_message("user", f"This reply cannot be used: {first.problem}. {wish}")
        second = self.send(plan, [*talk, make_message("assistant", without_thoughts(reply.text)), objection], extra)
        again = _read_reply(second, read)
        for reading, source in sorted(((again, second), (first, reply)), key=lambda found: found[0].doubtful):
            if reading.value is not None:
                return self.count_repairs(task, reading, reading.value), source
        why = (
            f"{task}: the reply of {self.endpoint.settings.model} about {what} stays unusable "
            f"({again.problem or first.problem}). Run again to retry it, or choose another model."
        )
        if again.instead is None:
            raise ItemFailed(why)
        raise Unreadable(why, self.count_repairs(task, again, again.instead))

    def send(self, plan: Plan, talk: Sequence[Message], extra: Mapping[str, Any] | None = None) -> Reply:
        """The reply to `talk` in the form of `plan`."""
        return self.endpoint.chat(talk, schema=plan.schema, name=plan.name, max_tokens=plan.max_tokens, extra=extra)

    def count_repairs(self, task: str, reading: Reading[T], value: T) -> T:
        """`value`, with what `reading` had to remove or to mend counted."""
        with self._lock:
            self._removed[task] += reading.removed
            self._mended.update(reading.mended)
        return value


def begin_talk(plan: Plan, user: str) -> list[Message]:
    """What begins a talk: the instructions, and what they are about."""
    return [make_message("system", plan.system), make_message("user", user)]


def make_message(role: str, text: str) -> Message:
    """One message of a talk."""
    return {"role": role, "content": text or "(nothing)"}  # some endpoints refuse an empty message


def _read_reply(reply: Reply, read: Callable[[Reply], Reading[T]]) -> Reading[T]:
    """What `read` makes of a reply; where it holds nothing to read, that is the problem."""
    reading, why = read(reply), why_empty(reply.text)
    return replace(reading, problem=why) if why and reading.value is None else reading
