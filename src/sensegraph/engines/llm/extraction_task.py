"""Extraction by a model: what a chunk says, and further rounds for what was missed (edge2024, §3.1.2; app. E.1).

Entities and relations come from one prompt; claims about these entities, where they are wanted, from another (G06).
A chunk that names much that its list lacks is asked about these names (`gleaning.py`). The paper's own way is a cheap
yes or no first, a further list only after a yes (G07): for claims, where it is set, and where names cannot be found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import msgspec

from sensegraph.engines.llm import prompts
from sensegraph.engines.llm.asker import ModelTasks, Plan, make_message, plan_task
from sensegraph.engines.llm.gleaning import FINDER_VERSION, can_find_names, find_missing_names
from sensegraph.engines.llm.llm_settings import OTHER, Domain, LLMSettings
from sensegraph.engines.llm.replies.extracted_records import read_claims, read_extraction
from sensegraph.engines.llm.replies.reply_text import Reading
from sensegraph.errors import Unreadable
from sensegraph.language.text import count_tokens, fold
from sensegraph.models.endpoint.client import Message
from sensegraph.types import Chunk, Extraction

T = TypeVar("T")

_VERSION = 3  # raise whenever the same replies give another extraction
_RECORD_TOKENS, _CLAIM_TOKENS = 100, 150  # that an entity and a relation, or a claim, take of a reply at most, roughly
LISTED, MISSING = "{{listed}}", "{{missing}}"  # what only a call knows of a request about names
_TYPED = re.compile(r"^Relation types:.*\n", re.MULTILINE)
_DATES = {
    "relation_rule": "\n- starts and ends: since when and until when the link holds by the passage, as YYYY, YYYY-MM "
    "or YYYY-MM-DD, no more exact than the passage; the same twice for what happened once; empty where it does not say",
    "relation_form": '"starts": "…", "ends": "…", ',
    "relation_example": '"starts": "2019", "ends": "", ',
}


@dataclass(frozen=True, slots=True)
class Stage:
    """One kind of list that is asked for: how, and what is said to ask whether and then what was missed.

    `names` is said to ask about names that the list lacks; empty where the model is asked whether it lacks anything.
    """

    plan: Plan
    check: str
    more: str
    names: str = ""


class ExtractionTasks(ModelTasks):
    """Entities, relations and claims of chunks; `_stages` are the lists that are asked for."""

    _stages: tuple[Stage, ...]

    def extract(self, chunks: Sequence[Chunk]) -> list[Extraction]:
        """Entities, relations and claims of each chunk. Raises ItemFailed for one whose replies stay unusable."""
        return [self._extract(c) for c in chunks]

    def _extract(self, chunk: Chunk) -> Extraction:
        domain = build_domain(self.settings)
        read = partial(read_extraction, chunk=chunk, typed=bool(domain.relation_types))
        what = f"chunk {chunk.id} of document {chunk.document!r}"
        try:
            found = domain.unify_types(self._list_all(self._stages[0], prompts.write_chunk(chunk), chunk, read, what))
        except Unreadable as e:
            raise Unreadable(str(e), domain.unify_types(e.instead), e.kind, e.words) from e
        if len(self._stages) == 1 or not found.entities:
            return found
        names = list_names(found)
        user = f"{prompts.write_chunk(chunk)}\n\nEntities: {names}"
        claims = self._list_all(self._stages[1], user, chunk, partial(read_claims, chunk=chunk), f"claims of {what}")
        return replace(add_extraction(found, claims), outside=found.outside, rounds=found.rounds)

    # ── estimates ──

    def count_chunk_calls(self, chunk: Chunk) -> int:
        """The calls that a chunk needs at least: each stage, and where the model is asked, whether it is whole."""
        return len(self._stages) + len(self._checked_stages(chunk))

    def count_chunk_tokens(self, chunk: Chunk) -> int:
        """Tokens of these calls' prompts; a reply that is read again is taken to be as long as its chunk."""
        user = count_tokens(prompts.write_chunk(chunk))
        once = sum(stage.plan.overhead + user for stage in self._stages)
        checked = self._checked_stages(chunk)
        return once + sum(s.plan.overhead + user + chunk.tokens + count_tokens(s.check) for s in checked)

    def _checked_stages(self, chunk: Chunk) -> list[Stage]:
        """The stages after which the model is asked whether it missed anything."""
        if not self.settings.max_gleanings:
            return []
        return [stage for stage in self._stages if not (stage.names and can_find_names(chunk.text))]

    # ── one list ──

    def _list_all(
        self, stage: Stage, user: str, chunk: Chunk, read: Callable[..., Reading[Extraction]], what: str
    ) -> Extraction:
        """What a stage finds, with what its further rounds bring: about names that its list lacks, else as asked."""
        talk = self._asker.begin(stage.plan, user)
        found, reply = self._asker.ask_in_talk("extract", stage.plan, talk, read, what)
        most = self.settings.max_gleanings
        if stage.names and most and can_find_names(chunk.text):
            ends = (name for r in found.relations for name in (r.source, r.target))
            missing = find_missing_names(chunk.text, list(dict.fromkeys((*(e.name for e in found.entities), *ends))))
            if not missing:
                return found
            request = fill_names(stage.names, found, missing)
            talk = self._asker.begin(stage.plan, f"{user}\n\n{request}", language_of=user)
            more, _ = self._ask_further(stage, talk, found, read, what)
            return replace(more, rounds=(len(more.entities) - len(found.entities),))
        talk.append(make_message("assistant", reply.text))
        rounds = list[int]()
        while len(rounds) < most and self._verdicts.agrees([*talk, make_message("user", stage.check)]):
            talk.append(make_message("user", stage.more))
            more, said = self._ask_further(stage, talk, found, read, what)
            talk.append(make_message("assistant", said))
            rounds.append(len(more.entities) - len(found.entities))
            found = more
        return replace(found, rounds=tuple(rounds))

    def _ask_further(
        self,
        stage: Stage,
        talk: Sequence[Message],
        found: Extraction,
        read: Callable[..., Reading[Extraction]],
        what: str,
    ) -> tuple[Extraction, str]:
        """What was found with what a further reply adds, and that reply."""
        read_more, of = partial(read, further=True), f"what was missed of {what}"
        try:
            missed, reply = self._asker.ask_in_talk("extract", stage.plan, talk, read_more, of)
        except Unreadable as e:
            raise Unreadable(str(e), add_extraction(found, e.instead), e.kind, e.words) from e
        return add_extraction(found, missed), reply.text


