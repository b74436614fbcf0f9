"""Extraction by a model: what a chunk says, and further rounds for what was missed (edge2024, §3.1.2; app. E.1).

Entities and relations come from one prompt; claims about these entities, where they are wanted, from another (G06).
Each has its own gleaning: a cheap yes or no first, a further list only after a yes (G07).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sensegraph.engines.llm import prompts, schemas
from sensegraph.engines.llm.asking import Asker, Plan, messages, said_by
from sensegraph.engines.llm.domain import OTHER, Domain
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.engines.llm.replies import listed, records
from sensegraph.engines.llm.replies.replies import Reading
from sensegraph.engines.llm.verdicts import Verdicts
from sensegraph.language.text import tokens
from sensegraph.models.endpoint.client import Message, Reply
from sensegraph.types import Chunk, ExtractedEntity, Extraction

_VERSION = 2  # raise whenever the same replies give another extraction
_DATES = {
    "relation_rule": "\n- starts and ends: since when and until when the link holds by the passage, as YYYY, YYYY-MM "
    "or YYYY-MM-DD, no more exact than the passage; the same twice for what happened once; empty where it does not say",
    "relation_form": '"starts": "…", "ends": "…", ',
    "relation_example": '"starts": "2019", "ends": "", ',
}


@dataclass(frozen=True, slots=True)
class Stage:
    """One kind of list that is asked for: how, and what is said to ask whether and then what was missed."""

    plan: Plan
    check: str
    more: str


class Extractor:
    """Entities, relations and claims of chunks, by one model."""

    def __init__(self, asker: Asker, verdicts: Verdicts, settings: LLMSettings, values: Mapping[str, str]) -> None:
        self.asker, self.verdicts = asker, verdicts
        self.gleanings, self.domain = settings.max_gleanings, domain(settings)
        self.stages = stages(settings, values)

    def extract(self, chunk: Chunk) -> Extraction:
        """What one chunk says. Raises ItemFailed for a chunk whose replies stay unusable."""

        def read(reply: Reply) -> Reading[Extraction]:
            return listed.extraction(reply, chunk, typed=bool(self.domain.relation_types))

        what = f"chunk {chunk.id} of document {chunk.document!r}"
        found = self.domain.held(self._listed(self.stages[0], prompts.of_chunk(chunk), read, what))
        if len(self.stages) == 1 or not found.entities:
            return found
        user = _with_entities(chunk, found.entities)
        claims = self._listed(self.stages[1], user, lambda reply: listed.claims(reply, chunk), f"claims of {what}")
        return replace(records.added(found, claims), outside=found.outside, rounds=found.rounds)

    # ── estimates ──

    @property
    def calls(self) -> int:
        """The calls that a chunk needs at least: each stage, and whether it missed anything."""
        return len(self.stages) * (2 if self.gleanings else 1)

    def prompt_tokens(self, chunk: Chunk) -> int:
        """Tokens of these calls' prompts; a reply that is read again is taken to be as long as its chunk."""
        user = tokens(prompts.of_chunk(chunk))
        return sum(self._prompt_tokens(stage, user, chunk.tokens) for stage in self.stages)

    def _prompt_tokens(self, stage: Stage, user: int, reply: int) -> int:
        once = stage.plan.overhead + user
        return once + (once + reply + tokens(stage.check) if self.gleanings else 0)

    # ── one list ──

    def _listed(self, stage: Stage, user: str, read: Callable[[Reply], Reading[Extraction]], what: str) -> Extraction:
        """What a stage finds, with what its further rounds bring."""
        found, reply = self.asker.asked("extract", stage.plan, user, read, what)
        talk = [*messages(stage.plan, user), said_by("assistant", reply.text)]
        rounds: list[int] = []
        while len(rounds) < self.gleanings and self._missed(stage, talk):
            talk.append(said_by("user", stage.more))
            missed, reply = self.asker.talked("extract", stage.plan, talk, read, f"what was missed of {what}")
            talk.append(said_by("assistant", reply.text))
            more = records.added(found, missed)
            rounds.append(len(more.entities) - len(found.entities))
            found = more
        return replace(found, rounds=tuple(rounds))

    def _missed(self, stage: Stage, talk: Sequence[Message]) -> bool:
        """Whether the model says that its list is not whole."""
        return self.verdicts.agrees([*talk, said_by("user", stage.check)])


def domain(s: LLMSettings) -> Domain:
    """The domain that the settings describe."""
    return Domain(s.entity_types, s.relation_types, s.schema == "enforced")


def plan(s: LLMSettings, values: Mapping[str, str]) -> Plan:
    """The fixed part of the whole task; all that can change an extraction is in it."""
    first, *others = stages(s, values)
    gleaning = [(stage.check, stage.more) for stage in (first, *others)] if s.max_gleanings else []
    matters = (_VERSION, domain(s), s.max_gleanings, gleaning, [stage.plan for stage in others])
    return replace(first.plan, matters=matters)


def stages(s: LLMSettings, values: Mapping[str, str]) -> tuple[Stage, ...]:
    """Entities and relations; then claims, where they are wanted."""
    tuples = s.extraction_format == "tuple"

    def stage(name: str, prompt: str, gleaning: str, form: schemas.Schema) -> Stage:
        system = prompts.filled(f"{prompt}-tuple" if tuples else prompt, values, s.prompts)
        made = Plan(name, system, None if tuples else form, s.extract_tokens)
        check, more = (prompts.filled(f"{gleaning}-{part}", values, s.prompts) for part in ("check", "more"))
        return Stage(made, check, more)

    listing = stage("extraction", "extract", "glean", schemas.extraction_schema(domain(s), dates=s.dates))
    return (listing, stage("claims", "claims", "claims", schemas.reply_schema("claims"))) if s.claims else (listing,)


def values(s: LLMSettings) -> dict[str, str]:
    """What the placeholders about types stand for; those about relations are empty where relations have none."""
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
    return {"entity_types": ", ".join(s.entity_types), "entity_rule": f"one of the types above{rule}", **typed}


def _with_entities(chunk: Chunk, entities: Sequence[ExtractedEntity]) -> str:
    """A chunk, and the entities that claims may be about."""
    names = "; ".join(dict.fromkeys(" ".join(e.name.split()) for e in entities))
    return f"{prompts.of_chunk(chunk)}\n\nEntities: {names}"
