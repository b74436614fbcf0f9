"""The form of each reply as a JSON schema, strict: every property is required and no other is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sensegraph.engines.llm.domain import OTHER, Domain

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_INTEGER: Schema = {"type": "integer"}


def reply_schema(name: str) -> Schema:
    """The schema named `name`: that of a task, or claims or profile."""
    return _SCHEMAS[name]


def extraction_schema(domain: Domain, *, dates: bool = False) -> Schema:
    """The form of entities and relations; only an enforced domain leaves no type but its own and `other`.

    With `dates` a relation says since and until when it holds.
    """
    entity = _object_of(name=_TEXT, type=_type_schema(domain.entity_types, domain), description=_TEXT)
    kind = {"type": _type_schema(domain.relation_types, domain)} if domain.relation_types else {}
    when = {"starts": _TEXT, "ends": _TEXT} if dates else {}
    relation = _object_of(source=_TEXT, target=_TEXT, **kind, **when, description=_TEXT, strength=_NUMBER)
    return _object_of(entities=_list_of(entity), relations=_list_of(relation))


def _type_schema(listed: Sequence[str], domain: Domain) -> Schema:
    return _choice_of(*dict.fromkeys((*listed, OTHER))) if domain.enforced else _TEXT


def _object_of(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list_of(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def _choice_of(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


_FINDINGS = _list_of(_object_of(summary=_TEXT, explanation=_TEXT))
_CLAIM = _object_of(
    subject=_TEXT,
    object=_TEXT,
    type=_TEXT,
    status=_choice_of("TRUE", "FALSE", "SUSPECTED"),
    starts=_TEXT,
    ends=_TEXT,
    description=_TEXT,
    quote=_TEXT,
)
_MEMBER = _object_of(id=_INTEGER, description=_TEXT, strength=_NUMBER)
_SUMMARY_ENTITY = _object_of(name=_TEXT, type=_TEXT, description=_TEXT, members=_list_of(_MEMBER))
_LINES = _object_of(lines=_list_of(_TEXT))
_SENTENCE = _object_of(reason=_TEXT, sentence=_TEXT)

_SCHEMAS: dict[str, Schema] = {
    "claims": _object_of(claims=_list_of(_CLAIM)),
    "summary": _object_of(summary=_TEXT),
    "report": _object_of(title=_TEXT, summary=_TEXT, rating=_NUMBER, rating_explanation=_TEXT, findings=_FINDINGS),
    "aggregate": _object_of(entity_name=_TEXT, entity_description=_TEXT, findings=_FINDINGS),
    "link": _object_of(link=_TEXT),
    "abstract": _object_of(summary_entities=_list_of(_SUMMARY_ENTITY)),
    "condensed": _object_of(condensed=_TEXT),
    "points": _object_of(points=_list_of(_object_of(text=_TEXT, score=_INTEGER))),
    "answer": _object_of(answer=_TEXT),
    "lead": _object_of(answer=_TEXT, score=_INTEGER, follow_ups=_list_of(_TEXT)),
    "refinement": _object_of(expanded_question=_TEXT, sub_questions=_list_of(_TEXT), hypothetical_answer=_TEXT),
    "grade": _object_of(reason=_TEXT, rating=_INTEGER),
    "same": _object_of(reason=_TEXT, groups=_list_of(_list_of(_INTEGER))),
    "profile": _object_of(domain=_TEXT, persona=_TEXT, language=_TEXT, entity_types=_list_of(_TEXT)),
    "judge": _object_of(reasoning=_TEXT, winner={"type": "integer", "enum": [0, 1, 2]}),
    "judge-decided": _object_of(reasoning=_TEXT, winner={"type": "integer", "enum": [1, 2]}),
    "judge-scored": _object_of(reasoning=_TEXT, score_a=_NUMBER, score_b=_NUMBER, winner=_choice_of("A", "B", "tie")),
    "score": _object_of(explanation=_TEXT, score=_NUMBER),
    "contrast": _object_of(common=_list_of(_TEXT), first_only=_list_of(_TEXT), second_only=_list_of(_TEXT)),
    "personas": _LINES,
    "tasks": _LINES,
    "questions": _LINES,
    "grounded-questions": _LINES,
    "reverse-questions": _LINES,
    "claim-select": _SENTENCE,
    "claim-disambiguate": _SENTENCE,
    "claim-decompose": _object_of(statements=_list_of(_TEXT)),
    "support": _object_of(reason=_TEXT, supported={"type": "boolean"}),
}