def list_names(found: Extraction) -> str:
    """The names of the entities, each once."""
    return "; ".join(dict.fromkeys(" ".join(e.name.split()) for e in found.entities))


def fill_names(template: str, found: Extraction, missing: Sequence[str]) -> str:
    """The request about names that a list lacks."""
    listed = list_names(found) or "(nothing)"
    return template.replace(MISSING, "; ".join(missing)).replace(LISTED, listed)


def build_domain(s: LLMSettings) -> Domain:
    """The domain that the settings describe."""
    return Domain(s.entity_types, s.relation_types, s.schema == "enforced")


def plan_extraction(s: LLMSettings, stages: Sequence[Stage]) -> Plan:
    """The fixed part of the whole task; all that can change an extraction is in it."""
    first, *others = stages
    gleaning = [
        (stage.check, stage.more, *((stage.names, FINDER_VERSION) if stage.names else ()))
        for stage in (stages if s.max_gleanings else ())
    ]
    matters = (_VERSION, build_domain(s), s.max_gleanings, gleaning, [stage.plan for stage in others])
    return replace(first.plan, matters=matters)


def plan_stages(s: LLMSettings, values: Mapping[str, str]) -> tuple[Stage, ...]:
    """Entities and relations; then claims, where they are wanted."""
    tuples = s.extraction_format == "tuple"

    def stage(name: str, prompt: str, gleaning: str, form: prompts.Schema) -> Stage:
        made = plan_task(name, f"{prompt}-tuple" if tuples else prompt, s, values, s.extract_tokens)
        turns = tuple(
            (asked if s.relation_types else _TYPED.sub("", asked), fit_example(r, form)) for asked, r in made.turns
        )
        made = replace(made, schema=None if tuples else form, turns=turns)
        check, more = (prompts.fill_template(f"{gleaning}-{part}", values, s.prompts) for part in ("check", "more"))
        by_names = gleaning == "glean" and s.gleaning == "names"
        of_call = {**values, "listed": LISTED, "missing": MISSING}
        return Stage(made, check, more, prompts.fill_template("glean-names", of_call, s.prompts) if by_names else "")

    listing = stage("extraction", "extract", "glean", prompts.extraction_schema(build_domain(s), dates=s.dates))
    return (listing, stage("claims", "claims", "claims", prompts.REPLY_SCHEMAS["claims"])) if s.claims else (listing,)


