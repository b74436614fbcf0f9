"""The language tasks by a model: task → prompt → schema → values.

The prompts follow what edge2024 (app. E) asks for, in words of our own; their texts are files under `papers/edge2024`.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import msgspec

from sensegraph.endpoint import Endpoint, Message, Reply
from sensegraph.engines import prompts, records, replies
from sensegraph.engines.replies import Reading
from sensegraph.engines.schemas import schema
from sensegraph.errors import ItemFailed, SettingsError, UnsupportedTask
from sensegraph.keys import key
from sensegraph.protocols import Task
from sensegraph.text import packed, tokens
from sensegraph.types import Chunk, Context, Draft, Extraction, Inquiry, Passage, Point, Report, Statement, Usage

T = TypeVar("T")

VERSION = 1  # raise whenever the same prompt and reply give other values
_ROUGH_WORDS = 0.6  # words that a token gives in JSON, roughly: what a model is told of its limit
_PROMPT_OVERHEAD = 8  # tokens that a chat format adds to two messages
_VERDICT_TOKENS = 4  # room for yes or no


@dataclass(frozen=True, slots=True)
class LLMSettings:
    """What is asked of the model. `*_tokens` limit replies; `prompts` is a folder whose files replace templates.

    `max_gleanings` bounds the rounds in which a chunk is asked about again for what was missed (edge2024, §3.1.2).
    `language` empty keeps the language of the text. `points` says whether a partial answer is a list of rated points
    or one rated answer (edge2024, §3.1.6).
    """

    entity_types: tuple[str, ...] = ("organization", "person", "geo", "event")
    extraction_format: Literal["json", "tuple"] = "json"
    claims: bool = False
    max_gleanings: int = 0
    summary_words: int = 500
    summary_input_tokens: int = 4000
    findings_min: int = 5
    findings_max: int = 10
    points: Literal["points", "answer"] = "points"
    response_type: str = "several paragraphs"
    general_knowledge: bool = False
    language: str = ""
    prompts: str = ""
    extract_tokens: int = 4000
    summarise_tokens: int = 1000
    report_tokens: int = 2000
    rate_tokens: int = 1000
    answer_tokens: int = 2000

    def __post_init__(self) -> None:
        if not self.entity_types:
            raise SettingsError("model.entity_types is empty: name at least one type of entity to look for.")
        if self.max_gleanings < 0:
            raise SettingsError("model.max_gleanings must be 0 or more.")
        if self.claims and self.extraction_format == "tuple":
            raise SettingsError("model.claims needs extraction_format json: the tuple format has no claims.")
        if not 0 < self.findings_min <= self.findings_max:
            raise SettingsError("model.findings_min must be at least 1 and at most findings_max.")
        if self.summary_input_tokens < 100:
            raise SettingsError("model.summary_input_tokens must be at least 100.")


@dataclass(frozen=True, slots=True)
class _Plan:
    """The fixed part of a task: instructions, form of the reply, its limit, and what else changes its results."""

    name: str
    system: str
    schema: dict[str, Any] | None
    max_tokens: int
    matters: tuple[int | str, ...] = ()


class LLMEngine:
    """The language tasks by the chat model of an endpoint."""

    tasks: frozenset[Task] = frozenset({"extract", "summarise", "report", "rate", "answer"})
    batch = 1
    waits = True
    quotes = False

    def __init__(self, endpoint: Endpoint, settings: LLMSettings | None = None) -> None:
        self.endpoint = endpoint
        self.settings = settings or LLMSettings()
        self.name = endpoint.settings.model
        prompts.check(self.settings.prompts)
        self._gleaning = _gleaning(self.settings)
        self._plans = _plans(self.settings)
        self._lock = threading.Lock()
        self._again: Counter[Task] = Counter()
        self._removed: Counter[Task] = Counter()

    def __reduce__(self) -> tuple[type[LLMEngine], tuple[Endpoint, LLMSettings]]:
        return type(self), (self.endpoint, self.settings)

    def fingerprint(self, task: Task) -> str:
        """Prompt, schema, limits and model of `task`; not where the model is or whose key pays for it."""
        s, plan = self.endpoint.settings, self._plan(task)
        return key("llm", VERSION, task, plan, s.model, s.temperature, s.seed)

    def usage(self) -> Usage:
        """What the chat calls have cost; `rejected` counts the replies that were asked for again."""
        with self._lock:
            return replace(self.endpoint.usage("chat"), rejected=sum(self._again.values()))

    def notes(self) -> tuple[str, ...]:
        """What was degraded so far, each with how often."""
        with self._lock:
            again = tuple(f"{n} replies to {t} were asked for again" for t, n in sorted(self._again.items()))
            removed = tuple(f"{n} unusable parts of replies to {t}" for t, n in sorted(self._removed.items()) if n)
        return self.endpoint.notes() + again + removed

    # ── tasks ──

    def extract(self, chunks: Sequence[Chunk]) -> list[Extraction]:
        """Entities, relations and claims of each chunk."""
        return [self._extract(c) for c in chunks]

    def summarise(self, contexts: Sequence[Context]) -> list[str]:
        """One description from several of the same thing; one alone is kept as it is, without a call."""
        return [self._summarise(c) for c in contexts]

    def report(self, contexts: Sequence[Context]) -> list[Report]:
        """A report on each community; one of a single entity without claims is that entity, without a call."""
        return [self._report(c) for c in contexts]

    def rate(self, inquiries: Sequence[Inquiry]) -> list[tuple[Point, ...]]:
        """Partial answers from each context, each with its usefulness 0–100."""
        return [self._rate(i) for i in inquiries]

    def answer(self, inquiries: Sequence[Inquiry]) -> list[Draft]:
        """A final answer from each context."""
        return [self._answer(i) for i in inquiries]

    def _extract(self, chunk: Chunk) -> Extraction:
        def read(reply: Reply) -> Reading[Extraction]:
            return replies.extraction(reply, chunk)

        what = f"chunk {chunk.id} of document {chunk.document!r}"
        found, reply = self._asked("extract", prompts.of_chunk(chunk), read, what)
        return self._gleaned(chunk, found, reply, read) if self.settings.max_gleanings else found

    def _gleaned(
        self, chunk: Chunk, found: Extraction, reply: Reply, read: Callable[[Reply], Reading[Extraction]]
    ) -> Extraction:
        """`found` with what further rounds bring: first ask whether anything was missed, go on only after a yes."""
        plan = self._plan("extract")
        talk = [*_messages(plan, prompts.of_chunk(chunk)), _said_by("assistant", reply.text)]
        check, more = self._gleaning
        for _ in range(self.settings.max_gleanings):
            verdict = self.endpoint.chat([*talk, _said_by("user", check)], max_tokens=_VERDICT_TOKENS)
            if not replies.agrees(verdict):
                break
            talk.append(_said_by("user", more))
            reply = self._said(plan, talk)
            talk.append(_said_by("assistant", reply.text))
            reading = read(reply)
            found = records.added(found, self._kept("extract", reading, reading.value or Extraction()))
        return found

    def _summarise(self, context: Context) -> str:
        parts = self._parts(context)
        if sum(map(len, parts)) < 2:
            return "".join(t for part in parts for t in part)
        so_far = ""
        for part in parts:
            user = prompts.of_descriptions(context.title, part, so_far)
            so_far = self._ask("summarise", user, replies.summary, f"the descriptions of {context.title!r}")
        return so_far

    def _report(self, context: Context) -> Report:
        if only := _alone(context):
            return Report(only.title, (Statement(only.text, (only.id,)),))
        user, cited = prompts.of_community(context)
        least = self.settings.findings_min
        what = f"the community {context.title!r} of {len(context.passages)} records"
        return self._ask("report", user, lambda r: replies.report(r, cited, least), what)

    def _rate(self, inquiry: Inquiry) -> tuple[Point, ...]:
        if not inquiry.context.passages:
            return ()
        user, cited = prompts.of_inquiry(inquiry)
        what = f"a part of the context of the question {inquiry.question[:80]!r}"
        return self._ask("rate", user, lambda r: replies.points(r, cited), what)

    def _answer(self, inquiry: Inquiry) -> Draft:
        user, cited = prompts.of_inquiry(inquiry)
        return self._ask("answer", user, lambda r: replies.answer(r, cited), f"the question {inquiry.question[:80]!r}")

    # ── asking ──

    def _ask(self, task: Task, user: str, read: Callable[[Reply], Reading[T]], what: str) -> T:
        return self._asked(task, user, read, what)[0]

    def _asked(self, task: Task, user: str, read: Callable[[Reply], Reading[T]], what: str) -> tuple[T, Reply]:
        """Ask, read, and ask once more where the reply has a problem: the value, and the reply that gave it.

        Raises ItemFailed for what stays unusable.
        """
        plan = self._plan(task)
        messages = _messages(plan, user)
        reply = self._said(plan, messages)
        first = read(reply)
        if not first.problem and first.value is not None:
            return self._kept(task, first, first.value), reply
        with self._lock:
            self._again[task] += 1
        second = self._said(plan, [*messages, *_objection(reply, first.problem)])
        again = read(second)
        for reading, source in ((again, second), (first, reply)):
            if reading.value is not None:
                return self._kept(task, reading, reading.value), source
        raise ItemFailed(
            f"{task}: the reply of {self.name} about {what} stays unusable ({again.problem or first.problem}). "
            "Run again to retry it, or choose another model."
        )

    def _said(self, plan: _Plan, messages: Sequence[Message]) -> Reply:
        return self.endpoint.chat(messages, schema=plan.schema, name=plan.name, max_tokens=plan.max_tokens)

    def _kept(self, task: Task, reading: Reading[T], value: T) -> T:
        with self._lock:
            self._removed[task] += reading.removed
        return value

    # ── estimates ──

    def prompt_tokens(self, task: Task, item: Chunk | Context | Inquiry) -> int:
        """Tokens of the prompts that `item` needs, gleaning and second askings apart: the ground of an estimate."""
        users = self._users(task, item)
        return sum(map(tokens, users)) + len(users) * self.overhead(task)

    def price(self, prompt_tokens: int, completion_tokens: int) -> float:
        """US dollars for so many tokens; 0 where no price is set."""
        s = self.endpoint.settings
        return (prompt_tokens * s.price_prompt + completion_tokens * s.price_completion) / 1e6

    def overhead(self, task: Task) -> int:
        """Tokens of a prompt with nothing to read: instructions and schema."""
        plan = self._plan(task)
        form = tokens(msgspec.json.encode(plan.schema).decode()) if plan.schema else 0
        return tokens(plan.system) + form + _PROMPT_OVERHEAD

    def max_tokens(self, task: Task) -> int:
        """The most tokens that a reply may have."""
        return self._plan(task).max_tokens

    def _users(self, task: Task, item: Chunk | Context | Inquiry) -> list[str]:
        """The user's message of each call that `item` needs; none where no call is made."""
        if isinstance(item, Chunk):
            return [prompts.of_chunk(item)]
        if isinstance(item, Inquiry):
            return [] if task == "rate" and not item.context.passages else [prompts.of_inquiry(item)[0]]
        if task == "summarise":
            parts = self._parts(item)
            return [prompts.of_descriptions(item.title, p) for p in parts] if sum(map(len, parts)) > 1 else []
        return [] if _alone(item) else [prompts.of_community(item)[0]]

    def _parts(self, context: Context) -> list[list[str]]:
        """The distinct descriptions, in batches that fit a prompt."""
        texts = list(dict.fromkeys(p.text for p in context.passages if p.text.strip()))
        return packed(texts, self.settings.summary_input_tokens, tokens)

    def _plan(self, task: Task) -> _Plan:
        if task not in self._plans:
            raise UnsupportedTask("This step", self.name, frozenset({task}))
        return self._plans[task]


