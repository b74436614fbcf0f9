"""What a model is asked of a group: aggregates and links (zhang2025, Eq. 4, 5), summary entities (huang2025, §4.1),
condensations (sarthi2024, §3), and which of its names are one thing (entity resolution; N79).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from sensegraph.engines.llm import prompts
from sensegraph.engines.llm.asker import ROUGH_WORDS, ModelTasks, Plan, plan_task
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.llm.replies.cited_records import Records
from sensegraph.engines.llm.replies.group_replies import (
    estimate_words,
    read_aggregate,
    read_condensed,
    read_link,
    read_summary_entities,
)
from sensegraph.engines.llm.replies.reply_text import Reading, decode_json, describe_cut, lists_nothing
from sensegraph.models.endpoint.client import Reply
from sensegraph.protocols import Task
from sensegraph.types import Brief, Context, Report, Statement, SummaryEntity

T = TypeVar("T")
Sets = tuple[tuple[str, ...], ...]

TASKS: tuple[Task, ...] = ("aggregate", "relate", "abstract", "condense")
_VERSION = 1  # raise whenever the same brief gives another message, or the same reply other values
_RESOLUTION_TOKENS = 600  # room for a reason and some numbers
_BOUNDED: tuple[Task, ...] = ("relate", "condense")  # always told how long


class GroupTasks(ModelTasks):
    """The tasks about groups.

    A brief without what the task is about (members, relations, text) gives an empty value, without a call.
    """

    def resolve(self, briefs: Sequence[Brief]) -> list[Sets]:
        """Of the entities of each brief, the sets of ids that are one thing; one entity alone needs no call."""
        return [self._find_same_names(b) if len(b.context.passages) > 1 else () for b in briefs]

    def aggregate(self, briefs: Sequence[Brief]) -> list[Report]:
        """Name, description and findings of each group; a name that a member has is asked for again."""
        least, nothing = self.settings.findings_min, Report("", ())
        return [
            self._ask_about_group("aggregate", b, partial(read_aggregate, brief=b, least=least), nothing)
            for b in briefs
        ]

    def relate(self, briefs: Sequence[Brief]) -> list[tuple[Statement, ...]]:
        """What links each two groups, in at most so many words."""
        return [
            self._ask_about_group("relate", b, partial(read_link, most=self._most_words("relate", b)), ())
            for b in briefs
        ]

    def abstract(self, briefs: Sequence[Brief]) -> list[tuple[SummaryEntity, ...]]:
        """More general entities for each group; a member that is left out is asked about, then given to the first."""
        return [self._ask_about_group("abstract", b, read_summary_entities, ()) for b in briefs]

    def condense(self, briefs: Sequence[Brief]) -> list[tuple[Statement, ...]]:
        """Each text said shorter; one passage that is short enough is kept, without a call."""
        return [
            _keep_short_text(b)
            or self._ask_about_group("condense", b, partial(read_condensed, most=self._most_words("condense", b)), ())
            for b in briefs
        ]

    def write_group_message(self, task: Task, brief: Brief) -> str:
        """The user's message of `task`; empty where no call is made."""
        needless = _lacks_material(task, brief) or (task == "condense" and _keep_short_text(brief))
        return "" if needless else prompts.write_brief(brief, self._most_words(task, brief))[0]

    def _most_words(self, task: Task, brief: Brief) -> int:
        """The most words to be written: as many as asked for, and as the limit of a reply has room for."""
        room = round(self._plans[task].max_tokens * ROUGH_WORDS)
        return min(brief.words or room, room) if task in _BOUNDED else brief.words

    def _ask_about_group(self, task: Task, brief: Brief, read: Callable[[Reply, Records], Reading[T]], nothing: T) -> T:
        if _lacks_material(task, brief):
            return nothing
        what = f"the group {brief.context.title!r} of {len(brief.context.passages)} records"

        def ask(context: Context) -> T:
            part = replace(brief, context=context, types=brief.types[: len(context.passages)])
            user, cited = prompts.write_brief(part, self._most_words(task, part))
            return self._asker.ask(task, self._plans[task], user, lambda reply: read(reply, cited), what)

        return self._asker.fit_context(brief.context, ask)[0]

    def _find_same_names(self, brief: Brief) -> Sets:
        user, cited = write_names(brief)
        what = " and ".join(p.title for p in brief.context.passages[:3])
        return self._asker.ask("resolve", self._plans["resolve"], user, lambda r: read_same_sets(r, cited), what)


def plan_group_tasks(s: LLMSettings, values: Mapping[str, str]) -> dict[Task, Plan]:
    """The fixed part of each task."""

    def plan(name: str, prompt: str, max_tokens: int, *matters: int) -> Plan:
        return plan_task(name, prompt, s, values, max_tokens, _VERSION, *matters)

    return {
        "resolve": plan("same", "resolve", _RESOLUTION_TOKENS),
        "aggregate": plan("aggregate", "aggregate", s.aggregate_tokens, s.findings_min),
        "relate": plan("link", "relate", s.relate_tokens),
        "abstract": plan("abstract", "abstract", s.abstract_tokens),
        "condense": plan("condensed", "condense", s.condense_tokens),
    }


def group_placeholders(s: LLMSettings) -> dict[str, str]:
    """What the placeholders about groups stand for."""
    return {
        "least_findings": str(s.findings_min),
        "aggregate_words": str(round(s.aggregate_tokens * ROUGH_WORDS)),
        "abstract_words": str(round(s.abstract_tokens * ROUGH_WORDS)),
    }


def _lacks_material(task: Task, brief: Brief) -> bool:
    """Whether a brief lacks what `task` is about."""
    return not any((p.kind == "relation") == (task == "relate") for p in brief.context.passages)


def _keep_short_text(brief: Brief) -> tuple[Statement, ...]:
    """The text as it is, where it is one passage within the words asked for."""
    passages = brief.context.passages
    kept = len(passages) == 1 and estimate_words(passages[0].text) <= brief.words
    return (Statement(passages[0].text, (passages[0].id,)),) if kept else ()


def write_names(brief: Brief) -> tuple[str, Records]:
    """The table of entities, and below it the sentences that name them."""
    tables, found = prompts.write_brief(brief, 0)
    lines = [f'{n}: "{" ".join(q.text.split())}"' for n, p in enumerate(found.passages, 1) for q in p.quotes]
    return (f"{tables}\n\n# Sentences\n" + "\n".join(lines) if lines else tables), found


def read_same_sets(reply: Reply, cited: Records) -> Reading[Sets]:
    """The sets of a reply; numbers that name no entity, or one that another set has, are left out and counted."""
    data = decode_json(reply)
    if not isinstance(data, dict) or not isinstance(data.get("groups"), list):
        return Reading(None, describe_cut(reply) or "it has no list of groups")
    taken: dict[str, None] = {}
    sets, removed = [], 0
    for listed in data["groups"]:
        numbers = listed if isinstance(listed, list) else [listed]
        texts = [text for n in numbers if (text := str(n).strip()).isascii() and text.isdecimal() and len(text) < 10]
        ids = [name for text in texts if (name := cited.find(int(text))) and name not in taken]
        ids = list(dict.fromkeys(ids))
        removed += len(numbers) - len(ids)
        taken.update(dict.fromkeys(ids))
        if len(ids) > 1:
            sets.append(tuple(sorted(ids)))
    if not taken and not lists_nothing(reply, data, "groups"):
        return Reading(None, "its groups name no entity of the table", removed)
    return Reading(tuple(sorted(sets)), "", removed)
