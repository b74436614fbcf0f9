"""Asking a model: a task's fixed part, one question, once more where the reply cannot be used; and yes or no, cheaply.

A verdict is asked for as cheaply as the endpoint allows (edge2024, §3.1.2: a logit bias of 100 forces the choice). The
numbers of a bias are those of the model's own tokens, so a bias is sent only to models whose tokens are known. What an
endpoint refuses, or cannot answer with, is asked more plainly from then on, and said once.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, TypeVar

import msgspec

from sensegraph.engines.llm.language_names import name_language
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.llm.prompts import REPLY_SCHEMAS, split_template
from sensegraph.engines.llm.replies.reply_text import (
    Reading,
    declines_in_words,
    is_truncated,
    strip_wrapping,
    why_empty,
)
from sensegraph.engines.llm.templates import INPUT, fill_parts, write_message
from sensegraph.errors import ItemFailed, PromptTooLong, Unreadable
from sensegraph.language.text import count_tokens
from sensegraph.models.endpoint.bodies import without_thoughts
from sensegraph.models.endpoint.client import Endpoint, Message, Reply
from sensegraph.models.endpoint.limits import Notes
from sensegraph.models.endpoint.outcomes import Kind
from sensegraph.models.endpoint.profile import ShownImage
from sensegraph.protocols import Task
from sensegraph.types import Context

T = TypeVar("T")

ROUGH_WORDS = 0.6  # words that a token gives in JSON, roughly: what a model is told of its limit
_LEAST_WORDS = 40  # of a passage that is cut to fit
_PROMPT_OVERHEAD = 8  # tokens that a chat format adds to two messages
_ROLES = ("user", "assistant")
_DISOBEYED = 2  # replies that show that an endpoint takes a form and does not keep to it


@dataclass(frozen=True, slots=True)
class Plan:
    """The fixed part of a task: instructions, form of the reply, its limit, and what else changes its results.

    `form` says in JSON what `schema` demands, for endpoints that do not enforce it. `turns` are worked examples, each a
    message with its reply, and `message` is what each call adds.
    """

    name: str
    system: str
    schema: dict[str, Any] | None
    max_tokens: int
    matters: tuple[Any, ...] = ()
    form: str = ""
    turns: tuple[tuple[str, str], ...] = ()
    message: str = INPUT

    @property
    def overhead(self) -> int:
        """Tokens of a prompt with nothing to read: instructions, examples and schema."""
        form = count_tokens(msgspec.json.encode(self.schema).decode()) if self.schema else 0
        texts = [self.system, *(text for turn in self.turns for text in turn), self.message]
        per_turn = _PROMPT_OVERHEAD * (1 + len(self.turns))
        return sum(map(count_tokens, texts)) + form + per_turn


def plan_task(
    name: str, template: str, s: LLMSettings, values: Mapping[str, str], max_tokens: int, *matters: Any
) -> Plan:
    """The fixed part of a task, after its template; `name` is that of the form of its reply."""
    language = f"Write in {s.language}." if s.language else ""
    found = fill_parts(template, split_template(template, s.prompts), values, language)
    schema = REPLY_SCHEMAS.get(name)
    return Plan(name, found.instructions, schema, max_tokens, matters, found.form, found.turns, found.message)


class Asker:
    """Asks the chat model of an endpoint, and counts what was asked again, what was removed, and what was mended."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._lock = threading.Lock()
        self._again: Counter[str] = Counter()
        self._removed: Counter[str] = Counter()
        self._mended = Notes()
        self._unruled = 0  # replies that were no JSON though a form was sent, and not shown

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
        return again + removed + self._mended.read()

    def ask(
        self,
        task: str,
        plan: Plan,
        user: str,
        read: Callable[[Reply], Reading[T]],
        what: str,
        question: str = "",
        **how: Any,
    ) -> T:
        """The value that a reply to `user` gives, as `ask_in_talk` gets it; `question` sets the language of a reply."""
        return self.ask_in_talk(task, plan, self.begin(plan, user, question), read, what, **how)[0]

    def begin(self, plan: Plan, user: str, question: str = "", language_of: str = "") -> list[Message]:
        """What begins a talk; with the form of the reply in words where the endpoint does not enforce it."""
        shown = replace(plan, system=f"{plan.system}\n\n{plan.form}") if self._shows_form(plan) else plan
        return begin_talk(shown, user, question, language_of)

    def _shows_form(self, plan: Plan) -> bool:
        """Whether the form is shown: beside one that is enforced it makes servers write blanks without end."""
        known = self.endpoint.known
        enforced = plan.schema and not known.form and plan.name not in known.plain
        obeyed = self._unruled < _DISOBEYED and "response_format" not in known.refused
        return bool(plan.form) and not (enforced and obeyed)

    def ask_in_talk(
        self,
        task: str,
        plan: Plan,
        talk: Sequence[Message],
        read: Callable[[Reply], Reading[T]],
        what: str,
        extra: Mapping[str, Any] | None = None,
        hear: Callable[[str], None] | None = None,
        images: Sequence[ShownImage] = (),
    ) -> tuple[T, Reply]:
        """Ask, read, and ask once more where the reply has a problem: the value, and the reply that gave it.

        The second reply counts, unless it has no value, or one that is more doubtful than the first one's; after one
        that was cut off it may be twice as long.
        `extra` are further fields of the request; `hear` is told the first reply piece by piece; `images` are shown.
        Raises ItemFailed for what stays unusable: Unreadable where a run may go on with something instead.
        """
        send = partial(self.endpoint.chat, schema=plan.schema, name=plan.name, extra=extra, images=images)
        reply = send(talk, max_tokens=plan.max_tokens, hear=hear)
        first = _read_reply(reply, read)
        if not first.problem and first.value is not None:
            return self.count_repairs(task, first, first.value), reply
        if hear and first.instead is not None:  # it was heard, and cannot be taken back
            raise self._give_up(task, what, reply, first)
        unruled = plan.form not in talk[0]["content"] and first.value is None and not _holds_object(reply)
        with self._lock:
            self._again[task] += 1
            self._unruled += unruled
        wish = "Send the whole reply again, corrected, in the form asked for." + (f" {plan.form}" if unruled else "")
        objection = make_message("user", f"This reply cannot be used: {first.problem}. {wish}")
        room = 2 * plan.max_tokens if is_truncated(reply) else plan.max_tokens
        second = send([*talk, make_message("assistant", without_thoughts(reply.text)), objection], max_tokens=room)
        again = _read_reply(second, read)
        for reading, source in sorted(((again, second), (first, reply)), key=lambda found: found[0].doubtful):
            if reading.value is not None:
                return self.count_repairs(task, reading, reading.value), source
        raise self._give_up(task, what, second, again if again.problem else first)

    def _give_up(self, task: str, what: str, reply: Reply, reading: Reading[T]) -> ItemFailed:
        """The error for what stays unusable, with its kind and what is wrong with it."""
        declines = declines_in_words(reply)
        kind = Kind.CUT if is_truncated(reply) else Kind.DECLINED if declines else Kind.FORM
        words = f"it declines: {' '.join(reply.text.split())[:100]}" if declines else reading.problem
        why = (
            f"{task}: the reply of {self.endpoint.settings.model} about {what} stays unusable "
            f"({words}). Run again to retry it, or choose another model."
        )
        if reading.instead is None:
            return ItemFailed(why, kind, words)
        return Unreadable(why, self.count_repairs(task, reading, reading.instead), kind, words)

    def fit_context(self, context: Context, ask: Callable[[Context], T]) -> tuple[T, int]:
        """What `ask` gives of the context, or of as much of it as the model's window takes; how much was left out."""
        left = context
        while True:
            try:
                value = ask(left)
            except PromptTooLong as e:
                shorter = shorten_context(left, e.share)
                if shorter == left:
                    raise
                left = shorter
            else:
                out = len(context.passages) - len(left.passages)
                if out:
                    self._mended.add("Records were left out of prompts: the model's window is too small for them")
                return value, out

    def count_repairs(self, task: str, reading: Reading[T], value: T) -> T:
        """`value`, with what `reading` had to remove or to mend counted."""
        with self._lock:
            self._removed[task] += reading.removed
        self._mended.add(*reading.mended)
        return value


