"""What a model is asked about names that may be one thing (entity resolution; N79)."""

from __future__ import annotations

from collections.abc import Mapping

from sensegraph.engines.llm import prompts
from sensegraph.engines.llm.asker import Asker, Plan
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.llm.replies.cited_records import Records
from sensegraph.engines.llm.replies.reply_text import Reading, decode_json, describe_cut, lists_nothing
from sensegraph.engines.llm.schemas import reply_schema
from sensegraph.models.endpoint.client import Reply
from sensegraph.types import Brief

Sets = tuple[tuple[str, ...], ...]

_VERSION = 1  # raise whenever the same brief gives another message, or the same reply other values
_TOKENS = 600  # room for a reason and some numbers


def plan_resolution(s: LLMSettings, values: Mapping[str, str]) -> Plan:
    """The fixed part of the task."""
    return Plan("same", prompts.fill_template("resolve", values, s.prompts), reply_schema("same"), _TOKENS, (_VERSION,))


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
