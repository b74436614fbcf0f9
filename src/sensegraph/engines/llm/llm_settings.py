"""What can be set about the questions to a model, and the types that extraction asks for (N93)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sensegraph.errors import SettingsError
from sensegraph.language.text import fold
from sensegraph.types import Extraction


@dataclass(frozen=True, slots=True)
class LLMSettings:
    """What is asked of the model. `*_tokens` limit replies; `prompts` is a folder whose files replace templates.

    `entity_types` and `relation_types` are what to look for; none of the latter leaves relations without types. An
    `open` schema keeps what is of another type, an `enforced` one makes its type `other`; both count it. `dates`
    asks since and until when a relation holds, besides the dates that the texts are searched for by rules.
    `max_gleanings` bounds the rounds in which a chunk is asked about again for what was missed (edge2024, §3.1.2);
    `gleaning` says when: where it names much that its list lacks (`names`, one round), or where the model says so, to
    which all is shown again (`check`, the paper's way).
    Where `language` is empty, the language of the text, or of the question, is found and named. `points` says
    whether a partial answer is a list of rated points or one rated answer (edge2024, §3.1.6). A partial answer may
    name `follow_ups` questions (DRIFT), and a question may be split into `sub_questions` (LazyGraphRAG).
    `history_tokens` is the room for an earlier conversation. Verdicts and scores are drawn at `judge_temperature`
    (ours: at 0, replicates would be one verdict paid for several times). Where the model was tuned here,
    `trained_prompt` is its folder, its manifest, or a file with the prompt of the training: answers are then asked
    with that, by the endpoint's completions, as the model learnt them.
    """

    entity_types: tuple[str, ...] = ("organization", "person", "geo", "event")
    relation_types: tuple[str, ...] = ()
    schema: Literal["open", "enforced"] = "open"
    extraction_format: Literal["json", "tuple"] = "json"
    claims: bool = False
    dates: bool = False
    max_gleanings: int = 1
    gleaning: Literal["names", "check"] = "names"
    summary_words: int = 500
    summary_input_tokens: int = 4000
    findings_min: int = 5
    findings_max: int = 10
    points: Literal["points", "answer"] = "points"
    response_type: str = "several paragraphs"
    general_knowledge: bool = False
    language: str = ""
    prompts: str = ""
    trained_prompt: str = ""
    extract_tokens: int = 4000
    summarise_tokens: int = 1000
    report_tokens: int = 2000
    aggregate_tokens: int = 2000
    relate_tokens: int = 600
    abstract_tokens: int = 4000
    condense_tokens: int = 1000
    rate_tokens: int = 1000
    answer_tokens: int = 2000
    ask_tokens: int = 1500
    refine_tokens: int = 1000
    follow_ups: int = 5
    sub_questions: int = 3
    history_tokens: int = 1200
    judge_temperature: float = 0.7
    judge_tokens: int = 800
    contrast_tokens: int = 1500
    propose_tokens: int = 2000
    claim_tokens: int = 800
    describe_tokens: int = 1500

    def __post_init__(self) -> None:
        if not self.entity_types:
            raise SettingsError("model.entity_types is empty: name at least one type of entity to look for.")
        if self.dates and self.extraction_format == "tuple":
            raise SettingsError('model.dates needs model.extraction_format = "json": tuples have no place for dates.')
        if self.max_gleanings < 0:
            raise SettingsError("model.max_gleanings must be 0 or more.")
        if not all(kind.strip() for kind in (*self.entity_types, *self.relation_types)):
            raise SettingsError("model.entity_types and model.relation_types hold an empty name: take it out.")
        if not 0 < self.findings_min <= self.findings_max:
            raise SettingsError("model.findings_min must be at least 1 and at most findings_max.")
        if min(self.follow_ups, self.sub_questions) < 1 or self.history_tokens < 0:
            raise SettingsError(
                "model.follow_ups and sub_questions must be at least 1, model.history_tokens at least 0."
            )
        if not 0 <= self.judge_temperature <= 2:
            raise SettingsError("model.judge_temperature must be from 0 to 2.")
        if self.summary_input_tokens < 100:
            raise SettingsError("model.summary_input_tokens must be at least 100.")


OTHER = "other"


@dataclass(frozen=True, slots=True)
class Domain:
    """The types of entities and relations to look for; `enforced` says that there are no others.

    A record of another type is kept and counted. Where the types are enforced it becomes `other`, which a model may
    also say itself. Relations have types only where some are named; these fill the label.
    """

    entity_types: tuple[str, ...]
    relation_types: tuple[str, ...] = ()
    enforced: bool = False

    def unify_types(self, found: Extraction) -> Extraction:
        """`found` with every type as the domain writes it, and those of others counted."""
        outside = Counter[str]()
        entities = tuple(
            replace(e, type=self._unify("entity", e.type, self.entity_types, outside).casefold())
            for e in found.entities
        )
        relations = tuple(
            replace(r, label=self._unify("relation", r.label, self.relation_types, outside)) for r in found.relations
        )
        return replace(found, entities=entities, relations=relations, outside=tuple(sorted(outside.items())))

    def _unify(self, what: str, kind: str, listed: Sequence[str], outside: Counter[str]) -> str:
        """The listed type that `kind` means; another is counted. Where none are listed, it is none."""
        if not listed:
            return ""
        if (known := self._find_listed(kind, listed)) is not None:
            return known
        outside[f"{what} type {kind or '(none)'}"] += 1
        return OTHER if self.enforced else kind

    def _find_listed(self, kind: str, listed: Sequence[str]) -> str | None:
        """The listed type that `kind` means, in any case and with spaces or underscores; None for another."""
        return {fold_type_name(k): k for k in (*((OTHER,) if self.enforced else ()), *listed)}.get(fold_type_name(kind))


def fold_type_name(kind: str) -> str:
    """The form in which types are compared: `Legal Principle` is `LEGAL_PRINCIPLE`."""
    return " ".join(fold(kind).replace("_", " ").replace("-", " ").split())
