"""Rules of what a model is asked and what comes of its replies, given in a form that stands in a line of JSON.

The replies are given in turn: a text, a text behind "✂" that was cut off, or the share of a prompt that would fit.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from rules_of_offline_answers import make_passage
from sensegraph.engines.llm import group_tasks, prompt_tuning, prompts
from sensegraph.engines.llm.figure_task import FigureDescriber
from sensegraph.engines.llm.llm import LLMEngine
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.llm.replies.cited_records import AnswerStream, Records
from sensegraph.errors import ItemFailed, PromptTooLong, Unreadable
from sensegraph.models.endpoint.client import Endpoint, Reply
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.trials import Check, Excerpt, Trial, Wish
from sensegraph.types import Brief, Chunk, Context, Inquiry, Turn

Told = Sequence[str | float]

_OF_CHUNKS, _OF_CONTEXTS = ("extract", "triples"), ("summarise", "report")
_OF_GROUPS = ("resolve", "aggregate", "relate", "abstract", "condense")
_JUDGED = {"judge": Trial, "score": Trial, "contrast": Trial, "propose": Wish, "claim": Excerpt, "support": Check}


class Scripted(Endpoint):
    """An endpoint whose replies are given; the last of them comes again and again."""

    def __init__(self, told: Told, **settings: Any) -> None:
        super().__init__(EndpointSettings(**{"base_url": "http://127.0.0.1:9/v1", "model": "m", **settings}))
        self.told, self.asked = list(told), list[Any]()

    def chat(self, messages: Any, *, max_tokens: int, **how: Any) -> Reply:
        last, shared = messages[-1]["content"], json.dumps(messages[:-1], ensure_ascii=False)
        call = [how.get("name", ""), max_tokens, len(messages), zlib.crc32(shared.encode()), zlib.crc32(last.encode())]
        self.asked.append([*call, last[-60:], *([how["extra"]] if how.get("extra") else [])])
        said = self.told.pop(0) if len(self.told) > 1 else self.told[0]
        if isinstance(said, float):
            raise PromptTooLong("it is too long", said)
        return Reply(said.removeprefix("✂"), 1, 9, "length" if said.startswith("✂") else "stop")


def make_item(task: str, given: Any) -> Any:
    """What a task is about: a chunk, a context, a question, a group, or something to be judged."""
    if task in _JUDGED:
        return _JUDGED[task](**{k: tuple(v) if isinstance(v, list) else v for k, v in given.items()})
    if task in _OF_CHUNKS:
        return Chunk("c1", "d", given[1], given[1] + len(given[0]), len(given[0]) // 5, given[0])
    words, passages, *rest = given
    context = Context(tuple(make_passage(i, *one) for i, one in enumerate(passages)), title=words)
    if task in _OF_CONTEXTS:
        return context
    if task in _OF_GROUPS:
        return Brief(context, rest[0], tuple(rest[1]) if len(rest) > 1 else ())
    return Inquiry(words, context, 9, tuple(Turn(*turn) for turn in (rest[0] if rest else ())))


def talk(task: str, given: Any, told: Told, settings: Mapping[str, Any] = {}, endpoint: Mapping[str, Any] = {}) -> Any:
    """What a task makes of the replies it gets, what it asked for, and what it says of that."""
    made = Scripted(told, **endpoint)
    engine, item = LLMEngine(made, LLMSettings(**settings)), make_item(task, given)
    foreseen = [engine.calls(task, item), engine.prompt_tokens(task, item)]
    try:
        found = getattr(engine, task)([item])[0]
    except Unreadable as e:
        found = ["unreadable", str(e), e.instead, e.kind, e.words]
    except (ItemFailed, PromptTooLong) as e:
        found = [type(e).__name__, str(e)]
    return [found, made.asked, engine.notes(), engine.usage().rejected, foreseen]


def stream(text: str, size: int, count: int = 3) -> list[Any]:
    """What is told of an answer that comes in pieces of so many characters, and when; of `count` records."""
    told, at = list[Any](), [0]
    records = Records(tuple(make_passage(i, "chunk", "", "Text.", 1.0) for i in range(count)))
    heard = AnswerStream(records, lambda s: told.append([at[0], s.text, s.references]))
    for begin in range(0, len(text), size):
        at[0] = begin
        heard.hear(text[begin : begin + size])
    return [told, heard.count]


def fit_history(turns: Sequence[Sequence[str]], budget: int) -> Any:
    """The turns of a conversation that fit, and how many are left out."""
    return prompts.fit_history([Turn(*turn) for turn in turns], budget)


def plan(settings: Mapping[str, Any]) -> list[Any]:
    """What is fixed of each task and form under some settings, and the fingerprint of each task."""
    engine = LLMEngine(Scripted([""]), LLMSettings(**settings))
    plans = {**engine._plans, **engine._forms}
    shown = {
        name: [p.max_tokens, _sum(p.system), _sum(p.schema), _sum(p.turns), _sum(p.form), _sum(p.message), p.overhead]
        for name, p in plans.items()
    }
    stages = [[s.plan.name, _sum(s.plan.schema), _sum(s.check), _sum(s.more), _sum(s.names)] for s in engine._stages]
    return [shown, stages, {task: engine.fingerprint(task) for task in sorted(engine.tasks & engine._plans.keys())}]


def describe(settings: Mapping[str, Any], cleaned: str = "") -> str:
    """What descriptions of figures are stored under with some settings."""
    return FigureDescriber(Scripted([""]), LLMSettings(**settings), str, cleaned).fingerprint("describe")


def tune(texts: Sequence[Any], told: Told, settings: Mapping[str, Any] = {}, language: str = "") -> Any:
    """The prompts that are fitted to a corpus, given as chunks and where they begin in their documents."""
    made = Scripted(told)
    chunks = [make_item("extract", given) for given in texts]
    try:
        found = prompt_tuning.fit_prompts(LLMEngine(made, LLMSettings(**settings)), chunks, language)
    except ItemFailed as e:
        return [str(e), made.asked]
    passages = [[e.passage.text, e.passage.start, e.passage.end, e.passage.tokens] for e in found.examples]
    return [found.profile, passages, {name: _sum(text) for name, text in found.templates}, found.notes, made.asked]


def read_same_sets(text: str, cut: bool = False) -> Any:
    """The sets of entities that a reply names, of four."""
    names = [["entity", name, "", 1.0, [f"{name} sang."]] for name in ("Ada", "Ada Finch", "Bo", "A. Finch")]
    message, records = group_tasks.write_names(make_item("resolve", ["", names, 0]))
    found = group_tasks.read_same_sets(Reply(text, 1, 9, "length" if cut else "stop"), records)
    return [found.value, found.problem, found.removed, message]


def _sum(value: Any) -> int:
    """What tells whether a long value has changed."""
    return zlib.crc32(json.dumps(value, ensure_ascii=False, sort_keys=True).encode()) if value else 0
