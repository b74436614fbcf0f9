"""The form of each reply as a JSON schema, strict: every property is required and no other is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}


def schema(name: str, entity_types: Sequence[str] = (), claims: bool = False) -> Schema:
    """The schema named `name`: extraction, summary, report, points or answer."""
    if name == "extraction":
        return _extraction(entity_types, claims)
    return {"summary": _summary, "report": _report, "points": _points, "answer": _answer}[name]()


def _extraction(entity_types: Sequence[str], claims: bool) -> Schema:
    entity = _object(name=_TEXT, type=_one_of(entity_types), description=_TEXT)
    relation = _object(source=_TEXT, target=_TEXT, description=_TEXT, strength=_NUMBER)
    parts = {"entities": _list(entity), "relations": _list(relation)}
    if claims:
        status = _one_of(("TRUE", "FALSE", "SUSPECTED"))
        texts = dict.fromkeys(("subject", "object", "type", "starts", "ends", "description", "quote"), _TEXT)
        parts["claims"] = _list(_object(**texts, status=status))
    return _object(**parts)


def _summary() -> Schema:
    return _object(summary=_TEXT)


def _report() -> Schema:
    finding = _object(summary=_TEXT, explanation=_TEXT)
    return _object(title=_TEXT, summary=_TEXT, rating=_NUMBER, rating_explanation=_TEXT, findings=_list(finding))


def _points() -> Schema:
    return _object(points=_list(_object(text=_TEXT, score={"type": "integer"})))


def _answer() -> Schema:
    return _object(answer=_TEXT)


def _object(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def _one_of(values: Sequence[str]) -> Schema:
    return {"type": "string", "enum": list(values)}
