"""The form of each reply as a JSON schema, strict: every property is required and no other is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sensegraph.engines.llm.domain import OTHER, Domain

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}


def schema(name: str) -> Schema:
    """The schema named `name`: that of a task, or claims or profile."""
    forms = {"claims": _claims, "summary": _summary, "report": _report, "points": _points, "answer": _answer}
    forms |= {"lead": _lead, "refinement": _refinement, "grade": _grade, "profile": _profile}
    forms |= {"aggregate": _aggregate, "link": _link, "abstract": _abstract, "condensed": _condensed, "same": _same}
    forms |= {"judge": _judge, "judge-decided": _judge_decided, "judge-scored": _judge_scored, "score": _score}
    forms |= {"contrast": _contrast, "support": _support, "claim-decompose": _statements}
    forms |= dict.fromkeys(("claim-select", "claim-disambiguate"), _sentence)
    forms |= dict.fromkeys(("personas", "tasks", "questions", "grounded-questions", "reverse-questions"), _lines)
    return forms[name]()


def extraction(domain: Domain, *, dates: bool = False) -> Schema:
    """The form of entities and relations; only an enforced domain leaves no type but its own and `other`.

    With `dates` a relation says since and until when it holds.
    """
    entity = _object(name=_TEXT, type=_type(domain.entity_types, domain), description=_TEXT)
    kind = {"type": _type(domain.relation_types, domain)} if domain.relation_types else {}
    when = {"starts": _TEXT, "ends": _TEXT} if dates else {}
    relation = _object(source=_TEXT, target=_TEXT, **kind, **when, description=_TEXT, strength=_NUMBER)
    return _object(entities=_list(entity), relations=_list(relation))


def _type(listed: Sequence[str], domain: Domain) -> Schema:
    return _one_of(tuple(dict.fromkeys((*listed, OTHER)))) if domain.enforced else _TEXT


def _claims() -> Schema:
    status = _one_of(("TRUE", "FALSE", "SUSPECTED"))
    claim = _object(
        subject=_TEXT, object=_TEXT, type=_TEXT, status=status, starts=_TEXT, ends=_TEXT, description=_TEXT, quote=_TEXT
    )
    return _object(claims=_list(claim))


def _summary() -> Schema:
    return _object(summary=_TEXT)


def _report() -> Schema:
    finding = _object(summary=_TEXT, explanation=_TEXT)
    return _object(title=_TEXT, summary=_TEXT, rating=_NUMBER, rating_explanation=_TEXT, findings=_list(finding))


def _aggregate() -> Schema:
    finding = _object(summary=_TEXT, explanation=_TEXT)
    return _object(entity_name=_TEXT, entity_description=_TEXT, findings=_list(finding))


def _link() -> Schema:
    return _object(link=_TEXT)


def _abstract() -> Schema:
    member = _object(id={"type": "integer"}, description=_TEXT, strength=_NUMBER)
    made = _object(name=_TEXT, type=_TEXT, description=_TEXT, members=_list(member))
    return _object(summary_entities=_list(made))


def _condensed() -> Schema:
    return _object(condensed=_TEXT)


def _points() -> Schema:
    return _object(points=_list(_object(text=_TEXT, score={"type": "integer"})))


def _answer() -> Schema:
    return _object(answer=_TEXT)


def _lead() -> Schema:
    return _object(answer=_TEXT, score={"type": "integer"}, follow_ups=_list(_TEXT))


def _refinement() -> Schema:
    return _object(expanded_question=_TEXT, sub_questions=_list(_TEXT), hypothetical_answer=_TEXT)


def _grade() -> Schema:
    return _object(reason=_TEXT, rating={"type": "integer"})


def _same() -> Schema:
    return _object(reason=_TEXT, groups=_list(_list({"type": "integer"})))


def _profile() -> Schema:
    return _object(domain=_TEXT, persona=_TEXT, language=_TEXT, entity_types=_list(_TEXT))


def _judge() -> Schema:
    return _object(reasoning=_TEXT, winner={"type": "integer", "enum": [0, 1, 2]})


def _judge_decided() -> Schema:
    return _object(reasoning=_TEXT, winner={"type": "integer", "enum": [1, 2]})


def _judge_scored() -> Schema:
    return _object(reasoning=_TEXT, score_a=_NUMBER, score_b=_NUMBER, winner=_one_of(("A", "B", "tie")))


def _score() -> Schema:
    return _object(explanation=_TEXT, score=_NUMBER)


def _contrast() -> Schema:
    return _object(common=_list(_TEXT), first_only=_list(_TEXT), second_only=_list(_TEXT))


def _lines() -> Schema:
    return _object(lines=_list(_TEXT))


def _sentence() -> Schema:
    return _object(reason=_TEXT, sentence=_TEXT)


def _statements() -> Schema:
    return _object(statements=_list(_TEXT))


def _support() -> Schema:
    return _object(reason=_TEXT, supported={"type": "boolean"})


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