def fit_example(reply: str, form: prompts.Schema) -> str:
    """The reply of an example with the fields of `form` alone, without blanks; one that is no JSON as it is."""
    try:
        return msgspec.json.encode(_keep_fields(msgspec.json.decode(reply), form)).decode()
    except msgspec.DecodeError:
        return reply


def _keep_fields(value: Any, form: prompts.Schema) -> Any:
    if isinstance(value, list):
        return [_keep_fields(item, form.get("items", {})) for item in value]
    if not isinstance(value, dict):
        return value
    return {n: _keep_fields(value[n], inner) for n, inner in form.get("properties", {}).items() if n in value}


def type_placeholders(s: LLMSettings) -> dict[str, str]:
    """What the placeholders about types stand for; those about relations are empty where relations have none.

    Templates of the first edition name the types in the instructions, later ones in the message.
    """
    rule = f"; {OTHER} where none of them fits" if s.schema == "enforced" else ""
    example = "IN_CHARGE_OF<|>" if s.extraction_format == "tuple" else '"type": "IN_CHARGE_OF", '
    typed = {
        "relation_rule": f"\n- type: one of {', '.join(s.relation_types)}{rule}",
        "relation_form": '"type": "…", ',
        "relation_field": "type<|>",
        "relation_example": example,
    }
    typed = typed if s.relation_types else dict.fromkeys(typed, "")
    if s.dates:
        typed = {name: value + _DATES.get(name, "") for name, value in typed.items()}
    linked = f"\n- `type`: one of the relation types that the message names{rule}" if s.relation_types else ""
    kinds = {"Entity": s.entity_types, "Relation": s.relation_types}
    return {
        "entity_types": ", ".join(s.entity_types),
        "entity_rule": f"one of the types above{rule}",
        **typed,
        "types": "\n".join(f"{what} types: {', '.join(listed)}" for what, listed in kinds.items() if listed),
        "type_rule": f"one of the entity types that the message names{rule}",
        "link_rules": linked + (_DATES["relation_rule"] if s.dates else ""),
        "link_form": typed["relation_form"],
        "link_field": typed["relation_field"],
        "most_records": str(max(10, s.extract_tokens // _RECORD_TOKENS)),
        "most_claims": str(max(5, s.extract_tokens // _CLAIM_TOKENS)),
    }


def add_extraction(found: Extraction, more: Extraction) -> Extraction:
    """`found` with what is new in `more`; what was found first stays as it is (edge2024, §3.1.2)."""
    rejected = Counter(dict(found.rejected)) + Counter(dict(more.rejected))
    return Extraction(
        found.entities + _select_new(found.entities, more.entities, lambda e: (fold(e.name), e.type)),
        found.relations + _select_new(found.relations, more.relations, lambda r: {fold(r.source), fold(r.target)}),
        found.claims + _select_new(found.claims, more.claims, lambda c: (fold(c.subject), fold(c.description))),
        tuple(sorted(rejected.items())),
    )


def _select_new(found: tuple[T, ...], more: tuple[T, ...], name: Callable[[T], object]) -> tuple[T, ...]:
    """The records of `more` whose name is not among those of `found`."""
    known = [name(x) for x in found]
    return tuple(x for x in more if name(x) not in known)
