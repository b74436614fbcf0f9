"""What a model is asked of a group: aggregates and links (zhang2025, Eq. 4, 5), summary entities (huang2025, §4.1),
condensations (sarthi2024, §3), and which of its names are one thing (entity resolution; N79).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from sensegraph.engines.llm import prompts
from sensegraph.engines.llm.asker import ROUGH_WORDS, Asker, Plan
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.llm.prompts import reply_schema
from sensegraph.engines.llm.replies import group_replies
from sensegraph.engines.llm.replies.cited_records import Records
from sensegraph.engines.llm.replies.reply_text import Reading, decode_json, describe_cut, lists_nothing
from sensegraph.models.endpoint.client import Reply
from sensegraph.protocols import Task
from sensegraph.types import Brief, Report, Statement, SummaryEntity

T = TypeVar("T")

TASKS: tuple[Task, ...] = ("aggregate", "relate", "abstract", "condense")
_VERSION = 1  # raise whenever the same brief gives another message, or the same reply other values
_BOUNDED: tuple[Task, ...] = ("relate", "condense")  # always told how long


class Grouper:
    """Asks one model about groups; `plans` are the fixed parts of the tasks.

    A brief without what the task is about (members, relations, text) gives an empty value, without a call.
    """

    def __init__(self, asker: Asker, plans: Mapping[Task, Plan], settings: LLMSettings) -> None:
        self._asker, self._plans, self._settings = asker, plans, settings

    def aggregate(self, brief: Brief) -> Report:
        """Name, description and findings of a group of similar entities."""
        least = self._settings.findings_min
        return self._about(
            "aggregate", brief, lambda r, cited: group_replies.read_aggregate(r, cited, brief, least), Report("", ())
        )

    def relate(self, brief: Brief) -> tuple[Statement, ...]:
        """What links two groups."""
        most = self._most("relate", brief)
        return self._about("relate", brief, lambda r, cited: group_replies.read_link(r, cited, most), ())

    def abstract(self, brief: Brief) -> tuple[SummaryEntity, ...]:
        """More general entities that stand for a group, each member in at least one of them."""
        return self._about("abstract", brief, group_replies.read_summary_entities, ())

    def condense(self, brief: Brief) -> tuple[Statement, ...]:
        """A group's text said shorter; one passage that is short enough is kept as it is, without a call."""
        if _is_short_enough(brief):
            (only,) = brief.context.passages
            return (Statement(only.text, (only.id,)),)
        most = self._most("condense", brief)
        return self._about("condense", brief, lambda r, cited: group_replies.read_condensed(r, cited, most), ())

    def user(self, task: Task, brief: Brief) -> str:
        """The user's message of `task`; empty where no call is made."""
        needless = _lacks_material(task, brief) or (task == "condense" and _is_short_enough(brief))
        return "" if needless else self._message(task, brief)[0]

    def _message(self, task: Task, brief: Brief) -> tuple[str, Records]:
        return prompts.write_brief(brief, self._most(task, brief))

    def _most(self, task: Task, brief: Brief) -> int:
        """The most words to be written: as many as asked for, and as the limit of a reply has room for."""
        room = round(self._plans[task].max_tokens * ROUGH_WORDS)
        return min(brief.words or room, room) if task in _BOUNDED else brief.words

    def _about(self, task: Task, brief: Brief, read: Callable[[Reply, Records], Reading[T]], nothing: T) -> T:
        if _lacks_material(task, brief):
            return nothing
        user, cited = self._message(task, brief)
        what = f"the group {brief.context.title!r} of {len(brief.context.passages)} records"
        return self._asker.ask(task, self._plans[task], user, lambda reply: read(reply, cited), what)


def plan_group_tasks(s: LLMSettings, values: Mapping[str, str]) -> dict[Task, Plan]:
    """The fixed part of each task."""

    def plan(name: str, prompt: str, max_tokens: int, *matters: int) -> Plan:
        system = prompts.fill_template(prompt, values, s.prompts)
        return Plan(name, system, reply_schema(name), max_tokens, (_VERSION, *matters))

    return {
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


def _is_short_enough(brief: Brief) -> bool:
    """Whether the text is one passage within the words asked for."""
    passages = brief.context.passages
    return len(passages) == 1 and group_replies.estimate_words(passages[0].text) <= brief.words


Sets = tuple[tuple[str, ...], ...]

_RESOLUTION_VERSION = 1  # raise whenever the same brief gives another message, or the same reply other values
_RESOLUTION_TOKENS = 600  # room for a reason and some numbers


def plan_resolution(s: LLMSettings, values: Mapping[str, str]) -> Plan:
    """The fixed part of the task."""
    return Plan(
        "same",
        prompts.fill_template("resolve", values, s.prompts),
        reply_schema("same"),
        _RESOLUTION_TOKENS,
        (_RESOLUTION_VERSION,),
    )


def find_same_names(asker: Asker, plan: Plan, brief: Brief) -> Sets:
    """The sets of ids, each of two or more, that are one thing. Fewer than two entities need no call."""
    if len(brief.context.passages) < 2:
        return ()
    user, cited = write_names(brief)
    what = " and ".join(p.title for p in brief.context.passages[:3])
    return asker.ask("resolve", plan, user, lambda reply: read_same_sets(reply, cited), what)


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