def _alone(context: Context) -> Passage | None:
    """The entity that a community consists of, where nothing else is known about it."""
    return context.passages[0] if [p.kind for p in context.passages] == ["entity"] else None


def _messages(plan: _Plan, user: str) -> list[Message]:
    return [_said_by("system", plan.system), _said_by("user", user)]


def _said_by(role: str, text: str) -> Message:
    return {"role": role, "content": text or "(nothing)"}  # some endpoints refuse an empty message


def _objection(reply: Reply, problem: str) -> list[Message]:
    """What is said to a reply that cannot be used as it is."""
    text = f"This reply cannot be used: {problem}. Send the whole reply again, corrected, in the form asked for."
    return [_said_by("assistant", reply.text), _said_by("user", text)]


# ── the fixed part of each task ──


def _plans(s: LLMSettings) -> dict[Task, _Plan]:
    values = _values(s)

    def plan(name: str, prompt: str, max_tokens: int, *matters: int | str, form: bool = True) -> _Plan:
        system = prompts.filled(prompt, values, s.prompts)
        made = schema(name, s.entity_types, s.claims) if form else None
        return _Plan(name, system, made, max_tokens, matters)

    tuples = s.extraction_format == "tuple"
    extract = "extract-tuple" if tuples else "extract"
    gleaning = _gleaning(s) if s.max_gleanings else ()
    return {
        "extract": plan("extraction", extract, s.extract_tokens, s.max_gleanings, *gleaning, form=not tuples),
        "summarise": plan("summary", "summarise", s.summarise_tokens, s.summary_input_tokens),
        "report": plan("report", "report", s.report_tokens, s.findings_min),
        "rate": plan("points", "rate-answer" if s.points == "answer" else "rate", s.rate_tokens),
        "answer": plan("answer", "answer", s.answer_tokens),
    }


