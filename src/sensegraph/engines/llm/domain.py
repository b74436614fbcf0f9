"""What kinds of things a corpus is about: the types that extraction asks for, and what becomes of others (N93)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sensegraph.language.text import fold
from sensegraph.types import ExtractedEntity, ExtractedRelation, Extraction

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
        entities = tuple(self._entity(e, outside) for e in found.entities)
        relations = tuple(self._relation(r, outside) for r in found.relations)
        return replace(found, entities=entities, relations=relations, outside=tuple(sorted(outside.items())))

    def _entity(self, entity: ExtractedEntity, outside: Counter[str]) -> ExtractedEntity:
        known = self._find_listed(entity.type, self.entity_types)
        if known is None:
            outside[f"entity type {entity.type}"] += 1
            known = OTHER if self.enforced else entity.type
        return replace(entity, type=known.casefold())

    def _relation(self, relation: ExtractedRelation, outside: Counter[str]) -> ExtractedRelation:
        if not self.relation_types:
            return replace(relation, label="")
        known = self._find_listed(relation.label, self.relation_types)
        if known is None:
            outside[f"relation type {relation.label or '(none)'}"] += 1
            known = OTHER if self.enforced else relation.label
        return replace(relation, label=known)

    def _find_listed(self, kind: str, listed: Sequence[str]) -> str | None:
        """The listed type that `kind` means, in any case and with spaces or underscores; None for another."""
        return {fold_type_name(k): k for k in (*((OTHER,) if self.enforced else ()), *listed)}.get(fold_type_name(kind))


def fold_type_name(kind: str) -> str:
    """The form in which types are compared: `Legal Principle` is `LEGAL_PRINCIPLE`."""
    return " ".join(fold(kind).replace("_", " ").replace("-", " ").split())