def shorten_context(context: Context, share: float) -> Context:
    """About this share of a context: its first passages; of a single one, the first of its words."""
    passages = context.passages
    if len(passages) > 1:
        kept = max(1, min(len(passages) - 1, int(len(passages) * share)))
        return replace(context, passages=passages[:kept], omitted=context.omitted + len(passages) - kept)
    words = passages[0].text.split() if passages else []
    if len(words) < _LEAST_WORDS:
        return context
    return replace(context, passages=(replace(passages[0], text=" ".join(words[: int(len(words) * share)])),))


def begin_talk(plan: Plan, user: str, question: str = "", language_of: str = "") -> list[Message]:
    """What begins a talk: the instructions, the examples, and what they are about.

    What is written in answer to a question is to be written in its language, everything else in that of the text:
    of `language_of` where `user` holds more than the text.
    """
    named = name_language(question or language_of or user)
    language = f"Write in {named}." if named else f"Write in the language of the {'question' if question else 'text'}."
    turns = [make_message(role, text) for turn in plan.turns for role, text in zip(_ROLES, turn, strict=True)]
    message = write_message(plan.message, user, language)
    return [make_message("system", plan.system), *turns, make_message("user", message)]


def make_message(role: str, text: str) -> Message:
    """One message of a talk."""
    return {"role": role, "content": text or "(nothing)"}  # some endpoints refuse an empty message