def _gleaning(s: LLMSettings) -> tuple[str, str]:
    """What is said to ask whether anything was missed, and to ask for it."""
    values = _values(s)
    return prompts.filled("glean-check", values, s.prompts), prompts.filled("glean-more", values, s.prompts)


def _values(s: LLMSettings) -> dict[str, str]:
    """What the placeholders of the templates stand for."""
    language = f"Write in {s.language}." if s.language else "Write in the language of the text."
    own = "You may add what is generally known; mark each such sentence with (general knowledge)."
    return {
        "entity_types": ", ".join(s.entity_types),
        "claims": prompts.template("claims", s.prompts) if s.claims else "",
        "claims_form": _CLAIMS_FORM if s.claims else "",
        "language": language,
        "summary_words": str(s.summary_words),
        "findings": f"{s.findings_min} to {s.findings_max}",
        "references": prompts.template("references", s.prompts).strip(),
        "knowledge": own if s.general_knowledge else "Use nothing but the tables; where they say nothing, say so.",
        "response_type": s.response_type,
        "report_words": str(round(s.report_tokens * _ROUGH_WORDS)),
        "rate_words": str(round(s.rate_tokens * _ROUGH_WORDS)),
        "answer_words": str(round(s.answer_tokens * _ROUGH_WORDS)),
    }


_CLAIMS_FORM = (
    ', "claims": [{"subject": "Mara Voss", "object": "none", "type": "office", "status": "TRUE", "starts": "2019", '
    '"ends": "", "description": "Mara Voss has been harbour master since 2019.", "quote": "harbour master since 2019"}]'
)
