"""The language tasks by a model: task → prompt → schema → values.

The prompts follow what the papers ask for, in words of our own; their texts are files in the folders of the papers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from sensegraph.engines.llm import extraction_task, group_tasks, judging_tasks, method_tasks, prompts, question_tasks
from sensegraph.engines.llm.asker import ROUGH_WORDS, Asker, Plan, Verdicts, plan_task
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.llm.replies.answer_replies import read_community_report, read_summary
from sensegraph.engines.llm.replies.reply_text import Reading
from sensegraph.engines.llm.trained_prompt import read_layout
from sensegraph.errors import PromptTooLong, UnsupportedTask
from sensegraph.language.text import count_tokens, pack_batches
from sensegraph.models.endpoint.client import Endpoint, Reply
from sensegraph.protocols import Task
from sensegraph.runtime.keys import key
from sensegraph.types import Brief, Chunk, Context, Inquiry, Passage, Report, Statement, Usage

T = TypeVar("T")

__all__ = ["LLMEngine", "LLMSettings"]

VERSION = 4  # raise whenever the same prompt and reply give other values
_POINT_TOKENS = 80  # that a rated point takes, roughly
_GRADE_TOKENS = 300  # room for a sentence and a number


class LLMEngine(
    extraction_task.ExtractionTasks, group_tasks.GroupTasks, method_tasks.MethodTasks, judging_tasks.JudgingTasks
):
    """The language tasks by the chat model of an endpoint."""

    tasks: frozenset[Task] = frozenset({"extract", "resolve", "summarise", "report"}).union(
        group_tasks.TASKS, question_tasks.TASKS, method_tasks.TASKS, judging_tasks.TASKS
    )
    batch = 1
    waits = True
    quotes = False

    def __init__(self, endpoint: Endpoint, settings: LLMSettings | None = None) -> None:
        self.endpoint = endpoint
        self.settings = settings or LLMSettings()
        self.name = endpoint.settings.model
        prompts.check_prompt_folder(self.settings.prompts)
        trained = self.settings.trained_prompt
        self.layout = read_layout(Path(trained)) if trained else None
        values = list_placeholders(self.settings)
        self._forms = judging_tasks.plan_forms(self.settings, values)
        self._stages = extraction_task.plan_stages(self.settings, values)
        self._plans = plan_tasks(self.settings, values, self._stages)
        self._plans |= judging_tasks.plan_judging_tasks(self.settings, self._forms)
        self._plans |= method_tasks.plan_method_tasks(self.settings, values)
        self._asker, self._verdicts = Asker(endpoint), Verdicts(endpoint)

    def __reduce__(self) -> tuple[type[LLMEngine], tuple[Endpoint, LLMSettings]]:
        return type(self), (self.endpoint, self.settings)

    def fingerprint(self, task: Task) -> str:
        """Prompt, schema, limits and model of `task`; not where the model is or whose key pays for it."""
        s, plan = self.endpoint.settings, self._plan(task)
        asked: list[Any] = [s.thoughts, dict(s.extra_body)] if s.extra_body or s.thoughts != "auto" else []
        if self.settings.trained_prompt and self.layout and task == "answer":
            asked.append(["trained", self.layout.template])
        return key("llm", VERSION, task, plan, s.model, s.temperature, s.seed, *asked)

    def usage(self) -> Usage:
        """What the chat calls have cost; `rejected` counts the replies that were asked for again."""
        return replace(self.endpoint.usage("chat"), rejected=self._asker.again)

    def notes(self) -> tuple[str, ...]:
        """What was degraded so far, each with how often."""
        return self.endpoint.notes() + self._verdicts.notes() + self._asker.notes()

    # ── tasks ──

    def summarise(self, contexts: Sequence[Context]) -> list[str]:
        """One description from several of the same thing; one alone is kept as it is, without a call."""
        return [self._summarise(c) for c in contexts]

    def report(self, contexts: Sequence[Context]) -> list[Report]:
        """A report on each community; one of a single entity without claims is that entity, without a call."""
        return [self._report(c) for c in contexts]

    def _summarise(self, context: Context) -> str:
        window = self.endpoint.window
        try:
            return self._summarise_parts(context)
        except PromptTooLong:  # in smaller parts, now that the window is known
            if self.endpoint.window == window:
                raise
            return self._summarise(context)

    def _summarise_parts(self, context: Context) -> str:
        parts = self._parts(context)
        if sum(map(len, parts)) < 2:
            return "".join(t for part in parts for t in part)
        so_far = ""
        for part in parts:
            user = prompts.write_descriptions(context.title, part, so_far)
            so_far = self._ask("summarise", user, read_summary, f"the descriptions of {context.title!r}")
        return so_far

    def _report(self, context: Context) -> Report:
        if only := _find_only_entity(context):
            return Report(only.title, (Statement(only.text, (only.id,)),))
        least = self.settings.findings_min
        what = f"the community {context.title!r} of {len(context.passages)} records"

        def ask(part: Context) -> Report:
            user, cited = prompts.write_community(part)
            return self._ask("report", user, lambda r: read_community_report(r, cited, least), what)

        return self._asker.fit_context(context, ask)[0]

    def _ask(self, task: Task, user: str, read: Callable[[Reply], Reading[T]], what: str) -> T:
        return self._asker.ask(task, self._plan(task), user, read, what)

    # ── estimates ──

    def prompt_tokens(self, task: Task, item: Chunk | Context | Inquiry | Brief | judging_tasks.Item) -> int:
        """Tokens of the prompts that `item` needs if nothing is asked for again and nothing was missed: see `calls`."""
        if isinstance(item, Chunk):
            return self.count_triple_tokens(item) if task == "triples" else self.count_chunk_tokens(item)
        judged = self._forms[judging_tasks.choose_form(task, item)] if isinstance(item, judging_tasks.ITEMS) else None
        users = self._users(task, item)
        return sum(map(count_tokens, users)) + len(users) * (judged or self._plan(task)).overhead

    def calls(self, task: Task, item: Chunk | Context | Inquiry | Brief | judging_tasks.Item) -> int:
        """The calls that `item` needs at least: for a chunk, those that ask whether anything was missed as well."""
        if isinstance(item, Chunk):
            return 2 if task == "triples" else self.count_chunk_calls(item)
        return len(self._users(task, item))

    def price(self, prompt_tokens: int, completion_tokens: int) -> float:
        """US dollars for so many tokens; 0 where no price is set."""
        s = self.endpoint.settings
        return (prompt_tokens * s.price_prompt + completion_tokens * s.price_completion) / 1e6

    def overhead(self, task: Task) -> int:
        """Tokens of a prompt with nothing to read: instructions and schema."""
        return self._plan(task).overhead

    def max_tokens(self, task: Task) -> int:
        """The most tokens that a reply may have."""
        return self._plan(task).max_tokens

    def _users(self, task: Task, item: Context | Inquiry | Brief | judging_tasks.Item) -> list[str]:
        """The user's message of each call that `item` needs; none where no call is made."""
        if isinstance(item, judging_tasks.ITEMS):
            return [judging_tasks.write_item_message(item)] if judging_tasks.is_asked_about(task, item) else []
        if isinstance(item, Inquiry):
            return [user] if (user := self.write_question_message(task, item)) else []
        if isinstance(item, Brief):
            return [user] if (user := self.write_group_message(task, item)) else []
        if task == "summarise":
            parts = self._parts(item)
            return [prompts.write_descriptions(item.title, p) for p in parts] if sum(map(len, parts)) > 1 else []
        return [] if _find_only_entity(item) else [prompts.write_community(item)[0]]

    def _parts(self, context: Context) -> list[list[str]]:
        """The distinct descriptions, in batches that fit a prompt."""
        texts = list(dict.fromkeys(p.text for p in context.passages if p.text.strip()))
        plan, window = self._plan("summarise"), self.endpoint.window
        room = (window - plan.overhead - plan.max_tokens) // 2 if window else self.settings.summary_input_tokens
        return pack_batches(texts, max(100, min(self.settings.summary_input_tokens, room)), count_tokens)

    def _plan(self, task: Task) -> Plan:
        if task not in self._plans:
            raise UnsupportedTask("This step", self.name, frozenset({task}))
        return self._plans[task]