def _holds_object(reply: Reply) -> bool:
    """Whether a reply is at least the beginning of a JSON object, as every enforced form makes it."""
    return is_truncated(reply) or strip_wrapping(reply.text).startswith("{")


def _read_reply(reply: Reply, read: Callable[[Reply], Reading[T]]) -> Reading[T]:
    """What `read` makes of a reply; where it holds nothing to read, that is the problem.

    What lacks something because it was cut off is no value: a run may go on with it, but it is not stored.
    """
    reading, why = read(reply), why_empty(reply.text)
    if reading.value is None:
        return replace(reading, problem=why) if why else reading
    lacking = is_truncated(reply) and reading.problem
    return replace(reading, value=None, instead=reading.value) if lacking else reading


_BIAS = 100  # the largest that endpoints take
_WORDS = ("yes", "no")
_ENCODINGS = (  # models that think before they answer take no bias, and are not here
    (re.compile(r"(?:^|/)(?:chatgpt-4o|gpt-4o|gpt-4\.[15])"), "o200k_base"),
    (re.compile(r"(?:^|/)gpt-(?:4(?!\.|o)|3\.5)"), "cl100k_base"),
)
_SAID = dict.fromkeys("ja jo jawohl oui si sí sì sim da tak ano evet igen áno да так ναι".split(), True)
_SAID |= dict.fromkeys("нет ні не όχι hayır ez".split(), False)
_UNSPACED_YES = ("是", "对", "對", "有", "能", "はい", "예", "네")
_UNSPACED_NO = ("不", "否", "没", "沒", "無", "无", "いいえ", "아니")
_FORCED, _SHORT, _ROOMY = range(3)  # ways to ask, cheapest first
_LIMITS = (1, 16, 2000)  # tokens of a reply; the last leaves room for a model's thoughts
_REASONS = (
    "The endpoint does not keep to a bias towards yes and no: asked without",
    "A word is no room for this model's thoughts: verdicts may take more",
)
_UNREADABLE = "verdicts that could not be read were taken as no"


class ModelTasks:
    """What every family of tasks has: the settings, who asks, and the fixed parts of its questions."""

    settings: LLMSettings
    _asker: Asker
    _verdicts: Verdicts
    _plans: dict[Task, Plan]


class Verdicts:
    """Asks for yes or no; what cannot be read is counted."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._bias = build_logit_bias(endpoint.settings.model)
        self._way = _FORCED if self._bias else _SHORT
        self._lock = threading.Lock()
        self._notes = Notes()

    def agrees(self, talk: Sequence[Message]) -> bool:
        """Whether the model says yes to the question at the end of `talk`; what cannot be read means no."""
        return self.decide(talk) is True

    def decide(self, talk: Sequence[Message]) -> bool | None:
        """What the model says to the question at the end of `talk`; None where it says neither yes nor no."""
        said = read_verdict(self._ask_cheaply(talk))
        if said is None:
            self._notes.add(_UNREADABLE)
        return said

    def notes(self) -> tuple[str, ...]:
        """What was degraded, each with how often."""
        return self._notes.read()

    def _ask_cheaply(self, talk: Sequence[Message]) -> Reply:
        """The reply in the cheapest way that works. Raises as `Endpoint.chat` does when none is left."""
        way = self._way
        while True:
            reply = self._send(talk, way)
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
            self._notes.add(*_REASONS[self._way : way])
            self._way = max(self._way, way)


def read_verdict(reply: Reply) -> bool | None:
    """Whether a reply says yes, by its first word in any of many languages; None where it says neither."""
    said = strip_wrapping(reply.text).lstrip("\"'“‘*(¡ ").casefold()
    if said[:1] in ("y", "n"):  # and so begin nein, non, nie, nej, não
        return said[0] == "y"
    if said.startswith(_UNSPACED_NO):  # before yes: 不是 is 是 denied
        return False
    first = re.match(r"[^\W\d_]+", said)
    return True if said.startswith(_UNSPACED_YES) else _SAID.get(first[0]) if first else None


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