def _find_only_entity(context: Context) -> Passage | None:
    """The entity that a community consists of, where nothing else is known about it."""
    return context.passages[0] if [p.kind for p in context.passages] == ["entity"] else None


# ── the fixed part of each task ──


def plan_tasks(s: LLMSettings, values: Mapping[str, str], stages: Sequence[extraction_task.Stage]) -> dict[Task, Plan]:
    """The fixed part of each task that is no task of judging."""

    def plan(name: str, prompt: str, max_tokens: int, *matters: int | str) -> Plan:
        return plan_task(name, prompt, s, values, max_tokens, *matters)

    return {
        "extract": extraction_task.plan_extraction(s, stages),
        "summarise": plan("summary", "summarise", s.summarise_tokens, s.summary_input_tokens),
        "report": plan("report", "report", s.report_tokens, s.findings_min),
        **group_tasks.plan_group_tasks(s, values),
        "rate": plan("points", "rate-answer" if s.points == "answer" else "rate", s.rate_tokens, s.history_tokens),
        "answer": plan("answer", "answer", s.answer_tokens, s.history_tokens, question_tasks.NOTICE),
        "ask": plan("lead", "ask", s.ask_tokens, s.history_tokens),
        "refine": plan("refinement", "refine", s.refine_tokens, s.history_tokens, s.sub_questions),
        "test": plan("verdict", "test", 1),
        "grade": plan("grade", "grade", _GRADE_TOKENS, s.history_tokens),
    }


def list_placeholders(s: LLMSettings) -> dict[str, str]:
    """What the placeholders of the templates stand for."""
    language = f"Write in {s.language}." if s.language else "Write in the language of the text."
    own = "You may add what is generally known; mark each such sentence with (general knowledge)."
    return {
        **extraction_task.type_placeholders(s),
        **group_tasks.group_placeholders(s),
        **judging_tasks.contrast_placeholders(),
        "language": language,
        "summary_words": str(s.summary_words),
        "findings": f"{s.findings_min} to {s.findings_max}",
        "references": prompts.read_template("references", s.prompts).strip(),
        "knowledge": own if s.general_knowledge else "Use nothing but the tables; where they say nothing, say so.",
        "response_type": s.response_type,
        "report_words": str(round(s.report_tokens * ROUGH_WORDS)),
        "rate_words": str(round(s.rate_tokens * ROUGH_WORDS)),
        "answer_words": str(round(s.answer_tokens * ROUGH_WORDS)),
        "ask_words": str(round(s.ask_tokens * ROUGH_WORDS * 0.6)),  # the rest is for questions
        "refine_words": str(round(s.refine_tokens * ROUGH_WORDS * 0.5)),
        "rate_points": str(max(3, s.rate_tokens // _POINT_TOKENS)),
        "follow_ups": str(s.follow_ups),
        "sub_questions": str(s.sub_questions),
    }
